/* Columns of X one by one. */
#include "data/column.h"

#include "base/ranks.h"
#include "base/size.h"
#include "data/slots.h"
#include "linalg/dense.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What is left of a square after this much has cancelled has no digits: then every feature is visited. */
#define CANCELLED 1e-6

static double full_square(const armilla_column *c)
{
    double sum = 0;
    for (int64_t i = 0, next = 0; i < c->m; i++) {
        const double value = next < c->count && c->rows[next] == i ? c->values[next++] : 0;
        const double rest = value - c->shift * c->mean[i];
        sum += rest * rest;
    }
    return sum;
}

static double shifted_square(const armilla_column *c)
{
    double on = 0, covered = 0, own = 0;
    for (int64_t i = 0; i < c->count; i++) {
        const double mean = c->mean[c->rows[i]], rest = c->values[i] - c->shift * mean;
        on += rest * rest;
        own += c->values[i] * c->values[i];
        covered += mean * mean;
    }
    /* On the entries (x - mean)^2, elsewhere mean^2: unlike ||x||^2 - 2x'mean + ||mean||^2 only the second cancels. */
    const double all = c->shift * c->shift * c->mean_squared;
    const double square = on + c->shift * c->shift * (c->mean_squared - covered);
    return square > CANCELLED * (own + all) ? square : full_square(c);
}

double armilla_column_square(const armilla_column *column)
{
    if (!column->rows) return armilla_square(column->m, column->values);
    if (column->shift != 0) return shifted_square(column);
    return armilla_square_of_entries(column->count, column->rows, column->values);
}

armilla_status armilla_column_buffers_take(armilla_context *context, const armilla_data *X, int64_t count,
                                           armilla_column_buffers *buffers)
{
    armilla_status status = armilla_take(context, count * X->m, sizeof *buffers->values, &buffers->values);
    buffers->m = X->m;
    if (status == ARMILLA_OK && armilla_sparse_of(X))
        status = armilla_take(context, count * X->m, sizeof *buffers->rows, &buffers->rows);
    return status;
}

void armilla_column_buffers_release(armilla_context *context, armilla_column_buffers *buffers)
{
    armilla_release(context, buffers->rows);
    armilla_release(context, buffers->values);
    *buffers = (armilla_column_buffers){0};
}

armilla_column_buffer armilla_column_buffer_of(const armilla_column_buffers *buffers, int thread)
{
    const int64_t first = thread * buffers->m;
    return (armilla_column_buffer){buffers->rows ? buffers->rows + first : NULL, buffers->values + first};
}

armilla_column armilla_panel_whole_column(const armilla_panel *panel, int64_t j, armilla_column_buffer buffer)
{
    const int64_t m = panel->data->m;
    panel->data->ops->expand(panel, j, buffer.values);
    return (armilla_column){.m = m, .count = m, .values = buffer.values};
}

armilla_column armilla_panel_column(const armilla_panel *panel, int64_t j, armilla_column_buffer buffer)
{
    const armilla_sparse_data *sparse = armilla_sparse_of(panel->data);
    if (!sparse) return armilla_panel_whole_column(panel, j, buffer);
    armilla_column column = {.m = panel->data->m, .rows = buffer.rows, .values = buffer.values};
    column.count = armilla_sparse_entries_at(panel, j, buffer.rows, buffer.values, &column.shift);
    if (column.shift == 0) return column;
    column.mean = sparse->mean;
    column.mean_squared = sparse->mean_squared;
    return column;
}

armilla_status armilla_column_reader_open(armilla_context *context, const armilla_data *X, armilla_type work,
                                          armilla_column_reader *reader)
{
    *reader = (armilla_column_reader){
        .context = context,
        .panel = {.context = context, .data = X, .kernels = armilla_kernels_for(context, work), .count = 1}};
    const armilla_status status = armilla_take(context, (int64_t)X->ops->workspace(X, work, 1), 1, &reader->workspace);
    return status == ARMILLA_OK ? armilla_column_buffers_take(context, X, 1, &reader->buffer) : status;
}

void armilla_column_reader_close(armilla_column_reader *reader)
{
    if (!reader->context) return;
    armilla_column_buffers_release(reader->context, &reader->buffer);
    armilla_release(reader->context, reader->workspace);
    *reader = (armilla_column_reader){0};
}

/* Loads column j into the reader's panel. */
static armilla_status load_column(armilla_column_reader *reader, int64_t j)
{
    reader->panel.first = j;
    return reader->panel.data->ops->load(&reader->panel, reader->workspace);
}

armilla_status armilla_column_read(armilla_column_reader *reader, int64_t j, armilla_column *column)
{
    const armilla_status status = load_column(reader, j);
    if (status == ARMILLA_OK)
        *column = armilla_panel_column(&reader->panel, 0, armilla_column_buffer_of(&reader->buffer, 0));
    return status;
}

/* A column that is wanted, and where. */
typedef struct request {
    int64_t column, place;
} request;

static int rising(const void *a, const void *b)
{
    const request *x = a, *y = b;
    const int by_column = (x->column > y->column) - (x->column < y->column);
    return by_column ? by_column : (x->place > y->place) - (x->place < y->place);
}

/* Requests in rising order, those first that want nothing. */
static armilla_status answer(armilla_column_reader *reader, const armilla_gathering *g, const request *requests)
{
    const armilla_data_ops *ops = g->X->ops;
    int64_t loaded = -1;
    for (int64_t i = 0; i < g->count; i++) {
        if (requests[i].column < 0) continue;
        const armilla_status status =
            requests[i].column == loaded ? ARMILLA_OK : load_column(reader, requests[i].column);
        if (status != ARMILLA_OK) return status;
        loaded = requests[i].column;
        ops->expand(&reader->panel, 0, reader->buffer.values);
        g->visit(g->self, requests[i].place, reader->buffer.values);
    }
    return ARMILLA_OK;
}

/* Numbers of columns that travel between ranks at a time. */
enum { TOGETHER = 1 << 22 };

/* Some requests, whose columns lie one after another; those of this rank are loaded into their places. */
static armilla_status load_own(armilla_column_reader *reader, const request *requests, int64_t count,
                               armilla_byte_range *range)
{
    const armilla_data *X = reader->panel.data;
    const armilla_samples share = armilla_data_share(reader->context, X);
    const int64_t bytes = X->m * (int64_t)sizeof(double);
    int64_t first = 0, last = 0;
    while (first < count && requests[first].column < share.first) first++;
    for (last = first; last < count && requests[last].column < share.last; last++) {}
    range->first = first * bytes;
    range->last = last * bytes;
    for (int64_t i = first; i < last; i++) {
        const armilla_status status = load_column(reader, requests[i].column);
        if (status != ARMILLA_OK) return status;
        X->ops->expand(&reader->panel, 0, (double *)range->bytes + i * X->m);
    }
    return ARMILLA_OK;
}

/* The same where several ranks want the same columns, each of which one of them has: it loads it, and all get it. */
static armilla_status answer_together(armilla_column_reader *reader, const armilla_gathering *g,
                                      const request *requests)
{
    const int64_t m = g->X->m, most = armilla_max64(1, TOGETHER / m);
    int64_t next = 0;
    double *columns = NULL;
    while (next < g->count && requests[next].column < 0) next++;
    const int64_t widest = armilla_min64(most, g->count - next);
    armilla_status status = armilla_take(reader->context, m * widest, sizeof *columns, &columns);
    if (status != ARMILLA_OK) return status;
    for (; next < g->count && status == ARMILLA_OK; next += most) {
        const int64_t count = armilla_min64(most, g->count - next);
        armilla_byte_range range = {.bytes = columns, .count = count * m * (int64_t)sizeof *columns, .all = true};
        status = load_own(reader, requests + next, count, &range);
        status = armilla_ranks_gather(reader->context, status, &range);
        for (int64_t i = 0; i < count && status == ARMILLA_OK; i++)
            g->visit(g->self, requests[next + i].place, columns + i * m);
    }
    armilla_release(reader->context, columns);
    return status;
}

armilla_status armilla_data_visit(armilla_context *context, const armilla_gathering *gathering)
{
    const int64_t count = gathering->count, n = gathering->X->n;
    armilla_column_reader reader = {0};
    request *requests = NULL;
    armilla_status status = armilla_take(context, count, sizeof *requests, &requests);
    for (int64_t i = 0; i < count && status == ARMILLA_OK; i++) {
        requests[i] = (request){gathering->columns[i], i};
        if (requests[i].column >= n)
            status = armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                                  "sample %" PRId64 " does not exist: there are %" PRId64, requests[i].column, n);
    }
    if (status == ARMILLA_OK) qsort(requests, (size_t)count, sizeof *requests, rising);
    if (status == ARMILLA_OK) status = armilla_column_reader_open(context, gathering->X, gathering->work, &reader);
    if (status == ARMILLA_OK)
        status = (armilla_ranks_size(context) > 1 ? answer_together : answer)(&reader, gathering, requests);
    armilla_column_reader_close(&reader);
    armilla_release(context, requests);
    return status;
}

/* The destination of gathered columns. */
typedef struct destination {
    int64_t m;
    double *out;
} destination;

static void keep_column(void *self, int64_t place, double *column)
{
    const destination *to = self;
    memcpy(to->out + place * to->m, column, (size_t)to->m * sizeof *column);
}

armilla_status armilla_data_gather(armilla_context *context, const armilla_data *X, armilla_type work, int64_t count,
                                   const int64_t *columns, double *out)
{
    destination to = {X->m, out};
    return armilla_data_visit(context, &(armilla_gathering){X, work, count, columns, keep_column, &to});
}
