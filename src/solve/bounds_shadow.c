/* The nearest centres of samples by shadows (solve/shadows.h): a number t_k for each centre, with s_k >= -2l t_k - 2e -
 * slack (e: solve/bounds.c). Centres that can be as near as the one before are found among these, and only where there
 * are such are products made: first with the one before, by which fewer are left, then with those. */
#include "base/size.h"
#include "solve/bounds_sample.h"

#include <string.h>

enum {
    MOST_FEW = 16, /* samples that are looked at together */
    AT_ONCE = 32   /* centres that are multiplied at once */
};

/* A few samples that are looked at together. */
typedef struct looking {
    const armilla_bounds *bounds;
    const armilla_assigning *assigning;
    int64_t count;
    const uint8_t *columns; /* of the strip */
    float *tile;
    int32_t *near; /* centres of one of them */
    double factor; /* what a score has of t */
} looking;

static float *row_of(const looking *t, int64_t i)
{
    return t->tile + i * armilla_shadows_stride(&t->bounds->shadows);
}

/* What t_k must exceed where s_k may be no larger than the score so far, rounded down. */
static double floor_of(const looking *t, const armilla_bounded *x)
{
    const double floor = -(x->score + 2 * x->error) / t->factor - t->bounds->shadows.slack;
    return floor - ARMILLA_BOUND_ROUND * fabs(floor) - FLT_MIN;
}

/* The centres that may be as near, by rising number. */
static int64_t find_near(const looking *t, const armilla_bounded *x, int64_t i)
{
    const armilla_shadows *s = &t->bounds->shadows;
    return s->pairs->above(s->r, row_of(t, i), floor_of(t, x), s->floors, t->near);
}

static const void *column_of(const looking *t, int64_t i)
{
    const armilla_panel *strip = t->assigning->strip;
    const size_t size = armilla_type_size(t->bounds->work);
    return (const char *)strip->columns + (size_t)(t->columns[i] * strip->stride) * size;
}

static const void *atom_of(const looking *t, int64_t k)
{
    const size_t size = armilla_type_size(t->bounds->work);
    return (const char *)t->assigning->atoms + (size_t)(k * t->bounds->m) * size;
}

/* The score of the centre that is the nearest so far, at most. */
static double score_at_most(const looking *t, const armilla_bounded *x, int64_t i, int64_t sample)
{
    const armilla_shadows *s = &t->bounds->shadows;
    const double least = (double)row_of(t, i)[x->nearest] - armilla_shadow_range(s, sample, x->nearest) - s->slack;
    return -t->factor * (least - 2 * ARMILLA_BOUND_ROUND * fabs(least)) + x->error;
}

/* t_k as what has been multiplied is known, rounded up. */
static void put_exact(const looking *t, const armilla_bounded *x, int64_t i, int64_t k, double product)
{
    const armilla_bounds *b = t->bounds;
    const double exact = (2 * b->l * product - b->offsets[k] + x->error) / t->factor;
    row_of(t, i)[k] = (float)(exact + 2 * (double)ARMILLA_BOUND_ROUND * fabs(exact)) + FLT_MIN;
}

/* The nearest of these centres, with the one before among them. */
static void choose_near(const looking *t, armilla_bounded *x, int64_t i, int64_t count)
{
    const armilla_bounds *b = t->bounds;
    const int32_t *near = t->near;
    for (int64_t first = 0; first < count; first += AT_ONCE) {
        const int64_t some = armilla_min64(AT_ONCE, count - first);
        const void *columns[AT_ONCE], *atoms[AT_ONCE];
        double products[AT_ONCE], offsets[AT_ONCE];
        armilla_nearest found;
        for (int64_t q = 0; q < some; q++) {
            columns[q] = column_of(t, i);
            atoms[q] = atom_of(t, near[first + q]);
            offsets[q] = b->offsets[near[first + q]];
        }
        t->assigning->strip->kernels->dots(b->m, some, columns, atoms, products);
        b->kernels->nearest_two(some, 1, products, some, offsets, 2 * b->l, &found);
        for (int64_t q = 0; q < some; q++) put_exact(t, x, i, near[first + q], products[q]);
        const int64_t atom = near[first + found.atom];
        if (!(found.least < x->score || (found.least == x->score && atom < x->nearest))) continue;
        x->score = found.least;
        x->nearest = atom;
    }
    b->shadows.made[t->assigning->thread] += count;
}

/* The largest of some numbers. */
static float most_of(int64_t count, const float *numbers)
{
    float most = numbers[0];
    for (int64_t i = 1; i < count; i++) most = numbers[i] > most ? numbers[i] : most;
    return most;
}

/* Lower bounds of all groups, where they say more than before: always of that group, the nearest of which was another's. */
static void raise_bounds(const looking *t, const armilla_bounded *x, int64_t i, int64_t group)
{
    const armilla_bounds *b = t->bounds;
    const float *row = row_of(t, i);
    const double square = b->unit * b->unit;
    const float whole = (float)((x->squared - 3 * x->error - t->factor * b->shadows.slack) / square);
    const float factor = (float)(t->factor / square), rounding = 4 * ARMILLA_BOUND_ROUND;
    row_of(t, i)[x->nearest] = -FLT_MAX;
    if (group >= 0) x->lower[group] = 0;
    for (int64_t g = 0; g < b->groups; g++) {
        const float most = most_of(armilla_bound_width(b, g), row + g * b->width), part = factor * most;
        const float least = whole - part - rounding * (fabsf(whole) + fabsf(part));
        const float distance = (sqrtf(least > 0 ? least : 0) + (float)b->shift[g]) * (1 - rounding);
        const float known = distance < (float)ARMILLA_BOUND_MOST ? distance : (float)ARMILLA_BOUND_MOST;
        x->lower[g] = known > x->lower[g] ? known : x->lower[g];
    }
}

/* The score of the nearest centre before, as it is compared. */
static void measure_before(const looking *t, armilla_bounded *x, int64_t i)
{
    const armilla_bounds *b = t->bounds;
    const void *column = column_of(t, i), *atom = atom_of(t, x->nearest);
    armilla_nearest found;
    double product = 0;
    t->assigning->strip->kernels->dots(b->m, 1, &column, &atom, &product);
    b->kernels->nearest_two(1, 1, &product, 1, b->offsets + x->nearest, 2 * b->l, &found);
    x->score = found.least;
    put_exact(t, x, i, x->nearest, product);
}

/* A column that will be wanted soon: which they are, no hardware can guess. */
static void fetch_column(const looking *t, int64_t i)
{
    const char *start = column_of(t, i);
    const int64_t bytes = t->bounds->m * (int64_t)armilla_type_size(t->bounds->work);
    for (int64_t at = 0; at < bytes; at += ARMILLA_LINE) __builtin_prefetch(start + at, 0, 2);
}

/* Sample i as far as its shadow tells; whether other centres may be as near. */
static bool look_at_shadow(const looking *t, int64_t i, armilla_bounded *x)
{
    const armilla_bounds *b = t->bounds;
    const int64_t sample = t->assigning->strip->first + t->columns[i];
    *x = armilla_bound_begin(b, sample);
    x->nearest = b->nearest[sample];
    x->score = score_at_most(t, x, i, sample);
    const bool wanted = find_near(t, x, i) > 1;
    if (wanted) fetch_column(t, i);
    return wanted;
}

/* Its nearest centre by products. */
static void look_at_column(const looking *t, int64_t i, armilla_bounded *x)
{
    measure_before(t, x, i);
    const int64_t count = find_near(t, x, i);
    if (count > 1) choose_near(t, x, i, count);
}

static void look_at_some(const looking *t)
{
    const armilla_bounds *b = t->bounds;
    armilla_bounded x[MOST_FEW];
    bool wanted[MOST_FEW];
    for (int64_t i = 0; i < t->count; i++) wanted[i] = look_at_shadow(t, i, &x[i]);
    for (int64_t i = 0; i < t->count; i++) {
        const int64_t before = x[i].nearest;
        if (wanted[i]) look_at_column(t, i, &x[i]);
        raise_bounds(t, &x[i], i, x[i].nearest == before ? -1 : armilla_bound_group(b, before));
        armilla_bound_end(b, &x[i], t->assigning->strip->first + t->columns[i]);
        t->assigning->assignments[t->columns[i]] = (int32_t)x[i].nearest;
    }
}

void armilla_bounds_assign_shadowed(const armilla_bounds *b, const armilla_assigning *a, const uint8_t *columns,
                                    int64_t count)
{
    const armilla_shadows *s = &b->shadows;
    int64_t samples[MOST_FEW];
    const int64_t few = armilla_min64(s->pairs->few, MOST_FEW);
    s->tried[a->thread] += count;
    for (int64_t first = 0; first < count; first += few) {
        looking t = {.bounds = b,
                     .assigning = a,
                     .count = armilla_min64(few, count - first),
                     .columns = columns + first,
                     .near = s->places + a->thread * s->r,
                     .factor = 2 * b->l * s->unit * s->length};
        for (int64_t i = 0; i < t.count; i++) samples[i] = a->strip->first + t.columns[i];
        t.tile = armilla_shadows_meet(s, a->thread, t.count, samples);
        look_at_some(&t);
    }
}
