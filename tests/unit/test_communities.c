/* Communities against plain loops over full matrices: modularity, the best partition of small graphs by trying all,
 * planted groups, components, joining; how near neighbours are; and clusters of samples when allocations fail. */
#include "unit/graph_pairs.h"

#include "cluster/knn_graph.h"
#include "graph/neighbors.h"

static pair a;

/* Q by the definition, a double sum. */
static double plain_modularity(const pair *p, const int64_t *labels, double resolution)
{
    double degrees[MOST] = {0}, total = 0, sum = 0;
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->n; j++) degrees[i] += p->W[i * MOST + j];
    for (int64_t i = 0; i < p->n; i++) total += degrees[i];
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->n; j++)
            if (labels[i] == labels[j]) sum += p->W[i * MOST + j] - resolution * degrees[i] * degrees[j] / total;
    return total > 0 ? sum / total : 0;
}

/* Whether all of a class can be reached from its first without leaving it: the matrix of reaching, by Warshall. */
static bool are_connected(const pair *p, const int64_t *labels)
{
    static bool connected[MOST][MOST];
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->n; j++)
            connected[i][j] = i == j || (p->W[i * MOST + j] > 0 && labels[i] == labels[j]);
    for (int64_t k = 0; k < p->n; k++)
        for (int64_t i = 0; i < p->n; i++)
            for (int64_t j = 0; j < p->n; j++) connected[i][j] |= connected[i][k] && connected[k][j];
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->n; j++)
            if (labels[i] == labels[j] && !connected[i][j]) return false;
    return true;
}

/* Numbers 0 ... count-1 in the order in which they first occur. */
static void check_numbers(int64_t n, const int64_t *labels, int64_t count)
{
    int64_t next = 0;
    for (int64_t i = 0; i < n; i++) {
        assert_true(labels[i] <= next);
        if (labels[i] == next) next++;
    }
    assert_int_equal(next, count);
}

static void test_modularity_and_connected(void **state)
{
    uint64_t random = 11;
    (void)state;
    for (int trial = 0; trial < 60; trial++) {
        const double chances[2] = {0.05 + 0.5 * reference_uniform(&random), 0.1 * reference_uniform(&random)};
        const double resolution = exp(4 * reference_uniform(&random) - 2);
        armilla_communities_options options = {resolution, (uint64_t)trial};
        int64_t labels[MOST], again[MOST], count = 0, counted = 0;
        double sums[MOST], coverage = -1;
        draw(&a, &random, 1 + trial * 2 % MOST, trial % 7, chances);
        support_ok(context, find_communities(&a.graph, 0, &options, labels, &count));
        support_ok(context, find_communities(&a.graph, 0, &options, again, &counted));
        assert_memory_equal(labels, again, (size_t)a.n * sizeof *labels);
        check_numbers(a.n, labels, count);
        assert_true(are_connected(&a, labels));
        const double q = armilla_modularity(&a.graph, labels, count, resolution, sums, &coverage);
        assert_true(coverage >= q && coverage <= 1 + 1e-12);
        assert_true(fabs(q - plain_modularity(&a, labels, resolution)) < 1e-12);
        int64_t alone[MOST];
        for (int64_t i = 0; i < a.n; i++) alone[i] = i;
        assert_true(q >= plain_modularity(&a, alone, resolution) - 1e-12);
        armilla_graph_release(context, &a.graph);
    }
}

/* A run that begins from communities ends with connected ones, numbered in order, of no less modularity; and the
 * modularity of a level is that of its graph. */
static void test_from_communities(void **state)
{
    uint64_t random = 17;
    (void)state;
    for (int trial = 0; trial < 60; trial++) {
        const double chances[2] = {0.05 + 0.5 * reference_uniform(&random), 0.1 * reference_uniform(&random)};
        const double resolution = exp(4 * reference_uniform(&random) - 2);
        armilla_communities_options high = {4 * resolution, (uint64_t)trial};
        int64_t from[MOST], labels[MOST], count = 0;
        double sums[MOST], coverage = -1;
        armilla_level fine = {.nodes = 0};
        int done = 0;
        draw(&a, &random, 1 + trial * 2 % MOST, trial % 7, chances);
        support_ok(context, find_communities(&a.graph, 0, &high, from, &count));
        support_ok(context, armilla_level_of_graph(context, &a.graph, &fine));
        armilla_communities_task task = {
            .fine = &fine, .from = from, .options = {resolution, (uint64_t)trial}, .labels = labels};
        support_ok(context, armilla_communities_share(context, &task, 1, false, &done));
        check_numbers(a.n, labels, task.count);
        assert_true(are_connected(&a, labels));
        const double q = armilla_level_modularity(&fine, labels, task.count, resolution, sums, &coverage);
        assert_true(coverage >= q && coverage <= 1 + 1e-12);
        assert_true(fabs(q - plain_modularity(&a, labels, resolution)) < 1e-12);
        assert_true(q >= plain_modularity(&a, from, resolution) - 1e-9);
        armilla_level_release(context, &fine);
        armilla_graph_release(context, &a.graph);
    }
}

/* Some of a level's nodes have the edges between them, and no others. */
static void test_part_of_level(void **state)
{
    uint64_t random = 19;
    const double chances[2] = {0.3, 0.1};
    int32_t row[MOST];
    int64_t kept[MOST], count = 0;
    armilla_level fine = {.nodes = 0}, part = {.nodes = 0};
    double total = 0;
    (void)state;
    draw(&a, &random, MOST, 3, chances);
    for (int32_t i = 0; i < MOST; i++) {
        row[i] = reference_uniform(&random) < 0.8 ? (int32_t)count : -1;
        if (row[i] >= 0) kept[count++] = i;
    }
    support_ok(context, armilla_level_of_graph(context, &a.graph, &fine));
    support_ok(context, armilla_level_of_part(context, &fine, row, count, &part));
    assert_int_equal(part.nodes, count);
    for (int64_t i = 0; i < count; i++) {
        double degree = 0, found = 0;
        for (int64_t j = 0; j < count; j++) degree += a.W[kept[i] * MOST + kept[j]];
        for (int64_t e = part.starts[i]; e < part.starts[i + 1]; e++) {
            assert_true(part.weights[e] == a.W[kept[i] * MOST + kept[part.targets[e]]]);
            found += part.weights[e];
        }
        assert_true(fabs(degree - part.degrees[i]) < 1e-12 && fabs(found - degree) < 1e-12);
        total += degree;
    }
    assert_true(fabs(total - part.total) < 1e-9);
    armilla_level_release(context, &part);
    armilla_level_release(context, &fine);
    armilla_graph_release(context, &a.graph);
}

/* The largest Q of all partitions, by counting through restricted growth strings. */
static double best_of_all(const pair *p, double resolution)
{
    int64_t labels[MOST] = {0};
    double best = -INFINITY;
    for (int64_t at = p->n - 1; at >= 0;) {
        best = fmax(best, plain_modularity(p, labels, resolution));
        for (at = p->n - 1; at > 0; at--) {
            int64_t most = 0;
            for (int64_t i = 0; i < at; i++) most = labels[i] > most ? labels[i] : most;
            if (labels[at] <= most) break;
        }
        if (at == 0) break;
        labels[at]++;
        for (int64_t i = at + 1; i < p->n; i++) labels[i] = 0;
    }
    return best;
}

/* Ten orders of visiting find the optimum of nearly every small graph, and never come far from it. */
static void test_best_of_all_partitions(void **state)
{
    uint64_t random = 5;
    int found = 0;
    enum { TRIALS = 60 };
    (void)state;
    for (int trial = 0; trial < TRIALS; trial++) {
        const double chances[2] = {0.3 + 0.5 * reference_uniform(&random), 0.3 * reference_uniform(&random)};
        const double resolution = 0.5 + reference_uniform(&random);
        double most = -INFINITY;
        draw(&a, &random, 4 + trial % 5, 2, chances);
        for (uint64_t seed = 0; seed < 10; seed++) {
            armilla_communities_options options = {resolution, seed};
            int64_t labels[MOST], count = 0;
            support_ok(context, find_communities(&a.graph, 0, &options, labels, &count));
            most = fmax(most, plain_modularity(&a, labels, resolution));
        }
        const double best = best_of_all(&a, resolution);
        assert_true(most <= best + 1e-12 && most >= best - 0.05);
        found += most >= best - 1e-12;
        armilla_graph_release(context, &a.graph);
    }
    assert_true(found >= TRIALS * 95 / 100);
}

static bool are_same(int64_t n, const int64_t *x, const int64_t *y)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            if ((x[i] == x[j]) != (y[i] == y[j])) return false;
    return true;
}

/* Groups that are planted are found, without their number and with it; another number is had exactly. */
static void test_planted(void **state)
{
    uint64_t random = 3;
    const double chances[2] = {0.6, 0.02};
    (void)state;
    for (int64_t groups = 2; groups <= 6; groups++) {
        int64_t planted[MOST], labels[MOST], count = 0;
        armilla_communities_options options = {1, 0};
        draw(&a, &random, MOST, groups, chances);
        for (int64_t i = 0; i < MOST; i++) planted[i] = i % groups;
        support_ok(context, find_communities(&a.graph, 0, &options, labels, &count));
        assert_int_equal(count, groups);
        assert_true(are_same(MOST, labels, planted));
        support_ok(context, find_communities(&a.graph, groups, &options, labels, &count));
        assert_true(count == groups && are_same(MOST, labels, planted) && options.resolution > 0);
        for (int64_t k = 1; k < 40; k += 3) {
            options.resolution = 1;
            support_ok(context, find_communities(&a.graph, k, &options, labels, &count));
            assert_int_equal(count, k);
            for (int64_t i = 0; i < MOST; i++) assert_true(labels[i] >= 0 && labels[i] < k);
        }
        armilla_graph_release(context, &a.graph);
    }
}

/* More components than were asked for are not joined: the caller is told how many there are. */
static void test_components(void **state)
{
    uint64_t random = 8;
    const double chances[2] = {0.5, 0};
    int64_t labels[MOST], count = 0;
    (void)state;
    draw(&a, &random, 100, 5, chances);
    for (int64_t i = 0; i < 100; i++) labels[i] = i % 5;
    assert_true(are_connected(&a, labels));
    armilla_communities_options options = {1, 0};
    support_ok(context, find_communities(&a.graph, 3, &options, labels, &count));
    assert_int_equal(count, 5);
    armilla_graph_release(context, &a.graph);
    const double none[2] = {0, 0};
    draw(&a, &random, 4, 1, none);
    support_ok(context, find_communities(&a.graph, 0, &options, labels, &count));
    assert_int_equal(count, 4);
    double coverage = -1;
    assert_true(armilla_modularity(&a.graph, labels, 4, 1, (double[4]){0}, &coverage) == 0 && coverage == 0);
    armilla_graph_release(context, &a.graph);
}

static bool have_edge(const pair *p, const int64_t *labels, int64_t x, int64_t y)
{
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->n; j++)
            if (labels[i] == x && labels[j] == y && p->W[i * MOST + j] > 0) return true;
    return false;
}

/* The two of `count` communities with an edge between them whose union has the largest modularity become one. */
static void plain_join(const pair *p, double resolution, int64_t count, int64_t *labels)
{
    double most = -INFINITY;
    int64_t best[MOST];
    for (int64_t x = 0; x < count; x++)
        for (int64_t y = x + 1; y < count; y++) {
            int64_t joined[MOST];
            for (int64_t i = 0; i < p->n; i++) joined[i] = labels[i] == y ? x : labels[i];
            const double q = plain_modularity(p, joined, resolution);
            if (q <= most + 1e-12 || !have_edge(p, labels, x, y)) continue;
            most = q;
            memcpy(best, joined, sizeof best);
        }
    if (isfinite(most)) memcpy(labels, best, sizeof best);
}

/* A number that is a little below that of resolution 1 is reached by joining, which here tries every pair at each step. */
static void test_join(void **state)
{
    uint64_t random = 21;
    int64_t joined = 0;
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        const double chances[2] = {0.5, 0.1};
        armilla_communities_options options = {1, (uint64_t)trial};
        int64_t labels[MOST], plain[MOST], count = 0, parts = 0;
        draw(&a, &random, 60, 4 + trial % 5, chances);
        support_ok(context, find_communities(&a.graph, 0, &options, plain, &parts));
        const int64_t k = parts - 1 - trial % 2;
        support_ok(context, find_communities(&a.graph, k, &options, labels, &count));
        assert_int_equal(count, k);
        support_ok(context, find_communities(&a.graph, 0, &options, plain, &parts));
        joined += parts > k;
        for (int64_t left = parts; left > k; left--) plain_join(&a, options.resolution, parts, plain);
        assert_true(fabs(plain_modularity(&a, labels, options.resolution) -
                         plain_modularity(&a, plain, options.resolution)) < 1e-9);
        armilla_graph_release(context, &a.graph);
    }
    assert_true(joined >= 15);
}

/* Three groups of samples in the plane, apart enough for anything to find them. */
enum { SAMPLES = 150, FEATURES = 6, GROUPS = 3 };

static void draw_samples(double *X)
{
    uint64_t random = 23;
    double centers[FEATURES * GROUPS];
    reference_fill_normal(&random, FEATURES * GROUPS, centers);
    reference_fill_normal(&random, FEATURES * SAMPLES, X);
    for (int64_t j = 0; j < SAMPLES; j++)
        for (int64_t i = 0; i < FEATURES; i++)
            X[j * FEATURES + i] = 0.2 * X[j * FEATURES + i] + centers[j % GROUPS * FEATURES + i];
}

/* Communities to which nothing could be preferred, as K clusters have a modularity of at most 1 - 1/K, are taken without
 * k-means. */
static void check_summary(const armilla_clustering *found, bool communities)
{
    armilla_cluster_summary summary;
    armilla_clustering_summarize(found, &summary);
    assert_string_equal(summary.by, communities ? "communities" : "smoothing");
    assert_true(summary.modularity > 0.95 * (1 - 1.0 / GROUPS) && summary.coverage > 0.98);
    assert_true(summary.stop == ARMILLA_STOP_CONVERGED);
    assert_int_equal(summary.tries, communities ? 0 : 2);
    assert_true(communities == isnan(summary.inertia));
}

/* Clusters of a model and its data, with the number and without it: one allocation after the other fails, the early ones
 * all and of the later ones some, and the outcome is the groups or ARMILLA_NO_MEMORY, with nothing left behind. */
static void test_clusters_without_memory(void **state)
{
    static double X[FEATURES * SAMPLES];
    int64_t planted[SAMPLES];
    armilla_data *data = NULL;
    armilla_model *model = NULL;
    armilla_options fit;
    (void)state;
    draw_samples(X);
    for (int64_t j = 0; j < SAMPLES; j++) planted[j] = j % GROUPS;
    armilla_options_default(&fit);
    fit.rank = 4;
    fit.normalize = "l2";
    fit.threads = 1;
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, FEATURES, SAMPLES, FEATURES, &data));
    support_ok(context, armilla_fit(context, data, &fit, &model));
    const int64_t live = allocator.live;
    for (int trial = 0; trial < 3; trial++) {
        int64_t failures = 0;
        for (armilla_status status = ARMILLA_NO_MEMORY; status != ARMILLA_OK; failures += 1 + failures / 8) {
            armilla_cluster_options options;
            armilla_clustering *found = NULL;
            armilla_cluster_options_default(&options);
            options.k = trial == 0 ? 0 : GROUPS;
            options.method = trial == 2 ? "smooth" : "graph";
            options.tries = 2;
            options.threads = 1;
            allocator.countdown = allocator.taken + failures;
            status = armilla_cluster_fitted(context, data, model, &options, &found);
            allocator.countdown = -1;
            assert_true(status == ARMILLA_NO_MEMORY ? found == NULL : status == ARMILLA_OK);
            if (found) assert_true(are_same(SAMPLES, armilla_clustering_labels(found), planted));
            if (found) assert_true((armilla_clustering_numbers(found) > 0) == (trial == 0));
            if (found) check_summary(found, trial != 2);
            armilla_clustering_free(found);
            assert_int_equal(allocator.live, live);
        }
        assert_true(failures > 50);
    }
    armilla_model_free(model);
    armilla_data_free(data);
}
/* The mean of 1 - cos over neighbours, over that of all pairs. */
static double plain_distance(const armilla_graph *neighbors, const double *X)
{
    double near = 0, all = 0;
    for (int64_t i = 0; i < SAMPLES; i++)
        for (int64_t j = 0; j < SAMPLES; j++) {
            double cosine = 0;
            for (int64_t k = 0; k < FEATURES; k++) cosine += X[i * FEATURES + k] * X[j * FEATURES + k];
            all += 1 - cosine;
            for (int64_t e = neighbors->starts[i]; e < neighbors->starts[i + 1]; e++)
                if (neighbors->targets[e] == j) near += 1 - cosine;
        }
    return near / (double)armilla_graph_entries(neighbors) * SAMPLES * SAMPLES / all;
}

/* Groups, noise, and samples that are all the same; every length of the samples together, every number of threads. */
static void test_neighbor_distance(void **state)
{
    static double X[FEATURES * SAMPLES], scaled[FEATURES * SAMPLES];
    static const double lengths[] = {1, 1e-140, 1e140};
    uint64_t random = 29;
    (void)state;
    for (int trial = 0; trial < 9; trial++) {
        double first = 0;
        if (trial < 3) draw_samples(X);
        if (trial >= 3) reference_fill_normal(&random, FEATURES * SAMPLES, X);
        for (int64_t j = 0; j < SAMPLES; j++) {
            double *x = X + j * FEATURES, square = 0;
            if (trial >= 6) memcpy(x, X, FEATURES * sizeof *x);
            for (int64_t i = 0; i < FEATURES; i++) square += x[i] * x[i];
            for (int64_t i = 0; i < FEATURES; i++)
                scaled[j * FEATURES + i] = (x[i] /= sqrt(square)) * lengths[trial % 3];
        }
        for (int64_t threads = 1; threads <= 3; threads++) {
            armilla_data *data = NULL;
            armilla_graph neighbors = {.rows = 0};
            const armilla_neighbors_plan plan = {.count = 7};
            armilla_feature_statistics features = {0};
            support_ok(context,
                       armilla_data_wrap_dense(context, ARMILLA_F64, scaled, FEATURES, SAMPLES, FEATURES, &data));
            support_ok(context, armilla_call_enter(context, threads));
            support_ok(context, armilla_neighbors_find(context, NULL, data, &plan, &neighbors, NULL));
            support_ok(context, armilla_feature_statistics_find(context, data, ARMILLA_FEATURE_DEVIATIONS, &features));
            const double distance = armilla_neighbor_distance(FEATURES, &features, &neighbors);
            armilla_call_leave(context);
            armilla_feature_statistics_release(context, &features);
            const double expected = trial < 6 ? plain_distance(&neighbors, X) : 1;
            assert_true(fabs(distance - expected) < 1e-6);
            assert_true(trial < 3 ? distance < 0.2 : distance > 0.2);
            if (threads == 1) first = distance;
            assert_memory_equal(&first, &distance, sizeof distance);
            armilla_graph_release(context, &neighbors);
            armilla_data_free(data);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_modularity_and_connected),
        TEST(test_from_communities),
        TEST(test_part_of_level),
        TEST(test_best_of_all_partitions),
        TEST(test_planted),
        TEST(test_components),
        TEST(test_join),
        TEST(test_clusters_without_memory),
        TEST(test_neighbor_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
