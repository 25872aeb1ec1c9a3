/* Code steps for LANES columns at once, accelerated projected ones and coordinate descent, written once and compiled per
 * number type and instruction set by the files beside this one, which define REAL, BYTES (of a vector), ISA_NAME, TYPE and
 * TABLE. Vectors run along the lanes, so nothing is ever added across them. A lane that is done keeps its code while the
 * others go on. */
#include "linalg/kernels/lanes.h"

#include <string.h>

#define ALL_LANES ((1u << LANES) - 1)

INLINE unsigned lanes_of(const mask *set)
{
    unsigned bits = 0;
    EACH_GROUP bits |= bits_of(set[g]) << (g * WIDTH);
    return bits;
}

/* One descent: everything is r numbers of every lane. */
typedef struct block {
    const lanes *d;
    lanes *w, *Hw;       /* the codes */
    lanes *back, *Hback; /* those before */
    lanes *next, *Hnext; /* a trial; q, which becomes it, first */
    lanes *half;         /* Fw, where H = F'F is given by F */
    lanes age;           /* steps since the last fresh start */
    mask done[GROUPS];
} block;

/* Entries k ... k+count-1 of product = Hw, H by rows of r numbers */
INLINE void multiply_rows(int64_t r, const REAL *H, const lanes *w, int64_t k, int count, lanes *product)
{
    const REAL *rows = H + k * r;
    lanes sum[TOGETHER];
    for (int i = 0; i < count; i++) EACH_GROUP sum[i].of[g] = spread(0);
    for (int64_t a = 0; a < r; a++)
        for (int i = 0; i < count; i++) EACH_GROUP sum[i].of[g] += rows[i * r + a] * w[a].of[g];
    for (int i = 0; i < count; i++) product[k + i] = sum[i];
}

/* product = Hw for H of `count` rows of r numbers */
INLINE void multiply(int64_t count, int64_t r, const REAL *H, const lanes *w, lanes *product)
{
    int64_t k = 0;
    for (; k + TOGETHER <= count; k += TOGETHER) multiply_rows(r, H, w, k, TOGETHER, product);
    for (; k < count; k++) multiply_rows(r, H, w, k, 1, product);
}

/* product = Hw */
INLINE void multiply_gram(const armilla_descent *t, const lanes *w, lanes *half, lanes *product)
{
    if (t->rows) {
        multiply(t->rank, t->r, t->rows, w, half);
        multiply(t->r, t->rank, t->columns, half, product);
    } else
        multiply(t->r, t->r, t->H, w, product);
}

/* next = q = d + (alpha*I - H)y, y = w + beta*(w - back); *top: the largest entry of each lane. */
INLINE void step_ahead(const armilla_descent *t, block *b, lanes *top)
{
    const REAL alpha = (REAL)t->alpha;
    lanes beta, most;
    EACH_GROUP beta.of[g] = b->age.of[g] / (b->age.of[g] + 3); /* armilla_descent_beta */
    EACH_GROUP most.of[g] = spread((REAL)-INFINITY);
    for (int64_t k = 0; k < t->r; k++) EACH_GROUP
        {
            const vector w = b->w[k].of[g], Hw = b->Hw[k].of[g];
            const vector y = w + beta.of[g] * (w - b->back[k].of[g]);
            const vector Hy = Hw + beta.of[g] * (Hw - b->Hback[k].of[g]);
            const vector q = b->d[k].of[g] + alpha * y - Hy;
            b->next[k].of[g] = q;
            most.of[g] = larger(q, most.of[g]);
        }
    *top = most;
}

/* The projection of a vector without a positive entry: the axis of the largest, the first of equals. It is rare, so one
 * lane is done at a time. False where all are 0, so that there is no direction. */
static bool project_to_axis(int64_t r, REAL top, REAL *lane)
{
    bool zero = true, found = false;
    for (int64_t k = 0; k < r; k++) {
        const bool here = !found && lane[k * LANES] == top;
        zero = zero && lane[k * LANES] == 0;
        found = found || here;
        lane[k * LANES] = here;
    }
    return !zero;
}

/* next = Proj(next), divided by its largest entry first, so that no square overflows. */
INLINE void project(int64_t r, const lanes *top, block *b)
{
    lanes scale, squares = {0};
    mask positive[GROUPS];
    EACH_GROUP positive[g] = (mask)(top->of[g] > 0);
    EACH_GROUP scale.of[g] = choose(positive[g], 1 / top->of[g], spread(0));
    for (int64_t k = 0; k < r; k++) EACH_GROUP
        {
            const vector p = larger(b->next[k].of[g] * scale.of[g], spread(0));
            squares.of[g] += p * p;
        }
    EACH_GROUP scale.of[g] = choose(positive[g], scale.of[g] / square_root(squares.of[g]), spread(0));
    for (int64_t k = 0; k < r; k++) EACH_GROUP
        {
            const vector q = b->next[k].of[g], p = larger(q, spread(0)) * scale.of[g];
            b->next[k].of[g] = choose(positive[g], p, q);
        }
    const unsigned rest = ALL_LANES & ~lanes_of(positive);
    for (int i = 0; i < LANES && rest; i++)
        if (rest >> i & 1 && !project_to_axis(r, ((const REAL *)top)[i], (REAL *)b->next + i))
            ((lane_bits *)b->done)[i] = -1;
}

/* Lanes that go move to their trial. */
INLINE void move(int64_t r, block *b, const mask *goes)
{
    if (lanes_of(goes) == ALL_LANES) { /* most often */
        lanes *const back = b->back, *const Hback = b->Hback;
        b->back = b->w;
        b->Hback = b->Hw;
        b->w = b->next;
        b->Hw = b->Hnext;
        b->next = back;
        b->Hnext = Hback;
        return;
    }
    for (int64_t k = 0; k < r; k++) EACH_GROUP
        {
            const vector w = b->w[k].of[g], Hw = b->Hw[k].of[g];
            b->back[k].of[g] = choose(goes[g], w, b->back[k].of[g]);
            b->Hback[k].of[g] = choose(goes[g], Hw, b->Hback[k].of[g]);
            b->w[k].of[g] = choose(goes[g], b->next[k].of[g], w);
            b->Hw[k].of[g] = choose(goes[g], b->Hnext[k].of[g], Hw);
        }
}

/* Lanes whose trial is no worse move to it; the others make a fresh start, or are done where it was one. What g rises by is
 * summed from what each entry moves, (next - w)'(H(next + w) - 2d): of two sums that are nearly equal rounding would leave
 * little of the difference. */
INLINE void judge(const armilla_descent *t, block *b)
{
    const REAL enough = (REAL)t->settled;
    mask goes[GROUPS];
    lanes rise = {0}, moved = {0};
    for (int64_t k = 0; k < t->r; k++) EACH_GROUP
        {
            const vector change = b->next[k].of[g] - b->w[k].of[g];
            rise.of[g] += change * (b->Hnext[k].of[g] + b->Hw[k].of[g] - 2 * b->d[k].of[g]);
            moved.of[g] = larger(larger(change, -change), moved.of[g]);
        }
    EACH_GROUP goes[g] = (mask)(rise.of[g] <= 0) & ~b->done[g];
    EACH_GROUP
    {
        const mask settled = goes[g] & (mask)(moved.of[g] <= enough);
        const mask stuck = ~goes[g] & (mask)(b->age.of[g] == 0); /* a plain step cannot rise but by rounding */
        b->age.of[g] = choose(goes[g], b->age.of[g] + 1, spread(0));
        b->done[g] |= settled | stuck;
    }
    move(t->r, b, goes);
}

/* values = g(w) */
INLINE void value_lanes(int64_t r, const block *b, double *values)
{
    lanes total = {0};
    for (int64_t k = 0; k < r; k++) EACH_GROUP
    total.of[g] += b->w[k].of[g] * (b->Hw[k].of[g] - 2 * b->d[k].of[g]);
    for (int i = 0; i < LANES; i++) values[i] = ((const REAL *)&total)[i];
}

static void descend(const armilla_descent *t, const void *d, void *w, double *values, void *workspace)
{
    const int64_t r = t->r;
    lanes *rows = workspace, top;
    block b = {.d = d,
               .w = w,
               .Hw = rows,
               .back = rows + r,
               .Hback = rows + 2 * r,
               .next = rows + 3 * r,
               .Hnext = rows + 4 * r,
               .half = rows + 5 * r};
    multiply_gram(t, b.w, b.half, b.Hw);
    memcpy(b.back, b.w, (size_t)r * sizeof *b.w);
    memcpy(b.Hback, b.Hw, (size_t)r * sizeof *b.w);
    for (int step = 0; step < t->steps && lanes_of(b.done) != ALL_LANES; step++) {
        step_ahead(t, &b, &top);
        project(r, &top, &b);
        multiply_gram(t, b.next, b.half, b.Hnext);
        judge(t, &b);
    }
    if (b.w != w) memcpy(w, b.w, (size_t)r * sizeof *b.w);
    if (values) value_lanes(r, &b, values);
}

/* Coordinate descent over w >= 0. */
typedef struct cone {
    int64_t r;
    const REAL *H, *inverse; /* 1/H_kk, or 0 */
    const lanes *d;
    lanes *w;
    lanes moved, largest; /* of this pass */
    mask done[GROUPS];
} cone;

/* sum_i -= H_(a+i)k w_k over k from first to last */
INLINE void subtract_rows(const cone *c, int64_t a, int count, int64_t first, int64_t last, lanes *sum)
{
    for (int64_t k = first; k < last; k++) {
        const REAL *column = c->H + k * c->r + a;
        for (int i = 0; i < count; i++) EACH_GROUP sum[i].of[g] -= column[i] * c->w[k].of[g];
    }
}

/* Entries a ... a+count-1, one after the other. What all contribute is summed beforehand, those that moved last at the end,
 * so that this need not wait for them; then each that moves changes the sums of those behind it. */
INLINE void move_entries(cone *c, int64_t a, int count)
{
    lanes sum[TOGETHER];
    for (int i = 0; i < count; i++) sum[i] = c->d[a + i];
    subtract_rows(c, a, count, a, c->r, sum);
    subtract_rows(c, a, count, 0, a, sum);
    for (int i = 0; i < count; i++) {
        const REAL *row = c->H + (a + i) * c->r + a, inverse = c->inverse[a + i];
        EACH_GROUP
        {
            const vector now = c->w[a + i].of[g];
            const vector next = choose(c->done[g], now, larger(now + sum[i].of[g] * inverse, spread(0)));
            const vector change = next - now;
            for (int k = i + 1; k < count; k++) sum[k].of[g] -= row[k] * change;
            c->w[a + i].of[g] = next;
            c->moved.of[g] = larger(larger(change, -change), c->moved.of[g]);
            c->largest.of[g] = larger(next, c->largest.of[g]);
        }
    }
}

/* Entries from a on, `count` at a time; returns where fewer are left. */
INLINE int64_t move_runs(cone *c, int64_t a, int count)
{
    for (; a + count <= c->r; a += count) move_entries(c, a, count);
    return a;
}

enum { HALF_TOGETHER = (TOGETHER + 1) / 2, QUARTER_TOGETHER = (TOGETHER + 3) / 4 };

/* One pass; the lanes that are done. */
INLINE unsigned move_all(cone *c, REAL settled)
{
    int64_t a = 0;
    EACH_GROUP c->moved.of[g] = c->largest.of[g] = spread(0);
    a = move_runs(c, a, TOGETHER);
    a = move_runs(c, a, HALF_TOGETHER);
    a = move_runs(c, a, QUARTER_TOGETHER);
    (void)move_runs(c, a, 1);
    EACH_GROUP c->done[g] |= (mask)(c->moved.of[g] <= settled * c->largest.of[g]);
    return lanes_of(c->done);
}

static unsigned descend_cone(const armilla_cone_descent *t, const void *d, void *w, void *workspace)
{
    const REAL *H = t->H;
    REAL *inverses = workspace;
    cone c = {.r = t->r, .H = H, .inverse = inverses, .d = d, .w = w};
    unsigned done = 0;
    for (int64_t k = 0; k < t->r; k++) {
        const REAL inverse = 1 / H[k * t->r + k];
        inverses[k] = inverse > 0 && inverse < (REAL)INFINITY ? inverse : 0;
    }
    for (int pass = 0; pass < t->passes && done != ALL_LANES; pass++) done = move_all(&c, (REAL)t->settled);
    return done;
}

const armilla_descent_kernels TABLE = {
    .name = ISA_NAME, .type = TYPE, .lanes = LANES, .descend = descend, .descend_cone = descend_cone};
