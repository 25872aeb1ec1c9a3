/* Nonnegative codes without a sphere (NMF): nonnegative least squares in Gram space, which is convex, by coordinate
 * descent: v_k <- max(v_k + (d_k - (Hv)_k)/H_kk, 0); and by active sets where that is slow. */
#include "sets/column.h"

#include <string.h>

/* Passes that show which atoms a code has. */
enum { PASSES = 10 };

static bool project(int64_t r, int64_t s, const double *q, double *w)
{
    (void)s;
    for (int64_t k = 0; k < r; k++) w[k] = q[k] > 0 ? q[k] : 0;
    return true;
}

static void descend_lanes(const armilla_column_problem *problem, const armilla_column_steps *steps, const void *d,
                          void *w, double *workspace)
{
    const armilla_cone_descent descent = {problem->r, problem->typed.cone, steps->most, steps->settled, steps->little};
    (void)problem->typed.kernels->descend_cone(&descent, d, w, workspace);
}

/* What exchanges have not solved, one lane at a time. */
static void finish_lane(const armilla_column_problem *problem, const void *d, int64_t lane, void *w, double *workspace)
{
    const int64_t r = problem->r;
    double *own = workspace, *code = own + r, *found = code + r, *rest = found + r;
    armilla_lane_get(problem, d, lane, true, own);
    armilla_lane_get(problem, w, lane, false, code);
    memcpy(found, code, (size_t)r * sizeof *found);
    armilla_solve_by_active_set(problem, own, found, rest);
    if (armilla_column_value(problem, own, found) <= armilla_column_value(problem, own, code))
        armilla_lane_put(problem, found, lane, w);
}

static void solve_lanes(const armilla_column_problem *problem, const void *d, void *w, double *workspace)
{
    const armilla_cone_descent descent = {problem->r, problem->typed.cone, PASSES, ARMILLA_SETTLED, 0};
    memset(w, 0, (size_t)(problem->r * problem->typed.lanes) * armilla_type_size(problem->typed.kernels->type));
    (void)problem->typed.kernels->descend_cone(&descent, d, w, workspace);
    const unsigned solved = problem->typed.kernels->solve_cone(problem->r, problem->typed.H, d, w, workspace);
    for (int64_t i = 0; i < problem->typed.lanes; i++)
        if (!(solved >> i & 1)) finish_lane(problem, d, i, w, workspace);
}

const armilla_code_set armilla_codes_nonneg = {
    .name = "nonneg",
    .meaning = "nonnegative codes",
    .nonnegative = true,
    .conic = true,
    .descends = true,
    .project = project,
    .solve_lanes = solve_lanes,
    .descend_lanes = descend_lanes,
    .solves_cheaply = armilla_solves_slowly,
};
