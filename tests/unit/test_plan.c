/* Progress of whole jobs: three that were recorded, by processor time on one core, are replayed with a clock of the test,
 * also on machines that are much slower or faster; and the plan's own rules. */
#include "unit/fixture.h"

#include "base/context.h"
#include "base/workload.h"

#include <math.h>
#include <string.h>

/* What was told at that second: the part in progress, and how far it was. */
typedef struct moment {
    double seconds;
    armilla_work work;
    armilla_phase phase;
    double fraction;
} moment;

/* armilla cluster without --k, of 120000 samples with 32 features; armilla neighbors --recall 0.98 of 300000 with 64;
 * armilla fit --model spherical-nmf --rank 8 --restarts 12 of 20000 with 40. */
static const moment cluster_moments[] = {
    {0, ARMILLA_WORK_RECIPE, ARMILLA_PHASE_SURVEY, 0},
    {0.07, ARMILLA_WORK_FIT, ARMILLA_PHASE_SURVEY, 0},
    {0.128, ARMILLA_WORK_FIT, ARMILLA_PHASE_START, 0},
    {0.155, ARMILLA_WORK_FIT, ARMILLA_PHASE_ITERATIONS, 0},
    {0.185, ARMILLA_WORK_FIT, ARMILLA_PHASE_CODES, 0},
    {0.234, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_SURVEY, 0},
    {0.285, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_CELLS, 0},
    {0.602, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_RECALL, 0},
    {0.671, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NEIGHBORS, 0},
    {2.684, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_WEIGHTS, 0.2},
    {2.764, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_CELLS, 0},
    {3.057, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_RECALL, 0},
    {3.119, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NEIGHBORS, 0},
    {5.111, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_WEIGHTS, 0.2},
    {5.214, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_CELLS, 0},
    {5.469, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_RECALL, 0},
    {5.52, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NEIGHBORS, 0},
    {6.905, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_WEIGHTS, 0.2},
    {7.296, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0},
    {9.298, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.0882},
    {11.301, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.1471},
    {13.318, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.1985},
    {15.319, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.2574},
    {17.322, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.3162},
    {19.323, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.3676},
    {21.345, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.4265},
    {23.35, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.4853},
    {25.352, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.5368},
    {27.355, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.5882},
    {29.356, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.6397},
    {31.358, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.6912},
    {33.37, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.7353},
    {35.378, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.7794},
    {37.384, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.8235},
    {39.385, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.8676},
    {41.417, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.9118},
    {43.419, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.9412},
    {45.42, ARMILLA_WORK_CLUSTER, ARMILLA_PHASE_NUMBER, 0.9804},
};
#define CLUSTER_END 46.169

static const moment search_moments[] = {
    {0.002, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_SURVEY, 0},
    {0.103, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_CELLS, 0},
    {0.504, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_CELLS, 0.3364},
    {0.907, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_CELLS, 0.6843},
    {1.34, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_CELLS, 0.9946},
    {1.372, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_RECALL, 0},
    {1.607, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_NEIGHBORS, 0},
    {2.028, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_NEIGHBORS, 0.041},
    {2.461, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_NEIGHBORS, 0.0956},
    {2.882, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_NEIGHBORS, 0.1502},
    {3.288, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_NEIGHBORS, 0.2048},
    {3.705, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_NEIGHBORS, 0.2594},
    {4.116, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_NEIGHBORS, 0.314},
    {4.606, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_NEIGHBORS, 0.3823},
    {5.087, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_NEIGHBORS, 0.4506},
    {5.499, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_NEIGHBORS, 0.5052},
    {5.902, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_NEIGHBORS, 0.5598},
    {6.385, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_NEIGHBORS, 0.6281},
    {6.878, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_NEIGHBORS, 0.6963},
    {7.348, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_NEIGHBORS, 0.7646},
    {7.833, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_NEIGHBORS, 0.8329},
    {8.335, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_NEIGHBORS, 0.9011},
    {8.838, ARMILLA_WORK_NEIGHBORS, ARMILLA_PHASE_NEIGHBORS, 0.9694},
};
#define SEARCH_END 9.154

static const moment fit_moments[] = {
    {0, ARMILLA_WORK_FIT, ARMILLA_PHASE_SURVEY, 0},        {0.005, ARMILLA_WORK_FIT, ARMILLA_PHASE_START, 0},
    {0.054, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0},      {0.304, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.0677},
    {0.869, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.0704}, {1.119, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.0785},
    {1.369, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.0901}, {1.619, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.1164},
    {1.869, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.269},  {2.119, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.3241},
    {2.369, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.3512}, {2.619, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.3724},
    {2.869, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.3988}, {3.119, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.4277},
    {3.369, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.4858}, {3.619, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.548},
    {3.869, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.582},  {4.119, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.5994},
    {4.369, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.6159}, {4.619, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.6412},
    {4.87, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.6805},  {5.12, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.7392},
    {5.37, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.8059},  {5.62, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.8485},
    {5.87, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.8744},  {6.121, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.8953},
    {6.371, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.9184}, {6.621, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.9606},
    {6.871, ARMILLA_WORK_FIT, ARMILLA_PHASE_FITS, 0.975},
};
#define FIT_END 7.018

typedef struct job {
    const char *name;
    armilla_workload announced[4]; /* until one without a kind */
    const moment *moments;
    size_t count;
    double end;
} job;

#define RECORDED(rows) rows, sizeof rows / sizeof *rows
#define SHAPE .size = sizeof(armilla_workload), .threads = 1

static const job jobs[] = {
    {"cluster",
     {{SHAPE, .work = ARMILLA_WORK_RECIPE, .samples = 120000, .features = 32},
      {SHAPE, .work = ARMILLA_WORK_FIT, .samples = 120000, .features = 32, .rank = 32, .restarts = 1, .max_iter = 500},
      {SHAPE, .work = ARMILLA_WORK_CLUSTER, .samples = 120000, .features = 32, .rank = 32, .codes = true,
       .graph = true}},
     RECORDED(cluster_moments),
     CLUSTER_END},
    {"neighbors",
     {{SHAPE, .work = ARMILLA_WORK_NEIGHBORS, .samples = 300000, .features = 64, .count = 10, .recall = 0.98}},
     RECORDED(search_moments),
     SEARCH_END},
    {"fit",
     {{SHAPE, .work = ARMILLA_WORK_FIT, .samples = 20000, .features = 40, .rank = 8, .restarts = 12, .max_iter = 500}},
     RECORDED(fit_moments),
     FIT_END},
};

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
    for (int i = 0; i < 4 && own->announced[i].size > 0; i++) {
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
        double done = NAN, left = NAN;
        for (; next < own->count && own->moments[next].seconds <= now; last = &own->moments[next++])
            tell(&plan, last, &own->moments[next], clock_at(own->moments[next].seconds, slowness));
        armilla_plan_estimate(&plan, clock_at(now, slowness), 0, &done, &left);
        left /= slowness;
        assert_true(done >= before && done <= 0.99);
        before = done;
        if (step * 10 < STEPS) continue;
        if (left + slack < (rest + slack) / 2 || left + slack > 2 * (rest + slack))
            fail_msg("%s, %g times slower, at %.2f of %.2f s: %.2f s are left, not %.2f", own->name, slowness, now,
                     own->end, rest, left);
        if (step * 10 < 9 * STEPS) assert_true(done < 0.95 && left > 0);
    }
}

static void test_recorded(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        replay(&jobs[i], 1);
        replay(&jobs[i], 8);
        replay(&jobs[i], 0.25);
    }
}

/* Parts that were announced are replaced by those of the call, and what the call has not begun is forgotten with it. */
static void test_calls(void **state)
{
    armilla_plan plan = {.count = 0};
    double done = 0, left = 0;
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
    armilla_plan_estimate(&plan, 0, 0, &done, &left);
    assert_true(done == 0 && fabs(left - 30) < 1e-9);
    armilla_plan_begin(&plan, ARMILLA_WORK_FIT, ARMILLA_PHASE_ITERATIONS, 100); /* without a start */
    armilla_plan_reach(&plan, 0.5);
    armilla_plan_estimate(&plan, 110, 0, &done, &left);
    assert_true(fabs(left - (10 + 4 + 5)) < 1e-9 && fabs(done - 10.0 / 29) < 1e-9);
    armilla_plan_estimate(&plan, 110, 112, &done, &left); /* a deadline ends what can be ended */
    assert_true(left <= 2 + 5 + 1e-9);
    armilla_plan_leave(&plan, ARMILLA_WORK_FIT, 120);
    assert_int_equal(plan.count, 2);
    armilla_plan_begin(&plan, ARMILLA_WORK_WRITE, ARMILLA_PHASE_WRITING, 121);
    armilla_plan_leave(&plan, ARMILLA_WORK_WRITE, 126);
    armilla_plan_estimate(&plan, 126, 0, &done, &left);
    assert_true(isnan(left) && done <= 0.99);
}

/* More parts than there is space for are left out, and nothing else happens. */
static void test_many(void **state)
{
    armilla_plan plan = {.count = 0};
    double done = 0, left = 0;
    (void)state;
    for (int i = 0; i < 3 * ARMILLA_PLAN_MOST; i++)
        armilla_plan_begin(&plan, ARMILLA_WORK_OTHER, i % 2 ? ARMILLA_PHASE_CELLS : ARMILLA_PHASE_RECALL, i);
    assert_int_equal(plan.count, ARMILLA_PLAN_MOST);
    armilla_plan_expect(&plan, ARMILLA_WORK_FIT, ARMILLA_PHASE_CODES, 1);
    armilla_plan_estimate(&plan, 1000, 0, &done, &left);
    assert_true(done <= 0.99);
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
            assert_true(small > 0 && large > 100 * small);
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
    const struct CMUnitTest tests[] = {TEST(test_recorded), TEST(test_calls), TEST(test_many), TEST(test_workloads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
