/* Data as lines for writers. */
#include "files/write.h"

#include "base/size.h"

#include <string.h>

enum { PART = 4, MOST_HELD = 64 << 20 }; /* of the memory left, and bytes: what lines that are features may take */

static armilla_status take_features(armilla_lines *l)
{
    const int64_t most = armilla_min64(armilla_memory_left(l->context) / PART, MOST_HELD);
    l->fitting = armilla_max64(1, armilla_min64(l->count, most / (l->width * (int64_t)sizeof *l->held)));
    l->first = -l->fitting; /* none is held */
    return armilla_grow(l->context, l->fitting * l->width, sizeof *l->held, &l->held);
}

armilla_status armilla_lines_open(armilla_context *context, const armilla_data *data, bool by_feature,
                                  armilla_lines *lines)
{
    const armilla_type work = armilla_type_precision(data->type);
    armilla_lines made = {.context = context, .data = data, .by_feature = by_feature};
    made.count = by_feature ? data->m : data->n;
    made.width = by_feature ? data->n : data->m;
    made.panel =
        (armilla_panel){.context = context, .data = data, .kernels = armilla_kernels_for(context, work), .count = 0};
    made.span = armilla_min64(armilla_panel_width(data, work), data->n);
    armilla_status status =
        armilla_take(context, (int64_t)data->ops->workspace(data, work, made.span), 1, &made.workspace);
    if (status == ARMILLA_OK) status = armilla_column_buffers_take(context, data, 1, &made.buffer);
    if (status == ARMILLA_OK && by_feature) status = take_features(&made);
    if (status == ARMILLA_OK)
        *lines = made;
    else
        armilla_lines_close(&made);
    return status;
}

void armilla_lines_close(armilla_lines *lines)
{
    if (!lines->context) return;
    armilla_column_buffers_release(lines->context, &lines->buffer);
    armilla_release(lines->context, lines->workspace);
    armilla_release(lines->context, lines->held);
    *lines = (armilla_lines){.count = 0};
}

/* What a panel shows of arrays that are spilled may leave memory. */
static void forget(const armilla_panel *panel)
{
    const armilla_data *X = panel->data;
    const int64_t size = (int64_t)armilla_type_size(panel->kernels->type);
    if (panel->count == 0) return;
    if (!armilla_sparse_of(X)) {
        armilla_spill_drop(panel->context, panel->columns, panel->count * panel->stride * size);
        return;
    }
    const int64_t entries =
        armilla_sparse_before(X, panel->first + panel->count) - armilla_sparse_before(X, panel->first);
    armilla_spill_drop(panel->context, panel->sparse.columns.values, entries * size);
    armilla_spill_drop(panel->context, panel->sparse.columns.rows, entries * (panel->sparse.index64 ? 8 : 4));
}

armilla_status armilla_lines_load(armilla_lines *lines, int64_t j)
{
    armilla_panel *panel = &lines->panel;
    const int64_t n = lines->data->n;
    if (j >= panel->first && j < panel->first + panel->count) return ARMILLA_OK;
    forget(panel);
    panel->first = j;
    panel->count = armilla_min64(lines->span, n - j);
    panel->next = armilla_min64(j + panel->count, n - 1);
    panel->next_count = armilla_min64(lines->span, n - j - panel->count);
    const armilla_status status = lines->data->ops->load(panel, lines->workspace);
    if (status != ARMILLA_OK) panel->count = 0;
    return status;
}

/* The numbers of features first ... first+count-1 in column j of the loaded panel go to their lines. */
static void collect(armilla_lines *l, int64_t j, int64_t count)
{
    const armilla_panel *panel = &l->panel;
    const armilla_type work = panel->kernels->type;
    double *to = l->held + panel->first + j, *numbers = l->buffer.values;
    if (!armilla_sparse_of(l->data)) {
        const int64_t start = j * panel->stride + l->first;
        armilla_fetch(work, count, (const char *)panel->columns + (size_t)start * armilla_type_size(work), numbers);
        for (int64_t k = 0; k < count; k++) to[k * l->width] = numbers[k];
        return;
    }
    const armilla_column x = armilla_panel_column(panel, j, armilla_column_buffer_of(&l->buffer, 0));
    for (int64_t i = 0; i < x.count; i++)
        if (x.rows[i] >= l->first && x.rows[i] < l->first + count) to[(x.rows[i] - l->first) * l->width] = x.values[i];
}

/* A pass over the panels for the lines from i on. */
static armilla_status collect_features(armilla_lines *l, int64_t i)
{
    const int64_t count = armilla_min64(l->fitting, l->count - i);
    armilla_status status = ARMILLA_OK;
    l->first = i;
    memset(l->held, 0, (size_t)(count * l->width) * sizeof *l->held);
    for (int64_t first = 0; first < l->data->n && status == ARMILLA_OK; first += l->panel.count) {
        status = armilla_lines_load(l, first);
        for (int64_t j = 0; status == ARMILLA_OK && j < l->panel.count; j++) collect(l, j, count);
        /* Half of what these lines take. */
        const int64_t done = i + (int64_t)((double)count * (double)(first + l->panel.count) / (2 * (double)l->data->n));
        if (status == ARMILLA_OK && armilla_call_reached(l->context, done, l->count))
            status = armilla_call_explain(l->context);
    }
    if (status != ARMILLA_OK) l->first = -l->fitting;
    return status;
}

armilla_status armilla_lines_read(armilla_lines *l, int64_t i, bool whole, armilla_column *line)
{
    armilla_status status = ARMILLA_OK;
    if (l->by_feature) {
        if (i < l->first || i >= l->first + l->fitting) status = collect_features(l, i);
        *line = (armilla_column){.m = l->width, .count = l->width, .values = l->held + (i - l->first) * l->width};
        return status;
    }
    if ((status = armilla_lines_load(l, i)) != ARMILLA_OK) return status;
    const armilla_column_buffer buffer = armilla_column_buffer_of(&l->buffer, 0);
    *line = (whole ? armilla_panel_whole_column : armilla_panel_column)(&l->panel, i - l->panel.first, buffer);
    return ARMILLA_OK;
}
