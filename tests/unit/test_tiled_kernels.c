/* Products of tiled atoms, sums of codes that were packed beforehand, and codes on their way to where they are kept: against
 * plain loops, and against the promise that a column has the same bits wherever it stands. */
#include "kernel_panels.h"

/* The products of a panel with tiled atoms, which are made by parts; behind them stand NaN, which no result may touch. */
static double *tiled_products(const panel *p, const armilla_columns *X, const armilla_atoms *plain)
{
    const int64_t numbers = p->kernels->tiled_numbers(p->m, plain->r), runs = p->kernels->tiled_runs(p->m);
    double *C = reference_new(plain->r * X->count + 1);
    void *tiled = calloc((size_t)numbers, armilla_type_size(p->kernels->type));
    assert_non_null(tiled);
    memset(tiled, 0xff, (size_t)numbers * armilla_type_size(p->kernels->type));
    p->kernels->tile(p->m, plain, runs / 2, runs, tiled);
    p->kernels->tile(p->m, plain, 0, runs / 2, tiled);
    for (int64_t i = 0; i <= plain->r * X->count; i++) C[i] = 7;
    const armilla_atoms U = {.values = tiled, .r = plain->r, .tiled = true};
    p->kernels->products(X, &U, C);
    REFERENCE_HOLDS(C[plain->r * X->count] == 7);
    free(tiled);
    return C;
}

/* Tiled atoms give the same products up to rounding, at most 1152 bytes of features summed one after the other, */
static void check_tiles(panel *p)
{
    const armilla_atoms plain = {.values = p->stored_U, .r = p->r};
    const armilla_columns X = all_columns(p);
    const double epsilon = armilla_epsilon(p->kernels->type),
                 terms = 1152 / (double)armilla_type_size(p->kernels->type);
    double *C = tiled_products(p, &X, &plain);
    for (int64_t j = 0; j < p->count; j++)
        for (int64_t k = 0; k < p->r; k++) {
            long double sum = 0, size = 0;
            for (int64_t i = 0; i < p->m; i++) {
                const long double term = (long double)p->X[i + j * p->stride] * p->U[i + k * p->m];
                sum += term;
                size += fabsl(term);
            }
            REFERENCE_NEAR(C[k + j * p->r], sum, fmin(terms, (double)p->m + 4) * epsilon * (double)size);
        }
    free(C);
}

/* and the same bits wherever a column stands, beside whichever others, at whichever distance, and wherever an atom does. */
static void check_tiled_places(panel *p)
{
    const armilla_atoms plain = {.values = p->stored_U, .r = p->r};
    const armilla_columns X = all_columns(p);
    const size_t size = armilla_type_size(p->kernels->type);
    double *C = tiled_products(p, &X, &plain);
    for (int64_t first = 0; first < p->count; first += 1 + p->count / 5)
        for (int64_t width = 1; first + width <= p->count; width = 2 * width + 1) {
            const armilla_columns some = columns_at(p, first, width);
            double *part = tiled_products(p, &some, &plain);
            REFERENCE_HOLDS(memcmp(part, C + first * p->r, (size_t)(p->r * width) * sizeof *part) == 0);
            free(part);
        }
    for (int64_t k = 0; k < p->r; k += 1 + p->r / 4) {
        const armilla_columns one = columns_at(p, p->count - 1, 1);
        const armilla_atoms alone = {.values = element(p, p->stored_U, k * p->m), .r = 1};
        double *single = tiled_products(p, &one, &alone);
        REFERENCE_HOLDS(memcmp(single, &C[k + (p->count - 1) * p->r], sizeof *single) == 0);
        free(single);
    }
    const int64_t apart =
        (p->stride * (int64_t)size + 2047) / 2048 * 2048 / (int64_t)size; /* columns that are copied */
    char *spread = calloc((size_t)(apart * p->count), size);
    assert_non_null(spread);
    for (int64_t j = 0; j < p->count; j++)
        memcpy(spread + (size_t)(j * apart) * size, element(p, p->stored_X, j * p->stride), (size_t)p->m * size);
    const armilla_columns crowded = {.values = spread, .m = p->m, .count = p->count, .stride = apart};
    double *same = tiled_products(p, &crowded, &plain);
    REFERENCE_HOLDS(memcmp(same, C, (size_t)(p->r * p->count) * sizeof *C) == 0);
    free(same);
    free(spread);
    free(C);
}

/* Codes that are packed beforehand give the bits of those that are not. */
static void check_packed_codes(panel *p)
{
    if (p->r < ARMILLA_LEAST_PACKED || p->count > ARMILLA_MOST_PACKED) return;
    char *block = malloc(ARMILLA_KERNEL_SCRATCH + 64);
    void *packed = calloc((size_t)(p->r * p->count), armilla_type_size(p->kernels->type));
    double *made = reference_new(p->m * p->r);
    armilla_columns X = all_columns(p);
    assert_non_null(block);
    assert_non_null(packed);
    X.scratch = block + (64 - (uintptr_t)block % 64) % 64;
    p->kernels->pack_codes(p->r, p->count, p->stored_W, packed);
    for (int64_t i = 0; i < p->m * p->r; i++) p->A[i] = (double)(i % 7);
    find_sums(p, p->A);
    X.packed_codes = true;
    for (int behind = 0; behind < 3; behind++) { /* nobody knows what; nothing; some columns */
        X.ahead = X.values;
        X.ahead_stride = behind > 0 ? 8192 : 0;
        X.ahead_bytes = behind > 1 ? 64 : 0;
        for (int64_t i = 0; i < p->m * p->r; i++) made[i] = (double)(i % 7);
        p->kernels->accumulate(&X, p->r, packed, false, made);
        REFERENCE_HOLDS(memcmp(made, p->A, (size_t)(p->m * p->r) * sizeof *made) == 0);
    }
    free(made);
    free(packed);
    free(block);
}

/* Columns far apart, of which the kernels fetch what they read next, and others behind them where there are some: the same
 * bits. */
static void check_long_columns(panel *p)
{
    enum { APART = 8192 + 64 };
    const int64_t size = (int64_t)armilla_type_size(p->kernels->type), apart = p->stride + APART / size;
    const armilla_atoms plain = {.values = p->stored_U, .r = p->r};
    const armilla_columns X = all_columns(p);
    char *spread = calloc((size_t)(apart * p->count), (size_t)size), *block = malloc(ARMILLA_KERNEL_SCRATCH + 64);
    double *C = tiled_products(p, &X, &plain), *dots = reference_new(p->r * p->count), *A = reference_new(p->m * p->r);
    assert_non_null(spread);
    assert_non_null(block);
    for (int64_t j = 0; j < p->count; j++)
        memcpy(spread + j * apart * size, element(p, p->stored_X, j * p->stride), (size_t)(p->m * size));
    p->kernels->products(&X, &plain, p->C);
    memset(p->A, 0, (size_t)(p->m * p->r) * sizeof *p->A);
    find_sums(p, p->A);
    for (int behind = 0; behind < 2; behind++) {
        armilla_columns far = {.values = spread, .m = p->m, .count = p->count, .stride = apart, .ahead_stride = apart};
        far.ahead = spread;
        far.ahead_bytes = behind ? apart * size : 0;
        double *same = tiled_products(p, &far, &plain);
        REFERENCE_HOLDS(memcmp(same, C, (size_t)(p->r * p->count) * sizeof *C) == 0);
        p->kernels->products(&far, &plain, dots);
        REFERENCE_HOLDS(memcmp(dots, p->C, (size_t)(p->r * p->count) * sizeof *C) == 0);
        far.scratch = block + (64 - (uintptr_t)block % 64) % 64;
        p->kernels->accumulate(&far, p->r, p->stored_W, true, A);
        for (int64_t i = 0; i < p->m * p->r; i++) REFERENCE_HOLDS(A[i] == p->A[i]);
        free(same);
    }
    free(A);
    free(dots);
    free(C);
    free(block);
    free(spread);
}

/* Codes become those of the type, in the place of the previous ones too, and sums are of these. */
static void check_settling(panel *p)
{
    const int64_t numbers = p->r * p->count;
    const size_t size = armilla_type_size(p->kernels->type);
    double *W = reference_new(numbers), *C = reference_new(numbers), *stored = reference_new(numbers);
    double *diagonal = reference_new(p->r), cross = 3, change = 5;
    for (int64_t i = 0; i < numbers; i++) W[i] = p->W[i] / 3;
    for (int64_t i = 0; i < numbers; i++) C[i] = 1 / (1 + (double)i);
    for (int64_t k = 0; k < p->r; k++) diagonal[k] = 2;
    void *typed = calloc((size_t)numbers, size);
    assert_non_null(typed);
    memcpy(typed, p->stored_W, (size_t)numbers * size);
    p->kernels->settle(&(armilla_settling){.r = p->r,
                                           .count = p->count,
                                           .W = W,
                                           .C = C,
                                           .previous = typed,
                                           .typed = typed,
                                           .diagonal = diagonal,
                                           .cross = &cross,
                                           .change = &change});
    armilla_fetch(p->kernels->type, numbers, typed, stored);
    long double wanted_cross = 3, wanted_change = 5;
    for (int64_t i = 0; i < numbers; i++) {
        REFERENCE_HOLDS(stored[i] == (p->kernels->type == ARMILLA_F32 ? (double)(float)W[i] : W[i]));
        wanted_cross += (long double)C[i] * stored[i];
        wanted_change += (long double)(stored[i] - p->W[i]) * (stored[i] - p->W[i]);
    }
    REFERENCE_NEAR(cross, wanted_cross, 1e-13 * (double)(numbers + 8));
    REFERENCE_NEAR(change, wanted_change, 1e-14 * (double)(numbers + 8) * (double)wanted_change);
    for (int64_t k = 0; k < p->r; k++) {
        long double wanted = 2;
        for (int64_t j = 0; j < p->count; j++) wanted += (long double)stored[k + j * p->r] * stored[k + j * p->r];
        REFERENCE_NEAR(diagonal[k], wanted, 1e-14 * (double)(p->count + 4) * (double)wanted);
    }
    free(typed);
    free(W);
    free(C);
    free(stored);
    free(diagonal);
}

static void test_tiled_products(void **state)
{
    (void)state;
    for_every_panel(check_tiles);
    for_large_panels(check_tiles);
}

static void test_tiled_products_do_not_depend_on_the_place(void **state)
{
    (void)state;
    for_every_panel(check_tiled_places);
    for_large_panels(check_tiled_places);
}

static void test_packed_codes(void **state)
{
    (void)state;
    for_large_panels(check_packed_codes);
}

static void test_long_columns(void **state)
{
    (void)state;
    for_every_panel(check_long_columns);
    for_large_panels(check_long_columns);
}

static void test_settling(void **state)
{
    (void)state;
    for_every_panel(check_settling);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiled_products), cmocka_unit_test(test_tiled_products_do_not_depend_on_the_place),
        cmocka_unit_test(test_packed_codes),   cmocka_unit_test(test_long_columns),
        cmocka_unit_test(test_settling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
