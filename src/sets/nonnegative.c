/* The paper's U2: U >= 0. Its proximal step is a projected gradient step (A5). */
#include "sets/sets.h"

static armilla_status nearest(armilla_algebra *algebra, int64_t m, int64_t r, double *M)
{
    (void)algebra;
    for (int64_t i = 0; i < m * r; i++) M[i] = M[i] > 0 ? M[i] : 0; /* fmax is a call */
    return ARMILLA_OK;
}

static armilla_status proximal(armilla_algebra *algebra, const armilla_basis_step *step, double *next)
{
    armilla_gradient_step(algebra, step, 0, next);
    return ARMILLA_OK;
}

static double violation(int64_t m, int64_t r, const double *U)
{
    return armilla_most_negative(m * r, U);
}

static bool atom(int64_t m, double *u)
{
    for (int64_t i = 0; i < m; i++) u[i] = u[i] > 0 ? u[i] : 0;
    return true;
}

const armilla_basis_set armilla_basis_nonnegative = {
    .name = "nonnegative",
    .alias = "u2",
    .meaning = "nonnegative atoms, U >= 0",
    .scalable = true,
    .entrywise = true,
    .floor = 0,
    .nearest = nearest,
    .proximal = proximal,
    .violation = violation,
    .atom = atom,
};
