/* Features and samples of other data, copied: what a choice of features keeps, and what screening looks at instead of all
 * of X. Samples are read one by one. */
#include "data/column.h"

#include "base/size.h"

static armilla_status copy_dense(armilla_column_reader *reader, const armilla_kept *features,
                                 const armilla_kept *samples, armilla_data **copy)
{
    armilla_context *context = reader->context;
    const armilla_type type = reader->panel.data->type;
    const int64_t m = features->count, n = samples->count;
    const size_t size = armilla_type_size(type);
    char *values = NULL;
    int64_t area = 0;
    armilla_status status = armilla_size_area(m, n, &area) ? armilla_take(context, area, size, &values)
                                                           : armilla_data_check_shape(context, "", m, n);
    for (int64_t j = 0; j < n && status == ARMILLA_OK; j++) {
        armilla_column x;
        status = armilla_column_read(reader, armilla_kept_place(samples, j), &x);
        if (status != ARMILLA_OK) break;
        for (int64_t i = 0; i < m; i++) x.values[i] = x.values[armilla_kept_place(features, i)]; /* never before i */
        armilla_store(type, m, x.values, values + (size_t)(j * m) * size);
    }
    if (status == ARMILLA_OK) status = armilla_data_own_dense(context, type, values, m, n, copy);
    if (status != ARMILLA_OK) armilla_release(context, values);
    return status;
}

/* numbers[i] = what feature i becomes, or -1. */
static armilla_status number_features(armilla_context *context, const armilla_kept *features, int64_t **numbers)
{
    const armilla_status status = armilla_take(context, features->of, sizeof **numbers, numbers);
    for (int64_t i = 0; i < features->of && status == ARMILLA_OK; i++) (*numbers)[i] = features->at ? -1 : i;
    for (int64_t i = 0; i < features->count && status == ARMILLA_OK && features->at; i++)
        (*numbers)[features->at[i]] = i;
    return status;
}

/* The entries of the samples whose features have a number, which goes into the matrix. Without a matrix they are
 * counted. */
static armilla_status copy_entries(armilla_column_reader *reader, const int64_t *numbers, const armilla_kept *samples,
                                   armilla_sparse_matrix *matrix, int64_t *count)
{
    const armilla_type type = reader->panel.data->type;
    const size_t size = armilla_type_size(type);
    *count = 0;
    for (int64_t j = 0; j < samples->count; j++) {
        armilla_column x;
        const armilla_status status = armilla_column_read(reader, armilla_kept_place(samples, j), &x);
        if (status != ARMILLA_OK) return status;
        for (int64_t i = 0; i < x.count; i++) {
            const int64_t number = numbers[x.rows[i]];
            if (number < 0) continue;
            if (matrix) {
                armilla_index_put(matrix->index64, matrix->rows, *count, number);
                armilla_store(type, 1, &x.values[i], (char *)matrix->values + (size_t)*count * size);
            }
            ++*count;
        }
        if (matrix) armilla_index_put(matrix->index64, matrix->starts, j + 1, *count);
    }
    return ARMILLA_OK;
}

static armilla_status copy_sparse(armilla_column_reader *reader, const armilla_kept *features,
                                  const armilla_kept *samples, armilla_data **copy)
{
    armilla_context *context = reader->context;
    armilla_sparse_matrix matrix = {.m = 0};
    int64_t *numbers = NULL, entries = 0;
    armilla_status status = number_features(context, features, &numbers);
    if (status == ARMILLA_OK) status = copy_entries(reader, numbers, samples, NULL, &entries);
    if (status == ARMILLA_OK)
        status =
            armilla_sparse_take(context, reader->panel.data->type, features->count, samples->count, entries, &matrix);
    if (status == ARMILLA_OK) status = copy_entries(reader, numbers, samples, &matrix, &entries);
    if (status == ARMILLA_OK) status = armilla_data_own_sparse(context, &matrix, copy);
    if (status != ARMILLA_OK) armilla_sparse_release(context, &matrix);
    armilla_release(context, numbers);
    return status;
}

armilla_status armilla_data_copy(armilla_context *context, const armilla_data *X, const armilla_kept *features,
                                 const armilla_kept *samples, armilla_data **copy)
{
    armilla_column_reader reader = {0};
    armilla_status status = armilla_column_reader_open(context, X, armilla_type_precision(X->type), &reader);
    if (status == ARMILLA_OK)
        status = (armilla_sparse_of(X) ? copy_sparse : copy_dense)(&reader, features, samples, copy);
    armilla_column_reader_close(&reader);
    return status;
}
