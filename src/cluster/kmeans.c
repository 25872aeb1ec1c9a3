/* Lloyd's iteration through the sweep: with the centres as basis, C = U'X gives the distances, codes are names of
 * centres, and A = XW' and the diagonal of G = WW' are the sums and sizes of the clusters: one read of X per iteration,
 * dense or sparse, with the same bits for any number of threads. Spherical k-means is the same on samples of unit length
 * with centres scaled to unit length, because ||x - c||^2 = 2(1 - cos) there. */
#include "cluster/cluster.h"

#include "base/size.h"
#include "data/column.h"
#include "linalg/dense.h"
#include "solve/nearest.h"
#include "start/seeding.h"

#include <math.h>
#include <string.h>

/* Tries whose centres are drawn together. */
enum { SEEDED = 16 };

typedef struct lloyd {
    armilla_context *context;
    const armilla_kmeans_problem *problem;
    int64_t m, n, k;
    armilla_sweep *sweep;
    double *centers; /* m x k */
    void *typed;     /* the same in the working type */
    armilla_nearest nearest;
    int32_t *names;  /* n: the cluster of each sample; -1 at first */
    int64_t *chosen; /* k x SEEDED: the samples that tries begin with */
} lloyd;

/* By angle a sample without a direction is equally far from everything, and no centre. */
static bool eligible(const lloyd *s, int64_t sample)
{
    return !s->problem->way->unit || s->problem->squared_norms[sample] > 0;
}

/* Distances so small beside the lengths are 0. */
static double floor_of(const lloyd *s, int64_t sample)
{
    return 16 * armilla_epsilon(s->problem->work) * s->problem->squared_norms[sample];
}

/* Centres first ... last-1 in the working type, and ||c||^2 of what is left of them there. */
static void store_some(void *self, int64_t first, int64_t last)
{
    const lloyd *s = self;
    const armilla_type work = s->problem->work;
    const bool unit = s->problem->way->unit;
    for (int64_t k = first; k < last; k++) {
        double *center = s->centers + k * s->m;
        void *typed = (char *)s->typed + (size_t)(k * s->m) * armilla_type_size(work);
        const double length = unit ? armilla_norm(s->m, center) : 1;
        for (int64_t i = 0; i < s->m && length > 0 && unit; i++) center[i] /= length;
        armilla_store(work, s->m, center, typed);
        armilla_fetch(work, s->m, typed, center);
        /* By angle exactly 1, so that a sample of length 0 ties and goes to the first cluster. */
        s->nearest.offsets[k] = unit ? 1 : armilla_dot(s->m, center, center);
    }
}

static void store_centers(lloyd *s)
{
    armilla_team_share(armilla_sweep_team(s->sweep), s->k, store_some, s);
}

/* The samples that the tries from `first` on begin with. */
static armilla_status seed_tries(const lloyd *s, int64_t first)
{
    const armilla_cluster_options *options = s->problem->options;
    armilla_call_stage(s->context, ARMILLA_STAGE_START);
    armilla_seeding seeding = {.context = s->context,
                               .X = s->problem->X,
                               .work = s->problem->work,
                               .squared_norms = s->problem->squared_norms,
                               .angle = s->problem->way->unit,
                               .greedy = true,
                               .count = s->k,
                               .first = first,
                               .tries = armilla_min64(SEEDED, options->tries - first),
                               .seed = (uint64_t)options->seed,
                               .stream = ARMILLA_STREAM_CLUSTERS};
    return armilla_seed_samples(&seeding, s->chosen);
}

/* Samples at equal distances in the data, for a call that is to end before better ones are drawn. */
static void seed_at_once(const lloyd *s)
{
    for (int64_t k = 0; k < s->k; k++) s->chosen[k] = (int64_t)((double)k / (double)s->k * (double)s->n);
}

/* Where fewer than k places differ, the rest are copies of the first sample. ARMILLA_STOPPED only after the first. */
static armilla_status seed_centers(lloyd *s, int64_t attempt)
{
    int64_t *chosen = s->chosen + attempt % SEEDED * s->k;
    armilla_status status = attempt % SEEDED == 0 ? seed_tries(s, attempt) : ARMILLA_OK;
    if (status == ARMILLA_STOPPED && attempt == 0) {
        seed_at_once(s);
        status = ARMILLA_OK;
    }
    for (int64_t k = 0; k < s->k && status == ARMILLA_OK; k++) chosen[k] = armilla_max64(chosen[k], 0);
    if (status == ARMILLA_OK)
        status = armilla_data_gather(s->context, s->problem->X, s->problem->work, s->k, chosen, s->centers);
    if (status == ARMILLA_OK) store_centers(s);
    return status;
}

/* The sample that is farthest from its centre, or -1 where none is away from it. */
static int64_t worst_sample(const lloyd *s)
{
    const double *distances = s->nearest.distances;
    int64_t worst = -1;
    for (int64_t j = 0; j < s->n; j++)
        if (eligible(s, j) && distances[j] > floor_of(s, j) && (worst < 0 || distances[j] > distances[worst]))
            worst = j;
    return worst;
}

/* An empty cluster gets the worst-fitted sample as its centre: the inertia cannot rise by that. */
static armilla_status refill(lloyd *s, int64_t k, bool *moved)
{
    const int64_t sample = worst_sample(s);
    if (sample < 0) return ARMILLA_OK;
    s->nearest.distances[sample] = 0;
    *moved = true;
    return armilla_data_column(s->context, s->problem->X, s->problem->work, sample, s->centers + k * s->m);
}

/* c_k = A_k / G_kk (by angle A_k / ||A_k||). A mean of length 0 leaves the centre as it is. */
static void move_some(void *self, int64_t first, int64_t last)
{
    const lloyd *s = self;
    const double *A = armilla_sweep_A(s->sweep), *sizes = armilla_sweep_sizes(s->sweep);
    for (int64_t k = first; k < last; k++) {
        const double *sum = A + k * s->m;
        if (sizes[k] == 0 || (s->problem->way->unit && armilla_norm(s->m, sum) == 0)) continue;
        for (int64_t i = 0; i < s->m; i++) s->centers[k * s->m + i] = sum[i] / sizes[k];
    }
}

static armilla_status move_centers(lloyd *s, bool *moved)
{
    const double *sizes = armilla_sweep_sizes(s->sweep);
    armilla_status status = ARMILLA_OK;
    *moved = false;
    armilla_team_share(armilla_sweep_team(s->sweep), s->k, move_some, s);
    for (int64_t k = 0; k < s->k && status == ARMILLA_OK; k++)
        if (sizes[k] == 0) status = refill(s, k, moved);
    store_centers(s);
    return status;
}

/* From the centres as they stand until no sample changes its cluster. */
static armilla_status iterate(lloyd *s, armilla_cluster_summary *found, double *inertias)
{
    const armilla_sweep_plan plan = {.U = s->typed,
                                     .names = s->names,
                                     .sums = true,
                                     .tally = ARMILLA_NEAREST_TALLY,
                                     .step = armilla_nearest_step,
                                     .self = &s->nearest};
    armilla_status status = ARMILLA_OK;
    bool moved = false;
    found->stop = ARMILLA_STOP_MAX_ITER;
    for (int64_t j = 0; j < s->n; j++) s->names[j] = -1;
    for (int64_t pass = 0; status == ARMILLA_OK; pass++) {
        armilla_call_keep(s->context); /* every sample has a label after it, and not before */
        status = armilla_sweep_run(s->sweep, &plan);
        armilla_call_keep_leave(s->context);
        if (status != ARMILLA_OK) return status;
        found->iterations = pass;
        found->inertia = armilla_sweep_tally(s->sweep)[ARMILLA_NEAREST_INERTIA] / (s->problem->way->unit ? 2 : 1);
        if (inertias) inertias[pass] = found->inertia;
        if (armilla_sweep_change(s->sweep) == 0 && !moved) found->stop = ARMILLA_STOP_CONVERGED;
        if (found->stop != ARMILLA_STOP_CONVERGED && armilla_call_over(s->context))
            found->stop = ARMILLA_STOP_INTERRUPTED;
        if (found->stop != ARMILLA_STOP_MAX_ITER || pass >= s->problem->options->max_iter) return ARMILLA_OK;
        status = move_centers(s, &moved);
    }
    return status;
}

static armilla_status run_tries(lloyd *s, armilla_clustering *clustering, double *inertias)
{
    const armilla_kmeans_problem *p = s->problem;
    armilla_cluster_summary *best = &clustering->summary;
    const int64_t tries = p->centers ? 1 : p->options->tries;
    armilla_status status = ARMILLA_OK;
    for (int64_t attempt = 0; attempt < tries && status == ARMILLA_OK; attempt++) {
        armilla_cluster_summary found = *best;
        if (p->centers) {
            memcpy(s->centers, p->centers, (size_t)(s->m * s->k) * sizeof(double));
            store_centers(s);
        } else {
            status = seed_centers(s, attempt);
        }
        armilla_call_stage(s->context, ARMILLA_STAGE_CLUSTERS);
        armilla_call_step(s->context, attempt, tries);
        if (status == ARMILLA_OK) status = iterate(s, &found, inertias);
        if (status == ARMILLA_OK && (attempt == 0 || found.inertia < best->inertia)) {
            *best = found;
            for (int64_t j = 0; j < s->n; j++) clustering->labels[j] = s->names[j];
        }
        if (armilla_call_stopped(s->context, NULL) && attempt + 1 < tries) best->stop = ARMILLA_STOP_INTERRUPTED;
        if (armilla_call_stopped(s->context, NULL)) break;
    }
    return status == ARMILLA_STOPPED ? ARMILLA_OK : status;
}

armilla_status armilla_kmeans(armilla_context *context, const armilla_kmeans_problem *problem,
                              armilla_clustering *clustering, double *inertias)
{
    const armilla_data *X = problem->X;
    const int64_t k = problem->options->k, m = X->m;
    lloyd s = {.context = context,
               .problem = problem,
               .m = m,
               .n = X->n,
               .k = k,
               .nearest = {
                   .kernels = armilla_code_kernels_for(context), .squared_norms = problem->squared_norms, .factor = 2}};
    armilla_status status = armilla_sweep_new_naming(context, X, problem->work, k, ARMILLA_NEAREST_TALLY, &s.sweep);
    if (status == ARMILLA_OK) status = armilla_take(context, m * k, sizeof *s.centers, &s.centers);
    if (status == ARMILLA_OK) status = armilla_take(context, m * k, armilla_type_size(problem->work), &s.typed);
    if (status == ARMILLA_OK) status = armilla_take(context, k, sizeof *s.nearest.offsets, &s.nearest.offsets);
    if (status == ARMILLA_OK) status = armilla_take(context, X->n, sizeof *s.nearest.distances, &s.nearest.distances);
    if (status == ARMILLA_OK) status = armilla_take(context, X->n, sizeof *s.names, &s.names);
    if (status == ARMILLA_OK) status = armilla_take(context, k * SEEDED, sizeof *s.chosen, &s.chosen);
    if (status == ARMILLA_OK) status = run_tries(&s, clustering, inertias);
    armilla_release(context, s.chosen);
    armilla_release(context, s.names);
    armilla_release(context, s.nearest.distances);
    armilla_release(context, s.nearest.offsets);
    armilla_release(context, s.typed);
    armilla_release(context, s.centers);
    armilla_sweep_free(s.sweep);
    return status;
}
