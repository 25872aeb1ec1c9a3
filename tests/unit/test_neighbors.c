/* Nearest samples against plain loops: every shape and storage, ties, duplicates, samples without a direction, scales; the
 * same bits on any number of threads. */
#include "unit/neighbor_trials.h"

static const scenario scenarios[] = {
    {NORMAL, DENSE, ARMILLA_F32, 1, 2, 1, 1},
    {NORMAL, DENSE, ARMILLA_F64, 3, 7, 6, 1},
    {NORMAL, DENSE, ARMILLA_F32, 2, 500, 10, 1},
    {NORMAL, DENSE, ARMILLA_F32, 15, 331, 3, 1},
    {NORMAL, DENSE, ARMILLA_F32, 64, 1000, 10, 1},
    {NORMAL, DENSE, ARMILLA_F64, 64, 600, 17, 1},
    {NORMAL, DENSE, ARMILLA_F32, 1000, 300, 5, 1},
    {NORMAL, DENSE, ARMILLA_F64, 1537, 40, 39, 1},
    {GROUPED, DENSE, ARMILLA_F32, 20, 900, 100, 1},
    {GROUPED, DENSE, ARMILLA_F64, 20, 400, 7, 1e150},
    {GROUPED, DENSE, ARMILLA_F64, 20, 400, 7, 1e-150},
    {GROUPED, DENSE, ARMILLA_F32, 20, 400, 7, 1e30},
    {GROUPED, DENSE, ARMILLA_F32, 20, 400, 7, 1e-30},
    {MIXED_SCALES, DENSE, ARMILLA_F64, 20, 400, 7, 1},
    {WHOLE_NUMBERS, DENSE, ARMILLA_U8, 6, 800, 9, 1},
    {WHOLE_NUMBERS, DENSE, ARMILLA_F16, 9, 300, 9, 1},
    {TWINS, DENSE, ARMILLA_F32, 30, 500, 9, 1},
    {ZEROS, DENSE, ARMILLA_F32, 30, 500, 9, 1},
    {EQUAL, DENSE, ARMILLA_F64, 30, 500, 9, 1},
    {EQUAL, DENSE, ARMILLA_F32, 7, 700, 200, 1},
    {NORMAL, SPARSE, ARMILLA_F32, 60, 700, 10, 1},
    {NORMAL, SPARSE, ARMILLA_F64, 300, 200, 4, 1e150},
    {WHOLE_NUMBERS, SPARSE, ARMILLA_F32, 40, 600, 25, 1},
    {ZEROS, SPARSE, ARMILLA_F64, 50, 300, 8, 1},
    {EQUAL, SPARSE, ARMILLA_F32, 50, 300, 8, 1},
    {GROUPED, SPARSE_CENTRED, ARMILLA_F64, 30, 400, 8, 1},
    {GROUPED, SPARSE_CENTRED, ARMILLA_F32, 30, 400, 8, 1},
    {GROUPED, SOURCE, ARMILLA_F32, 40, 900, 10, 1},
    {GROUPED, STREAMED, ARMILLA_F32, 200, 2000, 10, 1},
};

enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

static armilla_status find(const trial *t, const trial *queries, int threads, armilla_graph *graph)
{
    const armilla_neighbors_plan plan = {.count = t->of->count, .unit = t->view != NULL};
    armilla_neighbors_found found = {.recall = 0};
    support_ok(context, armilla_call_enter(context, threads));
    const armilla_status status =
        armilla_neighbors_find(context, queries ? (queries->view ? queries->view : queries->raw) : NULL,
                               t->view ? t->view : t->raw, &plan, graph, &found);
    armilla_call_leave(context);
    if (status == ARMILLA_OK) assert_true(found.recall == 1);
    return status;
}

typedef struct candidate {
    double cosine;
    int64_t target;
} candidate;

static int by_cosine(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->cosine != y->cosine) return x->cosine < y->cosine ? 1 : -1;
    return (x->target > y->target) - (x->target < y->target);
}

/* Row i has the largest cosines, as far as rounding can tell, each with its sample; and where cosines are the same by
 * their bits, the lower index first. */
static void check_row(const trial *t, const double *query, int64_t self, const armilla_graph *graph, int64_t i)
{
    const scenario *s = t->of;
    const double eps = armilla_epsilon(armilla_type_precision(s->type)) * (4 + (double)s->m) + 2 * 0x1p-24;
    candidate *all = malloc((size_t)s->n * sizeof *all);
    int64_t count = 0;
    for (int64_t j = 0; j < s->n; j++)
        if (j != self) all[count++] = (candidate){reference_dot(s->m, query, t->unit + j * s->m), j};
    qsort(all, (size_t)count, sizeof *all, by_cosine);
    assert_int_equal(graph->starts[i], i * s->count);
    for (int64_t k = 0; k < s->count; k++) {
        const int64_t at = graph->starts[i] + k, target = graph->targets[at];
        const float weight = graph->weights[at];
        assert_true(target >= 0 && target < s->n && target != self);
        REFERENCE_NEAR(weight, all[k].cosine, eps);
        REFERENCE_NEAR(weight, reference_dot(s->m, query, t->unit + target * s->m), eps);
        if (k > 0) assert_true(weight <= graph->weights[at - 1]);
        for (int64_t l = graph->starts[i]; l < at; l++) assert_true(graph->targets[l] != target);
        if (s->kind == EQUAL) assert_int_equal(target, all[k].target);
    }
    free(all);
}

static void check_graph(const trial *t, const trial *queries, const armilla_graph *graph)
{
    const trial *asked = queries ? queries : t;
    const int64_t step = reference_effort(1 + graph->rows / 150, 97);
    assert_int_equal(graph->rows, asked->of->n);
    assert_int_equal(graph->columns, t->of->n);
    for (int64_t i = 0; i < graph->rows; i += step)
        check_row(t, asked->unit + i * t->of->m, queries ? -1 : i, graph, i);
}

static void test_plain_loops(void **state)
{
    (void)state;
    for (int i = 0; i < SCENARIOS; i++) {
        trial t;
        armilla_graph graph, again;
        reference_scene("scenario %d", i);
        begin_trial(&t, &scenarios[i], 100 + (uint64_t)i);
        support_ok(context, find(&t, NULL, 1, &graph));
        check_graph(&t, NULL, &graph);
        support_ok(context, find(&t, NULL, 2 + i % 3, &again));
        same_graphs(&graph, &again);
        armilla_graph_release(context, &graph);
        armilla_graph_release(context, &again);
        end_trial(&t);
    }
}

/* Queries that are no samples: in each storage, and in another one than the samples. */
static void test_queries(void **state)
{
    static const form forms[] = {DENSE, SPARSE, SOURCE, SPARSE_CENTRED};
    (void)state;
    for (int f = 0; f < 16; f++) {
        const scenario samples = {GROUPED, forms[f % 4], ARMILLA_F32, 30, 700, f == 0 ? 700 : 6, 1};
        const scenario asked = {GROUPED, forms[f / 4], f % 3 ? ARMILLA_F32 : ARMILLA_F64, 30, 1 + 97 * f, 6, 1};
        trial t, queries;
        armilla_graph graph, again;
        if ((samples.form == SPARSE_CENTRED) != (asked.form == SPARSE_CENTRED)) continue; /* prepared alike */
        reference_scene("samples %d, queries %d", f % 4, f / 4);
        begin_trial(&t, &samples, 7);
        begin_trial(&queries, &asked, 8);
        support_ok(context, find(&t, &queries, 1, &graph));
        check_graph(&t, &queries, &graph);
        support_ok(context, find(&t, &queries, 3, &again));
        same_graphs(&graph, &again);
        armilla_graph_release(context, &graph);
        armilla_graph_release(context, &again);
        end_trial(&t);
        end_trial(&queries);
    }
}

/* Several blocks of queries and every number of threads. */
static void test_same_bits(void **state)
{
    static const scenario large[] = {
        {NORMAL, DENSE, ARMILLA_F32, 9000, 700, 12, 1},
        {WHOLE_NUMBERS, DENSE, ARMILLA_F32, 3, 24500, 3, 1},
        {WHOLE_NUMBERS, SPARSE, ARMILLA_F32, 25, 9000, 5, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        trial t;
        armilla_graph first;
        scenario s = large[i];
        s.n /= reference_effort(1, 10);
        begin_trial(&t, &s, 3);
        support_ok(context, find(&t, NULL, 1, &first));
        for (int64_t k = 0; k < 20; k++) {
            const int64_t row = k * 977 % s.n;
            check_row(&t, t.unit + row * s.m, row, &first, row);
        }
        /* Of very many samples one other number of threads is enough. */
        for (int threads = s.n > 10000 ? 8 : 2; threads <= 8; threads += threads == 3 ? 5 : 1) {
            armilla_graph more;
            support_ok(context, find(&t, NULL, threads, &more));
            same_graphs(&first, &more);
            armilla_graph_release(context, &more);
        }
        armilla_graph_release(context, &first);
        end_trial(&t);
    }
}
int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_plain_loops), TEST(test_queries), TEST(test_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
