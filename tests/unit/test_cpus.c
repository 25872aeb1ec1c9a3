/* How many threads there are: asked of the system once in each call of the library, whose answer may be another each
 * time, and of systems with more CPUs than cpu_set_t has. The system's function is replaced by one of the test. */
#include "reference/reference.h"
#include "unit/support.h"

#include "base/team.h"
#include "linalg/dense.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int asked;          /* calls */
static size_t least_bytes; /* of a mask; the system refuses smaller ones */
static int first_cpu;      /* of those in the mask */
static int fixed;          /* how many there are; 0: more with each call */

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *mask)
{
    static const int growing[] = {1, 2, 3, 8};
    enum { LAST = sizeof growing / sizeof *growing - 1 };
    const int count = fixed ? fixed : growing[asked < LAST ? asked : LAST];
    (void)process;
    asked++;
    if (bytes < least_bytes) {
        errno = EINVAL;
        return -1;
    }
    memset(mask, 0, bytes);
    for (int cpu = first_cpu; cpu < first_cpu + count; cpu++) CPU_SET_S((size_t)cpu, bytes, mask);
    return 0;
}

/* Many CPUs, in a mask of more than 1024. A quota of the test's own cgroup may leave fewer, in both masks alike. */
static void test_large_masks(void **state)
{
    (void)state;
    fixed = 7;
    const int small = armilla_threads_available();
    first_cpu = 1500;
    least_bytes = 2048 / 8;
    assert_int_equal(armilla_threads_available(), small);
    first_cpu = 8000;
    least_bytes = 8192 / 8;
    assert_int_equal(armilla_threads_available(), small);
    fixed = 6000;
    first_cpu = 0;
    assert_in_range(armilla_threads_available(), 1, 1024);
    assert_in_range(armilla_threads_choose(0), 1, 1024);
    fixed = 0;
    least_bytes = 0;
}

static void test_quotas(void **state)
{
    static const struct {
        const char *text;
        int cores;
    } cases[] = {
        {"max 100000\n", 0},
        {"200000 100000\n", 2},
        {"150000 100000\n", 2}, /* a part of a core is one */
        {"1000 100000\n", 1},
        {"100001 100000\n", 2},
        {"9223372036854775807 1\n", 1024},
        {"9223372036854775807 100000\n", 1024},
        {"100000\n", 0}, /* not of that form */
        {"-1 100000\n", 0},
        {"0 100000\n", 0},
        {"100000 0\n", 0},
        {"100000 -5\n", 0},
        {"", 0},
    };
    char path[256];
    (void)state;
    support_path(path, sizeof path, "cpu.max");
    assert_int_equal(armilla_threads_quota(path), 0); /* no such file */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        support_write_file(path, cases[i].text, strlen(cases[i].text));
        assert_int_equal(armilla_threads_quota(path), cases[i].cores);
    }
    support_clean();
}

/* The call asks once; the mask grows whenever it is asked for. */
#define ASKS_ONCE(call, wanted)                                                                                        \
    do {                                                                                                               \
        reference_scene("%s", #call);                                                                                  \
        asked = 0;                                                                                                     \
        REFERENCE_STATUS(call, wanted);                                                                                \
        REFERENCE_HOLDS(asked == 1);                                                                                   \
    } while (0)

/* So many entries that eight threads have work. */
enum { M = 60, N = 6000, R = 3 };

static void use_data(const armilla_data *X)
{
    armilla_options options, given;
    armilla_cluster_options clusters;
    armilla_clustering *found = NULL;
    armilla_model *model = NULL;
    armilla_data_facts facts;
    armilla_check check;
    double *codes = reference_new(N * R);
    armilla_options_default(&options);
    options.rank = R;
    options.max_iter = 2;
    options.center = options.scale = options.tfidf = options.log1p = true;
    options.normalize = "l2";
    ASKS_ONCE(armilla_data_survey(reference_context, X, 0, &facts), ARMILLA_OK);
    ASKS_ONCE(armilla_fit(reference_context, X, &options, &model), ARMILLA_OK);
    ASKS_ONCE(armilla_model_check(reference_context, model, X, &check), ARMILLA_OK);
    REFERENCE_HOLDS(check.passed);
    ASKS_ONCE(armilla_model_transform(reference_context, model, X, 0, codes), ARMILLA_OK);
    armilla_cluster_options_default(&clusters);
    clusters.k = R;
    clusters.max_iter = 3;
    ASKS_ONCE(armilla_cluster_data(reference_context, X, &options, &clusters, &found), ARMILLA_OK);
    armilla_clustering_free(found);
    ASKS_ONCE(armilla_cluster_model(reference_context, model, &clusters, &found), ARMILLA_OK);
    armilla_clustering_free(found);
    armilla_options_default(&given);
    ASKS_ONCE(armilla_cluster_recipe(reference_context, X, &given, &clusters), ARMILLA_OK);
    armilla_model_free(model);
    free(codes);
}

/* Nor where a bad entry is looked for. */
static void refuse_data(const armilla_data *X)
{
    armilla_options options;
    armilla_model *model = NULL;
    armilla_options_default(&options);
    options.rank = R;
    options.log1p = true;
    ASKS_ONCE(armilla_fit(reference_context, X, &options, &model), ARMILLA_BAD_DATA);
}

static void test_one_answer(void **state)
{
    uint64_t random = 901;
    double *X = reference_new(M * N);
    (void)state;
    reference_sprinkle(&random, 0.6, M * N, X);
    REFERENCE_OK(armilla_blas_enter(reference_context, 1)); /* a BLAS that is being loaded asks for itself */
    armilla_blas_leave();
    for (int bad = 0; bad < 2; bad++) {
        reference_sparse sparse;
        armilla_data *data = NULL;
        if (bad) X[M * N / 2] = -3;
        REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, M, N, M, &data));
        (bad ? refuse_data : use_data)(data);
        armilla_data_free(data);
        reference_sparse_new(&sparse, ARMILLA_F64, ARMILLA_I32, false, M, N, X);
        data = reference_sparse_wrap(&sparse);
        (bad ? refuse_data : use_data)(data);
        armilla_data_free(data);
        reference_sparse_free(&sparse);
    }
    free(X);
}

/* Text of more than one part, in each format that threads parse. */
static void test_one_answer_of_readers(void **state)
{
    enum { LINES = 300000 };
    static const struct {
        const char *name, *head, *line;
    } files[] = {{"a.csv", "", "1,2,3\n"},
                 {"a.svm", "", "1 1:2 3:4\n"},
                 {"a.mtx", "%%MatrixMarket matrix coordinate real general\n3 300000 300000\n", "2 7 1.5\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const size_t head = strlen(files[i].head), line = strlen(files[i].line);
        char path[128], *text = malloc(head + LINES * line);
        armilla_data *data = NULL;
        assert_non_null(text);
        memcpy(text, files[i].head, head);
        for (size_t j = 0; j < LINES; j++) memcpy(text + head + j * line, files[i].line, line);
        support_write_file(support_path(path, sizeof path, files[i].name), text, head + LINES * line);
        ASKS_ONCE(armilla_data_open(reference_context, path, NULL, &data), ARMILLA_OK);
        armilla_data_free(data);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_large_masks), cmocka_unit_test(test_quotas),
                                       cmocka_unit_test(test_one_answer), cmocka_unit_test(test_one_answer_of_readers)};
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
