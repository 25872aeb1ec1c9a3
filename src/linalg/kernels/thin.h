/* Small and thin problems in double, written once and compiled per instruction set by the files beside this one, which
 * define BYTES (of a vector), ISA_NAME and TABLE. They are compiled without fused operations, and every sum has one order:
 * bits do not depend on the instruction set. */
#include "linalg/kernels/lanes.h"
#include "linalg/thin_kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Products of tall matrices: vectors run along the rows. A number of Z is summed column after column; one of G in LANES
 * parts, row i in part i % LANES, which are added at the end. */

/* Rows first ... first+count-1 of Z, count <= LANES, from copies where these are fewer. */
INLINE void multiply_strip(const armilla_thin_product *p, int64_t first, int64_t count)
{
    double last[LANES] = {0};
    for (int64_t j = 0; j < p->c; j++) {
        const double *k = p->K + j * p->r;
        double *z = p->Z + j * p->to + first;
        lanes sum = {0};
        for (int64_t a = 0; a < p->r; a++) {
            const double *b = p->B + a * p->stride + first;
            if (count < LANES) memcpy(last, b, (size_t)count * sizeof *b);
            const lanes *column = (const lanes *)(const void *)(count < LANES ? last : b);
            EACH_GROUP sum.of[g] += column->of[g] * k[a];
        }
        EACH_GROUP sum.of[g] *= p->alpha;
        if (p->beta != 0) {
            if (count < LANES) memcpy(last, z, (size_t)count * sizeof *z);
            const lanes *old = (const lanes *)(const void *)(count < LANES ? last : z);
            EACH_GROUP sum.of[g] += p->beta * old->of[g];
        }
        memcpy(z, &sum, (size_t)count * sizeof *z);
    }
}

static void multiply_thin(const armilla_thin_product *p, int64_t rows)
{
    int64_t i = 0;
    for (; i + LANES <= rows; i += LANES) multiply_strip(p, i, LANES);
    if (i < rows) multiply_strip(p, i, rows - i);
}

/* Entries (a, b ... b+count-1) of the Gram matrix. */
INLINE void gram_entries(const armilla_thin_gram *of, int64_t rows, int64_t a, int64_t b, int count)
{
    const double *x = of->B + a * of->stride, *y = of->B + b * of->stride;
    lanes sum[TOGETHER] = {0};
    int64_t i = 0;
    for (; i + LANES <= rows; i += LANES)
        for (int k = 0; k < count; k++) {
            const lanes *own = (const lanes *)(const void *)(x + i);
            const lanes *other = (const lanes *)(const void *)(y + k * of->stride + i);
            EACH_GROUP sum[k].of[g] += own->of[g] * other->of[g];
        }
    for (int k = 0; k < count; k++) {
        double *part = (double *)&sum[k], total = 0;
        for (int64_t j = i; j < rows; j++) part[j - i] += x[j] * y[k * of->stride + j];
        for (int j = 0; j < LANES; j++) total += part[j];
        double *g = of->G + (b + k) * of->r + a;
        *g = of->adds ? *g + total : total;
    }
}

static void gram_thin(const armilla_thin_gram *of, int64_t rows)
{
    for (int64_t a = 0; a < of->r; a++) {
        int64_t b = a;
        for (; b + TOGETHER <= of->r; b += TOGETHER) gram_entries(of, rows, a, b, TOGETHER);
        for (; b < of->r; b++) gram_entries(of, rows, a, b, 1);
    }
}

/* The secular equation of sets/secular.c: vectors run along the lanes, so nothing is ever added across them. */

/* One number of every lane at a time: phi(t) = sum b_i^2/(gap_i + t)^2 = 1 by Newton's method on 1 - 1/sqrt(phi). */
typedef struct secular {
    int64_t r;
    const double *gaps;
    const lanes *b;
    lanes t, low, high; /* the root lies between low and high */
    lanes hard;         /* 1 where b has no part in the eigenspace and the rest cannot fill the sphere, else 0 */
    lanes rest;         /* the square of that rest */
    mask done[GROUPS];
} secular;

INLINE lanes roots_of(lanes squares)
{
    for (int i = 0; i < LANES; i++) ((double *)&squares)[i] = sqrt(((double *)&squares)[i]);
    return squares;
}

/* The bracket: t is at least ||b_E||, E the eigenspace, and |b_i| - gap_i for every i, and at most ||b||. */
INLINE void begin_secular(secular *s)
{
    lanes inside = {0}, all = {0}, least = {0};
    s->rest = (lanes){0};
    for (int64_t i = 0; i < s->r; i++) EACH_GROUP
        {
            const vector b = s->b[i].of[g], square = b * b, size = larger(b, -b);
            const double gap = s->gaps[i];
            all.of[g] += square;
            least.of[g] = larger(size - gap, least.of[g]);
            if (gap == 0)
                inside.of[g] += square;
            else
                s->rest.of[g] += (b / gap) * (b / gap);
        }
    EACH_GROUP s->done[g] = (mask)(inside.of[g] <= 1e-28 * all.of[g]) & (mask)(s->rest.of[g] <= spread(1));
    EACH_GROUP s->hard.of[g] = choose(s->done[g], spread(1), spread(0));
    inside = roots_of(inside);
    s->high = roots_of(all);
    EACH_GROUP
    {
        const vector low = larger(inside.of[g], least.of[g]);
        s->low.of[g] = choose((mask)(low < s->high.of[g]), low, inside.of[g]);
        s->t.of[g] = choose((mask)(s->low.of[g] > 0), s->low.of[g], s->high.of[g] * DBL_EPSILON);
        s->t.of[g] = choose(s->done[g], spread(1), s->t.of[g]);
    }
}

/* One step of Newton's method, kept inside the bracket by bisection, for the lanes that are not done. */
INLINE void step_secular(secular *s)
{
    lanes sum = {0}, slope = {0}, root;
    for (int64_t i = 0; i < s->r; i++) EACH_GROUP
        {
            const vector inverse = 1 / (s->gaps[i] + s->t.of[g]), w = s->b[i].of[g] * inverse, square = w * w;
            sum.of[g] += square;
            slope.of[g] -= 2 * square * inverse;
        }
    root = roots_of(sum);
    EACH_GROUP
    {
        const vector t = s->t.of[g], error = root.of[g] - 1;
        const mask above = (mask)(sum.of[g] > spread(1)) & ~s->done[g], below = ~above & ~s->done[g];
        s->low.of[g] = choose(above, t, s->low.of[g]);
        s->high.of[g] = choose(below, t, s->high.of[g]);
        s->done[g] |= (mask)(larger(error, -error) <= spread(4 * DBL_EPSILON));
        const vector low = s->low.of[g], high = s->high.of[g];
        const vector newton = t - 2 * sum.of[g] * error / slope.of[g];
        const vector next = choose((mask)(newton > low) & (mask)(newton < high), newton, (low + high) / 2);
        s->done[g] |= (mask)(next == t);
        s->t.of[g] = choose(s->done[g], t, next);
    }
}

INLINE bool ends_secular(const secular *s)
{
    bool all = true;
    EACH_GROUP for (int i = 0; i < WIDTH; i++) all = all && s->done[g][i];
    return all;
}

/* y_i = b_i/(gap_i + t), or in the hard case b_i/gap_i with the first filled up */
INLINE void fill_secular(const secular *s, lanes *y)
{
    lanes left;
    EACH_GROUP left.of[g] = larger(1 - s->rest.of[g], spread(0));
    left = roots_of(left);
    for (int64_t i = 0; i < s->r; i++) EACH_GROUP
        {
            const vector b = s->b[i].of[g];
            vector alone = left.of[g];
            if (i > 0) alone = s->gaps[i] > 0 ? b / s->gaps[i] : 0 * b;
            y[i].of[g] = choose((mask)(s->hard.of[g] > 0), alone, b / (s->gaps[i] + s->t.of[g]));
        }
}

static void solve_sphere(const armilla_sphere_problem *problem, const double *d, double *w, double *workspace)
{
    const int64_t r = problem->r;
    lanes *b = (lanes *)workspace, *y = b + r, *found = (lanes *)w, squares = {0};
    secular s = {.r = r, .gaps = problem->gaps, .b = b};
    for (int64_t k = 0; k < r; k++) { /* b = Q'd */
        const double *q = problem->Q + k * r;
        lanes sum = {0};
        for (int64_t i = 0; i < r; i++) EACH_GROUP sum.of[g] += q[i] * ((const lanes *)d)[i].of[g];
        b[k] = sum;
    }
    begin_secular(&s);
    for (int step = 0; step < 100 && !ends_secular(&s); step++) step_secular(&s);
    fill_secular(&s, y);
    memset(found, 0, (size_t)r * sizeof *found);
    for (int64_t k = 0; k < r; k++) /* w = Qy */
        for (int64_t i = 0; i < r; i++) EACH_GROUP found[i].of[g] += problem->Q[k * r + i] * y[k].of[g];
    for (int64_t i = 0; i < r; i++) EACH_GROUP squares.of[g] += found[i].of[g] * found[i].of[g];
    squares = roots_of(squares);
    for (int64_t i = 0; i < r; i++) EACH_GROUP found[i].of[g] /= squares.of[g];
}

const armilla_thin_kernels TABLE = {
    .name = ISA_NAME, .multiply = multiply_thin, .gram = gram_thin, .solve_sphere = solve_sphere};
