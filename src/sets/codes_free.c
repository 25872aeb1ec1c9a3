/* No constraint on a code (PCA): v = H^+ d, the least squares solution of least length. */
#include "sets/column.h"

#include <string.h>

static bool project(int64_t r, int64_t s, const double *q, double *w)
{
    (void)s;
    for (int64_t k = 0; k < r; k++) w[k] = q[k] + 0.0; /* no -0 in a code */
    return true;
}

static void solve(const armilla_column_problem *problem, const double *d, double *w, double *workspace)
{
    const int64_t r = problem->r;
    (void)workspace;
    memset(w, 0, (size_t)r * sizeof *w);
    for (int64_t k = r - 1; k >= 0 && problem->values[k] > ARMILLA_NO_DIRECTION * problem->alpha; k--) {
        const double *z = problem->vectors + k * r;
        double b = 0;
        for (int64_t i = 0; i < r; i++) b += z[i] * d[i];
        b /= problem->values[k];
        for (int64_t i = 0; i < r; i++) w[i] += b * z[i];
    }
}

const armilla_code_set armilla_codes_free = {
    .name = "free",
    .meaning = "any codes",
    .conic = true,
    .project = project,
    .solve = solve,
    .solves_cheaply = armilla_solves_at_once,
};
