/* Past 2^31 rows, columns or entries indices have 64 bits. Here the bound is 0, so that small matrices have them too:
 * whatever is done with sparse data gives the same numbers as with 32 bits. */
#include "support.h"

#include "base/context.h"
#include "data/data.h"
#include "reference/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 40, N = 300, MOST_PER_SAMPLE = 12, MOST = N * MOST_PER_SAMPLE };

static armilla_context *narrow, *wide;
static support_allocator allocators[2];

/* One matrix with both kinds of indices: features in no order, some twice, samples without any. */
static double values[MOST];
static int32_t features32[MOST], starts32[N + 1];
static int64_t features64[MOST], starts64[N + 1];

static void draw(uint64_t seed)
{
    int64_t used = 0;
    for (int64_t j = 0; j < N; j++) {
        const int64_t count = (int64_t)reference_below(&seed, MOST_PER_SAMPLE);
        for (int64_t k = 0; k < count; k++, used++) {
            features64[used] = (int64_t)reference_below(&seed, M);
            features32[used] = (int32_t)features64[used];
            values[used] = (double)(1 + reference_below(&seed, 1000)) / 8;
        }
        starts64[j + 1] = used;
        starts32[j + 1] = (int32_t)used;
    }
}

static int set_up(void **state)
{
    (void)state;
    allocators[0] = allocators[1] = SUPPORT_ALLOCATOR;
    narrow = support_context_with(&allocators[0]);
    wide = support_context_with(&allocators[1]);
    wide->most_narrow = 0;
    draw(7);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    armilla_context_free(narrow);
    armilla_context_free(wide);
    support_clean();
    assert_int_equal(allocators[0].live + allocators[1].live, 0);
    return 0;
}

static armilla_data *wrap(armilla_context *context, bool indices64)
{
    armilla_data *data = NULL;
    support_ok(context, armilla_data_wrap_sparse(context, ARMILLA_F64, indices64 ? ARMILLA_I64 : ARMILLA_I32, values,
                                                 indices64 ? (const void *)features64 : features32,
                                                 indices64 ? (const void *)starts64 : starts32, M, N, &data));
    return data;
}

static void check_same(const armilla_data *a, const armilla_data *b)
{
    const int64_t m = armilla_data_features(a), n = armilla_data_samples(a);
    double x[N], y[N]; /* as long as a sample of either orientation */
    assert_int_equal(armilla_data_features(b), m);
    assert_int_equal(armilla_data_samples(b), n);
    assert_int_equal(armilla_data_stored(a), armilla_data_stored(b));
    assert_true(m <= N);
    for (int64_t j = 0; j < n; j++) {
        support_ok(narrow, armilla_data_sample(narrow, a, j, x));
        support_ok(narrow, armilla_data_sample(narrow, b, j, y));
        assert_memory_equal(x, y, (size_t)m * sizeof *x);
    }
}

/* Features in no order are sorted into a copy, whatever the indices given and whatever those of the copy. */
static void sorts_and_adds_up(void **state)
{
    (void)state;
    armilla_data *wanted = wrap(narrow, false);
    double sample[M];
    for (int64_t j = 0; j < N; j++) { /* the sums themselves */
        double sums[M] = {0};
        for (int64_t i = starts64[j]; i < starts64[j + 1]; i++) sums[features64[i]] += values[i];
        support_ok(narrow, armilla_data_sample(narrow, wanted, j, sample));
        assert_memory_equal(sums, sample, sizeof sums);
    }
    for (int i = 1; i < 4; i++) {
        armilla_data *data = wrap(i & 1 ? wide : narrow, i & 2);
        assert_int_equal(support_has_index64(data), i & 1);
        check_same(wanted, data);
        armilla_data_free(data);
    }
    armilla_data_free(wanted);
}

static void refuses_indices_of_either_width(void **state)
{
    (void)state;
    const int64_t last = starts64[N];
    armilla_data *data = NULL;
    for (int i = 0; i < 2; i++) {
        const armilla_index index = i ? ARMILLA_I64 : ARMILLA_I32;
        const void *features = i ? (const void *)features64 : features32,
                   *starts = i ? (const void *)starts64 : starts32;
        features32[3] = M;
        features64[3] = M;
        support_fails(wide, armilla_data_wrap_sparse(wide, ARMILLA_F64, index, values, features, starts, M, N, &data),
                      ARMILLA_BAD_DATA, "has the index 40, which is not between 0 and 39");
        features32[3] = -1;
        features64[3] = -1;
        support_fails(wide, armilla_data_wrap_sparse(wide, ARMILLA_F64, index, values, features, starts, M, N, &data),
                      ARMILLA_BAD_DATA, "has the index -1");
        features32[3] = 0;
        features64[3] = 0;
        starts32[N / 2] = (int32_t)last + 1;
        starts64[N / 2] = last + 1;
        support_fails(wide, armilla_data_wrap_sparse(wide, ARMILLA_F64, index, values, features, starts, M, N, &data),
                      ARMILLA_BAD_DATA, "the start of sparse column 150");
        draw(7);
    }
    assert_null(data);
}

/* Written with indices of either width, in each orientation: text has the same bytes, and all read back the same. */
static void writes_and_reads(void **state)
{
    static const char *const names[] = {"x.npz", "x.mtx", "x.svm", "x.csv"};
    (void)state;
    armilla_data *first = wrap(narrow, false), *second = wrap(wide, true);
    for (size_t i = 0; i < 2 * sizeof names / sizeof *names; i++) {
        const armilla_write_options to = {
            .size = sizeof(armilla_write_options), .sample_columns = i & 1, .overwrite = true};
        const armilla_read_options from = {
            .size = sizeof(armilla_read_options), .sample_columns = i & 1, .header = i / 2 == 3 ? "no" : NULL};
        char path[256];
        size_t counts[2];
        char *bytes[2];
        if (i == 5) continue; /* svmlight has samples on its lines */
        support_path(path, sizeof path, names[i / 2]);
        for (int k = 0; k < 2; k++) {
            armilla_context *writer = k ? wide : narrow, *reader = k ? narrow : wide;
            armilla_data *back = NULL;
            support_ok(writer, armilla_data_write(writer, k ? second : first, path, &to));
            bytes[k] = support_read_file(path, &counts[k]);
            support_ok(reader, armilla_data_open(reader, path, &from, &back));
            if (i / 2 < 2) check_same(first, back);
            armilla_data_free(back);
            support_ok(writer, armilla_data_open(writer, path, &from, &back));
            if (i / 2 < 2) check_same(first, back);
            armilla_data_free(back);
        }
        if (i / 2 > 0) assert_int_equal(counts[0], counts[1]);
        if (i / 2 > 0) assert_memory_equal(bytes[0], bytes[1], counts[0]);
        free(bytes[0]);
        free(bytes[1]);
    }
    armilla_data_free(first);
    armilla_data_free(second);
}

static void selects(void **state)
{
    const armilla_selection choices[] = {{.size = sizeof choices[0], .samples = "5-60,70,299"},
                                         {.size = sizeof choices[0], .features = "1,3-20,40"},
                                         {.size = sizeof choices[0], .samples = "2-200", .features = "7-33"}};
    (void)state;
    armilla_data *first = wrap(narrow, false), *second = wrap(wide, true);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        armilla_data *a = NULL, *b = NULL;
        support_ok(narrow, armilla_data_select(narrow, first, &choices[i], &a));
        support_ok(wide, armilla_data_select(wide, second, &choices[i], &b));
        check_same(a, b);
        armilla_data_free(a);
        armilla_data_free(b);
    }
    armilla_data_free(first);
    armilla_data_free(second);
}

/* Preparation, screening of starts, fit, transform and check. */
static void fits(void **state)
{
    (void)state;
    armilla_data *data[2] = {wrap(narrow, false), wrap(wide, true)};
    for (int kind = 0; kind < 6; kind++) {
        armilla_context *const contexts[2] = {narrow, wide};
        armilla_model *models[2] = {NULL, NULL};
        const size_t size = kind % 2 ? sizeof(double) : sizeof(float);
        armilla_options options;
        armilla_options_default(&options);
        options.rank = 4;
        options.threads = 2;
        options.restarts = 3;
        options.max_iter = 20;
        options.precision = kind % 2 ? "f64" : "f32";
        options.normalize = kind < 4 ? "l2" : "none";
        options.center = kind < 2;
        options.tfidf = kind >= 2 && kind < 4;
        for (int i = 0; i < 2; i++) {
            char codes[4 * N * sizeof(double)];
            armilla_check check;
            support_ok(contexts[i], armilla_fit(contexts[i], data[i], &options, &models[i]));
            support_ok(contexts[i], armilla_model_transform(contexts[i], models[i], data[i], 1, codes));
            assert_memory_equal(codes, armilla_model_codes(models[0]), 4 * N * size);
            support_ok(contexts[i], armilla_model_check(contexts[i], models[i], data[i], &check));
            assert_true(check.passed);
        }
        assert_memory_equal(armilla_model_basis(models[0]), armilla_model_basis(models[1]), 4 * M * size);
        for (int i = 0; i < 2; i++) armilla_model_free(models[i]);
    }
    for (int i = 0; i < 2; i++) armilla_data_free(data[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sorts_and_adds_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_indices_of_either_width, set_up, tear_down),
        cmocka_unit_test_setup_teardown(writes_and_reads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(selects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fits, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
