/* Vectors of the number type, for the files beside this one, which define REAL and LANES before they include it. */
#include "linalg/kernels.h"

#include <string.h>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#define BYTES (LANES * (int)sizeof(REAL))
#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (places){__VA_ARGS__})
typedef __typeof__(__builtin_choose_expr(sizeof(REAL) == 4, (int32_t)0, (int64_t)0)) place;
typedef place places __attribute__((vector_size(LANES == 16 ? BYTES / 2 : BYTES)));
#endif

typedef REAL vector __attribute__((vector_size(BYTES), aligned(sizeof(REAL))));
typedef REAL half __attribute__((vector_size(BYTES / 2), aligned(sizeof(REAL))));
typedef double doubles __attribute__((vector_size(LANES * 4), aligned(sizeof(double)))); /* a half in double */

/* Before a loop whose bounds are constants where it is inlined, so that what it indexes can be registers. */
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__OPTIMIZE__)
#define UNROLL _Pragma("GCC unroll 32")
#else
#define UNROLL /* without optimisation GCC warns that it does not unroll */
#endif

/* Whether there are 32 registers for vectors, instead of 16. */
#if defined(__AVX512F__)
#define MANY_REGISTERS 1
#define REGISTER "+v"
#else
#define MANY_REGISTERS 0
#define REGISTER "+x"
#endif

enum { LINE = 64 }; /* bytes that a prefetch brings */

/* What comes next in memory, fetched a bit at every step of the inner loops. */
typedef struct ahead {
    const char *at;
    int64_t step;
} ahead;

INLINE void fetch_ahead(ahead *next)
{
    __builtin_prefetch(next->at, 0, 2);
    next->at += next->step;
}

/* Two places, which take turns. */
typedef struct ahead_twice {
    const char *at, *other;
    int64_t step;
} ahead_twice;

INLINE void fetch_in_turn(ahead_twice *next)
{
    const char *now = next->at;
    __builtin_prefetch(now, 0, 2);
    next->at = next->other;
    next->other = now + next->step;
}

/* A part of what X wants ahead, in that many steps; where there are fewer steps than lines the hardware has to do the
 * rest. A line that is in the cache anyway stands in where nothing is wanted. */
static inline ahead plan_ahead(const armilla_columns *X, int64_t offset, int64_t bytes, int64_t steps)
{
    const int64_t step = bytes / (steps > 0 ? steps : 1) + 1;
    if (X->ahead_bytes == 0) return (ahead){X->values, 0};
    return (ahead){(const char *)X->ahead + offset, step < LINE ? step : LINE};
}

/* Columns so long that no panel of them stays in a second-level cache: of these each block fetches what the next one
 * reads, instead of a panel the next panel. */
enum { LONG_BYTES = 8192 };

INLINE bool has_long_columns(const armilla_columns *X)
{
    return X->ahead_stride * (int64_t)sizeof(REAL) >= LONG_BYTES;
}

/* Keeps a number that several products share in a register: compilers else load it again for each. */
INLINE vector hold(vector v)
{
#if defined(__x86_64__)
    __asm__("" : REGISTER(v));
#endif
    return v;
}

INLINE vector spread(REAL number)
{
    return number - (vector){0};
}

/* The vector with its last `rest` numbers kept and zeros before them. */
INLINE vector keep_last(vector v, int64_t rest)
{
    static const REAL keep[32] = {[16] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    return v * *(const vector *)(keep + 16 - LANES + rest);
}

/* By shuffles, where compilers have them: copies of parts of a vector would keep it in memory. */
#if (defined(__clang__) || __GNUC__ >= 12) && LANES == 16
#define HALF(v, first) SHUFFLE(v, v, first, first + 1, first + 2, first + 3, first + 4, first + 5, first + 6, first + 7)
#elif (defined(__clang__) || __GNUC__ >= 12) && LANES == 8
#define HALF(v, first) SHUFFLE(v, v, first, first + 1, first + 2, first + 3)
#endif

INLINE half low_half(vector v)
{
#if defined(HALF)
    return HALF(v, 0);
#else
    half part;
    memcpy(&part, &v, sizeof part);
    return part;
#endif
}

INLINE half high_half(vector v)
{
#if defined(HALF)
    return HALF(v, LANES / 2);
#else
    half part;
    memcpy(&part, (const char *)&v + sizeof part, sizeof part);
    return part;
#endif
}

/* Half a vector in double and back, by instructions that compilers do not find for vectors of this length. */
#if defined(__AVX512F__) && LANES == 16
INLINE doubles widen(half v)
{
    return (doubles)_mm512_cvtps_pd((__m256)v);
}

INLINE half shorten(doubles v)
{
    return (half)_mm512_cvtpd_ps((__m512d)v);
}
#else
INLINE doubles widen(half v)
{
    return __builtin_convertvector(v, doubles);
}

INLINE half shorten(doubles v)
{
    return __builtin_convertvector(v, half);
}
#endif

/* Sums of eight lanes or fewer, by shuffles. */
#if LANES == 16
typedef half shuffled;
INLINE shuffled fold(vector v)
{
    return low_half(v) + high_half(v);
}
#else
typedef vector shuffled;
INLINE shuffled fold(vector v)
{
    return v;
}
#endif
enum { FOLDED = LANES == 16 ? 8 : LANES };
typedef REAL quarter __attribute__((vector_size(FOLDED * sizeof(REAL) / 2), aligned(sizeof(REAL))));

INLINE quarter low_part(shuffled v)
{
    quarter part;
    memcpy(&part, &v, sizeof part);
    return part;
}

INLINE quarter high_part(shuffled v)
{
    quarter part;
    memcpy(&part, (const char *)&v + sizeof part, sizeof part);
    return part;
}

/* Four lane sums at a time, of 16 lanes the halves first, then neighbours: ((0+1)+(2+3))+((4+5)+(6+7)), the same tree
 * wherever a result stands. */
INLINE void lane_sums(const vector all[4], REAL sums[4])
{
    const shuffled v[4] = {fold(all[0]), fold(all[1]), fold(all[2]), fold(all[3])};
#if LANES >= 8
    const shuffled ab = SHUFFLE(v[0], v[1], 0, 2, 8, 10, 4, 6, 12, 14) + SHUFFLE(v[0], v[1], 1, 3, 9, 11, 5, 7, 13, 15);
    const shuffled cd = SHUFFLE(v[2], v[3], 0, 2, 8, 10, 4, 6, 12, 14) + SHUFFLE(v[2], v[3], 1, 3, 9, 11, 5, 7, 13, 15);
    const shuffled abcd = SHUFFLE(ab, cd, 0, 2, 8, 10, 4, 6, 12, 14) + SHUFFLE(ab, cd, 1, 3, 9, 11, 5, 7, 13, 15);
    const quarter four = low_part(abcd) + high_part(abcd);
    memcpy(sums, &four, sizeof four);
#elif LANES == 4
    const shuffled ab = SHUFFLE(v[0], v[1], 0, 4, 2, 6) + SHUFFLE(v[0], v[1], 1, 5, 3, 7);
    const shuffled cd = SHUFFLE(v[2], v[3], 0, 4, 2, 6) + SHUFFLE(v[2], v[3], 1, 5, 3, 7);
    const quarter first = low_part(ab) + high_part(ab), second = low_part(cd) + high_part(cd);
    memcpy(sums, &first, sizeof first);
    memcpy(sums + 2, &second, sizeof second);
#elif LANES == 2
    for (int i = 0; i < 4; i++) sums[i] = v[i][0] + v[i][1];
#else
#error "lane_sums and keep_last have vectors of 2, 4, 8 and 16 numbers"
#endif
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
