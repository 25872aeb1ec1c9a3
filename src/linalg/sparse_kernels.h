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

/* Atoms of columns by partitions side by side: of column j that of partition p is atoms[p * stride + j]. No two partitions
 * have an atom in common. */
typedef struct armilla_memberships {
    const int32_t *atoms;
    int64_t partitions, stride;
} armilla_memberships;

/* The entries of a sparse matrix by feature, samples rising: feature i has entries starts[i] ... starts[i+1]-1, each a
 * sample of 32 bits and a value (armilla_sparse_entry_bytes). Samples stand in panels, and these in slots. */
typedef struct armilla_sparse_rows {
    const int64_t *starts;
    const void *entries;
    int64_t count; /* of entries */
    int64_t panels;
    const int32_t *panel_ends; /* the first sample behind each panel */
    const int32_t *panel_slots;
} armilla_sparse_rows;

/* Numbers k ... k+length-1 of a feature's sums over samples first ... last-1, which are those of a node of the tree over
 * slots (base/tree.h). k is a multiple of a vector's numbers. */
typedef struct armilla_sparse_piece {
    int64_t feature, k, length, first, last;
} armilla_sparse_piece;

/* Codes of the samples: r numbers each. */
typedef struct armilla_sparse_codes {
    int64_t r;
    const void *W;
    int64_t last; /* the sample behind the last that is there */
} armilla_sparse_codes;

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
    /* The same for assignments to atoms: column j is added to those numbers of its features that partitions assign. */
    void (*gather[ARMILLA_WIDTHS])(const armilla_sparse_columns *X, int64_t stride,
                                   const armilla_memberships *memberships, void *A);

    /* sums = the piece of XW' by the entries of its feature, in the order in which accumulate and a pass add them up: a
     * panel's in the type, the panels of a slot in double, and these along the tree. So it has the same bits. */
    void (*sum_feature)(const armilla_sparse_rows *X, const armilla_sparse_codes *codes,
                        const armilla_sparse_piece *piece, double *sums);
} armilla_sparse_kernels;

/* Bytes of an entry by feature: a sample, and a value of the type on a boundary of its own. */
static inline size_t armilla_sparse_entry_bytes(armilla_type type)
{
    return 2 * armilla_type_size(type);
}

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

/* Those of the same instruction set as the dense kernels, which may be pinned. */
const armilla_sparse_kernels *armilla_sparse_kernels_like(const armilla_kernels *kernels);

/* Every table of this build, whether or not the CPU runs it; NULL past the last. */
const armilla_sparse_kernels *armilla_sparse_kernels_row(size_t index);

#endif
