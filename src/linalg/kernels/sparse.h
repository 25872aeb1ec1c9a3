/* The products of sparse columns (ALGORITHM section 2), written once and compiled per number type and instruction set
 * by the files beside this one. The including file defines REAL, TYPE_TAG, ISA_NAME and TABLE.
 *
 * Vectors run along the rank. An entry of X is one number times one run of U, or added to one run of A; which runs
 * come next is known from the indices, so they are fetched ahead. A strip of the rank that fits the registers is
 * worked through all entries of a column, which stay in the first cache. */
#include "linalg/sparse_kernels.h"

#include "base/size.h"

#define BYTES 32
#define LANES ((int64_t)(BYTES / sizeof(REAL)))
#define DOUBLES ((int64_t)(BYTES / sizeof(double)))
#define INLINE static inline __attribute__((always_inline))

typedef REAL vector __attribute__((vector_size(BYTES), aligned(sizeof(REAL))));
typedef double doubles __attribute__((vector_size(BYTES), aligned(sizeof(double))));

enum {
    STRIP = 8,  /* vectors of a strip */
    CHUNK = 64, /* entries whose products are added in the type, before that sum is added in double */
    AHEAD = 8,  /* entries between fetching and using */
    LINE = 64
};

/* The whole run of a feature. */
INLINE void fetch_ahead(const void *run, int64_t bytes)
{
    for (int64_t b = 0; b < bytes; b += LINE) __builtin_prefetch((const char *)run + b);
}

/* c[0 ... kept-1] += the strip's part of U'x for entries first ... last-1; `vectors` is a constant where inlined. */
INLINE void dot_strip(bool wide, int vectors, int64_t first, int64_t last, const REAL *values, const void *rows,
                      int64_t stride, const REAL *U, int64_t kept, double *c)
{
    vector sum[STRIP] = {{0}};
    for (int64_t i = first; i < last; i++) {
        const REAL *u = U + armilla_index_at(wide, rows, i) * stride;
        for (int v = 0; v < vectors; v++) sum[v] += values[i] * *(const vector *)(u + v * LANES);
    }
    for (int v = 0; v < vectors; v++)
        for (int64_t lane = 0; lane < LANES && v * LANES + lane < kept; lane++)
            c[v * LANES + lane] += (double)sum[v][lane];
}

/* One chunk of one column, all strips. */
INLINE void dot_chunk(bool wide, int64_t first, int64_t last, const REAL *values, const void *rows, int64_t r,
                      int64_t stride, const REAL *U, double *c)
{
    int64_t k = 0;
    for (; k + STRIP * LANES <= stride; k += STRIP * LANES)
        dot_strip(wide, STRIP, first, last, values, rows, stride, U + k, r - k, c + k);
    if (k + 4 * LANES <= stride) {
        dot_strip(wide, 4, first, last, values, rows, stride, U + k, r - k, c + k);
        k += 4 * LANES;
    }
    if (k + 2 * LANES <= stride) {
        dot_strip(wide, 2, first, last, values, rows, stride, U + k, r - k, c + k);
        k += 2 * LANES;
    }
    if (k < stride) dot_strip(wide, 1, first, last, values, rows, stride, U + k, r - k, c + k);
}

INLINE void products(bool wide, const armilla_sparse_columns *X, int64_t r, int64_t stride, const REAL *U, double *C)
{
    const REAL *values = X->values;
    const int64_t origin = armilla_index_at(wide, X->starts, 0),
                  end = armilla_index_at(wide, X->starts, X->count) - origin;
    for (int64_t j = 0; j < X->count; j++) {
        const int64_t last = armilla_index_at(wide, X->starts, j + 1) - origin;
        double *c = C + j * r;
        for (int64_t k = 0; k < r; k++) c[k] = 0;
        for (int64_t i = armilla_index_at(wide, X->starts, j) - origin; i < last; i += CHUNK) {
            const int64_t stop = armilla_min64(i + CHUNK, last), reach = armilla_min64(stop + CHUNK, end);
            /* What the next chunk needs, of this column or the next. */
            for (int64_t next = stop; next < reach; next++)
                fetch_ahead(U + armilla_index_at(wide, X->rows, next) * stride, stride * (int64_t)sizeof(REAL));
            dot_chunk(wide, i, stop, values, X->rows, r, stride, U, c);
        }
    }
}

/* A += value * w, a strip of the rank, for all entries of one column. */
INLINE void add_strip(bool wide, int vectors, int64_t first, int64_t last, int64_t end, const REAL *values,
                      const void *rows, int64_t stride, const REAL *w, int64_t kept, double *A)
{
    doubles code[STRIP] = {{0}};
    for (int v = 0; v < vectors; v++)
        for (int64_t lane = 0; lane < DOUBLES && v * DOUBLES + lane < kept; lane++)
            code[v][lane] = (double)w[v * DOUBLES + lane];
    for (int64_t i = first; i < last; i++) {
        double *a = A + armilla_index_at(wide, rows, i) * stride;
        const double value = (double)values[i];
        if (i + AHEAD < end) fetch_ahead(A + armilla_index_at(wide, rows, i + AHEAD) * stride, vectors * BYTES);
        for (int v = 0; v < vectors; v++) *(doubles *)(a + v * DOUBLES) += value * code[v];
    }
}

INLINE void add_column(bool wide, int64_t first, int64_t last, int64_t end, const REAL *values, const void *rows,
                       int64_t r, int64_t stride, const REAL *w, double *A)
{
    int64_t k = 0;
    for (; k + STRIP * DOUBLES <= stride; k += STRIP * DOUBLES)
        add_strip(wide, STRIP, first, last, end, values, rows, stride, w + k, r - k, A + k);
    if (k + 4 * DOUBLES <= stride) {
        add_strip(wide, 4, first, last, end, values, rows, stride, w + k, r - k, A + k);
        k += 4 * DOUBLES;
    }
    if (k + 2 * DOUBLES <= stride) {
        add_strip(wide, 2, first, last, end, values, rows, stride, w + k, r - k, A + k);
        k += 2 * DOUBLES;
    }
    if (k < stride) add_strip(wide, 1, first, last, end, values, rows, stride, w + k, r - k, A + k);
}

INLINE void accumulate(bool wide, const armilla_sparse_columns *X, int64_t r, int64_t stride, const REAL *W, double *A)
{
    const int64_t origin = armilla_index_at(wide, X->starts, 0),
                  end = armilla_index_at(wide, X->starts, X->count) - origin;
    for (int64_t j = 0; j < X->count; j++)
        add_column(wide, armilla_index_at(wide, X->starts, j) - origin,
                   armilla_index_at(wide, X->starts, j + 1) - origin, end, X->values, X->rows, r, stride, W + j * r, A);
}

static void products_narrow(const armilla_sparse_columns *X, int64_t r, int64_t stride, const void *U, double *C)
{
    products(false, X, r, stride, U, C);
}

static void products_wide(const armilla_sparse_columns *X, int64_t r, int64_t stride, const void *U, double *C)
{
    products(true, X, r, stride, U, C);
}

static void accumulate_narrow(const armilla_sparse_columns *X, int64_t r, int64_t stride, const void *W, double *A)
{
    accumulate(false, X, r, stride, W, A);
}

static void accumulate_wide(const armilla_sparse_columns *X, int64_t r, int64_t stride, const void *W, double *A)
{
    accumulate(true, X, r, stride, W, A);
}

const armilla_sparse_kernels TABLE = {
    ISA_NAME, TYPE_TAG, {products_narrow, products_wide}, {accumulate_narrow, accumulate_wide}};
