/* The listed state of a fit is all there is between two steps. At every step a fit is saved and thrown away; another is
 * opened from data and options, in memory full of NaN, restored and gone on with: the model has the bits of the fit that
 * was let alone. */
#include "reference/reference.h"

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

/* Saved, thrown away, opened anew and restored. */
static void renew(const trial *t, armilla_fit_state *f, armilla_state_block *block)
{
    REFERENCE_OK(armilla_state_save(reference_context, armilla_fit_list, f, block));
    armilla_fit_close(f, NULL);
    open_fit(t, f);
    REFERENCE_OK(armilla_state_restore(reference_context, armilla_fit_list, f, block));
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
    (void)state;
    for (size_t i = 0; i < SCENARIOS; i += (size_t)reference_effort(1, 4)) {
        trial t;
        armilla_fit_state f;
        armilla_state_block block = {.bytes = NULL};
        bool ended = false;
        int steps = 0;
        begin_trial(&t, &scenarios[i], 40 + i);
        open_fit(&t, &f);
        for (; !ended; steps++) {
            renew(&t, &f, &block);
            REFERENCE_OK(armilla_fit_step(&f, &ended));
        }
        renew(&t, &f, &block);
        is_the_model(&t, end_fit(&f, true));
        REFERENCE_HOLDS(steps >= 3);
        for (int at = 0; at <= steps; at += scenarios[i].n < MANY ? 1 : 1 + steps / 8) {
            ended = false;
            open_fit(&t, &f);
            for (int step = 0; step < at; step++) REFERENCE_OK(armilla_fit_step(&f, &ended));
            renew(&t, &f, &block);
            is_the_model(&t, end_fit(&f, ended));
        }
        armilla_release(reference_context, block.bytes);
        end_trial(&t);
    }
}

/* What stands before an item's bytes in a block (solve/state.c). */
typedef struct label {
    char name[ARMILLA_STATE_NAME];
    int64_t type, rows, columns;
} label;

/* Where the bytes of the item are; NULL where the block has none of that name. */
static char *find_item(const armilla_state_block *block, const char *name)
{
    label own;
    for (int64_t at = 0; at < block->count;) {
        memcpy(&own, block->bytes + at, sizeof own);
        at += (int64_t)sizeof own;
        if (strcmp(own.name, name) == 0) return block->bytes + at;
        at += own.rows * own.columns * (int64_t)armilla_state_size((armilla_state_type)own.type);
    }
    return NULL;
}

/* Numbers that no state has are refused by the name of their item, before anything is done by them. */
static void test_damaged_states_are_refused(void **state)
{
    static const struct damage {
        const char *item;
        int64_t value;
        size_t bytes;
    } damages[] = {
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
    armilla_state_block block = {.bytes = NULL};
    begin_trial(&t, &scenarios[4], 44); /* atoms that move one by one, several restarts */
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        bool ended = false;
        open_fit(&t, &f);
        for (int step = 0; step < 4; step++) REFERENCE_OK(armilla_fit_step(&f, &ended));
        REFERENCE_OK(armilla_state_save(reference_context, armilla_fit_list, &f, &block));
        armilla_fit_close(&f, NULL);
        char *bytes = find_item(&block, damages[i].item);
        reference_scene("%s = %d", damages[i].item, (int)damages[i].value);
        assert_non_null(bytes);
        memcpy(bytes, &damages[i].value, damages[i].bytes); /* little-endian */
        open_fit(&t, &f);
        const int64_t before = armilla_context_memory_peak(reference_context);
        REFERENCE_HOLDS(armilla_state_restore(reference_context, armilla_fit_list, &f, &block) == ARMILLA_BAD_DATA);
        REFERENCE_HOLDS(strstr(armilla_context_error(reference_context), "saved state") != NULL);
        REFERENCE_HOLDS(armilla_context_memory_peak(reference_context) < before + (1 << 20));
        armilla_fit_close(&f, NULL);
    }
    armilla_release(reference_context, block.bytes);
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
            armilla_state_block block = {.bytes = NULL};
            bool ended = false;
            armilla_status status = ARMILLA_NO_MEMORY;
            begin_trial(&t, &scenarios[i], 40 + i);
            open_fit(&t, &f);
            for (int step = 0; step < at && !ended; step++) REFERENCE_OK(armilla_fit_step(&f, &ended));
            REFERENCE_OK(armilla_state_save(reference_context, armilla_fit_list, &f, &block));
            armilla_fit_close(&f, NULL);
            for (int64_t more = 0; status == ARMILLA_NO_MEMORY; more += 1 + more / 3) {
                open_fit(&t, &f);
                armilla_context_set_memory(reference_context, armilla_context_memory_live(reference_context) + more);
                status = armilla_state_restore(reference_context, armilla_fit_list, &f, &block);
                armilla_context_set_memory(reference_context, 0);
                REFERENCE_HOLDS(status == ARMILLA_OK || status == ARMILLA_NO_MEMORY);
                if (status == ARMILLA_NO_MEMORY) armilla_fit_close(&f, NULL);
            }
            is_the_model(&t, end_fit(&f, ended));
            armilla_release(reference_context, block.bytes);
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

static int skip_fsync(int file)
{
    (void)file;
    return 0;
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
    armilla_io io = armilla_io_system;
    (void)state;
    io.fsync = skip_fsync; /* thousands of times: the disk is not what is tested here */
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
