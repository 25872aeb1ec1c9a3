/* The leaf kernels of code steps, compiled per instruction set: descent, several columns side by side, where lane i is
 * computed from column i alone, with the same bits whatever stands in the other lanes; and the choice of an atom. */
#ifndef ARMILLA_LINALG_CODE_KERNELS_H
#define ARMILLA_LINALG_CODE_KERNELS_H

#include "base/context.h"

/* Columns that are solved side by side: number k of column i stands at k*ARMILLA_LANES + i. */
enum { ARMILLA_LANES = 8 };

/* min w'Hw - 2d'w over unit w >= 0. */
typedef struct armilla_descent {
    int64_t r;
    const double *H; /* r x r */
    double alpha;    /* at least its largest eigenvalue */
    int steps;       /* at most */
    double settled;  /* a column is done where none of its entries moves by more */
    /* H = F'F with F rank x r, by its rows and by its columns, where that is less work than H itself; else NULL */
    const double *rows, *columns;
    int64_t rank;
} armilla_descent;

/* min w'Hw - 2d'w over w >= 0. */
typedef struct armilla_cone_descent {
    int64_t r;
    const double *H; /* r x r */
    int passes;      /* at most */
    double settled;  /* a column is done where no entry moves by more than this part of its largest */
} armilla_cone_descent;

/* How fast accelerated steps go ahead: y = w + beta*(w - w_back), by the steps made since the last fresh start. */
static inline double armilla_descent_beta(double age)
{
    return age / (age + 3);
}

/* The nearest of some atoms: its value, the least value of the others (infinity where there are none), and which it is. */
typedef struct armilla_nearest {
    double least, second;
    int64_t atom;
} armilla_nearest;

typedef struct armilla_code_kernels {
    const char *name; /* instruction set: "portable", "avx2" */
    /* Accelerated steps w <- Proj(d + (alpha*I - H)y) for every lane, Proj onto nonnegative unit vectors; the value
     * never rises. workspace: armilla_descent_workspace(r) numbers. */
    void (*descend)(const armilla_descent *descent, const double *d, double *w, double *workspace);
    /* assignments[j] = the k with the least offsets[k] - factor*C(k,j), the first of equals, for the columns of C (r x count):
     * the nearest atom, with its squared length as offset and twice its product with the sample as C. */
    void (*nearest)(int64_t r, int64_t count, const double *C, const double *offsets, double factor,
                    int32_t *assignments);
    /* The same of r atoms among others, with the values that it is chosen by, in the same bits: columns of C are `stride`
     * numbers apart. */
    void (*nearest_two)(int64_t r, int64_t count, const double *C, int64_t stride, const double *offsets, double factor,
                        armilla_nearest *found);
    /* Passes of coordinate descent, w_k <- max(w_k + (d_k - (Hw)_k)/H_kk, 0) for k = 0 ... r-1, for every lane. An entry
     * without curvature (H_kk = 0) stays. Returns the lanes that settled, bit i for lane i. workspace: the same. */
    unsigned (*descend_cone)(const armilla_cone_descent *descent, const double *d, double *w, double *workspace);
} armilla_code_kernels;

static inline int64_t armilla_descent_workspace(int64_t r)
{
    return 6 * r * ARMILLA_LANES;
}

/* Those of the call in progress, as armilla_kernels_for. */
const armilla_code_kernels *armilla_code_kernels_for(const armilla_context *context);
/* Every table of this build, whether or not the CPU runs it; NULL past the last. */
const armilla_code_kernels *armilla_code_kernels_row(size_t index);

#endif
