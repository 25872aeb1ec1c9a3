/* Tables as programs write them: names, labels, headers, quotes over lines, trailing separators; many parts. */
#include "fixture.h"

#include "base/number.h"
#include "data/data.h"
#include "files/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static armilla_status read_bytes(const char *text, size_t count, const armilla_read_options *options,
                                 armilla_data **data)
{
    return support_read(context, &armilla_format_csv, text, count, options, data);
}

/* "a|b" of each kind, "" where there are none. */
static void expect_names(const armilla_data *data, armilla_naming kind, const char *wanted)
{
    char found[256] = "";
    for (int64_t i = 0; armilla_data_name(data, kind, i); i++) {
        if (i) strcat(found, "|");
        strcat(found, armilla_data_name(data, kind, i));
    }
    assert_string_equal(found, wanted);
}

typedef struct expectation {
    const char *features, *samples, *labels;
} expectation;

/* The table holds the numbers 1, 2, 3, ... row by row in two rows of two. */
static void reads(const char *text, const armilla_read_options *options, expectation wanted)
{
    armilla_data *data = NULL;
    double sample[2];
    support_ok(context, read_bytes(text, strlen(text), options, &data));
    assert_int_equal(armilla_data_samples(data), 2);
    assert_int_equal(armilla_data_features(data), 2);
    for (int j = 0; j < 2; j++) {
        support_ok(context, armilla_data_sample(context, data, j, sample));
        for (int i = 0; i < 2; i++) assert_true(sample[i] == (options->sample_columns ? 1 + 2 * i + j : 1 + 2 * j + i));
    }
    expect_names(data, ARMILLA_FEATURE_NAMES, wanted.features);
    expect_names(data, ARMILLA_SAMPLE_NAMES, wanted.samples);
    expect_names(data, ARMILLA_SAMPLE_LABELS, wanted.labels);
    armilla_data_free(data);
}

static void refuses(const char *text, const armilla_read_options *options, armilla_status status, const char *part)
{
    armilla_data *data = NULL;
    support_fails(context, read_bytes(text, strlen(text), options, &data), status, part);
    assert_null(data);
}

static const armilla_read_options usual = {.size = sizeof(armilla_read_options), .format = NULL};

static void finds_names_by_itself(void **state)
{
    (void)state;
    const armilla_read_options columns = {.size = sizeof(armilla_read_options), .sample_columns = true};
    reads("x,y\n1,2\n3,4\n", &usual, (expectation){"x|y", "", ""});
    reads("x,y\n1,2\n3,4\n", &columns, (expectation){"", "x|y", ""});
    reads("id,x,y\ns1,1,2\ns2,3,4\n", &usual, (expectation){"x|y", "s1|s2", ""});
    reads("gene\tx\ty\r\ng1\t1\t2\r\ng2\t3\t4\r\n", &columns, (expectation){"g1|g2", "x|y", ""});
    reads("s1,1,2\ns2,3,4\n", &usual, (expectation){"", "s1|s2", ""});
    reads(",x,y\n0,1,2\n1,3,4\n", &usual, (expectation){"x|y", "0|1", ""}); /* pandas */
    reads(",0,1\n0,1,2\n1,3,4\n", &usual, (expectation){"0|1", "0|1", ""}); /* pandas, unnamed columns */
    reads("\"\",\"x\",\"y\"\n\"1\",1,2\n\"2\",3,4\n", &usual, (expectation){"x|y", "1|2", ""}); /* R write.csv */
    reads("\"x\" \"y\"\n\"1\" 1 2\n\"2\" 3 4\n", &usual, (expectation){"x|y", "1|2", ""});      /* R write.table */
    reads("x\ty\ng1\t1\t2\ng2\t3\t4\n", &usual, (expectation){"x|y", "g1|g2", ""});
    reads("gene,2001,2002\nA,1,2\nB,3,4\n", &usual, (expectation){"2001|2002", "A|B", ""});
}

static void reads_decimal_commas(void **state)
{
    (void)state;
    const armilla_read_options comma = {.size = sizeof(armilla_read_options), .decimal = "comma"},
                               point = {.size = sizeof(armilla_read_options), .decimal = "point"};
    reads("1,0;2,0\n3,0;4\n", &usual, (expectation){"", "", ""});
    reads("1;2\n3;4,00\n", &usual, (expectation){"", "", ""});
    reads("a;b\n1,0;2\n3;0,4e1\n", &usual, (expectation){"a|b", "", ""});
    reads("n;a;b\nr 1;1,0;2\nr 2;3;4\n", &usual, (expectation){"a|b", "r 1|r 2", ""});
    reads("1.0;2\n3;4\n", &usual, (expectation){"", "", ""});
    reads("1,0\t2\n3\t4,0\n", &comma, (expectation){"", "", ""});
    reads("\"1,0\",2\n3,\"4,0\"\n", &comma, (expectation){"", "", ""});
    reads("1000000000000000000000000000000,0e-30;2\n3;4\n", &usual, (expectation){"", "", ""});
    /* A first line of numbers gone wrong is no header. */
    refuses("1.5;2,5\n3;4\n", &usual, ARMILLA_BAD_DATA, "line 1, column 2: '2,5' has another decimal mark");
    refuses("1,5;2,5\n3.5;4\n", &usual, ARMILLA_BAD_DATA, "line 2, column 1: '3.5' has another decimal mark");
    refuses("1.234,5;2,5\n3;4\n", &usual, ARMILLA_BAD_DATA,
            "line 1, column 1: '1.234,5' looks like a number with a thousands");
    refuses("1,5;2,5\n3;4\n", &point, ARMILLA_BAD_DATA, "line 1, column 1: '1,5' has another");
    refuses("2001-01,2001-02\n3,4\n", &usual, ARMILLA_BAD_DATA, "line 1, column 1: '2001-01' is not a number");
}

static void takes_the_dialect_as_told(void **state)
{
    (void)state;
    static const struct {
        const char *word, *text;
    } separated[] = {{"comma", "1,2\n3,4\n"},  {"semicolon", "1;2\n3;4\n"}, {"tab", "1\t2\n3\t4\n"},
                     {"blank", "1 2\n3\t4\n"}, {"|", "1|2\n3 | 4\n"},       {":", "a;b:c,d\n1:2\n3:4\n"}};
    static const char *const bad[] = {"", "commas", "1", "e", "\"", "#", "-", "\n", ",,", "\xff"};
    const armilla_read_options header = {.size = sizeof(armilla_read_options), .header = "yes"},
                               none = {.size = sizeof(armilla_read_options), .header = "no"},
                               odd = {.size = sizeof(armilla_read_options), .header = "maybe"};
    const armilla_read_options mark = {.size = sizeof(armilla_read_options), .decimal = "dot"};
    for (size_t i = 0; i < sizeof separated / sizeof *separated; i++) {
        const armilla_read_options options = {.size = sizeof(armilla_read_options), .separator = separated[i].word};
        reads(separated[i].text, &options, (expectation){i == 5 ? "a;b|c,d" : "", "", ""});
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const armilla_read_options options = {.size = sizeof(armilla_read_options), .separator = bad[i]};
        refuses("1,2\n", &options, ARMILLA_BAD_ARGUMENT, "cannot be used; give comma");
    }
    reads("7,8\n1,2\n3,4\n", &header, (expectation){"7|8", "", ""});
    reads("2001-01,2001-02\n1,2\n3,4\n", &header, (expectation){"2001-01|2001-02", "", ""});
    reads("id,2001,2002\nA,1,2\nB,3,4\n", &header, (expectation){"2001|2002", "A|B", ""});
    refuses("x,y\n1,2\n3,4\n", &none, ARMILLA_BAD_DATA, "line 1, column 2: 'y' is not a number");
    refuses("1,2\n", &odd, ARMILLA_BAD_ARGUMENT, "it can be yes or no");
    refuses("1,2\n", &mark, ARMILLA_BAD_ARGUMENT, "it can be point or comma");
}

static void count_warnings(void *user, armilla_log_level level, const char *text)
{
    if (level == ARMILLA_LOG_WARNING && strstr(text, "counts up")) ++*(int *)user;
}

/* A first line that may be column numbers is reported of, whichever it is taken for. */
static void tells_of_a_doubtful_first_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *header;
        int reported;
    } cases[] = {{"0,1,2\n5,6,9\n", NULL, 1}, {"1,2,3\n5,6,9\n", NULL, 1},   {"0,1,2\n5,6,9\n", "yes", 0},
                 {"0,1,2\n5,6,9\n", "no", 0}, {"0,1\n5,6\n", NULL, 0},       {"2,3,4\n5,6,9\n", NULL, 0},
                 {"0,1,3\n5,6,9\n", NULL, 0}, {"1,2,3\n1,2,3\n", NULL, 0},   {"0,1,2\n", NULL, 0},
                 {"a,b,c\n5,6,9\n", NULL, 0}, {"0,1,2.5\n5,6,9\n", NULL, 0}, {",0,1,2\n0,5,6,9\n", NULL, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const armilla_read_options options = {.size = sizeof(armilla_read_options), .header = cases[i].header};
        armilla_data *data = NULL;
        int reported = 0;
        armilla_context_set_log(context, count_warnings, &reported);
        support_ok(context, read_bytes(cases[i].text, strlen(cases[i].text), &options, &data));
        assert_int_equal(reported, cases[i].reported);
        armilla_data_free(data);
    }
}

/* A line that begins with a spreadsheet's mark of a missing value is no comment: it must not cost a sample. */
static void tells_missing_values_from_comments(void **state)
{
    (void)state;
    static const char *const words[] = {"#N/A", "#NA", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"};
    const armilla_read_options keep = {.size = sizeof(armilla_read_options), .keep_missing = true};
    char text[64];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        snprintf(text, sizeof text, "1,2\n%s,4\n", words[i]);
        refuses(text, &usual, ARMILLA_BAD_DATA, "is no finite number; remove the line");
        assert_non_null(strstr(armilla_context_error(context), "line 2, column 1: '#"));
    }
    reads("#N/A means missing\n# a\n#1,2\n1,2\n3,4\n#\n", &usual, (expectation){"", "", ""});
    armilla_data *data = NULL;
    armilla_data_facts facts;
    static const char holes[] = "x,y,z\n1,2,3\n#N/A,,None\n7,nan,-inf\n";
    support_ok(context, read_bytes(holes, strlen(holes), &keep, &data));
    support_ok(context, armilla_data_survey(context, data, 1, &facts));
    assert_int_equal(facts.bad_entries, 5);
    assert_int_equal(facts.bad_sample, 1);
    assert_int_equal(facts.bad_feature, 0);
    armilla_data_free(data);
    refuses("1,2\n1e999,4\n", &keep, ARMILLA_BAD_DATA, "too large");
    refuses("1,2\nx,4\n", &keep, ARMILLA_BAD_DATA, "is not a number");
}

static void takes_columns_as_told(void **state)
{
    (void)state;
    const armilla_read_options named = {
        .size = sizeof(armilla_read_options), .label_column = "kind", .name_column = "id"};
    const armilla_read_options numbered = {
        .size = sizeof(armilla_read_options), .label_column = "4", .name_column = "2"};
    const armilla_read_options label = {.size = sizeof(armilla_read_options), .label_column = "kind"},
                               last = {.size = sizeof(armilla_read_options), .label_column = "3"};
    const armilla_read_options columns = {
        .size = sizeof(armilla_read_options), .sample_columns = true, .name_column = "3"};
    reads("x,id,y,kind\n1,7,2,a\n3,8,4,b c\n", &named, (expectation){"x|y", "7|8", "a|b c"});
    reads("x,id,y,kind\n1,7,2,a\n3,8,4,b\n", &numbered, (expectation){"x|y", "7|8", "a|b"});
    reads("id;x;y;kind\ns1;1;2;0\ns2;3;4;NA\n", &label, (expectation){"x|y", "s1|s2", "0|NA"});
    reads("1,2,a\n3,4,b\n", &last, (expectation){"", "", "a|b"});
    reads("kind,x,y\na,1,2\nb,3,4\n", &label, (expectation){"x|y", "", "a|b"});
    reads("1,2,g1\n3,4,g2\n", &columns, (expectation){"g1|g2", "", ""});
    reads("\"x, \"\"1\"\"\",y,kind\n1,2,\"a, \"\"b\"\"\"\n3,4,c\n", &label,
          (expectation){"x, \"1\"|y", "", "a, \"b\"|c"});
}

static void reads_what_programs_write(void **state)
{
    (void)state;
    const armilla_read_options label = {.size = sizeof(armilla_read_options), .label_column = "3"};
    reads("x,y,\n1,2,\n3,4,\n", &usual, (expectation){"x|y", "", ""});
    reads("1,2,\n3,4\n", &usual, (expectation){"", "", ""});
    reads("x,y\n1,2,\n3,4,\n", &usual, (expectation){"x|y", "", ""});
    reads("\xef\xbb\xbfx,y\r\n1,2\r\n\r\n# c\r\n3,4", &usual, (expectation){"x|y", "", ""});
    reads("\"x\ny\",z\n1,2\n3,4\n", &usual, (expectation){"x\ny|z", "", ""});
    reads("x,y,t\n1,2,\"a\nb\"\n3,4,\"c,\r\nd\"\n", &label, (expectation){"x|y", "", "a\nb|c,\r\nd"});
    reads("x,y,t\n1,2,5\" pipe\n3,4,\"6\"\"\"\n", &label, (expectation){"x|y", "", "5\" pipe|6\""});
}

/* Quotes say what a field is: neither a comment nor less than what stands in them, and in a first line a name. */
static void believes_quotes(void **state)
{
    (void)state;
    const armilla_read_options label = {.size = sizeof(armilla_read_options), .label_column = "a\"b"};
    reads(",x,y\n\"#b\",1,2\n\" t \",3,4\n", &usual, (expectation){"x|y", "#b| t ", ""});
    reads("\"#f\",\" g\"\n1,2\n3,4\n", &usual, (expectation){"#f| g", "", ""});
    reads("x,y,\"a\"\"b\"\n1,2,t\n3,4,\"t \"\n", &label, (expectation){"x|y", "", "t|t "});
    reads("\"7\",\"nan\"\n1,2\n3,4\n", &usual, (expectation){"7|nan", "", ""});
    reads("\"1,5\",\"2,5\"\n1,2\n3,4\n", &usual, (expectation){"1,5|2,5", "", ""});
    reads("\"\",\"9\",\"7\"\n\"2\",1,2\n\"1\",3,4\n", &usual, (expectation){"9|7", "2|1", ""});
    reads("\"9\" \"7\"\n\"2\" 1 2\n\"1\" 3 4\n", &usual, (expectation){"9|7", "2|1", ""});
    reads("id,x,y\n'tis,1,2\ndon't,3,4\n", &usual, (expectation){"x|y", "'tis|don't", ""});
    reads("id,x,y\n'tis','1',2\nb\"\"c,3,'4'\n", &usual, (expectation){"x|y", "tis|b\"\"c", ""});
    /* Where numbers stand in quotes too, these are no names. */
    reads("\"1\",\"2\"\n\"3\",\"4\"\n", &usual, (expectation){"", "", ""});
    reads("\"1\",\"2\"\n3,\" 4 \"\n", &usual, (expectation){"", "", ""});
    refuses("\"1,5\",\"2,5\"\n1,2\n\"3,5\",4\n", &usual, ARMILLA_BAD_DATA, "'1,5' has another decimal mark");
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    const armilla_read_options missing = {.size = sizeof(armilla_read_options), .label_column = "species"},
                               far = {.size = sizeof(armilla_read_options), .name_column = "9"};
    const armilla_read_options columns = {
        .size = sizeof(armilla_read_options), .label_column = "1", .sample_columns = true};
    const armilla_read_options both = {.size = sizeof(armilla_read_options), .label_column = "1", .name_column = "2"};
    refuses("x,y\n1,2\n", &missing, ARMILLA_BAD_ARGUMENT, "a.csv: has no column 'species' (label_column)");
    refuses("1,2\n", &far, ARMILLA_BAD_ARGUMENT,
            "has no column '9' (name_column); give a name in its header, of which");
    refuses("1,2\n", &columns, ARMILLA_BAD_ARGUMENT, "needs samples in rows");
    refuses("1,2\n", &both, ARMILLA_BAD_DATA, "no column of numbers is left");
    refuses("id,x\ns1,1\n2,3\n", &usual, ARMILLA_BAD_DATA,
            "line 3, column 1: '2' is a number where the first row has a");
    refuses("id,x\ns1,1\ns2,NULL\n", &usual, ARMILLA_BAD_DATA, "line 3, column 2: 'NULL' is no finite number");
    refuses("id,x\ns1,1\ns2,\n", &usual, ARMILLA_BAD_DATA, "line 3, column 2: the field is empty");
    refuses("x\ty\n1\t2\n\t\n", &usual, ARMILLA_BAD_DATA, "line 3, column 1: the field is empty");
    refuses("x,y,\n1,2,\n3,4,5\n", &usual, ARMILLA_BAD_DATA, "line 3 has 3 fields, the lines before have 2");
    refuses("x,y,z\n1,2,\n", &usual, ARMILLA_BAD_DATA, "line 2, column 3: the field is empty");
    refuses("t,x\n\"a\nb\",1\nc,y\n", &usual, ARMILLA_BAD_DATA, "line 4, column 2: 'y' is not a number");
}

/* Several parts, most of the lines empty, and names: the same for any number of threads. */
static void does_not_depend_on_threads(void **state)
{
    (void)state;
    enum { ROWS = 60000, LINE = 80 };
    char *text = malloc((size_t)ROWS * LINE), name[32];
    size_t used = (size_t)sprintf(text, "id,x,y,z,kind\n");
    for (int k = 0; k < ROWS; k++)
        used += (size_t)armilla_plain_print(text + used, LINE, "r%d,%d, %.17g ,\"%d\",%d\n%s", k, k, k / 7.0, -k, k % 3,
                                            k % 500 ? "" : "\n\n\n# c\n");
    assert_true(used > 2u << 20);
    for (int threads = 1; threads < 4; threads++) {
        const armilla_read_options options = {
            .size = sizeof(armilla_read_options), .label_column = "kind", .threads = threads};
        armilla_data *data = NULL;
        double sample[3];
        support_ok(context, read_bytes(text, used, &options, &data));
        assert_int_equal(armilla_data_samples(data), ROWS);
        for (int k = 0; k < ROWS; k += 97) {
            support_ok(context, armilla_data_sample(context, data, k, sample));
            assert_true(sample[0] == k && sample[1] == k / 7.0 && sample[2] == -k);
            snprintf(name, sizeof name, "r%d", k);
            assert_string_equal(armilla_data_name(data, ARMILLA_SAMPLE_NAMES, k), name);
            snprintf(name, sizeof name, "%d", k % 3);
            assert_string_equal(armilla_data_name(data, ARMILLA_SAMPLE_LABELS, k), name);
        }
        armilla_data_free(data);
    }
    free(text);
}

/* A first row of many fields and many empty lines: memory goes by the rows, not by the lines. */
static void takes_no_memory_for_empty_lines(void **state)
{
    (void)state;
    enum { FIELDS = 100000, LINES = 1000000 };
    char *text = malloc(2 * FIELDS + LINES);
    armilla_data *data = NULL;
    for (int i = 0; i < FIELDS; i++) memcpy(text + 2 * i, "1,", 2);
    text[2 * FIELDS - 1] = '\n';
    memset(text + 2 * FIELDS, '\n', LINES);
    support_ok(context, read_bytes(text, 2 * FIELDS + LINES, &usual, &data));
    assert_int_equal(armilla_data_samples(data), 1);
    assert_int_equal(armilla_data_features(data), FIELDS);
    armilla_data_free(data);
    free(text);
}

static void survives_damage(void **state)
{
    (void)state;
    static const char small[] = "id,x,\"y\",kind\ns1,1,\"2\",a\n\"s\n2\",3.5,4e1,\"b\"\"c\"\n";
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .label_column = "4"};
    for (size_t at = 0; at < sizeof small - 1; at++)
        for (int byte = 0; byte < 256; byte++) {
            char changed[sizeof small];
            armilla_data *data = NULL;
            memcpy(changed, small, sizeof small);
            changed[at] = (char)byte;
            const armilla_status status = read_bytes(changed, sizeof small - 1, &options, &data);
            assert_true(status == ARMILLA_OK || !data);
            armilla_data_free(data);
        }
    for (size_t cut = 0; cut < sizeof small; cut++) {
        armilla_data *data = NULL;
        if (read_bytes(small, cut, &options, &data) != ARMILLA_OK) assert_null(data);
        armilla_data_free(data);
    }
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    bool refused = true;
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .label_column = "4"};
    const armilla_read_options little = {.size = sizeof(armilla_read_options), .memory = 31};
    const char *text = "id,x,y,kind\ns1,1,2,\"a\"\"b\"\ns2,3,4,c\n";
    refuses("1,2\n3,4\n", &little, ARMILLA_NO_MEMORY, "the limit is 31 bytes; raise it by memory");
    for (int64_t k = 0; refused; k++) {
        armilla_data *data = NULL;
        allocator.countdown = allocator.taken + k;
        const armilla_status status = read_bytes(text, strlen(text), &options, &data);
        refused = status != ARMILLA_OK;
        if (refused) support_fails(context, status, ARMILLA_NO_MEMORY, "out of memory");
        armilla_data_free(data);
        assert_true(refused || k > 12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(finds_names_by_itself),
        TEST(reads_decimal_commas),
        TEST(takes_the_dialect_as_told),
        TEST(tells_missing_values_from_comments),
        TEST(tells_of_a_doubtful_first_line),
        TEST(takes_columns_as_told),
        TEST(reads_what_programs_write),
        TEST(believes_quotes),
        TEST(says_what_is_wrong),
        TEST(does_not_depend_on_threads),
        TEST(takes_no_memory_for_empty_lines),
        TEST(survives_damage),
        TEST(survives_refused_allocations),
    };
    return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
