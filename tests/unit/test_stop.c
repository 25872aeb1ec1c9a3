/* When a fit is going to stop, as it is guessed on the way: the range that is told holds the truth on fits of this test,
 * with iterations for a clock. */
#include "reference/reference.h"
#include "unit/fixture.h"

#include "base/random.h"
#include "solve/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 40, N = 600, PARTS = 12 };
/* What is near 0 may be off by that part of the whole; and so much of all moments is to be within the range. */
#define NEAR 0.03
#define WANTED 0.85

/* Samples made of a few nonnegative parts each, with noise. */
static void make_samples(uint64_t seed, double noise, double *X)
{
    double U[PARTS][M];
    uint64_t at = 0;
    for (int k = 0; k < PARTS; k++)
        for (int i = 0; i < M; i++) U[k][i] = pow(armilla_random_uniform(seed, ARMILLA_STREAM_TEST, at++), 3);
    for (int j = 0; j < N; j++) {
        memset(X + j * M, 0, M * sizeof *X);
        for (int k = 0; k < PARTS; k++) {
            const double weight = pow(armilla_random_uniform(seed, ARMILLA_STREAM_TEST, at++), 4);
            for (int i = 0; i < M; i++) X[j * M + i] += weight * U[k][i];
        }
        for (int i = 0; i < M; i++) X[j * M + i] += noise * armilla_random_uniform(seed, ARMILLA_STREAM_TEST, at++);
    }
}

/* tol: -1, the default, or a given one. */
static int64_t fit(const double *X, const char *model_name, double tol, armilla_trace_entry *entries, int64_t most)
{
    armilla_options options;
    armilla_data *data = NULL;
    armilla_model *model = NULL;
    armilla_options_default(&options);
    options.model = model_name;
    options.rank = 8;
    options.tol = tol;
    options.max_iter = most;
    options.normalize = "l2";
    options.threads = 1;
    if (strstr(model_name, "sparse") || !strcmp(model_name, "dictionary")) options.sparsity = 3;
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, &data));
    support_ok(context, armilla_fit(context, data, &options, &model));
    const int64_t count = armilla_model_trace_count(model);
    for (int64_t k = 0; k < count; k++) {
        entries[k].size = sizeof *entries;
        assert_true(armilla_model_trace_entry(model, k, &entries[k]));
    }
    armilla_model_free(model);
    armilla_data_free(data);
    return count;
}

/* Of the moments from the first tenth on those at which the range holds what is left. */
static void judge(const armilla_stop_rule *rule, armilla_trace_entry *entries, int64_t count, double *held, double *all)
{
    const double end = (double)(count - 1), slack = NEAR * end;
    for (int64_t k = 1 + (count - 1) / 10; k < count - 1; k++) {
        const armilla_trace trace = {.entries = entries, .count = k + 1, .capacity = count};
        const armilla_stop_guess guess = armilla_stop_expect(rule, &trace);
        const double left = guess.last - (double)k, rest = end - (double)k;
        assert_true(left >= 0 && guess.soonest <= 1 && guess.latest >= 1);
        assert_true((double)k + left * guess.latest <= (double)rule->max_iter * 1.001 + 1);
        *held += rest + slack >= left * guess.soonest && rest - slack <= left * guess.latest;
        *all += 1;
    }
}

static void test_range(void **state)
{
    static const char *const models[] = {"nmf",      "spherical-nmf",        "spherical-pca", "sparse-spherical-pca",
                                         "semi-nmf", "sparse-spherical-nmf", "dictionary",    "onmf"};
    enum { MOST = 500 };
    static armilla_trace_entry entries[MOST + 1];
    double held = 0, all = 0;
    double *X = malloc(sizeof(double) * M * N);
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        make_samples(seed, seed == 1 ? 0.02 : 0.2, X);
        for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
            const int64_t count = fit(X, models[i], -1, entries, MOST);
            const armilla_stop_rule rule = {
                .max_iter = MOST, .tol = 1e-6, .eases = !strstr(models[i], "pca"), .squared_norm = N};
            judge(&rule, entries, count, &held, &all);
        }
    }
    free(X);
    assert_true(all > 300);
    if (held < WANTED * all) fail_msg("the range holds at %.0f of %.0f moments", held, all);
}

/* Iterations whose number is given leave nothing open. */
static void test_given(void **state)
{
    armilla_trace_entry entries[4] = {{.objective = 8}, {.objective = 4}, {.objective = 2}, {.objective = 1}};
    const armilla_trace trace = {.entries = entries, .count = 4, .capacity = 4};
    const armilla_stop_guess guess = armilla_stop_expect(&(armilla_stop_rule){.max_iter = 70, .tol = 0}, &trace);
    (void)state;
    assert_true(guess.last == 70 && guess.soonest == 1 && guess.latest == 1);
}

/* What is done is a part of the last iteration, also where none is made. */
static void test_none(void **state)
{
    armilla_trace_entry entries[1] = {{.objective = 8}};
    const armilla_trace trace = {.entries = entries, .count = 1, .capacity = 1};
    (void)state;
    for (int i = 0; i < 2; i++)
        assert_true(armilla_stop_expect(&(armilla_stop_rule){.max_iter = 0, .tol = i * 1e-6}, &trace).last >= 1);
}

enum { LONG = 4000 };

/* The iteration at which a fit with these objectives ends. */
static int64_t end_of(const armilla_stop_rule *rule, double (*objective)(double k))
{
    static armilla_trace_entry entries[LONG + 1];
    armilla_trace trace = {.entries = entries, .count = 0, .capacity = LONG + 1};
    armilla_stop reason = ARMILLA_STOP_INTERRUPTED;
    bool ended = false;
    while (!ended) {
        entries[trace.count] =
            (armilla_trace_entry){.iteration = trace.count, .objective = objective((double)trace.count)};
        trace.count++;
        ended = armilla_stop_decide(rule, &trace, false, &reason);
    }
    assert_true(reason == ARMILLA_STOP_CONVERGED || reason == ARMILLA_STOP_MAX_ITER);
    return trace.count - 1;
}

/* A fall towards 1 like 1/k. */
static double fall_slowly(double k)
{
    return 1 + 1 / (1 + k);
}

/* A slower one with a plateau from iteration 200 to 230, a seventh of what is behind it. */
static double fall_with_plateau(double k)
{
    return 1 + 1000 / (1 + (k < 200 ? k : k < 230 ? 200 + (k - 200) / 1000 : k - 29.9));
}

/* A fall towards 1 like 8/k^2. */
static double fall_soon(double k)
{
    return 1 + 8 / (1 + k) / (1 + k);
}

/* The last fifth of k iterations gains 8/(0.8k)^2 - 8/k^2 = 4.5/k^2: a thousandth at 67. From 160 on the last 32 count:
 * 1/(k - 32) - 1/k is a thousandth at 195. */
static void test_ease(void **state)
{
    const armilla_stop_rule given = {.max_iter = LONG, .tol = 1e-6, .squared_norm = 1e2};
    armilla_stop_rule automatic = given;
    (void)state;
    automatic.eases = true;
    const int64_t end = end_of(&automatic, fall_slowly), whole = end_of(&given, fall_slowly);
    assert_true(end > 185 && end < 205);
    assert_true(whole > 950 && whole < 1050); /* 1/k^2 = 1e-6 */
    const int64_t soon = end_of(&automatic, fall_soon);
    assert_true(soon > 62 && soon < 75);
    automatic.squared_norm = 1.5; /* about half as much is explained as is left: 32/(k(k - 32)) is half a thousandth */
    const int64_t careful = end_of(&automatic, fall_slowly);
    assert_true(careful > 255 && careful < 285);
    automatic.squared_norm = 1e2;
    assert_true(end_of(&automatic, fall_with_plateau) > 1000);
    /* An error of .1 %, where h is measured by .1 ||X|| sqrt(h) = 100: 8/(k(k - 8)) is .1 at 14. */
    automatic.squared_norm = 1e6;
    const int64_t small = end_of(&automatic, fall_slowly);
    assert_true(small > 11 && small < 18);
    automatic.tol = 0; /* of a given number of iterations */
    automatic.eases = false;
    assert_int_equal(end_of(&automatic, fall_slowly), LONG);
}

/* Fits of a basis that is neither orthonormal nor made of centres end sooner, and little higher; a given tolerance and the
 * others are as they were. */
static void test_default(void **state)
{
    static const struct {
        const char *model;
        bool eases;
    } cases[] = {
        {"nmf", true}, {"spherical-nmf", true}, {"semi-nmf", true}, {"spherical-pca", false}, {"kmeans", false}};
    static armilla_trace_entry quick[501], whole[501];
    double *X = malloc(sizeof(double) * M * N);
    (void)state;
    make_samples(5, 0.2, X);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t few = fit(X, cases[i].model, -1, quick, 500), many = fit(X, cases[i].model, 1e-6, whole, 500);
        const double above = quick[few - 1].objective / whole[many - 1].objective - 1;
        reference_scene("%s: %lld of %lld, %g above", cases[i].model, (long long)few, (long long)many, above);
        assert_true(few <= many && above >= 0 && above < 0.01);
        assert_true(cases[i].eases ? few < many : few == many);
        for (int64_t k = 0; k < few; k++) assert_true(quick[k].objective == whole[k].objective);
    }
    free(X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_range), TEST(test_given), TEST(test_none), TEST(test_ease),
                                       TEST(test_default)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
