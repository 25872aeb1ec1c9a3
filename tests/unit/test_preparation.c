/* The preparation as an object: every combination of its steps, applied to columns and undone, against plain loops; and
 * stored with a model by the names of its rows. */
#include "data/preparation.h"

#include "data/total.h"
#include "files/npz.h"
#include "unit/fixture.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 7, N = 40, TOP = 3, COMBINATIONS = 1 << ARMILLA_STEP_COUNT };

/* Positive, with features of very different sizes, one that is 0 in most samples and one that never varies. */
static void fill(double *X)
{
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < M; i++) {
            const double x = fmod((double)(i + 1) * 0.37 + (double)(j + 1) * 0.61803398875, 1);
            X[j * M + i] = i == 0 ? 3 : i == 1 ? (j % 9 ? 0 : x) : ldexp(x, (int)(4 * i - 12));
        }
}

static armilla_options options_of(int combination)
{
    armilla_options options;
    armilla_options_default(&options);
    options.total =
        combination >> ARMILLA_STEP_TOTAL & 1 ? (combination & 1 << ARMILLA_STEP_LOG1P ? "50" : "median") : NULL;
    options.log1p = combination >> ARMILLA_STEP_LOG1P & 1;
    options.top_features = combination >> ARMILLA_STEP_TOP & 1 ? TOP : 0;
    options.tfidf = combination >> ARMILLA_STEP_TFIDF & 1;
    options.scale = combination >> ARMILLA_STEP_SCALE & 1;
    options.center = combination >> ARMILLA_STEP_CENTER & 1;
    options.normalize = combination >> ARMILLA_STEP_NORMALIZE & 1 ? "l2" : "none";
    return options;
}

static armilla_data *wrap(const double *X)
{
    armilla_data *data = NULL;
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, &data));
    return data;
}

static void near(double got, double wanted, double scale)
{
    if (!(fabs(got - wanted) <= 1e-13 * scale)) fail_msg("%.17g instead of %.17g", got, wanted);
}

/* The one of `count` numbers that has `below` smaller ones, or equal ones before it. */
static double number_of_rank(int64_t count, const double *numbers, int64_t below)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t smaller = 0;
        for (int64_t k = 0; k < count; k++) smaller += numbers[k] < numbers[i] || (numbers[k] == numbers[i] && k < i);
        if (smaller == below) return numbers[i];
    }
    return NAN;
}

static double median_of(int64_t count, const double *numbers)
{
    return (number_of_rank(count, numbers, (count - 1) / 2) + number_of_rank(count, numbers, count / 2)) / 2;
}

static void scale_to_total(const char *total, double *Y)
{
    double sums[N];
    for (int64_t j = 0; j < N; j++) {
        sums[j] = 0;
        for (int64_t i = 0; i < M; i++) sums[j] += Y[j * M + i];
    }
    const double wanted = strcmp(total, "median") == 0 ? median_of(N, sums) : atof(total);
    for (int64_t i = 0; i < M * N; i++) Y[i] *= wanted / sums[i / M];
}

static double variance_of(const double *Y, int64_t i, double *mean)
{
    double square = 0;
    *mean = 0;
    for (int64_t j = 0; j < N; j++) *mean += Y[j * M + i] / N;
    for (int64_t j = 0; j < N; j++) square += (Y[j * M + i] - *mean) * (Y[j * M + i] - *mean) / N;
    return square;
}

/* So few features are one bin, in which the score grows with the variance: those with the TOP largest are chosen. */
static bool is_chosen(const double *Y, int64_t i)
{
    int64_t larger = 0;
    double mean = 0;
    const double own = variance_of(Y, i, &mean);
    for (int64_t k = 0; k < M; k++) larger += variance_of(Y, k, &mean) > own;
    return larger < TOP;
}

/* All samples, by definition: what is asked for of total and logarithm, */
static void prepare_entries(const armilla_options *options, double *Y)
{
    if (options->total) scale_to_total(options->total, Y);
    for (int64_t i = 0; i < M * N; i++)
        if (options->log1p) Y[i] = log1p(Y[i]);
}

/* and then of feature i, of tf-idf, scale and centring. */
static void prepare_feature(const armilla_options *options, int64_t i, bool chosen, double *Y)
{
    double found = 0, mean = 0, weight = 1;
    const double square = variance_of(Y, i, &mean);
    for (int64_t j = 0; j < N; j++) found += Y[j * M + i] != 0;
    if (options->tfidf) weight = log((1.0 + N) / (1 + found)) + 1;
    if (options->scale) weight = i == 0 && !options->total ? weight : 1 / sqrt(square);
    if (!chosen) weight = 0;
    for (int64_t j = 0; j < N; j++) Y[j * M + i] = weight * (Y[j * M + i] - (options->center ? mean : 0));
}

static void test_columns_there_and_back(void **state)
{
    double X[M * N], Y[M * N], Z[M * N], lengths[N];
    (void)state;
    for (int c = 0; c < COMBINATIONS; c++) {
        const armilla_options options = options_of(c);
        const bool unit = c >> ARMILLA_STEP_NORMALIZE & 1;
        armilla_preparation p = armilla_preparation_asked(&options);
        fill(X);
        memcpy(Y, X, sizeof X);
        memcpy(Z, X, sizeof X);
        bool chosen[M];
        prepare_entries(&options, Y);
        for (int64_t i = 0; i < M; i++) chosen[i] = options.top_features == 0 || is_chosen(Y, i);
        for (int64_t i = 0; i < M; i++) prepare_feature(&options, i, chosen[i], Y);
        armilla_data *data = wrap(X);
        support_ok(context, armilla_call_enter(context, 2));
        support_ok(context, armilla_preparation_learn(context, &p, data));
        armilla_call_leave(context);
        support_ok(context, armilla_preparation_apply(context, &p, N, Z, lengths));
        for (int64_t j = 0; j < N; j++) {
            double length = 0, largest = 0;
            for (int64_t i = 0; i < M; i++) length += Y[j * M + i] * Y[j * M + i];
            length = unit ? sqrt(length) : 1;
            near(lengths[j], length, 10 * length);
            for (int64_t i = 0; i < M; i++) largest = fmax(largest, fabs(Y[j * M + i]));
            for (int64_t i = 0; i < M; i++) near(Z[j * M + i], Y[j * M + i] / length, 10 * largest / length);
        }
        armilla_preparation_undo(&p, N, lengths, Z);
        if (options.total) scale_to_total(options.total, X); /* what samples added up to does not come back */
        for (int64_t i = 0; i < M * N; i++) near(Z[i], chosen[i % M] ? X[i] : 0, 1e3 * fmax(1, fabs(X[i])));
        armilla_data_free(data);
        armilla_preparation_release(context, &p);
    }
}

/* Without lengths a column keeps the one it has: undone it is the prepared column of length 1 taken back. */
static void test_undone_without_lengths(void **state)
{
    const armilla_options options = options_of(1 << ARMILLA_STEP_NORMALIZE);
    armilla_preparation p = armilla_preparation_asked(&options);
    double X[M * N], Y[M * N];
    (void)state;
    fill(X);
    memcpy(Y, X, sizeof X);
    armilla_data *data = wrap(X);
    support_ok(context, armilla_preparation_learn(context, &p, data));
    support_ok(context, armilla_preparation_apply(context, &p, N, Y, NULL));
    memcpy(X, Y, sizeof X);
    armilla_preparation_undo(&p, N, NULL, Y);
    assert_memory_equal(X, Y, sizeof X);
    armilla_data_free(data);
    armilla_preparation_release(context, &p);
}

/* A model's own: the arrays in its file are those of the rows that were taken, its record has all rows by name, and what
 * is read does the same to columns, to the bit. */
static void test_stored_by_name(void **state)
{
    double X[M * N];
    char path[256];
    (void)state;
    fill(X);
    support_path(path, sizeof path, "model.npz");
    for (int c = 0; c < COMBINATIONS; c++) {
        armilla_options options = options_of(c);
        armilla_model *made = NULL, *read = NULL;
        armilla_npz *npz = NULL;
        double before[M * N], after[M * N], lengths[2][N];
        char *record = NULL;
        options.rank = 2;
        options.max_iter = 2;
        options.threads = 1;
        armilla_data *data = wrap(X);
        support_ok(context, armilla_fit(context, data, &options, &made));
        support_ok(context, armilla_model_save(context, made, path, true));
        support_ok(context, armilla_model_open(context, path, &read));
        memcpy(before, X, sizeof X);
        memcpy(after, X, sizeof X);
        support_ok(context, armilla_model_prepare_columns(context, made, N, before, lengths[0]));
        support_ok(context, armilla_model_prepare_columns(context, read, N, after, lengths[1]));
        assert_memory_equal(before, after, sizeof before);
        assert_memory_equal(lengths[0], lengths[1], sizeof lengths[0]);
        support_ok(context, armilla_model_undo_columns(context, read, N, lengths[1], after));
        for (int64_t i = 0; i < M * N && !options.total && options.top_features == 0; i++)
            near(after[i], X[i], 1e3 * fmax(1, fabs(X[i])));
        support_ok(context, armilla_npz_open(context, path, &npz));
        support_ok(context, armilla_npz_read_text(npz, "meta", &record));
        for (int step = 0; step < ARMILLA_STEP_COUNT; step++) {
            const armilla_step_row *row = &armilla_steps[step];
            const bool taken = c >> step & 1;
            char member[64];
            snprintf(member, sizeof member, row->words[0] ? "\"%s\":\"%s\"" : "\"%s\":%s", row->name,
                     row->words[0] ? row->words[taken]
                     : taken       ? "true"
                                   : "false");
            assert_non_null(strstr(record, member));
            if (row->array) assert_int_equal(armilla_npz_has(npz, row->array), taken);
        }
        armilla_release(context, record);
        armilla_npz_free(npz);
        armilla_model_free(read);
        armilla_model_free(made);
        armilla_data_free(data);
    }
}

/* A model with these options that went through a file, and the samples as it prepares them. */
static armilla_model *stored_model(const armilla_data *data, armilla_options options, double *prepared)
{
    armilla_model *made = NULL, *read = NULL;
    char path[256];
    options.rank = 1;
    options.max_iter = 1;
    options.threads = 1;
    support_path(path, sizeof path, "model.npz");
    support_ok(context, armilla_fit(context, data, &options, &made));
    support_ok(context, armilla_model_save(context, made, path, true));
    support_ok(context, armilla_model_open(context, path, &read));
    support_ok(context, armilla_model_prepare_columns(context, read, N, prepared, NULL));
    armilla_model_free(made);
    return read;
}

static bool said_alike(const armilla_model *first, const armilla_model *second)
{
    armilla_comparison *found = NULL;
    armilla_comparison_summary summary;
    support_ok(context, armilla_model_compare(context, first, second, NULL, 1, &found));
    armilla_comparison_summarize(found, &summary);
    armilla_comparison_free(found);
    return summary.same_preparation;
}

/* The index-th value of an option that tests can give it, NULL past the last. */
static const char *value_of(const armilla_option *row, size_t index)
{
    static const char *const numbers[] = {"2", "4"};
    size_t choices = 0;
    while (row->kind == ARMILLA_OPTION_WORD && row->choice(choices)) choices++;
    if (index < choices) return row->choice(index);
    if (row->kind == ARMILLA_OPTION_FLAG) return index == 0 ? "" : NULL;
    const bool number = row->kind == ARMILLA_OPTION_INTEGER || (row->kind == ARMILLA_OPTION_WORD && row->open);
    return number && index - choices < 2 ? numbers[index - choices] : NULL;
}

/* The options with the index-th value of one of them; a flag is the other. */
static armilla_options changed_by(const armilla_options *options, const armilla_option *row, size_t index)
{
    armilla_options other = *options;
    bool *flag = (bool *)(void *)((char *)&other + row->offset);
    if (row->kind == ARMILLA_OPTION_FLAG)
        *flag = !*flag;
    else
        support_ok(context, armilla_option_set(context, row, &other, value_of(row, index)));
    return other;
}

/* Whether the option says how data are prepared. */
static bool prepares(const armilla_options *options, const armilla_option *row)
{
    const armilla_preparation before = armilla_preparation_asked(options);
    bool changed = false;
    for (size_t i = 0; value_of(row, i) && !changed; i++) {
        const armilla_options other = changed_by(options, row, i);
        const armilla_preparation after = armilla_preparation_asked(&other);
        changed = memcmp(&before, &after, sizeof before) != 0;
    }
    return changed;
}

/* Two models are said to prepare data alike exactly where they make the same numbers of the same samples: for every value
 * of every option of the table that says how to prepare, beside all other steps but scale, which undoes weights. */
static void test_alike_with_equal_parameters(void **state)
{
    const armilla_options all = options_of(COMBINATIONS - 1 - (1 << ARMILLA_STEP_SCALE));
    double X[M * N], base[M * N];
    int64_t differ = 0;
    (void)state;
    fill(X);
    for (int64_t i = 0; i < M * N; i++) X[i] = i % (i % M + 2) == 0 ? 0 : X[i]; /* features of several frequencies */
    memcpy(base, X, sizeof X);
    armilla_data *data = wrap(X);
    armilla_model *first = stored_model(data, all, base);
    for (const armilla_option *row = armilla_option_table(); row->name; row = armilla_option_next(row)) {
        for (size_t i = 0; prepares(&all, row) && value_of(row, i); i++) {
            double made[M * N];
            memcpy(made, X, sizeof X);
            armilla_model *second = stored_model(data, changed_by(&all, row, i), made);
            const bool same = memcmp(base, made, sizeof made) == 0;
            if (said_alike(first, second) != same) fail_msg("%s %s: said otherwise", row->name, value_of(row, i));
            assert_int_equal(said_alike(second, first), same);
            differ += !same;
            armilla_model_free(second);
        }
    }
    assert_true(differ > ARMILLA_STEP_COUNT); /* every step, and what parameters there are */
    armilla_model_free(first);
    armilla_data_free(data);
}

static void test_bad_columns(void **state)
{
    double X[M * N];
    armilla_options options = options_of(0);
    armilla_model *model = NULL;
    (void)state;
    fill(X);
    options.rank = 1;
    options.max_iter = 1;
    armilla_data *data = wrap(X);
    support_ok(context, armilla_fit(context, data, &options, &model));
    support_fails(context, armilla_model_prepare_columns(context, model, -1, X, NULL), ARMILLA_BAD_ARGUMENT, "-1");
    support_fails(context, armilla_model_undo_columns(context, model, 1, NULL, NULL), ARMILLA_BAD_ARGUMENT, "NULL");
    support_ok(context, armilla_model_undo_columns(context, model, 0, NULL, X));
    armilla_model_free(model);
    armilla_data_free(data);
}

/* The options that a model tells ask for its own steps, whatever they are, with the numbers that it learned. */
static void test_told_as_options(void **state)
{
    double X[M * N];
    (void)state;
    fill(X);
    armilla_data *data = wrap(X);
    for (int c = 0; c < COMBINATIONS; c += 5) {
        armilla_options options = options_of(c), told;
        armilla_model *model = NULL;
        armilla_model_summary summary;
        options.rank = 2;
        options.max_iter = 1;
        support_ok(context, armilla_fit(context, data, &options, &model));
        armilla_options_default(&told);
        told.seed = 17;
        armilla_model_preparation(model, &told);
        armilla_model_summarize(model, &summary);
        const armilla_preparation asked = armilla_preparation_asked(&told), own = armilla_preparation_asked(&options);
        assert_memory_equal(asked.taken, own.taken, sizeof own.taken);
        assert_true(asked.number[ARMILLA_STEP_TOTAL] == summary.total);
        assert_true(told.top_features == summary.top_features);
        assert_true(told.seed == 17 && told.rank == 0);
        armilla_model_free(model);
    }
    armilla_data_free(data);
}

static void test_in_words(void **state)
{
    char text[128], few[10];
    armilla_options options = options_of(COMBINATIONS - 1);
    (void)state;
    options.total = "1e4";
    assert_string_equal(armilla_preparation_show(&options, text, sizeof text),
                        "total 10000, log1p, 3 most variable features, tf-idf, scaled, centred, unit length");
    assert_string_equal(armilla_preparation_show(&options, few, sizeof few), "total 100");
    options = options_of(1 << ARMILLA_STEP_TOTAL);
    assert_string_equal(armilla_preparation_show(&options, text, sizeof text), "total median");
    options = options_of(0);
    assert_string_equal(armilla_preparation_show(&options, text, sizeof text), "");
    assert_string_equal(armilla_preparation_show(NULL, text, sizeof text), "");
    assert_null(armilla_preparation_given(NULL));
    armilla_options_default(&options);
    assert_null(armilla_preparation_given(&options));
    options.log1p = true;
    assert_string_equal(armilla_preparation_given(&options), "log1p");
}

/* A feature of f32 that does not vary has itself for its mean, to the last bit, and others the mean that long double has. */
static void test_means_of_short_numbers(void **state)
{
    enum { FEATURES = 9, SAMPLES = 50021 };
    float *X = malloc(sizeof *X * FEATURES * SAMPLES);
    long double sums[FEATURES] = {0};
    double sizes[FEATURES] = {0};
    armilla_options options;
    armilla_data *data = NULL;
    (void)state;
    assert_non_null(X);
    for (int64_t j = 0; j < SAMPLES; j++)
        for (int64_t i = 0; i < FEATURES; i++) {
            const double x = fmod((double)(i + 1) * 0.37 + (double)(j + 1) * 0.61803398875, 1);
            X[j * FEATURES + i] = i % 3 == 0 ? 16777215.0F / (float)(1 << i) : (float)(i % 3 == 1 ? x - 0.5 : 1e5 + x);
            sums[i] += (long double)X[j * FEATURES + i];
            sizes[i] += fabs((double)X[j * FEATURES + i]) / SAMPLES;
        }
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F32, X, FEATURES, SAMPLES, FEATURES, &data));
    armilla_options_default(&options);
    options.center = true;
    armilla_preparation p = armilla_preparation_asked(&options);
    support_ok(context, armilla_preparation_learn(context, &p, data));
    for (int64_t i = 0; i < FEATURES; i++) {
        const double mean = p.learned[ARMILLA_STEP_CENTER][i];
        if (i % 3 == 0) assert_true(mean == (double)X[i]);
        near(mean, (double)(sums[i] / SAMPLES), sizes[i]);
    }
    armilla_preparation_release(context, &p);
    armilla_data_free(data);
    free(X);
}

/* The median is one of the numbers where the middle two are equal, also of those that have no half. */
static void test_median(void **state)
{
    const double least = 4.9406564584124654e-324;
    (void)state;
    assert_true(armilla_median(1, (double[]){least}) == least);
    assert_true(armilla_median(3, (double[]){1, least, least}) == least);
    assert_true(armilla_median(4, (double[]){least, 0, least, 1}) == least);
    assert_true(armilla_median(2, (double[]){DBL_MAX, DBL_MAX}) == DBL_MAX);
    assert_true(armilla_median(4, (double[]){4, 1, 3, 2}) == 2.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_columns_there_and_back),
        TEST(test_undone_without_lengths),
        TEST(test_stored_by_name),
        TEST(test_alike_with_equal_parameters),
        TEST(test_bad_columns),
        TEST(test_told_as_options),
        TEST(test_in_words),
        TEST(test_means_of_short_numbers),
        TEST(test_median),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
