/* Samples in 8 bits for x86-64 with AVX-512 VNNI. The instruction multiplies numbers without a sign by numbers with one: the
 * few stand 128 higher, and the sums start as much lower. */
#include "linalg/coarse_kernels.h"

#define REAL float
#define LANES 16
#include "linalg/kernels/vectors.h"

#include <math.h>

enum {
    VECTORS = 2,
    MANY = VECTORS * LANES,
    FEW = 12, /* with the many they fill the registers, as in pairs.h */
    HIGHER = 128,
    LEVELS = 127,
    QUAD = ARMILLA_COARSE_FEATURES
};

#define LONGEST_SQUARE (1 + 1.0 / 512)
#define LONGEST 1.002F /* its root, and what the sum of squares is off */
/* What both errors have more, half each: how far sums of such products in f32 are off, and the numbers of the comparison. The
 * sum of squares itself is off by less than a thousandth. */
#define SLACK(m) (((float)(m) + 64) * 0x1p-23F)
#define ERROR_UP 1.001F

INLINE __mmask16 lanes_of(int64_t left)
{
    return (__mmask16)(left >= LANES ? 0xffff : (1U << left) - 1);
}

static float largest(int64_t m, const float *x)
{
    __m512 most = _mm512_setzero_ps();
    for (int64_t i = 0; i < m; i += LANES)
        most = _mm512_max_ps(most, _mm512_abs_ps(_mm512_maskz_loadu_ps(lanes_of(m - i), x + i)));
    return _mm512_reduce_max_ps(most);
}

/* Sixteen whole numbers as four of a group's places. */
INLINE void put(__m512i numbers, int64_t quads, int64_t group, char *to)
{
    int32_t four[LANES / QUAD];
    _mm_storeu_si128((__m128i *)(void *)four, _mm512_cvtepi32_epi8(numbers));
    for (int64_t k = 0; k < quads; k++) memcpy(to + k * group * QUAD, &four[k], QUAD);
}

static armilla_coarse pack(int64_t m, const float *x, bool is_few, int64_t place, void *packed)
{
    const int64_t group = is_few ? FEW : MANY, quads = armilla_coarse_bytes(m) / QUAD;
    const float most = largest(m, x), scale = most / LEVELS, inverse = scale > 0 ? 1 / scale : 0;
    const __m512 one = _mm512_set1_ps(scale), times = _mm512_set1_ps(inverse);
    const __m512i higher = _mm512_set1_epi32(is_few ? HIGHER : 0), level = _mm512_set1_epi32(LEVELS),
                  lowest = _mm512_set1_epi32(-LEVELS);
    __m512 square = _mm512_setzero_ps(), left = square;
    __m512i sum = _mm512_setzero_si512();
    char *to = (char *)packed + place / group * group * quads * QUAD + place % group * QUAD;
    for (int64_t i = 0; i < m; i += LANES) {
        const __m512 v = _mm512_maskz_loadu_ps(lanes_of(m - i), x + i);
        const __m512i p =
            _mm512_max_epi32(_mm512_min_epi32(_mm512_cvtps_epi32(_mm512_mul_ps(v, times)), level), lowest);
        const __m512 e = _mm512_fnmadd_ps(_mm512_cvtepi32_ps(p), one, v);
        square = _mm512_fmadd_ps(v, v, square);
        left = _mm512_fmadd_ps(e, e, left);
        sum = _mm512_add_epi32(sum, p);
        put(_mm512_add_epi32(p, higher), smaller(LANES / QUAD, quads - i / QUAD), group, to);
        to += group * LANES;
    }
    const float error = sqrtf(_mm512_reduce_add_ps(left)) * ERROR_UP;
    const bool fits = (double)_mm512_reduce_add_ps(square) <= LONGEST_SQUARE && isfinite(inverse);
    return (armilla_coarse){.scale = fits ? scale : 0,
                            .error = fits ? error * (LONGEST + error) + SLACK(m) : INFINITY,
                            .sum = _mm512_reduce_add_epi32(sum)};
}

static void products(int64_t m, const void *few, int64_t groups, const void *many, const int32_t *sums, int32_t *tile)
{
    const int64_t quads = armilla_coarse_bytes(m) / QUAD, stride = groups * MANY;
    const char *b = many;
    for (int64_t g = 0; g < groups; g++) {
        const char *a = few;
        __m512i sum[FEW * VECTORS];
        UNROLL for (int v = 0; v < VECTORS; v++)
        {
            const __m512i lower = _mm512_slli_epi32(_mm512_loadu_si512(sums + g * MANY + v * LANES), 7);
            UNROLL for (int k = 0; k < FEW; k++) sum[k * VECTORS + v] = _mm512_sub_epi32(_mm512_setzero_si512(), lower);
        }
        for (int64_t i = 0; i < quads; i++, a += FEW * QUAD, b += MANY * QUAD) {
            const __m512i low = _mm512_loadu_si512(b), high = _mm512_loadu_si512(b + LANES * QUAD);
            UNROLL for (int k = 0; k < FEW; k++)
            {
                int32_t four;
                memcpy(&four, a + k * QUAD, QUAD);
                const __m512i x = _mm512_set1_epi32(four);
                sum[k * VECTORS] = _mm512_dpbusd_epi32(sum[k * VECTORS], x, low);
                sum[k * VECTORS + 1] = _mm512_dpbusd_epi32(sum[k * VECTORS + 1], x, high);
            }
        }
        UNROLL for (int k = 0; k < FEW * VECTORS; k++)
            _mm512_storeu_si512(tile + k / VECTORS * stride + g * MANY + k % VECTORS * LANES, sum[k]);
    }
}

static int64_t above(int64_t count, const int32_t *values, const armilla_coarse *query, float floor,
                     const armilla_coarse_many *many, int32_t *places)
{
    const __m512 scale = _mm512_set1_ps(query->scale), error = _mm512_set1_ps(query->error),
                 all = _mm512_set1_ps(floor);
    __m512i place = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    int64_t found = 0;
    for (int64_t i = 0; i < count; i += LANES) {
        const __mmask16 lanes = lanes_of(count - i);
        const __m512 product = _mm512_cvtepi32_ps(_mm512_maskz_loadu_epi32(lanes, values + i));
        const __m512 times = _mm512_mul_ps(scale, _mm512_maskz_loadu_ps(lanes, many->scales + i));
        const __m512 beyond = _mm512_add_ps(error, _mm512_maskz_loadu_ps(lanes, many->errors + i));
        const __m512 low = _mm512_min_ps(all, _mm512_maskz_loadu_ps(lanes, many->floors + i));
        const __m512 most = _mm512_fmadd_ps(product, times, beyond);
        const __mmask16 left = _mm512_mask_cmp_ps_mask(lanes, most, low, _CMP_GT_OQ);
        _mm512_storeu_si512(places + found, _mm512_maskz_compress_epi32(left, place));
        place = _mm512_add_epi32(place, _mm512_set1_epi32(LANES));
        found += __builtin_popcount(left);
    }
    return found;
}

const armilla_coarse_kernels armilla_coarse_avx512 = {
    .few = FEW, .many = MANY, .pack = pack, .products = products, .above = above};
