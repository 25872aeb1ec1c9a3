/* The paper's U1: U'U = I. Its proximal step is a polar factor (A4, A5). */
#include "sets/sets.h"

#include <string.h>

static armilla_status nearest(armilla_algebra *algebra, int64_t m, int64_t r, double *M)
{
    (void)m;
    (void)r;
    return armilla_polar(algebra, M, M);
}

/* A proximal step, of some rows. */
typedef struct moving {
    const armilla_basis_step *step;
    double *next;
} moving;

/* M/l = 2(A - lUG) + (mu/l)U: a positive factor changes no polar factor, and without it nothing is squared. */
static void move_rows(void *self, int64_t block, int64_t first, int64_t last)
{
    const moving *move = self;
    const armilla_basis_step *step = move->step;
    const int64_t m = step->m, r = step->r;
    const armilla_product product = {m, r, r, -2 * step->l, 2, step->U, step->G, move->next};
    (void)block;
    for (int64_t k = 0; k < r; k++)
        memcpy(move->next + k * m + first, step->A + k * m + first, (size_t)(last - first) * sizeof *move->next);
    armilla_multiply_rows(&product, first, last);
    for (int64_t k = 0; k < r; k++)
        for (int64_t i = first; i < last; i++) move->next[k * m + i] += step->mu / step->l * step->U[k * m + i];
}

static armilla_status proximal(armilla_algebra *algebra, const armilla_basis_step *step, double *next)
{
    moving move = {step, next};
    armilla_by_rows(algebra, step->m, move_rows, &move);
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
