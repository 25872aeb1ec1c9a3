/* Nonnegative codes on a sphere with many more atoms than features: products with H through its factor lead to codes that
 * are as good as with H itself, one column at a time. */
#include "reference/reference.h"

#include "sets/column.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MOST = 130, COLUMNS = 11 };

static void check_columns(uint64_t *random, int64_t r, int64_t m)
{
    const armilla_code_set *codes = &armilla_codes_nonneg_sphere;
    double *U = reference_new(m * r), *H = reference_new(r * r), *C = reference_new(r * COLUMNS);
    double *W = reference_new(r * COLUMNS), *space = reference_new(armilla_column_workspace(r)), one[MOST];
    armilla_algebra *algebra = NULL;
    armilla_column_problem *problem = NULL;
    reference_fill_uniform(random, m * r, U);
    reference_left_transposed(m, r, r, U, U, H);
    for (int64_t j = 0; j < COLUMNS; j++) {
        double x[MOST];
        reference_fill_uniform(random, m, x);
        reference_left_transposed(m, r, 1, U, x, C + j * r);
    }
    REFERENCE_OK(armilla_algebra_new(reference_context, m, r, &algebra));
    REFERENCE_OK(armilla_column_problem_new(reference_context, codes, r, 0, false, &problem));
    REFERENCE_OK(armilla_column_problem_set(problem, algebra, H, ARMILLA_SOLVE));
    assert_int_equal(problem->factor_rank, r >= 64 && 2 * m <= r ? m : 0);
    armilla_columns_solve(problem, &(armilla_column_batch){COLUMNS, C, 1, W}, space);
    for (int64_t j = 0; j < COLUMNS; j++) {
        const double *d = C + j * r, *w = W + j * r, scale = fabs(armilla_column_value(problem, d, w));
        for (int64_t k = 0; k < r; k++) REFERENCE_HOLDS(w[k] >= 0);
        REFERENCE_NEAR(reference_norm(r, w), 1, 10 * DBL_EPSILON);
        REFERENCE_HOLDS(codes->project(r, 0, d, one));
        armilla_column_descend(problem, d, 1000, ARMILLA_SETTLED, one, space);
        REFERENCE_AT_MOST(armilla_column_value(problem, d, w), armilla_column_value(problem, d, one) + 1e-9 * scale);
    }
    armilla_column_problem_free(problem);
    armilla_algebra_free(algebra);
    free(U);
    free(H);
    free(C);
    free(W);
    free(space);
}

static void test_factor(void **state)
{
    static const int64_t ranks[] = {20, 63, 64, 65, 97, MOST}, features[] = {1, 2, 9, 32, 33, 48};
    uint64_t random = 601;
    (void)state;
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
        for (size_t j = 0; j < sizeof features / sizeof features[0]; j++) check_columns(&random, ranks[i], features[j]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_factor)};
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
