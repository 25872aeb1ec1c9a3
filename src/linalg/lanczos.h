/* The ends of the spectrum of a symmetric matrix of many columns, by Lanczos' method. */
#ifndef ARMILLA_LINALG_LANCZOS_H
#define ARMILLA_LINALG_LANCZOS_H

#include "linalg/algebra.h"

/* y = a symmetric matrix times x. */
typedef void (*armilla_apply)(const void *self, const double *x, double *y);

/* The least and the greatest Ritz value, which lie within the spectrum; NaN where a product is. */
typedef struct armilla_ends {
    double low, high;
} armilla_ends;

/* Steps end when neither end has moved by more than `settled` times the greatest since the last look, and at `most`. */
enum { ARMILLA_LANCZOS_MOST = 48 };
typedef struct armilla_lanczos {
    armilla_apply apply;
    const void *self;
    int most;
    double settled;
    bool both; /* whether the least is waited for */
} armilla_lanczos;

armilla_ends armilla_lanczos_ends(const armilla_algebra *algebra, const armilla_lanczos *of);

/* An upper bound of the largest eigenvalue of the symmetric positive semidefinite r x r matrix, r the algebra's, at most
 * 1/4000 above it: S < bound*I is proved by Cholesky's method. False where it could not be. The first square is
 * destroyed. */
bool armilla_lanczos_bound(const armilla_algebra *algebra, const double *S, double *bound);

#endif
