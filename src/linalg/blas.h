/* BLAS and LAPACK for src/linalg, the only caller. The libraries are loaded when they are first used, because some take
 * hundreds of megabytes for that, and reading a file needs none of it. */
#ifndef ARMILLA_LINALG_BLAS_H
#define ARMILLA_LINALG_BLAS_H

#include "base/context.h"

/* Loads the libraries where that has not been done. ARMILLA_NOT_BUILT where one is missing, ARMILLA_NO_MEMORY where
 * the process has a limit that the buffers of OpenBLAS for so many calling threads do not fit in. */
armilla_status armilla_blas_load(armilla_context *context, int threads);

/* The routines, column-major, after armilla_blas_load: whoever has an algebra of more than ARMILLA_SMALL columns, or has
 * entered (not idle), may call; others load first. op and its like are 'N', or 'T' for the transpose; half is 'U' or 'L';
 * LAPACK's return 0 or what is wrong, and with size -1 say in work[0] how much they want. */
void armilla_dgemm(char left, char right, int m, int n, int k, double alpha, const double *A, int lda, const double *B,
                   int ldb, double beta, double *C, int ldc);
void armilla_dsyrk(char half, char op, int n, int k, double alpha, const double *A, int lda, double beta, double *C,
                   int ldc);
int armilla_dgeqrf(int m, int n, double *A, int lda, double *tau, double *work, int size);
int armilla_dorgqr(int m, int n, int k, double *A, int lda, const double *tau, double *work, int size);
int armilla_dgesdd(char job, int m, int n, double *A, int lda, double *values, double *U, int ldu, double *Vt, int ldvt,
                   double *work, int size, int *integers);
int armilla_dsyevd(char job, char half, int n, double *A, int lda, double *values, double *work, int size,
                   int *integers, int integer_size);
int armilla_dpotrf(char half, int n, double *A, int lda);
void armilla_dtrsm(char side, char half, char op, char diagonal, int m, int n, double alpha, const double *A, int lda,
                   double *B, int ldb);

#endif
