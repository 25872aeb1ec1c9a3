/* Packed lists of names, and data that take them over. */
#include "support.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_keep_every_text),
        cmocka_unit_test(test_data_take_lists_that_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
