/* One look at data of many panels: what cannot be used is found at its first place by any number of threads, and chosen
 * samples are seen as a copy of them is. */
#include "support.h"

#include "reference/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 3, N = 30000 };

static armilla_context *context;
static support_allocator allocator;
static double *X;

static int set_up(void **state)
{
    uint64_t random = 5;
    (void)state;
    support_begin(&allocator, &context);
    X = malloc(M * N * sizeof *X);
    assert_non_null(X);
    reference_fill_uniform(&random, M * N, X);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(X);
    support_end(&allocator, context);
    return 0;
}

static armilla_data *wrap(bool sparse)
{
    static int32_t features[M * N], starts[N + 1];
    armilla_data *data = NULL;
    for (int32_t i = 0; i < M * N; i++) {
        features[i] = i % M;
        starts[i / M + 1] = i + 1;
    }
    support_ok(context,
               sparse ? armilla_data_wrap_sparse(context, ARMILLA_F64, ARMILLA_I32, X, features, starts, M, N, &data)
                      : armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, &data));
    return data;
}

static void finds_the_first_bad_place(void **state)
{
    /* The first is at the end, in the middle, at the start; others follow it. */
    static const int64_t places[][4] = {
        {N - 1, N - 1, N - 1, N - 1}, {N / 2, N / 2 + 1, N - 5, N - 1}, {0, 7, 900, N - 1}};
    (void)state;
    for (size_t k = 0; k < sizeof places / sizeof *places; k++)
        for (int sparse = 0; sparse < 2; sparse++) {
            double kept[4];
            int64_t count = 0;
            for (int i = 0; i < 4; i++) kept[i] = X[places[k][i] * M + 1];
            for (int i = 0; i < 4; i++) X[places[k][i] * M + 1] = i % 2 ? -INFINITY : NAN;
            for (int64_t i = 0; i < M * N; i++) count += !isfinite(X[i]);
            for (int threads = 1; threads <= 4; threads++) {
                armilla_data *data = wrap(sparse);
                armilla_data_facts facts;
                support_ok(context, armilla_data_survey(context, data, threads, &facts));
                assert_int_equal(facts.bad_sample, places[k][0]);
                assert_int_equal(facts.bad_feature, 1);
                assert_int_equal(facts.bad_entries, count);
                armilla_data_free(data);
            }
            for (int i = 3; i >= 0; i--) X[places[k][i] * M + 1] = kept[i];
        }
}

/* Runs of samples, single ones and long gaps, over many panels of each thread. */
static void sees_chosen_samples_as_a_copy(void **state)
{
    char list[256];
    double *copy = malloc(M * N * sizeof *copy);
    armilla_data *data = wrap(false), *chosen = NULL, *own = NULL;
    int64_t n = 0;
    const int64_t ranges[][2] = {{0, 0}, {2, 2}, {4, 9000}, {9002, 9002}, {9100, 20000}, {20002, N - 1}};
    size_t used = 0;
    (void)state;
    assert_non_null(copy);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const int64_t count = ranges[i][1] - ranges[i][0] + 1;
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%d-%d,", (int)ranges[i][0] + 1, (int)ranges[i][1] + 1);
        memcpy(copy + n * M, X + ranges[i][0] * M, (size_t)(count * M) * sizeof *copy);
        n += count;
    }
    const armilla_selection selection = {.size = sizeof(armilla_selection), .samples = list};
    support_ok(context, armilla_data_select(context, data, &selection, &chosen));
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, copy, M, n, M, &own));
    assert_int_equal(armilla_data_samples(chosen), n);
    for (int threads = 1; threads <= 4; threads++) {
        armilla_data_facts seen, wanted;
        memset(&seen, 0, sizeof seen);
        memset(&wanted, 0, sizeof wanted);
        support_ok(context, armilla_data_survey(context, chosen, threads, &seen));
        support_ok(context, armilla_data_survey(context, own, threads, &wanted));
        assert_memory_equal(&seen, &wanted, sizeof seen);
    }
    armilla_data_free(chosen);
    armilla_data_free(own);
    armilla_data_free(data);
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_the_first_bad_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sees_chosen_samples_as_a_copy, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
