/* The calls of blas.h: arguments by value become addresses, and the last one what is returned. */
#include "linalg/fortran.h"

#include "linalg/blas.h"

void armilla_dgemm(char left, char right, int m, int n, int k, double alpha, const double *A, int lda, const double *B,
                   int ldb, double beta, double *C, int ldc)
{
    armilla_blas.dgemm_(&left, &right, &m, &n, &k, &alpha, A, &lda, B, &ldb, &beta, C, &ldc, 1, 1);
}

void armilla_dsyrk(char half, char op, int n, int k, double alpha, const double *A, int lda, double beta, double *C,
                   int ldc)
{
    armilla_blas.dsyrk_(&half, &op, &n, &k, &alpha, A, &lda, &beta, C, &ldc, 1, 1);
}

int armilla_dgeqrf(int m, int n, double *A, int lda, double *tau, double *work, int size)
{
    int info = 0;
    armilla_blas.dgeqrf_(&m, &n, A, &lda, tau, work, &size, &info);
    return info;
}

int armilla_dorgqr(int m, int n, int k, double *A, int lda, const double *tau, double *work, int size)
{
    int info = 0;
    armilla_blas.dorgqr_(&m, &n, &k, A, &lda, tau, work, &size, &info);
    return info;
}

int armilla_dgesdd(char job, int m, int n, double *A, int lda, double *values, double *U, int ldu, double *Vt, int ldvt,
                   double *work, int size, int *integers)
{
    int info = 0;
    armilla_blas.dgesdd_(&job, &m, &n, A, &lda, values, U, &ldu, Vt, &ldvt, work, &size, integers, &info, 1);
    return info;
}

int armilla_dsyevd(char job, char half, int n, double *A, int lda, double *values, double *work, int size,
                   int *integers, int integer_size)
{
    int info = 0;
    armilla_blas.dsyevd_(&job, &half, &n, A, &lda, values, work, &size, integers, &integer_size, &info, 1, 1);
    return info;
}

int armilla_dpotrf(char half, int n, double *A, int lda)
{
    int info = 0;
    armilla_blas.dpotrf_(&half, &n, A, &lda, &info, 1);
    return info;
}

void armilla_dtrsm(char side, char half, char op, char diagonal, int m, int n, double alpha, const double *A, int lda,
                   double *B, int ldb)
{
    armilla_blas.dtrsm_(&side, &half, &op, &diagonal, &m, &n, &alpha, A, &lda, B, &ldb, 1, 1, 1, 1);
}
