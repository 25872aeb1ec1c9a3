/* Odd shapes, bad values and extreme scales: each has a defined outcome, a valid model or a clear error. */
#include "reference/reference.h"

#include "linalg/kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct shape {
    int64_t m, n, r, s;
} shapes[] = {
    {1, 1, 1, 1}, {1, 5, 1, 1}, {5, 1, 1, 1}, {5, 1, 3, 2}, {4, 4, 4, 2},  {6, 2, 4, 1},   {7, 3, 7, 7},
    {2, 9, 2, 1}, {1, 4, 3, 2}, {3, 7, 5, 3}, {3, 2, 9, 4}, {9, 33, 9, 3}, {40, 31, 2, 1},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static void set_scene(const reference_trial *trial, const char *what)
{
    reference_scene("%s x %s, %s, m = %d, n = %d, r = %d, %s", trial->pair->basis, trial->pair->codes,
                    armilla_type_word(trial->type), (int)trial->m, (int)trial->n, (int)trial->r, what);
}

/* The fit fails with the status, and its message has the words. */
static void refused(const reference_trial *trial, armilla_status wanted, const char *words)
{
    armilla_model *model = NULL;
    REFERENCE_STATUS(armilla_fit(reference_context, trial->data, &trial->options, &model), wanted);
    REFERENCE_HOLDS(model == NULL);
    REFERENCE_SAYS(words);
}

static void fit_shape(const reference_pair *pair, armilla_type type, const struct shape *shape, reference_kind kind,
                      uint64_t *random)
{
    double *X = reference_new(shape->m * shape->n);
    reference_trial trial;
    reference_data(random, kind, pair, shape->m, shape->n, shape->r, shape->s, X);
    reference_trial_new(&trial, pair, type, shape->m, shape->n, shape->r, shape->s, X);
    set_scene(&trial, reference_kind_word(kind));
    if (pair->orthonormal && shape->r > shape->m) {
        refused(&trial, ARMILLA_BAD_DATA, "rank");
    } else {
        armilla_model *model = reference_trial_fit(&trial);
        reference_verify(model, trial.data, trial.X, true);
        armilla_model_free(model);
    }
    reference_trial_free(&trial);
    free(X);
}

/* Nonnegative data, so that every pair has a radius. Planted data need r <= m. */
static void test_every_shape(void **state)
{
    static const reference_kind kinds[] = {REFERENCE_UNIFORM, REFERENCE_ZERO_ROWS, REFERENCE_ZERO_COLUMNS,
                                           REFERENCE_DUPLICATES, REFERENCE_CONSTANT};
    uint64_t random = 101;
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++)
            for (size_t i = 0; i < SHAPES; i++)
                for (size_t kind = 0; kind < 5; kind++)
                    fit_shape(&reference_pairs[p], (armilla_type)type, &shapes[i], kinds[kind], &random);
}

static void test_all_zero_data(void **state)
{
    const double X[12] = {0};
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++) {
            reference_trial trial;
            reference_trial_new(&trial, &reference_pairs[p], (armilla_type)type, 3, 4, 2, 1, X);
            set_scene(&trial, "all zero");
            refused(&trial, ARMILLA_BAD_DATA, "0");
            reference_trial_free(&trial);
        }
}

/* Constant data are zero once they are centred. */
static void test_constant_data_centred(void **state)
{
    double X[12];
    reference_trial trial;
    (void)state;
    for (int i = 0; i < 12; i++) X[i] = 2.5;
    reference_trial_new(&trial, &reference_pairs[0], ARMILLA_F64, 3, 4, 2, 1, X);
    trial.options.center = true;
    set_scene(&trial, "constant, centred");
    refused(&trial, ARMILLA_BAD_DATA, "centring");
    reference_trial_free(&trial);
}

/* The first bad place is named, counted from 1, also where there are more of them and several threads. */
static void test_values_that_are_not_finite(void **state)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    enum { M = 5, N = 700 };
    double *X = reference_new(M * N);
    uint64_t random = 102;
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int b = 0; b < 3; b++) {
            const int64_t sample = reference_below(&random, N - 10), feature = reference_below(&random, M);
            char place[64];
            armilla_data_facts facts;
            reference_trial trial;
            reference_fill_uniform(&random, M * N, X);
            X[feature + sample * M] = bad[b];
            X[(sample + 1) * M] = bad[(b + 1) % 3];
            X[M * N - 1] = bad[b];
            reference_trial_new(&trial, &reference_pairs[p], (armilla_type)(p % 2), M, N, 2, 1, X);
            trial.options.threads = 1 + b;
            set_scene(&trial, "not finite");
            snprintf(place, sizeof place, "sample %d, feature %d ", (int)sample + 1, (int)feature + 1);
            refused(&trial, ARMILLA_BAD_DATA, place);
            REFERENCE_OK(armilla_data_survey(reference_context, trial.data, 1 + b, &facts));
            REFERENCE_HOLDS(facts.bad_sample == sample && facts.bad_feature == feature);
            reference_trial_free(&trial);
        }
    free(X);
}

/* 1e+-150 in double: a fit like any other, and the same one but for the scale. */
static void test_extreme_scales(void **state)
{
    static const double scales[] = {1e150, 1e-150};
    enum { M = 8, N = 30, R = 3, S = 2 };
    uint64_t random = 103;
    double X[M * N], scaled[M * N], U0[M * R];
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (size_t i = 0; i < 2; i++) {
            reference_trial plain, extreme;
            armilla_model_summary a, b;
            reference_data(&random, REFERENCE_NOISY, &reference_pairs[p], M, N, R, S, X);
            reference_random_basis(&random, &reference_pairs[p], M, R, U0);
            for (int64_t k = 0; k < M * N; k++) scaled[k] = scales[i] * X[k];
            reference_trial_new(&plain, &reference_pairs[p], ARMILLA_F64, M, N, R, S, X);
            reference_trial_new(&extreme, &reference_pairs[p], ARMILLA_F64, M, N, R, S, scaled);
            set_scene(&extreme, i ? "1e-150" : "1e150");
            plain.options.start_basis = extreme.options.start_basis = U0;
            armilla_model *one = reference_trial_fit(&plain), *other = reference_trial_fit(&extreme);
            reference_verify(other, extreme.data, extreme.X, true);
            armilla_model_summarize(one, &a);
            armilla_model_summarize(other, &b);
            REFERENCE_NEAR(b.relative_error, a.relative_error, 1e-9);
            REFERENCE_NEAR(b.radius / scales[i], a.radius, 1e-9 * a.radius);
            armilla_model_free(one);
            armilla_model_free(other);
            reference_trial_free(&plain);
            reference_trial_free(&extreme);
        }
}

/* From every start row too; and beyond what squares can hold, a message about it. */
static void test_extreme_scales_from_every_start(void **state)
{
    static const struct {
        double scale;
        bool fits;
    } cases[] = {{1e150, true}, {1e-150, true}, {1e200, false}, {1e-200, false}};
    enum { M = 8, N = 30, R = 3 };
    uint64_t random = 104;
    double X[M * N];
    armilla_table_row start;
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (size_t c = 0; c < 4; c++)
            for (size_t i = 0; armilla_table_get(ARMILLA_TABLE_STARTS, i, &start); i++) {
                reference_trial trial;
                reference_fill_uniform(&random, M * N, X);
                for (int64_t k = 0; k < M * N; k++) X[k] *= cases[c].scale;
                reference_trial_new(&trial, &reference_pairs[p], ARMILLA_F64, M, N, R, 2, X);
                trial.options.start = start.name;
                set_scene(&trial, start.name);
                if (cases[c].fits) {
                    armilla_model *model = reference_trial_fit(&trial);
                    reference_verify(model, trial.data, trial.X, true);
                    armilla_model_free(model);
                } else {
                    refused(&trial, ARMILLA_BAD_DATA, cases[c].scale > 1 ? "large" : "small");
                }
                reference_trial_free(&trial);
            }
}

/* Single precision has its own limits. */
static void test_scales_of_single_precision(void **state)
{
    static const double scales[] = {1e15, 1e-15, 1e35, 1e-35};
    enum { M = 6, N = 20, R = 2 };
    uint64_t random = 105;
    double X[M * N];
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (size_t i = 0; i < 4; i++) {
            reference_trial trial;
            reference_fill_uniform(&random, M * N, X);
            for (int64_t k = 0; k < M * N; k++) X[k] *= scales[i];
            reference_trial_new(&trial, &reference_pairs[p], ARMILLA_F32, M, N, R, 1, X);
            set_scene(&trial, "f32");
            if (i < 2) {
                armilla_model *model = reference_trial_fit(&trial);
                reference_verify(model, trial.data, trial.X, true);
                armilla_model_free(model);
            } else {
                refused(&trial, ARMILLA_BAD_DATA, "f64");
            }
            reference_trial_free(&trial);
        }
}

/* A stride, and a working precision that is not the data's. */
static void test_storage_forms(void **state)
{
    enum { M = 7, N = 50, R = 3, STRIDE = 11 };
    uint64_t random = 106;
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int stored = 0; stored < ARMILLA_TYPE_COUNT; stored++)
            for (int work = 0; work < ARMILLA_PRECISION_COUNT; work++) {
                double X[M * N], wide[STRIDE * N], held[STRIDE * N];
                armilla_data *data = NULL;
                armilla_model *model = NULL;
                reference_trial trial;
                reference_fill_uniform(&random, M * N, X);
                for (int64_t i = 0; i < M * N && stored >= ARMILLA_PRECISION_COUNT; i++) X[i] = floor(128 * X[i]);
                reference_round_to_f32(M * N, X);
                for (int64_t i = 0; i < STRIDE * N; i++)
                    wide[i] = i % STRIDE < M                                 ? X[i % STRIDE + i / STRIDE * M]
                              : armilla_type_size((armilla_type)stored) == 1 ? 127
                                                                             : (double)NAN;
                armilla_store((armilla_type)stored, STRIDE * N, wide, held);
                reference_trial_new(&trial, &reference_pairs[p], (armilla_type)work, M, N, R, 2, X);
                set_scene(&trial, armilla_type_word((armilla_type)stored));
                REFERENCE_OK(
                    armilla_data_wrap_dense(reference_context, (armilla_type)stored, held, M, N, STRIDE, &data));
                REFERENCE_OK(armilla_fit(reference_context, data, &trial.options, &model));
                armilla_model *plain = reference_trial_fit(&trial);
                reference_verify(model, data, trial.X, true);
                REFERENCE_HOLDS(memcmp(armilla_model_codes(model), armilla_model_codes(plain),
                                       N * R * armilla_type_size((armilla_type)work)) == 0);
                armilla_model_free(model);
                armilla_model_free(plain);
                armilla_data_free(data);
                reference_trial_free(&trial);
            }
}

static void test_wrap_refuses(void **state)
{
    const double X[12] = {1};
    armilla_data *data = NULL;
    (void)state;
    reference_scene("wrap");
    REFERENCE_STATUS(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, 0, 4, 3, &data), ARMILLA_BAD_DATA);
    REFERENCE_STATUS(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, 3, -1, 3, &data), ARMILLA_BAD_DATA);
    REFERENCE_STATUS(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, 3, INT64_MAX, 3, &data),
                     ARMILLA_BAD_DATA);
    REFERENCE_STATUS(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, 3, 4, 2, &data), ARMILLA_BAD_ARGUMENT);
    REFERENCE_STATUS(armilla_data_wrap_dense(reference_context, ARMILLA_F64, NULL, 3, 4, 3, &data),
                     ARMILLA_BAD_ARGUMENT);
    REFERENCE_STATUS(armilla_data_wrap_dense(reference_context, (armilla_type)9, X, 3, 4, 3, &data),
                     ARMILLA_BAD_ARGUMENT);
    assert_null(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_shape),
        cmocka_unit_test(test_all_zero_data),
        cmocka_unit_test(test_constant_data_centred),
        cmocka_unit_test(test_values_that_are_not_finite),
        cmocka_unit_test(test_extreme_scales),
        cmocka_unit_test(test_extreme_scales_from_every_start),
        cmocka_unit_test(test_scales_of_single_precision),
        cmocka_unit_test(test_storage_forms),
        cmocka_unit_test(test_wrap_refuses),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
