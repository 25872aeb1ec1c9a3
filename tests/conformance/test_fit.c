/* Every pair, precision, start and sort of data: each fit is verified independently. */
#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROBLEMS_OF_A_KIND = 3, CONE_POINTS = 200 };

/* The reference knows every row of the library's tables: a new row needs a reference before it can pass. */
static void test_every_row_has_a_reference(void **state)
{
    armilla_table_row basis, codes;
    size_t pairs = 0;
    (void)state;
    for (size_t b = 0; armilla_table_get(ARMILLA_TABLE_BASIS, b, &basis); b++)
        for (size_t c = 0; armilla_table_get(ARMILLA_TABLE_CODES, c, &codes); c++) {
            armilla_options options;
            armilla_options_default(&options);
            options.rank = 2;
            options.basis = basis.name;
            options.codes = codes.name;
            options.sparsity = strstr(codes.name, "sparse") ? 1 : 0;
            if (armilla_options_check(reference_context, &options) != ARMILLA_OK) continue;
            reference_pair_find(basis.name, codes.name);
            pairs++;
        }
    assert_int_equal(pairs, REFERENCE_FAMILY);
}

/* One problem from every start; returns the number of fits. */
static int64_t fit_from_every_start(reference_trial *trial, reference_kind kind)
{
    armilla_table_row start;
    int64_t fits = 0;
    for (size_t i = 0; armilla_table_get(ARMILLA_TABLE_STARTS, i, &start); i++) {
        reference_scene("%s x %s, %s, %s, start %s, seed %d", trial->pair->basis, trial->pair->codes,
                        armilla_type_word(trial->type), reference_kind_word(kind), start.name,
                        (int)trial->options.seed);
        trial->options.start = start.name;
        armilla_model *model = reference_trial_fit(trial);
        reference_verify(model, trial->data, trial->X, true);
        armilla_model_free(model);
        fits++;
    }
    return fits;
}

/* Where the basis and the codes are nonnegative, data of both signs need not have a positive radius. */
static bool has_radius(const reference_pair *pair, reference_kind kind)
{
    return pair->orthonormal || !pair->nonnegative_codes || kind != REFERENCE_GAUSSIAN;
}

static void test_every_fit_keeps_its_promises(void **state)
{
    uint64_t random = 51;
    int64_t fits = 0;
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++)
            for (int kind = 0; kind < REFERENCE_KINDS; kind++)
                for (int problem = 0; problem < reference_effort(PROBLEMS_OF_A_KIND, 1); problem++) {
                    const reference_pair *pair = &reference_pairs[p];
                    const int64_t r = 2 + reference_below(&random, 4), m = r + reference_below(&random, 12);
                    const int64_t n = 5 + reference_below(&random, 40), s = 1 + reference_below(&random, r);
                    double *X = reference_new(m * n);
                    reference_trial trial;
                    reference_data(&random, (reference_kind)kind, pair, m, n, r, s, X);
                    reference_trial_new(&trial, pair, (armilla_type)type, m, n, r, s, X);
                    trial.options.seed = problem;
                    if (has_radius(pair, (reference_kind)kind))
                        fits += fit_from_every_start(&trial, (reference_kind)kind);
                    reference_trial_free(&trial);
                    free(X);
                }
    print_message("%d fits verified\n", (int)fits);
    assert_true(fits >= reference_effort(8 * 2 * 20 * 5, 500));
}

/* With the tolerance of the defaults, on data of a more usual size. */
static void test_fits_that_converge(void **state)
{
    enum { M = 40, N = 300, R = 6, S = 2 };
    uint64_t random = 52;
    double *X = reference_new(M * N);
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++) {
            const reference_pair *pair = &reference_pairs[p];
            reference_trial trial;
            reference_scene("%s x %s, %s", pair->basis, pair->codes, armilla_type_word((armilla_type)type));
            reference_data(&random, REFERENCE_NOISY, pair, M, N, R, S, X);
            reference_trial_new(&trial, pair, (armilla_type)type, M, N, R, S, X);
            trial.options.tol = reference_effort(0, 1) ? 1e-2 : 1e-4;
            trial.options.max_iter = 2000;
            armilla_model *model = reference_trial_fit(&trial);
            armilla_model_summary summary;
            armilla_model_summarize(model, &summary);
            reference_verify(model, trial.data, trial.X, true);
            REFERENCE_HOLDS(summary.stop == ARMILLA_STOP_CONVERGED && summary.iterations < 2000);
            armilla_model_free(model);
            reference_trial_free(&trial);
        }
    free(X);
}

/* What the summary says of the problem. */
static void test_summary(void **state)
{
    enum { M = 7, N = 11, R = 3, S = 2 };
    uint64_t random = 53;
    double X[M * N];
    reference_trial trial;
    armilla_model_summary summary;
    armilla_data_facts facts;
    (void)state;
    reference_data(&random, REFERENCE_ZERO_COLUMNS, &reference_pairs[7], M, N, R, S, X);
    reference_trial_new(&trial, &reference_pairs[7], ARMILLA_F64, M, N, R, S, X);
    trial.options.seed = 17;
    trial.options.start = "samples";
    armilla_model *model = reference_trial_fit(&trial);
    armilla_model_summarize(model, &summary);
    assert_string_equal(summary.basis, "nonnegative");
    assert_string_equal(summary.codes, "nonneg-sparse-sphere");
    assert_string_equal(summary.model, "sparse-spherical-nmf");
    assert_string_equal(summary.solver, "palm");
    assert_string_equal(summary.start, "samples");
    assert_string_equal(summary.normalize, "none");
    assert_true(summary.sparsity == S && summary.rank == R && summary.m == M && summary.n == N && summary.nnz == M * N);
    assert_true(summary.seed == 17 && summary.threads == 1 && summary.ranks == 1 && summary.iterations == 20);
    assert_true(summary.sweeps >= 21 && summary.zero_samples == 4 && summary.precision == ARMILLA_F64);
    assert_true(summary.stop == ARMILLA_STOP_MAX_ITER && !summary.center && !summary.tfidf);
    assert_true(summary.seconds >= 0 && summary.seconds_per_iteration >= 0);
    assert_null(armilla_model_mean(model));
    assert_null(armilla_model_idf(model));
    REFERENCE_OK(armilla_data_survey(reference_context, trial.data, 1, &facts));
    assert_true(facts.fingerprint == summary.fingerprint && facts.zero_samples == 4);
    armilla_model_free(model);
    reference_trial_free(&trial);
}

/* A named model is its pair, and an alias its set. */
static void test_names_are_the_same_fit(void **state)
{
    enum { M = 6, N = 12, R = 2 };
    uint64_t random = 54;
    double X[M * N];
    reference_trial trial;
    (void)state;
    reference_fill_uniform(&random, M * N, X);
    reference_trial_new(&trial, &reference_pairs[5], ARMILLA_F64, M, N, R, R, X);
    armilla_model *by_pair = reference_trial_fit(&trial);
    trial.options.basis = "u2";
    trial.options.codes = "v2";
    armilla_model *by_alias = reference_trial_fit(&trial);
    trial.options.basis = trial.options.codes = NULL;
    trial.options.model = "spherical-nmf";
    armilla_model *by_model = reference_trial_fit(&trial);
    assert_memory_equal(armilla_model_codes(by_pair), armilla_model_codes(by_alias), R * N * sizeof(double));
    assert_memory_equal(armilla_model_codes(by_pair), armilla_model_codes(by_model), R * N * sizeof(double));
    assert_memory_equal(armilla_model_basis(by_pair), armilla_model_basis(by_model), M * R * sizeof(double));
    armilla_model_free(by_pair);
    armilla_model_free(by_alias);
    armilla_model_free(by_model);
    reference_trial_free(&trial);
}

/* A program that leaves words out gets the defaults, as armilla_options_check promises by accepting them. */
static void test_words_left_out(void **state)
{
    enum { M = 6, N = 12, R = 2 };
    uint64_t random = 56;
    double X[M * N];
    reference_trial trial;
    (void)state;
    reference_scene("words left out");
    reference_fill_uniform(&random, M * N, X);
    reference_trial_new(&trial, &reference_pairs[0], ARMILLA_F64, M, N, R, R, X);
    trial.options.solver = "fast";
    armilla_model *whole = reference_trial_fit(&trial), *bare = NULL;
    trial.options.basis = trial.options.codes = trial.options.solver = trial.options.precision = NULL;
    trial.options.lambda = trial.options.mu = trial.options.normalize = NULL;
    if (armilla_options_check(reference_context, &trial.options) == ARMILLA_OK) {
        bare = reference_trial_fit(&trial);
        assert_memory_equal(armilla_model_codes(bare), armilla_model_codes(whole), R * N * sizeof(double));
    }
    armilla_model_free(whole);
    armilla_model_free(bare);
    reference_trial_free(&trial);
}

static int64_t rises_of(const armilla_model *model)
{
    int64_t count = 0, rises = 0;
    const armilla_trace_entry *trace = reference_trace(model, &count);
    for (int64_t k = 1; k < count; k++) rises += trace[k].objective > trace[k - 1].objective * (1 + 1e-9);
    return rises;
}

/* The paper's last convergence figure: on the cones a lambda that is too small makes h rise, a safe one does not. */
static void test_small_lambda_oscillates(void **state)
{
    uint64_t random = 55;
    double *X = reference_new(3 * CONE_POINTS);
    reference_trial trial;
    armilla_check check;
    (void)state;
    for (int problem = 0; problem < 5; problem++) {
        reference_scene("cones %d", problem);
        reference_cones(&random, CONE_POINTS, X);
        reference_trial_new(&trial, reference_pair_find("orthonormal", "nonneg-sphere"), ARMILLA_F64, 3, CONE_POINTS, 2,
                            2, X);
        trial.options.max_iter = 60;
        trial.options.start = "random";
        trial.options.seed = problem;
        armilla_model *safe = reference_trial_fit(&trial);
        trial.options.lambda = "0.3x";
        armilla_model *unsafe = reference_trial_fit(&trial);
        reference_verify(safe, trial.data, trial.X, true);
        reference_verify(unsafe, NULL, trial.X, false);
        REFERENCE_HOLDS(rises_of(safe) == 0 && rises_of(unsafe) >= 1);
        REFERENCE_OK(armilla_model_check(reference_context, unsafe, trial.data, &check));
        REFERENCE_HOLDS(check.passed && check.rises >= 1 && check.rises_expected);
        armilla_model_free(safe);
        armilla_model_free(unsafe);
        reference_trial_free(&trial);
    }
    free(X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_has_a_reference), cmocka_unit_test(test_every_fit_keeps_its_promises),
        cmocka_unit_test(test_fits_that_converge),        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_names_are_the_same_fit),    cmocka_unit_test(test_words_left_out),
        cmocka_unit_test(test_small_lambda_oscillates),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
