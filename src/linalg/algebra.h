/* The work arrays behind armilla_algebra, for the files of src/linalg. */
#ifndef ARMILLA_LINALG_ALGEBRA_H
#define ARMILLA_LINALG_ALGEBRA_H

#include "linalg/dense.h"
#include "linalg/thin_kernels.h"

enum { ALGEBRA_SQUARES = 3 };

struct armilla_algebra {
    armilla_context *context;
    const armilla_team *team; /* borrowed; NULL: none */
    int64_t m, r;
    double *blocks;                  /* a block of rows for each part of them (linalg/tall.c) */
    double *square[ALGEBRA_SQUARES]; /* r x r */
    double *values, *tau;            /* r */
    double *grams;                   /* r x r for each part of the rows */
    double *work;
    int *integers;
    int work_size, integer_size;
};

/* LAPACK and its work arrays, which few columns mostly do without. */
armilla_status armilla_algebra_need_lapack(armilla_algebra *algebra);

/* Products of some rows, by BLAS or without. */
void armilla_multiply_thin(const armilla_thin_product *product, int64_t rows);
void armilla_gram_thin(const armilla_thin_gram *gram, int64_t rows);

/* Parts of m rows, which are work for one thread each, their first rows, and the rows of a block of them, which stays in a
 * cache; and the rows of a block for each part. */
enum { ARMILLA_TALL_PARTS = 8, ARMILLA_TALL_ROWS = 512 };
int64_t armilla_tall_parts(int64_t m);
int64_t armilla_tall_start(int64_t m, int64_t part);
int64_t armilla_tall_buffer(int64_t m);

#endif
