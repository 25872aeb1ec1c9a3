/* Whole calls by ranks, which are threads here: fits, codes, checks and clusters have the bits of one process on every
 * rank, for every pair, storage, solver, start and precision. Numbers of samples that belong to other ranks are NaN on
 * each: whoever reads one shows. What fails or stops on one rank ends all of them alike. */
#include "reference/ranks.h"
#include "reference/reference.h"

#include "unit/support.h"

#include "base/ranks.h"
#include "cluster/cluster.h"
#include "data/slots.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A problem. Sparse where density is below 1. */
typedef struct scene {
    const char *what;
    int64_t m, n, r;
    double density;
    armilla_type type;
    const char *basis, *codes, *solver, *start, *precision;
    bool log1p, tfidf, scale, center, normalize;
    int64_t sparsity, restarts, max_iter;
    int64_t batch; /* of solver online, whose models are then continued, too */
    bool mixed;    /* signs */
} scene;

/* The numbers of a scene in its storage. */
typedef struct numbers {
    void *values;
    int32_t *rows, *starts;
} numbers;

static size_t count_of(const scene *s, const numbers *x)
{
    return s->density < 1 ? (size_t)x->starts[s->n] : (size_t)(s->m * s->n);
}

static numbers make_numbers(const scene *s, uint64_t *random)
{
    const int64_t area = s->m * s->n;
    double *drawn = reference_new(area);
    numbers x = {.values = calloc((size_t)area, sizeof(double)),
                 .rows = calloc((size_t)area, sizeof(int32_t)),
                 .starts = calloc((size_t)s->n + 1, sizeof(int32_t))};
    size_t count = 0;
    for (int64_t i = 0; i < area; i++)
        drawn[i] = reference_uniform(random) < s->density ? 1 + (double)reference_below(random, 60) : 0;
    for (int64_t i = 0; i < area && s->mixed; i++) drawn[i] = reference_uniform(random) < 0.5 ? -drawn[i] : drawn[i];
    for (int64_t j = 3; j < s->n; j += 97) memset(drawn + j * s->m, 0, (size_t)s->m * sizeof *drawn);
    for (int64_t i = 0; i < area; i++) {
        if (s->density < 1 && drawn[i] == 0) continue;
        armilla_store(s->type, 1, &drawn[i], (char *)x.values + count * armilla_type_size(s->type));
        x.rows[count++] = (int32_t)(i % s->m);
        x.starts[i / s->m + 1] = (int32_t)count;
    }
    for (int64_t j = 0; j < s->n; j++)
        if (x.starts[j + 1] < x.starts[j]) x.starts[j + 1] = x.starts[j];
    free(drawn);
    return x;
}

static void free_numbers(numbers *x)
{
    free(x->values);
    free(x->rows);
    free(x->starts);
}

static armilla_status wrap(const scene *s, const numbers *x, armilla_context *context, armilla_data **data)
{
    if (s->density < 1)
        return armilla_data_wrap_sparse(context, s->type, ARMILLA_I32, x->values, x->rows, x->starts, s->m, s->n, data);
    return armilla_data_wrap_dense(context, s->type, x->values, s->m, s->n, s->m, data);
}

/* A copy whose numbers are NaN, 255 or -1, but for the samples of a rank. */
static numbers blind(const scene *s, const numbers *x, const armilla_data *data, int rank, int size)
{
    const size_t count = count_of(s, x), bytes = armilla_type_size(s->type);
    numbers own = {.values = malloc((count + 1) * sizeof(double)), .rows = x->rows, .starts = x->starts};
    armilla_slots slots;
    armilla_slots_find(data, &slots);
    const armilla_tree tree = armilla_tree_of(slots.count);
    const armilla_share_of_tree share = armilla_ranks_share(&tree, rank, size);
    const int64_t first = slots.first_of[share.first_slot], last = slots.first_of[share.last_slot];
    const size_t begin = s->density < 1 ? (size_t)x->starts[first] : (size_t)(first * s->m);
    const size_t end = s->density < 1 ? (size_t)x->starts[last] : (size_t)(last * s->m);
    memset(own.values, 0xff, count * bytes);
    memcpy((char *)own.values + begin * bytes, (const char *)x->values + begin * bytes, (end - begin) * bytes);
    return own;
}

static armilla_options options_of(const scene *s)
{
    armilla_options o;
    armilla_options_default(&o);
    o.rank = s->r;
    o.basis = s->basis;
    o.codes = s->codes;
    if (s->solver) o.solver = s->solver;
    o.start = s->start;
    o.precision = s->precision;
    o.log1p = s->log1p;
    o.tfidf = s->tfidf;
    o.scale = s->scale;
    o.center = s->center;
    o.normalize = s->normalize ? "l2" : "none";
    o.sparsity = s->sparsity;
    o.batch = s->batch;
    o.restarts = s->restarts ? s->restarts : 1;
    o.max_iter = s->max_iter ? s->max_iter : 6;
    o.tol = 0;
    o.seed = 5;
    return o;
}

/* What a process, or a rank, comes to. */
typedef struct outcome {
    armilla_status status;
    char message[ARMILLA_MESSAGE];
    armilla_model *model, *updated;
    void *codes; /* by transform */
    armilla_check check;
    armilla_clustering *of_data, *of_model;
    /* What is left of it when the rank has ended: */
    armilla_samples share;
    armilla_stop stop;
    int64_t iterations;
    double objective;
    const char *differs; /* from one process: what does, or NULL */
} outcome;

typedef struct trial {
    const scene *s;
    const numbers *x;
    int size, threads;
    outcome *outcomes;
    const outcome *one;  /* by one process, where it is to be the same */
    bool short_of_calls; /* only the fit */
    /* What goes wrong, and where. */
    int bad_rank;
    armilla_status (*spoil)(armilla_context *context, numbers *own, armilla_options *options);
} trial;

static armilla_status cluster(armilla_context *context, const armilla_data *X, const trial *t, outcome *found)
{
    armilla_cluster_options clusters;
    armilla_options preparation;
    armilla_cluster_options_default(&clusters);
    armilla_options_default(&preparation);
    clusters.k = t->s->n < 3 ? 1 : 3;
    clusters.tries = 2;
    clusters.threads = t->threads;
    armilla_status status = armilla_cluster_data(context, X, NULL, &clusters, &found->of_data);
    if (status == ARMILLA_OK) status = armilla_cluster_model(context, found->model, &clusters, &found->of_model);
    if (status == ARMILLA_OK) status = armilla_cluster_recipe(context, X, &preparation, &clusters);
    return status;
}

static void run_calls(const trial *t, int rank, armilla_context *context)
{
    const scene *s = t->s;
    outcome *found = &t->outcomes[rank];
    armilla_options options = options_of(s);
    armilla_data *X = NULL;
    found->status = wrap(s, t->x, context, &X);
    numbers own = blind(s, t->x, X, rank, t->size);
    armilla_data_free(X);
    X = NULL;
    options.threads = t->threads;
    if (t->spoil && rank == t->bad_rank) found->status = t->spoil(context, &own, &options);
    if (found->status == ARMILLA_OK) found->status = wrap(s, &own, context, &X);
    if (found->status == ARMILLA_OK) found->status = armilla_fit(context, X, &options, &found->model);
    if (found->status == ARMILLA_OK && s->batch)
        found->status = armilla_model_update(context, found->model, X, &options, &found->updated);
    if (found->status == ARMILLA_OK && !t->short_of_calls) {
        found->codes = calloc((size_t)(s->r * s->n), sizeof(double));
        found->status = armilla_model_transform(context, found->model, X, t->threads, found->codes);
        if (found->status == ARMILLA_OK) found->status = armilla_model_check(context, found->model, X, &found->check);
        if (found->status == ARMILLA_OK) found->status = cluster(context, X, t, found);
    }
    snprintf(found->message, sizeof found->message, "%s", armilla_context_error(context));
    armilla_data_free(X);
    free(own.values);
}

static void clear(outcome *o)
{
    armilla_clustering_free(o->of_model);
    armilla_clustering_free(o->of_data);
    armilla_model_free(o->updated);
    armilla_model_free(o->model);
    free(o->codes);
    o->of_model = o->of_data = NULL;
    o->model = o->updated = NULL;
    o->codes = NULL;
}

static bool same_columns(const armilla_samples *there, size_t column, const void *a, const void *b)
{
    const size_t at = (size_t)there->first * column;
    return memcmp((const char *)a + at, (const char *)b + at, (size_t)(there->last - there->first) * column) == 0;
}

static bool same_trace(const armilla_model *a, const armilla_model *b)
{
    bool same = a->trace_count == b->trace_count;
    for (int64_t k = 0; same && k < a->trace_count; k++) {
        const armilla_trace_entry *x = &a->trace[k], *y = &b->trace[k];
        same = x->objective == y->objective && x->dU == y->dU && x->dV == y->dV;
    }
    return same;
}

/* What differs, or NULL. */
static const char *compare_models(const armilla_model *one, const armilla_model *got)
{
    const armilla_model_summary *a = &one->summary, *b = &got->summary;
    const size_t size = armilla_type_size(a->precision);
    if (!same_trace(one, got)) return "the trace";
    if (memcmp(one->U, got->U, (size_t)(a->m * a->rank) * size) != 0) return "U";
    if (!same_columns(&got->share, (size_t)a->rank * size, one->V, got->V)) return "V";
    if (memcmp(&a->radius, &b->radius, sizeof a->radius) != 0) return "the radius";
    if (a->objective != b->objective || a->squared_norm != b->squared_norm) return "the objective";
    if (a->fingerprint != b->fingerprint || a->sweeps != b->sweeps) return "the fingerprint or the sweeps";
    return strcmp(a->start, b->start) != 0 || a->stop != b->stop || a->sealed != b->sealed ? "the summary" : NULL;
}

static const char *compare_clusters(const armilla_clustering *one, const armilla_clustering *got)
{
    if (one->summary.inertia != got->summary.inertia) return "the inertia";
    if (one->summary.iterations != got->summary.iterations) return "the iterations of k-means";
    if (!same_columns(&got->share, sizeof *one->labels, one->labels, got->labels)) return "labels";
    return memcmp(one->sizes, got->sizes, (size_t)one->summary.k * sizeof *one->sizes) != 0 ? "sizes" : NULL;
}

static const char *compare(const outcome *one, const outcome *got)
{
    const char *differs = compare_models(one->model, got->model);
    if (!differs && got->updated) differs = compare_models(one->updated, got->updated);
    if (differs || !got->codes) return differs;
    const size_t column = (size_t)one->model->summary.rank * armilla_type_size(one->model->summary.precision);
    if (!same_columns(&got->model->share, column, one->codes, got->codes)) return "codes by transform";
    if (got->check.passed != one->check.passed || one->check.radius_violation != got->check.radius_violation ||
        one->check.objective_found != got->check.objective_found)
        return "the check";
    differs = compare_clusters(one->of_data, got->of_data);
    return differs ? differs : compare_clusters(one->of_model, got->of_model);
}

/* What a rank does, and what is left of it. */
static void run(void *self, int rank, armilla_context *context)
{
    const trial *t = self;
    outcome *found = &t->outcomes[rank];
    *found = (outcome){.status = ARMILLA_OK};
    run_calls(t, rank, context);
    if (found->model) {
        found->share = found->model->share;
        found->stop = found->model->summary.stop;
        found->iterations = found->model->summary.iterations;
        found->objective = found->model->summary.objective;
    }
    if (t->one && found->status == ARMILLA_OK) found->differs = compare(t->one, found);
    if (t->one || t->spoil || t->size > 1) clear(found);
}

enum { MOST_RANKS = 320 };
static outcome outcomes[MOST_RANKS];

static void check_same(const outcome *got, int rank)
{
    if (got->status != ARMILLA_OK) print_error("rank %d: %s\n", rank, got->message);
    if (got->differs) print_error("rank %d: %s\n", rank, got->differs);
    REFERENCE_HOLDS(got->status == ARMILLA_OK && !got->differs);
}

/* Every rank's share is its own, and together they are all samples. */
static void check_shares(const outcome *all, int size, int64_t n)
{
    int64_t next = 0;
    for (int r = 0; r < size; r++) {
        const armilla_samples *share = &all[r].share;
        REFERENCE_HOLDS(share->first == next || share->first == share->last);
        next += share->last - share->first;
    }
    REFERENCE_HOLDS(next == n);
}

static void compare_sizes(const scene *s, const int *sizes, size_t count, bool short_of_calls)
{
    uint64_t random = 17;
    numbers x = make_numbers(s, &random);
    outcome one = {.status = ARMILLA_OK};
    trial t = {.s = s, .x = &x, .size = 1, .threads = 2, .outcomes = &one, .short_of_calls = short_of_calls};
    reference_scene("%s, one process", s->what);
    run(&t, 0, reference_context);
    if (one.status != ARMILLA_OK) print_error("%s\n", one.message);
    REFERENCE_HOLDS(one.status == ARMILLA_OK);
    REFERENCE_HOLDS(short_of_calls || one.check.passed);
    t.outcomes = outcomes;
    t.one = &one;
    for (size_t i = 0; i < count; i++) {
        t.size = sizes[i];
        t.threads = 1 + (int)i % 3;
        reference_scene("%s, %d ranks of %d threads", s->what, t.size, t.threads);
        reference_run_ranks(t.size, -1, run, &t);
        for (int r = 0; r < t.size; r++) check_same(&outcomes[r], r);
        check_shares(outcomes, t.size, s->n);
    }
    clear(&one);
    free_numbers(&x);
}

static const int few[] = {2, 3}, several[] = {1, 2, 3, 4, 7};

static void test_every_pair(void **state)
{
    (void)state;
    for (size_t p = 0; p < REFERENCE_FAMILY; p += (size_t)reference_effort(1, 5)) {
        const reference_pair *pair = &reference_family[p];
        char what[128];
        if (!pair->basis) continue;
        snprintf(what, sizeof what, "%s x %s", pair->basis, pair->codes);
        const scene s = {.what = what,
                         .m = 9 + (int64_t)p % 4,
                         .n = 1500,
                         .r = 4,
                         .density = p % 3 == 0 ? 0.4 : 1,
                         .type = p % 2 ? ARMILLA_F32 : ARMILLA_F64,
                         .basis = pair->basis,
                         .codes = pair->codes,
                         .sparsity = pair->sparse ? 2 : 0};
        compare_sizes(&s, &few[p % 2], 1, false);
    }
}

static const scene scenes[] = {
    {"dense u8 in f32", 30, 2000, 5, 1, ARMILLA_U8, "nonnegative", "nonneg-sphere", NULL, NULL, "f32", .max_iter = 4},
    {"dense f16, prepared", 14, 1500, 4, 1, ARMILLA_F16, "orthonormal", "sphere", "fast", NULL, NULL, true, true, true,
     true, true, .max_iter = 4},
    {"dense bf16 in f64", 20, 1200, 4, 1, ARMILLA_BF16, "free", "one-hot", "fast", NULL, "f64", .max_iter = 4},
    {"dense i8 of unit length", 12, 1200, 4, 1, ARMILLA_I8, "orthonormal", "nonneg-sphere", "palm", "samples", NULL,
     .normalize = true, .max_iter = 4, .mixed = true},
    {"dense f64, palm, svd", 20, 1200, 4, 1, ARMILLA_F64, "orthonormal", "sphere", "palm", "svd", NULL, .max_iter = 6},
    {"dense f32, palm, kmeans++", 20, 1200, 4, 1, ARMILLA_F32, "nonnegative", "nonneg-sphere", "palm", "kmeans++", NULL,
     .max_iter = 6},
    {"dense f32, samples", 15, 900, 6, 1, ARMILLA_F32, "orthonormal", "nonneg-sphere", "fast", "samples", NULL,
     .max_iter = 6},
    {"dense f32, random", 15, 900, 6, 1, ARMILLA_F32, "nonnegative", "sphere", "fast", "random", NULL, .max_iter = 6},
    {"nmf by mu", 12, 900, 4, 1, ARMILLA_F64, "nonnegative", "nonneg", "mu", NULL, NULL, .max_iter = 6},
    {"nmf from nndsvd", 12, 900, 4, 1, ARMILLA_F32, "nonnegative", "nonneg", "fast", "nndsvd", NULL, .max_iter = 6},
    {"screened", 8, 9000, 4, 1, ARMILLA_F32, "nonnegative", "nonneg-sphere", "fast", NULL, NULL, .restarts = 5},
    {"screened, sparse", 30, 9000, 4, 0.2, ARMILLA_F32, "nonnegative", "nonneg-sphere", "fast", NULL, NULL,
     .restarts = 3},
    {"restarts, too few for a sketch", 8, 600, 4, 1, ARMILLA_F64, "nonnegative", "nonneg-sphere", "fast", NULL, NULL,
     .restarts = 3},
    {"sparse codes, continuation", 14, 1500, 6, 1, ARMILLA_F32, "orthonormal", "sparse-sphere", "fast", NULL, NULL,
     .sparsity = 2},
    {"prepared dense", 14, 1500, 4, 1, ARMILLA_F32, "orthonormal", "sphere", "fast", NULL, NULL, true, true, true, true,
     true, .max_iter = 6},
    {"prepared sparse", 40, 1500, 4, 0.2, ARMILLA_F32, "orthonormal", "sphere", "fast", NULL, NULL, true, true, true,
     true, true, .max_iter = 6},
    {"sparse of unit length, f64", 300, 800, 4, 0.05, ARMILLA_F64, "nonnegative", "nonneg-sphere", "palm", NULL, NULL,
     .normalize = true},
    {"k-means with more atoms than places", 3, 800, 40, 0.1, ARMILLA_F64, "free", "one-hot", "fast", NULL, NULL,
     .max_iter = 15},
    {"clusters of so many samples that tries are screened", 4, 60500, 3, 1, ARMILLA_F32, "orthonormal", "sphere",
     "palm", "random", NULL, .max_iter = 1},
    {"k-means of many steps", 12, 2500, 20, 1, ARMILLA_F32, "free", "one-hot", "fast", NULL, NULL, .max_iter = 40},
    {"spherical k-means of many steps", 12, 2500, 20, 1, ARMILLA_U8, "unit", "nonneg-sparse-sphere", "fast", NULL,
     "f32", .normalize = true, .sparsity = 1, .max_iter = 40},
    {"fewer samples than ranks", 6, 3, 2, 1, ARMILLA_F64, "orthonormal", "sphere", "fast", NULL, NULL, .max_iter = 6},
    {"one slot", 40, 60, 3, 1, ARMILLA_F32, "nonnegative", "nonneg-sphere", "fast", NULL, NULL, .max_iter = 6},
    {"tall", 900, 300, 7, 1, ARMILLA_F32, "nonnegative", "nonneg-sphere", "fast", NULL, NULL, .max_iter = 6},
    {"online, dense", 14, 2500, 5, 1, ARMILLA_F32, "nonnegative", "nonneg-sphere", "online", NULL, NULL, .max_iter = 2,
     .batch = 90},
    {"online, dense, orthonormal", 14, 1500, 5, 1, ARMILLA_F64, "orthonormal", "sphere", "online", NULL, NULL,
     .center = true, .max_iter = 2, .batch = 40, .mixed = true},
    {"online, sparse", 40, 2500, 4, 0.1, ARMILLA_F32, "nonnegative", "nonneg-sphere", "online", NULL, NULL,
     .max_iter = 2, .batch = 60},
    /* Negative entries times codes of 0 are negative zeros. */
    {"online, sparse, signed zeros", 60, 1500, 6, 0.05, ARMILLA_F64, "orthonormal", "sparse-sphere", "online", NULL,
     NULL, .sparsity = 1, .max_iter = 2, .batch = 25, .mixed = true},
    {"online, sparse f32, signed zeros", 60, 1500, 6, 0.05, ARMILLA_F32, "orthonormal", "nonneg-sparse-sphere",
     "online", NULL, NULL, .sparsity = 2, .max_iter = 2, .batch = 25, .mixed = true},
    {"online, k-means", 30, 1500, 6, 0.2, ARMILLA_F64, "free", "one-hot", "online", NULL, NULL, .max_iter = 2,
     .batch = 50, .mixed = true},
};

static void test_storages_solvers_and_starts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        compare_sizes(&scenes[i], several, sizeof several / sizeof *several, i % 3 != 0);
}

/* Hundreds of ranks: the tree between them has many levels, and its shape changes no bit. */
static void test_hundreds_of_ranks(void **state)
{
    static const int many[] = {100, 257};
    const scene s = {
        "hundreds of ranks", 4, 40000, 3, 1, ARMILLA_F32, "nonnegative", "nonneg-sphere", "palm", "random", NULL,
        .max_iter = 2};
    (void)state;
    compare_sizes(&s, many, (size_t)reference_effort(2, 1), true);
}

/* What goes wrong on one rank. */

static armilla_status put_nan(armilla_context *context, numbers *own, armilla_options *options)
{
    (void)context;
    (void)options;
    memset(own->values, 0xff, 64);
    return ARMILLA_OK;
}

static armilla_status take_memory(armilla_context *context, numbers *own, armilla_options *options)
{
    (void)own;
    (void)options;
    armilla_context_set_memory(context, armilla_context_memory_live(context) + 40000);
    return ARMILLA_OK;
}

static armilla_status change_rank(armilla_context *context, numbers *own, armilla_options *options)
{
    (void)context;
    (void)own;
    options->rank++;
    return ARMILLA_OK;
}

static int stop_third(void *user, const armilla_trace_entry *entry)
{
    (void)user;
    return entry->iteration >= 3;
}

static armilla_status stop_by_callback(armilla_context *context, numbers *own, armilla_options *options)
{
    (void)context;
    (void)own;
    options->callback = stop_third;
    return ARMILLA_OK;
}

static int stop_iterations(void *user, const armilla_progress *progress)
{
    (void)user;
    return progress->stage == ARMILLA_STAGE_ITERATIONS;
}

static armilla_status stop_by_watch(armilla_context *context, numbers *own, armilla_options *options)
{
    (void)own;
    (void)options;
    armilla_context_set_watch(context, stop_iterations, NULL);
    return ARMILLA_OK;
}

static int stop_first_look(void *user, const armilla_progress *progress)
{
    (void)user;
    return progress->stage == ARMILLA_STAGE_SURVEY;
}

static armilla_status stop_at_once(armilla_context *context, numbers *own, armilla_options *options)
{
    (void)own;
    (void)options;
    armilla_context_set_watch(context, stop_first_look, NULL);
    return ARMILLA_OK;
}

static const struct spoiling {
    const char *what;
    armilla_status (*spoil)(armilla_context *context, numbers *own, armilla_options *options);
    armilla_status status;
    const char *says;
    bool first; /* on rank 0 alone: its first samples are spoiled */
} spoilings[] = {
    {"bad data", put_nan, ARMILLA_BAD_DATA, "NaN", true},
    {"no memory", take_memory, ARMILLA_NO_MEMORY, "out of memory", false},
    {"another rank of the model", change_rank, ARMILLA_BAD_ARGUMENT, "different numbers", false},
    {"stopped before there is a result", stop_at_once, ARMILLA_STOPPED, "stopped", false},
    {"stopped by a callback", stop_by_callback, ARMILLA_OK, NULL, false},
    {"stopped by the watch", stop_by_watch, ARMILLA_OK, NULL, false},
};

static void check_ended(const struct spoiling *bad, int size)
{
    for (int r = 0; r < size; r++) {
        if (outcomes[r].status != bad->status) print_error("rank %d: %s\n", r, outcomes[r].message);
        REFERENCE_HOLDS(outcomes[r].status == bad->status);
        if (bad->says) {
            REFERENCE_HOLDS(strcmp(outcomes[r].message, outcomes[0].message) == 0);
            REFERENCE_HOLDS(strstr(outcomes[r].message, bad->says) != NULL);
            continue;
        }
        REFERENCE_HOLDS(outcomes[r].stop == ARMILLA_STOP_INTERRUPTED);
        REFERENCE_HOLDS(outcomes[r].iterations == outcomes[0].iterations);
        REFERENCE_HOLDS(outcomes[r].objective == outcomes[0].objective);
    }
}

static void test_one_ends_all(void **state)
{
    static const int sizes[] = {1, 2, 3, 7};
    const scene s = {"one ends all", 12,   3000,           4, 1, ARMILLA_F32, "nonnegative", "nonneg-sphere", "fast",
                     NULL,           NULL, .max_iter = 200};
    uint64_t random = 18;
    (void)state;
    numbers x = make_numbers(&s, &random);
    for (size_t i = 0; i < sizeof spoilings / sizeof *spoilings; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            for (int bad = 0; bad < sizes[k] && (bad == 0 || !spoilings[i].first); bad += 2) {
                trial t = {.s = &s,
                           .x = &x,
                           .size = sizes[k],
                           .threads = 1,
                           .outcomes = outcomes,
                           .short_of_calls = true,
                           .bad_rank = bad,
                           .spoil = spoilings[i].spoil};
                if (sizes[k] == 1 && spoilings[i].spoil == change_rank) continue;
                reference_scene("%s on rank %d of %d", spoilings[i].what, bad, sizes[k]);
                reference_run_ranks(sizes[k], -1, run, &t);
                check_ended(&spoilings[i], sizes[k]);
            }
    free_numbers(&x);
}

/* A message that is lost, whichever it is, ends all ranks, and none waits. */
static void test_lost_messages(void **state)
{
    const scene s = {"lost messages", 6,    700,          3, 1, ARMILLA_F64, "nonnegative", "nonneg-sphere", "fast",
                     "kmeans++",      NULL, .max_iter = 2};
    uint64_t random = 19;
    (void)state;
    numbers x = make_numbers(&s, &random);
    for (int64_t cut = 0, lost = 1; lost > 0; cut += reference_effort(7, 60)) {
        trial t = {.s = &s, .x = &x, .size = 3, .threads = 1, .outcomes = outcomes, .short_of_calls = true};
        reference_scene("message %d is lost", (int)cut);
        reference_run_ranks(3, cut, run, &t);
        lost = 0;
        for (int r = 0; r < 3; r++) {
            REFERENCE_HOLDS(outcomes[r].status == ARMILLA_OK || outcomes[r].status == ARMILLA_IO_ERROR);
            lost += outcomes[r].status == ARMILLA_IO_ERROR;
        }
    }
    free_numbers(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair),        cmocka_unit_test(test_storages_solvers_and_starts),
        cmocka_unit_test(test_hundreds_of_ranks), cmocka_unit_test(test_one_ends_all),
        cmocka_unit_test(test_lost_messages),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
