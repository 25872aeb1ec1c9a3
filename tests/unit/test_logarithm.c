/* ln(1 + x) against the C library's in long double: near 0, near -1, large, tiny and special. */
#include "reference/reference.h"

#include "data/logarithm.h"

#include <float.h>
#include <math.h>

/* What is allowed: less than an ulp, or a few for a reference that is rounded to double. */
static double bound(void)
{
    return reference_wide() ? 1 : 4;
}

/* |found - ln(1+x)| in units of the last place of the exact value. */
static double ulps(double x)
{
    const long double exact = log1pl((long double)x);
    const double rounded = (double)exact;
    const double ulp = nextafter(fabs(rounded), (double)INFINITY) - fabs(rounded);
    return (double)(fabsl((long double)armilla_log1p(x) - exact) / (long double)ulp);
}

static void test_within_an_ulp(void **state)
{
    uint64_t random = 5;
    double worst = 0;
    (void)state;
    for (int64_t i = 0; i < reference_effort(3000000, 300000); i++) {
        const double u = reference_uniform(&random), sign = reference_below(&random, 2) ? 1 : -1;
        const double tries[] = {sign * ldexp(1 + u, -(int)reference_below(&random, 1070)),
                                u - 1,
                                10 * u,
                                ldexp(1 + u, (int)reference_below(&random, 1023)),
                                0.42 * (2 * u - 1),
                                -1 + ldexp(1 + u, -(int)reference_below(&random, 52) - 1)};
        for (size_t t = 0; t < sizeof tries / sizeof tries[0]; t++)
            if (tries[t] > -1) worst = fmax(worst, ulps(tries[t]));
    }
    print_message("worst: %.3f ulp\n", worst);
    REFERENCE_HOLDS(worst < bound());
}

static void test_counts(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++) REFERENCE_HOLDS(ulps(i) < bound());
}

static void test_special(void **state)
{
    (void)state;
    REFERENCE_HOLDS(armilla_log1p(0) == 0 && armilla_log1p(-0.0) == 0);
    REFERENCE_HOLDS(armilla_log1p(DBL_TRUE_MIN) == DBL_TRUE_MIN && armilla_log1p(-1e-300) == -1e-300);
    static const double bad[] = {-1, -1.5, -1e300, -DBL_MAX};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) REFERENCE_HOLDS(isnan(armilla_log1p(bad[i])));
    REFERENCE_HOLDS(isnan(armilla_log1p((double)INFINITY)) && isnan(armilla_log1p(-(double)INFINITY)) &&
                    isnan(armilla_log1p((double)NAN)));
    REFERENCE_HOLDS(ulps(DBL_MAX) < bound() && ulps(nextafter(-1, 0)) < bound());
}

/* A run of any length has the bits of its numbers one by one. */
static void test_runs(void **state)
{
    uint64_t random = 6;
    double x[67], wanted[67];
    (void)state;
    for (int64_t count = 0; count <= 67; count++) {
        for (int64_t i = 0; i < count; i++) wanted[i] = armilla_log1p(x[i] = 20 * reference_uniform(&random) - 0.999);
        armilla_log1p_all(count, x);
        assert_memory_equal(x, wanted, (size_t)count * sizeof *x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_within_an_ulp),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_special),
        cmocka_unit_test(test_runs),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
