/* Every choice of armilla cluster on both sides of each threshold, without data. */
#include "unit/support.h"

#include "cluster/decision.h"

#include <math.h>
#include <string.h>

/* Thresholds that are not the default, so that a number in the code in place of a name shows. */
static const armilla_thresholds limits = {
    .small_count = 3,
    .small_share = 0.25,
    .absent_share = 0.75,
    .spread_share = 0.25,
    .spread_features = 1.25,
    .median_deviation = 0.125,
    .negative_share = 0.5,
    .empty_share = 0.25,
    .atoms = 3,
    .assumed_clusters = 7,
    .least_samples = 8,
    .least_counted = 30,
    .neighbors = 9,
    .fewest_neighbors = 2,
    .short_codes = 2,
    .exact_samples = 1000,
    .recall = 0.5,
    .table_features = 12,
    .near = 0.5,
    .least_each = 64,
    .least_near = 8,
    .least_modularity = 0.5,
    .coverage_slack = 0.125,
    .least_coverage = 0.75,
    .least_smooth_coverage = 0.625,
};

static const double tiny = 1e-9;

/* --- what was asked for --- */

static void test_method(void **state)
{
    static const struct {
        armilla_cluster_request request;
        const char *method;
    } rows[] = {
        {{.k = 3}, "graph"},
        {{.k = 0}, "graph"},
        {{.k = 3, .rank = 5}, "graph"},
        {{.k = 3, .on_data = true}, "kmeans"},
        {{.k = 3, .named_sets = true}, "kmeans"},
        {{.k = 3, .prepared = true}, "kmeans"},
        {{.method = "argmax", .k = 3}, "argmax"},
        {{.method = "graph", .k = 3, .on_data = true, .prepared = true, .named_sets = true}, "graph"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const armilla_choice choice = armilla_decide_method(&rows[i].request);
        assert_string_equal(choice.word, rows[i].method);
        assert_non_null(choice.reason);
    }
}

static void test_rank(void **state)
{
    static const struct {
        armilla_cluster_request request;
        int64_t m, n, rank;
    } rows[] = {
        {{.k = 4}, 100, 90, 12},                  /* 3 atoms for each */
        {{.k = 4}, 12, 90, 12},                   /* as many features, */
        {{.k = 4}, 11, 90, 11},                   /* fewer, */
        {{.k = 4}, 90, 11, 11},                   /* fewer samples */
        {{.k = 0}, 100, 90, 21},                  /* 7 clusters are assumed; */
        {{.k = 0, .prepared = true}, 100, 90, 0}, /* k-means cannot find them, */
        {{.k = 0, .method = "graph", .prepared = true}, 100, 90, 21},
        {{.k = 4, .rank = 5}, 100, 90, 5}, /* given */
        {{.k = 4, .rank = 5, .named_sets = true}, 100, 90, 5},
        {{.k = 4, .named_sets = true}, 100, 90, 4}, /* an atom for each */
        {{.k = 4, .method = "argmax"}, 100, 90, 4},
        {{.k = 4, .prepared = true}, 100, 90, 12},
        {{.k = 32000}, 100, INT64_MAX / 2, 100},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(armilla_decide_rank(&rows[i].request, rows[i].m, rows[i].n, &limits), rows[i].rank);
    assert_int_equal(armilla_cluster_rank(100, 90, 5), 20);
    assert_int_equal(armilla_cluster_rank(100, 90, 0), 4 * ARMILLA_ASSUMED_CLUSTERS);
}

static void test_kmeans(void **state)
{
    (void)state;
    assert_string_equal(armilla_decide_kmeans(true, false), "euclidean");
    assert_string_equal(armilla_decide_kmeans(true, true), "kmeans");
    assert_string_equal(armilla_decide_kmeans(false, false), "kmeans");
    assert_string_equal(armilla_decide_kmeans(false, true), "kmeans");
}

/* --- the preparation --- */

/* 20 samples of 10 features: exactly counts, exactly with units, with signs, with zeros, and nothing of these. */
static const armilla_data_evidence counts = {.m = 10, .n = 20, .present = 50, .small = 12.5, .rare = true};
static const armilla_data_evidence units = {.m = 10,
                                            .n = 20,
                                            .fractions = 200,
                                            .present = 200,
                                            .varies = true,
                                            .spread_features = 2.5 - tiny,
                                            .median_deviation = 0.125 - tiny,
                                            .largest_deviation = 1};
static const armilla_data_evidence signs = {.m = 10,
                                            .n = 20,
                                            .fractions = 200,
                                            .present = 200,
                                            .negative = 100,
                                            .varies = true,
                                            .spread_features = 9,
                                            .median_deviation = 1,
                                            .largest_deviation = 1};
static const armilla_data_evidence zeros = {.m = 10,
                                            .n = 20,
                                            .fractions = 140,
                                            .present = 140,
                                            .empty = 6,
                                            .varies = true,
                                            .spread_features = 9,
                                            .median_deviation = 1,
                                            .largest_deviation = 1};

static const char *kind_of(armilla_data_evidence evidence)
{
    const armilla_preparation_choice choice =
        armilla_decide_preparation(&(armilla_cluster_request){.k = 2}, &evidence, &limits);
    assert_non_null(choice.kind.reason);
    return choice.kind.word;
}

#define KIND(kind, base, ...)                                                                                          \
    do {                                                                                                               \
        armilla_data_evidence e = base;                                                                                \
        __VA_ARGS__;                                                                                                   \
        assert_string_equal(kind_of(e), kind);                                                                         \
    } while (0)

static void test_counts(void **state)
{
    (void)state;
    KIND("counts", counts, (void)0);
    KIND("other", counts, e.fractions = 1);
    KIND("other", counts, e.small -= tiny);
    KIND("other", counts, e.present += tiny);                               /* a dense table of fewer zeros; */
    KIND("counts", counts, e.sparse = true, e.present = 200, e.small = 50); /* sparse data need none */
    KIND("other", counts, e.present = 0, e.small = 0);
}

static void test_units(void **state)
{
    (void)state;
    KIND("units", units, (void)0);
    KIND("other", units, e.spread_features = 2.5);
    KIND("other", units, e.median_deviation = 0.125);
    KIND("units", units, e.n = 10);
    KIND("other", units, e.n = 9); /* more features than samples */
    KIND("other", units, e.sparse = true);
    KIND("units", units, e.m = 2, e.spread_features = 1.25 - tiny); /* few features */
    KIND("other", units, e.m = 2, e.spread_features = 1.25);
    KIND("other", units, e.m = 1, e.spread_features = 1);
    KIND("other", units, e.spread_features = NAN);
    KIND("units", units, e.negative = 200); /* before signs */
}

static void test_signs_and_zeros(void **state)
{
    (void)state;
    KIND("signs", signs, (void)0);
    KIND("other", signs, e.negative -= 1);
    KIND("other", signs, e.varies = false); /* all samples are the same, or the data are sparse */
    KIND("zeros", zeros, (void)0);
    KIND("other", zeros, e.empty = 5);
    KIND("other", zeros, e.varies = false);
}

static void test_steps(void **state)
{
    static const struct {
        const armilla_data_evidence *evidence;
        bool log1p, tfidf, scale, center;
    } rows[] = {{&counts, true, true, false, false},
                {&units, false, false, true, true},
                {&signs, false, false, false, true},
                {&zeros, false, false, false, true}};
    static const armilla_cluster_request requests[] = {
        {.k = 2}, {.k = 2, .named_sets = true}, {.k = 2, .method = "argmax"}, {.k = 2, .method = "kmeans"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t r = 0; r < sizeof requests / sizeof *requests; r++) {
            const bool atoms = r == 1 || r == 2; /* are not centred */
            const armilla_preparation_choice choice =
                armilla_decide_preparation(&requests[r], rows[i].evidence, &limits);
            assert_int_equal(choice.log1p, rows[i].log1p);
            assert_int_equal(choice.tfidf, rows[i].tfidf);
            assert_int_equal(choice.scale, rows[i].scale);
            assert_int_equal(choice.center, rows[i].center && !atoms);
            assert_int_equal(choice.plain_idf, rows[i].tfidf);
        }
    armilla_data_evidence everywhere = counts;
    everywhere.rare = false;
    assert_false(armilla_decide_preparation(&requests[0], &everywhere, &limits).plain_idf);
}

/* --- labels by a graph --- */

static void test_graph_or_none(void **state)
{
    const armilla_graph_prospect fits = {.n = 8, .k = 2, .most_nodes = 8, .bytes = 5, .memory = 5};
    static const struct {
        int64_t n, k, most_nodes;
        double memory;
        bool graph, memory_alone;
    } rows[] = {{8, 2, 8, 5, true, false},  {7, 2, 8, 5, false, false}, {9, 2, 8, 5, false, false},
                {8, 1, 8, 5, false, false}, {8, 7, 8, 5, true, false},  {8, 8, 8, 5, false, false},
                {8, 2, 8, 4, false, true},  {8, 1, 8, 4, false, false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        armilla_graph_prospect prospect = fits;
        bool memory = !rows[i].memory_alone;
        prospect.n = rows[i].n;
        prospect.k = rows[i].k;
        prospect.most_nodes = rows[i].most_nodes;
        prospect.memory = rows[i].memory;
        assert_int_equal(armilla_decide_no_graph(&prospect, &limits, &memory) == NULL, rows[i].graph);
        assert_int_equal(armilla_decide_no_graph(&prospect, &limits, NULL) == NULL, rows[i].graph);
        assert_int_equal(memory, rows[i].memory_alone);
    }
}

static void test_neighbors(void **state)
{
    (void)state;
    assert_int_equal(armilla_decide_neighbors(1000, 2, &limits), 9);
    assert_int_equal(armilla_decide_neighbors(36, 2, &limits), 9);
    assert_int_equal(armilla_decide_neighbors(35, 2, &limits), 8);
    assert_int_equal(armilla_decide_neighbors(11, 2, &limits), 2);
    assert_int_equal(armilla_decide_neighbors(2, 2, &limits), 1);
    assert_int_equal(armilla_decide_neighbors(70, 0, &limits), 5); /* 7 clusters are assumed */
}

/* Clear communities of near neighbours, and exactly enough of those that are not near. */
static const armilla_graph_evidence near = {
    .n = 128, .k = 2, .features = 20, .codes = 6, .neighbor_distance = 0.5 - tiny, .communities = {2, 0.5, 0.875}};
static const armilla_graph_evidence far = {
    .n = 128, .k = 2, .features = 20, .codes = 6, .neighbor_distance = 0.5, .communities = {2, 0.5, 0.75}};

#define LABELS(from, is_open, base, ...)                                                                               \
    do {                                                                                                               \
        armilla_graph_evidence e = base;                                                                               \
        __VA_ARGS__;                                                                                                   \
        const armilla_labels_choice choice = armilla_decide_labels(&e, &limits);                                       \
        assert_string_equal(armilla_label_sources[choice.by], from);                                                   \
        assert_int_equal(choice.open, is_open);                                                                        \
        assert_non_null(choice.reason);                                                                                \
    } while (0)

/* Communities that hold beside the best that k-means could find need no k-means. */
static void test_communities_alone(void **state)
{
    (void)state;
    LABELS("communities", false, near, (void)0);
    LABELS("communities", false, near, e.communities.modularity = 0.25); /* half of 1 - 1/2 */
    LABELS("smoothing", true, near, e.communities.modularity = 0.25 - tiny);
    LABELS("smoothing", true, near, e.communities.coverage = 0.875 - tiny);
    LABELS("smoothing", true, near, e.communities.modularity = NAN);
    LABELS("smoothing", true, near, e.communities.count = 3);
    LABELS("kmeans", true, near, e.communities.count = 3, e.codes = 0); /* there is nothing to smooth */
    LABELS("smoothing", true, near, e.smooths = true);
    LABELS("smoothing", false, near, e.smooths = true, e.kmeans = (armilla_labels_evidence){2, 0, 0});
}

/* Beside k-means, whose labels are at hand. */
static void test_communities_beside(void **state)
{
    const armilla_labels_evidence other = {2, 1, 0.875};
    (void)state;
    LABELS("communities", false, near, e.kmeans = other, e.communities.coverage = 0.75);
    LABELS("smoothing", false, near, e.kmeans = other, e.communities.coverage = 0.75 - tiny);
    LABELS("communities", false, near, e.kmeans = other, e.communities.modularity = 0.5);
    LABELS("smoothing", false, near, e.kmeans = other, e.communities.modularity = 0.5 - tiny);
    LABELS("communities", false, far, e.kmeans = other);
    LABELS("smoothing", false, far, e.kmeans = other, e.communities.coverage = 0.75 - tiny);
    LABELS("communities", false, near, e.kmeans = other, e.communities.coverage = 0.75, e.n = 16);
    LABELS("smoothing", false, far, e.kmeans = other, e.n = 127); /* few samples each */
}

/* Smoothed codes that cut many edges are left; what is no smoothing is not. */
static void test_smoothing_or_plain(void **state)
{
    const armilla_labels_evidence enough = {2, 0.25, 0.625}, less = {2, 0.25, 0.625 - tiny};
    (void)state;
    LABELS("smoothing", false, far, e.communities.count = 1, e.kmeans = enough);
    LABELS("kmeans", false, far, e.communities.count = 1, e.kmeans = less);
    LABELS("kmeans", false, far, e.communities.count = 1, e.codes = 0, e.kmeans = enough);
    LABELS("kmeans", false, far, e.communities.count = 1, e.codes = 0, e.kmeans = less);
}

/* A table of few samples for each cluster, whose codes have all features, is too small for a graph. */
static void test_small_tables(void **state)
{
    (void)state;
    LABELS("communities", false, near, e.features = 6, e.n = 16);
    LABELS("kmeans", true, near, e.features = 6, e.n = 15);
    LABELS("communities", false, near, e.features = 7, e.n = 15);
    LABELS("communities", false, near, e.features = 0, e.n = 15); /* codes alone */
    LABELS("kmeans", true, far, e.features = 6, e.n = 127);
    LABELS("smoothing", true, far, e.features = 7, e.n = 127);
    LABELS("kmeans", false, near, e.features = 6, e.n = 15, e.kmeans = (armilla_labels_evidence){2, 0.25, 0.25});
}

/* --- the number of clusters --- */

static void test_number(void **state)
{
    (void)state;
    assert_false(armilla_decide_is_number(1, 20));
    assert_true(armilla_decide_is_number(2, 20));
    assert_true(armilla_decide_is_number(10, 20));
    assert_false(armilla_decide_is_number(11, 20));
    assert_true(armilla_decide_number_score(0.5, 0.5) == 0.25);
    assert_true(armilla_decide_number_score(-0.5, -0.5) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_method),
        cmocka_unit_test(test_rank),
        cmocka_unit_test(test_kmeans),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_signs_and_zeros),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_graph_or_none),
        cmocka_unit_test(test_neighbors),
        cmocka_unit_test(test_communities_alone),
        cmocka_unit_test(test_communities_beside),
        cmocka_unit_test(test_smoothing_or_plain),
        cmocka_unit_test(test_small_tables),
        cmocka_unit_test(test_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
