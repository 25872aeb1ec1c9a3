/* The code sets' projections against every support there is, their rules for ties, and the basis sets. */
#include "reference/reference.h"
#include "unit/support.h"

#include "sets/sets.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_RANK = 6, DRAWS = 17000, LARGE_RANK = 500 };

/* How the entries of q are drawn. */
static double draw_normal(uint64_t *random)
{
    return reference_normal(random);
}

static double draw_grid(uint64_t *random)
{
    return (double)(reference_below(random, 5) - 2);
}

static double draw_mostly_zero(uint64_t *random)
{
    const int64_t die = reference_below(random, 6);
    return die < 2 ? 0.0 : die < 4 ? -0.0 : reference_normal(random);
}

static double draw_negative(uint64_t *random)
{
    const int64_t die = reference_below(random, 4);
    return die == 0 ? -0.0 : die == 1 ? -1.0 : -fabs(reference_normal(random));
}

static double draw_denormal(uint64_t *random)
{
    const double few = (double)(reference_below(random, 7) - 3), many = floor(1e6 * reference_normal(random));
    return (reference_below(random, 2) ? few : many) * 0x1p-1074;
}

static double draw_huge(uint64_t *random)
{
    return 1e150 * reference_normal(random);
}

static double draw_tiny(uint64_t *random)
{
    return 1e-150 * reference_normal(random);
}

static double draw_mixed(uint64_t *random)
{
    return reference_normal(random) * pow(10, 300 * reference_uniform(random) - 150);
}

static double draw_limit(uint64_t *random)
{
    static const double limits[] = {DBL_MAX, -DBL_MAX, DBL_MIN, -DBL_MIN, 1, 0x1p-1074};
    return limits[reference_below(random, 6)];
}

static double draw_float(uint64_t *random)
{
    return (double)(float)(reference_normal(random) * (reference_below(random, 2) ? 1 : 1e-3));
}

static const struct {
    const char *name;
    double (*draw)(uint64_t *random);
} sorts[] = {
    {"normal", draw_normal},     {"grid", draw_grid}, {"zeros", draw_mostly_zero}, {"negative", draw_negative},
    {"denormal", draw_denormal}, {"huge", draw_huge}, {"tiny", draw_tiny},         {"mixed", draw_mixed},
    {"limit", draw_limit},       {"f32", draw_float},
};
enum { SORTS = sizeof sorts / sizeof sorts[0] };

/* The number of entries that go before entry i: larger ones, and equal ones of a lower index. */
static int64_t place(int64_t r, const double *q, bool absolute, int64_t i)
{
    const double mine = absolute ? fabs(q[i]) : q[i];
    int64_t before = 0;
    for (int64_t k = 0; k < r; k++) {
        const double key = absolute ? fabs(q[k]) : q[k];
        before += key > mine || (key == mine && k < i);
    }
    return before;
}

/* The support that the table of docs/algorithm.md#projections asks for, ties included, entry by entry. */
static bool belongs(const armilla_code_set *set, int64_t r, int64_t s, const double *q, int64_t i)
{
    const int64_t before = place(r, q, !set->nonnegative, i);
    if (set->nonnegative && !(q[i] > 0)) {
        bool any = false;
        for (int64_t k = 0; k < r; k++) any |= q[k] > 0;
        return !any && before == 0;
    }
    return q[i] != 0 && before < s;
}

/* w is feasible, of unit length, on the right support and in the direction of q there. */
static void check_shape(const armilla_code_set *set, int64_t r, int64_t s, const double *q, const double *w)
{
    double kept[LARGE_RANK], largest = 0;
    bool mine[LARGE_RANK];
    int exponent = 0;
    long double sum = 0, length = 0;
    int64_t nonzeros = 0;
    for (int64_t i = 0; i < r; i++) {
        mine[i] = belongs(set, r, s, q, i);
        kept[i] = !mine[i] ? 0 : set->nonnegative && !(q[i] > 0) ? 1 : q[i];
        largest = fmax(largest, fabs(kept[i]));
    }
    (void)frexp(largest, &exponent);
    for (int64_t i = 0; i < r; i++) {
        kept[i] = kept[i] == 0 ? 0 : ldexp(kept[i], -exponent);
        sum += (long double)kept[i] * kept[i];
    }
    sum = sqrtl(sum);
    for (int64_t i = 0; i < r; i++) {
        const long double wanted = kept[i] / sum;
        if (!mine[i]) REFERENCE_HOLDS(w[i] == 0);
        REFERENCE_HOLDS(w[i] != 0 || !signbit(w[i]));
        REFERENCE_HOLDS(!set->nonnegative || w[i] >= 0);
        REFERENCE_AT_MOST(fabsl(w[i] - wanted), 4 * DBL_EPSILON * fabsl(wanted) + 0x1p-1073);
        nonzeros += w[i] != 0;
        length += (long double)w[i] * w[i];
    }
    REFERENCE_HOLDS(nonzeros >= 1 && (!set->sparse || nonzeros <= s));
    REFERENCE_AT_MOST(fabsl(sqrtl(length) - 1), 4 * DBL_EPSILON);
}

/* <w, q> against the best value there is; both without the exponent of q. */
static void check_value(int64_t r, const double *q, const double *w, int exponent, long double best)
{
    long double value = 0, length = 0;
    for (int64_t i = 0; i < r; i++) {
        const long double entry = ldexp(q[i], -exponent);
        value += w[i] * entry;
        length += entry * entry;
    }
    REFERENCE_AT_MOST(fabsl(value - best), 8 * DBL_EPSILON * sqrtl(length));
}

static void check_projections(int64_t r, const double *q, int64_t *projections)
{
    const bool zero = reference_largest(r, q) == 0;
    double w[SMALL_RANK];
    long double best[2][SMALL_RANK];
    const int exponent = reference_projection_values(r, false, q, best[0]);
    assert_int_equal(reference_projection_values(r, true, q, best[1]), exponent);
    for (size_t i = 0; armilla_codes_row(i); i++) {
        const armilla_code_set *set = armilla_codes_row(i);
        if (!set->spherical) continue;
        for (int64_t s = set->sparse ? 1 : r; s <= r; s++) {
            memset(w, 0xff, sizeof w); /* NaN, so that an entry left unset is seen */
            const bool found = set->project(r, s, q, w);
            ++*projections;
            REFERENCE_HOLDS(found == !zero);
            if (zero) continue;
            check_shape(set, r, s, q, w);
            check_value(r, q, w, exponent, best[set->nonnegative][s - 1]);
        }
    }
}

static void test_projections_are_global(void **state)
{
    const int64_t draws = reference_effort(DRAWS, 200);
    int64_t vectors = 0, projections = 0;
    uint64_t random = 2024;
    (void)state;
    for (size_t sort = 0; sort < SORTS; sort++)
        for (int64_t r = 1; r <= SMALL_RANK; r++)
            for (int64_t draw = 0; draw < draws; draw++) {
                double q[SMALL_RANK];
                reference_scene("%s, r = %d, draw %d", sorts[sort].name, (int)r, (int)draw);
                for (int64_t k = 0; k < r; k++) q[k] = sorts[sort].draw(&random);
                check_projections(r, q, &projections);
                vectors++;
            }
    print_message("%d vectors, %d projections\n", (int)vectors, (int)projections);
    assert_true(vectors >= reference_effort(1000000, 0));
}

/* No feasible unit vector does better: the brute force itself, checked by chance. */
static void test_brute_force_is_an_upper_bound(void **state)
{
    uint64_t random = 7;
    (void)state;
    for (int64_t draw = 0; draw < reference_effort(200000, 2000); draw++) {
        const int64_t r = 1 + reference_below(&random, SMALL_RANK), s = 1 + reference_below(&random, r);
        const reference_pair *pair = &reference_pairs[draw % REFERENCE_PAIRS];
        const int64_t most = pair->sparse ? s : r;
        double q[SMALL_RANK], v[SMALL_RANK];
        long double best[SMALL_RANK];
        for (int64_t k = 0; k < r; k++) q[k] = sorts[draw % 4].draw(&random);
        reference_random_codes(&random, pair, r, most, 1, 1, v);
        const int exponent = reference_projection_values(r, pair->nonnegative_codes, q, best);
        REFERENCE_AT_MOST(reference_dot(r, v, q), ldexpl(best[most - 1], exponent) + 1e-14);
    }
}

/* The examples that the rules were made for. */
static void test_ties_go_to_the_lowest_index(void **state)
{
    double w[4];
    (void)state;
    assert_true(armilla_codes_sparse_sphere.project(4, 1, (const double[]){1, -2, 2, -2}, w));
    assert_memory_equal(w, ((const double[]){0, -1, 0, 0}), sizeof w);
    assert_true(armilla_codes_nonneg_sparse_sphere.project(4, 1, (const double[]){1, -2, 2, 2}, w));
    assert_memory_equal(w, ((const double[]){0, 0, 1, 0}), sizeof w);
    assert_true(armilla_codes_nonneg_sphere.project(4, 4, (const double[]){-3, -1, -1, -2}, w));
    assert_memory_equal(w, ((const double[]){0, 1, 0, 0}), sizeof w);
    assert_true(armilla_codes_nonneg_sparse_sphere.project(4, 2, (const double[]){-3, -0.0, 0, -2}, w));
    assert_memory_equal(w, ((const double[]){0, 1, 0, 0}), sizeof w);
    assert_true(armilla_codes_sparse_sphere.project(4, 3, (const double[]){0, 5, -0.0, 0}, w));
    assert_memory_equal(w, ((const double[]){0, 1, 0, 0}), sizeof w);
    assert_true(armilla_codes_sphere.project(4, 4, (const double[]){3, -0.0, 0, -4}, w));
    assert_memory_equal(w, ((const double[]){0.6, 0, 0, -0.8}), sizeof w);
}

/* Larger ranks: the kept entries are those that a sort would keep. */
static void test_keep_largest_against_a_sort(void **state)
{
    static const int64_t ranks[] = {7, 16, 33, 100, LARGE_RANK};
    static const size_t chosen_sorts[] = {0, 1, 2, 3, 9};
    uint64_t random = 31;
    double q[LARGE_RANK], w[LARGE_RANK];
    (void)state;
    for (size_t a = 0; a < 5; a++)
        for (size_t b = 0; b < 5; b++)
            for (int draw = 0; draw < 40; draw++) {
                const int64_t r = ranks[a];
                const int64_t s = draw == 0 ? 1 : draw == 1 ? r : 1 + reference_below(&random, r);
                const bool positive = draw % 2;
                reference_scene("%s, r = %d, s = %d", sorts[chosen_sorts[b]].name, (int)r, (int)s);
                for (int64_t k = 0; k < r; k++) q[k] = sorts[chosen_sorts[b]].draw(&random);
                armilla_keep_largest(r, s, positive, q, w);
                for (int64_t k = 0; k < r; k++) {
                    const bool kept = place(r, q, !positive, k) < s && (positive ? q[k] > 0 : q[k] != 0);
                    REFERENCE_HOLDS(w[k] == (kept ? q[k] : 0));
                }
            }
}

static void test_projections_at_large_rank(void **state)
{
    uint64_t random = 32;
    double q[LARGE_RANK], w[LARGE_RANK];
    (void)state;
    for (int draw = 0; draw < 60; draw++) {
        const int64_t r = 10 + reference_below(&random, 80), s = 1 + reference_below(&random, r);
        reference_scene("r = %d, s = %d", (int)r, (int)s);
        for (int64_t k = 0; k < r; k++) q[k] = sorts[draw % 2].draw(&random);
        for (size_t i = 0; armilla_codes_row(i); i++) {
            const armilla_code_set *set = armilla_codes_row(i);
            if (!set->spherical) continue;
            assert_true(set->project(r, s, q, w));
            check_shape(set, r, set->sparse ? s : r, q, w);
        }
    }
}

static void test_nearest_basis(void **state)
{
    enum { M = 7, R = 3 };
    uint64_t random = 5;
    armilla_context *context = support_context();
    armilla_algebra *algebra = NULL;
    (void)state;
    assert_int_equal(armilla_algebra_new(context, M, R, &algebra), ARMILLA_OK);
    for (int draw = 0; draw < 200; draw++) {
        double B[M * R], polar[M * R], near[M * R];
        for (int64_t i = 0; i < M * R; i++) B[i] = sorts[draw % 2].draw(&random);
        memcpy(near, B, sizeof B);
        assert_int_equal(armilla_basis_nonnegative.nearest(algebra, M, R, near), ARMILLA_OK);
        for (int64_t i = 0; i < M * R; i++) assert_true(near[i] == (B[i] > 0 ? B[i] : 0) && !signbit(near[i]));
        reference_fill_normal(&random, M * R, B);
        memcpy(near, B, sizeof B);
        assert_int_equal(armilla_basis_orthonormal.nearest(algebra, M, R, near), ARMILLA_OK);
        reference_polar(M, R, B, polar);
        REFERENCE_AT_MOST(reference_distance(M * R, near, polar), 1e-10);
        REFERENCE_AT_MOST(armilla_basis_orthonormal.violation(M, R, near), 30 * sqrt(M) * DBL_EPSILON);
    }
    armilla_algebra_free(algebra);
    armilla_context_free(context);
}

static void test_violation_of_a_basis(void **state)
{
    uint64_t random = 6;
    double B[12];
    (void)state;
    for (int draw = 0; draw < 200; draw++) {
        double lowest = 0;
        reference_fill_normal(&random, 12, B);
        for (int i = 0; i < 12; i++) lowest = fmin(lowest, B[i]);
        REFERENCE_HOLDS(armilla_basis_nonnegative.violation(4, 3, B) == -lowest);
        REFERENCE_NEAR(armilla_basis_orthonormal.violation(4, 3, B), reference_skewness(4, 3, B), 1e-14);
    }
    for (int i = 0; i < 12; i++) B[i] = i % 5 == 0;
    REFERENCE_HOLDS(armilla_basis_orthonormal.violation(4, 3, B) == 0);
    REFERENCE_HOLDS(armilla_basis_nonnegative.violation(4, 3, B) == 0);
    B[7] = NAN;
    REFERENCE_HOLDS(!(armilla_basis_orthonormal.violation(4, 3, B) < 1));
    REFERENCE_HOLDS(!(armilla_basis_nonnegative.violation(4, 3, B) < 1));
}

/* Names, aliases and pairs are found, and only they. */
static void test_tables_of_sets(void **state)
{
    (void)state;
    for (size_t i = 0; armilla_basis_row(i); i++) {
        assert_ptr_equal(armilla_basis_find(armilla_basis_row(i)->name), armilla_basis_row(i));
        if (armilla_basis_row(i)->alias)
            assert_ptr_equal(armilla_basis_find(armilla_basis_row(i)->alias), armilla_basis_row(i));
    }
    for (size_t i = 0; armilla_codes_row(i); i++) {
        assert_ptr_equal(armilla_codes_find(armilla_codes_row(i)->name), armilla_codes_row(i));
        if (armilla_codes_row(i)->alias)
            assert_ptr_equal(armilla_codes_find(armilla_codes_row(i)->alias), armilla_codes_row(i));
    }
    for (size_t i = 0; armilla_models_row(i); i++) {
        const armilla_named_model *model = armilla_models_row(i);
        assert_ptr_equal(armilla_models_find(model->name), model);
        assert_ptr_equal(armilla_models_of_pair(model->basis, model->codes, model->sparsity,
                                                model->normalize ? model->normalize : "none"),
                         model);
        assert_non_null(armilla_basis_find(model->basis));
        assert_non_null(armilla_codes_find(model->codes));
    }
    assert_null(armilla_basis_find("orthonorma"));
    assert_null(armilla_codes_find(""));
    assert_null(armilla_models_find("orthonormal"));
    assert_null(armilla_models_of_pair("orthonormal", "nonneg-sphere", 0, "none"));
    assert_null(armilla_models_of_pair("unit", "nonneg-sparse-sphere", 2, "l2"));
    assert_null(armilla_models_of_pair("unit", "nonneg-sparse-sphere", 1, "none"));
}

/* Codes without a sphere: the nearest of the set, by every support, and no entry that is not one of q. */
static void test_nearest_codes_without_a_sphere(void **state)
{
    uint64_t random = 77;
    (void)state;
    for (int draw = 0; draw < 20000; draw++) {
        const int64_t r = 1 + reference_below(&random, SMALL_RANK), s = 1 + reference_below(&random, r);
        double q[SMALL_RANK], w[SMALL_RANK];
        for (int64_t k = 0; k < r; k++) q[k] = sorts[draw % 4].draw(&random);
        for (size_t i = 0; armilla_codes_row(i); i++) {
            const armilla_code_set *set = armilla_codes_row(i);
            double distance = 0, least = INFINITY;
            if (set->spherical) continue;
            assert_true(set->project(r, s, q, w));
            for (int64_t k = 0; k < r; k++) distance += (w[k] - q[k]) * (w[k] - q[k]);
            for (unsigned support = 0; support < 1u << r; support++) {
                double other = 0;
                if (set->sparse && __builtin_popcount(support) > s) continue;
                if (!set->conic && __builtin_popcount(support) != 1) continue;
                for (int64_t k = 0; k < r; k++) {
                    const double kept = !set->conic ? 1 : set->nonnegative ? fmax(q[k], 0) : q[k];
                    const double entry = support >> k & 1 ? kept : 0;
                    other += (entry - q[k]) * (entry - q[k]);
                }
                least = fmin(least, other);
            }
            reference_scene("%s, r = %d, s = %d", set->name, (int)r, (int)s);
            REFERENCE_AT_MOST(distance, least + 1e-14 * (1 + least));
            for (int64_t k = 0; k < r; k++) REFERENCE_HOLDS(w[k] != 0 || !signbit(w[k]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_projections_are_global),         cmocka_unit_test(test_brute_force_is_an_upper_bound),
        cmocka_unit_test(test_ties_go_to_the_lowest_index),    cmocka_unit_test(test_keep_largest_against_a_sort),
        cmocka_unit_test(test_projections_at_large_rank),      cmocka_unit_test(test_nearest_basis),
        cmocka_unit_test(test_violation_of_a_basis),           cmocka_unit_test(test_tables_of_sets),
        cmocka_unit_test(test_nearest_codes_without_a_sphere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
