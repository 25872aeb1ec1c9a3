/* Numbers of several columns side by side: vectors, BYTES each, that together are one number of LANES columns. For kernels
 * that are written once and compiled per instruction set, in double or in the type that they define as REAL. */
#include "linalg/descent_kernels.h"

#include <math.h>
#include <stdint.h>
#if defined(__AVX__)
#include <immintrin.h>
#endif

#ifndef REAL
#define REAL double
#endif

#define INLINE static inline __attribute__((always_inline))

enum {
    LANES = ARMILLA_LANE_BYTES / (int)sizeof(REAL),
    WIDTH = BYTES / (int)sizeof(REAL), /* lanes of a vector */
    GROUPS = LANES / WIDTH,            /* vectors that are one number of every lane */
    TOGETHER = 8 / GROUPS              /* sums that stay in registers, so that none waits for the one before */
};
#define EACH_GROUP for (int g = 0; g < GROUPS; g++)

typedef __typeof__(__builtin_choose_expr(sizeof(REAL) == 4, (int32_t)0, (int64_t)0)) lane_bits;
typedef REAL vector __attribute__((vector_size(BYTES), aligned(sizeof(REAL)), may_alias));
typedef lane_bits mask __attribute__((vector_size(BYTES))); /* all bits of a lane, or none */

/* One number of every lane. */
typedef struct lanes {
    vector of[GROUPS];
} lanes;

INLINE vector spread(REAL number)
{
    return number - (vector){0};
}

/* a where the mask is set, b elsewhere. */
INLINE vector choose(mask where, vector a, vector b)
{
    return (vector)((where & (mask)a) | (~where & (mask)b));
}

/* What compilers do not see in loops over lanes: one instruction each. */
#if defined(__AVX512DQ__) && BYTES == 64
#define WIDE(name) _mm512_##name
typedef __m512 floats;
typedef __m512d doubles;
#elif defined(__AVX__) && BYTES == 32
#define WIDE(name) _mm256_##name
typedef __m256 floats;
typedef __m256d doubles;
#endif

/* a > b ? a : b */
INLINE vector larger(vector a, vector b)
{
#if defined(WIDE)
    return sizeof(REAL) == 4 ? (vector)WIDE(max_ps)((floats)a, (floats)b)
                             : (vector)WIDE(max_pd)((doubles)a, (doubles)b);
#else
    return choose((mask)(a > b), a, b);
#endif
}

INLINE vector square_root(vector a)
{
#if defined(WIDE)
    return sizeof(REAL) == 4 ? (vector)WIDE(sqrt_ps)((floats)a) : (vector)WIDE(sqrt_pd)((doubles)a);
#else
    for (int i = 0; i < WIDTH; i++) a[i] = (REAL)sqrt((double)a[i]);
    return a;
#endif
}

/* The lanes that are set: bit i for lane i of the vector. */
INLINE unsigned bits_of(mask set)
{
#if defined(WIDE) && BYTES == 64
    return sizeof(REAL) == 4 ? (unsigned)_mm512_movepi32_mask((__m512i)set)
                             : (unsigned)_mm512_movepi64_mask((__m512i)set);
#elif defined(WIDE)
    return sizeof(REAL) == 4 ? (unsigned)WIDE(movemask_ps)((floats)set) : (unsigned)WIDE(movemask_pd)((doubles)set);
#else
    unsigned bits = 0;
    for (int i = 0; i < WIDTH; i++) bits |= set[i] ? 1u << i : 0;
    return bits;
#endif
}
