/* The verdict on structure: noise of several kinds and planted groups, in every storage and precision, on any number of
 * threads; what data without groups keep, against plain counts; data that cannot be judged; stops; and allocations that
 * fail. */
#include "reference/reference.h"

#include "cluster/structure.h"
#include "unit/support.h"

#include <math.h>
#include <stddef.h>
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

enum { MOST = 60 * 300 };

static double X[MOST];

/* n samples of m features around k centres so far from each other, or one blob where k is 1, moved by an offset. */
static void plant(uint64_t random, int64_t m, int64_t n, int k, double offset)
{
    double centres[8 * 60];
    reference_fill_normal(&random, 8 * m, centres);
    for (int64_t j = 0; j < n; j++) {
        const double *centre = centres + (j % k) * m;
        double length = 0;
        for (int64_t i = 0; i < m; i++) length += centre[i] * centre[i];
        for (int64_t i = 0; i < m; i++)
            X[j * m + i] = offset + reference_normal(&random) + (k > 1 ? 8 * centre[i] / sqrt(length) : 0);
    }
}

static armilla_structure judge(const armilla_data *data, const char *method, bool center, int64_t threads)
{
    armilla_options options;
    armilla_cluster_options clusters;
    armilla_structure found;
    armilla_options_default(&options);
    armilla_cluster_options_default(&clusters);
    options.center = center;
    clusters.method = method;
    clusters.threads = threads;
    support_ok(context, armilla_structure_of_data(context, data, &options, &clusters, &found));
    return found;
}

static armilla_structure judge_plainly(int64_t m, int64_t n, const char *method, bool center)
{
    armilla_data *data = NULL;
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, m, n, m, &data));
    const armilla_structure found = judge(data, method, center, 1);
    armilla_data_free(data);
    return found;
}

/* Bit by bit, but for what lies behind the last member. */
static void assert_same(const armilla_structure *one, const armilla_structure *other)
{
    assert_memory_equal(one, other, offsetof(armilla_structure, is_structure));
    assert_int_equal(one->is_structure, other->is_structure);
}

static void assert_verdict(const armilla_structure *found, const char *wanted)
{
    if (strcmp(found->verdict, wanted) != 0)
        print_message("%s (%s): cut %g, expected %g, ratio %g, score %g, dependence %g\n", found->verdict,
                      found->reason, found->cut, found->expected, found->ratio, found->score, found->dependence);
    assert_string_equal(found->verdict, wanted);
    assert_true(found->is_structure == (strcmp(wanted, "structure") == 0));
}

static const struct {
    int64_t m, n;
    int k;
} shapes[] = {{2, 200, 3}, {5, 120, 2}, {10, 300, 5}, {20, 100, 3}, {60, 60, 4}};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static void test_one_blob_has_none(void **state)
{
    (void)state;
    for (int s = 0; s < SHAPES; s++)
        for (int kind = 0; kind < 4; kind++) {
            plant(7 + (uint64_t)(10 * s + kind), shapes[s].m, shapes[s].n, 1, kind % 2 ? 6 : 0);
            const armilla_structure found =
                judge_plainly(shapes[s].m, shapes[s].n, kind < 2 ? "graph" : "euclidean", kind == 0);
            assert_verdict(&found, "no structure");
        }
}

static void test_planted_groups_have(void **state)
{
    (void)state;
    for (int s = 1; s < SHAPES; s++)
        for (int kind = 0; kind < 2; kind++) {
            plant(3 + (uint64_t)s, shapes[s].m, shapes[s].n, shapes[s].k, 0);
            const armilla_structure found =
                judge_plainly(shapes[s].m, shapes[s].n, kind ? "euclidean" : "graph", kind == 0);
            assert_verdict(&found, "structure");
            assert_true(found.cut < found.expected && found.communities >= 2 && found.samples == shapes[s].n);
        }
}

/* Two or three groups so many standard deviations apart, which differ in every feature; or the first has four fifths. */
static void plant_far(uint64_t random, int64_t m, int64_t n, int k, double apart)
{
    static const double steps[3][2] = {{0, 0}, {1, -1}, {2, 1}};
    for (int64_t j = 0; j < n; j++) {
        const int64_t group = k > 0 ? j % k : j % 5 == 4;
        for (int64_t i = 0; i < m; i++)
            X[j * m + i] = apart / sqrt((double)m) * steps[group][i % 2] + reference_normal(&random);
    }
}

/* X dense in both precisions, or with every number stored. */
static armilla_data *store(int64_t m, int64_t n, int storage)
{
    static float narrow[MOST];
    static int32_t features[MOST], starts[301];
    armilla_data *data = NULL;
    for (int64_t i = 0; i < m * n; i++) {
        narrow[i] = (float)X[i];
        features[i] = (int32_t)(i % m);
    }
    for (int64_t j = 0; j <= n; j++) starts[j] = (int32_t)(j * m);
    if (storage == 0) support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, m, n, m, &data));
    if (storage == 1) support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F32, narrow, m, n, m, &data));
    if (storage == 2)
        support_ok(context,
                   armilla_data_wrap_sparse(context, ARMILLA_F64, ARMILLA_I32, X, features, starts, m, n, &data));
    return data;
}

/* However far groups are apart they stay groups, by distance and by angle around the mean. */
static void test_far_groups_have(void **state)
{
    static const int64_t features[] = {2, 4, 6, 20};
    static const int groups[] = {2, 3, 0};
    static const double distances[] = {10, 20, 30, 100, 1000};
    int count = 0;
    (void)state;
    for (int f = 0; f < 4; f++)
        for (int g = 0; g < 3; g++)
            for (int a = features[f] == 2; a < 5; a++, count++) {
                const int64_t m = features[f], n = f == 2 ? 100 : 300 - 20 * f;
                const bool by_angle = (count + g) % 2 && m > 2;
                plant_far(100 + (uint64_t)count, m, n, groups[g], distances[a]);
                armilla_data *data = store(m, n, by_angle && count % 3 == 2 ? 0 : count % 3);
                const armilla_structure one = judge(data, by_angle ? "graph" : "euclidean", by_angle, 1);
                if (!one.is_structure) print_message("%d groups, %g apart, m = %d\n", groups[g], distances[a], (int)m);
                assert_verdict(&one, "structure");
                const armilla_structure many = judge(data, by_angle ? "graph" : "euclidean", by_angle, 1 + count % 4);
                assert_same(&one, &many);
                armilla_data_free(data);
            }
}

/* A line through its mean has two directions and no gap, also where every sample has two more beside it; nor do groups in
 * each of several independent features count, far as they are. */
static void test_lines_have_none(void **state)
{
    const int64_t n = 240;
    (void)state;
    for (int kind = 0; kind < 12; kind++) {
        uint64_t random = 50 + (uint64_t)kind;
        const int64_t m = kind % 2 ? 8 : 3, copies = kind % 3 == 1 ? 3 : 1;
        double t = 0;
        for (int64_t j = 0; j < n; j++) {
            if (j % copies == 0) t = kind < 6 ? reference_uniform(&random) : reference_normal(&random);
            for (int64_t i = 0; i < m; i++) {
                X[j * m + i] = t * (double)(i + 1) + 1e-4 * reference_normal(&random);
                if (kind % 3 == 2)
                    X[j * m + i] = 1000 * (double)reference_below(&random, 2) + reference_normal(&random);
            }
        }
        const bool by_angle = kind % 4 < 2;
        const armilla_structure found = judge_plainly(m, n, by_angle ? "graph" : "euclidean", by_angle);
        assert_verdict(&found, "no structure");
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* On a line the gaps are the steps of the sorted numbers. */
static void test_gaps(void **state)
{
    enum { N = 200, LEAST = 20 };
    double sorted[N], steps[N - 1], gap = 0, widest = 0, at = 0;
    bool sides[N];
    uint64_t random = 4;
    (void)state;
    for (int j = 0; j < N; j++) sorted[j] = X[j] = reference_normal(&random) + (j < 5 ? 100 : 0) + (j % 4 == 3 ? 9 : 0);
    qsort(sorted, N, sizeof *sorted, by_size);
    for (int j = 0; j + 1 < N; j++) {
        steps[j] = sorted[j + 1] - sorted[j];
        if (j + 1 < LEAST || N - j - 1 < LEAST || steps[j] <= widest) continue;
        widest = steps[j];
        at = sorted[j];
    }
    qsort(steps, N - 1, sizeof *steps, by_size);
    support_ok(context, armilla_structure_gap(context, 1, N, X, &gap, sides));
    assert_true(fabs(gap - widest / steps[(N - 1) * 9 / 10]) < 1e-9 * gap && gap > 10);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < j; i++) assert_true((sides[i] == sides[j]) == ((X[i] > at) == (X[j] > at)));
    memset(X, 0, sizeof X);
    support_ok(context, armilla_structure_gap(context, 1, N, X, &gap, NULL));
    assert_true(gap == 0);
}

/* Features of two values each, independent: every one has two groups, and together they have none. */
static void test_independent_features_have_none(void **state)
{
    const int64_t m = 4, n = 200;
    uint64_t random = 11;
    (void)state;
    for (int64_t i = 0; i < m * n; i++)
        X[i] = 10 * (double)reference_below(&random, 2) + 0.3 * reference_normal(&random);
    const armilla_structure found = judge_plainly(m, n, "euclidean", false);
    assert_verdict(&found, "no structure");
    assert_true(found.dependence < ARMILLA_LEAST_DEPENDENCE);
}

/* The same matrix dense and sparse, in both precisions, on several threads: one verdict, and of one storage the same bits. */
static void test_storages_agree(void **state)
{
    static float narrow[MOST];
    static double values[MOST];
    static int32_t features[MOST];
    static int32_t starts[301];
    const int64_t m = 30, n = 150;
    int32_t count = 0;
    (void)state;
    for (int k = 1; k <= 3; k += 2) {
        armilla_data *data[3] = {NULL, NULL, NULL};
        plant(5, m, n, k, 0);
        for (int64_t i = 0; i < m * n; i++) X[i] = narrow[i] = (float)fmax(X[i] - 1, 0);
        count = 0;
        for (int64_t j = 0; j < n; starts[++j] = count)
            for (int64_t i = 0; i < m; i++)
                if (X[j * m + i] != 0) {
                    features[count] = (int32_t)i;
                    values[count++] = X[j * m + i];
                }
        support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, m, n, m, &data[0]));
        support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F32, narrow, m, n, m, &data[1]));
        support_ok(context, armilla_data_wrap_sparse(context, ARMILLA_F64, ARMILLA_I32, values, features, starts, m, n,
                                                     &data[2]));
        for (int d = 0; d < 3; d++) {
            const armilla_structure one = judge(data[d], "graph", false, 1);
            assert_verdict(&one, k == 1 ? "no structure" : "structure");
            for (int threads = 2; threads <= 4; threads++) {
                const armilla_structure many = judge(data[d], "graph", false, threads);
                assert_same(&one, &many);
            }
            armilla_data_free(data[d]);
        }
    }
}

static void test_scale_changes_nothing(void **state)
{
    const int64_t m = 6, n = 120;
    (void)state;
    for (int power = -900; power <= 900; power += 300) {
        plant(5, m, n, 3, 0);
        for (int64_t i = 0; i < m * n; i++) X[i] = ldexp(X[i], power);
        const armilla_structure found = judge_plainly(m, n, "kmeans", false);
        assert_verdict(&found, "structure");
    }
}

static void test_what_cannot_be_judged(void **state)
{
    (void)state;
    plant(5, 4, 19, 2, 0);
    armilla_structure found = judge_plainly(4, 19, "graph", false);
    assert_verdict(&found, "not judged");
    for (int64_t i = 0; i < 4 * 100; i++) X[i] = 3;
    found = judge_plainly(4, 100, "graph", false);
    assert_verdict(&found, "no structure");
    assert_true(found.distinct == 1 && isnan(found.cut));
    memset(X, 0, sizeof X);
    found = judge_plainly(4, 100, "euclidean", true);
    assert_verdict(&found, "no structure");
    for (int64_t i = 0; i < 4 * 100; i++) X[i] = (double)(i / 4 % 7 + i % 4);
    found = judge_plainly(4, 100, "euclidean", false);
    assert_verdict(&found, "not judged");
    assert_true(found.distinct == 7);
}

static int stop(void *user, const armilla_progress *progress)
{
    (void)user;
    (void)progress;
    return 1;
}

static void test_stopped(void **state)
{
    (void)state;
    plant(5, 5, 200, 2, 0);
    armilla_context_set_watch(context, stop, NULL);
    const armilla_structure found = judge_plainly(5, 200, "graph", false);
    armilla_context_set_watch(context, NULL, NULL);
    assert_verdict(&found, "not judged");
}

/* Shuffled numbers: each feature has its own, or as many; and of sparse ones each sample too. */
static void test_shuffling(void **state)
{
    enum { M = 7, N = 40 };
    static double Y[M * N], weights[M];
    static int64_t entries[M * N];
    uint64_t random = 3;
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        const armilla_structure_shuffling shuffling = {M, N, sparse, 5, 0, weights, entries};
        int64_t moved = 0;
        for (int i = 0; i < M * N; i++)
            Y[i] = X[i] = sparse && reference_below(&random, 3) > 0 ? 0 : 1 + reference_uniform(&random);
        armilla_structure_shuffle(&shuffling, Y);
        for (int i = 0; i < M; i++) {
            double sums[2] = {0, 0};
            int64_t counts[2] = {0, 0};
            for (int j = 0; j < N; j++) {
                sums[0] += X[j * M + i];
                sums[1] += Y[j * M + i];
                counts[0] += X[j * M + i] != 0;
                counts[1] += Y[j * M + i] != 0;
                moved += X[j * M + i] != Y[j * M + i];
            }
            assert_int_equal(counts[0], counts[1]);
            if (!sparse) assert_true(fabs(sums[0] - sums[1]) < 1e-9);
        }
        for (int j = 0; j < N && sparse; j++) {
            int64_t balance = 0;
            for (int i = 0; i < M; i++) balance += (X[j * M + i] != 0) - (Y[j * M + i] != 0);
            assert_int_equal(balance, 0);
        }
        assert_true(moved > M * N / 4);
    }
}

/* Steps fall to the mode and rise behind it; what is of one mode stays; the ends stay. */
static void test_one_mode(void **state)
{
    double q[ARMILLA_QUANTILES], before[ARMILLA_QUANTILES];
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        for (int i = 0; i < ARMILLA_QUANTILES; i++) {
            const double t = (double)i / (ARMILLA_QUANTILES - 1);
            q[i] = kind == 0 ? exp(3 * t) : kind == 1 ? t : (i > 64 ? 10 : 0) + t;
        }
        memcpy(before, q, sizeof q);
        armilla_structure_one_mode(ARMILLA_QUANTILES, q);
        bool rising = false;
        for (int i = 1; i + 1 < ARMILLA_QUANTILES; i++) {
            const double last = q[i] - q[i - 1], next = q[i + 1] - q[i];
            rising |= next > last + 1e-9;
            if (rising) assert_true(next >= last - 1e-9);
        }
        assert_true(fabs(q[ARMILLA_QUANTILES - 1] - before[ARMILLA_QUANTILES - 1]) < 1e-9);
        for (int i = 0; i < ARMILLA_QUANTILES && kind < 2; i++) assert_true(fabs(q[i] - before[i]) < 1e-9);
        for (int i = 1; i < ARMILLA_QUANTILES && kind == 2; i++) assert_true(q[i] - q[i - 1] < 1);
    }
}

/* The codes of a model, and what a model of few atoms a sample says. */
static void test_models(void **state)
{
    static const char *const codes[] = {"sphere", "free", "nonneg-sphere"};
    const int64_t m = 8, n = 150;
    (void)state;
    for (int c = 0; c < 3; c++)
        for (int k = 1; k <= 3; k += 2) {
            armilla_data *data = NULL;
            armilla_model *model = NULL;
            armilla_options options;
            armilla_cluster_options clusters;
            armilla_structure found;
            plant(9, m, n, k, 0);
            armilla_options_default(&options);
            armilla_cluster_options_default(&clusters);
            options.rank = 5;
            options.basis = "orthonormal";
            options.codes = codes[c];
            clusters.method = "graph";
            support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, m, n, m, &data));
            support_ok(context, armilla_fit(context, data, &options, &model));
            support_ok(context, armilla_structure_of_model(context, data, model, &clusters, &found));
            assert_verdict(&found, k == 1 ? "no structure" : "structure");
            support_ok(context, armilla_structure_of_model(context, NULL, model, &clusters, &found));
            assert_verdict(&found, c == 2 ? "not judged" : k == 1 ? "no structure" : "structure");
            armilla_model_free(model);
            armilla_data_free(data);
        }
}

static void test_failing_allocations(void **state)
{
    const int64_t m = 3, n = 40;
    armilla_data *data = NULL;
    armilla_options options;
    armilla_cluster_options clusters;
    (void)state;
    plant_far(5, m, n, 2, 1000); /* the gap is looked at too */
    armilla_options_default(&options);
    armilla_cluster_options_default(&clusters);
    options.center = true;
    clusters.threads = 1;
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, m, n, m, &data));
    armilla_status status = ARMILLA_NO_MEMORY;
    int64_t step = 1;
    for (int64_t fails = 0; status != ARMILLA_OK; fails += step) {
        armilla_structure found = {.verdict = "untouched"};
        allocator.countdown = fails;
        status = armilla_structure_of_data(context, data, &options, &clusters, &found);
        allocator.countdown = -1;
        assert_true(status == ARMILLA_OK || status == ARMILLA_NO_MEMORY);
        if (status != ARMILLA_OK) assert_string_equal(found.verdict, "untouched");
        step = fails > 300 ? 37 : 1;
    }
    armilla_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_one_blob_has_none),
        TEST(test_planted_groups_have),
        TEST(test_far_groups_have),
        TEST(test_lines_have_none),
        TEST(test_gaps),
        TEST(test_independent_features_have_none),
        TEST(test_storages_agree),
        TEST(test_scale_changes_nothing),
        TEST(test_what_cannot_be_judged),
        TEST(test_stopped),
        TEST(test_shuffling),
        TEST(test_one_mode),
        TEST(test_models),
        TEST(test_failing_allocations),
    };
    return cmocka_run_group_tests_name("structure", tests, NULL, NULL);
}
