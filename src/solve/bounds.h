/* Bounds on the distances of samples to centres, by which most products of Lloyd's iteration need not be made (Elkan,
 * 2003; in groups of centres: Ding et al., "Yinyang k-means", 2015). A sample has an upper bound on the distance to its
 * own centre and for each group of centres a lower bound on those to the others in it. Centres that move by p change a
 * distance by at most p, so bounds stay bounds without a look at the sample. No centre of a group can be the nearest
 * one, nor as near, where the lower bound of the group is above the upper one by more than all rounding: its products
 * are not made. The others are made by the kernels of all products, in which a column's bits do not depend on its
 * neighbours: so the assignments are those of plain comparison, bit for bit
 * (docs/algorithm.md#which-products-are-made).
 *
 * Nothing depends on a bound but time. They are workspace of a state, and the memory that is left may decide how many
 * there are. */
#ifndef ARMILLA_SOLVE_BOUNDS_H
#define ARMILLA_SOLVE_BOUNDS_H

#include "base/samples.h"
#include "base/state.h"
#include "linalg/code_kernels.h"
#include "solve/shadows.h"

/* All zeros but what armilla_bounds_plan sets is a set of bounds that knows nothing. */
typedef struct armilla_bounds {
    const armilla_code_kernels *kernels;
    armilla_type work;
    armilla_samples share;
    const double *squared_norms; /* n: ||x_j||^2 */
    int64_t m, r;
    int64_t groups, width; /* groups of so many centres each, the last of the rest; 0: there are no bounds */
    bool whole;            /* products are made with all centres or none: sparse data */
    int threads;

    bool usable;      /* numbers of the run in progress are of a size for which the errors below hold */
    bool known;       /* the bounds below hold for the centres below */
    int32_t *nearest; /* n: the centre of each sample, */
    float *upper;     /* n: the distance to it at most, less moved[nearest]; */
    float *lower;     /* groups x n: the distance to the others of each group at least, and shift[group] */
    double *U;        /* m x r: centres are l*U */
    double l;
    double *steps;   /* r: how far each has moved in the last step, */
    double *moved;   /* r: and all in all */
    double *squares; /* r: ||u_k||^2 */
    double *shift;   /* groups: the sum of the farthest moves of a group's centres */
    float *limits;   /* groups: the same, not below it */
    double unit;     /* distances are measured in this; a power of 2 */

    const double *offsets;               /* r: of the run in progress: ||l u_k||^2 */
    double by_length, by_square, always; /* what is computed of a squared distance is off by at most by_length*||x|| +
                                          * by_square*||x||^2 + always */

    armilla_shadows shadows; /* of the same samples and centres */

    /* Workspace of the threads: columns side by side, and for each group the columns that want its products. */
    char *panels;
    uint8_t *lists;
    int32_t *counts;
} armilla_bounds;

/* The bounds of a sweep's data, before they are listed: of r centres, as many as half of the memory that is left can have
 * and as are worth it beside the data. */
void armilla_bounds_plan(armilla_bounds *bounds, const armilla_sweep *sweep, int64_t r, const double *squared_norms);
/* Their memory, all of it workspace: after a state is restored nothing is known. */
void armilla_bounds_list(armilla_bounds *bounds, armilla_state_list *list);

/* The centres of a run. */
typedef struct armilla_bound_centers {
    const double *U;       /* m x r: they are l*U */
    const void *typed;     /* U in the working type */
    const double *offsets; /* r: ||l u_k||^2 as they are compared */
    double l;
} armilla_bound_centers;

/* Before a run. */
void armilla_bounds_move(armilla_bounds *bounds, const armilla_team *team, const armilla_bound_centers *centers);
/* The nearest centres of a strip, the first of equals: by offsets - 2l*C as armilla_code_kernels has it. */
void armilla_bounds_assign(armilla_bounds *bounds, const armilla_assigning *assigning);
/* The same of some columns of the strip by shadows, which are known. */
void armilla_bounds_assign_shadowed(const armilla_bounds *bounds, const armilla_assigning *assigning,
                                    const uint8_t *columns, int64_t count);
/* After a run: every sample of this rank has been assigned, or some may not have been. */
void armilla_bounds_ran(armilla_bounds *bounds, bool all);

#endif
