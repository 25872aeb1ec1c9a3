/* The paper's V2: v >= 0, ||v|| = l. The best direction for a q without a positive entry is the axis of its largest one
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

/* Columns that are solved side by side, and what is known of their codes. */
typedef struct lane_solve {
    const armilla_column_problem *problem;
    const void *d;
    void *w;                              /* the best codes so far */
    double *descent, *trial, *own, *code; /* space: of descent, lanes, and one column */
    double *rest;                         /* of the solver in the ball */
    double least[ARMILLA_MOST_LANES];     /* g in the kernel's scale, of these codes; NaN: there is none */
    armilla_ball_bound bounds[ARMILLA_MOST_LANES];
    bool found[ARMILLA_MOST_LANES]; /* no other code is better by more than CLOSE */
} lane_solve;

/* As far above what bounds it a code needs no other start, as a part of the sample's square: C in single precision is known
 * no better. */
#define CLOSE 1e-9

static bool all_found(const lane_solve *s)
{
    for (int64_t i = 0; i < s->problem->typed.kernels->lanes; i++)
        if (!s->found[i]) return false;
    return true;
}

/* Descents from the trial; codes that are better than those before become the best, in lanes that are not found yet. */
static void descend_trial(lane_solve *s)
{
    const armilla_column_problem *problem = s->problem;
    const armilla_descent each = descent_of(problem, efforts[problem->effort].steps, efforts[problem->effort].settled);
    double reached[ARMILLA_MOST_LANES];
    problem->typed.kernels->descend(&each, s->d, s->trial, reached, s->descent);
    for (int64_t i = 0; i < problem->typed.kernels->lanes; i++) {
        if (s->found[i] || (!isnan(s->least[i]) && !(reached[i] < s->least[i]))) continue;
        s->least[i] = reached[i];
        armilla_lane_copy(problem, s->trial, i, s->w);
    }
}

static void descend_from(lane_solve *s, start_of_column start)
{
    for (int64_t i = 0; i < s->problem->typed.kernels->lanes; i++) {
        armilla_lane_get(s->problem, s->d, i, true, s->own);
        start(s->problem, s->own, s->code);
        armilla_lane_put(s->problem, s->code, i, s->trial);
    }
    descend_trial(s);
}

/* Which lanes have a code that is as good as its bound. */
static void compare_with_bounds(lane_solve *s)
{
    for (int64_t i = 0; i < s->problem->typed.kernels->lanes; i++) {
        if (s->found[i]) continue;
        armilla_lane_get(s->problem, s->d, i, true, s->own);
        armilla_lane_get(s->problem, s->w, i, false, s->code);
        const double above = armilla_column_value(s->problem, s->own, s->code) - s->bounds[i].least;
        s->found[i] = above <= CLOSE * s->bounds[i].size;
    }
}

/* Descents from codes in the ball, and the bounds that come with them. */
static void descend_from_ball(lane_solve *s)
{
    memcpy(s->trial, s->w, (size_t)s->problem->r * ARMILLA_LANE_BYTES);
    for (int64_t i = 0; i < s->problem->typed.kernels->lanes; i++) {
        if (s->found[i]) continue;
        armilla_lane_get(s->problem, s->d, i, true, s->own);
        armilla_lane_get(s->problem, s->w, i, false, s->code);
        s->bounds[i] = armilla_solve_in_ball(s->problem, s->own, s->code, s->rest);
        armilla_lane_put(s->problem, s->code, i, s->trial);
    }
    descend_trial(s);
}

/* Whether a descent from Proj(d), or one from the code in the ball, leaves nothing to gain in any lane. */
static bool solve_by_bounds(lane_solve *s)
{
    for (int64_t i = 0; i < s->problem->typed.kernels->lanes; i++) {
        armilla_lane_get(s->problem, s->d, i, true, s->own);
        s->bounds[i] = armilla_ball_bound_of(s->problem, s->own, s->rest);
    }
    compare_with_bounds(s);
    if (all_found(s)) return true;
    descend_from_ball(s);
    compare_with_bounds(s);
    return all_found(s);
}

/* The best of three descents, of equals the first; and of one from the best code in the ball. */
static void solve_lanes(const armilla_column_problem *problem, const void *d, void *w, double *workspace)
{
    const int64_t r = problem->r;
    lane_solve s = {.problem = problem, .d = d, .w = w, .descent = workspace};
    s.trial = workspace + armilla_descent_workspace(r);
    s.own = s.trial + r * ARMILLA_LANES;
    s.code = s.own + r;
    s.rest = s.code + r;
    for (int64_t i = 0; i < problem->typed.kernels->lanes; i++) s.least[i] = NAN;
    descend_from(&s, starts[0]);
    if (problem->effort != ARMILLA_ROUGHLY && armilla_ball_helps(problem) && solve_by_bounds(&s)) return;
    for (int start = 1; start < STARTS; start++) descend_from(&s, starts[start]);
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
