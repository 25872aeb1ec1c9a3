/* Starting points: thousands of them, every row on every pair. Each has a positive radius and <X,UV> > 0, or the fit
 * says clearly that there is none, and then there is none. */
#include "reference/reference.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 12 };

/* X itself, its negative, and X with the mean sample taken away. */
typedef enum version { AS_IT_IS, NEGATED, CENTRED, VERSIONS } version;

static void change(version how, int64_t m, int64_t n, double *X)
{
    for (int64_t i = 0; i < m; i++) {
        double mean = 0;
        for (int64_t j = 0; j < n; j++) mean += X[i + j * m] / (double)n;
        for (int64_t j = 0; j < n; j++) {
            double *x = &X[i + j * m];
            *x = how == NEGATED ? -*x : how == CENTRED ? *x - mean : *x;
        }
    }
}

/* Whether every start must find a radius (docs/algorithm.md#signs). With a signed code Proj(c) always points to the
 * data; with a signed basis the rule of signs makes it so, but for one atom on data whose sum is rounding; with both
 * nonnegative there is nothing to turn where data have no positive part. */
static bool must_succeed(const reference_pair *pair, reference_kind kind, version how, int64_t r)
{
    if (!pair->nonnegative_codes) return true;
    if (pair->orthonormal) return r > 1 || how != CENTRED;
    return how == AS_IT_IS && kind != REFERENCE_GAUSSIAN;
}

static bool must_fail(const reference_pair *pair, reference_kind kind, version how, int64_t r)
{
    if (!pair->nonnegative_codes) return false;
    if (pair->orthonormal) return r == 1 && how == CENTRED;
    return how == NEGATED && kind != REFERENCE_GAUSSIAN;
}

/* <X,UV> > 0, h < ||X||^2, and the model verified. */
static void check_start(const reference_trial *trial, const armilla_model *model)
{
    const int64_t count = trial->m * trial->n;
    double *U = reference_model_basis(model), *V = reference_model_codes(model), *UV = reference_new(count);
    armilla_model_summary summary;
    armilla_model_summarize(model, &summary);
    reference_multiply(trial->m, trial->r, trial->n, U, V, UV);
    const double cross = reference_dot(count, trial->X, UV), reach = reference_dot(count, UV, UV);
    const double epsilon = trial->type == ARMILLA_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
    REFERENCE_HOLDS(summary.radius > 0 && cross > 0);
    REFERENCE_HOLDS(summary.iterations == 0 && summary.stop == ARMILLA_STOP_MAX_ITER);
    REFERENCE_AT_MOST(summary.objective, summary.squared_norm * (1 + 10 * epsilon));
    /* The radius is the best one: <X,UV> = <UV,UV>. */
    REFERENCE_NEAR(cross, reach, 1000 * epsilon * sqrt(reference_dot(count, trial->X, trial->X) * reach));
    reference_verify(model, NULL, trial->X, true);
    free(U);
    free(V);
    free(UV);
}

typedef struct tally {
    int64_t made, refused;
} tally;

static void start_once(const reference_trial *trial, bool may_fail, bool may_succeed, tally *counts)
{
    armilla_model *model = NULL;
    const armilla_status status = armilla_fit(reference_context, trial->data, &trial->options, &model);
    if (may_fail && status != ARMILLA_OK) {
        REFERENCE_STATUS(status, ARMILLA_BAD_DATA);
        REFERENCE_SAYS("radius");
        REFERENCE_HOLDS(model == NULL);
        counts->refused++;
        return;
    }
    REFERENCE_OK(status);
    REFERENCE_HOLDS(may_succeed);
    check_start(trial, model);
    armilla_model_free(model);
    counts->made++;
}

static void start_from_every_row(reference_trial *trial, reference_kind kind, version how, tally *counts)
{
    armilla_table_row start;
    const bool may_fail = !must_succeed(trial->pair, kind, how, trial->r);
    const bool may_succeed = !must_fail(trial->pair, kind, how, trial->r);
    for (size_t i = 0; armilla_table_get(ARMILLA_TABLE_STARTS, i, &start); i++)
        for (int64_t seed = 0; seed < reference_effort(SEEDS, 1); seed++) {
            reference_scene("%s x %s, %s, %s data, version %d, r = %d, start %s, seed %d", trial->pair->basis,
                            trial->pair->codes, armilla_type_word(trial->type), reference_kind_word(kind), (int)how,
                            (int)trial->r, start.name, (int)seed);
            trial->options.start = start.name;
            trial->options.seed = seed;
            start_once(trial, may_fail, may_succeed, counts);
        }
}

static void test_every_start_has_a_radius(void **state)
{
    static const reference_kind kinds[] = {REFERENCE_GAUSSIAN, REFERENCE_UNIFORM};
    enum { M = 8, N = 20, S = 2 };
    uint64_t random = 61;
    double X[M * N];
    tally counts = {0, 0};
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++)
            for (size_t kind = 0; kind < 2; kind++)
                for (int how = 0; how < VERSIONS; how++)
                    for (int64_t r = 1; r <= 5; r += 2) {
                        reference_trial trial;
                        reference_data(&random, kinds[kind], &reference_pairs[p], M, N, r, S, X);
                        change((version)how, M, N, X);
                        reference_trial_new(&trial, &reference_pairs[p], (armilla_type)type, M, N, r, r < S ? r : S, X);
                        trial.options.max_iter = 0;
                        start_from_every_row(&trial, kinds[kind], (version)how, &counts);
                        reference_trial_free(&trial);
                    }
    print_message("%d starts made, %d refused\n", (int)counts.made, (int)counts.refused);
    assert_true(counts.made >= reference_effort(10000, 1000) && counts.refused > 0);
}

/* Seeds give different starts, the same seed the same one. */
static void test_seeds(void **state)
{
    static const char *const rows[] = {"random", "kmeans++", "samples"};
    enum { M = 10, N = 40, R = 3 };
    const size_t bytes = M * R * sizeof(double);
    uint64_t random = 62;
    double X[M * N];
    (void)state;
    reference_fill_uniform(&random, M * N, X);
    for (size_t p = 0; p < REFERENCE_PAIRS; p += 5)
        for (size_t i = 0; i < 3; i++) {
            reference_trial trial;
            armilla_model *models[3];
            reference_scene("%s, start %s", reference_pairs[p].basis, rows[i]);
            reference_trial_new(&trial, &reference_pairs[p], ARMILLA_F64, M, N, R, R, X);
            trial.options.max_iter = 0;
            trial.options.start = rows[i];
            for (int k = 0; k < 3; k++) {
                trial.options.seed = k / 2;
                models[k] = reference_trial_fit(&trial);
            }
            REFERENCE_HOLDS(memcmp(armilla_model_basis(models[0]), armilla_model_basis(models[1]), bytes) == 0);
            REFERENCE_HOLDS(memcmp(armilla_model_basis(models[0]), armilla_model_basis(models[2]), bytes) != 0);
            for (int k = 0; k < 3; k++) armilla_model_free(models[k]);
            reference_trial_free(&trial);
        }
}

/* The svd start spans the leading left singular space, so that its codes lose what Jacobi's SVD loses. */
static void test_svd_start_is_the_leading_space(void **state)
{
    enum { M = 12, N = 30, R = 4 };
    uint64_t random = 63;
    double B[N * M], X[M * N], left[N * M], sigma[M], right[M * M], projected[R * R];
    (void)state;
    for (int problem = 0; problem < 10; problem++) {
        reference_trial trial;
        reference_scene("problem %d", problem);
        reference_fill_normal(&random, N * M, B);
        /* Spectrum with a gap behind the fourth value: X' = B has columns of falling length. */
        for (int64_t i = 0; i < N * M; i++) B[i] *= i / N < R ? 10 - (double)(i / N) : 0.1;
        for (int64_t i = 0; i < N * M; i++) X[i / N + i % N * M] = B[i];
        reference_svd(N, M, B, left, sigma, right);
        reference_trial_new(&trial, &reference_pairs[0], ARMILLA_F64, M, N, R, R, X);
        trial.options.start = "svd";
        trial.options.max_iter = 0;
        armilla_model *model = reference_trial_fit(&trial);
        reference_left_transposed(M, R, R, armilla_model_basis(model), right, projected);
        REFERENCE_NEAR(reference_dot(R * R, projected, projected), R, 1e-6);
        armilla_model_free(model);
        reference_trial_free(&trial);
    }
}

/* The directions of X are those of 2^k X, to the last bit, also where squares of its products would leave the range of
 * numbers: one entry is far larger than the others, as a slip in a table makes it. */
static void test_svd_starts_at_every_scale(void **state)
{
    static const char *const rows[] = {"svd", "nndsvd"};
    static const int exponents[] = {0, 505, 300, -300, -480};
    enum { M = 5, N = 12, R = 2, SCALES = sizeof exponents / sizeof *exponents };
    uint64_t random = 65;
    double X[M * N], scaled[M * N];
    (void)state;
    reference_fill_uniform(&random, M * N, X);
    X[4 + 8 * M] = 64;
    for (size_t i = 0; i < 2; i++) {
        double first[M * R];
        for (int scale = 0; scale < SCALES; scale++) {
            reference_trial trial;
            reference_scene("%s at 2^%d", rows[i], exponents[scale]);
            for (int64_t j = 0; j < M * N; j++) scaled[j] = ldexp(X[j], exponents[scale]);
            reference_trial_new(&trial, &reference_pairs[0], ARMILLA_F64, M, N, R, R, scaled);
            trial.options.start = rows[i];
            trial.options.max_iter = 0;
            armilla_model *model = reference_trial_fit(&trial);
            if (scale == 0) memcpy(first, armilla_model_basis(model), sizeof first);
            REFERENCE_HOLDS(memcmp(armilla_model_basis(model), first, sizeof first) == 0);
            armilla_model_free(model);
            reference_trial_free(&trial);
        }
    }
}

/* On a spectrum without a gap, sigma_i = i^(-1/2), the svd start alone (for PCA) is within 2e-5 of the
 * truncated SVD's squared error: it takes all of the space that its passes have made, not the last block alone. */
static void test_svd_start_without_a_gap(void **state)
{
    enum { M = 150, R = 4 };
    double *X = reference_new(M * M), rest = 0;
    (void)state;
    for (int64_t i = 0; i < M; i++) X[i * M + i] = 1 / sqrt((double)(i + 1));
    for (int64_t i = R; i < M; i++) rest += 1 / (double)(i + 1);
    for (int seed = 0; seed < 5; seed++) {
        reference_trial trial;
        armilla_model_summary summary;
        reference_scene("seed %d", seed);
        reference_trial_new(&trial, reference_pair_find("orthonormal", "free"), ARMILLA_F64, M, M, R, R, X);
        trial.options.start = "svd";
        trial.options.seed = seed;
        trial.options.max_iter = 0;
        armilla_model *model = reference_trial_fit(&trial);
        armilla_model_summarize(model, &summary);
        REFERENCE_AT_MOST(summary.objective, rest * (1 + 2e-5));
        armilla_model_free(model);
        reference_trial_free(&trial);
    }
    free(X);
}

/* An atom of the samples start is a sample, up to its length; kmeans++ takes no direction twice. */
static void test_atoms_are_samples(void **state)
{
    static const char *const rows[] = {"samples", "kmeans++"};
    enum { M = 6, N = 15, R = 4 };
    uint64_t random = 64;
    double X[M * N];
    (void)state;
    for (int problem = 0; problem < 20; problem++) {
        reference_trial trial;
        bool taken[N] = {false};
        reference_scene("%s, problem %d", rows[problem % 2], problem);
        reference_fill_uniform(&random, M * N, X);
        reference_trial_new(&trial, &reference_pairs[5], ARMILLA_F64, M, N, R, R, X);
        trial.options.start = rows[problem % 2];
        trial.options.seed = problem;
        trial.options.max_iter = 0;
        armilla_model *model = reference_trial_fit(&trial);
        const double *U = armilla_model_basis(model);
        for (int64_t k = 0; k < R; k++) {
            int64_t found = -1;
            for (int64_t j = 0; j < N; j++) {
                const double cosine = reference_dot(M, U + k * M, X + j * M) / reference_norm(M, U + k * M) /
                                      reference_norm(M, X + j * M);
                if (cosine > 1 - 1e-12) found = j;
            }
            REFERENCE_HOLDS(found >= 0 && !taken[found]);
            taken[found] = true;
        }
        armilla_model_free(model);
        reference_trial_free(&trial);
    }
}

/* A given basis that is feasible is taken as it is, but for signs; one that is not is made so; NaN is refused. */
static void test_given_basis(void **state)
{
    enum { M = 6, N = 15, R = 3 };
    uint64_t random = 65;
    double X[M * N], U0[M * R];
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++) {
        const reference_pair *pair = &reference_pairs[p];
        reference_trial trial;
        reference_scene("%s x %s", pair->basis, pair->codes);
        reference_fill_uniform(&random, M * N, X);
        reference_random_basis(&random, pair, M, R, U0);
        reference_trial_new(&trial, pair, ARMILLA_F64, M, N, R, 2, X);
        trial.options.max_iter = 0;
        trial.options.start_basis = U0;
        armilla_model *model = reference_trial_fit(&trial);
        const double *U = armilla_model_basis(model);
        for (int64_t i = 0; i < M * R; i++) REFERENCE_HOLDS(fabs(U[i]) == fabs(U0[i]));
        check_start(&trial, model);
        armilla_model_free(model);
        reference_fill_normal(&random, M * R, U0);
        model = reference_trial_fit(&trial);
        check_start(&trial, model);
        armilla_model_free(model);
        model = NULL;
        U0[4] = NAN;
        REFERENCE_STATUS(armilla_fit(reference_context, trial.data, &trial.options, &model), ARMILLA_BAD_DATA);
        REFERENCE_SAYS("finite");
        assert_null(model);
        reference_trial_free(&trial);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_start_has_a_radius),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_svd_start_is_the_leading_space),
        cmocka_unit_test(test_svd_starts_at_every_scale),
        cmocka_unit_test(test_svd_start_without_a_gap),
        cmocka_unit_test(test_atoms_are_samples),
        cmocka_unit_test(test_given_basis),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
