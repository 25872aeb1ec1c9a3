/* What callbacks see is the trace: entries 0, 1, 2, ... without one that is taken back, whatever the end of the fit does;
 * and iterations that cannot bring anything cost no more than others. */
#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4000 };

typedef struct watcher {
    armilla_trace_entry seen[MOST];
    int64_t count;
} watcher;

static int watch(void *user, const armilla_trace_entry *entry)
{
    watcher *w = user;
    assert_true(w->count < MOST);
    w->seen[w->count++] = *entry;
    return 0;
}

static bool same_numbers(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* The last objective of a trace may be the directly computed one, and differ by rounding; and objectives that the
 * stored codes do not reach are raised to the model's. */
static bool is_trace(const armilla_model *model, const armilla_trace_entry *seen, int64_t count)
{
    const armilla_model_summary summary = reference_summary(model);
    const double slack = (summary.precision == ARMILLA_F32 ? 1e-4 : 1e-12) * summary.squared_norm;
    int64_t entries = 0;
    const armilla_trace_entry *trace = reference_trace(model, &entries);
    bool same = entries == count;
    for (int64_t k = 0; k < count && same; k++)
        same = trace[k].iteration == seen[k].iteration && trace[k].dU == seen[k].dU && trace[k].dV == seen[k].dV &&
               same_numbers(trace[k].radius, seen[k].radius) && trace[k].seconds == seen[k].seconds &&
               (fabs(trace[k].objective - seen[k].objective) <= (k + 1 == count ? slack : 0) ||
                (trace[k].objective == summary.objective && seen[k].objective < summary.objective));
    return same;
}

/* Codes of several of many atoms: their best are not always found again at the end. */
static void test_callbacks_see_the_trace(void **state)
{
    static const char *const bases[] = {"nonnegative", "free", "unit"};
    static const char *const codes[] = {"nonneg-sphere", "sparse-sphere", "nonneg-sparse-sphere", "sparse"};
    watcher *w = malloc(sizeof *w);
    uint64_t random = 311;
    int64_t above = 0;
    (void)state;
    assert_non_null(w);
    for (int i = 0; i < reference_effort(48, 2); i++) {
        const reference_pair *pair = reference_pair_find(bases[i % 3], codes[i / 3 % 4]);
        const int64_t shape[] = {8 + reference_below(&random, 12), 20 + reference_below(&random, 30),
                                 12 + reference_below(&random, 3), 4 + reference_below(&random, 4)};
        reference_trial trial;
        int64_t count = 0;
        reference_trial_fast(&trial, pair, (armilla_type)(i % 2), REFERENCE_UNIFORM, &random, shape);
        trial.options.max_iter = 100;
        trial.options.tol = i % 2 ? 1e-6 : 0;
        trial.options.seed = i;
        trial.options.callback = watch;
        trial.options.callback_user = w;
        w->count = 0;
        reference_trial_scene(&trial, "callbacks");
        armilla_model *model = reference_trial_fit(&trial);
        reference_verify(model, trial.data, trial.X, true);
        for (int64_t k = 0; k < w->count; k++) REFERENCE_HOLDS(w->seen[k].iteration == k);
        REFERENCE_HOLDS(is_trace(model, w->seen, w->count));
        REFERENCE_HOLDS(i % 2 || w->count == 101); /* without a tolerance: as many as were asked for */
        const armilla_trace_entry *trace = reference_trace(model, &count);
        above += reference_summary(model).objective > trace[count - 1].objective;
        armilla_model_free(model);
        reference_trial_free(&trial);
    }
    print_message("%d models ended above their last iteration\n", (int)above);
    free(w);
}

/* Each start has entries of its own from 0 on, and the model has those of the best. */
static void test_callbacks_over_restarts(void **state)
{
    watcher *w = malloc(sizeof *w);
    uint64_t random = 312;
    (void)state;
    assert_non_null(w);
    for (int i = 0; i < REFERENCE_PAIRS; i++) {
        static const int64_t shape[] = {10, 40, 4, 2};
        reference_trial trial;
        int64_t starts = 0, models = 0;
        reference_trial_fast(&trial, &reference_pairs[i], ARMILLA_F64, REFERENCE_UNIFORM, &random, shape);
        trial.options.max_iter = 30;
        trial.options.restarts = 4;
        trial.options.start = "random";
        trial.options.callback = watch;
        trial.options.callback_user = w;
        w->count = 0;
        reference_trial_scene(&trial, "callbacks over restarts");
        armilla_model *model = reference_trial_fit(&trial);
        for (int64_t first = 0, k = 1; k <= w->count; k++) {
            if (k < w->count && w->seen[k].iteration > 0) {
                REFERENCE_HOLDS(w->seen[k].iteration == w->seen[k - 1].iteration + 1);
                continue;
            }
            models += is_trace(model, w->seen + first, k - first);
            starts++;
            first = k;
        }
        REFERENCE_HOLDS(starts == 4 && models == 1);
        armilla_model_free(model);
        reference_trial_free(&trial);
    }
    free(w);
}

/* The sweeps that so many iterations take, and the objective that they reach. */
static int64_t sweeps_of(const reference_pair *pair, const double *X, int64_t iterations, double *reached)
{
    reference_trial trial;
    reference_trial_new(&trial, pair, ARMILLA_F64, 8, 3, 5, 1, X);
    trial.options.solver = "fast";
    trial.options.max_iter = iterations;
    reference_trial_scene(&trial, "more atoms than samples");
    armilla_model *model = reference_trial_fit(&trial);
    REFERENCE_HOLDS(reference_summary(model).iterations == iterations);
    const int64_t sweeps = reference_summary(model).sweeps;
    int64_t count = 0;
    *reached = reference_trace(model, &count)[iterations - 1].objective; /* the last may be computed directly */
    armilla_model_free(model);
    reference_trial_free(&trial);
    return sweeps;
}

/* Three samples, two of them the same, and five atoms: some are used by no code, and no sample in their place helps. That
 * is found out once; then iterations cost what they cost without unused atoms: none, one or two sweeps. Where h
 * falls, or is 0 so that only rounding moves, samples that were not tried yet may be when that is due: after iterations
 * 63, 127 and 255. */
static void test_what_cannot_be_revived_is_left(void **state)
{
    uint64_t random = 313;
    double X[8 * 3];
    (void)state;
    reference_fill_uniform(&random, 8 * 3, X);
    memcpy(X + 8, X, 8 * sizeof *X);
    for (size_t p = 0; p < REFERENCE_FAMILY; p++) {
        double before = 0, after = 0;
        const int64_t early = sweeps_of(&reference_family[p], X, 60, &before);
        const int64_t sweeps = sweeps_of(&reference_family[p], X, 260, &after) - early;
        if (after < before || after == 0)
            REFERENCE_HOLDS(sweeps <= 2 * 200 + 3);
        else
            REFERENCE_HOLDS(sweeps == 2 * 200 || sweeps == 200 || sweeps == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callbacks_see_the_trace),
        cmocka_unit_test(test_callbacks_over_restarts),
        cmocka_unit_test(test_what_cannot_be_revived_is_left),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
