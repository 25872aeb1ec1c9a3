/* Data from a function of the program's: the same bits as the same matrix in memory for every model, failures at every
 * column, call and thread, columns in any order, and how often a fit reads all of them before it begins. */
#include "data/column.h"
#include "files/write.h"
#include "model/model.h"
#include "unit/fixture.h"

#include <armilla/cluster.h>

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SEEN = 4096 };

/* A matrix in memory that is handed out by columns. */
typedef struct store {
    armilla_type type;
    int64_t m, n;
    unsigned char *values;
    bool serial;
    int64_t bad_column;     /* -1: none */
    atomic_llong countdown; /* calls that still succeed; below 0: all do */
    atomic_llong filled;    /* columns so far */
    atomic_int inside, closed;
    atomic_bool together;    /* two calls ran at once */
    int64_t seen[MOST_SEEN]; /* first columns of the calls, of one thread */
    atomic_llong calls;
} store;

static armilla_status fill(void *self, int64_t first, int64_t count, void *buffer, int64_t stride, char *message)
{
    store *s = self;
    const size_t size = armilla_type_size(s->type), column = (size_t)s->m * size;
    const long long call = atomic_fetch_add(&s->calls, 1);
    armilla_status status = ARMILLA_OK;
    if (atomic_fetch_add(&s->inside, 1) > 0) s->together = true;
    if (call < MOST_SEEN) s->seen[call] = first;
    atomic_fetch_add(&s->filled, count);
    for (int64_t j = 0; j < count; j++)
        memcpy((char *)buffer + (size_t)(j * stride) * size, s->values + (size_t)(first + j) * column, column);
    if (s->bad_column >= first && s->bad_column < first + count) {
        snprintf(message, ARMILLA_SOURCE_MESSAGE, "column %lld is damaged", (long long)s->bad_column);
        status = ARMILLA_BAD_DATA;
    }
    if (s->countdown >= 0 && atomic_fetch_sub(&s->countdown, 1) == 0) status = ARMILLA_STOPPED;
    atomic_fetch_sub(&s->inside, 1);
    return status;
}

static void note_close(void *self)
{
    atomic_fetch_add(&((store *)self)->closed, 1);
}

/* Positive numbers with some structure. */
static store *make(armilla_type type, int64_t m, int64_t n)
{
    store *s = calloc(1, sizeof *s);
    assert_non_null(s);
    *s = (store){.type = type, .m = m, .n = n, .bad_column = -1, .countdown = -1};
    s->values = calloc((size_t)(m * n), armilla_type_size(type));
    assert_non_null(s->values);
    for (int64_t i = 0; i < m * n; i++) {
        const double x = fmod((double)(i % m + 1) * 0.37 + (double)(i / m + 1) * 0.61803398875, 1);
        const double most = type == ARMILLA_I8 ? 126 : 200;
        const double value = 1 + floor(most * x * ((i / m) % 3 == (i % m) % 3 ? 1 : 0.1));
        armilla_store(type, 1, &value, s->values + (size_t)i * armilla_type_size(type));
    }
    return s;
}

static void discard(store *s)
{
    free(s->values);
    free(s);
}

static armilla_data *open_source(store *s)
{
    const armilla_data_source source = {.size = sizeof source,
                                        .type = s->type,
                                        .m = s->m,
                                        .n = s->n,
                                        .fill = fill,
                                        .self = s,
                                        .serial = s->serial,
                                        .close = note_close};
    armilla_data *data = NULL;
    support_ok(context, armilla_data_from_source(context, &source, &data));
    return data;
}

static armilla_data *open_memory(const store *s)
{
    armilla_data *data = NULL;
    support_ok(context, armilla_data_wrap_dense(context, s->type, s->values, s->m, s->n, s->m, &data));
    return data;
}

static armilla_options plain_options(int64_t rank, int64_t iterations, int threads)
{
    armilla_options options;
    armilla_options_default(&options);
    options.rank = rank;
    options.max_iter = iterations;
    options.threads = threads;
    return options;
}

/* Two models of the same data: all that depends on them has the same bits. */
static void same_models(const armilla_model *a, const armilla_model *b, const armilla_data *data, int threads)
{
    const armilla_model_summary *s = &a->summary, *t = &b->summary;
    const size_t size = armilla_type_size(s->precision), codes = (size_t)(s->rank * s->n) * size;
    void *V = malloc(codes);
    armilla_check check;
    assert_non_null(V);
    assert_true(s->objective == t->objective && s->fingerprint == t->fingerprint && s->sweeps == t->sweeps);
    assert_memory_equal(a->U, b->U, (size_t)(s->m * s->rank) * size);
    assert_memory_equal(a->V, b->V, codes);
    support_ok(context, armilla_model_transform(context, b, data, threads, V));
    if (s->sealed) assert_memory_equal(a->V, V, codes);
    support_ok(context, armilla_model_check(context, a, data, &check));
    assert_string_equal(check.finding, "");
    free(V);
}

/* Every named model, with one preparation or another, in every type, on one thread and on several. */
static void test_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; armilla_models_row(i); i++) {
        const armilla_type type = (armilla_type)(i % ARMILLA_TYPE_COUNT);
        store *s = make(type, 40, 300);
        armilla_options options = plain_options(3, 4, 1 + (int)(i % 3));
        armilla_model *a = NULL, *b = NULL;
        options.model = armilla_models_row(i)->name;
        if (armilla_models_row(i)->sparsity == 0 && armilla_codes_find(armilla_models_row(i)->codes)->sparse)
            options.sparsity = 2;
        options.log1p = i % 2;
        options.tfidf = i % 3 == 1;
        options.scale = i % 4 == 1;
        options.start = i % 3 == 0 ? "kmeans++" : i % 3 == 1 ? "samples" : NULL;
        s->serial = i % 2;
        armilla_data *memory = open_memory(s), *source = open_source(s);
        support_ok(context, armilla_fit(context, memory, &options, &a));
        support_ok(context, armilla_fit(context, source, &options, &b));
        same_models(a, b, source, 2);
        armilla_model_free(a);
        armilla_model_free(b);
        armilla_data_free(source);
        armilla_data_free(memory);
        assert_int_equal(s->closed, 1);
        assert_false(s->serial && s->together);
        discard(s);
    }
}

static void test_same_clusters(void **state)
{
    static const char *const methods[] = {"kmeans", "euclidean"};
    (void)state;
    for (int i = 0; i < 2 * ARMILLA_TYPE_COUNT; i++) {
        store *s = make((armilla_type)(i / 2), 30, 250);
        armilla_cluster_options options;
        armilla_clustering *a = NULL, *b = NULL;
        armilla_cluster_options_default(&options);
        options.k = 4;
        options.tries = 3;
        options.method = methods[i % 2];
        armilla_data *memory = open_memory(s), *source = open_source(s);
        support_ok(context, armilla_cluster_data(context, memory, NULL, &options, &a));
        support_ok(context, armilla_cluster_data(context, source, NULL, &options, &b));
        assert_memory_equal(armilla_clustering_labels(a), armilla_clustering_labels(b), 250 * sizeof(int64_t));
        armilla_clustering_free(a);
        armilla_clustering_free(b);
        armilla_data_free(source);
        armilla_data_free(memory);
        discard(s);
    }
}

static void fails(armilla_data *data, const armilla_options *options, const char *part)
{
    armilla_model *model = NULL;
    support_fails(context, armilla_fit(context, data, options, &model), ARMILLA_IO_ERROR, part);
    assert_null(model);
}

/* Each column in turn, on one to four threads: the message is the source's own. */
static void test_every_column_fails(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        store *s = make(ARMILLA_F32, threads == 1 ? 9 : 500, threads == 1 ? 260 : 490);
        const armilla_options options = plain_options(2, 1, threads);
        armilla_data *data = open_source(s);
        for (s->bad_column = 0; s->bad_column < s->n; s->bad_column += threads == 1 ? 1 : 37) {
            char part[64];
            snprintf(part, sizeof part, "column %lld is damaged", (long long)s->bad_column);
            fails(data, &options, part);
        }
        armilla_data_free(data);
        discard(s);
    }
}

/* With another context than that of the data: the message is where the call was made. */
static void test_failures_with_another_context(void **state)
{
    (void)state;
    store *s = make(ARMILLA_F64, 9, 60);
    armilla_context *other = support_context();
    const armilla_options options = plain_options(2, 1, 2);
    armilla_data *data = open_source(s);
    armilla_data_facts facts;
    armilla_model *model = NULL;
    double sample[9];
    s->bad_column = 31;
    support_fails(other, armilla_data_survey(other, data, 2, &facts), ARMILLA_IO_ERROR, "column 31 is damaged");
    support_fails(other, armilla_fit(other, data, &options, &model), ARMILLA_IO_ERROR, "column 31 is damaged");
    support_fails(other, armilla_data_sample(other, data, 31, sample), ARMILLA_IO_ERROR, "column 31 is damaged");
    assert_string_equal(armilla_context_error(context), "");
    armilla_data_free(data);
    armilla_context_free(other);
    discard(s);
}

/* Each call in turn, through the passes, the starts, the iterations and the end, also of a status that would be answered
 * as if it were ours. What is left succeeds. */
static void test_every_call_fails(void **state)
{
    static const char *const starts[] = {"svd", "kmeans++", "samples"};
    (void)state;
    for (int i = 0; i < 6; i++) {
        store *s = make(ARMILLA_F64, 20, 130);
        armilla_options options = plain_options(2, 2, 1);
        armilla_model *model = NULL;
        long long calls = 0;
        options.start = starts[i % 3];
        options.center = i > 2;
        options.restarts = i > 2 ? 2 : 1;
        armilla_data *data = open_source(s);
        support_ok(context, armilla_fit(context, data, &options, &model));
        armilla_model_free(model);
        model = NULL;
        calls = s->calls;
        for (long long at = 0; at < calls; at++) {
            s->countdown = at;
            fails(data, &options, "gives no reason");
        }
        s->countdown = -1;
        support_ok(context, armilla_fit(context, data, &options, &model));
        armilla_model_free(model);
        armilla_data_free(data);
        discard(s);
    }
}

/* Columns in any order and more than once: each is loaded once, in rising order, and comes to every place. */
static void test_gather(void **state)
{
    static const int64_t wanted[] = {17, 3, -1, 29, 3, 0, 17, 11};
    enum { WANTED = sizeof wanted / sizeof *wanted, M = 6, N = 30 };
    double out[WANTED * M];
    store *s = make(ARMILLA_F64, M, N);
    armilla_data *data = open_source(s);
    (void)state;
    for (int64_t i = 0; i < WANTED * M; i++) out[i] = -7;
    support_ok(context, armilla_data_gather(context, data, ARMILLA_F64, WANTED, wanted, out));
    for (int64_t i = 0; i < WANTED * M; i++) {
        const int64_t column = wanted[i / M];
        assert_true(out[i] == (column < 0 ? -7 : ((const double *)(const void *)s->values)[column * M + i % M]));
    }
    assert_int_equal(s->calls, 5);
    for (int64_t i = 1; i < 5; i++) assert_true(s->seen[i] > s->seen[i - 1]);
    s->bad_column = 11;
    support_fails(context, armilla_data_gather(context, data, ARMILLA_F64, WANTED, wanted, out), ARMILLA_IO_ERROR,
                  "samples 12 to 12");
    support_fails(context, armilla_data_gather(context, data, ARMILLA_F64, 1, &(const int64_t){N}, out),
                  ARMILLA_BAD_ARGUMENT, "does not exist");
    armilla_data_free(data);
    discard(s);
}

static int64_t columns_filled(store *s, const armilla_data *data, const armilla_options *options)
{
    armilla_model *model = NULL;
    s->filled = 0;
    support_ok(context, armilla_fit(context, data, options, &model));
    armilla_model_free(model);
    return s->filled;
}

/* How many times all of X is read before the first iteration: docs/architecture.md. */
static void test_passes(void **state)
{
    static const struct {
        bool log1p, tfidf, scale, center;
        const char *normalize;
        int passes;
    } cases[] = {
        {false, false, false, false, "none", 0}, {true, false, false, false, "none", 0},
        {false, false, false, false, "l2", 0},   {false, true, false, false, "none", 1},
        {true, true, false, false, "l2", 1},     {false, false, false, true, "none", 2},
        {true, true, false, true, "none", 2},    {false, false, true, false, "none", 3},
        {true, true, true, true, "l2", 3},
    };
    enum { SURVEY = 1, SVD = 3, SIGNS = 1, CODES = 1, ITERATION = 1, SEAL = 1, RESIDUAL = 1 };
    store *s = make(ARMILLA_F64, 20, 150);
    armilla_data *data = open_source(s);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        armilla_options options = plain_options(2, 0, 1);
        options.solver = "palm"; /* no last code solve */
        options.start = "svd";
        options.log1p = cases[i].log1p;
        options.tfidf = cases[i].tfidf;
        options.scale = cases[i].scale;
        options.center = cases[i].center;
        options.normalize = cases[i].normalize;
        assert_int_equal(columns_filled(s, data, &options),
                         (cases[i].passes + SURVEY + SVD + SIGNS + CODES + RESIDUAL) * 150);
        options.solver = "fast"; /* codes of both signs do without those of the atoms */
        options.max_iter = 1;
        assert_int_equal(columns_filled(s, data, &options),
                         (cases[i].passes + SURVEY + SVD + CODES + ITERATION + SEAL + RESIDUAL) * 150);
    }
    armilla_data_free(data);
    discard(s);
}

/* Data of many features and few samples: a start by singular vectors takes no more vectors of m than there are
 * directions: three blocks of them would need 305. */
static void test_tall_start(void **state)
{
    enum { M = 60000, N = 20 };
    store *s = make(ARMILLA_F32, M, N);
    armilla_data *data = open_source(s);
    armilla_options options = plain_options(10, 0, 1);
    armilla_model *model = NULL;
    (void)state;
    options.start = "svd";
    options.memory = 260 * (int64_t)M * (int64_t)sizeof(double);
    support_ok(context, armilla_fit(context, data, &options, &model));
    armilla_model_free(model);
    armilla_data_free(data);
    discard(s);
}

static void test_bad_sources(void **state)
{
    store *s = make(ARMILLA_F64, 2, 3);
    const armilla_data_source good = {
        .size = sizeof good, .type = ARMILLA_F64, .m = 2, .n = 3, .fill = fill, .self = s};
    armilla_data_source bad = good;
    armilla_data *data = NULL;
    (void)state;
    support_fails(context, armilla_data_from_source(context, NULL, &data), ARMILLA_BAD_ARGUMENT, "source is NULL");
    bad.size = 8;
    support_fails(context, armilla_data_from_source(context, &bad, &data), ARMILLA_BAD_ARGUMENT, "size");
    bad = good;
    bad.fill = NULL;
    support_fails(context, armilla_data_from_source(context, &bad, &data), ARMILLA_BAD_ARGUMENT, "fill");
    bad = good;
    bad.type = ARMILLA_TYPE_COUNT;
    support_fails(context, armilla_data_from_source(context, &bad, &data), ARMILLA_BAD_ARGUMENT, "type");
    bad = good;
    bad.n = 0;
    support_fails(context, armilla_data_from_source(context, &bad, &data), ARMILLA_BAD_DATA, "0 samples");
    assert_null(data);
    bad = good;
    bad.m = (int64_t)1 << 20; /* more bytes than can be counted, of which none is taken */
    bad.n = (int64_t)1 << 40;
    support_ok(context, armilla_data_from_source(context, &bad, &data));
    armilla_data_free(data);
    discard(s);
}

/* Every writer: the bytes of the same matrix in memory, with less memory than the matrix takes in doubles. */
static void write_both(store *s, const armilla_writer *writer, bool columns)
{
    const armilla_write_options options = {
        .size = sizeof(armilla_write_options), .format = writer->name, .sample_columns = columns, .overwrite = true};
    char a[256], b[256];
    size_t count[2] = {0, 0};
    armilla_data *plain = open_memory(s), *source = open_source(s);
    support_path(a, sizeof a, "a");
    support_path(b, sizeof b, "b");
    armilla_context_set_memory(context, 0);
    support_ok(context, armilla_data_write(context, plain, a, &options));
    armilla_context_set_memory(context, armilla_context_memory_live(context) + (480 << 10));
    support_ok(context, armilla_data_write(context, source, b, &options));
    armilla_context_set_memory(context, 0);
    char *wanted = support_read_file(a, &count[0]), *found = support_read_file(b, &count[1]);
    assert_int_equal(count[0], count[1]);
    assert_memory_equal(wanted, found, count[0]);
    free(wanted);
    free(found);
    armilla_data_free(source);
    armilla_data_free(plain);
}

static void test_same_files(void **state)
{
    (void)state;
    for (size_t row = 0; armilla_writers_row(row); row++)
        for (int type = 0; type < ARMILLA_TYPE_COUNT; type++) {
            const armilla_writer *writer = armilla_writers_row(row);
            store *s = make((armilla_type)type, 30, type == ARMILLA_U8 ? 3000 : 2500);
            write_both(s, writer, false);
            if (strcmp(writer->name, "svmlight") != 0) write_both(s, writer, true);
            discard(s);
        }
}

/* The check of a source: the figures of the same matrix in memory, with less memory than the matrix takes; and a sample
 * that cannot be read is named whatever the number of threads. */
static void test_check_reads_panels(void **state)
{
    (void)state;
    for (int type = 0; type < ARMILLA_TYPE_COUNT; type++) {
        store *s = make((armilla_type)type, 64, 6000);
        armilla_data *plain = open_memory(s), *source = open_source(s);
        armilla_options options = plain_options(2, 3, 2);
        armilla_check wanted, found;
        armilla_model *model = NULL;
        options.center = options.tfidf = true;
        options.precision = "f32";
        support_ok(context, armilla_fit(context, plain, &options, &model));
        support_ok(context, armilla_model_check(context, model, plain, &wanted));
        assert_string_equal(wanted.finding, "");
        armilla_context_set_memory(context, armilla_context_memory_live(context) + (320 << 10));
        support_ok(context, armilla_model_check(context, model, source, &found));
        assert_memory_equal(&wanted, &found, sizeof wanted);
        armilla_context_set_memory(context, 0);
        s->bad_column = 4321;
        support_fails(context, armilla_model_check(context, model, source, &found), ARMILLA_IO_ERROR,
                      "column 4321 is damaged");
        armilla_model_free(model);
        armilla_data_free(source);
        armilla_data_free(plain);
        discard(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_same_bits),
        TEST(test_same_clusters),
        TEST(test_every_column_fails),
        TEST(test_every_call_fails),
        TEST(test_failures_with_another_context),
        TEST(test_gather),
        TEST(test_passes),
        TEST(test_tall_start),
        TEST(test_bad_sources),
        TEST(test_same_files),
        TEST(test_check_reads_panels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
