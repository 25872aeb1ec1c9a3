/* The check finds each thing that can be wrong with a model: one number of a good model is changed in memory, so that no
 * reader stands before the check. */
#include "support.h"

#include "model/model.h"
#include "reference/reference.h"

#include <armilla/fit.h>

#include <math.h>
#include <string.h>

enum { M = 8, N = 60, R = 4, S = 2 };

static armilla_context *context;
static support_allocator allocator;
static double X[M * N];
static armilla_data *data;
static armilla_model *model;

static int set_up(void **state)
{
    uint64_t random = 17;
    (void)state;
    support_begin(&allocator, &context);
    reference_fill_uniform(&random, M * N, X);
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, &data));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    armilla_data_free(data);
    support_end(&allocator, context);
    return 0;
}

static void fit(const char *basis, const char *codes, const char *solver)
{
    armilla_options options;
    armilla_options_default(&options);
    options.rank = R;
    options.basis = basis;
    options.codes = codes;
    options.solver = solver;
    options.sparsity = strstr(codes, "sparse") ? S : 0;
    options.max_iter = 15;
    options.threads = 1;
    model = NULL;
    support_ok(context, armilla_fit(context, data, &options, &model));
}

static void passes(void)
{
    armilla_check check;
    support_ok(context, armilla_model_check(context, model, data, &check));
    assert_string_equal(check.finding, "");
    assert_true(check.passed);
}

static void finds(const char *words)
{
    armilla_check check;
    support_ok(context, armilla_model_check(context, model, data, &check));
    assert_false(check.passed);
    if (!strstr(check.finding, words)) fail_msg("'%s' has no '%s'", check.finding, words);
}

/* The number has that value for the length of one check, which finds it. */
static void finds_changed(double *number, double value, const char *words)
{
    const double kept = *number;
    *number = value;
    finds(words);
    *number = kept;
}

static void finds_a_trace_that_cannot_be(void **state)
{
    static const char words[] = "the trace has a value that is not finite or does not follow";
    static const char *const solvers[] = {"palm", "fast"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        fit("orthonormal", "sphere", solvers[i]);
        armilla_trace_entry *first = &model->trace[0], *middle = &model->trace[model->trace_count / 2];
        passes();
        finds_changed(&middle->objective, -1, words);
        finds_changed(&middle->objective, INFINITY, words);
        finds_changed(&middle->objective, NAN, words);
        finds_changed(&middle->relative_error, NAN, words);
        finds_changed(&middle->radius, 0, words);
        finds_changed(&middle->radius, INFINITY, words);
        finds_changed(&middle->radius, NAN, words);
        finds_changed(&middle->dU, -1, words);
        finds_changed(&middle->dV, -1, words);
        finds_changed(&middle->dU, INFINITY, words);
        finds_changed(&middle->dV, NAN, words);
        finds_changed(&first->dU, 1, words);
        finds_changed(&first->dV, 1, words);
        finds_changed(&middle->seconds, -1, words);
        finds_changed(&middle->seconds, NAN, words);
        finds_changed(&model->trace[model->trace_count - 1].seconds, INFINITY, words);
        finds_changed(&model->summary.relative_error, 0.5, "does not follow from the objective");
        passes();
        armilla_model_free(model);
    }
    fit("nonnegative", "nonneg", "fast");
    passes();
    finds_changed(&model->trace[1].radius, 1, words); /* such codes have none */
    armilla_model_free(model);
}

/* The first entry that is 0. */
static double *a_zero(void *factor, int64_t count)
{
    double *at = factor;
    while (count-- > 0 && *at != 0) at++;
    assert_true(count >= 0);
    return at;
}

/* By so little that nothing else tells. */
static void finds_factors_outside_of_their_sets(void **state)
{
    static const char *const pairs[][2] = {{"orthonormal", "sparse-sphere"}, {"unit", "sparse"}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        fit(pairs[i][0], pairs[i][1], "fast");
        passes();
        finds_changed(a_zero(model->V, R * N), 1e-200, "a code has 3 nonzeros, more than 2");
        for (int k = 0; k < M; k++) ((double *)model->U)[k] *= 1 + 1e-9;
        finds("");
        armilla_model_free(model);
    }
    fit("nonnegative", "nonneg-sphere", "fast");
    passes();
    finds_changed(a_zero(model->V, R * N), -1e-200, "V has a negative entry, -1e-200");
    finds_changed(a_zero(model->U, M * R), -1e-200, "U has a negative entry, -1e-200");
    for (int k = 0; k < R; k++) ((double *)model->V)[k] *= 1 + 1e-13;
    finds("a code's length differs from the radius");
    armilla_model_free(model);
    fit("orthonormal-nonneg", "nonneg", "fast");
    passes();
    finds_changed(a_zero(model->U, M * R), 1e-200, "a row of U has 2 nonzeros, more than 1");
    armilla_model_free(model);
    fit("free", "one-hot", "fast");
    passes();
    finds_changed(a_zero(model->V, R * N), 1e-200, "1 codes are not one entry 1 and zeros");
    armilla_model_free(model);
}

/* Data that cannot be the fit's. */
static void finds_other_data(void **state)
{
    armilla_check check;
    (void)state;
    fit("orthonormal", "sphere", "fast");
    passes();
    finds_changed(&X[M], X[M] + 1e-3, "");
    const double kept = X[5 * M + 2];
    X[5 * M + 2] = NAN;
    support_fails(context, armilla_model_check(context, model, data, &check), ARMILLA_BAD_DATA, "sample 6");
    X[5 * M + 2] = kept;
    passes();
    armilla_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_a_trace_that_cannot_be, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finds_factors_outside_of_their_sets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finds_other_data, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
