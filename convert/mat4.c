/* MATLAB's .mat of version 4: variables one behind the other, each five words (kind, rows, columns, whether complex,
 * length of the name), the name, and the numbers by column. A sparse one is a matrix of three columns, row, column and
 * value of each entry, whose last line has the sizes. */
#include "mat.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 20, NUMERIC = 0, SPARSE = 2, MOST_KIND = 5000 };

/* Version 5's codes of how numbers are stored, by the digit that says it here. */
static const uint32_t codes[] = {MAT_DOUBLE, 7, MAT_INT32, 3, 4, 2};

static double number_at(const mat_variable *v, int64_t line, int64_t column)
{
    const mat_number *number = v->values.number;
    return number->fetch(v->values.at + (size_t)(column * v->rows + line) * number->size, v->swap);
}

/* An index from 1, or a size: whole and within the limit; -1 where it is not. */
static int64_t whole_at(const mat_variable *v, int64_t line, int64_t column, int64_t most)
{
    const double value = number_at(v, line, column);
    return value >= 1 && value <= (double)most && value == (double)(int64_t)value ? (int64_t)value : -1;
}

/* Sorts the entries by column, in the order of the file within each. */
static armilla_status compress(conversion *c, const mat_variable *v, mat_variable *made)
{
    const int64_t entries = v->rows - 1;
    int64_t *starts = NULL, *places;
    double *values;
    const armilla_status status = take(c, made->cols + 2 + 2 * entries, sizeof *starts, &starts);
    if (status != ARMILLA_OK) return status;
    made->unpacked = starts;
    places = starts + made->cols + 2;
    values = (double *)(void *)(places + entries);
    for (int64_t e = 0; e < entries; e++) {
        const int64_t column = whole_at(v, e, 1, made->cols);
        if (column < 0 || whole_at(v, e, 0, made->rows) < 0)
            return refuse(c, ARMILLA_BAD_DATA, "%s: variable %s: an entry lies outside of the sparse matrix", c->path,
                          v->name);
        starts[column + 1]++;
    }
    for (int64_t j = 2; j <= made->cols + 1; j++) starts[j] += starts[j - 1];
    for (int64_t e = 0; e < entries; e++) {
        const int64_t place = starts[whole_at(v, e, 1, made->cols)]++;
        places[place] = whole_at(v, e, 0, made->rows) - 1;
        values[place] = number_at(v, e, 2);
    }
    made->swap = false;
    made->starts = (mat_array){mat_number_find(MAT_INT64), (const unsigned char *)starts, made->cols + 1};
    made->places = (mat_array){made->starts.number, (const unsigned char *)places, entries};
    made->values = (mat_array){mat_number_find(MAT_DOUBLE), (const unsigned char *)values, entries};
    return ARMILLA_OK;
}

static armilla_status read_sparse(conversion *c, bool whole, mat_variable *v)
{
    mat_variable made = *v;
    made.rows = v->cols == 3 && v->rows > 0 ? whole_at(v, v->rows - 1, 0, INT32_MAX) : -1;
    made.cols = made.rows > 0 ? whole_at(v, v->rows - 1, 1, INT32_MAX) : -1;
    made.sparse = true;
    made.numeric = made.cols > 0;
    const armilla_status status = whole && made.numeric ? compress(c, v, &made) : ARMILLA_OK;
    *v = made;
    return status;
}

static armilla_status next_variable(conversion *c, size_t *at, bool whole, mat_variable *v)
{
    const unsigned char *from = c->bytes + *at;
    const size_t left = c->size - *at;
    if (left < HEADER) return refuse(c, ARMILLA_BAD_DATA, "%s: is cut short; copy it again", c->path);
    /* A kind has four digits: read in the wrong order of bytes it is larger. */
    v->swap = mat_word(from, mat_swaps(false)) > MOST_KIND ? mat_swaps(true) : mat_swaps(false);
    const uint32_t kind = mat_word(from, v->swap), form = kind % 10, stored = kind / 10 % 10,
                   length = mat_word(from + 16, v->swap), is_complex = mat_word(from + 12, v->swap);
    v->rows = (int32_t)mat_word(from + 4, v->swap);
    v->cols = (int32_t)mat_word(from + 8, v->swap);
    if (kind > MOST_KIND || form > SPARSE || stored >= sizeof codes / sizeof *codes || is_complex > 1 || v->rows < 0 ||
        v->cols < 0 || length < 1 || length >= MOST_NAME || length > left - HEADER)
        return refuse(c, ARMILLA_BAD_DATA, "%s: is not a file of MATLAB's, or is damaged; save it again", c->path);
    memcpy(v->name, from + HEADER, length);
    v->values = (mat_array){mat_number_find(codes[stored]), from + HEADER + length, v->rows * v->cols};
    const size_t available = (left - HEADER - length) / v->values.number->size / (is_complex + 1);
    if (available < (size_t)v->values.count)
        return refuse(c, ARMILLA_BAD_DATA, "%s: variable %s: is cut short; copy it again", c->path, v->name);
    *at += HEADER + length + (size_t)v->values.count * v->values.number->size * (is_complex + 1);
    v->type = ARMILLA_F64;
    v->numeric = form == NUMERIC && !is_complex;
    return form == SPARSE && !is_complex ? read_sparse(c, whole, v) : ARMILLA_OK;
}

armilla_status read_mat4(conversion *c, matrix *made)
{
    return mat_read(c, 0, next_variable, made);
}
