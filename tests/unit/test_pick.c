/* Features in another order, against plain loops; and matching by name when memory runs out. */
#include "fixture.h"

#include "data/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 37, N = 301, PICKED = 29 };

static double X[M * N];

/* Whole numbers, which every type holds; about half of them 0. */
static void fill(unsigned seed)
{
    srand(seed);
    for (int i = 0; i < M * N; i++) X[i] = rand() % 2 ? rand() % 100 : 0;
}

/* A permutation's first places, two of them missing. */
static void choose_places(int64_t *places)
{
    int64_t all[M];
    for (int64_t i = 0; i < M; i++) all[i] = i;
    for (int64_t i = M - 1; i > 0; i--) {
        const int64_t j = rand() % (i + 1), kept = all[i];
        all[i] = all[j];
        all[j] = kept;
    }
    memcpy(places, all, PICKED * sizeof *places);
    places[3] = places[17] = -1;
}

static void expect_picked(const armilla_data *data, const int64_t *places)
{
    double column[PICKED];
    assert_int_equal(armilla_data_features(data), PICKED);
    assert_int_equal(armilla_data_samples(data), N);
    for (int64_t j = 0; j < N; j++) {
        support_ok(context, armilla_data_sample(context, data, j, column));
        for (int64_t i = 0; i < PICKED; i++) assert_true(column[i] == (places[i] < 0 ? 0 : X[j * M + places[i]]));
    }
    assert_null(armilla_data_name(data, ARMILLA_FEATURE_NAMES, 0));
    assert_string_equal(armilla_data_name(data, ARMILLA_SAMPLE_LABELS, 0), "first");
}

static void name_labels(armilla_data *data)
{
    const char *labels[N];
    for (int j = 0; j < N; j++) labels[j] = j ? "other" : "first";
    support_ok(context, armilla_data_set_names(data, ARMILLA_SAMPLE_LABELS, labels, N));
}

/* Also that sums have the bits of data in that order. */
static void expect_same_facts(const armilla_data *picked, const int64_t *places, armilla_type type)
{
    static double ordered[PICKED * N];
    static float singles[PICKED * N];
    armilla_data *plain = NULL;
    armilla_data_facts got, wanted;
    for (int64_t i = 0; i < PICKED * N; i++) {
        const int64_t place = places[i % PICKED];
        ordered[i] = place < 0 ? 0 : X[i / PICKED * M + place];
        singles[i] = (float)ordered[i];
    }
    support_ok(context, armilla_data_wrap_dense(context, type, type == ARMILLA_F64 ? (void *)ordered : singles, PICKED,
                                                N, PICKED, &plain));
    support_ok(context, armilla_data_survey(context, picked, 2, &got));
    support_ok(context, armilla_data_survey(context, plain, 1, &wanted));
    assert_true(got.squared_norm == wanted.squared_norm && got.fingerprint == wanted.fingerprint);
    armilla_data_free(plain);
}

static void test_dense_features_are_picked(void **state)
{
    static float singles[M * N];
    static unsigned char bytes[M * N];
    (void)state;
    for (unsigned seed = 1; seed <= 5; seed++) {
        int64_t places[PICKED];
        fill(seed);
        choose_places(places);
        for (int i = 0; i < M * N; i++) singles[i] = (float)X[i], bytes[i] = (unsigned char)X[i];
        const struct {
            armilla_type type;
            const void *values;
        } forms[] = {{ARMILLA_F64, X}, {ARMILLA_F32, singles}, {ARMILLA_U8, bytes}};
        for (size_t f = 0; f < 3; f++) {
            armilla_data *data = NULL, *picked = NULL;
            support_ok(context, armilla_data_wrap_dense(context, forms[f].type, forms[f].values, M, N, M, &data));
            name_labels(data);
            support_ok(context, armilla_data_pick(context, data, places, PICKED, &picked));
            expect_picked(picked, places);
            expect_same_facts(picked, places, armilla_type_precision(forms[f].type));
            armilla_data_free(picked);
            armilla_data_free(data);
        }
    }
}

static void wrap_sparse(armilla_data **data)
{
    static double values[M * N];
    static int32_t features[M * N], starts[N + 1];
    int32_t count = 0;
    for (int i = 0; i < M * N; i++) {
        if (X[i] != 0) {
            values[count] = X[i];
            features[count++] = (int32_t)(i % M);
        }
        starts[i / M + 1] = count;
    }
    support_ok(context,
               armilla_data_wrap_sparse(context, ARMILLA_F64, ARMILLA_I32, values, features, starts, M, N, data));
}

static void test_sparse_features_are_picked(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 5; seed++) {
        armilla_data *data = NULL, *picked = NULL;
        int64_t places[PICKED];
        fill(seed);
        choose_places(places);
        wrap_sparse(&data);
        name_labels(data);
        support_ok(context, armilla_data_pick(context, data, places, PICKED, &picked));
        expect_picked(picked, places);
        expect_same_facts(picked, places, ARMILLA_F64);
        armilla_data_free(picked);
        armilla_data_free(data);
    }
}

/* Names of features, backwards. */
static void name_features(armilla_data *data, bool backwards)
{
    char texts[M][8];
    const char *names[M];
    for (int i = 0; i < M; i++) {
        snprintf(texts[i], sizeof texts[i], "f%d", backwards ? M - 1 - i : i);
        names[i] = texts[i];
    }
    support_ok(context, armilla_data_set_names(data, ARMILLA_FEATURE_NAMES, names, M));
}

/* Every allocation of a match fails in turn: the status says so, nothing is made and nothing stays. */
static void test_matching_without_memory(void **state)
{
    armilla_options options;
    armilla_model *model = NULL;
    armilla_data *forms[2] = {NULL, NULL}, *plain = NULL;
    (void)state;
    fill(7);
    armilla_options_default(&options);
    options.rank = 2;
    options.max_iter = 1;
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, &plain));
    name_features(plain, false);
    support_ok(context, armilla_fit(context, plain, &options, &model));
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, &forms[0]));
    wrap_sparse(&forms[1]);
    for (int f = 0; f < 2; f++) {
        armilla_status status = ARMILLA_NO_MEMORY;
        name_features(forms[f], true);
        for (int64_t k = 0; status != ARMILLA_OK; k++) {
            armilla_data *matched = NULL;
            const int64_t live = allocator.live;
            assert_true(k < 200);
            allocator.countdown = k;
            status = armilla_model_match(context, model, forms[f], false, &matched);
            allocator.countdown = -1;
            assert_true(status == ARMILLA_OK || status == ARMILLA_NO_MEMORY);
            assert_true((matched != NULL) == (status == ARMILLA_OK));
            armilla_data_free(matched);
            assert_int_equal(allocator.live, live);
        }
    }
    armilla_data *none = plain; /* which becomes NULL: the order is right already */
    support_ok(context, armilla_model_match(context, model, plain, false, &none));
    assert_null(none);
    for (int f = 0; f < 2; f++) armilla_data_free(forms[f]);
    armilla_model_free(model);
    armilla_data_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_dense_features_are_picked),
        TEST(test_sparse_features_are_picked),
        TEST(test_matching_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
