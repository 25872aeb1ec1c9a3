/* Whole calls for nearest samples: a recall that is asked for, ends that are asked for, memory that is refused, bad
 * arguments, and the public functions. */
#include "unit/neighbor_trials.h"

/* What these tests need of a plan. */
static armilla_status find_some(const trial *t, const trial *queries, double recall, int threads, armilla_graph *graph,
                                armilla_neighbors_found *found)
{
    const armilla_neighbors_plan plan = {.count = t->of->count, .recall = recall, .seed = 5};
    armilla_status status = armilla_call_enter(context, threads);
    if (status != ARMILLA_OK) return status;
    status = armilla_neighbors_find(context, queries ? queries->raw : NULL, t->raw, &plan, graph, found);
    armilla_call_leave(context);
    return status;
}

/* The part of row i that an exact search finds too, by value: of equally near ones any will do. */
static int64_t shared(const armilla_graph *exact, const armilla_graph *found, int64_t i)
{
    const int64_t last = exact->starts[i + 1] - 1;
    int64_t count = 0;
    for (int64_t k = found->starts[i]; k <= last; k++) count += found->weights[k] >= exact->weights[last];
    return count;
}

static void check_recall(const scenario *s, const scenario *asked, double recall)
{
    trial t, queries;
    armilla_graph exact, graph, again;
    armilla_neighbors_found found = {.recall = 0}, same = {.recall = 0}, all = {.recall = 0};
    int64_t hits = 0;
    begin_trial(&t, s, 31);
    if (asked) begin_trial(&queries, asked, 31);
    const trial *others = asked ? &queries : NULL;
    support_ok(context, find_some(&t, others, 1, 2, &exact, &all));
    support_ok(context, find_some(&t, others, recall, 1, &graph, &found));
    support_ok(context, find_some(&t, others, recall, 3, &again, &same));
    same_graphs(&graph, &again);
    assert_memory_equal(&found, &same, sizeof found);
    assert_true(all.recall == 1 && all.checked == 0 && all.probed == 0);
    assert_true(found.recall >= recall && found.checked > 0 && found.probed >= 1 && found.probed <= found.cells);
    for (int64_t i = 0; i < graph.rows; i++) {
        hits += shared(&exact, &graph, i);
        for (int64_t k = graph.starts[i]; k < graph.starts[i + 1]; k++) {
            assert_true(graph.targets[k] >= 0 && graph.targets[k] < s->n && (asked || graph.targets[k] != i));
            if (k > graph.starts[i]) assert_true(graph.weights[k] <= graph.weights[k - 1]);
        }
    }
    /* What was measured on a few hundred is true of all, within four deviations of such a sample. */
    const double part = (double)hits / (double)(graph.rows * s->count);
    REFERENCE_NEAR(part, found.recall, 4 * sqrt(0.25 / (double)found.checked));
    armilla_graph_release(context, &exact);
    armilla_graph_release(context, &graph);
    armilla_graph_release(context, &again);
    if (asked) end_trial(&queries);
    end_trial(&t);
}

static void test_recall(void **state)
{
    static const scenario large[] = {
        {GROUPED, DENSE, ARMILLA_F32, 12, 6000, 5, 1},  {NORMAL, DENSE, ARMILLA_F64, 5, 3000, 9, 1},
        {EQUAL, DENSE, ARMILLA_F32, 4, 1500, 3, 1},     {ZEROS, DENSE, ARMILLA_F32, 8, 2000, 4, 1},
        {GROUPED, SOURCE, ARMILLA_F32, 12, 3000, 5, 1}, {WHOLE_NUMBERS, DENSE, ARMILLA_U8, 5, 3000, 12, 1},
    };
    static const scenario asked = {GROUPED, DENSE, ARMILLA_F32, 12, 700, 5, 1};
    (void)state;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        reference_scene("scenario %d", (int)i);
        check_recall(&large[i], NULL, i % 2 ? 0.8 : 0.98);
    }
    check_recall(&large[0], &asked, 0.9);
}

/* Few samples, and sparse ones, are compared with all whatever recall is asked for. */
static void test_recall_of_few(void **state)
{
    static const scenario small[] = {{NORMAL, DENSE, ARMILLA_F32, 6, 400, 5, 1},
                                     {NORMAL, SPARSE, ARMILLA_F32, 30, 3000, 5, 1}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        trial t;
        armilla_graph graph;
        armilla_neighbors_found found = {.recall = 0};
        begin_trial(&t, &small[i], 3);
        support_ok(context, find_some(&t, NULL, 0.5, 2, &graph, &found));
        assert_true(found.recall == 1 && found.cells == 0);
        armilla_graph_release(context, &graph);
        end_trial(&t);
    }
}

static const scenario failing[] = {
    {NORMAL, DENSE, ARMILLA_F32, 40, 300, 4, 1}, /* bounds of products take memory too */
    {NORMAL, SPARSE, ARMILLA_F32, 20, 200, 4, 1},
    {NORMAL, DENSE, ARMILLA_F32, 3, 1100, 4, 1},
};

/* Every allocation fails in turn, of those that are made again and again each ninth: nothing is left. */
static void test_memory_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        const double recall = i % 3 == 2 ? 0.9 : 1;
        trial t, queries;
        armilla_graph graph;
        begin_trial(&t, &failing[i % 3], 9);
        begin_trial(&queries, &failing[i % 3], 10);
        const trial *others = i < 3 ? NULL : &queries;
        const int64_t before = allocator.taken;
        support_ok(context, find_some(&t, others, recall, 1, &graph, NULL));
        armilla_graph_release(context, &graph);
        const int64_t taken = allocator.taken - before, live = allocator.live;
        for (int64_t k = 0; k<taken; k += k> 40 && k < taken - 60 ? 9 : reference_effort(1, 5)) {
            allocator.countdown = k;
            const armilla_status status = find_some(&t, others, recall, 1, &graph, NULL);
            allocator.countdown = -1;
            if (status == ARMILLA_OK)
                armilla_graph_release(context, &graph);
            else
                assert_int_equal(status, ARMILLA_NO_MEMORY);
            assert_int_equal(allocator.live, live);
        }
        end_trial(&queries);
        end_trial(&t);
    }
}

static int stop_later(void *user, const armilla_progress *progress)
{
    (void)progress;
    return --*(int64_t *)user < 0;
}

/* Ended at any question: there is no graph, and a message. */
static void test_stops_when_asked(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        trial t;
        int64_t stopped = 0;
        begin_trial(&t, &failing[i], 9);
        for (int64_t questions = 0;; questions++) {
            int64_t left = questions;
            armilla_graph graph;
            armilla_context_set_watch(context, stop_later, &left);
            const armilla_status status = find_some(&t, NULL, i == 2 ? 0.9 : 1, 2, &graph, NULL);
            if (status == ARMILLA_OK) {
                armilla_graph_release(context, &graph);
                if (left >= 0) break;
            } else {
                support_fails(context, status, ARMILLA_STOPPED, "stopped");
                stopped++;
            }
        }
        assert_true(stopped > 0);
        armilla_context_set_watch(context, NULL, NULL);
        end_trial(&t);
    }
}

/* More neighbours than there are; none; features that differ. */
static void test_refused(void **state)
{
    static const scenario one = {NORMAL, DENSE, ARMILLA_F32, 3, 1, 1, 1},
                          few = {NORMAL, DENSE, ARMILLA_F32, 3, 5, 5, 1},
                          other = {NORMAL, DENSE, ARMILLA_F32, 4, 5, 5, 1},
                          none = {NORMAL, DENSE, ARMILLA_F32, 3, 5, 0, 1};
    trial t, queries;
    armilla_graph graph;
    (void)state;
    begin_trial(&t, &one, 1);
    support_fails(context, find_some(&t, NULL, 1, 1, &graph, NULL), ARMILLA_BAD_DATA, "at most 0 neighbours");
    end_trial(&t);
    begin_trial(&t, &none, 1);
    support_fails(context, find_some(&t, NULL, 1, 1, &graph, NULL), ARMILLA_BAD_ARGUMENT, "at least 1");
    end_trial(&t);
    begin_trial(&t, &few, 1);
    begin_trial(&queries, &other, 1);
    support_fails(context, find_some(&t, NULL, 1, 1, &graph, NULL), ARMILLA_BAD_DATA, "at most 4 neighbours");
    support_fails(context, find_some(&t, &queries, 1, 1, &graph, NULL), ARMILLA_BAD_DATA, "4 features");
    end_trial(&queries);
    begin_trial(&queries, &few, 1);
    support_ok(context, find_some(&t, &queries, 1, 1, &graph, NULL));
    armilla_graph_release(context, &graph);
    end_trial(&queries);
    end_trial(&t);
}

/* The public functions: preparation, weights, codes of a model, and what they refuse. */
static void test_public(void **state)
{
    static const scenario s = {GROUPED, DENSE, ARMILLA_F64, 8, 90, 4, 1};
    const double bad = (double)NAN;
    trial t;
    armilla_neighbors_options options;
    armilla_neighbors_summary summary;
    armilla_neighbors *cosines = NULL, *distances = NULL;
    (void)state;
    begin_trial(&t, &s, 2);
    armilla_neighbors_options_default(&options);
    assert_int_equal(options.count, 10);
    options.count = s.count;
    support_ok(context, armilla_neighbors_of_data(context, t.raw, NULL, NULL, &options, &cosines));
    options.weights = "distance";
    support_ok(context, armilla_neighbors_of_data(context, t.raw, NULL, NULL, &options, &distances));
    armilla_neighbors_summarize(distances, &summary);
    assert_true(summary.rows == s.n && summary.columns == s.n && summary.count == s.count && summary.recall == 1);
    assert_string_equal(summary.weights, "distance");
    for (int64_t k = 0; k < s.n * s.count; k++) {
        const double cosine = (double)armilla_neighbors_weights(cosines)[k];
        assert_int_equal(armilla_neighbors_targets(cosines)[k], armilla_neighbors_targets(distances)[k]);
        REFERENCE_NEAR(armilla_neighbors_weights(distances)[k], sqrt(2 - 2 * cosine), 1e-6);
    }
    assert_int_equal(armilla_neighbors_starts(cosines)[s.n], s.n * s.count);
    armilla_neighbors_free(distances);
    armilla_neighbors_free(cosines);
    options.weights = "angle";
    support_fails(context, armilla_neighbors_of_data(context, t.raw, NULL, NULL, &options, &cosines),
                  ARMILLA_BAD_ARGUMENT, "cosine or distance");
    options.weights = NULL;
    options.recall = 1.5;
    support_fails(context, armilla_neighbors_of_data(context, t.raw, NULL, NULL, &options, &cosines),
                  ARMILLA_BAD_ARGUMENT, "recall");
    options.recall = 1;
    memcpy(t.typed + 17 * sizeof bad, &bad, sizeof bad);
    support_fails(context, armilla_neighbors_of_data(context, t.raw, NULL, NULL, &options, &cosines), ARMILLA_BAD_DATA,
                  "NaN");
    assert_null(armilla_neighbors_starts(NULL));
    armilla_neighbors_free(NULL);
    end_trial(&t);
}
int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_recall),           TEST(test_recall_of_few), TEST(test_memory_refused),
                                       TEST(test_stops_when_asked), TEST(test_refused),       TEST(test_public)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
