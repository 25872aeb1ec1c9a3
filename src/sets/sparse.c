/* Codes with at most s nonzeros and no sphere (dictionary learning): least squares on every support while they are few,
 * else greedy pursuit, each atom the one that lowers the residual most, refitted on the support, then exchanges of one
 * atom while that gains. Exact where all supports are tried, and for s = 1. */
#include "sets/column.h"

#include "sets/supports.h"

#include <math.h>
#include <string.h>

enum { REFIT_PASSES = 200, SEARCH_PASSES = 12 };

#define DEPENDENT 1e-12 /* armilla_refit */

typedef struct pursuit {
    const armilla_column_problem *problem;
    const double *d;
    double *gradient; /* d - Hw */
    double *trial;
    double *losses;   /* of leaving out an atom */
    int64_t *size;    /* of a large support that is solved; 0: none is */
    armilla_refit on; /* it */
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

/* Least squares on a large support at once, which coordinate descent would need many passes for. */
static bool solve_support(const pursuit *p, double *w)
{
    int64_t size = 0;
    *p->size = 0;
    if (p->problem->s <= ARMILLA_FEW_MEMBERS) return false;
    for (int64_t a = 0; a < p->problem->r; a++)
        if (w[a] != 0) p->on.member[size++] = a;
    if (!armilla_refit_members(&p->on, size)) return false;
    *p->size = size;
    for (int64_t i = 0; i < size; i++) w[p->on.member[i]] = p->on.z[i];
    find_gradient(p, w);
    return true;
}

/* Least squares on w's support by coordinate descent. */
static void refit(const pursuit *p, int passes, double *w)
{
    const int64_t r = p->problem->r;
    if (solve_support(p, w)) return;
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

/* What is left of H_kk beside the support: that of the atom itself, or where the support is solved of its part across. */
static double curvature_of(const pursuit *p, int64_t k)
{
    const int64_t r = p->problem->r, size = *p->size;
    const double *H = p->problem->H, own = H[k * r + k];
    double left = own;
    for (int64_t i = 0; i < size; i++) {
        const double *row = p->on.L + i * size;
        double sum = H[k * r + p->on.member[i]];
        for (int64_t j = 0; j < i; j++) sum -= row[j] * p->on.z[j];
        p->on.z[i] = sum / row[i];
        left -= p->on.z[i] * p->on.z[i];
    }
    return left > DEPENDENT * own ? left : INFINITY;
}

/* The atom outside the support that lowers the residual most comes in. False where none does. */
static bool add_best(const pursuit *p, double *w)
{
    const int64_t r = p->problem->r;
    int64_t best = -1;
    double most = 0;
    for (int64_t k = 0; k < r; k++) {
        const double own = p->problem->H[k * r + k];
        if (w[k] != 0 || !(own > 0)) continue;
        const double gain = p->gradient[k] / curvature_of(p, k) * p->gradient[k];
        if (gain <= most) continue;
        most = gain;
        best = k;
    }
    if (best < 0) return false;
    move_to(p, best, p->gradient[best] / p->problem->H[best * r + best], w);
    refit(p, SEARCH_PASSES, w);
    return true;
}

/* How much g rises where an atom of a large support is left out and no other moves; the limit for those that are worth an
 * exchange. */
static double find_losses(const pursuit *p, const double *w)
{
    const int64_t r = p->problem->r;
    for (int64_t a = 0; a < r; a++) p->losses[a] = w[a] != 0 ? w[a] * w[a] * p->problem->H[a * r + a] : INFINITY;
    return armilla_few_least(r, ARMILLA_PROMISING, p->losses);
}

/* One member of the support out, the best atom in: the first exchange that gains. */
static bool swap_one(const pursuit *p, double *w)
{
    const int64_t r = p->problem->r;
    const bool few = p->problem->s <= ARMILLA_FEW_MEMBERS;
    const double limit = few ? 0 : find_losses(p, w), value = armilla_column_value(p->problem, p->d, w);
    for (int64_t a = 0; a < r; a++) {
        if (w[a] == 0 || (!few && p->losses[a] > limit)) continue;
        memcpy(p->trial, w, (size_t)r * sizeof *w);
        p->trial[a] = 0;
        refit(p, SEARCH_PASSES, p->trial);
        if (!add_best(p, p->trial)) continue;
        if (armilla_column_value(p->problem, p->d, p->trial) < value - 1e-12 * fabs(value)) {
            memcpy(w, p->trial, (size_t)r * sizeof *w);
            return true;
        }
    }
    return false;
}

static void pursue(const armilla_column_problem *problem, const double *d, double *w, double *workspace)
{
    const int64_t r = problem->r;
    int64_t size = 0;
    const pursuit p = {.problem = problem,
                       .d = d,
                       .gradient = workspace,
                       .trial = workspace + r,
                       .losses = workspace + 2 * r,
                       .size = &size,
                       .on = {.problem = problem,
                              .d = d,
                              .dependent = DEPENDENT,
                              .member = (int64_t *)(void *)(workspace + 3 * r),
                              .z = workspace + 4 * r,
                              .L = workspace + 5 * r}};
    const bool roughly = problem->effort == ARMILLA_ROUGHLY;
    find_gradient(&p, w);
    for (int64_t added = 0; added < problem->s && add_best(&p, w); added++) {}
    const int64_t most = problem->s > 1 && !roughly ? armilla_sparse_swaps(problem->s) : 0;
    for (int64_t swaps = 0; swaps < most && swap_one(&p, w); swaps++) {}
    refit(&p, REFIT_PASSES, w);
}

static void solve(const armilla_column_problem *problem, const double *d, double *w, double *workspace)
{
    memset(w, 0, (size_t)problem->r * sizeof *w);
    if (problem->supports)
        armilla_supports_improve(problem->supports, false, d, 0, w, workspace); /* g(0) = 0 */
    else
        pursue(problem, d, w, workspace);
    for (int64_t k = 0; k < problem->r; k++) w[k] += 0.0; /* no -0 in a code */
}

const armilla_code_set armilla_codes_sparse = {
    .name = "sparse",
    .meaning = "codes with at most s nonzeros",
    .sparse = true,
    .whole = &armilla_codes_free,
    .conic = true,
    .project = project,
    .solve = solve,
    .solves_cheaply = armilla_sparse_solves_cheaply,
};
