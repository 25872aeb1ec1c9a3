/* The routines of BLAS and LAPACK that src/linalg calls, by their Fortran names, which every library of them has: neither
 * a header nor a C interface is needed. Matrices are column-major, arguments come by address, and the length of each
 * text, 1, stands behind all of them; a routine written in C leaves these lengths alone. */
#ifndef ARMILLA_LINALG_FORTRAN_H
#define ARMILLA_LINALG_FORTRAN_H

#include <stddef.h>

void dgemm_(const char *left, const char *right, const int *m, const int *n, const int *k, const double *alpha,
            const double *A, const int *lda, const double *B, const int *ldb, const double *beta, double *C,
            const int *ldc, size_t, size_t);
void sgemm_(const char *left, const char *right, const int *m, const int *n, const int *k, const float *alpha,
            const float *A, const int *lda, const float *B, const int *ldb, const float *beta, float *C, const int *ldc,
            size_t, size_t); /* for measurements alone */
void dsyrk_(const char *half, const char *op, const int *n, const int *k, const double *alpha, const double *A,
            const int *lda, const double *beta, double *C, const int *ldc, size_t, size_t);
void dgeqrf_(const int *m, const int *n, double *A, const int *lda, double *tau, double *work, const int *size,
             int *info);
void dorgqr_(const int *m, const int *n, const int *k, double *A, const int *lda, const double *tau, double *work,
             const int *size, int *info);
void dgesdd_(const char *job, const int *m, const int *n, double *A, const int *lda, double *values, double *U,
             const int *ldu, double *Vt, const int *ldvt, double *work, const int *size, int *integers, int *info,
             size_t);
void dpotrf_(const char *half, const int *n, double *A, const int *lda, int *info, size_t);
void dtrsm_(const char *side, const char *half, const char *op, const char *diagonal, const int *m, const int *n,
            const double *alpha, const double *A, const int *lda, double *B, const int *ldb, size_t, size_t, size_t,
            size_t);
void dsyevd_(const char *job, const char *half, const int *n, double *A, const int *lda, double *values, double *work,
             const int *size, int *integers, const int *integer_size, int *info, size_t, size_t);

/* X(name); the declarations above give each its type. */
#define ARMILLA_BLAS_LIST(X)                                                                                           \
    X(dgemm_)                                                                                                          \
    X(dsyrk_)                                                                                                          \
    X(dgeqrf_)                                                                                                         \
    X(dorgqr_)                                                                                                         \
    X(dgesdd_)                                                                                                         \
    X(dsyevd_)                                                                                                         \
    X(dpotrf_)                                                                                                         \
    X(dtrsm_)

#define ARMILLA_BLAS_MEMBER(name) __typeof__(name) *name;
typedef struct armilla_blas_table {
    ARMILLA_BLAS_LIST(ARMILLA_BLAS_MEMBER)
} armilla_blas_table;
#undef ARMILLA_BLAS_MEMBER

/* Complete after armilla_blas_load, and unchanged from then on. */
extern armilla_blas_table armilla_blas;

#endif
