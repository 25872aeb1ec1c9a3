/* The leaf kernels in double of the choice of an atom and of descent over a basis, compiled per instruction set. */
#ifndef ARMILLA_LINALG_CODE_KERNELS_H
#define ARMILLA_LINALG_CODE_KERNELS_H

#include "base/context.h"

/* The nearest of some atoms: its value, the least value of the others (infinity where there are none), and which it is. */
typedef struct armilla_nearest {
    double least, second;
    int64_t atom;
} armilla_nearest;

/* Coordinate descent over the atoms U (m x r): u_k <- max(u_k + (a_k - l*U*g_k)/(l*G_kk), floor) for k = 0 ... r-1. An atom
 * with G_kk <= least stays. Rows depend on themselves alone. */
typedef struct armilla_basis_descent {
    int64_t m, r;
    const double *A, *G; /* m x r, r x r */
    double l, least, floor;
    int passes;
    double *U;
} armilla_basis_descent;

typedef struct armilla_code_kernels {
    const char *name; /* instruction set: "portable", "avx2" */
    /* assignments[j] = the k with the least offsets[k] - factor*C(k,j), the first of equals, for the columns of C, `stride`
     * numbers apart: the nearest of r atoms, with its squared length as offset and twice its product with the sample as C. */
    void (*nearest)(int64_t r, int64_t count, const double *C, int64_t stride, const double *offsets, double factor,
                    int32_t *assignments);
    /* The same with the values that it is chosen by, in the same bits. */
    void (*nearest_two)(int64_t r, int64_t count, const double *C, int64_t stride, const double *offsets, double factor,
                        armilla_nearest *found);
    /* Rows first ... last-1 of U. */
    void (*descend_rows)(const armilla_basis_descent *descent, int64_t first, int64_t last);
} armilla_code_kernels;

/* Those of the call in progress, as armilla_kernels_for. */
const armilla_code_kernels *armilla_code_kernels_for(const armilla_context *context);
/* Every table of this build, whether or not the CPU runs it; NULL past the last. */
const armilla_code_kernels *armilla_code_kernels_row(size_t index);

#endif
