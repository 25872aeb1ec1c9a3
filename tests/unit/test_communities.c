/* Weights, communities and smoothing against plain loops over full matrices: the weights, sums and components of graphs,
 * modularity, the best partition of small graphs by trying all, planted groups, and every allocation that fails. */
#include "reference/reference.h"

#include "graph/communities.h"
#include "graph/smooth.h"
#include "graph/weights.h"
#include "unit/fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 120 };

/* A full matrix and the same as a graph. */
typedef struct pair {
    int64_t n;
    double W[MOST * MOST];
    armilla_graph graph;
} pair;

static pair a, b;

static void to_graph(pair *p)
{
    int64_t entries = 0;
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->n; j++) entries += p->W[i * MOST + j] > 0;
    support_ok(context, armilla_graph_take(context, p->n, p->n, entries, &p->graph));
    entries = 0;
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t j = 0; j < p->n; j++)
            if (p->W[i * MOST + j] > 0) {
                p->graph.targets[entries] = j;
                p->graph.weights[entries++] = (float)p->W[i * MOST + j];
            }
        p->graph.starts[i + 1] = entries;
    }
}

/* n nodes in `groups` groups, edges within them by the first chance and between them by the second; groups 0: one. */
static void draw(pair *p, uint64_t *random, int64_t n, int64_t groups, const double chances[2])
{
    memset(p->W, 0, sizeof p->W);
    p->n = n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            const bool same = groups < 1 || i % groups == j % groups;
            const double weight = (double)(float)(0.25 + 0.75 * reference_uniform(random));
            if (reference_uniform(random) < chances[!same]) p->W[i * MOST + j] = p->W[j * MOST + i] = weight;
        }
    to_graph(p);
}

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
    static bool reach[MOST][MOST];
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->n; j++) reach[i][j] = i == j || (p->W[i * MOST + j] > 0 && labels[i] == labels[j]);
    for (int64_t k = 0; k < p->n; k++)
        for (int64_t i = 0; i < p->n; i++)
            for (int64_t j = 0; j < p->n; j++) reach[i][j] |= reach[i][k] && reach[k][j];
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->n; j++)
            if (labels[i] == labels[j] && !reach[i][j]) return false;
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
        const armilla_communities_options options = {resolution, (uint64_t)trial};
        int64_t labels[MOST], again[MOST], count = 0, counted = 0;
        double sums[MOST];
        draw(&a, &random, 1 + trial * 2 % MOST, trial % 7, chances);
        support_ok(context, armilla_communities(context, &a.graph, &options, labels, &count));
        support_ok(context, armilla_communities(context, &a.graph, &options, again, &counted));
        assert_memory_equal(labels, again, (size_t)a.n * sizeof *labels);
        check_numbers(a.n, labels, count);
        assert_true(are_connected(&a, labels));
        const double q = armilla_modularity(&a.graph, labels, count, resolution, sums);
        assert_true(fabs(q - plain_modularity(&a, labels, resolution)) < 1e-12);
        int64_t alone[MOST];
        for (int64_t i = 0; i < a.n; i++) alone[i] = i;
        assert_true(q >= plain_modularity(&a, alone, resolution) - 1e-12);
        armilla_graph_release(context, &a.graph);
    }
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
            const armilla_communities_options options = {resolution, seed};
            int64_t labels[MOST], count = 0;
            support_ok(context, armilla_communities(context, &a.graph, &options, labels, &count));
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
        support_ok(context, armilla_communities(context, &a.graph, &options, labels, &count));
        assert_int_equal(count, groups);
        assert_true(are_same(MOST, labels, planted));
        support_ok(context, armilla_communities_search(context, &a.graph, groups, &options, labels, &count));
        assert_true(count == groups && are_same(MOST, labels, planted) && options.resolution > 0);
        for (int64_t k = 1; k < 40; k += 3) {
            options.resolution = 1;
            support_ok(context, armilla_communities_search(context, &a.graph, k, &options, labels, &count));
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
    int64_t labels[MOST], waiting[MOST], count = 0;
    (void)state;
    draw(&a, &random, 100, 5, chances);
    assert_int_equal(armilla_graph_components(&a.graph, NULL, labels, waiting), 5);
    for (int64_t i = 0; i < 100; i++) assert_int_equal(labels[i], i % 5);
    armilla_communities_options options = {1, 0};
    support_ok(context, armilla_communities_search(context, &a.graph, 3, &options, labels, &count));
    assert_int_equal(count, 5);
    armilla_graph_release(context, &a.graph);
    const double none[2] = {0, 0};
    draw(&a, &random, 4, 1, none);
    support_ok(context, armilla_communities(context, &a.graph, &options, labels, &count));
    assert_int_equal(count, 4);
    assert_true(armilla_modularity(&a.graph, labels, 4, 1, (double[4]){0}) == 0);
    armilla_graph_release(context, &a.graph);
}

/* Joining, against trying every pair at each step. */
static void test_join(void **state)
{
    uint64_t random = 21;
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        const double chances[2] = {0.4, 0.15}, resolution = 0.3 + reference_uniform(&random);
        const int64_t n = 40, parts = 9, k = 1 + trial % 8;
        int64_t labels[MOST], plain[MOST], count = parts;
        draw(&a, &random, n, 3, chances);
        for (int64_t i = 0; i < n; i++) labels[i] = plain[i] = i % parts;
        support_ok(context, armilla_communities_join(context, &a.graph, resolution, k, labels, &count));
        assert_int_equal(count, k);
        for (int64_t left = parts; left > k; left--) {
            double most = -INFINITY;
            int64_t best[MOST] = {0};
            for (int64_t x = 0; x < parts; x++)
                for (int64_t y = x + 1; y < parts; y++) {
                    int64_t joined[MOST], seen = 0;
                    for (int64_t i = 0; i < n; i++) {
                        joined[i] = plain[i] == y ? x : plain[i];
                        seen += plain[i] == y;
                    }
                    const double q = plain_modularity(&a, joined, resolution);
                    if (seen == 0 || q <= most + 1e-12 || are_same(n, joined, plain)) continue;
                    most = q;
                    memcpy(best, joined, sizeof best);
                }
            memcpy(plain, best, sizeof plain);
        }
        assert_true(fabs(plain_modularity(&a, labels, resolution) - plain_modularity(&a, plain, resolution)) < 1e-9);
        armilla_graph_release(context, &a.graph);
    }
}

static int rising(const void *x, const void *y)
{
    const double p = *(const double *)x, q = *(const double *)y;
    return (p > q) - (p < q);
}

/* Neighbours by cosine of n points in three dimensions, some of them twice, in falling order. */
static void draw_neighbors(pair *p, uint64_t *random, int64_t n, int64_t count)
{
    double points[3 * MOST];
    reference_fill_normal(random, 3 * n, points);
    for (int64_t i = 1; i < n; i += 4) memcpy(points + 3 * i, points + 3 * (i - 1), 3 * sizeof *points);
    p->n = n;
    support_ok(context, armilla_graph_take(context, n, n, n * count, &p->graph));
    for (int64_t i = 0; i < n; i++) {
        double cosines[MOST];
        for (int64_t j = 0; j < n; j++) {
            double dot = 0, left = 0, right = 0;
            for (int d = 0; d < 3; d++) {
                dot += points[3 * i + d] * points[3 * j + d];
                left += points[3 * i + d] * points[3 * i + d];
                right += points[3 * j + d] * points[3 * j + d];
            }
            cosines[j] = i == j ? -2 : dot / sqrt(left * right);
        }
        p->graph.starts[i + 1] = (i + 1) * count;
        for (int64_t e = i * count; e < (i + 1) * count; e++) {
            int64_t best = 0;
            for (int64_t j = 1; j < n; j++)
                if (cosines[j] > cosines[best]) best = j;
            p->graph.targets[e] = best;
            p->graph.weights[e] = (float)cosines[best];
            cosines[best] = -2;
        }
    }
}

/* The weights by their definition, in a full matrix. */
static void plain_weights(const armilla_graph *neighbors, double *W)
{
    double scales[MOST], least = INFINITY;
    const int64_t n = neighbors->rows;
    memset(W, 0, MOST * MOST * sizeof *W);
    for (int64_t i = 0; i < n; i++) {
        double distances[MOST];
        const int64_t first = neighbors->starts[i], count = neighbors->starts[i + 1] - first;
        int64_t near = 0;
        for (int64_t e = 0; e < count; e++) {
            const double cosine = (double)neighbors->weights[first + e];
            if (cosine > 0) distances[near++] = sqrt(fmax(2 - 2 * cosine, 0));
        }
        qsort(distances, (size_t)near, sizeof *distances, rising);
        scales[i] = near == 0 ? 0 : distances[near < 7 ? near - 1 : 6];
        if (scales[i] > 1e-3) least = fmin(least, scales[i]);
    }
    for (int64_t i = 0; i < n; i++)
        if (scales[i] <= 1e-3) scales[i] = isinf(least) ? 1 : least;
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = neighbors->starts[i]; e < neighbors->starts[i + 1]; e++) {
            const int64_t j = neighbors->targets[e];
            const double square = fmax(2 - 2 * (double)neighbors->weights[e], 0);
            if (!(neighbors->weights[e] > 0)) continue;
            const double weight = fmax(exp(-square / (scales[i] * scales[j])), 1e-12);
            W[i * MOST + j] = fmax(W[i * MOST + j], weight);
            W[j * MOST + i] = fmax(W[j * MOST + i], weight);
        }
}

/* The entries of the graph are those of the matrix that are not 0, in order. */
static void check_equal(const armilla_graph *graph, const double *W)
{
    for (int64_t i = 0; i < graph->rows; i++) {
        int64_t e = graph->starts[i];
        for (int64_t j = 0; j < graph->rows; j++) {
            if (W[i * MOST + j] == 0) continue;
            assert_true(e < graph->starts[i + 1] && graph->targets[e] == j);
            assert_true(fabs((double)graph->weights[e] - W[i * MOST + j]) <= 1e-6 * W[i * MOST + j] + 1e-14);
            e++;
        }
        assert_int_equal(e, graph->starts[i + 1]);
    }
}

static void test_weights(void **state)
{
    uint64_t random = 9;
    (void)state;
    for (int64_t count = 1; count < 29; count += 3) {
        armilla_graph first, second, sum;
        draw_neighbors(&a, &random, 30 + count, count);
        draw_neighbors(&b, &random, 30 + count, count + 1);
        plain_weights(&a.graph, a.W);
        plain_weights(&b.graph, b.W);
        support_ok(context, armilla_graph_weigh(context, &a.graph, &first));
        support_ok(context, armilla_graph_weigh(context, &b.graph, &second));
        check_equal(&first, a.W);
        check_equal(&second, b.W);
        support_ok(context, armilla_graph_add(context, &first, &second, &sum));
        armilla_graph_scale(&sum, 0.5f);
        for (int64_t e = 0; e < MOST * MOST; e++) a.W[e] = (a.W[e] + b.W[e]) / 2;
        check_equal(&sum, a.W);
        armilla_graph_release(context, &first);
        armilla_graph_release(context, &second);
        armilla_graph_release(context, &sum);
        armilla_graph_release(context, &a.graph);
        armilla_graph_release(context, &b.graph);
    }
}

/* Where all samples are the same, every edge weighs 1. */
static void test_weights_of_one_place(void **state)
{
    armilla_graph made;
    (void)state;
    support_ok(context, armilla_graph_take(context, 3, 3, 6, &a.graph));
    for (int64_t e = 0; e < 6; e++) {
        a.graph.targets[e] = (e / 2 + 1 + e % 2) % 3;
        a.graph.weights[e] = 1 - (float)(e % 2) * 6e-8f;
        a.graph.starts[e / 2 + 1] = e + 1;
    }
    support_ok(context, armilla_graph_weigh(context, &a.graph, &made));
    assert_int_equal(armilla_graph_entries(&made), 6);
    for (int64_t e = 0; e < 6; e++) assert_true(made.weights[e] > 0.999f);
    armilla_graph_release(context, &made);
    armilla_graph_release(context, &a.graph);
}

static void test_smooth(void **state)
{
    uint64_t random = 13;
    enum { R = 5, STEPS = 10 };
    const double chances[2] = {0.3, 0.1};
    double Z[MOST * R], next[MOST * R], degrees[MOST] = {0};
    float smooth[MOST * R], again[MOST * R];
    (void)state;
    draw(&a, &random, MOST, 3, chances);
    for (int64_t j = 0; j < MOST; j++) a.W[j] = a.W[j * MOST] = 0; /* the first has no edge */
    armilla_graph_release(context, &a.graph);
    to_graph(&a);
    reference_fill_normal(&random, MOST * R, Z);
    for (int64_t e = 0; e < MOST * R; e++) again[e] = smooth[e] = (float)(Z[e] = (double)(float)Z[e]);
    for (int64_t i = 0; i < MOST; i++)
        for (int64_t j = 0; j < MOST; j++) degrees[i] += a.W[i * MOST + j];
    for (int step = 0; step < STEPS; step++) {
        for (int64_t i = 0; i < MOST; i++)
            for (int64_t k = 0; k < R; k++) {
                double sum = Z[i * R + k];
                for (int64_t j = 0; j < MOST; j++)
                    if (a.W[i * MOST + j] > 0) sum += a.W[i * MOST + j] / sqrt(degrees[i] * degrees[j]) * Z[j * R + k];
                next[i * R + k] = sum / 2;
            }
        memcpy(Z, next, sizeof Z);
    }
    for (int64_t threads = 1; threads <= 4; threads++) {
        memcpy(smooth, again, sizeof smooth);
        support_ok(context, armilla_call_enter(context, threads));
        support_ok(context, armilla_graph_smooth(context, &a.graph, R, STEPS, smooth));
        armilla_call_leave(context);
        static float first[MOST * R];
        if (threads == 1) memcpy(first, smooth, sizeof first);
        assert_memory_equal(first, smooth, sizeof first);
    }
    for (int64_t e = 0; e < MOST * R; e++) assert_true(fabs((double)smooth[e] - Z[e]) < 1e-5);
    armilla_graph_release(context, &a.graph);
}

/* Everything from neighbours to labels. */
static armilla_status run_all(int64_t *labels)
{
    armilla_graph weighted = {.rows = 0}, sum = {.rows = 0};
    armilla_communities_options options = {1, 2};
    int64_t count = 0;
    static float Z[MOST];
    armilla_status status = armilla_graph_weigh(context, &a.graph, &weighted);
    if (status == ARMILLA_OK) status = armilla_graph_add(context, &weighted, &weighted, &sum);
    if (status == ARMILLA_OK) status = armilla_communities_search(context, &sum, 4, &options, labels, &count);
    if (status == ARMILLA_OK) status = armilla_graph_smooth(context, &sum, 1, 2, Z);
    armilla_graph_release(context, &sum);
    armilla_graph_release(context, &weighted);
    return status;
}

static void test_every_allocation_fails(void **state)
{
    uint64_t random = 17;
    int64_t labels[MOST], failures = 0;
    (void)state;
    draw_neighbors(&a, &random, 60, 5);
    const int64_t live = allocator.live;
    for (armilla_status status = ARMILLA_NO_MEMORY; status != ARMILLA_OK; failures++) {
        allocator.countdown = allocator.taken + failures;
        status = run_all(labels);
        allocator.countdown = -1;
        assert_true(status == ARMILLA_OK || status == ARMILLA_NO_MEMORY);
        assert_int_equal(allocator.live, live);
    }
    assert_true(failures > 30);
    armilla_graph_release(context, &a.graph);
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
            armilla_clustering_free(found);
            assert_int_equal(allocator.live, live);
        }
        assert_true(failures > 50);
    }
    armilla_model_free(model);
    armilla_data_free(data);
}

static int at_once(void *user, const armilla_progress *progress)
{
    (void)user;
    (void)progress;
    return 1;
}

/* A call that is to end ends with ARMILLA_STOPPED, and nothing is left. */
static void test_stops(void **state)
{
    uint64_t random = 19;
    int64_t labels[MOST];
    (void)state;
    draw_neighbors(&a, &random, 60, 5);
    armilla_context_set_watch(context, at_once, NULL);
    support_ok(context, armilla_call_enter(context, 1));
    armilla_call_stage(context, ARMILLA_STAGE_CLUSTERS);
    assert_int_equal(run_all(labels), ARMILLA_STOPPED);
    armilla_call_leave(context);
    armilla_context_set_watch(context, NULL, NULL);
    armilla_graph_release(context, &a.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_modularity_and_connected),
        TEST(test_best_of_all_partitions),
        TEST(test_planted),
        TEST(test_components),
        TEST(test_join),
        TEST(test_weights),
        TEST(test_weights_of_one_place),
        TEST(test_smooth),
        TEST(test_every_allocation_fails),
        TEST(test_clusters_without_memory),
        TEST(test_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
