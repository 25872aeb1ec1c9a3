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

static armilla_status proximal(armilla_algebra *algebra, int64_t m, int64_t r, const double *U, const double *A,
                               const double *G, double l, double mu, double *next)
{
    /* (XV' - UVV')/l = A - lUG */
    memcpy(next, A, (size_t)(m * r) * sizeof *next);
    armilla_multiply(m, r, r, -l, U, G, 1, next);
    /* U+ = max(U + (2/mu)(XV' - UVV'), 0) */
    for (int64_t i = 0; i < m * r; i++) next[i] = U[i] + 2 * l / mu * next[i];
    return nearest(algebra, m, r, next);
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
