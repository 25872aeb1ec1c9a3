/* Coordinate descent over a basis on fixed sums (solve/descent.c): against plain loops, pass by pass downhill, and in
 * the end at the minimum. */
#include "reference/reference.h"

#include "linalg/code_kernels.h"
#include "solve/descent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A basis and the sums that it is to fit: A = XW' and G = WW' of random codes. */
typedef struct scene {
    int64_t m, r;
    double *A, *G, *U, *next, *column;
    armilla_problem problem;
    armilla_trial trial;
    armilla_algebra *algebra;
} scene;

static void open_scene(scene *s, int64_t m, int64_t r, const armilla_basis_set *basis, uint64_t *random)
{
    const int64_t n = 3 * r + 2;
    double *W = reference_new(r * n), *X = reference_new(m * n);
    *s = (scene){.m = m, .r = r};
    s->A = reference_new(m * r);
    s->G = reference_new(r * r);
    s->U = reference_new(m * r);
    s->next = reference_new(m * r);
    s->column = reference_new(m);
    for (int64_t i = 0; i < r * n; i++) W[i] = reference_uniform(random);
    for (int64_t i = 0; i < m * n; i++) X[i] = reference_uniform(random) - 0.2;
    for (int64_t i = 0; i < m * r; i++) s->U[i] = reference_uniform(random);
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = 0; k < r; k++) {
            for (int64_t i = 0; i < m; i++) s->A[k * m + i] += X[j * m + i] * W[j * r + k];
            for (int64_t i = 0; i < r; i++) s->G[k * r + i] += W[j * r + k] * W[j * r + i];
        }
    REFERENCE_OK(armilla_algebra_new(reference_context, m, r, &s->algebra));
    s->problem = (armilla_problem){
        .m = m, .r = r, .options = {.basis = basis}, .algebra = s->algebra, .context = reference_context};
    s->trial = (armilla_trial){.A = s->A, .G = s->G, .l = 0.7, .U_kept = s->U, .U_new = s->next, .column = s->column};
    s->trial.problem = &s->problem;
    free(W);
    free(X);
}

static void close_scene(scene *s)
{
    armilla_algebra_free(s->algebra);
    free(s->A);
    free(s->G);
    free(s->U);
    free(s->next);
    free(s->column);
}

/* ||X - lUW||^2 up to ||X||^2. */
static double value_of(const scene *s, const double *U)
{
    const double l = s->trial.l;
    double value = 0;
    for (int64_t a = 0; a < s->r; a++)
        for (int64_t i = 0; i < s->m; i++) {
            double product = 0;
            for (int64_t k = 0; k < s->r; k++) product += U[k * s->m + i] * s->G[a * s->r + k];
            value += U[a * s->m + i] * (l * l * product - 2 * l * s->A[a * s->m + i]);
        }
    return value;
}

/* The same passes entry by entry, an atom at a time. */
static void descend_plainly(const scene *s, int passes, double floor, double *U)
{
    memcpy(U, s->U, (size_t)(s->m * s->r) * sizeof *U);
    for (int pass = 0; pass < passes; pass++)
        for (int64_t k = 0; k < s->r; k++)
            for (int64_t i = 0; i < s->m; i++) {
                double step = s->A[k * s->m + i] / s->trial.l;
                for (int64_t a = 0; a < s->r; a++) step -= U[a * s->m + i] * s->G[k * s->r + a];
                U[k * s->m + i] = fmax(U[k * s->m + i] + step / s->G[k * s->r + k], floor);
            }
}

static const armilla_basis_set *const entrywise[] = {&armilla_basis_nonnegative, &armilla_basis_free};

static void test_passes_are_those_of_plain_loops(void **state)
{
    static const int64_t heights[] = {1, 2, 15, 16, 17, 100, 2048, 2050, 5000};
    uint64_t random = 611;
    (void)state;
    for (size_t h = 0; h < sizeof heights / sizeof *heights; h++)
        for (int64_t r = 1; r <= 12; r += h < 6 ? 1 : 11)
            for (int kind = 0; kind < 2; kind++)
                for (int passes = 1; passes <= 4; passes += 3) {
                    scene s;
                    open_scene(&s, heights[h], r, entrywise[kind], &random);
                    reference_scene("m = %d, r = %d, %s, %d passes", (int)s.m, (int)r, entrywise[kind]->name, passes);
                    double *U = reference_new(s.m * r);
                    armilla_descend_basis(&s.trial, passes);
                    descend_plainly(&s, passes, kind == 0 ? 0 : -INFINITY, U);
                    for (int64_t i = 0; i < s.m * r; i++) REFERENCE_NEAR(s.next[i], U[i], 1e-9 * (1 + fabs(U[i])));
                    free(U);
                    close_scene(&s);
                }
}

/* Every table, at odd scales of the radius, and on any part of the rows: those outside it stay. */
static void test_tables(void **state)
{
    static const int64_t ranks[] = {1, 2, 31, 64, 200};
    static const double radii[] = {1, 0.7, 1e-100, 1e100};
    uint64_t random = 615;
    (void)state;
    for (int draw = 0; draw < 20; draw++) {
        scene s;
        open_scene(&s, 150, ranks[draw % 5], entrywise[draw % 2], &random);
        s.trial.l = radii[draw % 4];
        for (int64_t i = 0; i < s.m * s.r; i++) s.A[i] *= s.trial.l;
        const int64_t first = reference_below(&random, 75), last = 75 + reference_below(&random, 76);
        double *U = reference_new(s.m * s.r);
        descend_plainly(&s, 2, draw % 2 ? -INFINITY : 0, U);
        for (size_t row = 0; armilla_code_kernels_row(row); row++) {
            const armilla_code_kernels *kernels = armilla_code_kernels_row(row);
            if (!armilla_instructions_supported(kernels->name)) continue;
            memcpy(s.next, s.U, (size_t)(s.m * s.r) * sizeof *s.U);
            kernels->descend_rows(
                &(armilla_basis_descent){s.m, s.r, s.A, s.G, s.trial.l, 0, draw % 2 ? -INFINITY : 0, 2, s.next}, first,
                last);
            for (int64_t i = 0; i < s.m * s.r; i++) {
                const bool inside = i % s.m >= first && i % s.m < last;
                REFERENCE_NEAR(s.next[i], inside ? U[i] : s.U[i], inside ? 1e-9 * (1 + fabs(U[i])) : 0);
            }
        }
        free(U);
        close_scene(&s);
    }
}

/* No pass raises h, each is at least as far down as the one before, and none leaves the set. */
static void test_every_pass_descends(void **state)
{
    uint64_t random = 612;
    (void)state;
    for (int trial = 0; trial < 40; trial++)
        for (int kind = 0; kind < 2; kind++) {
            scene s;
            open_scene(&s, 1 + (int64_t)reference_below(&random, 60), 1 + (int64_t)reference_below(&random, 9),
                       entrywise[kind], &random);
            double before = value_of(&s, s.U);
            for (int passes = 1; passes <= 12; passes++) {
                armilla_descend_basis(&s.trial, passes);
                const double now = value_of(&s, s.next);
                REFERENCE_AT_MOST(now, before + 1e-12 * fabs(before));
                for (int64_t i = 0; i < s.m * s.r; i++) REFERENCE_HOLDS(kind == 1 || s.next[i] >= 0);
                before = now;
            }
            close_scene(&s);
        }
}

/* After many: no entry can be moved alone, which for this convex problem is the minimum. */
static void test_many_passes_end_at_the_minimum(void **state)
{
    uint64_t random = 613;
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        scene s;
        open_scene(&s, 7, 1 + trial % 4, &armilla_basis_nonnegative, &random);
        armilla_descend_basis(&s.trial, 20000);
        for (int64_t k = 0; k < s.r; k++)
            for (int64_t i = 0; i < s.m; i++) {
                double slope = s.A[k * s.m + i] / s.trial.l;
                for (int64_t a = 0; a < s.r; a++) slope -= s.next[a * s.m + i] * s.G[k * s.r + a];
                REFERENCE_AT_MOST(slope, 1e-7);
                REFERENCE_HOLDS(s.next[k * s.m + i] == 0 || fabs(slope) < 1e-7);
            }
        close_scene(&s);
    }
}

/* An atom that no code uses stays. */
static void test_unused_atoms_stay(void **state)
{
    uint64_t random = 614;
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        scene s;
        open_scene(&s, 33, 5, entrywise[kind], &random);
        for (int64_t k = 0; k < 5; k++) s.G[2 * 5 + k] = s.G[k * 5 + 2] = 0;
        memset(s.A + 2 * s.m, 0, (size_t)s.m * sizeof *s.A);
        armilla_descend_basis(&s.trial, 3);
        assert_memory_equal(s.next + 2 * s.m, s.U + 2 * s.m, (size_t)s.m * sizeof *s.U);
        for (int64_t i = 0; i < s.m * 5; i++) REFERENCE_HOLDS(isfinite(s.next[i]));
        close_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes_are_those_of_plain_loops),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_every_pass_descends),
        cmocka_unit_test(test_many_passes_end_at_the_minimum),
        cmocka_unit_test(test_unused_atoms_stay),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
