/* Shadows. With directions Q that are nearly orthonormal, ||Q'Q - I|| <= d, and products that are off by g = gamma_m (of m
 * numbers in the working type, whatever the order of their sum), y = Q'x and z = Q'u as they are stored have
 *
 *     |x'u - y'z| <= ||x_left|| ||u_left|| + e ||x|| ||u||        ||x_left||^2 <= ||x||^2 - ||y||^2 + e ||x||^2
 *
 * where e has 2d, 2 sqrt(depth) g, the roundings of y, z and their product to f32, and what ||x||^2 was measured to. So
 * p^2 = ||x||^2 - ||y||^2 + 2e ||x||^2 and q^2 likewise of u have pq >= ||x_left|| ||u_left|| + e ||x|| ||u||, by
 * Cauchy's inequality: y'z + pq is never below x'u, and y'z - pq never above. */
#include "solve/shadows.h"

#include "base/size.h"
#include "linalg/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    DEPTH = 48,        /* directions at most, */
    LEAST_DEPTH = 32,  /* and at least: fewer rule too little out */
    MOST_SOUGHT = 256, /* centres among which directions are looked for */
    ROUNDS = 3         /* of subspace iteration */
};

#define LEFT 0.3         /* directions are of use where they leave no more than this of the centres, in squares, */
#define WANTED 0.25      /* and while products with no more than this part of all are made after all */
#define HALF_UP 0x1p-22F /* what rounding to f32 changes at most, twice */
#define TINY 1e-9 /* of a unit: above what products lose that are below the least number, where units are as follows */
#define LEAST_UNIT 1e-30
#define MOST_UNIT 1e30

static int64_t packed_centers(const armilla_shadows *s)
{
    return armilla_packed_columns(s->pairs->many, s->r);
}

int64_t armilla_shadows_stride(const armilla_shadows *s)
{
    return packed_centers(s);
}

void armilla_shadows_plan(armilla_shadows *s, const armilla_sweep *sweep, int64_t r, const double *squared_norms,
                          int64_t numbers)
{
    const armilla_traversal *traversal = armilla_sweep_traversal(sweep);
    const armilla_data *X = armilla_traversal_data(traversal);
    const armilla_context *context = armilla_sweep_team(sweep)->context;
    const armilla_type work = armilla_sweep_type(sweep);
    *s = (armilla_shadows){.kernels = armilla_kernels_for(context, work),
                           .pairs = armilla_pair_kernels_for(context, ARMILLA_F32),
                           .work = work,
                           .squared_norms = squared_norms,
                           .m = X->m,
                           .r = r,
                           .threads = armilla_sweep_threads(sweep)};
    armilla_traversal_columns(traversal, &s->share.first, &s->share.last);
    s->share.count = X->n;
    const int64_t depth = armilla_min64(armilla_min64(DEPTH, r), numbers - 2);
    if (depth >= LEAST_DEPTH && !X->ops->layout) s->most = depth;
}

void armilla_shadows_list(armilla_shadows *s, armilla_state_list *list)
{
    const int64_t threads = s->threads, width = s->most + 2, size = (int64_t)armilla_type_size(s->work);
    if (list->restoring) s->sought = s->known = false;
    if (s->most == 0) return;
    const int64_t few = s->pairs->few, centers = packed_centers(s);
    armilla_state_workspace(list, ARMILLA_STATE_F64, s->m, s->most, &s->Q);
    armilla_state_workspace(list, ARMILLA_STATE_F64, s->most, armilla_min64(s->r, MOST_SOUGHT), &s->loads);
    armilla_state_workspace(list, ARMILLA_STATE_U8, s->m * size, s->most, &s->directions);
    armilla_state_samples_workspace(list, ARMILLA_STATE_F32, width, &s->share, &s->samples);
    armilla_state_workspace(list, ARMILLA_STATE_F32, width, centers, &s->packed);
    armilla_state_workspace(list, ARMILLA_STATE_F32, s->r, 1, &s->left);
    armilla_state_workspace(list, ARMILLA_STATE_F32, width * few, threads, &s->few);
    armilla_state_workspace(list, ARMILLA_STATE_F32, centers * few, threads, &s->tiles);
    armilla_state_workspace(list, ARMILLA_STATE_F32, centers, 1, &s->floors);
    armilla_state_workspace(list, ARMILLA_STATE_I32, s->r, threads, &s->places);
    armilla_state_workspace(list, ARMILLA_STATE_I64, threads, 1, &s->tried);
    armilla_state_workspace(list, ARMILLA_STATE_I64, threads, 1, &s->made);
}

/* Leading directions of some of the centres, by subspace iteration. */
typedef struct seeking {
    armilla_shadows *shadows;
    const double *U;
    int64_t count; /* of those centres */
} seeking;

static const double *sought_center(const seeking *t, int64_t i)
{
    return t->U + i * t->shadows->r / t->count * t->shadows->m;
}

/* loads(:,i) = Q'u_i */
static void load_some(void *self, int64_t first, int64_t last)
{
    const seeking *t = self;
    const armilla_shadows *s = t->shadows;
    for (int64_t i = first; i < last; i++)
        for (int64_t k = 0; k < s->depth; k++)
            s->loads[i * s->most + k] = armilla_dot(s->m, s->Q + k * s->m, sought_center(t, i));
}

/* Q(:,k) = sum_i loads(k,i) u_i */
static void combine_some(void *self, int64_t first, int64_t last)
{
    const seeking *t = self;
    const armilla_shadows *s = t->shadows;
    for (int64_t k = first; k < last; k++) {
        double *q = s->Q + k * s->m;
        memset(q, 0, (size_t)s->m * sizeof *q);
        for (int64_t i = 0; i < t->count; i++) {
            const double *u = sought_center(t, i), load = s->loads[i * s->most + k];
            for (int64_t f = 0; f < s->m; f++) q[f] += load * u[f];
        }
    }
}

/* q less its part in the first `count` directions, of unit length; false where that is nothing but rounding. */
static bool make_orthogonal(const armilla_shadows *s, int64_t count, double *q)
{
    if (!(armilla_make_unit(s->m, q) > 0)) return false;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t k = 0; k < count; k++) {
            const double *other = s->Q + k * s->m, part = armilla_dot(s->m, other, q);
            for (int64_t f = 0; f < s->m; f++) q[f] -= part * other[f];
        }
        if (!(armilla_make_unit(s->m, q) > 1e-6)) return false;
    }
    return true;
}

/* Q orthonormal, of as many columns as are left then. */
static void make_orthonormal(armilla_shadows *s)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < s->depth; k++) {
        double *q = s->Q + kept * s->m;
        if (kept < k) memcpy(q, s->Q + k * s->m, (size_t)s->m * sizeof *q);
        kept += make_orthogonal(s, kept, q);
    }
    s->depth = kept;
}

/* Q as it is multiplied, and e. */
static void settle_directions(armilla_shadows *s)
{
    const double roundoff = armilla_epsilon(s->work) / 2,
                 gamma = (double)s->m * roundoff / (1 - (double)s->m * roundoff);
    const double narrow = FLT_EPSILON * (double)(s->depth + 8);
    double apart = 0;
    armilla_store(s->work, s->m * s->depth, s->Q, s->directions);
    armilla_fetch(s->work, s->m * s->depth, s->directions, s->Q);
    for (int64_t k = 0; k < s->depth; k++)
        for (int64_t j = 0; j <= k; j++) {
            const double product = armilla_dot(s->m, s->Q + k * s->m, s->Q + j * s->m) - (j == k);
            apart += (j == k ? 1 : 2) * product * product;
        }
    s->error = 4 * sqrt(apart) + 4 * sqrt((double)s->depth) * gamma + 8 * armilla_epsilon(s->work) + 4 * narrow;
    if (!(s->error < 0.1)) s->depth = 0;
}

static void seek_directions(armilla_shadows *s, const armilla_team *team, const double *U)
{
    seeking t = {s, U, armilla_min64(s->r, MOST_SOUGHT)};
    s->sought = true;
    s->known = false;
    s->depth = s->most;
    for (int64_t k = 0; k < s->depth; k++)
        memcpy(s->Q + k * s->m, sought_center(&t, k * t.count / s->depth), (size_t)s->m * sizeof *s->Q);
    make_orthonormal(s);
    for (int round = 0; round < ROUNDS; round++) {
        armilla_team_share(team, t.count, load_some, &t);
        armilla_team_share(team, s->depth, combine_some, &t);
        make_orthonormal(s);
    }
    settle_directions(s);
    memset(s->packed, 0, (size_t)(packed_centers(s) * (s->most + 2)) * sizeof *s->packed);
    memset(s->few, 0, (size_t)(s->threads * s->pairs->few * (s->most + 2)) * sizeof *s->few);
    for (int64_t i = 0; i < packed_centers(s); i++) s->floors[i] = INFINITY;
    for (int i = 0; i < s->threads; i++) s->tried[i] = s->made[i] = 0;
}

/* The shadow of a column of that squared length: Q'x, given, and the length of what is left, in units. */
static void put_shadow(const armilla_shadows *s, const double *products, double square, double unit, float *shadow)
{
    double inside = 0;
    for (int64_t k = 0; k < s->depth; k++) {
        inside += products[k] * products[k];
        shadow[k] = (float)(products[k] / unit);
    }
    const double left = sqrt(fmax(square - inside, 0) + 2 * s->error * square) / unit + TINY;
    shadow[s->depth] = (float)left * (1 + HALF_UP);
}

/* Shadows of centres first ... last-1. */
typedef struct moving {
    armilla_shadows *shadows;
    const armilla_shadow_centers *centers;
} moving;

enum { MOVED = 12 }; /* centres that are multiplied at once */

static void move_some(void *self, int64_t first, int64_t last)
{
    const moving *t = self;
    const armilla_shadows *s = t->shadows;
    const armilla_shadow_centers *c = t->centers;
    const int64_t width = armilla_shadow_width(s);
    const armilla_atoms Q = {.values = s->directions, .r = s->depth};
    double products[MOVED * DEPTH];
    float shadow[DEPTH + 2];
    for (int64_t k = first; k < last; k += MOVED) {
        const int64_t count = armilla_min64(MOVED, last - k);
        const char *at = (const char *)c->typed + (size_t)(k * s->m) * armilla_type_size(s->work);
        s->kernels->products(&(armilla_columns){.values = at, .m = s->m, .count = count, .stride = s->m, .ahead = at},
                             &Q, products);
        for (int64_t i = k; i < k + count; i++) {
            put_shadow(s, products + (i - k) * s->depth, c->squares[i], s->length, shadow);
            shadow[s->depth + 1] = (float)(-c->offsets[i] / (2 * c->l * s->unit * s->length));
            s->left[i] = shadow[s->depth];
            s->pairs->pack(&(armilla_columns){.values = shadow, .m = width, .count = 1, .stride = width}, i,
                           s->pairs->many, s->packed);
        }
    }
}

/* What the directions leave of the centres, in squares. */
static double part_left(const armilla_shadows *s, const armilla_shadow_centers *c)
{
    double left = 0, all = 0;
    for (int64_t k = 0; k < s->r; k++) {
        left += (double)s->left[k] * (double)s->left[k];
        all += c->squares[k] / (s->length * s->length);
    }
    return all > 0 ? left / all : 1;
}

/* A power of two at least as large. */
static double unit_above(double length)
{
    int exponent = 0;
    (void)frexp(length, &exponent);
    return ldexp(1, exponent);
}

/* So that nothing of weight is below the least number, nor squares above the largest. */
static bool is_unit(double unit)
{
    return unit > LEAST_UNIT && unit < MOST_UNIT;
}

void armilla_shadows_move(armilla_shadows *s, const armilla_team *team, const armilla_shadow_centers *c)
{
    moving t = {s, c};
    double longest = 0, farthest = 0;
    if (s->most == 0) return;
    const bool anew = !s->sought;
    if (anew) seek_directions(s, team, c->U);
    if (s->depth == 0) return;
    for (int64_t k = 0; k < s->r; k++) {
        longest = fmax(longest, c->squares[k]);
        farthest = fmax(farthest, fabs(c->offsets[k]));
    }
    s->unit = c->unit;
    s->length = unit_above(sqrt(longest));
    s->slack = 4 * (double)(s->depth + 8) * FLT_EPSILON * farthest / (2 * c->l * s->unit * s->length) + TINY;
    if (!(is_unit(s->unit) && is_unit(s->length) && s->slack < 1)) {
        s->depth = 0;
        return;
    }
    armilla_team_share(team, s->r, move_some, &t);
    if (anew && part_left(s, c) > LEFT) s->depth = 0;
}

void armilla_shadows_cast(armilla_shadows *s, const armilla_panel *strip, double *C)
{
    const armilla_atoms Q = {.values = s->directions, .r = s->depth};
    const armilla_columns columns = {
        .values = strip->columns, .m = s->m, .count = strip->count, .stride = strip->stride, .ahead = strip->columns};
    s->kernels->products(&columns, &Q, C);
    for (int64_t j = 0; j < strip->count; j++) {
        const int64_t sample = strip->first + j;
        float *shadow = s->samples + sample * (s->most + 2);
        put_shadow(s, C + j * s->depth, s->squared_norms[sample], s->unit, shadow);
        shadow[s->depth + 1] = 1;
    }
}

void armilla_shadows_ran(armilla_shadows *s, bool all)
{
    int64_t tried = 0, made = 0;
    if (!all) s->sought = s->known = false;
    if (s->depth == 0 || !s->sought) return;
    s->known = true;
    for (int i = 0; i < s->threads; i++) {
        tried += s->tried[i];
        made += s->made[i];
        s->tried[i] = s->made[i] = 0;
    }
    if ((double)made > WANTED * (double)tried * (double)s->r) s->depth = 0;
}

float *armilla_shadows_meet(const armilla_shadows *s, int thread, int64_t count, const int64_t *samples)
{
    const int64_t width = armilla_shadow_width(s), few = s->pairs->few, stride = packed_centers(s);
    float *packed = s->few + thread * few * (s->most + 2), *tile = s->tiles + thread * few * stride;
    for (int64_t i = 0; i < count; i++) {
        const float *shadow = s->samples + samples[i] * (s->most + 2);
        s->pairs->pack(&(armilla_columns){.values = shadow, .m = width, .count = 1, .stride = width}, i, few, packed);
    }
    s->pairs->products(width, packed, stride / s->pairs->many, s->packed, tile);
    return tile;
}
