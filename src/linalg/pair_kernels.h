/* The leaf kernels of nearest neighbours: products of samples with samples, a tile of groups at a time, and the few of
 * them that are large enough to matter.
 *
 * A product is the sum over features in rising order, chunk by chunk, in one fused or unfused order that knows nothing of
 * what stands beside it: it depends on its two samples alone, has the same bits with these exchanged, and the same for
 * every size of tiles. */
#ifndef ARMILLA_LINALG_PAIR_KERNELS_H
#define ARMILLA_LINALG_PAIR_KERNELS_H

#include "linalg/kernels.h"

typedef struct armilla_pair_kernels {
    const char *name;  /* instruction set: "portable", "avx2", "avx512" */
    armilla_type type; /* of the samples and their products */
    /* Samples that are packed together, feature by feature: of those that are `few` in a tile and of the `many`. */
    int64_t few, many;

    /* The columns as places first ... of groups of so many: number i of place p stands at p/group*group*m + i*group +
     * p%group. Other places stay. */
    void (*pack)(const armilla_columns *X, int64_t first, int64_t group, void *packed);

    /* tile(j,k) = a_k'b_j for one group of few, a, and `groups` of many, b: row k has groups*many numbers. */
    void (*products)(int64_t m, const void *a, int64_t groups, const void *b, void *tile);

    /* products(i) = a_i'b_i for so many pairs of columns that are not packed, with the bits that a tile has there. */
    void (*singles)(int64_t m, int64_t count, const void *const *a, const void *const *b, double *products);

    /* The places of the numbers that are above `floor` or above their own floor, rising; their number is returned. */
    int64_t (*above)(int64_t count, const void *values, double floor, const void *floors, int32_t *places);
} armilla_pair_kernels;

/* So many columns in whole groups. */
static inline int64_t armilla_packed_columns(int64_t group, int64_t count)
{
    return (count + group - 1) / group * group;
}

/* Number i of an array of f32 or f64, and the value in its place. */
static inline double armilla_number_at(armilla_type type, const void *numbers, int64_t i)
{
    return type == ARMILLA_F32 ? (double)((const float *)numbers)[i] : ((const double *)numbers)[i];
}

static inline void armilla_number_put(armilla_type type, void *numbers, int64_t i, double value)
{
    if (type == ARMILLA_F32)
        ((float *)numbers)[i] = (float)value;
    else
        ((double *)numbers)[i] = value;
}

/* Those of the call in progress, as armilla_kernels_for. */
const armilla_pair_kernels *armilla_pair_kernels_for(const armilla_context *context, armilla_type type);

#endif
