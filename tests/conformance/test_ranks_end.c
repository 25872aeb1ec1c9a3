/* What fails or stops on one of several ranks, which are threads here, ends all of them alike. */
#include "reference/rank_trial.h"
#include "reference/ranks.h"
#include "reference/reference.h"

#include "unit/support.h"

#include <string.h>

enum { RANKS = 7 };
static rank_outcome outcomes[RANKS];

static armilla_status put_nan(armilla_context *context, rank_numbers *own, armilla_options *options)
{
    (void)context;
    (void)options;
    memset(own->values, 0xff, 64);
    return ARMILLA_OK;
}

static armilla_status take_memory(armilla_context *context, rank_numbers *own, armilla_options *options)
{
    (void)own;
    (void)options;
    armilla_context_set_memory(context, armilla_context_memory_live(context) + 40000);
    return ARMILLA_OK;
}

static armilla_status change_rank(armilla_context *context, rank_numbers *own, armilla_options *options)
{
    (void)context;
    (void)own;
    options->rank++;
    return ARMILLA_OK;
}

static int stop_third(void *user, const armilla_trace_entry *entry)
{
    (void)user;
    return entry->iteration >= 3;
}

static armilla_status stop_by_callback(armilla_context *context, rank_numbers *own, armilla_options *options)
{
    (void)context;
    (void)own;
    options->callback = stop_third;
    return ARMILLA_OK;
}

static int stop_iterations(void *user, const armilla_progress *progress)
{
    (void)user;
    return progress->stage == ARMILLA_STAGE_ITERATIONS;
}

static armilla_status stop_by_watch(armilla_context *context, rank_numbers *own, armilla_options *options)
{
    (void)own;
    (void)options;
    armilla_context_set_watch(context, stop_iterations, NULL);
    return ARMILLA_OK;
}

static int stop_first_look(void *user, const armilla_progress *progress)
{
    (void)user;
    return progress->stage == ARMILLA_STAGE_SURVEY;
}

static armilla_status stop_at_once(armilla_context *context, rank_numbers *own, armilla_options *options)
{
    (void)own;
    (void)options;
    armilla_context_set_watch(context, stop_first_look, NULL);
    return ARMILLA_OK;
}

static const struct spoiling {
    const char *what;
    armilla_status (*spoil)(armilla_context *context, rank_numbers *own, armilla_options *options);
    armilla_status status;
    const char *says;
    bool first; /* on rank 0 alone: its first samples are spoiled */
} spoilings[] = {
    {"bad data", put_nan, ARMILLA_BAD_DATA, "NaN", true},
    {"no memory", take_memory, ARMILLA_NO_MEMORY, "out of memory", false},
    {"another rank of the model", change_rank, ARMILLA_BAD_ARGUMENT, "different numbers", false},
    {"stopped before there is a result", stop_at_once, ARMILLA_STOPPED, "stopped", false},
    {"stopped by a callback", stop_by_callback, ARMILLA_OK, NULL, false},
    {"stopped by the watch", stop_by_watch, ARMILLA_OK, NULL, false},
};

static void check_ended(const struct spoiling *bad, int size)
{
    for (int r = 0; r < size; r++) {
        if (outcomes[r].status != bad->status) print_error("rank %d: %s\n", r, outcomes[r].message);
        REFERENCE_HOLDS(outcomes[r].status == bad->status);
        if (bad->says) {
            REFERENCE_HOLDS(strcmp(outcomes[r].message, outcomes[0].message) == 0);
            REFERENCE_HOLDS(strstr(outcomes[r].message, bad->says) != NULL);
            continue;
        }
        REFERENCE_HOLDS(outcomes[r].stop == ARMILLA_STOP_INTERRUPTED);
        REFERENCE_HOLDS(outcomes[r].iterations == outcomes[0].iterations);
        REFERENCE_HOLDS(outcomes[r].objective == outcomes[0].objective);
    }
}

static void test_one_ends_all(void **state)
{
    static const int sizes[] = {1, 2, 3, 7};
    const rank_scene s = {
        "one ends all", 12,   3000,           4, 1, ARMILLA_F32, "nonnegative", "nonneg-sphere", "fast",
        NULL,           NULL, .max_iter = 200};
    uint64_t random = 18;
    (void)state;
    rank_numbers x = rank_numbers_make(&s, &random);
    for (size_t i = 0; i < sizeof spoilings / sizeof *spoilings; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            for (int bad = 0; bad < sizes[k] && (bad == 0 || !spoilings[i].first); bad += 2) {
                rank_trial t = {.s = &s,
                                .x = &x,
                                .size = sizes[k],
                                .threads = 1,
                                .outcomes = outcomes,
                                .short_of_calls = true,
                                .bad_rank = bad,
                                .spoil = spoilings[i].spoil};
                if (sizes[k] == 1 && spoilings[i].spoil == change_rank) continue;
                reference_scene("%s on rank %d of %d", spoilings[i].what, bad, sizes[k]);
                reference_run_ranks(sizes[k], -1, rank_trial_run, &t);
                check_ended(&spoilings[i], sizes[k]);
            }
    rank_numbers_free(&x);
}

/* A message that is lost, whichever it is, ends all ranks, and none waits. */
static void test_lost_messages(void **state)
{
    const rank_scene s = {
        "lost messages", 6,    700,          3, 1, ARMILLA_F64, "nonnegative", "nonneg-sphere", "fast",
        "kmeans++",      NULL, .max_iter = 2};
    uint64_t random = 19;
    (void)state;
    rank_numbers x = rank_numbers_make(&s, &random);
    for (int64_t cut = 0, lost = 1; lost > 0; cut += reference_effort(7, 60)) {
        rank_trial t = {.s = &s, .x = &x, .size = 3, .threads = 1, .outcomes = outcomes, .short_of_calls = true};
        reference_scene("message %d is lost", (int)cut);
        reference_run_ranks(3, cut, rank_trial_run, &t);
        lost = 0;
        for (int r = 0; r < 3; r++) {
            REFERENCE_HOLDS(outcomes[r].status == ARMILLA_OK || outcomes[r].status == ARMILLA_IO_ERROR);
            lost += outcomes[r].status == ARMILLA_IO_ERROR;
        }
    }
    rank_numbers_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_ends_all),
        cmocka_unit_test(test_lost_messages),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
