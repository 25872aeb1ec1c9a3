/* No constraint on U (semi-NMF, k-means). */
#include "sets/sets.h"

#include <math.h>

static armilla_status nearest(armilla_algebra *algebra, int64_t m, int64_t r, double *M)
{
    (void)algebra;
    (void)m;
    (void)r;
    (void)M;
    return ARMILLA_OK;
}

static armilla_status proximal(armilla_algebra *algebra, const armilla_basis_step *step, double *next)
{
    armilla_gradient_step(algebra, step, -INFINITY, next);
    return ARMILLA_OK;
}

static double violation(int64_t m, int64_t r, const double *U)
{
    for (int64_t i = 0; i < m * r; i++)
        if (!isfinite(U[i])) return NAN;
    return 0;
}

static bool atom(int64_t m, double *u)
{
    (void)m;
    (void)u;
    return true;
}

const armilla_basis_set armilla_basis_free = {
    .name = "free",
    .meaning = "any atoms",
    .is_signed = true,
    .scalable = true,
    .entrywise = true,
    .floor = -INFINITY,
    .nearest = nearest,
    .proximal = proximal,
    .violation = violation,
    .atom = atom,
};
