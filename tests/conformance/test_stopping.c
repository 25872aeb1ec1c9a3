/* A caller who asks for the end at any question: a whole model comes back, or the documented error where there was
 * nothing yet, and not many questions later. */
#include "reference/reference.h"

#include "model/model.h"
#include "unit/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a context's watch has seen. */
typedef struct caller {
    int64_t asked, fires_at; /* questions; 0: never */
    int64_t after;           /* questions that came after the answer */
    armilla_stage stage;     /* in which it was given */
    int64_t seen[ARMILLA_STAGE_COUNT];
    int64_t early[ARMILLA_STAGE_COUNT]; /* questions of the first half */
    double fraction;                    /* the last */
    bool quiet;                         /* `stopping` was not reported */
} caller;

static int answer(void *user, const armilla_progress *progress)
{
    caller *c = user;
    REFERENCE_HOLDS(progress->fraction >= 0 && progress->fraction <= 1 && progress->seconds >= 0);
    REFERENCE_HOLDS(isnan(progress->remaining) || progress->remaining >= 0);
    const bool fired = c->fires_at > 0 && c->asked >= c->fires_at;
    c->asked++;
    c->seen[progress->stage]++;
    c->early[progress->stage] += progress->fraction < 0.5;
    c->fraction = progress->fraction;
    c->quiet |= fired && !progress->stopping;
    c->after += fired;
    if (c->asked == c->fires_at) c->stage = progress->stage;
    return c->asked == c->fires_at; /* once: it is remembered */
}

static void listen(caller *c, int64_t fires_at)
{
    *c = (caller){.fires_at = fires_at};
    armilla_context_set_watch(reference_context, answer, c);
}

/* Questions in a pass over the data: the survey of a fit without preparation is one. */
static int64_t questions_of_a_pass(const caller *whole)
{
    return whole->seen[ARMILLA_STAGE_SURVEY];
}

static bool is_stopped(armilla_stop stop)
{
    return stop == ARMILLA_STOP_INTERRUPTED || stop == ARMILLA_STOP_TIME_LIMIT;
}

/* Fits with an answer at that question; false where the fit ended before it. */
static bool fit_and_stop(const reference_trial *trial, const armilla_data *data, int64_t fires_at, int64_t pass)
{
    caller c;
    armilla_model *model = NULL;
    listen(&c, fires_at);
    const armilla_status status = armilla_fit(reference_context, data, &trial->options, &model);
    armilla_context_set_watch(reference_context, NULL, NULL);
    const bool fired = c.asked >= fires_at;
    REFERENCE_HOLDS(!c.quiet);
    if (fired && c.stage == ARMILLA_STAGE_SURVEY) {
        REFERENCE_HOLDS(status == ARMILLA_STOPPED && !model);
        REFERENCE_SAYS("stopped before there was a result");
        return true;
    }
    if (status != ARMILLA_OK) REFERENCE_SAYS("(nothing more is known)");
    /* The rest of a pass that is not abandoned, codes or signs, and the residual; a fixed radius costs one more. */
    if (trial->options.threads == 1)
        REFERENCE_AT_MOST((double)c.after, (double)(trial->options.radius > 0 ? 4 : 3) * (double)pass + 4);
    const armilla_model_summary summary = reference_summary(model);
    if (fired && c.stage != ARMILLA_STAGE_CODES) REFERENCE_HOLDS(summary.stop == ARMILLA_STOP_INTERRUPTED);
    REFERENCE_HOLDS(is_stopped(summary.stop) || strcmp(summary.solver, "fast") != 0 || summary.sealed);
    reference_verify(model, data, trial->X, true);
    armilla_check check;
    REFERENCE_OK(armilla_model_check(reference_context, model, data, &check));
    if (!check.passed) print_message("%s\n", check.finding);
    REFERENCE_HOLDS(check.passed);
    armilla_model_free(model);
    return fired;
}

/* Every question in turn; further on, in growing steps. */
static void stop_everywhere(const reference_trial *trial, const armilla_data *data)
{
    caller whole;
    armilla_model *model = NULL;
    listen(&whole, 0);
    REFERENCE_OK(armilla_fit(reference_context, data, &trial->options, &model));
    armilla_context_set_watch(reference_context, NULL, NULL);
    armilla_model_free(model);
    REFERENCE_HOLDS(whole.seen[ARMILLA_STAGE_START] > 0 && whole.seen[ARMILLA_STAGE_CODES] > 0);
    int64_t at = 1;
    while (fit_and_stop(trial, data, at, questions_of_a_pass(&whole))) at += 1 + at / reference_effort(8, 3);
}

static void make_trial(reference_trial *trial, const reference_pair *pair, const int64_t shape[4], uint64_t seed)
{
    reference_trial_fast(trial, pair, seed % 2 ? ARMILLA_F32 : ARMILLA_F64, REFERENCE_UNIFORM, &seed, shape);
    trial->options.max_iter = 5;
}

static void test_every_pair(void **state)
{
    static const int64_t shape[] = {10, 300, 4, 2};
    (void)state;
    for (int i = 0; i < REFERENCE_FAMILY; i++) {
        reference_trial trial;
        reference_sparse sparse;
        make_trial(&trial, &reference_family[i], shape, 400 + (uint64_t)i);
        trial.options.radius = i % 5 == 1 && !trial.pair->flat ? 1.5 : 0;
        reference_trial_scene(&trial, "stopped, dense");
        stop_everywhere(&trial, trial.data);
        reference_sparse_new(&sparse, trial.type, ARMILLA_I32, false, trial.m, trial.n, trial.X);
        armilla_data *data = reference_sparse_wrap(&sparse);
        reference_trial_scene(&trial, "stopped, sparse");
        stop_everywhere(&trial, data);
        armilla_data_free(data);
        reference_sparse_free(&sparse);
        reference_trial_free(&trial);
    }
}

static void test_other_solvers(void **state)
{
    static const int64_t shape[] = {10, 300, 4, 2};
    (void)state;
    for (int i = 0; i < REFERENCE_PAIRS; i++) {
        reference_trial trial;
        make_trial(&trial, &reference_pairs[i], shape, 450 + (uint64_t)i);
        trial.options.solver = "palm";
        reference_trial_scene(&trial, "palm");
        stop_everywhere(&trial, trial.data);
        reference_trial_free(&trial);
    }
    reference_trial trial;
    make_trial(&trial, reference_pair_find("nonnegative", "nonneg"), shape, 460);
    trial.options.solver = "mu";
    reference_trial_scene(&trial, "mu");
    stop_everywhere(&trial, trial.data);
    reference_trial_free(&trial);
}

static void test_every_start(void **state)
{
    static const int64_t shape[] = {12, 200, 4, 2};
    armilla_table_row start;
    (void)state;
    for (size_t row = 0; armilla_table_get(ARMILLA_TABLE_STARTS, row, &start); row++)
        for (int i = 0; i < REFERENCE_PAIRS; i += 3) {
            reference_trial trial;
            make_trial(&trial, &reference_pairs[(i + (int)row) % REFERENCE_PAIRS], shape, 470 + row);
            trial.options.start = start.name;
            trial.options.restarts = i == 3 ? 3 : 1;
            reference_trial_scene(&trial, "every start");
            stop_everywhere(&trial, trial.data);
            reference_trial_free(&trial);
        }
}

/* Enough for two threads, and for starts that are screened on a sketch. */
static void test_threads_and_screening(void **state)
{
    static const int64_t shape[] = {24, 5600, 4, 2};
    (void)state;
    for (int i = 0; i < REFERENCE_PAIRS; i++) {
        reference_trial trial;
        make_trial(&trial, &reference_pairs[i], shape, 480 + (uint64_t)i);
        trial.options.threads = 1 + i % 2;
        trial.options.restarts = 3;
        trial.options.max_iter = 2;
        reference_trial_scene(&trial, "screened");
        for (int64_t at = 1; fit_and_stop(&trial, trial.data, at, 4 * 5600 / 72); at += 1 + at / 5) {}
        reference_trial_free(&trial);
    }
}

/* How far a stage is reported to be is near the work that is done: about half of the questions come in its first half. */
static void tells_evenly(const caller *c, armilla_stage stage)
{
    const double seen = (double)c->seen[stage], early = (double)c->early[stage];
    reference_scene("%s: %.0f of %.0f questions in the first half", armilla_stage_word(stage), early, seen);
    REFERENCE_HOLDS(early >= 0.25 * seen && early <= 0.75 * seen);
}

static void test_progress_is_even(void **state)
{
    static const int64_t shape[] = {24, 5600, 4, 2};
    static const char *const outputs[] = {"test_stopping.csv", "test_stopping.npy", "test_stopping.mtx",
                                          "test_stopping.svm"};
    const armilla_write_options options = {.size = sizeof(armilla_write_options), .overwrite = true};
    reference_trial trial;
    armilla_model *model = NULL;
    caller c;
    (void)state;
    for (int i = 0; i < REFERENCE_PAIRS; i++) {
        make_trial(&trial, &reference_pairs[i], shape, 520 + (uint64_t)i);
        trial.options.threads = 1;
        trial.options.restarts = 6;
        trial.options.max_iter = 1;
        listen(&c, 0);
        REFERENCE_OK(armilla_fit(reference_context, trial.data, &trial.options, &model));
        tells_evenly(&c, ARMILLA_STAGE_START);
        armilla_model_free(model);
        if (i + 1 < REFERENCE_PAIRS) reference_trial_free(&trial);
    }
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        listen(&c, 0);
        REFERENCE_OK(armilla_data_write(reference_context, trial.data, outputs[i], &options));
        tells_evenly(&c, ARMILLA_STAGE_WRITING);
        REFERENCE_HOLDS(c.fraction > 0.9);
        (void)remove(outputs[i]);
    }
    armilla_context_set_watch(reference_context, NULL, NULL);
    reference_trial_free(&trial);
}

/* A time limit at any moment gives a model, however early. */
static void test_time_limits(void **state)
{
    static const int64_t shape[] = {10, 300, 4, 2};
    (void)state;
    for (int i = 0; i < REFERENCE_FAMILY; i++)
        for (double limit = 1e-9; limit < 0.02; limit *= limit < 1e-6 ? 1e4 : 4) {
            reference_trial trial;
            make_trial(&trial, &reference_family[i], shape, 500 + (uint64_t)i);
            trial.options.time_limit = limit;
            trial.options.max_iter = 1000000;
            trial.options.center = i % 3 == 0 && trial.pair->signed_basis;
            reference_trial_scene(&trial, "time limit");
            armilla_model *model = reference_trial_fit(&trial);
            REFERENCE_HOLDS(reference_summary(model).stop == ARMILLA_STOP_TIME_LIMIT);
            if (!trial.options.center) reference_verify(model, trial.data, trial.X, true);
            armilla_model_free(model);
            reference_trial_free(&trial);
        }
}

/* A model that is not sealed is the last state of its trace, whatever its solver does when it is not stopped; a check
 * sees where it is not. */
static void check_follows_the_trace(const armilla_data *data, armilla_model *model)
{
    armilla_trace_entry *last = &model->trace[model->trace_count - 1];
    double *const numbers[] = {&last->radius, &model->summary.objective};
    armilla_check check;
    if (model->summary.sealed || !model->codes->spherical) return;
    for (int i = 0; i < 2; i++) {
        const double whole = *numbers[i];
        *numbers[i] = nextafter(whole, INFINITY);
        REFERENCE_OK(armilla_model_check(reference_context, model, data, &check));
        REFERENCE_HOLDS(!check.passed && strstr(check.finding, "of the trace"));
        *numbers[i] = whole;
    }
}

/* Sealed codes are transform's; those of a stopped fit need not be, and the model says which it is, also when read. */
static void test_sealed_is_told(void **state)
{
    static const int64_t shape[] = {10, 300, 4, 2};
    static const int questions[] = {0, 15, 30, 60}; /* after which the fit is stopped, early and late; 0: never */
    char path[256];
    int64_t unsealed = 0;
    (void)state;
    for (int i = 0; i < REFERENCE_PAIRS; i++)
        for (size_t stopped = 0; stopped < sizeof questions / sizeof *questions; stopped++) {
            reference_trial trial;
            armilla_model *model = NULL, *read = NULL;
            caller c;
            make_trial(&trial, &reference_pairs[i], shape, 520);
            reference_trial_scene(&trial, "sealed");
            listen(&c, questions[stopped]);
            REFERENCE_OK(armilla_fit(reference_context, trial.data, &trial.options, &model));
            armilla_context_set_watch(reference_context, NULL, NULL);
            const size_t bytes = (size_t)(trial.r * trial.n) * armilla_type_size(trial.type);
            void *codes = malloc(bytes);
            REFERENCE_OK(armilla_model_transform(reference_context, model, trial.data, 1, codes));
            REFERENCE_HOLDS(reference_summary(model).sealed || stopped);
            if (reference_summary(model).sealed) REFERENCE_HOLDS(memcmp(codes, armilla_model_codes(model), bytes) == 0);
            unsealed += !reference_summary(model).sealed;
            check_follows_the_trace(trial.data, model);
            support_path(path, sizeof path, "sealed.npz");
            REFERENCE_OK(armilla_model_save(reference_context, model, path, true));
            REFERENCE_OK(armilla_model_open(reference_context, path, &read));
            REFERENCE_HOLDS(reference_summary(read).sealed == reference_summary(model).sealed);
            free(codes);
            armilla_model_free(read);
            armilla_model_free(model);
            reference_trial_free(&trial);
        }
    assert_true(unsealed > 0);
}

/* A call that is made with a model and its data, for nothing that is kept. */
typedef struct request {
    const reference_trial *trial;
    const armilla_model *model;
    double *numbers;
} request;

static armilla_status call_transform(const request *q)
{
    return armilla_model_transform(reference_context, q->model, q->trial->data, 1, q->numbers);
}

static armilla_status call_survey(const request *q)
{
    armilla_data_facts facts;
    return armilla_data_survey(reference_context, q->trial->data, 1, &facts);
}

static armilla_status call_reconstruct(const request *q)
{
    return armilla_model_reconstruct(reference_context, q->model, 0, q->trial->n, q->numbers);
}

static armilla_status call_recipe(const request *q)
{
    armilla_options fit = q->trial->options;
    armilla_cluster_options clusters;
    armilla_cluster_options_default(&clusters);
    clusters.k = 3;
    return armilla_cluster_recipe(reference_context, q->trial->data, &fit, &clusters);
}

static armilla_status call_check(const request *q)
{
    armilla_check check;
    return armilla_model_check(reference_context, q->model, q->trial->data, &check);
}

static const struct {
    armilla_status (*call)(const request *q);
    armilla_stage stage; /* the last that is reported */
    int64_t least;       /* questions of 300 samples */
} other_calls[] = {
    {call_transform, ARMILLA_STAGE_CODES, 2},        {call_survey, ARMILLA_STAGE_SURVEY, 1},
    {call_reconstruct, ARMILLA_STAGE_SURVEY, 300},   {call_recipe, ARMILLA_STAGE_SURVEY, 1},
    {call_check, ARMILLA_STAGE_CHECK, 2 * 300 / 16},
};

static void stop_other_call(const request *q, size_t i)
{
    bool fired = true;
    for (int64_t at = 1; fired; at++) {
        caller c;
        listen(&c, at);
        const armilla_status status = other_calls[i].call(q);
        armilla_context_set_watch(reference_context, NULL, NULL);
        fired = c.asked >= at;
        REFERENCE_HOLDS(status == (fired ? ARMILLA_STOPPED : ARMILLA_OK) && c.after == 0);
        if (fired) REFERENCE_SAYS("stopped before there was a result");
        if (!fired) REFERENCE_HOLDS(c.asked >= other_calls[i].least && c.seen[other_calls[i].stage] > 0);
    }
}

/* Centred and scaled, so that a check has every pass that there is. */
static void test_other_calls(void **state)
{
    static const int64_t shape[] = {10, 300, 4, 2};
    reference_trial trial;
    (void)state;
    for (int prepared = 0; prepared < 2; prepared++) {
        make_trial(&trial, reference_pair_find("orthonormal", "sphere"), shape, 530);
        trial.options.center = trial.options.scale = prepared;
        reference_trial_scene(&trial, prepared ? "other calls, prepared" : "other calls");
        armilla_model *model = reference_trial_fit(&trial);
        double *numbers = reference_new(trial.n * trial.m);
        const request q = {&trial, model, numbers};
        for (size_t i = 0; i < sizeof other_calls / sizeof *other_calls; i++) stop_other_call(&q, i);
        free(numbers);
        armilla_model_free(model);
        reference_trial_free(&trial);
    }
}

static void check_labels(const armilla_clustering *clustering, int64_t n, int64_t k)
{
    const int64_t *labels = armilla_clustering_labels(clustering), *sizes = armilla_clustering_sizes(clustering);
    int64_t sum = 0;
    for (int64_t j = 0; j < n; j++) REFERENCE_HOLDS(labels[j] >= 0 && labels[j] < k);
    for (int64_t c = 0; c < k; c++) sum += sizes[c];
    REFERENCE_HOLDS(sum == n);
}

/* Clusters of data, and of a model's codes, for which there are labels whenever the end is asked for. */
static void test_clusters(void **state)
{
    static const int64_t shape[] = {10, 300, 4, 2};
    reference_trial trial;
    armilla_cluster_options options;
    (void)state;
    make_trial(&trial, &reference_pairs[0], shape, 540);
    armilla_model *model = reference_trial_fit(&trial);
    armilla_cluster_options_default(&options);
    options.k = 5;
    options.tries = 3;
    for (int codes = 0; codes < 2; codes++) {
        bool fired = true;
        reference_trial_scene(&trial, codes ? "clusters of codes" : "clusters of data");
        for (int64_t at = 1; fired; at += 1 + at / 10) {
            caller c;
            armilla_clustering *found = NULL;
            armilla_cluster_summary summary;
            listen(&c, at);
            const armilla_status status =
                codes ? armilla_cluster_model(reference_context, model, &options, &found)
                      : armilla_cluster_data(reference_context, trial.data, NULL, &options, &found);
            armilla_context_set_watch(reference_context, NULL, NULL);
            fired = c.asked >= at;
            if (fired && !codes && c.stage == ARMILLA_STAGE_SURVEY) {
                REFERENCE_HOLDS(status == ARMILLA_STOPPED && !found);
                continue;
            }
            REFERENCE_HOLDS(status == ARMILLA_OK && c.after <= 20);
            armilla_clustering_summarize(found, &summary);
            if (!fired) REFERENCE_HOLDS(summary.stop == ARMILLA_STOP_CONVERGED);
            check_labels(found, trial.n, options.k);
            armilla_clustering_free(found);
        }
    }
    armilla_model_free(model);
    reference_trial_free(&trial);
}

/* Reading asks too, and what it is stopped in is not taken for a mistake of the file. */
static void test_reading(void **state)
{
    char path[256];
    armilla_data *data = NULL;
    (void)state;
    support_path(path, sizeof path, "long.csv");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 200000; i++) fprintf(file, "%d,%d.5,%d\n", i, i % 7, i % 11);
    assert_int_equal(fclose(file), 0);
    bool fired = true;
    for (int64_t at = 1; fired; at++) {
        caller c;
        data = NULL;
        reference_scene("reading, question %d", (int)at);
        listen(&c, at);
        const armilla_status status = armilla_data_open(reference_context, path, NULL, &data);
        armilla_context_set_watch(reference_context, NULL, NULL);
        fired = c.asked >= at;
        REFERENCE_HOLDS(c.seen[ARMILLA_STAGE_READING] == c.asked && c.asked > 0);
        REFERENCE_HOLDS(status == (fired ? ARMILLA_STOPPED : ARMILLA_OK) && (data != NULL) == !fired);
    }
    armilla_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair),       cmocka_unit_test(test_other_solvers),
        cmocka_unit_test(test_every_start),      cmocka_unit_test(test_threads_and_screening),
        cmocka_unit_test(test_progress_is_even), cmocka_unit_test(test_time_limits),
        cmocka_unit_test(test_sealed_is_told),   cmocka_unit_test(test_other_calls),
        cmocka_unit_test(test_clusters),         cmocka_unit_test(test_reading),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
