/* Passes over the rows of tall matrices in double, for a team. Rows are cut into parts, which depend on m alone and have
 * sums of their own, and parts into blocks that stay in a cache: whatever is done with a block is done at once. */
#include "base/size.h"
#include "linalg/tiles.h"

#include <math.h>
#include <string.h>

enum { MOST_PARTS = ARMILLA_TALL_PARTS, PART_ROWS = 1024, BLOCK_ROWS = ARMILLA_TALL_ROWS };

int64_t armilla_tall_parts(int64_t m)
{
    return armilla_max64(1, armilla_min64(MOST_PARTS, m / PART_ROWS));
}

int64_t armilla_tall_start(int64_t m, int64_t part)
{
    const int64_t parts = armilla_tall_parts(m);
    return part < parts ? m / parts * part : m;
}

static int64_t buffer_rows(int64_t m)
{
    return armilla_min64(m, BLOCK_ROWS);
}

int64_t armilla_tall_buffer(int64_t m)
{
    return armilla_tall_parts(m) * buffer_rows(m);
}

/* A pass: U = M made into something else block by block, and what is summed of it. */
typedef struct pass {
    const armilla_algebra *algebra;
    const double *M;
    double *U; /* NULL: M is only read */
    const double *K;
    int exponent; /* M is divided by this power of two */
    bool gram;    /* U'U is wanted */
    double largest[MOST_PARTS], nothing[MOST_PARTS];
} pass;

static void run_share(const pass *p, armilla_share body)
{
    const int64_t parts = armilla_tall_parts(p->algebra->m);
    if (p->algebra->team && parts > 1)
        armilla_team_share(p->algebra->team, parts, body, (void *)(uintptr_t)p);
    else
        body((void *)(uintptr_t)p, 0, parts);
}

/* The largest size of some numbers, and NaN from one that is not finite; in lanes, which compilers turn into vectors. */
static void scan(int64_t count, const double *x, double *largest, double *nothing)
{
    enum { LANES = 8 };
    double sizes[LANES] = {0}, zeros[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++) {
            const double size = fabs(x[i + k]);
            sizes[k] = size > sizes[k] ? size : sizes[k];
            zeros[k] += 0 * size;
        }
    for (int k = 0; i < count; i++, k++) {
        sizes[k] = fabs(x[i]) > sizes[k] ? fabs(x[i]) : sizes[k];
        zeros[k] += 0 * x[i];
    }
    for (int k = 0; k < LANES; k++) {
        *largest = sizes[k] > *largest ? sizes[k] : *largest;
        *nothing += zeros[k];
    }
}

static void find_largest(void *self, int64_t first, int64_t last)
{
    pass *p = self;
    const int64_t m = p->algebra->m;
    for (int64_t part = first; part < last; part++) {
        const int64_t start = armilla_tall_start(m, part), rows = armilla_tall_start(m, part + 1) - start;
        for (int64_t k = 0; k < p->algebra->r; k++)
            scan(rows, p->M + k * m + start, &p->largest[part], &p->nothing[part]);
    }
}

/* Rows first ... first+rows-1 of U from those of M. */
static void make_block(const pass *p, int64_t part, int64_t first, int64_t rows)
{
    const int64_t m = p->algebra->m, r = p->algebra->r;
    double *block = p->algebra->blocks + part * buffer_rows(m) * r;
    const double scale = p->exponent < -1000 ? 0 : ldexp(1, -p->exponent); /* 2^1000 and more would overflow */
    for (int64_t k = 0; k < r; k++) {
        const double *from = p->M + k * m + first;
        double *to = p->K ? block + k * rows : p->U + k * m + first;
        if (p->K)
            memcpy(to, from, (size_t)rows * sizeof *to);
        else if (scale == 0)
            for (int64_t i = 0; i < rows; i++) to[i] = ldexp(from[i], -p->exponent);
        else
            for (int64_t i = 0; i < rows; i++) to[i] = scale * from[i];
    }
    const armilla_thin_product product = {r, r, 1, 0, block, p->K, p->U + first, rows, m};
    if (p->K) armilla_multiply_thin(&product, rows);
}

static void make_parts(void *self, int64_t first, int64_t last)
{
    const pass *p = self;
    const int64_t m = p->algebra->m, r = p->algebra->r;
    for (int64_t part = first; part < last; part++) {
        const int64_t start = armilla_tall_start(m, part), end = armilla_tall_start(m, part + 1);
        double *gram = p->gram ? p->algebra->grams + part * r * r : NULL;
        for (int64_t at = start; at < end; at += BLOCK_ROWS) {
            const int64_t rows = armilla_min64(BLOCK_ROWS, end - at);
            make_block(p, part, at, rows);
            const armilla_thin_gram made = {r, m, p->U + at, at > start, gram};
            if (p->gram) armilla_gram_thin(&made, rows);
        }
    }
}

static void multiply_parts(void *self, int64_t first, int64_t last)
{
    const pass *p = self;
    const int64_t m = p->algebra->m, r = p->algebra->r;
    for (int64_t part = first; part < last; part++) {
        const int64_t start = armilla_tall_start(m, part);
        const armilla_thin_gram made = {r, m, p->M + start, false, p->algebra->grams + part * r * r};
        armilla_gram_thin(&made, armilla_tall_start(m, part + 1) - start);
    }
}

/* G = the sum of the parts' own. */
static void add_grams(const armilla_algebra *algebra, double *G)
{
    const int64_t r = algebra->r, parts = armilla_tall_parts(algebra->m);
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = 0; i <= j; i++) {
            double sum = 0;
            for (int64_t part = 0; part < parts; part++) sum += algebra->grams[part * r * r + j * r + i];
            G[j * r + i] = G[i * r + j] = sum;
        }
}

void armilla_gram_by_rows(const armilla_algebra *algebra, const double *B, double *G)
{
    const pass p = {.algebra = algebra, .M = B};
    if (algebra->r >= ARMILLA_LARGE) {
        armilla_tiles_inner(algebra, algebra->m, B, B, G);
        return;
    }
    run_share(&p, multiply_parts);
    add_grams(algebra, G);
}

void armilla_multiply_in_place(const armilla_algebra *algebra, const double *K, double *U, double *G)
{
    const pass p = {.algebra = algebra, .M = U, .U = U, .K = K, .gram = G != NULL};
    if (algebra->r >= ARMILLA_LARGE) {
        armilla_tiles_multiply(algebra, algebra->m, K, U);
        if (G) armilla_tiles_inner(algebra, algebra->m, U, U, G);
        return;
    }
    run_share(&p, make_parts);
    if (G) add_grams(algebra, G);
}

bool armilla_scale_tall(const armilla_algebra *algebra, const double *M, double *U, double *G)
{
    const bool large = algebra->r >= ARMILLA_LARGE;
    pass p = {.algebra = algebra, .M = M, .U = U, .gram = !large};
    double largest = 0, nothing = 0;
    run_share(&p, find_largest);
    for (int64_t part = 0; part < armilla_tall_parts(algebra->m); part++) {
        largest = fmax(largest, p.largest[part]);
        nothing += p.nothing[part];
    }
    if (nothing != 0) return false;
    (void)frexp(largest, &p.exponent);
    run_share(&p, make_parts);
    if (large)
        armilla_tiles_inner(algebra, algebra->m, U, U, G);
    else
        add_grams(algebra, G);
    return true;
}

void armilla_copy_tall(const armilla_algebra *algebra, const double *from, double *to)
{
    const size_t bytes = (size_t)(algebra->m * algebra->r) * sizeof *to;
    if (algebra->team)
        armilla_team_copy(algebra->team, bytes, from, to);
    else
        memcpy(to, from, bytes);
}

typedef struct measuring {
    int64_t m, r;
    const double *a, *b;
    double distances[ARMILLA_ROW_BLOCKS];
} measuring;

static void measure_rows(void *self, int64_t block, int64_t first, int64_t last)
{
    measuring *d = self;
    double part = 0;
    for (int64_t k = 0; k < d->r; k++)
        part = hypot(part, armilla_distance(last - first, d->a + k * d->m + first, d->b + k * d->m + first));
    d->distances[block] = part;
}

double armilla_distance_tall(const armilla_algebra *algebra, const double *a, const double *b)
{
    measuring d = {.m = algebra->m, .r = algebra->r, .a = a, .b = b};
    armilla_by_rows(algebra, algebra->m, measure_rows, &d);
    return armilla_norm(armilla_row_blocks(algebra, algebra->m), d.distances);
}
