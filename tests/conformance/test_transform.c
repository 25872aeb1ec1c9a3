/* transform = fit: codes of training samples, their independence of batch, order and threads; and reconstruction. */
#include "reference/reference.h"

#include "linalg/kernels.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 21, N = 150, R = 5, S = 2 };

static void make_trial(reference_trial *trial, const reference_pair *pair, armilla_type type, uint64_t seed)
{
    double *X = reference_new(M * N);
    reference_data(&seed, REFERENCE_NOISY, pair, M, N, R, S, X);
    memset(X + 3 * M, 0, M * sizeof *X); /* a sample without a direction */
    reference_trial_new(trial, pair, type, M, N, R, S, X);
    free(X);
}

/* Codes of count samples of the trial from `first` on, backwards where step is -1. */
static char *transform(const reference_trial *trial, const armilla_model *model, int64_t first, int64_t count,
                       int64_t step, int threads)
{
    armilla_data *data = NULL;
    void *batch = reference_trial_batch(trial, first, count, step, &data);
    char *codes = calloc((size_t)(count * trial->r), armilla_type_size(trial->type));
    assert_non_null(codes);
    REFERENCE_OK(armilla_model_transform(reference_context, model, data, threads, codes));
    armilla_data_free(data);
    free(batch);
    return codes;
}

/* The same bits from single samples, odd batches, the reversed order and several threads. */
static void check_batches(const reference_trial *trial, const armilla_model *model)
{
    const size_t code = (size_t)trial->r * armilla_type_size(trial->type);
    char *whole = transform(trial, model, 0, trial->n, 1, 1);
    char *reversed = transform(trial, model, trial->n - 1, trial->n, -1, 1);
    char *threaded = transform(trial, model, 0, trial->n, 1, 3);
    REFERENCE_HOLDS(memcmp(whole, threaded, (size_t)trial->n * code) == 0);
    for (int64_t j = 0; j < trial->n; j++) {
        char *single = transform(trial, model, j, 1, 1, 1);
        REFERENCE_HOLDS(memcmp(single, whole + (size_t)j * code, code) == 0);
        REFERENCE_HOLDS(memcmp(reversed + (size_t)(trial->n - 1 - j) * code, whole + (size_t)j * code, code) == 0);
        free(single);
    }
    for (int64_t first = 1; first + 7 < trial->n; first += 13) {
        char *some = transform(trial, model, first, 7, 1, 2);
        REFERENCE_HOLDS(memcmp(some, whole + (size_t)first * code, 7 * code) == 0);
        free(some);
    }
    free(whole);
    free(reversed);
    free(threaded);
}

/* Codes are in their set, exactly, on the sphere of the model's radius. */
static void check_feasible(const reference_trial *trial, const armilla_model *model)
{
    const double epsilon = trial->type == ARMILLA_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
    armilla_model_summary summary;
    char *codes = transform(trial, model, 0, trial->n, 1, 1);
    armilla_model_summarize(model, &summary);
    for (int64_t j = 0; j < trial->n; j++) {
        double v[R];
        int64_t nonzeros = 0;
        for (int64_t k = 0; k < trial->r; k++) {
            const int64_t at = k + j * trial->r;
            v[k] = trial->type == ARMILLA_F32 ? (double)((float *)(void *)codes)[at] : ((double *)(void *)codes)[at];
            nonzeros += v[k] != 0;
            REFERENCE_HOLDS(!trial->pair->nonnegative_codes || v[k] >= 0);
        }
        REFERENCE_HOLDS(!trial->pair->sparse || nonzeros <= S);
        REFERENCE_AT_MOST(fabs(reference_norm(trial->r, v) / summary.radius - 1), 10 * epsilon);
    }
    free(codes);
}

static void test_codes_do_not_depend_on_the_batch(void **state)
{
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++) {
            reference_trial trial;
            reference_scene("%s x %s, %s", reference_pairs[p].basis, reference_pairs[p].codes,
                            armilla_type_word((armilla_type)type));
            make_trial(&trial, &reference_pairs[p], (armilla_type)type, 91 + p);
            armilla_model *model = reference_trial_fit(&trial);
            check_batches(&trial, model);
            check_feasible(&trial, model);
            armilla_model_free(model);
            reference_trial_free(&trial);
        }
}

/* Orthonormal basis, lambda 1x: training samples get their stored codes, bit for bit, with any preparation. */
static void test_training_samples_get_their_codes(void **state)
{
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int type = 0; reference_pairs[p].orthonormal && type < ARMILLA_PRECISION_COUNT; type++)
            for (int combination = 0; combination < 8; combination++) {
                reference_trial trial;
                reference_scene("%s x %s, %s, preparation %d", reference_pairs[p].basis, reference_pairs[p].codes,
                                armilla_type_word((armilla_type)type), combination);
                make_trial(&trial, &reference_pairs[p], (armilla_type)type, 92 + p);
                trial.options.center = combination & 1;
                trial.options.tfidf = combination & 2;
                trial.options.normalize = combination & 4 ? "l2" : "none";
                armilla_model *model = reference_trial_fit(&trial);
                char *codes = transform(&trial, model, 0, N, 1, 2);
                const size_t bytes = N * R * armilla_type_size(trial.type);
                REFERENCE_HOLDS(memcmp(codes, armilla_model_codes(model), bytes) == 0);
                free(codes);
                armilla_model_free(model);
                reference_trial_free(&trial);
            }
}

/* Each code is at least as good as l Proj(U'x), from which the column problem is solved downwards. */
static void check_descent(const reference_trial *trial, const armilla_model *model)
{
    const double *U = armilla_model_basis(model);
    armilla_model_summary summary;
    char *codes = transform(trial, model, 0, N, 1, 1);
    armilla_model_summarize(model, &summary);
    for (int64_t j = 0; j < N; j++) {
        const double *x = trial->X + j * M, *v = (const double *)(const void *)codes + j * R;
        double c[R], first[R];
        reference_left_transposed(M, R, 1, U, x, c);
        reference_project(R, trial->pair->sparse ? S : R, trial->pair->nonnegative_codes, c, first);
        for (int64_t k = 0; k < R; k++) first[k] *= summary.radius;
        REFERENCE_AT_MOST(reference_objective(M, 1, R, x, U, v),
                          reference_objective(M, 1, R, x, U, first) * (1 + 1e-12) + 1e-12);
    }
    free(codes);
}

static void test_codes_are_better_than_one_projection(void **state)
{
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++) {
        reference_trial trial;
        reference_scene("%s x %s", reference_pairs[p].basis, reference_pairs[p].codes);
        make_trial(&trial, &reference_pairs[p], ARMILLA_F64, 93 + p);
        armilla_model *model = reference_trial_fit(&trial);
        check_descent(&trial, model);
        armilla_model_free(model);
        reference_trial_free(&trial);
    }
}

static void test_transform_refuses_other_data(void **state)
{
    reference_trial trial;
    armilla_data *data = NULL;
    double X[2 * M] = {0}, codes[R * 2];
    (void)state;
    make_trial(&trial, &reference_pairs[0], ARMILLA_F64, 94);
    armilla_model *model = reference_trial_fit(&trial);
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, M - 1, 2, M, &data));
    REFERENCE_STATUS(armilla_model_transform(reference_context, model, data, 1, codes), ARMILLA_BAD_DATA);
    REFERENCE_SAYS("features");
    armilla_data_free(data);
    X[M + 2] = NAN;
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, M, 2, M, &data));
    REFERENCE_STATUS(armilla_model_transform(reference_context, model, data, 1, codes), ARMILLA_BAD_DATA);
    armilla_data_free(data);
    armilla_model_free(model);
    reference_trial_free(&trial);
}

/* Columns of UV, weights and mean undone. */
static void check_reconstruction(const reference_trial *trial, const armilla_model *model)
{
    const double *mean = armilla_model_mean(model), *idf = armilla_model_idf(model);
    const double tolerance = trial->type == ARMILLA_F32 ? 1e-4 : 1e-11;
    double *U = reference_model_basis(model), *V = reference_model_codes(model), *UV = reference_new(M * N);
    char *found = calloc(M * 20, armilla_type_size(trial->type));
    assert_non_null(found);
    reference_multiply(M, R, N, U, V, UV);
    REFERENCE_OK(armilla_model_reconstruct(reference_context, model, 7, 20, found));
    for (int64_t i = 0; i < M * 20; i++) {
        const double shifted = UV[i + 7 * M] + (mean ? mean[i % M] : 0);
        const double value =
            trial->type == ARMILLA_F32 ? (double)((float *)(void *)found)[i] : ((double *)(void *)found)[i];
        if (!idf || idf[i % M] != 0) REFERENCE_NEAR(value, idf ? shifted / idf[i % M] : shifted, tolerance);
    }
    free(U);
    free(V);
    free(UV);
    free(found);
}

static void test_reconstruction(void **state)
{
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++)
            for (int combination = 0; combination < 4; combination++) {
                reference_trial trial;
                char nothing[8];
                reference_scene("%s x %s, preparation %d", reference_pairs[p].basis, reference_pairs[p].codes,
                                combination);
                make_trial(&trial, &reference_pairs[p], (armilla_type)type, 95 + p);
                trial.options.center = (combination & 1) && reference_pairs[p].orthonormal;
                trial.options.tfidf = combination & 2;
                armilla_model *model = reference_trial_fit(&trial);
                check_reconstruction(&trial, model);
                REFERENCE_STATUS(armilla_model_reconstruct(reference_context, model, N - 1, 2, nothing),
                                 ARMILLA_BAD_ARGUMENT);
                REFERENCE_STATUS(armilla_model_reconstruct(reference_context, model, -1, 1, nothing),
                                 ARMILLA_BAD_ARGUMENT);
                armilla_model_free(model);
                reference_trial_free(&trial);
            }
}

/* Each kernel on its own: the model is right, and transform gives the stored codes whatever the best kernel is. */
static void test_pinned_kernels(void **state)
{
    static const char *const kernels[] = {"portable", "avx2", "avx512"};
    enum { WIDE = 40, MANY = 60, ATOMS = 5 };
    double X[WIDE * MANY];
    uint64_t random = 98;
    (void)state;
    reference_fill_normal(&random, WIDE * MANY, X);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++) {
            const size_t bytes = MANY * ATOMS * armilla_type_size((armilla_type)type);
            double codes[MANY * ATOMS];
            reference_trial trial;
            reference_trial_new(&trial, &reference_pairs[0], (armilla_type)type, WIDE, MANY, ATOMS, ATOMS, X);
            trial.options.kernel = kernels[k];
            reference_scene("%s, %s", kernels[k], armilla_type_word((armilla_type)type));
            if (!armilla_kernels_available(kernels[k])) {
                armilla_model *none = NULL;
                REFERENCE_STATUS(armilla_fit(reference_context, trial.data, &trial.options, &none), ARMILLA_NOT_BUILT);
            } else {
                armilla_model *model = reference_trial_fit(&trial);
                REFERENCE_OK(armilla_model_transform(reference_context, model, trial.data, 0, codes));
                REFERENCE_HOLDS(memcmp(codes, armilla_model_codes(model), bytes) == 0);
                armilla_model_free(model);
            }
            reference_trial_free(&trial);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes_do_not_depend_on_the_batch),
        cmocka_unit_test(test_training_samples_get_their_codes),
        cmocka_unit_test(test_codes_are_better_than_one_projection),
        cmocka_unit_test(test_transform_refuses_other_data),
        cmocka_unit_test(test_reconstruction),
        cmocka_unit_test(test_pinned_kernels),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
