/* Codes that are assignments of atoms: the choice of the nearest, the sums of a sweep with assignments, a step of Lloyd's iteration,
 * the choice of worst-fitted samples, and k-means++, each against plain loops. */
#include "reference/reference.h"
#include "unit/support.h"

#include "linalg/code_kernels.h"
#include "linalg/dense.h"
#include "solve/lloyd.h"
#include "solve/policy.h"
#include "start/seeding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 13, N = 300, R = 6, MOST_R = 21 };

/* Small whole numbers, so that there are ties and nothing is rounded. */
static void test_nearest_is_the_first_of_equals(void **state)
{
    uint64_t random = 1;
    (void)state;
    for (size_t row = 0; armilla_code_kernels_row(row); row++) {
        const armilla_code_kernels *kernels = armilla_code_kernels_row(row);
        if (!armilla_instructions_supported(kernels->name)) continue;
        for (int64_t r = 1; r <= MOST_R; r++)
            for (int trial = 0; trial < 50; trial++) {
                double C[MOST_R * 7], offsets[MOST_R];
                int32_t assignments[7];
                for (int64_t i = 0; i < 7 * r; i++) C[i] = (double)reference_below(&random, 5) - 2;
                for (int64_t k = 0; k < r; k++) offsets[k] = (double)reference_below(&random, 4);
                kernels->nearest(r, 7, C, r, offsets, 2, assignments);
                for (int64_t j = 0; j < 7; j++) {
                    int64_t best = 0;
                    for (int64_t k = 1; k < r; k++)
                        if (offsets[k] - 2 * C[j * r + k] < offsets[best] - 2 * C[j * r + best]) best = k;
                    assert_int_equal(assignments[j], best);
                }
            }
    }
}

/* What every step of the tests begins with. */
static armilla_lloyd lloyd_of(armilla_context *context, armilla_sweep *sweep, const double *squared, double *offsets)
{
    return (armilla_lloyd){.sweep = sweep,
                           .kernels = armilla_code_kernels_for(context),
                           .m = M,
                           .share = {N, 0, N},
                           .r = R,
                           .squared_norms = squared,
                           .l = 1,
                           .offsets = offsets};
}

/* Data in both forms, and centred: sums of clusters, their sizes, <X,UW> and the inertia. */
typedef struct outcome {
    double A[M * R], sizes[R], cross, change, inertia;
    int32_t assignments[N];
} outcome;

static void sweep_assignments(armilla_context *context, const armilla_data *X, const double *squared, const double *U,
                              int threads, outcome *got)
{
    double offsets[R], squares[R], distances[N];
    armilla_sweep *sweep = NULL;
    for (int64_t k = 0; k < R; k++) squares[k] = reference_dot(M, U + k * M, U + k * M);
    for (int64_t j = 0; j < N; j++) got->assignments[j] = (int32_t)(j % 2);
    REFERENCE_OK(armilla_call_enter(context, threads));
    REFERENCE_OK(armilla_sweep_new_assigning(context, X, ARMILLA_F64, R, ARMILLA_LLOYD_TALLY, &sweep));
    armilla_lloyd lloyd = lloyd_of(context, sweep, squared, offsets);
    lloyd.U_typed = U;
    lloyd.squares = squares;
    lloyd.stride = 1;
    lloyd.assignments = got->assignments;
    lloyd.distances = distances;
    REFERENCE_OK(armilla_lloyd_assign(&lloyd));
    assert_null(armilla_sweep_G(sweep));
    memcpy(got->A, armilla_sweep_A(sweep), sizeof got->A);
    memcpy(got->sizes, armilla_sweep_sizes(sweep), sizeof got->sizes);
    got->cross = armilla_sweep_cross(sweep);
    got->change = armilla_sweep_change(sweep);
    got->inertia = armilla_sweep_tally(sweep)[ARMILLA_LLOYD_INERTIA];
    armilla_sweep_free(sweep);
    armilla_call_leave(context);
}

static void check_assignments(const double *X, const double *U, const outcome *got)
{
    double A[M * R] = {0}, sizes[R] = {0}, cross = 0, change = 0, inertia = 0;
    for (int64_t j = 0; j < N; j++) {
        double least = INFINITY;
        int64_t best = 0;
        for (int64_t k = 0; k < R; k++) {
            double square = 0;
            for (int64_t i = 0; i < M; i++) square += pow(X[j * M + i] - U[k * M + i], 2);
            if (square < least) best = k;
            least = fmin(least, square);
        }
        assert_int_equal(got->assignments[j], best);
        sizes[best] += 1;
        inertia += least;
        change += best == j % 2 ? 0 : 2;
        cross += reference_dot(M, X + j * M, U + best * M);
        for (int64_t i = 0; i < M; i++) A[best * M + i] += X[j * M + i];
    }
    for (int64_t i = 0; i < M * R; i++) REFERENCE_NEAR(got->A[i], A[i], 1e-11);
    assert_memory_equal(got->sizes, sizes, sizeof sizes);
    assert_true(got->change == change);
    REFERENCE_NEAR(got->cross, cross, 1e-10 * fabs(cross) + 1e-10);
    REFERENCE_NEAR(got->inertia, inertia, 1e-10 * inertia);
}

/* X with about half of its entries taken away, and the same as compressed columns. */
static int32_t rows[M * N], starts[N + 1];
static double dense[M * N], values[M * N], mean[M];

static void fill(uint64_t seed)
{
    int32_t count = 0;
    uint64_t random = seed;
    reference_fill_normal(&random, M * N, dense);
    for (int64_t i = 0; i < M; i++) mean[i] = 0.1 * (double)i;
    for (int64_t j = 0; j < N; j++) {
        for (int64_t i = 0; i < M; i++) {
            double *x = &dense[j * M + i];
            if (reference_below(&random, 2)) *x = 0;
            if (*x == 0) continue;
            rows[count] = (int32_t)i;
            values[count++] = *x;
        }
        starts[j + 1] = count;
    }
}

static void test_sums_of_assignments(void **state)
{
    armilla_context *context = support_context();
    const armilla_column_map centre = {.mean = mean};
    (void)state;
    for (int trial = 0; trial < 12; trial++) {
        armilla_data *raw = NULL, *prepared = NULL;
        const bool is_sparse = trial % 2, centred = trial % 4 >= 2;
        double X[M * N], U[M * R], squared[N];
        outcome one, three;
        fill(10 + (uint64_t)trial);
        reference_scene("%s%s, trial %d", is_sparse ? "sparse" : "dense", centred ? ", centred" : "", trial);
        for (int64_t i = 0; i < M * N; i++) X[i] = dense[i] - (centred ? mean[i % M] : 0);
        for (int64_t j = 0; j < N; j++) squared[j] = reference_dot(M, X + j * M, X + j * M);
        memcpy(U, X + 17 * M, sizeof U);
        if (is_sparse)
            REFERENCE_OK(armilla_data_wrap_sparse(context, ARMILLA_F64, ARMILLA_I32, values, rows, starts, M, N, &raw));
        else
            REFERENCE_OK(armilla_data_wrap_dense(context, ARMILLA_F64, dense, M, N, M, &raw));
        if (centred) REFERENCE_OK(armilla_data_prepare(context, raw, &centre, &prepared));
        sweep_assignments(context, centred ? prepared : raw, squared, U, 1, &one);
        sweep_assignments(context, centred ? prepared : raw, squared, U, 3, &three);
        check_assignments(X, U, &one);
        assert_memory_equal(&one, &three, sizeof one);
        armilla_data_free(prepared);
        armilla_data_free(raw);
    }
    armilla_context_free(context);
}

/* A step whose callers keep everything in matrices, diagonals among them, and whose set refuses means that point down. */
typedef struct trial {
    double U[M * R], U_next[M * R], A[M * R], G[R * R], H[R * R], distances[N];
    int32_t assignments[N];
    double inertia;
    int revived, settled;
} trial;

enum { EMPTY = 2, REVIVED = 4, REFUSED = 5, SAMPLE = 33 };

static bool points_up(int64_t m, double *u)
{
    (void)m;
    return u[0] > -100;
}

static armilla_status revive_one(void *self)
{
    trial *t = self;
    t->revived++;
    memcpy(t->U_next + REVIVED * M, dense + SAMPLE * M, M * sizeof(double));
    return ARMILLA_OK;
}

static armilla_status revive_none(void *self)
{
    (void)self;
    return ARMILLA_BAD_DATA;
}

static void settle_trial(void *self)
{
    trial *t = self;
    t->settled++;
    memcpy(t->U, t->U_next, sizeof t->U);
    for (int64_t k = 0; k < R; k++) t->H[k * R + k] = reference_dot(M, t->U + k * M, t->U + k * M);
}

/* Means of the assignments j % R of the samples, two centres without any and one whose mean is refused. */
static void begin_trial(uint64_t seed, trial *t)
{
    uint64_t random = seed;
    *t = (trial){.revived = 0};
    reference_fill_normal(&random, M * R, t->U);
    for (int64_t k = 0; k < R * R; k++) t->G[k] = t->H[k] = NAN; /* but for the diagonals */
    for (int64_t k = 0; k < R; k++) t->G[k * R + k] = 0;
    for (int64_t j = 0; j < N; j++) {
        const int64_t k = j % R;
        t->assignments[j] = (int32_t)k;
        if (k == EMPTY || k == REVIVED) continue;
        t->G[k * R + k] += 1;
        for (int64_t i = 0; i < M; i++) t->A[k * M + i] += dense[j * M + i];
    }
    t->A[REFUSED * M] = -1e6;
}

static armilla_status run_trial(armilla_context *context, const armilla_data *X, double l, bool stays, bool fails,
                                trial *t)
{
    double squared[N], offsets[R];
    armilla_sweep *sweep = NULL;
    for (int64_t j = 0; j < N; j++) squared[j] = reference_dot(M, dense + j * M, dense + j * M);
    REFERENCE_OK(armilla_call_enter(context, 3));
    REFERENCE_OK(armilla_sweep_new_assigning(context, X, ARMILLA_F64, R, ARMILLA_LLOYD_TALLY, &sweep));
    armilla_lloyd lloyd = lloyd_of(context, sweep, squared, offsets);
    lloyd.l = l;
    lloyd.U = lloyd.U_typed = t->U;
    lloyd.U_next = t->U_next;
    lloyd.stays = stays;
    lloyd.A = t->A;
    lloyd.sizes = t->G;
    lloyd.squares = t->H;
    lloyd.stride = R + 1;
    lloyd.assignments = t->assignments;
    lloyd.distances = t->distances;
    lloyd.atom = points_up;
    lloyd.revive = fails ? revive_none : revive_one;
    lloyd.settle = settle_trial;
    lloyd.self = t;
    const armilla_status status = armilla_lloyd_step(&lloyd);
    if (status == ARMILLA_OK) t->inertia = armilla_sweep_tally(sweep)[ARMILLA_LLOYD_INERTIA];
    armilla_sweep_free(sweep);
    armilla_call_leave(context);
    return status;
}

/* The centres by plain division, the assignments and distances to l times these. */
static void check_trial(double l, bool stays, const trial *before, const trial *after)
{
    double inertia = 0;
    for (int64_t k = 0; k < R; k++) {
        const bool moves = !stays && k != EMPTY && k != REFUSED;
        for (int64_t i = 0; i < M; i++) {
            const double moved = before->A[k * M + i] / (l * before->G[k * R + k]);
            const double wanted = k == REVIVED ? dense[SAMPLE * M + i] : moves ? moved : before->U[k * M + i];
            assert_true(after->U[k * M + i] == wanted);
        }
    }
    for (int64_t j = 0; j < N; j++) {
        double least = INFINITY;
        int64_t best = 0;
        for (int64_t k = 0; k < R; k++) {
            double square = 0;
            for (int64_t i = 0; i < M; i++) square += pow(dense[j * M + i] - l * after->U[k * M + i], 2);
            if (square < least) best = k;
            least = fmin(least, square);
        }
        assert_int_equal(after->assignments[j], best);
        REFERENCE_NEAR(after->distances[j], least, 1e-10 * (1 + least));
        inertia += least;
    }
    REFERENCE_NEAR(after->inertia, inertia, 1e-10 * inertia);
    assert_int_equal(after->revived, 1);
    assert_int_equal(after->settled, 1);
}

static void test_step(void **state)
{
    armilla_context *context = support_context();
    armilla_data *forms[2] = {NULL, NULL};
    (void)state;
    fill(3);
    REFERENCE_OK(armilla_data_wrap_dense(context, ARMILLA_F64, dense, M, N, M, &forms[0]));
    REFERENCE_OK(armilla_data_wrap_sparse(context, ARMILLA_F64, ARMILLA_I32, values, rows, starts, M, N, &forms[1]));
    for (int i = 0; i < 8; i++) {
        const double l = i & 2 ? 1 : 2.5;
        const bool stays = i & 4;
        trial before, after;
        reference_scene("%s, l = %g%s", i & 1 ? "sparse" : "dense", l, stays ? ", only revived ones move" : "");
        begin_trial(50 + (uint64_t)i, &before);
        after = before;
        REFERENCE_OK(run_trial(context, forms[i & 1], l, stays, false, &after));
        check_trial(l, stays, &before, &after);
    }
    armilla_data_free(forms[1]);
    armilla_data_free(forms[0]);
    armilla_context_free(context);
}

/* What cannot be revived ends the step before anything that counts is touched. */
static void test_step_that_fails(void **state)
{
    armilla_context *context = support_context();
    armilla_data *data = NULL;
    trial before, after;
    (void)state;
    fill(3);
    REFERENCE_OK(armilla_data_wrap_dense(context, ARMILLA_F64, dense, M, N, M, &data));
    begin_trial(1, &before);
    after = before;
    assert_int_equal(run_trial(context, data, 1, false, true, &after), ARMILLA_BAD_DATA);
    assert_memory_equal(after.U, before.U, sizeof after.U);
    assert_memory_equal(after.assignments, before.assignments, sizeof after.assignments);
    assert_int_equal(after.settled, 0);
    armilla_data_free(data);
    armilla_context_free(context);
}

/* Of the samples with even numbers, those above 2. */
static bool is_even(const void *self, int64_t sample, double square)
{
    assert_ptr_equal(self, dense);
    return sample % 2 == 0 && square > 2;
}

/* The worst come first, the first of equals before the others, none twice, and none that has no misfit. */
static void test_misfit(void **state)
{
    armilla_context *context = support_context();
    uint64_t random = 9;
    (void)state;
    for (int round = 0; round < 200; round++) {
        double squares[20], left[20];
        const int64_t n = 1 + (int64_t)reference_below(&random, 20);
        const bool some = round % 2;
        const armilla_misfit misfit = {context, {n, 0, n}, squares, some ? is_even : NULL, some ? dense : NULL};
        int64_t sample = 0;
        for (int64_t j = 0; j < n; j++) squares[j] = left[j] = (double)reference_below(&random, 6);
        for (int64_t taken = 0; taken <= n; taken++) {
            int64_t worst = -1;
            for (int64_t j = n - 1; j >= 0; j--) {
                const bool counts = left[j] > 0 && (!some || is_even(dense, j, left[j]));
                if (counts && (worst < 0 || left[j] >= left[worst])) worst = j;
            }
            REFERENCE_OK(armilla_misfit_take(&misfit, &sample));
            assert_int_equal(sample, worst);
            if (worst >= 0) left[worst] = 0;
            assert_memory_equal(squares, left, (size_t)n * sizeof *left);
        }
    }
    armilla_context_free(context);
}

/* Atoms that nobody uses get samples in order, as long as there are some. */
static void test_misfit_is_shared(void **state)
{
    armilla_context *context = support_context();
    const double sizes[10] = {0, NAN, 3, NAN, 0, NAN, 0, NAN, 1, NAN};
    double squares[4] = {1, 7, 0, 0};
    const armilla_misfit misfit = {.context = context, .share = {4, 0, 4}, .squares = squares};
    int64_t count = 0;
    int64_t samples[5];
    (void)state;
    REFERENCE_OK(armilla_misfit_share(&misfit, 5, sizes, 2, samples, &count));
    assert_int_equal(count, 2);
    const int64_t wanted[5] = {1, -1, 0, -1, -1};
    assert_memory_equal(samples, wanted, sizeof wanted);
    REFERENCE_OK(armilla_misfit_share(&misfit, 5, sizes, 2, samples, &count));
    assert_int_equal(count, 0);
    for (int k = 0; k < 5; k++) assert_int_equal(samples[k], -1);
    armilla_context_free(context);
}

/* What a choice of samples leaves of the distances. */
static double left_by(bool angle, const double *squared, const int64_t *chosen)
{
    double sum = 0;
    for (int64_t j = 0; j < N; j++) {
        double least = INFINITY;
        for (int64_t k = 0; k < R; k++) {
            const double *c = dense + chosen[k] * M, product = reference_dot(M, c, dense + j * M);
            const double lengths = sqrt(squared[j] * squared[chosen[k]]);
            least = fmin(least, angle ? 1 - product / lengths : squared[j] + squared[chosen[k]] - 2 * product);
        }
        sum += least;
    }
    return sum;
}

/* No sample twice; a try does not depend on which others are made with it, nor on threads; and greedy draws leave less
 * than single ones, which leave less than samples drawn evenly. */
static void test_seeding(void **state)
{
    enum { TRIES = 40 };
    armilla_context *context = support_context();
    armilla_data *data = NULL;
    double squared[N];
    (void)state;
    fill(5);
    for (int64_t j = 0; j < N; j++) /* six groups, one of them large */
        for (int64_t i = 0; i < M; i++) dense[j * M + i] += i == (j < 200 ? 0 : 1 + j % 5) ? 12 : 0;
    for (int64_t j = 0; j < N; j++) squared[j] = reference_dot(M, dense + j * M, dense + j * M);
    REFERENCE_OK(armilla_data_wrap_dense(context, ARMILLA_F64, dense, M, N, M, &data));
    for (int angle = 0; angle < 2; angle++) {
        double sums[3] = {0};
        for (int greedy = 0; greedy < 2; greedy++) {
            const int64_t candidates = greedy ? armilla_greedy_candidates(R) : 1;
            int64_t chosen[R * TRIES], alone[R];
            armilla_seeding seeding = {context, data, ARMILLA_F64,         squared, angle, candidates, R, 0,
                                       TRIES,   7,    ARMILLA_STREAM_TEST, 0};
            armilla_seeding single = {context, data, ARMILLA_F64,         squared, angle, candidates, R, 11,
                                      1,       7,    ARMILLA_STREAM_TEST, 0};
            REFERENCE_OK(armilla_call_enter(context, 3));
            REFERENCE_OK(armilla_seed_samples(&seeding, chosen));
            armilla_call_leave(context);
            REFERENCE_OK(armilla_seed_samples(&single, alone));
            assert_memory_equal(alone, chosen + 11 * R, sizeof alone);
            assert_int_equal(single.passes, R);
            for (int64_t t = 0; t < TRIES; t++) {
                for (int64_t a = 0; a < R; a++)
                    for (int64_t b = 0; b < a; b++) assert_true(chosen[t * R + a] != chosen[t * R + b]);
                sums[greedy] += left_by(angle, squared, chosen + t * R);
            }
        }
        for (int64_t t = 0; t < TRIES; t++) {
            int64_t even[R];
            for (int64_t k = 0; k < R; k++) even[k] = (t * 37 + k * 53) % N;
            sums[2] += left_by(angle, squared, even);
        }
        reference_scene("angle %d: left %g greedy, %g single, %g even", angle, sums[1], sums[0], sums[2]);
        REFERENCE_HOLDS(sums[1] < 0.9 * sums[0] && sums[0] < 0.9 * sums[2]);
    }
    armilla_data_free(data);
    armilla_context_free(context);
}

/* Fewer places than samples are wanted: the rest is -1. By angle 0 has no place. */
static void test_seeding_of_few_places(void **state)
{
    const double few[10] = {1, 0, 0, 1, 2, 0, 0, 0, 0, 3}, squared[5] = {1, 1, 4, 0, 9};
    armilla_context *context = support_context();
    armilla_data *data = NULL;
    (void)state;
    REFERENCE_OK(armilla_data_wrap_dense(context, ARMILLA_F64, few, 2, 5, 2, &data));
    for (int angle = 0; angle < 2; angle++)
        for (uint64_t seed = 0; seed < 10; seed++) {
            int64_t chosen[5], places = 0;
            armilla_seeding seeding = {
                context, data, ARMILLA_F64,         squared, angle, armilla_greedy_candidates(5), 5, 0,
                1,       seed, ARMILLA_STREAM_TEST, 0};
            REFERENCE_OK(armilla_seed_samples(&seeding, chosen));
            while (places < 5 && chosen[places] >= 0) places++;
            assert_int_equal(places, angle ? 2 : 5);
            for (int64_t k = 0; k < places && angle; k++) assert_int_not_equal(chosen[k], 3);
        }
    armilla_data_free(data);
    armilla_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_is_the_first_of_equals),
        cmocka_unit_test(test_sums_of_assignments),
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_step_that_fails),
        cmocka_unit_test(test_misfit),
        cmocka_unit_test(test_misfit_is_shared),
        cmocka_unit_test(test_seeding),
        cmocka_unit_test(test_seeding_of_few_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
