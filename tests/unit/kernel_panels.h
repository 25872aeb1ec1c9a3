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

/* One panel, its factor and its codes, as doubles and in the type. */
typedef struct panel {
    const armilla_kernels *kernels;
    int64_t m, r, count, stride;
    double *X, *U, *W, *C, *A;
    void *stored_X, *stored_U, *stored_W;
} panel;

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
static panel panel_new(const armilla_kernels *kernels, int64_t m, int64_t r, int64_t count, uint64_t *random)
{
    panel p = {.kernels = kernels, .m = m, .r = r, .count = count, .stride = m + PADDING};
    reference_scene("%s %s, m = %d, r = %d, %d columns", kernels->name, armilla_type_word(kernels->type), (int)m,
                    (int)r, (int)count);
    p.X = reference_new(p.stride * count);
    p.U = reference_new(m * r);
    p.W = reference_new(r * count);
    p.C = reference_new(r * count);
    p.A = reference_new(m * r);
    reference_fill_normal(random, m * r, p.U);
    reference_fill_normal(random, r * count, p.W);
    reference_fill_normal(random, p.stride * count, p.X);
    for (int64_t i = 0; i < p.stride * count; i++)
        if (i % p.stride >= m) p.X[i] = NAN;
    if (kernels->type == ARMILLA_F32) {
        reference_round_to_f32(m * r, p.U);
        reference_round_to_f32(r * count, p.W);
        reference_round_to_f32(p.stride * count, p.X);
    }
    p.stored_X = in_type(kernels->type, p.stride * count, p.X);
    p.stored_U = in_type(kernels->type, m * r, p.U);
    p.stored_W = in_type(kernels->type, r * count, p.W);
    return p;
}

static void panel_free(panel *p)
{
    free(p->X);
    free(p->U);
    free(p->W);
    free(p->C);
    free(p->A);
    free(p->stored_X);
    free(p->stored_U);
    free(p->stored_W);
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

static void for_every_panel(void (*check)(panel *p))
{
    uint64_t random = 21;
    for (size_t row = 0; armilla_kernels_row(row); row++) {
        const armilla_kernels *kernels = armilla_kernels_row(row);
        if (!armilla_kernels_supported(kernels)) continue;
        for (size_t a = 0; a < (size_t)reference_effort(FEATURES, 8); a++)
            for (size_t b = 0; b < RANKS; b++)
                for (size_t c = 0; c < (size_t)reference_effort(COUNTS, 5); c++) {
                    panel p = panel_new(kernels, features[a], ranks[b], counts[c], &random);
                    check(&p);
                    panel_free(&p);
                }
    }
}

/* Shapes that are worth packing: many atoms, wide panels, features that end anywhere in a tile. */
static void for_large_panels(void (*check)(panel *p))
{
    static const int64_t shapes[][3] = {{1, 16, 7},    {7, 17, 240},    {15, 19, 1},    {16, 32, 72},   {33, 48, 240},
                                        {47, 64, 31},  {100, 25, 96},   {897, 23, 9},   {64, 257, 5},   {1793, 130, 13},
                                        {31, 512, 11}, {4096, 16, 6},   {20, 40, 600},  {20, 40, 1100}, {63, 1024, 14},
                                        {65, 1023, 3}, {20001, 50, 13}, {289, 96, 505}, {33, 8, 25},    {350, 10, 40},
                                        {47, 13, 7},   {300, 15, 24}};
    uint64_t random = 22;
    for (size_t row = 0; armilla_kernels_row(row); row++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            if (!armilla_kernels_supported(armilla_kernels_row(row))) continue;
            panel p = panel_new(armilla_kernels_row(row), shapes[s][0], shapes[s][1], shapes[s][2], &random);
            check(&p);
            panel_free(&p);
        }
}

#endif
