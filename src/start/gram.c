/* The leading left singular vectors of X as eigenvectors of XX', which one pass over X sums: where features are few that is
 * less work than the products of several passes, and exact (docs/algorithm.md#pca). */
#include "start/start.h"

#include "base/ranks.h"
#include "base/size.h"
#include "data/gram.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The rounding of XX', and the part of it that counts as 0, in units of the type's epsilon beside ||X||^2. */
#define ROUNDING 2.0
#define NOTHING (1 / 64.0)

typedef struct directions {
    armilla_problem *problem;
    armilla_algebra *algebra;
    double *G;      /* XX', then its eigenvectors */
    double *values; /* m, rising */
} directions;

/* Whether squares of the entries, which are summed in the working type, are in its range. */
static bool is_in_range(const armilla_problem *p)
{
    const bool is_f32 = p->options.type == ARMILLA_F32;
    const double least = is_f32 ? (double)FLT_MIN : DBL_MIN, most = is_f32 ? (double)FLT_MAX : DBL_MAX;
    return p->squared_norm >= (double)p->n * least && p->squared_norm <= most;
}

static armilla_status take(directions *d)
{
    const armilla_problem *p = d->problem;
    armilla_status status = armilla_algebra_new_eigen(p->context, p->m, &d->algebra);
    if (status == ARMILLA_OK) status = armilla_take(p->context, p->m * p->m, sizeof *d->G, &d->G);
    if (status == ARMILLA_OK) status = armilla_take(p->context, p->m, sizeof *d->values, &d->values);
    return status;
}

static void release(directions *d)
{
    armilla_release(d->problem->context, d->values);
    armilla_release(d->problem->context, d->G);
    armilla_algebra_free(d->algebra);
}

/* XX' = ZLZ' (A10) */
static armilla_status decompose(directions *d)
{
    const armilla_problem *p = d->problem;
    armilla_status status = armilla_data_gram(p->context, p->X, p->options.type, d->G);
    if (status != ARMILLA_OK) return status;
    /* Only directions are wanted, and LAPACK scales by other factors. */
    const double scale = armilla_safe_scale(p->m * p->m, d->G, NULL);
    for (int64_t i = 0; i < p->m * p->m; i++) d->G[i] *= scale;
    return armilla_eigen(d->algebra, p->m, d->G, d->values, d->G);
}

/* Whether rounding E of XX' costs no more of h than the tolerance: E^2 beside the gap behind the r-th value, or E where
 * that is less. */
static bool is_resolved(const directions *d)
{
    const armilla_problem *p = d->problem;
    const int64_t outside = p->m - p->r;
    const double epsilon = armilla_epsilon(p->options.type), *values = d->values;
    double left = 0, all = 0;
    for (int64_t i = 0; i < p->m; i++) {
        all += fmax(values[i], 0);
        if (i < outside) left = all;
    }
    if (outside == 0) return true;
    const double rounding = ROUNDING * epsilon * all, gap = values[outside] - values[outside - 1];
    return rounding * (rounding / fmax(gap, rounding)) <= fmax(p->options.stop.tol * left, NOTHING * epsilon * all);
}

/* U = the last r columns of Z, the last first. */
static void put_basis(const directions *d, double *U)
{
    const int64_t m = d->problem->m, r = d->problem->r;
    for (int64_t k = 0; k < r; k++) {
        memcpy(U + k * m, d->G + (m - 1 - k) * m, (size_t)m * sizeof *U);
        armilla_point_up(m, U + k * m);
    }
}

armilla_status armilla_gram_directions(armilla_problem *problem, double *U, bool *found)
{
    directions d = {.problem = problem};
    if (problem->X->ops->sparse || !is_in_range(problem)) return ARMILLA_OK;
    armilla_call_step(problem->context, 0, 1);
    armilla_status status = take(&d);
    if (status == ARMILLA_OK) status = decompose(&d);
    const bool resolved = status == ARMILLA_OK && is_resolved(&d);
    /* Each rank has judged by itself, and all have to go on together. */
    status = armilla_ranks_meet(problem->context, status, resolved, NULL);
    if (status == ARMILLA_OK && resolved) put_basis(&d, U);
    *found = status == ARMILLA_OK && resolved;
    release(&d);
    return status;
}
