/* Solver `fast`: every pair, precision, start and sort of data, verified independently; transform = fit, bit for bit;
 * and the canonical form. */
#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int thread_counts[] = {1, 2, 3, 8};
enum { COUNTS = 4, PRECISIONS = 2 };

static size_t code_bytes(const reference_trial *trial)
{
    return (size_t)trial->r * armilla_type_size(trial->type);
}

/* Samples first, first+step, ... get the codes that are stored. */
static void check_codes(const reference_trial *trial, const armilla_model *model, int64_t first, int64_t count,
                        int64_t step, int threads)
{
    const size_t code = code_bytes(trial);
    const char *stored = armilla_model_codes(model);
    armilla_data *data = NULL;
    void *batch = reference_trial_batch(trial, first, count, step, &data);
    char *codes = calloc((size_t)count, code);
    assert_non_null(codes);
    REFERENCE_OK(armilla_model_transform(reference_context, model, data, threads, codes));
    for (int64_t j = 0; j < count; j++)
        REFERENCE_HOLDS(memcmp(codes + (size_t)j * code, stored + (size_t)(first + j * step) * code, code) == 0);
    armilla_data_free(data);
    free(batch);
    free(codes);
}

static bool one_order(const reference_trial *trial)
{
    return trial->pair->orthonormal && !trial->pair->sparse && !trial->pair->nonnegative_codes;
}

/* Free signs, order, scale and rotation are settled. */
static void check_canonical(const reference_trial *trial, const armilla_model *model)
{
    const int64_t m = trial->m, n = trial->n, r = trial->r;
    const double rounding = trial->type == ARMILLA_F32 ? 1e-4 : 1e-9;
    const armilla_model_summary summary = reference_summary(model);
    double *U = reference_model_basis(model), *V = reference_model_codes(model), *G = reference_new(r * r), last = 0;
    for (int64_t i = 0; i < r * n; i++) V[i] /= summary.radius;
    reference_right_transposed(r, n, r, V, V, G);
    for (int64_t k = 0; k < r; k++) {
        const double *u = U + k * m, weight = reference_norm(m, u) * sqrt(G[k * r + k] / (double)n);
        double top = 0;
        for (int64_t i = 0; i < m; i++)
            if (fabs(u[i]) > fabs(top)) top = u[i];
        if (!trial->pair->nonnegative_codes) REFERENCE_HOLDS(top >= 0);
        /* With a nonnegative basis the last code solve comes after the order is made. */
        if (k > 0 && trial->pair->orthonormal) REFERENCE_AT_MOST(weight, last + rounding);
        last = weight;
        for (int64_t a = 0; a < k && one_order(trial); a++) REFERENCE_AT_MOST(fabs(G[a * r + k]), rounding * (double)n);
    }
    if (!trial->pair->orthonormal && trial->options.radius == 0)
        REFERENCE_NEAR(reference_norm(m * r, U), sqrt((double)r), rounding);
    free(U);
    free(V);
    free(G);
}

static armilla_model *fit_and_verify(const reference_trial *trial)
{
    armilla_model *model = reference_trial_fit(trial);
    reference_verify(model, trial->data, trial->X, true);
    assert_string_equal(reference_summary(model).solver, "fast");
    const armilla_model_summary summary = reference_summary(model);
    const bool stopped = summary.stop == ARMILLA_STOP_INTERRUPTED || summary.stop == ARMILLA_STOP_TIME_LIMIT;
    /* A fit that is stopped is sealed where that costs no more than a sweep. */
    REFERENCE_HOLDS(summary.sealed == (summary.iterations > 0) || (stopped && !trial->pair->orthonormal));
    if (summary.sealed) {
        check_codes(trial, model, 0, trial->n, 1, 1);
        check_canonical(trial, model);
    }
    return model;
}

/* Where both factors are nonnegative, data of both signs need not have a positive radius. */
static bool has_radius(const reference_pair *pair, reference_kind kind)
{
    return pair->orthonormal || !pair->nonnegative_codes || kind != REFERENCE_GAUSSIAN;
}

static void test_every_fit_keeps_its_promises(void **state)
{
    uint64_t random = 231;
    int64_t fits = 0;
    armilla_table_row start;
    (void)state;
    for (int i = 0; i < REFERENCE_PAIRS * PRECISIONS * REFERENCE_KINDS * (int)reference_effort(3, 1); i++) {
        const reference_pair *pair = &reference_pairs[i % REFERENCE_PAIRS];
        const armilla_type type = (armilla_type)(i / REFERENCE_PAIRS % PRECISIONS);
        const reference_kind kind = (reference_kind)(i / REFERENCE_PAIRS / PRECISIONS % REFERENCE_KINDS);
        const int64_t r = 2 + reference_below(&random, 5);
        const int64_t shape[] = {r + reference_below(&random, 12), 5 + reference_below(&random, 40), r,
                                 1 + reference_below(&random, r)};
        reference_trial trial;
        if (!has_radius(pair, kind)) continue;
        reference_trial_fast(&trial, pair, type, kind, &random, shape);
        trial.options.seed = i;
        for (size_t k = 0; armilla_table_get(ARMILLA_TABLE_STARTS, k, &start); k++, fits++) {
            trial.options.start = start.name;
            reference_trial_scene(&trial, reference_kind_word(kind));
            armilla_model_free(fit_and_verify(&trial));
        }
        reference_trial_free(&trial);
    }
    print_message("%d fits verified\n", (int)fits);
    assert_true(fits >= reference_effort(8 * 2 * 20 * 5, 500));
}

/* The whole, each sample alone, backwards and by any number of threads; prepared data too. */
static void test_transform_is_fit(void **state)
{
    static const int64_t shapes[][4] = {{21, 150, 5, 2}, {30, 60, 9, 4}, {25, 40, 16, 6}, {4, 50, 7, 3}};
    uint64_t random = 232;
    (void)state;
    for (int i = 0; i < REFERENCE_PAIRS * PRECISIONS * 4; i++) {
        const reference_pair *pair = &reference_pairs[i % REFERENCE_PAIRS];
        const int64_t *shape = shapes[i / REFERENCE_PAIRS % 4];
        reference_trial trial;
        if (shape[0] < shape[2] && pair->orthonormal) continue;
        reference_trial_fast(&trial, pair, (armilla_type)(i / REFERENCE_PAIRS / 4),
                             shape[0] < shape[2] ? REFERENCE_UNIFORM : REFERENCE_NOISY, &random, shape);
        memset((char *)trial.typed + (size_t)trial.m * armilla_type_size(trial.type), 0,
               (size_t)trial.m * armilla_type_size(trial.type)); /* a sample without a direction */
        for (int combination = 0; combination < (i / REFERENCE_PAIRS % 4 == 0 ? 3 : 1); combination++) {
            trial.options.center = combination == 1 && pair->orthonormal;
            trial.options.normalize = combination > 0 ? "l2" : "none";
            trial.options.tfidf = combination == 2;
            reference_trial_scene(&trial, "transform");
            armilla_model *model = reference_trial_fit(&trial);
            for (int t = 0; t < COUNTS; t++) check_codes(&trial, model, 0, trial.n, 1, thread_counts[t]);
            check_codes(&trial, model, trial.n - 1, trial.n, -1, 2);
            for (int64_t j = 0; j < trial.n; j++) check_codes(&trial, model, j, 1, 1, 1);
            armilla_model_free(model);
        }
        reference_trial_free(&trial);
    }
}

static void same_bits(const armilla_model *a, const armilla_model *b)
{
    const armilla_model_summary x = reference_summary(a), y = reference_summary(b);
    const size_t size = armilla_type_size(x.precision);
    int64_t count = 0, other = 0;
    const armilla_trace_entry *s = reference_trace(a, &count), *t = reference_trace(b, &other);
    REFERENCE_HOLDS(memcmp(armilla_model_basis(a), armilla_model_basis(b), (size_t)(x.m * x.rank) * size) == 0);
    REFERENCE_HOLDS(memcmp(armilla_model_codes(a), armilla_model_codes(b), (size_t)(x.rank * x.n) * size) == 0);
    REFERENCE_HOLDS(x.radius == y.radius && x.objective == y.objective && x.sweeps == y.sweeps && count == other);
    for (int64_t k = 0; k < count; k++)
        REFERENCE_HOLDS(s[k].objective == t[k].objective && s[k].dU == t[k].dU && s[k].dV == t[k].dV &&
                        s[k].radius == t[k].radius && s[k].relative_error == t[k].relative_error);
}

static void test_threads_do_not_change_bits(void **state)
{
    static const int64_t shape[] = {40, 6000, 6, 2};
    uint64_t random = 233;
    (void)state;
    for (int i = 0; i < REFERENCE_PAIRS * PRECISIONS; i += (int)reference_effort(1, 5)) {
        armilla_model *first = NULL;
        reference_trial trial;
        reference_trial_fast(&trial, &reference_pairs[i % REFERENCE_PAIRS], (armilla_type)(i / REFERENCE_PAIRS),
                             REFERENCE_NOISY, &random, shape);
        trial.options.max_iter = 6;
        for (int t = 0; t < COUNTS; t++) {
            trial.options.threads = thread_counts[t];
            reference_trial_scene(&trial, "threads");
            armilla_model *model = reference_trial_fit(&trial);
            if (first) same_bits(first, model);
            if (first)
                armilla_model_free(model);
            else
                first = model;
        }
        armilla_model_free(first);
        reference_trial_free(&trial);
    }
}

/* A radius that is given is kept, whatever the scale of the data. */
static void test_fixed_radius(void **state)
{
    static const int64_t shape[] = {14, 50, 4, 2};
    static const double radii[] = {1, 0.25, 3, 7.5};
    uint64_t random = 234;
    (void)state;
    for (int i = 0; i < REFERENCE_PAIRS * PRECISIONS; i++)
        for (int k = 0; k < 4; k++) {
            int64_t count = 0;
            reference_trial trial;
            reference_trial_fast(&trial, &reference_pairs[i % REFERENCE_PAIRS], (armilla_type)(i / REFERENCE_PAIRS),
                                 REFERENCE_NOISY, &random, shape);
            trial.options.radius = radii[k];
            reference_trial_scene(&trial, "fixed radius");
            armilla_model *model = fit_and_verify(&trial);
            const armilla_trace_entry *trace = reference_trace(model, &count);
            REFERENCE_HOLDS(reference_summary(model).radius == radii[k]);
            for (int64_t j = 0; j < count; j++) REFERENCE_HOLDS(trace[j].radius == radii[k]);
            armilla_model_free(model);
            reference_trial_free(&trial);
        }
}

/* Without an iteration the start is stored as it is: the one that palm stores. */
static void test_no_iterations(void **state)
{
    static const int64_t shape[] = {12, 40, 4, 2};
    uint64_t random = 235;
    (void)state;
    for (int i = 0; i < REFERENCE_PAIRS * PRECISIONS; i++) {
        reference_trial trial;
        reference_trial_fast(&trial, &reference_pairs[i % REFERENCE_PAIRS], (armilla_type)(i / REFERENCE_PAIRS),
                             REFERENCE_NOISY, &random, shape);
        trial.options.max_iter = 0;
        reference_trial_scene(&trial, "max_iter 0");
        armilla_model *fast = fit_and_verify(&trial);
        trial.options.solver = "palm";
        armilla_model *palm = reference_trial_fit(&trial);
        REFERENCE_HOLDS(reference_summary(fast).iterations == 0 &&
                        reference_summary(fast).stop == ARMILLA_STOP_MAX_ITER);
        REFERENCE_HOLDS(reference_summary(fast).objective == reference_summary(palm).objective);
        REFERENCE_HOLDS(
            memcmp(armilla_model_codes(fast), armilla_model_codes(palm), (size_t)trial.n * code_bytes(&trial)) == 0);
        armilla_model_free(fast);
        armilla_model_free(palm);
        reference_trial_free(&trial);
    }
}

static int stop_at(void *user, const armilla_trace_entry *entry)
{
    return entry->iteration == *(const int64_t *)user;
}

/* Stopped from outside it is a whole model all the same, and every limit is kept. */
static void test_interrupted(void **state)
{
    static const int64_t shape[] = {12, 40, 5, 2};
    uint64_t random = 236;
    (void)state;
    for (int i = 0; i < REFERENCE_PAIRS; i++)
        for (int64_t stop = 0; stop < 9; stop += 1 + stop) {
            reference_trial trial;
            reference_trial_fast(&trial, &reference_pairs[i], ARMILLA_F64, REFERENCE_NOISY, &random, shape);
            reference_trial_scene(&trial, "interrupted");
            trial.options.callback = stop_at;
            trial.options.callback_user = (void *)&stop;
            armilla_model *model = fit_and_verify(&trial);
            REFERENCE_HOLDS(reference_summary(model).stop == ARMILLA_STOP_INTERRUPTED &&
                            reference_summary(model).iterations <= stop);
            armilla_model_free(model);
            trial.options.callback = NULL;
            trial.options.max_iter = stop;
            model = fit_and_verify(&trial);
            REFERENCE_HOLDS(reference_summary(model).stop == ARMILLA_STOP_MAX_ITER &&
                            reference_summary(model).iterations <= stop);
            armilla_model_free(model);
            trial.options.max_iter = 1000000;
            trial.options.time_limit = 1e-9;
            model = fit_and_verify(&trial);
            REFERENCE_HOLDS(reference_summary(model).stop == ARMILLA_STOP_TIME_LIMIT);
            armilla_model_free(model);
            reference_trial_free(&trial);
        }
}

static void test_restarts(void **state)
{
    static const int64_t shape[] = {12, 60, 4, 2};
    uint64_t random = 237;
    (void)state;
    for (int i = 0; i < REFERENCE_PAIRS * 3; i++) {
        double before = INFINITY;
        reference_trial trial;
        reference_trial_fast(&trial, &reference_pairs[i % REFERENCE_PAIRS], (armilla_type)(i % 2), REFERENCE_UNIFORM,
                             &random, shape);
        trial.options.start = i % 3 ? "random" : NULL;
        for (int64_t restarts = 1; restarts <= 4; restarts += restarts) {
            trial.options.restarts = restarts;
            reference_trial_scene(&trial, "restarts");
            armilla_model *model = fit_and_verify(&trial);
            REFERENCE_AT_MOST(reference_summary(model).objective,
                              before + 2e-6 * reference_summary(model).squared_norm);
            before = reference_summary(model).objective;
            armilla_model_free(model);
        }
        reference_trial_free(&trial);
    }
}

/* Going on from palm's model, whose codes may be better than those of the column solver, and from fast's own. */
static void test_going_on(void **state)
{
    static const int64_t shape[] = {12, 60, 6, 3};
    static const int64_t limits[] = {0, 1, 2, 5, 30};
    uint64_t random = 238;
    (void)state;
    for (int i = 0; i < REFERENCE_PAIRS * 4; i++) {
        reference_trial trial;
        reference_trial_fast(&trial, &reference_pairs[i % REFERENCE_PAIRS], (armilla_type)(i / REFERENCE_PAIRS % 2),
                             REFERENCE_NOISY, &random, shape);
        trial.options.solver = i % 3 ? "palm" : "fast";
        trial.options.max_iter = 300;
        armilla_model *given = reference_trial_fit(&trial);
        trial.options.solver = "fast";
        trial.options.start_model = given;
        for (int k = 0; k < 5; k++) {
            trial.options.max_iter = limits[k];
            reference_trial_scene(&trial, i % 3 ? "going on from palm" : "going on from fast");
            armilla_model *model = fit_and_verify(&trial);
            REFERENCE_AT_MOST(reference_summary(model).objective,
                              reference_summary(given).objective + 1e-6 * reference_summary(given).squared_norm);
            armilla_model_free(model);
        }
        armilla_model_free(given);
        reference_trial_free(&trial);
    }
}

static void test_every_shape(void **state)
{
    static const int64_t shapes[][4] = {{1, 1, 1, 1}, {1, 5, 1, 1},  {5, 1, 1, 1},  {5, 1, 3, 2}, {4, 4, 4, 2},
                                        {6, 2, 4, 1}, {7, 3, 7, 7},  {2, 9, 2, 1},  {1, 4, 3, 2}, {3, 7, 5, 3},
                                        {3, 2, 9, 4}, {9, 33, 9, 3}, {40, 31, 2, 1}};
    static const reference_kind kinds[] = {REFERENCE_UNIFORM, REFERENCE_ZERO_ROWS, REFERENCE_ZERO_COLUMNS,
                                           REFERENCE_DUPLICATES, REFERENCE_CONSTANT};
    uint64_t random = 239;
    (void)state;
    for (int i = 0; i < REFERENCE_PAIRS * PRECISIONS; i++)
        for (size_t k = 0; k < 13; k++)
            for (size_t kind = 0; kind < 5; kind++) {
                const reference_pair *pair = &reference_pairs[i % REFERENCE_PAIRS];
                reference_trial trial;
                if (pair->orthonormal && shapes[k][2] > shapes[k][0]) continue;
                reference_trial_fast(&trial, pair, (armilla_type)(i / REFERENCE_PAIRS), kinds[kind], &random,
                                     shapes[k]);
                reference_trial_scene(&trial, reference_kind_word(kinds[kind]));
                armilla_model_free(fit_and_verify(&trial));
                trial.options.tol = 1e-6;
                trial.options.max_iter = 100;
                armilla_model_free(fit_and_verify(&trial));
                reference_trial_free(&trial);
            }
}

/* Axes (1, 1) and (1, -1), whose entries differ by rounding in double and tie as they are stored: the first is positive
 * (fit_and_verify looks). */
static void test_ties_by_rounding(void **state)
{
    enum { N = 20, TRIALS = 60 };
    uint64_t random = 241;
    int ties = 0;
    double X[2 * N];
    (void)state;
    for (int k = 0; k < TRIALS; k++) {
        reference_trial trial;
        for (int64_t j = 0; j < 2 * N; j += 4) {
            X[j] = X[j + 3] = 2 + reference_uniform(&random);
            X[j + 1] = X[j + 2] = reference_uniform(&random);
        }
        reference_trial_new(&trial, reference_pairs, ARMILLA_F32, 2, N, 2, 1, X);
        trial.options.solver = "fast";
        trial.options.seed = k;
        reference_trial_scene(&trial, "two axes");
        armilla_model *model = fit_and_verify(&trial);
        const float *u = armilla_model_basis(model);
        ties += u[2] == -u[3];
        armilla_model_free(model);
        reference_trial_free(&trial);
    }
    REFERENCE_HOLDS(ties > TRIALS / 4);
}

/* 1e+-150: a fit like any other, with a radius that is learned and with one that is not. */
static void test_extreme_scales(void **state)
{
    enum { M = 8, N = 30, R = 4 };
    uint64_t random = 240;
    double X[M * N], plain[M * N];
    (void)state;
    for (int i = 0; i < REFERENCE_PAIRS * 3; i++)
        for (int k = 0; k < 4; k++) {
            const double scale = k % 2 ? 1e-150 : 1e150;
            const int64_t s = 1 + i / REFERENCE_PAIRS;
            reference_trial trial, usual;
            reference_data(&random, REFERENCE_NOISY, &reference_pairs[i % REFERENCE_PAIRS], M, N, R, s, plain);
            for (int64_t j = 0; j < M * N; j++) X[j] = scale * plain[j];
            reference_trial_new(&usual, &reference_pairs[i % REFERENCE_PAIRS], ARMILLA_F64, M, N, R, s, plain);
            reference_trial_new(&trial, &reference_pairs[i % REFERENCE_PAIRS], ARMILLA_F64, M, N, R, s, X);
            trial.options.solver = usual.options.solver = "fast";
            if (k >= 2) usual.options.radius = 2;
            if (k >= 2) trial.options.radius = 2 * scale;
            reference_trial_scene(&trial, k % 2 ? "1e-150" : "1e150");
            armilla_model *model = fit_and_verify(&trial), *other = fit_and_verify(&usual);
            REFERENCE_NEAR(reference_summary(model).relative_error, reference_summary(other).relative_error, 1e-6);
            armilla_model_free(model);
            armilla_model_free(other);
            reference_trial_free(&trial);
            reference_trial_free(&usual);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_fit_keeps_its_promises),
        cmocka_unit_test(test_transform_is_fit),
        cmocka_unit_test(test_threads_do_not_change_bits),
        cmocka_unit_test(test_fixed_radius),
        cmocka_unit_test(test_no_iterations),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_restarts),
        cmocka_unit_test(test_going_on),
        cmocka_unit_test(test_every_shape),
        cmocka_unit_test(test_ties_by_rounding),
        cmocka_unit_test(test_extreme_scales),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
