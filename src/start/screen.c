/* Screening of starts (docs/algorithm.md#screening): each is fitted for a few iterations to a sketch, a small sample of
 * the data, and the best go on. It decides most of which local minimum is found, and costs less than one more fit. */
#include "start/start.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

armilla_status armilla_screening_begin(armilla_screening *s)
{
    const armilla_status status = armilla_take(s->context, s->count, sizeof *s->candidates, &s->candidates);
    for (int64_t i = 0; i < s->count && status == ARMILLA_OK; i++) s->candidates[i].number = i;
    return status;
}

void armilla_screening_free(armilla_screening *s)
{
    armilla_run_close(&s->run);
    for (int64_t i = 0; i < s->count && s->candidates; i++) armilla_release(s->context, s->candidates[i].U);
    if (s->context) armilla_release(s->context, s->candidates);
    s->candidates = NULL;
    s->count = 0;
}

void armilla_candidates_insert(armilla_context *context, armilla_candidate *candidates, int64_t i, int64_t most)
{
    const armilla_candidate newest = candidates[i];
    int64_t place = i;
    for (; place > 0 && newest.objective < candidates[place - 1].objective; place--)
        candidates[place] = candidates[place - 1];
    candidates[place] = newest;
    for (int64_t late = most; late <= i; late++) {
        armilla_release(context, candidates[late].U);
        candidates[late].U = NULL;
        candidates[late].kept = false;
    }
}

/* What was reached from the newest, or that there was no start: infinity. */
static armilla_status judge(armilla_screening *s, double objective)
{
    const int64_t basis = s->m * s->r, i = s->tried;
    armilla_candidate *newest = &s->candidates[i];
    newest->objective = objective;
    newest->radius = s->sketch->l;
    newest->kept = isfinite(objective);
    if (newest->kept) {
        const armilla_status status = armilla_take(s->context, basis, sizeof(double), &newest->U);
        if (status != ARMILLA_OK) return status;
        memcpy(newest->U, s->sketch->U, (size_t)basis * sizeof(double));
    }
    armilla_candidates_insert(s->context, s->candidates, i, s->most);
    armilla_run_close(&s->run);
    s->iterating = false;
    s->tried++;
    return ARMILLA_OK;
}

/* Without a positive radius, or in the time that there is, there is no start. */
static armilla_status begin_candidate(armilla_screening *s)
{
    armilla_status status = s->make(s->self, s->sketch, s->tried);
    if (status == ARMILLA_BAD_DATA || status == ARMILLA_STOPPED) return judge(s, INFINITY);
    if (status == ARMILLA_OK) status = armilla_run_open(&s->run, s->sketch, s->solver);
    if (status != ARMILLA_OK) return status;
    armilla_run_begin(&s->run);
    s->iterating = true;
    return ARMILLA_OK;
}

static armilla_status iterate(armilla_screening *s)
{
    const armilla_trace *trace = s->sketch->trace;
    bool ended = false;
    const armilla_status status = armilla_run_step(&s->run, &ended);
    return status == ARMILLA_OK && ended ? judge(s, trace->entries[trace->count - 1].objective) : status;
}

armilla_status armilla_screening_step(armilla_screening *s, bool *ended)
{
    s->sketch->basis_only = true;
    if (!s->iterating) armilla_call_step(s->context, s->tried, s->count);
    armilla_call_nested_enter(s->context);
    const armilla_status status = s->iterating ? iterate(s) : begin_candidate(s);
    armilla_call_nested_leave(s->context);
    *ended = !s->iterating && (s->tried == s->count || armilla_call_stopped(s->context, NULL));
    return status;
}

static void list_candidates(armilla_screening *s, armilla_state_list *list)
{
    const struct column {
        const char *name;
        armilla_state_type type;
        void *values;
    } columns[] = {{"number", ARMILLA_STATE_I64, &s->candidates->number},
                   {"objective", ARMILLA_STATE_F64, &s->candidates->objective},
                   {"radius", ARMILLA_STATE_F64, &s->candidates->radius},
                   {"kept", ARMILLA_STATE_U8, &s->candidates->kept}};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        const armilla_state_item item = {.name = columns[i].name,
                                         .type = columns[i].type,
                                         .rows = 1,
                                         .columns = s->tried,
                                         .stride = sizeof *s->candidates,
                                         .values = columns[i].values};
        armilla_state_visit(list, &item);
    }
    for (int64_t i = 0; i < s->tried && list->status == ARMILLA_OK; i++) {
        armilla_candidate *candidate = &s->candidates[i];
        char name[ARMILLA_STATE_NAME];
        (void)snprintf(name, sizeof name, "U%lld", (long long)i);
        if (!armilla_state_require(list, "number", candidate->number >= 0 && candidate->number < s->count)) return;
        if (!candidate->kept) continue;
        if (list->restoring) list->status = armilla_take(s->context, s->m * s->r, sizeof(double), &candidate->U);
        armilla_state_array(list, name, ARMILLA_STATE_F64, s->m, s->r, &candidate->U);
    }
}

void armilla_screening_list(armilla_screening *s, armilla_state_list *list)
{
    const size_t outer = armilla_state_enter(list, "candidates");
    armilla_state_number(list, "tried", ARMILLA_STATE_I64, &s->tried);
    armilla_state_number(list, "iterating", ARMILLA_STATE_U8, &s->iterating);
    if (armilla_state_require(list, "tried", s->tried >= 0 && s->tried + s->iterating <= s->count))
        list_candidates(s, list);
    armilla_state_leave(list, outer);
    if (!s->sketch) return;
    const size_t inner = armilla_state_enter(list, "sketch");
    armilla_problem_list_passes(s->sketch, list);
    if (s->iterating && list->restoring && list->status == ARMILLA_OK)
        list->status = armilla_run_open(&s->run, s->sketch, s->solver);
    if (s->iterating && list->status == ARMILLA_OK) armilla_run_list(&s->run, list);
    armilla_state_leave(list, inner);
}
