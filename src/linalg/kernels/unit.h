/* Codes on the sphere straight from short columns: the products of a block of columns with tiled atoms stay in the first
 * cache, in the type, where they are scaled to length 1, stored and summed. Each column's products fit one run of
 * features, so that they are numbers of the type; lengths are found in double. A code is a function of its column's
 * products alone. Sums over the columns of a block are made in the type, as those of A += XW', then added in double. */
#include <math.h>

enum { UNIT_ATOMS = 128 }; /* at most */

/* Squared lengths between these have a factor that the type holds, with all its digits. */
static const double least_square = sizeof(REAL) == 4 ? 1e-60 : 1e-270, most_square = sizeof(REAL) == 4 ? 1e60 : 1e300;

/* Numbers of the type before a place that is `count` lanes or more from the end of a column; the others are 0 or left. */
#if defined(__AVX512F__)
#if LANES == 16
#define LOAD_SOME(from, mask) ((vector)_mm512_maskz_loadu_ps((__mmask16)(mask), from))
#define STORE_SOME(to, mask, v) _mm512_mask_storeu_ps(to, (__mmask16)(mask), (__m512)(v))
#else
#define LOAD_SOME(from, mask) ((vector)_mm512_maskz_loadu_pd((__mmask8)(mask), from))
#define STORE_SOME(to, mask, v) _mm512_mask_storeu_pd(to, (__mmask8)(mask), (__m512d)(v))
#endif
INLINE vector load_some(const REAL *from, int64_t count)
{
    return LOAD_SOME(from, count < LANES ? (1u << count) - 1 : (1u << LANES) - 1);
}

INLINE void store_some(REAL *to, vector v, int64_t count)
{
    STORE_SOME(to, count < LANES ? (1u << count) - 1 : (1u << LANES) - 1, v);
}
#else
INLINE vector load_some(const REAL *from, int64_t count)
{
    vector v = {0};
    if (count >= LANES) return *(const vector *)from;
    memcpy(&v, from, (size_t)count * sizeof *from);
    return v;
}

INLINE void store_some(REAL *to, vector v, int64_t count)
{
    if (count >= LANES)
        *(vector *)to = v;
    else
        memcpy(to, &v, (size_t)count * sizeof *to);
}
#endif

/* A block of columns on the way. */
typedef struct unit_block {
    const armilla_projecting *to;
    int64_t first, samples, width; /* width: numbers between columns of c, whole vectors */
    REAL *c;                       /* their products; behind the last atom 0 */
    REAL factor[TILED_SAMPLES];
    double squares[TILED_SAMPLES];
    doubles cross, change; /* over all blocks */
} unit_block;

/* The squared lengths, and whether all are ordinary numbers. */
static bool find_squares(unit_block *b)
{
    double lane[TILED_SAMPLES][LANES / 2];
    bool ordinary = true;
    for (int64_t j = 0; j < b->samples; j++) {
        doubles low = {0}, high = {0};
        for (int64_t k = 0; k < b->width; k += LANES) {
            const vector c = *(const vector *)(b->c + j * b->width + k);
            const doubles a = widen(low_half(c)), z = widen(high_half(c));
            low += a * a;
            high += z * z;
        }
        low += high;
        memcpy(lane[j], &low, sizeof lane[j]);
    }
    for (int64_t j = 0; j < b->samples; j++) {
        double sum = 0, other = 0;
        for (int i = 0; i < LANES / 2; i += 2) {
            sum += lane[j][i];
            other += LANES > 2 ? lane[j][i + 1] : 0;
        }
        b->squares[j] = sum + other;
        ordinary &= b->squares[j] > least_square && b->squares[j] < most_square;
    }
    return ordinary;
}

static void find_factors(unit_block *b)
{
#if defined(__AVX512F__)
    enum { STEP = 8 };
    for (int j = 0; j < TILED_SAMPLES; j += STEP) {
        double some[STEP] = {0};
        memcpy(some, b->squares + j, sizeof *some * (size_t)(TILED_SAMPLES - j < STEP ? TILED_SAMPLES - j : STEP));
        const __m512d inverse = _mm512_div_pd(_mm512_set1_pd(1), _mm512_sqrt_pd(_mm512_loadu_pd(some)));
        _mm512_storeu_pd(some, inverse);
        for (int i = 0; i < STEP && j + i < TILED_SAMPLES; i++) b->factor[j + i] = (REAL)some[i];
    }
#else
    for (int64_t j = 0; j < b->samples; j++) b->factor[j] = (REAL)(1 / sqrt(b->squares[j]));
#endif
}

INLINE doubles both_halves(vector v)
{
    return widen(low_half(v)) + widen(high_half(v));
}

/* w = c/|c| for all columns of the block. */
INLINE void scale_block(unit_block *b, bool moves)
{
    const armilla_settling *s = &b->to->codes;
    const int64_t r = s->r;
    vector cross = {0}, change = {0};
    for (int64_t k = 0; k < b->width; k += LANES) {
        const REAL *c = b->c + k, *previous = moves ? (const REAL *)s->previous + b->first * r + k : NULL;
        REAL *typed = (REAL *)s->typed + b->first * r + k;
        vector diagonal = {0};
        for (int64_t j = 0; j < b->samples; j++, c += b->width, typed += r) {
            const vector numbers = *(const vector *)c;
            const vector w = numbers * spread(b->factor[j]) + spread(0); /* no -0 in a code */
            if (moves) {
                const vector moved = w - load_some(previous, r - k);
                change += moved * moved;
                previous += r;
            }
            cross += numbers * w;
            diagonal += w * w;
            store_some(typed, w, r - k);
        }
        if (s->diagonal) put_lanes(s->diagonal + k, diagonal, r - k, false);
    }
    b->cross += both_halves(cross);
    b->change += both_halves(change);
}

/* The same one by one, where a column's length is no ordinary number: the codes of the others have the same bits. */
static void scale_odd(unit_block *b)
{
    const armilla_settling *s = &b->to->codes;
    const int64_t r = s->r;
    double q[UNIT_ATOMS], w[UNIT_ATOMS];
    for (int64_t j = 0; j < b->samples; j++) {
        const REAL *c = b->c + j * b->width;
        const bool ordinary = b->squares[j] > least_square && b->squares[j] < most_square;
        for (int64_t k = 0; k < r; k++) q[k] = (double)c[k];
        for (int64_t k = 0; k < r && ordinary; k++) w[k] = (double)(REAL)(c[k] * b->factor[j] + 0);
        if (!ordinary && !b->to->scaling(r, r, q, w))
            for (int64_t k = 0; k < r; k++) w[k] = k == 0;
        const int64_t at = (b->first + j) * r;
        const armilla_settling one = {.r = r,
                                      .count = 1,
                                      .W = w,
                                      .C = q,
                                      .previous = s->previous ? (const REAL *)s->previous + at : NULL,
                                      .typed = (REAL *)s->typed + at,
                                      .diagonal = s->diagonal,
                                      .cross = s->cross,
                                      .change = s->change};
        settle(&one);
    }
}

/* The places of as many codes as these have, behind them: fetched by tiles of several vectors, in so many steps. */
static ahead_twice plan_codes(const armilla_settling *s, int64_t steps)
{
    const int64_t bytes = s->r * s->count * (int64_t)sizeof(REAL), step = 2 * bytes / (steps > 0 ? steps : 1) + 1;
    const char *typed = (const char *)s->typed + bytes;
    return (ahead_twice){s->previous ? (const char *)s->previous + bytes : typed, typed, step < LINE ? step : LINE};
}

/* Those of a block where atoms are one vector, whose loop has no time for them. */
static void fetch_codes(unit_block *b, ahead_twice *next)
{
    const int64_t bytes = b->samples * b->to->codes.r * (int64_t)sizeof(REAL);
    if (b->width > LANES) return;
    next->step = LINE;
    for (int64_t i = 0; i < bytes; i += LINE / 2) fetch_in_turn(next);
}

static void unit_codes(const armilla_columns *X, const armilla_atoms *U, const armilla_projecting *to)
{
    REAL c[TILED_SAMPLES * UNIT_ATOMS] __attribute__((aligned(LINE)));
    const int64_t count = X->count, r = U->r;
    const int64_t steps = (count + TILED_SAMPLES - 1) / TILED_SAMPLES * X->m;
    const tiled_part all = {.features = X->m, .last = r};
    unit_block b = {.to = to, .c = c, .width = round_up(r, LANES)};
    meeting at = {.features = X->m, .stride = X->stride, .typed = c, .width = b.width};
    ahead next = plan_ahead(X, 0, X->ahead_bytes / 2, steps * ((r + TILED_ATOMS - 1) / TILED_ATOMS));
    at.streams = &next;
    at.stream_count = 1;
    at.codes = plan_codes(&to->codes, steps * ((r + LANES - 1) / TILED_ATOMS));
    int block = 0;
    for (; b.first < count; b.first += b.samples) {
        while (blocks[block].samples > count - b.first) block++;
        b.samples = blocks[block].samples;
        at.x = (const REAL *)X->values + b.first * X->stride;
        meet_tiles(U, &all, NULL, block, &at);
        fetch_codes(&b, &at.codes);
        const bool ordinary = find_squares(&b);
        find_factors(&b);
        if (!ordinary)
            scale_odd(&b);
        else if (to->codes.previous)
            scale_block(&b, true);
        else
            scale_block(&b, false);
    }
    for (int i = 0; i < LANES / 2; i++) {
        *to->codes.cross += b.cross[i];
        if (to->codes.previous) *to->codes.change += b.change[i];
    }
}

static bool has_unit_codes(int64_t m, int64_t r)
{
    return m <= RUN_FEATURES && r <= UNIT_ATOMS;
}
