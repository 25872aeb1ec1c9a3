/* Places where a careless computation gives a plausible but wrong answer: centring far from 0, means of many equal
 * numbers, lengths beyond what squares hold, overflow in transform, fingerprints of 0/1 data, radii of another model,
 * and a model file whose figures do not hold together. */
#include "reference/reference.h"

#include "unit/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 8, N = 60, R = 3 };

static armilla_status fit(const armilla_data *X, const armilla_options *options, armilla_model **model)
{
    return armilla_fit(reference_context, X, options, model);
}

static double relative_error(const double *X, const char *precision, bool center)
{
    armilla_data *data = NULL;
    armilla_model *model = NULL;
    armilla_options options;
    armilla_model_summary summary;
    armilla_options_default(&options);
    options.rank = R;
    options.precision = precision;
    options.center = center;
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, M, N, M, &data));
    REFERENCE_OK(fit(data, &options, &model));
    armilla_model_summarize(model, &summary);
    armilla_model_free(model);
    armilla_data_free(data);
    return summary.relative_error;
}

/* 1e6 + B centred is B: rounding to f32 comes after centring. */
static void test_centring_comes_before_rounding(void **state)
{
    uint64_t random = 7;
    double X[M * N], far[M * N];
    (void)state;
    reference_fill_uniform(&random, M * N, X);
    for (int i = 0; i < M * N; i++) far[i] = 1e6 + 0.01 * X[i];
    const double near = relative_error(X, "f32", true);
    REFERENCE_HOLDS(fabs(relative_error(far, "f32", true) - near) < 1e-3 * near);
}

/* The mean of equal numbers is that number, however many there are; then nothing is left to factorise. */
static void test_constant_data_centred_are_zero(void **state)
{
    const int64_t n = 100000;
    double *X = reference_new(3 * n);
    armilla_data *data = NULL;
    armilla_model *model = NULL;
    armilla_options options;
    (void)state;
    for (int64_t i = 0; i < 3 * n; i++) X[i] = 0.1;
    armilla_options_default(&options);
    options.rank = 1;
    options.center = true;
    options.normalize = "l2";
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, 3, n, 3, &data));
    support_fails(reference_context, fit(data, &options, &model), ARMILLA_BAD_DATA, "every entry of the data is 0");
    armilla_data_free(data);
    free(X);
}

/* Unit length at scales whose squares overflow or vanish. */
static void test_unit_length_at_any_scale(void **state)
{
    static const double scales[] = {1e160, 1e-165, 1};
    uint64_t random = 9;
    double X[M * N], scaled[M * N], errors[3];
    (void)state;
    reference_fill_uniform(&random, M * N, X);
    for (int s = 0; s < 3; s++) {
        armilla_data *data = NULL;
        armilla_model *model = NULL;
        armilla_options options;
        armilla_model_summary summary;
        for (int i = 0; i < M * N; i++) scaled[i] = X[i] * scales[s];
        armilla_options_default(&options);
        options.rank = R;
        options.normalize = "l2";
        REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, scaled, M, N, M, &data));
        REFERENCE_OK(fit(data, &options, &model));
        armilla_model_summarize(model, &summary);
        errors[s] = summary.relative_error;
        armilla_model_free(model);
        armilla_data_free(data);
    }
    REFERENCE_HOLDS(fabs(errors[0] - errors[2]) < 1e-6 && fabs(errors[1] - errors[2]) < 1e-6);
}

/* Samples too large for the model's precision get a message, not NaN. */
static void test_transform_refuses_what_overflows(void **state)
{
    uint64_t random = 11;
    double X[M * N], codes[R * N];
    reference_trial trial;
    (void)state;
    reference_fill_uniform(&random, M * N, X);
    reference_trial_new(&trial, &reference_pairs[0], ARMILLA_F64, M, N, R, 1, X);
    armilla_model *model = reference_trial_fit(&trial);
    armilla_data *large = NULL;
    for (int i = 0; i < M * N; i++) X[i] = 1.5e308;
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, M, N, M, &large));
    support_fails(reference_context, armilla_model_transform(reference_context, model, large, 1, codes),
                  ARMILLA_BAD_DATA, "too large");
    armilla_data_free(large);
    armilla_model_free(model);
    reference_trial_free(&trial);
}

static uint64_t fingerprint(const double *X)
{
    armilla_data *data = NULL;
    armilla_data_facts facts;
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, M, N, M, &data));
    REFERENCE_OK(armilla_data_survey(reference_context, data, 1, &facts));
    armilla_data_free(data);
    return facts.fingerprint;
}

/* A one at any place gives a fingerprint of its own. */
static void test_fingerprints_of_ones_differ(void **state)
{
    double X[M * N] = {0};
    uint64_t seen[M * N];
    (void)state;
    for (int i = 0; i < M * N; i++) {
        X[i] = 1;
        seen[i] = fingerprint(X);
        X[i] = 0;
        for (int j = 0; j < i; j++) REFERENCE_HOLDS(seen[i] != seen[j]);
    }
}

/* A start from a model of other sets begins below ||X||^2 all the same. */
static void test_start_from_a_model_of_another_pair(void **state)
{
    uint64_t random = 13;
    double X[M * N];
    (void)state;
    reference_fill_uniform(&random, M * N, X);
    for (size_t from = 0; from < REFERENCE_PAIRS; from++)
        for (size_t to = 0; to < REFERENCE_PAIRS; to++) {
            reference_trial first, second;
            int64_t entries = 0;
            armilla_model_summary summary;
            reference_trial_new(&first, &reference_pairs[from], ARMILLA_F64, M, N, R, 2, X);
            reference_trial_new(&second, &reference_pairs[to], ARMILLA_F64, M, N, R, 2, X);
            armilla_model *start = reference_trial_fit(&first);
            second.options.start_model = start;
            armilla_model *model = reference_trial_fit(&second);
            armilla_model_summarize(model, &summary);
            REFERENCE_HOLDS(reference_trace(model, &entries)[0].objective < summary.squared_norm);
            reference_verify(model, second.data, second.X, true);
            armilla_model_free(model);
            armilla_model_free(start);
            reference_trial_free(&second);
            reference_trial_free(&first);
        }
}

/* A rank whose matrices no machine holds is refused, not tried. */
static void test_rank_beyond_memory(void **state)
{
    static const double X[4] = {1, 2, 3, 4};
    armilla_data *data = NULL;
    armilla_model *model = NULL;
    armilla_options options;
    (void)state;
    armilla_options_default(&options);
    options.basis = "nonnegative";
    options.rank = 1 << 20;
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, 2, 2, 2, &data));
    support_fails(reference_context, fit(data, &options, &model), ARMILLA_BAD_DATA, "rank 1048576 is");
    armilla_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_centring_comes_before_rounding),
        cmocka_unit_test(test_constant_data_centred_are_zero),
        cmocka_unit_test(test_unit_length_at_any_scale),
        cmocka_unit_test(test_transform_refuses_what_overflows),
        cmocka_unit_test(test_fingerprints_of_ones_differ),
        cmocka_unit_test(test_start_from_a_model_of_another_pair),
        cmocka_unit_test(test_rank_beyond_memory),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
