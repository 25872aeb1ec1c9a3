/* The call in progress: its threads and kernels, what it is at, how far it has come, and whether it should end. Whoever works long asks here, so
 * that there is one answer, and one place that knows why. The caller's functions are called on the thread that made the
 * call and on no other; threads of a team read what that thread has been asked. */
#ifndef ARMILLA_BASE_CALL_H
#define ARMILLA_BASE_CALL_H

#include "base/plan.h"

#include <armilla/base.h>

#include <stdatomic.h>

struct armilla_kernels;

/* Threads that work beside those of the call, and rest when it ends: between calls there are none. */
typedef struct armilla_helper {
    struct armilla_helper *next;
    void (*rest)(struct armilla_helper *helper); /* its threads end; it has been taken from the list */
} armilla_helper;

/* A part of something, from 0 to 1. */
typedef struct armilla_interval {
    double low, high;
} armilla_interval;

/* A part of the context, zero between calls. */
typedef struct armilla_call {
    bool open;                                                      /* between enter and leave */
    const struct armilla_kernels *kernels[ARMILLA_PRECISION_COUNT]; /* by type, where chosen (linalg/kernels.h) */
    double deadline;                                                /* by armilla_clock; 0: none */
    atomic_int stopped;                                             /* 1 + armilla_stop, or 0 */
    int noted;                                                      /* the same, of a stop that is deferred */
    bool deferred;
    bool together;         /* all ranks make it (base/ranks.h); and then: */
    atomic_int wish;       /* as stopped, of this rank alone: it is everybody's when they have agreed on it */
    armilla_status agreed; /* the failure that all have agreed on last; ARMILLA_OK: none */
    bool lost;             /* another rank cannot be reached: nothing more is sent */
    int uninterrupted;     /* > 0: passes in progress go on to their end, stopped or not */
    int nested;            /* > 0: steps of a part of the stage, which is reported by itself */
    armilla_stage stage;
    double begun;        /* the stage's */
    double low, high;    /* what part of the stage the step in progress is */
    double reached;      /* the most that was reported of it */
    int64_t done, total; /* of the step */
    armilla_work work;   /* what kind of call it is */
    /* The place of the step in progress in the plan's part: within the stage, which is within the round. */
    armilla_interval step, own, round;
    bool rounds; /* stages come again and again: they begin no part of the plan */
    /* Passes over data of so many samples, the call's own, so far and before the first iteration (-1: none yet). */
    int64_t samples, passes, passes_before;
} armilla_call;

/* Around what a program calls, on so many threads at most (<= 0: those that this process may use): the number is asked for
 * here, and holds until the end. Refused within another call with the context, that is in a function that the library
 * calls back: the state of that call, its threads and its kernels are not to change. A call that was refused, or had no
 * memory, is not left. */
armilla_status armilla_call_enter(armilla_context *context, int64_t threads);
void armilla_call_leave(armilla_context *context);
/* The same pair for what ranks make together: they agree on the status, which is returned, also where one of them
 * cannot enter. */
armilla_status armilla_call_enter_together(armilla_context *context, int64_t threads);
armilla_status armilla_call_leave_together(armilla_context *context, armilla_status status);
/* The threads of the call; 1 where none is in progress. */
int armilla_call_threads(const armilla_context *context);

/* The helper's rest is called when the call in progress ends; false where there is none. On any thread of the call. */
bool armilla_call_helped(armilla_context *context, armilla_helper *helper);
/* It need not be any more. */
void armilla_call_unhelped(armilla_context *context, armilla_helper *helper);

/* The call's own end, by armilla_clock. */
void armilla_call_limit(armilla_context *context, double deadline);

void armilla_call_stage(armilla_context *context, armilla_stage stage);
/* What follows is step `step` of `steps` of the stage (from 0). */
void armilla_call_step(armilla_context *context, int64_t step, int64_t steps);
/* The same where the number of steps is not known: what follows is so much of the stage by a guess, which the fraction of
 * the stage leaves out. */
void armilla_call_guess(armilla_context *context, double low, double high);
/* What is left of the part in progress is likely between so many times what is expected. */
void armilla_call_bound(armilla_context *context, double soonest, double latest);
/* The same of what follows and is all that is left of it. */
void armilla_call_rest(armilla_context *context);
/* A part of a stage, or of several: of the plan, and by itself of what is reported of the stage. */
void armilla_call_phase(armilla_context *context, armilla_phase phase);
/* The phase is made of rounds, each with its own stages, and what follows is that part of it; until the next phase. */
void armilla_call_round(armilla_context *context, armilla_phase phase, double low, double high);
void armilla_call_rounds_end(armilla_context *context);
/* Between these, steps and passes are not those of the stage: they are some of many parts of a step that has been reported,
 * which is not done before all of them are. */
void armilla_call_nested_enter(armilla_context *context);
void armilla_call_nested_leave(armilla_context *context);

/* Between these a pass is not abandoned: what it makes is needed for a result. */
void armilla_call_uninterrupted_enter(armilla_context *context);
void armilla_call_uninterrupted_leave(armilla_context *context);

/* Asks; whether the call should end. On the calling thread alone. */
bool armilla_call_over(armilla_context *context);
/* The same without asking, on any thread, and why. The answer is the same on all ranks until they next agree on
 * something, so that they decide alike. */
bool armilla_call_stopped(const armilla_context *context, armilla_stop *reason);
/* Ends it, where it has not been ended before; of ranks all, when they next agree on something. */
void armilla_call_stop(armilla_context *context, armilla_stop reason);

/* From defer to accept a stop that is requested is only recorded: what is in progress ends as if nobody had asked, and
 * can be resumed. accept returns whether stops were deferred. */
void armilla_call_defer_stop(armilla_context *context);
bool armilla_call_accept_stop(armilla_context *context);

/* Reports `done` of `total` of a step that is no pass over data; returns whether the call should end. */
bool armilla_call_reached(armilla_context *context, int64_t done, int64_t total);

/* In a pass over the data, from `thread` of its team, at sample `at` of n: ARMILLA_STOPPED where the pass is to be
 * abandoned. Leaves no message, as it may run on any thread: armilla_call_explain does. */
armilla_status armilla_call_pass(armilla_context *context, int thread, int64_t at, int64_t n);
/* Passes over data of so many samples are counted from now on. */
void armilla_call_count(armilla_context *context, int64_t samples);
/* A pass over data of so many samples was made; and what follows are iterations on them. */
void armilla_call_passed(armilla_context *context, int64_t samples);
void armilla_call_iterates(armilla_context *context, int64_t samples);
/* The message of ARMILLA_STOPPED, which it returns. */
armilla_status armilla_call_explain(armilla_context *context);

#endif
