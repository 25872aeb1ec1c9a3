/* Matrices of few columns without BLAS and LAPACK: loading these takes as long as many iterations on small data. The order
 * of every sum is fixed, so that bits do not depend on the instruction set. */
#ifndef ARMILLA_LINALG_SMALL_H
#define ARMILLA_LINALG_SMALL_H

#include "base/context.h"

/* Up to so many columns; beyond, the eigenproblem is better left to LAPACK. */
enum { ARMILLA_SMALL = 16 };

/* Eigenvalues (rising) and, where wanted, eigenvectors of the symmetric k x k matrix in `vectors`, which becomes them or,
 * without, is destroyed. Jacobi's method. False where an entry is not finite. */
bool armilla_small_eigen(int64_t k, bool wanted, double *values, double *vectors);

#endif
