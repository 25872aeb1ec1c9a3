/* The library that BLAS and LAPACK are loaded from. */
#ifndef ARMILLA_LINALG_BLAS_OPEN_H
#define ARMILLA_LINALG_BLAS_OPEN_H

#include "base/context.h"

/* Fills armilla_blas. ARMILLA_NOT_BUILT where no library of this machine, or of this process, has what it takes. Not by
 * two threads at once. */
armilla_status armilla_blas_open(armilla_context *context);

/* A function of the libraries that were opened, by the name it usually has; NULL: none of them has it. */
void *armilla_blas_symbol(const char *name);

#endif
