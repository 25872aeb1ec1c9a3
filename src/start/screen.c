/* Screening of starts (ALGORITHM section 5): each is fitted for a few iterations to a sketch, a small sample of the
 * data, and the best go on. Where a minimum is local, this is where most of the luck is decided, and it costs less than
 * one more fit. */
#include "start/start.h"

#include <math.h>
#include <string.h>

static armilla_status try_candidate(armilla_problem *sketch, const armilla_solver *solver, armilla_candidate *candidate)
{
    sketch->trace->count = 0;
    candidate->objective = INFINITY;
    armilla_status status = armilla_start_from_row(sketch, candidate->start, candidate->seed);
    /* Without a positive radius, or in the time that there is, there is no start. */
    if (status == ARMILLA_BAD_DATA || status == ARMILLA_STOPPED) return ARMILLA_OK;
    if (status == ARMILLA_OK) status = solver->solve(sketch);
    if (status == ARMILLA_OK) candidate->objective = sketch->trace->entries[sketch->trace->count - 1].objective;
    return status;
}

/* Puts candidate i, the newest, into its place among the earlier ones. */
static void rank(armilla_candidate *candidates, int64_t i)
{
    const armilla_candidate newest = candidates[i];
    for (; i > 0 && newest.objective < candidates[i - 1].objective; i--) candidates[i] = candidates[i - 1];
    candidates[i] = newest;
}

armilla_status armilla_screen(armilla_problem *sketch, const armilla_solver *solver, int64_t count, int64_t kept,
                              armilla_candidate *candidates)
{
    const int64_t basis = sketch->m * sketch->r;
    armilla_context *context = sketch->context;
    armilla_status status = ARMILLA_OK;
    sketch->draft = true;
    for (int64_t i = 0; i < count && status == ARMILLA_OK; i++) {
        armilla_candidate *newest = &candidates[i];
        armilla_call_step(context, i, count);
        armilla_call_inner_enter(context);
        status = try_candidate(sketch, solver, newest);
        armilla_call_inner_leave(context);
        if (status == ARMILLA_OK && isfinite(newest->objective))
            status = armilla_take(context, basis, sizeof(double), &newest->U);
        if (status != ARMILLA_OK) break;
        if (newest->U) memcpy(newest->U, sketch->U, (size_t)basis * sizeof(double));
        newest->radius = sketch->l;
        rank(candidates, i);
        for (int64_t late = kept; late <= i; late++) {
            armilla_release(context, candidates[late].U);
            candidates[late].U = NULL;
        }
        if (armilla_call_stopped(context, NULL)) break;
    }
    return status;
}
