/* The library's palm against the reference's, iterate by iterate, and the closed forms (A8) of an orthonormal basis.
 * Data have no ties, so that both take the same supports. */
#include "reference/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 9, N = 25, R = 4, S = 2, PROBLEMS = 4 };

static const int64_t lengths[] = {0, 1, 2, 5, 20};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

/* Step weights and radius as a user gives them and as the reference takes them. */
typedef struct setting {
    const char *lambda, *mu;
    double lambda_value, mu_value;
    bool absolute;
    double radius;
} setting;

static const setting settings[] = {
    {"1x", "1x", 1, 1, false, 0},       {"1.5x", "1.5x", 1.5, 1.5, false, 0}, {"0.3x", "1x", 0.3, 1, false, 0},
    {"1x", "0.3x", 1, 0.3, false, 0},   {"9.5", "400", 9.5, 400, true, 0},    {"1x", "1x", 1, 1, false, 2.5},
    {"2x", "1.5x", 2, 1.5, false, 0.7},
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

static armilla_model *fit(const reference_pair *pair, const setting *set, int64_t m, int64_t n, int64_t r,
                          int64_t iterations, const double *X, const double *U0)
{
    armilla_options options;
    armilla_data *data = NULL;
    armilla_model *model = NULL;
    armilla_options_default(&options);
    options.rank = r;
    options.basis = pair->basis;
    options.codes = pair->codes;
    options.sparsity = pair->sparse ? S : 0;
    options.solver = "palm";
    options.lambda = set->lambda;
    options.mu = set->mu;
    options.radius = set->radius;
    options.max_iter = iterations;
    options.tol = 0;
    options.precision = "f64";
    options.threads = 1;
    options.start_basis = U0;
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, m, n, m, &data));
    REFERENCE_OK(armilla_fit(reference_context, data, &options, &model));
    armilla_data_free(data);
    return model;
}

static bool is_safe(const setting *set)
{
    return !set->absolute && set->lambda_value >= 1 && set->mu_value >= 1;
}

static void compare(const reference_palm *palm, const armilla_model *model, const setting *set)
{
    int64_t count = 0;
    armilla_model_summary summary;
    const armilla_trace_entry *last = reference_trace(model, &count) + count - 1;
    double *U = reference_model_basis(model), *V = reference_model_codes(model);
    const double u = reference_norm(M * R, palm->U), v = reference_norm(R * N, palm->V);
    const double squared = reference_dot(M * N, palm->X, palm->X);
    armilla_model_summarize(model, &summary);
    REFERENCE_AT_MOST(reference_distance(M * R, U, palm->U), 1e-8 * u);
    REFERENCE_AT_MOST(reference_distance(R * N, V, palm->V), 1e-8 * v);
    REFERENCE_NEAR(summary.radius, palm->l, 1e-8 * palm->l);
    REFERENCE_NEAR(summary.objective, palm->objective, 1e-8 * squared);
    REFERENCE_NEAR(last->dU, palm->dU, 1e-8 * u);
    REFERENCE_NEAR(last->dV, palm->dV, 1e-8 * v);
    if (set->radius > 0) REFERENCE_HOLDS(summary.radius == set->radius);
    reference_verify(model, NULL, palm->X, is_safe(set));
    free(U);
    free(V);
}

/* Noisy planted data, and plain noise of the sort that suits the basis. */
static void make_data(uint64_t *random, const reference_pair *pair, int problem, double *X)
{
    const reference_kind noise = pair->orthonormal ? REFERENCE_GAUSSIAN : REFERENCE_UNIFORM;
    reference_data(random, problem % 2 ? noise : REFERENCE_NOISY, pair, M, N, R, pair->sparse ? S : R, X);
}

static void follow(const reference_pair *pair, const setting *set, const double *X, const double *U0, bool *rose)
{
    reference_palm palm = {.pair = pair,
                           .m = M,
                           .n = N,
                           .r = R,
                           .s = pair->sparse ? S : R,
                           .X = X,
                           .lambda = set->lambda_value,
                           .mu = set->mu_value,
                           .lambda_absolute = set->absolute,
                           .mu_absolute = set->absolute,
                           .fixed_radius = set->radius};
    int64_t done = 0;
    reference_palm_start(&palm, U0);
    for (size_t i = 0; i < LENGTHS; i++) {
        for (; done < lengths[i]; done++) {
            const double before = palm.objective;
            reference_palm_step(&palm);
            *rose |= palm.objective > before * (1 + 1e-9);
        }
        reference_scene("%s x %s, lambda %s, mu %s, radius %g, iteration %d", pair->basis, pair->codes, set->lambda,
                        set->mu, set->radius, (int)done);
        armilla_model *model = fit(pair, set, M, N, R, done, X, U0);
        compare(&palm, model, set);
        armilla_model_free(model);
    }
    reference_palm_free(&palm);
}

static void test_iterates_are_the_reference_iterates(void **state)
{
    uint64_t random = 41;
    double X[M * N], U0[M * R];
    bool safe_rose = false, unsafe_rose = false;
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int problem = 0; problem < PROBLEMS; problem++)
            for (size_t s = 0; s < SETTINGS; s++) {
                make_data(&random, &reference_pairs[p], problem, X);
                reference_random_basis(&random, &reference_pairs[p], M, R, U0);
                follow(&reference_pairs[p], &settings[s], X, U0, is_safe(&settings[s]) ? &safe_rose : &unsafe_rose);
            }
    /* The settings are what they are meant to be. */
    assert_false(safe_rose);
    assert_true(unsafe_rose);
}

/* orthonormal x nonneg-sphere, r = 1, positive data: u = X1/||X1||, l = ||X1||/n. */
static void test_rank_one_closed_form(void **state)
{
    const reference_pair *pair = reference_pair_find("orthonormal", "nonneg-sphere");
    uint64_t random = 42;
    double X[M * N], U0[M], sum[M], length = 0;
    (void)state;
    for (int problem = 0; problem < 20; problem++) {
        reference_scene("problem %d", problem);
        reference_fill_uniform(&random, M * N, X);
        reference_random_basis(&random, pair, M, 1, U0);
        for (int64_t i = 0; i < M; i++) U0[i] = fabs(U0[i]);
        memset(sum, 0, sizeof sum);
        for (int64_t i = 0; i < M * N; i++) sum[i % M] += X[i];
        length = reference_norm(M, sum);
        armilla_model *model = fit(pair, &settings[0], M, N, 1, 3, X, U0);
        armilla_model_summary summary;
        const double *U = armilla_model_basis(model);
        armilla_model_summarize(model, &summary);
        for (int64_t i = 0; i < M; i++) REFERENCE_NEAR(U[i], sum[i] / length, 1e-12);
        REFERENCE_NEAR(summary.radius, length / N, 1e-12 * length);
        armilla_model_free(model);
    }
}

/* lambda 1x, orthonormal basis: the stored V is l Proj(U'X), h = ||X||^2 - n l^2, and h >= sum_j (||x_j|| - l)^2. */
static void check_exact_codes(const reference_pair *pair, const armilla_model *model, const double *X)
{
    armilla_model_summary summary;
    double *U = reference_model_basis(model), *V = reference_model_codes(model), c[R], w[R], bound = 0;
    armilla_model_summarize(model, &summary);
    for (int64_t j = 0; j < N; j++) {
        reference_left_transposed(M, R, 1, U, X + j * M, c);
        reference_project(R, pair->sparse ? S : R, pair->nonnegative_codes, c, w);
        for (int64_t k = 0; k < R; k++) REFERENCE_NEAR(V[k + j * R], summary.radius * w[k], 1e-12 * summary.radius);
        bound += pow(reference_norm(M, X + j * M) - summary.radius, 2);
    }
    const double squared = reference_dot(M * N, X, X), l = summary.radius;
    REFERENCE_NEAR(summary.objective, squared - N * l * l, 1e-12 * squared);
    REFERENCE_AT_MOST(bound, summary.objective + 1e-12 * squared);
    free(U);
    free(V);
}

static void test_exact_codes_of_an_orthonormal_basis(void **state)
{
    uint64_t random = 43;
    double X[M * N], U0[M * R];
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int problem = 0; reference_pairs[p].orthonormal && problem < 10; problem++) {
            const reference_pair *pair = &reference_pairs[p];
            reference_scene("%s x %s, problem %d", pair->basis, pair->codes, problem);
            make_data(&random, pair, problem, X);
            reference_random_basis(&random, pair, M, R, U0);
            armilla_model *model = fit(pair, &settings[0], M, N, R, problem, X, U0);
            check_exact_codes(pair, model, X);
            armilla_model_free(model);
        }
}

/* The reference itself: a safe step never raises h, whatever the pair, so that agreement with it means something. */
static void test_reference_descends(void **state)
{
    uint64_t random = 44;
    double X[M * N], U0[M * R];
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++) {
        reference_palm palm = {.pair = &reference_pairs[p], .m = M, .n = N, .r = R, .X = X, .lambda = 1, .mu = 1};
        palm.s = palm.pair->sparse ? S : R;
        reference_scene("%s x %s", palm.pair->basis, palm.pair->codes);
        make_data(&random, palm.pair, 0, X);
        reference_random_basis(&random, palm.pair, M, R, U0);
        reference_palm_start(&palm, U0);
        const double first = palm.objective;
        for (int step = 0; step < 60; step++) {
            const double before = palm.objective;
            reference_palm_step(&palm);
            REFERENCE_AT_MOST(palm.objective, before * (1 + 1e-13));
        }
        REFERENCE_AT_MOST(palm.objective, 0.9 * first);
        reference_palm_free(&palm);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_descends),
        cmocka_unit_test(test_iterates_are_the_reference_iterates),
        cmocka_unit_test(test_rank_one_closed_form),
        cmocka_unit_test(test_exact_codes_of_an_orthonormal_basis),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
