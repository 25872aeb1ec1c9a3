/* Lloyd's iteration through the sweep: with the centres as basis, C = U'X gives the distances, codes are one-hot, and
 * A = XW' and the diagonal of G = WW' are the sums and sizes of the clusters: one read of X per iteration, dense or
 * sparse, with the same bits for any number of threads. Spherical k-means is the same on samples of unit length with
 * centres scaled to unit length, because ||x - c||^2 = 2(1 - cos) there. */
#include "cluster/cluster.h"

#include "base/random.h"
#include "base/size.h"
#include "linalg/dense.h"
#include "solve/sweep.h"

#include <math.h>
#include <string.h>

enum { CHANGED, INERTIA, COUNTERS };

typedef struct lloyd {
    armilla_context *context;
    const armilla_kmeans_problem *problem;
    int64_t m, n, k;
    armilla_sweep *sweep, *single; /* of rank k, and of rank 1 for k-means++ */
    double *centers;               /* m x k */
    double *squares;               /* ||c||^2, of the centres as they are stored */
    void *typed;                   /* the centres in the working type */
    double *distances;             /* per sample, squared, to its centre */
    int64_t *labels;
    int64_t passes; /* over labels: 0 before the first */
} lloyd;

/* ||x - c||^2 = ||x||^2 - 2c'x + ||c||^2; what is left of two equal vectors is rounding. */
static double squared_distance(const lloyd *s, int64_t sample, double product, double square)
{
    const double own = s->problem->squared_norms[sample];
    return fmax(own - 2 * product + square, 0);
}

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

static void assign(void *self, const armilla_code_panel *panel)
{
    const lloyd *s = self;
    memset(panel->W, 0, (size_t)(panel->r * panel->count) * sizeof(double));
    for (int64_t j = 0; j < panel->count; j++) {
        const int64_t sample = panel->first + j;
        const double *c = panel->C + j * panel->r;
        int64_t best = 0;
        for (int64_t k = 1; k < panel->r; k++)
            if (s->squares[k] - 2 * c[k] < s->squares[best] - 2 * c[best]) best = k;
        s->distances[sample] = squared_distance(s, sample, c[best], s->squares[best]);
        panel->tally[INERTIA] += s->distances[sample];
        panel->tally[CHANGED] += s->passes == 0 || s->labels[sample] != best;
        s->labels[sample] = best;
        panel->W[j * panel->r + best] = 1;
    }
}

/* The centres in the working type, and ||c||^2 of what is left of them there. */
static void store_center(const lloyd *s, int64_t k, double *center, void *typed)
{
    const armilla_type work = s->problem->work;
    const double length = s->problem->way->unit ? armilla_norm(s->m, center) : 1;
    for (int64_t i = 0; i < s->m && length > 0; i++) center[i] /= length;
    armilla_store(work, s->m, center, typed);
    armilla_fetch(work, s->m, typed, center);
    /* By angle exactly 1, so that a sample of length 0 ties and goes to the first cluster. */
    s->squares[k] = s->problem->way->unit ? 1 : armilla_dot(s->m, center, center);
}

static void store_centers(const lloyd *s)
{
    for (int64_t k = 0; k < s->k; k++)
        store_center(s, k, s->centers + k * s->m,
                     (char *)s->typed + (size_t)(k * s->m) * armilla_type_size(s->problem->work));
}

/* k-means++: the sample at that fraction of the sum of squared distances (at first: of all samples), or -1. */
static int64_t draw(const lloyd *s, int64_t drawn, double uniform)
{
    double total = 0, passed = 0;
    int64_t last = -1;
    for (int turn = 0; turn < 2; turn++) {
        for (int64_t j = 0; j < s->n; j++) {
            double own = drawn == 0 ? 1 : s->distances[j];
            if (!eligible(s, j) || (drawn > 0 && own <= floor_of(s, j))) continue;
            if (turn == 0) {
                total += own;
                continue;
            }
            last = j;
            passed += own;
            if (passed >= uniform * total) return j;
        }
    }
    return last;
}

static void note_distances(void *self, const armilla_code_panel *panel)
{
    const lloyd *s = self;
    for (int64_t j = 0; j < panel->count; j++) {
        const int64_t sample = panel->first + j;
        const double distance = squared_distance(s, sample, panel->C[j], s->squares[s->passes]);
        if (s->passes == 0 || distance < s->distances[sample]) s->distances[sample] = distance;
        panel->W[j] = 0;
    }
}

static armilla_status seed_center(lloyd *s, int64_t sample, int64_t k)
{
    double *center = s->centers + k * s->m;
    const armilla_status status = armilla_data_column(s->context, s->problem->X, s->problem->work, sample, center);
    if (status == ARMILLA_OK) store_center(s, k, center, s->typed);
    return status;
}

/* Centres by k-means++, one pass each. Where fewer than k places differ, the rest are copies of the first. */
static armilla_status seed_centers(lloyd *s, int64_t attempt)
{
    armilla_status status = ARMILLA_OK;
    const uint64_t seed = (uint64_t)s->problem->options->seed;
    for (int64_t k = 0; k < s->k && status == ARMILLA_OK; k++) {
        const uint64_t index = (uint64_t)attempt * (uint64_t)s->k + (uint64_t)k;
        const int64_t sample = draw(s, k, armilla_random_uniform(seed, ARMILLA_STREAM_CLUSTERS, index));
        const armilla_sweep_plan plan = {.U = s->typed, .step = note_distances, .self = s};
        status = seed_center(s, sample < 0 ? 0 : sample, k);
        s->passes = k;
        if (status == ARMILLA_OK && sample >= 0 && k + 1 < s->k) status = armilla_sweep_run(s->single, &plan);
    }
    s->passes = 0;
    store_centers(s);
    return status;
}

/* The sample that is farthest from its centre, or -1 where none is away from it. */
static int64_t worst_sample(const lloyd *s)
{
    int64_t worst = -1;
    for (int64_t j = 0; j < s->n; j++)
        if (eligible(s, j) && s->distances[j] > floor_of(s, j) && (worst < 0 || s->distances[j] > s->distances[worst]))
            worst = j;
    return worst;
}

/* An empty cluster gets the worst-fitted sample as its centre: the inertia cannot rise by that. */
static armilla_status refill(lloyd *s, int64_t k, bool *moved)
{
    const int64_t sample = worst_sample(s);
    if (sample < 0) return ARMILLA_OK;
    s->distances[sample] = 0;
    *moved = true;
    return armilla_data_column(s->context, s->problem->X, s->problem->work, sample, s->centers + k * s->m);
}

/* c_k = A_k / G_kk (by angle A_k / ||A_k||). A mean of length 0 leaves the centre as it is. */
static armilla_status move_centers(lloyd *s, bool *moved)
{
    const double *A = armilla_sweep_A(s->sweep), *G = armilla_sweep_G(s->sweep);
    armilla_status status = ARMILLA_OK;
    *moved = false;
    for (int64_t k = 0; k < s->k && status == ARMILLA_OK; k++) {
        const double size = G[k * s->k + k], *sum = A + k * s->m;
        if (size == 0)
            status = refill(s, k, moved);
        else if (!s->problem->way->unit || armilla_norm(s->m, sum) > 0)
            for (int64_t i = 0; i < s->m; i++) s->centers[k * s->m + i] = sum[i] / size;
    }
    store_centers(s);
    return status;
}

static bool asked_to_stop(const lloyd *s)
{
    const armilla_cluster_options *options = s->problem->options;
    return options->stop && options->stop(options->user);
}

/* From the centres as they stand until no sample changes its cluster. */
static armilla_status iterate(lloyd *s, armilla_cluster_summary *found, double *inertias)
{
    const armilla_sweep_plan plan = {.U = s->typed, .sums = true, .tally = COUNTERS, .step = assign, .self = s};
    armilla_status status = ARMILLA_OK;
    bool moved = false;
    found->stop = ARMILLA_STOP_MAX_ITER;
    for (s->passes = 0; status == ARMILLA_OK; s->passes++) {
        status = armilla_sweep_run(s->sweep, &plan);
        if (status != ARMILLA_OK) return status;
        const double *tally = armilla_sweep_tally(s->sweep);
        found->iterations = s->passes;
        found->inertia = tally[INERTIA] / (s->problem->way->unit ? 2 : 1);
        if (inertias) inertias[s->passes] = found->inertia;
        if (tally[CHANGED] == 0 && !moved) found->stop = ARMILLA_STOP_CONVERGED;
        if (found->stop != ARMILLA_STOP_CONVERGED && asked_to_stop(s)) found->stop = ARMILLA_STOP_INTERRUPTED;
        if (found->stop != ARMILLA_STOP_MAX_ITER || s->passes >= s->problem->options->max_iter) return ARMILLA_OK;
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
        if (status == ARMILLA_OK) status = iterate(s, &found, inertias);
        if (status == ARMILLA_OK && (attempt == 0 || found.inertia < best->inertia)) {
            *best = found;
            memcpy(clustering->labels, s->labels, (size_t)s->n * sizeof *s->labels);
        }
        if (found.stop == ARMILLA_STOP_INTERRUPTED) break;
    }
    return status;
}

armilla_status armilla_kmeans(armilla_context *context, const armilla_kmeans_problem *problem,
                              armilla_clustering *clustering, double *inertias)
{
    const armilla_data *X = problem->X;
    const int64_t k = problem->options->k, m = X->m;
    const int threads = (int)problem->options->threads;
    lloyd s = {.context = context, .problem = problem, .m = m, .n = X->n, .k = k};
    armilla_status status = armilla_sweep_new(context, X, problem->work, k, COUNTERS, threads, &s.sweep);
    if (status == ARMILLA_OK) status = armilla_sweep_new(context, X, problem->work, 1, 0, threads, &s.single);
    if (status == ARMILLA_OK) status = armilla_take(context, m * k, sizeof *s.centers, &s.centers);
    if (status == ARMILLA_OK) status = armilla_take(context, m * k, armilla_type_size(problem->work), &s.typed);
    if (status == ARMILLA_OK) status = armilla_take(context, k, sizeof *s.squares, &s.squares);
    if (status == ARMILLA_OK) status = armilla_take(context, X->n, sizeof *s.distances, &s.distances);
    if (status == ARMILLA_OK) status = armilla_take(context, X->n, sizeof *s.labels, &s.labels);
    if (status == ARMILLA_OK) status = run_tries(&s, clustering, inertias);
    armilla_release(context, s.labels);
    armilla_release(context, s.distances);
    armilla_release(context, s.squares);
    armilla_release(context, s.typed);
    armilla_release(context, s.centers);
    armilla_sweep_free(s.single);
    armilla_sweep_free(s.sweep);
    return status;
}
