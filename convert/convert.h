/* armilla-convert: files that other people's libraries read (HDF5, MATLAB), written as .npz. A program of its own, with
 * limits on what it may use, so that a bad file can hurt nobody else; it sees the public headers only. */
#ifndef ARMILLA_CONVERT_H
#define ARMILLA_CONVERT_H

#include <armilla/armilla.h>

/* A file being converted. */
typedef struct conversion {
    armilla_context *context;
    const char *path;
    const char *array;   /* which, or NULL */
    bool sample_columns; /* of .mat, whose orientation is not fixed */
    char error[1024];
} conversion;

/* A list of texts; all zeros is empty. */
typedef struct text_list {
    int64_t count;
    char **texts;
} text_list;

/* A matrix in memory that is the caller's: dense, one sample after another, or compressed by line. */
typedef struct matrix {
    bool sparse;
    armilla_type type;
    armilla_index index;
    int64_t m, n;   /* features, samples */
    int64_t stored; /* sparse: entries */
    void *values, *places, *starts;
    text_list names[ARMILLA_NAMING_COUNT];
} matrix;

/* Puts the sentence into the conversion and returns status. */
armilla_status refuse(conversion *c, armilla_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* *block = count elements of that size, zeroed; free frees them. */
armilla_status take(conversion *c, int64_t count, size_t size, void *block);
void text_list_free(text_list *list);
void matrix_free(matrix *made);
/* A sparse matrix that lies by feature (lines features, each with places among the samples) becomes one by sample. */
armilla_status matrix_turn(conversion *c, matrix *made);
/* Index i of either width. */
int64_t index_at(armilla_index index, const void *indices, int64_t i);

/* What a format fills; *made is the caller's also on failure. */
armilla_status read_hdf5(conversion *c, matrix *made);
/* HDF5, of which matio makes use too, neither prints nor loads filters from elsewhere. */
void hdf5_prepare(void);
/* ARMILLA_BAD_DATA where a .mat of version 5 is cut short or its compression is damaged. */
armilla_status mat_check(conversion *c);
armilla_status read_mat(conversion *c, matrix *made);

/* No privileges, no new programs, no network, no core; bounded time, memory and output. memory <= 0: what the machine
 * has. */
void limits_set(int64_t memory);

#endif
