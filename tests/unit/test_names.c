/* Packed lists of names, and data that take them over. */
#include "support.h"

#include "data/data.h"
#include "data/names.h"

#include <stdio.h>
#include <string.h>

static void test_lists_keep_every_text(void **state)
{
    armilla_context *context = support_context();
    (void)state;
    armilla_names names = {0};
    char text[32];
    for (int i = 0; i < 5000; i++) {
        const int length = snprintf(text, sizeof text, "name %d%s", i, i % 7 ? "" : " \xc3\xa9");
        assert_int_equal(armilla_names_add(context, &names, text, (size_t)length), ARMILLA_OK);
    }
    assert_int_equal(armilla_names_add(context, &names, "", 0), ARMILLA_OK);
    assert_int_equal(armilla_names_add(context, &names, "cut\0here", 8), ARMILLA_OK);
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "name %d%s", i, i % 7 ? "" : " \xc3\xa9");
        assert_string_equal(armilla_names_at(&names, i), text);
    }
    assert_string_equal(armilla_names_at(&names, 5000), "");
    assert_string_equal(armilla_names_at(&names, 5001), "cut");
    armilla_names_free(context, &names);
    assert_int_equal(names.count, 0);
    armilla_context_free(context);
}

static void test_data_take_lists_that_fit(void **state)
{
    armilla_context *context = support_context();
    (void)state;
    const double values[6] = {1, 2, 3, 4, 5, 6};
    armilla_data *X = NULL;
    armilla_names names = {0};
    assert_int_equal(armilla_data_wrap_dense(context, ARMILLA_F64, values, 3, 2, 3, &X), ARMILLA_OK);
    assert_null(armilla_data_name(X, ARMILLA_FEATURE_NAMES, 0));
    armilla_names_add(context, &names, "a", 1);
    armilla_names_add(context, &names, "b", 1);
    support_fails(context, armilla_data_adopt_names(X, ARMILLA_FEATURE_NAMES, "f: ", &names), ARMILLA_BAD_DATA,
                  "f: there are 2 names of features, but 3");
    assert_int_equal(armilla_data_adopt_names(X, ARMILLA_SAMPLE_LABELS, "", &names), ARMILLA_OK);
    assert_int_equal(names.count, 0);
    assert_string_equal(armilla_data_name(X, ARMILLA_SAMPLE_LABELS, 1), "b");
    assert_null(armilla_data_name(X, ARMILLA_SAMPLE_LABELS, 2));
    assert_null(armilla_data_name(X, ARMILLA_SAMPLE_LABELS, -1));
    assert_null(armilla_data_name(X, ARMILLA_SAMPLE_NAMES, 0));
    armilla_data_free(X);
    armilla_context_free(context);
}

/* A prepared view lives shorter than its data: the names stay with the data. */
static void test_views_leave_names_alone(void **state)
{
    support_allocator allocator = SUPPORT_ALLOCATOR;
    armilla_context *context = support_context_with(&allocator);
    (void)state;
    const double values[2] = {1, 2};
    const int32_t rows[2] = {0, 1}, starts[2] = {0, 2};
    const armilla_column_map preparation = {.unit_length = true};
    for (int sparse = 0; sparse < 2; sparse++) {
        armilla_data *X = NULL, *view = NULL;
        armilla_names names = {0};
        support_ok(context,
                   sparse ? armilla_data_wrap_sparse(context, ARMILLA_F64, ARMILLA_I32, values, rows, starts, 2, 1, &X)
                          : armilla_data_wrap_dense(context, ARMILLA_F64, values, 2, 1, 2, &X));
        support_ok(context, armilla_names_add(context, &names, "only", 4));
        support_ok(context, armilla_data_adopt_names(X, ARMILLA_SAMPLE_NAMES, "", &names));
        support_ok(context, armilla_data_prepare(context, X, &preparation, &view));
        armilla_data_free(view);
        assert_string_equal(armilla_data_name(X, ARMILLA_SAMPLE_NAMES, 0), "only");
        armilla_data_free(X);
    }
    armilla_context_free(context);
    assert_int_equal(allocator.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_keep_every_text),
        cmocka_unit_test(test_data_take_lists_that_fit),
        cmocka_unit_test(test_views_leave_names_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
