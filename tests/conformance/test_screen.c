/* Sketches, screening and revival: what a fit of many samples begins with, and what it does about atoms that no code
 * uses. */
#include "reference/reference.h"

#include "data/sparse.h"
#include "model/sketch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 24, N = 5600, R = 4, S = 2 };

/* Column by column, in any order and with repetitions, from every storage form. */
static void test_copies_of_columns(void **state)
{
    static int64_t chosen[] = {5, 0, 7, 7, 2};
    enum { ROWS = 6, COLUMNS = 8, CHOSEN = sizeof chosen / sizeof chosen[0] };
    uint64_t random = 301;
    double X[ROWS * COLUMNS], column[ROWS];
    uint8_t bytes[ROWS * COLUMNS];
    (void)state;
    reference_sprinkle(&random, 0.4, ROWS * COLUMNS, X);
    for (int i = 0; i < ROWS * COLUMNS; i++) bytes[i] = (uint8_t)(X[i] = floor(X[i] * 200));
    for (int form = 0; form < 7; form++) {
        armilla_data *data = NULL, *copy = NULL;
        reference_sparse sparse = {.entries = 0};
        float *floats = reference_floats(ROWS * COLUMNS, X);
        reference_scene("form %d", form);
        if (form == 0)
            REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, ROWS, COLUMNS, ROWS, &data));
        else if (form == 1)
            REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F32, floats, ROWS, COLUMNS, ROWS, &data));
        else if (form == 2)
            REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_U8, bytes, ROWS, COLUMNS, ROWS, &data));
        else {
            reference_sparse_new(&sparse, (armilla_type)(form % 2), (armilla_index)(form > 4), false, ROWS, COLUMNS, X);
            data = reference_sparse_wrap(&sparse);
        }
        const armilla_kept features = {NULL, ROWS, ROWS}, samples = {chosen, CHOSEN, COLUMNS};
        REFERENCE_OK(armilla_data_copy(reference_context, data, &features, &samples, &copy));
        REFERENCE_HOLDS(armilla_data_features(copy) == ROWS && armilla_data_samples(copy) == CHOSEN);
        REFERENCE_HOLDS((form > 2) == (armilla_sparse_of(copy) != NULL));
        armilla_data_free(data); /* the copy stands by itself */
        if (form > 2) reference_sparse_free(&sparse);
        for (int j = 0; j < (int)CHOSEN; j++) {
            REFERENCE_OK(armilla_data_sample(reference_context, copy, j, column));
            for (int i = 0; i < ROWS; i++) REFERENCE_HOLDS(column[i] == X[chosen[j] * ROWS + i]);
        }
        armilla_data_free(copy);
        free(floats);
    }
}

static void make_trial(reference_trial *trial, const reference_pair *pair, uint64_t seed)
{
    uint64_t random = seed;
    double *X = reference_new(M * N);
    reference_data(&random, REFERENCE_NOISY, pair, M, N, R, S, X);
    reference_trial_new(trial, pair, ARMILLA_F32, M, N, R, S, X);
    trial->options.solver = "fast";
    trial->options.start = "random";
    trial->options.max_iter = 200;
    trial->options.tol = 1e-6;
    trial->options.threads = 2;
    free(X);
}

/* Fits that begin on a sketch keep every promise, and end no higher than the paper's algorithm from the same start. */
static void test_fits_of_many_samples(void **state)
{
    (void)state;
    for (int i = 0; i < REFERENCE_PAIRS; i++) {
        reference_trial trial;
        make_trial(&trial, &reference_pairs[i], 302 + (uint64_t)i);
        reference_scene("%s x %s, many samples", trial.pair->basis, trial.pair->codes);
        armilla_model *model = reference_trial_fit(&trial);
        reference_verify(model, trial.data, trial.X, true);
        const double fast = reference_summary(model).objective / reference_summary(model).squared_norm;
        armilla_model_free(model);
        trial.options.solver = "palm";
        model = reference_trial_fit(&trial);
        const double palm = reference_summary(model).objective / reference_summary(model).squared_norm;
        REFERENCE_AT_MOST(fast, palm + 1e-3);
        armilla_model_free(model);
        reference_trial_free(&trial);
    }
}

/* Many starts cost far less than as many fits; a single iteration is still a fit; the start without one is the row's. */
static void test_restarts_are_screened(void **state)
{
    enum { RESTARTS = 12 };
    (void)state;
    for (int i = 0; i < REFERENCE_PAIRS; i++) {
        reference_trial trial;
        make_trial(&trial, &reference_pairs[i], 310 + (uint64_t)i);
        reference_scene("%s x %s, restarts", trial.pair->basis, trial.pair->codes);
        armilla_model *one = reference_trial_fit(&trial);
        trial.options.restarts = RESTARTS;
        armilla_model *best = reference_trial_fit(&trial);
        reference_verify(best, trial.data, trial.X, true);
        REFERENCE_AT_MOST(reference_summary(best).objective,
                          reference_summary(one).objective + 1e-3 * reference_summary(one).squared_norm);
        REFERENCE_HOLDS(strcmp(reference_summary(best).start, "random") == 0);
        armilla_model_free(best);
        armilla_model_free(one);
        trial.options.max_iter = 0;
        trial.options.restarts = 1;
        one = reference_trial_fit(&trial);
        trial.options.solver = "palm";
        best = reference_trial_fit(&trial);
        REFERENCE_HOLDS(memcmp(armilla_model_basis(one), armilla_model_basis(best), sizeof(float) * M * R) == 0);
        armilla_model_free(best);
        armilla_model_free(one);
        reference_trial_free(&trial);
    }
}

static armilla_status start_at_random(void *self, armilla_problem *sketch, int64_t i)
{
    (void)self;
    return armilla_start_from_row(sketch, armilla_starts_find("random"), (uint64_t)i);
}

/* Candidates come out in falling order of merit, the kept ones with feasible bases. */
static void test_candidates_are_ranked(void **state)
{
    enum { COUNT = 6, KEPT = 2 };
    (void)state;
    for (int i = 0; i < REFERENCE_PAIRS; i++) {
        reference_trial trial;
        armilla_problem *problem = NULL;
        bool ended = false;
        double *norms = reference_new(200), total = 0;
        make_trial(&trial, &reference_pairs[i], 320 + (uint64_t)i);
        reference_scene("%s x %s, candidates", trial.pair->basis, trial.pair->codes);
        armilla_data *few = NULL;
        REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F32, trial.typed, M, 200, M, &few));
        for (int j = 0; j < 200; j++) total += norms[j] = reference_dot(M, trial.X + j * M, trial.X + j * M);
        const armilla_problem_options options = {.basis = armilla_basis_find(trial.pair->basis),
                                                 .codes = armilla_codes_find(trial.pair->codes),
                                                 .r = R,
                                                 .s = trial.pair->sparse ? S : R,
                                                 .type = ARMILLA_F32,
                                                 .lambda = {1, true},
                                                 .mu = {1, true},
                                                 .stop = {.max_iter = 20, .tol = 1e-4}};
        REFERENCE_OK(armilla_problem_new(reference_context, few, &options, total, norms, &problem));
        armilla_screening screening = {.context = reference_context,
                                       .sketch = problem,
                                       .solver = armilla_solvers_find("fast"),
                                       .make = start_at_random,
                                       .m = M,
                                       .r = R,
                                       .count = COUNT,
                                       .most = KEPT};
        REFERENCE_OK(armilla_screening_begin(&screening));
        while (!ended) REFERENCE_OK(armilla_screening_step(&screening, &ended));
        const armilla_candidate *candidates = screening.candidates;
        for (int c = 0, seen = 0; c < COUNT; c++) {
            if (c > 0) REFERENCE_AT_MOST(candidates[c - 1].objective, candidates[c].objective);
            REFERENCE_HOLDS((candidates[c].U != NULL) == (c < KEPT) && candidates[c].kept == (c < KEPT));
            REFERENCE_HOLDS((seen & 1 << candidates[c].number) == 0);
            seen |= 1 << candidates[c].number;
            if (candidates[c].U) REFERENCE_AT_MOST(options.basis->violation(M, R, candidates[c].U), 1e-5);
        }
        armilla_screening_free(&screening);
        armilla_problem_free(problem);
        armilla_data_free(few);
        reference_trial_free(&trial);
        free(norms);
    }
}

/* Training samples get their codes back, bit for bit, whatever stands beside them. */
static void test_batches_get_the_stored_codes(void **state)
{
    static const int64_t sizes[] = {1, 7, 1000, N};
    float *codes = calloc(N * R, sizeof *codes);
    (void)state;
    assert_non_null(codes);
    for (int i = 0; i < REFERENCE_PAIRS; i++) {
        reference_trial trial;
        make_trial(&trial, &reference_pairs[i], 360 + (uint64_t)i);
        trial.options.max_iter = 10;
        trial.options.normalize = i % 2 ? "l2" : "none";
        armilla_model *model = reference_trial_fit(&trial);
        const float *stored = armilla_model_codes(model);
        for (size_t b = 0; b < sizeof sizes / sizeof sizes[0]; b++) {
            const int64_t count = sizes[b], first = (N - count) / 3;
            armilla_data *batch = NULL;
            reference_scene("%s x %s, batch of %d", trial.pair->basis, trial.pair->codes, (int)count);
            REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F32, (float *)trial.typed + first * M, M,
                                                 count, M, &batch));
            REFERENCE_OK(armilla_model_transform(reference_context, model, batch, 1 + (int)b % 2, codes));
            REFERENCE_HOLDS(memcmp(codes, stored + first * R, (size_t)(count * R) * sizeof *codes) == 0);
            armilla_data_free(batch);
        }
        armilla_model_free(model);
        reference_trial_free(&trial);
    }
    free(codes);
}

/* A caller who stops while starts are compared. */
typedef struct impatience {
    int64_t asked, patience; /* interrupts are asked for from then on */
    int64_t recorded;        /* calls of the callback: iterations of the fit alone */
} impatience;

static int ask(void *user, const armilla_progress *progress)
{
    impatience *caller = user;
    if (progress->stage != ARMILLA_STAGE_START || progress->stopping) return 0;
    return ++caller->asked >= caller->patience;
}

/* Also while starts are fitted to the sketch. */
static int ask_from_start(void *user, const armilla_progress *progress)
{
    impatience *caller = user;
    return progress->stage >= ARMILLA_STAGE_START && ++caller->asked >= caller->patience;
}

static int count_record(void *user, const armilla_trace_entry *entry)
{
    (void)entry;
    ((impatience *)user)->recorded++;
    return 0;
}

/* An interrupt or the end of the time is seen inside the screening: no further start is tried, and what there is
 * becomes the model. */
static void test_screening_can_be_stopped(void **state)
{
    enum { RESTARTS = 40 };
    (void)state;
    for (int i = 0; i < 2 * REFERENCE_PAIRS; i++) {
        const bool timed = i >= REFERENCE_PAIRS;
        impatience caller = {.patience = 2};
        reference_trial trial;
        make_trial(&trial, &reference_pairs[i % REFERENCE_PAIRS], 340 + (uint64_t)i);
        reference_scene("%s x %s, %s", trial.pair->basis, trial.pair->codes, timed ? "time limit" : "interrupt");
        trial.options.restarts = RESTARTS;
        trial.options.callback = count_record;
        trial.options.callback_user = &caller;
        if (timed) trial.options.time_limit = 1e-9;
        if (!timed) armilla_context_set_watch(reference_context, ask, &caller);
        armilla_model *model = reference_trial_fit(&trial);
        armilla_context_set_watch(reference_context, NULL, NULL);
        const armilla_model_summary summary = reference_summary(model);
        REFERENCE_HOLDS(summary.stop == (timed ? ARMILLA_STOP_TIME_LIMIT : ARMILLA_STOP_INTERRUPTED));
        REFERENCE_HOLDS(summary.iterations == 0 && caller.recorded == 1);
        REFERENCE_HOLDS(timed || caller.asked == caller.patience); /* and never again */
        reference_verify(model, trial.data, trial.X, true);
        armilla_model_free(model);
        reference_trial_free(&trial);
    }
}

/* Tight groups, each around a sample: k-means that is stopped while its starts are compared gives the best of those that
 * were finished, and not random samples, of which two are nearly always of one group. */
static void test_candidates_survive_a_stop(void **state)
{
    enum { GROUPS = 12, EACH = 30, SAMPLES = GROUPS * EACH };
    uint64_t random = 380;
    double *centres = reference_new(M * GROUPS), *X = reference_new(M * SAMPLES);
    int good = 0, poor = 0;
    (void)state;
    reference_fill_normal(&random, M * GROUPS, centres);
    for (int64_t j = 0; j < SAMPLES; j++)
        for (int64_t i = 0; i < M; i++) X[j * M + i] = centres[j % GROUPS * M + i] + 1e-3 * reference_normal(&random);
    const double all = reference_dot(M * SAMPLES, X, X);
    for (int64_t patience = 2;; patience++) {
        impatience caller = {.patience = patience};
        reference_trial trial;
        reference_scene("stopped at call %d", (int)patience);
        reference_trial_new(&trial, reference_pair_find("free", "one-hot"), ARMILLA_F64, M, SAMPLES, GROUPS, 0, X);
        trial.options.solver = "fast";
        armilla_context_set_watch(reference_context, ask_from_start, &caller);
        armilla_model *model = reference_trial_fit(&trial);
        armilla_context_set_watch(reference_context, NULL, NULL);
        const armilla_model_summary summary = reference_summary(model);
        const bool interrupted = summary.stop == ARMILLA_STOP_INTERRUPTED;
        if (good > 0) REFERENCE_AT_MOST(summary.objective, 1e-3 * all); /* what was found is not lost again */
        const bool is_good = summary.objective <= 1e-3 * all;
        good += interrupted && is_good;
        poor += interrupted && !is_good; /* before the starts are complete, all together */
        reference_verify(model, trial.data, trial.X, true);
        armilla_model_free(model);
        reference_trial_free(&trial);
        if (!interrupted) break;
    }
    REFERENCE_HOLDS(poor < 2 * good);
    free(X);
    free(centres);
}

/* Three groups of samples, a start whose third atom is where no sample is: without revival it is never used, and two
 * atoms cannot fit three groups. */
static void test_unused_atoms_are_revived(void **state)
{
    enum { FEATURES = 8, SAMPLES = 90, ATOMS = 3 };
    (void)state;
    for (int i = 0; i < REFERENCE_PAIRS; i++) {
        const reference_pair *pair = &reference_pairs[i];
        double X[FEATURES * SAMPLES] = {0}, U0[FEATURES * ATOMS] = {0};
        uint64_t random = 330;
        reference_trial trial;
        if (!pair->sparse) continue;
        for (int j = 0; j < SAMPLES; j++) {
            X[j * FEATURES + j % 3] = 3;
            for (int k = 0; k < 3; k++) X[j * FEATURES + k] += 0.01 * reference_uniform(&random);
        }
        U0[0] = U0[FEATURES + 1] = U0[2 * FEATURES + 7] = 1; /* nothing is along the last axis */
        reference_trial_new(&trial, pair, ARMILLA_F64, FEATURES, SAMPLES, ATOMS, 1, X);
        trial.options.solver = "fast";
        trial.options.start_basis = U0;
        trial.options.max_iter = 100;
        reference_scene("%s x %s, revival", pair->basis, pair->codes);
        armilla_model *model = reference_trial_fit(&trial);
        reference_verify(model, trial.data, trial.X, true);
        REFERENCE_AT_MOST(reference_summary(model).relative_error, 0.01);
        armilla_model_free(model);
        reference_trial_free(&trial);
    }
}

/* One sample that a sketch is likely to miss: nearly all directions that suit the others turn away from it, so far that
 * no radius is positive. The fit then begins as if there were no sketch, with one start and with several. */
static void test_starts_that_fail_on_all_data(void **state)
{
    enum { SEEDS = 4, HALF = M / 2 };
    const reference_pair *pair = reference_pairs;
    double *X = reference_new(M * N);
    uint64_t random = 330;
    (void)state;
    while (strcmp(pair->basis, "nonnegative") != 0 || strcmp(pair->codes, "nonneg-sphere") != 0) pair++;
    reference_sprinkle(&random, 0.5, M * N, X);
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < M; i++) X[j * M + i] = i < HALF ? fabs(X[j * M + i]) : 0;
        X[j * M + j % HALF] += 1;
    }
    for (int i = 0; i < M; i++) X[i] = i < HALF ? -1e6 : 1e7;
    for (int restarts = 1; restarts < 6; restarts += 4)
        for (int seed = 0; seed < SEEDS; seed++) {
            reference_trial trial;
            reference_trial_new(&trial, pair, ARMILLA_F64, M, N, R, S, X);
            trial.options.solver = "fast";
            trial.options.start = "random";
            trial.options.max_iter = 3;
            trial.options.seed = seed;
            trial.options.restarts = restarts;
            reference_scene("a start without a radius on all data, seed %d, %d starts", seed, restarts);
            armilla_model *model = reference_trial_fit(&trial);
            REFERENCE_HOLDS(reference_summary(model).radius > 0);
            reference_verify(model, trial.data, trial.X, true);
            armilla_model_free(model);
            reference_trial_free(&trial);
        }
    free(X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies_of_columns),
        cmocka_unit_test(test_fits_of_many_samples),
        cmocka_unit_test(test_restarts_are_screened),
        cmocka_unit_test(test_candidates_are_ranked),
        cmocka_unit_test(test_candidates_survive_a_stop),
        cmocka_unit_test(test_screening_can_be_stopped),
        cmocka_unit_test(test_batches_get_the_stored_codes),
        cmocka_unit_test(test_unused_atoms_are_revived),
        cmocka_unit_test(test_starts_that_fail_on_all_data),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
