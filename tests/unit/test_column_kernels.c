/* The kernels of the survey and the residual against plain loops, for every instruction set that this CPU runs. */
#include "reference/reference.h"
#include "unit/support.h"

#include "linalg/column_kernels.h"
#include "linalg/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_M = 67, MOST_R = 9 };

/* Entries of every kind: zeros of both signs, both signs, numbers that are none. */
static double odd_entry(uint64_t *random)
{
    static const double kinds[] = {0, -0.0, 1, -1, NAN, INFINITY, -INFINITY, DBL_MIN / 4, -DBL_MAX};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    const int64_t kind = reference_below(random, 2 * KINDS);
    return kind < KINDS ? kinds[kind] : 2 * reference_uniform(random) - 1;
}

static void look_plainly(int64_t m, const double *x, double *used, armilla_looked *f)
{
    for (int64_t i = 0; i < m; i++) {
        if (x[i] == 0) f->zeros++;
        if (x[i] != 0) used[i]++;
        if (x[i] < 0) f->negatives++;
        if (x[i] < f->smallest) f->smallest = x[i];
        if (x[i] > f->largest) f->largest = x[i];
    }
}

static void check_look(const armilla_column_kernels *kernels, int64_t m, uint64_t *random)
{
    double x[MOST_M], used[MOST_M] = {0}, wanted_used[MOST_M] = {0};
    armilla_looked found = {.smallest = INFINITY, .largest = -INFINITY}, wanted = found;
    for (int column = 0; column < 3; column++) {
        for (int64_t i = 0; i < m; i++) x[i] = odd_entry(random);
        kernels->look(m, x, used, &found);
        look_plainly(m, x, wanted_used, &wanted);
        assert_memory_equal(used, wanted_used, sizeof used);
        assert_memory_equal(&found, &wanted, sizeof found);
    }
}

/* The finaliser of splitmix64, written out. */
static uint64_t mix_plainly(double x)
{
    uint64_t z = 0;
    if (x != 0) memcpy(&z, &x, sizeof z);
    z ^= z >> 30;
    z *= 0xbf58476d1ce4e5b9u;
    z ^= z >> 27;
    z *= 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void check_fingerprint(const armilla_column_kernels *kernels, int64_t m, uint64_t *random)
{
    double x[MOST_M];
    uint64_t keys[MOST_M], wanted = 0;
    for (int64_t i = 0; i < m; i++) {
        x[i] = odd_entry(random);
        keys[i] = (uint64_t)reference_below(random, INT64_MAX) * 2 + 1;
        wanted += mix_plainly(x[i]) * keys[i];
    }
    assert_true(kernels->fingerprint(m, x, keys) == wanted);
}

/* Atoms that are left out are not read: theirs are not numbers. */
static void check_residuals(const armilla_column_kernels *kernels, int64_t m, int64_t r, uint64_t *random)
{
    double U[MOST_M * MOST_R], v[MOST_R * ARMILLA_RESIDUALS], x[MOST_M * ARMILLA_RESIDUALS];
    int64_t atoms[MOST_R];
    armilla_residuals t = {.m = m, .r = r, .U = U, .v = v, .atoms = atoms, .x = x};
    long double wanted = 0;
    for (int64_t k = 0; k < r; k++) {
        const bool used = reference_below(random, 3) > 0;
        for (int64_t i = 0; i < m; i++) U[k * m + i] = used ? reference_uniform(random) - 0.5 : NAN;
        for (int64_t c = 0; c < ARMILLA_RESIDUALS; c++) v[c * r + k] = used ? reference_uniform(random) : NAN;
        if (used) atoms[t.count++] = k;
    }
    for (int64_t i = 0; i < m * ARMILLA_RESIDUALS; i++) x[i] = reference_uniform(random);
    for (int64_t c = 0; c < ARMILLA_RESIDUALS; c++)
        for (int64_t i = 0; i < m; i++) {
            long double left = x[c * m + i];
            for (int64_t a = 0; a < t.count; a++)
                left -= (long double)U[atoms[a] * m + i] * (long double)v[c * r + atoms[a]];
            wanted += left * left;
        }
    const double got = kernels->residuals(&t);
    assert_true(fabsl((long double)got - wanted) <= (long double)((double)(m + 4 * r + 8) * DBL_EPSILON) * wanted);
}

static void check_add(const armilla_column_kernels *kernels, int64_t m, uint64_t *random)
{
    float narrow[MOST_M] = {0};
    double wide[MOST_M] = {0}, to[2][MOST_M + 1], before[MOST_M];
    for (int64_t i = 0; i < m; i++) {
        narrow[i] = (float)(wide[i] = reference_uniform(random) - 0.5);
        to[0][i] = to[1][i] = before[i] = reference_uniform(random);
    }
    to[0][m] = to[1][m] = 7;
    kernels->add[ARMILLA_F32](m, 3, narrow, to[0]);
    kernels->add[ARMILLA_F64](m, 3, wide, to[1]);
    for (int64_t i = 0; i < m; i++) {
        assert_true(fabs(to[0][i] - (before[i] + 3 * (double)narrow[i])) <= 4 * DBL_EPSILON);
        assert_true(fabs(to[1][i] - (before[i] + 3 * wide[i])) <= 4 * DBL_EPSILON);
    }
    assert_true(to[0][m] == 7 && to[1][m] == 7);
}

static void test_kernels_are_the_plain_loops(void **state)
{
    uint64_t random = 11;
    (void)state;
    for (size_t row = 0; armilla_column_kernels_row(row); row++) {
        const armilla_column_kernels *kernels = armilla_column_kernels_row(row);
        if (!armilla_instructions_supported(kernels->name)) continue;
        for (int64_t m = 0; m <= MOST_M; m++) {
            check_look(kernels, m, &random);
            check_fingerprint(kernels, m, &random);
            check_residuals(kernels, m, m % (MOST_R + 1), &random);
            check_add(kernels, m, &random);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels_are_the_plain_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
