/* Principal angles of two subspaces (Björck and Golub 1973). With orthonormal bases P and Q the cosines are the singular
 * values of P'Q; an angle below 45 degrees is taken from its sine, a singular value of Q - P(P'Q), because the cosine of a
 * small angle does not have its digits. */
#include "linalg/subspace.h"

#include "base/size.h"
#include "linalg/blas.h"

#include <limits.h>
#include <math.h>

/* A rows x columns matrix that is decomposed, and then destroyed. */
typedef struct decomposition {
    int64_t rows, columns;
    double *A;
    double *values; /* falling, the smaller of the two sizes */
    double *left;   /* rows x that many; NULL: not wanted */
} decomposition;

static armilla_status decompose(armilla_context *context, const decomposition *d)
{
    const int m = (int)d->rows, n = (int)d->columns, least = m < n ? m : n;
    double *work = NULL, *right = NULL, wanted = 0;
    int *integers = NULL;
    int info =
        armilla_dgesdd(d->left ? 'S' : 'N', m, n, d->A, m, d->values, d->left, m, right, least, &wanted, -1, integers);
    if (!(wanted <= INT_MAX))
        return armilla_fail(context, ARMILLA_BAD_DATA, "a matrix of %d x %d is too large for LAPACK's SVD", m, n);
    armilla_status status = armilla_take(context, 8 * (int64_t)least, sizeof *integers, &integers);
    if (status == ARMILLA_OK) status = armilla_take(context, (int64_t)wanted + 1, sizeof *work, &work);
    if (status == ARMILLA_OK && d->left) status = armilla_take(context, (int64_t)least * n, sizeof *right, &right);
    if (status == ARMILLA_OK && info == 0)
        info = armilla_dgesdd(d->left ? 'S' : 'N', m, n, d->A, m, d->values, d->left, m, right, least, work,
                              (int)wanted, integers);
    if (status == ARMILLA_OK && info != 0)
        status = armilla_fail(context, ARMILLA_INTERNAL, "LAPACK failed with info %d in an SVD", info);
    armilla_release(context, right);
    armilla_release(context, work);
    armilla_release(context, integers);
    return status;
}

/* An orthonormal basis of the columns: m x dimension, *basis from armilla_take. */
static armilla_status span(armilla_context *context, const armilla_tall *of, double **basis, int64_t *dimension)
{
    const int64_t least = armilla_min64(of->m, of->r);
    double *copy = NULL, *values = NULL;
    armilla_status status = armilla_take(context, of->r, (size_t)of->m * sizeof *copy, &copy);
    if (status == ARMILLA_OK) status = armilla_take(context, least, sizeof *values, &values);
    if (status == ARMILLA_OK) status = armilla_take(context, least, (size_t)of->m * sizeof **basis, basis);
    if (status == ARMILLA_OK) {
        for (int64_t i = 0; i < of->m * of->r; i++) copy[i] = of->A[i];
        status = decompose(context, &(decomposition){of->m, of->r, copy, values, *basis});
    }
    *dimension = 0;
    while (status == ARMILLA_OK && *dimension < least &&
           values[*dimension] > values[0] * of->epsilon * (double)armilla_max64(of->m, of->r))
        (*dimension)++;
    armilla_release(context, values);
    armilla_release(context, copy);
    return status;
}

/* An orthonormal basis of each space; the second is the smaller one. */
typedef struct bases {
    int64_t m, k[2];
    const double *Q[2];
} bases;

/* cosines and sines of the principal angles: k[1] numbers each, both falling. */
static armilla_status measure(armilla_context *context, const bases *of, double *cosines, double *sines)
{
    const int64_t m = of->m, p = of->k[0], q = of->k[1];
    double *C = NULL, *copy = NULL, *E = NULL;
    armilla_status status = armilla_take(context, p * q, sizeof *C, &C);
    if (status == ARMILLA_OK) status = armilla_take(context, p * q, sizeof *copy, &copy);
    if (status == ARMILLA_OK) status = armilla_take(context, q, (size_t)m * sizeof *E, &E);
    if (status != ARMILLA_OK) goto done;
    armilla_inner(m, p, q, of->Q[0], of->Q[1], C); /* C = P'Q */
    for (int64_t i = 0; i < p * q; i++) copy[i] = C[i];
    for (int64_t i = 0; i < m * q; i++) E[i] = of->Q[1][i];
    armilla_multiply(m, p, q, -1, of->Q[0], C, 1, E); /* E = Q - PC */
    status = decompose(context, &(decomposition){p, q, copy, cosines, NULL});
    if (status == ARMILLA_OK) status = decompose(context, &(decomposition){m, q, E, sines, NULL});
done:
    armilla_release(context, E);
    armilla_release(context, copy);
    armilla_release(context, C);
    return status;
}

static armilla_status find_angles(armilla_context *context, const bases *of, double *angles)
{
    const int64_t q = of->k[1];
    double *cosines = NULL;
    armilla_status status = armilla_take(context, 2 * q, sizeof *cosines, &cosines);
    double *sines = cosines + q;
    if (status == ARMILLA_OK) status = measure(context, of, cosines, sines);
    for (int64_t i = 0; i < q && status == ARMILLA_OK; i++) {
        const double cosine = fmin(cosines[i], 1), sine = fmin(sines[q - 1 - i], 1);
        angles[i] = cosine * cosine < 0.5 ? acos(cosine) : asin(sine);
    }
    armilla_release(context, cosines);
    return status;
}

armilla_status armilla_subspace_compare(armilla_context *context, const armilla_tall of[2],
                                        armilla_subspace_angles *found)
{
    double *Q[2] = {NULL, NULL};
    int64_t k[2] = {0, 0};
    armilla_status status = ARMILLA_OK;
    if (of[0].m > INT_MAX)
        return armilla_fail(context, ARMILLA_BAD_DATA, "the features are too many for LAPACK: at most %d", INT_MAX);
    for (int i = 0; i < 2 && status == ARMILLA_OK; i++) status = span(context, &of[i], &Q[i], &k[i]);
    const int larger = k[0] >= k[1] ? 0 : 1, smaller = 1 - larger;
    if (status == ARMILLA_OK && k[smaller] > 0)
        status =
            find_angles(context, &(bases){of[0].m, {k[larger], k[smaller]}, {Q[larger], Q[smaller]}}, found->angles);
    if (status == ARMILLA_OK) {
        for (int i = 0; i < 2; i++) found->dimensions[i] = k[i];
        found->count = k[smaller];
    }
    for (int i = 0; i < 2; i++) armilla_release(context, Q[i]);
    return status;
}
