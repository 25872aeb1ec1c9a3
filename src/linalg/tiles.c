/* Tiles of r x r matrices, and blocks of rows of tall ones (armilla_by_rows). */
#include "linalg/tiles.h"

#include "base/size.h"
#include "linalg/blas.h"

#include <stdatomic.h>
#include <string.h>

/* Columns of a tile: a quarter of all, so that there is work for several threads; the columns of a tile are copied for
 * each product, which wide tiles do less often. Eliminations, where tiles wait for others, have narrower ones. */
enum { TILE_STEP = 64, WIDEST_TILE = 256, WIDEST_ELIMINATION = 128 };

static int64_t tile_side(int64_t r)
{
    return armilla_min64(WIDEST_TILE, (r / 4 + TILE_STEP - 1) / TILE_STEP * TILE_STEP);
}

static int64_t tiles_across(int64_t r, int64_t side)
{
    return (r + side - 1) / side;
}

typedef struct claiming {
    int64_t count;
    armilla_tile body;
    void *self;
    atomic_int_fast64_t next;
} claiming;

static void claim(void *self, int thread)
{
    claiming *c = self;
    (void)thread;
    for (int64_t i = atomic_fetch_add(&c->next, 1); i < c->count; i = atomic_fetch_add(&c->next, 1))
        c->body(c->self, i);
}

void armilla_tiles_run(const armilla_algebra *algebra, int64_t count, armilla_tile body, void *self)
{
    claiming c = {.count = count, .body = body, .self = self};
    atomic_init(&c.next, 0);
    if (algebra->team && count > 1)
        armilla_team_run(algebra->team, claim, &c);
    else
        claim(&c, 0);
}

/* A product of r x r results. */
typedef struct squaring {
    int64_t rows, r, side;
    const double *A, *B;
    double *C;
} squaring;

/* The place of a tile of the upper half, column by column of tiles. */
static void find_tile(int64_t tile, int64_t *row, int64_t *column)
{
    int64_t j = 0;
    while ((j + 1) * (j + 2) / 2 <= tile) j++;
    *column = j;
    *row = tile - j * (j + 1) / 2;
}

/* The lower half from the upper one, by lines of a cache. */
static void reflect_tile(const squaring *s, int64_t i, int64_t j, int64_t high, int64_t wide)
{
    enum { LINE = 8 };
    for (int64_t at = j; at < j + wide; at += LINE)
        for (int64_t a = i; a < i + high; a++)
            for (int64_t b = at; b < j + wide && b < at + LINE; b++)
                if (a < b) s->C[a * s->r + b] = s->C[b * s->r + a];
}

static void inner_tile(void *self, int64_t tile)
{
    const squaring *s = self;
    int64_t i = 0, j = 0;
    find_tile(tile, &i, &j);
    i *= s->side;
    j *= s->side;
    const int rows = (int)s->rows, r = (int)s->r;
    const int high = (int)armilla_min64(s->side, r - i), wide = (int)armilla_min64(s->side, r - j);
    const double *A = s->A + i * rows, *B = s->B + j * rows;
    if (i == j && s->A == s->B)
        armilla_dsyrk('U', 'T', wide, rows, 1, A, rows, 0, s->C + j * r + i, r);
    else
        armilla_dgemm('T', 'N', high, wide, rows, 1, A, rows, B, rows, 0, s->C + j * r + i, r);
    reflect_tile(s, i, j, high, wide);
}

void armilla_tiles_inner(const armilla_algebra *algebra, int64_t rows, const double *A, const double *B, double *C)
{
    const int64_t r = algebra->r, across = tiles_across(r, tile_side(r));
    squaring s = {rows, r, tile_side(r), A, B, C};
    armilla_tiles_run(algebra, across * (across + 1) / 2, inner_tile, &s);
}

typedef struct applying {
    int64_t r, side;
    const double *S, *x;
    double *y;
} applying;

static void apply_tile(void *self, int64_t tile)
{
    const applying *a = self;
    const int64_t end = armilla_min64(a->r, (tile + 1) * a->side);
    for (int64_t k = tile * a->side; k < end; k++) a->y[k] = armilla_dot(a->r, a->S + k * a->r, a->x);
}

void armilla_tiles_apply(const armilla_algebra *algebra, const double *S, const double *x, double *y)
{
    const int64_t r = algebra->r;
    applying a = {r, TILE_STEP, S, x, y};
    armilla_tiles_run(algebra, tiles_across(r, a.side), apply_tile, &a);
}

/* A pass over blocks of rows, which are copied before they are replaced. */
typedef struct replacing {
    const armilla_algebra *algebra;
    int64_t rows;
    const double *K;
    const armilla_resolvent *by;
    double *X;
} replacing;

static double *copy_block(const replacing *p, int64_t first, int64_t last)
{
    const int64_t r = p->algebra->r, count = last - first;
    double *block = p->algebra->blocks + first * r;
    for (int64_t k = 0; k < r; k++)
        memcpy(block + k * count, p->X + k * p->rows + first, (size_t)count * sizeof *block);
    return block;
}

static void multiply_block(void *self, int64_t block, int64_t first, int64_t last)
{
    const replacing *p = self;
    const int r = (int)p->algebra->r, count = (int)(last - first);
    const double *from = copy_block(p, first, last);
    (void)block;
    armilla_dgemm('N', 'N', count, r, r, 1, from, count, p->K, r, 0, p->X + first, (int)p->rows);
}

void armilla_tiles_multiply(const armilla_algebra *algebra, int64_t rows, const double *K, double *X)
{
    replacing p = {.algebra = algebra, .rows = rows, .K = K, .X = X};
    armilla_by_rows(algebra, rows, multiply_block, &p);
}

static void resolve_block(void *self, int64_t block, int64_t first, int64_t last)
{
    const replacing *p = self;
    const armilla_resolvent *by = p->by;
    const int r = (int)p->algebra->r, count = (int)(last - first);
    double *solved = copy_block(p, first, last);
    (void)block;
    armilla_dtrsm('R', 'U', 'N', 'N', count, r, by->beta, by->R, r, solved, count);
    armilla_dtrsm('R', 'U', 'T', 'N', count, r, 1, by->R, r, solved, count);
    for (int64_t k = 0; k < r; k++) {
        double *x = p->X + k * p->rows + first;
        for (int64_t i = 0; i < count; i++) x[i] = by->alpha * x[i] + solved[k * count + i];
    }
}

void armilla_tiles_resolve(const armilla_algebra *algebra, int64_t rows, const armilla_resolvent *by, double *X)
{
    replacing p = {.algebra = algebra, .rows = rows, .by = by, .X = X};
    armilla_by_rows(algebra, rows, resolve_block, &p);
}

static void solve_tile(void *self, int64_t tile)
{
    const squaring *s = self;
    const int r = (int)s->r, wide = (int)armilla_min64(s->side, s->r - tile * s->side);
    armilla_dtrsm('L', 'U', 'N', 'N', r, wide, 1, s->A, r, s->C + tile * s->side * s->r, r);
}

void armilla_tiles_solve(const armilla_algebra *algebra, const double *R, double *X)
{
    const int64_t r = algebra->r;
    squaring s = {.r = r, .side = tile_side(r), .A = R, .C = X};
    armilla_tiles_run(algebra, tiles_across(r, s.side), solve_tile, &s);
}

/* A step of Cholesky's method: the columns of tiles behind the diagonal tile `at`. */
typedef struct elimination {
    int64_t r, side, at;
    double *S;
} elimination;

static void eliminate_row(void *self, int64_t tile)
{
    const elimination *e = self;
    const int64_t i = e->at * e->side, j = (e->at + 1 + tile) * e->side;
    const int r = (int)e->r, high = (int)armilla_min64(e->side, r - i), wide = (int)armilla_min64(e->side, r - j);
    armilla_dtrsm('L', 'U', 'T', 'N', high, wide, 1, e->S + i * r + i, r, e->S + j * r + i, r);
}

static void eliminate_tile(void *self, int64_t tile)
{
    const elimination *e = self;
    const int64_t at = e->at * e->side;
    int64_t i = 0, j = 0;
    find_tile(tile, &i, &j);
    i = (e->at + 1 + i) * e->side;
    j = (e->at + 1 + j) * e->side;
    const int r = (int)e->r, inner = (int)armilla_min64(e->side, r - at);
    const int high = (int)armilla_min64(e->side, r - i), wide = (int)armilla_min64(e->side, r - j);
    const double *row = e->S + at;
    if (i == j)
        armilla_dsyrk('U', 'T', wide, inner, -1, row + j * r, r, 1, e->S + j * r + i, r);
    else
        armilla_dgemm('T', 'N', high, wide, inner, -1, row + i * r, r, row + j * r, r, 1, e->S + j * r + i, r);
}

bool armilla_tiles_cholesky(const armilla_algebra *algebra, double *S)
{
    const int64_t r = algebra->r;
    elimination e = {.r = r, .side = armilla_min64(WIDEST_ELIMINATION, tile_side(r)), .S = S};
    const int64_t across = tiles_across(r, e.side);
    for (e.at = 0; e.at < across; e.at++) {
        const int64_t i = e.at * e.side, left = across - e.at - 1;
        if (armilla_dpotrf('U', (int)armilla_min64(e.side, r - i), S + i * r + i, (int)r) != 0) return false;
        armilla_tiles_run(algebra, left, eliminate_row, &e);
        armilla_tiles_run(algebra, left * (left + 1) / 2, eliminate_tile, &e);
    }
    return true;
}
