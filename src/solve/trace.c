/* The trace: an array that grows. */
#include "solve/trace.h"

#include "base/size.h"

#include <stddef.h>

enum { MODERATE_CAPACITY = 4096 };

armilla_status armilla_trace_new(armilla_context *context, int64_t max_iter, armilla_trace **trace)
{
    armilla_trace *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    made->context = context;
    made->capacity = armilla_min64(max_iter, MODERATE_CAPACITY) + 1;
    status = armilla_take(context, made->capacity, sizeof *made->entries, &made->entries);
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

static armilla_status reserve(armilla_trace *trace, int64_t count)
{
    if (count <= trace->capacity) return ARMILLA_OK;
    const int64_t capacity = armilla_max64(2 * trace->capacity, count);
    const armilla_status status = armilla_grow(trace->context, capacity, sizeof *trace->entries, &trace->entries);
    if (status == ARMILLA_OK) trace->capacity = capacity;
    return status;
}

armilla_status armilla_trace_add(armilla_trace *trace, const armilla_trace_entry *entry)
{
    const armilla_status status = reserve(trace, trace->count + 1);
    if (status == ARMILLA_OK) trace->entries[trace->count++] = *entry;
    return status;
}

void armilla_trace_list(armilla_trace *trace, armilla_state_list *list)
{
    static const struct column {
        const char *name;
        armilla_state_type type;
        size_t offset;
        bool reported;
    } columns[] = {
        {"trace.iteration", ARMILLA_STATE_I64, offsetof(armilla_trace_entry, iteration), false},
        {"trace.objective", ARMILLA_STATE_F64, offsetof(armilla_trace_entry, objective), false},
        {"trace.relative_error", ARMILLA_STATE_F64, offsetof(armilla_trace_entry, relative_error), false},
        {"trace.dU", ARMILLA_STATE_F64, offsetof(armilla_trace_entry, dU), false},
        {"trace.dV", ARMILLA_STATE_F64, offsetof(armilla_trace_entry, dV), false},
        {"trace.radius", ARMILLA_STATE_F64, offsetof(armilla_trace_entry, radius), false},
        {"trace.seconds", ARMILLA_STATE_F64, offsetof(armilla_trace_entry, seconds), true},
    };
    armilla_state_number(list, "trace.count", ARMILLA_STATE_I64, &trace->count);
    const int64_t saved = list->left / (int64_t)(sizeof columns / sizeof columns[0] * sizeof(double));
    if (!armilla_state_require(list, "trace.count", trace->count >= 0 && trace->count <= saved)) return;
    if (list->restoring) list->status = reserve(trace, trace->count);
    for (int64_t k = 0; k < trace->count && list->restoring && list->status == ARMILLA_OK; k++)
        trace->entries[k].size = sizeof trace->entries[k];
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        const armilla_state_item item = {.name = columns[i].name,
                                         .type = columns[i].type,
                                         .rows = 1,
                                         .columns = trace->count,
                                         .stride = sizeof *trace->entries,
                                         .values = (char *)trace->entries + columns[i].offset,
                                         .reported = columns[i].reported};
        armilla_state_visit(list, &item);
    }
    for (int64_t k = 0; k < trace->count && list->restoring; k++)
        if (!armilla_state_require(list, "trace.iteration", trace->entries[k].iteration == k)) return;
}
