/* Matrices that AnnData does not keep as one: a data frame of obsm, a column at a time, and a member of the records that
 * obsm was until 0.6. */
#include "hdf5_field.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The column as numbers, NaN where a mask says that there is none; false in *numeric where it has none, or other than
 * rows of them. */
static armilla_status read_column(const source *s, const char *path, int64_t rows, double *to, bool *numeric)
{
    char inner[2][MOST_PATH];
    double *part[2] = {NULL, NULL}; /* values and mask */
    hdf5_field field;
    armilla_status status = ARMILLA_OK;
    const bool nullable = hdf5_kind(s, path) == H5I_GROUP;
    hdf5_join(inner[0], path, "values");
    hdf5_join(inner[1], path, "mask");
    for (int i = 0; i < (nullable ? 2 : 1) && status == ARMILLA_OK; i++) {
        if (!hdf5_field_open(s, nullable ? inner[i] : path, NULL, &field)) break;
        if (field.count == rows) status = hdf5_field_numbers(&field, &part[i]);
        hdf5_field_close(&field);
    }
    *numeric = part[0] && (!nullable || part[1]);
    for (int64_t i = 0; i < rows && *numeric && status == ARMILLA_OK; i++)
        to[i] = part[1] && part[1][i] != 0 ? NAN : part[0][i];
    free(part[0]);
    free(part[1]);
    s->c->error[0] = status == ARMILLA_OK ? '\0' : s->c->error[0];
    return status;
}

/* ", name" behind a list that may be cut. */
static void add_name(char list[MOST_PATH], const char *name)
{
    const size_t used = strlen(list);
    snprintf(list + used, MOST_PATH - used, "%s%s", used ? ", " : "", name);
}

/* Columns of numbers, one behind the other, and their names; the names of the others. */
static armilla_status read_columns(const source *s, const char *group, const text_list *order, matrix *made,
                                   char others[MOST_PATH])
{
    text_list *names = &made->names[ARMILLA_FEATURE_NAMES];
    char path[MOST_PATH];
    armilla_status status = take(s->c, order->count, sizeof *names->texts, &names->texts);
    for (int64_t i = 0; i < order->count && status == ARMILLA_OK; i++) {
        bool numeric = false;
        hdf5_join(path, group, order->texts[i]);
        double *to = (double *)made->values + made->m * made->n;
        if (hdf5_has(s, path)) status = read_column(s, path, made->n, to, &numeric);
        if (!numeric) {
            add_name(others, order->texts[i]);
            continue;
        }
        names->texts[names->count++] = strdup(order->texts[i]);
        if (!names->texts[made->m++]) status = texts_no_memory(s->c);
    }
    return status;
}

armilla_status hdf5_read_frame(const source *s, const char *group, int64_t rows, matrix *made)
{
    text_list order = {0};
    char others[MOST_PATH] = "";
    int64_t area = 0;
    armilla_status status = hdf5_read_words(s, group, "column-order", &order);
    *made = (matrix){.type = ARMILLA_F64, .n = rows};
    if (status == ARMILLA_OK && __builtin_mul_overflow(order.count, rows, &area))
        status = hdf5_bad(s, group, "has too many columns");
    if (status == ARMILLA_OK) status = take(s->c, area, sizeof(double), &made->values);
    if (status == ARMILLA_OK) status = read_columns(s, group, &order, made, others);
    if (status == ARMILLA_OK && made->m == 0)
        status = hdf5_bad(s, group, "is a data frame without a column of numbers; name another array (--array)");
    if (status == ARMILLA_OK && *others)
        warn(s->c, "%s: %s: columns that are no numbers are not read: %s", s->c->path, group, others);
    text_list_free(&order);
    return status == ARMILLA_OK ? matrix_turn(s->c, made) : status;
}

armilla_status hdf5_read_records(const source *s, const char *path, const char *member, matrix *made)
{
    hdf5_field field;
    hsize_t width = 0;
    int64_t area = 0;
    if (!hdf5_field_open(s, path, member, &field)) return hdf5_bad(s, path, "has no such array");
    const bool array = H5Tget_class(field.stored) == H5T_ARRAY && H5Tget_array_ndims(field.stored) == 1 &&
                       H5Tget_array_dims2(field.stored, &width) == 1;
    const hid_t element = array ? H5Tget_super(field.stored) : -1;
    *made = (matrix){.type = ARMILLA_F64, .n = field.count, .m = (int64_t)width};
    armilla_status status = ARMILLA_OK;
    if (element < 0 || !hdf5_is_number(element) || width > INT64_MAX / 16 ||
        __builtin_mul_overflow(field.count, made->m, &area))
        status = hdf5_bad(s, path, "holds no matrix of numbers under that name");
    const hid_t type = status == ARMILLA_OK ? H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &width) : -1;
    if (status == ARMILLA_OK) status = take(s->c, area, sizeof(double), &made->values);
    if (status == ARMILLA_OK) status = hdf5_field_read(&field, type, made->values);
    if (type >= 0) H5Tclose(type);
    if (element >= 0) H5Tclose(element);
    hdf5_field_close(&field);
    return status;
}
