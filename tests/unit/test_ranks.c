/* Ranks played by threads: sweeps and surveys have the bits of one process on every rank, each sample is read by one
 * rank, and what fails, stops or is lost on one ends all of them in the same way. */
#include "reference/ranks.h"
#include "reference/reference.h"

#include "unit/support.h"

#include "data/traverse.h"
#include "solve/sweep.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 64, R = 5 };

typedef struct shape {
    const char *what;
    int64_t m, n;
    double density; /* 1: dense */
} shape;

static const shape shapes[] = {
    {"dense, fewer samples than ranks", 4, 3, 1},
    {"dense, many slots", 6, 9000, 1},
    {"tall dense", 700, 250, 1},
    {"sparse, kept slots in f32", 400, 900, 0.02},
    {"sparse, several panels", 12, 5000, 0.5},
    {"sparse, many slots", 3, 12000, 0.6},
    {"one sample", 9, 1, 1},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

typedef struct scene {
    const shape *form;
    float *X, *values;
    int32_t *rows, *starts;
    void *U[ARMILLA_PRECISION_COUNT];
} scene;

static scene make_scene(const shape *form, uint64_t *random)
{
    const int64_t area = form->m * form->n;
    scene s = {.form = form};
    double *drawn = reference_new(area), *U = reference_new(form->m * R);
    s.X = calloc((size_t)area, sizeof *s.X);
    s.values = calloc((size_t)area, sizeof *s.values);
    s.rows = calloc((size_t)area, sizeof *s.rows);
    s.starts = calloc((size_t)form->n + 1, sizeof *s.starts);
    reference_sprinkle(random, form->density, area, drawn);
    reference_fill_normal(random, form->m * R, U);
    reference_round_to_f32(form->m * R, U);
    for (int64_t i = 0; i < area; i++) s.X[i] = (float)drawn[i];
    for (int64_t j = 0; j < form->n; j++) {
        s.starts[j + 1] = s.starts[j];
        for (int64_t i = 0; i < form->m; i++) {
            if (s.X[j * form->m + i] == 0) continue;
            s.rows[s.starts[j + 1]] = (int32_t)i;
            s.values[s.starts[j + 1]++] = s.X[j * form->m + i];
        }
    }
    for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++) {
        s.U[type] = calloc((size_t)(form->m * R), sizeof(double));
        armilla_store((armilla_type)type, form->m * R, U, s.U[type]);
    }
    free(drawn);
    free(U);
    return s;
}

static void free_scene(scene *s)
{
    void *const all[] = {s->X, s->values, s->rows, s->starts, s->U[0], s->U[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static armilla_status wrap(const scene *s, armilla_context *context, armilla_data **data)
{
    const shape *form = s->form;
    if (form->density >= 1) return armilla_data_wrap_dense(context, ARMILLA_F32, s->X, form->m, form->n, form->m, data);
    return armilla_data_wrap_sparse(context, ARMILLA_F32, ARMILLA_I32, s->values, s->rows, s->starts, form->m, form->n,
                                    data);
}

/* What a process, or a rank, finds. */
typedef struct outcome {
    armilla_status status;
    double *A, G[R * R], cross, tally;
    armilla_data_facts facts;
    char message[ARMILLA_MESSAGE];
} outcome;

typedef struct trial {
    scene *s;
    armilla_type work;
    int threads;
    int64_t fail_from, stop_at; /* samples: loading them fails; seeing one stops the call; -1: none */
    atomic_int *visits;         /* of every sample by the sweep */
    outcome *outcomes;          /* by rank */
} trial;

typedef struct rank_self {
    const trial *t;
    armilla_context *context;
} rank_self;

/* W = C, rounded, so that the sums depend on the products. */
static void take_products(void *self, const armilla_code_panel *panel)
{
    const rank_self *own = self;
    memcpy(panel->W, panel->C, (size_t)(panel->r * panel->count) * sizeof(double));
    panel->tally[0] += (double)panel->count;
    for (int64_t j = panel->first; j < panel->first + panel->count; j++) {
        atomic_fetch_add(&own->t->visits[j], 1);
        if (j == own->t->stop_at) armilla_call_stop(own->context, ARMILLA_STOP_INTERRUPTED);
    }
}

static armilla_status sweep(const trial *t, armilla_context *context, const armilla_data *X, outcome *found)
{
    rank_self own = {t, context};
    const int64_t m = t->s->form->m;
    armilla_sweep *made = NULL;
    const armilla_sweep_plan plan = {
        .U = t->s->U[t->work], .sums = true, .tally = 1, .step = take_products, .self = &own};
    armilla_status status = armilla_sweep_new(context, X, t->work, R, 1, &made);
    for (int run = 0; run < 2 && status == ARMILLA_OK; run++) status = armilla_sweep_run(made, &plan);
    if (status == ARMILLA_OK) {
        memcpy(found->A, armilla_sweep_A(made), (size_t)(m * R) * sizeof(double));
        memcpy(found->G, armilla_sweep_G(made), sizeof found->G);
        found->cross = armilla_sweep_cross(made);
        found->tally = armilla_sweep_tally(made)[0];
    }
    armilla_sweep_free(made);
    return status;
}

/* Data whose load fails from a sample on. */
static armilla_data_ops failing_ops;
static armilla_status (*true_load)(armilla_panel *panel, void *workspace);
static int64_t failing_from;

static armilla_status fail_to_load(armilla_panel *panel, void *workspace)
{
    if (panel->first + panel->count > failing_from)
        return armilla_fail(panel->context, ARMILLA_IO_ERROR, "sample %d is not there", (int)panel->first);
    return true_load(panel, workspace);
}

static void run(void *self, int rank, armilla_context *context)
{
    const trial *t = self;
    outcome *found = &t->outcomes[rank];
    armilla_data *X = NULL;
    memset(&found->facts, 0, sizeof found->facts);
    found->status = wrap(t->s, context, &X);
    const armilla_data_ops *ops = found->status == ARMILLA_OK ? X->ops : NULL;
    if (ops && t->fail_from >= 0) X->ops = &failing_ops;
    if (found->status == ARMILLA_OK) found->status = armilla_call_enter_together(context, t->threads);
    if (found->status == ARMILLA_OK) found->status = armilla_call_leave_together(context, sweep(t, context, X, found));
    if (found->status == ARMILLA_OK) found->status = armilla_data_survey(context, X, t->threads, &found->facts);
    snprintf(found->message, sizeof found->message, "%s", armilla_context_error(context));
    if (ops) X->ops = ops;
    armilla_data_free(X);
}

static outcome *new_outcomes(const scene *s)
{
    outcome *made = calloc(MOST_RANKS, sizeof *made);
    assert_non_null(made);
    for (int r = 0; r < MOST_RANKS; r++) made[r].A = reference_new(s->form->m * R);
    return made;
}

static void free_outcomes(outcome *outcomes)
{
    for (int r = 0; r < MOST_RANKS; r++) free(outcomes[r].A);
    free(outcomes);
}

static void check_equal(const scene *s, const outcome *one, const outcome *got)
{
    REFERENCE_HOLDS(got->status == ARMILLA_OK);
    REFERENCE_HOLDS(memcmp(one->A, got->A, (size_t)(s->form->m * R) * sizeof(double)) == 0);
    REFERENCE_HOLDS(memcmp(one->G, got->G, sizeof one->G) == 0);
    REFERENCE_HOLDS(one->cross == got->cross && one->tally == got->tally && one->tally == (double)s->form->n);
    REFERENCE_HOLDS(memcmp(&one->facts, &got->facts, sizeof one->facts) == 0);
}

static void test_ranks_have_the_bits_of_one_process(void **state)
{
    static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 64};
    uint64_t random = 91;
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        scene s = make_scene(&shapes[i], &random);
        outcome *one = new_outcomes(&s), *got = new_outcomes(&s);
        atomic_int *visits = calloc((size_t)s.form->n, sizeof *visits);
        assert_non_null(visits);
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++) {
            trial t = {&s, (armilla_type)type, 1, -1, -1, visits, one};
            run(&t, 0, reference_context);
            t.outcomes = got;
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k += (size_t)reference_effort(1, 3)) {
                t.threads = 1 + (int)k % 3;
                reference_scene("%s, %s, %d ranks of %d threads", s.form->what, armilla_type_word(t.work), sizes[k],
                                t.threads);
                memset(visits, 0, (size_t)s.form->n * sizeof *visits);
                reference_run_ranks(sizes[k], -1, run, &t);
                for (int r = 0; r < sizes[k]; r++) check_equal(&s, &one[0], &got[r]);
                for (int64_t j = 0; j < s.form->n; j++) REFERENCE_HOLDS(visits[j] == 2); /* sweeps */
            }
        }
        free(visits);
        free_outcomes(one);
        free_outcomes(got);
        free_scene(&s);
    }
}

/* All ranks end alike. */
static void check_ended(const outcome *got, int size, armilla_status status)
{
    for (int r = 0; r < size; r++) {
        REFERENCE_HOLDS(got[r].status == status);
        assert_string_equal(got[r].message, got[0].message);
    }
}

static void test_one_failure_ends_all(void **state)
{
    static const int sizes[] = {1, 2, 5, 9, 64};
    uint64_t random = 92;
    (void)state;
    scene s = make_scene(&shapes[1], &random);
    outcome *got = new_outcomes(&s);
    atomic_int *visits = calloc((size_t)s.form->n, sizeof *visits);
    assert_non_null(visits);
    armilla_data *X = NULL;
    REFERENCE_OK(wrap(&s, reference_context, &X));
    failing_ops = *X->ops;
    true_load = X->ops->load;
    failing_ops.load = fail_to_load;
    armilla_data_free(X);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int64_t from = 0; from < s.form->n; from += 2970) {
            char first[ARMILLA_MESSAGE];
            trial t = {&s, ARMILLA_F32, 2, from, -1, visits, got};
            failing_from = from;
            reference_scene("samples from %d on fail, %d ranks", (int)from, sizes[k]);
            reference_run_ranks(sizes[k], -1, run, &t);
            check_ended(got, sizes[k], ARMILLA_IO_ERROR);
            REFERENCE_HOLDS(strstr(got[0].message, "is not there") != NULL);
            if (k == 0) continue;
            snprintf(first, sizeof first, "%s", got[0].message);
            reference_run_ranks(1, -1, run, &t); /* it is the lowest, whoever has it */
            assert_string_equal(got[0].message, first);
        }
    free(visits);
    free_outcomes(got);
    free_scene(&s);
}

static void test_one_stop_ends_all(void **state)
{
    uint64_t random = 93;
    (void)state;
    scene s = make_scene(&shapes[1], &random);
    outcome *got = new_outcomes(&s);
    atomic_int *visits = calloc((size_t)s.form->n, sizeof *visits);
    assert_non_null(visits);
    for (int size = 1; size <= 9; size += 4)
        for (int64_t at = 0; at < s.form->n; at += 4400) {
            trial t = {&s, ARMILLA_F64, 1, -1, at, visits, got};
            reference_scene("%d ranks, stopped at %d", size, (int)at);
            reference_run_ranks(size, -1, run, &t);
            check_ended(got, size, ARMILLA_STOPPED);
        }
    free(visits);
    free_outcomes(got);
    free_scene(&s);
}

/* A rank that fails by itself, before the sweep that the others make. */
static void run_with_one_that_fails(void *self, int rank, armilla_context *context)
{
    const trial *t = self;
    outcome *found = &t->outcomes[rank];
    armilla_data *X = NULL;
    found->status = wrap(t->s, context, &X);
    if (found->status == ARMILLA_OK) found->status = armilla_call_enter_together(context, 1);
    if (found->status == ARMILLA_OK) {
        const armilla_status status = rank == t->threads
                                          ? armilla_fail(context, ARMILLA_NO_MEMORY, "rank %d has no memory", rank)
                                          : sweep(t, context, X, found);
        found->status = armilla_call_leave_together(context, status);
    }
    snprintf(found->message, sizeof found->message, "%s", armilla_context_error(context));
    armilla_data_free(X);
}

/* A rank that has no memory for the call itself, which the others enter. */
static void run_with_one_that_cannot_enter(void *self, int rank, armilla_context *context)
{
    const trial *t = self;
    outcome *found = &t->outcomes[rank];
    armilla_data *X = NULL;
    found->status = wrap(t->s, context, &X);
    if (rank == t->threads) armilla_context_set_memory(context, armilla_context_memory_live(context) + 1);
    if (found->status == ARMILLA_OK) found->status = armilla_data_survey(context, X, 1, &found->facts);
    snprintf(found->message, sizeof found->message, "%s", armilla_context_error(context));
    armilla_context_set_memory(context, 0);
    const armilla_status again = armilla_data_survey(context, X, 1, &found->facts);
    if (again != ARMILLA_OK) found->status = again;
    armilla_data_free(X);
}

static void test_calls_that_one_cannot_enter(void **state)
{
    uint64_t random = 96;
    (void)state;
    scene s = make_scene(&shapes[3], &random);
    outcome *got = new_outcomes(&s);
    for (int size = 1; size <= 5; size++)
        for (int bad = 0; bad < size; bad++) {
            trial t = {&s, ARMILLA_F32, bad, -1, -1, NULL, got};
            reference_scene("%d ranks, of which %d has no memory", size, bad);
            reference_run_ranks(size, -1, run_with_one_that_cannot_enter, &t);
            check_ended(got, size, ARMILLA_NO_MEMORY);
            REFERENCE_HOLDS(strstr(got[0].message, "out of memory") != NULL);
        }
    free_outcomes(got);
    free_scene(&s);
}

static void test_failures_outside_passes(void **state)
{
    uint64_t random = 94;
    (void)state;
    scene s = make_scene(&shapes[3], &random);
    outcome *got = new_outcomes(&s);
    atomic_int *visits = calloc((size_t)s.form->n, sizeof *visits);
    assert_non_null(visits);
    for (int size = 2; size <= 7; size++)
        for (int bad = 0; bad < size; bad++) {
            trial t = {&s, ARMILLA_F32, bad, -1, -1, visits, got};
            char wanted[64];
            snprintf(wanted, sizeof wanted, "rank %d has no memory", bad);
            reference_scene("%d ranks, of which %d fails", size, bad);
            reference_run_ranks(size, -1, run_with_one_that_fails, &t);
            check_ended(got, size, ARMILLA_NO_MEMORY);
            assert_string_equal(got[0].message, wanted);
        }
    free(visits);
    free_outcomes(got);
    free_scene(&s);
}

/* Every message is the one at which the connection is lost, in turn. */
static void test_lost_connections(void **state)
{
    uint64_t random = 95;
    (void)state;
    scene s = make_scene(&shapes[0], &random);
    outcome *got = new_outcomes(&s);
    atomic_int *visits = calloc((size_t)s.form->n, sizeof *visits);
    assert_non_null(visits);
    bool whole = false;
    for (int64_t cut = 0; !whole && cut < 1000; cut++) {
        trial t = {&s, ARMILLA_F64, 1, -1, -1, visits, got};
        reference_scene("message %d is lost", (int)cut);
        reference_run_ranks(4, cut, run, &t);
        whole = true;
        for (int r = 0; r < 4; r++) {
            whole &= got[r].status == ARMILLA_OK;
            REFERENCE_HOLDS(got[r].status == ARMILLA_OK || got[r].status == ARMILLA_IO_ERROR);
            REFERENCE_HOLDS(got[r].status == ARMILLA_OK || strstr(got[r].message, "cannot be reached") != NULL);
        }
        REFERENCE_HOLDS(whole || cut < 999);
    }
    free(visits);
    free_outcomes(got);
    free_scene(&s);
}

/* Of some slots, whose elements are 0 with either sign, sums have the sign that one process gives them: where no slot of a
 * rank contributes, that rank changes nothing. */
enum { ZEROS = 4, ZERO_SLOTS = 64, PORTIONS = 9 };

typedef struct zeros {
    double sums[MOST_RANKS][PORTIONS][ZEROS];
    armilla_status statuses[MOST_RANKS];
} zeros;

static bool has_zeros(const void *self, int64_t slot)
{
    const int portion = *(const int *)self;
    return slot * 7919 % PORTIONS == portion || slot == portion * 5;
}

static armilla_status write_zeros(void *self, int64_t slot, int thread, void *vector)
{
    (void)self;
    (void)thread;
    for (int64_t i = 0; i < ZEROS; i++) ((double *)vector)[i] = i == 0 || (slot >> i) % 2 ? -0.0 : 0.0;
    return ARMILLA_OK;
}

static void sum_zeros(void *self, int rank, armilla_context *context)
{
    zeros *z = self;
    armilla_reducer *reducer = NULL;
    const armilla_reducer_plan plan = {.slots = ZERO_SLOTS,
                                       .keep = 4,
                                       .bytes = sizeof *z->sums[0],
                                       .exchange_bytes = sizeof *z->sums[0],
                                       .threads = 1};
    armilla_status status = armilla_call_enter_together(context, 1);
    z->statuses[rank] = status;
    if (status != ARMILLA_OK) return;
    status = armilla_reducer_new(context, &plan, &reducer);
    for (int portion = 0; portion < PORTIONS && status == ARMILLA_OK; portion++) {
        const armilla_segment segment = {ARMILLA_SUM, ZEROS, .written = true, .result = z->sums[rank][portion]};
        status = armilla_reduce(reducer, &(armilla_reduction){&segment, 1, write_zeros, &portion, has_zeros});
    }
    armilla_reducer_free(reducer);
    z->statuses[rank] = armilla_call_leave_together(context, status);
}

static void test_signs_of_zeros(void **state)
{
    static const int sizes[] = {2, 3, 4, 7, 40};
    static zeros one, got;
    (void)state;
    sum_zeros(&one, 0, reference_context);
    REFERENCE_HOLDS(one.statuses[0] == ARMILLA_OK && signbit(one.sums[0][3][0]) && !signbit(one.sums[0][3][1]));
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        reference_scene("signs of zeros, %d ranks", sizes[k]);
        reference_run_ranks(sizes[k], -1, sum_zeros, &got);
        for (int r = 0; r < sizes[k]; r++) {
            REFERENCE_HOLDS(got.statuses[r] == ARMILLA_OK);
            REFERENCE_HOLDS(memcmp(got.sums[r], one.sums[0], sizeof one.sums[0]) == 0);
        }
    }
}

static void test_tables_that_are_not_whole(void **state)
{
    armilla_context *context = support_context();
    armilla_ranks bad[2];
    armilla_ranks_default(&bad[0]);
    bad[1] = bad[0];
    bad[0].count = 2;
    bad[1].count = 0;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        support_fails(context, armilla_context_set_ranks(context, &bad[i]), ARMILLA_BAD_ARGUMENT, "not whole");
    support_ok(context, armilla_context_set_ranks(context, NULL));
    armilla_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks_have_the_bits_of_one_process),
        cmocka_unit_test(test_one_failure_ends_all),
        cmocka_unit_test(test_one_stop_ends_all),
        cmocka_unit_test(test_failures_outside_passes),
        cmocka_unit_test(test_calls_that_one_cannot_enter),
        cmocka_unit_test(test_lost_connections),
        cmocka_unit_test(test_signs_of_zeros),
        cmocka_unit_test(test_tables_that_are_not_whole),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
