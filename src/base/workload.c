/* What calls take, by shapes. The constants are processor seconds of one core of a server of 2020, measured on dense f32
 * samples of 20 to 128 features, 12000 to 80000 of them; a plan corrects them by what this machine takes (base/plan.c). */
#include "base/workload.h"

#include "base/context.h"
#include "base/sized.h"
#include "base/team.h"

#include <armilla/cluster.h>

#include <math.h>

/* A byte of text that is parsed, and of numbers that are copied. */
#define TEXT_BYTE 1.0e-8
#define BINARY_BYTE 5.0e-10
/* An entry that is looked at once. */
#define LOOKED_AT 4.0e-9
#define SPARSE_LOOKED_AT 2.0e-8
/* An entry and an atom in a sweep, of dense and of sparse data; and a number of a code times an atom. */
#define DENSE_PRODUCT 6.0e-11
#define SPARSE_PRODUCT 3.0e-10
#define CODE_PRODUCT 5.0e-11
/* Sweeps of a start, with what a feature takes there times the square of the rank; of the iterations, and after these. */
#define START_SWEEPS 4.0
#define START_FEATURE 2.0e-9
#define USUAL_ITERATIONS 40.0
#define LAST_SWEEPS 2.0
/* Starts are screened on part of the samples, for some iterations each, and so many of them are fitted. */
#define SCREENED 0.05
/* Two samples that are compared, and their features; a sample by its cells, times the root of the number of samples. */
#define PAIR 1.2e-9
#define PAIR_FEATURE 2.4e-11
#define PAIR_ENTRY 1.2e-10
#define IN_CELLS 2.5e-8
#define CELL_FEATURE 5.0e-10
/* A query; and a sample of a cell that it is compared with. */
#define QUERIED 4.0e-6
#define PROBED 1.4e-9
#define PROBED_FEATURE 1.3e-11
/* Samples that the recall is measured on; and those that centres are learned from, for each, in so many steps. */
#define RECALLED 400.0
#define LEARNED 48.0
#define LEARNING_STEPS 10.0
/* Beyond so many samples clusters need no more than nearly all neighbours. */
#define EXACT_SAMPLES 20000
#define CLUSTER_NEIGHBORS 10
/* Weighing a sample's edges; and a run of communities, on graphs that a cache holds and on larger ones. */
#define WEIGHED 1.2e-6
#define COMMUNITY_RUN 3.8e-6
#define CACHED_SAMPLES 1.0e5
#define BEYOND_CACHE 0.65
#define NUMBER_RUNS 64.0
/* The same, in whole runs, beyond so many samples, where a run begins from the one before (cluster/number.c). */
#define CHAINED_RUNS 24.0
#define CHAINED_SAMPLES 20000
#define GIVEN_RUNS 8.0
#define SIDE_BY_SIDE 3.0
/* A number of a code that is smoothed, and half of the times nothing is. */
#define SMOOTHED 8.0e-8
/* A sample, a feature and a centre of k-means, over all passes of a try; samples that tries are made on. */
#define ASSIGNED 1.5e-9
#define SAMPLED 20000.0
/* The verdict on structure: samples and features at most, and what each of them takes over all its rounds. */
#define JUDGED_SAMPLES 600.0
#define JUDGED_FEATURES 1000.0
#define JUDGED 5.2e-4
#define JUDGED_FEATURE 2.0e-7
/* A check is without BLAS, in double. */
#define CHECKED 1.5e-9

/* The call, as the parts need it. */
typedef struct estimate {
    const armilla_workload *w;
    armilla_plan *plan;
    double n, m, entries, r, threads;
} estimate;

static void add(const estimate *e, armilla_phase phase, double seconds)
{
    armilla_plan_expect(e->plan, e->w->work, phase, seconds);
}

static double each(const estimate *e)
{
    return e->entries / fmax(e->n, 1);
}

static double look_seconds(const estimate *e)
{
    return e->entries * (e->w->entries > 0 ? SPARSE_LOOKED_AT : LOOKED_AT) / e->threads;
}

static double sweep_seconds(const estimate *e)
{
    const double product = e->w->entries > 0 ? SPARSE_PRODUCT : DENSE_PRODUCT;
    return (e->entries * e->r * product + e->n * e->r * e->r * CODE_PRODUCT) / e->threads;
}

/* The codes that are stored, or those of new samples. */
static double final_seconds(const estimate *e)
{
    return LAST_SWEEPS * sweep_seconds(e) + e->n * e->w->code_seconds / e->threads;
}

static void plan_reading(const estimate *e)
{
    const double bytes = (double)e->w->bytes;
    add(e, ARMILLA_PHASE_READING, bytes * (e->w->text ? TEXT_BYTE / e->threads : BINARY_BYTE));
}

static void plan_writing(const estimate *e)
{
    add(e, ARMILLA_PHASE_WRITING, (double)e->w->bytes * (e->w->text ? TEXT_BYTE : BINARY_BYTE));
}

static void plan_recipe(const estimate *e)
{
    add(e, ARMILLA_PHASE_SURVEY, 6 * look_seconds(e)); /* data that nobody has read yet */
}

static double rounds_of(const armilla_workload *w, double restarts)
{
    return w->rounds > 0 ? (double)w->rounds : 1 + floor(restarts / 4);
}

static void plan_fit(const estimate *e)
{
    const armilla_workload *w = e->w;
    const double sweep = sweep_seconds(e), restarts = fmax((double)w->restarts, 1), rounds = rounds_of(w, restarts);
    const double iterations = w->max_iter > 0 ? fmin((double)w->max_iter, USUAL_ITERATIONS) : USUAL_ITERATIONS;
    const double each_round = rounds > 1 ? final_seconds(e) + START_SWEEPS * sweep : 0;
    double all = (sweep * iterations + each_round) * rounds;
    if (w->limit > 0) all = fmin(all, w->limit);
    add(e, ARMILLA_PHASE_SURVEY, 3 * look_seconds(e));
    const double basis = e->m * e->r * e->r * START_FEATURE;
    add(e, ARMILLA_PHASE_START,
        START_SWEEPS * basis + sweep * (START_SWEEPS + (restarts > 1 ? restarts * iterations * SCREENED : 0)));
    add(e, rounds > 1 ? ARMILLA_PHASE_FITS : ARMILLA_PHASE_ITERATIONS, all);
    add(e, ARMILLA_PHASE_CODES, final_seconds(e));
}

/* Plans a search for neighbours of samples with so many features. */
static void plan_neighbors(const estimate *e, double features, double entries, bool by_cells)
{
    const double n = e->n, queries = e->w->queries > 0 ? (double)e->w->queries : n, cells = sqrt(n);
    const double pair = PAIR + (e->w->entries > 0 && entries > 0 ? PAIR_ENTRY * entries : PAIR_FEATURE * features);
    const double pairs = e->w->queries > 0 ? queries * n : n * n / 2;
    if (!by_cells || (e->w->entries > 0 && entries > 0)) {
        add(e, ARMILLA_PHASE_NEIGHBORS, pairs * pair / e->threads);
        return;
    }
    const double learned = LEARNING_STEPS * fmin(n, LEARNED * cells);
    add(e, ARMILLA_PHASE_CELLS, (learned + 2 * n) * cells * pair / e->threads);
    add(e, ARMILLA_PHASE_RECALL, fmin(RECALLED, queries) * n * pair / e->threads);
    add(e, ARMILLA_PHASE_NEIGHBORS, queries * cells * (IN_CELLS + CELL_FEATURE * features) / e->threads);
}

static void plan_graph(const estimate *e, double features, double entries)
{
    plan_neighbors(e, features, entries, e->n > EXACT_SAMPLES);
    add(e, ARMILLA_PHASE_WEIGHTS, WEIGHED * e->n);
}

static void plan_kmeans(const estimate *e)
{
    const double k = (double)e->w->k, m = e->w->codes ? e->r : each(e), tries = fmax((double)e->w->tries, 1);
    const double sample = fmin(e->n, fmax(SAMPLED, 512 * k));
    const bool screens = tries > 1 && sample < e->n / 3;
    add(e, ARMILLA_PHASE_TRIES, screens ? sample * m * k * tries * ASSIGNED / e->threads : 0);
    add(e, ARMILLA_PHASE_KMEANS, e->n * m * k * (screens ? 1 : tries) * ASSIGNED / e->threads);
}

/* Smoothing and k-means follow communities that leave a doubt; smoothing takes most of the time. */
static void plan_clusters(const estimate *e)
{
    const armilla_workload *w = e->w;
    const double k = w->k > 0 ? (double)w->k : ARMILLA_ASSUMED_CLUSTERS, sides = fmin(e->threads, SIDE_BY_SIDE);
    const double run = COMMUNITY_RUN * e->n * fmax(1, pow(e->n / CACHED_SAMPLES, BEYOND_CACHE));
    add(e, ARMILLA_PHASE_SURVEY, 4 * e->n * fmax(each(e), e->r) * LOOKED_AT / e->threads);
    if (!w->graph) {
        plan_kmeans(e);
        return;
    }
    if (w->features > 0) plan_graph(e, e->m, each(e));
    if (w->codes) plan_graph(e, e->r, 0);
    if (w->codes && 2 * k < e->r) plan_graph(e, 2 * k, 0);
    if (w->k <= 0) {
        add(e, ARMILLA_PHASE_NUMBER, (e->n > CHAINED_SAMPLES ? CHAINED_RUNS : NUMBER_RUNS) * run / sides);
        return;
    }
    add(e, ARMILLA_PHASE_COMMUNITIES, GIVEN_RUNS * run / sides);
    add(e, ARMILLA_PHASE_SMOOTHING, w->codes ? SMOOTHED * e->n * e->r / e->threads : 0);
}

/* The verdict looks at a sample of at most some hundreds, and at data of several kinds that are made from it. */
static void plan_structure(const estimate *e)
{
    const double n = fmin(e->n, JUDGED_SAMPLES), m = fmin(e->m, JUDGED_FEATURES);
    add(e, ARMILLA_PHASE_STRUCTURE, n * (JUDGED + JUDGED_FEATURE * m));
}

static void plan_search(const estimate *e)
{
    const double recall = e->w->recall;
    add(e, ARMILLA_PHASE_SURVEY, 2 * look_seconds(e));
    plan_neighbors(e, e->m, each(e), recall > 0 && recall < 1);
}

static void plan_transform(const estimate *e)
{
    add(e, ARMILLA_PHASE_SURVEY, look_seconds(e));
    add(e, ARMILLA_PHASE_CODES, final_seconds(e));
}

static void plan_check(const estimate *e)
{
    add(e, ARMILLA_PHASE_CHECK, (e->entries * e->r + e->n * e->r * e->r) * CHECKED / e->threads);
}

static void (*const plans[ARMILLA_WORK_COUNT])(const estimate *e) = {
    [ARMILLA_WORK_READ] = plan_reading,
    [ARMILLA_WORK_RECIPE] = plan_recipe,
    [ARMILLA_WORK_FIT] = plan_fit,
    [ARMILLA_WORK_CLUSTER] = plan_clusters,
    [ARMILLA_WORK_NEIGHBORS] = plan_search,
    [ARMILLA_WORK_TRANSFORM] = plan_transform,
    [ARMILLA_WORK_CHECK] = plan_check,
    [ARMILLA_WORK_WRITE] = plan_writing,
    [ARMILLA_WORK_STRUCTURE] = plan_structure,
};

void armilla_workload_plan(const armilla_workload *workload, armilla_plan *plan)
{
    const double n = (double)workload->samples, m = (double)workload->features;
    const estimate e = {.w = workload,
                        .plan = plan,
                        .n = n,
                        .m = m,
                        .entries = workload->entries > 0 ? (double)workload->entries : n * m,
                        .r = (double)workload->rank,
                        .threads = (double)armilla_threads_choose(workload->threads)};
    if ((unsigned)workload->work >= ARMILLA_WORK_COUNT) return;
    if (plans[workload->work]) plans[workload->work](&e);
}

void armilla_call_plan(armilla_context *context, const armilla_workload *workload)
{
    armilla_workload own = *workload;
    own.threads = armilla_call_threads(context);
    context->call.work = workload->work;
    armilla_plan_call(&context->plan, workload->work);
    armilla_workload_plan(&own, &context->plan);
}

void armilla_call_plan_probed(armilla_context *context, double queries, double compared, double features)
{
    const double pair = PROBED + PROBED_FEATURE * features;
    if (context->call.nested > 0) return;
    armilla_plan_revise(&context->plan, context->call.work, ARMILLA_PHASE_NEIGHBORS,
                        queries * (QUERIED + compared * pair) / armilla_call_threads(context));
}

static armilla_status read_workload(armilla_context *context, const armilla_workload *given, armilla_workload *whole)
{
    *whole = (armilla_workload){.size = sizeof *whole};
    return armilla_sized_read(context, "armilla_workload", given, whole, sizeof *whole);
}

armilla_status armilla_workload_seconds(armilla_context *context, const armilla_workload *workload, double *seconds)
{
    armilla_plan plan = {.count = 0};
    armilla_workload whole;
    armilla_status status = ARMILLA_NOT_NULL(context, workload, seconds);
    if (status == ARMILLA_OK) status = read_workload(context, workload, &whole);
    if (status != ARMILLA_OK) return status;
    armilla_workload_plan(&whole, &plan);
    *seconds = 0;
    for (int i = 0; i < plan.count; i++) *seconds += plan.parts[i].expected;
    return ARMILLA_OK;
}

armilla_status armilla_context_expect(armilla_context *context, const armilla_workload *workload)
{
    armilla_workload whole;
    if (!context) return ARMILLA_BAD_ARGUMENT;
    armilla_status status = workload ? read_workload(context, workload, &whole) : ARMILLA_OK;
    if (status != ARMILLA_OK || context->call.open) return status;
    context->planned = workload != NULL;
    if (workload) {
        armilla_plan_call(&context->plan, whole.work);
        if (context->plan.place == context->plan.begun) context->plan.place = context->plan.count;
        armilla_workload_plan(&whole, &context->plan);
    } else {
        context->plan = (armilla_plan){.count = 0};
    }
    return status;
}
