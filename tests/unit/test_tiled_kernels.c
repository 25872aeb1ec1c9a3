/* Products of tiled atoms, sums of codes that were packed beforehand, and codes on their way to where they are kept: against
 * plain loops, and against the promise that a column has the same bits wherever it stands. */
#include "kernel_panels.h"

/* Atoms in tiles, which are made by parts. */
static armilla_atoms tile(const panel *p, const armilla_atoms *plain)
{
    const int64_t runs = p->kernels->tiled_runs(p->m);
    const size_t bytes = (size_t)p->kernels->tiled_numbers(p->m, plain->r) * armilla_type_size(p->kernels->type);
    void *tiled = malloc(bytes);
    assert_non_null(tiled);
    memset(tiled, 0xff, bytes);
    p->kernels->tile(p->m, plain, runs / 2, runs, tiled);
    p->kernels->tile(p->m, plain, 0, runs / 2, tiled);
    return (armilla_atoms){.values = tiled, .r = plain->r, .tiled = true};
}

static void tiles_free(armilla_atoms *U)
{
    free((void *)(uintptr_t)U->values);
}

/* The products of columns with them; behind these stands a number that no result may touch. */
static double *tiled_products(const panel *p, const armilla_columns *X, const armilla_atoms *U)
{
    double *C = reference_new(U->r * X->count + 1);
    for (int64_t i = 0; i <= U->r * X->count; i++) C[i] = 7;
    p->kernels->products(X, U, C);
    REFERENCE_HOLDS(C[U->r * X->count] == 7);
    return C;
}

/* Tiled atoms give the same products up to rounding, at most 1152 bytes of features summed one after the other, */
static void check_tiles(panel *p)
{
    const armilla_columns X = all_columns(p);
    const plain_sums *plain = plain_products(p);
    const double epsilon = armilla_epsilon(p->kernels->type),
                 terms = 1152 / (double)armilla_type_size(p->kernels->type);
    armilla_atoms U = tile(p, &(armilla_atoms){.values = p->stored_U, .r = p->r});
    double *C = tiled_products(p, &X, &U);
    for (int64_t i = 0; i < p->r * p->count; i++)
        REFERENCE_NEAR(C[i], plain->sums[i], fmin(terms, (double)p->m + 4) * epsilon * (double)plain->sizes[i]);
    free(C);
    tiles_free(&U);
}

/* Columns so far apart that kernels copy them. */
static void check_crowded(const panel *p, const armilla_atoms *U, const double *C)
{
    const int64_t size = (int64_t)armilla_type_size(p->kernels->type);
    const int64_t apart = (p->stride * size + 2047) / 2048 * 2048 / size;
    char *spread = calloc((size_t)(apart * p->count), (size_t)size);
    assert_non_null(spread);
    for (int64_t j = 0; j < p->count; j++)
        memcpy(spread + (size_t)(j * apart * size), element(p, p->stored_X, j * p->stride), (size_t)(p->m * size));
    const armilla_columns crowded = {.values = spread, .m = p->m, .count = p->count, .stride = apart};
    double *same = tiled_products(p, &crowded, U);
    REFERENCE_HOLDS(memcmp(same, C, (size_t)(p->r * p->count) * sizeof *C) == 0);
    free(same);
    free(spread);
}

/* and the same bits wherever a column stands, beside whichever others, at whichever distance, and wherever an atom does. */
static void check_tiled_places(panel *p)
{
    const armilla_columns X = all_columns(p);
    armilla_atoms U = tile(p, &(armilla_atoms){.values = p->stored_U, .r = p->r});
    double *C = tiled_products(p, &X, &U);
    for (int64_t first = 0; first < p->count; first += 1 + p->count / 5)
        for (int64_t width = 1; first + width <= p->count; width = 2 * width + 1) {
            const armilla_columns some = columns_at(p, first, width);
            double *part = tiled_products(p, &some, &U);
            REFERENCE_HOLDS(memcmp(part, C + first * p->r, (size_t)(p->r * width) * sizeof *part) == 0);
            free(part);
        }
    for (int64_t k = 0; k < p->r; k += 1 + p->r / 4) {
        const armilla_columns one = columns_at(p, p->count - 1, 1);
        armilla_atoms alone = tile(p, &(armilla_atoms){.values = element(p, p->stored_U, k * p->m), .r = 1});
        double *single = tiled_products(p, &one, &alone);
        REFERENCE_HOLDS(memcmp(single, &C[k + (p->count - 1) * p->r], sizeof *single) == 0);
        free(single);
        tiles_free(&alone);
    }
    check_crowded(p, &U, C);
    free(C);
    tiles_free(&U);
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

/* ||q||, whose squares stay in the range of double: valgrind has no other. */
static long double length_of(int64_t r, const double *q)
{
    const long double top = reference_largest(r, q);
    long double sum = 0;
    for (int64_t k = 0; k < r && top > 0; k++) sum += q[k] / top * (q[k] / top);
    return top * sqrtl(sum);
}

/* w = q scaled, in the simplest way that has no overflow. */
static bool scale_plainly(int64_t r, int64_t s, const double *q, double *w)
{
    const long double length = length_of(r, q);
    (void)s;
    for (int64_t k = 0; k < r; k++) w[k] = (double)(q[k] / length);
    return length > 0;
}

/* Codes of some columns of the panel, with their sums. */
typedef struct unit_result {
    void *typed;
    double *diagonal, cross, change;
} unit_result;

static unit_result find_unit_codes(const panel *p, const armilla_columns *X, const armilla_atoms *U,
                                   const void *previous)
{
    const int64_t numbers = p->r * X->count;
    const size_t size = armilla_type_size(p->kernels->type);
    unit_result of = {calloc((size_t)numbers, size), reference_new(p->r), 3, 5};
    assert_non_null(of.typed);
    for (int64_t k = 0; k < p->r; k++) of.diagonal[k] = 2;
    if (previous) memcpy(of.typed, previous, (size_t)numbers * size);
    const armilla_projecting to = {.codes = {.r = p->r,
                                             .count = X->count,
                                             .previous = previous ? of.typed : NULL,
                                             .typed = of.typed,
                                             .diagonal = of.diagonal,
                                             .cross = &of.cross,
                                             .change = &of.change},
                                   .scaling = scale_plainly};
    p->kernels->unit_codes(X, U, &to);
    return of;
}

/* Codes on the sphere are products scaled to length 1, and the sums are of these. */
static void check_unit_sums(const panel *p, const unit_result *of, const double *C, const void *previous)
{
    const double epsilon = armilla_epsilon(p->kernels->type), roundings = reference_wide() ? 2 : 4;
    const int64_t numbers = p->r * p->count;
    double *w = reference_new(numbers), *before = reference_new(numbers);
    long double cross = 0, change = 0;
    armilla_fetch(p->kernels->type, numbers, of->typed, w);
    if (previous) armilla_fetch(p->kernels->type, numbers, previous, before);
    for (int64_t j = 0; j < p->count; j++) {
        const long double length = length_of(p->r, C + j * p->r);
        for (int64_t i = j * p->r; i < (j + 1) * p->r; i++) {
            cross += (long double)C[i] * w[i];
            change += previous ? (long double)(w[i] - before[i]) * (w[i] - before[i]) : 0;
        }
        for (int64_t k = 0; k < p->r; k++) {
            const long double wanted = length > 0 ? C[j * p->r + k] / length : k == 0;
            REFERENCE_NEAR(w[j * p->r + k], wanted, roundings * epsilon * (double)fabsl(wanted));
            REFERENCE_HOLDS(w[j * p->r + k] != 0 || !signbit(w[j * p->r + k]));
        }
        REFERENCE_NEAR(reference_dot(p->r, w + j * p->r, w + j * p->r), 1, 4 * epsilon);
    }
    const double terms = 12 * (double)(p->r / 4 + 2);
    REFERENCE_NEAR(of->cross, 3 + cross, terms * epsilon * (double)(cross + 3));
    REFERENCE_NEAR(of->change, 5 + change, terms * epsilon * (double)(change + 5));
    for (int64_t k = 0; k < p->r; k++) {
        long double wanted = 2;
        for (int64_t j = 0; j < p->count; j++) wanted += (long double)w[k + j * p->r] * w[k + j * p->r];
        REFERENCE_NEAR(of->diagonal[k], wanted, 14 * epsilon * (double)wanted);
    }
    free(w);
    free(before);
}

static void free_result(unit_result *of)
{
    free(of->typed);
    free(of->diagonal);
}

/* Column j becomes `factor` times itself. */
static void scale_column(panel *p, int64_t j, double factor)
{
    for (int64_t i = j * p->stride; i < j * p->stride + p->m; i++) {
        p->X[i] *= factor;
        armilla_store(p->kernels->type, 1, &p->X[i],
                      (char *)p->stored_X + (size_t)i * armilla_type_size(p->kernels->type));
    }
}

static void check_unit_codes(panel *p)
{
    const size_t size = armilla_type_size(p->kernels->type);
    if (!p->kernels->has_unit_codes(p->m, p->r)) return;
    armilla_atoms U = tile(p, &(armilla_atoms){.values = p->stored_U, .r = p->r});
    const size_t numbers = (size_t)(p->stride * (p->count - 1) + p->m); /* other checks see the panel as it was */
    double *kept = reference_new((int64_t)numbers);
    memcpy(kept, p->X, numbers * sizeof *kept);
    for (int odd = 0; odd < 3; odd++) { /* none; a column of zeros; one that is far smaller than the others */
        if (odd > 0) scale_column(p, p->count / 2, odd == 1 ? 0 : 1);
        if (odd > 1) scale_column(p, p->count / 3, p->kernels->type == ARMILLA_F32 ? 1e-32 : 1e-160);
        const armilla_columns X = all_columns(p);
        double *C = tiled_products(p, &X, &U);
        unit_result all = find_unit_codes(p, &X, &U, NULL), moved = find_unit_codes(p, &X, &U, p->stored_W);
        check_unit_sums(p, &all, C, NULL);
        check_unit_sums(p, &moved, C, p->stored_W);
        REFERENCE_HOLDS(memcmp(all.typed, moved.typed, (size_t)(p->r * p->count) * size) == 0);
        for (int64_t first = 0; first < p->count; first += 1 + p->count / 5)
            for (int64_t width = 1; first + width <= p->count; width = 2 * width + 1) {
                const armilla_columns some = columns_at(p, first, width);
                unit_result part = find_unit_codes(p, &some, &U, NULL);
                REFERENCE_HOLDS(memcmp(part.typed, (char *)all.typed + (size_t)(first * p->r) * size,
                                       (size_t)(p->r * width) * size) == 0);
                free_result(&part);
            }
        free_result(&all);
        free_result(&moved);
        free(C);
    }
    memcpy(p->X, kept, numbers * sizeof *kept);
    armilla_store(p->kernels->type, (int64_t)numbers, kept, (char *)p->stored_X);
    free(kept);
    tiles_free(&U);
}

static void test_every_panel(void **state)
{
    static panel_check *const checks[] = {check_tiles,    check_tiled_places, check_long_columns,
                                          check_settling, check_unit_codes,   NULL};
    (void)state;
    for_every_panel(checks);
}

static void test_large_panels(void **state)
{
    static panel_check *const checks[] = {check_tiles,        check_tiled_places, check_packed_codes,
                                          check_long_columns, check_unit_codes,   NULL};
    (void)state;
    for_large_panels(checks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_panel), cmocka_unit_test(test_large_panels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
