/* The code step of k-means: each sample names the nearest atom, the first of equals, for plans with names. */
#ifndef ARMILLA_SOLVE_NEAREST_H
#define ARMILLA_SOLVE_NEAREST_H

#include "linalg/code_kernels.h"
#include "solve/sweep.h"

/* ||x - lu_k||^2 = ||x||^2 + l^2||u_k||^2 - 2l u_k'x */
typedef struct armilla_nearest {
    const armilla_code_kernels *kernels;
    const double *squared_norms; /* ||x||^2, n */
    double *offsets;             /* l^2||u_k||^2, r */
    double factor;               /* 2l */
    double *distances; /* n: the squared distance of each sample to its atom; what rounding leaves below 0 is 0 */
} armilla_nearest;

/* The tally of the step: the sum of the distances. */
enum { ARMILLA_NEAREST_INERTIA, ARMILLA_NEAREST_TALLY };

/* self: an armilla_nearest. */
void armilla_nearest_step(void *self, const armilla_code_panel *panel);

#endif
