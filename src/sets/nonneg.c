/* Nonnegative codes without a sphere (NMF): nonnegative least squares in Gram space, which is convex, by coordinate
 * descent: v_k <- max(v_k + (d_k - (Hv)_k)/H_kk, 0). */
#include "sets/column.h"

#include <math.h>
#include <string.h>

enum { PASSES = 2000, ROUGH_PASSES = 30, LANES = ARMILLA_LANES };
#define ROUGHLY_SETTLED 1e-6

static bool project(int64_t r, int64_t s, const double *q, double *w)
{
    (void)s;
    for (int64_t k = 0; k < r; k++) w[k] = q[k] > 0 ? q[k] : 0;
    return true;
}

/* gradient = d - Hw */
static void find_gradient(const armilla_column_problem *problem, const double *d, const double *w, double *gradient)
{
    const int64_t r = problem->r;
    memcpy(gradient, d, (size_t)(r * LANES) * sizeof *d);
    for (int64_t a = 0; a < r; a++)
        for (int64_t k = 0; k < r; k++) {
            const double h = problem->H[a * r + k];
            for (int i = 0; i < LANES; i++) gradient[k * LANES + i] -= h * w[a * LANES + i];
        }
}

/* Coordinate a of every lane, except those that are done. What moved is noted. */
static void move_coordinate(const armilla_column_problem *problem, int64_t a, const double *going, double *w,
                            double *gradient, double *moved)
{
    const int64_t r = problem->r;
    const double *column = problem->H + a * r, own = column[a];
    double step[LANES];
    if (!(own > 0)) return;
    for (int i = 0; i < LANES; i++) {
        const double now = w[a * LANES + i], wanted = now + gradient[a * LANES + i] / own;
        const double next = wanted > 0 ? wanted : 0;
        step[i] = going[i] * (next - now);
        w[a * LANES + i] = going[i] > 0 ? next : now;
        moved[i] = fabs(step[i]) > moved[i] ? fabs(step[i]) : moved[i];
    }
    for (int64_t k = 0; k < r; k++)
        for (int i = 0; i < LANES; i++) gradient[k * LANES + i] -= column[k] * step[i];
}

/* A lane ends where no entry moves by more than settled of its largest: whatever stands in the others. */
static bool end_lanes(int64_t r, double settled, const double *w, const double *moved, double *going)
{
    bool any = false;
    for (int i = 0; i < LANES; i++) {
        double largest = 0;
        for (int64_t k = 0; k < r; k++) largest = fmax(largest, w[k * LANES + i]);
        if (moved[i] <= settled * largest) going[i] = 0;
        any = any || going[i] > 0;
    }
    return any;
}

static void descend_lanes(const armilla_column_problem *problem, const double *d, int steps, double settled, double *w,
                          double *room)
{
    double going[LANES], moved[LANES];
    for (int i = 0; i < LANES; i++) going[i] = 1;
    find_gradient(problem, d, w, room);
    for (int step = 0; step < steps; step++) {
        memset(moved, 0, sizeof moved);
        for (int64_t a = 0; a < problem->r; a++) move_coordinate(problem, a, going, w, room, moved);
        if (!end_lanes(problem->r, settled, w, moved, going)) return;
    }
}

static void solve_lanes(const armilla_column_problem *problem, const double *d, double *w, double *room)
{
    const bool roughly = problem->effort == ARMILLA_ROUGHLY;
    memset(w, 0, (size_t)(problem->r * LANES) * sizeof *w);
    descend_lanes(problem, d, roughly ? ROUGH_PASSES : PASSES, roughly ? ROUGHLY_SETTLED : ARMILLA_SETTLED, w, room);
}

/* One column, as a lane among copies of itself. */
static void solve(const armilla_column_problem *problem, const double *d, double *w, double *room)
{
    armilla_columns_solve(problem, &armilla_codes_nonneg, 1, d, 1, w, room);
}

static bool solves_cheaply(int64_t r, int64_t s)
{
    (void)r;
    (void)s;
    return false;
}

const armilla_code_set armilla_codes_nonneg = {
    .name = "nonneg",
    .meaning = "nonnegative codes",
    .nonnegative = true,
    .conic = true,
    .project = project,
    .solve = solve,
    .solve_lanes = solve_lanes,
    .descend_lanes = descend_lanes,
    .solves_cheaply = solves_cheaply,
};
