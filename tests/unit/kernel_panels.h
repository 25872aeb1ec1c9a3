/* Panels of every shape for the tests of kernels, in every table that this CPU runs. */
#ifndef UNIT_KERNEL_PANELS_H
#define UNIT_KERNEL_PANELS_H

#include "reference/reference.h"

#include "linalg/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t features[] = {1, 2, 3, 7, 8, 9, 31, 64, 100, 785, 1800};
static const int64_t ranks[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 16, 33};
static const int64_t counts[] = {1, 2, 3, 5, 6, 8, 63};
enum { FEATURES = 11, RANKS = 12, COUNTS = 7, PADDING = 3 };

/* Sums by plain loops, and the sums of the sizes of their terms, which bound their rounding. */
typedef struct plain_sums {
    long double *sums, *sizes;
} plain_sums;

/* One panel, its factor and its codes, as doubles and in the type, for every table of that type; and what plain loops
 * make of them, once for all tables. */
typedef struct panel {
    const armilla_kernels *kernels;
    int64_t m, r, count, stride;
    double *X, *U, *W, *C, *A;
    void *stored_X, *stored_U, *stored_W;
    plain_sums products, weighted; /* U'X and XW'; NULL before they are asked for */
} panel;

typedef void panel_check(panel *p);

static void *in_type(armilla_type type, int64_t count, const double *from)
{
    void *made = calloc((size_t)count, armilla_type_size(type));
    assert_non_null(made);
    armilla_store(type, count, from, made);
    return made;
}

static const void *element(const panel *p, const void *values, int64_t index)
{
    return (const char *)values + (size_t)index * armilla_type_size(p->kernels->type);
}

/* Between the columns of X stand NaN, which no result may touch. */
static panel panel_new(armilla_type type, const int64_t shape[3], uint64_t *random)
{
    const int64_t m = shape[0], r = shape[1], count = shape[2], stride = m + PADDING;
    panel p = {.m = m, .r = r, .count = count, .stride = stride};
    p.X = reference_new(stride * count);
    p.U = reference_new(m * r);
    p.W = reference_new(r * count);
    p.C = reference_new(r * count);
    p.A = reference_new(m * r);
    reference_fill_normal(random, m * r, p.U);
    reference_fill_normal(random, r * count, p.W);
    reference_fill_normal(random, stride * count, p.X);
    for (int64_t i = 0; i < stride * count; i++)
        if (i % stride >= m) p.X[i] = NAN;
    if (type == ARMILLA_F32) {
        reference_round_to_f32(m * r, p.U);
        reference_round_to_f32(r * count, p.W);
        reference_round_to_f32(stride * count, p.X);
    }
    p.stored_X = in_type(type, stride * count, p.X);
    p.stored_U = in_type(type, m * r, p.U);
    p.stored_W = in_type(type, r * count, p.W);
    return p;
}

static void panel_free(panel *p)
{
    void *const all[] = {p->X,
                         p->U,
                         p->W,
                         p->C,
                         p->A,
                         p->stored_X,
                         p->stored_U,
                         p->stored_W,
                         p->products.sums,
                         p->products.sizes,
                         p->weighted.sums,
                         p->weighted.sizes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static plain_sums plain_sums_new(int64_t count)
{
    const plain_sums made = {calloc((size_t)count, sizeof *made.sums), calloc((size_t)count, sizeof *made.sizes)};
    assert_non_null(made.sums);
    assert_non_null(made.sizes);
    return made;
}

/* Entry `at` becomes the sum of the products of two vectors whose entries stand that far apart. */
static void plain_dot(const plain_sums *to, int64_t at, int64_t count, const double *x, const int64_t steps[2],
                      const double *y)
{
    long double sum = 0, size = 0;
    for (int64_t i = 0; i < count; i++) {
        const long double term = (long double)x[i * steps[0]] * y[i * steps[1]];
        sum += term;
        size += fabsl(term);
    }
    to->sums[at] = sum;
    to->sizes[at] = size;
}

/* U'X. */
static const plain_sums *plain_products(panel *p)
{
    if (p->products.sums) return &p->products;
    p->products = plain_sums_new(p->r * p->count);
    for (int64_t j = 0; j < p->count; j++)
        for (int64_t k = 0; k < p->r; k++)
            plain_dot(&p->products, k + j * p->r, p->m, p->X + j * p->stride, (const int64_t[2]){1, 1},
                      p->U + k * p->m);
    return &p->products;
}

static armilla_columns columns_at(const panel *p, int64_t first, int64_t count)
{
    return (armilla_columns){
        .values = element(p, p->stored_X, first * p->stride), .m = p->m, .count = count, .stride = p->stride};
}

/* The whole panel, with itself as what is fetched ahead. */
static armilla_columns all_columns(const panel *p)
{
    armilla_columns X = columns_at(p, 0, p->count);
    X.ahead = p->stored_X;
    X.ahead_bytes = p->stride * p->count * (int64_t)armilla_type_size(p->kernels->type);
    return X;
}

static void find_sums(const panel *p, double *A)
{
    const armilla_columns X = all_columns(p);
    p->kernels->accumulate(&X, p->r, p->stored_W, false, A);
}

/* One panel of that shape for each type, with every table of the type that this CPU runs. The list ends with NULL. */
static void check_panels(const int64_t shape[3], panel_check *const *checks, uint64_t *random)
{
    for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++) {
        panel p = panel_new((armilla_type)type, shape, random);
        for (size_t row = 0; (p.kernels = armilla_kernels_row(row)); row++) {
            if ((int)p.kernels->type != type || !armilla_instructions_supported(p.kernels->name)) continue;
            reference_scene("%s %s, m = %d, r = %d, %d columns", p.kernels->name, armilla_type_word(p.kernels->type),
                            (int)p.m, (int)p.r, (int)p.count);
            for (panel_check *const *check = checks; *check; check++) (*check)(&p);
        }
        panel_free(&p);
    }
}

static void for_every_panel(panel_check *const *checks)
{
    uint64_t random = 21;
    for (size_t a = 0; a < (size_t)reference_effort(FEATURES, 8); a++)
        for (size_t b = 0; b < RANKS; b++)
            for (size_t c = 0; c < (size_t)reference_effort(COUNTS, 5); c++)
                check_panels((const int64_t[3]){features[a], ranks[b], counts[c]}, checks, &random);
}

/* Shapes that are worth packing: many atoms, wide panels, features that end anywhere in a tile. */
static void for_large_panels(panel_check *const *checks)
{
    static const int64_t shapes[][3] = {{1, 16, 7},    {7, 17, 240},    {15, 19, 1},    {16, 32, 72},   {33, 48, 240},
                                        {47, 64, 31},  {100, 25, 96},   {897, 23, 9},   {64, 257, 5},   {1793, 130, 13},
                                        {31, 512, 11}, {4096, 16, 6},   {20, 40, 600},  {20, 40, 1100}, {63, 1024, 14},
                                        {65, 1023, 3}, {20001, 50, 13}, {289, 96, 505}, {33, 8, 25},    {350, 10, 40},
                                        {47, 13, 7},   {300, 15, 24}};
    uint64_t random = 22;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) check_panels(shapes[s], checks, &random);
}

#endif
