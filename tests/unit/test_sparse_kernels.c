/* Every sparse kernel table that this CPU runs against plain loops, and the promise that a column's products have the
 * same bits wherever it stands. */
#include "reference/reference.h"

#include "linalg/kernels.h"
#include "linalg/sparse_kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 300, COUNT = 7, PARTITIONS = 3 };
static const int64_t ranks[] = {1, 2, 3, 4, 7, 8, 9, 10, 16, 20, 31, 32, 33, 64, 65, 100};
/* Entries of the columns: none, one, and more than are added up in the type at once. */
static const int64_t lengths[COUNT] = {0, 1, 5, 64, 65, 130, 300};

typedef struct columns {
    double *values;
    void *typed;
    int32_t rows[M * COUNT], starts[COUNT + 1];
    int64_t wide_rows[M * COUNT], wide_starts[COUNT + 1], cursors[COUNT];
} columns;

static columns *make_columns(armilla_type type, uint64_t *random)
{
    columns *c = calloc(1, sizeof *c);
    assert_non_null(c);
    int64_t entries = 0;
    c->values = reference_new(M * COUNT);
    for (int64_t j = 0; j < COUNT; j++) {
        for (int64_t i = 0; i < lengths[j]; i++, entries++) c->rows[entries] = (int32_t)(i * (M / lengths[j]));
        c->starts[j + 1] = (int32_t)entries;
    }
    reference_fill_normal(random, entries, c->values);
    if (type == ARMILLA_F32) reference_round_to_f32(entries, c->values);
    c->typed = calloc((size_t)entries, sizeof(double));
    assert_non_null(c->typed);
    armilla_store(type, entries, c->values, c->typed);
    for (int64_t i = 0; i < entries; i++) c->wide_rows[i] = c->rows[i];
    for (int64_t j = 0; j <= COUNT; j++) c->wide_starts[j] = c->starts[j];
    return c;
}

static void free_columns(columns *c)
{
    free(c->values);
    free(c->typed);
    free(c);
}

static armilla_sparse_columns view(columns *c, armilla_type type, bool index64, int64_t first, int64_t count)
{
    const int64_t at = c->starts[first];
    return (armilla_sparse_columns){count,
                                    (const char *)c->typed + (size_t)at * armilla_type_size(type),
                                    index64 ? (const void *)(c->wide_rows + at) : (const void *)(c->rows + at),
                                    index64 ? (const void *)(c->wide_starts + first)
                                            : (const void *)(c->starts + first),
                                    M,
                                    c->cursors};
}

static void check_products(const armilla_sparse_kernels *kernels, int64_t r, columns *c, uint64_t *random)
{
    const int64_t stride = armilla_sparse_stride(kernels->type, r);
    const double epsilon = armilla_epsilon(kernels->type);
    double *U = reference_new(M * stride), *C = reference_new(r * COUNT), *one = reference_new(r);
    char *typed = calloc((size_t)(M * stride), sizeof(double));
    assert_non_null(typed);
    reference_fill_normal(random, M * stride, U);
    for (int64_t i = 0; i < M * stride; i++)
        if (i % stride >= r) U[i] = 0;
    if (kernels->type == ARMILLA_F32) reference_round_to_f32(M * stride, U);
    armilla_store(kernels->type, M * stride, U, typed);
    for (int index64 = 0; index64 < 2; index64++) {
        armilla_sparse_columns all = view(c, kernels->type, index64, 0, COUNT);
        kernels->products[index64](&all, r, stride, typed, C);
        for (int64_t j = 0; j < COUNT; j++) {
            for (int64_t k = 0; k < r; k++) {
                double sum = 0, size = 0;
                for (int64_t i = c->starts[j]; i < c->starts[j + 1]; i++) {
                    sum += c->values[i] * U[c->rows[i] * stride + k];
                    size += fabs(c->values[i] * U[c->rows[i] * stride + k]);
                }
                REFERENCE_NEAR(C[j * r + k], sum, 80 * epsilon * size);
            }
            armilla_sparse_columns alone = view(c, kernels->type, index64, j, 1);
            kernels->products[index64](&alone, r, stride, typed, one);
            REFERENCE_HOLDS(memcmp(one, C + j * r, (size_t)r * sizeof *one) == 0);
        }
    }
    free(U);
    free(C);
    free(one);
    free(typed);
}

/* What was in A before does not count, and the padding is 0. */
static void check_accumulate(const armilla_sparse_kernels *kernels, int64_t r, columns *c, uint64_t *random)
{
    const int64_t stride = armilla_sparse_stride(kernels->type, r);
    const double bound = 1e-5 * armilla_epsilon(kernels->type) / armilla_epsilon(ARMILLA_F32) + 1e-13;
    double *W = reference_new(r * COUNT), *A = reference_new(M * stride), *wanted = reference_new(M * stride);
    char *typed = calloc((size_t)(r * COUNT), sizeof(double)), *typed_A = calloc((size_t)(M * stride), sizeof(double));
    assert_non_null(typed);
    assert_non_null(typed_A);
    reference_fill_normal(random, r * COUNT, W);
    if (kernels->type == ARMILLA_F32) reference_round_to_f32(r * COUNT, W);
    armilla_store(kernels->type, r * COUNT, W, typed);
    for (int64_t j = 0; j < COUNT; j++)
        for (int64_t i = c->starts[j]; i < c->starts[j + 1]; i++)
            for (int64_t k = 0; k < r; k++) wanted[c->rows[i] * stride + k] += c->values[i] * W[j * r + k];
    for (int index64 = 0; index64 < 2; index64++) {
        armilla_sparse_columns all = view(c, kernels->type, index64, 0, COUNT);
        memset(typed_A, 0x3f, (size_t)(M * stride) * armilla_type_size(kernels->type));
        kernels->accumulate[index64](&all, r, stride, typed, typed_A);
        armilla_fetch(kernels->type, M * stride, typed_A, A);
        for (int64_t i = 0; i < M * stride; i++) REFERENCE_NEAR(A[i], wanted[i], i % stride < r ? bound : 0);
    }
    free(W);
    free(A);
    free(wanted);
    free(typed);
    free(typed_A);
}

/* Column j goes to number names[p * COUNT + j] of its features for each partition p; all others are 0. */
static void check_gather(const armilla_sparse_kernels *kernels, int64_t r, columns *c)
{
    const int64_t stride = armilla_sparse_stride(kernels->type, r);
    const double bound = 1e-5 * armilla_epsilon(kernels->type) / armilla_epsilon(ARMILLA_F32) + 1e-13;
    double *A = reference_new(M * stride), *wanted = reference_new(M * stride);
    char *typed = calloc((size_t)(M * stride), sizeof(double));
    int32_t names[PARTITIONS * COUNT];
    const armilla_memberships memberships = {names, PARTITIONS, COUNT};
    assert_non_null(typed);
    for (int64_t j = 0; j < PARTITIONS * COUNT; j++) {
        const int64_t column = j % COUNT;
        names[j] = (int32_t)(j * j % r);
        for (int64_t i = c->starts[column]; i < c->starts[column + 1]; i++)
            wanted[c->rows[i] * stride + names[j]] += c->values[i];
    }
    for (int index64 = 0; index64 < 2; index64++) {
        armilla_sparse_columns all = view(c, kernels->type, index64, 0, COUNT);
        memset(typed, 0x3f, (size_t)(M * stride) * armilla_type_size(kernels->type));
        kernels->gather[index64](&all, stride, &memberships, typed);
        armilla_fetch(kernels->type, M * stride, typed, A);
        for (int64_t i = 0; i < M * stride; i++) REFERENCE_NEAR(A[i], wanted[i], wanted[i] != 0 ? bound : 0);
    }
    free(A);
    free(wanted);
    free(typed);
}

static void test_kernels_against_plain_loops(void **state)
{
    uint64_t random = 401;
    (void)state;
    for (size_t row = 0; armilla_sparse_kernels_row(row); row++) {
        const armilla_sparse_kernels *kernels = armilla_sparse_kernels_row(row);
        if (!armilla_instructions_supported(kernels->name)) continue;
        columns *c = make_columns(kernels->type, &random);
        for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
            reference_scene("%s %s, r = %d", kernels->name, armilla_type_word(kernels->type), (int)ranks[i]);
            check_products(kernels, ranks[i], c, &random);
            check_accumulate(kernels, ranks[i], c, &random);
            check_gather(kernels, ranks[i], c);
        }
        free_columns(c);
    }
}

static void test_every_type_has_kernels(void **state)
{
    (void)state;
    assert_int_equal(armilla_sparse_kernels_like(armilla_kernels_choose(ARMILLA_F32))->type, ARMILLA_F32);
    assert_int_equal(armilla_sparse_kernels_like(armilla_kernels_choose(ARMILLA_F64))->type, ARMILLA_F64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_against_plain_loops),
        cmocka_unit_test(test_every_type_has_kernels),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
