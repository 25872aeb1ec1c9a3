/* XW' from the copy of sparse data by feature: the bits of the sums that panels and slots add up, whatever the shape, the
 * rank, the type and the width of indices, whole and node by node of the tree over slots; and plain sums beside it. */
#include "reference/reference.h"
#include "unit/support.h"

#include "base/tree.h"
#include "data/slots.h"
#include "data/transposed.h"
#include "solve/sweep.h"

#include <armilla/data.h>

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How entries lie: the probability of one in feature i of sample j falls as a power of both; one sample is full. */
typedef struct shape {
    const char *what;
    int64_t m, n;
    double density, power;
    int64_t full; /* that sample; -1: none */
} shape;

static const shape shapes[] = {
    {"many features", 3000, 300, 0.01, 0, -1},
    {"many samples", 25, 7000, 0.2, 0, -1},
    {"several panels in a slot", 12, 6000, 0.5, 0, -1},
    {"skewed", 800, 900, 0.05, 2, -1},
    {"a heavy sample", 900, 640, 0.002, 0, 320},
    {"hardly any entry", 500, 700, 0.0005, 1, -1},
    {"one sample", 300, 1, 0.5, 0, -1},
    {"one feature", 1, 900, 0.5, 0, -1},
};

static const int64_t ranks[] = {1, 3, 8, 10, 32, 33, 70, 129};

enum { SHAPES = sizeof shapes / sizeof shapes[0], RANKS = sizeof ranks / sizeof ranks[0] };

/* Of every seventh feature and every ninth sample there are no entries. */
static double *make_matrix(const shape *s, uint64_t *random)
{
    double *X = reference_new(s->m * s->n), *chance = reference_new(s->m);
    for (int64_t j = 0; j < s->n; j++) {
        reference_fill_normal(random, s->m, X + j * s->m);
        reference_fill_normal(random, s->m, chance);
        for (int64_t i = 0; i < s->m; i++) {
            const double row = pow((double)(i + 1) / (double)s->m, -s->power / 2);
            const double column = pow((double)(j + 1) / (double)s->n, -s->power / 2);
            const bool empty = (s->m > 7 && i % 7 == 3) || (s->n > 9 && j % 9 == 4);
            const bool there = erfc(fabs(chance[i]) / sqrt(2)) < s->density * row * column && !empty;
            if (!there && j != s->full) X[j * s->m + i] = 0;
        }
    }
    free(chance);
    return X;
}

typedef struct scene {
    const shape *shape;
    const armilla_data *X;
    armilla_type work;
    int64_t r;
    double *W; /* r x n, numbers that f32 has */
} scene;

static void give_codes(void *self, const armilla_code_panel *panel)
{
    const scene *s = self;
    memcpy(panel->W, s->W + panel->first * panel->r, (size_t)(panel->r * panel->count) * sizeof(double));
}

/* What panels and slots add up. */
static void sum_by_panels(armilla_context *context, scene *s, double *A)
{
    armilla_sweep *sweep = NULL;
    const armilla_sweep_plan plan = {.sums = true, .step = give_codes, .self = s};
    REFERENCE_OK(armilla_sweep_new(context, s->X, s->work, s->r, 0, &sweep));
    REFERENCE_OK(armilla_sweep_run(sweep, &plan));
    memcpy(A, armilla_sweep_A(sweep), (size_t)(s->shape->m * s->r) * sizeof *A);
    armilla_sweep_free(sweep);
}

/* sums (m x stride, by feature) = those of slots first ... last-1, by windows of another size each. */
static void make_sums(const armilla_transposed_product *product, const scene *s, int64_t first, int64_t last,
                      double *sums)
{
    const int64_t stride = armilla_sparse_stride(s->work, s->r), lanes = armilla_sparse_stride(s->work, 1);
    const int64_t all = s->shape->m * stride;
    for (int64_t at = 0, step = lanes; at < all; at += step, step = step % ARMILLA_WINDOW + lanes) {
        double buffer[ARMILLA_WINDOW_BUFFER];
        const int64_t run = all - at < step ? all - at : step;
        armilla_transposed_make(product, first, last, &(armilla_window){at, run, 1, run}, buffer);
        memcpy(sums + at, buffer, (size_t)run * sizeof *sums);
    }
}

/* The same along the tree, from every node of a level. */
static void make_by_nodes(const armilla_transposed_product *product, const scene *s, int64_t first, int64_t last,
                          double *sums)
{
    const int64_t all = s->shape->m * armilla_sparse_stride(s->work, s->r);
    int64_t half = 1;
    while (2 * half < last - first) half *= 2;
    if (last - first == 1) {
        make_sums(product, s, first, last, sums);
        return;
    }
    double *right = reference_new(all);
    make_by_nodes(product, s, first, first + half, sums);
    make_by_nodes(product, s, first + half, last, right);
    for (int64_t i = 0; i < all; i++) sums[i] += right[i];
    free(right);
}

static bool same(const scene *s, const double *sums, const double *A)
{
    const int64_t m = s->shape->m, stride = armilla_sparse_stride(s->work, s->r);
    for (int64_t i = 0; i < m; i++)
        for (int64_t k = 0; k < stride; k++)
            if (k < s->r ? memcmp(&sums[i * stride + k], &A[k * m + i], sizeof *A) != 0 : sums[i * stride + k] != 0)
                return false;
    return true;
}

static void check_plain(const scene *s, const double *X, const double *A)
{
    const int64_t m = s->shape->m, n = s->shape->n;
    const int64_t step = m > 100 ? 13 : 1;
    for (int64_t i = 0; i < m; i += step)
        for (int64_t k = 0; k < s->r; k += 5) {
            double sum = 0, size = 0;
            for (int64_t j = 0; j < n; j++) {
                sum += X[j * m + i] * s->W[j * s->r + k];
                size += fabs(X[j * m + i] * s->W[j * s->r + k]);
            }
            REFERENCE_NEAR(A[k * m + i], sum, 40 * armilla_epsilon(s->work) * size);
        }
}

static void check_scene(armilla_context *context, scene *s, const double *X, int threads)
{
    const int64_t m = s->shape->m, n = s->shape->n;
    double *A = reference_new(m * s->r), *sums = reference_new(m * armilla_sparse_stride(s->work, s->r));
    void *codes = calloc((size_t)(s->r * n), armilla_type_size(s->work)); /* no more: what is read behind shows */
    armilla_transposed *copy = NULL;
    armilla_slots slots;
    armilla_slots_find(s->X, &slots);
    armilla_store(s->work, s->r * n, s->W, codes);
    REFERENCE_OK(armilla_call_enter(context, threads));
    sum_by_panels(context, s, A);
    REFERENCE_OK(armilla_transposed_new(context, s->X, s->work, &copy));
    const armilla_transposed_product product = {copy, {.r = s->r, .W = codes, .last = n}};
    make_sums(&product, s, 0, slots.count, sums);
    REFERENCE_HOLDS(same(s, sums, A));
    make_by_nodes(&product, s, 0, slots.count, sums);
    REFERENCE_HOLDS(same(s, sums, A));
    if (X) check_plain(s, X, A);
    REFERENCE_HOLDS(armilla_transposed_cut(copy, 0, 7) == 0 && armilla_transposed_cut(copy, 7, 7) == m);
    for (int at = 0; at < 7; at++)
        REFERENCE_HOLDS(armilla_transposed_cut(copy, at, 7) <= armilla_transposed_cut(copy, at + 1, 7));
    armilla_transposed_free(copy);
    armilla_call_leave(context);
    free(codes);
    free(sums);
    free(A);
}

static void check_shape(armilla_context *context, const shape *form, armilla_index index, uint64_t *random)
{
    double *X = make_matrix(form, random), *weights = reference_new(form->m);
    reference_sparse sparse;
    armilla_data *raw = NULL, *prepared = NULL;
    reference_round_to_f32(form->m * form->n, X);
    for (int64_t i = 0; i < form->m; i++) weights[i] = 1 + (double)(i % 5);
    const armilla_column_map map = {.weights = weights, .unit_length = true};
    reference_sparse_new(&sparse, ARMILLA_F32, index, false, form->m, form->n, X);
    REFERENCE_OK(armilla_data_wrap_sparse(context, ARMILLA_F32, index, sparse.values, sparse.features, sparse.starts,
                                          form->m, form->n, &raw));
    REFERENCE_OK(armilla_data_prepare(context, raw, &map, &prepared));
    for (int i = 0; i < RANKS; i++) {
        scene s = {form, raw, i % 2 ? ARMILLA_F32 : ARMILLA_F64, ranks[i], reference_new(ranks[i] * form->n)};
        reference_fill_normal(random, s.r * form->n, s.W);
        reference_round_to_f32(s.r * form->n, s.W);
        reference_scene("%s, rank %d, indices of %d bits", form->what, (int)s.r, index == ARMILLA_I64 ? 64 : 32);
        check_scene(context, &s, X, 1 + i % 3);
        s.work = i % 2 ? ARMILLA_F64 : ARMILLA_F32;
        s.X = prepared;
        reference_scene("%s, rank %d, prepared", form->what, (int)s.r);
        check_scene(context, &s, NULL, 1 + i % 3);
        free(s.W);
    }
    armilla_data_free(prepared);
    armilla_data_free(raw);
    reference_sparse_free(&sparse);
    free(weights);
    free(X);
}

static void test_same_bits_as_panels(void **state)
{
    uint64_t random = 9;
    armilla_context *context = support_context();
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        check_shape(context, &shapes[i], ARMILLA_I32, &random);
        check_shape(context, &shapes[i], ARMILLA_I64, &random);
    }
    armilla_context_free(context);
}

/* A sweep that has such a copy, one beside it of another rank, and one that has none: the same sums, less memory. */
static void test_sweeps_with_a_copy(void **state)
{
    uint64_t random = 10;
    const shape *form = &shapes[0];
    double *X = make_matrix(form, &random);
    const int64_t m = form->m, n = form->n, r = 32;
    armilla_context *context = support_context();
    reference_sparse sparse;
    armilla_data *data = NULL;
    armilla_sweep *parts = NULL, *whole = NULL, *beside = NULL;
    bool pays = false;
    (void)state;
    reference_sparse_new(&sparse, ARMILLA_F32, ARMILLA_I32, false, m, n, X);
    REFERENCE_OK(armilla_data_wrap_sparse(context, ARMILLA_F32, ARMILLA_I32, sparse.values, sparse.features,
                                          sparse.starts, m, n, &data));
    scene s = {form, data, ARMILLA_F32, r, reference_new(r * n)};
    float *codes = calloc((size_t)(r * n), sizeof *codes);
    reference_fill_normal(&random, r * n, s.W);
    reference_round_to_f32(r * n, s.W);
    const armilla_sweep_plan kept = {.codes = codes, .sums = true, .step = give_codes, .self = &s};
    const armilla_sweep_plan passing = {.sums = true, .step = give_codes, .self = &s};
    const armilla_sweep_plan gram = {.sums = true, .gram_alone = true, .step = give_codes, .self = &s};
    REFERENCE_OK(armilla_call_enter(context, 2));
    REFERENCE_OK(armilla_transposed_pays(context, data, ARMILLA_F32, r, &pays));
    REFERENCE_HOLDS(pays);
    const int64_t before = armilla_context_memory_live(context);
    REFERENCE_OK(armilla_sweep_new(context, data, ARMILLA_F32, r, 0, &parts));
    const int64_t with_parts = armilla_context_memory_live(context) - before;
    REFERENCE_OK(armilla_sweep_new_whole(context, data, ARMILLA_F32, r, 0, &whole));
    REFERENCE_HOLDS(2 * (armilla_context_memory_live(context) - before - with_parts) < with_parts);
    REFERENCE_OK(armilla_sweep_new_beside(whole, r, &beside));
    REFERENCE_OK(armilla_sweep_run(parts, &passing));
    REFERENCE_OK(armilla_sweep_run(whole, &kept));
    REFERENCE_OK(armilla_sweep_run(beside, &passing));
    const size_t bytes = (size_t)(m * r) * sizeof(double), square = (size_t)(r * r) * sizeof(double);
    REFERENCE_HOLDS(memcmp(armilla_sweep_A(parts), armilla_sweep_A(whole), bytes) == 0);
    REFERENCE_HOLDS(memcmp(armilla_sweep_A(parts), armilla_sweep_A(beside), bytes) == 0);
    REFERENCE_HOLDS(memcmp(armilla_sweep_G(parts), armilla_sweep_G(whole), square) == 0);
    REFERENCE_OK(armilla_sweep_run(beside, &gram));
    REFERENCE_HOLDS(memcmp(armilla_sweep_G(parts), armilla_sweep_G(beside), square) == 0);
    armilla_sweep_free(beside);
    armilla_sweep_free(whole);
    armilla_sweep_free(parts);
    armilla_call_leave(context);
    armilla_data_free(data);
    reference_sparse_free(&sparse);
    armilla_context_free(context);
    free(codes);
    free(s.W);
    free(X);
}

/* Where features have many entries their sums are smaller than a copy; where memory is short codes are not there. */
static void test_when_it_pays(void **state)
{
    uint64_t random = 11;
    const shape *const forms[] = {&shapes[0], &shapes[2]};
    (void)state;
    for (int i = 0; i < 2; i++) {
        const shape *form = forms[i];
        double *X = make_matrix(form, &random);
        armilla_context *context = support_context();
        reference_sparse sparse;
        armilla_data *data = NULL;
        bool pays = false;
        reference_scene("%s", form->what);
        reference_sparse_new(&sparse, ARMILLA_F32, ARMILLA_I32, false, form->m, form->n, X);
        REFERENCE_OK(armilla_data_wrap_sparse(context, ARMILLA_F32, ARMILLA_I32, sparse.values, sparse.features,
                                              sparse.starts, form->m, form->n, &data));
        REFERENCE_OK(armilla_call_enter(context, 1));
        REFERENCE_OK(armilla_transposed_pays(context, data, ARMILLA_F32, 16, &pays));
        REFERENCE_HOLDS(pays == (i == 0));
        armilla_context_set_memory(context, armilla_context_memory_live(context) + 20000);
        REFERENCE_OK(armilla_transposed_pays(context, data, ARMILLA_F32, 16, &pays));
        REFERENCE_HOLDS(!pays);
        armilla_call_leave(context);
        armilla_data_free(data);
        armilla_context_free(context);
        reference_sparse_free(&sparse);
        free(X);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits_as_panels),
        cmocka_unit_test(test_sweeps_with_a_copy),
        cmocka_unit_test(test_when_it_pays),
    };
    (void)mallopt(M_PERTURB, 0x80); /* fresh memory is full of huge numbers */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
