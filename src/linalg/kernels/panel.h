/* The panel products of ALGORITHM section 2, written once and compiled per number type and instruction set by the
 * files beside this one. The including file defines REAL, TYPE_TAG, ISA_NAME and TABLE.
 *
 * Vectors run along the features, so no rank is padded. Each result c_kj has one accumulator of LANES partial sums,
 * added in one fixed order: blocks of columns and atoms only share loads, they never change a result. */
#include "linalg/kernels.h"

#define BYTES 32
#define LANES ((int64_t)(BYTES / sizeof(REAL)))
#define INLINE static inline __attribute__((always_inline))

typedef REAL vector __attribute__((vector_size(BYTES), aligned(sizeof(REAL))));

/* Samples and atoms of one register block: 4*3 accumulators, 3 atoms and a sample fill 16 registers. */
enum { DOT_SAMPLES = 4, DOT_ATOMS = 3 };
/* Vectors of features and atoms of one register block of accumulate: 2*6 accumulators. */
enum { ADD_VECTORS = 2, ADD_ATOMS = 6 };

INLINE double lane_sum(const vector *v)
{
    REAL sum = 0;
    for (int64_t lane = 0; lane < LANES; lane++) sum += (*v)[lane];
    return (double)sum;
}

/* C(k,j) = u_k' x_j for `samples` columns of X and `atoms` columns of U; both counts are constants where it is
 * inlined, so that the accumulators are registers. */
INLINE void dot_block(int samples, int atoms, int64_t m, const REAL *X, int64_t stride, const REAL *U, double *C,
                      int64_t ldc)
{
    vector sum[DOT_SAMPLES][DOT_ATOMS] = {{{0}}};
    const int64_t whole = m - m % LANES;
    for (int64_t i = 0; i < whole; i += LANES) {
        vector u[DOT_ATOMS];
        for (int k = 0; k < atoms; k++) u[k] = *(const vector *)(U + k * m + i);
        for (int j = 0; j < samples; j++) {
            const vector x = *(const vector *)(X + j * stride + i);
            for (int k = 0; k < atoms; k++) sum[j][k] += x * u[k];
        }
    }
    for (int j = 0; j < samples; j++)
        for (int k = 0; k < atoms; k++) {
            REAL rest = 0;
            for (int64_t i = whole; i < m; i++) rest += X[j * stride + i] * U[k * m + i];
            C[j * ldc + k] = lane_sum(&sum[j][k]) + (double)rest;
        }
}

/* All atoms for a block of samples: the samples stay in the first cache while U streams past. */
INLINE void dot_samples(int samples, int64_t m, int64_t r, const REAL *X, int64_t stride, const REAL *U, double *C)
{
    int64_t k = 0;
    for (; k + DOT_ATOMS <= r; k += DOT_ATOMS) dot_block(samples, DOT_ATOMS, m, X, stride, U + k * m, C + k, r);
    if (r - k == 2) dot_block(samples, 2, m, X, stride, U + k * m, C + k, r);
    if (r - k == 1) dot_block(samples, 1, m, X, stride, U + k * m, C + k, r);
}

static void products(int64_t m, int64_t r, int64_t count, const void *X, int64_t stride, const void *U, double *C)
{
    const REAL *x = X;
    int64_t j = 0;
    for (; j + DOT_SAMPLES <= count; j += DOT_SAMPLES)
        dot_samples(DOT_SAMPLES, m, r, x + j * stride, stride, U, C + j * r);
    for (; j < count; j++) dot_samples(1, m, r, x + j * stride, stride, U, C + j * r);
}

/* A(i..,k..) += sum_j x_j(i..) w_kj for `atoms` columns of A and ADD_VECTORS vectors of features. */
INLINE void add_block(int atoms, int64_t m, int64_t r, int64_t count, const REAL *X, int64_t stride, const REAL *W,
                      double *A)
{
    vector sum[ADD_VECTORS][ADD_ATOMS] = {{{0}}};
    for (int64_t j = 0; j < count; j++) {
        vector x[ADD_VECTORS];
        for (int v = 0; v < ADD_VECTORS; v++) x[v] = *(const vector *)(X + j * stride + v * LANES);
        for (int k = 0; k < atoms; k++)
            for (int v = 0; v < ADD_VECTORS; v++) sum[v][k] += x[v] * W[j * r + k];
    }
    for (int k = 0; k < atoms; k++)
        for (int v = 0; v < ADD_VECTORS; v++)
            for (int64_t lane = 0; lane < LANES; lane++) A[k * m + v * LANES + lane] += (double)sum[v][k][lane];
}

/* The features past the last whole block, one at a time, in the same order over the samples. */
INLINE void add_rest(int64_t features, int64_t m, int64_t r, int64_t count, const REAL *X, int64_t stride,
                     const REAL *W, double *A)
{
    for (int64_t k = 0; k < r; k++)
        for (int64_t i = 0; i < features; i++) {
            REAL sum = 0;
            for (int64_t j = 0; j < count; j++) sum += X[j * stride + i] * W[j * r + k];
            A[k * m + i] += (double)sum;
        }
}

static void accumulate(int64_t m, int64_t r, int64_t count, const void *X, int64_t stride, const void *W, double *A)
{
    const REAL *x = X, *w = W;
    int64_t i = 0;
    for (; i + ADD_VECTORS * LANES <= m; i += ADD_VECTORS * LANES) {
        int64_t k = 0;
        for (; k + ADD_ATOMS <= r; k += ADD_ATOMS)
            add_block(ADD_ATOMS, m, r, count, x + i, stride, w + k, A + k * m + i);
        if (r - k >= 3) {
            add_block(3, m, r, count, x + i, stride, w + k, A + k * m + i);
            k += 3;
        }
        if (r - k == 2) add_block(2, m, r, count, x + i, stride, w + k, A + k * m + i);
        if (r - k == 1) add_block(1, m, r, count, x + i, stride, w + k, A + k * m + i);
    }
    add_rest(m - i, m, r, count, x + i, stride, w, A + i);
}

const armilla_kernels TABLE = {ISA_NAME, TYPE_TAG, products, accumulate};
