/* Matrices of few columns without BLAS and LAPACK: loading these takes as long as many iterations on small data. The order
 * of every sum is fixed, so that bits do not depend on the instruction set. */
#ifndef ARMILLA_LINALG_SMALL_H
#define ARMILLA_LINALG_SMALL_H

#include "base/context.h"

/* Up to so many columns of any number of rows, and up to so many rows and columns; beyond, BLAS and LAPACK are faster by
 * more than what loading them takes. */
enum { ARMILLA_SMALL = 16, ARMILLA_SMALL_SQUARE = 64 };

/* Whether matrices of that size do without BLAS and LAPACK. */
static inline bool armilla_is_small(int64_t rows, int64_t columns)
{
    return columns <= ARMILLA_SMALL || (rows <= ARMILLA_SMALL_SQUARE && columns <= ARMILLA_SMALL_SQUARE);
}

/* Eigenvalues (rising) and, where wanted, eigenvectors of the symmetric k x k matrix in `vectors`, which becomes them or,
 * without, is destroyed; k <= ARMILLA_SMALL_SQUARE.
 * False where an entry is not finite. */
bool armilla_small_eigen(int64_t k, bool wanted, double *values, double *vectors);

/* Eigenvalues in any order; the matrix in `vectors`, both halves, the largest entry near 1, becomes their eigenvectors in that
 * order or, where these are not wanted, is destroyed. False where the iteration does not end, which no finite matrix has
 * made. */
bool armilla_tridiagonal_eigen(int64_t k, bool wanted, double *values, double *vectors);

#endif
