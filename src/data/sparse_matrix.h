/* A sparse matrix as plain arrays in compressed columns, for readers and for what has to be sorted: transposition by
 * counting, sorting, and adding up what belongs to one place. */
#ifndef ARMILLA_DATA_SPARSE_MATRIX_H
#define ARMILLA_DATA_SPARSE_MATRIX_H

#include "base/context.h"

/* Column j has the entries starts[j] ... starts[j+1]-1. */
typedef struct armilla_sparse_matrix {
    armilla_type type;
    bool index64; /* rows and starts have 64 bits, else 32 */
    int64_t m, n;
    void *values;
    void *rows;
    void *starts; /* n + 1 */
} armilla_sparse_matrix;

/* Whether an m x n matrix of that many entries needs 64-bit indices. */
bool armilla_sparse_needs_index64(const armilla_context *context, int64_t m, int64_t n, int64_t entries);
int64_t armilla_sparse_entries(const armilla_sparse_matrix *matrix);

/* Memory for an m x n matrix; *made is zeroed where that fails. */
armilla_status armilla_sparse_take(armilla_context *context, armilla_type type, int64_t m, int64_t n, int64_t entries,
                                   armilla_sparse_matrix *made);
void armilla_sparse_release(armilla_context *context, armilla_sparse_matrix *matrix);

/* ARMILLA_BAD_DATA, naming the first bad place, unless starts rise from 0 to `entries` and rows lie in 0 ... m-1.
 * `where` begins the message ("FILE: " or ""). *sorted: whether the rows of every column rise. */
armilla_status armilla_sparse_check(armilla_context *context, const char *where, const armilla_sparse_matrix *matrix,
                                    int64_t entries, bool *sorted);

/* The starts alone. */
armilla_status armilla_sparse_check_starts(armilla_context *context, const char *where,
                                           const armilla_sparse_matrix *matrix, int64_t entries);

/* *made = the transpose (n x m), rows rising where the matrix's columns are in order; equal places stay in order. */
armilla_status armilla_sparse_transpose(armilla_context *context, const armilla_sparse_matrix *matrix,
                                        armilla_sparse_matrix *made);

/* *made = a copy with rising rows; entries of one place have become their sum. */
armilla_status armilla_sparse_sort(armilla_context *context, const armilla_sparse_matrix *matrix,
                                   armilla_sparse_matrix *made);

/* Neighbouring entries of one place become their sum, in place. */
void armilla_sparse_add_up(armilla_sparse_matrix *matrix);

/* Whether rows rise, each but once; and entries in the order of their rows, by Shell's method: in place, and quick where
 * little is out of order. */
bool armilla_rows_rise(bool index64, const void *rows, int64_t count);
void armilla_entries_sort(bool index64, void *rows, armilla_type type, void *values, int64_t count);

/* Sets index i of an array of either width. */
static inline void armilla_index_put(bool index64, void *indices, int64_t i, int64_t value)
{
    if (index64)
        ((int64_t *)indices)[i] = value;
    else
        ((int32_t *)indices)[i] = (int32_t)value;
}

#endif
