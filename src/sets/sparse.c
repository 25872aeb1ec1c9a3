/* Codes with at most s nonzeros and no sphere (dictionary learning): least squares on every support while they are few,
 * else greedy pursuit, each atom the one that lowers the residual most, refitted on the support, then exchanges of one
 * atom while that gains. Exact where all supports are tried, and for s = 1. */
#include "sets/column.h"

#include "sets/supports.h"

#include <math.h>
#include <string.h>

enum { REFIT_PASSES = 200, SEARCH_PASSES = 12 };

typedef struct pursuit {
    const armilla_column_problem *problem;
    const double *d;
    double *gradient; /* d - Hw */
    double *trial;
} pursuit;

static bool project(int64_t r, int64_t s, const double *q, double *w)
{
    armilla_keep_largest(r, s, false, q, w);
    return true;
}

static void find_gradient(const pursuit *p, const double *w)
{
    const int64_t r = p->problem->r;
    memcpy(p->gradient, p->d, (size_t)r * sizeof *w);
    for (int64_t a = 0; a < r; a++)
        for (int64_t k = 0; k < r && w[a] != 0; k++) p->gradient[k] -= p->problem->H[a * r + k] * w[a];
}

static void move_to(const pursuit *p, int64_t a, double step, double *w)
{
    const int64_t r = p->problem->r;
    w[a] += step;
    for (int64_t k = 0; k < r; k++) p->gradient[k] -= p->problem->H[a * r + k] * step;
}

/* Least squares on w's support by coordinate descent. */
static void refit(const pursuit *p, int passes, double *w)
{
    const int64_t r = p->problem->r;
    find_gradient(p, w);
    for (int pass = 0; pass < passes; pass++) {
        double moved = 0, largest = 0;
        for (int64_t a = 0; a < r; a++) {
            const double own = p->problem->H[a * r + a];
            if (w[a] == 0 || !(own > 0)) continue;
            const double step = p->gradient[a] / own;
            if (w[a] + step != 0) move_to(p, a, step, w);
            moved = fmax(moved, fabs(step));
            largest = fmax(largest, fabs(w[a]));
        }
        if (moved <= ARMILLA_SETTLED * largest) return;
    }
}

/* The atom outside the support that lowers the residual most comes in. False where none does. */
static bool add_best(const pursuit *p, int passes, double *w)
{
    const int64_t r = p->problem->r;
    int64_t best = -1;
    double most = 0;
    for (int64_t k = 0; k < r; k++) {
        const double own = p->problem->H[k * r + k];
        if (w[k] != 0 || !(own > 0)) continue;
        const double gain = p->gradient[k] / own * p->gradient[k];
        if (gain <= most) continue;
        most = gain;
        best = k;
    }
    if (best < 0) return false;
    move_to(p, best, p->gradient[best] / p->problem->H[best * r + best], w);
    refit(p, passes, w);
    return true;
}

/* One member of the support out, the best atom in: the first exchange that gains. */
static bool swap_one(const pursuit *p, double *w)
{
    const int64_t r = p->problem->r;
    const double value = armilla_column_value(p->problem, p->d, w);
    for (int64_t a = 0; a < r; a++) {
        if (w[a] == 0) continue;
        memcpy(p->trial, w, (size_t)r * sizeof *w);
        p->trial[a] = 0;
        refit(p, SEARCH_PASSES, p->trial);
        if (!add_best(p, SEARCH_PASSES, p->trial)) continue;
        if (armilla_column_value(p->problem, p->d, p->trial) < value - 1e-12 * fabs(value)) {
            memcpy(w, p->trial, (size_t)r * sizeof *w);
            return true;
        }
    }
    return false;
}

static void pursue(const armilla_column_problem *problem, const double *d, double *w, double *workspace)
{
    const pursuit p = {problem, d, workspace, workspace + problem->r};
    const bool roughly = problem->effort == ARMILLA_ROUGHLY;
    find_gradient(&p, w);
    for (int64_t size = 0; size < problem->s && add_best(&p, SEARCH_PASSES, w); size++) {}
    for (int64_t swaps = 0; swaps < 2 * problem->s && problem->s > 1 && !roughly && swap_one(&p, w); swaps++) {}
    refit(&p, REFIT_PASSES, w);
}

static void solve(const armilla_column_problem *problem, const double *d, double *w, double *workspace)
{
    memset(w, 0, (size_t)problem->r * sizeof *w);
    if (problem->supports)
        (void)armilla_supports_improve(problem->supports, false, d, 0, w, workspace); /* g(0) = 0 */
    else
        pursue(problem, d, w, workspace);
    for (int64_t k = 0; k < problem->r; k++) w[k] += 0.0; /* no -0 in a code */
}

const armilla_code_set armilla_codes_sparse = {
    .name = "sparse",
    .meaning = "codes with at most s nonzeros",
    .sparse = true,
    .conic = true,
    .project = project,
    .solve = solve,
    .solves_cheaply = armilla_sparse_solves_cheaply,
};
