/* Estimates of the time that is left. */
#include "base/plan.h"

#include <math.h>
#include <string.h>

/* What is known of this machine before anything is measured weighs as much as that part of the plan. */
#define PRIOR 0.005
/* Nor is it so many times faster or slower than an ordinary one. */
#define MOST_FACTOR 20.0
/* A part that has come so far tells by itself how long it takes; one whose length is anybody's guess takes,
 * before that, so many times what it has taken at least. */
#define TELLING 0.3
#define LOOSE_TELLING 0.25
#define LOOSE_AHEAD 5.0
/* Runs on the same graph are alike: few of them tell. */
#define ALIKE_TELLING 0.1
/* Before the end no more than that is reported. */
#define MOST_DONE 0.99
/* Iterations that have not begun end when they have converged, which takes such parts of what is expected. */
#define SOONEST 0.2
#define LATEST 4.0

static const struct {
    const char *word;
    armilla_stage stage;
    bool loose;
} phases[] = {
#define ARMILLA_ROW(name, stage, word, loose) {word, stage, loose},
    ARMILLA_PHASE_LIST(ARMILLA_ROW)
#undef ARMILLA_ROW
};

static double telling_of(armilla_phase phase)
{
    if (phase == ARMILLA_PHASE_NUMBER || phase == ARMILLA_PHASE_COMMUNITIES) return ALIKE_TELLING;
    return phases[phase].loose ? LOOSE_TELLING : TELLING;
}

const char *armilla_phase_word(armilla_phase phase)
{
    return (unsigned)phase < ARMILLA_PHASE_COUNT ? phases[phase].word : "unknown";
}

armilla_stage armilla_phase_stage(armilla_phase phase)
{
    return (unsigned)phase < ARMILLA_PHASE_COUNT ? phases[phase].stage : ARMILLA_STAGE_SURVEY;
}

armilla_phase armilla_phase_of(armilla_stage stage)
{
    int phase = 0;
    while (phase < ARMILLA_PHASE_COUNT && phases[phase].stage != stage) phase++;
    return phase < ARMILLA_PHASE_COUNT ? (armilla_phase)phase : ARMILLA_PHASE_SURVEY;
}

static void remove_parts(armilla_plan *plan, int first, int count)
{
    memmove(plan->parts + first, plan->parts + first + count,
            (size_t)(plan->count - first - count) * sizeof *plan->parts);
    plan->count -= count;
}

/* The first part from `from` on that is of that kind of call; the number of parts where there is none. */
static int find_work(const armilla_plan *plan, armilla_work work, int from)
{
    while (from < plan->count && plan->parts[from].work != work) from++;
    return from;
}

/* Parts of that kind that follow one another. */
static int run_of(const armilla_plan *plan, armilla_work work, int first)
{
    int last = first;
    while (last < plan->count && plan->parts[last].work == work) last++;
    return last - first;
}

void armilla_plan_call(armilla_plan *plan, armilla_work work)
{
    const int first = find_work(plan, work, plan->begun);
    plan->place = first < plan->count ? first : plan->begun;
    remove_parts(plan, first, run_of(plan, work, first));
}

static bool insert(armilla_plan *plan, int place, const armilla_plan_part *part)
{
    if (plan->count == ARMILLA_PLAN_MOST) return false;
    memmove(plan->parts + place + 1, plan->parts + place, (size_t)(plan->count - place) * sizeof *part);
    plan->parts[place] = *part;
    plan->count++;
    return true;
}

void armilla_plan_expect(armilla_plan *plan, armilla_work work, armilla_phase phase, double seconds)
{
    const armilla_plan_part part = {.phase = phase, .work = work, .expected = seconds};
    if (!(seconds > 0)) return;
    if (insert(plan, plan->place, &part)) plan->place++;
}

void armilla_plan_revise(armilla_plan *plan, armilla_work work, armilla_phase phase, double seconds)
{
    for (int i = plan->active ? plan->begun - 1 : plan->begun; i < plan->count; i++) {
        if (plan->parts[i].work != work || plan->parts[i].phase != phase) continue;
        /* What is known of one is likely of those that follow. */
        const double times = plan->parts[i].expected > 0 ? seconds / plan->parts[i].expected : 1;
        plan->parts[i].expected = seconds;
        for (int next = i + 1; next < plan->count; next++)
            if (plan->parts[next].work == work && plan->parts[next].phase == phase) plan->parts[next].expected *= times;
        return;
    }
}

static void end_part(armilla_plan *plan, double clock)
{
    if (plan->active) plan->parts[plan->begun - 1].taken += fmax(clock - plan->entered, 0);
    plan->active = false;
    plan->fraction = plan->seen = plan->advanced = 0;
}

void armilla_plan_leave(armilla_plan *plan, armilla_work work, double clock)
{
    end_part(plan, clock);
    /* Only what follows at once: a later call of the same kind is another. */
    remove_parts(plan, plan->begun, run_of(plan, work, plan->begun));
    plan->place = plan->count;
}

void armilla_plan_begin(armilla_plan *plan, armilla_work work, armilla_phase phase, double clock)
{
    int next = plan->begun;
    if (plan->begun == 0) plan->first = clock;
    end_part(plan, clock);
    while (next < plan->count && (plan->parts[next].work != work || plan->parts[next].phase != phase)) next++;
    if (next == plan->count) {
        const armilla_plan_part part = {.phase = phase, .work = work};
        next = plan->begun;
        if (!insert(plan, next, &part)) return;
    }
    /* Those before it in the same call are left out; those of another call are only waiting. */
    int skipped = next;
    while (skipped > plan->begun && plan->parts[skipped - 1].work == work) skipped--;
    const armilla_plan_part part = plan->parts[next];
    remove_parts(plan, skipped, next - skipped + 1);
    (void)insert(plan, plan->begun, &part);
    plan->begun++;
    plan->place = plan->begun + run_of(plan, work, plan->begun);
    plan->entered = clock;
    plan->soonest = plan->latest = 1;
    plan->active = true;
}

/* The end of iterations is a guess, and may turn out to be farther away. */
static bool may_fall(const armilla_plan *plan)
{
    return plan->parts[plan->begun - 1].phase == ARMILLA_PHASE_ITERATIONS;
}

void armilla_plan_reach(armilla_plan *plan, double fraction)
{
    if (!plan->active) return;
    if (fraction > plan->fraction || may_fall(plan)) plan->fraction = fmin(fraction, 1);
}

void armilla_plan_bound(armilla_plan *plan, double soonest, double latest)
{
    plan->soonest = soonest;
    plan->latest = latest;
}

/* The part in progress at this speed. */
static double seconds_of(const armilla_plan *plan, double clock, double factor)
{
    const armilla_plan_part *part = &plan->parts[plan->begun - 1];
    const double passed = clock - plan->entered, guess = part->expected * factor;
    const bool loose = phases[part->phase].loose;
    const double weight = fmin(plan->fraction / telling_of(part->phase), 1);
    /* Between two steps of what is reported neither the last step nor this moment is where the part is. */
    const double measured = plan->fraction > 0 ? sqrt(passed * fmin(plan->advanced, passed)) / plan->fraction : 0;
    const double whole = weight * measured + (1 - weight) * fmax(guess, passed * (loose ? LOOSE_AHEAD : 1));
    return fmax(whole, passed);
}

/* How much slower this machine is than an ordinary one, by the parts whose length is no guess. */
static double factor_of(const armilla_plan *plan)
{
    double expected = 0, taken = 0, all = 0;
    for (int i = 0; i < plan->count; i++) all += plan->parts[i].expected;
    for (int i = 0; i < plan->begun; i++) {
        const armilla_plan_part *part = &plan->parts[i];
        const bool last = plan->active && i == plan->begun - 1;
        if (phases[part->phase].loose || !(part->expected > 0)) continue;
        expected += part->expected * (last ? plan->seen : 1);
        taken += last ? plan->advanced : part->taken;
    }
    const double prior = PRIOR * all;
    const double factor = expected + prior > 0 ? (taken + prior) / (expected + prior) : 1;
    return fmin(fmax(factor, 1 / MOST_FACTOR), MOST_FACTOR);
}

static bool has_moved(const armilla_plan *plan)
{
    return plan->fraction > plan->seen || (may_fall(plan) && plan->fraction < plan->seen);
}

static bool converges(armilla_phase phase)
{
    return phase == ARMILLA_PHASE_ITERATIONS || phase == ARMILLA_PHASE_FITS;
}

/* Adds a part of which so many seconds are expected, no part of a loose one behind the deadline. */
static void add_part(armilla_outlook *outlook, armilla_phase phase, const double seconds[3], double until_deadline)
{
    double *const sums[] = {&outlook->left, &outlook->soonest, &outlook->latest};
    for (int i = 0; i < 3; i++) {
        const double most = phases[phase].loose ? fmax(until_deadline - *sums[i], 0) : INFINITY;
        *sums[i] += fmin(seconds[i], most);
    }
}

armilla_outlook armilla_plan_estimate(armilla_plan *plan, double clock, double deadline)
{
    armilla_outlook outlook = {.left = 0};
    if (plan->active && has_moved(plan)) {
        plan->seen = plan->fraction;
        plan->advanced = clock - plan->entered;
    }
    const double factor = factor_of(plan), passed = plan->begun > 0 ? clock - plan->first : 0;
    const double until = deadline > 0 ? fmax(deadline - clock, 0) : INFINITY;
    bool known = false;
    if (plan->active) {
        const armilla_plan_part *part = &plan->parts[plan->begun - 1];
        const double own = fmax(seconds_of(plan, clock, factor) - (clock - plan->entered), 0);
        add_part(&outlook, part->phase, (double[]){own, own * plan->soonest, own * plan->latest}, until);
        known |= part->expected > 0 || plan->fraction > 0;
    }
    for (int i = plan->begun; i < plan->count; i++) {
        const armilla_plan_part *part = &plan->parts[i];
        const double own = part->expected * factor;
        const bool open = converges(part->phase);
        add_part(&outlook, part->phase, (double[]){own, open ? own * SOONEST : own, open ? own * LATEST : own}, until);
        known = true;
    }
    const double now = passed + outlook.left > 0 ? passed / (passed + outlook.left) : 0;
    plan->reached = fmax(plan->reached, fmin(now, MOST_DONE));
    outlook.done = plan->reached;
    if (!known) outlook.left = outlook.soonest = outlook.latest = NAN;
    return outlook;
}
