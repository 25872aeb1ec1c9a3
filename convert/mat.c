/* What versions 4 and 5 of MATLAB's .mat have in common: one real matrix, dense or compressed by column, is found among
 * the variables and copied. Names of features and samples are not kept in such files. */
#include "mat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FETCH(name, stored)                                                                                            \
    static double fetch_##name(const unsigned char *from, bool swap)                                                   \
    {                                                                                                                  \
        stored value;                                                                                                  \
        unsigned char bytes[sizeof value];                                                                             \
        for (size_t k = 0; k < sizeof value; k++) bytes[k] = from[swap ? sizeof value - 1 - k : k];                    \
        memcpy(&value, bytes, sizeof value);                                                                           \
        return (double)value;                                                                                          \
    }
FETCH(int8, int8_t)
FETCH(uint8, uint8_t)
FETCH(int16, int16_t)
FETCH(uint16, uint16_t)
FETCH(int32, int32_t)
FETCH(uint32, uint32_t)
FETCH(single, float)
FETCH(double, double)
FETCH(int64, int64_t)
FETCH(uint64, uint64_t)

static const mat_number numbers[] = {
    {1, 1, fetch_int8},          {2, 1, fetch_uint8},   {3, 2, fetch_int16},  {4, 2, fetch_uint16},
    {MAT_INT32, 4, fetch_int32}, {6, 4, fetch_uint32},  {7, 4, fetch_single}, {MAT_DOUBLE, 8, fetch_double},
    {MAT_INT64, 8, fetch_int64}, {13, 8, fetch_uint64},
};

const mat_number *mat_number_find(uint32_t code)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].code == code) return &numbers[i];
    return NULL;
}

uint32_t mat_word(const unsigned char *from, bool swap)
{
    uint32_t word;
    memcpy(&word, from, sizeof word);
    return swap ? __builtin_bswap32(word) : word;
}

bool mat_swaps(bool big)
{
    return big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static double fetch(const mat_variable *v, const mat_array *array, int64_t i)
{
    return array->number->fetch(array->at + (size_t)i * array->number->size, v->swap);
}

/* An index, which no file has beyond 2^53; -1 is refused later, as any that is out of range. */
static int64_t fetch_index(const mat_variable *v, const mat_array *array, int64_t i)
{
    const double value = fetch(v, array, i);
    return value >= 0 && value < 9e15 ? (int64_t)value : -1;
}

/* A vector is a matrix too there; single numbers and what is no number are no data. */
static bool is_matrix(const mat_variable *v)
{
    int64_t area = 0;
    return v->numeric && *v->name && v->rows > 0 && v->cols > 0 && !__builtin_mul_overflow(v->rows, v->cols, &area) &&
           area > 1;
}

static armilla_status bad(conversion *c, const char *name, const char *what)
{
    return refuse(c, ARMILLA_BAD_DATA, "%s: variable %s: %s", c->path, name, what);
}

/* count numbers of v as they are held; a byte's class can be stored wider, and then damaged. */
static armilla_status copy_values(conversion *c, const mat_variable *v, int64_t count, matrix *made)
{
    made->type = v->type;
    const armilla_status status = take(c, count, armilla_type_size(v->type), &made->values);
    for (int64_t i = 0; i < count && status == ARMILLA_OK; i++) {
        const double value = fetch(v, &v->values, i);
        if (v->type == ARMILLA_F64)
            ((double *)made->values)[i] = value;
        else if (v->type == ARMILLA_F32)
            ((float *)made->values)[i] = (float)value;
        else if (v->type == ARMILLA_U8 && value >= 0 && value <= UINT8_MAX)
            ((uint8_t *)made->values)[i] = (uint8_t)value;
        else if (v->type == ARMILLA_I8 && value >= INT8_MIN && value <= INT8_MAX)
            ((int8_t *)made->values)[i] = (int8_t)value;
        else
            return bad(c, v->name, "has a byte that is none; save it again");
    }
    return status;
}

static armilla_status copy_dense(conversion *c, const mat_variable *v, matrix *made)
{
    const int64_t area = v->rows * v->cols;
    if (!v->values.number || v->values.count < area) return bad(c, v->name, "is cut short; save it again");
    return copy_values(c, v, area, made);
}

static armilla_status copy_indices(conversion *c, const mat_variable *v, const mat_array *array, int64_t count,
                                   void **to)
{
    const armilla_status status = take(c, count, sizeof(int64_t), to);
    for (int64_t i = 0; i < count && status == ARMILLA_OK; i++) ((int64_t *)*to)[i] = fetch_index(v, array, i);
    return status;
}

static armilla_status copy_sparse(conversion *c, const mat_variable *v, matrix *made)
{
    const bool there = v->values.number && v->places.number && v->starts.number && v->starts.count > v->cols;
    const int64_t entries = there ? fetch_index(v, &v->starts, v->cols) : -1;
    if (entries < 0) return bad(c, v->name, "is a damaged sparse matrix; save it again");
    if (entries > v->places.count || entries > v->values.count)
        return bad(c, v->name, "is a damaged sparse matrix: it has fewer entries than it declares; save it again");
    *made = (matrix){.sparse = true, .stored = entries, .index = ARMILLA_I64};
    armilla_status status = copy_values(c, v, entries, made);
    if (status == ARMILLA_OK) status = copy_indices(c, v, &v->places, entries, &made->places);
    if (status == ARMILLA_OK) status = copy_indices(c, v, &v->starts, v->cols + 1, &made->starts);
    return status;
}

/* What there is, by a walk that looks at no numbers, although at all that is packed, to see that it is whole. */
static armilla_status look_around(conversion *c, size_t first, mat_next *next, choice *among)
{
    for (size_t at = first; at < c->size;) {
        mat_variable v = {.rows = 0};
        const armilla_status status = next(c, &at, false, &v);
        free(v.unpacked);
        if (status != ARMILLA_OK) return status;
        if (is_matrix(&v)) choice_add(among, v.name, v.rows, v.cols);
    }
    return ARMILLA_OK;
}

/* *where = the variable of that name. */
static armilla_status find(conversion *c, size_t first, mat_next *next, const char *name, size_t *where)
{
    choice among = {.found = 0};
    for (size_t at = first; at < c->size;) {
        mat_variable v = {.rows = 0};
        *where = at;
        const armilla_status status = next(c, &at, false, &v);
        free(v.unpacked);
        if (status != ARMILLA_OK || strcmp(v.name, name) == 0) return status;
    }
    const armilla_status status = look_around(c, first, next, &among);
    return status == ARMILLA_OK ? choice_refuse_missing(c, &among, name) : status;
}

/* The labels that are asked for: a variable with a number for each sample. */
static armilla_status read_labels(conversion *c, size_t first, mat_next *next, matrix *made)
{
    mat_variable v = {.rows = 0};
    size_t where = 0;
    double *labels = NULL;
    if (!c->labels) return ARMILLA_OK;
    armilla_status status = find(c, first, next, c->labels, &where);
    if (status == ARMILLA_OK) status = next(c, &where, true, &v);
    const bool vector = v.numeric && !v.sparse && v.values.number && (v.rows == 1 || v.cols == 1);
    if (status == ARMILLA_OK &&
        (!vector || v.values.count != made->n || (v.rows > v.cols ? v.rows : v.cols) != made->n))
        status = labels_refuse(c, "are no vector of numbers, or of another count", made->n);
    if (status == ARMILLA_OK) status = take(c, made->n, sizeof *labels, &labels);
    for (int64_t i = 0; i < made->n && status == ARMILLA_OK; i++) labels[i] = fetch(&v, &v.values, i);
    if (status == ARMILLA_OK) status = labels_of_numbers(c, made->n, labels, &made->names[ARMILLA_SAMPLE_LABELS]);
    free(labels);
    free(v.unpacked);
    return status;
}

armilla_status mat_read(conversion *c, size_t first, mat_next *next, matrix *made)
{
    char name[MOST_NAME] = "";
    mat_variable v = {.rows = 0};
    size_t where = 0;
    choice among = {.found = 0};
    armilla_status status = look_around(c, first, next, &among);
    if (status == ARMILLA_OK) status = choice_settle(c, &among, name);
    if (status == ARMILLA_OK) status = find(c, first, next, name, &where);
    if (status == ARMILLA_OK) status = next(c, &where, true, &v);
    if (status == ARMILLA_OK && !is_matrix(&v)) status = bad(c, name, "is no matrix of real numbers");
    if (status == ARMILLA_OK) status = v.sparse ? copy_sparse(c, &v, made) : copy_dense(c, &v, made);
    free(v.unpacked);
    if (status != ARMILLA_OK) return status;
    matrix_orient(c, v.rows, v.cols, made);
    if (!c->sample_columns) status = matrix_turn(c, made);
    return status == ARMILLA_OK ? read_labels(c, first, next, made) : status;
}
