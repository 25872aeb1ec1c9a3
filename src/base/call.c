/* Asking whether the call in progress should go on. */
#include "base/call.h"

#include "base/clock.h"
#include "base/ranks.h"
#include "base/team.h"

#include <math.h>
#include <unistd.h>

static const char *const stage_words[] = {
#define ARMILLA_WORD(name, word) word,
    ARMILLA_STAGE_LIST(ARMILLA_WORD)
#undef ARMILLA_WORD
};

const char *armilla_stage_word(armilla_stage stage)
{
    return (unsigned)stage < ARMILLA_STAGE_COUNT ? stage_words[stage] : "unknown";
}

void armilla_context_set_watch(armilla_context *context, armilla_watch watch, void *user)
{
    if (!context) return;
    context->watch = watch;
    context->watch_user = user;
}

static const armilla_interval everything = {0, 1};

static void begin_stage(armilla_call *call, armilla_stage stage)
{
    call->stage = stage;
    call->begun = armilla_clock();
    call->low = call->reached = 0;
    call->done = call->total = 0;
    call->high = 1;
    call->step = call->own = everything;
}

/* What the context was given, or the cores that this process may use, and where ranks divide the machine no more than its
 * part of them. */
static int64_t default_threads(const armilla_context *context)
{
    if (context->threads > 0) return context->threads;
    const int64_t own = armilla_threads_choose(0), local = context->ranks ? context->ranks->local : 1;
    const int64_t part = sysconf(_SC_NPROCESSORS_ONLN) / (local > 0 ? local : 1);
    return local > 1 && part < own ? (part > 0 ? part : 1) : own;
}

armilla_status armilla_call_enter(armilla_context *context, int64_t threads)
{
    armilla_call *call = &context->call;
    if (call->open) {
        armilla_set_error(context, "the context is in use by the call that this one was made from; use a context of "
                                   "its own there");
        return ARMILLA_BAD_ARGUMENT;
    }
    const armilla_status status = armilla_pool_new(
        context, armilla_threads_choose(threads > 0 ? threads : default_threads(context)), &context->pool);
    if (status != ARMILLA_OK) return status;
    *call = (armilla_call){.open = true, .round = everything};
    if (!context->planned) context->plan = (armilla_plan){.count = 0};
    begin_stage(call, ARMILLA_STAGE_SURVEY);
    return ARMILLA_OK;
}

bool armilla_call_helped(armilla_context *context, armilla_helper *helper)
{
    if (!context->call.open) return false;
    pthread_mutex_lock(&context->helper_lock);
    helper->next = context->helpers;
    context->helpers = helper;
    pthread_mutex_unlock(&context->helper_lock);
    return true;
}

void armilla_call_unhelped(armilla_context *context, armilla_helper *helper)
{
    pthread_mutex_lock(&context->helper_lock);
    armilla_helper **at = &context->helpers;
    while (*at && *at != helper) at = &(*at)->next;
    if (*at) *at = helper->next;
    pthread_mutex_unlock(&context->helper_lock);
}

/* Helpers of the call, which has no other threads any more. */
static void dismiss_helpers(armilla_context *context)
{
    while (context->helpers) {
        armilla_helper *helper = context->helpers;
        context->helpers = helper->next;
        helper->rest(helper);
    }
}

void armilla_call_leave(armilla_context *context)
{
    dismiss_helpers(context);
    armilla_pool_free(context->pool);
    context->pool = NULL;
    armilla_plan_leave(&context->plan, context->call.work, armilla_clock());
    context->call = (armilla_call){.open = false};
}

armilla_status armilla_call_enter_together(armilla_context *context, int64_t threads)
{
    const bool nested = context->call.open; /* then the messages are those of the outer call */
    const armilla_status own = armilla_call_enter(context, threads);
    if (nested) return own;
    context->call.together = context->ranks != NULL;
    const armilla_status status = armilla_ranks_agree(context, ARMILLA_NO_SLOT, own);
    context->failed_on_all = status != ARMILLA_OK;
    if (status != ARMILLA_OK) armilla_call_leave(context);
    return status;
}

armilla_status armilla_call_leave_together(armilla_context *context, armilla_status status)
{
    status = armilla_ranks_end(context, status);
    armilla_call_leave(context);
    return status;
}

int armilla_call_threads(const armilla_context *context)
{
    return context->pool ? armilla_pool_most(context->pool) : 1;
}

void armilla_call_limit(armilla_context *context, double deadline)
{
    context->call.deadline = deadline;
}

/* The part of a fit that each stage takes: iterations take most of it. */
static const armilla_interval places[ARMILLA_STAGE_COUNT] = {
    [ARMILLA_STAGE_START] = {0, 0.05},
    [ARMILLA_STAGE_ITERATIONS] = {0.05, 0.9},
    [ARMILLA_STAGE_CODES] = {0.9, 1},
};

static void begin_part(armilla_context *context, armilla_phase phase)
{
    context->call.rounds = false;
    context->call.round = everything;
    armilla_plan_begin(&context->plan, context->call.work, phase, armilla_clock());
}

void armilla_call_phase(armilla_context *context, armilla_phase phase)
{
    armilla_call *call = &context->call;
    if (call->nested > 0) return;
    begin_stage(call, armilla_phase_stage(phase));
    begin_part(context, phase);
}

void armilla_call_stage(armilla_context *context, armilla_stage stage)
{
    armilla_call *call = &context->call;
    if (call->nested > 0 || call->stage == stage) return;
    begin_stage(call, stage);
    if (!call->rounds)
        begin_part(context, armilla_phase_of(stage));
    else if (context->plan.active && context->plan.parts[context->plan.begun - 1].phase == ARMILLA_PHASE_FITS)
        call->own = places[stage];
}

void armilla_call_round(armilla_context *context, armilla_phase phase, double low, double high)
{
    armilla_call *call = &context->call;
    if (call->nested > 0) return;
    if (!call->rounds) armilla_call_phase(context, phase);
    call->rounds = true;
    call->round = (armilla_interval){low, high};
    call->own = call->step = everything;
}

void armilla_call_rounds_end(armilla_context *context)
{
    context->call.rounds = false;
}

void armilla_call_step(armilla_context *context, int64_t step, int64_t steps)
{
    armilla_call *call = &context->call;
    if (call->nested > 0 || steps <= 0) return;
    call->low = fmin((double)step / (double)steps, 1);
    call->high = fmin((double)(step + 1) / (double)steps, 1);
    call->step = (armilla_interval){call->low, call->high};
}

void armilla_call_guess(armilla_context *context, double low, double high)
{
    if (context->call.nested == 0) context->call.step = (armilla_interval){low, high};
}

void armilla_call_bound(armilla_context *context, double soonest, double latest)
{
    if (context->call.nested == 0 && context->plan.active) armilla_plan_bound(&context->plan, soonest, latest);
}

void armilla_call_rest(armilla_context *context)
{
    armilla_call_guess(context, context->plan.active ? context->plan.fraction : 0, 1);
}

void armilla_call_nested_enter(armilla_context *context)
{
    context->call.nested++;
}

void armilla_call_nested_leave(armilla_context *context)
{
    context->call.nested--;
}

void armilla_call_uninterrupted_enter(armilla_context *context)
{
    context->call.uninterrupted++;
}

void armilla_call_uninterrupted_leave(armilla_context *context)
{
    context->call.uninterrupted--;
}

bool armilla_call_stopped(const armilla_context *context, armilla_stop *reason)
{
    const int stopped = atomic_load_explicit(&context->call.stopped, memory_order_relaxed);
    if (stopped > 0 && reason) *reason = (armilla_stop)(stopped - 1);
    return stopped > 0;
}

void armilla_call_stop(armilla_context *context, armilla_stop reason)
{
    armilla_call *call = &context->call;
    atomic_int *flag = call->together ? &call->wish : &call->stopped;
    if (armilla_call_stopped(context, NULL)) return;
    if (call->deferred && call->noted == 0) call->noted = 1 + (int)reason;
    if (!call->deferred && atomic_load_explicit(flag, memory_order_relaxed) == 0)
        atomic_store_explicit(flag, 1 + (int)reason, memory_order_relaxed);
}

void armilla_call_defer_stop(armilla_context *context)
{
    armilla_call *call = &context->call;
    call->deferred = true;
    /* A wish that the other ranks have not heard of would be agreed on while stops are deferred. */
    if (call->noted == 0 && !armilla_call_stopped(context, NULL)) call->noted = atomic_exchange(&call->wish, 0);
}

bool armilla_call_accept_stop(armilla_context *context)
{
    armilla_call *call = &context->call;
    const bool deferred = call->deferred;
    call->deferred = false;
    if (call->noted > 0) armilla_call_stop(context, (armilla_stop)(call->noted - 1));
    call->noted = 0;
    return deferred;
}

/* Whether a pass is to be abandoned: also where the other ranks do not know yet, for they learn it at its end. */
static bool is_unwanted(const armilla_context *context)
{
    return armilla_call_stopped(context, NULL) || atomic_load_explicit(&context->call.wish, memory_order_relaxed) > 0;
}

/* Tells the context's watch how far the call is; whether it wants the end. */
static bool report(armilla_context *context, double clock)
{
    armilla_call *call = &context->call;
    armilla_progress progress = {
        .size = sizeof progress, .stage = call->stage, .fraction = call->reached, .remaining = NAN};
    if (!context->watch) return false;
    progress.done = call->done;
    progress.total = call->total;
    progress.stopping = call->noted > 0 || is_unwanted(context);
    progress.seconds = clock - call->begun;
    if (call->reached > 0) progress.remaining = progress.seconds * (1 - call->reached) / call->reached;
    const armilla_plan *plan = &context->plan;
    progress.phase =
        armilla_phase_word(plan->active ? plan->parts[plan->begun - 1].phase : armilla_phase_of(call->stage));
    const armilla_outlook outlook = armilla_plan_estimate(&context->plan, clock, call->deadline);
    progress.whole = outlook.done;
    progress.left = outlook.left;
    progress.soonest = outlook.soonest;
    progress.latest = outlook.latest;
    return context->watch(context->watch_user, &progress) != 0;
}

/* Asks once, also after the end has been asked for: the watch still wants to know how far it is. */
static void ask(armilla_context *context)
{
    armilla_call *call = &context->call;
    if (!call->open || (!context->watch && call->deadline <= 0)) return;
    const double clock = armilla_clock();
    const bool stopped = armilla_call_stopped(context, NULL);
    /* Clocks differ: that of rank 0 counts for all. */
    const bool keeps_time = armilla_ranks_rank(context) == 0;
    if (!stopped && keeps_time && call->deadline > 0 && clock >= call->deadline)
        armilla_call_stop(context, ARMILLA_STOP_TIME_LIMIT);
    if (report(context, clock)) armilla_call_stop(context, ARMILLA_STOP_INTERRUPTED);
}

bool armilla_call_over(armilla_context *context)
{
    ask(context);
    return armilla_call_stopped(context, NULL);
}

static double within(armilla_interval span, double part)
{
    return span.low + (span.high - span.low) * part;
}

/* The place of that part of the step within the plan's part. */
static double place_of(const armilla_call *call, double part)
{
    return within(call->round, within(call->own, within(call->step, part)));
}

bool armilla_call_reached(armilla_context *context, int64_t done, int64_t total)
{
    armilla_call *call = &context->call;
    call->done = done;
    call->total = total;
    const double part = call->nested == 0 && total > 0 ? (double)done / (double)total : 0;
    call->reached = fmax(call->reached, call->low + (call->high - call->low) * part);
    if (!context->plan.active)
        armilla_plan_begin(&context->plan, call->work, armilla_phase_of(call->stage), armilla_clock());
    if (call->nested == 0) armilla_plan_reach(&context->plan, place_of(call, part));
    return armilla_call_over(context);
}

armilla_status armilla_call_pass(armilla_context *context, int thread, int64_t at, int64_t n)
{
    const armilla_call *call = &context->call;
    if (!call->open) return ARMILLA_OK;
    bool over = call->uninterrupted == 0 && is_unwanted(context); /* and then there is nothing to report */
    if (thread == 0 && !over) {
        (void)armilla_call_reached(context, at, n);
        over = call->uninterrupted == 0 && is_unwanted(context);
    }
    return over ? ARMILLA_STOPPED : ARMILLA_OK;
}

void armilla_call_count(armilla_context *context, int64_t samples)
{
    context->call.samples = samples;
    context->call.passes = 0;
    context->call.passes_before = -1;
}

void armilla_call_passed(armilla_context *context, int64_t samples)
{
    if (samples == context->call.samples) context->call.passes++;
}

void armilla_call_iterates(armilla_context *context, int64_t samples)
{
    armilla_call *call = &context->call;
    /* Iterations by which starts are compared are nested, and come before the first. */
    if (call->nested == 0 && samples == call->samples && call->passes_before < 0) call->passes_before = call->passes;
}

armilla_status armilla_call_explain(armilla_context *context)
{
    return armilla_fail(context, ARMILLA_STOPPED, "stopped before there was a result: nothing is kept; start again");
}
