/* Data that are streamed from a file, because a limit says that they do not fit: the same bits as the same file in memory,
 * for every model, storage, precision, preparation and number of threads; codes in a temporary file; reads that fail, are
 * short or interrupted; a file that becomes shorter. */
#include "data/column.h"
#include "files/npz.h"
#include "model/model.h"
#include "unit/faults.h"
#include "unit/fixture.h"

#include <armilla/cluster.h>

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { M = 40, N = 1500, PATH = 300 };

/* Positive numbers with some structure, most of them 0 where they are to be sparse. */
static double entry(int64_t i, int64_t j, bool sparse)
{
    const double x = fmod((double)(i + 1) * 0.37 + (double)(j + 1) * 0.61803398875, 1);
    if (sparse && fmod((double)(i * 7919 + j * 104729) * 0.754877666, 1) > 0.2) return 0;
    return 1 + floor(126 * x * (j % 3 == i % 3 ? 1 : 0.1)); /* i8 holds them */
}

/* A file of these numbers, one sample after the other, as NumPy's kind of them. */
static void write_npy(const char *path, const char *descriptor, int64_t m, int64_t n, const void *values, size_t bytes)
{
    char header[ARMILLA_ARRAY_HEADER];
    const size_t used = armilla_array_header(descriptor, n, m, false, header);
    char *whole = malloc(used + bytes);
    assert_non_null(whole);
    memcpy(whole, header, used);
    memcpy(whole + used, values, bytes);
    support_write_file(path, whole, used + bytes);
    free(whole);
}

/* The numbers as data in memory of their own. */
static armilla_data *make_data(armilla_type type, int64_t m, int64_t n, bool sparse)
{
    armilla_data *dense = NULL, *data = NULL;
    const size_t size = armilla_type_size(type);
    char *values = NULL;
    armilla_sparse_matrix matrix;
    int64_t entries = 0, at = 0;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) entries += entry(i, j, sparse) != 0;
    if (!sparse) {
        support_ok(context, armilla_take(context, m * n, size, &values));
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++) {
                const double x = entry(i, j, false);
                armilla_store(type, 1, &x, values + (size_t)(j * m + i) * size);
            }
        support_ok(context, armilla_data_own_dense(context, type, values, m, n, &dense));
        return dense;
    }
    support_ok(context, armilla_sparse_take(context, type, m, n, entries, &matrix));
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < m; i++) {
            const double x = entry(i, j, true);
            if (x == 0) continue;
            armilla_store(type, 1, &x, (char *)matrix.values + (size_t)at * size);
            armilla_index_put(matrix.index64, matrix.rows, at++, i);
        }
        armilla_index_put(matrix.index64, matrix.starts, j + 1, at);
    }
    support_ok(context, armilla_data_own_sparse(context, &matrix, &data));
    return data;
}

/* How data can lie in a file. */
static const struct storage {
    const char *name;
    armilla_type type;
    bool sparse;
} storages[] = {
    {"f32.npy", ARMILLA_F32, false},   {"f64.npy", ARMILLA_F64, false},     {"u8.npy", ARMILLA_U8, false},
    {"u8.idx", ARMILLA_U8, false},     {"dense.npz", ARMILLA_F32, false},   {"sparse32.npz", ARMILLA_F32, true},
    {"f64.npz", ARMILLA_F64, false},   {"sparse64.npz", ARMILLA_F64, true}, {"f16.npy", ARMILLA_F16, false},
    {"i8.npy", ARMILLA_I8, false},     {"f16.npz", ARMILLA_F16, false},     {"f32.fbin", ARMILLA_F32, false},
    {"f32.fvecs", ARMILLA_F32, false},
};

enum { STORAGES = sizeof storages / sizeof *storages };

static const char *write_storage(const struct storage *storage, char path[PATH])
{
    armilla_data *data = make_data(storage->type, M, N, storage->sparse);
    armilla_write_options over;
    armilla_write_options_default(&over);
    over.overwrite = true;
    support_path(path, PATH, storage->name);
    support_ok(context, armilla_data_write(context, data, path, &over));
    armilla_data_free(data);
    return path;
}

static armilla_data *open_in_memory(const char *path)
{
    armilla_data *data = NULL;
    support_ok(context, armilla_data_open(context, path, NULL, &data));
    assert_int_equal(armilla_data_bytes_read(data), -1);
    return data;
}

/* A limit for the call that opens it, which the file does not fit into. */
static armilla_status try_to_stream(const char *path, armilla_data **data)
{
    armilla_read_options options;
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    armilla_read_options_default(&options);
    options.memory = armilla_context_memory_live(context) + facts.st_size * 7 / 4;
    return armilla_data_open(context, path, &options, data);
}

static armilla_data *open_streamed(const char *path)
{
    armilla_data *data = NULL;
    support_ok(context, try_to_stream(path, &data));
    assert_true(armilla_data_bytes_read(data) >= 0);
    assert_non_null(strstr(armilla_data_storage(data), "streamed"));
    return data;
}

static void same_models(const armilla_model *a, const armilla_model *b)
{
    const armilla_model_summary *s = &a->summary, *t = &b->summary;
    const size_t size = armilla_type_size(s->precision);
    assert_true(s->fingerprint == t->fingerprint && s->sweeps == t->sweeps && s->passes == t->passes);
    assert_true(s->passes_before == t->passes_before && s->passes_before > 0 && s->passes > s->passes_before);
    assert_memory_equal(&s->radius, &t->radius, sizeof s->radius);
    assert_memory_equal(&s->objective, &t->objective, sizeof s->objective);
    assert_memory_equal(a->U, b->U, (size_t)(s->m * s->rank) * size);
    assert_memory_equal(a->V, b->V, (size_t)(s->rank * s->n) * size);
    assert_int_equal(a->trace_count, b->trace_count);
    for (int64_t k = 0; k < a->trace_count; k++)
        assert_memory_equal(&a->trace[k].objective, &b->trace[k].objective, sizeof a->trace[k].objective);
}

static armilla_options make_options(size_t i)
{
    static const int threads[] = {1, 2, 3, 8};
    static const char *const starts[] = {NULL, "kmeans++", "samples", "svd", "random"};
    const armilla_named_model *row = armilla_models_row(i / STORAGES);
    armilla_options options;
    armilla_options_default(&options);
    options.rank = 3;
    options.max_iter = 3;
    options.threads = threads[i % 4];
    options.model = row->name;
    if (row->sparsity == 0 && armilla_codes_find(row->codes)->sparse) options.sparsity = 2;
    options.log1p = i % 2;
    options.tfidf = i % 3 == 1;
    options.scale = i % 5 == 1;
    options.center = i % 7 == 2 && armilla_basis_find(row->basis)->is_signed;
    options.normalize = i % 4 == 3 ? "l2" : "none";
    options.precision = i % 6 == 5 ? "f64" : i % 6 == 4 ? "f32" : NULL;
    options.start = starts[i / 3 % 5];
    options.restarts = i % 11 == 3 ? 2 : 1;
    return options;
}

/* Every named model in every storage, with one preparation, start and precision or another, on 1 to 8 threads. */
static void test_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; armilla_models_row(i / STORAGES); i++) {
        char path[PATH];
        const armilla_options options = make_options(i);
        armilla_model *a = NULL, *b = NULL;
        write_storage(&storages[i % STORAGES], path);
        armilla_data *memory = open_in_memory(path), *stream = open_streamed(path);
        const armilla_status status = armilla_fit(context, memory, &options, &a);
        assert_int_equal(armilla_fit(context, stream, &options, &b), status);
        if (status == ARMILLA_OK) same_models(a, b);
        if (status == ARMILLA_OK) assert_true(armilla_data_bytes_read(stream) > 0);
        armilla_model_free(a);
        armilla_model_free(b);
        armilla_data_free(stream);
        armilla_data_free(memory);
    }
}

/* Codes of streamed data, and clusters of them. */
static void test_transform_and_clusters(void **state)
{
    (void)state;
    for (size_t i = 0; i < STORAGES; i++) {
        char path[PATH];
        armilla_options options = make_options(i);
        armilla_cluster_options cluster;
        armilla_clustering *first = NULL, *second = NULL;
        armilla_model *model = NULL;
        double *codes = NULL, *others = NULL;
        write_storage(&storages[i], path);
        armilla_data *memory = open_in_memory(path), *stream = open_streamed(path);
        options.precision = "f64";
        support_ok(context, armilla_fit(context, memory, &options, &model));
        support_ok(context, armilla_take(context, 3 * (int64_t)N, sizeof *codes, &codes));
        support_ok(context, armilla_take(context, 3 * (int64_t)N, sizeof *others, &others));
        support_ok(context, armilla_model_transform(context, model, memory, 2, codes));
        support_ok(context, armilla_model_transform(context, model, stream, 3, others));
        assert_memory_equal(codes, others, 3 * N * sizeof *codes);
        armilla_cluster_options_default(&cluster);
        cluster.k = 4;
        cluster.tries = 2;
        support_ok(context, armilla_cluster_data(context, memory, NULL, &cluster, &first));
        support_ok(context, armilla_cluster_data(context, stream, NULL, &cluster, &second));
        assert_memory_equal(armilla_clustering_labels(first), armilla_clustering_labels(second), N * sizeof(int64_t));
        armilla_clustering_free(first);
        armilla_clustering_free(second);
        armilla_release(context, codes);
        armilla_release(context, others);
        armilla_model_free(model);
        armilla_data_free(stream);
        armilla_data_free(memory);
    }
}

/* Single columns in any order, and some samples of them as a view. */
static void test_columns(void **state)
{
    const armilla_selection selection = {.size = sizeof selection, .samples = "3,5-700,702-703,1100-1499"};
    (void)state;
    for (size_t i = 0; i < STORAGES; i++) {
        char path[PATH];
        double x[M], y[M];
        armilla_data *some = NULL, *others = NULL;
        armilla_data_facts facts, same;
        write_storage(&storages[i], path);
        armilla_data *memory = open_in_memory(path), *stream = open_streamed(path);
        for (int64_t k = 0; k < 200; k++) {
            support_ok(context, armilla_data_sample(context, memory, k * 811 % N, x));
            support_ok(context, armilla_data_sample(context, stream, k * 811 % N, y));
            assert_memory_equal(x, y, sizeof x);
        }
        support_ok(context, armilla_data_select(context, memory, &selection, &some));
        support_ok(context, armilla_data_select(context, stream, &selection, &others));
        support_ok(context, armilla_data_survey(context, some, 2, &facts));
        support_ok(context, armilla_data_survey(context, others, 2, &same));
        assert_memory_equal(&facts, &same, sizeof facts);
        armilla_data_free(some);
        armilla_data_free(others);
        armilla_data_free(stream);
        armilla_data_free(memory);
    }
}

/* Numbers of other kinds become those that they become in memory. */
static void test_other_numbers(void **state)
{
    static const struct {
        const char *descriptor;
        int width;
    } kinds[] = {{"i4", 4}, {"f2", 2}, {"i8", 8}, {"u2", 2}, {"b1", 1}, {"i1", 1}};
    enum { COUNT = M * N };
    unsigned char *bytes = calloc(COUNT, 8);
    (void)state;
    assert_non_null(bytes);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int swapped = 0; swapped < 2; swapped++) {
            char path[PATH], *mark;
            armilla_data_facts facts, same;
            size_t count = 0;
            /* Halves and integers that are small whatever their byte order; none is infinite. */
            for (int64_t i = 0; i < (int64_t)COUNT * kinds[k].width; i++) bytes[i] = (unsigned char)(i * 37 % 53);
            support_path(path, sizeof path, "other.npy");
            write_npy(path, kinds[k].descriptor, M, N, bytes, (size_t)COUNT * (size_t)kinds[k].width);
            char *file = support_read_file(path, &count);
            if (swapped && (mark = memchr(file, '<', 64))) *mark = '>';
            support_write_file(path, file, count);
            free(file);
            armilla_data *memory = open_in_memory(path), *stream = open_streamed(path);
            support_ok(context, armilla_data_survey(context, memory, 2, &facts));
            support_ok(context, armilla_data_survey(context, stream, 3, &same));
            assert_memory_equal(&facts, &same, sizeof facts);
            armilla_data_free(memory);
            armilla_data_free(stream);
        }
    free(bytes);
}

/* A file four times the limit, on a limit that data, codes and all else stay below. */
static void test_small_limit(void **state)
{
    enum { FEATURES = 50, SAMPLES = 60000 };
    char path[PATH], folder[PATH];
    armilla_options options;
    armilla_model *a = NULL, *b = NULL;
    armilla_data *data = make_data(ARMILLA_F32, FEATURES, SAMPLES, false), *stream = NULL;
    (void)state;
    support_path(path, sizeof path, "large.npy");
    support_ok(context, armilla_data_write(context, data, path, NULL));
    armilla_options_default(&options);
    options.rank = 10;
    options.max_iter = 3;
    options.threads = 2;
    options.restarts = 2;
    support_ok(context, armilla_fit(context, data, &options, &a));
    const int64_t outside = armilla_context_memory_live(context), limit = (int64_t)FEATURES * SAMPLES;
    armilla_context *small = support_context();
    armilla_context_set_memory(small, limit);
    support_path(folder, sizeof folder, "");
    support_ok(small, armilla_context_set_temporary(small, folder));
    support_ok(small, armilla_data_open(small, path, NULL, &stream));
    support_ok(small, armilla_fit(small, stream, &options, &b));
    assert_true(armilla_context_memory_peak(small) <= limit);
    assert_int_equal(support_entries(), 1);
    same_models(a, b);
    armilla_model_free(b);
    armilla_data_free(stream);
    armilla_context_free(small);
    assert_int_equal(armilla_context_memory_live(context), outside);
    armilla_model_free(a);
    armilla_data_free(data);
}

/* Each system call of opening, surveying and fitting fails in turn: what cannot be read is said, or was not needed. */
static void test_reads_fail(void **state)
{
    static const int errors[] = {EIO, EINTR};
    char path[PATH];
    armilla_data_facts right;
    (void)state;
    for (size_t kind = 0; kind < 2; kind++) {
        write_storage(&storages[kind ? 5 : 2], path);
        armilla_data *memory = open_in_memory(path);
        support_ok(context, armilla_data_survey(context, memory, 1, &right));
        armilla_data_free(memory);
        for (int e = 0; e < 2; e++) {
            fault.only_interruptible = errors[e] == EINTR;
            for (int at = 0; at < 400; at++) {
                armilla_data *stream = NULL;
                armilla_data_facts facts;
                const int next = fault_next_descriptor();
                context->io = &fault_io;
                fault_set(at, errors[e]);
                armilla_status status = try_to_stream(path, &stream);
                if (status == ARMILLA_OK) status = armilla_data_survey(context, stream, 1, &facts);
                armilla_data_free(stream);
                context->io = &armilla_io_system;
                assert_int_equal(fault_next_descriptor(), next);
                if (status == ARMILLA_OK) assert_memory_equal(&facts, &right, sizeof facts);
                if (errors[e] == EINTR) assert_int_equal(status, ARMILLA_OK);
                if (status != ARMILLA_OK) assert_true(status == ARMILLA_IO_ERROR || status == ARMILLA_CANNOT_OPEN);
                if (!fault.hit) break;
            }
        }
        fault.only_interruptible = false;
    }
}

/* A file that becomes shorter in the middle of a pass, wherever that is. */
static void test_cut(void **state)
{
    char path[PATH];
    (void)state;
    for (size_t i = 0; i < STORAGES; i++)
        for (int threads = 1; threads <= 3; threads += 2) {
            armilla_data_facts facts;
            write_storage(&storages[i], path);
            armilla_data *stream = open_streamed(path);
            assert_int_equal(truncate(path, 5000 + (off_t)(i % 8) * 7001), 0);
            support_fails(context, armilla_data_survey(context, stream, threads, &facts), ARMILLA_IO_ERROR,
                          "became shorter while it was read: byte");
            armilla_data_free(stream);
        }
}

/* A CSR archive of our own making. */
static void write_csr(const char *path, int64_t n, const int32_t *features, const float *values, const int32_t *starts)
{
    const int64_t shape[2] = {n, 9}, of_two[2] = {2, -1}, single[2] = {-1, -1}, of_starts[2] = {n + 1, -1};
    const int64_t of_entries[2] = {starts[n], -1};
    const size_t entries = (size_t)starts[n];
    armilla_npz_writer *writer = NULL;
    support_ok(context, armilla_npz_writer_new(context, path, true, &writer));
    support_ok(context, armilla_npz_writer_add_raw(writer, "format", "S3", single, "csr", 3));
    support_ok(context, armilla_npz_writer_add_raw(writer, "shape", "i8", of_two, shape, sizeof shape));
    support_ok(context, armilla_npz_writer_add_raw(writer, "data", "f4", of_entries, values, entries * sizeof *values));
    support_ok(context,
               armilla_npz_writer_add_raw(writer, "indices", "i4", of_entries, features, entries * sizeof *features));
    support_ok(context,
               armilla_npz_writer_add_raw(writer, "indptr", "i4", of_starts, starts, (size_t)(n + 1) * sizeof *starts));
    support_ok(context, armilla_npz_writer_commit(writer));
    armilla_npz_writer_free(writer);
}

/* Features of a sample in any order; one of them twice, and one that is none. */
static void test_order_of_features(void **state)
{
    enum { SAMPLES = 20000, EACH = 5 };
    int32_t *features = malloc(SAMPLES * EACH * sizeof *features), *starts = malloc((SAMPLES + 1) * sizeof *starts);
    float *values = malloc(SAMPLES * EACH * sizeof *values);
    char path[PATH];
    armilla_data_facts facts, same;
    (void)state;
    assert_true(features && starts && values);
    for (int32_t j = 0; j <= SAMPLES; j++) starts[j] = EACH * j;
    for (int32_t i = 0; i < SAMPLES * EACH; i++) {
        features[i] = (i % EACH * (i / EACH % 2 ? 2 : 7) + i / EACH) % 9;
        values[i] = (float)(1 + i % 17);
    }
    support_path(path, sizeof path, "order.npz");
    write_csr(path, SAMPLES, features, values, starts);
    armilla_data *memory = open_in_memory(path), *stream = open_streamed(path);
    support_ok(context, armilla_data_survey(context, memory, 2, &facts));
    support_ok(context, armilla_data_survey(context, stream, 2, &same));
    assert_memory_equal(&facts, &same, sizeof facts);
    armilla_data_free(memory);
    armilla_data_free(stream);
    features[7001 * EACH + 1] = features[7001 * EACH + 4];
    write_csr(path, SAMPLES, features, values, starts);
    stream = open_streamed(path);
    support_fails(context, armilla_data_survey(context, stream, 2, &same), ARMILLA_BAD_DATA, "sample 7002");
    armilla_data_free(stream);
    features[7001 * EACH + 1] = 9;
    write_csr(path, SAMPLES, features, values, starts);
    stream = open_streamed(path);
    support_fails(context, armilla_data_survey(context, stream, 2, &same), ARMILLA_BAD_DATA, "entry 35006");
    armilla_data_free(stream);
    free(features);
    free(values);
    free(starts);
}

/* What cannot be streamed and does not fit: what to do is said. */
static void test_what_cannot_be(void **state)
{
    char path[PATH], text[40000];
    armilla_data *data = NULL;
    double *values = calloc(M * (size_t)N, sizeof *values);
    const armilla_read_options columns = {.size = sizeof columns, .sample_columns = true, .memory = 300000};
    (void)state;
    assert_non_null(values);
    for (size_t i = 0; i + 4 <= sizeof text; i += 4) memcpy(text + i, i % 8 ? "1,2\n" : "3,4\n", 4);
    support_path(path, sizeof path, "text.csv");
    support_write_file(path, text, sizeof text);
    support_fails(context, try_to_stream(path, &data), ARMILLA_NO_MEMORY, "armilla convert");
    support_path(path, sizeof path, "turned.npy");
    write_npy(path, "f8", M, N, values, M * (size_t)N * sizeof *values);
    support_fails(context, armilla_data_open(context, path, &columns, &data), ARMILLA_NO_MEMORY, "armilla convert");
    assert_null(data);
    free(values);
}

/* Contexts that never map stream all the same; damaged headers are told as ever. */
static void test_never_mapped_and_damaged(void **state)
{
    char path[PATH];
    (void)state;
    armilla_context_set_never_map(context, true);
    for (size_t i = 0; i < STORAGES; i++) {
        size_t count = 0;
        armilla_data *data = NULL;
        armilla_data_free(open_streamed(write_storage(&storages[i], path)));
        char *file = support_read_file(path, &count);
        support_write_file(path, file, count - 1);
        assert_int_equal(try_to_stream(path, &data), ARMILLA_BAD_DATA);
        assert_null(data);
        free(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_same_bits),
        TEST(test_transform_and_clusters),
        TEST(test_columns),
        TEST(test_other_numbers),
        TEST(test_small_limit),
        TEST(test_reads_fail),
        TEST(test_cut),
        TEST(test_order_of_features),
        TEST(test_what_cannot_be),
        TEST(test_never_mapped_and_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
