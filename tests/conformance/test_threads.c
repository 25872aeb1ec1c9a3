/* The same bits of U, V, radius and trace for any number of threads: all pairs, both precisions, every start, with and
 * without preparation. Sizes are such that there are many panels, slots of several, and work for eight threads (small
 * data get fewer). */
#include "reference/reference.h"

#include <stdlib.h>
#include <string.h>

static const int64_t thread_counts[] = {1, 2, 3, 8};
enum { COUNTS = sizeof thread_counts / sizeof thread_counts[0] };

static void same_bits(const armilla_model *a, const armilla_model *b)
{
    armilla_model_summary x, y;
    int64_t count = 0, other = 0;
    armilla_model_summarize(a, &x);
    armilla_model_summarize(b, &y);
    const armilla_trace_entry *s = reference_trace(a, &count), *t = reference_trace(b, &other);
    const size_t size = armilla_type_size(x.precision);
    REFERENCE_HOLDS(memcmp(armilla_model_basis(a), armilla_model_basis(b), (size_t)(x.m * x.rank) * size) == 0);
    REFERENCE_HOLDS(memcmp(armilla_model_codes(a), armilla_model_codes(b), (size_t)(x.rank * x.n) * size) == 0);
    REFERENCE_HOLDS(x.radius == y.radius && x.objective == y.objective && x.squared_norm == y.squared_norm);
    REFERENCE_HOLDS(x.fingerprint == y.fingerprint && x.sweeps == y.sweeps && count == other);
    for (int64_t k = 0; k < count; k++)
        REFERENCE_HOLDS(s[k].objective == t[k].objective && s[k].dU == t[k].dU && s[k].dV == t[k].dV &&
                        s[k].radius == t[k].radius && s[k].relative_error == t[k].relative_error);
    for (int64_t i = 0; armilla_model_mean(a) && i < x.m; i++)
        REFERENCE_HOLDS(armilla_model_mean(a)[i] == armilla_model_mean(b)[i]);
    for (int64_t i = 0; armilla_model_idf(a) && i < x.m; i++)
        REFERENCE_HOLDS(armilla_model_idf(a)[i] == armilla_model_idf(b)[i]);
}

/* X: what the fit is verified against, or NULL. */
static void compare_thread_counts(reference_trial *trial, const char *what, const double *X)
{
    armilla_model *first = NULL;
    for (size_t t = 0; t < (size_t)reference_effort(COUNTS, 2); t++) {
        reference_scene("%s x %s, %s, %s, %d threads", trial->pair->basis, trial->pair->codes,
                        armilla_type_word(trial->type), what, (int)thread_counts[t]);
        trial->options.threads = thread_counts[t];
        armilla_model *model = reference_trial_fit(trial);
        if (first) {
            same_bits(first, model);
            armilla_model_free(model);
        } else {
            if (X) reference_verify(model, NULL, X, true);
            first = model;
        }
    }
    armilla_model_free(first);
}

static void test_threads_do_not_change_bits(void **state)
{
    enum { M = 40, N = 6000, R = 6, S = 2 };
    uint64_t random = 71;
    double *X = reference_new(M * N);
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p += (size_t)reference_effort(1, 3))
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++) {
            reference_trial trial;
            reference_data(&random, REFERENCE_NOISY, &reference_pairs[p], M, N, R, S, X);
            reference_trial_new(&trial, &reference_pairs[p], (armilla_type)type, M, N, R, S, X);
            trial.options.max_iter = 6;
            compare_thread_counts(&trial, "the pair's own start", trial.X);
            reference_trial_free(&trial);
        }
    free(X);
}

static void test_starts_do_not_depend_on_threads(void **state)
{
    enum { M = 15, N = 16000, R = 4 };
    uint64_t random = 72;
    double *X = reference_new(M * N);
    armilla_table_row start;
    (void)state;
    for (size_t i = 0; armilla_table_get(ARMILLA_TABLE_STARTS, i, &start); i++)
        for (size_t p = 1; p < REFERENCE_PAIRS; p += 4) {
            reference_trial trial;
            reference_fill_uniform(&random, M * N, X);
            reference_trial_new(&trial, &reference_pairs[p], ARMILLA_F32, M, N, R, R, X);
            trial.options.max_iter = 1;
            trial.options.start = start.name;
            compare_thread_counts(&trial, start.name, trial.X);
            reference_trial_free(&trial);
        }
    free(X);
}

/* More panels than slots: each slot has several. */
static void test_many_panels(void **state)
{
    enum { M = 5, N = 60011, R = 3 };
    uint64_t random = 73;
    double *X = reference_new(M * N);
    (void)state;
    reference_fill_uniform(&random, M * N, X);
    for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++) {
        reference_trial trial;
        reference_trial_new(&trial, &reference_pairs[1], (armilla_type)type, M, N, R, R, X);
        trial.options.max_iter = 3;
        compare_thread_counts(&trial, "many panels", trial.X);
        reference_trial_free(&trial);
    }
    free(X);
}

static void test_preparation_does_not_depend_on_threads(void **state)
{
    enum { M = 20, N = 12000, R = 4 };
    static const char *const words[] = {
        "no preparation",     "centred", "tf-idf", "tf-idf, centred", "l2", "centred, l2", "tf-idf, l2",
        "tf-idf, centred, l2"};
    uint64_t random = 74;
    double *X = reference_new(M * N);
    (void)state;
    for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++)
        for (int combination = 0; combination < 8; combination++) {
            reference_trial trial;
            for (int64_t i = 0; i < M * N; i++) X[i] = (double)reference_below(&random, 4);
            reference_trial_new(&trial, &reference_pairs[0], (armilla_type)type, M, N, R, R, X);
            trial.options.max_iter = 3;
            trial.options.center = combination & 1;
            trial.options.tfidf = combination & 2;
            trial.options.normalize = combination & 4 ? "l2" : "none";
            compare_thread_counts(&trial, words[combination], NULL);
            reference_trial_free(&trial);
        }
    free(X);
}

/* Codes of new samples, and what a survey says of them. */
static void test_transform_and_survey(void **state)
{
    enum { M = 20, N = 12000, R = 4 };
    uint64_t random = 76;
    double *X = reference_new(M * N);
    (void)state;
    reference_fill_uniform(&random, M * N, X);
    for (size_t p = 0; p < REFERENCE_PAIRS; p += 3)
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++) {
            const size_t bytes = N * R * armilla_type_size((armilla_type)type);
            void *first = calloc(1, bytes), *codes = calloc(1, bytes);
            armilla_data_facts facts, other;
            reference_trial trial;
            assert_true(first && codes);
            reference_trial_new(&trial, &reference_pairs[p], (armilla_type)type, M, N, R, 2, X);
            trial.options.max_iter = 1;
            armilla_model *model = reference_trial_fit(&trial);
            REFERENCE_OK(armilla_model_transform(reference_context, model, trial.data, 1, first));
            REFERENCE_OK(armilla_data_survey(reference_context, trial.data, 1, &facts));
            for (size_t t = 1; t < (size_t)reference_effort(COUNTS, 2); t++) {
                const int threads = (int)thread_counts[t];
                reference_scene("pair %d, %s, %d threads", (int)p, armilla_type_word((armilla_type)type), threads);
                REFERENCE_OK(armilla_model_transform(reference_context, model, trial.data, threads, codes));
                REFERENCE_HOLDS(memcmp(codes, first, bytes) == 0);
                REFERENCE_OK(armilla_data_survey(reference_context, trial.data, threads, &other));
                REFERENCE_HOLDS(facts.squared_norm == other.squared_norm && facts.fingerprint == other.fingerprint &&
                                facts.norm_low == other.norm_low && facts.norm_high == other.norm_high);
            }
            armilla_model_free(model);
            reference_trial_free(&trial);
            free(first);
            free(codes);
        }
    free(X);
}

/* Two processes' worth of fits, one after the other, leave nothing behind that the next could see. */
static void test_fits_are_independent(void **state)
{
    enum { M = 10, N = 300, R = 3 };
    uint64_t random = 75;
    double *X = reference_new(M * N);
    reference_trial trial;
    (void)state;
    reference_fill_uniform(&random, M * N, X);
    reference_trial_new(&trial, &reference_pairs[6], ARMILLA_F64, M, N, R, 2, X);
    trial.options.threads = 0;
    armilla_model *first = reference_trial_fit(&trial), *second = reference_trial_fit(&trial);
    same_bits(first, second);
    armilla_model_free(first);
    armilla_model_free(second);
    reference_trial_free(&trial);
    free(X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_do_not_change_bits),
        cmocka_unit_test(test_starts_do_not_depend_on_threads),
        cmocka_unit_test(test_many_panels),
        cmocka_unit_test(test_preparation_does_not_depend_on_threads),
        cmocka_unit_test(test_transform_and_survey),
        cmocka_unit_test(test_fits_are_independent),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
