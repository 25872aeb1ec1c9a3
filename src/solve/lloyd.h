/* Lloyd's iteration, of the k-means models (fast_assign.c) and of clusters (cluster/kmeans.c):
 *
 *     u_k = the nearest point of its set to a_k/(l n_k)      w_j = e_k, k the nearest l u_k
 *
 * Centres move to the means of the samples that are assigned to them, and samples are assigned to the nearest centre,
 * the first of equals. One sweep is enough for both: with the centres as basis C = U'X gives the distances, and A = XW'
 * and the diagonal of G = WW' are the sums and the sizes. Callers say where centres and sums lie, what a mean may be,
 * and which step counts.
 *
 * With bounds (solve/bounds.h) a step makes only the products that can matter, and adds only samples that change their
 * assignment to the sums of those before: these are made of all samples anew at fixed times, so that they have the same
 * bits however often a fit was interrupted, and rounding does not pile up. */
#ifndef ARMILLA_SOLVE_LLOYD_H
#define ARMILLA_SOLVE_LLOYD_H

#include "base/samples.h"
#include "linalg/code_kernels.h"
#include "solve/bounds.h"
#include "solve/sweep.h"

/* Steps from sums that are made of all samples to the next. */
enum { ARMILLA_LLOYD_RENEWS = 32 };

/* What a step works with; nothing of it is its own. */
typedef struct armilla_lloyd {
    armilla_sweep *sweep;
    const armilla_code_kernels *kernels;
    int64_t m, r;
    armilla_samples share;       /* the samples of this rank */
    const double *squared_norms; /* n: ||x_j||^2 */
    double l;                    /* centres are l*u_k */

    const double *U;                /* m x r: as they stand */
    const void *U_typed;            /* the same in the working type */
    double *U_next;                 /* m x r: where they move to */
    const armilla_portion *portion; /* samples that are assigned; NULL: all */
    bool stays;                     /* no mean is taken: only centres without samples move */
    armilla_bounds *bounds;         /* NULL, or with a portion: all products are made, and distances with them */
    int64_t age; /* how many steps old A is; 0: it does not stand for the assignments, or not any more */

    const double *A;       /* m x r: sums of the samples that are assigned to each */
    const double *sizes;   /* their numbers n_k, and */
    const double *squares; /* ||u_k||^2: r numbers each, as far from one to the next as: */
    int64_t stride;        /* 1, or r + 1 where they are diagonals of r x r matrices */

    int32_t *assignments; /* n: the previous ones, and the place of the new */
    double *distances;    /* n: ||x_j - l u_k||^2 of the new; what rounding leaves below 0 is 0. With bounds not set */
    double *offsets;      /* r: workspace */
    double inertia;       /* the sum of the distances */

    bool (*atom)(int64_t m, double *u);   /* makes of a mean what the set can have; false: the centre stays */
    armilla_status (*revive)(void *self); /* puts samples into U_next for centres without samples (solve/policy.h) */
    void (*settle)(void *self);           /* U = U_next, rounded to the working type, with U_typed and squares */
    void *self;
} armilla_lloyd;

/* What a step tallies: the sum of the distances, or with bounds of ||x_j||^2. */
enum { ARMILLA_LLOYD_INERTIA, ARMILLA_LLOYD_TALLY };

/* The age of A after a step from sums of that age. */
static inline int64_t armilla_lloyd_older(int64_t age)
{
    return (age + 1) % ARMILLA_LLOYD_RENEWS;
}

/* The first half of a step alone: U_next, without the revival. */
void armilla_lloyd_move(armilla_lloyd *lloyd);
/* The second half of a step alone: assignments for the centres as they stand. */
armilla_status armilla_lloyd_assign(armilla_lloyd *lloyd);
/* distances of the assignments as they are, to the centres as they stand. */
armilla_status armilla_lloyd_measure(armilla_lloyd *lloyd);
/* Centres, then assignments. */
armilla_status armilla_lloyd_step(armilla_lloyd *lloyd);

#endif
