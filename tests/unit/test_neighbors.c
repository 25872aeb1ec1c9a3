/* Nearest samples against plain loops: every shape and storage, ties, duplicates, samples without a direction, scales; the
 * same bits on any number of threads. */
#include "unit/neighbor_trials.h"

#include "linalg/coarse_kernels.h"

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

/* The instruction sets that this CPU runs, one by one. */
static const char *instructions(size_t i)
{
    const armilla_kernels *row = armilla_kernels_row(2 * i);
    return !row ? NULL : armilla_instructions_supported(row->name) ? row->name : "";
}

static double *unit_samples(uint64_t *random, int64_t m, int64_t n, double outlier)
{
    double *X = reference_new(m * n);
    reference_fill_normal(random, m * n, X);
    for (int64_t j = 0; j < n; j++) {
        double *x = X + j * m, length = 0;
        x[reference_below(random, m)] += outlier;
        if (j % 5 == 4) /* nearly the one before */
            for (int64_t i = 0; i < m; i++) x[i] = x[i - m] + 1e-4 * x[i];
        for (int64_t i = 0; i < m; i++) length += x[i] * x[i];
        for (int64_t i = 0; i < m; i++) x[i] /= sqrt(length);
        if (j % 17 == 16) memset(x, 0, (size_t)m * sizeof *x);
    }
    return X;
}

/* Row i of n as tiles have it. */
static void tile_row(const armilla_pair_kernels *kernels, const armilla_columns *X, int64_t i, char *row)
{
    const size_t size = armilla_type_size(kernels->type);
    const int64_t n = armilla_packed_columns(kernels->many, X->count), m = X->m;
    char *many = calloc((size_t)(n * m), size), *few = calloc((size_t)(kernels->few * m), size),
         *tile = calloc((size_t)(n * kernels->few), size);
    const armilla_columns one = {
        .values = (const char *)X->values + (size_t)(i * m) * size, .m = m, .count = 1, .stride = m};
    kernels->pack(X, 0, kernels->many, many);
    kernels->pack(&one, i % kernels->few, kernels->few, few);
    kernels->products(m, few, n / kernels->many, many, tile);
    memcpy(row, tile + (size_t)(i % kernels->few * n) * size, (size_t)X->count * size);
    free(tile);
    free(few);
    free(many);
}

/* Single products have the bits of tiles. */
static void test_singles(void **state)
{
    enum { N = 37 };
    static const int64_t features[] = {1, 2, 7, 31, 64, 511, 512, 513, 1030, 1537};
    uint64_t random = 5;
    (void)state;
    for (size_t k = 0; instructions(k); k++)
        for (int type = 0; type < 2 && *instructions(k); type++)
            for (size_t f = 0; f < sizeof features / sizeof *features; f++) {
                const int64_t m = features[f];
                const size_t size = armilla_type_size((armilla_type)type);
                double *X = unit_samples(&random, m, N, 0), products[N];
                char *typed = malloc((size_t)(m * N) * size), row[N * sizeof(double)];
                const void *a[N], *b[N];
                reference_scene("%s, type %d, %d features", instructions(k), type, (int)m);
                support_ok(context, armilla_call_enter(context, 1));
                armilla_kernels_pin(context, instructions(k));
                const armilla_pair_kernels *kernels = armilla_pair_kernels_for(context, (armilla_type)type);
                armilla_store((armilla_type)type, m * N, X, typed);
                tile_row(kernels, &(armilla_columns){.values = typed, .m = m, .count = N, .stride = m}, 3, row);
                for (int64_t j = 0; j < N; j++) {
                    a[j] = typed + (size_t)(3 * m) * size;
                    b[j] = typed + (size_t)(j * m) * size;
                }
                kernels->singles(m, N, a, b, products);
                for (int64_t j = 0; j < N; j++)
                    assert_true(products[j] == armilla_number_at((armilla_type)type, row, j));
                armilla_call_leave(context);
                free(typed);
                free(X);
            }
}

/* The neighbours are those of all tiles, bit by bit: whatever of them bounds leave out. */
static void test_all_products(void **state)
{
    enum { N = 500, COUNT = 6 };
    static const struct {
        int64_t m;
        armilla_type type;
        double outlier;
    } cases[] = {{31, ARMILLA_F32, 0},   {32, ARMILLA_F32, 0},    {63, ARMILLA_F64, 0},
                 {64, ARMILLA_F32, 30},  {200, ARMILLA_F32, 0},   {257, ARMILLA_F64, 0},
                 {600, ARMILLA_F32, 50}, {1100, ARMILLA_F64, 20}, {1025, ARMILLA_F32, 0}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const int64_t m = cases[c].m;
        const armilla_type type = cases[c].type;
        uint64_t random = 11 + c;
        double *X = unit_samples(&random, m, N, cases[c].outlier);
        char *typed = malloc((size_t)(m * N) * armilla_type_size(type)), row[N * sizeof(double)];
        const armilla_neighbors_plan plan = {.count = COUNT, .unit = true};
        armilla_data *data = NULL;
        armilla_graph graph;
        reference_scene("case %d", (int)c);
        armilla_store(type, m * N, X, typed);
        support_ok(context, armilla_data_wrap_dense(context, type, typed, m, N, m, &data));
        support_ok(context, armilla_call_enter(context, 2));
        support_ok(context, armilla_neighbors_find(context, NULL, data, &plan, &graph, NULL));
        const armilla_pair_kernels *kernels = armilla_pair_kernels_for(context, type);
        for (int64_t i = 0; i < N; i += reference_effort(1, 50)) {
            candidate all[N];
            int64_t count = 0;
            tile_row(kernels, &(armilla_columns){.values = typed, .m = m, .count = N, .stride = m}, i, row);
            for (int64_t j = 0; j < N; j++)
                if (j != i) all[count++] = (candidate){armilla_number_at(type, row, j), j};
            qsort(all, (size_t)count, sizeof *all, by_cosine);
            for (int64_t k = 0; k < COUNT; k++) {
                assert_int_equal(graph.targets[i * COUNT + k], all[k].target);
                assert_true(graph.weights[i * COUNT + k] == (float)fmin(1, all[k].cosine));
            }
        }
        armilla_call_leave(context);
        armilla_graph_release(context, &graph);
        armilla_data_free(data);
        free(typed);
        free(X);
    }
}

/* No product above a floor is missed, none below one by more than both errors twice is found, and those of a sample that is
 * too long always are. */
static void test_bounds(void **state)
{
    enum { N = 90 };
    static const int64_t features[] = {1, 3, 4, 17, 64, 257, 1000};
    const armilla_coarse_kernels *kernels = armilla_coarse_kernels_for(context);
    uint64_t random = 21;
    (void)state;
    if (!kernels) return;
    for (size_t f = 0; f < 3 * sizeof features / sizeof *features; f++) {
        const int64_t m = features[f / 3], bytes = armilla_coarse_bytes(m);
        const int64_t places = armilla_packed_columns(kernels->many, N);
        double *X = unit_samples(&random, m, N, f % 3 == 1 ? 40 : 0);
        float *typed = malloc((size_t)(m * N) * sizeof *typed), scales[N], errors[N], floors[N];
        int32_t *sums = calloc((size_t)places, sizeof *sums), *found = calloc((size_t)(2 * places), sizeof *found),
                *tile = calloc((size_t)(places * kernels->few), sizeof *tile);
        char *many = calloc((size_t)places, (size_t)bytes), *few = calloc((size_t)kernels->few, (size_t)bytes);
        reference_scene("%d features, kind %d", (int)m, (int)(f % 3));
        if (f % 3 == 2)
            for (int64_t i = 0; i < m; i++) X[i] *= 1.01; /* the query */
        armilla_store(ARMILLA_F32, m * N, X, typed);
        armilla_fetch(ARMILLA_F32, m * N, typed, X);
        const armilla_coarse query = kernels->pack(m, typed, true, 0, few);
        for (int64_t j = 0; j < N; j++) {
            const armilla_coarse made = kernels->pack(m, typed + j * m, false, j, many);
            scales[j] = made.scale;
            errors[j] = made.error;
            sums[j] = made.sum;
        }
        kernels->products(m, few, places / kernels->many, many, sums, tile);
        for (int above = 0; above < 2; above++) {
            for (int64_t j = 0; j < N; j++) {
                const double product = reference_dot(m, X, X + j * m), errors_of_both = query.error + errors[j];
                floors[j] = (float)(above ? fmin(3, product + 2 * errors_of_both + 1e-6) : product - 1e-6);
            }
            const int64_t count =
                kernels->above(N, tile, &query, INFINITY,
                               &(armilla_coarse_many){.scales = scales, .errors = errors, .floors = floors}, found);
            assert_int_equal(count, above && f % 3 != 2 ? 0 : N);
            for (int64_t j = 0; j < count; j++) assert_int_equal(found[j], j);
        }
        free(few);
        free(many);
        free(tile);
        free(found);
        free(sums);
        free(typed);
        free(X);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_plain_loops), TEST(test_queries),      TEST(test_same_bits),
                                       TEST(test_singles),     TEST(test_all_products), TEST(test_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
