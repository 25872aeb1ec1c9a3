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

enum { STARTS = 3, DESCENT_STEPS = 1000 };

/* Proj(d), which can sit on a saddle; a strictly positive direction; the best axis. */
static void start_at(const armilla_column_problem *problem, int start, const double *d, double *w)
{
    const int64_t r = problem->r;
    int64_t best = 0;
    for (int64_t k = 0; k < r; k++) {
        if (problem->H[k * r + k] - 2 * d[k] < problem->H[best * r + best] - 2 * d[best]) best = k;
        w[k] = start == 1 ? 1 / sqrt((double)r) : 0;
    }
    if (start == 0 && project(r, 0, d, w)) return;
    if (start != 1) w[best] = 1;
}

/* The problem is not convex: the best of several descents. */
static void solve(const armilla_column_problem *problem, const double *d, double *w, double *room)
{
    double *trial = room + 6 * problem->r, least = INFINITY;
    for (int start = 0; start < STARTS; start++) {
        start_at(problem, start, d, trial);
        armilla_column_descend(problem, &armilla_codes_nonneg_sphere, d, DESCENT_STEPS, ARMILLA_SETTLED, trial, room);
        const double value = armilla_column_value(problem, d, trial);
        if (value < least) {
            least = value;
            memcpy(w, trial, (size_t)problem->r * sizeof *w);
        }
    }
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
    .project = project,
    .solve = solve,
    .solves_cheaply = solves_cheaply,
};
