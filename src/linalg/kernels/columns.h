/* What the survey and the residual do with the numbers of columns, written once and compiled per instruction set by the
 * files beside this one, which define BYTES (of a vector), ISA_NAME and TABLE. */
#include "linalg/column_kernels.h"
#include "linalg/kernels/lanes.h"

#include <string.h>

typedef uint64_t words __attribute__((vector_size(BYTES)));
typedef uint64_t stored_words __attribute__((vector_size(BYTES), aligned(sizeof(uint64_t)), may_alias));

/* Vectors of features whose residuals are in registers. */
enum { HELD = 2, STRIP = HELD * WIDTH };

static void look_at_one(double value, double *used, armilla_looked *f)
{
    f->zeros += value == 0;
    f->negatives += value < 0;
    f->smallest = value < f->smallest ? value : f->smallest;
    f->largest = value > f->largest ? value : f->largest;
    *used += value != 0;
}

/* Without branches: of those that images decide either way none is guessed right. */
static void look(int64_t m, const double *x, double *used, armilla_looked *found)
{
    const vector none = {0}, one = spread(1);
    vector low = spread(found->smallest), high = spread(found->largest);
    mask zeros = {0}, negatives = {0};
    armilla_looked f = *found;
    int64_t i = 0;
    for (; i + WIDTH <= m; i += WIDTH) {
        const vector value = *(const vector *)(x + i);
        const mask zero = (mask)(value == none);
        *(vector *)(used + i) += choose(zero, none, one);
        zeros -= zero;
        negatives -= (mask)(value < none);
        low = choose((mask)(value < low), value, low);
        high = larger(value, high);
    }
    for (int lane = 0; lane < WIDTH; lane++) {
        f.zeros += zeros[lane];
        f.negatives += negatives[lane];
        f.smallest = low[lane] < f.smallest ? low[lane] : f.smallest;
        f.largest = high[lane] > f.largest ? high[lane] : f.largest;
    }
    for (; i < m; i++) look_at_one(x[i], used + i, &f);
    *found = f;
}

/* armilla_mix of each lane. */
INLINE words mix_all(words z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t fingerprint(int64_t m, const double *x, const uint64_t *keys)
{
    words sums = {0};
    uint64_t sum = 0;
    int64_t i = 0;
    for (; i + WIDTH <= m; i += WIDTH) {
        const vector value = *(const vector *)(x + i) + (vector){0}; /* -0 and 0 are one number */
        sums += mix_all((words)value) * *(const stored_words *)(keys + i);
    }
    for (int lane = 0; lane < WIDTH; lane++) sum += sums[lane];
    for (; i < m; i++) sum += armilla_spread_bits(x[i]) * keys[i];
    return sum;
}

/* The residuals of `held` vectors of features from i on, squared and added to sum. */
INLINE vector square_strip(const armilla_residuals *t, int64_t i, int held, vector sum)
{
    vector left[ARMILLA_RESIDUALS][HELD];
    for (int c = 0; c < ARMILLA_RESIDUALS; c++)
        for (int h = 0; h < held; h++) left[c][h] = *(const vector *)(t->x + c * t->m + i + h * WIDTH);
    for (int64_t a = 0; a < t->count; a++) {
        const double *u = t->U + t->atoms[a] * t->m + i, *v = t->v + t->atoms[a];
        for (int c = 0; c < ARMILLA_RESIDUALS; c++)
            for (int h = 0; h < held; h++) left[c][h] -= spread(v[c * t->r]) * *(const vector *)(u + h * WIDTH);
    }
    for (int c = 0; c < ARMILLA_RESIDUALS; c++)
        for (int h = 0; h < held; h++) sum += left[c][h] * left[c][h];
    return sum;
}

static double residuals(const armilla_residuals *t)
{
    vector sums = {0};
    double sum = 0;
    int64_t i = 0;
    for (; i + STRIP <= t->m; i += STRIP) sums = square_strip(t, i, HELD, sums);
    for (; i + WIDTH <= t->m; i += WIDTH) sums = square_strip(t, i, 1, sums);
    for (; i < t->m; i++)
        for (int c = 0; c < ARMILLA_RESIDUALS; c++) {
            double left = t->x[c * t->m + i];
            for (int64_t a = 0; a < t->count; a++) left -= t->v[c * t->r + t->atoms[a]] * t->U[t->atoms[a] * t->m + i];
            sum += left * left;
        }
    for (int lane = 0; lane < WIDTH; lane++) sum += sums[lane];
    return sum;
}

static void add_f32(int64_t count, double factor, const void *from, double *restrict to)
{
    const float *numbers = from;
    for (int64_t i = 0; i < count; i++) to[i] += factor * (double)numbers[i];
}

static void add_f64(int64_t count, double factor, const void *from, double *restrict to)
{
    const double *numbers = from;
    for (int64_t i = 0; i < count; i++) to[i] += factor * numbers[i];
}

const armilla_column_kernels TABLE = {.name = ISA_NAME,
                                      .look = look,
                                      .fingerprint = fingerprint,
                                      .residuals = residuals,
                                      .add = {[ARMILLA_F32] = add_f32, [ARMILLA_F64] = add_f64}};
