/* Preparation on the fly: logarithm, weights, centring and unit length as plain loops make them, and fits of raw data
 * with the options as good as fits of data that were prepared before; dense and sparse data to the same bits. */
#include "reference/reference.h"

#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 14, N = 60, R = 3, S = 2, COMBINATIONS = 32 };

typedef struct preparation {
    bool center, tfidf, unit, log1p, scale;
} preparation;

static preparation combination_of(int number)
{
    return (preparation){number & 1, number & 2, number & 4, number & 8, number & 16};
}

static void set_options(preparation how, armilla_options *options)
{
    options->center = how.center;
    options->tfidf = how.tfidf;
    options->normalize = how.unit ? "l2" : "none";
    options->log1p = how.log1p;
    options->scale = how.scale;
}

static void scene(const char *what, preparation how)
{
    reference_scene("%s, log1p %d, tfidf %d, scale %d, center %d, l2 %d", what, how.log1p, how.tfidf, how.scale,
                    how.center, how.unit);
}

/* What was learned. */
typedef struct learned {
    double mean[M], idf[M], scale[M];
} learned;

/* ln(1+x), then weights ln((1+n)/(1+n_i)) + 1, then standard deviation 1, then minus the mean: one feature. */
static void prepare_feature(preparation how, int64_t i, double *X, learned *l)
{
    double mean = 0, variance = 0, found = 0;
    for (int64_t j = 0; j < N; j++) found += X[i + j * M] != 0;
    l->idf[i] = how.tfidf ? log((1.0 + N) / (1.0 + found)) + 1 : 1;
    for (int64_t j = 0; j < N; j++) X[i + j * M] = (how.log1p ? log(1 + X[i + j * M]) : X[i + j * M]) * l->idf[i];
    for (int64_t j = 0; j < N; j++) mean += X[i + j * M] / N;
    for (int64_t j = 0; j < N; j++) variance += (X[i + j * M] - mean) * (X[i + j * M] - mean) / N;
    l->scale[i] = how.scale && variance > 0 ? 1 / sqrt(variance) : 1;
    l->mean[i] = how.center ? mean * l->scale[i] : 0;
    for (int64_t j = 0; j < N; j++) X[i + j * M] = X[i + j * M] * l->scale[i] - l->mean[i];
}

/* At last length 1. */
static void prepare(preparation how, double *X, learned *l)
{
    for (int64_t i = 0; i < M; i++) prepare_feature(how, i, X, l);
    for (int64_t j = 0; how.unit && j < N; j++) {
        const double length = reference_norm(M, X + j * M);
        for (int64_t i = 0; i < M; i++) X[i + j * M] = length > 1e-12 ? X[i + j * M] / length : 0;
    }
}

/* Counts, with a sample and a feature of zeros. */
static void make_counts(uint64_t *random, double *X)
{
    for (int64_t i = 0; i < M * N; i++) {
        const int64_t die = reference_below(random, 8);
        X[i] = i % M == 3 || i / M == 5 || die < 4 ? 0 : (double)die;
    }
}

static void check_vectors(const armilla_model *model, preparation how, const learned *l)
{
    REFERENCE_HOLDS((armilla_model_mean(model) != NULL) == how.center);
    REFERENCE_HOLDS((armilla_model_idf(model) != NULL) == how.tfidf);
    REFERENCE_HOLDS((armilla_model_scale(model) != NULL) == how.scale);
    for (int64_t i = 0; i < M; i++) {
        if (how.center) REFERENCE_NEAR(armilla_model_mean(model)[i], l->mean[i], 1e-12);
        if (how.tfidf) REFERENCE_NEAR(armilla_model_idf(model)[i], l->idf[i], 1e-12);
        if (how.scale) REFERENCE_NEAR(armilla_model_scale(model)[i], l->scale[i], 1e-12);
    }
}

/* Raw data with options against prepared data without: the same objective, factors and radius. */
static void compare(const reference_pair *pair, preparation how, uint64_t *random)
{
    double X[M * N], prepared[M * N], U0[M * R];
    learned l;
    reference_trial raw, plain;
    armilla_model_summary a, b;
    make_counts(random, X);
    memcpy(prepared, X, sizeof X);
    prepare(how, prepared, &l);
    reference_random_basis(random, pair, M, R, U0);
    reference_trial_new(&raw, pair, ARMILLA_F64, M, N, R, S, X);
    reference_trial_new(&plain, pair, ARMILLA_F64, M, N, R, S, prepared);
    raw.options.start_basis = plain.options.start_basis = U0;
    set_options(how, &raw.options);
    armilla_model *with = reference_trial_fit(&raw), *without = reference_trial_fit(&plain);
    armilla_model_summarize(with, &a);
    armilla_model_summarize(without, &b);
    REFERENCE_NEAR(a.squared_norm, b.squared_norm, 1e-9 * b.squared_norm);
    REFERENCE_NEAR(a.objective, b.objective, 1e-9 * b.squared_norm);
    REFERENCE_NEAR(a.radius, b.radius, 1e-9 * b.radius);
    REFERENCE_HOLDS(a.zero_samples == b.zero_samples && a.center == how.center && a.tfidf == how.tfidf);
    REFERENCE_HOLDS(a.log1p == how.log1p && a.scale == how.scale);
    REFERENCE_HOLDS(strcmp(a.normalize, how.unit ? "l2" : "none") == 0);
    check_vectors(with, how, &l);
    reference_verify(with, raw.data, prepared, true);
    armilla_model_free(with);
    armilla_model_free(without);
    reference_trial_free(&raw);
    reference_trial_free(&plain);
}

/* Nothing that both factors are nonnegative for is centred: such data need not have a radius. */
static void test_prepared_before_or_on_the_fly(void **state)
{
    uint64_t random = 111;
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int number = 0; number < COMBINATIONS; number++)
            for (int problem = 0; problem < 3; problem++) {
                const reference_pair *pair = &reference_pairs[p];
                const preparation how = combination_of(number);
                if (how.center && !pair->orthonormal && pair->nonnegative_codes) continue;
                scene(pair->codes, how);
                compare(pair, how, &random);
            }
}

/* In single precision too, up to its rounding, with the promises of a fit. */
static void test_single_precision(void **state)
{
    uint64_t random = 112;
    (void)state;
    for (int number = 0; number < COMBINATIONS; number++) {
        const preparation how = combination_of(number);
        double X[M * N], prepared[M * N];
        learned l;
        reference_trial trial;
        scene("f32", how);
        make_counts(&random, X);
        memcpy(prepared, X, sizeof X);
        prepare(how, prepared, &l);
        reference_trial_new(&trial, &reference_pairs[0], ARMILLA_F32, M, N, R, S, X);
        set_options(how, &trial.options);
        armilla_model *model = reference_trial_fit(&trial);
        reference_verify(model, trial.data, prepared, true);
        armilla_model_free(model);
        reference_trial_free(&trial);
    }
}

/* Unit samples: <x,Uv> is a cosine, so the radius is at most 1; all samples that are not zero count alike. */
static void test_unit_length(void **state)
{
    uint64_t random = 113;
    double X[M * N];
    reference_trial trial;
    armilla_model_summary summary;
    (void)state;
    make_counts(&random, X);
    reference_trial_new(&trial, &reference_pairs[1], ARMILLA_F64, M, N, R, S, X);
    trial.options.normalize = "l2";
    armilla_model *model = reference_trial_fit(&trial);
    armilla_model_summarize(model, &summary);
    REFERENCE_NEAR(summary.squared_norm, (double)(N - summary.zero_samples), 1e-12 * N);
    REFERENCE_AT_MOST(summary.radius, 1);
    armilla_model_free(model);
    reference_trial_free(&trial);
}

/* A sample that equals the mean is a zero sample, not a direction made of rounding. */
static void test_sample_that_equals_the_mean(void **state)
{
    uint64_t random = 114;
    double X[M * N];
    reference_trial trial;
    armilla_model_summary summary;
    (void)state;
    reference_fill_uniform(&random, M * N, X);
    for (int64_t i = 0; i < M; i++) {
        double sum = 0;
        for (int64_t j = 0; j + 1 < N; j++) sum += X[i + j * M];
        X[i + (N - 1) * M] = sum / (N - 1);
    }
    reference_trial_new(&trial, &reference_pairs[0], ARMILLA_F64, M, N, R, S, X);
    trial.options.center = true;
    trial.options.normalize = "l2";
    armilla_model *model = reference_trial_fit(&trial);
    armilla_model_summarize(model, &summary);
    REFERENCE_NEAR(summary.squared_norm, N - 1, 1e-9 * N);
    REFERENCE_HOLDS(summary.zero_samples == 1);
    armilla_model_free(model);
    reference_trial_free(&trial);
}

/* Column j of the data as a model's fit sees it, in the working precision. */
static void seen(const armilla_model *model, const armilla_data *data, int64_t j, double *column)
{
    armilla_model_summary summary;
    armilla_view view = {0};
    armilla_model_summarize(model, &summary);
    REFERENCE_OK(armilla_model_view(reference_context, model, data, true, &view));
    REFERENCE_OK(armilla_data_column(reference_context, view.data, summary.precision, j, column));
    armilla_view_free(&view);
}

/* Samples of unit length, to the rounding of their type, are seen as they are: by a second look too, when the lengths
 * are known. A length that differs by more is scaled. */
static void test_unit_length_stays(void **state)
{
    uint64_t random = 115;
    double X[M * N], singles[M * N];
    (void)state;
    reference_fill_uniform(&random, M * N, X);
    for (int64_t j = 0; j < N; j++) {
        double square = 0;
        for (int64_t i = 0; i < M; i++) square += X[i + j * M] * X[i + j * M];
        for (int64_t i = 0; i < M; i++) X[i + j * M] /= sqrt(square) * (j == 0 ? 1.001 : 1);
    }
    memcpy(singles, X, sizeof X);
    reference_round_to_f32(M * N, singles);
    for (int form = 0; form < 4; form++) {
        const armilla_type type = form % 2 ? ARMILLA_F32 : ARMILLA_F64;
        const double *values = form % 2 ? singles : X;
        reference_trial trial;
        reference_sparse sparse;
        double first[M], second[M];
        reference_scene("form %d", form);
        reference_trial_new(&trial, &reference_pairs[0], type, M, N, R, S, values);
        reference_sparse_new(&sparse, type, ARMILLA_I32, false, M, N, values);
        armilla_data *data = form < 2 ? trial.data : reference_sparse_wrap(&sparse);
        trial.options.normalize = "l2";
        armilla_model *model = reference_trial_fit(&trial);
        for (int64_t j = 0; j < N; j++) {
            seen(model, data, j, first);
            seen(model, data, j, second);
            REFERENCE_HOLDS(memcmp(first, second, sizeof first) == 0);
            REFERENCE_HOLDS((memcmp(first, values + j * M, sizeof first) == 0) == (j > 0));
        }
        if (form >= 2) armilla_data_free(data);
        armilla_model_free(model);
        reference_sparse_free(&sparse);
        reference_trial_free(&trial);
    }
}

/* One matrix in every form that can hold it. */
typedef struct forms {
    double X[M * N];
    float singles[M * N];
    uint8_t bytes[M * N];
    uint16_t halves[2][M * N];
    int8_t integers[M * N];
    reference_sparse sparse64, sparse32;
    armilla_data *data[8]; /* the first is the one that the model is fitted to; then the dense ones, then the sparse */
} forms;

enum { FORMS = 8, DENSE_FORMS = 6 };

static void make_forms(uint64_t *random, forms *f)
{
    make_counts(random, f->X);
    for (int64_t i = 0; i < M * N; i++) {
        f->singles[i] = (float)f->X[i];
        f->bytes[i] = (uint8_t)f->X[i];
        f->integers[i] = (int8_t)f->X[i];
    }
    armilla_store(ARMILLA_F16, M * N, f->X, f->halves[0]);
    armilla_store(ARMILLA_BF16, M * N, f->X, f->halves[1]);
    reference_sparse_new(&f->sparse64, ARMILLA_F64, ARMILLA_I32, false, M, N, f->X);
    reference_sparse_new(&f->sparse32, ARMILLA_F32, ARMILLA_I64, true, M, N, f->X);
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, f->X, M, N, M, &f->data[0]));
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F32, f->singles, M, N, M, &f->data[1]));
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_U8, f->bytes, M, N, M, &f->data[2]));
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F16, f->halves[0], M, N, M, &f->data[3]));
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_BF16, f->halves[1], M, N, M, &f->data[4]));
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_I8, f->integers, M, N, M, &f->data[5]));
    f->data[6] = reference_sparse_wrap(&f->sparse64);
    f->data[7] = reference_sparse_wrap(&f->sparse32);
}

static void free_forms(forms *f)
{
    for (int i = 0; i < FORMS; i++) armilla_data_free(f->data[i]);
    reference_sparse_free(&f->sparse64);
    reference_sparse_free(&f->sparse32);
}

static armilla_model *fit_form(const forms *f, int form, preparation how, const char *precision, int64_t threads)
{
    armilla_options options;
    armilla_model *model = NULL;
    armilla_options_default(&options);
    options.rank = R;
    options.precision = precision;
    options.threads = threads;
    options.max_iter = 10;
    set_options(how, &options);
    REFERENCE_OK(armilla_fit(reference_context, f->data[form], &options, &model));
    return model;
}

/* Small integers are exact in every form: a model prepares them to the same bits, or, where a sparse form is centred,
 * to the rounding of what cancels; and what is learned from a form hardly depends on it. */
static void compare_forms(const forms *f, preparation how, const char *precision)
{
    const double epsilon = strcmp(precision, "f32") == 0 ? 1.2e-7 : 2.3e-16;
    armilla_model *model = fit_form(f, 0, how, precision, 1);
    for (int form = 1; form < FORMS; form++) {
        armilla_model *other = fit_form(f, form, how, precision, 1);
        armilla_check check;
        for (int64_t j = 0; j < N; j++) {
            double first[M], second[M];
            seen(model, f->data[0], j, first);
            seen(model, f->data[form], j, second);
            const bool exact = form < DENSE_FORMS || !how.center;
            for (int64_t i = 0; i < M; i++) REFERENCE_NEAR(second[i], first[i], exact ? 0 : 64 * epsilon);
        }
        for (int64_t i = 0; i < M; i++) {
            if (how.scale)
                REFERENCE_NEAR(armilla_model_scale(other)[i], armilla_model_scale(model)[i],
                               1e-14 * armilla_model_scale(model)[i]);
            if (how.center) REFERENCE_NEAR(armilla_model_mean(other)[i], armilla_model_mean(model)[i], 1e-13);
        }
        REFERENCE_OK(armilla_model_check(reference_context, other, f->data[form], &check));
        REFERENCE_HOLDS(check.passed);
        armilla_model_free(other);
    }
    armilla_model_free(model);
}

static void test_all_forms_alike(void **state)
{
    static const char *const precisions[] = {"f64", "f32"};
    uint64_t random = 114;
    forms f;
    (void)state;
    for (int number = 0; number < COMBINATIONS; number++)
        for (int p = 0; p < 2; p++) {
            scene(precisions[p], combination_of(number));
            make_forms(&random, &f);
            compare_forms(&f, combination_of(number), precisions[p]);
            free_forms(&f);
        }
}

/* Every form with every preparation: training samples get their codes back, and threads change no bit. */
static void test_codes_and_threads(void **state)
{
    uint64_t random = 115;
    double codes[R * N];
    forms f;
    (void)state;
    make_forms(&random, &f);
    for (int number = 0; number < COMBINATIONS; number++)
        for (int form = 0; form < FORMS; form++) {
            scene(armilla_data_storage(f.data[form]), combination_of(number));
            armilla_model *one = fit_form(&f, form, combination_of(number), "f64", 1);
            armilla_model *many = fit_form(&f, form, combination_of(number), "f64", 3);
            REFERENCE_OK(armilla_model_transform(reference_context, one, f.data[form], 2, codes));
            assert_memory_equal(codes, armilla_model_codes(one), sizeof codes);
            assert_memory_equal(codes, armilla_model_codes(many), sizeof codes);
            assert_memory_equal(armilla_model_basis(one), armilla_model_basis(many), M * R * sizeof(double));
            armilla_model_free(one);
            armilla_model_free(many);
        }
    free_forms(&f);
}

/* With as many atoms as features nothing is lost but lengths: what comes back is the data, every step undone. */
static void test_reconstruction_undoes(void **state)
{
    uint64_t random = 116;
    (void)state;
    for (int number = 0; number < COMBINATIONS; number++) {
        const preparation how = combination_of(number);
        double X[M], back[M];
        armilla_options options;
        armilla_data *data = NULL;
        armilla_model *model = NULL;
        if (how.unit || how.center) continue; /* lengths are not kept, and one sample centred is 0 */
        scene("one sample", how);
        for (int64_t i = 0; i < M; i++) X[i] = (double)reference_below(&random, 9);
        armilla_options_default(&options);
        options.rank = 1;
        set_options(how, &options);
        REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, M, 1, M, &data));
        REFERENCE_OK(armilla_fit(reference_context, data, &options, &model));
        REFERENCE_OK(armilla_model_reconstruct(reference_context, model, 0, 1, back));
        for (int64_t i = 0; i < M; i++) REFERENCE_NEAR(back[i], X[i], 1e-12);
        armilla_model_free(model);
        armilla_data_free(data);
    }
}

/* The first entry that has no logarithm is named, also where the bad feature's mean spoils every sample. */
static void test_bad_entries_are_named(void **state)
{
    uint64_t random = 117;
    (void)state;
    for (int number = 0; number < COMBINATIONS; number++) {
        preparation how = combination_of(number);
        double X[M * N];
        reference_trial trial;
        armilla_model *model = NULL;
        scene("bad entries", how);
        make_counts(&random, X);
        X[9 + 17 * M] = how.log1p ? -1 : NAN;
        X[2 + 40 * M] = how.log1p ? -7 : INFINITY;
        reference_trial_new(&trial, &reference_pairs[0], ARMILLA_F64, M, N, R, S, X);
        set_options(how, &trial.options);
        REFERENCE_HOLDS(armilla_fit(reference_context, trial.data, &trial.options, &model) == ARMILLA_BAD_DATA);
        const char *reported = armilla_context_error(reference_context);
        REFERENCE_HOLDS(strstr(reported, "sample 18, feature 10 ") != NULL);
        REFERENCE_HOLDS(strstr(reported, how.log1p ? "but log1p takes" : "NaN or infinite") != NULL);
        reference_trial_free(&trial);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prepared_before_or_on_the_fly),
        cmocka_unit_test(test_single_precision),
        cmocka_unit_test(test_unit_length),
        cmocka_unit_test(test_unit_length_stays),
        cmocka_unit_test(test_sample_that_equals_the_mean),
        cmocka_unit_test(test_all_forms_alike),
        cmocka_unit_test(test_codes_and_threads),
        cmocka_unit_test(test_reconstruction_undoes),
        cmocka_unit_test(test_bad_entries_are_named),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
