/* Codes that are found in single precision: feasible in double, a function of their column alone, and as good as those of
 * double but for its digits; of any rank and scale. Codes that are stored do not depend on whether that was allowed. */
#include "reference/reference.h"

#include "sets/column.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 35 }; /* two blocks of lanes and a part of one */

/* Problems of one basis, in double and with single precision allowed. */
typedef struct scene {
    const armilla_code_set *codes;
    int64_t r;
    double unit, *H, *C, *start, *space;
    armilla_algebra *algebra;
    armilla_column_problem *plain, *single;
} scene;

/* Column j: a mixture of few atoms and noise, some of them short, one of them nothing. */
static void draw_columns(uint64_t *random, int64_t m, const double *U, scene *s)
{
    double *x = reference_new(m);
    for (int64_t j = 0; j < COLUMNS; j++) {
        const double length = j == 7 ? 0 : pow(10, -2 * reference_uniform(random));
        const double *atom = U + reference_below(random, s->r) * m;
        for (int64_t i = 0; i < m; i++) x[i] = length * (atom[i] + 0.3 * reference_uniform(random));
        reference_left_transposed(m, s->r, 1, U, x, s->C + j * s->r);
        double *w = s->start + j * s->r, norm = 0;
        for (int64_t k = 0; k < s->r; k++)
            w[k] = reference_below(random, 2) || k == 0 ? reference_uniform(random) + 0.01 : 0;
        norm = reference_norm(s->r, w);
        for (int64_t k = 0; k < s->r && s->codes->spherical; k++) w[k] /= norm;
    }
    free(x);
}

/* atoms: the scale of U. */
static void open_scene(uint64_t *random, const armilla_code_set *codes, int64_t r, int64_t m, double atoms, scene *s)
{
    double *U = reference_new(m * r);
    *s = (scene){.codes = codes, .r = r, .unit = codes->spherical ? 0.37 : 1};
    s->H = reference_new(r * r);
    s->C = reference_new(r * COLUMNS);
    s->start = reference_new(r * COLUMNS);
    s->space = reference_new(armilla_column_workspace(r));
    reference_fill_uniform(random, m * r, U);
    for (int64_t i = 0; i < m * r; i++) U[i] = reference_below(random, 3) ? atoms * U[i] : 0;
    reference_left_transposed(m, r, r, U, U, s->H);
    draw_columns(random, m, U, s);
    REFERENCE_OK(armilla_algebra_new(reference_context, r, r, &s->algebra));
    REFERENCE_OK(armilla_column_problem_new(reference_context, codes, r, 0, false, &s->plain));
    REFERENCE_OK(armilla_column_problem_new(reference_context, codes, r, 0, false, &s->single));
    REFERENCE_OK(armilla_column_problem_allow_single(s->single));
    free(U);
}

static void close_scene(scene *s)
{
    armilla_column_problem_free(s->plain);
    armilla_column_problem_free(s->single);
    armilla_algebra_free(s->algebra);
    free(s->H);
    free(s->C);
    free(s->start);
    free(s->space);
}

static void set_effort(scene *s, armilla_effort effort)
{
    REFERENCE_OK(armilla_column_problem_set(s->plain, s->algebra, s->H, effort));
    REFERENCE_OK(armilla_column_problem_set(s->single, s->algebra, s->H, effort));
}

/* Codes of columns first ... by descent from the start, or solved. */
static void find(scene *s, const armilla_column_problem *problem, int64_t first, int64_t count, double *W)
{
    const double unit = armilla_column_unit(problem, s->unit);
    const armilla_column_batch batch = {count, s->C + first * s->r, unit, W};
    memcpy(W, s->start + first * s->r, (size_t)(count * s->r) * sizeof *W);
    if (problem->effort == ARMILLA_DESCEND)
        armilla_columns_descend(problem, &batch, &(armilla_column_steps){12, 1e-6, 0}, s->space);
    else
        armilla_columns_solve(problem, &batch, s->space);
}

static double value_of(scene *s, int64_t j, const double *w)
{
    double *d = s->space;
    for (int64_t k = 0; k < s->r; k++) d[k] = s->C[j * s->r + k] / armilla_column_unit(s->plain, s->unit);
    return armilla_column_value(s->plain, d, w);
}

/* What differences of g are measured by: where descent began. */
static void check_column(scene *s, int64_t j, const double *mine, const double *other)
{
    const double own = value_of(s, j, mine), plain = value_of(s, j, other), from = value_of(s, j, s->start + j * s->r);
    for (int64_t k = 0; k < s->r; k++) REFERENCE_HOLDS(isfinite(mine[k]) && mine[k] >= 0 && !signbit(mine[k]));
    if (s->codes->spherical) REFERENCE_NEAR(reference_norm(s->r, mine), 1, 10 * DBL_EPSILON);
    const double scale = fabs(from) + fabs(plain);
    REFERENCE_AT_MOST(own, from + 1e-5 * scale);
    if (s->plain->effort == ARMILLA_DESCEND) REFERENCE_NEAR(own, plain, 1e-5 * scale + 0.02 * fabs(from - plain));
    if (s->plain->effort != ARMILLA_DESCEND) REFERENCE_AT_MOST(own, plain + 1e-3 * scale);
}

static void check_effort(scene *s, armilla_effort effort)
{
    double *W = reference_new(s->r * COLUMNS), *other = reference_new(s->r * COLUMNS);
    set_effort(s, effort);
    find(s, s->plain, 0, COLUMNS, other);
    find(s, s->single, 0, COLUMNS, W);
    assert_int_equal(s->single->typed.kernels->type, effort == ARMILLA_SOLVE ? ARMILLA_F64 : ARMILLA_F32);
    if (effort == ARMILLA_SOLVE)
        assert_memory_equal(W, other, (size_t)(s->r * COLUMNS) * sizeof *W);
    else
        for (int64_t j = 0; j < COLUMNS; j++) check_column(s, j, W + j * s->r, other + j * s->r);
    for (int64_t j = 0; j < COLUMNS; j += 5) { /* alone */
        find(s, s->single, j, 1, other);
        assert_memory_equal(W + j * s->r, other, (size_t)s->r * sizeof *W);
    }
    free(W);
    free(other);
}

static const armilla_code_set *const sets[] = {&armilla_codes_nonneg_sphere, &armilla_codes_nonneg};

static void check_shapes(armilla_effort effort, const int64_t (*shapes)[2], size_t count)
{
    static const double scales[] = {1, 1e-9, 1e9, 1e-40, 1e40};
    uint64_t random = 651;
    for (size_t i = 0; i < count; i++)
        for (size_t kind = 0; kind < 2; kind++)
            for (size_t at = 0; at < (shapes[i][0] <= 33 ? 5 : 1); at++) {
                scene s;
                reference_scene("%s, r = %d, atoms of scale %g", sets[kind]->name, (int)shapes[i][0], scales[at]);
                open_scene(&random, sets[kind], shapes[i][0], shapes[i][1], scales[at], &s);
                check_effort(&s, effort);
                close_scene(&s);
            }
}

static const int64_t all_shapes[][2] = {{1, 9},   {2, 9},    {3, 30},   {7, 30},   {8, 40},   {9, 40},   {16, 60},
                                        {17, 50}, {32, 100}, {33, 100}, {64, 200}, {100, 30}, {130, 40}, {1024, 60}};
enum { SHAPES = sizeof all_shapes / sizeof all_shapes[0] };

static void test_descent(void **state)
{
    (void)state;
    check_shapes(ARMILLA_DESCEND, all_shapes, SHAPES);
}

static void test_rough_codes(void **state)
{
    (void)state;
    check_shapes(ARMILLA_ROUGHLY, all_shapes, SHAPES - 1);
    check_shapes(ARMILLA_CLOSELY, all_shapes, SHAPES - 1);
}

static void test_stored_codes(void **state)
{
    (void)state;
    check_shapes(ARMILLA_SOLVE, all_shapes, 10);
}

/* Codes that are found closely are as good as stored ones, to the digits of their type. */
static void test_close_codes(void **state)
{
    uint64_t random = 653;
    (void)state;
    for (size_t i = 0; i < SHAPES - 1; i++) {
        const int64_t r = all_shapes[i][0];
        double *close = reference_new(r * COLUMNS), *single = reference_new(r * COLUMNS);
        double *stored = reference_new(r * COLUMNS);
        scene s;
        reference_scene("r = %d", (int)r);
        open_scene(&random, sets[0], r, all_shapes[i][1], 1, &s);
        set_effort(&s, ARMILLA_CLOSELY);
        find(&s, s.plain, 0, COLUMNS, close);
        find(&s, s.single, 0, COLUMNS, single);
        set_effort(&s, ARMILLA_SOLVE);
        find(&s, s.plain, 0, COLUMNS, stored);
        for (int64_t j = 0; j < COLUMNS; j++) {
            const double least = value_of(&s, j, stored + j * r);
            REFERENCE_AT_MOST(value_of(&s, j, close + j * r), least + 1e-9 * fabs(least));
            REFERENCE_AT_MOST(value_of(&s, j, single + j * r), least + 1e-4 * fabs(least));
        }
        close_scene(&s);
        free(close);
        free(single);
        free(stored);
    }
}

/* Samples far longer than the atoms, and far shorter: a code all the same. */
static void test_far_samples(void **state)
{
    uint64_t random = 652;
    (void)state;
    for (size_t kind = 0; kind < 2; kind++)
        for (int power = -120; power <= 120; power += 20) {
            scene s;
            double W[9 * COLUMNS], other[9 * COLUMNS];
            open_scene(&random, sets[kind], 9, 40, 1, &s);
            reference_scene("%s, samples of scale 1e%d", sets[kind]->name, power);
            for (int64_t i = 0; i < 9 * COLUMNS; i++) s.C[i] *= pow(10, power);
            for (int64_t i = 0; i < 9 * COLUMNS && !sets[kind]->spherical; i++) s.start[i] *= pow(10, power);
            set_effort(&s, ARMILLA_DESCEND);
            find(&s, s.plain, 0, COLUMNS, other);
            find(&s, s.single, 0, COLUMNS, W);
            for (int64_t j = 0; j < COLUMNS; j++) check_column(&s, j, W + j * 9, other + j * 9);
            close_scene(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descent),     cmocka_unit_test(test_rough_codes), cmocka_unit_test(test_stored_codes),
        cmocka_unit_test(test_close_codes), cmocka_unit_test(test_far_samples),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
