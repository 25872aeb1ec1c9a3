/* Features and samples of other data, copied: what a choice of features keeps, and what screening looks at instead of all
 * of X. Samples are read one by one; where several ranks make the call, each reads its own, and all get the copy. */
#include "data/column.h"

#include "base/ranks.h"
#include "base/samples.h"
#include "base/size.h"
#include "data/slots.h"

/* What is copied, and which of the copy's samples this rank reads. */
typedef struct copying {
    armilla_context *context;
    armilla_column_reader reader;
    const armilla_kept *features, *samples;
    int64_t first, last;
} copying;

/* The copy's samples are in the order of X's, and so those of a rank are neighbours. */
static void find_own(copying *c, const armilla_data *X)
{
    const armilla_samples share = armilla_data_share(c->context, X);
    const int64_t count = c->samples->count;
    while (c->first < count && armilla_kept_place(c->samples, c->first) < share.first) c->first++;
    for (c->last = c->first; c->last < count && armilla_kept_place(c->samples, c->last) < share.last;) c->last++;
}

/* All of an array of which each rank has made its part, `size` bytes for each element. */
static armilla_status share_array(copying *c, armilla_status status, void *array, size_t size, const int64_t range[3])
{
    const int64_t bytes = (int64_t)size;
    return armilla_ranks_gather(
        c->context, status,
        &(armilla_byte_range){array, range[0] * bytes, range[1] * bytes, range[2] * bytes, .all = true});
}

static armilla_status copy_dense(copying *c, armilla_data **copy)
{
    armilla_context *context = c->context;
    const armilla_type type = c->reader.panel.data->type;
    const int64_t m = c->features->count, n = c->samples->count;
    const size_t size = armilla_type_size(type);
    char *values = NULL;
    int64_t area = 0;
    const armilla_samples all = armilla_samples_whole(n);
    armilla_status status = armilla_size_area(m, n, &area) ? armilla_samples_take(context, &all, m, size, &values)
                                                           : armilla_data_check_shape(context, "", m, n);
    for (int64_t j = c->first; j < c->last && status == ARMILLA_OK; j++) {
        armilla_column x;
        status = armilla_column_read(&c->reader, armilla_kept_place(c->samples, j), &x);
        if (status != ARMILLA_OK) break;
        for (int64_t i = 0; i < m; i++) x.values[i] = x.values[armilla_kept_place(c->features, i)]; /* never before i */
        armilla_store(type, m, x.values, values + (size_t)(j * m) * size);
    }
    status = share_array(c, status, values, size, (const int64_t[]){c->first * m, c->last * m, n * m});
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
        if (features->at[i] >= 0) (*numbers)[features->at[i]] = i;
    return status;
}

/* The entries of the column whose features have a number, by number; how many there are. */
static int64_t renumber(copying *c, const int64_t *numbers, const armilla_column *x)
{
    int64_t *rows = c->reader.buffer.rows, count = 0;
    for (int64_t i = 0; i < x->count; i++) {
        const int64_t number = numbers[x->rows[i]];
        if (number < 0) continue;
        rows[count] = number;
        x->values[count++] = x->values[i];
    }
    if (!armilla_rows_rise(true, rows, count)) armilla_entries_sort(true, rows, ARMILLA_F64, x->values, count);
    return count;
}

/* The entries of this rank's samples whose features have a number, which goes into the matrix. Without a matrix they are
 * counted. */
static armilla_status copy_entries(copying *c, const int64_t *numbers, armilla_sparse_matrix *matrix, int64_t *counts)
{
    const armilla_type type = c->reader.panel.data->type;
    const size_t size = armilla_type_size(type);
    for (int64_t j = c->first; j < c->last; j++) {
        armilla_column x;
        const armilla_status status = armilla_column_read(&c->reader, armilla_kept_place(c->samples, j), &x);
        if (status != ARMILLA_OK) return status;
        const int64_t count = renumber(c, numbers, &x),
                      at = matrix ? armilla_index_at(matrix->index64, matrix->starts, j) : 0;
        for (int64_t i = 0; i < count && matrix; i++)
            armilla_index_put(matrix->index64, matrix->rows, at + i, c->reader.buffer.rows[i]);
        if (matrix) armilla_store(type, count, x.values, (char *)matrix->values + (size_t)at * size);
        if (!matrix) counts[j] = count;
    }
    return ARMILLA_OK;
}

/* Space for the entries that were counted, and where each sample's begin. */
static armilla_status take_matrix(const copying *c, const int64_t *counts, armilla_sparse_matrix *matrix)
{
    const int64_t n = c->samples->count;
    int64_t entries = 0;
    for (int64_t j = 0; j < n; j++) entries += counts[j];
    const armilla_status status =
        armilla_sparse_take(c->context, c->reader.panel.data->type, c->features->count, n, entries, matrix);
    entries = 0;
    for (int64_t j = 0; j < n && status == ARMILLA_OK; j++) {
        entries += counts[j];
        armilla_index_put(matrix->index64, matrix->starts, j + 1, entries);
    }
    return status;
}

static armilla_status copy_sparse(copying *c, armilla_data **copy)
{
    armilla_context *context = c->context;
    armilla_sparse_matrix matrix = {.m = 0};
    int64_t *numbers = NULL, *counts = NULL, n = c->samples->count;
    armilla_status status = number_features(context, c->features, &numbers);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *counts, &counts);
    if (status == ARMILLA_OK) status = copy_entries(c, numbers, NULL, counts);
    status = share_array(c, status, counts, sizeof *counts, (const int64_t[]){c->first, c->last, n});
    if (status == ARMILLA_OK && counts) status = take_matrix(c, counts, &matrix);
    if (status == ARMILLA_OK && matrix.starts) status = copy_entries(c, numbers, &matrix, NULL);
    if (armilla_ranks_size(context) > 1) {
        const bool there = status == ARMILLA_OK && matrix.starts;
        const int64_t range[] = {there ? armilla_index_at(matrix.index64, matrix.starts, c->first) : 0,
                                 there ? armilla_index_at(matrix.index64, matrix.starts, c->last) : 0,
                                 there ? armilla_sparse_entries(&matrix) : 0};
        status = share_array(c, status, matrix.rows, matrix.index64 ? sizeof(int64_t) : sizeof(int32_t), range);
        if (status == ARMILLA_OK) status = share_array(c, status, matrix.values, armilla_type_size(matrix.type), range);
    }
    if (status == ARMILLA_OK) status = armilla_data_own_sparse(context, &matrix, copy);
    if (status != ARMILLA_OK) armilla_sparse_release(context, &matrix);
    armilla_release(context, counts);
    armilla_release(context, numbers);
    return status;
}

armilla_status armilla_data_copy(armilla_context *context, const armilla_data *X, const armilla_kept *features,
                                 const armilla_kept *samples, armilla_data **copy)
{
    copying c = {.context = context, .features = features, .samples = samples};
    find_own(&c, X);
    armilla_status status = armilla_column_reader_open(context, X, armilla_type_precision(X->type), &c.reader);
    if (status == ARMILLA_OK) status = (armilla_sparse_of(X) ? copy_sparse : copy_dense)(&c, copy);
    armilla_column_reader_close(&c.reader);
    return status;
}
