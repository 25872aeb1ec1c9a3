/* Why a fit ends and what it then returns: iteration limits, tolerance, callbacks, time; restarts; and going on from a
 * model that was saved. */
#include "reference/reference.h"

#include "unit/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 12, N = 40, R = 4, S = 2 };

static void make_trial(reference_trial *trial, const reference_pair *pair, uint64_t seed)
{
    double X[M * N];
    reference_data(&seed, REFERENCE_NOISY, pair, M, N, R, S, X);
    reference_trial_new(trial, pair, ARMILLA_F64, M, N, R, S, X);
}

static armilla_model_summary summary_of(const armilla_model *model)
{
    armilla_model_summary summary;
    armilla_model_summarize(model, &summary);
    return summary;
}

static void test_iteration_limit(void **state)
{
    static const int64_t limits[] = {0, 1, 2, 7, 50};
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (size_t i = 0; i < 5; i++) {
            reference_trial trial;
            reference_scene("pair %d, %d iterations", (int)p, (int)limits[i]);
            make_trial(&trial, &reference_pairs[p], 80);
            trial.options.max_iter = limits[i];
            armilla_model *model = reference_trial_fit(&trial);
            const armilla_model_summary summary = summary_of(model);
            REFERENCE_HOLDS(summary.iterations == limits[i] && summary.stop == ARMILLA_STOP_MAX_ITER);
            reference_verify(model, trial.data, trial.X, true);
            armilla_model_free(model);
            reference_trial_free(&trial);
        }
}

/* h_{k-1} - h_k <= tol h_{k-1} holds at the last entry and at none before. */
static void test_tolerance(void **state)
{
    static const double tolerances[] = {1e-1, 1e-2, 1e-3};
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (size_t i = 0; i < 3; i++) {
            reference_trial trial;
            int64_t count = 0;
            reference_scene("pair %d, tolerance %g", (int)p, tolerances[i]);
            make_trial(&trial, &reference_pairs[p], 81);
            trial.options.tol = tolerances[i];
            trial.options.max_iter = 5000;
            armilla_model *model = reference_trial_fit(&trial);
            const armilla_trace_entry *trace = reference_trace(model, &count);
            REFERENCE_HOLDS(summary_of(model).stop == ARMILLA_STOP_CONVERGED && count >= 2);
            for (int64_t k = 1; k < count; k++) {
                const double before = trace[k - 1].objective, fall = before - trace[k].objective;
                REFERENCE_HOLDS((fall <= tolerances[i] * before) == (k == count - 1));
            }
            armilla_model_free(model);
            reference_trial_free(&trial);
        }
}

/* An exact fit ends by itself where a tolerance is set: h <= eps ||X||^2. */
static void test_exact_fit_converges(void **state)
{
    uint64_t random = 82;
    double X[M * N], U[M * R], V[R * N];
    reference_trial trial;
    (void)state;
    reference_random_basis(&random, &reference_pairs[0], M, R, U);
    reference_random_codes(&random, &reference_pairs[0], R, R, N, 3, V);
    reference_multiply(M, R, N, U, V, X);
    reference_trial_new(&trial, &reference_pairs[0], ARMILLA_F64, M, N, R, R, X);
    trial.options.start_basis = U;
    trial.options.tol = 1e-6;
    trial.options.max_iter = 100;
    armilla_model *model = reference_trial_fit(&trial);
    assert_true(summary_of(model).stop == ARMILLA_STOP_CONVERGED && summary_of(model).iterations <= 2);
    reference_verify(model, trial.data, trial.X, true);
    armilla_model_free(model);
    reference_trial_free(&trial);
}

typedef struct witness {
    int64_t calls, stop_at;
    armilla_trace_entry seen[64];
} witness;

static int watch(void *user, const armilla_trace_entry *entry)
{
    witness *w = user;
    if (w->calls < 64) w->seen[w->calls] = *entry;
    w->calls++;
    return entry->iteration == w->stop_at;
}

static void test_callback(void **state)
{
    static const int64_t stops[] = {-1, 0, 3, 20};
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (size_t i = 0; i < 4; i++) {
            reference_trial trial;
            witness w = {.stop_at = stops[i]};
            int64_t count = 0;
            reference_scene("pair %d, stopped at %d", (int)p, (int)stops[i]);
            make_trial(&trial, &reference_pairs[p], 83);
            trial.options.callback = watch;
            trial.options.callback_user = &w;
            armilla_model *model = reference_trial_fit(&trial);
            const armilla_trace_entry *trace = reference_trace(model, &count);
            const armilla_model_summary summary = summary_of(model);
            REFERENCE_HOLDS(w.calls == count && summary.iterations == (stops[i] < 0 ? 20 : stops[i]));
            REFERENCE_HOLDS(summary.stop == (stops[i] < 0 ? ARMILLA_STOP_MAX_ITER : ARMILLA_STOP_INTERRUPTED));
            for (int64_t k = 0; k + 1 < count; k++) REFERENCE_HOLDS(w.seen[k].objective == trace[k].objective);
            reference_verify(model, trial.data, trial.X, true);
            armilla_model_free(model);
            reference_trial_free(&trial);
        }
}

static void test_time_limit(void **state)
{
    reference_trial trial;
    (void)state;
    make_trial(&trial, &reference_pairs[0], 84);
    trial.options.time_limit = 1e-9;
    trial.options.max_iter = 1000000;
    armilla_model *model = reference_trial_fit(&trial);
    assert_true(summary_of(model).stop == ARMILLA_STOP_TIME_LIMIT && summary_of(model).iterations <= 1);
    reference_verify(model, trial.data, trial.X, true);
    armilla_model_free(model);
    trial.options.time_limit = 0.05;
    model = reference_trial_fit(&trial);
    assert_true(summary_of(model).stop == ARMILLA_STOP_TIME_LIMIT && summary_of(model).iterations >= 1);
    assert_true(summary_of(model).seconds >= 0.05 && summary_of(model).seconds < 5);
    armilla_model_free(model);
    reference_trial_free(&trial);
}

/* The best of N starts is at least as good as the best of fewer, and somewhere better than the first. */
static void test_restarts(void **state)
{
    int64_t gains = 0;
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++) {
        double before = 0;
        reference_trial trial;
        make_trial(&trial, &reference_pairs[p], 85);
        trial.options.start = "random";
        for (int64_t restarts = 1; restarts <= 8; restarts++) {
            reference_scene("pair %d, best of %d", (int)p, (int)restarts);
            trial.options.restarts = restarts;
            armilla_model *model = reference_trial_fit(&trial);
            const double now = summary_of(model).objective;
            if (restarts > 1) REFERENCE_AT_MOST(now, before);
            gains += restarts > 1 && now < before;
            before = now;
            reference_verify(model, trial.data, trial.X, true);
            armilla_model_free(model);
        }
        reference_trial_free(&trial);
    }
    assert_true(gains >= 4);
}

/* Save, open, go on: 10 + 10 iterations are 20. */
static void test_continuing_from_a_saved_model(void **state)
{
    char path[256];
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int fixed = 0; fixed < 2; fixed++) {
            reference_trial trial;
            armilla_model *half = NULL;
            reference_scene("pair %d, %s radius", (int)p, fixed ? "fixed" : "learned");
            make_trial(&trial, &reference_pairs[p], 86);
            trial.options.radius = fixed ? 2.5 : 0;
            armilla_model *whole = reference_trial_fit(&trial);
            trial.options.max_iter = 10;
            armilla_model *first = reference_trial_fit(&trial);
            support_path(path, sizeof path, "half.npz");
            REFERENCE_OK(armilla_model_save(reference_context, first, path, true));
            REFERENCE_OK(armilla_model_open(reference_context, path, &half));
            trial.options.start_model = half;
            armilla_model *second = reference_trial_fit(&trial);
            const double *U = armilla_model_basis(whole), *V = armilla_model_codes(whole);
            int64_t count = 0;
            REFERENCE_AT_MOST(reference_distance(M * R, U, armilla_model_basis(second)),
                              1e-9 * reference_norm(M * R, U));
            REFERENCE_AT_MOST(reference_distance(R * N, V, armilla_model_codes(second)),
                              1e-9 * reference_norm(R * N, V));
            REFERENCE_NEAR(summary_of(second).objective, summary_of(whole).objective,
                           1e-9 * summary_of(whole).squared_norm);
            REFERENCE_NEAR(reference_trace(second, &count)->objective, summary_of(first).objective,
                           1e-9 * summary_of(whole).squared_norm);
            reference_verify(second, trial.data, trial.X, true);
            armilla_model_free(whole);
            armilla_model_free(first);
            armilla_model_free(half);
            armilla_model_free(second);
            reference_trial_free(&trial);
        }
}

/* A start of another shape is refused, with the numbers. */
static void test_start_model_must_fit(void **state)
{
    reference_trial trial;
    armilla_model *refused = NULL;
    (void)state;
    make_trial(&trial, &reference_pairs[0], 87);
    armilla_model *model = reference_trial_fit(&trial);
    trial.options.start_model = model;
    trial.options.rank = R - 1;
    REFERENCE_STATUS(armilla_fit(reference_context, trial.data, &trial.options, &refused), ARMILLA_BAD_DATA);
    REFERENCE_SAYS("rank 4");
    assert_null(refused);
    armilla_model_free(model);
    reference_trial_free(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_iteration_limit),
        cmocka_unit_test(test_tolerance),
        cmocka_unit_test(test_exact_fit_converges),
        cmocka_unit_test(test_callback),
        cmocka_unit_test(test_time_limit),
        cmocka_unit_test(test_restarts),
        cmocka_unit_test(test_continuing_from_a_saved_model),
        cmocka_unit_test(test_start_model_must_fit),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
