/* Nearest samples against plain loops: every shape and storage, ties, duplicates, samples without a direction, scales; the
 * same bits on any number of threads; ends that are asked for, and memory that is refused. */
#include "reference/reference.h"
#include "unit/fixture.h"

#include "base/context.h"
#include "graph/neighbors.h"
#include "linalg/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How samples are made, and how they are kept. */
typedef enum kind { NORMAL, GROUPED, WHOLE_NUMBERS, TWINS, ZEROS, EQUAL, MIXED_SCALES } kind;
typedef enum form { DENSE, SPARSE, SPARSE_CENTRED, SOURCE, STREAMED } form;

typedef struct scenario {
    kind kind;
    form form;
    armilla_type type;
    int64_t m, n, count;
    double scale;
} scenario;

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

enum { SCENARIOS = sizeof scenarios / sizeof *scenarios, PATH = 4200 };

typedef struct trial {
    const scenario *of;
    double *X;    /* as they are given */
    double *unit; /* as they are compared */
    double *mean;
    char *typed;
    reference_sparse compressed;
    armilla_data *raw, *view;
} trial;

static void fill(const scenario *s, uint64_t *random, double *X)
{
    double *places = reference_new(7 * s->m);
    reference_fill_normal(random, 7 * s->m, places);
    reference_fill_normal(random, s->m * s->n, X);
    for (int64_t j = 0; j < s->n; j++)
        for (int64_t i = 0; i < s->m; i++) {
            double *x = X + j * s->m + i;
            if (s->kind == GROUPED) *x = places[j % 7 * s->m + i] + 0.2 * *x;
            if (s->kind == TWINS && j % 2) *x = x[-s->m];
            if (s->kind == ZEROS && j % 3 == 0) *x = 0;
            if (s->kind == EQUAL) *x = (double)(i + 1);
            if (s->kind == WHOLE_NUMBERS) *x = (double)reference_below(random, 3);
            if (s->kind == MIXED_SCALES) *x *= pow(10, (double)(j % 301 - 150));
            if (s->form == SPARSE && s->kind != EQUAL && reference_below(random, 4)) *x = 0;
            *x *= s->scale;
        }
    free(places);
}

static armilla_status fill_panel(void *self, int64_t first, int64_t count, void *buffer, int64_t stride, char *message)
{
    const trial *t = self;
    const size_t size = armilla_type_size(t->of->type);
    (void)message;
    for (int64_t j = 0; j < count; j++)
        memcpy((char *)buffer + (size_t)(j * stride) * size, t->typed + (size_t)((first + j) * t->of->m) * size,
               (size_t)t->of->m * size);
    return ARMILLA_OK;
}

static armilla_data *open_source(trial *t)
{
    armilla_data_source source;
    armilla_data *data = NULL;
    armilla_data_source_default(&source);
    source.type = t->of->type;
    source.m = t->of->m;
    source.n = t->of->n;
    source.fill = fill_panel;
    source.self = t;
    support_ok(context, armilla_data_from_source(context, &source, &data));
    return data;
}

static armilla_data *open_streamed(const trial *t)
{
    char path[PATH];
    armilla_data *data = NULL, *stream = NULL;
    armilla_read_options options;
    armilla_write_options over;
    const int64_t bytes = t->of->m * t->of->n * (int64_t)armilla_type_size(t->of->type);
    armilla_write_options_default(&over);
    over.overwrite = true;
    support_path(path, sizeof path, "data.npy");
    support_ok(context, armilla_data_wrap_dense(context, t->of->type, t->typed, t->of->m, t->of->n, t->of->m, &data));
    support_ok(context, armilla_data_write(context, data, path, &over));
    armilla_data_free(data);
    armilla_read_options_default(&options);
    options.memory = armilla_context_memory_live(context) + bytes * 7 / 4;
    support_ok(context, armilla_data_open(context, path, &options, &stream));
    assert_non_null(strstr(armilla_data_storage(stream), "streamed"));
    return stream;
}

static armilla_data *open_raw(trial *t)
{
    const scenario *s = t->of;
    armilla_data *data = NULL;
    if (s->form == SOURCE) return open_source(t);
    if (s->form == STREAMED) return open_streamed(t);
    if (s->form == DENSE) {
        support_ok(context, armilla_data_wrap_dense(context, s->type, t->typed, s->m, s->n, s->m, &data));
        return data;
    }
    reference_sparse_new(&t->compressed, s->type, ARMILLA_I32, false, s->m, s->n, t->X);
    support_ok(context, armilla_data_wrap_sparse(context, s->type, ARMILLA_I32, t->compressed.values,
                                                 t->compressed.features, t->compressed.starts, s->m, s->n, &data));
    return data;
}

static void begin_trial(trial *t, const scenario *s, uint64_t seed)
{
    const int64_t size = s->m * s->n;
    *t = (trial){.of = s, .X = reference_new(size), .unit = reference_new(size), .mean = reference_new(s->m)};
    fill(s, &seed, t->X);
    t->typed = malloc((size_t)size * sizeof(double));
    assert_non_null(t->typed);
    armilla_store(s->type, size, t->X, t->typed);
    armilla_fetch(s->type, size, t->typed, t->X);
    for (int64_t i = 0; i < s->m; i++) t->mean[i] = s->form == SPARSE_CENTRED ? 0.1 * (double)(i % 5) : 0;
    for (int64_t j = 0; j < s->n; j++) {
        double *x = t->unit + j * s->m;
        for (int64_t i = 0; i < s->m; i++) x[i] = t->X[j * s->m + i] - t->mean[i];
        const double largest = reference_largest(s->m, x);
        for (int64_t i = 0; i < s->m && largest > 0; i++) x[i] /= largest;
        const double norm = reference_norm(s->m, x);
        for (int64_t i = 0; i < s->m && norm > 0; i++) x[i] /= norm;
    }
    t->raw = open_raw(t);
    if (s->form == SPARSE_CENTRED)
        support_ok(context,
                   armilla_data_prepare(context, t->raw, &(armilla_column_map){.mean = t->mean, .unit_length = true},
                                        &t->view));
}

static void end_trial(trial *t)
{
    armilla_data_free(t->view);
    armilla_data_free(t->raw);
    if (t->compressed.starts) reference_sparse_free(&t->compressed);
    free(t->typed);
    free(t->mean);
    free(t->unit);
    free(t->X);
}

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

static void same_graphs(const armilla_graph *a, const armilla_graph *b)
{
    const size_t entries = (size_t)armilla_graph_entries(a);
    assert_int_equal(a->rows, b->rows);
    assert_memory_equal(a->targets, b->targets, entries * sizeof *a->targets);
    assert_memory_equal(a->weights, b->weights, entries * sizeof *a->weights);
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

/* Plan and data of the tests below, which are about the whole of a call. */
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
    {NORMAL, DENSE, ARMILLA_F32, 5, 300, 4, 1},
    {NORMAL, SPARSE, ARMILLA_F32, 20, 200, 4, 1},
    {NORMAL, DENSE, ARMILLA_F32, 3, 1100, 4, 1},
};

/* Every allocation fails in turn, of those that are made again and again each ninth: nothing is left, and the same graph is found afterwards. */
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
    const struct CMUnitTest tests[] = {TEST(test_plain_loops),      TEST(test_queries),       TEST(test_same_bits),
                                       TEST(test_recall),           TEST(test_recall_of_few), TEST(test_memory_refused),
                                       TEST(test_stops_when_asked), TEST(test_refused),       TEST(test_public)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
