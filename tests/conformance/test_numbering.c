/* Numbers of clusters: by size, ties by the first sample, from the partition alone. Planted clusters, many of them of equal
 * size, are found by every method and model in every storage and precision, by any number of threads and ranks; given
 * centres keep their order. */
#include "reference/reference.h"

#include "base/groups.h"
#include "cluster/cluster.h"
#include "model/model.h"
#include "reference/ranks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { M = 24, K = 12, N = 301 };

/* Clusters along axes of their own, of sizes that mostly tie, in a random order of samples; and where zeros is set samples
 * that have no direction. */
typedef struct planted {
    double X[M * N], centers[M * K]; /* X: numbers that f32 has too */
    int64_t labels[N];               /* as they are to be numbered; zeros: -1 */
} planted;

/* Plain: again and again the largest that is left, of equals that which comes first. -1 is nobody's. */
static void number_plainly(int64_t *labels)
{
    int64_t sizes[K] = {0}, of[K];
    for (int64_t k = 0; k < K; k++) of[k] = -1;
    for (int64_t j = 0; j < N; j++)
        if (labels[j] >= 0) sizes[labels[j]]++;
    for (int64_t place = 0; place < K; place++) {
        int64_t best = -1;
        for (int64_t j = 0; j < N; j++) {
            const int64_t k = labels[j];
            if (k >= 0 && of[k] < 0 && (best < 0 || sizes[k] > sizes[best])) best = k;
        }
        if (best >= 0) of[best] = place;
    }
    for (int64_t j = 0; j < N; j++)
        if (labels[j] >= 0) labels[j] = of[labels[j]];
}

static void plant(uint64_t seed, bool zeros, planted *p)
{
    uint64_t random = seed;
    int64_t groups[N];
    memset(p, 0, sizeof *p);
    for (int64_t j = 0; j < N; j++) groups[j] = j < 40 ? 0 : j < 60 ? 1 : 2 + j % (K - 2);
    for (int64_t j = N - 1; j > 0; j--) { /* shuffled */
        const int64_t other = reference_below(&random, j + 1), group = groups[j];
        groups[j] = groups[other];
        groups[other] = group;
    }
    for (int64_t j = 0; j < N; j++) {
        if (zeros && j % 50 == 1) groups[j] = -1;
        for (int64_t i = 0; i < M && groups[j] >= 0; i++)
            p->X[j * M + i] = (i % K == groups[j] ? 16 : 0) + (reference_uniform(&random) < 0.2 ? 0.5 : 0);
    }
    memcpy(p->labels, groups, sizeof groups);
    number_plainly(p->labels);
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < M && groups[j] >= 0; i++) p->centers[p->labels[j] * M + i] = i % K == groups[j];
}

/* The same numbers in a storage. */
typedef struct storage {
    const char *name;
    armilla_type type;
    bool sparse, streamed;
} storage;

static const storage storages[] = {{"dense f64", ARMILLA_F64, false, false},
                                   {"dense f32", ARMILLA_F32, false, false},
                                   {"sparse f64", ARMILLA_F64, true, false},
                                   {"sparse f32", ARMILLA_F32, true, false},
                                   {"streamed f64", ARMILLA_F64, false, true}};
enum { STORAGES = sizeof storages / sizeof *storages };

typedef struct stored {
    float values[M * N];
    reference_sparse compressed;
    const planted *from;
    const storage *as;
} stored;

static void store(const planted *p, const storage *as, stored *made)
{
    *made = (stored){.from = p, .as = as};
    for (int64_t i = 0; i < M * N; i++) made->values[i] = (float)p->X[i];
    if (as->sparse) reference_sparse_new(&made->compressed, as->type, ARMILLA_I32, false, M, N, p->X);
}

static armilla_status read_samples(void *self, int64_t first, int64_t count, void *buffer, int64_t stride,
                                   char *message)
{
    const stored *from = self;
    (void)message;
    for (int64_t j = 0; j < count; j++)
        memcpy((double *)buffer + j * stride, from->from->X + (first + j) * M, M * sizeof(double));
    return ARMILLA_OK;
}

static armilla_status stream(armilla_context *context, stored *from, armilla_data **data)
{
    armilla_data_source source;
    armilla_data_source_default(&source);
    source.m = M;
    source.n = N;
    source.fill = read_samples;
    source.self = from;
    return armilla_data_from_source(context, &source, data);
}

static armilla_status wrap(armilla_context *context, stored *from, armilla_data **data)
{
    const reference_sparse *s = &from->compressed;
    const armilla_type type = from->as->type;
    if (from->as->streamed) return stream(context, from, data);
    if (from->as->sparse)
        return armilla_data_wrap_sparse(context, type, s->index, s->values, s->features, s->starts, M, N, data);
    return armilla_data_wrap_dense(context, type, type == ARMILLA_F64 ? (const void *)from->from->X : from->values, M,
                                   N, M, data);
}

/* One call by a process or a rank: labels of its samples. */
typedef struct job {
    stored *data;
    const char *method; /* of clusters, on data; NULL: a fit */
    const char *model;  /* of that fit */
    const char *solver;
    const double *centers; /* M x K to start from; NULL: none */
    int64_t threads, seed;
    int64_t labels[N];
    armilla_status status;
    char message[256];
} job;

static armilla_status cluster(const job *t, armilla_context *context, const armilla_data *X, int64_t *labels)
{
    armilla_cluster_options options;
    armilla_clustering *found = NULL;
    armilla_cluster_options_default(&options);
    options.k = K;
    options.method = t->method;
    options.seed = t->seed;
    options.threads = t->threads;
    const armilla_status status = armilla_cluster_data(context, X, NULL, &options, &found);
    for (int64_t j = 0; j < N && status == ARMILLA_OK; j++)
        if (j >= found->share.first && j < found->share.last) labels[j] = found->labels[j];
    armilla_clustering_free(found);
    return status;
}

static armilla_status fit(const job *t, armilla_context *context, const armilla_data *X, int64_t *labels)
{
    armilla_options options;
    armilla_model *model = NULL;
    armilla_options_default(&options);
    options.rank = K;
    options.model = t->model;
    options.solver = t->solver;
    options.start_basis = t->centers;
    options.seed = t->seed;
    options.threads = t->threads;
    options.restarts = t->centers ? 1 : 8;
    const armilla_status status = armilla_fit(context, X, &options, &model);
    for (int64_t j = 0; j < N && status == ARMILLA_OK; j++) {
        double v[K];
        if (j < model->share.first || j >= model->share.last) continue;
        armilla_fetch(model->summary.precision, K,
                      (const char *)model->V + (size_t)(j * K) * armilla_type_size(model->summary.precision), v);
        for (int64_t k = 0; k < K; k++)
            if (v[k] != 0) labels[j] = k;
    }
    armilla_model_free(model);
    return status;
}

static void run(void *self, int rank, armilla_context *context)
{
    job *t = self;
    armilla_data *X = NULL;
    (void)rank;
    armilla_status status = wrap(context, t->data, &X);
    if (status == ARMILLA_OK) status = t->method ? cluster(t, context, X, t->labels) : fit(t, context, X, t->labels);
    if (status != ARMILLA_OK) {
        t->status = status;
        snprintf(t->message, sizeof t->message, "%s", armilla_context_error(context));
    }
    armilla_data_free(X);
}

static void start(job *t, int ranks)
{
    t->status = ARMILLA_OK;
    memset(t->labels, -1, sizeof t->labels);
    reference_scene("%s, %s, seed %d, %d threads, %d ranks", t->data->as->name, t->method ? t->method : t->model,
                    (int)t->seed, (int)t->threads, ranks);
    if (ranks > 1)
        reference_run_ranks(ranks, -1, run, t);
    else
        run(t, 0, reference_context);
    if (t->status != ARMILLA_OK) fail_msg("%s", t->message);
}

/* The clusters that were found, of samples with a direction, have the numbers that they have when they are numbered plainly.
 * Returns whether they are the planted ones. */
static bool check(job *t, int ranks)
{
    const int64_t *known = t->data->from->labels;
    int64_t wanted[N];
    bool right = true;
    start(t, ranks);
    for (int64_t j = 0; j < N; j++) wanted[j] = known[j] < 0 ? -1 : t->labels[j];
    number_plainly(wanted);
    for (int64_t j = 0; j < N; j++) {
        REFERENCE_HOLDS(known[j] < 0 ? t->labels[j] >= 0 && t->labels[j] < K : t->labels[j] == wanted[j]);
        right &= wanted[j] == known[j];
    }
    return right;
}

static const struct {
    const char *method, *model, *solver;
    bool ranks, zeros; /* by several ranks too; some samples have no direction */
} kinds[] = {{"kmeans", NULL, NULL, true, false},   {"euclidean", NULL, NULL, true, false},
             {"graph", NULL, NULL, false, false},   {NULL, "spherical-kmeans", "fast", true, true},
             {NULL, "kmeans", "fast", true, false}, {NULL, "spherical-kmeans", "online", true, true}};

static void test_every_storage_and_method(void **state)
{
    static planted p;
    static stored data;
    int right = 0, all = 0;
    (void)state;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (int s = 0; s < STORAGES; s++)
            for (uint64_t seed = 1; seed <= 3; seed++) {
                plant(seed, kinds[kind].zeros, &p);
                store(&p, &storages[s], &data);
                job t = {.data = &data, .method = kinds[kind].method, .model = kinds[kind].model};
                t.solver = kinds[kind].solver;
                t.seed = (int64_t)seed;
                t.threads = 1 + (int64_t)(seed + (uint64_t)s) % 3;
                right += check(&t, 1);
                right += check(&t, kinds[kind].ranks ? 2 + (int)(seed + (uint64_t)s) % 3 : 1);
                all += 2;
                if (storages[s].sparse) reference_sparse_free(&data.compressed);
            }
    REFERENCE_HOLDS(right >= 0.7 * all); /* else nothing was shown */
}

/* Label k belongs to the centre that was given as the k-th, whatever its size. */
static void test_given_centers(void **state)
{
    static planted p;
    static stored data;
    static const char *const models[] = {"spherical-kmeans", "kmeans"};
    (void)state;
    for (int s = 0; s < STORAGES; s++)
        for (int model = 0; model < 2; model++) {
            double centers[M * K];
            int64_t wanted[N];
            plant(7 + (uint64_t)s, false, &p);
            store(&p, &storages[s], &data);
            for (int64_t k = 0; k < K; k++) /* the smallest first */
                for (int64_t i = 0; i < M; i++)
                    centers[k * M + i] = (model ? 16 : sqrt(0.5)) * p.centers[(K - 1 - k) * M + i];
            for (int64_t j = 0; j < N; j++) wanted[j] = K - 1 - p.labels[j];
            job t = {.data = &data, .model = models[model], .solver = "fast", .centers = centers, .threads = 2};
            for (int ranks = 1; ranks <= 4; ranks++) {
                start(&t, ranks);
                assert_memory_equal(t.labels, wanted, sizeof wanted);
            }
            if (storages[s].sparse) reference_sparse_free(&data.compressed);
        }
}

/* Against plain loops: any sizes, many of which tie, and groups that nobody is in. */
static void test_order_equals_plain_loops(void **state)
{
    uint64_t random = 3;
    (void)state;
    for (int trial = 0; trial < 200; trial++) {
        const int64_t count = 1 + reference_below(&random, 40), n = reference_below(&random, 100);
        int64_t labels[100];
        bool taken[40] = {false};
        armilla_groups groups;
        REFERENCE_OK(armilla_groups_take(reference_context, count, &groups));
        for (int64_t j = 0; j < n; j++) {
            labels[j] = reference_below(&random, count);
            armilla_groups_add(&groups, labels[j], j);
        }
        REFERENCE_OK(armilla_groups_arrange(reference_context, ARMILLA_OK, &groups));
        for (int64_t place = 0; place < count; place++) {
            int64_t best = -1;
            for (int64_t j = 0; j < n; j++)
                if (!taken[labels[j]] && (best < 0 || groups.sizes[labels[j]] > groups.sizes[best])) best = labels[j];
            for (int64_t k = 0; k < count && best < 0; k++)
                if (!taken[k]) best = k;
            REFERENCE_HOLDS(groups.order[place] == best);
            taken[best] = true;
        }
        armilla_groups_release(reference_context, &groups);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_equals_plain_loops),
        cmocka_unit_test(test_every_storage_and_method),
        cmocka_unit_test(test_given_centers),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
