/* The recipe of `armilla cluster` on planted tables, each with a trait that decides the preparation; features of one
 * spread against plain loops; and the recipe when allocations fail. */
#include "reference/reference.h"

#include "base/call.h"
#include "base/context.h"
#include "base/size.h"
#include "cluster/knn_graph.h"
#include "unit/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static support_allocator allocator;
static armilla_context *context;

static int begin(void **state)
{
    (void)state;
    support_begin(&allocator, &context);
    return 0;
}

static int end(void **state)
{
    (void)state;
    support_end(&allocator, context);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

enum { MOST_FEATURES = 41, MOST_SAMPLES = 400 };

static double X[MOST_FEATURES * MOST_SAMPLES];

/* Plain loops: every feature over its standard deviation, then every sample over its length. */
static void plain_standardize(int64_t m, int64_t n, double *made)
{
    for (int64_t i = 0; i < m; i++) {
        long double mean = 0, square = 0;
        for (int64_t j = 0; j < n; j++) mean += (long double)X[j * m + i] / (long double)n;
        for (int64_t j = 0; j < n; j++) square += (X[j * m + i] - mean) * (X[j * m + i] - mean) / (long double)n;
        const double deviation = (double)sqrtl(square);
        const bool constant = !(deviation > 1e-6 * fabs((double)mean));
        for (int64_t j = 0; j < n; j++) made[j * m + i] = constant ? 0 : X[j * m + i] / deviation;
    }
    for (int64_t j = 0; j < n; j++) {
        double square = 0;
        for (int64_t i = 0; i < m; i++) square += made[j * m + i] * made[j * m + i];
        for (int64_t i = 0; i < m && square > 0; i++) made[j * m + i] /= sqrt(square);
    }
}

/* Tall, wide and odd shapes, at any scale, features of very different units, constant ones, samples of zeros. */
static void test_standardized_equals_plain_loops(void **state)
{
    static const double scales[] = {1, 1e-140, 1e140, 1e-12};
    static double wanted[MOST_FEATURES * MOST_SAMPLES];
    uint64_t random = 5;
    (void)state;
    for (int trial = 0; trial < 40; trial++) {
        const int64_t m = 2 + reference_below(&random, 39), n = 5 + reference_below(&random, MOST_SAMPLES - 5);
        armilla_data *data = NULL;
        float *first = NULL;
        reference_fill_normal(&random, m * n, X);
        for (int64_t i = 0; i < m; i++) {
            const double unit = pow(10, 6 * reference_uniform(&random) - 3) * scales[trial % 4];
            for (int64_t j = 0; j < n; j++) X[j * m + i] = unit * (X[j * m + i] + (double)(trial % 3));
        }
        for (int64_t j = 0; j < n && trial % 5 == 0; j++) X[j * m] = 3 * scales[trial % 4];
        for (int64_t i = 0; i < m && trial % 7 == 0; i++) X[i] = 0;
        plain_standardize(m, n, wanted);
        support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, m, n, m, &data));
        const armilla_graph_samples samples = {.context = context, .X = data, .n = n, .k = 2};
        assert_true(armilla_graph_samples_are_table(&samples));
        for (int threads = 1; threads <= 3; threads++) {
            float *made = NULL;
            armilla_feature_statistics features = {0};
            support_ok(context, armilla_call_enter(context, threads));
            support_ok(context, armilla_feature_statistics_find(context, data, ARMILLA_FEATURE_DEVIATIONS, &features));
            support_ok(context, armilla_graph_samples_standardize(&samples, &features, &made));
            armilla_call_leave(context);
            armilla_feature_statistics_release(context, &features);
            for (int64_t i = 0; i < m * n; i++) assert_true(fabs((double)made[i] - wanted[i]) < 1e-6);
            if (first) assert_memory_equal(first, made, (size_t)(m * n) * sizeof *made);
            armilla_release(context, first);
            first = made;
        }
        armilla_release(context, first);
        armilla_data_free(data);
    }
}

/* A table has 2 to 40 dense features and a given number of clusters. */
static void test_tables(void **state)
{
    static const struct {
        int64_t m, k;
        bool is_table;
    } rows[] = {{1, 2, false}, {2, 2, true}, {40, 2, true}, {41, 2, false}, {5, 0, false}};
    (void)state;
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        armilla_data *data = NULL;
        support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, rows[row].m, 50, rows[row].m, &data));
        const armilla_graph_samples samples = {.context = context, .X = data, .n = 50, .k = rows[row].k};
        assert_int_equal(armilla_graph_samples_are_table(&samples), rows[row].is_table);
        armilla_data_free(data);
    }
    const armilla_graph_samples codes_alone = {.context = context, .n = 50, .k = 2};
    assert_false(armilla_graph_samples_are_table(&codes_alone));
}

enum { FEATURES = 9, SAMPLES = 300, GROUPS = 2, WIDE = 40, FEW = 30 };

/* Two groups of different directions, of any size. */
static void plant_directions(uint64_t seed)
{
    uint64_t random = seed;
    reference_fill_uniform(&random, FEATURES * SAMPLES, X);
    for (int64_t j = 0; j < SAMPLES; j++) {
        const double size = 1 + 9 * reference_uniform(&random);
        for (int64_t i = 0; i < FEATURES; i++)
            X[j * FEATURES + i] = size * (0.4 * X[j * FEATURES + i] + ((i % GROUPS == j % GROUPS) ? 2 : 0.5));
    }
}

/* Ayes of two parties, 0 or 1, of whom one votes No throughout as often as `empty` says. */
static void plant_votes(uint64_t seed, double empty)
{
    uint64_t random = seed;
    for (int64_t j = 0; j < SAMPLES; j++) {
        const bool none = j % GROUPS == 0 && reference_uniform(&random) < empty;
        for (int64_t i = 0; i < FEATURES; i++) {
            const bool aye = reference_uniform(&random) < (j % GROUPS ? 0.9 : 0.12);
            X[j * FEATURES + i] = (!none && aye) || (j % GROUPS == 0 && !none && i == j % FEATURES);
        }
    }
}

/* GROUPS clusters on so many threads, and nothing else. */
static void ask(int threads, armilla_options *fit, armilla_cluster_options *clusters)
{
    armilla_options_default(fit);
    armilla_cluster_options_default(clusters);
    clusters->k = GROUPS;
    fit->threads = clusters->threads = threads;
}

/* What the recipe chooses for X, and the labels that it leads to. */
static void run_recipe(int64_t m, int64_t n, int threads, armilla_options *fit, int64_t *labels)
{
    armilla_data *data = NULL;
    armilla_model *model = NULL;
    armilla_clustering *found = NULL;
    armilla_cluster_options clusters;
    ask(threads, fit, &clusters);
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, m, n, m, &data));
    support_ok(context, armilla_cluster_recipe(context, data, fit, &clusters));
    support_ok(context, armilla_fit(context, data, fit, &model));
    support_ok(context, armilla_cluster_fitted(context, data, model, &clusters, &found));
    memcpy(labels, armilla_clustering_labels(found), (size_t)n * sizeof *labels);
    armilla_clustering_free(found);
    armilla_model_free(model);
    armilla_data_free(data);
}

/* The part of the samples whose label is that of their planted group, under the better of both matchings. */
static double agreement(const int64_t *labels)
{
    int64_t same = 0;
    for (int64_t j = 0; j < SAMPLES; j++) same += labels[j] == j % GROUPS;
    return (double)armilla_max64(same, SAMPLES - same) / SAMPLES;
}

static void test_chooses_by_trait(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        int64_t labels[SAMPLES], again[SAMPLES];
        armilla_options fit;
        plant_directions(seed);
        run_recipe(FEATURES, SAMPLES, 1, &fit, labels);
        run_recipe(FEATURES, SAMPLES, 3, &fit, again);
        assert_memory_equal(labels, again, sizeof labels);
        assert_true(!fit.center && !fit.scale);
        assert_true(agreement(labels) > 0.98);
        plant_votes(seed, 0.4);
        run_recipe(FEATURES, SAMPLES, 2, &fit, labels);
        assert_true(fit.center);
        assert_true(agreement(labels) > 0.9);
    }
}

/* Units differ in both, but of more features than samples most would be noise of the same weight. */
static void test_scales_no_more_features_than_samples(void **state)
{
    uint64_t random = 3;
    int64_t labels[SAMPLES];
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        const int64_t m = wide ? WIDE : FEATURES, n = wide ? FEW : SAMPLES;
        armilla_options fit;
        reference_fill_normal(&random, m * n, X);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++) X[j * m + i] = (i == 0 ? 1000 : 1) * (5 + X[j * m + i]);
        run_recipe(m, n, 1, &fit, labels);
        assert_int_equal(fit.scale, !wide);
    }
}

/* Asks for the end once, at a question. */
typedef struct asker {
    int64_t at, asked;
} asker;

static int ask_for_end(void *user, const armilla_progress *progress)
{
    asker *a = user;
    (void)progress;
    return ++a->asked == a->at;
}

/* Whenever the watch asks for the end, once, there is no choice. */
static void test_stopped_look_is_no_choice(void **state)
{
    armilla_data *data = NULL;
    asker a = {0, 0};
    (void)state;
    plant_votes(4, 0.4);
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, FEATURES, SAMPLES, FEATURES, &data));
    armilla_context_set_watch(context, ask_for_end, &a);
    for (bool fired = true; fired; fired = a.asked >= a.at) {
        armilla_options fit;
        armilla_cluster_options clusters;
        ask(1, &fit, &clusters);
        a = (asker){.at = a.at + 1};
        const armilla_status status = armilla_cluster_recipe(context, data, &fit, &clusters);
        assert_int_equal(status, a.asked >= a.at ? ARMILLA_STOPPED : ARMILLA_OK);
        assert_int_equal(fit.center, a.asked < a.at);
        assert_true(context->watch == ask_for_end && context->watch_user == &a);
    }
    assert_true(a.at > 2);
    armilla_context_set_watch(context, NULL, NULL);
    armilla_data_free(data);
}

/* One allocation after the other fails: no memory, or the same choice. */
static void test_without_memory(void **state)
{
    armilla_data *data = NULL;
    int64_t failures = 0;
    (void)state;
    plant_votes(2, 0.4);
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, FEATURES, SAMPLES, FEATURES, &data));
    const int64_t live = allocator.live;
    for (armilla_status status = ARMILLA_NO_MEMORY; status != ARMILLA_OK; failures++) {
        armilla_options fit;
        armilla_cluster_options clusters;
        ask(1, &fit, &clusters);
        allocator.countdown = allocator.taken + failures;
        status = armilla_cluster_recipe(context, data, &fit, &clusters);
        allocator.countdown = -1;
        assert_true(status == ARMILLA_NO_MEMORY || (status == ARMILLA_OK && fit.center));
        assert_int_equal(allocator.live, live);
    }
    assert_true(failures > 5);
    armilla_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_standardized_equals_plain_loops),
        TEST(test_tables),
        TEST(test_chooses_by_trait),
        TEST(test_scales_no_more_features_than_samples),
        TEST(test_stopped_look_is_no_choice),
        TEST(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
