/* Data as lines for writers: dense numbers are picked where they lie, sparse ones are transposed once where the lines
 * are features. */
#include "files/write.h"

#include <string.h>

static armilla_status open_sparse(const armilla_sparse_matrix *matrix, bool by_feature, armilla_lines *lines)
{
    armilla_status status = ARMILLA_OK;
    lines->matrix = *matrix;
    if (by_feature) status = armilla_sparse_transpose(lines->context, matrix, &lines->matrix);
    lines->owned = by_feature && status == ARMILLA_OK;
    return status;
}

armilla_status armilla_lines_open(armilla_context *context, const armilla_data *data, bool by_feature,
                                  armilla_lines *lines)
{
    const armilla_sparse_matrix *matrix = armilla_data_sparse(data);
    const int64_t size = (int64_t)armilla_type_size(data->type);
    int64_t stride = 0;
    armilla_lines made = {.context = context, .type = data->type};
    armilla_status status = ARMILLA_OK;
    made.count = by_feature ? data->m : data->n;
    made.width = by_feature ? data->n : data->m;
    made.values = armilla_data_dense(data, &stride);
    made.line_step = by_feature ? size : stride * size;
    made.place_step = by_feature ? stride * size : size;
    if (matrix)
        status = open_sparse(matrix, by_feature, &made);
    else if (!made.values)
        status =
            armilla_fail(context, ARMILLA_BAD_ARGUMENT, "prepared data cannot be written; write them as they were");
    if (status == ARMILLA_OK) *lines = made;
    return status;
}

void armilla_lines_close(armilla_lines *lines)
{
    if (lines->owned) armilla_sparse_release(lines->context, &lines->matrix);
    *lines = (armilla_lines){.count = 0};
}

bool armilla_lines_sparse(const armilla_lines *lines)
{
    return !lines->values;
}

void armilla_lines_range(const armilla_lines *lines, int64_t i, int64_t *first, int64_t *last)
{
    *first = armilla_index_at(lines->matrix.index64, lines->matrix.starts, i);
    *last = armilla_index_at(lines->matrix.index64, lines->matrix.starts, i + 1);
}

int64_t armilla_lines_place(const armilla_lines *lines, int64_t entry)
{
    return armilla_index_at(lines->matrix.index64, lines->matrix.rows, entry);
}

double armilla_lines_value(const armilla_lines *lines, int64_t entry)
{
    double value = 0;
    armilla_fetch(lines->type, 1, (const char *)lines->matrix.values + (size_t)entry * armilla_type_size(lines->type),
                  &value);
    return value;
}

void armilla_lines_get(const armilla_lines *lines, int64_t i, double *numbers)
{
    int64_t first = 0, last = 0;
    if (!armilla_lines_sparse(lines)) {
        const char *at = lines->values + i * lines->line_step;
        for (int64_t k = 0; k < lines->width; k++)
            armilla_fetch(lines->type, 1, at + k * lines->place_step, numbers + k);
        return;
    }
    memset(numbers, 0, (size_t)lines->width * sizeof *numbers);
    armilla_lines_range(lines, i, &first, &last);
    for (; first < last; first++) numbers[armilla_lines_place(lines, first)] = armilla_lines_value(lines, first);
}
