/* Sparse data against the dense form of the same matrix: every pair, precision and index width; preparation without
 * expanding; the same bits for any number of threads, batch and order of entries. */
#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 30, N = 120, R = 5, S = 2 };

/* A third of the places filled, with an empty sample and an empty feature. */
static double *make_matrix(uint64_t *random, const reference_pair *pair, int64_t m, int64_t n)
{
    double *X = reference_new(m * n);
    reference_sprinkle(random, 0.3, m * n, X);
    for (int64_t i = 0; i < m * n; i++)
        if (i / m == 7 || i % m == 4) X[i] = 0;
    for (int64_t i = 0; i < m * n && pair->orthonormal && !pair->nonnegative_codes; i += 3) X[i] = -X[i];
    reference_round_to_f32(m * n, X);
    return X;
}

/* The trial's data replaced by their sparse form. */
static void make_sparse(reference_trial *trial, reference_sparse *sparse, armilla_index index, bool scrambled)
{
    reference_sparse_new(sparse, trial->type, index, scrambled, trial->m, trial->n, trial->X);
    armilla_data_free(trial->data);
    trial->data = reference_sparse_wrap(sparse);
}

static void compare_summaries(const armilla_model *a, const armilla_model *b, double tolerance)
{
    armilla_model_summary x, y;
    armilla_model_summarize(a, &x);
    armilla_model_summarize(b, &y);
    REFERENCE_NEAR(x.objective, y.objective, tolerance * y.squared_norm);
    REFERENCE_NEAR(x.squared_norm, y.squared_norm, tolerance * y.squared_norm);
    REFERENCE_NEAR(x.radius, y.radius, tolerance * y.radius);
    REFERENCE_HOLDS(x.fingerprint == y.fingerprint && x.zero_samples == y.zero_samples);
}

static void compare_factors(const armilla_model *a, const armilla_model *b, double tolerance)
{
    armilla_model_summary x;
    double *U = reference_model_basis(a), *other_U = reference_model_basis(b);
    double *V = reference_model_codes(a), *other_V = reference_model_codes(b);
    armilla_model_summarize(a, &x);
    REFERENCE_AT_MOST(reference_distance(x.m * x.rank, U, other_U), tolerance * reference_norm(x.m * x.rank, U));
    REFERENCE_AT_MOST(reference_distance(x.n * x.rank, V, other_V), tolerance * reference_norm(x.n * x.rank, V));
    free(U);
    free(other_U);
    free(V);
    free(other_V);
}

/* X: the prepared data as plain numbers. The sparse model passes the check against the dense data too, and has the same
 * factors, unless so many digits cancel that signs are up to rounding. */
static void compare_forms(reference_trial *trial, armilla_index index, bool scrambled, bool cancels, const double *X,
                          double tolerance)
{
    reference_sparse sparse;
    armilla_model *dense = reference_trial_fit(trial);
    armilla_data *dense_data = trial->data;
    trial->data = NULL;
    make_sparse(trial, &sparse, index, scrambled);
    armilla_model *model = reference_trial_fit(trial);
    compare_summaries(model, dense, tolerance);
    reference_verify(model, trial->data, X, true);
    if (!cancels) compare_factors(model, dense, tolerance);
    if (!cancels) reference_verify(model, dense_data, X, true);
    armilla_data_free(dense_data);
    armilla_model_free(dense);
    armilla_model_free(model);
    armilla_data_free(trial->data);
    trial->data = NULL;
    reference_sparse_free(&sparse);
}

static void test_sparse_equals_dense(void **state)
{
    uint64_t random = 301;
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++)
            for (int variant = 0; variant < 4; variant++) {
                const reference_pair *pair = &reference_pairs[p];
                double *X = make_matrix(&random, pair, M, N);
                reference_trial trial;
                reference_scene("%s x %s, %s, variant %d", pair->basis, pair->codes,
                                armilla_type_word((armilla_type)type), variant);
                reference_trial_new(&trial, pair, (armilla_type)type, M, N, R, S, X);
                trial.options.max_iter = 5; /* rounding grows along the way */
                compare_forms(&trial, variant & 1 ? ARMILLA_I64 : ARMILLA_I32, variant & 2, false, trial.X,
                              type == ARMILLA_F32 ? 1e-4 : 1e-10);
                reference_trial_free(&trial);
                free(X);
            }
}

/* f64 entries worked in f32, and the reverse. */
static void test_other_precision(void **state)
{
    uint64_t random = 302;
    (void)state;
    for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++) {
        double *X = make_matrix(&random, &reference_pairs[5], M, N);
        reference_trial trial;
        reference_scene("%s data in the other precision", armilla_type_word((armilla_type)type));
        reference_trial_new(&trial, &reference_pairs[5], (armilla_type)type, M, N, R, S, X);
        trial.options.precision = type == ARMILLA_F32 ? "f64" : "f32";
        trial.options.max_iter = 5;
        compare_forms(&trial, ARMILLA_I32, false, false, trial.X, 1e-4);
        reference_trial_free(&trial);
        free(X);
    }
}

/* Weights, mean and unit length as plain loops make them. */
static void prepare(const armilla_options *how, int64_t m, int64_t n, double *X)
{
    for (int64_t i = 0; i < m; i++) {
        double found = 0, mean = 0;
        for (int64_t j = 0; j < n; j++) found += X[i + j * m] != 0;
        for (int64_t j = 0; j < n && how->tfidf; j++) X[i + j * m] *= log((1.0 + (double)n) / (1.0 + found)) + 1;
        for (int64_t j = 0; j < n && how->center; j++) mean += X[i + j * m] / (double)n;
        for (int64_t j = 0; j < n; j++) X[i + j * m] -= mean;
    }
    for (int64_t j = 0; strcmp(how->normalize, "l2") == 0 && j < n; j++) {
        const double length = reference_norm(m, X + j * m);
        for (int64_t i = 0; i < m; i++) X[i + j * m] = length > 1e-12 ? X[i + j * m] / length : 0;
    }
}

static void set_preparation(armilla_options *options, int combination)
{
    options->center = combination & 1;
    options->tfidf = combination & 2;
    options->normalize = combination & 4 ? "l2" : "none";
}

static void test_preparation(void **state)
{
    uint64_t random = 303;
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++)
            for (int combination = 1; combination < 8; combination++) {
                const reference_pair *pair = &reference_pairs[p];
                double *X = make_matrix(&random, pair, M, N), *prepared = reference_copy(M * N, X);
                reference_trial trial;
                if (!(combination & 1 && !pair->orthonormal && pair->nonnegative_codes)) {
                    reference_scene("%s x %s, %s, preparation %d", pair->basis, pair->codes,
                                    armilla_type_word((armilla_type)type), combination);
                    reference_trial_new(&trial, pair, (armilla_type)type, M, N, R, S, X);
                    trial.options.max_iter = 5;
                    set_preparation(&trial.options, combination);
                    prepare(&trial.options, M, N, prepared);
                    compare_forms(&trial, combination & 4 ? ARMILLA_I64 : ARMILLA_I32, false, false, prepared,
                                  type == ARMILLA_F32 ? 1e-3 : 1e-9);
                    reference_trial_free(&trial);
                }
                free(prepared);
                free(X);
            }
}

/* Samples that are nearly the mean, where the short formulas have no digits left; and one that is the mean. */
static void test_centring_that_cancels(void **state)
{
    uint64_t random = 304;
    double *X = make_matrix(&random, &reference_pairs[0], M, N), *prepared = reference_new(M * N);
    (void)state;
    for (int unit = 0; unit < 2; unit++) {
        reference_trial trial;
        for (int64_t i = 0; i < M * N; i++)
            X[i] = i % M == 2 ? 0 : 1e4 + (double)(i % M) + 1e-3 * reference_normal(&random);
        memcpy(prepared, X, M * N * sizeof *X);
        reference_trial_new(&trial, &reference_pairs[0], ARMILLA_F64, M, N, R, S, X);
        set_preparation(&trial.options, unit ? 5 : 1);
        prepare(&trial.options, M, N, prepared);
        trial.options.max_iter = 5;
        compare_forms(&trial, ARMILLA_I32, false, true, prepared, 1e-6);
        reference_trial_free(&trial);
    }
    free(prepared);
    free(X);
}

/* Residuals that cancel: planted data that are fitted to the last digits. */
static void test_exact_fits(void **state)
{
    enum { FEATURES = 40, SAMPLES = 90 };
    uint64_t random = 305;
    double *X = reference_new(FEATURES * SAMPLES), U[FEATURES] = {0};
    reference_trial trial;
    armilla_model_summary summary;
    reference_sparse sparse;
    (void)state;
    for (int64_t i = 0; i < FEATURES; i += 5) U[i] = 1 + reference_uniform(&random);
    for (int64_t i = 0; i < FEATURES * SAMPLES; i++) X[i] = 3 * U[i % FEATURES];
    reference_trial_new(&trial, &reference_pairs[0], ARMILLA_F64, FEATURES, SAMPLES, 1, 1, X);
    make_sparse(&trial, &sparse, ARMILLA_I32, false);
    armilla_model *model = reference_trial_fit(&trial);
    armilla_model_summarize(model, &summary);
    REFERENCE_AT_MOST(summary.objective, 1e-25 * summary.squared_norm);
    reference_verify(model, trial.data, trial.X, true);
    armilla_model_free(model);
    reference_trial_free(&trial);
    reference_sparse_free(&sparse);
    free(X);
}

static void same_bits(const armilla_model *a, const armilla_model *b)
{
    armilla_model_summary x, y;
    armilla_model_summarize(a, &x);
    armilla_model_summarize(b, &y);
    const size_t size = armilla_type_size(x.precision);
    REFERENCE_HOLDS(memcmp(armilla_model_basis(a), armilla_model_basis(b), (size_t)(x.m * x.rank) * size) == 0);
    REFERENCE_HOLDS(memcmp(armilla_model_codes(a), armilla_model_codes(b), (size_t)(x.rank * x.n) * size) == 0);
    REFERENCE_HOLDS(x.radius == y.radius && x.objective == y.objective && x.squared_norm == y.squared_norm);
    REFERENCE_HOLDS(x.fingerprint == y.fingerprint && x.sweeps == y.sweeps);
}

/* Any number of threads; indices of either width; entries in any order. */
static void test_same_bits(void **state)
{
    enum { FEATURES = 90, SAMPLES = 3000, RANK = 9 };
    static const int64_t threads[] = {1, 2, 3, 8};
    uint64_t random = 306;
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++) {
            const reference_pair *pair = &reference_pairs[p];
            double *X = make_matrix(&random, pair, FEATURES, SAMPLES);
            armilla_model *first = NULL;
            for (int64_t i = 0; i < FEATURES * SAMPLES / 2; i++) /* uneven columns */
                if (i % 3) X[i] = 0;
            for (int run = 0; run < 6; run++) {
                reference_trial trial;
                reference_sparse sparse;
                reference_scene("%s x %s, %s, run %d", pair->basis, pair->codes, armilla_type_word((armilla_type)type),
                                run);
                reference_trial_new(&trial, pair, (armilla_type)type, FEATURES, SAMPLES, RANK, S, X);
                trial.options.max_iter = 4;
                trial.options.threads = threads[run % 4];
                set_preparation(&trial.options, p == 0 ? 5 : p == 1 ? 6 : 0);
                make_sparse(&trial, &sparse, run == 4 ? ARMILLA_I64 : ARMILLA_I32, run == 5);
                armilla_model *model = reference_trial_fit(&trial);
                if (first) same_bits(first, model);
                if (!first) first = model;
                if (first != model) armilla_model_free(model);
                reference_trial_free(&trial);
                reference_sparse_free(&sparse);
            }
            armilla_model_free(first);
            free(X);
        }
}

/* Columns first, first+step, ... of the trial as sparse data of their own, and their codes. */
static char *transform(const reference_trial *trial, const armilla_model *model, int64_t first, int64_t count,
                       int64_t step, int threads)
{
    double *batch = reference_new(trial->m * count);
    char *codes = calloc((size_t)(count * trial->r), armilla_type_size(trial->type));
    reference_sparse sparse;
    assert_non_null(codes);
    for (int64_t j = 0; j < count; j++)
        memcpy(batch + j * trial->m, trial->X + (first + j * step) * trial->m, (size_t)trial->m * sizeof *batch);
    reference_sparse_new(&sparse, trial->type, ARMILLA_I32, false, trial->m, count, batch);
    armilla_data *data = reference_sparse_wrap(&sparse);
    REFERENCE_OK(armilla_model_transform(reference_context, model, data, threads, codes));
    armilla_data_free(data);
    reference_sparse_free(&sparse);
    free(batch);
    return codes;
}

static void test_transform(void **state)
{
    uint64_t random = 307;
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++) {
            const reference_pair *pair = &reference_pairs[p];
            double *X = make_matrix(&random, pair, M, N);
            reference_trial trial;
            reference_sparse sparse;
            reference_scene("%s x %s, %s", pair->basis, pair->codes, armilla_type_word((armilla_type)type));
            reference_trial_new(&trial, pair, (armilla_type)type, M, N, R, S, X);
            set_preparation(&trial.options, p % 4 == 0 ? 5 : 4);
            make_sparse(&trial, &sparse, ARMILLA_I32, false);
            armilla_model *model = reference_trial_fit(&trial);
            const size_t code = R * armilla_type_size(trial.type);
            char *whole = transform(&trial, model, 0, N, 1, 1), *back = transform(&trial, model, N - 1, N, -1, 3);
            for (int64_t j = 0; j < N; j++) {
                char *one = transform(&trial, model, j, 1, 1, 1);
                REFERENCE_HOLDS(memcmp(one, whole + (size_t)j * code, code) == 0);
                REFERENCE_HOLDS(memcmp(back + (size_t)(N - 1 - j) * code, whole + (size_t)j * code, code) == 0);
                free(one);
            }
            free(back);
            free(whole);
            armilla_model_free(model);
            reference_trial_free(&trial);
            reference_sparse_free(&sparse);
            free(X);
        }
}

/* Every fact that the dense form has, the fingerprint included. */
static void test_survey(void **state)
{
    uint64_t random = 308;
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        double *X = make_matrix(&random, &reference_pairs[0], M, N);
        armilla_data_facts sparse_facts, dense_facts;
        reference_sparse sparse;
        armilla_data *dense = NULL;
        reference_scene("survey of matrix %d", kind);
        for (int64_t i = 0; i < M * N && kind == 1; i++) X[i] = fabs(X[i]) + 1; /* nothing is 0 */
        for (int64_t i = 0; i < M * N && kind == 2; i++) X[i] = 0;
        if (kind == 3) X[5 * M + 11] = NAN;
        reference_sparse_new(&sparse, ARMILLA_F64, ARMILLA_I32, kind == 0, M, N, X);
        armilla_data *data = reference_sparse_wrap(&sparse);
        REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, M, N, M, &dense));
        REFERENCE_OK(armilla_data_survey(reference_context, data, 2, &sparse_facts));
        REFERENCE_OK(armilla_data_survey(reference_context, dense, 2, &dense_facts));
        if (kind < 3)
            REFERENCE_NEAR(sparse_facts.squared_norm, dense_facts.squared_norm, 1e-12 * dense_facts.squared_norm);
        REFERENCE_HOLDS(sparse_facts.smallest == dense_facts.smallest && sparse_facts.largest == dense_facts.largest);
        REFERENCE_HOLDS(sparse_facts.norm_low == dense_facts.norm_low &&
                        sparse_facts.norm_high == dense_facts.norm_high);
        REFERENCE_HOLDS(sparse_facts.zeros == dense_facts.zeros && sparse_facts.negatives == dense_facts.negatives);
        REFERENCE_HOLDS(sparse_facts.zero_samples == dense_facts.zero_samples);
        REFERENCE_HOLDS(sparse_facts.zero_features == dense_facts.zero_features);
        REFERENCE_HOLDS(sparse_facts.fingerprint == dense_facts.fingerprint);
        REFERENCE_HOLDS(sparse_facts.bad_sample == dense_facts.bad_sample);
        REFERENCE_HOLDS(sparse_facts.bad_feature == dense_facts.bad_feature);
        armilla_data_free(dense);
        armilla_data_free(data);
        reference_sparse_free(&sparse);
        free(X);
    }
}

/* Shapes at the edge: one entry, one feature, one sample, ranks beyond both. */
static void test_odd_shapes(void **state)
{
    static const int64_t shapes[][3] = {{1, 1, 1},  {1, 9, 1},   {9, 1, 1},   {7, 3, 5},
                                        {3, 50, 3}, {40, 2, 33}, {65, 70, 64}};
    uint64_t random = 309;
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++)
            for (size_t p = 0; p < REFERENCE_PAIRS; p++) {
                const int64_t m = shapes[i][0], n = shapes[i][1], r = shapes[i][2];
                double *X = reference_new(m * n);
                reference_trial trial;
                reference_sparse sparse;
                reference_scene("%s, %d x %d, rank %d, %s", reference_pairs[p].codes, (int)m, (int)n, (int)r,
                                armilla_type_word((armilla_type)type));
                reference_sprinkle(&random, 0.4, m * n, X);
                X[m * n / 2] = 1;
                for (int64_t e = 0; e < m * n && i % 2; e++) /* one entry alone */
                    if (e != m * n / 2) X[e] = 0;
                reference_trial_new(&trial, &reference_pairs[p], (armilla_type)type, m, n, r, 1, X);
                trial.options.max_iter = 3;
                make_sparse(&trial, &sparse, ARMILLA_I64, false);
                armilla_model *model = reference_trial_fit(&trial);
                reference_verify(model, trial.data, trial.X, true);
                armilla_model_free(model);
                reference_trial_free(&trial);
                reference_sparse_free(&sparse);
                free(X);
            }
}

static void test_every_start(void **state)
{
    uint64_t random = 310;
    armilla_table_row start;
    (void)state;
    for (size_t i = 0; armilla_table_get(ARMILLA_TABLE_STARTS, i, &start); i++) {
        double *X = make_matrix(&random, &reference_pairs[5], M, N);
        reference_trial trial;
        reference_scene("start %s", start.name);
        reference_trial_new(&trial, &reference_pairs[5], ARMILLA_F64, M, N, R, S, X);
        trial.options.start = start.name;
        trial.options.max_iter = 3;
        compare_forms(&trial, ARMILLA_I32, false, false, trial.X, 1e-8);
        reference_trial_free(&trial);
        free(X);
    }
}

static void test_all_zero(void **state)
{
    static const int32_t starts[4] = {0};
    armilla_data *data = NULL;
    armilla_model *model = NULL;
    armilla_options options;
    (void)state;
    reference_scene("no entries at all");
    REFERENCE_OK(
        armilla_data_wrap_sparse(reference_context, ARMILLA_F64, ARMILLA_I32, NULL, NULL, starts, 5, 3, &data));
    armilla_options_default(&options);
    options.rank = 2;
    REFERENCE_STATUS(armilla_fit(reference_context, data, &options, &model), ARMILLA_BAD_DATA);
    REFERENCE_SAYS("every entry of the data is 0");
    armilla_data_free(data);
}

static void refuses(int64_t m, int64_t n, const int32_t *features, const int32_t *starts, armilla_status status,
                    const char *words)
{
    static const double values[] = {1, 2, 3, 4};
    armilla_data *data = NULL;
    REFERENCE_STATUS(
        armilla_data_wrap_sparse(reference_context, ARMILLA_F64, ARMILLA_I32, values, features, starts, m, n, &data),
        status);
    REFERENCE_SAYS(words);
    REFERENCE_HOLDS(data == NULL);
}

static void test_bad_arrays(void **state)
{
    const int32_t features[] = {0, 1, 2, 1}, starts[] = {0, 2, 4}, late[] = {1, 2, 4}, falling[] = {0, 5, 4};
    const int32_t negative[] = {0, -1, 4}, outside[] = {0, 1, 3, 1}, below[] = {0, -1, 2, 1};
    armilla_data *data = NULL;
    (void)state;
    reference_scene("bad arrays");
    refuses(3, 2, features, late, ARMILLA_BAD_DATA, "the start of sparse column 0 is 1");
    refuses(3, 2, features, falling, ARMILLA_BAD_DATA, "the start of sparse column 1 is 5");
    refuses(3, 2, features, negative, ARMILLA_BAD_DATA, "the start of sparse column 1 is -1");
    refuses(3, 2, outside, starts, ARMILLA_BAD_DATA, "entry 2 (counted from 0), in sparse column 1, has the index 3");
    refuses(3, 2, below, starts, ARMILLA_BAD_DATA, "has the index -1, which is not between 0 and 2");
    refuses(0, 2, features, starts, ARMILLA_BAD_DATA, "at least one of each");
    refuses(3, 2, NULL, starts, ARMILLA_BAD_ARGUMENT, "NULL");
    refuses(3, 2, features, NULL, ARMILLA_BAD_ARGUMENT, "NULL");
    REFERENCE_STATUS(armilla_data_wrap_sparse(reference_context, ARMILLA_F64, (armilla_index)9, starts, features,
                                              starts, 3, 2, &data),
                     ARMILLA_BAD_ARGUMENT);
    REFERENCE_STATUS(armilla_data_wrap_sparse(reference_context, (armilla_type)9, ARMILLA_I32, starts, features, starts,
                                              3, 2, &data),
                     ARMILLA_BAD_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sparse_equals_dense),
        cmocka_unit_test(test_other_precision),
        cmocka_unit_test(test_preparation),
        cmocka_unit_test(test_centring_that_cancels),
        cmocka_unit_test(test_exact_fits),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_transform),
        cmocka_unit_test(test_survey),
        cmocka_unit_test(test_odd_shapes),
        cmocka_unit_test(test_every_start),
        cmocka_unit_test(test_all_zero),
        cmocka_unit_test(test_bad_arrays),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
