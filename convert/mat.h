/* A variable of MATLAB's file of version 4 or 5: where its numbers lie in the file, or unpacked. */
#ifndef ARMILLA_CONVERT_MAT_H
#define ARMILLA_CONVERT_MAT_H

#include "convert.h"

/* Numbers as they are stored: the code is that of version 5. */
typedef struct mat_number {
    uint32_t code;
    size_t size;
    double (*fetch)(const unsigned char *from, bool swap);
} mat_number;

enum { MAT_INT32 = 5, MAT_DOUBLE = 9, MAT_INT64 = 12 };

typedef struct mat_array {
    const mat_number *number; /* NULL: no numbers */
    const unsigned char *at;
    int64_t count;
} mat_array;

typedef struct mat_variable {
    char name[MOST_NAME];
    int64_t rows, cols;
    bool numeric; /* real numbers with two sizes */
    bool sparse, swap;
    armilla_type type;                /* what the numbers become */
    mat_array values, places, starts; /* the last two where sparse */
    void *unpacked;                   /* mat_variable's own: free frees it */
} mat_variable;

/* The variable at *at, which goes behind it; its arrays only where `whole`. */
typedef armilla_status mat_next(conversion *c, size_t *at, bool whole, mat_variable *v);

/* NULL where the code is of no number. */
const mat_number *mat_number_find(uint32_t code);
/* The word at that place, of four bytes. */
uint32_t mat_word(const unsigned char *from, bool swap);
/* Whether the words of a file that says so are to be swapped. */
bool mat_swaps(bool big);
/* The wanted variable of those that begin at `first`. */
armilla_status mat_read(conversion *c, size_t first, mat_next *next, matrix *made);

#endif
