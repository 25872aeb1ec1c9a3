/* The paper's algorithm as docs/algorithm.md#the-solver-palm states it, step by step, on V itself (never on unit codes
 * and a radius apart): the library's other arrangement of the same arithmetic must give the same numbers. */
#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double largest_eigenvalue(int64_t r, const double *S)
{
    double *values = reference_new(r);
    reference_eigenvalues(r, S, values);
    const double largest = values[r - 1];
    free(values);
    return largest;
}

/* Flips u_k so that the sum of C(k,:) is not negative, for a signed basis. */
static void flip_signs(reference_palm *palm)
{
    const int64_t m = palm->m, n = palm->n, r = palm->r;
    double *C = reference_new(r * n);
    reference_left_transposed(m, r, n, palm->U, palm->X, C);
    for (int64_t k = 0; k < r; k++) {
        long double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += C[k + j * r];
        for (int64_t i = 0; sum < 0 && i < m; i++) palm->U[i + k * m] = -palm->U[i + k * m];
    }
    free(C);
}

static void project(const reference_palm *palm, const double *q, double *v)
{
    double w[16];
    if (reference_largest(palm->r, q) == 0) return;
    reference_project(palm->r, palm->s, palm->pair->nonnegative_codes, q, w);
    for (int64_t k = 0; k < palm->r; k++) v[k] = palm->l * w[k];
}

/* (A7): c = <X,UV> / <UV,UV>, of the product itself. */
static double best_scale(const reference_palm *palm)
{
    const int64_t count = palm->m * palm->n;
    double *UV = reference_new(count);
    reference_multiply(palm->m, palm->r, palm->n, palm->U, palm->V, UV);
    const double c = reference_dot(count, palm->X, UV) / reference_dot(count, UV, UV);
    free(UV);
    return c;
}

static void scale(double *values, int64_t count, double by)
{
    for (int64_t i = 0; i < count; i++) values[i] *= by;
}

void reference_palm_start(reference_palm *palm, const double *U0)
{
    const int64_t m = palm->m, n = palm->n, r = palm->r;
    palm->U = reference_copy(m * r, U0);
    palm->V = reference_new(r * n);
    palm->l = palm->fixed_radius > 0 ? palm->fixed_radius : 1;
    if (palm->pair->orthonormal) flip_signs(palm);

    /* V0 = l Pi(U'X), then the radius; where it is fixed a nonnegative U takes the scale. */
    double *C = reference_new(r * n);
    reference_left_transposed(m, r, n, palm->U, palm->X, C);
    for (int64_t j = 0; j < n; j++) {
        palm->V[j * r] = palm->l;
        project(palm, C + j * r, palm->V + j * r);
    }
    free(C);
    const double c = best_scale(palm);
    if (palm->fixed_radius == 0) {
        scale(palm->V, r * n, c);
        palm->l *= c;
    } else if (!palm->pair->orthonormal) {
        scale(palm->U, m * r, c);
    }
    palm->objective = reference_objective(m, n, r, palm->X, palm->U, palm->V);
    palm->dU = palm->dV = 0;
}

/* (A5) */
static void step_basis(reference_palm *palm)
{
    const int64_t m = palm->m, n = palm->n, r = palm->r;
    double *A = reference_new(m * r), *G = reference_new(r * r), *UG = reference_new(m * r);
    reference_right_transposed(m, n, r, palm->X, palm->V, A);
    reference_right_transposed(r, n, r, palm->V, palm->V, G);
    reference_multiply(m, r, r, palm->U, G, UG);
    const double mu = palm->mu_absolute ? palm->mu : palm->mu * 2 * largest_eigenvalue(r, G);
    for (int64_t i = 0; i < m * r; i++) {
        const double gradient = 2 * (A[i] - UG[i]);
        if (palm->pair->orthonormal)
            A[i] = gradient + mu * palm->U[i];
        else
            palm->U[i] = fmax(palm->U[i] + gradient / mu, 0);
    }
    if (palm->pair->orthonormal) reference_polar(m, r, A, palm->U);
    free(A);
    free(G);
    free(UG);
}

/* (A6) */
static void step_codes(reference_palm *palm)
{
    const int64_t m = palm->m, n = palm->n, r = palm->r;
    double *C = reference_new(r * n), *H = reference_new(r * r), q[16];
    reference_left_transposed(m, r, n, palm->U, palm->X, C);
    reference_left_transposed(m, r, r, palm->U, palm->U, H);
    const double lambda = palm->lambda_absolute ? palm->lambda : palm->lambda * 2 * largest_eigenvalue(r, H);
    for (int64_t j = 0; j < n; j++) {
        double *v = palm->V + j * r;
        for (int64_t k = 0; k < r; k++) q[k] = 2 * C[k + j * r] + lambda * v[k] - 2 * reference_dot(r, H + k * r, v);
        project(palm, q, v);
    }
    free(C);
    free(H);
}

void reference_palm_step(reference_palm *palm)
{
    const int64_t m = palm->m, n = palm->n, r = palm->r;
    double *U = reference_copy(m * r, palm->U), *V = reference_copy(r * n, palm->V);
    step_basis(palm);
    step_codes(palm);
    const double c = best_scale(palm);
    if (palm->fixed_radius == 0 && c > 0) {
        scale(palm->V, r * n, c);
        palm->l *= c;
    }
    palm->dU = reference_distance(m * r, U, palm->U);
    palm->dV = reference_distance(r * n, V, palm->V);
    palm->objective = reference_objective(m, n, r, palm->X, palm->U, palm->V);
    free(U);
    free(V);
}

void reference_palm_free(reference_palm *palm)
{
    free(palm->U);
    free(palm->V);
    palm->U = palm->V = NULL;
}
