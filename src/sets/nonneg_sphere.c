/* The paper's V2: v >= 0, ||v|| = l. The best direction for a q without a positive entry is the axis of its largest one
 * (the paper's case 3). */
#include "sets/column.h"

#include <math.h>

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

/* How many steps each start has, and when codes count as settled. Measured where samples differ in length or are fitted to a
 * few percent: with 100 steps, or settled at 1e-6, the fits that polish closely end at worse minima. */
static const struct {
    int steps;
    double settled;
} efforts[] = {[ARMILLA_DESCEND] = {1000, ARMILLA_SETTLED},
               [ARMILLA_ROUGHLY] = {30, 1e-6},
               [ARMILLA_CLOSELY] = {1000, 1e-9},
               [ARMILLA_SOLVE] = {1000, ARMILLA_SETTLED}};

/* The best axis. */
static void start_on_axis(const armilla_column_problem *problem, const double *d, double *w)
{
    const int64_t r = problem->r;
    int64_t best = 0;
    double least = INFINITY;
    for (int64_t k = 0; k < r; k++) {
        const double value = problem->H[k * r + k] - 2 * d[k];
        if (value < least) {
            least = value;
            best = k;
        }
    }
    armilla_axis(r, best, w);
}

/* Proj(d), which can sit on a saddle; of entries divided by the largest, whose squares cannot overflow. */
static void start_along_d(const armilla_column_problem *problem, const double *d, double *w)
{
    const int64_t r = problem->r;
    double largest = 0, squares = 0;
    for (int64_t k = 0; k < r; k++) largest = d[k] > largest ? d[k] : largest;
    if (!(largest > 0)) {
        start_on_axis(problem, d, w);
        return;
    }
    for (int64_t k = 0; k < r; k++) {
        w[k] = d[k] > 0 ? d[k] / largest : 0;
        squares += w[k] * w[k];
    }
    const double length = sqrt(squares);
    for (int64_t k = 0; k < r; k++) w[k] /= length;
}

/* A strictly positive direction. */
static void start_inside(const armilla_column_problem *problem, const double *d, double *w)
{
    const double entry = 1 / sqrt((double)problem->r);
    (void)d;
    for (int64_t k = 0; k < problem->r; k++) w[k] = entry;
}

typedef void (*start_of_column)(const armilla_column_problem *problem, const double *d, double *w);
static const start_of_column starts[] = {start_along_d, start_inside, start_on_axis};
enum { STARTS = sizeof starts / sizeof starts[0] };

static armilla_descent descent_of(const armilla_column_problem *problem, int steps, double settled)
{
    const armilla_typed_gram *typed = &problem->typed;
    return (armilla_descent){.r = problem->r,
                             .H = typed->H,
                             .alpha = typed->alpha,
                             .steps = steps,
                             .settled = settled,
                             .rows = typed->rows,
                             .columns = typed->columns,
                             .rank = problem->factor_rank};
}

static void descend_lanes(const armilla_column_problem *problem, const armilla_column_steps *steps, const void *d,
                          void *w, double *workspace)
{
    const armilla_descent descent = descent_of(problem, steps->most, steps->settled);
    problem->typed.kernels->descend(&descent, d, w, NULL, workspace);
}

/* The best of three descents, of equals the first. */
static void solve_lanes(const armilla_column_problem *problem, const void *d, void *w, double *workspace)
{
    const int64_t r = problem->r, lanes = problem->typed.kernels->lanes;
    const armilla_descent each = descent_of(problem, efforts[problem->effort].steps, efforts[problem->effort].settled);
    double *trial = workspace + armilla_descent_workspace(r), *own = trial + r * ARMILLA_LANES, *code = own + r;
    double least[ARMILLA_MOST_LANES] = {0}, values[ARMILLA_MOST_LANES];
    for (int start = 0; start < STARTS; start++) {
        for (int64_t i = 0; i < lanes; i++) {
            armilla_lane_get(problem, d, i, true, own);
            starts[start](problem, own, code);
            armilla_lane_put(problem, code, i, trial);
        }
        problem->typed.kernels->descend(&each, d, trial, values, workspace);
        for (int64_t i = 0; i < lanes; i++) {
            if (start > 0 && !(values[i] < least[i])) continue;
            least[i] = values[i];
            armilla_lane_copy(problem, trial, i, w);
        }
    }
}

const armilla_code_set armilla_codes_nonneg_sphere = {
    .name = "nonneg-sphere",
    .alias = "v2",
    .meaning = "nonnegative codes on a sphere of one radius",
    .nonnegative = true,
    .spherical = true,
    .project = project,
    .solve_lanes = solve_lanes,
    .descend_lanes = descend_lanes,
    .solves_cheaply = armilla_solves_slowly,
};
