/* Fields in messages: as C has them, or as a program's users say them. */
#include "unit/support.h"

#include "base/context.h"

#include <armilla/armilla.h>

#include <stdio.h>
#include <string.h>

/* As Python would say them. */
static void word_parameter(void *user, const char *field, const char *value, char *text, size_t size)
{
    int *calls = user;
    if (calls) (*calls)++;
    snprintf(text, size, value ? "%s='%s'" : "%s", field, value);
}

static void word_long(void *user, const char *field, const char *value, char *text, size_t size)
{
    (void)user;
    (void)field;
    (void)value;
    memset(text, 'x', size); /* without an end */
}

static void renders(armilla_wording wording, const char *text, size_t size, const char *expected)
{
    char buffer[256];
    memset(buffer, '#', sizeof buffer);
    assert_ptr_equal(armilla_wording_apply(wording, NULL, text, buffer, size), buffer);
    assert_string_equal(buffer, expected);
    for (size_t i = size; i < sizeof buffer; i++) assert_int_equal(buffer[i], '#');
}

static void test_texts(void **state)
{
    (void)state;
    const char *text = "use " ARMILLA_FIELD("normalize l2") " or " ARMILLA_FIELD("max-iter") "; 5 - 3";
    renders(NULL, text, 256, "use normalize l2 or max_iter; 5 - 3");
    renders(word_parameter, text, 256, "use normalize='l2' or max-iter; 5 - 3");
    renders(NULL, ARMILLA_FIELD("sample_columns rows or columns") ".", 256, "sample_columns rows or columns.");
    renders(NULL, "", 256, "");
    renders(NULL, NULL, 256, "");
    for (size_t size = 1; size < 12; size++) { /* cut wherever the buffer ends */
        char expected[16] = "";
        snprintf(expected, sizeof expected, "%.*s", (int)size - 1, "use normalize l2");
        renders(NULL, text, size, expected);
        snprintf(expected, sizeof expected, "%.*s", (int)size - 1, "use xxxxxxxxxxx");
        renders(word_long, text, size, expected);
    }
    renders(NULL, "a mark without end: \001normalize", 256, "a mark without end: \001normalize");
}

static void test_messages(void **state)
{
    armilla_context *context = support_context();
    armilla_options options;
    int calls = 0;
    (void)state;
    armilla_options_default(&options);
    options.rank = 3;
    options.codes = "sparse-sphere";
    support_fails(context, armilla_options_check(context, &options), ARMILLA_BAD_ARGUMENT,
                  "codes sparse-sphere needs sparsity, the most");
    armilla_context_set_wording(context, word_parameter, &calls);
    support_fails(context, armilla_options_check(context, &options), ARMILLA_BAD_ARGUMENT,
                  "codes='sparse-sphere' needs sparsity, the most");
    assert_int_equal(calls, 2);
    armilla_context_set_wording(context, NULL, NULL);
    options.max_iter = -1;
    support_fails(context, armilla_options_check(context, &options), ARMILLA_BAD_ARGUMENT, "max_iter: -1 is out of");
    armilla_context_free(context);
}

/* What a file is called may hold anything: a message stays one line without control characters. */
static void test_hostile(void **state)
{
    armilla_context *context = support_context();
    armilla_data *data = NULL;
    (void)state;
    support_fails(context, armilla_data_open(context, "no\001such\nfile\002\001", NULL, &data), ARMILLA_CANNOT_OPEN,
                  "");
    for (const char *c = armilla_context_error(context); *c; c++) assert_true((unsigned char)*c >= ' ');
    armilla_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
