/* The paper's V2: v >= 0, ||v|| = l. Where q has no positive entry the best direction is the axis of its largest one
 * (the paper's case 3). */
#include "sets/column.h"

#include <math.h>
#include <string.h>

static bool project(int64_t r, int64_t s, const double *q, double *w)
{
    int64_t best = 0;
    bool zero = true;
    (void)s;
    for (int64_t k = 0; k < r; k++) w[k] = q[k] > 0 ? q[k] : 0;
    if (armilla_unit(r, w, w)) return true;
    for (int64_t k = 0; k < r; k++) {
        if (q[k] > q[best]) best = k;
        if (q[k] != 0) zero = false;
    }
    if (zero) return false;
    w[best] = 1; /* the rest is 0 already */
    return true;
}

enum { STARTS = 3, DESCENT_STEPS = 1000, ROUGH_STEPS = 30, LANES = ARMILLA_LANES };
#define ROUGHLY_SETTLED 1e-6

/* Proj(d), which can sit on a saddle; a strictly positive direction; the best axis. */
static void start_lane(const armilla_column_problem *problem, int start, const double *d, double *w)
{
    const int64_t r = problem->r;
    int64_t best = 0, top = 0;
    for (int64_t k = 0; k < r; k++) {
        const double own = problem->H[k * r + k] - 2 * d[k * LANES];
        if (own < problem->H[best * r + best] - 2 * d[best * LANES]) best = k;
        if (d[k * LANES] > d[top * LANES]) top = k;
        w[k * LANES] = start == 1 ? 1 / sqrt((double)r) : 0;
    }
    if (start == 1) return;
    const double scale = d[top * LANES];
    if (start == 2 || !(scale > 0)) {
        w[best * LANES] = 1;
        return;
    }
    double squares = 0; /* of entries divided by the largest, which cannot overflow */
    for (int64_t k = 0; k < r; k++) squares += pow(fmax(d[k * LANES] / scale, 0), 2);
    for (int64_t k = 0; k < r; k++) w[k * LANES] = fmax(d[k * LANES] / scale, 0) / sqrt(squares);
}

static double value_of_lane(const armilla_column_problem *problem, const double *d, const double *w)
{
    double value = 0;
    for (int64_t a = 0; a < problem->r; a++) {
        double row = 0;
        for (int64_t k = 0; k < problem->r; k++) row += problem->H[a * problem->r + k] * w[k * LANES];
        value += w[a * LANES] * (row - 2 * d[a * LANES]);
    }
    return value;
}

static void descend_lanes(const armilla_column_problem *problem, const double *d, int steps, double settled, double *w,
                          double *workspace)
{
    armilla_descent descent = {
        .r = problem->r, .H = problem->H, .alpha = problem->alpha, .steps = steps, .settled = settled};
    if (problem->factor_rank > 0) {
        descent.rank = problem->factor_rank;
        descent.rows = problem->factor;
        descent.columns = problem->factor + problem->factor_rank * problem->r;
    }
    problem->kernels->descend(&descent, d, w, workspace);
}

/* The best of three descents, of equals the first. */
static void solve_lanes(const armilla_column_problem *problem, const double *d, double *w, double *workspace)
{
    const int64_t r = problem->r;
    const bool roughly = problem->effort == ARMILLA_ROUGHLY;
    const int steps = roughly ? ROUGH_STEPS : DESCENT_STEPS;
    const double settled = roughly ? ROUGHLY_SETTLED : ARMILLA_SETTLED;
    double *trial = workspace + armilla_descent_workspace(r), least[LANES] = {0};
    for (int start = 0; start < STARTS; start++) {
        for (int i = 0; i < LANES; i++) start_lane(problem, start, d + i, trial + i);
        descend_lanes(problem, d, steps, settled, trial, workspace);
        for (int i = 0; i < LANES; i++) {
            const double value = value_of_lane(problem, d + i, trial + i);
            if (start > 0 && !(value < least[i])) continue;
            least[i] = value;
            for (int64_t k = 0; k < r; k++) w[k * LANES + i] = trial[k * LANES + i];
        }
    }
}

/* One column, as a lane among copies of itself. */
static void solve(const armilla_column_problem *problem, const double *d, double *w, double *workspace)
{
    const armilla_column_batch one = {1, d, 1, w};
    armilla_columns_solve(problem, &one, workspace);
}

static bool solves_cheaply(int64_t r, int64_t s)
{
    (void)r;
    (void)s;
    return false;
}

const armilla_code_set armilla_codes_nonneg_sphere = {
    .name = "nonneg-sphere",
    .alias = "v2",
    .meaning = "nonnegative codes on a sphere of one radius",
    .nonnegative = true,
    .spherical = true,
    .project = project,
    .solve = solve,
    .solve_lanes = solve_lanes,
    .descend_lanes = descend_lanes,
    .solves_cheaply = solves_cheaply,
};
