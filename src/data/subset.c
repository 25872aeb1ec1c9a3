/* A copy of chosen columns: what screening looks at instead of all of X. */
#include "base/size.h"
#include "data/data.h"

static armilla_status copy_dense(armilla_context *context, const armilla_data *X, int64_t count, const int64_t *columns,
                                 armilla_data **copy)
{
    const armilla_type type = armilla_type_precision(X->type);
    const size_t size = armilla_type_size(type);
    char *values = NULL;
    double *column = NULL;
    armilla_status status = armilla_take(context, X->m, sizeof *column, &column);
    if (status == ARMILLA_OK) status = armilla_take(context, X->m * count, size, &values);
    for (int64_t j = 0; j < count && status == ARMILLA_OK; j++) {
        status = armilla_data_column(context, X, type, columns[j], column);
        if (status == ARMILLA_OK) armilla_store(type, X->m, column, values + (size_t)(j * X->m) * size);
    }
    if (status == ARMILLA_OK) status = armilla_data_own_dense(context, type, values, X->m, count, copy);
    if (status != ARMILLA_OK) armilla_release(context, values);
    armilla_release(context, column);
    return status;
}

/* Rows and values of one column, with room for a column's workspace. */
typedef struct reader {
    const armilla_data *X;
    void *workspace;
    int64_t *rows;
    double *values;
} reader;

static armilla_status read_entries(armilla_context *context, const reader *from, int64_t column, int64_t *found)
{
    const armilla_data *X = from->X;
    armilla_panel panel = {.data = X, .kernels = armilla_kernels_for(context, X->type), .first = column, .count = 1};
    double shift = 0; /* data as given are not centred */
    const armilla_status status = X->ops->load(&panel, from->workspace);
    if (status == ARMILLA_OK) *found = X->ops->entries(&panel, 0, from->rows, from->values, &shift);
    return status;
}

static armilla_status fill_sparse(armilla_context *context, const reader *from, int64_t count, const int64_t *columns,
                                  armilla_sparse_matrix *matrix)
{
    const size_t size = armilla_type_size(matrix->type);
    int64_t at = 0, found = 0;
    armilla_status status = ARMILLA_OK;
    armilla_index_put(matrix->wide, matrix->starts, 0, 0);
    for (int64_t j = 0; j < count && status == ARMILLA_OK; j++) {
        status = read_entries(context, from, columns[j], &found);
        if (status != ARMILLA_OK) break;
        armilla_store(matrix->type, found, from->values, (char *)matrix->values + (size_t)at * size);
        for (int64_t k = 0; k < found; k++) armilla_index_put(matrix->wide, matrix->rows, at + k, from->rows[k]);
        at += found;
        armilla_index_put(matrix->wide, matrix->starts, j + 1, at);
    }
    return status;
}

static armilla_status copy_sparse(armilla_context *context, const armilla_data *X, int64_t count,
                                  const int64_t *columns, armilla_data **copy)
{
    armilla_sparse_matrix matrix = {.m = 0};
    reader from = {.X = X};
    int64_t entries = 0;
    for (int64_t j = 0; j < count; j++) entries += X->ops->before(X, columns[j] + 1) - X->ops->before(X, columns[j]);
    armilla_status status = armilla_sparse_take(context, X->type, X->m, count, entries, &matrix);
    if (status == ARMILLA_OK) status = armilla_take(context, X->m, sizeof *from.rows, &from.rows);
    if (status == ARMILLA_OK) status = armilla_take(context, X->m, sizeof *from.values, &from.values);
    if (status == ARMILLA_OK)
        status = armilla_take(context, (int64_t)X->ops->workspace(X, X->type, 1), 1, &from.workspace);
    if (status == ARMILLA_OK) status = fill_sparse(context, &from, count, columns, &matrix);
    if (status == ARMILLA_OK) status = armilla_data_own_sparse(context, &matrix, copy);
    if (status != ARMILLA_OK) armilla_sparse_release(context, &matrix);
    armilla_release(context, from.workspace);
    armilla_release(context, from.values);
    armilla_release(context, from.rows);
    return status;
}

armilla_status armilla_data_copy_columns(armilla_context *context, const armilla_data *X, int64_t count,
                                         const int64_t *columns, armilla_data **copy)
{
    return X->ops->entries ? copy_sparse(context, X, count, columns, copy)
                           : copy_dense(context, X, count, columns, copy);
}
