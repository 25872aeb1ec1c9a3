/* Matrices and lists of texts in plain memory, and the choice among the matrices of a file. */
#include "convert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

armilla_status take(conversion *c, int64_t count, size_t size, void *block)
{
    void *made = count < 0 || (uint64_t)count > SIZE_MAX / 2 / size ? NULL : calloc(count ? (size_t)count : 1, size);
    if (!made)
        return refuse(c, ARMILLA_NO_MEMORY, "%s: out of memory for %" PRId64 " numbers; raise the limit (--memory)",
                      c->path, count);
    *(void **)block = made;
    return ARMILLA_OK;
}

void text_list_free(text_list *list)
{
    for (int64_t i = 0; list->texts && i < list->count; i++) free(list->texts[i]);
    free(list->texts);
    *list = (text_list){0, NULL};
}

static void free_arrays(matrix *made)
{
    free(made->values);
    free(made->places);
    free(made->starts);
}

void matrix_free(matrix *made)
{
    free_arrays(made);
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT; kind++) text_list_free(&made->names[kind]);
    *made = (matrix){.m = 0};
}

int64_t index_at(armilla_index index, const void *indices, int64_t i)
{
    return index == ARMILLA_I64 ? ((const int64_t *)indices)[i] : ((const int32_t *)indices)[i];
}

static void put_index(armilla_index index, void *indices, int64_t i, int64_t value)
{
    if (index == ARMILLA_I64)
        ((int64_t *)indices)[i] = value;
    else
        ((int32_t *)indices)[i] = (int32_t)value;
}

/* Starts rise from 0 to the number of entries, and places lie among the samples: nothing here may be trusted. */
static armilla_status check_lines(conversion *c, const matrix *lines)
{
    int64_t before = 0;
    for (int64_t i = 0; i <= lines->m; i++) {
        const int64_t start = index_at(lines->index, lines->starts, i);
        if (start < before || start > lines->stored || (i == 0 && start != 0))
            return refuse(c, ARMILLA_BAD_DATA, "%s: start %" PRId64 " of the sparse matrix is out of range", c->path,
                          i);
        before = start;
    }
    if (before != lines->stored)
        return refuse(c, ARMILLA_BAD_DATA,
                      "%s: the starts of the sparse matrix end at %" PRId64 " of %" PRId64 " entries", c->path, before,
                      lines->stored);
    for (int64_t e = 0; e < lines->stored; e++) {
        const int64_t place = index_at(lines->index, lines->places, e);
        if (place < 0 || place >= lines->n)
            return refuse(c, ARMILLA_BAD_DATA,
                          "%s: entry %" PRId64 " of the sparse matrix has the index %" PRId64
                          ", which is not between 0 and %" PRId64,
                          c->path, e, place, lines->n - 1);
    }
    return ARMILLA_OK;
}

/* starts[j+1] is first the number of entries of sample j, then where its next entry goes. */
static void distribute(const matrix *from, matrix *to)
{
    const size_t size = armilla_type_size(from->type);
    for (int64_t e = 0; e < from->stored; e++) {
        const int64_t j = index_at(from->index, from->places, e);
        if (j + 2 <= from->n) put_index(to->index, to->starts, j + 2, index_at(to->index, to->starts, j + 2) + 1);
    }
    for (int64_t j = 2; j <= from->n; j++)
        put_index(to->index, to->starts, j,
                  index_at(to->index, to->starts, j) + index_at(to->index, to->starts, j - 1));
    for (int64_t i = 0; i < from->m; i++)
        for (int64_t e = index_at(from->index, from->starts, i); e < index_at(from->index, from->starts, i + 1); e++) {
            const int64_t j = index_at(from->index, from->places, e);
            const int64_t place = index_at(to->index, to->starts, j + 1);
            put_index(to->index, to->places, place, i);
            memcpy((char *)to->values + (size_t)place * size, (const char *)from->values + (size_t)e * size, size);
            put_index(to->index, to->starts, j + 1, place + 1);
        }
}

static void turn_dense(const matrix *from, matrix *to)
{
    const size_t size = armilla_type_size(from->type);
    for (int64_t first = 0; first < from->m; first += 64) /* lines that a cache holds */
        for (int64_t j = 0; j < from->n; j++)
            for (int64_t i = first; i < from->m && i < first + 64; i++)
                memcpy((char *)to->values + (size_t)(j * from->m + i) * size,
                       (const char *)from->values + (size_t)(i * from->n + j) * size, size);
}

armilla_status matrix_turn(conversion *c, matrix *made)
{
    const size_t width = made->index == ARMILLA_I64 ? sizeof(int64_t) : sizeof(int32_t);
    const int64_t count = made->sparse ? made->stored : made->m * made->n;
    matrix to = *made;
    to.values = to.places = to.starts = NULL;
    armilla_status status = made->sparse ? check_lines(c, made) : ARMILLA_OK;
    if (status == ARMILLA_OK) status = take(c, count, armilla_type_size(made->type), &to.values);
    if (status == ARMILLA_OK && made->sparse) status = take(c, count, width, &to.places);
    if (status == ARMILLA_OK && made->sparse) status = take(c, made->n + 1, width, &to.starts);
    if (status != ARMILLA_OK) {
        free_arrays(&to);
        return status;
    }
    if (made->sparse)
        distribute(made, &to);
    else
        turn_dense(made, &to);
    free_arrays(made);
    *made = to;
    return ARMILLA_OK;
}

void matrix_orient(const conversion *c, int64_t rows, int64_t cols, matrix *made)
{
    made->m = c->sample_columns ? rows : cols;
    made->n = c->sample_columns ? cols : rows;
}

void choice_add(choice *among, const char *name, int64_t rows, int64_t cols)
{
    const size_t used = strlen(among->list);
    char shape[64] = "";
    if (rows >= 0) snprintf(shape, sizeof shape, " (%" PRId64 " x %" PRId64 ")", rows, cols);
    if (among->found++ == 0) snprintf(among->first, sizeof among->first, "%s", name);
    if (rows > 1 && cols > 1 && among->wide++ == 0) snprintf(among->first_wide, sizeof among->first_wide, "%s", name);
    snprintf(among->list + used, sizeof among->list - used, "%s%s%s", used ? ", " : "", name, shape);
}

armilla_status choice_refuse_several(conversion *c, const choice *among)
{
    return refuse(c, ARMILLA_BAD_DATA, "%s: holds several matrices; choose one by --array NAME among: %s", c->path,
                  among->list);
}

armilla_status choice_refuse_missing(conversion *c, const choice *among, const char *name)
{
    return refuse(c, ARMILLA_BAD_DATA, "%s: %s: is not there, or is no matrix of real numbers; it holds: %s", c->path,
                  name, among->found ? among->list : "none");
}

armilla_status choice_settle(conversion *c, const choice *among, char name[MOST_NAME])
{
    snprintf(name, MOST_NAME, "%s", c->array ? c->array : among->wide == 1 ? among->first_wide : among->first);
    if (c->array || among->found == 1 || among->wide == 1) return ARMILLA_OK;
    if (among->found > 1) return choice_refuse_several(c, among);
    return refuse(c, ARMILLA_BAD_DATA, "%s: holds no real matrix; save one", c->path);
}
