/* The panel products of ALGORITHM section 2, written once and compiled per number type and instruction set by the
 * files beside this one. The including file defines REAL, LANES, TYPE_TAG, ISA_NAME and TABLE.
 *
 * Vectors run along the features, so no rank is padded. A result c_kj is a sum over chunks of features, each of which
 * has one accumulator of LANES partial sums, added in one fixed order: blocks of columns and atoms only share loads,
 * they never change a result. */
#include "linalg/kernels.h"

#include <string.h>

#define BYTES (LANES * (int)sizeof(REAL))
#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (__typeof__((a) == (b))){__VA_ARGS__})
#endif

typedef REAL vector __attribute__((vector_size(BYTES), aligned(sizeof(REAL))));
typedef REAL half __attribute__((vector_size(BYTES / 2), aligned(sizeof(REAL))));
typedef double wide __attribute__((vector_size(LANES * 4), aligned(sizeof(double)))); /* a half in double */

enum {
    LINE = 64, /* bytes that a prefetch brings */
    /* Samples and atoms of one register block of products: 6*2 accumulators, 2 atoms and a sample fill 15 of 16
     * registers, and U, which comes from the second cache, is read least. */
    DOT_SAMPLES = 6,
    DOT_ATOMS = 2,
    /* Bytes of a chunk of features: those of DOT_SAMPLES samples and of the passing atoms fit the first cache. */
    CHUNK_BYTES = 3584,
    /* Vectors times atoms of one register block of accumulate. */
    MOST_ATOMS = 6,
    MOST_VECTORS = 8
};

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

/* bytes from `at`, in that many steps; where there are fewer steps than lines the hardware has to do the rest. */
static ahead plan_ahead(const void *at, int64_t bytes, int64_t steps)
{
    const int64_t step = bytes / (steps > 0 ? steps : 1) + 1;
    return (ahead){at, bytes == 0 ? 0 : step < LINE ? step : LINE};
}

/* Keeps a number that several products share in a register: compilers else load it again for each. */
INLINE vector hold(vector v)
{
#if defined(__x86_64__)
    __asm__("" : "+x"(v));
#endif
    return v;
}

/* The first `count` numbers, then zeros. */
INLINE vector load_part(const REAL *from, int64_t count)
{
    vector v = {0};
    memcpy(&v, from, (size_t)count * sizeof(REAL));
    return v;
}

INLINE half low_half(vector v)
{
    half part;
    memcpy(&part, &v, sizeof part);
    return part;
}

INLINE half high_half(vector v)
{
    half part;
    memcpy(&part, (const char *)&v + sizeof part, sizeof part);
    return part;
}

/* Four lane sums at a time, neighbours first: ((0+1)+(2+3))+((4+5)+(6+7)), the same tree wherever a result stands. */
INLINE void lane_sums(const vector v[4], REAL sums[4])
{
#if LANES == 8
    const vector ab = SHUFFLE(v[0], v[1], 0, 2, 8, 10, 4, 6, 12, 14) + SHUFFLE(v[0], v[1], 1, 3, 9, 11, 5, 7, 13, 15);
    const vector cd = SHUFFLE(v[2], v[3], 0, 2, 8, 10, 4, 6, 12, 14) + SHUFFLE(v[2], v[3], 1, 3, 9, 11, 5, 7, 13, 15);
    const vector abcd = SHUFFLE(ab, cd, 0, 2, 8, 10, 4, 6, 12, 14) + SHUFFLE(ab, cd, 1, 3, 9, 11, 5, 7, 13, 15);
    const half all = low_half(abcd) + high_half(abcd);
    memcpy(sums, &all, sizeof all);
#elif LANES == 4
    const vector ab = SHUFFLE(v[0], v[1], 0, 4, 2, 6) + SHUFFLE(v[0], v[1], 1, 5, 3, 7);
    const vector cd = SHUFFLE(v[2], v[3], 0, 4, 2, 6) + SHUFFLE(v[2], v[3], 1, 5, 3, 7);
    const half first = low_half(ab) + high_half(ab), second = low_half(cd) + high_half(cd);
    memcpy(sums, &first, sizeof first);
    memcpy(sums + 2, &second, sizeof second);
#else
    for (int i = 0; i < 4; i++) sums[i] = v[i][0] + v[i][1];
#endif
}

/* C(k,j) += u_k' x_j over a chunk of features, for `samples` columns of X and `atoms` columns of U; both counts are
 * constants where it is inlined, so that the accumulators are registers. */
INLINE void dot_block(int samples, int atoms, int64_t features, const REAL *X, int64_t stride, const REAL *U, int64_t m,
                      double *C, int64_t r, ahead *following)
{
    vector sum[DOT_SAMPLES * DOT_ATOMS] = {{0}};
    const int64_t whole = features - features % LANES;
    ahead next = *following;
    for (int64_t i = 0; i < whole; i += LANES) {
        vector u[DOT_ATOMS];
        fetch_ahead(&next);
        for (int k = 0; k < atoms; k++) u[k] = *(const vector *)(U + k * m + i);
        for (int j = 0; j < samples; j++) {
            const vector x = hold(*(const vector *)(X + j * stride + i));
            for (int k = 0; k < atoms; k++) sum[j * atoms + k] += x * u[k];
        }
    }
    if (whole < features) {
        vector u[DOT_ATOMS];
        for (int k = 0; k < atoms; k++) u[k] = load_part(U + k * m + whole, features - whole);
        for (int j = 0; j < samples; j++) {
            const vector x = load_part(X + j * stride + whole, features - whole);
            for (int k = 0; k < atoms; k++) sum[j * atoms + k] += x * u[k];
        }
    }
    for (int first = 0; first < samples * atoms; first += 4) {
        REAL sums[4];
        lane_sums(sum + first, sums);
        for (int q = first; q < first + 4 && q < samples * atoms; q++)
            C[q / atoms * r + q % atoms] += (double)sums[q - first];
    }
    *following = next;
}

/* All atoms for a block of samples: the samples stay in the first cache while U streams past. */
INLINE void dot_samples(int samples, int64_t features, const REAL *X, int64_t stride, int64_t r, const REAL *U,
                        int64_t m, double *C, ahead *next)
{
    int64_t k = 0;
    for (; k + DOT_ATOMS <= r; k += DOT_ATOMS)
        dot_block(samples, DOT_ATOMS, features, X, stride, U + k * m, m, C + k, r, next);
    if (k < r) dot_block(samples, 1, features, X, stride, U + k * m, m, C + k, r, next);
}

/* Chunks of nearly equal size, whole vectors but for the last: a function of m alone. */
static int64_t chunk_features(int64_t m)
{
    const int64_t most = CHUNK_BYTES / (int64_t)sizeof(REAL), chunks = (m + most - 1) / most;
    return ((m + chunks - 1) / chunks + LANES - 1) / LANES * LANES;
}

static void products(const armilla_columns *X, int64_t r, const void *U, double *C)
{
    const int64_t m = X->m, count = X->count, stride = X->stride, chunk = chunk_features(m);
    ahead next = plan_ahead(X->ahead, X->ahead_bytes / 2, (count / DOT_SAMPLES) * ((r + 1) / DOT_ATOMS) * (m / LANES));
    memset(C, 0, (size_t)(r * count) * sizeof *C);
    for (int64_t i = 0; i < m; i += chunk) {
        const REAL *x = (const REAL *)X->values + i, *u = (const REAL *)U + i;
        const int64_t features = chunk < m - i ? chunk : m - i;
        int64_t j = 0;
        for (; j + DOT_SAMPLES <= count; j += DOT_SAMPLES)
            dot_samples(DOT_SAMPLES, features, x + j * stride, stride, r, u, m, C + j * r, &next);
        for (; j + 2 <= count; j += 2) dot_samples(2, features, x + j * stride, stride, r, u, m, C + j * r, &next);
        for (; j < count; j++) dot_samples(1, features, x + j * stride, stride, r, u, m, C + j * r, &next);
    }
}

INLINE void add_wide(double *to, vector v)
{
    *(wide *)to += __builtin_convertvector(low_half(v), wide);
    *(wide *)(to + LANES / 2) += __builtin_convertvector(high_half(v), wide);
}

/* A(i..,k..) += sum_j x_j(i..) w_kj for `atoms` columns of A and `vectors` vectors of features. */
INLINE void add_block(int vectors, int atoms, const armilla_columns *X, int64_t i, int64_t r, const REAL *W, double *A,
                      ahead *following)
{
    vector sum[MOST_VECTORS][MOST_ATOMS] = {{{0}}};
    const int64_t m = X->m, count = X->count, stride = X->stride;
    const REAL *values = (const REAL *)X->values + i;
    ahead next = *following;
    for (int k = 0; k < atoms; k++)
        for (int v = 0; v < vectors; v++) __builtin_prefetch(A + k * m + i + v * LANES, 1);
    for (int64_t j = 0; j < count; j++) {
        vector x[MOST_VECTORS];
        fetch_ahead(&next);
        for (int v = 0; v < vectors; v++) {
            x[v] = *(const vector *)(values + j * stride + v * LANES);
            /* the same sample's next block of features, which may be in the third cache */
            if (v * BYTES % LINE == 0) __builtin_prefetch(values + j * stride + (vectors + v) * LANES);
        }
        for (int k = 0; k < atoms; k++)
            for (int v = 0; v < vectors; v++) sum[v][k] += x[v] * W[j * r + k];
    }
    for (int k = 0; k < atoms; k++)
        for (int v = 0; v < vectors; v++) add_wide(A + k * m + i + v * LANES, sum[v][k]);
    *following = next;
}

/* All atoms for a block of features, in blocks of `most` atoms or one less. */
INLINE void add_features(int vectors, int most, const armilla_columns *X, int64_t i, int64_t r, const REAL *W,
                         double *A, ahead *next)
{
    const int64_t m = X->m, blocks = (r + most - 1) / most, full = r - blocks * (most - 1);
    int64_t k = 0;
    for (int64_t block = 0; block < full; block++, k += most) add_block(vectors, most, X, i, r, W + k, A + k * m, next);
    for (; k < r; k += most - 1) add_block(vectors, most - 1, X, i, r, W + k, A + k * m, next);
}

/* The features past the last whole vector, in the same order over the samples. */
static void add_rest(const armilla_columns *X, int64_t first, int64_t r, const REAL *W, double *A)
{
    const REAL *values = X->values;
    for (int64_t k = 0; k < r; k++)
        for (int64_t i = first; i < X->m; i++) {
            REAL sum = 0;
            for (int64_t j = 0; j < X->count; j++) sum += values[j * X->stride + i] * W[j * r + k];
            A[k * X->m + i] += (double)sum;
        }
}

INLINE void add_panel(int vectors, int most, const armilla_columns *X, int64_t r, const REAL *W, double *A)
{
    const int64_t half_bytes = X->ahead_bytes / 2, blocks = (r + most - 1) / most;
    ahead next = plan_ahead((const char *)X->ahead + half_bytes, X->ahead_bytes - half_bytes,
                            X->count * blocks * (X->m / (vectors * LANES)));
    int64_t i = 0;
    for (; i + vectors * LANES <= X->m; i += vectors * LANES) add_features(vectors, most, X, i, r, W, A, &next);
    for (; i + LANES <= X->m; i += LANES) add_features(1, most, X, i, r, W, A, &next);
    add_rest(X, i, r, W, A);
}

/* Blocks of about 12 accumulators, whatever the rank: fewer atoms at a time take more vectors of features. */
static void accumulate(const armilla_columns *X, int64_t r, const void *W, double *A)
{
    const int64_t blocks = (r + MOST_ATOMS - 1) / MOST_ATOMS, atoms = (r + blocks - 1) / blocks;
    switch (atoms) {
    case 1:
        add_panel(8, 1, X, r, W, A);
        break;
    case 2:
        add_panel(6, 2, X, r, W, A);
        break;
    case 3:
        add_panel(4, 3, X, r, W, A);
        break;
    case 4:
        add_panel(3, 4, X, r, W, A);
        break;
    case 5:
        add_panel(2, 5, X, r, W, A);
        break;
    default:
        add_panel(2, 6, X, r, W, A);
        break;
    }
}

const armilla_kernels TABLE = {ISA_NAME, TYPE_TAG, products, accumulate};
