/* The unified family (docs/algorithm.md#the-unified-family): every pair that the tables allow, by every solver that
 * takes it, dense and sparse; and the models that have an oracle: k-means by Lloyd's loop, the multiplicative rule by
 * its formula, PCA by a decomposition. */
#include "reference/reference.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 11, N = 60, R = 4, S = 2 };

static const char *const solvers[] = {"fast", "palm", "mu", "online"};

/* By the test's own knowledge of what goes together. */
static bool solves(const reference_pair *pair, const char *solver)
{
    if (strcmp(solver, "mu") == 0) return strcmp(pair->basis, "nonnegative") == 0 && strcmp(pair->codes, "nonneg") == 0;
    return strcmp(solver, "palm") != 0 || !pair->disjoint;
}

static void check_transform(const reference_trial *trial, const armilla_model *model)
{
    double *V = reference_model_codes(model), *again = reference_new(trial->r * trial->n);
    armilla_model_summary summary;
    void *codes = calloc((size_t)(trial->r * trial->n), sizeof(double));
    armilla_model_summarize(model, &summary);
    REFERENCE_OK(armilla_model_transform(reference_context, model, trial->data, 1, codes));
    for (int64_t i = 0; i < trial->r * trial->n; i++)
        again[i] = summary.precision == ARMILLA_F32 ? (double)((float *)codes)[i] : ((double *)codes)[i];
    REFERENCE_HOLDS(memcmp(V, again, (size_t)(trial->r * trial->n) * sizeof *V) == 0);
    free(codes);
    free(again);
    free(V);
}

static void check_pair(const reference_pair *pair, armilla_type type, const char *solver, bool positive)
{
    uint64_t random = 900 + (uint64_t)positive;
    double *X = reference_new(M * N);
    reference_trial trial;
    for (int64_t i = 0; i < M * N; i++) X[i] = positive ? reference_uniform(&random) : reference_normal(&random) + 0.5;
    for (int64_t i = 0; i < M; i++) X[3 * M + i] = 0; /* a sample without a direction */
    reference_scene("%s x %s, %s, %s, %s", pair->basis, pair->codes, solver, armilla_type_word(type),
                    positive ? "positive" : "signed");
    reference_trial_new(&trial, pair, type, M, N, R, S, X);
    trial.options.solver = solver;
    trial.options.max_iter = 40;
    armilla_model *model = reference_trial_fit(&trial);
    reference_verify(model, trial.data, trial.X, strcmp(solver, "online") != 0);
    if (reference_summary(model).sealed) check_transform(&trial, model);
    armilla_model_free(model);
    reference_trial_free(&trial);
    free(X);
}

static void test_every_pair_keeps_its_promises(void **state)
{
    (void)state;
    for (size_t p = 0; p < REFERENCE_FAMILY; p++)
        for (size_t i = 0; i < sizeof solvers / sizeof solvers[0]; i++)
            for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++)
                for (int positive = 0; positive < 2; positive++) {
                    if (!solves(&reference_family[p], solvers[i])) continue;
                    if (strcmp(solvers[i], "mu") == 0 && !positive) continue;
                    check_pair(&reference_family[p], (armilla_type)type, solvers[i], positive);
                }
}

/* Every row of the tables is in the list above, or is refused. */
static void test_the_rest_is_refused(void **state)
{
    uint64_t random = 3;
    armilla_table_row basis, codes;
    double *X = reference_new(M * N);
    int64_t allowed = 0;
    (void)state;
    reference_fill_uniform(&random, M * N, X);
    for (size_t b = 0; armilla_table_get(ARMILLA_TABLE_BASIS, b, &basis); b++)
        for (size_t c = 0; armilla_table_get(ARMILLA_TABLE_CODES, c, &codes); c++)
            for (size_t i = 0; i < sizeof solvers / sizeof solvers[0]; i++) {
                const reference_pair *pair = NULL;
                armilla_options options;
                armilla_options_default(&options);
                for (size_t p = 0; p < REFERENCE_FAMILY; p++)
                    if (strcmp(reference_family[p].basis, basis.name) == 0 &&
                        strcmp(reference_family[p].codes, codes.name) == 0)
                        pair = &reference_family[p];
                options.rank = R;
                options.basis = basis.name;
                options.codes = codes.name;
                options.solver = solvers[i];
                options.sparsity = strstr(codes.name, "sparse") ? S : 0;
                reference_scene("%s x %s, %s", basis.name, codes.name, solvers[i]);
                const bool fine = pair && solves(pair, solvers[i]);
                allowed += fine;
                REFERENCE_STATUS(armilla_options_check(reference_context, &options),
                                 fine ? ARMILLA_OK : ARMILLA_BAD_ARGUMENT);
                if (!fine || !pair->flat) continue;
                options.radius = 2;
                REFERENCE_STATUS(armilla_options_check(reference_context, &options), ARMILLA_BAD_ARGUMENT);
                REFERENCE_SAYS("no radius");
            }
    assert_int_equal(allowed, 35 + 32 + 1 + 35);
    free(X);
}

/* The same fit of the same numbers, stored as compressed columns. */
static void test_sparse_data_give_the_same(void **state)
{
    uint64_t random = 12;
    double *X = reference_new(M * N);
    (void)state;
    reference_sprinkle(&random, 0.4, M * N, X);
    for (size_t p = 0; p < REFERENCE_FAMILY; p++) {
        reference_trial trial;
        reference_sparse sparse;
        armilla_model_summary dense_summary, sparse_summary;
        armilla_model *dense = NULL, *other = NULL;
        reference_scene("%s x %s", reference_family[p].basis, reference_family[p].codes);
        reference_trial_new(&trial, &reference_family[p], ARMILLA_F64, M, N, R, S, X);
        reference_sparse_new(&sparse, ARMILLA_F64, ARMILLA_I32, false, M, N, X);
        armilla_data *data = reference_sparse_wrap(&sparse);
        trial.options.solver = "fast";
        trial.options.max_iter = 3;
        dense = reference_trial_fit(&trial);
        REFERENCE_OK(armilla_fit(reference_context, data, &trial.options, &other));
        reference_verify(other, data, trial.X, true);
        armilla_model_summarize(dense, &dense_summary);
        armilla_model_summarize(other, &sparse_summary);
        REFERENCE_NEAR(sparse_summary.objective, dense_summary.objective, 1e-8 * dense_summary.squared_norm);
        armilla_model_free(other);
        armilla_model_free(dense);
        armilla_data_free(data);
        reference_sparse_free(&sparse);
        reference_trial_free(&trial);
    }
    free(X);
}

/* Lloyd's loop in plain words: nearest centre (by distance or by angle), then the mean (of unit length). */
static double lloyd(bool angle, int64_t iterations, const double *X, double *U, int64_t *nearest)
{
    double total = 0;
    for (int64_t step = 0; step <= iterations; step++) {
        total = 0;
        for (int64_t j = 0; j < N; j++) {
            double least = INFINITY;
            for (int64_t k = 0; k < R; k++) {
                double far = 0;
                for (int64_t i = 0; i < M; i++) far += pow(X[i + j * M] - U[i + k * M], 2);
                if (far >= least) continue;
                least = far;
                nearest[j] = k;
            }
            total += angle ? 1 - least / 2 : least;
        }
        if (step == iterations) break;
        for (int64_t k = 0; k < R; k++) {
            int64_t count = 0;
            double mean[M] = {0};
            for (int64_t j = 0; j < N; j++) {
                count += nearest[j] == k;
                for (int64_t i = 0; i < M && nearest[j] == k; i++) mean[i] += X[i + j * M];
            }
            assert_true(count > 0);
            const double scale = angle ? reference_norm(M, mean) : (double)count;
            for (int64_t i = 0; i < M; i++) U[i + k * M] = mean[i] / scale;
        }
    }
    return total;
}

static void compare_with_lloyd(bool angle, uint64_t seed)
{
    uint64_t random = seed;
    double *X = reference_new(M * N), *U = reference_new(M * R);
    int64_t nearest[N];
    reference_trial trial;
    armilla_model_summary summary;
    reference_pair pair = *reference_pair_find(angle ? "unit" : "free", angle ? "nonneg-sparse-sphere" : "one-hot");
    reference_fill_normal(&random, M * N, X);
    for (int64_t j = 0; j < N; j++) X[j % R + j * M] += 4; /* four clusters, which do not become empty */
    for (int64_t j = 0; j < N && angle; j++) {
        const double length = reference_norm(M, X + j * M);
        for (int64_t i = 0; i < M; i++) X[i + j * M] /= length;
    }
    for (int64_t k = 0; k < R; k++) memcpy(U + k * M, X + (k + R * reference_below(&random, N / R)) * M, M * sizeof *U);
    reference_scene("%s, seed %d", angle ? "spherical k-means" : "k-means", (int)seed);
    reference_trial_new(&trial, &pair, ARMILLA_F64, M, N, R, 1, X);
    trial.options.basis = trial.options.codes = NULL;
    trial.options.sparsity = 0;
    trial.options.model = angle ? "spherical-kmeans" : "kmeans";
    trial.options.solver = "fast";
    trial.options.start_basis = U;
    trial.options.max_iter = 12;
    armilla_model *model = reference_trial_fit(&trial);
    armilla_model_summarize(model, &summary);
    assert_string_equal(summary.model, trial.options.model);
    const double found = lloyd(angle, 12, X, U, nearest);
    const double l = found / N, wanted = angle ? N - N * l * l : found;
    REFERENCE_NEAR(summary.objective, wanted, 1e-10 * wanted);
    if (angle) REFERENCE_NEAR(summary.radius, l, 1e-12);
    /* The same samples together; the model's atoms are in canonical order. */
    double *V = reference_model_codes(model);
    for (int64_t a = 0; a < N; a++)
        for (int64_t b = 0; b < a; b++) {
            const bool together = reference_dot(R, V + a * R, V + b * R) != 0;
            REFERENCE_HOLDS(together == (nearest[a] == nearest[b]));
        }
    free(V);
    armilla_model_free(model);
    reference_trial_free(&trial);
    free(U);
    free(X);
}

static void test_kmeans_is_lloyds_iteration(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        compare_with_lloyd(false, seed);
        compare_with_lloyd(true, seed);
    }
}

/* Groups that differ in length alone, one of them large: by distance kmeans++ begins in each, and a fit with nothing
 * else said finds them from every seed. */
static void test_kmeans_starts_by_distance(void **state)
{
    uint64_t random = 14;
    double *X = reference_new(M * N);
    (void)state;
    reference_fill_uniform(&random, M * N, X);
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < M; i++) X[i + j * M] += 20 * (double)(j < R ? j : 0);
    for (int64_t seed = 0; seed < 20; seed++) {
        reference_trial trial;
        armilla_model_summary summary;
        reference_scene("seed %d", (int)seed);
        reference_trial_new(&trial, reference_pair_find("free", "one-hot"), ARMILLA_F64, M, N, R, R, X);
        trial.options.solver = "fast";
        trial.options.start = NULL;
        trial.options.seed = seed;
        armilla_model *model = reference_trial_fit(&trial);
        armilla_model_summarize(model, &summary);
        assert_string_equal(summary.start, "kmeans++");
        REFERENCE_AT_MOST(summary.objective, (double)(M * N)); /* one pair of groups together: over 50 times as much */
        armilla_model_free(model);
        reference_trial_free(&trial);
    }
    free(X);
}

/* A name that stands for a preparation is not contradicted in silence. */
static void test_spherical_kmeans_is_of_unit_length(void **state)
{
    armilla_options options;
    (void)state;
    armilla_options_default(&options);
    options.rank = 2;
    options.model = "spherical-kmeans";
    REFERENCE_OK(armilla_options_check(reference_context, &options));
    options.normalize = "l2";
    REFERENCE_OK(armilla_options_check(reference_context, &options));
    options.normalize = "none";
    REFERENCE_STATUS(armilla_options_check(reference_context, &options), ARMILLA_BAD_ARGUMENT);
    REFERENCE_SAYS("normalize l2");
    options.model = "kmeans";
    REFERENCE_OK(armilla_options_check(reference_context, &options));
}

/* One step of the rule, as it is written. */
static void multiply_step(const double *X, double *U, double *V)
{
    double top[M * N], bottom[M * N], H[R * R];
    reference_right_transposed(M, N, R, X, V, top);
    reference_right_transposed(R, N, R, V, V, H);
    reference_multiply(M, R, R, U, H, bottom);
    for (int64_t i = 0; i < M * R; i++) U[i] *= bottom[i] > 0 ? top[i] / bottom[i] : 1;
    reference_left_transposed(M, R, N, U, X, top);
    reference_left_transposed(M, R, R, U, U, H);
    reference_multiply(R, R, N, H, V, bottom);
    for (int64_t i = 0; i < R * N; i++) V[i] *= bottom[i] > 0 ? top[i] / bottom[i] : 1;
}

static void test_mu_is_its_formula(void **state)
{
    uint64_t random = 55;
    double *X = reference_new(M * N), *U = NULL, *V = NULL;
    reference_trial trial;
    (void)state;
    reference_fill_uniform(&random, M * N, X);
    reference_trial_new(&trial, reference_pair_find("nonnegative", "nonneg"), ARMILLA_F64, M, N, R, R, X);
    trial.options.solver = "mu";
    for (int64_t k = 0; k <= 25; k++) {
        int64_t entries = 0;
        trial.options.max_iter = k;
        reference_scene("mu, step %d", (int)k);
        armilla_model *model = reference_trial_fit(&trial);
        double *U_found = reference_model_basis(model), *V_found = reference_model_codes(model);
        const armilla_trace_entry *trace = reference_trace(model, &entries);
        if (k == 0) {
            U = reference_copy(M * R, U_found);
            V = reference_copy(R * N, V_found);
        } else
            multiply_step(X, U, V);
        REFERENCE_AT_MOST(reference_distance(M * R, U, U_found), 1e-11 * reference_norm(M * R, U));
        REFERENCE_AT_MOST(reference_distance(R * N, V, V_found), 1e-11 * reference_norm(R * N, V));
        REFERENCE_NEAR(trace[k].objective, reference_objective(M, N, R, X, U, V), 1e-10 * reference_dot(M * N, X, X));
        free(V_found);
        free(U_found);
        armilla_model_free(model);
    }
    for (int64_t i = 0; i < 5; i++) X[i] = -1;
    reference_trial_free(&trial);
    reference_trial_new(&trial, reference_pair_find("nonnegative", "nonneg"), ARMILLA_F64, M, N, R, R, X);
    trial.options.solver = "mu";
    armilla_model *model = NULL;
    REFERENCE_STATUS(armilla_fit(reference_context, trial.data, &trial.options, &model), ARMILLA_BAD_DATA);
    REFERENCE_SAYS("5 entries are negative");
    reference_trial_free(&trial);
    free(V);
    free(U);
    free(X);
}

/* The truncated decomposition: its error, and its subspace. */
static void test_pca_is_the_truncated_svd(void **state)
{
    uint64_t random = 8;
    double *X = reference_new(M * N), *left = reference_new(N * M), *right = reference_new(M * M), sigma[M];
    double *transposed = reference_new(N * M), cosines[R * R], rest = 0, inside = 0;
    reference_trial trial;
    armilla_model_summary summary;
    (void)state;
    reference_fill_normal(&random, M * N, X);
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < M; i++) transposed[j + i * N] = X[i + j * M] *= (double)(1 + (i < R ? R - i : 0));
    reference_svd(N, M, transposed, left, sigma, right); /* X = right sigma left' */
    for (int64_t k = R; k < M; k++) rest += sigma[k] * sigma[k];
    reference_scene("pca");
    reference_trial_new(&trial, reference_pair_find("orthonormal", "free"), ARMILLA_F64, M, N, R, R, X);
    trial.options.solver = "fast";
    trial.options.tol = 1e-15;
    trial.options.max_iter = 2000;
    armilla_model *model = reference_trial_fit(&trial);
    armilla_model_summarize(model, &summary);
    assert_string_equal(summary.model, "pca");
    REFERENCE_NEAR(summary.objective, rest, 1e-9 * rest);
    double *U = reference_model_basis(model);
    reference_left_transposed(M, R, R, U, right, cosines);
    for (int64_t i = 0; i < R * R; i++) inside += cosines[i] * cosines[i];
    REFERENCE_NEAR(inside, R, 1e-8);
    for (int64_t k = 0; k < R; k++) REFERENCE_NEAR(fabs(cosines[k + k * R]), 1, 1e-6); /* principal axes */
    free(U);
    armilla_model_free(model);
    reference_trial_free(&trial);
    free(transposed);
    free(right);
    free(left);
    free(X);
}

/* X <= 0 has no nonnegative fit but 0: a valid model, not an error, where no radius is needed. */
static void test_codes_without_a_radius_may_be_zero(void **state)
{
    uint64_t random = 9;
    double *X = reference_new(M * N);
    (void)state;
    for (int64_t i = 0; i < M * N; i++) X[i] = -reference_uniform(&random) - 0.1;
    for (size_t i = 0; i < 2; i++) {
        armilla_model_summary summary;
        reference_trial trial;
        reference_scene("negative data, %s", solvers[i]);
        reference_trial_new(&trial, reference_pair_find("nonnegative", "nonneg"), ARMILLA_F64, M, N, R, R, X);
        trial.options.solver = solvers[i];
        armilla_model *model = reference_trial_fit(&trial);
        reference_verify(model, trial.data, trial.X, true);
        armilla_model_summarize(model, &summary);
        REFERENCE_NEAR(summary.relative_error, 1, 1e-12);
        armilla_model_free(model);
        reference_trial_free(&trial);
    }
    free(X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair_keeps_its_promises),
        cmocka_unit_test(test_the_rest_is_refused),
        cmocka_unit_test(test_sparse_data_give_the_same),
        cmocka_unit_test(test_kmeans_is_lloyds_iteration),
        cmocka_unit_test(test_kmeans_starts_by_distance),
        cmocka_unit_test(test_spherical_kmeans_is_of_unit_length),
        cmocka_unit_test(test_mu_is_its_formula),
        cmocka_unit_test(test_pca_is_the_truncated_svd),
        cmocka_unit_test(test_codes_without_a_radius_may_be_zero),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
