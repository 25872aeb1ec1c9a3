/* What the columns of a text table hold: uses, types, counts, and every allocation failing in turn. */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

static char path[256];

static armilla_status open_text(const char *text, const armilla_read_options *options, armilla_table_facts **facts)
{
    support_path(path, sizeof path, "t.csv");
    support_write_file(path, text, strlen(text));
    return armilla_table_facts_open(context, path, options, facts);
}

static armilla_table_facts *facts_of(const char *text, const armilla_read_options *options)
{
    armilla_table_facts *facts = NULL;
    support_ok(context, open_text(text, options, &facts));
    return facts;
}

typedef struct expected {
    const char *name;
    armilla_column_use use;
    armilla_column_type type;
    int64_t missing, numbers, texts, distinct, text_row;
} expected;

static void holds(const armilla_table_facts *facts, const expected *columns, int64_t count)
{
    armilla_column_facts c;
    assert_int_equal(armilla_table_facts_columns(facts), count);
    for (int64_t i = 0; i < count; i++) {
        assert_true(armilla_table_facts_column(facts, i, &c));
        assert_int_equal(c.size, sizeof c);
        if (columns[i].name)
            assert_string_equal(c.name, columns[i].name);
        else
            assert_null(c.name);
        assert_int_equal(c.use, columns[i].use);
        assert_int_equal(c.type, columns[i].type);
        assert_int_equal(c.missing, columns[i].missing);
        assert_int_equal(c.numbers, columns[i].numbers);
        assert_int_equal(c.texts, columns[i].texts);
        assert_int_equal(c.distinct, columns[i].distinct);
        assert_int_equal(c.text_row, columns[i].text_row);
        assert_int_equal(c.text != NULL, columns[i].texts > 0);
        assert_false(c.more);
    }
    assert_false(armilla_table_facts_column(facts, count, &c));
    assert_null(c.name);
    assert_false(armilla_table_facts_column(facts, -1, &c));
}

static const char mixed[] = "who,x,y,gone,kind,note\n"
                            "ann,1,0.5,,a,\"two\nlines\"\n"
                            "bob,1.0,-0,NA,b,\"say \"\"it\"\"\"\n"
                            "cid,2,0,nan,a,'say \"it\"'\n"
                            "dan,,1e400,inf,,3\n";

static void test_kinds(void **state)
{
    static const expected plain[] = {
        {"who", ARMILLA_COLUMN_NAMES, ARMILLA_COLUMN_TEXT, 0, 0, 4, 4, 1},
        {"x", ARMILLA_COLUMN_VALUES, ARMILLA_COLUMN_INTEGER, 1, 3, 0, 2, 0},
        {"y", ARMILLA_COLUMN_VALUES, ARMILLA_COLUMN_NUMBER, 0, 4, 0, 3, 0},
        {"gone", ARMILLA_COLUMN_VALUES, ARMILLA_COLUMN_EMPTY, 4, 0, 0, 0, 0},
        {"kind", ARMILLA_COLUMN_VALUES, ARMILLA_COLUMN_TEXT, 1, 0, 3, 2, 1},
        {"note", ARMILLA_COLUMN_VALUES, ARMILLA_COLUMN_TEXT, 0, 1, 3, 3, 1},
    };
    (void)state;
    armilla_table_facts *facts = facts_of(mixed, NULL);
    assert_int_equal(armilla_table_facts_rows(facts), 4);
    holds(facts, plain, 6);
    armilla_table_facts_free(facts);
    const armilla_read_options options = {.size = sizeof options, .label_column = "x", .ignore_columns = "text"};
    facts = facts_of(mixed, &options);
    expected chosen[6];
    memcpy(chosen, plain, sizeof plain);
    chosen[1].use = ARMILLA_COLUMN_LABELS;
    chosen[1].distinct = 3; /* 1 and 1.0 are two labels */
    chosen[4].use = chosen[5].use = ARMILLA_COLUMN_LEFT_OUT;
    holds(facts, chosen, 6);
    armilla_table_facts_free(facts);
}

static void test_many(void **state)
{
    enum { ROWS = 10003 };
    static char text[ROWS * 32];
    armilla_column_facts c;
    size_t used = 0;
    (void)state;
    for (int i = 0; i < ROWS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d;%d,5;w%d\n", i % 10000, i % 10001, i);
    armilla_table_facts *facts = facts_of(text, NULL);
    assert_int_equal(armilla_table_facts_rows(facts), ROWS);
    for (int64_t i = 0; i < 3; i++) {
        assert_true(armilla_table_facts_column(facts, i, &c));
        assert_int_equal(c.distinct, 10000);
        assert_int_equal(c.more, i > 0);
        assert_null(c.name);
    }
    armilla_table_facts_free(facts);
}

static void test_refusals(void **state)
{
    armilla_table_facts *facts = NULL;
    armilla_read_options options = {.size = sizeof options, .format = "unheard"};
    (void)state;
    support_fails(context, open_text("a,b\n1,x\n2\n", NULL, &facts), ARMILLA_BAD_DATA, "line 3 has 1 field,");
    support_fails(context, open_text("a,b\n1,x\n2,y,3\n", NULL, &facts), ARMILLA_BAD_DATA, "line 3 has 3 fields,");
    support_fails(context, open_text("a,b\n", NULL, &facts), ARMILLA_BAD_DATA, "only a header");
    support_fails(context, open_text("1,2\n", &options, &facts), ARMILLA_BAD_ARGUMENT, "unknown");
    options.format = "mtx";
    support_fails(context, open_text("1,2\n", &options, &facts), ARMILLA_BAD_DATA, "not a text table");
    options = (armilla_read_options){.size = sizeof options, .label_column = "c"};
    support_fails(context, open_text("a,b\n1,2\n", &options, &facts), ARMILLA_BAD_ARGUMENT, "no column 'c'");
    support_path(path, sizeof path, "none.csv");
    support_fails(context, armilla_table_facts_open(context, path, NULL, &facts), ARMILLA_CANNOT_OPEN, "none.csv");
    assert_null(facts);
    armilla_table_facts_free(NULL);
    assert_int_equal(armilla_table_facts_rows(NULL) + armilla_table_facts_columns(NULL), 0);
}

static void test_memory(void **state)
{
    const armilla_read_options options = {.size = sizeof options, .ignore_columns = "gone"};
    char text[2000] = "";
    bool failed = true;
    (void)state;
    strcpy(text, mixed);
    for (int i = 0; i < 40; i++) snprintf(text + strlen(text), 40, "p%d,%d,%d.5,,\"q%d\",r\n", i, i, i, i);
    for (int64_t k = 0; failed; k++) {
        armilla_table_facts *facts = NULL;
        const int64_t before = armilla_context_memory_live(context);
        allocator.countdown = allocator.taken + k;
        const armilla_status status = open_text(text, &options, &facts);
        allocator.countdown = -1;
        failed = status != ARMILLA_OK;
        if (failed) support_fails(context, status, ARMILLA_NO_MEMORY, "t.csv");
        assert_int_equal(facts == NULL, failed);
        armilla_table_facts_free(facts);
        assert_int_equal(armilla_context_memory_live(context), before);
        assert_true(k < 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_kinds), TEST(test_many), TEST(test_refusals), TEST(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
