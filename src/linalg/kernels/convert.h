/* Numbers of every storage type in the kernels' type: panels are converted as they are loaded, into a workspace that
 * stays in the cache. Part of panel.h. */
#include "linalg/half.h"

#if defined(__F16C__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

#define AS_IT_IS(number) (number)

#define CONVERT(name, stored, value)                                                                                   \
    static void convert_##name(int64_t count, const void *from, void *to)                                              \
    {                                                                                                                  \
        const stored *in = from;                                                                                       \
        REAL *out = to;                                                                                                \
        for (int64_t i = 0; i < count; i++) out[i] = (REAL)value(in[i]);                                               \
    }

CONVERT(f32, float, AS_IT_IS)
CONVERT(f64, double, AS_IT_IS)
CONVERT(u8, uint8_t, AS_IT_IS)
CONVERT(bf16, uint16_t, armilla_bf16_value)
CONVERT(i8, int8_t, AS_IT_IS)

/* Compilers make these instructions of no loop over armilla_f16_value. */
#if defined(__AVX512F__)
enum { HALVES = 16 };
#define LOAD_HALVES(from) _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(from)))
#elif defined(__F16C__)
enum { HALVES = 8 };
#define LOAD_HALVES(from) _mm256_cvtph_ps(_mm_loadu_si128((const void *)(from)))
#endif

#ifdef LOAD_HALVES
static void convert_f16(int64_t count, const void *from, void *to)
{
    typedef float floats __attribute__((vector_size(HALVES * sizeof(float))));
    typedef REAL reals __attribute__((vector_size(HALVES * sizeof(REAL)), aligned(sizeof(REAL))));
    const uint16_t *in = from;
    REAL *out = to;
    int64_t i = 0;
    for (; i + HALVES <= count; i += HALVES)
        *(reals *)(out + i) = __builtin_convertvector((floats)LOAD_HALVES(in + i), reals);
    for (; i < count; i++) out[i] = (REAL)armilla_f16_value(in[i]);
}
#else
CONVERT(f16, uint16_t, armilla_f16_value)
#endif

#define CONVERSIONS                                                                                                    \
    {                                                                                                                  \
        [ARMILLA_F32] = convert_f32, [ARMILLA_F64] = convert_f64, [ARMILLA_U8] = convert_u8,                           \
        [ARMILLA_F16] = convert_f16, [ARMILLA_BF16] = convert_bf16, [ARMILLA_I8] = convert_i8                          \
    }
