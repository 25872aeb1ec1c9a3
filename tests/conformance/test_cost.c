/* What fits cost and what they are worth as sparsity and rank vary: sealing and polishing stay in proportion to sweeps,
 * and a sparsity that leaves nothing out gives what the set without one gives. */
#include "reference/reference.h"

#include <armilla/armilla.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { M = 64, N = 60, MOST_SUMS = 2400 };

/* Processor time of a fit, as others have the machine too. */
static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Whether the time of this program is not that of the library as it is built for users. */
static bool is_sanitized(void)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    return true;
#else
    return false;
#endif
}

/* Of one sum over the entries of a Gram matrix of the larger rank, term after term: no compiler may reorder it, so that
 * the unit is the machine's and not the compiler's. */
static double time_of_a_sum(void)
{
    enum { R = 60, TIMES = 1000 };
    static double H[R * R], v[R];
    static volatile double sum;
    for (int64_t i = 0; i < R * R; i++) H[i] = 1.0 / (double)(1 + i);
    for (int64_t k = 0; k < R; k++) v[k] = 1;
    const double start = seconds();
    for (int t = 0; t < TIMES; t++) {
        double chain = sum;
        for (int64_t a = 0; a < R; a++)
            for (int64_t k = 0; k < R; k++) chain += H[a * R + k] * v[k];
        sum = chain;
    }
    return fmax(seconds() - start, 1e-6) / TIMES;
}

static double *samples(uint64_t *random, int kind, int64_t rank)
{
    double *X = reference_new(M * N), *atoms = reference_new(M * rank);
    for (int64_t i = 0; i < M * rank; i++) atoms[i] = kind == 0 ? reference_normal(random) : reference_uniform(random);
    for (int64_t j = 0; j < N; j++) {
        for (int64_t i = 0; i < M; i++) X[j * M + i] = 0.1 * reference_uniform(random);
        for (int64_t k = 0; k < rank; k++) {
            const double v = reference_uniform(random) < 0.3 ? reference_uniform(random) : 0;
            for (int64_t i = 0; i < M; i++) X[j * M + i] += v * atoms[k * M + i];
        }
    }
    free(atoms);
    return X;
}

static armilla_model *fit(const reference_pair *pair, const double *X, int64_t r, int64_t s, int64_t iterations)
{
    reference_trial trial;
    reference_trial_new(&trial, pair, ARMILLA_F64, M, N, r, s, X);
    trial.options.solver = "fast";
    trial.options.max_iter = iterations;
    trial.options.threads = 1;
    armilla_model *model = reference_trial_fit(&trial);
    reference_trial_free(&trial);
    return model;
}

/* The pair of the family with that basis and those codes. */
static const reference_pair *pair_of(const char *basis, const char *codes)
{
    for (size_t p = 0; p < REFERENCE_FAMILY; p++)
        if (strcmp(reference_family[p].basis, basis) == 0 && strcmp(reference_family[p].codes, codes) == 0)
            return &reference_family[p];
    return NULL;
}

/* Every pair by few iterations, with sparsities from 1 to the rank: a sample takes no longer than so many sums over a Gram
 * matrix, by the time that such a sum takes here and now. */
static void test_cost_in_proportion(void **state)
{
    static const int64_t ranks[] = {6, 60};
    uint64_t random = 71;
    (void)state;
    if (is_sanitized()) skip();
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        for (size_t p = 0; p < REFERENCE_FAMILY; p++) {
            const reference_pair *pair = &reference_family[p];
            const int64_t r = ranks[i];
            double *X = samples(&random, (int)(p % 2), r);
            for (int64_t s = r; s >= 1; s = pair->sparse ? (s > 2 ? (2 * s) / 3 : s - 1) : 0) {
                const double unit = time_of_a_sum(), start = seconds();
                armilla_model *model = fit(pair, X, r, pair->sparse ? s : 0, 2);
                reference_scene("%s x %s, r = %d, s = %d", pair->basis, pair->codes, (int)r, (int)s);
                REFERENCE_AT_MOST((seconds() - start) / N / unit, MOST_SUMS);
                armilla_model_free(model);
            }
            free(X);
        }
}

/* The same objective, codes and basis, to the bit. */
static void test_sparsity_that_leaves_nothing_out(void **state)
{
    static const struct {
        const char *sparse, *whole;
        int64_t least; /* ranks below have codes that are compared support by support, which descent does not reach */
    } sets[] = {{"sparse-sphere", "sphere", 2}, {"nonneg-sparse-sphere", "nonneg-sphere", 10}, {"sparse", "free", 2}};
    static const int64_t ranks[] = {2, 5, 10, 24};
    uint64_t random = 72;
    (void)state;
    for (size_t p = 0; p < REFERENCE_FAMILY; p++)
        for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
            for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
                const reference_pair *pair = &reference_family[p];
                const int64_t r = ranks[i];
                if (strcmp(pair->codes, sets[k].sparse) != 0 || r < sets[k].least) continue;
                double *X = samples(&random, (int)(i % 2), r);
                armilla_model *sparse = fit(pair, X, r, r, 20);
                armilla_model *whole = fit(pair_of(pair->basis, sets[k].whole), X, r, 0, 20);
                double *V = reference_model_codes(sparse), *W = reference_model_codes(whole);
                reference_scene("%s x %s, r = s = %d", pair->basis, pair->codes, (int)r);
                REFERENCE_HOLDS(reference_summary(sparse).objective == reference_summary(whole).objective);
                REFERENCE_HOLDS(memcmp(V, W, (size_t)(r * N) * sizeof *V) == 0);
                REFERENCE_HOLDS(reference_summary(sparse).sparsity == r);
                free(V);
                free(W);
                armilla_model_free(sparse);
                armilla_model_free(whole);
                free(X);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost_in_proportion),
        cmocka_unit_test(test_sparsity_that_leaves_nothing_out),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
