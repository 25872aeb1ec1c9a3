/* One entry is 1, the others are 0 (k-means): the code is the assignment to the nearest atom, the first of equals. */
#include "sets/column.h"

static bool project(int64_t r, int64_t s, const double *q, double *w)
{
    int64_t best = 0;
    (void)s;
    for (int64_t k = 1; k < r; k++)
        if (q[k] > q[best]) best = k;
    armilla_axis(r, best, w);
    return true;
}

/* ||x - u_k||^2 = ||x||^2 + H_kk - 2d_k */
static void solve(const armilla_column_problem *problem, const double *d, double *w, double *workspace)
{
    const int64_t r = problem->r;
    int64_t best = 0;
    (void)workspace;
    for (int64_t k = 1; k < r; k++)
        if (problem->H[k * r + k] - 2 * d[k] < problem->H[best * r + best] - 2 * d[best]) best = k;
    armilla_axis(r, best, w);
}

const armilla_code_set armilla_codes_one_hot = {
    .name = "one-hot",
    .meaning = "one entry is 1, the others are 0: each sample has one atom",
    .nonnegative = true,
    .project = project,
    .solve = solve,
    .solves_cheaply = armilla_solves_at_once,
};
