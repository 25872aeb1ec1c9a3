/* Data in short types are the same numbers in f32 or f64: whatever is made of them, a model with all its bits, codes,
 * clusters, a choice of features, a file, is what the same numbers in f32 give; and so are the complaints about them. */
#include "unit/fixture.h"

#include "data/data.h"
#include "model/model.h"
#include "reference/reference.h"

#include <armilla/cluster.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 21, N = 300, LARGE = 4000, PATH = 300 };

static const armilla_type types[] = {ARMILLA_F16, ARMILLA_BF16, ARMILLA_I8, ARMILLA_U8};
enum { TYPES = sizeof types / sizeof *types };

/* One matrix twice: in a short type and in f32. */
typedef struct twins {
    armilla_type type;
    void *narrow;
    float *single;
    armilla_data *data, *plain;
} twins;

/* A number that needs all bits of the type: whole, or times a power of two, so that some of f16 are subnormal. */
static double draw(uint64_t *random, armilla_type type, bool positive, double low)
{
    static const int most[] = {[ARMILLA_F16] = 2048, [ARMILLA_BF16] = 256, [ARMILLA_I8] = 128, [ARMILLA_U8] = 256};
    const bool whole = type == ARMILLA_I8 || type == ARMILLA_U8;
    const double size = (double)reference_below(random, most[type]);
    const int exponent = whole ? 0 : (int)reference_below(random, 12) - 24;
    const double value = ldexp(floor(size * (reference_uniform(random) < low ? 0.1 : 1)), exponent);
    const bool minus = !positive && type != ARMILLA_U8 && reference_uniform(random) < 0.5;
    return minus && (value > 0 || type != ARMILLA_I8) ? -value : value; /* integers have no -0 */
}

static twins make_twins(armilla_type type, int64_t n, uint64_t seed, bool positive)
{
    twins t = {.type = type,
               .narrow = calloc((size_t)(M * n), armilla_type_size(type)),
               .single = calloc((size_t)(M * n), sizeof(float))};
    for (int64_t i = 0; i < M * n; i++) {
        const double x = draw(&seed, type, positive, (i / M + i % M) % 3 ? 0.9 : 0.1);
        armilla_store(type, 1, &x, (char *)t.narrow + (size_t)i * armilla_type_size(type));
        t.single[i] = (float)x;
        assert_true((double)t.single[i] == x);
    }
    support_ok(context, armilla_data_wrap_dense(context, type, t.narrow, M, n, M, &t.data));
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F32, t.single, M, n, M, &t.plain));
    return t;
}

static void free_twins(twins *t)
{
    armilla_data_free(t->data);
    armilla_data_free(t->plain);
    free(t->narrow);
    free(t->single);
}

static void same_models(const armilla_model *a, const armilla_model *b)
{
    const armilla_model_summary *s = &a->summary, *o = &b->summary;
    const size_t size = armilla_type_size(s->precision);
    assert_int_equal(s->precision, o->precision);
    assert_true(s->fingerprint == o->fingerprint && s->sweeps == o->sweeps && s->squared_norm == o->squared_norm);
    assert_memory_equal(&s->radius, &o->radius, sizeof s->radius);
    assert_memory_equal(&s->objective, &o->objective, sizeof s->objective);
    assert_memory_equal(a->U, b->U, (size_t)(s->m * s->rank) * size);
    assert_memory_equal(a->V, b->V, (size_t)(s->rank * s->n) * size);
    assert_int_equal(a->trace_count, b->trace_count);
    for (int64_t k = 0; k < a->trace_count; k++)
        assert_memory_equal(&a->trace[k].objective, &b->trace[k].objective, sizeof a->trace[k].objective);
}

static armilla_options make_options(size_t i, const reference_pair *pair)
{
    static const char *const starts[] = {NULL, "samples", "svd", "random"};
    armilla_options o;
    armilla_options_default(&o);
    o.rank = 4;
    o.max_iter = 3;
    o.basis = pair->basis;
    o.codes = pair->codes;
    o.sparsity = pair->sparse ? 2 : 0;
    o.threads = 1 + (int64_t)i % 3;
    o.normalize = i % 2 ? "l2" : "none";
    o.log1p = i % 3 == 1;
    o.tfidf = i % 5 == 2;
    o.scale = i % 4 == 3;
    o.center = i % 7 == 4 && pair->orthonormal;
    o.precision = i % 3 == 2 ? "f64" : NULL;
    o.start = starts[i / 2 % 4];
    o.restarts = i % 6 == 5 ? 2 : 1;
    return o;
}

/* Every pair in every type, with one preparation, start and precision or another, on 1 to 3 threads; and its codes and
 * its check. */
static void same_fits(void **state)
{
    (void)state;
    for (size_t i = 0; i < REFERENCE_FAMILY * TYPES; i += (size_t)reference_effort(1, 7)) {
        const reference_pair *pair = &reference_family[i / TYPES];
        if (!pair->basis) continue;
        armilla_options options = make_options(i, pair);
        twins t = make_twins(types[i % TYPES], N, i + 1, options.log1p || pair->nonnegative_codes);
        armilla_model *a = NULL, *b = NULL;
        armilla_check first, second;
        char words[ARMILLA_MESSAGE];
        double *codes = calloc(8 * N, sizeof *codes);
        const armilla_status status = armilla_fit(context, t.data, &options, &a);
        snprintf(words, sizeof words, "%s", armilla_context_error(context));
        options.threads = 4 - options.threads;
        assert_int_equal(armilla_fit(context, t.plain, &options, &b), status);
        if (status == ARMILLA_OK) {
            same_models(a, b);
            support_ok(context, armilla_model_transform(context, b, t.data, 2, codes));
            if (b->summary.sealed)
                assert_memory_equal(codes, b->V, (size_t)(4 * N) * armilla_type_size(b->summary.precision));
            support_ok(context, armilla_model_check(context, a, t.data, &first));
            support_ok(context, armilla_model_check(context, a, t.plain, &second));
            assert_string_equal(first.finding, "");
            assert_memory_equal(&first, &second, sizeof first);
        } else {
            assert_string_equal(words, armilla_context_error(context));
        }
        armilla_model_free(a);
        armilla_model_free(b);
        free(codes);
        free_twins(&t);
    }
}

static void same_clusters(void **state)
{
    static const char *const methods[] = {"kmeans", "euclidean"};
    (void)state;
    for (int i = 0; i < 2 * TYPES; i++) {
        twins t = make_twins(types[i / 2], N, 77, true);
        armilla_cluster_options options;
        armilla_clustering *a = NULL, *b = NULL;
        armilla_cluster_options_default(&options);
        options.k = 4;
        options.tries = 2;
        options.method = methods[i % 2];
        support_ok(context, armilla_cluster_data(context, t.data, NULL, &options, &a));
        support_ok(context, armilla_cluster_data(context, t.plain, NULL, &options, &b));
        assert_memory_equal(armilla_clustering_labels(a), armilla_clustering_labels(b), N * sizeof(int64_t));
        armilla_clustering_free(a);
        armilla_clustering_free(b);
        free_twins(&t);
    }
}

/* Of text the floats that are meant. */
static void same_numbers(const armilla_data *a, const armilla_data *b, bool text)
{
    double x[M], y[M];
    assert_int_equal(armilla_data_features(a), armilla_data_features(b));
    assert_int_equal(armilla_data_samples(a), armilla_data_samples(b));
    for (int64_t j = 0; j < armilla_data_samples(a); j++) {
        support_ok(context, armilla_data_sample(context, a, j, x));
        support_ok(context, armilla_data_sample(context, b, j, y));
        if (text) reference_round_to_f32(armilla_data_features(a), x);
        assert_memory_equal(x, y, (size_t)armilla_data_features(a) * sizeof *x);
    }
}

/* A choice of features is a copy in the same type, one of samples a view of it. */
static void same_choices(void **state)
{
    static const armilla_selection choices[] = {
        {.size = sizeof *choices, .features = "2,4-7,21"},
        {.size = sizeof *choices, .samples = "1,50-300"},
        {.size = sizeof *choices, .features = "3-20", .samples = "5-9,200-300"},
    };
    (void)state;
    for (int i = 0; i < 3 * TYPES; i++) {
        twins t = make_twins(types[i / 3], N, (uint64_t)i, false);
        armilla_data *a = NULL, *b = NULL;
        armilla_data_facts first, second;
        support_ok(context, armilla_data_select(context, t.data, &choices[i % 3], &a));
        support_ok(context, armilla_data_select(context, t.plain, &choices[i % 3], &b));
        assert_int_equal(armilla_data_type(a), t.type);
        same_numbers(a, b, false);
        support_ok(context, armilla_data_survey(context, a, 2, &first));
        support_ok(context, armilla_data_survey(context, b, 2, &second));
        assert_memory_equal(&first, &second, sizeof first);
        armilla_data_free(a);
        armilla_data_free(b);
        free_twins(&t);
    }
}

/* Written as they are where the format can, bf16 as f32; read again, mapped or streamed, they are the same numbers. */
static void same_files(void **state)
{
    static const char *const names[] = {"a.npy", "a.npz", "a.csv", "a.mtx"};
    (void)state;
    for (int i = 0; i < 4 * TYPES; i++)
        for (int columns = 0; columns < 2; columns++) {
            twins t = make_twins(types[i / 4], LARGE, 5, false);
            char path[PATH], storage[64];
            armilla_data *read = NULL;
            armilla_write_options writing;
            armilla_read_options reading;
            const armilla_type kept = t.type == ARMILLA_BF16 ? ARMILLA_F32 : t.type;
            armilla_write_options_default(&writing);
            armilla_read_options_default(&reading);
            writing.overwrite = true;
            reading.sample_columns = writing.sample_columns = columns;
            support_path(path, sizeof path, names[i % 4]);
            support_ok(context, armilla_data_write(context, t.data, path, &writing));
            support_ok(context, armilla_data_open(context, path, &reading, &read));
            same_numbers(read, t.plain, i % 4 >= 2);
            snprintf(storage, sizeof storage, "dense %s", armilla_type_word(kept));
            if (i % 4 < 2) assert_string_equal(armilla_data_storage(read), storage);
            armilla_data_free(read);
            reading.memory =
                armilla_context_memory_live(context) + M * LARGE * (int64_t)armilla_type_size(kept) * 7 / 4;
            snprintf(storage, sizeof storage, "streamed dense %s", armilla_type_word(kept));
            if (i % 4 < 2) {
                support_ok(context, armilla_data_open(context, path, &reading, &read));
                assert_string_equal(armilla_data_storage(read), storage);
                same_numbers(read, t.plain, i % 4 >= 2);
                armilla_data_free(read);
            }
            free_twins(&t);
        }
}

/* What cannot be computed with is found and named as in f32. */
static void same_complaints(void **state)
{
    static const struct {
        armilla_type type;
        uint16_t word;
        float value;
    } bad[] = {{ARMILLA_F16, 0x7c00, INFINITY}, {ARMILLA_F16, 0xfc00, -INFINITY}, {ARMILLA_F16, 0x7c01, NAN},
               {ARMILLA_F16, 0xffff, NAN},      {ARMILLA_BF16, 0x7f80, INFINITY}, {ARMILLA_BF16, 0xff80, -INFINITY},
               {ARMILLA_BF16, 0x7f81, NAN},     {ARMILLA_BF16, 0xffff, NAN},      {ARMILLA_BF16, 0x7f00, 0x1p127f}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        twins t = make_twins(bad[i].type, N, i, true);
        armilla_options options;
        armilla_model *model = NULL;
        char words[ARMILLA_MESSAGE];
        ((uint16_t *)t.narrow)[17 * M + 4] = bad[i].word;
        t.single[17 * M + 4] = bad[i].value;
        armilla_options_default(&options);
        options.rank = 3;
        assert_int_equal(armilla_fit(context, t.plain, &options, &model), ARMILLA_BAD_DATA);
        snprintf(words, sizeof words, "%s", armilla_context_error(context));
        support_fails(context, armilla_fit(context, t.data, &options, &model), ARMILLA_BAD_DATA, words);
        if (!isfinite(bad[i].value)) assert_non_null(strstr(words, "sample 18, feature 5 "));
        free_twins(&t);
    }
}

static void words_and_sizes(void **state)
{
    static const char *const words[] = {"f32", "f64", "u8", "f16", "bf16", "i8"};
    static const size_t sizes[] = {4, 8, 1, 2, 2, 1};
    const double X[8] = {0};
    armilla_data *data = NULL;
    (void)state;
    assert_int_equal(ARMILLA_TYPE_COUNT, 6);
    for (int type = 0; type < ARMILLA_TYPE_COUNT; type++) {
        assert_string_equal(armilla_type_word((armilla_type)type), words[type]);
        assert_int_equal(armilla_type_size((armilla_type)type), sizes[type]);
        assert_int_equal(armilla_type_precision((armilla_type)type), type == ARMILLA_F64 ? ARMILLA_F64 : ARMILLA_F32);
        support_ok(context, armilla_data_wrap_dense(context, (armilla_type)type, X, 2, 2, 2, &data));
        assert_string_equal(armilla_data_storage(data) + strlen("dense "), words[type]);
        armilla_data_free(data);
        const void *odd = (const char *)X + 1;
        if (sizes[type] > 1)
            support_fails(context, armilla_data_wrap_dense(context, (armilla_type)type, odd, 2, 2, 2, &data),
                          ARMILLA_BAD_ARGUMENT, "aligned");
        const int32_t starts[2] = {0, 0};
        if (type >= ARMILLA_PRECISION_COUNT)
            support_fails(
                context,
                armilla_data_wrap_sparse(context, (armilla_type)type, ARMILLA_I32, X, starts, starts, 2, 1, &data),
                ARMILLA_BAD_ARGUMENT, "values are f32 or f64");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(same_fits),  TEST(same_clusters),   TEST(same_choices),
        TEST(same_files), TEST(same_complaints), TEST(words_and_sizes),
    };
    return cmocka_run_group_tests_name("short types", tests, NULL, NULL);
}
