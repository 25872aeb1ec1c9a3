/* The trace of a fit: entry 0 is the start, entry k what k iterations have reached. */
#ifndef ARMILLA_SOLVE_TRACE_H
#define ARMILLA_SOLVE_TRACE_H

#include "base/state.h"

#include <armilla/fit.h>

typedef struct armilla_trace {
    armilla_context *context;
    armilla_trace_entry *entries;
    int64_t count, capacity;
} armilla_trace;

/* Memory for max_iter+1 entries where that is moderate; more is taken between iterations, never in a sweep. */
armilla_status armilla_trace_new(armilla_context *context, int64_t max_iter, armilla_trace **trace);
void armilla_trace_free(armilla_trace *trace);
armilla_status armilla_trace_add(armilla_trace *trace, const armilla_trace_entry *entry);
void armilla_trace_list(armilla_trace *trace, armilla_state_list *list);

#endif
