/* Noiseless planted data X = l U W: the optimum is 0. Where the factors are identifiable they are found again, up to
 * the order of the atoms and, for signed codes, their signs; elsewhere only what is determined is compared. */
#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 20, N = 120, R = 4, PROBLEMS = 5 };

/* What the data determine. */
typedef enum determined {
    NOTHING,  /* the product only */
    SUBSPACE, /* span(U) */
    ATOMS     /* each atom up to its place, its scale and, for signed codes, its sign */
} determined;

static const struct plan {
    const char *basis, *codes;
    int64_t s;
    const char *start; /* NULL: near the truth */
    int64_t iterations;
    double objective; /* relative to ||X||^2 */
    determined what;
} plans[] = {
    {"orthonormal", "sphere", R, "svd", 20, 1e-12, SUBSPACE},
    {"orthonormal", "nonneg-sphere", R, NULL, 1500, 1e-6, SUBSPACE},
    {"orthonormal", "sparse-sphere", 1, NULL, 200, 1e-12, ATOMS},
    {"orthonormal", "sparse-sphere", 2, NULL, 500, 1e-12, ATOMS},
    {"orthonormal", "nonneg-sparse-sphere", 1, "kmeans++", 200, 1e-12, ATOMS},
    {"orthonormal", "nonneg-sparse-sphere", 2, NULL, 500, 1e-12, ATOMS},
    {"nonnegative", "sphere", R, NULL, 1500, 1e-9, NOTHING},
    {"nonnegative", "nonneg-sphere", R, NULL, 1500, 1e-6, NOTHING},
    {"nonnegative", "sparse-sphere", 1, NULL, 500, 1e-12, ATOMS},
    {"nonnegative", "nonneg-sparse-sphere", 1, "kmeans++", 500, 1e-12, ATOMS},
    /* The truncated step stalls here (docs/algorithm.md#nonnegative-basis), even from near the truth. */
    {"nonnegative", "nonneg-sparse-sphere", 2, NULL, 500, 3e-2, NOTHING},
};
enum { PLANS = sizeof plans / sizeof plans[0] };

/* The planted basis, disturbed by a tenth. */
static void near_truth(uint64_t *random, const reference_pair *pair, const double *U, double *near)
{
    for (int64_t i = 0; i < M * R; i++) near[i] = U[i] + 0.1 * reference_normal(random) / sqrt(M);
    if (pair->orthonormal) {
        double *B = reference_copy(M * R, near);
        reference_polar(M, R, B, near);
        free(B);
        return;
    }
    for (int64_t i = 0; i < M * R; i++) near[i] = fmax(near[i], 0);
}

/* sum_k ||P u_k||^2 = r where P projects on the span of the planted atoms. */
static void check_subspace(const double *found, const double *planted)
{
    double products[R * R];
    reference_left_transposed(M, R, R, found, planted, products);
    REFERENCE_NEAR(reference_dot(R * R, products, products), R, 1e-5);
}

/* Every planted atom has one found atom of its direction, and no two the same one. */
static void check_atoms(const double *found, const double *planted, bool signs_free)
{
    bool taken[R] = {false};
    for (int64_t k = 0; k < R; k++) {
        double best = -1;
        int64_t mine = 0;
        for (int64_t p = 0; p < R; p++) {
            const double *u = found + p * M, *t = planted + k * M;
            const double cosine = reference_dot(M, u, t) / (reference_norm(M, u) * reference_norm(M, t) + 1e-300);
            if ((signs_free ? fabs(cosine) : cosine) > best) {
                best = signs_free ? fabs(cosine) : cosine;
                mine = p;
            }
        }
        REFERENCE_AT_MOST(1 - best, 1e-7);
        REFERENCE_HOLDS(!taken[mine]);
        taken[mine] = true;
    }
}

static void recover(const struct plan *plan, armilla_type type, uint64_t *random)
{
    const reference_pair *pair = reference_pair_find(plan->basis, plan->codes);
    double U[M * R], V[R * N], X[M * N], U0[M * R];
    reference_trial trial;
    armilla_model_summary summary;
    reference_random_basis(random, pair, M, R, U);
    reference_random_codes(random, pair, R, plan->s, N, 3, V);
    reference_multiply(M, R, N, U, V, X);
    near_truth(random, pair, U, U0);
    reference_trial_new(&trial, pair, type, M, N, R, plan->s, X);
    trial.options.max_iter = plan->iterations;
    trial.options.start = plan->start;
    if (!plan->start) trial.options.start_basis = U0;
    armilla_model *model = reference_trial_fit(&trial);
    double *found = reference_model_basis(model);
    armilla_model_summarize(model, &summary);
    const double rounding = type == ARMILLA_F32 ? 1e-6 : 0;
    REFERENCE_AT_MOST(summary.objective / summary.squared_norm, plan->objective + rounding);
    reference_verify(model, trial.data, trial.X, true);
    if (type == ARMILLA_F64 && plan->what == SUBSPACE) check_subspace(found, U);
    if (type == ARMILLA_F64 && plan->what == ATOMS)
        check_atoms(found, U, pair->orthonormal && !pair->nonnegative_codes);
    /* With an orthonormal basis the radius is determined too. */
    if (pair->orthonormal) REFERENCE_NEAR(summary.radius, 3, 1e-3);
    free(found);
    armilla_model_free(model);
    reference_trial_free(&trial);
}

static void test_planted_factors_are_found_again(void **state)
{
    uint64_t random = 121;
    (void)state;
    for (size_t i = 0; i < PLANS; i++)
        for (int type = (int)reference_effort(0, 1); type < ARMILLA_PRECISION_COUNT; type++)
            for (int problem = 0; problem < reference_effort(PROBLEMS, 1); problem++) {
                reference_scene("%s x %s, s = %d, %s, problem %d", plans[i].basis, plans[i].codes, (int)plans[i].s,
                                armilla_type_word((armilla_type)type), problem);
                recover(&plans[i], (armilla_type)type, &random);
            }
}

/* Started at the truth, nothing is left to do: h is 0 from the first entry on. */
static void test_the_truth_is_a_fixed_point(void **state)
{
    uint64_t random = 122;
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++) {
        const reference_pair *pair = &reference_pairs[p];
        double U[M * R], V[R * N], X[M * N];
        reference_trial trial;
        int64_t count = 0;
        if (!pair->orthonormal) continue; /* Proj(U'x) is the planted code only where U'U = I */
        reference_scene("%s x %s", pair->basis, pair->codes);
        reference_random_basis(&random, pair, M, R, U);
        reference_random_codes(&random, pair, R, 2, N, 3, V);
        reference_multiply(M, R, N, U, V, X);
        reference_trial_new(&trial, pair, ARMILLA_F64, M, N, R, 2, X);
        trial.options.start_basis = U;
        armilla_model *model = reference_trial_fit(&trial);
        const armilla_trace_entry *trace = reference_trace(model, &count);
        for (int64_t k = 0; k < count; k++) {
            REFERENCE_AT_MOST(trace[k].relative_error, 1e-6);
            REFERENCE_NEAR(trace[k].radius, 3, 1e-12);
            REFERENCE_AT_MOST(trace[k].dU + trace[k].dV, 1e-9);
        }
        reference_verify(model, trial.data, trial.X, true);
        armilla_model_free(model);
        reference_trial_free(&trial);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted_factors_are_found_again),
        cmocka_unit_test(test_the_truth_is_a_fixed_point),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
