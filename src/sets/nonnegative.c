/* The paper's U2: U >= 0. Its proximal step is a projected gradient step (A5). */
#include "sets/sets.h"

#include <math.h>
#include <string.h>

static armilla_status nearest(armilla_algebra *algebra, int64_t m, int64_t r, double *M)
{
    (void)algebra;
    for (int64_t i = 0; i < m * r; i++) M[i] = M[i] > 0 ? M[i] : 0; /* fmax is a call */
    return ARMILLA_OK;
}

typedef struct step {
    armilla_product product; /* next = A - lUG */
    const double *A;
    double length; /* 2l/mu */
} step;

static void step_rows(void *self, int64_t block, int64_t first, int64_t last)
{
    const step *s = self;
    const double *U = s->product.B;
    double *next = s->product.Z;
    const int64_t m = s->product.m, r = s->product.r;
    (void)block;
    /* (XV' - UVV')/l = A - lUG */
    for (int64_t k = 0; k < r; k++)
        memcpy(next + k * m + first, s->A + k * m + first, (size_t)(last - first) * sizeof *next);
    armilla_multiply_rows(&s->product, first, last);
    /* U+ = max(U + (2/mu)(XV' - UVV'), 0) */
    for (int64_t k = 0; k < r; k++)
        for (int64_t i = k * m + first; i < k * m + last; i++) {
            const double moved = U[i] + s->length * next[i];
            next[i] = moved > 0 ? moved : 0;
        }
}

static armilla_status proximal(armilla_algebra *algebra, int64_t m, int64_t r, const double *U, const double *A,
                               const double *G, double l, double mu, double *next)
{
    step s = {{m, r, r, -l, 1, U, G, next}, A, 2 * l / mu};
    armilla_by_rows(algebra, m, step_rows, &s);
    return ARMILLA_OK;
}

static double violation(int64_t m, int64_t r, const double *U)
{
    double worst = 0;
    for (int64_t i = 0; i < m * r; i++) {
        if (isnan(U[i])) return NAN; /* which fmax would lose */
        worst = fmax(worst, -U[i]);
    }
    return worst;
}

const armilla_basis_set armilla_basis_nonnegative = {
    .name = "nonnegative",
    .alias = "u2",
    .meaning = "nonnegative atoms, U >= 0",
    .nearest = nearest,
    .proximal = proximal,
    .violation = violation,
};
