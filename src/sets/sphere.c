/* The paper's V1: ||v|| = l. */
#include "sets/column.h"

#include <string.h>

static bool project(int64_t r, int64_t s, const double *q, double *w)
{
    (void)s;
    return armilla_unit_long(r, q, w);
}

/* One secular equation in the eigenbasis of H, for all columns the same: w = Qy, b = Q'd. */
static void solve(const armilla_column_problem *problem, const double *d, double *w, double *workspace)
{
    const int64_t r = problem->r;
    double *b = workspace, *y = workspace + r;
    for (int64_t k = 0; k < r; k++) {
        b[k] = 0;
        for (int64_t i = 0; i < r; i++) b[k] += problem->vectors[k * r + i] * d[i];
    }
    armilla_secular(r, problem->values, b, y);
    memset(w, 0, (size_t)r * sizeof *w);
    for (int64_t k = 0; k < r; k++)
        for (int64_t i = 0; i < r; i++) w[i] += problem->vectors[k * r + i] * y[k];
    (void)armilla_unit(r, w, w);
}

/* The same for several columns: other bits, so that a column is always solved in this way where it can be. */
static void solve_lanes(const armilla_column_problem *problem, const void *d, void *w, double *workspace)
{
    const armilla_sphere_problem sphere = {problem->r, problem->vectors, problem->gaps};
    problem->thin->solve_sphere(&sphere, d, w, workspace);
}

const armilla_code_set armilla_codes_sphere = {
    .name = "sphere",
    .alias = "v1",
    .meaning = "codes on a sphere of one radius",
    .spherical = true,
    .scales = true,
    .project = project,
    .solve = solve,
    .solve_lanes = solve_lanes,
    .solves_cheaply = armilla_solves_at_once,
};
