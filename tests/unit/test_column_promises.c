/* What all solvers of the column problem on a sphere promise: the same bits again and among any neighbours, no sight of
 * the scale, a code where there is no direction, descent that never rises. */
#include "reference/column.h"

#include "linalg/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void gives_the_same_bits_again(uint64_t *random, column *c)
{
    double first[MOST_RANK], again[MOST_RANK];
    (void)random;
    (void)column_solve(c, first);
    for (int64_t i = 0; i < armilla_column_workspace(c->r); i++) c->workspace[i] = i % 3 ? NAN : 1e300;
    REFERENCE_OK(armilla_column_problem_set(c->problem, c->algebra, c->H, ARMILLA_SOLVE));
    armilla_column_solve(c->problem, c->d, again, c->workspace);
    REFERENCE_HOLDS(memcmp(first, again, (size_t)c->r * sizeof *first) == 0);
}

static void does_not_see_the_scale(uint64_t *random, column *c)
{
    static const double scales[] = {0x1p-20, 0x1p30, 1e-8, 1e8, 1e-100, 1e100};
    double w[MOST_RANK], scaled_w[MOST_RANK];
    column scaled = *c;
    (void)random;
    const double value = column_solve(c, w), scale = column_scale(c);
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        for (int64_t k = 0; k < c->r * c->r; k++) scaled.H[k] = scales[i] * c->H[k];
        for (int64_t k = 0; k < c->r; k++) scaled.d[k] = scales[i] * c->d[k];
        (void)column_solve(&scaled, scaled_w);
        REFERENCE_NEAR(column_value(c, scaled_w), value, 1e-9 * scale);
    }
}

static void has_a_code_of_zero(uint64_t *random, column *c)
{
    double w[MOST_RANK];
    (void)random;
    memset(c->d, 0, sizeof c->d);
    (void)column_solve(c, w);
    for (int64_t k = 0; k < c->r; k++) c->d[k] = -0.0;
    (void)column_solve(c, w);
}

static void never_rises(uint64_t *random, column *c)
{
    double w[MOST_RANK];
    REFERENCE_OK(armilla_column_problem_set(c->problem, c->algebra, c->H, ARMILLA_DESCEND));
    for (int i = 0; i < 10; i++) {
        column_draw_point(random, c, w);
        for (int steps = 0; steps < 40; steps += 1 + steps) {
            const double before = column_value(c, w);
            armilla_column_descend(c->problem, c->d, steps, ARMILLA_SETTLED, w, c->workspace);
            column_check_feasible(c, w);
            REFERENCE_AT_MOST(column_value(c, w), before + 1e-14 * column_scale(c));
        }
    }
}

enum { NEIGHBOURS = 19 }; /* two blocks of lanes and a part of one */

static void code_columns(const column *c, bool descent, const armilla_column_batch *batch)
{
    if (descent)
        armilla_columns_descend(c->problem, batch, &(armilla_column_steps){7, 1e-6, 0}, c->workspace);
    else
        armilla_columns_solve(c->problem, batch, c->workspace);
}

/* Among any neighbours, in any number, a column has the code that it has alone; descent too. */
static void does_not_see_its_neighbours(uint64_t *random, column *c)
{
    const int64_t r = c->r;
    double C[NEIGHBOURS * MOST_RANK], W[NEIGHBOURS * MOST_RANK], start[NEIGHBOURS * MOST_RANK], w[MOST_RANK];
    const double unit = exp(reference_normal(random));
    for (int64_t j = 0; j < NEIGHBOURS; j++) {
        for (int64_t k = 0; k < r; k++) C[j * r + k] = c->d[k] * unit + (j % 3 ? reference_normal(random) : 0);
        column_draw_point(random, c, start + j * r);
    }
    for (int descent = 0; descent < 2; descent++)
        for (int64_t count = 1; count <= NEIGHBOURS; count += 1 + count / 2) {
            REFERENCE_OK(armilla_column_problem_set(c->problem, c->algebra, c->H, ARMILLA_SOLVE));
            memcpy(W, start, sizeof W);
            code_columns(c, descent, &(armilla_column_batch){count, C, unit, W});
            for (int64_t j = 0; j < count; j++) {
                memcpy(w, start + j * r, (size_t)r * sizeof *w);
                code_columns(c, descent, &(armilla_column_batch){1, C + j * r, unit, w});
                REFERENCE_HOLDS(memcmp(w, W + j * r, (size_t)r * sizeof *w) == 0);
                column_check_feasible(c, w);
            }
        }
}

enum { L = ARMILLA_MOST_LANES };

/* Columns of double into lanes of the table's type. */
static void put_lanes(const armilla_descent_kernels *kernels, int64_t r, const double *columns, void *lanes)
{
    double turned[L * MOST_RANK];
    for (int64_t i = 0; i < kernels->lanes; i++)
        for (int64_t k = 0; k < r; k++) turned[k * kernels->lanes + i] = columns[i * r + k];
    armilla_store(kernels->type, r * kernels->lanes, turned, lanes);
}

static double lane_number(const armilla_descent_kernels *kernels, const void *lanes, int64_t at)
{
    return kernels->type == ARMILLA_F32 ? (double)((const float *)lanes)[at] : ((const double *)lanes)[at];
}

/* One column of what a table made of them: as far down as one column at a time, and no higher than where it began. */
static void check_lane(column *c, const armilla_descent_kernels *kernels, int steps, const double *d, double *start,
                       const double *code)
{
    const bool single = kernels->type == ARMILLA_F32;
    const double scale = column_scale(c) + reference_norm(c->r, d), digits = single ? 1e-6 : 1e-13;
    const double from = armilla_column_value(c->problem, d, start), reached = armilla_column_value(c->problem, d, code);
    column_check_signs(c, code);
    REFERENCE_NEAR(reference_norm(c->r, code), 1, single ? 1e-6 : 10 * DBL_EPSILON);
    armilla_column_descend(c->problem, d, steps, 1e-12, start, c->workspace);
    const double to = armilla_column_value(c->problem, d, start);
    /* Rounding may decide a near-tie otherwise; what is reached is the same but for that. */
    REFERENCE_AT_MOST(reached, from + digits * (scale + fabs(from)));
    REFERENCE_NEAR(reached, to, (single ? 1e-5 : 1e-9) * (scale + fabs(to)) + (single ? 0.05 : 0.02) * (from - to));
}

static void check_table(column *c, const armilla_descent_kernels *kernels, const double *d, const double *start)
{
    const int64_t r = c->r, lanes = kernels->lanes;
    double H[MOST_RANK * MOST_RANK], D[L * MOST_RANK], W[L * MOST_RANK], values[L], one[MOST_RANK], code[MOST_RANK];
    armilla_store(kernels->type, r * r, c->problem->H, H);
    put_lanes(kernels, r, d, D);
    for (int steps = 1; steps < 30; steps += steps) {
        const armilla_descent descent = {
            .r = r, .H = H, .alpha = c->problem->alpha * (1 + 1e-6), .steps = steps, .settled = 1e-12};
        put_lanes(kernels, r, start, W);
        kernels->descend(&descent, D, W, values, c->workspace);
        for (int64_t i = 0; i < lanes; i++) {
            memcpy(one, start + i * r, (size_t)r * sizeof *one);
            for (int64_t k = 0; k < r; k++) code[k] = lane_number(kernels, W, k * lanes + i);
            check_lane(c, kernels, steps, d + i * r, one, code);
            const double value = armilla_column_value(c->problem, d + i * r, code);
            REFERENCE_NEAR(values[i], value,
                           (kernels->type == ARMILLA_F32 ? 1e-5 : 1e-12) *
                               (column_scale(c) + reference_norm(r, d + i * r)));
        }
    }
}

/* Lanes by every table against descent of one column at a time, step by step. */
static void descends_as_one_column_does(uint64_t *random, column *c)
{
    const int64_t r = c->r;
    double d[L * MOST_RANK], start[L * MOST_RANK];
    if (!c->codes->descend_lanes) return;
    REFERENCE_OK(armilla_column_problem_set(c->problem, c->algebra, c->H, ARMILLA_DESCEND));
    for (int64_t i = 0; i < L; i++) {
        column_draw_point(random, c, start + i * r);
        for (int64_t k = 0; k < r; k++) d[i * r + k] = c->d[k] + (i ? reference_normal(random) : 0);
    }
    for (size_t row = 0; armilla_descent_kernels_row(row); row++)
        if (armilla_instructions_supported(armilla_descent_kernels_row(row)->name))
            check_table(c, armilla_descent_kernels_row(row), d, start);
}

static void test_determinism(void **state)
{
    (void)state;
    column_for_each(208, (int)reference_effort(6, 1), gives_the_same_bits_again);
}

static void test_scale(void **state)
{
    (void)state;
    column_for_each(209, (int)reference_effort(3, 1), does_not_see_the_scale);
}

static void test_neighbours(void **state)
{
    (void)state;
    column_for_each(211, (int)reference_effort(3, 1), does_not_see_its_neighbours);
}

static void test_lanes(void **state)
{
    (void)state;
    column_for_each(212, (int)reference_effort(6, 1), descends_as_one_column_does);
}

static void test_zero(void **state)
{
    (void)state;
    column_for_each(210, (int)reference_effort(4, 1), has_a_code_of_zero);
}

static void test_descent(void **state)
{
    (void)state;
    column_for_each(211, (int)reference_effort(8, 1), never_rises);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_determinism), cmocka_unit_test(test_scale), cmocka_unit_test(test_zero),
        cmocka_unit_test(test_neighbours),  cmocka_unit_test(test_lanes), cmocka_unit_test(test_descent),
    };
    return cmocka_run_group_tests(tests, column_set_up, column_tear_down);
}
