/* Samples in 8 bits, for bounds of their products: whole numbers p in -127 ... 127 and a scale with x = scale p + e. By
 * Cauchy's inequality
 *
 *     |x'y - scale_x scale_y p_x'p_y| <= ||e_x|| ||y|| + ||e_y|| ||x|| + ||e_x|| ||e_y||
 *
 * so that for samples no longer than 1 a sample's own number, `error`, is enough: the product of two is never further from
 * that of their whole numbers than both errors together. CPUs make four of those products in the time of one in f32. */
#ifndef ARMILLA_LINALG_COARSE_KERNELS_H
#define ARMILLA_LINALG_COARSE_KERNELS_H

#include "linalg/pair_kernels.h"

enum { ARMILLA_COARSE_FEATURES = 4, ARMILLA_COARSE_MOST = 65536 }; /* multiplied at once; and at most, in 32 bits */

/* A sample beside its whole numbers. A sample longer than 1 + 1/1024 has an infinite error. */
typedef struct armilla_coarse {
    float scale, error;
    int32_t sum; /* of the whole numbers */
} armilla_coarse;

/* The many samples of a tile, each of their numbers side by side. */
typedef struct armilla_coarse_many {
    float *scales, *errors;
    int32_t *sums;
    float *floors; /* what their products are to exceed */
} armilla_coarse_many;

typedef struct armilla_coarse_kernels {
    int64_t few, many; /* as in pair_kernels.h */

    /* The m numbers as place `place` of groups of few or of many; places are bytes of armilla_coarse_bytes. */
    armilla_coarse (*pack)(int64_t m, const float *x, bool is_few, int64_t place, void *packed);

    /* tile(j,k) = p_k'p_j, as in pair_kernels.h. */
    void (*products)(int64_t m, const void *few, int64_t groups, const void *many, const int32_t *sums, int32_t *tile);

    /* The places of products that may be above `floor` or above their own, rising; their number is returned. There is
     * space for `many` more places than products. */
    int64_t (*above)(int64_t count, const int32_t *products, const armilla_coarse *query, float floor,
                     const armilla_coarse_many *many, int32_t *places);
} armilla_coarse_kernels;

/* Bytes of a packed sample. */
static inline int64_t armilla_coarse_bytes(int64_t m)
{
    return armilla_packed_columns(ARMILLA_COARSE_FEATURES, m);
}

/* Those of the call in progress; NULL where its kernels have none, or the CPU does not run them. */
const armilla_coarse_kernels *armilla_coarse_kernels_for(const armilla_context *context);

#endif
