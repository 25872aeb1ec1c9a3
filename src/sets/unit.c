/* Unit atoms, ||u_k|| = 1 (dictionary learning, spherical k-means). With the other atoms fixed the best u_k has the
 * direction of a_k - sum_{j != k} u_j G_jk (docs/algorithm.md#other-bases-of-the-family). */
#include "sets/sets.h"

#include <math.h>

static bool atom(int64_t m, double *u)
{
    return armilla_unit(m, u, u);
}

/* An atom without a direction becomes an axis. */
static armilla_status nearest(armilla_algebra *algebra, int64_t m, int64_t r, double *M)
{
    (void)algebra;
    for (int64_t k = 0; k < r; k++)
        if (!atom(m, M + k * m)) M[k * m + k % m] = 1;
    return ARMILLA_OK;
}

static armilla_status proximal(armilla_algebra *algebra, const armilla_basis_step *step, double *next)
{
    armilla_gradient_step(algebra, step, -INFINITY, next);
    const int64_t m = step->m;
    for (int64_t k = 0; k < step->r; k++) {
        if (atom(m, next + k * m)) continue;
        for (int64_t i = k * m; i < (k + 1) * m; i++) next[i] = step->U[i]; /* every direction is as near */
    }
    return ARMILLA_OK;
}

static double violation(int64_t m, int64_t r, const double *U)
{
    double worst = 0;
    for (int64_t k = 0; k < r; k++) {
        double sum = 0;
        for (int64_t i = 0; i < m; i++) sum += U[k * m + i] * U[k * m + i];
        if (isnan(sum)) return NAN; /* which fmax would lose */
        worst = fmax(worst, fabs(sqrt(sum) - 1));
    }
    return worst;
}

const armilla_basis_set armilla_basis_unit = {
    .name = "unit",
    .meaning = "atoms of length 1",
    .is_signed = true,
    .nearest = nearest,
    .proximal = proximal,
    .violation = violation,
    .atom = atom,
};
