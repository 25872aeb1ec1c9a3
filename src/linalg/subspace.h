/* Principal angles between the spaces that the columns of two matrices span. */
#ifndef ARMILLA_LINALG_SUBSPACE_H
#define ARMILLA_LINALG_SUBSPACE_H

#include "linalg/dense.h"

/* An m x r matrix, column-major. Directions below max(m, r) * epsilon times the longest are not counted. */
typedef struct armilla_tall {
    int64_t m, r;
    double epsilon;
    const double *A;
} armilla_tall;

typedef struct armilla_subspace_angles {
    int64_t dimensions[2]; /* of the two spaces */
    int64_t count;         /* the smaller of these */
    double *angles;        /* rising, in radians; space for the smaller number of columns */
} armilla_subspace_angles;

/* Both have m rows and numbers near 1. Small angles are as exact as large ones. BLAS was entered. */
armilla_status armilla_subspace_compare(armilla_context *context, const armilla_tall of[2],
                                        armilla_subspace_angles *angles);

#endif
