/* The listed state of a fit is all there is between two steps. At every step a fit is saved and thrown away; another is
 * opened from data and options, in memory full of NaN, restored and gone on with: the model has the bits of the fit that
 * was let alone. */
#include "reference/reference.h"

#include "files/state_file.h"
#include "model/fit.h"
#include "unit/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scenario {
    const char *basis, *codes, *solver, *start;
    int64_t m, n, r, s, restarts, max_iter;
    armilla_type type;
    bool sparse;
    double radius;
    int distinct; /* samples that differ; 0: all */
} scenario;

#define BATCH 9   /* of solver online */
#define MANY 5400 /* samples from which on starts are screened */

static const scenario scenarios[] = {
    {"orthonormal", "sphere", "fast", NULL, 9, 40, 3, 0, 1, 6, ARMILLA_F64, false, 0, 0},
    {"orthonormal", "sparse-sphere", "fast", NULL, 9, 40, 4, 2, 2, 6, ARMILLA_F32, true, 0, 0},
    {"orthonormal", "nonneg-sparse-sphere", "fast", "samples", 9, 40, 6, 1, 1, 9, ARMILLA_F64, false, 0, 4},
    {"orthonormal-nonneg", "nonneg", "fast", NULL, 9, 40, 3, 0, 2, 6, ARMILLA_F64, true, 0, 0},
    {"nonnegative", "nonneg-sphere", "fast", NULL, 9, 40, 6, 0, 3, 30, ARMILLA_F64, false, 0, 0},
    {"nonnegative", "nonneg", "fast", NULL, 9, 40, 3, 0, 2, 8, ARMILLA_F32, true, 0, 0},
    {"free", "nonneg-sparse-sphere", "fast", NULL, 9, 40, 6, 3, 1, 30, ARMILLA_F64, false, 0, 0},
    {"unit", "sparse", "fast", NULL, 9, 40, 5, 2, 1, 12, ARMILLA_F32, false, 0, 0},
    {"unit", "sphere", "fast", NULL, 9, 40, 3, 0, 1, 8, ARMILLA_F64, false, 2, 0},
    {"free", "one-hot", "fast", "random", 3, 60, 8, 0, 2, 14, ARMILLA_F64, false, 0, 12},
    {"free", "one-hot", "fast", NULL, 3, 60, 8, 0, 1, 14, ARMILLA_F32, true, 0, 5},
    {"unit", "one-hot", "fast", "random", 3, 60, 9, 0, 1, 14, ARMILLA_F32, false, 0, 9},
    {"orthonormal", "nonneg-sphere", "palm", "kmeans++", 9, 40, 3, 0, 3, 7, ARMILLA_F32, true, 0, 0},
    {"free", "sparse", "palm", NULL, 9, 40, 4, 2, 1, 7, ARMILLA_F64, false, 0, 0},
    {"nonnegative", "nonneg", "mu", NULL, 9, 40, 3, 0, 2, 7, ARMILLA_F64, true, 0, 0},
    {"orthonormal", "sphere", "online", NULL, 9, 40, 3, 0, 1, 3, ARMILLA_F64, false, 0, 0},
    {"nonnegative", "nonneg-sphere", "online", NULL, 9, 40, 4, 0, 2, 3, ARMILLA_F32, true, 0, 0},
    {"unit", "sparse", "online", NULL, 9, 40, 5, 2, 1, 3, ARMILLA_F64, false, 0, 0},
    {"free", "one-hot", "online", "random", 3, 60, 8, 0, 2, 4, ARMILLA_F64, false, 0, 12},
    {"nonnegative", "nonneg-sphere", "fast", NULL, 4, MANY, 2, 0, 4, 4, ARMILLA_F32, false, 0, 0},
    {"orthonormal", "sparse-sphere", "fast", NULL, 4, MANY, 3, 1, 4, 3, ARMILLA_F64, true, 0, 0},
    {"orthonormal", "free", "fast", NULL, 70, 80, 3, 0, 1, 6, ARMILLA_F64, false, 0, 8},
    {"orthonormal", "free", "fast", NULL, 70, 80, 2, 0, 2, 6, ARMILLA_F32, true, 0, 0},
};
enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0] };

typedef struct trial {
    armilla_options options;
    double *X;
    void *typed;
    reference_sparse compressed;
    armilla_data *data;
    armilla_model *model; /* of the fit that nobody disturbed */
} trial;

static void begin_trial(trial *t, const scenario *s, uint64_t seed)
{
    uint64_t random = seed;
    const int64_t distinct = s->distinct ? s->distinct : s->n;
    *t = (trial){.X = reference_new(s->m * s->n)};
    reference_sprinkle(&random, 0.7, s->m * s->n, t->X);
    for (int64_t i = distinct * s->m; i < s->m * s->n; i++) t->X[i] = t->X[i % (distinct * s->m)];
    t->typed = s->type == ARMILLA_F32 ? (void *)reference_floats(s->m * s->n, t->X) : reference_copy(s->m * s->n, t->X);
    if (s->sparse) {
        reference_sparse_new(&t->compressed, s->type, ARMILLA_I32, false, s->m, s->n, t->X);
        t->data = reference_sparse_wrap(&t->compressed);
    } else {
        REFERENCE_OK(armilla_data_wrap_dense(reference_context, s->type, t->typed, s->m, s->n, s->m, &t->data));
    }
    armilla_options_default(&t->options);
    t->options.rank = s->r;
    t->options.basis = s->basis;
    t->options.codes = s->codes;
    t->options.sparsity = s->s;
    t->options.solver = s->solver;
    t->options.batch = strcmp(s->solver, "online") == 0 ? BATCH : 0;
    t->options.start = s->start;
    t->options.restarts = s->restarts;
    t->options.max_iter = s->max_iter;
    t->options.radius = s->radius;
    t->options.precision = armilla_type_word(s->type);
    t->options.threads = 1;
    t->options.tol = 1e-9;
    reference_scene("%s x %s, %s, %s, n = %d, %d restarts", s->basis, s->codes, s->solver, armilla_type_word(s->type),
                    (int)s->n, (int)s->restarts);
    REFERENCE_OK(armilla_fit(reference_context, t->data, &t->options, &t->model));
}

static void end_trial(trial *t)
{
    armilla_model_free(t->model);
    armilla_data_free(t->data);
    if (t->compressed.starts) reference_sparse_free(&t->compressed);
    free(t->typed);
    free(t->X);
}

static bool same_trace(const armilla_model *a, const armilla_model *b)
{
    const int64_t count = armilla_model_trace_count(a);
    bool same = count == armilla_model_trace_count(b);
    for (int64_t k = 0; k < count && same; k++) {
        armilla_trace_entry s, t;
        same = armilla_model_trace_entry(a, k, &s) && armilla_model_trace_entry(b, k, &t) &&
               memcmp(&s, &t, offsetof(armilla_trace_entry, seconds)) == 0;
    }
    return same;
}

/* All that a model is, but for the clock and, where they are only reported, the passes. */
static bool same_model(const armilla_model *a, const armilla_model *b, bool passes)
{
    const armilla_model_summary x = reference_summary(a), y = reference_summary(b);
    const size_t size = armilla_type_size(x.precision);
    return memcmp(armilla_model_basis(a), armilla_model_basis(b), (size_t)(x.m * x.rank) * size) == 0 &&
           memcmp(armilla_model_codes(a), armilla_model_codes(b), (size_t)(x.rank * x.n) * size) == 0 &&
           memcmp(&x.radius, &y.radius, sizeof x.radius) == 0 && x.objective == y.objective && x.stop == y.stop &&
           x.sealed == y.sealed && strcmp(x.start, y.start) == 0 && (!passes || x.sweeps == y.sweeps) &&
           same_trace(a, b);
}

static void open_fit(const trial *t, armilla_fit_state *f)
{
    REFERENCE_OK(armilla_fit_open(reference_context, t->data, &t->options, f));
}

/* The rest of a fit; NULL where it fails. */
static armilla_model *end_fit(armilla_fit_state *f, bool ended)
{
    armilla_model *model = NULL;
    armilla_status status = ARMILLA_OK;
    while (status == ARMILLA_OK && !ended) status = armilla_fit_step(f, &ended);
    if (status == ARMILLA_OK) status = armilla_fit_assemble(f);
    armilla_fit_close(f, status == ARMILLA_OK ? &model : NULL);
    return model;
}

static int skip_fsync(int file)
{
    (void)file;
    return 0;
}

/* Files are written thousands of times, and the disk is not what is tested here. */
static armilla_io without_fsync(void)
{
    armilla_io io = armilla_io_system;
    io.fsync = skip_fsync;
    return io;
}

/* The file of a saved state, as a checkpoint has it. */
static const char *state_path(void)
{
    static char path[256];
    return support_path(path, sizeof path, "state");
}

static void save_fit(armilla_state_lister lister, void *self)
{
    REFERENCE_OK(armilla_state_file_write(reference_context, state_path(), "{}", lister, self));
}

static armilla_state_file *open_saved(void)
{
    armilla_state_file *file = NULL;
    REFERENCE_OK(armilla_state_file_open(reference_context, state_path(), &file));
    return file;
}

/* Saved, thrown away, opened anew and restored. */
static void renew(const trial *t, armilla_fit_state *f)
{
    save_fit(armilla_fit_list, f);
    armilla_fit_close(f, NULL);
    open_fit(t, f);
    armilla_state_file *file = open_saved();
    REFERENCE_OK(armilla_state_file_restore(file, armilla_fit_list, f));
    armilla_state_file_close(file);
}

static void is_the_model(const trial *t, armilla_model *model)
{
    assert_non_null(model);
    REFERENCE_HOLDS(same_model(t->model, model, true));
    armilla_model_free(model);
}

/* Restored at every step of one fit; then a fit for each step that is restored there alone. */
static void test_restored_at_every_step(void **state)
{
    const armilla_io io = without_fsync();
    (void)state;
    reference_context->io = &io;
    for (size_t i = 0; i < SCENARIOS; i += (size_t)reference_effort(1, 4)) {
        trial t;
        armilla_fit_state f;
        bool ended = false;
        int steps = 0;
        begin_trial(&t, &scenarios[i], 40 + i);
        open_fit(&t, &f);
        for (; !ended; steps++) {
            renew(&t, &f);
            REFERENCE_OK(armilla_fit_step(&f, &ended));
        }
        renew(&t, &f);
        is_the_model(&t, end_fit(&f, true));
        REFERENCE_HOLDS(steps >= 3);
        for (int at = 0; at <= steps; at += scenarios[i].n < MANY ? 1 : 1 + steps / 8) {
            ended = false;
            open_fit(&t, &f);
            for (int step = 0; step < at; step++) REFERENCE_OK(armilla_fit_step(&f, &ended));
            renew(&t, &f);
            is_the_model(&t, end_fit(&f, ended));
        }
        end_trial(&t);
    }
    support_clean();
    reference_context->io = &armilla_io_system;
}

/* A number that no state has, in place of an item's own. */
typedef struct damage {
    const char *item;
    int64_t value; /* little-endian */
    size_t bytes;
} damage;

/* A fit that is saved with it, while its own state stays as it is. */
typedef struct damaged_fit {
    armilla_fit_state *fit;
    const damage *damage;
    armilla_status (*visit)(armilla_state_list *list, const armilla_state_item *item);
    void *visitor;
    int found;
} damaged_fit;

static armilla_status visit_damaged(armilla_state_list *list, const armilla_state_item *item)
{
    damaged_fit *d = list->self;
    armilla_state_item seen = *item;
    int64_t value = d->damage->value;
    if (strcmp(item->name, d->damage->item) == 0) {
        REFERENCE_HOLDS(d->damage->bytes == armilla_state_size(item->type) && item->rows * item->columns == 1);
        seen.values = &value;
        d->found++;
    }
    list->self = d->visitor;
    const armilla_status status = d->visit(list, &seen);
    list->self = d;
    return status;
}

static void list_damaged(void *self, armilla_state_list *list)
{
    damaged_fit *d = self;
    d->visit = list->visit;
    d->visitor = list->self;
    list->visit = visit_damaged;
    list->self = d;
    armilla_fit_list(d->fit, list);
}

/* Numbers that no state has are refused by the name of their item, before anything is done by them. */
static void test_damaged_states_are_refused(void **state)
{
    static const damage damages[] = {
        {"restarts.phase", 17, 4},
        {"restarts.round", 5, 8},
        {"restarts.rounds", -1, 8},
        {"restarts.best.found", 2, 1},
        {"restarts.used", 99, 4},
        {"problem.sealed", 255, 1},
        {"problem.stop", 99, 4},
        {"problem.stop", -1, 4},
        {"problem.trace.count", -1, 8},
        {"problem.trace.count", 20000000, 8},
        {"fast.phase", 4, 4},
        {"fast.atoms.effort", 9, 4},
        {"fast.atoms.steps", INT32_MAX, 4},
    };
    (void)state;
    trial t;
    armilla_fit_state f;
    begin_trial(&t, &scenarios[4], 44); /* atoms that move one by one, several restarts */
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        damaged_fit d = {.fit = &f, .damage = &damages[i]};
        bool ended = false;
        reference_scene("%s = %d", damages[i].item, (int)damages[i].value);
        open_fit(&t, &f);
        for (int step = 0; step < 4; step++) REFERENCE_OK(armilla_fit_step(&f, &ended));
        save_fit(list_damaged, &d);
        REFERENCE_HOLDS(d.found == 1);
        armilla_fit_close(&f, NULL);
        open_fit(&t, &f);
        armilla_state_file *file = open_saved();
        const char *said = damages[i].bytes > 1 ? "the saved state is damaged" : "true or false is neither";
        const int64_t before = armilla_context_memory_peak(reference_context);
        REFERENCE_HOLDS(armilla_state_file_restore(file, armilla_fit_list, &f) == ARMILLA_BAD_DATA);
        REFERENCE_HOLDS(strstr(armilla_context_error(reference_context), said) != NULL);
        REFERENCE_HOLDS(armilla_context_memory_peak(reference_context) < before + (1 << 20));
        armilla_state_file_close(file);
        armilla_fit_close(&f, NULL);
    }
    support_clean();
    end_trial(&t);
}

/* Memory that ends anywhere while a state is restored: candidates of screening, the sketch, the solver. */
static void test_restoring_without_memory(void **state)
{
    (void)state;
    for (size_t i = SCENARIOS - 1; i >= SCENARIOS - 2; i--)
        for (int at = 1; at <= 30; at += 29) {
            trial t;
            armilla_fit_state f;
            bool ended = false;
            armilla_status status = ARMILLA_NO_MEMORY;
            begin_trial(&t, &scenarios[i], 40 + i);
            open_fit(&t, &f);
            for (int step = 0; step < at && !ended; step++) REFERENCE_OK(armilla_fit_step(&f, &ended));
            save_fit(armilla_fit_list, &f);
            armilla_fit_close(&f, NULL);
            for (int64_t more = 0; status == ARMILLA_NO_MEMORY; more += 1 + more / 3) {
                open_fit(&t, &f);
                armilla_state_file *file = open_saved();
                armilla_context_set_memory(reference_context, armilla_context_memory_live(reference_context) + more);
                status = armilla_state_file_restore(file, armilla_fit_list, &f);
                armilla_context_set_memory(reference_context, 0);
                armilla_state_file_close(file);
                REFERENCE_HOLDS(status == ARMILLA_OK || status == ARMILLA_NO_MEMORY);
                if (status == ARMILLA_NO_MEMORY) armilla_fit_close(&f, NULL);
            }
            is_the_model(&t, end_fit(&f, ended));
            support_clean();
            end_trial(&t);
        }
}

/* The same of a fit that was stopped and resumed: passes that were begun in vain count too. */
static void is_the_model_resumed(const trial *t, armilla_model *model)
{
    assert_non_null(model);
    REFERENCE_HOLDS(same_model(t->model, model, false));
    armilla_model_free(model);
}

/* A watch that asks for the end when it is asked for the `at`-th time. */
typedef struct interruption {
    int64_t asked, at;
} interruption;

static int interrupt(void *user, const armilla_progress *progress)
{
    interruption *i = user;
    (void)progress;
    return i->at > 0 && ++i->asked >= i->at;
}

/* A fit with checkpoints that is stopped at that question, going on from the file where there is one. */
static armilla_status fit_until(const trial *t, const char *path, int64_t at, armilla_model **model)
{
    interruption i = {.at = at};
    struct stat facts;
    armilla_checkpoint checkpoint;
    armilla_options options = t->options;
    options.threads = 1 + at % 3;
    armilla_checkpoint_default(&checkpoint);
    checkpoint.path = path;
    checkpoint.resume = stat(path, &facts) == 0 ? path : NULL;
    armilla_context_set_watch(reference_context, interrupt, &i);
    const armilla_status status = armilla_fit_checkpointed(reference_context, t->data, &options, &checkpoint, model);
    armilla_context_set_watch(reference_context, NULL, NULL);
    REFERENCE_HOLDS(checkpoint.failed == ARMILLA_OK);
    return status;
}

/* Stopped at any question, within a start, a sweep or the last code solve, the fit leaves a checkpoint; and however often
 * it is stopped on the way, it ends in the model of the fit that nobody stopped. */
static void test_stopped_anywhere(void **state)
{
    const armilla_io io = without_fsync();
    (void)state;
    reference_context->io = &io;
    char path[256];
    support_path(path, sizeof path, "stopped");
    for (size_t i = 0; i < SCENARIOS; i += (size_t)reference_effort(1, 4)) {
        trial t;
        begin_trial(&t, &scenarios[i], 40 + i);
        for (int64_t step = 1; step < 40; step += 1 + step / 2) {
            armilla_status status = ARMILLA_STOPPED;
            armilla_model *model = NULL;
            support_clean();
            for (int64_t at = step; status == ARMILLA_STOPPED || model; at += at < 4 ? 1 : step) {
                armilla_model_free(model);
                model = NULL;
                status = fit_until(&t, path, at, &model);
                REFERENCE_HOLDS(status == ARMILLA_OK || status == ARMILLA_STOPPED);
                if (model && reference_summary(model).stop < ARMILLA_STOP_TIME_LIMIT) break;
            }
            armilla_model_free(model);
            /* Resumed once more: finished, or stopped at the very last question. */
            REFERENCE_OK(fit_until(&t, path, 0, &model));
            is_the_model_resumed(&t, model);
        }
        end_trial(&t);
    }
    support_clean();
    reference_context->io = &armilla_io_system;
}

/* The same by a limit on time, and with checkpoints after every step. */
static void test_limited_in_time(void **state)
{
    (void)state;
    char path[256];
    support_path(path, sizeof path, "limited");
    for (size_t i = 0; i < SCENARIOS; i += 3) {
        trial t;
        armilla_model *model = NULL;
        armilla_checkpoint checkpoint;
        armilla_checkpoint_default(&checkpoint);
        checkpoint.path = path;
        checkpoint.every = 0;
        begin_trial(&t, &scenarios[i], 40 + i);
        armilla_options limited = t.options;
        limited.time_limit = 1e-9;
        support_clean();
        const armilla_status status =
            armilla_fit_checkpointed(reference_context, t.data, &limited, &checkpoint, &model);
        REFERENCE_HOLDS(status == ARMILLA_OK || status == ARMILLA_BAD_DATA); /* or random samples have no radius */
        if (model) REFERENCE_HOLDS(reference_summary(model).stop == ARMILLA_STOP_TIME_LIMIT);
        armilla_model_free(model);
        model = NULL;
        checkpoint.resume = path;
        REFERENCE_OK(armilla_fit_checkpointed(reference_context, t.data, &t.options, &checkpoint, &model));
        REFERENCE_HOLDS(checkpoint.written >= 2);
        is_the_model_resumed(&t, model);
        end_trial(&t);
    }
    support_clean();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restored_at_every_step),   cmocka_unit_test(test_damaged_states_are_refused),
        cmocka_unit_test(test_restoring_without_memory), cmocka_unit_test(test_stopped_anywhere),
        cmocka_unit_test(test_limited_in_time),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
