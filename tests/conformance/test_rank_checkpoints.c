/* Checkpoints of fits by ranks, which are threads here: the file has the bytes that one process writes, any number of
 * ranks goes on from it to the same model, and what fails or stops on one rank is known to all. */
#include "reference/ranks.h"
#include "reference/reference.h"

#include "unit/support.h"

#include "base/context.h"
#include "files/state_file.h"
#include "model/fit.h"

#include <armilla/checkpoint.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct scene {
    const char *basis, *codes, *solver;
    int64_t m, n, r, restarts;
    armilla_type type;
} scene;

enum { MANY = 5400, SIZES = 5, MOST_RANKS = 5, LAST = 7, STOPPED_AT = 2 };

static const scene scenes[] = {
    {"orthonormal", "nonneg-sphere", "fast", 9, 700, 3, 1, ARMILLA_F64},
    {"nonnegative", "nonneg-sphere", "fast", 7, 900, 4, 2, ARMILLA_F32},
    {"free", "one-hot", "fast", 5, 600, 6, 2, ARMILLA_F64},
    {"nonnegative", "nonneg", "mu", 8, 500, 3, 1, ARMILLA_F64},
    {"orthonormal", "sphere", "palm", 8, 500, 3, 1, ARMILLA_F32},
    {"nonnegative", "nonneg-sphere", "online", 8, 500, 3, 1, ARMILLA_F64},
    {"nonnegative", "nonneg-sphere", "fast", 4, MANY, 2, 4, ARMILLA_F32}, /* is screened */
    {"orthonormal", "sphere", "fast", 5, 3, 2, 1, ARMILLA_F64},           /* some ranks have no sample */
};
enum { SCENES = sizeof scenes / sizeof *scenes, SCREENED = SCENES - 2 };

static const int sizes[SIZES] = {1, 3, 4, 2, 5};

/* What a rank comes to. */
typedef struct outcome {
    armilla_status status, failed;
    char message[ARMILLA_MESSAGE];
    int64_t written, iterations;
    armilla_stop stop;
    bool differs;
} outcome;

/* A fit by so many ranks. */
typedef struct turn {
    const scene *s;
    const double *X;
    int size;
    double every;
    const char *path, *resume;
    const armilla_model *whole; /* what it is compared with; NULL: nothing */
    /* What happens on one rank (-1: on none). */
    int stopper; /* wants the end at iteration STOPPED_AT */
    int watcher; /* its watch wants the end the so-manieth time it is asked */
    int64_t asked;
    int full; /* its disk is full */
    int poor; /* may take so many bytes more than it has */
    int64_t bytes;
    bool chained; /* starts from the model of a fit before, of which a rank has its own codes alone */
    outcome outcomes[MOST_RANKS];
} turn;

static turn a_turn(const scene *s, const double *X, int size)
{
    return (turn){.s = s, .X = X, .size = size, .every = 1e6, .stopper = -1, .watcher = -1, .full = -1, .poor = -1};
}

static int stop_soon(void *user, const armilla_trace_entry *entry)
{
    (void)user;
    return entry->iteration >= STOPPED_AT;
}

static int stop_when_asked(void *user, const armilla_progress *progress)
{
    int64_t *left = user;
    (void)progress;
    return (*left)-- <= 0;
}

static ssize_t no_space(int file, const void *bytes, size_t count)
{
    (void)file, (void)bytes, (void)count;
    errno = ENOSPC;
    return -1;
}

static armilla_options options_of(const scene *s)
{
    armilla_options o;
    armilla_options_default(&o);
    o.rank = s->r;
    o.basis = s->basis;
    o.codes = s->codes;
    o.solver = s->solver;
    o.batch = strcmp(s->solver, "online") == 0 ? 60 : 0;
    o.restarts = s->restarts;
    o.precision = armilla_type_word(s->type);
    o.max_iter = LAST;
    o.tol = 0;
    o.threads = 1;
    return o;
}

/* But for the sweeps: a start that was abandoned is made again, and both are counted. */
static bool same_model(const armilla_model *whole, const armilla_model *got)
{
    const armilla_model_summary *a = &whole->summary, *b = &got->summary;
    const size_t size = armilla_type_size(a->precision), column = (size_t)a->rank * size;
    const size_t first = (size_t)got->share.first * column, last = (size_t)got->share.last * column;
    return memcmp(whole->U, got->U, (size_t)(a->m * a->rank) * size) == 0 &&
           memcmp((const char *)whole->V + first, (const char *)got->V + first, last - first) == 0 &&
           memcmp(&a->radius, &b->radius, sizeof a->radius) == 0 && a->objective == b->objective &&
           a->iterations == b->iterations && a->stop == b->stop;
}

static void keep(outcome *found, const armilla_model *model, const armilla_model *whole)
{
    found->stop = model->summary.stop;
    found->iterations = model->summary.iterations;
    found->differs = whole && !same_model(whole, model);
}

/* On a rank, or by one process. */
static void run(void *self, int rank, armilla_context *context)
{
    turn *t = self;
    outcome *found = &t->outcomes[rank];
    armilla_io io = armilla_io_system;
    int64_t left = t->asked;
    armilla_options options = options_of(t->s);
    armilla_checkpoint checkpoint;
    armilla_data *data = NULL;
    armilla_model *model = NULL, *first = NULL;
    *found = (outcome){.status = armilla_data_wrap_dense(context, ARMILLA_F64, t->X, t->s->m, t->s->n, t->s->m, &data)};
    armilla_checkpoint_default(&checkpoint);
    checkpoint.path = t->path;
    checkpoint.resume = t->resume;
    checkpoint.every = t->every;
    checkpoint.overwrite = true;
    if (t->chained && found->status == ARMILLA_OK) found->status = armilla_fit(context, data, &options, &first);
    options.start_model = first;
    if (rank == t->stopper) options.callback = stop_soon;
    if (rank == t->watcher) armilla_context_set_watch(context, stop_when_asked, &left);
    if (rank == t->full) io.write = no_space;
    if (rank == t->poor) armilla_context_set_memory(context, armilla_context_memory_live(context) + t->bytes);
    context->io = &io;
    if (found->status == ARMILLA_OK)
        found->status = armilla_fit_checkpointed(context, data, &options, &checkpoint, &model);
    snprintf(found->message, sizeof found->message, "%s", armilla_context_error(context));
    found->failed = checkpoint.failed;
    found->written = checkpoint.written;
    if (model) keep(found, model, t->whole);
    armilla_model_free(model);
    armilla_model_free(first);
    armilla_data_free(data);
    context->io = &armilla_io_system;
}

/* By ranks, or by this process where there is one: the outcome of all, which is the same. */
static const outcome *make(turn *t)
{
    const outcome *first = &t->outcomes[0];
    if (t->size == 1) {
        armilla_context *context = support_context();
        run(t, 0, context);
        armilla_context_free(context);
    } else {
        reference_run_ranks(t->size, -1, run, t);
    }
    for (int r = 0; r < t->size; r++) {
        const outcome *o = &t->outcomes[r];
        if (o->status != first->status) print_error("rank %d: %d %s\n", r, (int)o->status, o->message);
        REFERENCE_HOLDS(o->status == first->status && o->failed == first->failed && o->written == first->written);
        REFERENCE_HOLDS(o->stop == first->stop && o->iterations == first->iterations && !o->differs);
        REFERENCE_HOLDS(o->status == ARMILLA_OK || strcmp(o->message, first->message) == 0);
    }
    return first;
}

static double *draw(const scene *s)
{
    uint64_t random = 29;
    double *X = reference_new(s->m * s->n);
    reference_fill_uniform(&random, s->m * s->n, X);
    return X;
}

/* Of the fit that nobody disturbed. */
static armilla_model *fit_whole(const scene *s, const double *X)
{
    const armilla_options options = options_of(s);
    armilla_data *data = NULL;
    armilla_model *model = NULL;
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, s->m, s->n, s->m, &data));
    REFERENCE_OK(armilla_fit(reference_context, data, &options, &model));
    armilla_data_free(data);
    return model;
}

/* Zeros instead of what a clock says, and of the checksums of that. */
static char *without_seconds(const char *path, size_t *count)
{
    char *bytes = support_read_file(path, count);
    armilla_state_opening opening;
    memcpy(&opening, bytes, sizeof opening);
    size_t at = sizeof opening + opening.text + sizeof(uint32_t);
    while (memcmp(bytes + at, "ITEM", 4) == 0) {
        armilla_state_label label;
        memcpy(&label, bytes + at, sizeof label);
        const size_t values = (size_t)(label.rows * label.columns) * armilla_state_size((armilla_state_type)label.type);
        if (strstr(label.name, "seconds")) memset(bytes + at + sizeof label, 0, values + sizeof(uint32_t));
        at += sizeof label + values + sizeof(uint32_t);
    }
    assert_memory_equal(bytes + at, "DONE", 4);
    assert_int_equal(at + sizeof(armilla_state_closing) + sizeof(uint32_t), *count);
    memset(bytes + at + sizeof(armilla_state_closing), 0, sizeof(uint32_t));
    return bytes;
}

static void compare_files(const char *a, const char *b)
{
    size_t first = 0, second = 0;
    char *x = without_seconds(a, &first), *y = without_seconds(b, &second);
    REFERENCE_HOLDS(first == second && memcmp(x, y, first) == 0);
    free(x);
    free(y);
}

static void say(const char *what, const turn *t)
{
    reference_scene("%s: %s x %s, %s, n = %d, %d ranks", what, t->s->basis, t->s->codes, t->s->solver, (int)t->s->n,
                    t->size);
}

static void test_files_are_those_of_one_process(void **state)
{
    char one[256], many[256];
    (void)state;
    support_path(one, sizeof one, "one");
    support_path(many, sizeof many, "many");
    for (size_t i = 0; i < SCENES; i++) {
        double *X = draw(&scenes[i]);
        armilla_model *whole = fit_whole(&scenes[i], X);
        for (int k = 0; k < SIZES; k++) {
            turn t = a_turn(&scenes[i], X, sizes[k]);
            t.path = k == 0 ? one : many;
            t.stopper = (k + 1) % t.size;
            say("stopped", &t);
            const outcome *o = make(&t);
            REFERENCE_HOLDS(o->status == ARMILLA_OK && o->failed == ARMILLA_OK && o->written >= 1);
            compare_files(one, t.path);
            turn rest = a_turn(&scenes[i], X, sizes[(k + 2) % SIZES]);
            rest.resume = t.path;
            rest.path = many;
            rest.every = 0;
            rest.whole = whole;
            say("resumed", &rest);
            REFERENCE_HOLDS(make(&rest)->status == ARMILLA_OK && rest.outcomes[0].failed == ARMILLA_OK);
        }
        armilla_model_free(whole);
        free(X);
    }
    support_clean();
}

static void test_a_full_disk_of_one_rank(void **state)
{
    char path[256];
    (void)state;
    support_path(path, sizeof path, "full");
    double *X = draw(&scenes[1]);
    armilla_model *whole = fit_whole(&scenes[1], X);
    for (int full = 0; full < 2; full++) {
        turn t = a_turn(&scenes[1], X, 3);
        t.path = path;
        t.every = 0;
        t.full = full;
        t.whole = whole;
        say("full disk", &t);
        const outcome *o = make(&t);
        /* Only rank 0 writes. */
        REFERENCE_HOLDS(o->status == ARMILLA_OK && (o->failed == ARMILLA_OK) == (full > 0));
        REFERENCE_HOLDS((o->written > 0) == (full > 0) && support_entries() == full);
    }
    armilla_model_free(whole);
    free(X);
    support_clean();
}

/* As by a signal, at any moment: of the passes before the first iteration too. */
static void test_a_watch_of_one_rank(void **state)
{
    char path[256];
    const size_t chosen[] = {0, 1, 2, 5, SCREENED};
    (void)state;
    support_path(path, sizeof path, "watched");
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        const scene *s = &scenes[chosen[i]];
        double *X = draw(s);
        armilla_model *whole = fit_whole(s, X);
        for (int64_t asked = 0; asked < 90; asked += reference_effort(7, 31)) {
            turn t = a_turn(s, X, 3);
            t.path = path;
            t.watcher = (int)(asked % 3);
            t.asked = asked;
            say("watched", &t);
            const outcome *o = make(&t);
            REFERENCE_HOLDS(o->status == ARMILLA_OK || o->status == ARMILLA_STOPPED);
            if (access(path, F_OK) != 0) continue; /* before there was a state */
            turn rest = a_turn(s, X, 1 + (int)(asked % 4));
            rest.resume = path;
            rest.whole = whole;
            say("resumed after the watch", &rest);
            REFERENCE_HOLDS(make(&rest)->status == ARMILLA_OK);
            support_clean();
        }
        armilla_model_free(whole);
        free(X);
    }
}

/* The phase of the fit that the file at path is of; -1: there is none. */
static int32_t phase_of(const char *path)
{
    size_t count = 0;
    int32_t phase = -1;
    if (access(path, F_OK) != 0) return phase;
    char *bytes = support_read_file(path, &count);
    const char *name = memmem(bytes, count, "restarts.phase", strlen("restarts.phase"));
    assert_non_null(name);
    memcpy(&phase, name - offsetof(armilla_state_label, name) + sizeof(armilla_state_label), sizeof phase);
    free(bytes);
    return phase;
}

/* A state at path: between two iterations, or where starts are compared, when their sketch is made anew. */
static void begin(const char *path, const scene *s, const double *X, bool screened)
{
    const int32_t wanted = screened ? ARMILLA_FIT_SCREEN : ARMILLA_FIT_ITERATE;
    for (int64_t asked = 1; phase_of(path) != wanted; asked++) {
        turn t = a_turn(s, X, 1);
        t.path = path;
        t.watcher = 0;
        t.asked = asked;
        say("begun", &t);
        REFERENCE_HOLDS(asked < 5000); /* a few for each start that is compared before */
        (void)make(&t);
    }
}

/* Memory of one rank ends anywhere, while the others restore, screen, sweep or write. */
static void test_too_little_memory_on_one_rank(void **state)
{
    char path[256], other[256];
    int refused = 0, made = 0;
    (void)state;
    support_path(path, sizeof path, "state");
    support_path(other, sizeof other, "other");
    for (size_t i = 0; i < SCENES; i++) {
        double *X = draw(&scenes[i]);
        armilla_model *whole = fit_whole(&scenes[i], X);
        begin(path, &scenes[i], X, i == SCREENED);
        const int64_t steps = i == SCREENED ? reference_effort(20, 6) : reference_effort(4, 2);
        for (int64_t bytes = 20000; bytes < 3000000; bytes += bytes / steps) {
            turn t = a_turn(&scenes[i], X, 3);
            t.resume = path;
            t.path = other;
            t.every = 0;
            t.poor = (int)(bytes % 3);
            t.bytes = bytes;
            t.whole = whole;
            say("too little memory", &t);
            const outcome *o = make(&t);
            REFERENCE_HOLDS(o->status == ARMILLA_OK || o->status == ARMILLA_NO_MEMORY);
            refused += o->status != ARMILLA_OK;
            made += o->status == ARMILLA_OK;
        }
        armilla_model_free(whole);
        free(X);
        support_clean();
    }
    assert_true(refused > 40 && made > 40);
}

static void test_a_model_of_ranks_is_a_start(void **state)
{
    char path[256];
    (void)state;
    support_path(path, sizeof path, "chained");
    for (int k = 0; k < 3; k++) {
        double *X = draw(&scenes[k]);
        turn t = a_turn(&scenes[k], X, 2 + k);
        t.chained = true;
        t.path = path;
        t.stopper = k;
        say("from a model", &t);
        REFERENCE_HOLDS(make(&t)->status == ARMILLA_OK && t.outcomes[0].failed == ARMILLA_OK);
        for (int size = 1; size < 4; size++) {
            turn rest = a_turn(&scenes[k], X, size);
            rest.chained = true;
            rest.resume = path;
            say("resumed from a model", &rest);
            REFERENCE_HOLDS(make(&rest)->status == ARMILLA_OK);
            REFERENCE_HOLDS(rest.outcomes[0].iterations == LAST);
        }
        free(X);
    }
    support_clean();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_are_those_of_one_process),
        cmocka_unit_test(test_a_full_disk_of_one_rank),
        cmocka_unit_test(test_a_watch_of_one_rank),
        cmocka_unit_test(test_too_little_memory_on_one_rank),
        cmocka_unit_test(test_a_model_of_ranks_is_a_start),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
