/* The functions of BLAS and LAPACK that src/linalg calls, as a table: the libraries are loaded when they are first
 * used (armilla_blas_load), because some take hundreds of megabytes for that, and reading a file needs none of it. */
#ifndef ARMILLA_LINALG_BLAS_H
#define ARMILLA_LINALG_BLAS_H

#include "base/context.h"

#include <cblas.h>
#include <lapacke.h>

/* X(name); the headers give each its type. */
#define ARMILLA_BLAS_LIST(X)                                                                                           \
    X(cblas_dgemm)                                                                                                     \
    X(cblas_dsyrk)                                                                                                     \
    X(LAPACKE_dgeqrf_work)                                                                                             \
    X(LAPACKE_dgesdd_work)                                                                                             \
    X(LAPACKE_dorgqr_work)                                                                                             \
    X(LAPACKE_dsyevd_work)

#define ARMILLA_BLAS_MEMBER(name) __typeof__(name) *name;
typedef struct armilla_blas_table {
    ARMILLA_BLAS_LIST(ARMILLA_BLAS_MEMBER)
} armilla_blas_table;
#undef ARMILLA_BLAS_MEMBER

/* Complete after armilla_blas_load, and unchanged from then on: whoever has an algebra of more than ARMILLA_SMALL columns,
 * or has entered (not idle), may call; others load first. */
extern armilla_blas_table armilla_blas;

/* Loads the libraries where that has not been done. ARMILLA_NOT_BUILT where one is missing, ARMILLA_NO_MEMORY where
 * the process has a limit that the buffers of OpenBLAS for so many calling threads do not fit in. */
armilla_status armilla_blas_load(armilla_context *context, int threads);

#endif
