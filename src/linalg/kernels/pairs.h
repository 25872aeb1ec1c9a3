/* Products of samples with samples, written once and compiled per number type and instruction set by the files beside
 * this one, which define REAL, LANES, TYPE_TAG, ISA_NAME and TABLE.
 *
 * Vectors run along the many samples of a tile, so that nothing is ever added across lanes: a number of each of the few
 * meets a vector of the many, and their products are added to accumulators that are registers. */
#include "linalg/pair_kernels.h"

#include "linalg/kernels/vectors.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

enum {
    VECTORS =
        2, /* of a group of many; with the few they fill the registers: 12*2 or 6*2 sums, 2 of the many, 1 of few */
    MANY = VECTORS * LANES,
    FEW = MANY_REGISTERS ? 12 : 6,
    CHUNK =
        512 /* features whose products are added up before that sum is added to the others: rounding grows with it */
};

static void pack(const armilla_columns *X, int64_t first, int64_t group, void *packed)
{
    for (int64_t j = 0; j < X->count; j++) {
        const REAL *column = (const REAL *)X->values + j * X->stride;
        REAL *to = (REAL *)packed + (first + j) / group * group * X->m + (first + j) % group;
        for (int64_t i = 0; i < X->m; i++) to[i * group] = column[i];
    }
}

/* The products of features first ... last-1, added to the tile, or where it is new put there. */
INLINE void add_chunk(bool is_new, int64_t features, const REAL *a, const REAL *b, REAL *tile, int64_t stride)
{
    vector sum[FEW * VECTORS] = {{0}};
    for (int64_t i = 0; i < features; i++, a += FEW, b += MANY) {
        const vector low = hold(*(const vector *)b), high = hold(*(const vector *)(b + LANES));
        UNROLL for (int k = 0; k < FEW; k++)
        {
            const vector x = spread(a[k]);
            sum[k * VECTORS] += x * low;
            sum[k * VECTORS + 1] += x * high;
        }
    }
    UNROLL for (int k = 0; k < FEW; k++)
    {
        vector *low = (vector *)(tile + k * stride), *high = (vector *)(tile + k * stride + LANES);
        *low = is_new ? sum[k * VECTORS] : *low + sum[k * VECTORS];
        *high = is_new ? sum[k * VECTORS + 1] : *high + sum[k * VECTORS + 1];
    }
}

static void products(int64_t m, const void *few, int64_t groups, const void *many, void *tile)
{
    const REAL *a = few, *b = many;
    const int64_t stride = groups * MANY;
    for (int64_t g = 0; g < groups; g++, b += m * MANY) {
        REAL *at = (REAL *)tile + g * MANY;
        add_chunk(true, smaller(CHUNK, m), a, b, at, stride);
        for (int64_t i = CHUNK; i < m; i += CHUNK)
            add_chunk(false, smaller(CHUNK, m - i), a + i * FEW, b + i * MANY, at, stride);
    }
}

enum { SINGLES = 8 }; /* sums side by side: none waits for the one before */

/* sums(k) += a_k'b_k over `some` features, a constant where it is inlined, from feature i on. Numbers are spread and held, so
 * that compilers see the vectors of add_chunk and fuse products with sums where they do there. */
INLINE void add_features(int some, int64_t i, const REAL *const *a, const REAL *const *b, vector *sums)
{
    UNROLL for (int k = 0; k < SINGLES; k++)
    {
        const REAL *x = a[k] + i, *y = b[k] + i;
        vector sum = sums[k];
        UNROLL for (int f = 0; f < some; f++) sum += hold(spread(x[f])) * hold(spread(y[f]));
        sums[k] = sum;
    }
}

/* Sums of SINGLES pairs over features, each in the order of add_chunk. Some features at a time: there are more columns than
 * registers for where they are. */
static void add_singles(int64_t features, const REAL *const *a, const REAL *const *b, REAL *sums)
{
    enum { SOME = 8 };
    vector sum[SINGLES] = {{0}};
    int64_t i = 0;
    for (; i + SOME <= features; i += SOME) add_features(SOME, i, a, b, sum);
    for (; i < features; i++) add_features(1, i, a, b, sum);
    for (int k = 0; k < SINGLES; k++) sums[k] = sum[k][0];
}

static void singles(int64_t m, int64_t count, const void *const *x, const void *const *y, double *products)
{
    for (int64_t first = 0; first < count; first += SINGLES) {
        const REAL *a[SINGLES], *b[SINGLES];
        REAL sums[SINGLES], all[SINGLES] = {0};
        const int64_t some = smaller(SINGLES, count - first);
        for (int64_t i = 0; i < m; i += CHUNK) {
            for (int64_t k = 0; k < SINGLES; k++) {
                const int64_t pair = first + smaller(k, some - 1);
                a[k] = (const REAL *)x[pair] + i;
                b[k] = (const REAL *)y[pair] + i;
            }
            add_singles(smaller(CHUNK, m - i), a, b, sums);
            for (int k = 0; k < SINGLES; k++) all[k] = i == 0 ? sums[k] : all[k] + sums[k];
        }
        for (int64_t k = 0; k < some; k++) products[first + k] = (double)all[k];
    }
}

/* Bit i: number i of the vector is above the floor, or above its own. */
INLINE unsigned lanes_above(const REAL *values, vector floor, const REAL *floors)
{
#if defined(__AVX512F__) && LANES == 16
    const __m512 low = _mm512_min_ps((__m512)floor, _mm512_loadu_ps(floors));
    return (unsigned)_mm512_cmp_ps_mask(_mm512_loadu_ps(values), low, _CMP_GT_OQ);
#elif defined(__AVX512F__)
    const __m512d low = _mm512_min_pd((__m512d)floor, _mm512_loadu_pd(floors));
    return (unsigned)_mm512_cmp_pd_mask(_mm512_loadu_pd(values), low, _CMP_GT_OQ);
#elif defined(__AVX2__) && LANES == 8
    const __m256 low = _mm256_min_ps((__m256)floor, _mm256_loadu_ps(floors));
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(values), low, _CMP_GT_OQ));
#elif defined(__AVX2__)
    const __m256d low = _mm256_min_pd((__m256d)floor, _mm256_loadu_pd(floors));
    return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(values), low, _CMP_GT_OQ));
#else
    unsigned found = 0;
    for (int i = 0; i < LANES; i++) found |= (unsigned)(values[i] > floor[i] || values[i] > floors[i]) << i;
    return found;
#endif
}

static int64_t above(int64_t count, const void *values, double floor, const void *floors, int32_t *places)
{
    const REAL *x = values, *own = floors;
    const vector all = spread((REAL)floor);
    int64_t found = 0, i = 0;
    for (; i + LANES <= count; i += LANES)
        for (unsigned left = lanes_above(x + i, all, own + i); left; left &= left - 1)
            places[found++] = (int32_t)(i + __builtin_ctz(left));
    for (; i < count; i++)
        if (x[i] > (REAL)floor || x[i] > own[i]) places[found++] = (int32_t)i;
    return found;
}

const armilla_pair_kernels TABLE = {
    .name = ISA_NAME,
    .type = TYPE_TAG,
    .few = FEW,
    .many = MANY,
    .pack = pack,
    .products = products,
    .singles = singles,
    .above = above,
};
