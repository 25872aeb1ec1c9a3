/* What a model says of itself after it is continued on new samples: every row of the option table that says what the model
 * is, with every value of the preparation, and what its features are. */
#include "reference/reference.h"

#include "base/number.h"
#include "data/keep.h"
#include "model/model.h"

#include <math.h>
#include <string.h>

enum { M = 12, N = 80, NEW = 30, R = 3 };

/* Rows that are of the fit that continues, and not of the model. */
static bool is_of_the_fit(const char *name)
{
    static const char *const rows[] = {"model", "radius",   "solver",   "lambda", "mu",         "batch",   "start",
                                       "seed",  "restarts", "max-iter", "tol",    "time-limit", "threads", "kernel"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i], name) == 0) return true;
    return false;
}

static void fill(uint64_t seed, int64_t n, double *X)
{
    uint64_t random = seed;
    for (int64_t i = 0; i < M * n; i++) {
        const double x = reference_uniform(&random);
        X[i] = x < 0.4 ? 0 : floor(8 * x);
    }
    for (int64_t j = 0; j < n; j++) X[j * M] = 1; /* a feature of all samples */
}

static armilla_data *wrap(const double *X, int64_t m, int64_t n)
{
    armilla_data *data = NULL;
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, m, n, m, &data));
    return data;
}

/* The record of what the model is, in all rows; a total may be the number that it was learned to be. */
static void check_same(const armilla_model *before, const armilla_model *after)
{
    for (const armilla_option *row = armilla_option_table(); row->name; row = armilla_option_next(row)) {
        char first[256], second[256], *end = NULL;
        if (is_of_the_fit(row->name)) continue;
        armilla_options_recorded(armilla_model_options(before), row->name, first, sizeof first);
        armilla_options_recorded(armilla_model_options(after), row->name, second, sizeof second);
        if (strcmp(row->name, "total") == 0)
            REFERENCE_HOLDS(armilla_read_number(second, &end) == reference_summary(before).total);
        else
            assert_string_equal(first, second);
    }
    for (int step = 0; step < ARMILLA_STEP_COUNT; step++) {
        const double *learned = before->preparation.learned[step], *kept = after->preparation.learned[step];
        REFERENCE_HOLDS(before->preparation.taken[step] == after->preparation.taken[step]);
        REFERENCE_HOLDS(!learned == !kept);
        if (learned)
            assert_memory_equal(learned, kept, (size_t)armilla_step_numbers((armilla_step)step, M) * sizeof *learned);
    }
    for (int step = 0; step < ARMILLA_STEP_COUNT; step++)
        REFERENCE_HOLDS(before->preparation.form[step] == after->preparation.form[step]);
}

/* Fits with that option, and the data's preparation that it needs; goes on twice, the second time from the file. */
static void check_option(const armilla_option *row, const char *value)
{
    double X[M * N], Y[M * NEW];
    armilla_options options, plain;
    armilla_model *model = NULL, *next = NULL, *opened = NULL, *last = NULL;
    void *bytes = NULL;
    size_t count = 0;
    fill(3, N, X);
    fill(4, NEW, Y);
    armilla_options_default(&options);
    armilla_options_default(&plain);
    options.rank = R;
    options.tfidf = strcmp(row->name, "idf") == 0;
    REFERENCE_OK(armilla_option_set(reference_context, row, &options, value));
    armilla_data *data = wrap(X, M, N), *more = wrap(Y, M, NEW);
    REFERENCE_OK(armilla_fit(reference_context, data, &options, &model));
    REFERENCE_OK(armilla_model_update(reference_context, model, more, &plain, &next));
    check_same(model, next);
    REFERENCE_OK(armilla_model_save_memory(reference_context, next, &bytes, &count));
    REFERENCE_OK(armilla_model_open_memory(reference_context, bytes, count, &opened));
    REFERENCE_OK(armilla_model_update(reference_context, opened, more, &plain, &last));
    check_same(next, last);
    armilla_release(reference_context, bytes);
    armilla_model_free(last);
    armilla_model_free(opened);
    armilla_model_free(next);
    armilla_model_free(model);
    armilla_data_free(more);
    armilla_data_free(data);
}

static void test_every_option(void **state)
{
    (void)state;
    for (const armilla_option *row = armilla_option_table(); row->name; row = armilla_option_next(row)) {
        if (!armilla_option_is_of(row, ARMILLA_PREPARATION) && strcmp(row->name, "precision") != 0) continue;
        if (row->kind == ARMILLA_OPTION_INTEGER) check_option(row, "5");
        if (row->kind == ARMILLA_OPTION_FLAG) check_option(row, NULL);
        for (size_t i = 0; row->choice && row->choice(i); i++) check_option(row, row->choice(i));
        if (row->open) check_option(row, "1234.5678");
    }
}

/* The rows that say how data are prepared are those of the steps and of their forms. */
static void test_rows_are_the_steps(void **state)
{
    size_t rows = 0, wanted = 0;
    (void)state;
    for (int i = 0; i < ARMILLA_STEP_COUNT; i++) wanted += armilla_steps[i].form ? 2 : 1;
    for (const armilla_option *row = armilla_option_table(); row->name; row = armilla_option_next(row)) {
        bool step = false;
        for (int i = 0; i < ARMILLA_STEP_COUNT; i++)
            step |= armilla_steps[i].option == row->offset ||
                    (armilla_steps[i].form && strcmp(armilla_steps[i].form, row->name) == 0 &&
                     armilla_steps[i].form_option == row->offset);
        REFERENCE_HOLDS(armilla_option_is_of(row, ARMILLA_PREPARATION) == step);
        rows += armilla_option_is_of(row, ARMILLA_PREPARATION);
    }
    REFERENCE_HOLDS(rows == wanted);
}

/* Names of features, images, and what was kept of them, where the new data say nothing of it. */
static void test_features_stay(void **state)
{
    static const char *const names[M] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
    static const char *const others[M - 2] = {"B", "C", "D", "E", "F", "G", "H", "I", "J", "K"};
    int64_t places[M - 2], of = 0;
    double X[M * N], Y[M * NEW];
    armilla_data *data = NULL;
    armilla_model *model = NULL, *next = NULL, *last = NULL;
    armilla_options options;
    (void)state;
    fill(5, N, X);
    fill(6, NEW, Y);
    for (int64_t i = 0; i < M - 2; i++) places[i] = i + 1;
    armilla_options_default(&options);
    options.rank = R;
    armilla_data *all = wrap(X, M, N), *more = wrap(Y, M - 2, NEW);
    REFERENCE_OK(armilla_data_set_names(all, ARMILLA_FEATURE_NAMES, names, M));
    all->image[0] = 3;
    all->image[1] = 4;
    const armilla_kept kept[ARMILLA_KEPT_COUNT] = {{places, M - 2, M}, {NULL, N, N}};
    REFERENCE_OK(armilla_data_keep(reference_context, all, kept, &data));
    REFERENCE_OK(armilla_fit(reference_context, data, &options, &model));
    REFERENCE_OK(armilla_model_update(reference_context, model, more, &options, &next));
    const armilla_model_summary found = reference_summary(next);
    assert_string_equal(armilla_model_name(next, ARMILLA_FEATURE_NAMES, 0), "b");
    assert_memory_equal(armilla_model_kept_features(next, &of), places, sizeof places);
    REFERENCE_HOLDS(of == M && found.image_rows == 3 && found.image_columns == 4);
    REFERENCE_HOLDS(!armilla_model_name(next, ARMILLA_SAMPLE_NAMES, 0) && !armilla_model_kept_samples(next, NULL));
    REFERENCE_OK(armilla_data_set_names(more, ARMILLA_FEATURE_NAMES, others, M - 2));
    REFERENCE_OK(armilla_model_update(reference_context, next, more, &options, &last));
    assert_string_equal(armilla_model_name(last, ARMILLA_FEATURE_NAMES, 0), "B");
    armilla_model_free(last);
    armilla_model_free(next);
    armilla_model_free(model);
    armilla_data_free(more);
    armilla_data_free(data);
    armilla_data_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_the_steps),
        cmocka_unit_test(test_every_option),
        cmocka_unit_test(test_features_stay),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
