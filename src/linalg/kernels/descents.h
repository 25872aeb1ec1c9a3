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

/* Coordinate descent is a chain, entry after entry: two vectors of columns at a time fill the time that one waits. */
enum { ABREAST = GROUPS > 1 ? GROUPS : 2, CONE_LANES = ABREAST * WIDTH, ENTRIES = 8 / ABREAST };
#define EACH_ABREAST for (int g = 0; g < ABREAST; g++)

/* One number of every column, and a set of columns. */
typedef struct abreast {
    vector of[ABREAST];
} abreast;
typedef struct mask_abreast {
    mask of[ABREAST];
} mask_abreast;

INLINE unsigned bits_abreast(const mask_abreast *set)
{
    unsigned bits = 0;
    EACH_ABREAST bits |= bits_of(set->of[g]) << (g * WIDTH);
    return bits;
}

/* Coordinate descent over w >= 0, w_k <- max(b_k - sum_(a != k) w_a H_ka/H_kk, 0), b_k = d_k/H_kk. */
typedef struct cone {
    int64_t r;
    const REAL *ratios; /* H_ka/H_kk at a*r + k */
    const abreast *b;
    abreast *w;
    abreast moved, largest; /* of this pass */
    mask_abreast done;
} cone;

/* sum_i -= w_k H_(a+i)k/H_(a+i)(a+i) over k from first to last */
INLINE void subtract_rows(const cone *c, int64_t a, int count, int64_t first, int64_t last, abreast *sum)
{
    for (int64_t k = first; k < last; k++) {
        const REAL *column = c->ratios + k * c->r + a;
        for (int i = 0; i < count; i++) EACH_ABREAST sum[i].of[g] -= column[i] * c->w[k].of[g];
    }
}

/* Entry i of some, whose sum is complete, and what it contributes to those behind it. Nothing waits for what is kept where a
 * column is done. */
INLINE void move_entry(cone *c, int64_t a, int count, int i, bool measured, abreast *sum)
{
    const REAL *row = c->ratios + (a + i) * c->r + a;
    abreast *w = c->w + a + i;
    EACH_ABREAST
    {
        const vector now = w->of[g], next = larger(sum[i].of[g], spread(0)), change = next - now;
        for (int k = i + 1; k < count; k++) sum[k].of[g] -= row[k] * next;
        c->moved.of[g] = larger(larger(change, -change), c->moved.of[g]);
        if (measured) c->largest.of[g] = larger(next, c->largest.of[g]);
        w->of[g] = choose(c->done.of[g], now, next);
    }
}

/* Entries a ... a+count-1, one after the other. What the others contribute is summed beforehand, those that moved last at the
 * end, so that this need not wait for them. */
INLINE void move_entries(cone *c, int64_t a, int count, bool measured)
{
    abreast sum[ENTRIES];
    for (int i = 0; i < count; i++) sum[i] = c->b[a + i];
    subtract_rows(c, a, count, a + count, c->r, sum);
    for (int i = 1; i < count; i++) subtract_rows(c, a, i, a + i, a + i + 1, sum);
    subtract_rows(c, a, count, 0, a, sum);
    for (int i = 0; i < count; i++) move_entry(c, a, count, i, measured, sum);
}

/* Entries from a on, `count` at a time; returns where fewer are left. */
INLINE int64_t move_runs(cone *c, int64_t a, int count, bool measured)
{
    for (; a + count <= c->r; a += count) move_entries(c, a, count, measured);
    return a;
}

enum { HALF_ENTRIES = (ENTRIES + 1) / 2 };

/* One pass; `measured` where the largest entries are wanted. */
INLINE void move_all(cone *c, bool measured)
{
    int64_t a = 0;
    EACH_ABREAST c->moved.of[g] = c->largest.of[g] = spread(0);
    a = move_runs(c, a, ENTRIES, measured);
    a = move_runs(c, a, HALF_ENTRIES, measured);
    (void)move_runs(c, a, 1, measured);
}

/* Columns that moved by no more than `enough` are done; their bits. */
INLINE unsigned settle_columns(cone *c, const abreast *enough)
{
    EACH_ABREAST c->done.of[g] |= (mask)(c->moved.of[g] <= enough->of[g]);
    return bits_abreast(&c->done);
}

static void set_cone(int64_t r, const void *H, void *numbers)
{
    const REAL *gram = H;
    REAL *ratios = numbers, *inverses = ratios + r * r;
    for (int64_t k = 0; k < r; k++) {
        const REAL inverse = 1 / gram[k * r + k];
        inverses[k] = inverse > 0 && inverse < (REAL)INFINITY ? inverse : 0;
    }
    for (int64_t a = 0; a < r; a++)
        for (int64_t k = 0; k < r; k++) ratios[a * r + k] = gram[a * r + k] * inverses[k];
}

/* b_k, which is what an entry without curvature stays at. */
INLINE void set_targets(const REAL *inverses, const abreast *d, const cone *c, abreast *b)
{
    for (int64_t k = 0; k < c->r; k++) {
        const REAL inverse = inverses[k];
        EACH_ABREAST b[k].of[g] = d[k].of[g] * inverse;
        if (inverse == 0) b[k] = c->w[k];
    }
}

static unsigned descend_cone(const armilla_cone_descent *t, const void *d, void *w, void *workspace)
{
    const unsigned all = ~0u >> (32 - CONE_LANES);
    const REAL little = (REAL)t->little, settled = (REAL)t->settled;
    abreast enough;
    cone c = {.r = t->r, .ratios = t->cone, .b = workspace, .w = w};
    set_targets(c.ratios + t->r * t->r, d, &c, workspace);
    if (t->passes <= 0) return 0;
    move_all(&c, true);
    EACH_ABREAST enough.of[g] = settled * c.largest.of[g];
    unsigned done = settle_columns(&c, &enough);
    EACH_ABREAST enough.of[g] = larger(little * c.moved.of[g], enough.of[g]);
    for (int pass = 1; pass < t->passes && done != all; pass++) {
        move_all(&c, false);
        done = settle_columns(&c, &enough);
    }
    return done;
}

#include "linalg/kernels/cone_solve.h"

const armilla_descent_kernels TABLE = {.name = ISA_NAME,
                                       .type = TYPE,
                                       .lanes = LANES,
                                       .descend = descend,
                                       .cone_lanes = CONE_LANES,
                                       .set_cone = set_cone,
                                       .descend_cone = descend_cone,
                                       .solve_cone = solve_cone};
