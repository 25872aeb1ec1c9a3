/* k-means and spherical k-means: tries of Lloyd's iteration (solve/lloyd.h), from centres that k-means++ draws until no
 * sample changes its cluster: one read of X per iteration, dense or sparse, with the same bits for any number of
 * threads. With many samples the tries are made on some of them, and all samples continue from the best one's centres.
 * Spherical k-means is the same on samples of unit length with centres scaled to unit length, because
 * ||x - c||^2 = 2(1 - cos) there. */
#include "cluster/cluster.h"

#include "base/size.h"
#include "data/column.h"
#include "data/slots.h"
#include "linalg/dense.h"
#include "solve/lloyd.h"
#include "solve/policy.h"
#include "start/seeding.h"

#include <math.h>
#include <string.h>

/* Tries whose centres are drawn together. */
enum { SEEDED = 16 };
/* Tries that end in the same clusters, in another order, differ by rounding: the first of them counts. */
#define SAME (1 - 1e-9)

typedef struct kmeans {
    armilla_context *context;
    const armilla_kmeans_problem *problem;
    armilla_lloyd lloyd;
    double *centers; /* m x k */
    void *typed;     /* the same in the working type */
    double *squares; /* k: ||c||^2 */
    double *sums;    /* m x k: of the samples of each cluster */
    armilla_bounds bounds;
    int64_t *refill; /* k: the sample that an empty cluster gets as its centre, or -1 */
    bool refilled;   /* the last step had such centres */
    int64_t *chosen; /* k x SEEDED: the samples that tries begin with */
    double *best;    /* m x k: the centres of the best try so far, where they are wanted; else NULL */
    armilla_phase phase;
    armilla_interval place; /* of the try in progress, in the phase */
} kmeans;

/* Centres first ... last-1 of the next in the working type, and ||c||^2 of what is left of them there. */
static void store_some(void *self, int64_t first, int64_t last)
{
    const kmeans *s = self;
    const armilla_type work = s->problem->work;
    const int64_t m = s->lloyd.m;
    const bool unit = s->problem->method->unit;
    for (int64_t k = first; k < last; k++) {
        double *center = s->centers + k * m, *next = s->lloyd.U_next + k * m;
        void *typed = (char *)s->typed + (size_t)(k * m) * armilla_type_size(work);
        if (unit) (void)armilla_make_unit(m, next);
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
    return distance > 16 * armilla_epsilon(p->work) * square && (!p->method->unit || square > 0);
}

/* An empty cluster gets the worst-fitted sample as its centre: the inertia cannot rise by that. */
static armilla_status refill(void *self)
{
    kmeans *s = self;
    const armilla_lloyd *lloyd = &s->lloyd;
    const armilla_misfit misfit = {
        .context = s->context, .share = lloyd->share, .squares = lloyd->distances, .counts = is_away, .self = s};
    int64_t count = 0;
    armilla_status status = ARMILLA_OK;
    s->refilled = false;
    for (int64_t k = 0; k < lloyd->r; k++) s->refilled |= lloyd->sizes[k] == 0;
    if (!s->refilled) return ARMILLA_OK;
    if ((status = armilla_lloyd_measure(&s->lloyd)) == ARMILLA_OK)
        status = armilla_misfit_share(&misfit, lloyd->r, lloyd->sizes, lloyd->stride, s->refill, &count);
    s->refilled = count > 0;
    if (status != ARMILLA_OK || !s->refilled) return status;
    return armilla_data_gather(s->context, s->problem->X, s->problem->work, lloyd->r, s->refill, lloyd->U_next);
}

/* What is reported of a try: drawing centres, which is done for SEEDED tries at once, is so much of it; and of what is left to
 * iterate, every pass is so much. */
#define DRAWING 0.3
#define PASSED 0.1

/* The part of the phase that drawing for tries from `first` on takes, and the part of the try itself. */
static armilla_interval place_of_drawing(int64_t first, int64_t tries)
{
    const double count = (double)armilla_min64(SEEDED, tries - first), all = (double)tries;
    return (armilla_interval){(double)first / all, ((double)first + DRAWING * count) / all};
}

static armilla_interval place_of_try(int64_t attempt, int64_t tries)
{
    const int64_t first = attempt - attempt % SEEDED;
    const double begun = place_of_drawing(first, tries).high, each = (1 - DRAWING) / (double)tries;
    return (armilla_interval){begun + each * (double)(attempt - first), begun + each * (double)(attempt - first + 1)};
}

static void tell_pass(const kmeans *s, int64_t pass)
{
    const double size = s->place.high - s->place.low, left = pow(1 - PASSED, (double)pass);
    armilla_call_round(s->context, s->phase, s->place.high - size * left, s->place.high - size * left * (1 - PASSED));
}

/* The samples that the tries from `first` on begin with. */
static armilla_status seed_tries(const kmeans *s, int64_t first)
{
    const armilla_cluster_options *options = s->problem->options;
    const armilla_interval place = place_of_drawing(first, options->tries);
    armilla_call_round(s->context, s->phase, place.low, place.high);
    armilla_call_stage(s->context, ARMILLA_STAGE_START);
    armilla_seeding seeding = {.context = s->context,
                               .X = s->problem->X,
                               .work = s->problem->work,
                               .squared_norms = s->problem->squared_norms,
                               .angle = s->problem->method->unit,
                               .candidates = armilla_greedy_candidates(s->lloyd.r),
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
    const int64_t n = s->lloyd.share.count, count = s->lloyd.r;
    for (int64_t k = 0; k < count; k++) s->chosen[k] = (int64_t)((double)k / (double)count * (double)n);
}

/* Centres beyond the number of distinct samples are copies of the first sample. ARMILLA_STOPPED only after the
 * first. */
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
    lloyd->age = pass % ARMILLA_LLOYD_RENEWS;
    armilla_call_uninterrupted_enter(s->context); /* every sample has a label after it, and not before */
    const armilla_status status = pass > 0 ? armilla_lloyd_step(lloyd) : armilla_lloyd_assign(lloyd);
    armilla_call_uninterrupted_leave(s->context);
    if (status != ARMILLA_OK) return status;
    memcpy(s->sums, armilla_sweep_A(lloyd->sweep), (size_t)(lloyd->m * lloyd->r) * sizeof *s->sums);
    lloyd->sizes = armilla_sweep_sizes(lloyd->sweep);
    return status;
}

/* From the centres as they stand until no sample changes its cluster. */
static armilla_status iterate(kmeans *s, armilla_cluster_summary *found, double *inertias)
{
    const armilla_sweep *sweep = s->lloyd.sweep;
    found->stop = ARMILLA_STOP_MAX_ITER;
    s->refilled = false;
    armilla_bounds_ran(&s->bounds, false); /* those of another try say little */
    for (int64_t j = s->lloyd.share.first; j < s->lloyd.share.last; j++) s->lloyd.assignments[j] = -1;
    for (int64_t pass = 0; pass <= s->problem->options->max_iter; pass++) {
        tell_pass(s, pass);
        const armilla_status status = assign(s, pass);
        if (status != ARMILLA_OK) return status;
        found->iterations = pass;
        found->inertia = s->lloyd.inertia / (s->problem->method->unit ? 2 : 1);
        if (inertias) inertias[pass] = found->inertia;
        if (armilla_sweep_change(sweep) == 0 && !s->refilled) found->stop = ARMILLA_STOP_CONVERGED;
        if (found->stop != ARMILLA_STOP_CONVERGED && armilla_call_over(s->context))
            found->stop = ARMILLA_STOP_INTERRUPTED;
        if (found->stop != ARMILLA_STOP_MAX_ITER) break;
    }
    return ARMILLA_OK;
}

/* The best try so far: what it has found, and where it goes. */
static void keep_try(const kmeans *s, const armilla_cluster_summary *found, armilla_clustering *clustering)
{
    clustering->summary = *found;
    if (s->best) memcpy(s->best, s->centers, (size_t)(s->lloyd.m * s->lloyd.r) * sizeof *s->best);
    for (int64_t j = s->lloyd.share.first; j < s->lloyd.share.last && clustering->labels; j++)
        clustering->labels[j] = s->lloyd.assignments[j];
    for (int64_t k = 0; k < s->lloyd.r && clustering->sizes; k++) clustering->sizes[k] = (int64_t)s->lloyd.sizes[k];
}

static armilla_status run_tries(kmeans *s, armilla_clustering *clustering)
{
    armilla_cluster_summary *best = &clustering->summary;
    const int64_t tries = s->problem->options->tries;
    armilla_status status = ARMILLA_OK;
    for (int64_t attempt = 0; attempt < tries && status == ARMILLA_OK; attempt++) {
        armilla_cluster_summary found = *best;
        status = seed_centers(s, attempt);
        armilla_call_stage(s->context, ARMILLA_STAGE_CLUSTERS);
        armilla_call_step(s->context, attempt, tries);
        s->place = place_of_try(attempt, tries);
        if (status == ARMILLA_OK) status = iterate(s, &found, NULL);
        if (status == ARMILLA_OK && (attempt == 0 || found.inertia < SAME * best->inertia))
            keep_try(s, &found, clustering);
        if (armilla_call_stopped(s->context, NULL) && attempt + 1 < tries) best->stop = ARMILLA_STOP_INTERRUPTED;
        if (armilla_call_stopped(s->context, NULL)) break;
    }
    return status == ARMILLA_STOPPED ? ARMILLA_OK : status;
}

/* One try, from those centres. */
static armilla_status run_from(kmeans *s, const double *centers, armilla_clustering *clustering, double *inertias)
{
    armilla_cluster_summary found = clustering->summary;
    memcpy(s->lloyd.U_next, centers, (size_t)(s->lloyd.m * s->lloyd.r) * sizeof *centers);
    store_centers(s);
    armilla_call_stage(s->context, ARMILLA_STAGE_CLUSTERS);
    const armilla_status status = iterate(s, &found, inertias);
    if (status == ARMILLA_OK) keep_try(s, &found, clustering);
    return status;
}

static void list_bounds(void *self, armilla_state_list *list)
{
    armilla_bounds_list(self, list);
}

static armilla_status take_memory(kmeans *s)
{
    armilla_context *context = s->context;
    armilla_lloyd *lloyd = &s->lloyd;
    const armilla_type work = s->problem->work;
    const int64_t m = lloyd->m, k = lloyd->r;
    const armilla_samples *share = &lloyd->share;
    armilla_status status =
        armilla_sweep_new_assigning(context, s->problem->X, work, k, ARMILLA_LLOYD_TALLY, &lloyd->sweep);
    if (status == ARMILLA_OK) status = armilla_take(context, m * k, sizeof *s->centers, &s->centers);
    if (status == ARMILLA_OK) status = armilla_take(context, m * k, armilla_type_size(work), &s->typed);
    if (status == ARMILLA_OK) status = armilla_take(context, m * k, sizeof *lloyd->U_next, &lloyd->U_next);
    if (status == ARMILLA_OK) status = armilla_take(context, k, sizeof *s->squares, &s->squares);
    if (status == ARMILLA_OK) status = armilla_take(context, k, sizeof *lloyd->offsets, &lloyd->offsets);
    if (status == ARMILLA_OK)
        status = armilla_samples_take(context, share, 1, sizeof *lloyd->distances, &lloyd->distances);
    if (status == ARMILLA_OK)
        status = armilla_samples_take(context, share, 1, sizeof *lloyd->assignments, &lloyd->assignments);
    if (status == ARMILLA_OK) status = armilla_take(context, k, sizeof *s->refill, &s->refill);
    if (status == ARMILLA_OK) status = armilla_take(context, k * SEEDED, sizeof *s->chosen, &s->chosen);
    if (status == ARMILLA_OK) status = armilla_take(context, m * k, sizeof *s->sums, &s->sums);
    if (status == ARMILLA_OK) {
        armilla_bounds_plan(&s->bounds, lloyd->sweep, k, lloyd->squared_norms);
        status = armilla_state_take(context, list_bounds, &s->bounds);
    }
    lloyd->bounds = &s->bounds;
    lloyd->A = s->sums;
    lloyd->U = s->centers;
    lloyd->U_typed = s->typed;
    lloyd->squares = s->squares;
    return status;
}

static void release_memory(kmeans *s)
{
    armilla_context *context = s->context;
    armilla_state_release(context, list_bounds, &s->bounds);
    armilla_release(context, s->sums);
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

static kmeans kmeans_of(armilla_context *context, const armilla_kmeans_problem *problem)
{
    return (kmeans){.context = context,
                    .phase = ARMILLA_PHASE_KMEANS,
                    .place = {0, 1},
                    .problem = problem,
                    .lloyd = {.kernels = armilla_code_kernels_for(context),
                              .m = problem->X->m,
                              .share = armilla_data_share(context, problem->X),
                              .r = problem->options->k,
                              .squared_norms = problem->squared_norms,
                              .l = 1,
                              .stride = 1,
                              .atom = problem->method->unit ? has_direction : any_mean,
                              .revive = refill,
                              .settle = store_centers}};
}

/* best = the centres of the best try on a sample of X. */
static armilla_status screen_tries(armilla_context *context, const armilla_kmeans_problem *sample, double *best)
{
    armilla_clustering screened = {.context = context};
    kmeans s = kmeans_of(context, sample);
    s.lloyd.self = &s;
    s.best = best;
    s.phase = ARMILLA_PHASE_TRIES;
    armilla_status status = take_memory(&s);
    if (status == ARMILLA_OK) status = run_tries(&s, &screened);
    release_memory(&s);
    return status;
}

/* The tries on a sample, then all samples from the best one's centres. Tries may be missing where the call is to
 * end. */
static armilla_status run_screened(kmeans *s, armilla_clustering *clustering)
{
    double *best = NULL;
    armilla_status status = armilla_take(s->context, s->lloyd.m * s->lloyd.r, sizeof *best, &best);
    if (status == ARMILLA_OK) status = screen_tries(s->context, s->problem->sample, best);
    const bool stopped = armilla_call_stopped(s->context, NULL);
    armilla_call_rounds_end(s->context);
    if (status == ARMILLA_OK) status = run_from(s, best, clustering, NULL);
    if (stopped) clustering->summary.stop = ARMILLA_STOP_INTERRUPTED;
    armilla_release(s->context, best);
    return status;
}

armilla_status armilla_kmeans(armilla_context *context, const armilla_kmeans_problem *problem,
                              armilla_clustering *clustering, double *inertias)
{
    kmeans s = kmeans_of(context, problem);
    s.lloyd.self = &s;
    armilla_status status = take_memory(&s);
    if (status == ARMILLA_OK && problem->centers)
        status = run_from(&s, problem->centers, clustering, inertias);
    else if (status == ARMILLA_OK && problem->sample)
        status = run_screened(&s, clustering);
    else if (status == ARMILLA_OK)
        status = run_tries(&s, clustering);
    release_memory(&s);
    return status;
}
