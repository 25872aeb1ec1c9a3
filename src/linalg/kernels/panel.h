/* The panel products of the sweep (docs/algorithm.md#the-sweep), written once and compiled per number type and
 * instruction set by the files beside this one. The including file defines REAL, LANES, TYPE_TAG, ISA_NAME and TABLE.
 * Vectors run along the features, so no rank is padded, but where atoms fill vectors. */
#include "linalg/kernels/vectors.h"

#if defined(BELOW)
extern const armilla_kernels BELOW;
#endif

#include "linalg/kernels/products.h"

#include "linalg/kernels/dots.h"

#include "linalg/kernels/accumulate.h"

#include "linalg/kernels/tiled.h"

static void products(const armilla_columns *X, const armilla_atoms *U, double *C)
{
    (U->tiled ? tiled_products : dot_products)(X, U, C);
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
            low += widen(low_half(v));
            high += widen(high_half(v));
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

#include "linalg/kernels/convert.h"

#include "linalg/kernels/settle.h"

#include "linalg/kernels/unit.h"

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

static void center(int64_t count, const double *restrict mean, const void *from, void *restrict to)
{
    const REAL *in = from;
    REAL *out = to;
    for (int64_t i = 0; i < count; i++) out[i] = (REAL)((double)in[i] - mean[i]);
}

const armilla_kernels TABLE = {
    .name = ISA_NAME,
    .type = TYPE_TAG,
    .products = products,
    .dots = dots,
    .pack = pack,
    .tiles_pay = tiles_pay,
    .tiled_numbers = tiled_numbers,
    .tiled_runs = tiled_runs,
    .tile = put_tiles,
    .accumulate = accumulate,
    .pack_codes = pack_all_codes,
    .gram = gram,
    .gather = gather,
    .convert = CONVERSIONS,
    .settle = settle,
    .has_unit_codes = has_unit_codes,
    .unit_codes = unit_codes,
    .fetch = fetch,
    .scale = scale,
    .rescale = rescale,
    .center = center,
};
