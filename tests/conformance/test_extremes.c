/* Scale times radius, for every pair, precision, storage and solver that takes the pair, on small odd shapes: each fit is
 * a model that keeps every promise, or is refused with a message about the data. Nothing in between. */
#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double scales[][12] = {
    [ARMILLA_F32] = {1, 1e-18, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 1e3, 1e6, 1e9, 1e15, 1e18},
    [ARMILLA_F64] = {1, 1e-150, 1e-100, 1e-20, 1e-8, 1e-3, 1e3, 1e8, 1e20, 1e50, 1e100, 1e150},
};
static const double radii[] = {0, 1e-20, 1e-6, 1, 1e6, 1e20};
static const int64_t shapes[][4] = {{5, 8, 2, 1}, {1, 5, 1, 1}, {5, 1, 1, 1},  {4, 4, 4, 2},
                                    {6, 2, 4, 2}, {3, 5, 3, 2}, {7, 12, 4, 3}, {3, 7, 5, 3}};
static const reference_kind kinds[] = {REFERENCE_UNIFORM, REFERENCE_GAUSSIAN, REFERENCE_DUPLICATES,
                                       REFERENCE_ZERO_COLUMNS};
static const char *const solvers[] = {"fast", "palm", "mu"};

enum { PRECISIONS = 2, SCALES = 12, RADII = 6, SHAPES = 8, KINDS = 4, SOLVERS = 3, STORAGES = 2 };
enum { ALL = REFERENCE_FAMILY * PRECISIONS * SHAPES * KINDS * SCALES * RADII * SOLVERS * STORAGES };

/* One of the ALL fits. */
typedef struct extreme {
    const reference_pair *pair;
    armilla_type type;
    const int64_t *shape; /* m, n, r, s */
    reference_kind kind;
    double scale, radius;
    const char *solver;
    bool sparse;
} extreme;

static extreme extreme_at(int64_t i)
{
    extreme e = {.sparse = i % STORAGES};
    e.solver = solvers[(i /= STORAGES) % SOLVERS];
    e.radius = radii[(i /= SOLVERS) % RADII];
    const int64_t scale = (i /= RADII) % SCALES;
    e.kind = kinds[(i /= SCALES) % KINDS];
    e.shape = shapes[(i /= KINDS) % SHAPES];
    e.type = (armilla_type)((i /= SHAPES) % PRECISIONS);
    e.pair = &reference_family[(i / PRECISIONS) % REFERENCE_FAMILY];
    e.scale = scales[e.type][scale];
    return e;
}

/* Whether the options go together. */
static bool is_fit(const extreme *e)
{
    const bool nmf = strcmp(e->pair->basis, "nonnegative") == 0 && strcmp(e->pair->codes, "nonneg") == 0;
    if (e->pair->orthonormal && e->shape[2] > e->shape[0]) return false;
    if (e->pair->flat && e->radius > 0) return false;
    if (strcmp(e->solver, "mu") == 0) return nmf && e->kind != REFERENCE_GAUSSIAN;
    return strcmp(e->solver, "fast") == 0 || !e->pair->disjoint;
}

/* Whether nothing is extreme about it, so that there is no reason to refuse: every product of a sample with a radius, an
 * atom or a code is far inside the range of the type. */
static bool is_moderate(const extreme *e)
{
    const double range = e->type == ARMILLA_F32 ? 1e9 : 1e100, radius = e->radius > 0 ? e->radius : 1;
    const bool inside = e->scale <= range && e->scale >= 1 / range && radius <= range && radius >= 1 / range;
    const bool negative = e->kind == REFERENCE_GAUSSIAN; /* which nonnegative factors may have no radius for */
    return inside && !(negative && e->pair->nonnegative_codes);
}

static void fit_extreme(const extreme *e, uint64_t seed, int64_t *refused)
{
    const int64_t m = e->shape[0], n = e->shape[1], r = e->shape[2], s = e->shape[3];
    double *X = reference_new(m * n);
    reference_trial trial;
    reference_sparse sparse = {.m = 0};
    armilla_data *data = NULL;
    armilla_model *model = NULL;
    reference_data(&seed, e->kind, e->pair, m, n, r, s, X);
    for (int64_t i = 0; i < m * n; i++) X[i] *= e->scale;
    reference_trial_new(&trial, e->pair, e->type, m, n, r, s, X);
    if (e->sparse) reference_sparse_new(&sparse, e->type, ARMILLA_I32, false, m, n, trial.X);
    if (e->sparse) data = reference_sparse_wrap(&sparse);
    trial.options.solver = e->solver;
    trial.options.radius = e->radius;
    trial.options.max_iter = 12;
    trial.options.tol = 1e-6;
    reference_scene("%s x %s, %s, %s, %s, m = %d, n = %d, r = %d, s = %d, %s, scale %g, radius %g", e->pair->basis,
                    e->pair->codes, e->solver, armilla_type_word(e->type), e->sparse ? "sparse" : "dense", (int)m,
                    (int)n, (int)r, (int)s, reference_kind_word(e->kind), e->scale, e->radius);
    const armilla_status status = armilla_fit(reference_context, data ? data : trial.data, &trial.options, &model);
    if (status == ARMILLA_OK) {
        reference_verify(model, NULL, trial.X, true);
        REFERENCE_HOLDS(e->radius == 0 || reference_summary(model).radius == e->radius);
    } else {
        REFERENCE_STATUS(status, ARMILLA_BAD_DATA);
        REFERENCE_HOLDS(!is_moderate(e));
        ++*refused;
    }
    armilla_model_free(model);
    armilla_data_free(data);
    if (e->sparse) reference_sparse_free(&sparse);
    reference_trial_free(&trial);
    free(X);
}

/* Every so many of them: the step has no factor in common with the numbers of choices, so that all pairs of choices are
 * met. */
static void test_models_or_refusals(void **state)
{
    const int64_t step = reference_effort(37, 2003);
    int64_t fits = 0, refused = 0;
    (void)state;
    for (int64_t i = 0; i < ALL; i += step) {
        const extreme e = extreme_at(i);
        if (!is_fit(&e)) continue;
        fit_extreme(&e, 1000 + (uint64_t)(i % 7), &refused);
        fits++;
    }
    print_message("%d fits, %d of them refused\n", (int)fits, (int)refused);
    assert_true(fits > ALL / step / 5 && refused > 0 && refused < fits / 10);
}

/* By fast until it has converged; frees the trial. */
static void verify_to_the_end(reference_trial *trial, const char *what)
{
    trial->options.solver = "fast";
    trial->options.max_iter = 500;
    trial->options.tol = 1e-6;
    reference_trial_scene(trial, what);
    armilla_model *model = reference_trial_fit(trial);
    reference_verify(model, NULL, trial->X, true);
    armilla_model_free(model);
    reference_trial_free(trial);
}

/* Data on which the solver for an orthonormal basis once went on by the steps of another. */
static void test_large_radius_in_single_precision(void **state)
{
    static const double X[] = {1, 2, 3, 4, 5, 7, 7, 8, 8, 2, 1, 1, 3, 3, 9};
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (double radius = 1e-9; radius < 1e10; radius *= 10) {
            reference_trial trial;
            reference_trial_new(&trial, &reference_pairs[p], ARMILLA_F32, 3, 5, 2, 1, X);
            trial.options.radius = radius;
            verify_to_the_end(&trial, "five samples");
        }
}

/* Orthonormal atoms that are named: at small scales the objective is n, and ||X||^2 nothing beside it. */
static void test_small_scales_of_named_atoms(void **state)
{
    const reference_pair *pair = reference_pair_find("orthonormal", "one-hot");
    uint64_t random = 301;
    (void)state;
    for (int i = 0; i < 120; i++) {
        enum { M = 9, N = 30, R = 4 };
        double X[M * N];
        const double scale = pow(10, -3 - i % 7);
        reference_trial trial;
        reference_fill_normal(&random, M * N, X);
        for (int64_t j = 0; j < M * N; j++) X[j] *= scale;
        reference_trial_new(&trial, pair, ARMILLA_F32, M, N, R, 1, X);
        verify_to_the_end(&trial, "small");
    }
}

static double error_at(const double *plain, double scale, armilla_type type)
{
    enum { M = 7, N = 12, R = 3 };
    const reference_pair *pair = reference_pair_find("nonnegative", "nonneg");
    double X[M * N];
    reference_trial trial;
    for (int64_t i = 0; i < M * N; i++) X[i] = scale * plain[i];
    reference_trial_new(&trial, pair, type, M, N, R, R, X);
    trial.options.solver = "mu";
    trial.options.max_iter = 60;
    reference_scene("mu, %s, scale %g", armilla_type_word(type), scale);
    armilla_model *model = reference_trial_fit(&trial);
    reference_verify(model, NULL, trial.X, true);
    const double error = reference_summary(model).relative_error;
    armilla_model_free(model);
    reference_trial_free(&trial);
    return error;
}

/* The multiplicative rule does not see the scale, also where features are nothing beside others. */
static void test_multiplying_does_not_see_the_scale(void **state)
{
    static const double far[][4] = {
        [ARMILLA_F32] = {0x1p-60, 0x1p-40, 0x1p40, 0x1p60}, [ARMILLA_F64] = {0x1p-498, 0x1p-300, 0x1p300, 0x1p498}};
    uint64_t random = 302;
    double plain[7 * 12];
    (void)state;
    for (int round = 0; round < 6; round++)
        for (int type = 0; type < PRECISIONS; type++) {
            reference_fill_uniform(&random, 7 * 12, plain);
            for (int64_t i = 0; i < 7 * 12 && round >= 3; i++)
                plain[i] = (double)(float)plain[i] * (i % 7 == 2 ? type == ARMILLA_F32 ? 0x1p-55 : 0x1p-480 : 1);
            const double wanted = error_at(plain, 1, (armilla_type)type);
            for (int k = 0; k < 4; k++)
                REFERENCE_NEAR(error_at(plain, far[type][k], (armilla_type)type), wanted, 1e-6 * wanted);
        }
}

/* A feature that is almost 0 in the start and large in the data: its factor is out of range, what becomes of it is not. */
static void test_multiplying_small_entries(void **state)
{
    enum { M = 7, N = 12, R = 3 };
    static const double scales_of_data[] = {1, 0x1p-498, 0x1p-300, 0x1p300, 0x1p490};
    const reference_pair *pair = reference_pair_find("nonnegative", "nonneg");
    uint64_t random = 303;
    double X[M * N], U[M * R], plain[M * N], wanted = 0;
    (void)state;
    reference_fill_uniform(&random, M * N, plain);
    reference_fill_uniform(&random, M * R, U);
    for (int64_t j = 0; j < N; j++) plain[j * M] *= 0x1p12;
    for (int64_t k = 0; k < R; k++) U[k * M] = 0x1p-1021;
    for (int i = 0; i < 5; i++) {
        reference_trial trial;
        for (int64_t j = 0; j < M * N; j++) X[j] = scales_of_data[i] * plain[j];
        reference_trial_new(&trial, pair, ARMILLA_F64, M, N, R, R, X);
        trial.options.solver = "mu";
        trial.options.start_basis = U;
        trial.options.max_iter = 40;
        reference_scene("mu from a small entry, scale %g", scales_of_data[i]);
        armilla_model *model = reference_trial_fit(&trial);
        reference_verify(model, NULL, trial.X, true);
        if (i == 0) wanted = reference_summary(model).relative_error;
        REFERENCE_NEAR(reference_summary(model).relative_error, wanted, 1e-9 * wanted);
        REFERENCE_AT_MOST(wanted, 0.1); /* the large feature is fitted */
        armilla_model_free(model);
        reference_trial_free(&trial);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models_or_refusals),          cmocka_unit_test(test_large_radius_in_single_precision),
        cmocka_unit_test(test_small_scales_of_named_atoms), cmocka_unit_test(test_multiplying_does_not_see_the_scale),
        cmocka_unit_test(test_multiplying_small_entries),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
