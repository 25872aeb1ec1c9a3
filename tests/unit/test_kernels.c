/* Every kernel table that this CPU runs against plain loops, and the promise that a column's products have the same
 * bits wherever it stands. */
#include "kernel_panels.h"

#include <float.h>

static void find_products(const panel *p, double *C)
{
    const armilla_columns X = all_columns(p);
    const armilla_atoms U = {.values = p->stored_U, .r = p->r};
    p->kernels->products(&X, &U, C);
}

/* C = U'X up to the rounding of sums that may run in four lanes or more. */
static void check_products(panel *p)
{
    const double epsilon = armilla_epsilon(p->kernels->type), terms = (double)p->m / 4 + 16;
    const plain_sums *plain = plain_products(p);
    find_products(p, p->C);
    for (int64_t i = 0; i < p->r * p->count; i++)
        REFERENCE_NEAR(p->C[i], plain->sums[i], terms * epsilon * (double)plain->sizes[i]);
}

/* XW'. */
static const plain_sums *plain_weighted(panel *p)
{
    if (p->weighted.sums) return &p->weighted;
    p->weighted = plain_sums_new(p->m * p->r);
    for (int64_t k = 0; k < p->r; k++)
        for (int64_t i = 0; i < p->m; i++)
            plain_dot(&p->weighted, i + k * p->m, p->count, p->X + i, (const int64_t[2]){p->stride, p->r}, p->W + k);
    return &p->weighted;
}

/* A += XW', on top of what A held. */
static void check_accumulate(panel *p)
{
    const double epsilon = armilla_epsilon(p->kernels->type), terms = (double)p->count + 4;
    const plain_sums *plain = plain_weighted(p);
    for (int64_t i = 0; i < p->m * p->r; i++) p->A[i] = (double)(i % 7);
    find_sums(p, p->A);
    for (int64_t i = 0; i < p->m * p->r; i++) {
        const double held = (double)(i % 7);
        REFERENCE_NEAR(p->A[i], held + plain->sums[i],
                       terms * epsilon * (double)plain->sizes[i] + 4 * DBL_EPSILON * held);
    }
}

/* A(:,names[j]) += x_j, on top of what A held. */
static void check_gather(panel *p)
{
    const armilla_columns X = all_columns(p);
    int32_t *names = calloc((size_t)p->count, sizeof *names);
    assert_non_null(names);
    for (int64_t j = 0; j < p->count; j++) names[j] = (int32_t)(j * j % p->r);
    for (int64_t i = 0; i < p->m * p->r; i++) p->A[i] = (double)(i % 7);
    p->kernels->gather(&X, names, p->A);
    for (int64_t k = 0; k < p->r; k++)
        for (int64_t i = 0; i < p->m; i++) {
            long double sum = (i + k * p->m) % 7, size = sum;
            for (int64_t j = 0; j < p->count; j++) {
                if (names[j] != k) continue;
                sum += (long double)p->X[i + j * p->stride];
                size += fabsl((long double)p->X[i + j * p->stride]);
            }
            REFERENCE_NEAR(p->A[i + k * p->m], sum, (double)p->count * DBL_EPSILON * (double)size);
        }
    free(names);
}

/* c_kj alone, in pairs and threes, at every place of the panel and of the block of atoms: always the same bits. */
static void check_places(panel *p)
{
    const armilla_atoms U = {.values = p->stored_U, .r = p->r};
    double *part = reference_new(p->r * 5), single = 0;
    find_products(p, p->C);
    for (int64_t first = 0; first < p->count; first++)
        for (int64_t width = 1; width <= 5 && first + width <= p->count; width += width == 3 ? 2 : 1) {
            const armilla_columns some = columns_at(p, first, width);
            p->kernels->products(&some, &U, part);
            REFERENCE_HOLDS(memcmp(part, p->C + first * p->r, (size_t)(p->r * width) * sizeof *part) == 0);
        }
    for (int64_t k = 0; k < p->r; k++)
        for (int64_t j = 0; j < p->count; j += 7) {
            const armilla_columns one = columns_at(p, j, 1);
            const armilla_atoms alone = {.values = element(p, p->stored_U, k * p->m), .r = 1};
            p->kernels->products(&one, &alone, &single);
            REFERENCE_HOLDS(memcmp(&single, &p->C[k + j * p->r], sizeof single) == 0);
        }
    free(part);
}

/* Products of single pairs, however many stand together, have the bits of c_kj. */
static void check_dots(panel *p)
{
    enum { MOST = 7 };
    const void *columns[MOST], *atoms[MOST];
    double products[MOST];
    find_products(p, p->C);
    for (int64_t first = 0; first < p->r * p->count; first += MOST)
        for (int64_t count = 1; count <= MOST && first + count <= p->r * p->count; count++) {
            for (int64_t q = 0; q < count; q++) {
                columns[q] = element(p, p->stored_X, (first + q) / p->r * p->stride);
                atoms[q] = element(p, p->stored_U, (first + q) % p->r * p->m);
            }
            p->kernels->dots(p->m, count, columns, atoms, products);
            REFERENCE_HOLDS(memcmp(products, p->C + first, (size_t)count * sizeof *products) == 0);
        }
}

/* Atoms that are packed, by halves, have the bits of those that are not. */
static void check_packing(panel *p)
{
    const armilla_atoms plain = {.values = p->stored_U, .r = p->r};
    void *packed = calloc((size_t)(p->m * p->r), armilla_type_size(p->kernels->type));
    assert_non_null(packed);
    p->kernels->pack(p->m, &plain, 0, p->r / 2, packed);
    p->kernels->pack(p->m, &plain, p->r / 2, p->r, packed);
    const armilla_atoms U = {.values = packed, .r = p->r, .packed = true};
    const armilla_columns X = all_columns(p);
    double *C = reference_new(p->r * p->count);
    find_products(p, p->C);
    p->kernels->products(&X, &U, C);
    REFERENCE_HOLDS(memcmp(C, p->C, (size_t)(p->r * p->count) * sizeof *C) == 0);
    free(C);
    free(packed);
}

/* Sums with scratch, which begins as anything, have the bits of those without; new ones those of sums on top of 0. */
static void check_scratch(panel *p)
{
    const size_t size = (size_t)(p->m * p->r) * sizeof(double);
    char *block = malloc(ARMILLA_KERNEL_SCRATCH + 64);
    double *made = reference_new(p->m * p->r);
    armilla_columns X = all_columns(p);
    assert_non_null(block);
    memset(block, 0xff, ARMILLA_KERNEL_SCRATCH + 64);
    X.scratch = block + (64 - (uintptr_t)block % 64) % 64;
    for (int64_t i = 0; i < p->m * p->r; i++) p->A[i] = made[i] = (double)(i % 7);
    find_sums(p, p->A);
    p->kernels->accumulate(&X, p->r, p->stored_W, false, made);
    REFERENCE_HOLDS(memcmp(made, p->A, size) == 0);
    memset(p->A, 0, size);
    find_sums(p, p->A);
    for (int with = 0; with < 2; with++) {
        X.scratch = with ? X.scratch : NULL;
        memset(made, 0xff, size);
        p->kernels->accumulate(&X, p->r, p->stored_W, true, made);
        for (int64_t i = 0; i < p->m * p->r; i++) REFERENCE_HOLDS(made[i] == p->A[i]);
        X.scratch = block + (64 - (uintptr_t)block % 64) % 64;
    }
    free(made);
    free(block);
}

/* The lower triangle of WW' is that of sums, with and without scratch. */
static void check_gram(panel *p)
{
    char *block = malloc(ARMILLA_KERNEL_SCRATCH);
    double *G = reference_new(p->r * p->r), *wanted = reference_new(p->r * p->r);
    armilla_columns W = {.values = p->stored_W, .m = p->r, .count = p->count, .stride = p->r};
    assert_non_null(block);
    for (int64_t i = 0; i < p->r * p->r; i++) G[i] = wanted[i] = (double)(i % 5);
    p->kernels->accumulate(&W, p->r, p->stored_W, false, wanted);
    for (int with = 0; with < 2; with++) {
        for (int64_t i = 0; i < p->r * p->r; i++) G[i] = (double)(i % 5);
        W.scratch = with ? block : NULL;
        p->kernels->gram(&W, G);
        for (int64_t k = 0; k < p->r; k++)
            REFERENCE_HOLDS(memcmp(G + k * p->r + k, wanted + k * p->r + k, (size_t)(p->r - k) * sizeof *G) == 0);
    }
    free(G);
    free(wanted);
    free(block);
}

/* The same column at two places, and the same call twice. */
static void check_repetition(panel *p)
{
    const size_t step = (size_t)p->stride * armilla_type_size(p->kernels->type);
    const size_t bytes = (size_t)p->m * armilla_type_size(p->kernels->type);
    const size_t size = (size_t)(p->m * p->r) * sizeof(double);
    double *again = reference_copy(p->m * p->r, p->A);
    panel same = *p;
    char *columns = malloc(step * (size_t)p->count);
    assert_non_null(columns);
    memcpy(columns, p->stored_X, step * (size_t)p->count);
    for (int64_t j = 1; j < p->count; j += 2) memcpy(columns + (size_t)j * step, columns, bytes);
    same.stored_X = columns;
    find_products(&same, p->C);
    for (int64_t j = 1; j < p->count; j += 2)
        REFERENCE_HOLDS(memcmp(p->C, p->C + j * p->r, (size_t)p->r * sizeof *p->C) == 0);
    find_sums(&same, p->A);
    find_sums(&same, again);
    REFERENCE_HOLDS(memcmp(p->A, again, size) == 0);
    free(columns);
    free(again);
}

static void test_every_panel(void **state)
{
    static panel_check *const checks[] = {
        check_products, check_accumulate, check_gather,     check_places, check_packing,
        check_scratch,  check_gram,       check_repetition, check_dots,   NULL};
    (void)state;
    for_every_panel(checks);
}

static void test_large_panels(void **state)
{
    static panel_check *const checks[] = {check_products, check_accumulate, check_packing,
                                          check_scratch,  check_gram,       NULL};
    (void)state;
    for_large_panels(checks);
}

static void test_choice_of_kernels(void **state)
{
    (void)state;
    for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++) {
        const armilla_kernels *kernels = armilla_kernels_choose((armilla_type)type);
        size_t portable = 0;
        assert_non_null(kernels);
        assert_int_equal(kernels->type, type);
        assert_true(armilla_instructions_supported(kernels->name));
        for (size_t row = 0; armilla_kernels_row(row); row++) {
            const armilla_kernels *one = armilla_kernels_row(row);
            portable += (int)one->type == type && strcmp(one->name, "portable") == 0;
        }
        assert_int_equal(portable, 1);
    }
    assert_true(armilla_epsilon(ARMILLA_F32) == 0x1p-23 && armilla_epsilon(ARMILLA_F64) == 0x1p-52);
}

/* Every byte, at every place of a vector. */
static void test_widen(void **state)
{
    enum { COUNT = 300 };
    uint8_t bytes[COUNT];
    double buffer[COUNT], back[COUNT];
    (void)state;
    for (int i = 0; i < COUNT; i++) bytes[i] = (uint8_t)(i * 37);
    for (size_t row = 0; armilla_kernels_row(row); row++) {
        const armilla_kernels *kernels = armilla_kernels_row(row);
        if (!armilla_instructions_supported(kernels->name)) continue;
        for (int first = 0; first < 20; first++) {
            kernels->convert[ARMILLA_U8](COUNT - first, bytes + first, buffer);
            armilla_fetch(kernels->type, COUNT - first, buffer, back);
            for (int i = first; i < COUNT; i++) REFERENCE_HOLDS(back[i - first] == (double)bytes[i]);
        }
    }
    armilla_fetch(ARMILLA_U8, COUNT, bytes, back);
    armilla_store(ARMILLA_U8, COUNT, back, buffer);
    assert_memory_equal(buffer, bytes, sizeof bytes);
}

static void test_store_and_fetch(void **state)
{
    enum { COUNT = 1000 };
    double from[COUNT], back[COUNT];
    float floats[COUNT];
    uint64_t random = 22;
    (void)state;
    for (int i = 0; i < COUNT; i++) from[i] = reference_normal(&random) * pow(10, 60 * reference_uniform(&random) - 40);
    from[0] = -0.0;
    from[1] = 1 + 0x1p-24; /* half way: to even */
    from[2] = 1 + 3 * 0x1p-24;
    from[3] = 0x1p-149 * 0.75;
    armilla_store(ARMILLA_F64, COUNT, from, back);
    assert_memory_equal(from, back, sizeof from);
    armilla_fetch(ARMILLA_F64, COUNT, from, back);
    assert_memory_equal(from, back, sizeof from);
    armilla_store(ARMILLA_F32, COUNT, from, floats);
    armilla_fetch(ARMILLA_F32, COUNT, floats, back);
    assert_true(signbit(back[0]) && back[1] == 1 && back[2] == 1 + 0x1p-22 && back[3] == 0x1p-149);
    for (int i = 4; i < COUNT; i++) {
        REFERENCE_HOLDS(back[i] == (double)floats[i]);
        REFERENCE_AT_MOST(fabs(back[i] - from[i]), 0x1p-24 * fabs(from[i]) + 0x1p-150);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_panel),       cmocka_unit_test(test_large_panels),
        cmocka_unit_test(test_choice_of_kernels), cmocka_unit_test(test_widen),
        cmocka_unit_test(test_store_and_fetch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
