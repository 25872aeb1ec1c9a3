/* k-means through the sweep against a plain Lloyd loop, and its promises: inertia never rises, the same labels for any
 * number of threads and for dense and sparse data, empty clusters filled. */
#include "reference/reference.h"

#include "base/context.h"
#include "cluster/cluster.h"
#include "unit/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 7, N = 400, K = 5, MOST = 60 };

static double X[M * N];

/* K groups that overlap. */
static void fill(uint64_t seed, double apart)
{
    double centers[M * K];
    uint64_t random = seed;
    reference_fill_normal(&random, M * K, centers);
    reference_fill_normal(&random, M * N, X);
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < M; i++) X[j * M + i] += apart * centers[j % K * M + i];
}

static void to_unit(int64_t count, double *vectors)
{
    for (int64_t j = 0; j < count; j++) {
        double square = 0;
        for (int i = 0; i < M; i++) square += vectors[j * M + i] * vectors[j * M + i];
        for (int i = 0; i < M; i++) vectors[j * M + i] /= sqrt(square);
    }
}

/* The slow way: nearest centre by plain loops, then means. Returns the inertia of the last assignment. */
static double plain_lloyd(bool unit, int rounds, double *centers, int64_t *labels)
{
    double inertia = 0;
    for (int round = 0; round <= rounds; round++) {
        double sums[M * K] = {0};
        int64_t sizes[K] = {0};
        inertia = 0;
        for (int64_t j = 0; j < N; j++) {
            double best = INFINITY;
            for (int64_t k = 0; k < K; k++) {
                double square = 0;
                for (int i = 0; i < M; i++) square += pow(X[j * M + i] - centers[k * M + i], 2);
                if (square < best) {
                    best = square;
                    labels[j] = k;
                }
            }
            inertia += best;
            sizes[labels[j]]++;
            for (int i = 0; i < M; i++) sums[labels[j] * M + i] += X[j * M + i];
        }
        for (int64_t k = 0; k < K && round < rounds; k++)
            for (int i = 0; i < M; i++)
                if (sizes[k] > 0) centers[k * M + i] = sums[k * M + i] / (double)sizes[k];
        if (unit && round < rounds) to_unit(K, centers);
    }
    return unit ? inertia / 2 : inertia;
}

static const armilla_method methods[] = {{.name = "kmeans", .unit = true}, {.name = "euclidean"}};

static void test_equals_plain_loop(void **state)
{
    armilla_context *context = support_context();
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        const armilla_method *method = &methods[trial % 2];
        armilla_cluster_options options;
        double centers[M * K], squared[N], inertias[MOST + 1];
        int64_t labels[N], wanted[N], sizes[K] = {0};
        armilla_clustering found = {.labels = labels, .sizes = sizes};
        armilla_data *data = NULL;
        fill(100 + (uint64_t)trial, 1.5);
        if (method->unit) to_unit(N, X);
        for (int64_t j = 0; j < N; j++) {
            squared[j] = 0;
            for (int i = 0; i < M; i++) squared[j] += X[j * M + i] * X[j * M + i];
        }
        memcpy(centers, X, sizeof centers);
        armilla_cluster_options_default(&options);
        options.k = K;
        options.max_iter = trial < 4 ? trial : MOST;
        support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, &data));
        const armilla_kmeans_problem problem = {.X = data,
                                                .work = ARMILLA_F64,
                                                .squared_norms = squared,
                                                .method = method,
                                                .options = &options,
                                                .centers = centers};
        support_ok(context, armilla_kmeans(context, &problem, &found, inertias));
        const double inertia = plain_lloyd(method->unit, (int)found.summary.iterations, centers, wanted);
        assert_true(fabs(found.summary.inertia - inertia) <= 1e-11 * inertia);
        assert_memory_equal(labels, wanted, sizeof labels);
        for (int64_t i = 1; i <= found.summary.iterations; i++)
            assert_true(inertias[i] <= inertias[i - 1] * (1 + 1e-13));
        if (trial >= 4) assert_int_equal(found.summary.stop, ARMILLA_STOP_CONVERGED);
        if (trial < 4) assert_int_equal(found.summary.iterations, trial);
        armilla_data_free(data);
    }
    armilla_context_free(context);
}

/* Data as compressed columns, with about half of the entries taken away from X. */
static armilla_data *sparse_twin(armilla_context *context)
{
    static int32_t features[M * N], starts[N + 1];
    static double values[M * N];
    armilla_data *data = NULL;
    int32_t count = 0;
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < M; i++) {
            if (X[j * M + i] < 0) X[j * M + i] = 0;
            if (X[j * M + i] == 0) continue;
            features[count] = i;
            values[count++] = X[j * M + i];
        }
        starts[j + 1] = count;
    }
    support_ok(context,
               armilla_data_wrap_sparse(context, ARMILLA_F64, ARMILLA_I32, values, features, starts, M, N, &data));
    return data;
}

static void test_threads_and_storage(void **state)
{
    armilla_context *context = support_context();
    (void)state;
    for (int trial = 0; trial < 6; trial++) {
        armilla_data *forms[2] = {NULL, NULL};
        armilla_cluster_summary first, other;
        armilla_clustering *reference = NULL;
        armilla_cluster_options options;
        armilla_options preparation;
        fill(7 + (uint64_t)trial, 2);
        forms[1] = sparse_twin(context);
        support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, &forms[0]));
        armilla_options_default(&preparation);
        preparation.tfidf = preparation.center = trial >= 3;
        armilla_cluster_options_default(&options);
        options.k = K;
        options.method = methods[trial % 2].name;
        options.seed = trial;
        options.threads = 1;
        support_ok(context, armilla_cluster_data(context, forms[0], &preparation, &options, &reference));
        armilla_clustering_summarize(reference, &first);
        for (int form = 0; form < 2; form++)
            for (int threads = 1; threads <= 4; threads++) {
                armilla_clustering *again = NULL;
                options.threads = threads;
                support_ok(context, armilla_cluster_data(context, forms[form], &preparation, &options, &again));
                armilla_clustering_summarize(again, &other);
                assert_memory_equal(armilla_clustering_labels(again), armilla_clustering_labels(reference),
                                    N * sizeof(int64_t));
                if (form == 0) assert_memory_equal(&other.inertia, &first.inertia, sizeof other.inertia);
                assert_true(fabs(other.inertia - first.inertia) <= 1e-10 * first.inertia);
                armilla_clustering_free(again);
            }
        armilla_clustering_free(reference);
        armilla_data_free(forms[0]);
        armilla_data_free(forms[1]);
    }
    armilla_context_free(context);
}

/* Centres that nobody is near are moved to the worst-fitted samples. */
static void test_empty_clusters(void **state)
{
    armilla_context *context = support_context();
    (void)state;
    for (int trial = 0; trial < 2; trial++) {
        const armilla_method *method = &methods[trial];
        armilla_cluster_options options;
        double centers[M * K], squared[N];
        int64_t labels[N], sizes[K] = {0}, counted[K] = {0};
        armilla_clustering found = {.labels = labels, .sizes = sizes};
        armilla_data *data = NULL;
        fill(3, 3);
        if (method->unit) to_unit(N, X);
        for (int64_t j = 0; j < N; j++) {
            squared[j] = 0;
            for (int i = 0; i < M; i++) squared[j] += X[j * M + i] * X[j * M + i];
        }
        for (int64_t k = 0; k < K; k++) memcpy(centers + k * M, X, M * sizeof *centers); /* all in one place */
        armilla_cluster_options_default(&options);
        options.k = K;
        support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, &data));
        const armilla_kmeans_problem problem = {.X = data,
                                                .work = ARMILLA_F64,
                                                .squared_norms = squared,
                                                .method = method,
                                                .options = &options,
                                                .centers = centers};
        support_ok(context, armilla_kmeans(context, &problem, &found, NULL));
        for (int64_t j = 0; j < N; j++) counted[labels[j]]++;
        for (int64_t k = 0; k < K; k++) assert_true(counted[k] > 0);
        armilla_data_free(data);
    }
    armilla_context_free(context);
}

/* Fewer places than clusters, zero samples, one sample: an answer, and it ends. */
static void test_odd_data(void **state)
{
    armilla_context *context = support_context();
    const double few[12] = {1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 2, 0};
    armilla_cluster_options options;
    armilla_cluster_summary summary;
    armilla_data *data = NULL;
    (void)state;
    armilla_cluster_options_default(&options);
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, few, 2, 6, 2, &data));
    for (int method = 0; method < 2; method++)
        for (int64_t k = 1; k <= 6; k++) {
            armilla_clustering *found = NULL;
            options.k = k;
            options.method = methods[method].name;
            support_ok(context, armilla_cluster_data(context, data, NULL, &options, &found));
            armilla_clustering_summarize(found, &summary);
            const int64_t *labels = armilla_clustering_labels(found);
            assert_int_equal(labels[0], labels[2]);
            assert_int_equal(labels[1], labels[3]);
            if (k >= 2) assert_true(labels[0] != labels[1]);
            if (method == 1 && k >= 4) assert_true(summary.inertia < 1e-14);
            armilla_clustering_free(found);
        }
    armilla_clustering *none = NULL;
    options.k = 7;
    support_fails(context, armilla_cluster_data(context, data, NULL, &options, &none), ARMILLA_BAD_DATA, "6 samples");
    options.k = 0;
    support_fails(context, armilla_cluster_data(context, data, NULL, &options, &none), ARMILLA_BAD_ARGUMENT,
                  "k is missing");
    options.method = "argmax";
    support_fails(context, armilla_cluster_data(context, data, NULL, &options, &none), ARMILLA_BAD_ARGUMENT, "codes");
    options.method = "ward";
    support_fails(context, armilla_cluster_data(context, data, NULL, &options, &none), ARMILLA_BAD_ARGUMENT, "ward");
    armilla_options preparation = {.size = sizeof preparation, .normalize = "L2"};
    options.method = NULL;
    options.k = 2;
    support_fails(context, armilla_cluster_data(context, data, &preparation, &options, &none), ARMILLA_BAD_ARGUMENT,
                  "L2");
    preparation = (armilla_options){.size = sizeof preparation, .precision = "f16"};
    support_fails(context, armilla_cluster_data(context, data, &preparation, &options, &none), ARMILLA_BAD_ARGUMENT,
                  "f16");
    assert_null(none);
    armilla_data_free(data);
    armilla_context_free(context);
}

/* Every allocation made to fail in turn: an error, nothing leaked. */
static void test_failing_allocations(void **state)
{
    (void)state;
    fill(5, 2);
    for (int64_t countdown = 0; countdown < 2000; countdown++) {
        support_allocator allocator = SUPPORT_ALLOCATOR;
        armilla_context *context = support_context_with(&allocator);
        armilla_data *data = NULL;
        armilla_clustering *found = NULL;
        armilla_scores scores;
        armilla_cluster_options options;
        armilla_cluster_options_default(&options);
        options.k = K;
        options.threads = 1;
        options.tries = 2;
        support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, &data));
        const int64_t before = allocator.live;
        allocator.countdown = countdown;
        armilla_status status = armilla_cluster_data(context, data, NULL, &options, &found);
        if (status == ARMILLA_OK)
            status =
                armilla_score(context, N, armilla_clustering_labels(found), armilla_clustering_labels(found), &scores);
        const bool failed = status != ARMILLA_OK;
        if (failed) assert_int_equal(status, ARMILLA_NO_MEMORY);
        allocator.countdown = -1;
        armilla_clustering_free(found);
        assert_int_equal(allocator.live, before);
        armilla_data_free(data);
        armilla_context_free(context);
        assert_int_equal(allocator.live, 0);
        if (!failed) return;
    }
    fail_msg("it never succeeded");
}

static int stop_later(void *user, const armilla_progress *progress)
{
    (void)progress;
    return --*(int64_t *)user < 0;
}

/* Stopped at any question: every sample has a cluster, and the summary says that it was stopped; while the data are
 * looked at there is nothing yet. */
static void test_stops_when_asked(void **state)
{
    armilla_context *context = support_context();
    armilla_data *data = NULL;
    int64_t questions = 0, stopped = 0, finished = 0;
    (void)state;
    fill(77, 1);
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, &data));
    for (; !finished; questions += 1 + questions / 8) {
        int64_t left = questions, sum = 0;
        armilla_clustering *made = NULL;
        armilla_cluster_summary summary;
        armilla_cluster_options options;
        armilla_cluster_options_default(&options);
        options.k = K;
        options.method = methods[questions % 2].name;
        options.tries = 3;
        options.threads = 2;
        armilla_context_set_watch(context, stop_later, &left);
        const armilla_status status = armilla_cluster_data(context, data, NULL, &options, &made);
        if (status == ARMILLA_STOPPED) {
            assert_null(made);
            assert_true(stopped == 0); /* never again once there are clusters */
            continue;
        }
        support_ok(context, status);
        armilla_clustering_summarize(made, &summary);
        finished = left >= 0;
        stopped += !finished;
        if (finished) assert_true(summary.stop != ARMILLA_STOP_INTERRUPTED);
        assert_true(summary.inertia >= 0 && isfinite(summary.inertia));
        for (int64_t k = 0; k < K; k++) sum += armilla_clustering_sizes(made)[k];
        assert_int_equal(sum, N);
        for (int64_t j = 0; j < N; j++) assert_in_range(armilla_clustering_labels(made)[j], 0, K - 1);
        armilla_clustering_free(made);
    }
    assert_true(stopped > 5);
    armilla_data_free(data);
    armilla_context_free(context);
}

/* The preparation names the precision to compute in: the same clusters, and the inertia of rounded numbers. */
static void test_precision(void **state)
{
    armilla_context *context = support_context();
    armilla_data *data = NULL;
    armilla_clustering *made[2] = {NULL, NULL};
    armilla_cluster_summary summaries[2];
    (void)state;
    fill(78, 8);
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, &data));
    for (int single = 0; single < 2; single++) {
        armilla_cluster_options options;
        armilla_options preparation;
        armilla_cluster_options_default(&options);
        armilla_options_default(&preparation);
        options.k = K;
        options.method = "euclidean";
        preparation.precision = single ? "f32" : "f64";
        support_ok(context, armilla_cluster_data(context, data, &preparation, &options, &made[single]));
        armilla_clustering_summarize(made[single], &summaries[single]);
    }
    assert_memory_equal(armilla_clustering_labels(made[0]), armilla_clustering_labels(made[1]), N * sizeof(int64_t));
    assert_true(summaries[0].inertia != summaries[1].inertia);
    assert_true(fabs(summaries[0].inertia - summaries[1].inertia) <= 1e-5 * summaries[0].inertia);
    for (int i = 0; i < 2; i++) armilla_clustering_free(made[i]);
    armilla_data_free(data);
    armilla_context_free(context);
}

/* So many samples that tries are screened on some of them, around PLANTED places far apart. */
enum { LARGE = 61000, PLANTED = 7, DIMENSIONS = 3 };

static void plant(double *samples, int64_t *places)
{
    uint64_t random = 11;
    for (int64_t j = 0; j < LARGE; j++) {
        places[j] = (int64_t)reference_below(&random, PLANTED);
        reference_fill_normal(&random, DIMENSIONS, samples + j * DIMENSIONS);
        for (int i = 0; i < DIMENSIONS; i++) samples[j * DIMENSIONS + i] *= 0.05;
        samples[j * DIMENSIONS + places[j] % DIMENSIONS] += places[j] < DIMENSIONS ? 1 : places[j] < 6 ? -1 : 3;
    }
}

static void test_sample(void **state)
{
    armilla_context *context = support_context();
    double *samples = malloc(LARGE * DIMENSIONS * sizeof *samples);
    int64_t *places = malloc(LARGE * sizeof *places), drawn = 0;
    armilla_data *data = NULL;
    armilla_cluster_options options;
    const armilla_preparation none = {.taken = {false}};
    (void)state;
    plant(samples, places);
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, samples, DIMENSIONS, LARGE, DIMENSIONS, &data));
    armilla_cluster_options_default(&options);
    options.k = PLANTED;
    for (int round = 0; round < 3; round++) {
        armilla_kmeans_problem problem = {.X = data, .work = ARMILLA_F64, .method = &methods[1], .options = &options};
        armilla_kmeans_sample sample = {.columns = NULL};
        options.tries = round == 1 ? 1 : 10;
        options.k = round == 2 ? 60 : PLANTED; /* a third of the samples is too few for so many centres */
        support_ok(context, armilla_call_enter(context, 2));
        support_ok(context, armilla_kmeans_sample_make(context, data, &none, &problem, &sample));
        assert_true((problem.sample != NULL) == (round == 0));
        for (int64_t j = 0, i = 0; problem.sample && j < problem.sample->X->n; j++, i++, drawn++) {
            double x[DIMENSIONS], square = 0;
            support_ok(context, armilla_data_sample(context, problem.sample->X, j, x));
            while (i < LARGE && memcmp(x, samples + i * DIMENSIONS, sizeof x) != 0) i++; /* rising */
            assert_true(i < LARGE);
            for (int c = 0; c < DIMENSIONS; c++) square += x[c] * x[c];
            assert_true(fabs(problem.sample->squared_norms[j] - square) <= 1e-14 * square);
        }
        armilla_kmeans_sample_free(context, &sample);
        armilla_call_leave(context);
    }
    assert_true(drawn >= 20000 && drawn <= LARGE / 3);
    armilla_data_free(data);
    free(places);
    free(samples);
    armilla_context_free(context);
}

/* The tries are screened, and all samples go on from the best: planted clusters are found, those of plain means, with the
 * same bits on any number of threads. */
static void test_screened_tries(void **state)
{
    armilla_context *context = support_context();
    double *samples = malloc(LARGE * DIMENSIONS * sizeof *samples);
    int64_t *places = malloc(LARGE * sizeof *places);
    armilla_data *data = NULL;
    armilla_clustering *first = NULL;
    (void)state;
    plant(samples, places);
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, samples, DIMENSIONS, LARGE, DIMENSIONS, &data));
    for (int threads = 1; threads <= 3; threads++) {
        armilla_cluster_options options;
        armilla_cluster_summary summary;
        armilla_clustering *made = NULL;
        armilla_scores scores;
        double sums[PLANTED][DIMENSIONS] = {{0}}, inertia = 0;
        armilla_cluster_options_default(&options);
        options.k = PLANTED;
        options.method = "euclidean";
        options.threads = threads;
        support_ok(context, armilla_cluster_data(context, data, NULL, &options, &made));
        armilla_clustering_summarize(made, &summary);
        const int64_t *labels = armilla_clustering_labels(made), *sizes = armilla_clustering_sizes(made);
        support_ok(context, armilla_score(context, LARGE, labels, places, &scores));
        assert_true(scores.nmi > 0.99);
        assert_int_equal(summary.stop, ARMILLA_STOP_CONVERGED);
        assert_int_equal(summary.tries, 10);
        for (int64_t j = 0; j < LARGE; j++)
            for (int i = 0; i < DIMENSIONS; i++)
                sums[labels[j]][i] += samples[j * DIMENSIONS + i] / (double)sizes[labels[j]];
        for (int64_t j = 0; j < LARGE; j++)
            for (int i = 0; i < DIMENSIONS; i++) inertia += pow(samples[j * DIMENSIONS + i] - sums[labels[j]][i], 2);
        assert_true(fabs(summary.inertia - inertia) <= 1e-10 * inertia);
        if (!first) {
            first = made;
            continue;
        }
        assert_memory_equal(labels, armilla_clustering_labels(first), LARGE * sizeof *labels);
        armilla_clustering_free(made);
    }
    armilla_clustering_free(first);
    armilla_data_free(data);
    free(places);
    free(samples);
    armilla_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equals_plain_loop),   cmocka_unit_test(test_threads_and_storage),
        cmocka_unit_test(test_empty_clusters),      cmocka_unit_test(test_odd_data),
        cmocka_unit_test(test_failing_allocations), cmocka_unit_test(test_stops_when_asked),
        cmocka_unit_test(test_precision),           cmocka_unit_test(test_sample),
        cmocka_unit_test(test_screened_tries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
