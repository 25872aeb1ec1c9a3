/* Nonnegative codes on a sphere of more atoms than features: where the sample is long enough the problem in the ball is the
 * same, and convex, so that its optimality conditions prove a code to be the best of all. */
#include "reference/column.h"

#include "sets/column.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 12, R = 70, COLUMNS = 21 };

typedef struct overcomplete {
    double U[M * R], H[R * R];
    armilla_algebra *algebra;
    armilla_column_problem *problem;
    double *workspace;
} overcomplete;

static overcomplete new_problem(void)
{
    overcomplete o = {.workspace = reference_new(armilla_column_workspace(R))};
    REFERENCE_OK(armilla_algebra_new(reference_context, M, R, &o.algebra));
    REFERENCE_OK(armilla_column_problem_new(reference_context, &armilla_codes_nonneg_sphere, R, R, false, &o.problem));
    return o;
}

static void free_problem(const overcomplete *o)
{
    armilla_column_problem_free(o->problem);
    armilla_algebra_free(o->algebra);
    free(o->workspace);
}

/* Nonnegative atoms, the longest up to 10^(2 decades) times as long as the shortest. */
static void open_atoms(uint64_t *random, double decades, overcomplete *o)
{
    for (int64_t k = 0; k < R; k++) {
        const double length = pow(10, decades * (2 * reference_uniform(random) - 1));
        for (int64_t i = 0; i < M; i++) o->U[k * M + i] = length * fmax(0, reference_uniform(random) - 0.3);
    }
    for (int64_t a = 0; a < R; a++)
        for (int64_t k = 0; k < R; k++) {
            o->H[a * R + k] = 0;
            for (int64_t i = 0; i < M; i++) o->H[a * R + k] += o->U[a * M + i] * o->U[k * M + i];
        }
    REFERENCE_OK(armilla_column_problem_set(o->problem, o->algebra, o->H, ARMILLA_SOLVE));
}

/* d = U'x, x three times as long as some code on the sphere makes it, and off what atoms reach. */
static void draw_long(uint64_t *random, const overcomplete *o, double *d)
{
    double x[M], v[R], squares = 0;
    for (int64_t k = 0; k < R; k++) {
        v[k] = reference_uniform(random) < 0.2 ? reference_uniform(random) : 0;
        squares += v[k] * v[k];
    }
    for (int64_t i = 0; i < M; i++) {
        x[i] = 0;
        for (int64_t k = 0; k < R; k++) x[i] += o->U[k * M + i] * v[k] * (3 / sqrt(squares));
    }
    for (int64_t i = 0; i < M; i++) x[i] *= 1 + 0.1 * reference_uniform(random);
    for (int64_t k = 0; k < R; k++) {
        d[k] = 0;
        for (int64_t i = 0; i < M; i++) d[k] += o->U[k * M + i] * x[i];
    }
}

/* Hw + nu*w - d >= 0, nu >= 0, and 0 where w > 0, prove that no code in the ball is better. */
static void check_optimal(const overcomplete *o, const double *d, const double *w)
{
    double slopes[R], nu = 0, size = 0, squares = 0;
    for (int64_t a = 0; a < R; a++) {
        slopes[a] = -d[a];
        for (int64_t k = 0; k < R; k++) slopes[a] += o->H[a * R + k] * w[k];
        nu -= w[a] * slopes[a];
        size = fmax(size, fabs(d[a]));
        squares += w[a] * w[a];
    }
    REFERENCE_NEAR(squares, 1, 1e-12);
    REFERENCE_HOLDS(nu >= 0);
    for (int64_t a = 0; a < R; a++) {
        REFERENCE_HOLDS(w[a] >= 0);
        REFERENCE_AT_MOST(-(slopes[a] + nu * w[a]), 1e-6 * size);
    }
    double gap = 0;
    for (int64_t a = 0; a < R; a++) gap += w[a] * fabs(slopes[a] + nu * w[a]);
    REFERENCE_AT_MOST(gap, 1e-6 * size);
}

static void test_codes_of_long_samples_are_the_best(void **state)
{
    static const double decades[] = {0, 1, 2};
    overcomplete o = new_problem();
    double C[COLUMNS * R], W[COLUMNS * R], alone[R];
    uint64_t random = 17;
    (void)state;
    for (size_t i = 0; i < sizeof decades / sizeof *decades; i++) {
        open_atoms(&random, decades[i], &o);
        REFERENCE_HOLDS(armilla_ball_helps(o.problem));
        for (int64_t j = 0; j < COLUMNS; j++) draw_long(&random, &o, C + j * R);
        armilla_columns_solve(o.problem, &(armilla_column_batch){COLUMNS, C, 1, W}, o.workspace);
        for (int64_t j = 0; j < COLUMNS; j++) {
            reference_scene("%g decades, column %d", decades[i], (int)j);
            check_optimal(&o, C + j * R, W + j * R);
            armilla_columns_solve(o.problem, &(armilla_column_batch){1, C + j * R, 1, alone}, o.workspace);
            REFERENCE_HOLDS(memcmp(alone, W + j * R, sizeof alone) == 0);
        }
    }
    free_problem(&o);
}

/* Numbers whose squares leave the range: a code all the same. */
static void test_far_samples(void **state)
{
    overcomplete o = new_problem();
    static const double scales[] = {0, 1e-300, 1e-150, 1e100, 1e140, 1e250};
    double d[R], w[R];
    uint64_t random = 18;
    (void)state;
    open_atoms(&random, 1, &o);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        double squares = 0;
        draw_long(&random, &o, d);
        for (int64_t k = 0; k < R; k++) d[k] *= scales[i];
        armilla_column_solve(o.problem, d, w, o.workspace);
        for (int64_t k = 0; k < R; k++) squares += w[k] >= 0 ? w[k] * w[k] : NAN;
        reference_scene("scale %g", scales[i]);
        REFERENCE_NEAR(squares, 1, 1e-12);
    }
    free_problem(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes_of_long_samples_are_the_best),
        cmocka_unit_test(test_far_samples),
    };
    return cmocka_run_group_tests(tests, column_set_up, column_tear_down);
}
