/* The leaf kernels of descent, compiled per number type and instruction set: several columns side by side, where lane i is
 * computed from column i alone, with the same bits whatever stands in the other lanes. */
#ifndef ARMILLA_LINALG_DESCENT_KERNELS_H
#define ARMILLA_LINALG_DESCENT_KERNELS_H

#include "base/context.h"

/* Columns that are solved side by side: number k of column i stands at k*lanes + i. One number of all of them has so many
 * bytes, whatever its type; at most twice as many in descent over a cone. */
enum { ARMILLA_LANE_BYTES = 64, ARMILLA_LANES = ARMILLA_LANE_BYTES / (int)sizeof(double), ARMILLA_MOST_LANES = 32 };

/* Atoms of a code that is solved side by side, at most. */
enum { ARMILLA_CONE_MEMBERS = 32 };

/* min w'Hw - 2d'w over unit w >= 0. Arrays are of the kernel's type, here and below. */
typedef struct armilla_descent {
    int64_t r;
    const void *H;  /* r x r */
    double alpha;   /* at least its largest eigenvalue */
    int steps;      /* at most */
    double settled; /* a column is done where none of its entries moves by more */
    /* H = F'F with F rank x r, by its rows and by its columns, where that is less work than H itself; else NULL */
    const void *rows, *columns;
    int64_t rank;
} armilla_descent;

/* min w'Hw - 2d'w over w >= 0. A column is done where a pass moves no entry by more than a part of the column's largest, or
 * of what the first pass moved one by. */
typedef struct armilla_cone_descent {
    int64_t r;
    const void *cone; /* H as set_cone has it */
    int passes;       /* at most */
    double settled;   /* the part of the largest, as the first pass leaves it */
    double little;    /* the part of the first move; 0: no such end */
} armilla_cone_descent;

/* How fast accelerated steps go ahead: y = w + beta*(w - w_back), by the steps made since the last fresh start. */
static inline double armilla_descent_beta(double age)
{
    return age / (age + 3);
}

typedef struct armilla_descent_kernels {
    const char *name; /* instruction set: "portable", "avx2" */
    armilla_type type;
    int lanes;
    /* Accelerated steps w <- Proj(d + (alpha*I - H)y) for every lane, Proj onto nonnegative unit vectors; the value
     * never rises. values: what each lane comes to, or NULL. workspace: armilla_descent_workspace(r) numbers. */
    void (*descend)(const armilla_descent *descent, const void *d, void *w, double *values, void *workspace);
    int cone_lanes; /* columns side by side in what follows */
    /* What descent over a cone needs of H (r x r), armilla_cone_numbers(r) numbers: H_ka/H_kk at a*r + k, then 1/H_kk; 0 where
     * there is no curvature (H_kk = 0). */
    void (*set_cone)(int64_t r, const void *H, void *cone);
    /* Passes of coordinate descent, w_k <- max(w_k + (d_k - (Hw)_k)/H_kk, 0) for k = 0 ... r-1, for every lane. An entry
     * without curvature stays. Returns the lanes that settled, bit i for lane i. workspace: the same. */
    unsigned (*descend_cone)(const armilla_cone_descent *descent, const void *d, void *w, void *workspace);
    /* w = the minimiser over w >= 0, from a code near it whose atoms say where to begin. Returns the lanes that are solved,
     * the others are as they were: those with more than ARMILLA_CONE_MEMBERS atoms or with atoms that depend on each other,
     * and the few that no exchanges end. workspace: armilla_cone_workspace(r). */
    unsigned (*solve_cone)(int64_t r, const void *H, const void *d, void *w, void *workspace);
} armilla_descent_kernels;

/* In numbers of double. */
static inline int64_t armilla_descent_workspace(int64_t r)
{
    return 6 * r * ARMILLA_LANES;
}

/* In numbers of double. */
static inline int64_t armilla_cone_workspace(int64_t r)
{
    const int64_t members = r < ARMILLA_CONE_MEMBERS ? r : ARMILLA_CONE_MEMBERS;
    return 2 * ARMILLA_LANES * (2 * r + members * (members + 3) / 2);
}

static inline int64_t armilla_cone_numbers(int64_t r)
{
    return r * r + r;
}

/* Those of the call in progress, as armilla_kernels_for. */
const armilla_descent_kernels *armilla_descent_kernels_for(const armilla_context *context, armilla_type type);
/* Every table of this build, whether or not the CPU runs it; NULL past the last. */
const armilla_descent_kernels *armilla_descent_kernels_row(size_t index);

#endif
