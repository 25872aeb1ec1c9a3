/* The polar factor (A4) on matrices from well conditioned to zero, and the rest of the thin algebra, against Jacobi's
 * rotations and plain loops. */
#include "reference/reference.h"
#include "unit/support.h"

#include "linalg/blas.h"
#include "linalg/dense.h"

#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct shape {
    int64_t m, r;
} shape;

static const shape shapes[] = {{1, 1}, {2, 2}, {5, 1}, {6, 5}, {20, 4}, {33, 33}, {200, 10}, {785, 16}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* Y diag(sigma) Z' with random orthonormal Y and Z; sigma falls evenly on a log scale from 1 to 1/kappa. */
static double *conditioned(uint64_t *random, shape s, double kappa, double scale)
{
    double *Y = reference_new(s.m * s.r), *Z = reference_new(s.r * s.r), *M = reference_new(s.m * s.r);
    reference_random_basis(random, &reference_pairs[0], s.m, s.r, Y);
    reference_random_basis(random, &reference_pairs[0], s.r, s.r, Z);
    for (int64_t k = 0; k < s.r; k++) {
        const double sigma = s.r > 1 ? pow(kappa, -(double)k / (double)(s.r - 1)) : 1;
        for (int64_t i = 0; i < s.m; i++) Y[i + k * s.m] *= sigma;
    }
    reference_right_transposed(s.m, s.r, s.r, Y, Z, M);
    for (int64_t i = 0; i < s.m * s.r; i++) M[i] *= scale;
    free(Y);
    free(Z);
    return M;
}

/* tr(U'M) = the sum of the singular values, and U'M symmetric without negative eigenvalues: only the polar factor has
 * both. M is brought near 1 first, because the reference squares its entries. */
static void check_maximal(shape s, const double *M, const double *U)
{
    const double largest = reference_largest(s.m * s.r, M), scale = largest > 0 ? 1 / largest : 1;
    double *B = reference_new(s.m * s.r), *left = reference_new(s.m * s.r), *sigma = reference_new(s.r);
    double *right = reference_new(s.r * s.r), *S = reference_new(s.r * s.r);
    long double sum = 0, trace = 0;
    for (int64_t i = 0; i < s.m * s.r; i++) B[i] = M[i] * scale;
    reference_svd(s.m, s.r, B, left, sigma, right);
    reference_left_transposed(s.m, s.r, s.r, U, B, S);
    for (int64_t k = 0; k < s.r; k++) {
        sum += sigma[k];
        trace += S[k + k * s.r];
        for (int64_t p = 0; p < k; p++) REFERENCE_NEAR(S[p + k * s.r], S[k + p * s.r], 1e-10 * sigma[0] + 1e-300);
    }
    REFERENCE_NEAR(trace, sum, 1e-12 * (double)sum);
    reference_eigenvalues(s.r, S, right);
    REFERENCE_AT_MOST(-right[0], 1e-10 * sigma[0]);
    free(B);
    free(left);
    free(sigma);
    free(right);
    free(S);
}

/* The factor, into its own memory and in place, with equal bits. */
static void check_polar(shape s, const double *M)
{
    armilla_algebra *algebra = NULL;
    double *U = reference_new(s.m * s.r), *in_place = reference_copy(s.m * s.r, M);
    REFERENCE_OK(armilla_algebra_new(reference_context, s.m, s.r, &algebra));
    REFERENCE_OK(armilla_polar(algebra, M, U));
    REFERENCE_AT_MOST(reference_skewness(s.m, s.r, U), 30 * sqrt((double)s.m) * DBL_EPSILON);
    check_maximal(s, M, U);
    REFERENCE_OK(armilla_polar(algebra, in_place, in_place));
    REFERENCE_HOLDS(memcmp(U, in_place, (size_t)(s.m * s.r) * sizeof *U) == 0);
    armilla_algebra_free(algebra);
    free(U);
    free(in_place);
}

static void test_polar_of_every_condition(void **state)
{
    static const double scales[] = {1, 1e150, 1e-150, 1e300, 1e-300};
    uint64_t random = 11;
    (void)state;
    for (size_t i = 0; i < SHAPES; i++)
        for (int power = 0; power <= 14; power++)
            for (size_t k = 0; k < (power % 4 == 0 ? 5 : 1); k++) {
                double *M = conditioned(&random, shapes[i], pow(10, power), scales[k]);
                reference_scene("%d x %d, kappa 1e%d, scale %g", (int)shapes[i].m, (int)shapes[i].r, power, scales[k]);
                check_polar(shapes[i], M);
                free(M);
            }
}

/* Around the border between the cheap and the careful way there must be no step in quality. */
static void test_polar_near_the_switch(void **state)
{
    uint64_t random = 12;
    (void)state;
    for (int step = 0; step < 60; step++) {
        const shape s = {40, 6};
        double *M = conditioned(&random, s, pow(10, 1 + 0.1 * step), 1);
        double *U = reference_new(s.m * s.r), *wanted = reference_new(s.m * s.r);
        armilla_algebra *algebra = NULL;
        reference_scene("kappa 1e%.1f", 1 + 0.1 * step);
        REFERENCE_OK(armilla_algebra_new(reference_context, s.m, s.r, &algebra));
        REFERENCE_OK(armilla_polar(algebra, M, U));
        reference_polar(s.m, s.r, M, wanted);
        REFERENCE_AT_MOST(reference_distance(s.m * s.r, U, wanted), 1e-9);
        armilla_algebra_free(algebra);
        free(M);
        free(U);
        free(wanted);
    }
}

static void test_polar_of_deficient_matrices(void **state)
{
    uint64_t random = 13;
    (void)state;
    if (!reference_wide()) skip(); /* noise of noise of noise needs the range of OpenBLAS' own norms */
    for (size_t i = 0; i < SHAPES; i++)
        for (int sort = 0; sort < 6; sort++) {
            const shape s = shapes[i];
            double *M = conditioned(&random, s, 10, 1);
            reference_scene("%d x %d, deficient in way %d", (int)s.m, (int)s.r, sort);
            for (int64_t k = 0; k < s.r; k++)
                for (int64_t f = 0; f < s.m; f++) {
                    double *entry = &M[f + k * s.m];
                    if (sort == 0) *entry = 0;
                    if (sort == 1 && k % 2 == 0) *entry = 0;
                    if (sort == 2 && k % 2 == 1) *entry = M[f + (k - 1) * s.m];
                    if (sort == 3) *entry = M[f];
                    if (sort == 4) *entry = 1;
                    if (sort == 5 && f > 0) *entry = 0;
                }
            check_polar(s, M);
            free(M);
        }
}

static void test_polar_refuses_what_is_not_finite(void **state)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    double M[12], U[12];
    armilla_algebra *algebra = NULL;
    (void)state;
    REFERENCE_OK(armilla_algebra_new(reference_context, 4, 3, &algebra));
    for (int place = 0; place < 12; place++)
        for (int b = 0; b < 3; b++) {
            for (int i = 0; i < 12; i++) M[i] = i == place ? bad[b] : 1.0 + i * i;
            REFERENCE_STATUS(armilla_polar(algebra, M, U), ARMILLA_BAD_DATA);
            REFERENCE_HOLDS(strlen(armilla_context_error(reference_context)) > 10);
        }
    armilla_algebra_free(algebra);
}

/* S = S', sort 0: indefinite, 1: positive semidefinite and full, 2: of rank 1. */
static void symmetric(uint64_t *random, int64_t r, int sort, double *S)
{
    double *B = reference_new(r * r);
    reference_fill_normal(random, r * r, B);
    for (int64_t i = 0; sort == 2 && i < r * r; i++)
        if (i >= r) B[i] = B[i % r];
    reference_right_transposed(r, r, r, B, B, S);
    for (int64_t a = 0; sort == 0 && a < r; a++)
        for (int64_t b = 0; b < r; b++) S[a + b * r] = B[a + b * r] + B[b + a * r];
    free(B);
}

/* SZ = Z diag(values) with orthonormal Z, and the values are Jacobi's. */
static void check_eigen(armilla_algebra *algebra, int64_t r, const double *S)
{
    double *values = reference_new(r), *Z = reference_new(r * r), *SZ = reference_new(r * r);
    double *wanted = reference_new(r), *in_place = reference_copy(r * r, S);
    const double size = reference_norm(r * r, S);
    REFERENCE_OK(armilla_eigen(algebra, r, S, values, Z));
    reference_eigenvalues(r, S, wanted);
    reference_multiply(r, r, r, S, Z, SZ);
    REFERENCE_AT_MOST(reference_skewness(r, r, Z), 1e-13);
    for (int64_t k = 0; k < r; k++) {
        REFERENCE_NEAR(values[k], wanted[k], 1e-13 * size);
        for (int64_t i = 0; i < r; i++) REFERENCE_NEAR(SZ[i + k * r], values[k] * Z[i + k * r], 1e-13 * size);
    }
    REFERENCE_OK(armilla_eigen(algebra, r, in_place, wanted, in_place));
    REFERENCE_HOLDS(memcmp(in_place, Z, (size_t)(r * r) * sizeof *Z) == 0);
    free(values);
    free(Z);
    free(SZ);
    free(wanted);
    free(in_place);
}

static void test_eigenvalues(void **state)
{
    enum { LARGEST = 40 };
    armilla_algebra *algebra = NULL;
    uint64_t random = 14;
    double S[LARGEST * LARGEST], wanted[LARGEST], largest = 0;
    (void)state;
    REFERENCE_OK(armilla_algebra_new(reference_context, LARGEST, LARGEST, &algebra));
    for (int64_t r = 1; r <= LARGEST; r += r < 8 ? 1 : 8)
        for (int sort = 0; sort < 3; sort++) {
            reference_scene("r = %d, sort %d", (int)r, sort);
            symmetric(&random, r, sort, S);
            check_eigen(algebra, r, S);
            if (sort == 0) continue;
            reference_eigenvalues(r, S, wanted);
            REFERENCE_OK(armilla_largest_eigenvalue(algebra, r, S, &largest));
            REFERENCE_NEAR(largest, wanted[r - 1], 1e-13 * wanted[r - 1]);
        }
    memset(S, 0, sizeof S);
    REFERENCE_OK(armilla_largest_eigenvalue(algebra, 5, S, &largest));
    REFERENCE_HOLDS(largest == 0);
    armilla_algebra_free(algebra);
}

static void multiply_block(void *self, int64_t block, int64_t first, int64_t last)
{
    REFERENCE_HOLDS(first < last && block < ARMILLA_ROW_BLOCKS);
    armilla_multiply_rows(self, first, last);
}

/* G and Z of a tall matrix on a team, beside plain loops; the bits are those without a team. */
static void test_work_by_rows(void **state)
{
    static const int64_t heights[] = {1, 511, 1024, 5000, 40001};
    uint64_t random = 16;
    armilla_context *context = support_context();
    (void)state;
    REFERENCE_OK(armilla_call_enter(context, 3));
    const armilla_team team = armilla_team_of(context, 3);
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
        const int64_t m = heights[i], r = m < 5 ? m : 5;
        armilla_algebra *algebra = NULL;
        double *B = reference_new(m * r), *K = reference_new(r * r), *wanted = reference_new(m * r);
        double *G[2] = {reference_new(r * r), reference_new(r * r)},
               *Z[2] = {reference_new(m * r), reference_new(m * r)};
        reference_scene("%d rows", (int)m);
        reference_fill_normal(&random, m * r, B);
        reference_fill_normal(&random, r * r, K);
        REFERENCE_OK(armilla_algebra_new(context, m, r, &algebra));
        for (int shared = 0; shared < 2; shared++) {
            armilla_product product = {m, r, r, 3, 0, B, K, Z[shared]};
            armilla_algebra_set_team(algebra, shared ? &team : NULL);
            armilla_gram_by_rows(algebra, B, G[shared]);
            armilla_by_rows(algebra, m, multiply_block, &product);
        }
        REFERENCE_HOLDS(memcmp(G[0], G[1], (size_t)(r * r) * sizeof(double)) == 0);
        REFERENCE_HOLDS(memcmp(Z[0], Z[1], (size_t)(m * r) * sizeof(double)) == 0);
        reference_multiply(m, r, r, B, K, wanted);
        for (int64_t k = 0; k < m * r; k++) REFERENCE_NEAR(Z[0][k], 3 * wanted[k], 1e-13 * (double)(r + 10));
        reference_left_transposed(m, r, r, B, B, wanted);
        for (int64_t k = 0; k < r * r; k++) {
            REFERENCE_NEAR(G[0][k], wanted[k], 1e-14 * (double)(m + 10) * (reference_wide() ? 1 : 4));
            REFERENCE_HOLDS(G[0][k] == G[0][k / r + k % r * r]);
        }
        armilla_algebra_free(algebra);
        for (int shared = 0; shared < 2; shared++) {
            free(G[shared]);
            free(Z[shared]);
        }
        free(B);
        free(K);
        free(wanted);
    }
    armilla_call_leave(context);
    armilla_context_free(context);
}

static void test_gram_and_multiply(void **state)
{
    uint64_t random = 15;
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        const int64_t m = shapes[i].m, r = shapes[i].r, c = 1 + reference_below(&random, 12);
        double *B = reference_new(m * r), *G = reference_new(r * r), *wanted = reference_new(r * r);
        double *K = reference_new(r * c), *BK = reference_new(m * c), *Z = reference_new(m * c);
        reference_scene("%d x %d x %d", (int)m, (int)r, (int)c);
        reference_fill_normal(&random, m * r, B);
        reference_fill_normal(&random, r * c, K);
        armilla_gram(m, r, B, G);
        reference_left_transposed(m, r, r, B, B, wanted);
        for (int64_t k = 0; k < r * r; k++) REFERENCE_NEAR(G[k], wanted[k], 1e-14 * (double)(m + 10));
        for (int64_t k = 0; k < r * r; k++) REFERENCE_HOLDS(G[k] == G[k / r + k % r * r]);
        reference_multiply(m, r, c, B, K, BK);
        for (int64_t k = 0; k < m * c; k++) Z[k] = (double)k;
        armilla_multiply(m, r, c, -2, B, K, 0.5, Z);
        for (int64_t k = 0; k < m * c; k++)
            REFERENCE_NEAR(Z[k], -2 * BK[k] + 0.5 * (double)k, 1e-13 * (double)(k + 10));
        /* beta = 0 overwrites, whatever stood there. */
        for (int64_t k = 0; k < m * c; k++) Z[k] = NAN;
        armilla_multiply(m, r, c, 1, B, K, 0, Z);
        for (int64_t k = 0; k < m * c; k++) REFERENCE_NEAR(Z[k], BK[k], 1e-13 * (double)(r + 10));
        free(B);
        free(G);
        free(wanted);
        free(K);
        free(BK);
        free(Z);
    }
}

static void test_norms_do_not_overflow(void **state)
{
    static const double scales[] = {1, 1e150, 1e-150, 1e300, 1e-300, 1e-315};
    enum { LONGEST = 1000 };
    double a[LONGEST], b[LONGEST];
    uint64_t random = 16;
    (void)state;
    for (int64_t count = 0; count <= LONGEST; count = 2 * count + 1)
        for (size_t k = 0; k < 6; k++) {
            reference_scene("%d numbers of scale %g", (int)count, scales[k]);
            for (int64_t i = 0; i < count; i++) a[i] = scales[k] * reference_normal(&random);
            for (int64_t i = 0; i < count; i++) b[i] = scales[k] * reference_normal(&random);
            const double norm = reference_norm(count, a), distance = reference_distance(count, a, b);
            REFERENCE_NEAR(armilla_norm(count, a), norm, 1e-13 * norm);
            REFERENCE_NEAR(armilla_distance(count, a, b), distance, 1e-13 * distance);
            REFERENCE_HOLDS(armilla_distance(count, a, a) == 0);
            if (k < 3)
                REFERENCE_NEAR(armilla_dot(count, a, b), reference_dot(count, a, b),
                               1e-13 * norm * reference_norm(count, b));
        }
    memset(a, 0, sizeof a);
    REFERENCE_HOLDS(armilla_norm(LONGEST, a) == 0);
}

/* A norm must not hide what is not a number. */
static void test_norms_show_nan(void **state)
{
    const double a[3] = {1, NAN, 2}, b[3] = {1, 1, 1}, c[3] = {1, INFINITY, 2}, d[2] = {NAN, 0};
    (void)state;
    REFERENCE_HOLDS(isnan(armilla_norm(2, d)));
    REFERENCE_HOLDS(isnan(armilla_norm(3, a)));
    REFERENCE_HOLDS(isnan(armilla_distance(3, a, b)));
    REFERENCE_HOLDS(!isfinite(armilla_norm(3, c)));
}

typedef union symbol {
    void *address;
    int (*get)(void);
    void (*set)(int);
} symbol;

/* One thread between the first enter and the last leave; then the host program's own number again. */
static void test_blas_threads_come_back(void **state)
{
    /* As a host program that links OpenBLAS has it: the library is in the process once. */
    void *host = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD);
    const symbol get = {host ? dlsym(host, "openblas_get_num_threads") : NULL};
    const symbol set = {host ? dlsym(host, "openblas_set_num_threads") : NULL};
    (void)state;
    if (!get.address || !set.address) skip();
    const int before = get.get();
    set.set(2);
    const int held = get.get(); /* 1 where OpenBLAS was built without threads */
    REFERENCE_OK(armilla_blas_enter(reference_context, 1));
    assert_int_equal(get.get(), 1);
    REFERENCE_OK(armilla_blas_enter(reference_context, 1));
    armilla_blas_leave();
    assert_int_equal(get.get(), 1);
    armilla_blas_leave();
    assert_int_equal(get.get(), held);
    set.set(before);
}

/* Products that take no algebra need BLAS all the same. */
static int set_up(void **state)
{
    return reference_set_up(state) || armilla_blas_load(reference_context, 1) != ARMILLA_OK;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_polar_of_every_condition),
        cmocka_unit_test(test_polar_near_the_switch),
        cmocka_unit_test(test_polar_of_deficient_matrices),
        cmocka_unit_test(test_polar_refuses_what_is_not_finite),
        cmocka_unit_test(test_eigenvalues),
        cmocka_unit_test(test_gram_and_multiply),
        cmocka_unit_test(test_work_by_rows),
        cmocka_unit_test(test_norms_do_not_overflow),
        cmocka_unit_test(test_norms_show_nan),
        cmocka_unit_test(test_blas_threads_come_back),
    };
    return cmocka_run_group_tests(tests, set_up, reference_tear_down);
}
