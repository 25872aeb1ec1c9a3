/* Lists of the best, the rank test and its correction against plain loops; and lists when memory runs out. */
#include "fixture.h"

#include "cluster/top.h"

#include <math.h>
#include <stdlib.h>

enum { N = 60 };

/* The best of all keys, by looking for the largest again and again. */
static void test_lists_keep_the_best(void **state)
{
    (void)state;
    srand(3);
    for (int64_t most = 0; most < 12; most++) {
        armilla_best best = {0};
        double keys[N];
        bool used[N] = {false};
        support_ok(context, armilla_best_take(context, most, &best));
        for (int64_t i = 0; i < N; i++) {
            const armilla_top_entry entry = armilla_top_entry_new(N - 1 - i); /* offered backwards */
            keys[N - 1 - i] = rand() % 20 == 0 ? (double)NAN : (double)(rand() % 9);
            armilla_best_offer(&best, keys[N - 1 - i], &entry);
        }
        assert_int_equal(best.count, most);
        for (int64_t place = 0; place < best.count; place++) {
            int64_t largest = -1;
            for (int64_t i = 0; i < N; i++)
                if (!used[i] && !isnan(keys[i]) && (largest < 0 || keys[i] > keys[largest])) largest = i;
            used[largest] = true;
            assert_int_equal(best.entries[place].index, largest);
        }
        armilla_best_release(context, &best);
    }
}

/* Pairs counted one by one: U = pairs (inside, outside) with the larger inside, ties half. */
static void test_rank_test_counts_pairs(void **state)
{
    (void)state;
    srand(5);
    for (int trial = 0; trial < 200; trial++) {
        double x[N], U = 0, ties = 0, sum = 0;
        int64_t inside = 1 + rand() % (N - 1);
        for (int i = 0; i < N; i++) x[i] = rand() % (1 + trial % 17);
        for (int64_t i = 0; i < inside; i++)
            for (int64_t j = inside; j < N; j++) U += x[i] > x[j] ? 1 : x[i] == x[j] ? 0.5 : 0;
        for (int64_t i = 0; i < N; i++) {
            double below = 0, equal = 0;
            for (int64_t j = 0; j < N; j++) below += x[j] < x[i], equal += x[j] == x[i];
            if (i < inside) sum += below + (equal + 1) / 2;
            ties += equal * equal - 1; /* t^3 - t, shared among the t */
        }
        const double a = (double)inside, b = (double)(N - inside);
        assert_true(fabs(sum - a * (a + 1) / 2 - U) < 1e-9);
        const double deviation = sqrt(a * b / 12 * (N + 1 - ties / (N * (N - 1.0))));
        const double z = deviation > 0 ? (fabs(U - a * b / 2) - 0.5) / deviation : 0;
        const double wanted = deviation > 0 ? fmin(1, erfc(z / sqrt(2))) : 1;
        assert_true(fabs(armilla_rank_test(inside, N, sum, ties) - wanted) <= 1e-12);
    }
}

static void test_correction_is_the_plain_one(void **state)
{
    (void)state;
    srand(8);
    for (int64_t count = 1; count <= N; count++) {
        double p[N], corrected[N];
        armilla_keyed order[N];
        for (int64_t i = 0; i < count; i++) corrected[i] = p[i] = rand() % 5 ? rand() / (double)RAND_MAX : 0.25;
        armilla_correct_many(count, corrected, order);
        for (int64_t i = 0; i < count; i++) {
            double least = 1;
            for (int64_t j = 0; j < count; j++) {
                int64_t rank = 0;
                for (int64_t l = 0; l < count; l++) rank += p[l] <= p[j];
                if (p[j] >= p[i]) least = fmin(least, p[j] * (double)count / (double)rank);
            }
            assert_true(fabs(corrected[i] - least) <= 1e-14);
        }
    }
}

/* Every allocation fails in turn: a clear status, nothing made, nothing left. */
static void test_lists_without_memory(void **state)
{
    enum { M = 12 };
    double X[M * N];
    int64_t classes[N];
    armilla_options options;
    armilla_data *data = NULL;
    armilla_model *model = NULL;
    (void)state;
    for (int i = 0; i < M * N; i++) X[i] = rand() % 4;
    for (int j = 0; j < N; j++) classes[j] = j % 3;
    const armilla_labels labels = {.size = sizeof labels, .count = N, .classes = 3, .values = classes};
    armilla_options_default(&options);
    options.rank = 3;
    options.model = "spherical-nmf";
    options.max_iter = 2;
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, &data));
    support_ok(context, armilla_fit(context, data, &options, &model));
    for (int kind = 0; kind < 4; kind++) {
        armilla_status status = ARMILLA_NO_MEMORY;
        const armilla_data *given = kind % 2 ? data : NULL;
        for (int64_t k = 0; status != ARMILLA_OK; k++) {
            armilla_top *top = NULL;
            const int64_t live = allocator.live;
            assert_true(k < 400);
            allocator.taken = 0;
            allocator.countdown = k;
            status = kind < 2 ? armilla_top_atoms(context, model, given, 4, 1, &top)
                              : armilla_top_clusters(context, model, given, &labels, 4, &top);
            allocator.countdown = -1;
            assert_true(status == ARMILLA_OK || status == ARMILLA_NO_MEMORY);
            assert_true((top != NULL) == (status == ARMILLA_OK));
            armilla_top_free(top);
            assert_int_equal(allocator.live, live);
        }
    }
    armilla_model_free(model);
    armilla_data_free(data);
}

static void test_bad_arguments(void **state)
{
    const double X[4] = {1, 2, 3, 4};
    int64_t classes[2] = {0, 2};
    armilla_labels labels = {.size = sizeof labels, .count = 2, .classes = 2, .values = classes};
    armilla_options options;
    armilla_data *data = NULL;
    armilla_model *model = NULL;
    armilla_top *top = NULL;
    armilla_top_entry entry;
    armilla_top_group group;
    (void)state;
    armilla_options_default(&options);
    options.rank = 1;
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, 2, 2, 2, &data));
    support_ok(context, armilla_fit(context, data, &options, &model));
    support_fails(context, armilla_top_clusters(context, model, NULL, &labels, 3, &top), ARMILLA_BAD_ARGUMENT,
                  "label 2");
    labels.count = 1;
    support_fails(context, armilla_top_clusters(context, model, NULL, &labels, 3, &top), ARMILLA_BAD_DATA, "1 labels");
    support_fails(context, armilla_top_atoms(context, model, NULL, 0, 1, &top), ARMILLA_BAD_ARGUMENT, "count 0");
    assert_null(top);
    support_ok(context, armilla_top_atoms(context, model, data, 9, 1, &top));
    assert_int_equal(armilla_top_count(top), 1);
    assert_true(armilla_top_group_get(top, 0, &group) && group.share == 1);
    assert_false(armilla_top_group_get(top, 1, &group) || armilla_top_group_get(top, -1, &group));
    assert_true(armilla_top_entry_get(top, 0, ARMILLA_TOP_FEATURES, 1, &entry));
    assert_false(armilla_top_entry_get(top, 0, ARMILLA_TOP_FEATURES, 2, &entry)); /* there are two features */
    assert_false(armilla_top_entry_get(top, 0, ARMILLA_TOP_ODD, 0, &entry));
    assert_false(armilla_top_entry_get(top, 0, (armilla_top_list)9, 0, &entry));
    armilla_top_free(top);
    armilla_model_free(model);
    armilla_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lists_keep_the_best),  TEST(test_rank_test_counts_pairs), TEST(test_correction_is_the_plain_one),
        TEST(test_lists_without_memory), TEST(test_bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
