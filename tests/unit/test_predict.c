/* Clusters that a model keeps: through its file and back, for samples of every origin, and when memory runs out. */
#include "fixture.h"

#include "cluster/keep_clusters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 9, N = 80, R = 3, K = 4 };

static double X[M * N];

static void make_model(armilla_data **data, armilla_model **model, armilla_clustering **clustering, const char *method)
{
    armilla_options options;
    armilla_cluster_options clusters;
    srand(4);
    for (int i = 0; i < M * N; i++) X[i] = 0.1 + rand() % 10 + 20.0 * (i % M == i / M % R);
    armilla_options_default(&options);
    options.rank = strcmp(method, "argmax") == 0 ? K : R;
    options.model = "spherical-nmf";
    options.threads = 1;
    armilla_cluster_options_default(&clusters);
    clusters.k = K;
    clusters.method = method;
    clusters.threads = 1;
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, data));
    support_ok(context, armilla_fit(context, *data, &options, model));
    support_ok(context, armilla_cluster_model(context, *model, &clusters, clustering));
}

static void test_training_samples_get_their_labels_back(void **state)
{
    static const char *const methods[] = {"kmeans", "euclidean", "argmax"};
    (void)state;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        armilla_data *data = NULL;
        armilla_model *model = NULL, *opened = NULL;
        armilla_clustering *clustering = NULL;
        int64_t labels[N], k = 0;
        void *bytes = NULL;
        size_t count = 0;
        make_model(&data, &model, &clustering, methods[i]);
        assert_null(armilla_model_clusters(model, &k));
        support_fails(context, armilla_model_predict(context, model, data, 1, labels), ARMILLA_BAD_DATA,
                      "keeps no clusters");
        support_ok(context, armilla_model_keep_clusters(context, model, clustering));
        support_ok(context, armilla_model_save_memory(context, model, &bytes, &count));
        support_ok(context, armilla_model_open_memory(context, bytes, count, &opened));
        const int64_t *wanted = armilla_clustering_labels(clustering), *kept = armilla_model_clusters(opened, &k);
        assert_int_equal(k, K);
        assert_memory_equal(kept, wanted, sizeof labels);
        support_ok(context, armilla_model_predict(context, opened, data, 2, labels));
        assert_memory_equal(labels, wanted, sizeof labels);
        support_ok(context, armilla_model_keep_clusters(context, opened, clustering)); /* in the place of those */
        armilla_release(context, bytes);
        armilla_model_free(opened);
        armilla_clustering_free(clustering);
        armilla_model_free(model);
        armilla_data_free(data);
    }
}

/* Atoms name as many clusters as there are: a model that says otherwise would name some that nobody counts with. */
static void test_atoms_of_another_number(void **state)
{
    armilla_data *data = NULL, *others = NULL;
    armilla_model *model = NULL, *other = NULL;
    armilla_clustering *clustering = NULL, *kmeans = NULL;
    int64_t labels[N];
    (void)state;
    make_model(&data, &model, &clustering, "argmax");
    make_model(&others, &other, &kmeans, "kmeans");
    support_fails(context, armilla_model_keep_clusters(context, other, clustering), ARMILLA_BAD_DATA, "3 atoms");
    assert_null(armilla_model_clusters(other, NULL));
    support_ok(context, armilla_model_keep_clusters(context, model, clustering));
    model->clusters.k = K - 1; /* as a file may say */
    support_fails(context, armilla_model_predict(context, model, data, 1, labels), ARMILLA_BAD_DATA,
                  "3 clusters by argmax");
    armilla_clustering_free(kmeans);
    armilla_clustering_free(clustering);
    armilla_model_free(other);
    armilla_model_free(model);
    armilla_data_free(others);
    armilla_data_free(data);
}

static int stop_in_clusters(void *user, const armilla_progress *progress)
{
    *(int *)user += progress->stage == ARMILLA_STAGE_CLUSTERS;
    return progress->stage == ARMILLA_STAGE_CLUSTERS;
}

static void test_predicting_can_be_stopped(void **state)
{
    armilla_data *data = NULL;
    armilla_model *model = NULL;
    armilla_clustering *clustering = NULL;
    int64_t labels[N];
    int asked = 0;
    (void)state;
    make_model(&data, &model, &clustering, "kmeans");
    support_ok(context, armilla_model_keep_clusters(context, model, clustering));
    armilla_context_set_watch(context, stop_in_clusters, &asked);
    assert_int_equal(armilla_model_predict(context, model, data, 1, labels), ARMILLA_STOPPED);
    armilla_context_set_watch(context, NULL, NULL);
    assert_int_equal(asked, 1);
    support_ok(context, armilla_model_predict(context, model, data, 1, labels));
    armilla_clustering_free(clustering);
    armilla_model_free(model);
    armilla_data_free(data);
}

/* The silhouette by all pairs. */
static void test_silhouette_is_that_of_pairs(void **state)
{
    armilla_data *data = NULL;
    armilla_model *model = NULL;
    armilla_clustering *clustering = NULL;
    armilla_cluster_quality quality;
    double total = 0;
    (void)state;
    make_model(&data, &model, &clustering, "kmeans");
    support_ok(context, armilla_clustering_judge(context, clustering, model, &quality));
    const double *V = armilla_model_codes(model);
    const int64_t *labels = armilla_clustering_labels(clustering), *sizes = armilla_clustering_sizes(clustering);
    for (int i = 0; i < N; i++) {
        double sums[K] = {0}, a = 0, b = INFINITY;
        for (int j = 0; j < N; j++) {
            double product = 0, first = 0, second = 0;
            for (int l = 0; l < R; l++) {
                product += V[i * R + l] * V[j * R + l];
                first += V[i * R + l] * V[i * R + l];
                second += V[j * R + l] * V[j * R + l];
            }
            if (j != i) sums[labels[j]] += 1 - product / sqrt(first * second);
        }
        for (int c = 0; c < K; c++)
            if (c == labels[i])
                a = sums[c] / (double)(sizes[c] - 1);
            else if (sizes[c] > 0)
                b = fmin(b, sums[c] / (double)sizes[c]);
        if (sizes[labels[i]] > 1) total += (b - a) / fmax(a, b);
    }
    assert_true(fabs(quality.silhouette - total / N) < 1e-9);
    assert_true(quality.angle > 0 && quality.angle < 2);
    armilla_clustering_free(clustering);
    armilla_model_free(model);
    armilla_data_free(data);
}

/* Every allocation fails in turn; a model whose clusters cannot be replaced keeps those that it has. */
static void test_predicting_without_memory(void **state)
{
    armilla_data *data = NULL;
    armilla_model *model = NULL;
    armilla_clustering *clustering = NULL;
    armilla_cluster_quality quality;
    int64_t labels[N];
    (void)state;
    make_model(&data, &model, &clustering, "kmeans");
    support_ok(context, armilla_model_keep_clusters(context, model, clustering));
    for (int job = 0; job < 4; job++) {
        armilla_status status = ARMILLA_NO_MEMORY;
        /* The last by a vote of neighbours. */
        if (job == 3) model->clusters.method[0] = 'x';
        for (int64_t k = 0; status != ARMILLA_OK; k++) {
            const int64_t live = allocator.live;
            assert_true(k < 300);
            allocator.countdown = k;
            status = job == 0   ? armilla_model_keep_clusters(context, model, clustering)
                     : job == 1 ? armilla_clustering_judge(context, clustering, model, &quality)
                                : armilla_model_predict(context, model, data, 1, labels);
            allocator.countdown = -1;
            assert_true(status == ARMILLA_OK || status == ARMILLA_NO_MEMORY);
            assert_non_null(armilla_model_clusters(model, NULL));
            assert_int_equal(allocator.live, live);
        }
    }
    assert_memory_equal(labels, armilla_clustering_labels(clustering), sizeof labels);
    armilla_clustering_free(clustering);
    armilla_model_free(model);
    armilla_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_training_samples_get_their_labels_back),
        TEST(test_atoms_of_another_number),
        TEST(test_predicting_can_be_stopped),
        TEST(test_silhouette_is_that_of_pairs),
        TEST(test_predicting_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
