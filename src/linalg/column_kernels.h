/* The leaf kernels in double of passes that look at the numbers of columns themselves, the survey and the residual, compiled
 * per instruction set. */
#ifndef ARMILLA_LINALG_COLUMN_KERNELS_H
#define ARMILLA_LINALG_COLUMN_KERNELS_H

#include "base/context.h"

/* What the entries of columns are like. */
typedef struct armilla_looked {
    double smallest, largest;
    int64_t zeros, negatives;
} armilla_looked;

/* Columns whose residuals are made at once, so that U is read once for them. */
enum { ARMILLA_RESIDUALS = 4 };
/* Features in multiples of this, of which those that are not there are 0, are whole vectors. */
enum { ARMILLA_RESIDUAL_FEATURES = 8 };

typedef struct armilla_residuals {
    int64_t m, r;
    const double *U;      /* m x r */
    const double *v;      /* r x ARMILLA_RESIDUALS */
    const int64_t *atoms; /* those that a code uses */
    int64_t count;        /* of these */
    const double *x;      /* m x ARMILLA_RESIDUALS */
} armilla_residuals;

typedef struct armilla_column_kernels {
    const char *name; /* instruction set: "portable", "avx2", "avx512" */
    /* What was found in other columns, and in x; used[i] += x_i is not 0. NaN is below and above nothing. */
    void (*look)(int64_t m, const double *x, double *used, armilla_looked *found);
    /* sum_i armilla_spread_bits(x_i)*keys[i], modulo 2^64. */
    uint64_t (*fingerprint)(int64_t m, const double *x, const uint64_t *keys);
    /* ||x - Uv||^2 over the columns. */
    double (*residuals)(const armilla_residuals *of);
    /* to += factor*from, count numbers of the type. */
    void (*add[ARMILLA_PRECISION_COUNT])(int64_t count, double factor, const void *from, double *to);
} armilla_column_kernels;

/* A bijection that spreads every bit (the finaliser of splitmix64); of 0 it is 0. */
static inline uint64_t armilla_mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The bits of a number, mixed; -0 and 0 are one number. */
uint64_t armilla_spread_bits(double x);

/* Those of the call in progress, as armilla_kernels_for. The first two have the same bits in every set. */
const armilla_column_kernels *armilla_column_kernels_for(const armilla_context *context);
/* Every table of this build, whether or not the CPU runs it; NULL past the last. */
const armilla_column_kernels *armilla_column_kernels_row(size_t index);

#endif
