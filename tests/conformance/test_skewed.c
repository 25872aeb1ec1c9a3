/* Sparse data in which a few samples have most of the entries: every solver, start and k-means give what they give for
 * the same matrix stored dense and what plain loops find, with the same bits for any number of threads. */
#include "reference/reference.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So many samples that there are several slots, and fewer entries in most than a slot's share is. */
enum { M = 400, N = 650, R = 3, S = 2 };

/* Where the full samples are: every so many, from the first on; how dense the others are; and which are empty. */
static const struct skew {
    const char *what;
    int64_t every, first;
    double density;
    int64_t empty;
} skews[] = {
    {"the first sample full", N, 0, 0.004, N},    {"one in the middle full", N, N / 2, 0.004, N},
    {"the last sample full", N, N - 1, 0.004, N}, {"several samples full", 90, 40, 0.004, N},
    {"entries in few samples", 200, 10, 0, N},    {"every second sample empty", N, 300, 0.008, 2},
};

enum { SKEWS = sizeof skews / sizeof *skews };

static double *make_matrix(uint64_t *random, const struct skew *skew)
{
    double *X = reference_new(M * N);
    for (int64_t j = 0; j < N; j++) {
        const bool full = j % skew->every == skew->first;
        if (full || j % skew->empty != 1) reference_sprinkle(random, full ? 1 : skew->density, M, X + j * M);
    }
    reference_round_to_f32(M * N, X);
    return X;
}

/* The trial's data replaced by their sparse form. */
static void make_sparse(reference_trial *trial, reference_sparse *sparse)
{
    reference_sparse_new(sparse, trial->type, ARMILLA_I32, false, trial->m, trial->n, trial->X);
    armilla_data_free(trial->data);
    trial->data = reference_sparse_wrap(sparse);
}

static void same_bits(const armilla_model *a, const armilla_model *b)
{
    const armilla_model_summary x = reference_summary(a), y = reference_summary(b);
    const size_t size = armilla_type_size(x.precision);
    REFERENCE_HOLDS(memcmp(armilla_model_basis(a), armilla_model_basis(b), (size_t)(M * R) * size) == 0);
    REFERENCE_HOLDS(memcmp(armilla_model_codes(a), armilla_model_codes(b), (size_t)(N * R) * size) == 0);
    REFERENCE_HOLDS(x.objective == y.objective && x.sweeps == y.sweeps);
}

/* Sparse on one thread and on several, against dense and plain loops. */
static void compare_forms(reference_trial *trial, const struct skew *skew)
{
    reference_sparse sparse;
    armilla_model *dense = reference_trial_fit(trial);
    make_sparse(trial, &sparse);
    armilla_model *model = reference_trial_fit(trial);
    const armilla_model_summary x = reference_summary(model), y = reference_summary(dense);
    reference_scene("%s: %s x %s, %s, %s from %s", skew->what, trial->pair->basis, trial->pair->codes,
                    trial->options.solver, armilla_type_word(trial->type),
                    trial->options.start ? trial->options.start : "its own start");
    reference_verify(model, trial->data, trial->X, true);
    REFERENCE_NEAR(x.objective, y.objective, (trial->type == ARMILLA_F32 ? 1e-4 : 1e-7) * y.squared_norm);
    for (int64_t threads = 2; threads <= 8; threads *= 2) {
        trial->options.threads = threads;
        armilla_model *other = reference_trial_fit(trial);
        same_bits(model, other);
        armilla_model_free(other);
    }
    armilla_model_free(model);
    armilla_model_free(dense);
    armilla_data_free(trial->data);
    trial->data = NULL;
    reference_sparse_free(&sparse);
}

static void test_solvers(void **state)
{
    static const struct combination {
        const char *basis, *codes, *solver;
    } combinations[] = {{"orthonormal", "sphere", "fast"},
                        {"nonnegative", "nonneg-sphere", "fast"},
                        {"orthonormal", "nonneg-sphere", "palm"},
                        {"nonnegative", "nonneg-sparse-sphere", "palm"},
                        {"nonnegative", "nonneg", "mu"},
                        {"orthonormal", "free", "fast"},
                        {"free", "one-hot", "fast"}};
    uint64_t random = 501;
    (void)state;
    for (size_t k = 0; k < SKEWS; k++) {
        double *X = make_matrix(&random, &skews[k]);
        for (size_t w = 0; w < sizeof combinations / sizeof *combinations; w++) {
            const reference_pair *pair = reference_pair_find(combinations[w].basis, combinations[w].codes);
            reference_trial trial;
            reference_trial_new(&trial, pair, (armilla_type)((k + w) % ARMILLA_PRECISION_COUNT), M, N, R, S, X);
            trial.options.solver = combinations[w].solver;
            trial.options.max_iter = 3;
            compare_forms(&trial, &skews[k]);
            reference_trial_free(&trial);
        }
        free(X);
    }
}

static void test_starts(void **state)
{
    uint64_t random = 502;
    armilla_table_row start;
    (void)state;
    for (size_t i = 0; armilla_table_get(ARMILLA_TABLE_STARTS, i, &start); i++) {
        const struct skew *skew = &skews[i % SKEWS];
        double *X = make_matrix(&random, skew);
        reference_trial trial;
        reference_trial_new(&trial, &reference_pairs[5], ARMILLA_F64, M, N, R, R, X);
        trial.options.start = start.name;
        trial.options.max_iter = 1;
        compare_forms(&trial, skew);
        reference_trial_free(&trial);
        free(X);
    }
}

/* The sum of squared distances to the means of the clusters. */
static double plain_inertia(const double *X, const int64_t *labels)
{
    double *centers = reference_new(M * R), sizes[R] = {0}, sum = 0;
    for (int64_t j = 0; j < N; j++) {
        sizes[labels[j]] += 1;
        for (int64_t i = 0; i < M; i++) centers[labels[j] * M + i] += X[j * M + i];
    }
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < M; i++) {
            const double rest = X[j * M + i] - centers[labels[j] * M + i] / sizes[labels[j]];
            sum += rest * rest;
        }
    free(centers);
    return sum;
}

static void test_kmeans(void **state)
{
    uint64_t random = 503;
    (void)state;
    for (size_t k = 0; k < SKEWS; k++)
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++) {
            double *X = make_matrix(&random, &skews[k]), first = 0;
            reference_sparse sparse;
            armilla_cluster_options options;
            reference_scene("k-means, %s, %s", skews[k].what, armilla_type_word((armilla_type)type));
            reference_sparse_new(&sparse, (armilla_type)type, ARMILLA_I32, false, M, N, X);
            armilla_data *data = reference_sparse_wrap(&sparse);
            armilla_cluster_options_default(&options);
            options.k = R;
            options.method = "euclidean";
            for (int64_t threads = 1; threads <= 8; threads *= 2) {
                armilla_clustering *found = NULL;
                armilla_cluster_summary summary;
                options.threads = threads;
                REFERENCE_OK(armilla_cluster_data(reference_context, data, NULL, &options, &found));
                armilla_clustering_summarize(found, &summary);
                const double wanted = plain_inertia(X, armilla_clustering_labels(found));
                REFERENCE_NEAR(summary.inertia, wanted, (type == ARMILLA_F32 ? 1e-4 : 1e-9) * (wanted + 1));
                if (threads == 1) first = summary.inertia;
                REFERENCE_HOLDS(summary.inertia == first);
                armilla_clustering_free(found);
            }
            armilla_data_free(data);
            reference_sparse_free(&sparse);
            free(X);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solvers),
        cmocka_unit_test(test_starts),
        cmocka_unit_test(test_kmeans),
    };
    (void)mallopt(M_PERTURB, 0x80); /* fresh memory is full of huge numbers */
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
