/* What callers of the library can get wrong: each call says what it is, and leaves its output alone. */
#include "support.h"

#include "reference/reference.h"

#include <armilla/armilla.h>

#include <string.h>

enum { M = 6, N = 20 };

static armilla_context *context;
static support_allocator allocator;
static double X[M * N];

static int set_up(void **state)
{
    uint64_t random = 11;
    (void)state;
    support_begin(&allocator, &context);
    reference_fill_normal(&random, M * N, X);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    support_end(&allocator, context);
    return 0;
}

static void dense_data(void **state)
{
    armilla_data *data = NULL;
    double sample[M];
    (void)state;
#define REFUSES(type, values, m, n, stride, status, words)                                                             \
    support_fails(context, armilla_data_wrap_dense(context, type, values, m, n, stride, &data), status, words)
    REFUSES(ARMILLA_F64, X, 0, N, M, ARMILLA_BAD_DATA, "at least one of each");
    REFUSES(ARMILLA_F64, X, M, -1, M, ARMILLA_BAD_DATA, "at least one of each");
    REFUSES(ARMILLA_F64, X, INT64_C(1) << 31, 1, INT64_C(1) << 31, ARMILLA_BAD_DATA, "are too many");
    REFUSES(ARMILLA_F64, X, INT32_MAX, INT64_MAX / 2, M, ARMILLA_BAD_DATA, "are too many");
    REFUSES((armilla_type)99, X, M, N, M, ARMILLA_BAD_ARGUMENT, "the number type 99 is unknown");
    REFUSES((armilla_type)-1, X, M, N, M, ARMILLA_BAD_ARGUMENT, "the number type -1 is unknown");
    REFUSES(ARMILLA_F64, NULL, M, N, M, ARMILLA_BAD_ARGUMENT, "values is NULL");
    REFUSES(ARMILLA_F64, X, M, N, M - 1, ARMILLA_BAD_ARGUMENT, "a stride of 5 does not fit 6 features and 20 samples");
    REFUSES(ARMILLA_F64, X, M, N, INT64_MAX / 2, ARMILLA_BAD_ARGUMENT, "a stride of");
    REFUSES(ARMILLA_F64, X, M, N, INT64_MAX / N, ARMILLA_BAD_ARGUMENT, "a stride of"); /* in bytes */
    REFUSES(ARMILLA_F64, (const char *)X + 4, M, N, M, ARMILLA_BAD_ARGUMENT, "not aligned");
#undef REFUSES
    assert_null(data);
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, &data));
    support_fails(context, armilla_data_sample(context, data, N, sample), ARMILLA_BAD_ARGUMENT, "sample 20 does not");
    support_fails(context, armilla_data_sample(context, data, -1, sample), ARMILLA_BAD_ARGUMENT, "sample -1 does not");
    armilla_data_free(data);
}

static void sparse_data(void **state)
{
    static const int32_t features[] = {0, 1, 2}, starts[] = {0, 2, 3}, none[] = {0, 0, 0};
    armilla_data *data = NULL;
    (void)state;
#define REFUSES(type, index, values, features, starts, words)                                                          \
    support_fails(context, armilla_data_wrap_sparse(context, type, index, values, features, starts, 3, 2, &data),      \
                  ARMILLA_BAD_ARGUMENT, words)
    REFUSES(ARMILLA_U8, ARMILLA_I32, X, features, starts, "values are f32 or f64");
    REFUSES((armilla_type)99, ARMILLA_I32, X, features, starts, "values are f32 or f64, not type 99");
    REFUSES(ARMILLA_F64, (armilla_index)7, X, features, starts, "the index type 7 is unknown");
    REFUSES(ARMILLA_F64, ARMILLA_I32, X, features, NULL, "starts is NULL");
    REFUSES(ARMILLA_F64, ARMILLA_I32, NULL, features, starts, "the values or their features are NULL");
    REFUSES(ARMILLA_F64, ARMILLA_I32, X, NULL, starts, "the values or their features are NULL");
    REFUSES(ARMILLA_F64, ARMILLA_I32, (const char *)X + 4, features, starts, "not aligned");
    REFUSES(ARMILLA_F64, ARMILLA_I32, X, (const char *)features + 1, starts, "not aligned");
    REFUSES(ARMILLA_F64, ARMILLA_I32, X, features, (const char *)starts + 2, "not aligned");
#undef REFUSES
    assert_null(data);
    support_ok(context, armilla_data_wrap_sparse(context, ARMILLA_F64, ARMILLA_I32, NULL, NULL, none, 3, 2, &data));
    assert_int_equal(armilla_data_stored(data), 0); /* no entries need no arrays */
    armilla_data_free(data);
}

static void names(void **state)
{
    static const char *const texts[M] = {"a", NULL, "c", "d", "e", "f"};
    armilla_data *data = NULL;
    (void)state;
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, &data));
    support_fails(context, armilla_data_set_names(data, (armilla_naming)9, texts, M), ARMILLA_BAD_ARGUMENT, "kind");
    support_fails(context, armilla_data_set_names(data, ARMILLA_FEATURE_NAMES, NULL, M), ARMILLA_BAD_ARGUMENT, "texts");
    assert_null(armilla_data_name(data, ARMILLA_FEATURE_NAMES, 0));
    support_ok(context, armilla_data_set_names(data, ARMILLA_FEATURE_NAMES, texts, M));
    assert_string_equal(armilla_data_name(data, ARMILLA_FEATURE_NAMES, 1), ""); /* none is an empty one */
    armilla_data_free(data);
}

static void tables_and_words(void **state)
{
    armilla_table_row row = {.name = "untouched"};
    (void)state;
    assert_null(armilla_table_name((armilla_table)ARMILLA_TABLE_COUNT));
    assert_null(armilla_table_name((armilla_table)-1));
    assert_false(armilla_table_get((armilla_table)ARMILLA_TABLE_COUNT, 0, &row));
    assert_string_equal(row.name, "untouched");
    for (int table = 0; table < ARMILLA_TABLE_COUNT; table++) {
        size_t rows = 0;
        assert_non_null(armilla_table_name((armilla_table)table));
        while (armilla_table_get((armilla_table)table, rows, &row)) {
            assert_true(row.name && *row.name && row.meaning && *row.meaning && row.alias && row.use);
            rows++;
        }
        assert_true(rows > 0);
        assert_false(armilla_table_get((armilla_table)table, rows + 100, &row));
    }
    assert_string_equal(armilla_stage_word((armilla_stage)ARMILLA_STAGE_COUNT), "unknown");
    assert_string_equal(armilla_stage_word((armilla_stage)-1), "unknown");
    assert_string_equal(armilla_context_error(NULL), "there is no context");
}

static void fits(void **state)
{
    armilla_data *data = NULL;
    armilla_model *model = NULL, *other = NULL;
    armilla_options options;
    (void)state;
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, &data));
    armilla_options_default(&options);
    options.rank = M + 1;
    support_fails(context, armilla_fit(context, data, &options, &model), ARMILLA_BAD_DATA, "more than the 6 features");
    options.basis = "nonnegative";
    options.codes = "sphere";
    options.rank = INT64_C(1) << 40;
    support_fails(context, armilla_fit(context, data, &options, &model), ARMILLA_BAD_DATA, "is too large for data");
    options.rank = 2;
    options.max_iter = 1;
    support_ok(context, armilla_fit(context, data, &options, &model));
    options.start_model = model;
    options.rank = 3;
    support_fails(context, armilla_fit(context, data, &options, &other), ARMILLA_BAD_DATA,
                  "has 6 features, 20 samples and rank 2, but 6, 20 and 3 are needed");
    armilla_data_free(data);
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N - 1, M, &data));
    options.rank = 2;
    support_fails(context, armilla_fit(context, data, &options, &other), ARMILLA_BAD_DATA, "but 6, 19 and 2");
    armilla_data_free(data);
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M - 1, N, M, &data));
    support_fails(context, armilla_fit(context, data, &options, &other), ARMILLA_BAD_DATA, "but 5, 20 and 2");
    assert_null(other);
    armilla_data_free(data);
    armilla_model_free(model);
}

/* A record is UTF-8; a name that is not can be given all the same, and is recorded without the bytes that are none. */
static void names_of_other_encodings(void **state)
{
    const double basis[2 * M] = {[0] = 1, [M + 1] = 1};
    char path[256];
    armilla_data *data = NULL;
    armilla_model *model = NULL, *opened = NULL;
    armilla_options options;
    (void)state;
    support_path(path, sizeof path, "model.npz");
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, &data));
    armilla_options_default(&options);
    options.rank = 2;
    options.start = "caf\xe9.npy";
    options.start_basis = basis;
    options.max_iter = 2;
    support_ok(context, armilla_fit(context, data, &options, &model));
    support_ok(context, armilla_model_save(context, model, path, false));
    support_ok(context, armilla_model_open(context, path, &opened));
    assert_non_null(strstr(armilla_model_options(opened), "caf?.npy"));
    armilla_model_free(opened);
    armilla_model_free(model);
    armilla_data_free(data);
}

static void clusters(void **state)
{
    armilla_data *data = NULL;
    armilla_clustering *made = NULL;
    armilla_cluster_options options;
    (void)state;
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, &data));
    armilla_cluster_options_default(&options);
#define REFUSES(words)                                                                                                 \
    support_fails(context, armilla_cluster_data(context, data, NULL, &options, &made), ARMILLA_BAD_ARGUMENT, words)
    REFUSES("k is missing");
    options.k = 3;
    options.tries = 0;
    REFUSES("tries and cluster.max_iter");
    options.tries = 1;
    options.max_iter = -1;
    REFUSES("tries and cluster.max_iter");
    options.max_iter = 10;
    options.method = "nearest";
    REFUSES("method 'nearest' is unknown");
    options.method = "argmax";
    REFUSES("method argmax is for codes");
#undef REFUSES
    assert_null(made);
    armilla_data_free(data);
}

/* Names that only look like those of open files are names of files. */
static void outputs(void **state)
{
    static const char *const odd[] = {"/dev/fd/", "/dev/fd/x", "/dev/fd/+1", "/dev/fd/1x", "/proc/self/fd/-1"};
    armilla_output *output = NULL;
    (void)state;
    support_fails(context, armilla_output_new(context, "", true, &output), ARMILLA_CANNOT_CREATE, "has no name");
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        support_fails(context, armilla_output_new(context, odd[i], true, &output), ARMILLA_CANNOT_CREATE, odd[i]);
    assert_null(output);
    support_ok(context, armilla_output_check(context, "/dev/stdout", false)); /* open already */
    support_ok(context, armilla_output_check(context, "/dev/fd/1", false));
    support_ok(context, armilla_output_new(context, "/dev/stderr", false, &output)); /* and nothing is written to it */
    support_ok(context, armilla_output_commit(output));
    armilla_output_free(output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(dense_data, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sparse_data, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tables_and_words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_of_other_encodings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(outputs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(clusters, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
