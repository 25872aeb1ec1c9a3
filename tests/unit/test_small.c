/* What is done without BLAS: the small eigenproblem against its definition, thin products against plain loops, and the
 * sphere's columns side by side against one at a time; the same bits by every instruction set. */
#include "reference/reference.h"

#include "linalg/kernels.h"
#include "linalg/small.h"
#include "linalg/thin_kernels.h"
#include "sets/column.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { K = ARMILLA_SMALL, MOST = ARMILLA_SMALL_SQUARE, ROWS = 61, STRIDE = 67, L = ARMILLA_LANES };

/* A symmetric matrix of some rank, with equal eigenvalues, zeros or a scale far from 1. */
static void draw_matrix(uint64_t *random, int64_t k, double *S)
{
    double B[MOST * MOST];
    const int64_t rank = reference_below(random, k + 1), kind = reference_below(random, 4);
    const double scale = kind == 3 ? pow(10, 600 * reference_uniform(random) - 300) : 1;
    memset(B, 0, sizeof B);
    reference_fill_normal(random, rank * k, B);
    for (int64_t j = 0; j < k; j++)
        for (int64_t i = 0; i < k; i++) {
            double sum = kind == 1 && i == j;
            for (int64_t a = 0; a < rank && kind != 1; a++)
                sum += (kind == 2 && a % 2 ? -1 : 1) * B[a * k + i] * B[a * k + j];
            S[j * k + i] = scale * sum;
        }
}

/* A bound of rounding in units of epsilon. */
static void check_eigen(uint64_t random, int64_t draws, int64_t least, int64_t most, double bound)
{
    for (int64_t draw = 0; draw < draws; draw++) {
        const int64_t k = least + reference_below(&random, most - least + 1);
        double S[MOST * MOST], Q[MOST * MOST], copy[MOST * MOST], values[MOST], alone[MOST];
        draw_matrix(&random, k, S);
        memcpy(Q, S, (size_t)(k * k) * sizeof *Q);
        memcpy(copy, S, (size_t)(k * k) * sizeof *copy);
        REFERENCE_HOLDS(armilla_small_eigen(k, true, values, Q) && armilla_small_eigen(k, false, alone, copy));
        REFERENCE_HOLDS(memcmp(values, alone, (size_t)k * sizeof *values) == 0);
        const double scale = reference_largest(k * k, S);
        for (int64_t a = 0; a < k; a++) {
            REFERENCE_HOLDS(a == 0 || values[a] >= values[a - 1]);
            for (int64_t b = 0; b < k; b++)
                REFERENCE_NEAR(reference_dot(k, Q + a * k, Q + b * k), a == b, bound / 2 * DBL_EPSILON);
            for (int64_t i = 0; i < k; i++) {
                double sum = 0;
                for (int64_t j = 0; j < k; j++) sum += S[j * k + i] * Q[a * k + j];
                REFERENCE_AT_MOST(fabs(sum - values[a] * Q[a * k + i]), bound * DBL_EPSILON * scale);
            }
        }
    }
}

static void test_eigen(void **state)
{
    (void)state;
    check_eigen(501, reference_effort(20000, 500), 1, K, 100);
    check_eigen(503, reference_effort(1000, 50), K + 1, MOST, 400);
}

/* Eigenvalues over 300 orders of magnitude, with entries between them that are far below rounding: the iteration ends. */
static void test_eigen_graded(void **state)
{
    (void)state;
    for (int64_t k = K + 1; k <= MOST; k += 7) {
        double S[MOST * MOST], values[MOST];
        for (int64_t j = 0; j < k; j++)
            for (int64_t i = 0; i < k; i++)
                S[j * k + i] = i == j ? pow(10, (double)(-5 * (k - 1 - j))) : i == j + 1 || j == i + 1 ? 1e-20 : 0;
        REFERENCE_HOLDS(armilla_small_eigen(k, true, values, S));
        REFERENCE_NEAR(values[k - 1], 1, 1e-15);
        REFERENCE_NEAR(values[k - 2], 1e-5, 1e-15);
    }
}

static void test_eigen_refuses(void **state)
{
    double S[4] = {1, 0, NAN, 1}, values[2];
    (void)state;
    REFERENCE_HOLDS(!armilla_small_eigen(2, true, values, S));
    S[2] = INFINITY;
    REFERENCE_HOLDS(!armilla_small_eigen(2, false, values, S));
    double large[MOST * MOST] = {0}, large_values[MOST];
    large[MOST * MOST - 1] = NAN;
    REFERENCE_HOLDS(!armilla_small_eigen(MOST, true, large_values, large));
}

static void check_products(uint64_t *random, int64_t rows, int64_t r, int64_t c)
{
    double B[K * STRIDE], M[K * K], Z[K * STRIDE], old[K * STRIDE], first[K * STRIDE], G[K * K], first_G[K * K];
    const double alpha = reference_normal(random), beta = reference_below(random, 2) ? reference_normal(random) : 0;
    reference_fill_normal(random, r * STRIDE, B);
    reference_fill_normal(random, r * c, M);
    reference_fill_normal(random, c * STRIDE, old);
    for (size_t row = 0; armilla_thin_kernels_row(row); row++) {
        const armilla_thin_kernels *kernels = armilla_thin_kernels_row(row);
        const armilla_thin_product product = {r, c, alpha, beta, B, M, Z, STRIDE, STRIDE};
        const bool adds = beta != 0;
        const armilla_thin_gram gram = {r, STRIDE, B, adds, G};
        if (!armilla_instructions_supported(kernels->name)) continue;
        memcpy(Z, old, sizeof Z);
        memset(G, 0, sizeof G);
        for (int64_t i = 0; i < r * r && adds; i++) G[i] = 1;
        kernels->multiply(&product, rows);
        kernels->gram(&gram, rows);
        for (int64_t j = 0; j < c; j++)
            for (int64_t i = 0; i < STRIDE; i++) {
                double sum = 0;
                for (int64_t a = 0; a < r; a++) sum += B[a * STRIDE + i] * M[j * r + a];
                const double wanted = i < rows ? alpha * sum + beta * old[j * STRIDE + i] : old[j * STRIDE + i];
                REFERENCE_NEAR(Z[j * STRIDE + i], wanted, i < rows ? 1e-12 : 0);
            }
        for (int64_t b = 0; b < r; b++)
            for (int64_t a = 0; a <= b; a++)
                REFERENCE_NEAR(G[b * r + a], adds + reference_dot(rows, B + a * STRIDE, B + b * STRIDE), 1e-11);
        REFERENCE_HOLDS(row == 0 || memcmp(Z, first, (size_t)(c * STRIDE) * sizeof *Z) == 0);
        REFERENCE_HOLDS(row == 0 || memcmp(G, first_G, (size_t)(r * r) * sizeof *G) == 0);
        memcpy(first, Z, sizeof Z);
        memcpy(first_G, G, sizeof G);
    }
}

static void test_products(void **state)
{
    uint64_t random = 502;
    (void)state;
    for (int64_t rows = 1; rows <= ROWS; rows++)
        for (int64_t r = 1; r <= K; r++) check_products(&random, rows, r, 1 + reference_below(&random, K));
}

/* g of lane i by the eigenvalues, which Q = I makes H's. */
static double value_of(int64_t r, const double *values, const double *d, const double *w, int64_t stride)
{
    double value = 0;
    for (int64_t k = 0; k < r; k++) value += w[k * stride] * (values[k] * w[k * stride] - 2 * d[k * L]);
    return value;
}

static void check_sphere(uint64_t *random, int64_t r)
{
    double Q[K * K] = {0}, values[K], gaps[K], d[K * L], w[K * L], first[K * L], own[K], one[K], space[6 * K * L];
    const int64_t equal = reference_below(random, r + 1);
    for (int64_t k = 0; k < r; k++) {
        Q[k * r + k] = 1;
        values[k] = k < equal ? 0 : (k > 0 ? values[k - 1] : 0) + reference_uniform(random);
        for (int64_t i = 0; i < L; i++)
            d[k * L + i] =
                i == 0 ? 0 : (i < 3 && k < equal ? 0 : 1) * pow(10, 3 - 2 * (double)i) * reference_normal(random);
    }
    armilla_secular_gaps(r, values, gaps);
    for (size_t row = 0; armilla_thin_kernels_row(row); row++) {
        const armilla_sphere_problem problem = {r, Q, gaps};
        if (!armilla_instructions_supported(armilla_thin_kernels_row(row)->name)) continue;
        armilla_thin_kernels_row(row)->solve_sphere(&problem, d, w, space);
        for (int64_t i = 0; i < L; i++) {
            double square = 0, scale = values[r - 1];
            for (int64_t k = 0; k < r; k++) {
                own[k] = d[k * L + i];
                square += w[k * L + i] * w[k * L + i];
                scale += 2 * fabs(own[k]);
            }
            armilla_secular(r, values, own, one);
            REFERENCE_NEAR(square, 1, 20 * DBL_EPSILON);
            REFERENCE_NEAR(value_of(r, values, d + i, w + i, L), value_of(r, values, d + i, one, 1),
                           1e-13 * (1 + scale));
        }
        REFERENCE_HOLDS(row == 0 || memcmp(w, first, (size_t)(r * L) * sizeof *w) == 0);
        memcpy(first, w, sizeof w);
    }
}

static void test_sphere(void **state)
{
    uint64_t random = 503;
    (void)state;
    for (int draw = 0; draw < reference_effort(20000, 500); draw++)
        check_sphere(&random, 1 + reference_below(&random, K));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_eigen), cmocka_unit_test(test_eigen_graded),
                                       cmocka_unit_test(test_eigen_refuses), cmocka_unit_test(test_products),
                                       cmocka_unit_test(test_sphere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
