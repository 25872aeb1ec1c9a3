/* The leaf kernels of a sweep over sparse columns. Basis and sums are laid out by feature: the r numbers of a feature
 * lie together, so that an entry of X reads or changes one run of memory.
 *
 * Order of summation is fixed per column: products() gives c_j from U and the entries of x_j alone, with the same bits
 * wherever the column stands; accumulate() adds the columns in their order. */
#ifndef ARMILLA_LINALG_SPARSE_KERNELS_H
#define ARMILLA_LINALG_SPARSE_KERNELS_H

#include "linalg/kernels.h"

/* Columns of a sparse matrix: column j has the entries starts[j]-starts[0] ... starts[j+1]-starts[0]-1. */
typedef struct armilla_sparse_columns {
    int64_t count;
    const void *values; /* in the kernels' type */
    const void *rows;   /* the feature of each entry; 32 or 64 bits, as the kernel says */
    const void *starts; /* count + 1, as long as rows */
    int64_t m;          /* features: rows of a column rise, and are below this */
    int64_t *cursors;   /* space for count numbers */
} armilla_sparse_columns;

/* Kernels come twice, for indices of 32 and of 64 bits. */
enum { ARMILLA_NARROW, ARMILLA_WIDE, ARMILLA_WIDTHS };

typedef struct armilla_sparse_kernels {
    const char *name;  /* instruction set: "portable", "avx2" */
    armilla_type type; /* of X, U and W */

    /* C = U'X. U: stride numbers per feature, of which r count and the rest are 0; C: r x count. */
    void (*products[ARMILLA_WIDTHS])(const armilla_sparse_columns *X, int64_t r, int64_t stride, const void *U,
                                     double *C);

    /* A = XW', summed in the type: for so few columns that it has the digits. W: r x count; A: stride numbers per
     * feature, the padding becomes 0. */
    void (*accumulate[ARMILLA_WIDTHS])(const armilla_sparse_columns *X, int64_t r, int64_t stride, const void *W,
                                       void *A);
    /* The same for codes that name an atom each: column j goes to number assignments[j] of its features. */
    void (*gather[ARMILLA_WIDTHS])(const armilla_sparse_columns *X, int64_t stride, const int32_t *assignments,
                                   void *A);
} armilla_sparse_kernels;

/* Number i of indices of either width. */
static inline int64_t armilla_index_at(bool index64, const void *indices, int64_t i)
{
    return index64 ? ((const int64_t *)indices)[i] : (int64_t)((const int32_t *)indices)[i];
}

/* Numbers of a feature, of U and of A in that type, padded to whole vectors. */
static inline int64_t armilla_sparse_stride(armilla_type type, int64_t r)
{
    const int64_t lanes = 32 / (int64_t)armilla_type_size(type);
    return (r + lanes - 1) / lanes * lanes;
}

/* The best kernels of the type that this CPU runs; NULL where sparse values cannot have the type. */
const armilla_sparse_kernels *armilla_sparse_kernels_choose(armilla_type type);
/* Those of the same instruction set as the dense kernels, which may be pinned. */
const armilla_sparse_kernels *armilla_sparse_kernels_like(const armilla_kernels *kernels);

/* Every table of this build, whether or not the CPU runs it; NULL past the last. */
const armilla_sparse_kernels *armilla_sparse_kernels_row(size_t index);
bool armilla_sparse_kernels_supported(const armilla_sparse_kernels *kernels);

#endif
