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
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (places){__VA_ARGS__})
typedef __typeof__(__builtin_choose_expr(sizeof(REAL) == 4, (int32_t)0, (int64_t)0)) place;
typedef place places __attribute__((vector_size(BYTES)));
#endif

typedef REAL vector __attribute__((vector_size(BYTES), aligned(sizeof(REAL))));
typedef REAL half __attribute__((vector_size(BYTES / 2), aligned(sizeof(REAL))));
typedef double doubles __attribute__((vector_size(LANES * 4), aligned(sizeof(double)))); /* a half in double */

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

/* A part of what X wants ahead, in that many steps; where there are fewer steps than lines the hardware has to do the
 * rest. Where nothing is wanted, a line that is in the cache anyway. */
static ahead plan_ahead(const armilla_columns *X, int64_t offset, int64_t bytes, int64_t steps)
{
    const int64_t step = bytes / (steps > 0 ? steps : 1) + 1;
    if (X->ahead_bytes == 0) return (ahead){X->values, 0};
    return (ahead){(const char *)X->ahead + offset, step < LINE ? step : LINE};
}

/* Keeps a number that several products share in a register: compilers else load it again for each. */
INLINE vector hold(vector v)
{
#if defined(__x86_64__)
    __asm__("" : "+x"(v));
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
    static const REAL keep[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    return v * *(const vector *)(keep + 8 - LANES + rest);
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
#elif LANES == 2
    for (int i = 0; i < 4; i++) sums[i] = v[i][0] + v[i][1];
#else
#error "lane_sums and keep_last have vectors of 2, 4 and 8 numbers"
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
    if (whole < features) { /* the last vector again, without what it has in common with the one before */
        const int64_t i = features - LANES;
        vector u[DOT_ATOMS];
        for (int k = 0; k < atoms; k++) u[k] = keep_last(*(const vector *)(U + k * m + i), features - whole);
        for (int j = 0; j < samples; j++) {
            const vector x = hold(*(const vector *)(X + j * stride + i));
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

/* Fewer features than a vector has lanes. */
static void dot_short(const armilla_columns *X, int64_t r, const REAL *U, double *C)
{
    const REAL *values = X->values;
    for (int64_t j = 0; j < X->count; j++)
        for (int64_t k = 0; k < r; k++) {
            REAL sum = 0;
            for (int64_t i = 0; i < X->m; i++) sum += values[j * X->stride + i] * U[k * X->m + i];
            C[j * r + k] = (double)sum;
        }
}

static void products(const armilla_columns *X, int64_t r, const void *U, double *C)
{
    if (X->m < LANES) {
        dot_short(X, r, U, C);
        return;
    }
    const int64_t m = X->m, count = X->count, stride = X->stride, chunk = chunk_features(m);
    const int64_t steps = count / DOT_SAMPLES * ((r + 1) / DOT_ATOMS) * (m / LANES);
    ahead next = plan_ahead(X, 0, X->ahead_bytes / 2, steps);
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

INLINE void add_in_double(double *to, vector v)
{
    *(doubles *)to += __builtin_convertvector(low_half(v), doubles);
    *(doubles *)(to + LANES / 2) += __builtin_convertvector(high_half(v), doubles);
}

/* What accumulate works on: A += XW'. */
typedef struct adding {
    const armilla_columns *X;
    int64_t r;
    const REAL *W;
    double *A;
    ahead next;
} adding;

/* sum(v,a) += x(v) w(a). The fewer of the two are held in registers, the others pass. */
INLINE void add_outer(int vectors, int atoms, const REAL *x, const REAL *w, vector sum[MOST_VECTORS][MOST_ATOMS])
{
    const int held = vectors <= atoms ? vectors : atoms, passing = vectors <= atoms ? atoms : vectors;
    vector kept[MOST_ATOMS];
    for (int h = 0; h < held; h++) kept[h] = vectors <= atoms ? *(const vector *)(x + h * LANES) : spread(w[h]);
    for (int p = 0; p < passing; p++) {
        const vector one = hold(vectors <= atoms ? spread(w[p]) : *(const vector *)(x + p * LANES));
        for (int h = 0; h < held; h++) {
            vector *to = vectors <= atoms ? &sum[h][p] : &sum[p][h];
            *to += kept[h] * one;
        }
    }
}

/* A(i..,k..) += sum_j x_j(i..) w_kj for `atoms` columns of A and `vectors` vectors of features. Of the last vector
 * only the last `rest` lanes are new: the others have been added already. */
INLINE void add_block(int vectors, int atoms, adding *job, int64_t i, int64_t k, int64_t rest)
{
    vector sum[MOST_VECTORS][MOST_ATOMS] = {{{0}}};
    const int64_t m = job->X->m, count = job->X->count, stride = job->X->stride, r = job->r;
    const REAL *x = (const REAL *)job->X->values + i, *w = job->W + k;
    double *A = job->A + k * m + i;
    ahead next = job->next;
    for (int a = 0; a < atoms; a++)
        for (int v = 0; v < vectors; v++) __builtin_prefetch(A + a * m + v * LANES, 1);
    for (int64_t j = 0; j < count; j++, x += stride, w += r) {
        fetch_ahead(&next);
        for (int v = 0; v < vectors; v += LINE / BYTES) /* the sample's next features may be in the third cache */
            __builtin_prefetch(x + (vectors + v) * LANES);
        add_outer(vectors, atoms, x, w, sum);
    }
    for (int a = 0; a < atoms; a++)
        for (int v = 0; v < vectors; v++)
            add_in_double(A + a * m + v * LANES, rest < LANES ? keep_last(sum[v][a], rest) : sum[v][a]);
    job->next = next;
}

/* All atoms for a block of features, in blocks of `most` atoms or one less. */
INLINE void add_features(int vectors, int most, adding *job, int64_t i, int64_t rest)
{
    const int64_t r = job->r, blocks = (r + most - 1) / most, full = r - blocks * (most - 1);
    int64_t k = 0;
    for (; k < full * most; k += most) add_block(vectors, most, job, i, k, rest);
    for (; k < r; k += most - 1) add_block(vectors, most - 1, job, i, k, rest);
}

INLINE void add_panel(int vectors, int most, const armilla_columns *X, int64_t r, const REAL *W, double *A)
{
    const int64_t steps = X->count * ((r + most - 1) / most) * (X->m / (vectors * LANES));
    adding job = {X, r, W, A, plan_ahead(X, X->ahead_bytes / 2, X->ahead_bytes - X->ahead_bytes / 2, steps)};
    int64_t i = 0;
    for (; i + vectors * LANES <= X->m; i += vectors * LANES) add_features(vectors, most, &job, i, LANES);
    for (; i + LANES <= X->m; i += LANES) add_features(1, most, &job, i, LANES);
    if (i < X->m) add_features(1, most, &job, X->m - LANES, X->m - i);
}

/* Fewer features than a vector has lanes. */
static void add_short(const armilla_columns *X, int64_t r, const REAL *W, double *A)
{
    const REAL *values = X->values;
    for (int64_t k = 0; k < r; k++)
        for (int64_t i = 0; i < X->m; i++) {
            REAL sum = 0;
            for (int64_t j = 0; j < X->count; j++) sum += values[j * X->stride + i] * W[j * r + k];
            A[k * X->m + i] += (double)sum;
        }
}

/* Blocks of about 12 accumulators, whatever the rank: fewer atoms at a time take more vectors of features. */
static void accumulate(const armilla_columns *X, int64_t r, const void *W, double *A)
{
    const int64_t blocks = (r + MOST_ATOMS - 1) / MOST_ATOMS, atoms = (r + blocks - 1) / blocks;
    if (X->m < LANES)
        add_short(X, r, W, A);
    else if (atoms == 1)
        add_panel(8, 1, X, r, W, A);
    else if (atoms == 2)
        add_panel(6, 2, X, r, W, A);
    else if (atoms == 3)
        add_panel(4, 3, X, r, W, A);
    else if (atoms == 4)
        add_panel(3, 4, X, r, W, A);
    else if (atoms == 5)
        add_panel(2, 5, X, r, W, A);
    else
        add_panel(2, 6, X, r, W, A);
}

/* Columns of one name that are added together, and those among which they are looked for; that pays for long ones. */
enum { ADDED = 4, SEARCHED = 64, LONG = 512 };

/* a += x_0 + ... + x_(count-1), one after the other, so that how many stand together does not change a bit. */
INLINE void add_columns(int count, int64_t m, const REAL *const *x, double *a, ahead *next)
{
    int64_t i = 0;
    for (; i + LANES <= m; i += LANES) {
        doubles low = *(doubles *)(a + i), high = *(doubles *)(a + i + LANES / 2);
        for (int c = 0; c < count; c++) {
            const vector v = *(const vector *)(x[c] + i);
            fetch_ahead(next);
            low += __builtin_convertvector(low_half(v), doubles);
            high += __builtin_convertvector(high_half(v), doubles);
        }
        *(doubles *)(a + i) = low;
        *(doubles *)(a + i + LANES / 2) = high;
    }
    for (; i < m; i++)
        for (int c = 0; c < count; c++) a[i] += (double)x[c][i];
}

static void gather(const armilla_columns *X, const int32_t *assignments, double *A)
{
    const int64_t m = X->m, behind = X->ahead_bytes / 2;
    ahead next = plan_ahead(X, behind, X->ahead_bytes - behind, X->count * (m / LANES));
    const int64_t searched = m < LONG ? 1 : SEARCHED;
    for (int64_t first = 0; first < X->count; first += searched) {
        const int64_t end = first + searched < X->count ? first + searched : X->count;
        bool added[SEARCHED] = {false};
        for (int64_t j = first; j < end; j++) {
            const REAL *x[ADDED];
            int count = 0;
            if (added[j - first]) continue;
            for (int64_t c = j; c < end && count < ADDED; c++) {
                if (assignments[c] != assignments[j] || added[c - first]) continue;
                added[c - first] = true;
                x[count++] = (const REAL *)X->values + c * X->stride;
            }
            double *a = A + assignments[j] * m;
            if (count == ADDED)
                add_columns(ADDED, m, x, a, &next);
            else
                for (int c = 0; c < count; c += 2) add_columns(c + 2 <= count ? 2 : 1, m, x + c, a, &next);
        }
    }
}

static void widen(int64_t count, const uint8_t *from, void *to)
{
    REAL *out = to;
    for (int64_t i = 0; i < count; i++) out[i] = (REAL)from[i];
}

static void fetch(int64_t count, const void *from, double *to)
{
    const REAL *in = from;
    for (int64_t i = 0; i < count; i++) to[i] = (double)in[i];
}

static void scale(int64_t count, double factor, const double *from, void *to)
{
    REAL *out = to;
    for (int64_t i = 0; i < count; i++) out[i] = (REAL)(factor * from[i]);
}

static void rescale(int64_t count, double factor, const void *from, void *to)
{
    const REAL *in = from;
    REAL *out = to;
    for (int64_t i = 0; i < count; i++) out[i] = (REAL)(factor * (double)in[i]);
}

const armilla_kernels TABLE = {
    .name = ISA_NAME,
    .type = TYPE_TAG,
    .products = products,
    .accumulate = accumulate,
    .gather = gather,
    .widen = widen,
    .fetch = fetch,
    .scale = scale,
    .rescale = rescale,
};
