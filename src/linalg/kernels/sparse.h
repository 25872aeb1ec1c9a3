/* The products of sparse columns (docs/algorithm.md#the-sweep), written once and compiled per number type and
 * instruction set by the files beside this one. The including file defines REAL, TYPE_TAG, ISA_NAME and TABLE.
 *
 * Vectors run along the rank. An entry of X is one number times one run of U, or added to one run of A. Which
 * runs come next is known from the indices, so they are fetched ahead. */
#include "linalg/sparse_kernels.h"

#include "base/size.h"

#define BYTES 32
#define LANES ((int64_t)(BYTES / sizeof(REAL)))
#define INLINE static inline __attribute__((always_inline))

typedef REAL vector __attribute__((vector_size(BYTES), aligned(sizeof(REAL))));

enum {
    STRIP = 8,      /* vectors of a strip: what the registers hold */
    CHUNK = 64,     /* entries whose products are added in the type, before that sum is added in double */
    DOT_AHEAD = 24, /* entries between a fetch and its use */
    ADD_AHEAD = 8,
    LINE = 64,
    TILE = 1 << 22 /* bytes of A that a third-level cache holds for each thread */
};

typedef double quarter __attribute__((vector_size(BYTES), aligned(sizeof(double))));
typedef REAL narrow_quarter __attribute__((vector_size(4 * sizeof(REAL)), aligned(sizeof(REAL))));

/* The part of a feature's run that an entry some places on will want. */
INLINE void fetch_ahead(bool index64, int vectors, const void *rows, int64_t i, int64_t end, const REAL *runs,
                        int64_t stride)
{
    const char *later = (const char *)(runs + armilla_index_at(index64, rows, armilla_min64(i, end - 1)) * stride);
    for (int b = 0; b < vectors * BYTES; b += LINE) __builtin_prefetch(later + b);
}

/* c[0 ... kept-1] += the strip's part of U'x for entries first ... last-1; `vectors` is a constant where inlined. There
 * are entries up to `end`. */
INLINE void dot_strip(bool index64, int vectors, int64_t first, int64_t last, int64_t end, const REAL *values,
                      const void *rows, int64_t stride, const REAL *U, int64_t kept, double *c)
{
    vector sum[STRIP] = {{0}};
    REAL part[STRIP * BYTES / sizeof(REAL)];
    for (int64_t i = first; i < last; i++) {
        const REAL *u = U + armilla_index_at(index64, rows, i) * stride;
        fetch_ahead(index64, vectors, rows, i + DOT_AHEAD, end, U, stride);
        for (int v = 0; v < vectors; v++) sum[v] += values[i] * *(const vector *)(u + v * LANES);
    }
    for (int v = 0; v < vectors; v++) *(vector *)(part + v * LANES) = sum[v];
    int64_t k = 0;
    const int64_t most = armilla_min64(kept, vectors * LANES);
    for (; k + 4 <= most; k += 4)
        *(quarter *)(c + k) += __builtin_convertvector(*(const narrow_quarter *)(part + k), quarter);
    for (; k < most; k++) c[k] += (double)part[k];
}

/* All strips of `stride` numbers, the number k of the first of which the one is to use. */
#define EACH_STRIP(k, stride, one)                                                                                     \
    do {                                                                                                               \
        for (; k + STRIP * LANES <= stride; k += STRIP * LANES) one(STRIP);                                            \
        if (k + 4 * LANES <= stride) {                                                                                 \
            one(4);                                                                                                    \
            k += 4 * LANES;                                                                                            \
        }                                                                                                              \
        if (k + 3 * LANES == stride) {                                                                                 \
            one(3);                                                                                                    \
            break;                                                                                                     \
        }                                                                                                              \
        if (k + 2 * LANES <= stride) {                                                                                 \
            one(2);                                                                                                    \
            k += 2 * LANES;                                                                                            \
        }                                                                                                              \
        if (k < stride) one(1);                                                                                        \
    } while (0)

/* One chunk of one column, all strips. */
INLINE void dot_chunk(bool index64, int64_t first, int64_t last, int64_t end, const REAL *values, const void *rows,
                      int64_t r, int64_t stride, const REAL *U, double *c)
{
    int64_t k = 0;
#define DOT(vectors) dot_strip(index64, vectors, first, last, end, values, rows, stride, U + k, r - k, c + k)
    EACH_STRIP(k, stride, DOT);
}

INLINE void products(bool index64, const armilla_sparse_columns *X, int64_t r, int64_t stride, const REAL *U, double *C)
{
    const int64_t origin = armilla_index_at(index64, X->starts, 0);
    const int64_t end = armilla_index_at(index64, X->starts, X->count) - origin;
    for (int64_t i = 0; i < X->count * r; i++) C[i] = 0;
    for (int64_t j = 0; j < X->count; j++) {
        const int64_t last = armilla_index_at(index64, X->starts, j + 1) - origin;
        for (int64_t i = armilla_index_at(index64, X->starts, j) - origin; i < last; i += CHUNK)
            dot_chunk(index64, i, armilla_min64(i + CHUNK, last), end, X->values, X->rows, r, stride, U, C + j * r);
    }
}

INLINE void load_code(const REAL *w, int64_t kept, vector *code)
{
    *code = (vector){0};
    if (kept >= LANES)
        *code = *(const vector *)w;
    else
        for (int64_t lane = 0; lane < kept; lane++) (*code)[lane] = w[lane];
}

/* A += value * w, a strip of the rank, for entries first ... last-1, which are of one column. What a later entry will
 * change is fetched ahead, up to entry `end`. */
INLINE void add_strip(bool index64, int vectors, int64_t first, int64_t last, int64_t end, const REAL *values,
                      const void *rows, int64_t stride, const REAL *w, int64_t kept, REAL *A)
{
    vector code[STRIP];
    for (int v = 0; v < vectors; v++) load_code(w + v * LANES, kept - v * LANES, &code[v]);
    for (int64_t i = first; i < last; i++) {
        REAL *a = A + armilla_index_at(index64, rows, i) * stride;
        fetch_ahead(index64, vectors, rows, i + ADD_AHEAD, end, A, stride);
        for (int v = 0; v < vectors; v++) *(vector *)(a + v * LANES) += values[i] * code[v];
    }
}

INLINE void add_column(bool index64, int64_t first, int64_t last, int64_t end, const REAL *values, const void *rows,
                       int64_t r, int64_t stride, const REAL *w, REAL *A)
{
    int64_t k = 0;
#define ADD(vectors) add_strip(index64, vectors, first, last, end, values, rows, stride, w + k, r - k, A + k)
    EACH_STRIP(k, stride, ADD);
}

/* The first entry of a column whose feature is at least `limit`. */
INLINE int64_t find_limit(bool index64, const armilla_sparse_columns *X, int64_t i, int64_t last, int64_t limit)
{
    if (limit == X->m) return last;
    while (i < last && armilla_index_at(index64, X->rows, i) < limit) i++;
    return i;
}

/* A += value * e_atom, one number of every run. */
INLINE void add_assigned(bool index64, int64_t first, int64_t last, int64_t end, const REAL *values, const void *rows,
                         int64_t stride, int64_t atom, REAL *A)
{
    for (int64_t i = first; i < last; i++) {
        const int64_t later = armilla_index_at(index64, rows, armilla_min64(i + ADD_AHEAD, end - 1));
        __builtin_prefetch(A + later * stride + atom, 1);
        A[armilla_index_at(index64, rows, i) * stride + atom] += values[i];
    }
}

/* What the columns are multiplied by: codes, or where W is NULL axes. */
typedef struct multiplier {
    const REAL *W;
    const armilla_memberships *memberships;
} multiplier;

/* Column j, for each partition. */
INLINE void add_member(bool index64, int64_t first, int64_t last, int64_t end, const armilla_sparse_columns *X,
                       int64_t stride, const armilla_memberships *memberships, int64_t j, REAL *A)
{
    for (int64_t p = 0; p < memberships->partitions; p++)
        add_assigned(index64, first, last, end, X->values, X->rows, stride,
                     memberships->atoms[p * memberships->stride + j], A);
}

/* Features are taken tile by tile, each for all columns before the next, so that runs that several columns change stay
 * in a cache; columns are sorted, so a cursor for each is enough. Each run gets the columns in their order. */
INLINE void accumulate(bool index64, const armilla_sparse_columns *X, int64_t r, int64_t stride, multiplier by, REAL *A)
{
    const int64_t origin = armilla_index_at(index64, X->starts, 0);
    const int64_t end = armilla_index_at(index64, X->starts, X->count) - origin;
    const int64_t tile = armilla_max64(1, TILE / (int64_t)sizeof(REAL) / stride);
    for (int64_t j = 0; j < X->count; j++) X->cursors[j] = armilla_index_at(index64, X->starts, j) - origin;
    for (int64_t base = 0; base < X->m; base += tile) {
        const int64_t limit = armilla_min64(base + tile, X->m);
        for (int64_t i = base * stride; i < limit * stride; i += LANES) *(vector *)(A + i) = (vector){0};
        for (int64_t j = 0; j < X->count; j++) {
            const int64_t first = X->cursors[j], last = armilla_index_at(index64, X->starts, j + 1) - origin;
            const int64_t stop = find_limit(index64, X, first, last, limit);
            X->cursors[j] = stop;
            if (first == stop) continue;
            if (by.W)
                add_column(index64, first, stop, end, X->values, X->rows, r, stride, by.W + j * r, A);
            else
                add_member(index64, first, stop, end, X, stride, by.memberships, j, A);
        }
    }
}

#define OF_WIDTH(width, index64)                                                                                       \
    static void products_##width(const armilla_sparse_columns *X, int64_t r, int64_t stride, const void *U, double *C) \
    {                                                                                                                  \
        products(index64, X, r, stride, U, C);                                                                         \
    }                                                                                                                  \
    static void accumulate_##width(const armilla_sparse_columns *X, int64_t r, int64_t stride, const void *W, void *A) \
    {                                                                                                                  \
        accumulate(index64, X, r, stride, (multiplier){W, NULL}, A);                                                   \
    }                                                                                                                  \
    static void gather_##width(const armilla_sparse_columns *X, int64_t stride,                                        \
                               const armilla_memberships *memberships, void *A)                                        \
    {                                                                                                                  \
        accumulate(index64, X, stride, stride, (multiplier){NULL, memberships}, A);                                    \
    }
OF_WIDTH(narrow, false)
OF_WIDTH(index64, true)

/* An entry by feature. */
typedef struct entry {
    int32_t sample;
    REAL value;
} entry;

_Static_assert(sizeof(entry) == 2 * sizeof(REAL), "as armilla_sparse_entry_bytes says");

enum { QUARTERS = STRIP * BYTES / sizeof(REAL) / 4, LEVELS = 16 }; /* slots are fewer than 2^15 */

/* The sums of nodes of the tree over slots that wait for their right siblings, from left to right. A node without entries
 * is left out: it would add zeros. */
typedef struct waiting {
    int count;
    int join[LEVELS]; /* the level at which a node meets the one behind it */
    quarter sums[LEVELS][QUARTERS];
} waiting;

/* Adds the nodes before it to the last one, which ends there, as far as they meet it below that level. */
INLINE void meet(waiting *nodes, int quarters, int level, quarter *last)
{
    while (nodes->count > 0 && nodes->join[nodes->count - 1] < level) {
        const quarter *left = nodes->sums[--nodes->count];
        for (int q = 0; q < quarters; q++) last[q] = left[q] + last[q];
    }
}

/* The last node waits for one that begins with `slot`. */
INLINE void wait_for(waiting *nodes, int quarters, int32_t own, int32_t slot, quarter *last)
{
    const int level = 32 - __builtin_clz((unsigned)(own ^ slot));
    meet(nodes, quarters, level, last);
    nodes->join[nodes->count] = level;
    for (int q = 0; q < quarters; q++) nodes->sums[nodes->count][q] = last[q];
    nodes->count++;
}

/* The first panel from p on that ends behind the sample. */
INLINE int64_t find_panel(const armilla_sparse_rows *X, int64_t p, int32_t sample)
{
    int64_t low = p, high = X->panels - 1;
    if (X->panel_ends[p] > sample) return p;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (X->panel_ends[middle] <= sample)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* sum += a panel's entries, from i on; returns the first behind them. Numbers behind the r-th are a neighbour's, and
 * nobody's sums. */
INLINE int64_t add_panel(int vectors, const armilla_sparse_codes *codes, int64_t k, const armilla_sparse_rows *X,
                         int64_t i, int64_t last, int32_t end, vector sum[STRIP])
{
    const entry *entries = X->entries;
    const REAL *W = (const REAL *)codes->W + k, *behind = (const REAL *)codes->W + codes->last * codes->r;
    const bool cut = k + vectors * LANES > codes->r;
    for (; i < last && entries[i].sample < end; i++) {
        const REAL *w = W + entries[i].sample * codes->r;
        const char *later = (const char *)(W + entries[armilla_min64(i + DOT_AHEAD, X->count - 1)].sample * codes->r);
        for (int b = 0; b < vectors * BYTES; b += LINE) __builtin_prefetch(later + b);
        for (int v = 0; v + 1 < vectors; v++) sum[v] += entries[i].value * *(const vector *)(w + v * LANES);
        const int64_t tail = (vectors - 1) * LANES;
        vector code;
        load_code(w + tail, cut ? behind - w - tail : LANES, &code);
        sum[vectors - 1] += entries[i].value * code;
    }
    return i;
}

/* node += sum, or node = sum. */
INLINE void widen(int vectors, const vector sum[STRIP], bool opens, quarter *node)
{
    REAL part[STRIP * BYTES / sizeof(REAL)];
    for (int v = 0; v < vectors; v++) *(vector *)(part + v * LANES) = sum[v];
    for (int64_t q = 0; q < vectors * LANES / 4; q++) {
        const quarter wide = __builtin_convertvector(*(const narrow_quarter *)(part + 4 * q), quarter);
        node[q] = opens ? wide : node[q] + wide;
    }
}

INLINE void sum_strip(int vectors, const armilla_sparse_rows *X, const armilla_sparse_codes *codes, int64_t k,
                      const armilla_sparse_piece *range, double *sums)
{
    const entry *entries = X->entries;
    const int quarters = vectors * (int)LANES / 4;
    int64_t i = range->first, p = 0;
    int32_t slot = -1;
    quarter last[QUARTERS] = {{0}};
    waiting nodes;
    nodes.count = 0;
    while (i < range->last) {
        vector sum[STRIP] = {{0}};
        p = find_panel(X, p, entries[i].sample);
        const bool opens = X->panel_slots[p] != slot;
        if (opens && slot >= 0) wait_for(&nodes, quarters, slot, X->panel_slots[p], last);
        slot = X->panel_slots[p];
        i = add_panel(vectors, codes, k, X, i, range->last, X->panel_ends[p], sum);
        widen(vectors, sum, opens, last);
    }
    meet(&nodes, quarters, LEVELS, last);
    for (int q = 0; q < quarters; q++) *(quarter *)(sums + 4 * q) = last[q];
}

/* The first of some entries whose sample is not below that; mostly the first or the end of them. */
static int64_t find_sample(const entry *entries, int64_t low, int64_t high, int64_t sample)
{
    if (low == high || entries[low].sample >= sample) return low;
    if (entries[high - 1].sample < sample) return high;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (entries[middle].sample < sample)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void sum_feature(const armilla_sparse_rows *X, const armilla_sparse_codes *codes,
                        const armilla_sparse_piece *piece, double *sums)
{
    const int64_t first = X->starts[piece->feature], last = X->starts[piece->feature + 1], end = piece->length;
    armilla_sparse_piece range = *piece;
    int64_t k = 0;
    range.first = find_sample(X->entries, first, last, piece->first);
    range.last = find_sample(X->entries, range.first, last, piece->last);
    for (; k + STRIP * LANES <= end; k += STRIP * LANES) sum_strip(STRIP, X, codes, piece->k + k, &range, sums + k);
    for (; k + 4 * LANES <= end; k += 4 * LANES) sum_strip(4, X, codes, piece->k + k, &range, sums + k);
    for (; k + 2 * LANES <= end; k += 2 * LANES) sum_strip(2, X, codes, piece->k + k, &range, sums + k);
    for (; k < end; k += LANES) sum_strip(1, X, codes, piece->k + k, &range, sums + k);
}

const armilla_sparse_kernels TABLE = {ISA_NAME,
                                      TYPE_TAG,
                                      {products_narrow, products_index64},
                                      {accumulate_narrow, accumulate_index64},
                                      {gather_narrow, gather_index64},
                                      sum_feature};
