/* Nonnegative codes without a sphere (NMF): nonnegative least squares in Gram space, which is convex, by coordinate
 * descent: v_k <- max(v_k + (d_k - (Hv)_k)/H_kk, 0); and by active sets where that is slow. */
#include "sets/column.h"

#include <string.h>

enum { PASSES = 300, ROUGH_PASSES = 30 };
#define ROUGHLY_SETTLED 1e-6

static bool project(int64_t r, int64_t s, const double *q, double *w)
{
    (void)s;
    for (int64_t k = 0; k < r; k++) w[k] = q[k] > 0 ? q[k] : 0;
    return true;
}

static void descend_lanes(const armilla_column_problem *problem, const void *d, int steps, double settled, void *w,
                          double *workspace)
{
    const armilla_cone_descent descent = {problem->r, problem->typed.H, steps, settled};
    (void)problem->typed.kernels->descend_cone(&descent, d, w, workspace);
}

/* What descent has not settled, one lane at a time. */
static void finish_lane(const armilla_column_problem *problem, const void *d, int64_t lane, void *w, double *workspace)
{
    const int64_t r = problem->r;
    double *own = workspace, *code = own + r, *found = code + r, *rest = found + r;
    armilla_lane_get(problem, d, lane, true, own);
    armilla_lane_get(problem, w, lane, false, code);
    armilla_solve_by_active_set(problem, own, found, rest);
    if (armilla_column_value(problem, own, found) <= armilla_column_value(problem, own, code))
        armilla_lane_put(problem, found, lane, w);
}

static void solve_lanes(const armilla_column_problem *problem, const void *d, void *w, double *workspace)
{
    const bool roughly = problem->effort != ARMILLA_SOLVE;
    const armilla_cone_descent descent = {problem->r, problem->typed.H, roughly ? ROUGH_PASSES : PASSES,
                                          roughly ? ROUGHLY_SETTLED : ARMILLA_SETTLED};
    memset(w, 0, (size_t)problem->r * ARMILLA_LANE_BYTES);
    const unsigned settled = problem->typed.kernels->descend_cone(&descent, d, w, workspace);
    for (int64_t i = 0; i < problem->typed.kernels->lanes && !roughly; i++)
        if (!(settled >> i & 1)) finish_lane(problem, d, i, w, workspace);
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
