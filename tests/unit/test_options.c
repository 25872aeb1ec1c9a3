/* The option tables: presets, ranges, words and their aliases, messages about mistakes, and that what is shown can be
 * read back. Driven by the table itself, so that a new row is tested without another edit. */
#include "reference/reference.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const armilla_option *row_of(const char *name)
{
    const armilla_option *row = armilla_option_find(armilla_option_table(), name);
    if (!row) fail_msg("--%s is missing", name);
    return row;
}

/* The row refuses text: the status, a message with the option's name, and the struct as it was. */
static void refuses(const armilla_option *row, const char *text, const char *sentence_has)
{
    armilla_options options, before;
    char name[64];
    memset(&options, 0, sizeof options); /* so that padding compares equal */
    armilla_options_default(&options);
    memcpy(&before, &options, sizeof options);
    snprintf(name, sizeof name, "%s:", row->name);
    for (char *c = name; *c; c++)
        if (*c == '-') *c = '_';
    reference_scene("--%s '%s'", row->name, text);
    REFERENCE_STATUS(armilla_option_set(reference_context, row, &options, text), ARMILLA_BAD_ARGUMENT);
    REFERENCE_HOLDS(memcmp(&before, &options, sizeof options) == 0);
    REFERENCE_HOLDS(strstr(armilla_context_error(reference_context), name) != NULL);
    if (!strstr(armilla_context_error(reference_context), sentence_has))
        fail_msg("'%s' does not say '%s'", armilla_context_error(reference_context), sentence_has);
}

/* The row takes text, and what it shows then is taken again and shown the same. */
static void takes(const armilla_option *row, const char *text)
{
    armilla_options options, again;
    char shown[512], shown_again[512];
    armilla_options_default(&options);
    armilla_options_default(&again);
    reference_scene("--%s '%s'", row->name, text);
    REFERENCE_OK(armilla_option_set(reference_context, row, &options, text));
    assert_ptr_equal(armilla_option_show(row, &options, shown, sizeof shown), shown);
    REFERENCE_HOLDS(shown[0] != '\0');
    if (row->kind != ARMILLA_OPTION_FLAG) {
        REFERENCE_OK(armilla_option_set(reference_context, row, &again, shown));
        armilla_option_show(row, &again, shown_again, sizeof shown_again);
        REFERENCE_HOLDS(strcmp(shown, shown_again) == 0);
    }
}

static void check_integer(const armilla_option *row)
{
    char text[64];
    armilla_options options;
    armilla_options_default(&options);
    snprintf(text, sizeof text, "%.0f", row->low);
    takes(row, text);
    takes(row, "7");
    snprintf(text, sizeof text, "%.0f", row->low - 1);
    refuses(row, text, "out of range");
    if (row->high < 9e18) {
        snprintf(text, sizeof text, "%.0f", row->high);
        takes(row, text);
        snprintf(text, sizeof text, "%.0f", row->high + 1);
        refuses(row, text, "out of range");
    }
    refuses(row, "three", "not a whole number");
    refuses(row, "1.5", "not a whole number");
    refuses(row, "7x", "not a whole number");
    refuses(row, "", "not a whole number");
    refuses(row, "99999999999999999999", "out of range");
    REFERENCE_OK(armilla_option_set(reference_context, row, &options, "7"));
    REFERENCE_HOLDS(*(const int64_t *)((const char *)&options + row->offset) == 7);
}

static void check_real(const armilla_option *row)
{
    static const char *const wrong[] = {"", "x", "1,5", "1.5s", "nan", "inf", "1e999", "--1", "0.5 "};
    char text[64], limit[64];
    armilla_options options;
    armilla_options_default(&options);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) refuses(row, wrong[i], "not a number");
    snprintf(text, sizeof text, "%.17g", row->low);
    takes(row, text);
    snprintf(text, sizeof text, "%.17g", row->low - 1);
    refuses(row, text, "out of range");
    snprintf(text, sizeof text, "%.17g", row->high);
    takes(row, text);
    snprintf(text, sizeof text, "%.17g", 2 * row->high + 1);
    snprintf(limit, sizeof limit, "%g", row->high);
    refuses(row, text, limit); /* which is not part of text */
    takes(row, "0.1");
    takes(row, "1e-3");
    REFERENCE_OK(armilla_option_set(reference_context, row, &options, "0.1"));
    REFERENCE_HOLDS(*(const double *)((const char *)&options + row->offset) == 0.1);
}

static void check_positive(const armilla_option *row)
{
    static const char *const wrong[] = {"", "0", "-1", "nan", "inf", "x", "2x", "1e-999"};
    armilla_options options;
    armilla_options_default(&options);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) refuses(row, wrong[i], "positive");
    takes(row, row->automatic);
    takes(row, "0.30000000000000004");
    takes(row, "1e-300");
    REFERENCE_OK(armilla_option_set(reference_context, row, &options, row->automatic));
    REFERENCE_HOLDS(*(const double *)((const char *)&options + row->offset) == 0);
}

static void check_multiple(const armilla_option *row)
{
    static const char *const wrong[] = {"", "x", "0", "0x", "-1", "-2x", "1xx", "1 x", "nan", "infx", "x2"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) refuses(row, wrong[i], "0.3x");
    takes(row, "0.3x");
    takes(row, "1x");
    takes(row, "2.5");
    takes(row, "1e-3x");
}

/* Every choice, every alias, and a slip of the finger in each. */
static void check_word(const armilla_option *row)
{
    size_t choices = 0;
    armilla_options options;
    armilla_options_default(&options);
    for (; row->choice(choices); choices++) {
        const char *choice = row->choice(choices);
        char slip[64];
        takes(row, choice);
        REFERENCE_OK(armilla_option_set(reference_context, row, &options, choice));
        REFERENCE_HOLDS(strcmp(*(const char *const *)((const char *)&options + row->offset), choice) == 0);
        if (row->resolve) REFERENCE_HOLDS(strcmp(row->resolve(choice), choice) == 0);
        snprintf(slip, sizeof slip, "%sq", choice);
        if (!row->open && strlen(choice) > 3) refuses(row, slip, choice);
    }
    REFERENCE_HOLDS(choices > 0);
    if (row->open)
        takes(row, "some/file.npy");
    else
        refuses(row, "zzzzzzzzzzzzzzzz", "choices");
}

static void check_size(const armilla_option *row)
{
    static const struct {
        const char *text;
        int64_t bytes;
    } sizes[] = {{"1", 1},       {"4096", 4096},        {"12M", 12 << 20}, {"2G", (int64_t)2 << 30},
                 {"1.5K", 1536}, {"512MiB", 512 << 20}, {"3KB", 3072},     {"8T", (int64_t)8 << 40},
                 {"1e3", 1000},  {"0.5G", 512 << 20}};
    static const char *const refused[] = {"",    "M",    "0",   "-1",  "0.1",  "12 M",
                                          "12X", "12MM", "nan", "inf", "1e30", "9e6T"};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        armilla_options options;
        takes(row, sizes[i].text);
        armilla_options_default(&options);
        REFERENCE_OK(armilla_option_set(reference_context, row, &options, sizes[i].text));
        REFERENCE_HOLDS(*(const int64_t *)(const void *)((const char *)&options + row->offset) == sizes[i].bytes);
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) refuses(row, refused[i], "is not a size");
}

/* No row of the library's table is of this kind: the command has one. */
static void test_sizes(void **state)
{
    const armilla_option row = {ARMILLA_OPTION_ROW("memory"), .kind = ARMILLA_OPTION_SIZE,
                                .offset = offsetof(armilla_options, memory), .value = "LIMIT"};
    (void)state;
    check_size(&row);
}

static void check_row(const armilla_option *row)
{
    armilla_options options;
    switch (row->kind) {
    case ARMILLA_OPTION_FLAG:
        takes(row, NULL);
        armilla_options_default(&options);
        REFERENCE_OK(armilla_option_set(reference_context, row, &options, NULL));
        REFERENCE_HOLDS(*(const bool *)((const char *)&options + row->offset));
        break;
    case ARMILLA_OPTION_INTEGER:
        check_integer(row);
        break;
    case ARMILLA_OPTION_REAL:
        check_real(row);
        break;
    case ARMILLA_OPTION_POSITIVE:
        check_positive(row);
        break;
    case ARMILLA_OPTION_MULTIPLE:
        check_multiple(row);
        break;
    case ARMILLA_OPTION_WORD:
        check_word(row);
        break;
    case ARMILLA_OPTION_TEXT:
        takes(row, "any text at all");
        break;
    case ARMILLA_OPTION_SIZE:
        check_size(row);
        break;
    }
}

static void test_every_row(void **state)
{
    (void)state;
    for (const armilla_option *row = armilla_option_table(); row->name; row = armilla_option_next(row)) {
        reference_scene("--%s", row->name);
        assert_ptr_equal(row_of(row->name), row); /* no name twice */
        REFERENCE_HOLDS(row->help && strlen(row->help) > 5 && !strchr(row->help, '\n'));
        REFERENCE_HOLDS(row->kind == ARMILLA_OPTION_FLAG || (row->value && row->value[0]));
        REFERENCE_HOLDS(row->offset < sizeof(armilla_options));
        check_row(row);
    }
}

/* The defaults that the interface promises. */
static void test_presets(void **state)
{
    static const struct {
        const char *name, *shown;
    } promised[] = {
        {"basis", ""},          {"codes", ""},       {"model", ""},     {"sparsity", ""},   {"rank", ""},
        {"radius", "auto"},     {"lambda", "1x"},    {"mu", "1x"},      {"start", ""},      {"seed", "0"},
        {"restarts", "1"},      {"max-iter", "500"}, {"precision", ""}, {"center", "no"},   {"tfidf", "no"},
        {"time-limit", "none"}, {"normalize", ""},   {"tol", "auto"},   {"solver", "fast"},
    };
    armilla_options options;
    char shown[128];
    (void)state;
    memset(&options, 0x5a, sizeof options);
    armilla_options_default(&options);
    for (size_t i = 0; i < sizeof promised / sizeof promised[0]; i++) {
        reference_scene("--%s", promised[i].name);
        assert_string_equal(armilla_option_show(row_of(promised[i].name), &options, shown, sizeof shown),
                            promised[i].shown);
    }
    assert_true(options.threads == 0);
    assert_null(options.start_basis);
    assert_null(options.start_model);
    assert_true(!options.callback && !options.callback_user);
    assert_null(armilla_option_find(armilla_option_table(), "rnk"));
}

static void test_aliases_and_suggestions(void **state)
{
    armilla_options options;
    (void)state;
    armilla_options_default(&options);
    REFERENCE_OK(armilla_option_set(reference_context, row_of("basis"), &options, "u2"));
    assert_string_equal(options.basis, "nonnegative");
    REFERENCE_OK(armilla_option_set(reference_context, row_of("codes"), &options, "v4"));
    assert_string_equal(options.codes, "nonneg-sparse-sphere");
    refuses(row_of("basis"), "orthonromal", "did you mean 'orthonormal'?");
    refuses(row_of("codes"), "non-neg-sphere", "did you mean 'nonneg-sphere'?");
    refuses(row_of("model"), "sperical-pca", "did you mean 'spherical-pca'?");
    refuses(row_of("normalize"), "L2", "l2");
}

static void test_show_is_cut_not_overrun(void **state)
{
    armilla_options options;
    char shown[6] = "#####";
    (void)state;
    armilla_options_default(&options);
    options.basis = "orthonormal";
    armilla_option_show(row_of("basis"), &options, shown, 4);
    assert_string_equal(shown, "ort");
    assert_true(shown[4] == '#');
}

static void test_word_distance(void **state)
{
    static const struct {
        const char *a, *b;
        size_t distance;
    } known[] = {
        {"", "", 0},          {"", "abc", 3},      {"abc", "", 3},    {"abc", "abc", 0},       {"kitten", "sitting", 3},
        {"rank", "rnak", 1},  {"abcd", "bacd", 1}, {"abc", "axc", 1}, {"sphere", "spheer", 1}, {"a", "zzzz", 4},
        {"fast", "fasts", 1},
    };
    char longest[4000];
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_int_equal(armilla_word_distance(known[i].a, known[i].b), known[i].distance);
        assert_int_equal(armilla_word_distance(known[i].b, known[i].a), known[i].distance);
    }
    memset(longest, 'q', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_true(armilla_word_distance(longest, "rank") > 3 && armilla_word_distance("rank", longest) > 3);
}

static armilla_status check_options(void (*change)(armilla_options *options))
{
    armilla_options options;
    armilla_options_default(&options);
    options.rank = 3;
    change(&options);
    return armilla_options_check(reference_context, &options);
}

static void change_nothing(armilla_options *o)
{
    (void)o;
}

static void drop_rank(armilla_options *o)
{
    o->rank = 0;
}

static void sparse_without_sparsity(armilla_options *o)
{
    o->codes = "sparse-sphere";
}

static void sparsity_without_sparse(armilla_options *o)
{
    o->sparsity = 2;
}

static void sparsity_above_rank(armilla_options *o)
{
    o->codes = "sparse-sphere";
    o->sparsity = 4;
}

static void sparse_with_sparsity(armilla_options *o)
{
    o->codes = "v3";
    o->sparsity = 3;
}

static void unknown_basis(armilla_options *o)
{
    o->basis = "orthogonal";
}

static void bad_lambda(armilla_options *o)
{
    o->lambda = "-1x";
}

static void bad_tol(armilla_options *o)
{
    o->tol = NAN;
}

static void bad_radius(armilla_options *o)
{
    o->radius = -1;
}

static void bad_precision(armilla_options *o)
{
    o->precision = "f16";
}

static void model_and_basis(armilla_options *o)
{
    o->model = "spherical-pca";
    o->basis = "orthonormal";
}

static void model_alone(armilla_options *o)
{
    o->model = "spherical-pca";
}

static void test_check_of_options_together(void **state)
{
    static const struct {
        void (*change)(armilla_options *options);
        armilla_status wanted;
        const char *word;
    } cases[] = {
        {change_nothing, ARMILLA_OK, NULL},
        {sparse_with_sparsity, ARMILLA_OK, NULL},
        {drop_rank, ARMILLA_BAD_ARGUMENT, "rank"},
        {sparse_without_sparsity, ARMILLA_BAD_ARGUMENT, "sparsity"},
        {sparsity_without_sparse, ARMILLA_BAD_ARGUMENT, "sparsity"},
        {sparsity_above_rank, ARMILLA_BAD_ARGUMENT, "sparsity"},
        {unknown_basis, ARMILLA_BAD_ARGUMENT, "orthonormal"},
        {bad_lambda, ARMILLA_BAD_ARGUMENT, "lambda"},
        {bad_tol, ARMILLA_BAD_ARGUMENT, "tol"},
        {bad_radius, ARMILLA_BAD_ARGUMENT, "radius"},
        {bad_precision, ARMILLA_BAD_ARGUMENT, "f32"},
        {model_and_basis, ARMILLA_BAD_ARGUMENT, "either the model or the pair"},
        {model_alone, ARMILLA_OK, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reference_scene("case %d of options together", (int)i);
        REFERENCE_STATUS(check_options(cases[i].change), cases[i].wanted);
        if (cases[i].word) REFERENCE_HOLDS(strstr(armilla_context_error(reference_context), cases[i].word) != NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_aliases_and_suggestions),
        cmocka_unit_test(test_show_is_cut_not_overrun),
        cmocka_unit_test(test_word_distance),
        cmocka_unit_test(test_check_of_options_together),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
