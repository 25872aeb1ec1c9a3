/* The paper's U1: U'U = I. Its proximal step is a polar factor (A4, A5). */
#include "sets/sets.h"

#include <string.h>

static armilla_status nearest(armilla_algebra *algebra, int64_t m, int64_t r, double *M)
{
    (void)m;
    (void)r;
    return armilla_polar(algebra, M, M);
}

static armilla_status proximal(armilla_algebra *algebra, const armilla_basis_step *step, double *next)
{
    const int64_t m = step->m, r = step->r;
    /* M/l = 2(A - lUG) + (mu/l)U: a positive factor changes no polar factor, and without it nothing is squared. */
    memcpy(next, step->A, (size_t)(m * r) * sizeof *next);
    armilla_multiply(m, r, r, -2 * step->l, step->U, step->G, 2, next);
    for (int64_t i = 0; i < m * r; i++) next[i] += step->mu / step->l * step->U[i];
    /* U+ = polar(M) */
    return armilla_polar(algebra, next, next);
}

/* ||UV||^2 = ||V||^2 whatever U is, so that U = polar(XV') (A8). */
static armilla_status exact(armilla_algebra *algebra, int64_t m, int64_t r, const double *A, const double *G,
                            double *next)
{
    (void)m;
    (void)r;
    (void)G;
    return armilla_polar(algebra, A, next);
}

const armilla_basis_set armilla_basis_orthonormal = {
    .name = "orthonormal",
    .alias = "u1",
    .meaning = "orthonormal atoms, U'U = I",
    .gram_is_identity = true,
    .is_signed = true,
    .nearest = nearest,
    .proximal = proximal,
    .violation = armilla_skewness,
    .exact = exact,
};
