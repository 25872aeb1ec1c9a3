/* The trace: an array that grows. */
#include "solve/trace.h"

#include "base/size.h"

enum { MODERATE_ROOM = 4096 };

armilla_status armilla_trace_new(armilla_context *context, int64_t max_iter, armilla_trace **trace)
{
    armilla_trace *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    made->context = context;
    made->room = armilla_min64(max_iter, MODERATE_ROOM) + 1;
    status = armilla_take(context, made->room, sizeof *made->entries, &made->entries);
    if (status != ARMILLA_OK) {
        armilla_trace_free(made);
        return status;
    }
    *trace = made;
    return ARMILLA_OK;
}

void armilla_trace_free(armilla_trace *trace)
{
    if (!trace) return;
    armilla_release(trace->context, trace->entries);
    armilla_release(trace->context, trace);
}

armilla_status armilla_trace_add(armilla_trace *trace, const armilla_trace_entry *entry)
{
    if (trace->count == trace->room) {
        const int64_t room = 2 * trace->room;
        const armilla_status status = armilla_grow(trace->context, room, sizeof *trace->entries, &trace->entries);
        if (status != ARMILLA_OK) return status;
        trace->room = room;
    }
    trace->entries[trace->count++] = *entry;
    return ARMILLA_OK;
}
