/* Maps of graphs: planted groups and components are apart, in the plane and on the globe; eigenvectors against plain loops;
 * odd graphs; the same bits on any number of threads; and every allocation that fails. */
#include "reference/reference.h"

#include "graph/layout.h"
#include "unit/fixture.h"

#include <armilla/neighbors.h>

#include <math.h>
#include <string.h>

enum { MOST = 240, GROUPS = 4 };

typedef double triple[3];

static double W[MOST][MOST];
static armilla_graph graph;

static void to_graph(int64_t n)
{
    int64_t entries = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) entries += W[i][j] > 0;
    support_ok(context, armilla_graph_take(context, n, n, entries, &graph));
    entries = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            if (W[i][j] > 0) {
                graph.targets[entries] = j;
                graph.weights[entries++] = (float)W[i][j];
            }
        graph.starts[i + 1] = entries;
    }
}

/* n samples, sample i in group i mod GROUPS: edges inside by the first chance, between by the second. */
static void draw(int64_t n, double inside, double between)
{
    uint64_t random = 5;
    memset(W, 0, sizeof W);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            const double chance = i % GROUPS == j % GROUPS ? inside : between;
            const double weight = (double)(float)(0.5 + 0.5 * reference_uniform(&random));
            if (reference_uniform(&random) < chance) W[i][j] = W[j][i] = weight;
        }
    to_graph(n);
}

static armilla_status lay_out(bool globe, int threads, triple *places)
{
    const armilla_layout_plan plan = {.globe = globe, .seed = 3};
    armilla_status status = armilla_call_enter(context, threads);
    if (status != ARMILLA_OK) return status;
    status = armilla_graph_layout(context, &graph, &plan, places);
    armilla_call_leave(context);
    return status;
}

static double distance(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* In the square, or on the sphere. */
static void check_range(int64_t n, bool globe, triple *places)
{
    double most = 0;
    const double zero[3] = {0, 0, 0};
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) assert_true(isfinite(places[i][k]));
        if (globe) assert_true(fabs(distance(places[i], zero) - 1) < 1e-12);
        if (!globe) assert_true(places[i][2] == 0);
        most = fmax(most, fmax(fabs(places[i][0]), fabs(places[i][1])));
    }
    if (!globe) assert_true(n > 1 ? most <= 1 && most > 1 - 1e-9 : most == 0);
}

/* The nearest of every sample is of its group, and groups are farther from each other than they are wide. */
static void check_apart(int64_t n, triple *places)
{
    double within = 0, between = 0;
    int64_t pairs[2] = {0, 0};
    for (int64_t i = 0; i < n; i++) {
        int64_t nearest = i == 0;
        for (int64_t j = 0; j < n; j++) {
            const double apart = distance(places[i], places[j]);
            if (j == i) continue;
            if (apart < distance(places[i], places[nearest])) nearest = j;
            *(i % GROUPS == j % GROUPS ? &within : &between) += apart;
            pairs[i % GROUPS != j % GROUPS]++;
        }
        assert_int_equal(nearest % GROUPS, i % GROUPS);
    }
    assert_true(between / (double)pairs[1] > 2 * within / (double)pairs[0]);
}

static void test_planted(void **state)
{
    static triple places[MOST];
    (void)state;
    draw(MOST, 0.2, 0.002);
    for (int globe = 0; globe < 2; globe++) {
        support_ok(context, lay_out(globe, 1, places));
        check_range(MOST, globe, places);
        check_apart(MOST, places);
    }
    armilla_graph_release(context, &graph);
}

/* Four components. */
static void test_disconnected(void **state)
{
    static triple places[MOST];
    (void)state;
    for (int64_t n = 3 * GROUPS; n <= MOST; n *= 4) {
        draw(n, 1, 0);
        for (int globe = 0; globe < 2; globe++) {
            support_ok(context, lay_out(globe, 1, places));
            check_range(n, globe, places);
            check_apart(n, places);
        }
        armilla_graph_release(context, &graph);
    }
}

/* One to five samples, and many: all equal, or without an edge. But on the globe, where equal ones may be
 * together, all have places of their own. */
static void test_odd(void **state)
{
    static triple places[MOST];
    static const int64_t sizes[] = {1, 2, 3, 5, 49, 50, MOST};
    (void)state;
    for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++)
        for (int trial = 0; trial < 4; trial++) {
            const int64_t n = sizes[size];
            memset(W, 0, sizeof W);
            for (int64_t i = 0; i < n && trial < 2; i++)
                for (int64_t j = 0; j < n; j++) W[i][j] = i != j;
            to_graph(n);
            support_ok(context, lay_out(trial % 2, 1, places));
            check_range(n, trial % 2, places);
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < i && trial != 1; j++) assert_true(distance(places[i], places[j]) > 1e-4);
            armilla_graph_release(context, &graph);
        }
}

static void test_threads(void **state)
{
    static triple places[MOST], others[MOST];
    (void)state;
    draw(MOST, 0.1, 0.01);
    for (int globe = 0; globe < 2; globe++) {
        support_ok(context, lay_out(globe, 1, places));
        for (int threads = 2; threads <= 5; threads++) {
            memset(others, 0, sizeof others);
            support_ok(context, lay_out(globe, threads, others));
            assert_memory_equal(places, others, sizeof places);
        }
    }
    armilla_graph_release(context, &graph);
}

/* sum_i d_i a_i b_i */
static double weighted(const double *degrees, triple *places, int a, int b)
{
    double sum = 0;
    for (int64_t i = 0; i < MOST; i++) sum += degrees[i] * (a < 0 ? 1 : places[i][a]) * places[i][b];
    return sum;
}

/* Four groups have three leading eigenvectors beside the constant one: D^(-1) W y stays in their span, they are at right
 * angles by the degrees, and none has a part of the constant one. */
static void test_spectral(void **state)
{
    static triple places[MOST], images[MOST];
    double degrees[MOST] = {0};
    (void)state;
    draw(MOST, 0.3, 0.003);
    for (int64_t i = 0; i < MOST; i++)
        for (int64_t j = 0; j < MOST; j++) degrees[i] += W[i][j];
    support_ok(context, armilla_graph_spectral(context, &graph, 8, places));
    for (int64_t i = 0; i < MOST; i++)
        for (int k = 0; k < 3; k++) {
            images[i][k] = 0;
            for (int64_t j = 0; j < MOST; j++) images[i][k] += W[i][j] * places[j][k] / degrees[i];
        }
    for (int k = 0; k < 3; k++) {
        double squares = 0, left = 0;
        for (int64_t i = 0; i < MOST; i++) squares += places[i][k] * places[i][k];
        assert_true(fabs(squares - 1) < 1e-12);
        assert_true(fabs(weighted(degrees, places, -1, k)) < 1e-8 * weighted(degrees, places, k, k));
        for (int other = 0; other < 3; other++) {
            double along = 0;
            for (int64_t i = 0; i < MOST; i++) along += degrees[i] * images[i][k] * places[i][other];
            along /= weighted(degrees, places, other, other);
            assert_true(other == k ? along > 0.9 : fabs(weighted(degrees, places, other, k)) < 1e-7);
            for (int64_t i = 0; i < MOST; i++) images[i][k] -= along * places[i][other];
        }
        for (int64_t i = 0; i < MOST; i++) left += images[i][k] * images[i][k];
        assert_true(sqrt(left) < 1e-3);
    }
    armilla_graph_release(context, &graph);
}

static int at_once(void *user, const armilla_progress *progress)
{
    (void)user;
    (void)progress;
    return 1;
}

static void test_failures(void **state)
{
    static triple places[MOST];
    int64_t failures = 0;
    (void)state;
    draw(40, 0.3, 0.01);
    const int64_t live = allocator.live;
    for (armilla_status status = ARMILLA_NO_MEMORY; status != ARMILLA_OK; failures++) {
        allocator.countdown = allocator.taken + failures;
        status = lay_out(false, 1, places);
        allocator.countdown = -1;
        assert_true(status == ARMILLA_OK || status == ARMILLA_NO_MEMORY);
        assert_int_equal(allocator.live, live);
    }
    assert_true(failures > 9);
    armilla_context_set_watch(context, at_once, NULL);
    assert_int_equal(lay_out(false, 1, places), ARMILLA_STOPPED);
    armilla_context_set_watch(context, NULL, NULL);
    assert_int_equal(allocator.live, live);
    armilla_graph_release(context, &graph);
}

/* Neighbours of samples in four directions, by cosines and by distances; those of queries are refused. */
static void test_neighbors(void **state)
{
    enum { FEATURES = 6 };
    static double X[FEATURES * MOST], places[3 * MOST];
    uint64_t random = 2;
    armilla_data *data = NULL;
    armilla_neighbors *found = NULL;
    armilla_neighbors_options options;
    (void)state;
    reference_fill_normal(&random, FEATURES * MOST, X);
    for (int64_t i = 0; i < FEATURES * MOST; i++) X[i] = 0.1 * X[i] + (i % FEATURES == i / FEATURES % GROUPS);
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, FEATURES, MOST, FEATURES, &data));
    armilla_neighbors_options_default(&options);
    for (int trial = 0; trial < 4; trial++) {
        options.weights = armilla_neighbors_weight((size_t)trial / 2);
        support_ok(context, armilla_neighbors_of_data(context, data, NULL, NULL, &options, &found));
        support_ok(context, armilla_neighbors_layout(context, found, trial % 2, 0, 2, places));
        check_range(MOST, trial % 2, (triple *)places);
        check_apart(MOST, (triple *)places);
        assert_int_equal(armilla_neighbors_layout(context, found, false, 0, 1, NULL), ARMILLA_BAD_ARGUMENT);
        armilla_neighbors_free(found);
    }
    support_ok(context, armilla_neighbors_of_data(context, data, data, NULL, &options, &found));
    assert_int_equal(armilla_neighbors_layout(context, found, false, 0, 1, places), ARMILLA_BAD_ARGUMENT);
    assert_non_null(strstr(armilla_context_error(context), "queries"));
    armilla_neighbors_free(found);
    armilla_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_planted),  TEST(test_disconnected), TEST(test_odd),       TEST(test_threads),
        TEST(test_spectral), TEST(test_failures),     TEST(test_neighbors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
