/* Preparation on the fly: weights, centring and unit length as plain loops make them, and fits of raw data with the
 * options as good as fits of data that were prepared before. */
#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 14, N = 60, R = 3, S = 2, COMBINATIONS = 8 };

typedef struct preparation {
    bool center, tfidf, unit;
} preparation;

static preparation combination_of(int number)
{
    return (preparation){number & 1, number & 2, number & 4};
}

/* Weights ln((1+n)/(1+n_i)) + 1, then minus the mean, then length 1 (ALGORITHM section 8 gives the order). */
static void prepare(preparation how, double *X, double *mean, double *idf)
{
    for (int64_t i = 0; i < M; i++) {
        int64_t found = 0;
        for (int64_t j = 0; j < N; j++) found += X[i + j * M] != 0;
        idf[i] = how.tfidf ? log((1.0 + N) / (1.0 + (double)found)) + 1 : 1;
        mean[i] = 0;
        for (int64_t j = 0; j < N; j++) X[i + j * M] *= idf[i];
        for (int64_t j = 0; how.center && j < N; j++) mean[i] += X[i + j * M] / N;
        for (int64_t j = 0; j < N; j++) X[i + j * M] -= mean[i];
    }
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

static void check_vectors(const armilla_model *model, preparation how, const double *mean, const double *idf)
{
    REFERENCE_HOLDS((armilla_model_mean(model) != NULL) == how.center);
    REFERENCE_HOLDS((armilla_model_idf(model) != NULL) == how.tfidf);
    for (int64_t i = 0; i < M; i++) {
        if (how.center) REFERENCE_NEAR(armilla_model_mean(model)[i], mean[i], 1e-12);
        if (how.tfidf) REFERENCE_NEAR(armilla_model_idf(model)[i], idf[i], 1e-12);
    }
}

/* Raw data with options against prepared data without: the same objective, factors and radius. */
static void compare(const reference_pair *pair, preparation how, uint64_t *random)
{
    double X[M * N], prepared[M * N], mean[M], idf[M], U0[M * R];
    reference_trial raw, plain;
    armilla_model_summary a, b;
    make_counts(random, X);
    memcpy(prepared, X, sizeof X);
    prepare(how, prepared, mean, idf);
    reference_random_basis(random, pair, M, R, U0);
    reference_trial_new(&raw, pair, ARMILLA_F64, M, N, R, S, X);
    reference_trial_new(&plain, pair, ARMILLA_F64, M, N, R, S, prepared);
    raw.options.start_basis = plain.options.start_basis = U0;
    raw.options.center = how.center;
    raw.options.tfidf = how.tfidf;
    raw.options.normalize = how.unit ? "l2" : "none";
    armilla_model *with = reference_trial_fit(&raw), *without = reference_trial_fit(&plain);
    armilla_model_summarize(with, &a);
    armilla_model_summarize(without, &b);
    REFERENCE_NEAR(a.squared_norm, b.squared_norm, 1e-9 * b.squared_norm);
    REFERENCE_NEAR(a.objective, b.objective, 1e-9 * b.squared_norm);
    REFERENCE_NEAR(a.radius, b.radius, 1e-9 * b.radius);
    REFERENCE_HOLDS(a.zero_samples == b.zero_samples && a.center == how.center && a.tfidf == how.tfidf);
    REFERENCE_HOLDS(strcmp(a.normalize, how.unit ? "l2" : "none") == 0);
    check_vectors(with, how, mean, idf);
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
                reference_scene("%s x %s, center %d, tfidf %d, l2 %d", pair->basis, pair->codes, how.center, how.tfidf,
                                how.unit);
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
        double X[M * N], prepared[M * N], mean[M], idf[M];
        reference_trial trial;
        reference_scene("f32, center %d, tfidf %d, l2 %d", how.center, how.tfidf, how.unit);
        make_counts(&random, X);
        memcpy(prepared, X, sizeof X);
        prepare(how, prepared, mean, idf);
        reference_trial_new(&trial, &reference_pairs[0], ARMILLA_F32, M, N, R, S, X);
        trial.options.center = how.center;
        trial.options.tfidf = how.tfidf;
        trial.options.normalize = how.unit ? "l2" : "none";
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prepared_before_or_on_the_fly),
        cmocka_unit_test(test_single_precision),
        cmocka_unit_test(test_unit_length),
        cmocka_unit_test(test_sample_that_equals_the_mean),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
