/* armilla-convert: files that are read by other people's libraries, or by code that has not been tried for as long
 * (HDF5, MATLAB), written as .npz. A program of its own, locked in before it looks at the first byte, so that a bad file
 * can hurt nobody else; it sees the public headers only. */
#ifndef ARMILLA_CONVERT_H
#define ARMILLA_CONVERT_H

#include <armilla/armilla.h>

/* A file being converted. It lies in memory, mapped: nothing is opened or read after limits_set. */
typedef struct conversion {
    armilla_context *context;
    const char *path; /* for messages */
    const unsigned char *bytes;
    size_t size;
    const char *array;   /* which, or NULL */
    const char *labels;  /* the column of obs, or the variable, with labels of samples; or NULL */
    bool sample_columns; /* of .mat, whose orientation is not fixed */
    char error[1024];
    char warnings[2048]; /* lines */
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

enum { MOST_NAME = 256 };

/* The matrices that a file holds, and which of them is the one. */
typedef struct choice {
    int64_t found, wide; /* all, and those that are no vectors */
    char first[MOST_NAME], first_wide[MOST_NAME], list[512];
} choice;

/* Puts the message into the conversion and returns status. */
armilla_status refuse(conversion *c, armilla_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* One line more of what a user should know though the conversion goes on. */
void warn(conversion *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* *block = count elements of that size, zeroed; free frees them. */
armilla_status take(conversion *c, int64_t count, size_t size, void *block);
void text_list_free(text_list *list);
void matrix_free(matrix *made);
/* A matrix that lies by feature (m lines, a sparse one with places among the samples) becomes one by sample. */
armilla_status matrix_turn(conversion *c, matrix *made);
/* m and n of MATLAB's rows x cols, which lie by column, as --samples says; the columns are then turned. */
void matrix_orient(const conversion *c, int64_t rows, int64_t cols, matrix *made);
/* Index i of either width. */
int64_t index_at(armilla_index index, const void *indices, int64_t i);
/* Shape "(rows x cols)" in the list unless rows is negative. */
void choice_add(choice *among, const char *name, int64_t rows, int64_t cols);
/* ARMILLA_BAD_DATA where there are several and none is named. */
armilla_status choice_refuse_several(conversion *c, const choice *among);
/* ARMILLA_BAD_DATA: the file has no such matrix, but those. */
armilla_status choice_refuse_missing(conversion *c, const choice *among, const char *name);
/* name = the variable that is asked for, or the only one, or the only one that is no vector. */
armilla_status choice_settle(conversion *c, const choice *among, char name[MOST_NAME]);

/* Numbers as texts; codes as the texts that they number, "NA" for -1, and ARMILLA_BAD_DATA, with the array's name, for any
 * other that numbers none; and that there are none such. */
armilla_status labels_of_numbers(conversion *c, int64_t count, const double *numbers, text_list *list);
armilla_status labels_of_codes(conversion *c, const char *array, int64_t count, const double *codes,
                               const text_list *categories, text_list *list);
/* That there is too little memory for names or labels. */
armilla_status texts_no_memory(conversion *c);
armilla_status labels_refuse(conversion *c, const char *why, int64_t samples);

/* What a format fills; *made is the caller's also on failure. */
armilla_status read_hdf5(conversion *c, matrix *made);
armilla_status read_mat73(conversion *c, matrix *made);
armilla_status read_mat5(conversion *c, matrix *made);
armilla_status read_mat4(conversion *c, matrix *made);

/* From here on the process computes, takes memory and writes to what is open, and can do nothing else; time, memory and
 * output are bounded. memory <= 0: in proportion to the file, as much as the machine has at most. ARMILLA_NOT_BUILT
 * where the system cannot lock a process in. */
armilla_status limits_set(conversion *c, int64_t memory);
/* The call filter of limits_set; false where there is none. */
bool filter_calls(void);

#endif
