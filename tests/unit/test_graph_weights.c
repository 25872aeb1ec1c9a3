/* Weights of edges, sums of graphs and smoothing against plain loops over full matrices, and every allocation that
 * fails on the way from neighbours to labels. */
#include "unit/graph_pairs.h"

#include "base/context.h"
#include "graph/smooth.h"
#include "graph/weights.h"

static pair a, b;

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
    if (status == ARMILLA_OK) status = find_communities(&sum, 4, &options, labels, &count);
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
        TEST(test_weights), TEST(test_weights_of_one_place), TEST(test_smooth), TEST(test_every_allocation_fails),
        TEST(test_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
