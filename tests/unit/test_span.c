/* Orthonormal blocks: each orthonormal and orthogonal to those before, A = SB + QR, columns of 0 where A has nothing new,
 * and the same bits for any number of threads; for tall and small matrices, in both types and at every scale. */
#include "reference/reference.h"
#include "unit/support.h"

#include "base/call.h"
#include "linalg/span.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { K = 5, BLOCKS = 3, ALL = K * BLOCKS };

typedef struct trial {
    int64_t m;
    armilla_type type;
    double scale; /* of A */
    double fresh; /* what is new in A beside what the blocks before have */
    bool rough;
} trial;

static const trial trials[] = {
    {20, ARMILLA_F64, 1, 1, false},        {700, ARMILLA_F32, 1e30, 1, false},
    {5000, ARMILLA_F32, 1, 1e-3, false},   {5000, ARMILLA_F64, 1, 1e-3, false},
    {9001, ARMILLA_F64, 1e150, 1, false},  {9001, ARMILLA_F64, 1e-150, 1e-4, false},
    {3000, ARMILLA_F32, 1e-160, 1, false}, {2500, ARMILLA_F32, 1, 0, false},
    {5000, ARMILLA_F32, 1, 5e-3, true},    {5000, ARMILLA_F64, 1, 1e-4, true},
};

static double *fetch_span(const armilla_span *span, const trial *t, int64_t made)
{
    double *S = reference_new(t->m * ALL);
    for (int64_t i = 0; i < made; i++) armilla_fetch(t->type, t->m * K, armilla_span_block(span, i), S + i * t->m * K);
    return S;
}

/* S'S = I, but for columns of 0. */
static void check_orthonormal(const trial *t, const double *S, int64_t columns)
{
    const double loss = t->type == ARMILLA_F32 ? (t->rough ? 1e-2 : 3e-5) : (t->rough ? 1e-6 : 1e-8);
    for (int64_t a = 0; a < columns; a++)
        for (int64_t b = 0; b <= a; b++) {
            double sum = 0, own = 0;
            for (int64_t i = 0; i < t->m; i++) {
                sum += S[a * t->m + i] * S[b * t->m + i];
                own += S[a * t->m + i] * S[a * t->m + i];
            }
            REFERENCE_NEAR(sum, a == b && own > 0 ? 1 : 0, loss);
        }
}

static void check_split(const trial *t, const double *S, int64_t i, const armilla_split *split, const double *A)
{
    const double epsilon = t->type == ARMILLA_F32 ? 3e-6 : 1e-10;
    for (int64_t c = 0; c < K; c++)
        for (int64_t row = 0; row < t->m; row += 1 + t->m / 300) {
            double sum = 0;
            for (int64_t a = 0; a < i * K; a++) sum += S[a * t->m + row] * split->B[c * i * K + a];
            for (int64_t a = 0; a < K; a++) sum += S[(i * K + a) * t->m + row] * split->R[c * K + a];
            REFERENCE_NEAR(sum, A[c * t->m + row], epsilon * t->scale * sqrt((double)t->m));
        }
}

/* The next product: mostly in the span of the blocks before. */
static void make_A(const trial *t, const double *S, int64_t i, uint64_t *random, double *A)
{
    double *mix = reference_new(ALL * K);
    reference_fill_normal(random, t->m * K, A);
    reference_fill_normal(random, ALL * K, mix);
    for (int64_t c = 0; c < K; c++)
        for (int64_t row = 0; row < t->m; row++) {
            double old = 0;
            for (int64_t a = 0; a < i * K; a++) old += sqrt((double)t->m) * S[a * t->m + row] * mix[c * ALL + a];
            A[c * t->m + row] = t->scale * (old + (i > 0 ? t->fresh : 1) * A[c * t->m + row]);
        }
    if (i == 1) memcpy(A + t->m, A, (size_t)t->m * sizeof *A); /* twice the same column */
    free(mix);
}

static double *run_trial(armilla_context *context, const trial *t, int threads, uint64_t seed)
{
    uint64_t random = seed;
    armilla_span *span = NULL;
    double B[ALL * K], R[K * K], *A = reference_new(t->m * K), *S = NULL;
    const armilla_split split = {B, R};
    REFERENCE_OK(armilla_call_enter(context, threads));
    const armilla_team team = armilla_team_of(context, threads);
    const armilla_span_plan plan = {
        .type = t->type, .m = t->m, .k = K, .blocks = BLOCKS, .rough = t->rough, .team = &team};
    REFERENCE_OK(armilla_span_new(context, &plan, &span));
    for (int64_t i = 0; i < BLOCKS; i++) {
        free(S);
        S = fetch_span(span, t, i);
        make_A(t, S, i, &random, A);
        REFERENCE_OK(armilla_span_add(span, i, A, 1e-6, &split));
        free(S);
        S = fetch_span(span, t, i + 1);
        check_orthonormal(t, S, (i + 1) * K);
        check_split(t, S, i, &split, A);
    }
    /* Y picks a column and adds two. */
    double Y[2 * ALL] = {0}, *U = reference_new(2 * t->m);
    Y[3] = Y[ALL] = Y[ALL + ALL - 1] = 1;
    armilla_span_combine(span, BLOCKS, 2, Y, NULL, NULL, U);
    for (int64_t i = 0; i < t->m; i++) {
        REFERENCE_NEAR(U[i], S[3 * t->m + i], 1e-12);
        REFERENCE_NEAR(U[t->m + i], S[i] + S[(ALL - 1) * t->m + i], 1e-12);
    }
    /* Z picks a column of A for each. */
    double Z[2 * K] = {0};
    Z[1] = Z[K + 4] = 1 / t->scale;
    armilla_span_combine(span, BLOCKS, 2, Y, A, Z, U);
    for (int64_t i = 0; i < t->m; i++) {
        REFERENCE_NEAR(U[i], S[3 * t->m + i] + A[t->m + i] / t->scale, 1e-12);
        REFERENCE_NEAR(U[t->m + i], S[i] + S[(ALL - 1) * t->m + i] + A[4 * t->m + i] / t->scale, 1e-12);
    }
    A[t->m] = NAN;
    REFERENCE_HOLDS(armilla_span_add(span, 1, A, 1e-6, &split) == ARMILLA_BAD_DATA);
    armilla_span_free(span);
    armilla_call_leave(context);
    free(U);
    free(A);
    return S;
}

static void test_blocks(void **state)
{
    armilla_context *context = support_context();
    (void)state;
    REFERENCE_OK(armilla_blas_enter(context, 4));
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        const trial *t = &trials[i];
        reference_scene("%d rows, %s, scale %g, %g new", (int)t->m, armilla_type_word(t->type), t->scale, t->fresh);
        double *one = run_trial(context, t, 1, i), *three = run_trial(context, t, 3, i);
        REFERENCE_HOLDS(memcmp(one, three, (size_t)(t->m * ALL) * sizeof *one) == 0);
        int64_t zeros = 0;
        for (int64_t c = 0; c < ALL; c++) {
            double own = 0;
            for (int64_t k = 0; k < t->m; k++) own += fabs(one[c * t->m + k]);
            zeros += own == 0;
        }
        /* the second of two equal columns, and everything where nothing is new */
        REFERENCE_HOLDS(zeros == (t->fresh == 0 ? 2 * K : 1));
        free(one);
        free(three);
    }
    armilla_blas_leave();
    armilla_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
