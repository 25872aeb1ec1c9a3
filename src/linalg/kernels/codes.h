/* Code steps for ARMILLA_LANES columns at once, accelerated projected ones and coordinate descent, and the choice of
 * the nearest atom, written once and compiled per instruction set by the files beside this one, which define BYTES (of a
 * vector), ISA_NAME and TABLE. In descents vectors run along the lanes, so nothing is ever added across them. A lane that
 * is done keeps its code while the others go on. */
#include "linalg/kernels/lanes.h"

#include <math.h>
#include <string.h>

/* One descent: everything is r numbers of every lane. */
typedef struct block {
    const lanes *d;
    lanes *w, *Hw;       /* the codes */
    lanes *back, *Hback; /* those before */
    lanes *next, *Hnext; /* a trial; q, which becomes it, first */
    lanes *half;         /* Fw, where H = F'F is given by F */
    lanes value;         /* g(w) */
    lanes age;           /* steps since the last fresh start */
    lanes done;          /* 1 or 0 */
} block;

/* Entries k ... k+count-1 of product = Hw, H by rows of r numbers */
INLINE void multiply_rows(int64_t r, const double *H, const lanes *w, int64_t k, int count, lanes *product)
{
    const double *rows = H + k * r;
    lanes sum[TOGETHER];
    for (int i = 0; i < count; i++) EACH_GROUP sum[i].of[g] = spread(0);
    for (int64_t a = 0; a < r; a++)
        for (int i = 0; i < count; i++) EACH_GROUP sum[i].of[g] += rows[i * r + a] * w[a].of[g];
    for (int i = 0; i < count; i++) product[k + i] = sum[i];
}

/* product = Hw for H of `count` rows of r numbers */
INLINE void multiply(int64_t count, int64_t r, const double *H, const lanes *w, lanes *product)
{
    int64_t k = 0;
    for (; k + TOGETHER <= count; k += TOGETHER) multiply_rows(r, H, w, k, TOGETHER, product);
    for (; k < count; k++) multiply_rows(r, H, w, k, 1, product);
}

/* product = Hw; *value = w'Hw - 2d'w */
INLINE void measure(const armilla_descent *t, const block *b, const lanes *w, lanes *product, lanes *value)
{
    const int64_t r = t->r;
    const lanes *d = b->d;
    lanes total = {0};
    if (t->rows) {
        multiply(t->rank, r, t->rows, w, b->half);
        multiply(r, t->rank, t->columns, b->half, product);
    } else
        multiply(r, r, t->H, w, product);
    for (int64_t k = 0; k < r; k++) EACH_GROUP total.of[g] += w[k].of[g] * (product[k].of[g] - 2 * d[k].of[g]);
    *value = total;
}

/* next = q = d + (alpha*I - H)y, y = w + beta*(w - back); *top: the largest entry of each lane. */
INLINE void step_ahead(const armilla_descent *t, block *b, lanes *top)
{
    lanes beta, most;
    EACH_GROUP beta.of[g] = b->age.of[g] / (b->age.of[g] + 3); /* armilla_descent_beta */
    EACH_GROUP most.of[g] = spread(-INFINITY);
    for (int64_t k = 0; k < t->r; k++) EACH_GROUP
        {
            const vector w = b->w[k].of[g], Hw = b->Hw[k].of[g];
            const vector y = w + beta.of[g] * (w - b->back[k].of[g]);
            const vector Hy = Hw + beta.of[g] * (Hw - b->Hback[k].of[g]);
            const vector q = b->d[k].of[g] + t->alpha * y - Hy;
            b->next[k].of[g] = q;
            most.of[g] = larger(q, most.of[g]);
        }
    *top = most;
}

/* Where no entry is positive: the axis of the largest, the first of equals; where all are 0 there is no direction, and
 * the lane is done. Rare, so one lane at a time. */
static void project_to_axis(int64_t r, double top, double *lane, double *done)
{
    bool zero = true, found = false;
    for (int64_t k = 0; k < r; k++) {
        const bool here = !found && lane[k * LANES] == top;
        zero = zero && lane[k * LANES] == 0;
        found = found || here;
        lane[k * LANES] = here;
    }
    if (zero) *done = 1;
}

/* next = Proj(next), divided by its largest entry first, so that no square overflows. */
INLINE void project(int64_t r, const lanes *top, block *b)
{
    lanes scale, squares = {0};
    const double *tops = (const double *)top;
    EACH_GROUP scale.of[g] = choose((mask)(top->of[g] > 0), 1 / top->of[g], spread(0));
    for (int64_t k = 0; k < r; k++) EACH_GROUP
        {
            const vector p = larger(b->next[k].of[g] * scale.of[g], spread(0));
            squares.of[g] += p * p;
        }
    for (int i = 0; i < LANES; i++)
        if (tops[i] > 0) ((double *)&scale)[i] /= sqrt(((double *)&squares)[i]);
    for (int64_t k = 0; k < r; k++) EACH_GROUP
        {
            const vector q = b->next[k].of[g], p = larger(q, spread(0)) * scale.of[g];
            b->next[k].of[g] = choose((mask)(top->of[g] > 0), p, q);
        }
    for (int i = 0; i < LANES; i++)
        if (!(tops[i] > 0)) project_to_axis(r, tops[i], (double *)b->next + i, (double *)&b->done + i);
}

/* Lanes whose trial is no worse move to it; the others make a fresh start, or are done where it was one. */
INLINE void move(const armilla_descent *t, block *b, const lanes *found)
{
    mask goes[GROUPS], stays[GROUPS];
    lanes moved = {0};
    EACH_GROUP stays[g] = (mask)(b->done.of[g] > 0);
    EACH_GROUP goes[g] = (mask)(found->of[g] <= b->value.of[g]) & ~stays[g];
    for (int64_t k = 0; k < t->r; k++) EACH_GROUP
        {
            const vector w = b->w[k].of[g], Hw = b->Hw[k].of[g], next = b->next[k].of[g], change = next - w;
            b->back[k].of[g] = choose(stays[g], b->back[k].of[g], w);
            b->Hback[k].of[g] = choose(stays[g], b->Hback[k].of[g], Hw);
            b->w[k].of[g] = choose(goes[g], next, w);
            b->Hw[k].of[g] = choose(goes[g], b->Hnext[k].of[g], Hw);
            moved.of[g] = larger(larger(change, -change), moved.of[g]);
        }
    EACH_GROUP
    {
        const mask settled = goes[g] & (mask)(moved.of[g] <= t->settled);
        const mask stuck = ~goes[g] & (mask)(b->age.of[g] == 0); /* a plain step cannot rise but by rounding */
        b->value.of[g] = choose(goes[g], found->of[g], b->value.of[g]);
        b->age.of[g] = choose(goes[g], b->age.of[g] + 1, spread(0));
        b->done.of[g] = choose(settled | stuck, spread(1), b->done.of[g]);
    }
}

INLINE bool all_done(const block *b)
{
    const double *done = (const double *)&b->done;
    double sum = 0;
    for (int i = 0; i < LANES; i++) sum += done[i];
    return sum == LANES;
}

static void descend(const armilla_descent *t, const double *d, double *w, double *workspace)
{
    const int64_t r = t->r;
    lanes *rows = (lanes *)workspace, top, found;
    block b = {.d = (const lanes *)d,
               .w = (lanes *)w,
               .Hw = rows,
               .back = rows + r,
               .Hback = rows + 2 * r,
               .next = rows + 3 * r,
               .Hnext = rows + 4 * r,
               .half = rows + 5 * r};
    measure(t, &b, b.w, b.Hw, &b.value);
    memcpy(b.back, b.w, (size_t)r * sizeof *b.w);
    memcpy(b.Hback, b.Hw, (size_t)r * sizeof *b.w);
    for (int step = 0; step < t->steps && !all_done(&b); step++) {
        step_ahead(t, &b, &top);
        project(r, &top, &b);
        measure(t, &b, b.next, b.Hnext, &found);
        move(t, &b, &found);
    }
}

/* Vectors run along the atoms: each lane finds the first least of its own, and the first of these is the answer. */
INLINE int32_t nearest_atom(int64_t r, const double *c, const double *offsets, double factor)
{
    const vector step = spread(WIDTH);
    vector least = spread(INFINITY), place = {0}, at = {0};
    double least_of[WIDTH], place_of[WIDTH], found = INFINITY, name = 0;
    int64_t k = 0;
    for (int i = 0; i < WIDTH; i++) at[i] = i;
    for (; k + WIDTH <= r; k += WIDTH, at += step) {
        const vector value = *(const vector *)(offsets + k) - factor * *(const vector *)(c + k);
        const mask less = (mask)(value < least);
        least = choose(less, value, least);
        place = choose(less, at, place);
    }
    memcpy(least_of, &least, sizeof least);
    memcpy(place_of, &place, sizeof place);
    for (int i = 0; i < WIDTH; i++) {
        if (least_of[i] > found || (least_of[i] == found && place_of[i] > name)) continue;
        found = least_of[i];
        name = place_of[i];
    }
    for (; k < r; k++) {
        const double value = offsets[k] - factor * c[k];
        if (!(value < found)) continue;
        found = value;
        name = (double)k;
    }
    return (int32_t)name;
}

static void nearest(int64_t r, int64_t count, const double *C, const double *offsets, double factor,
                    int32_t *assignments)
{
    for (int64_t j = 0; j < count; j++) assignments[j] = nearest_atom(r, C + j * r, offsets, factor);
}

static void nearest_two(int64_t r, int64_t count, const double *C, int64_t stride, const double *offsets, double factor,
                        armilla_nearest *found)
{
    for (int64_t j = 0; j < count; j++) {
        const double *c = C + j * stride;
        double least = INFINITY, second = INFINITY;
        int64_t atom = 0;
        for (int64_t k = 0; k < r; k++) {
            const double value = offsets[k] - factor * c[k], other = value < least ? least : value;
            second = other < second ? other : second;
            atom = value < least ? k : atom;
            least = value < least ? value : least;
        }
        found[j] = (armilla_nearest){least, second, atom};
    }
}

/* Coordinate descent over w >= 0. */
typedef struct cone {
    int64_t r;
    const double *H, *inverse; /* 1/H_kk, or 0 */
    const lanes *d;
    lanes *w;
    lanes moved, largest; /* of this pass */
    mask done[GROUPS];
} cone;

/* sum_i -= H_(a+i)k w_k over k from first to last */
INLINE void subtract_rows(const cone *c, int64_t a, int count, int64_t first, int64_t last, lanes *sum)
{
    for (int64_t k = first; k < last; k++) {
        const double *column = c->H + k * c->r + a;
        for (int i = 0; i < count; i++) EACH_GROUP sum[i].of[g] -= column[i] * c->w[k].of[g];
    }
}

/* Entries a ... a+count-1, one after the other. What the others contribute is summed beforehand, those that moved last
 * at the end, so that this need not wait for them. */
INLINE void move_entries(cone *c, int64_t a, int count)
{
    lanes sum[TOGETHER];
    for (int i = 0; i < count; i++) sum[i] = c->d[a + i];
    subtract_rows(c, a, count, a + count, c->r, sum);
    subtract_rows(c, a, count, 0, a, sum);
    for (int i = 0; i < count; i++) {
        const double *row = c->H + (a + i) * c->r + a, inverse = c->inverse[a + i];
        for (int k = 0; k < count; k++) EACH_GROUP sum[i].of[g] -= row[k] * c->w[a + k].of[g];
        EACH_GROUP
        {
            const vector now = c->w[a + i].of[g];
            const vector next = choose(c->done[g], now, larger(now + sum[i].of[g] * inverse, spread(0)));
            c->w[a + i].of[g] = next;
            c->moved.of[g] = larger(larger(next - now, now - next), c->moved.of[g]);
            c->largest.of[g] = larger(next, c->largest.of[g]);
        }
    }
}

/* One pass; the lanes that are done. */
INLINE unsigned move_all(cone *c, double settled)
{
    int64_t a = 0;
    unsigned done = 0;
    EACH_GROUP c->moved.of[g] = c->largest.of[g] = spread(0);
    for (; a + TOGETHER <= c->r; a += TOGETHER) move_entries(c, a, TOGETHER);
    for (; a < c->r; a++) move_entries(c, a, 1);
    EACH_GROUP c->done[g] |= (mask)(c->moved.of[g] <= settled * c->largest.of[g]);
    EACH_GROUP for (int i = 0; i < WIDTH; i++) done |= c->done[g][i] ? 1u << (g * WIDTH + i) : 0;
    return done;
}

static unsigned descend_cone(const armilla_cone_descent *t, const double *d, double *w, double *workspace)
{
    cone c = {.r = t->r, .H = t->H, .inverse = workspace, .d = (const lanes *)d, .w = (lanes *)w};
    for (int64_t k = 0; k < t->r; k++) {
        const double inverse = 1 / t->H[k * t->r + k];
        workspace[k] = inverse > 0 && inverse < INFINITY ? inverse : 0;
    }
    const unsigned all = (1u << LANES) - 1;
    unsigned done = 0;
    for (int pass = 0; pass < t->passes && done != all; pass++) done = move_all(&c, t->settled);
    return done;
}

const armilla_code_kernels TABLE = {
    .name = ISA_NAME, .descend = descend, .descend_cone = descend_cone, .nearest = nearest, .nearest_two = nearest_two};
