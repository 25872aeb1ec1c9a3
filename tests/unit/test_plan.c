/* Progress of whole jobs that were recorded (plan_jobs.h, plan_held_out.h): they are replayed with a clock of the test, also on
 * machines that are much slower or faster; and the plan's own rules. */
#include "unit/plan_held_out.h"
#include "unit/plan_jobs.h"

#include "unit/fixture.h"

#include "base/context.h"
#include "base/workload.h"

#include <math.h>
#include <string.h>

/* The whole is asked for in so many steps; what is near 0 may be off by that part of the whole. */
enum { STEPS = 400 };
#define NEAR 0.03

/* The clock of this run, which begins at no round number. */
static double clock_at(double seconds, double slowness)
{
    return 1e5 + seconds * slowness;
}

static void announce(armilla_plan *plan, const job *own)
{
    for (int i = 0; i < ANNOUNCED && own->announced[i].size > 0; i++) {
        armilla_plan_call(plan, own->announced[i].work);
        plan->place = plan->count;
        armilla_workload_plan(&own->announced[i], plan);
    }
    plan->place = plan->count;
}

/* Takes the plan from one moment to the next. */
static void tell(armilla_plan *plan, const moment *last, const moment *next, double clock)
{
    const bool begins = !last || last->phase != next->phase || last->work != next->work;
    if (last && last->work != next->work) armilla_plan_leave(plan, last->work, clock);
    if (begins) armilla_plan_begin(plan, next->work, next->phase, clock);
    if (next->expected > 0) armilla_plan_revise(plan, next->work, next->phase, next->expected);
    armilla_plan_reach(plan, next->fraction);
}

/* The estimates of one run: from the first tenth on within a factor of two, never falling, and not at an end before it. */
static void replay(const job *own, double slowness)
{
    armilla_plan plan = {.count = 0};
    const moment *last = NULL;
    double before = 0;
    size_t next = 0;
    announce(&plan, own);
    for (int step = 0; step < STEPS; step++) {
        const double now = own->end * step / STEPS, rest = own->end - now, slack = NEAR * own->end;
        for (; next < own->count && own->moments[next].seconds <= now; last = &own->moments[next++])
            tell(&plan, last, &own->moments[next], clock_at(own->moments[next].seconds, slowness));
        const armilla_outlook outlook = armilla_plan_estimate(&plan, clock_at(now, slowness), 0);
        const double done = outlook.done, left = outlook.left / slowness;
        assert_true(outlook.soonest <= outlook.left && outlook.left <= outlook.latest);
        assert_true(done >= before && done <= 0.99);
        before = done;
        if (step * 10 < STEPS) continue;
        if (left + slack < (rest + slack) / 2 || left + slack > 2 * (rest + slack))
            fail_msg("%s, %g times slower, at %.2f of %.2f s: %.2f s are left, not %.2f", own->name, slowness, now,
                     own->end, rest, left);
        if (step * 10 < 9 * STEPS) assert_true(done < 0.95 && left > 0);
    }
}

static void replay_all(const job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        replay(&jobs[i], 1);
        replay(&jobs[i], 8);
        replay(&jobs[i], 0.25);
    }
}

static void test_tuned(void **state)
{
    (void)state;
    replay_all(tuned, sizeof tuned / sizeof *tuned);
}

static void test_held_out(void **state)
{
    (void)state;
    replay_all(held_out, sizeof held_out / sizeof *held_out);
}

/* Parts that were announced are replaced by those of the call, and what the call has not begun is forgotten with it. */
static void test_calls(void **state)
{
    armilla_plan plan = {.count = 0};
    (void)state;
    armilla_plan_expect(&plan, ARMILLA_WORK_FIT, ARMILLA_PHASE_ITERATIONS, 10);
    armilla_plan_expect(&plan, ARMILLA_WORK_WRITE, ARMILLA_PHASE_WRITING, 5);
    armilla_plan_expect(&plan, ARMILLA_WORK_WRITE, ARMILLA_PHASE_WRITING, 0);
    assert_int_equal(plan.count, 2);
    armilla_plan_call(&plan, ARMILLA_WORK_FIT);
    armilla_plan_expect(&plan, ARMILLA_WORK_FIT, ARMILLA_PHASE_START, 1);
    armilla_plan_expect(&plan, ARMILLA_WORK_FIT, ARMILLA_PHASE_ITERATIONS, 20);
    armilla_plan_expect(&plan, ARMILLA_WORK_FIT, ARMILLA_PHASE_CODES, 4);
    assert_int_equal(plan.count, 4);
    assert_int_equal(plan.parts[3].phase, ARMILLA_PHASE_WRITING);
    armilla_outlook outlook = armilla_plan_estimate(&plan, 0, 0);
    assert_true(outlook.done == 0 && fabs(outlook.left - 30) < 1e-9);
    assert_true(outlook.soonest < outlook.left && outlook.latest > outlook.left); /* of the iterations */
    armilla_plan_begin(&plan, ARMILLA_WORK_FIT, ARMILLA_PHASE_ITERATIONS, 100);   /* without a start */
    armilla_plan_reach(&plan, 0.5);
    outlook = armilla_plan_estimate(&plan, 110, 0);
    assert_true(fabs(outlook.left - (10 + 4 + 5)) < 1e-9 && fabs(outlook.done - 10.0 / 29) < 1e-9);
    armilla_plan_bound(&plan, 0.5, 3);
    outlook = armilla_plan_estimate(&plan, 110, 0);
    assert_true(fabs(outlook.soonest - (5 + 4 + 5)) < 1e-9 && fabs(outlook.latest - (30 + 4 + 5)) < 1e-9);
    outlook = armilla_plan_estimate(&plan, 110, 112); /* a deadline ends what can be ended */
    assert_true(outlook.left <= 2 + 5 + 1e-9 && outlook.latest <= 2 + 5 + 1e-9);
    armilla_plan_leave(&plan, ARMILLA_WORK_FIT, 120);
    assert_int_equal(plan.count, 2);
    armilla_plan_begin(&plan, ARMILLA_WORK_WRITE, ARMILLA_PHASE_WRITING, 121);
    armilla_plan_leave(&plan, ARMILLA_WORK_WRITE, 126);
    outlook = armilla_plan_estimate(&plan, 126, 0);
    assert_true(isnan(outlook.left) && isnan(outlook.latest) && outlook.done <= 0.99);
}

/* What is learned of one part is expected of the later ones with its phase; and how far iterations
 * are may fall, though what is done of the whole never does. */
static void test_revised(void **state)
{
    armilla_plan plan = {.count = 0};
    (void)state;
    armilla_plan_expect(&plan, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NEIGHBORS, 1);
    armilla_plan_expect(&plan, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_ITERATIONS, 8);
    armilla_plan_expect(&plan, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NEIGHBORS, 2);
    armilla_plan_begin(&plan, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NEIGHBORS, 50);
    armilla_plan_revise(&plan, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NEIGHBORS, 5);
    armilla_plan_revise(&plan, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_CELLS, 100); /* of which there is none */
    assert_true(fabs(armilla_plan_estimate(&plan, 50, 0).left - (5 + 8 + 10)) < 1e-9);
    armilla_plan_reach(&plan, 0.5);
    armilla_plan_reach(&plan, 0.25);
    assert_true(plan.fraction == 0.5);
    armilla_plan_begin(&plan, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_ITERATIONS, 55);
    armilla_plan_reach(&plan, 0.8);
    const armilla_outlook before = armilla_plan_estimate(&plan, 59, 0);
    assert_true(before.left < 12);
    armilla_plan_reach(&plan, 0.4);
    const armilla_outlook outlook = armilla_plan_estimate(&plan, 59, 0);
    assert_true(outlook.done >= before.done && fabs(outlook.left - (6 + 10)) < 1e-6);
}

/* More parts than there is space for are left out, and nothing else happens. */
static void test_many(void **state)
{
    armilla_plan plan = {.count = 0};
    (void)state;
    for (int i = 0; i < 3 * ARMILLA_PLAN_MOST; i++)
        armilla_plan_begin(&plan, ARMILLA_WORK_OTHER, i % 2 ? ARMILLA_PHASE_CELLS : ARMILLA_PHASE_RECALL, i);
    assert_int_equal(plan.count, ARMILLA_PLAN_MOST);
    armilla_plan_expect(&plan, ARMILLA_WORK_FIT, ARMILLA_PHASE_CODES, 1);
    assert_true(armilla_plan_estimate(&plan, 1000, 0).done <= 0.99);
}

/* Every kind of work has an estimate that grows with its data, and what cannot be is refused. */
static void test_workloads(void **state)
{
    (void)state;
    for (int work = ARMILLA_WORK_OTHER + 1; work < ARMILLA_WORK_COUNT; work++)
        for (int graph = 0; graph < 2; graph++) {
            armilla_workload own = {.size = sizeof own,
                                    .work = (armilla_work)work,
                                    .threads = 1,
                                    .samples = 1000,
                                    .features = 20,
                                    .rank = 5,
                                    .k = 4,
                                    .tries = 10,
                                    .bytes = 1000,
                                    .graph = graph};
            double small = 0, large = 0;
            assert_int_equal(armilla_workload_seconds(context, &own, &small), ARMILLA_OK);
            own.samples = own.bytes = 1000000;
            assert_int_equal(armilla_workload_seconds(context, &own, &large), ARMILLA_OK);
            /* The verdict on structure is of a sample. */
            assert_true(small > 0 && (large > 100 * small || work == ARMILLA_WORK_STRUCTURE));
            own.k = 0;
            double found = 0;
            assert_int_equal(armilla_workload_seconds(context, &own, &found), ARMILLA_OK);
            if (graph && work == ARMILLA_WORK_CLUSTER) assert_true(found > 2 * large);
        }
    armilla_workload wrong = {.size = 3};
    double seconds = 0;
    assert_int_equal(armilla_workload_seconds(context, &wrong, &seconds), ARMILLA_BAD_ARGUMENT);
    assert_int_equal(armilla_context_expect(context, &wrong), ARMILLA_BAD_ARGUMENT);
    assert_int_equal(armilla_context_expect(context, NULL), ARMILLA_OK);
    assert_int_equal(armilla_context_expect(NULL, NULL), ARMILLA_BAD_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_tuned),   TEST(test_held_out), TEST(test_calls),
                                       TEST(test_revised), TEST(test_many),     TEST(test_workloads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
