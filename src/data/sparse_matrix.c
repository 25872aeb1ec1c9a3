/* Sparse matrices as plain arrays. Everything is by counting: linear in entries and sizes. */
#include "data/sparse_matrix.h"

#include "base/size.h"
#include "linalg/kernels.h"
#include "linalg/sparse_kernels.h"

#include <inttypes.h>
#include <string.h>

bool armilla_sparse_needs_index64(const armilla_context *context, int64_t m, int64_t n, int64_t entries)
{
    const int64_t most = context->most_narrow;
    return m > most || n > most || entries > most;
}

int64_t armilla_sparse_entries(const armilla_sparse_matrix *matrix)
{
    return armilla_index_at(matrix->index64, matrix->starts, matrix->n);
}

armilla_status armilla_sparse_take(armilla_context *context, armilla_type type, int64_t m, int64_t n, int64_t entries,
                                   armilla_sparse_matrix *made)
{
    armilla_sparse_matrix taken = {
        .type = type, .index64 = armilla_sparse_needs_index64(context, m, n, entries), .m = m, .n = n};
    const size_t index = taken.index64 ? sizeof(int64_t) : sizeof(int32_t);
    armilla_status status = armilla_take(context, entries, armilla_type_size(type), &taken.values);
    if (status == ARMILLA_OK) status = armilla_take(context, entries, index, &taken.rows);
    if (status == ARMILLA_OK) status = armilla_take(context, n + 1, index, &taken.starts);
    if (status != ARMILLA_OK) armilla_sparse_release(context, &taken);
    *made = taken;
    return status;
}

void armilla_sparse_release(armilla_context *context, armilla_sparse_matrix *matrix)
{
    armilla_release(context, matrix->values);
    armilla_release(context, matrix->rows);
    armilla_release(context, matrix->starts);
    *matrix = (armilla_sparse_matrix){.m = 0};
}

armilla_status armilla_sparse_check_starts(armilla_context *context, const char *where,
                                           const armilla_sparse_matrix *matrix, int64_t entries)
{
    int64_t before = 0;
    for (int64_t j = 0; j <= matrix->n; j++) {
        const int64_t start = armilla_index_at(matrix->index64, matrix->starts, j);
        if ((j == 0 && start != 0) || start < before || start > entries)
            return armilla_fail(context, ARMILLA_BAD_DATA,
                                "%sthe start of sparse column %" PRId64 " is %" PRId64 ", which is not between %" PRId64
                                " and %" PRId64 "; starts rise from 0 to the number of entries",
                                where, j, start, before, j == 0 ? 0 : entries);
        before = start;
    }
    if (before != entries)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%sthe starts of the sparse columns end at %" PRId64 ", but there are %" PRId64 " entries",
                            where, before, entries);
    return ARMILLA_OK;
}

armilla_status armilla_sparse_check(armilla_context *context, const char *where, const armilla_sparse_matrix *matrix,
                                    int64_t entries, bool *sorted)
{
    const armilla_status status = armilla_sparse_check_starts(context, where, matrix, entries);
    if (status != ARMILLA_OK) return status;
    *sorted = true;
    for (int64_t j = 0; j < matrix->n; j++) {
        const int64_t last = armilla_index_at(matrix->index64, matrix->starts, j + 1);
        int64_t before = -1;
        for (int64_t i = armilla_index_at(matrix->index64, matrix->starts, j); i < last; i++) {
            const int64_t row = armilla_index_at(matrix->index64, matrix->rows, i);
            if (row < 0 || row >= matrix->m)
                return armilla_fail(context, ARMILLA_BAD_DATA,
                                    "%sentry %" PRId64 " (counted from 0), in sparse column %" PRId64
                                    ", has the index %" PRId64 ", which is not between 0 and %" PRId64,
                                    where, i, j, row, matrix->m - 1);
            *sorted = *sorted && row > before;
            before = row;
        }
    }
    return ARMILLA_OK;
}

static void move_value(armilla_type type, const void *from, int64_t i, void *to, int64_t place)
{
    if (type == ARMILLA_F32)
        ((float *)to)[place] = ((const float *)from)[i];
    else
        ((double *)to)[place] = ((const double *)from)[i];
}

bool armilla_rows_rise(bool index64, const void *rows, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (armilla_index_at(index64, rows, i) <= armilla_index_at(index64, rows, i - 1)) return false;
    return true;
}

void armilla_entries_sort(bool index64, void *rows, armilla_type type, void *values, int64_t count)
{
    for (int64_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (int64_t i = gap; i < count; i++) {
            const int64_t row = armilla_index_at(index64, rows, i);
            double held = 0; /* the bytes of either type */
            int64_t at = i;
            move_value(type, values, i, &held, 0);
            for (; at >= gap && armilla_index_at(index64, rows, at - gap) > row; at -= gap) {
                armilla_index_put(index64, rows, at, armilla_index_at(index64, rows, at - gap));
                move_value(type, values, at - gap, values, at);
            }
            armilla_index_put(index64, rows, at, row);
            move_value(type, &held, 0, values, at);
        }
}

/* starts[k+1] is counted up first, then starts[k] is where the next entry of k goes, which leaves it at the start of
 * k+1: hence the shift by one at the end. */
static void distribute(const armilla_sparse_matrix *from, armilla_sparse_matrix *to)
{
    const int64_t entries = armilla_sparse_entries(from);
    for (int64_t i = 0; i < entries; i++) {
        const int64_t k = armilla_index_at(from->index64, from->rows, i) + 1;
        armilla_index_put(to->index64, to->starts, k, armilla_index_at(to->index64, to->starts, k) + 1);
    }
    for (int64_t k = 0; k < to->n; k++)
        armilla_index_put(to->index64, to->starts, k + 1,
                          armilla_index_at(to->index64, to->starts, k) +
                              armilla_index_at(to->index64, to->starts, k + 1));
    for (int64_t j = 0; j < from->n; j++) {
        const int64_t last = armilla_index_at(from->index64, from->starts, j + 1);
        for (int64_t i = armilla_index_at(from->index64, from->starts, j); i < last; i++) {
            const int64_t k = armilla_index_at(from->index64, from->rows, i);
            const int64_t place = armilla_index_at(to->index64, to->starts, k);
            move_value(from->type, from->values, i, to->values, place);
            armilla_index_put(to->index64, to->rows, place, j);
            armilla_index_put(to->index64, to->starts, k, place + 1);
        }
    }
    for (int64_t k = to->n; k > 0; k--)
        armilla_index_put(to->index64, to->starts, k, armilla_index_at(to->index64, to->starts, k - 1));
    armilla_index_put(to->index64, to->starts, 0, 0);
}

armilla_status armilla_sparse_transpose(armilla_context *context, const armilla_sparse_matrix *matrix,
                                        armilla_sparse_matrix *made)
{
    const armilla_status status =
        armilla_sparse_take(context, matrix->type, matrix->n, matrix->m, armilla_sparse_entries(matrix), made);
    if (status == ARMILLA_OK) distribute(matrix, made);
    return status;
}

static double value_at(const armilla_sparse_matrix *matrix, int64_t i)
{
    return matrix->type == ARMILLA_F32 ? (double)((const float *)matrix->values)[i]
                                       : ((const double *)matrix->values)[i];
}

void armilla_sparse_add_up(armilla_sparse_matrix *matrix)
{
    const size_t size = armilla_type_size(matrix->type);
    int64_t kept = 0, i = 0;
    for (int64_t j = 0; j < matrix->n; j++) {
        const int64_t last = armilla_index_at(matrix->index64, matrix->starts, j + 1);
        while (i < last) {
            const int64_t row = armilla_index_at(matrix->index64, matrix->rows, i);
            double sum = value_at(matrix, i++);
            for (; i < last && armilla_index_at(matrix->index64, matrix->rows, i) == row; i++)
                sum += value_at(matrix, i);
            armilla_store(matrix->type, 1, &sum, (char *)matrix->values + (size_t)kept * size);
            armilla_index_put(matrix->index64, matrix->rows, kept++, row);
        }
        armilla_index_put(matrix->index64, matrix->starts, j + 1, kept);
    }
}

armilla_status armilla_sparse_sort(armilla_context *context, const armilla_sparse_matrix *matrix,
                                   armilla_sparse_matrix *made)
{
    armilla_sparse_matrix turned;
    armilla_status status = armilla_sparse_transpose(context, matrix, &turned);
    if (status != ARMILLA_OK) return status;
    status = armilla_sparse_transpose(context, &turned, made);
    if (status == ARMILLA_OK) armilla_sparse_add_up(made);
    armilla_sparse_release(context, &turned);
    return status;
}
