/* The work arrays behind armilla_algebra, for the files of src/linalg. */
#ifndef ARMILLA_LINALG_ALGEBRA_H
#define ARMILLA_LINALG_ALGEBRA_H

#include "linalg/dense.h"
#include "linalg/thin_kernels.h"

enum { ALGEBRA_SQUARES = 6, ALGEBRA_FEW_SQUARES = 3, ALGEBRA_VECTORS = 3 };

/* From so many columns on products of matrices replace eigenproblems, and matrices are cut among the threads finely
 * enough for few rows as well. */
enum { ARMILLA_LARGE = 128 };

struct armilla_algebra {
    armilla_context *context;
    const armilla_team *team; /* borrowed; NULL: none */
    int64_t m, r;
    double *blocks; /* a block of rows for each part of them (linalg/tall.c); from ARMILLA_LARGE columns on all rows */
    double *square[ALGEBRA_SQUARES];  /* r x r; the first few below ARMILLA_LARGE columns */
    double *vectors[ALGEBRA_VECTORS]; /* r, from ARMILLA_LARGE columns on */
    double *values, *tau;             /* r */
    double *grams;                    /* r x r for each part of the rows */
    double *work;
    int *integers;
    int work_size, integer_size;
};

/* LAPACK and its work arrays, which few columns mostly do without. */
armilla_status armilla_algebra_need_lapack(armilla_algebra *algebra);

/* The polar factor by products, for more columns than ARMILLA_LARGE: M in U, and M'M in the first square. False where M is
 * too ill conditioned for that; U then has the same polar factor as M. */
bool armilla_polar_by_products(armilla_algebra *algebra, double *U);
/* Newton-Schulz steps, K being their factor, while U'U, which is E, is further than rounding from I; false where three
 * were not enough. */
bool armilla_polish(armilla_algebra *algebra, double *U, double *E, double *K);

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
