/* k-means and spherical k-means: tries of Lloyd's iteration (solve/lloyd.h), from centres that k-means++ draws until no
 * sample changes its cluster: one read of X per iteration, dense or sparse, with the same bits for any number of threads.
 * Spherical k-means is the same on samples of unit length with centres scaled to unit length, because ||x - c||^2 =
 * 2(1 - cos) there. */
#include "cluster/cluster.h"

#include "base/size.h"
#include "data/column.h"
#include "linalg/dense.h"
#include "solve/lloyd.h"
#include "solve/policy.h"
#include "start/seeding.h"

#include <string.h>

/* Tries whose centres are drawn together. */
enum { SEEDED = 16 };

typedef struct kmeans {
    armilla_context *context;
    const armilla_kmeans_problem *problem;
    armilla_lloyd lloyd;
    double *centers; /* m x k */
    void *typed;     /* the same in the working type */
    double *squares; /* k: ||c||^2 */
    int64_t *refill; /* k: the sample that an empty cluster gets as its centre, or -1 */
    bool refilled;   /* the last step had such centres */
    int64_t *chosen; /* k x SEEDED: the samples that tries begin with */
} kmeans;

/* Centres first ... last-1 of the next in the working type, and ||c||^2 of what is left of them there. */
static void store_some(void *self, int64_t first, int64_t last)
{
    const kmeans *s = self;
    const armilla_type work = s->problem->work;
    const int64_t m = s->lloyd.m;
    const bool unit = s->problem->way->unit;
    for (int64_t k = first; k < last; k++) {
        double *center = s->centers + k * m, *next = s->lloyd.U_next + k * m;
        void *typed = (char *)s->typed + (size_t)(k * m) * armilla_type_size(work);
        const double length = unit ? armilla_norm(m, next) : 1;
        for (int64_t i = 0; i < m && length > 0 && unit; i++) next[i] /= length;
        armilla_store(work, m, next, typed);
        armilla_fetch(work, m, typed, center);
        /* By angle exactly 1, so that a sample of length 0 ties and goes to the first cluster. */
        s->squares[k] = unit ? 1 : armilla_dot(m, center, center);
    }
}

static void store_centers(void *self)
{
    kmeans *s = self;
    armilla_team_share(armilla_sweep_team(s->lloyd.sweep), s->lloyd.r, store_some, s);
}

/* Every mean is a centre; by angle one that has a direction, which store_centers gives unit length. */
static bool any_mean(int64_t m, double *mean)
{
    (void)m;
    (void)mean;
    return true;
}

static bool has_direction(int64_t m, double *mean)
{
    return armilla_norm(m, mean) != 0;
}

/* Distances so small beside the lengths are 0. By angle a sample without a direction is equally far from everything,
 * and no centre. */
static bool is_away(const void *self, int64_t sample, double distance)
{
    const armilla_kmeans_problem *p = ((const kmeans *)self)->problem;
    const double square = p->squared_norms[sample];
    return distance > 16 * armilla_epsilon(p->work) * square && (!p->way->unit || square > 0);
}

/* An empty cluster gets the worst-fitted sample as its centre: the inertia cannot rise by that. */
static armilla_status refill(void *self)
{
    kmeans *s = self;
    const armilla_lloyd *lloyd = &s->lloyd;
    const armilla_misfit misfit = {.n = lloyd->n, .squares = lloyd->distances, .counts = is_away, .self = s};
    s->refilled = armilla_misfit_share(&misfit, lloyd->r, lloyd->sizes, lloyd->stride, s->refill) > 0;
    if (!s->refilled) return ARMILLA_OK;
    return armilla_data_gather(s->context, s->problem->X, s->problem->work, lloyd->r, s->refill, lloyd->U_next);
}

/* The samples that the tries from `first` on begin with. */
static armilla_status seed_tries(const kmeans *s, int64_t first)
{
    const armilla_cluster_options *options = s->problem->options;
    armilla_call_stage(s->context, ARMILLA_STAGE_START);
    armilla_seeding seeding = {.context = s->context,
                               .X = s->problem->X,
                               .work = s->problem->work,
                               .squared_norms = s->problem->squared_norms,
                               .angle = s->problem->way->unit,
                               .greedy = true,
                               .count = s->lloyd.r,
                               .first = first,
                               .tries = armilla_min64(SEEDED, options->tries - first),
                               .seed = (uint64_t)options->seed,
                               .stream = ARMILLA_STREAM_CLUSTERS};
    return armilla_seed_samples(&seeding, s->chosen);
}

/* Samples at equal distances in the data, for a call that is to end before better ones are drawn. */
static void seed_at_once(const kmeans *s)
{
    const int64_t n = s->lloyd.n, count = s->lloyd.r;
    for (int64_t k = 0; k < count; k++) s->chosen[k] = (int64_t)((double)k / (double)count * (double)n);
}

/* Where fewer than k places differ, the rest are copies of the first sample. ARMILLA_STOPPED only after the first. */
static armilla_status seed_centers(kmeans *s, int64_t attempt)
{
    const int64_t count = s->lloyd.r;
    int64_t *chosen = s->chosen + attempt % SEEDED * count;
    armilla_status status = attempt % SEEDED == 0 ? seed_tries(s, attempt) : ARMILLA_OK;
    if (status == ARMILLA_STOPPED && attempt == 0) {
        seed_at_once(s);
        status = ARMILLA_OK;
    }
    for (int64_t k = 0; k < count && status == ARMILLA_OK; k++) chosen[k] = armilla_max64(chosen[k], 0);
    if (status == ARMILLA_OK)
        status = armilla_data_gather(s->context, s->problem->X, s->problem->work, count, chosen, s->lloyd.U_next);
    if (status == ARMILLA_OK) store_centers(s);
    return status;
}

/* A step from the centres as they stand; before the first there are no clusters to move them to. */
static armilla_status assign(kmeans *s, int64_t pass)
{
    armilla_lloyd *lloyd = &s->lloyd;
    armilla_call_keep(s->context); /* every sample has a label after it, and not before */
    const armilla_status status = pass > 0 ? armilla_lloyd_step(lloyd) : armilla_lloyd_assign(lloyd);
    armilla_call_keep_leave(s->context);
    lloyd->A = armilla_sweep_A(lloyd->sweep);
    lloyd->sizes = armilla_sweep_sizes(lloyd->sweep);
    return status;
}

/* From the centres as they stand until no sample changes its cluster. */
static armilla_status iterate(kmeans *s, armilla_cluster_summary *found, double *inertias)
{
    const armilla_sweep *sweep = s->lloyd.sweep;
    found->stop = ARMILLA_STOP_MAX_ITER;
    s->refilled = false;
    for (int64_t j = 0; j < s->lloyd.n; j++) s->lloyd.assignments[j] = -1;
    for (int64_t pass = 0; pass <= s->problem->options->max_iter; pass++) {
        const armilla_status status = assign(s, pass);
        if (status != ARMILLA_OK) return status;
        found->iterations = pass;
        found->inertia = armilla_sweep_tally(sweep)[ARMILLA_LLOYD_INERTIA] / (s->problem->way->unit ? 2 : 1);
        if (inertias) inertias[pass] = found->inertia;
        if (armilla_sweep_change(sweep) == 0 && !s->refilled) found->stop = ARMILLA_STOP_CONVERGED;
        if (found->stop != ARMILLA_STOP_CONVERGED && armilla_call_over(s->context))
            found->stop = ARMILLA_STOP_INTERRUPTED;
        if (found->stop != ARMILLA_STOP_MAX_ITER) break;
    }
    return ARMILLA_OK;
}

static armilla_status run_tries(kmeans *s, armilla_clustering *clustering, double *inertias)
{
    const armilla_kmeans_problem *p = s->problem;
    armilla_cluster_summary *best = &clustering->summary;
    const int64_t tries = p->centers ? 1 : p->options->tries;
    armilla_status status = ARMILLA_OK;
    for (int64_t attempt = 0; attempt < tries && status == ARMILLA_OK; attempt++) {
        armilla_cluster_summary found = *best;
        if (p->centers) {
            memcpy(s->lloyd.U_next, p->centers, (size_t)(s->lloyd.m * s->lloyd.r) * sizeof(double));
            store_centers(s);
        } else {
            status = seed_centers(s, attempt);
        }
        armilla_call_stage(s->context, ARMILLA_STAGE_CLUSTERS);
        armilla_call_step(s->context, attempt, tries);
        if (status == ARMILLA_OK) status = iterate(s, &found, inertias);
        if (status == ARMILLA_OK && (attempt == 0 || found.inertia < best->inertia)) {
            *best = found;
            for (int64_t j = 0; j < s->lloyd.n; j++) clustering->labels[j] = s->lloyd.assignments[j];
        }
        if (armilla_call_stopped(s->context, NULL) && attempt + 1 < tries) best->stop = ARMILLA_STOP_INTERRUPTED;
        if (armilla_call_stopped(s->context, NULL)) break;
    }
    return status == ARMILLA_STOPPED ? ARMILLA_OK : status;
}

static armilla_status take_memory(kmeans *s)
{
    armilla_context *context = s->context;
    armilla_lloyd *lloyd = &s->lloyd;
    const armilla_type work = s->problem->work;
    const int64_t m = lloyd->m, n = lloyd->n, k = lloyd->r;
    armilla_status status =
        armilla_sweep_new_assigning(context, s->problem->X, work, k, ARMILLA_LLOYD_TALLY, &lloyd->sweep);
    if (status == ARMILLA_OK) status = armilla_take(context, m * k, sizeof *s->centers, &s->centers);
    if (status == ARMILLA_OK) status = armilla_take(context, m * k, armilla_type_size(work), &s->typed);
    if (status == ARMILLA_OK) status = armilla_take(context, m * k, sizeof *lloyd->U_next, &lloyd->U_next);
    if (status == ARMILLA_OK) status = armilla_take(context, k, sizeof *s->squares, &s->squares);
    if (status == ARMILLA_OK) status = armilla_take(context, k, sizeof *lloyd->offsets, &lloyd->offsets);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *lloyd->distances, &lloyd->distances);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *lloyd->assignments, &lloyd->assignments);
    if (status == ARMILLA_OK) status = armilla_take(context, k, sizeof *s->refill, &s->refill);
    if (status == ARMILLA_OK) status = armilla_take(context, k * SEEDED, sizeof *s->chosen, &s->chosen);
    lloyd->U = s->centers;
    lloyd->U_typed = s->typed;
    lloyd->squares = s->squares;
    return status;
}

static void release_memory(const kmeans *s)
{
    armilla_context *context = s->context;
    armilla_release(context, s->chosen);
    armilla_release(context, s->refill);
    armilla_release(context, s->lloyd.assignments);
    armilla_release(context, s->lloyd.distances);
    armilla_release(context, s->lloyd.offsets);
    armilla_release(context, s->squares);
    armilla_release(context, s->lloyd.U_next);
    armilla_release(context, s->typed);
    armilla_release(context, s->centers);
    armilla_sweep_free(s->lloyd.sweep);
}

armilla_status armilla_kmeans(armilla_context *context, const armilla_kmeans_problem *problem,
                              armilla_clustering *clustering, double *inertias)
{
    kmeans s = {.context = context,
                .problem = problem,
                .lloyd = {.kernels = armilla_code_kernels_for(context),
                          .m = problem->X->m,
                          .n = problem->X->n,
                          .r = problem->options->k,
                          .squared_norms = problem->squared_norms,
                          .l = 1,
                          .stride = 1,
                          .atom = problem->way->unit ? has_direction : any_mean,
                          .revive = refill,
                          .settle = store_centers,
                          .self = &s}};
    armilla_status status = take_memory(&s);
    if (status == ARMILLA_OK) status = run_tries(&s, clustering, inertias);
    release_memory(&s);
    return status;
}
