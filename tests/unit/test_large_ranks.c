/* Many columns: the polar factor and the bound of the largest eigenvalue by products, on spectra that are known because
 * matrices are made by reflections; the same bits for any team. */
#include "reference/reference.h"
#include "unit/support.h"

#include "base/call.h"
#include "linalg/algebra.h"
#include "linalg/blas.h"
#include "linalg/lanczos.h"
#include "linalg/tiles.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REFLECTIONS = 3 };

typedef struct shape {
    int64_t m, r;
} shape;

/* X <- (I - 2hh')X for a random unit h, X m x r. */
static void reflect_rows(uint64_t *random, shape s, double *X)
{
    double *h = reference_new(s.m);
    reference_fill_normal(random, s.m, h);
    const double length = reference_norm(s.m, h);
    for (int64_t i = 0; i < s.m; i++) h[i] /= length;
    for (int64_t k = 0; k < s.r; k++) {
        const double along = 2 * reference_dot(s.m, h, X + k * s.m);
        for (int64_t i = 0; i < s.m; i++) X[k * s.m + i] -= along * h[i];
    }
    free(h);
}

/* X <- X(I - 2hh') */
static void reflect_columns(uint64_t *random, shape s, double *X)
{
    double *h = reference_new(s.r), *along = reference_new(s.m);
    reference_fill_normal(random, s.r, h);
    const double length = reference_norm(s.r, h);
    memset(along, 0, (size_t)s.m * sizeof *along);
    for (int64_t k = 0; k < s.r; k++)
        for (int64_t i = 0; i < s.m; i++) along[i] += X[k * s.m + i] * (h[k] / length);
    for (int64_t k = 0; k < s.r; k++)
        for (int64_t i = 0; i < s.m; i++) X[k * s.m + i] -= 2 * along[i] * (h[k] / length);
    free(h);
    free(along);
}

/* Y diag(sigma) Z', Y and Z products of reflections that the seed gives; and the same with all sigma 1, the factor. */
static double *made_of(uint64_t seed, shape s, const double *sigma)
{
    uint64_t random = seed;
    double *M = reference_new(s.m * s.r);
    memset(M, 0, (size_t)(s.m * s.r) * sizeof *M);
    for (int64_t k = 0; k < s.r; k++) M[k * s.m + k] = sigma ? sigma[k] : 1;
    for (int i = 0; i < REFLECTIONS; i++) {
        reflect_rows(&random, s, M);
        reflect_columns(&random, s, M);
    }
    return M;
}

typedef enum fall { EVENLY, CLUSTERED, ONE_HIGH, ONE_LOW, FALLS } fall;

typedef struct trial {
    shape s;
    fall how;
    double kappa, scale;
} trial;

static double *spectrum(const trial *t)
{
    const int64_t r = t->s.r;
    double *sigma = reference_new(r);
    for (int64_t k = 0; k < r; k++) {
        const double part = r > 1 ? (double)k / (double)(r - 1) : 0;
        const double low[FALLS] = {part, part > 0.5, k > 0, k == r - 1 && k > 0};
        sigma[k] = t->scale * pow(t->kappa, -low[t->how]);
    }
    return sigma;
}

/* U'U = I, and U is the factor that M was made of. */
static void check_factor(const trial *t, uint64_t seed, const double *U)
{
    const shape s = t->s;
    double *P = made_of(seed, s, NULL), *G = reference_new(s.r * s.r);
    armilla_inner(s.m, s.r, s.r, U, U, G);
    for (int64_t k = 0; k < s.r * s.r; k++)
        REFERENCE_NEAR(G[k], k % s.r == k / s.r, 30 * sqrt((double)s.m) * DBL_EPSILON);
    for (int64_t k = 0; k < s.m * s.r; k++) REFERENCE_NEAR(U[k], P[k], 1e-13 + 1e-14 * t->kappa);
    free(P);
    free(G);
}

/* Without a team, with one, and in place. */
static void check_polar(const trial *t)
{
    const shape s = t->s;
    const uint64_t seed = (uint64_t)(s.m + s.r);
    armilla_context *context = support_context();
    REFERENCE_OK(armilla_call_enter(context, 3));
    const armilla_team team = armilla_team_of(context, 3);
    double *sigma = spectrum(t), *M = made_of(seed, s, sigma), *U = reference_new(s.m * s.r);
    armilla_algebra *algebra = NULL;
    reference_scene("%d x %d, fall %d, kappa %g, scale %g", (int)s.m, (int)s.r, (int)t->how, t->kappa, t->scale);
    REFERENCE_OK(armilla_algebra_new(context, s.m, s.r, &algebra));
    REFERENCE_OK(armilla_polar(algebra, M, U));
    check_factor(t, seed, U);
    armilla_algebra_set_team(algebra, &team);
    REFERENCE_OK(armilla_polar(algebra, M, M));
    REFERENCE_HOLDS(memcmp(U, M, (size_t)(s.m * s.r) * sizeof *U) == 0);
    armilla_algebra_free(algebra);
    free(sigma);
    free(M);
    free(U);
    armilla_call_leave(context);
    armilla_context_free(context);
}

static void test_polar_of_every_spectrum(void **state)
{
    static const shape shapes[] = {{128, 128}, {130, 128}, {192, 128}, {300, 140}};
    static const double kappas[] = {1,  1.00000001, 1.0001, 1.002, 1.05, 1.25, 1.3, 3,
                                    30, 300,        3e3,    3e4,   3e5,  9e5,  2e6, 1e8};
    static const double scales[] = {1, 1e150, 1e-150, 1e300, 1e-300};
    int count = 0;
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (fall how = EVENLY; how < FALLS; how++)
            for (size_t k = 0; k < sizeof kappas / sizeof kappas[0]; k += (size_t)reference_effort(1, 5))
                check_polar(&(trial){shapes[i], how, kappas[k], scales[count++ % 5]});
}

static void test_polar_of_every_rank(void **state)
{
    static const int64_t ranks[] = {1, 2, 3, 8, 16, 17, 31, 64, 100, 127, 128, 129, 191, 257, 384, 511, 1024};
    (void)state;
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i += (size_t)reference_effort(1, 5))
        for (int tall = 0; tall < (ranks[i] > 300 ? 1 : 2); tall++) {
            const shape s = {tall ? 2 * ranks[i] + 1 : ranks[i] + 5, ranks[i]};
            check_polar(&(trial){s, EVENLY, 1.1, 1});
            check_polar(&(trial){s, EVENLY, 5e3, 1});
        }
}

/* Where products do not suffice the basis is completed: tr(U'M) is still the sum of the singular values. */
static void test_polar_of_deficient_matrices(void **state)
{
    static const shape s = {230, 150};
    static const int64_t kept[] = {0, 1, 75, 149};
    (void)state;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        double *sigma = spectrum(&(trial){s, EVENLY, 10, 1}), *U = reference_new(s.m * s.r),
               *G = reference_new(s.r * s.r);
        double sum = 0, trace = 0;
        armilla_algebra *algebra = NULL;
        for (int64_t k = 0; k < s.r; k++) sum += sigma[k] *= k < kept[i];
        double *M = made_of(5, s, sigma);
        reference_scene("rank %d of %d", (int)kept[i], (int)s.r);
        REFERENCE_OK(armilla_algebra_new(reference_context, s.m, s.r, &algebra));
        REFERENCE_OK(armilla_polar(algebra, M, U));
        armilla_inner(s.m, s.r, s.r, U, U, G);
        for (int64_t k = 0; k < s.r * s.r; k++)
            REFERENCE_NEAR(G[k], k % s.r == k / s.r, 30 * sqrt((double)s.m) * DBL_EPSILON);
        for (int64_t k = 0; k < s.m * s.r; k++) trace += U[k] * M[k];
        REFERENCE_NEAR(trace, sum, 1e-12 * (1 + sum));
        armilla_algebra_free(algebra);
        free(sigma);
        free(U);
        free(G);
        free(M);
    }
}

/* Z diag(values) Z' */
static double *symmetric_of(uint64_t seed, int64_t r, const double *values)
{
    const shape s = {r, r};
    double *S = reference_new(r * r);
    memset(S, 0, (size_t)(r * r) * sizeof *S);
    for (int64_t k = 0; k < r; k++) S[k * r + k] = values[k];
    for (int i = 0; i < REFLECTIONS; i++) {
        uint64_t rows = seed + (uint64_t)i, columns = rows;
        reflect_rows(&rows, s, S);
        reflect_columns(&columns, s, S);
    }
    for (int64_t k = 0; k < r * r; k++) S[k] = S[k / r + k % r * r];
    return S;
}

static void check_largest(const trial *t)
{
    const int64_t r = t->s.r;
    double *values = spectrum(t), *S = symmetric_of(3, r, values), least = 0;
    armilla_algebra *algebra = NULL;
    reference_scene("r = %d, fall %d, kappa %g, scale %g", (int)r, (int)t->how, t->kappa, t->scale);
    REFERENCE_OK(armilla_algebra_new(reference_context, r, r, &algebra));
    REFERENCE_OK(armilla_largest_eigenvalue(algebra, r, S, &least));
    REFERENCE_HOLDS(least >= t->scale * (1 - 1e-12));
    REFERENCE_HOLDS(least <= t->scale * (r < ARMILLA_LARGE ? 1 + 1e-12 : 1.00025));
    /* not by the eigenvalue that is there for other matrices */
    if (r >= ARMILLA_LARGE && t->scale == 1) REFERENCE_HOLDS(armilla_lanczos_bound(algebra, S, &least));
    armilla_algebra_free(algebra);
    free(values);
    free(S);
}

/* A weight of a step must not be below it, and hardly above. */
static void test_bound_of_the_largest_eigenvalue(void **state)
{
    static const int64_t ranks[] = {100, 127, 128, 150, 300, 512};
    static const double kappas[] = {1, 1.001, 2, 1e3, 1e9, 1e18}, scales[] = {1, 1e150, 1e-150, 1e290, 1e-290};
    int count = 0;
    (void)state;
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
        for (fall how = EVENLY; how < FALLS; how++)
            for (size_t k = 0; k < sizeof kappas / sizeof kappas[0]; k += (size_t)reference_effort(1, 5))
                check_largest(&(trial){{0, ranks[i]}, how, kappas[k], scales[count++ % 5]});
}

static void test_bound_of_no_eigenvalue(void **state)
{
    enum { R = 130 };
    armilla_algebra *algebra = NULL;
    double *S = reference_new(R * R), largest = 1;
    (void)state;
    memset(S, 0, R * R * sizeof *S);
    REFERENCE_OK(armilla_algebra_new(reference_context, R, R, &algebra));
    REFERENCE_OK(armilla_largest_eigenvalue(algebra, R, S, &largest));
    REFERENCE_HOLDS(largest == 0);
    armilla_algebra_free(algebra);
    free(S);
}

/* What tiles make: B'B, BK, B(K'K)^(-1) + 2B, and K with its Cholesky factor. */
static double *run_tiles(const armilla_algebra *algebra, const double *B, const double *S)
{
    const int64_t m = algebra->m, r = algebra->r;
    double *made = reference_new(2 * m * r + 3 * r * r), *BS = made, *solved = BS + m * r, *G = solved + m * r;
    double *R = G + r * r, *inverse = R + r * r;
    armilla_tiles_inner(algebra, m, B, B, G);
    memcpy(BS, B, (size_t)(m * r) * sizeof *B);
    armilla_tiles_multiply(algebra, m, S, BS);
    memcpy(R, S, (size_t)(r * r) * sizeof *S);
    REFERENCE_HOLDS(armilla_tiles_cholesky(algebra, R));
    for (int64_t k = 0; k < r * r; k++) R[k] = k % r <= k / r ? R[k] : 0;
    memcpy(solved, B, (size_t)(m * r) * sizeof *B);
    armilla_tiles_resolve(algebra, m, &(armilla_resolvent){2, 3, R}, solved);
    memcpy(inverse, R, (size_t)(r * r) * sizeof *S);
    armilla_tiles_solve(algebra, R, inverse);
    return made;
}

static void check_tiles(shape s, const double *B, const double *S, double *made)
{
    const int64_t m = s.m, r = s.r;
    double *BS = made, *solved = BS + m * r, *G = solved + m * r, *R = G + r * r, *inverse = R + r * r;
    double *wanted = reference_new(m * r);
    reference_left_transposed(m, r, r, B, B, wanted);
    for (int64_t k = 0; k < r * r; k++) REFERENCE_NEAR(G[k], wanted[k], 1e-12 * (double)m);
    reference_multiply(m, r, r, B, S, wanted);
    for (int64_t k = 0; k < m * r; k++) REFERENCE_NEAR(BS[k], wanted[k], 1e-12 * (double)r);
    reference_left_transposed(r, r, r, R, R, wanted);
    for (int64_t k = 0; k < r * r; k++) REFERENCE_NEAR(S[k], wanted[k], 1e-12);
    /* (solved - 2B)S = 3B */
    for (int64_t k = 0; k < m * r; k++) solved[k] -= 2 * B[k];
    reference_multiply(m, r, r, solved, S, wanted);
    for (int64_t k = 0; k < m * r; k++) REFERENCE_NEAR(wanted[k], 3 * B[k], 1e-11);
    for (int64_t k = 0; k < r * r; k++) REFERENCE_NEAR(inverse[k], k % r == k / r, 1e-12);
    free(wanted);
}

static void test_tiles(void **state)
{
    static const shape shapes[] = {{128, 128}, {261, 128}, {150, 150}, {520, 300}};
    uint64_t random = 21;
    armilla_context *context = support_context();
    (void)state;
    REFERENCE_OK(armilla_call_enter(context, 3));
    const armilla_team team = armilla_team_of(context, 3);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const shape s = shapes[i];
        const size_t bytes = (size_t)(2 * s.m * s.r + 3 * s.r * s.r) * sizeof(double);
        double *values = spectrum(&(trial){s, EVENLY, 20, 1}), *S = symmetric_of(4, s.r, values);
        double *B = reference_new(s.m * s.r);
        armilla_algebra *algebra = NULL;
        reference_scene("%d x %d", (int)s.m, (int)s.r);
        reference_fill_normal(&random, s.m * s.r, B);
        REFERENCE_OK(armilla_algebra_new(context, s.m, s.r, &algebra));
        double *alone = run_tiles(algebra, B, S);
        armilla_algebra_set_team(algebra, &team);
        double *shared = run_tiles(algebra, B, S);
        REFERENCE_HOLDS(memcmp(alone, shared, bytes) == 0);
        check_tiles(s, B, S, alone);
        S[(s.r - 1) * (s.r + 1)] = -1;
        REFERENCE_HOLDS(!armilla_tiles_cholesky(algebra, S));
        armilla_algebra_free(algebra);
        free(values);
        free(S);
        free(B);
        free(alone);
        free(shared);
    }
    armilla_call_leave(context);
    armilla_context_free(context);
}

/* Products that take no algebra need BLAS all the same. */
static int set_up(void **state)
{
    return reference_set_up(state) || armilla_blas_enter(reference_context, 3) != ARMILLA_OK;
}

static int tear_down(void **state)
{
    armilla_blas_leave();
    return reference_tear_down(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_polar_of_every_spectrum),
        cmocka_unit_test(test_polar_of_every_rank),
        cmocka_unit_test(test_polar_of_deficient_matrices),
        cmocka_unit_test(test_bound_of_the_largest_eigenvalue),
        cmocka_unit_test(test_bound_of_no_eigenvalue),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
