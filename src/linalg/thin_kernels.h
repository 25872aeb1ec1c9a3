/* Kernels whose bits are the same for every instruction set, because no operation is fused and every sum has one order. So
 * the best that the CPU runs serve every call, whatever it has chosen for its panels. */
#ifndef ARMILLA_LINALG_THIN_KERNELS_H
#define ARMILLA_LINALG_THIN_KERNELS_H

#include "linalg/descent_kernels.h"

/* Products of matrices with few columns, column-major, columns of B and Z `stride` and `to` numbers apart. */
typedef struct armilla_thin_product {
    int64_t r, c; /* B has r columns, K is r x c, Z has c columns */
    double alpha, beta;
    const double *B, *K;
    double *Z;
    int64_t stride, to;
} armilla_thin_product;

typedef struct armilla_thin_gram {
    int64_t r, stride;
    const double *B;
    bool adds; /* to what G holds */
    double *G; /* r x r */
} armilla_thin_gram;

/* min w'Hw - 2d'w over unit w, from H = Q diag(values) Q'. */
typedef struct armilla_sphere_problem {
    int64_t r;
    const double *Q;    /* r x r, an eigenvector in each column */
    const double *gaps; /* how far each eigenvalue is above the least, rising; 0 in the eigenspace of that */
} armilla_sphere_problem;

typedef struct armilla_thin_kernels {
    const char *name; /* instruction set: "portable", "avx2" */
    /* Z = alpha*B*K + beta*Z, and G (+)= B'B, the upper half. */
    void (*multiply)(const armilla_thin_product *product, int64_t rows);
    void (*gram)(const armilla_thin_gram *gram, int64_t rows);
    /* The secular equation with its hard case (sets/secular.c) for ARMILLA_LANES columns side by side. Lane i is computed
     * from column i alone. workspace: armilla_descent_workspace(r). */
    void (*solve_sphere)(const armilla_sphere_problem *problem, const double *d, double *w, double *workspace);
} armilla_thin_kernels;

const armilla_thin_kernels *armilla_thin_kernels_best(void);
/* Every table of this build, whether or not the CPU runs it; NULL past the last. */
const armilla_thin_kernels *armilla_thin_kernels_row(size_t index);

#endif
