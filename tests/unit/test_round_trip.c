/* Whatever a writer writes a reader reads back: every writer and ending, both orientations, names of every kind that
 * could be taken for something else. A writer may refuse, with a sentence, only what its format cannot hold. */
#include "fixture.h"

#include "base/context.h"
#include "base/number.h"
#include "files/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 6, LONG = 10 * 1024 };

static char long_name[LONG + 1];

/* Comments, quotes, blanks, separators, line ends, numbers, missing values, words of the formats themselves, what other
 * files begin with, and bytes that are no text. */
static const char *const hostile[] = {
    "#b",
    "plain",
    "",
    "#",
    "# c",
    "#N/A",
    "'tis",
    "don't",
    "'a'",
    "''",
    "'",
    "\"q\"",
    "a\"b",
    "\"",
    "\"\"",
    " \"x\" ",
    " t",
    "t ",
    "t",
    "  ",
    "\t",
    "\tt",
    "t\t",
    "a b",
    "a,b",
    "a;b",
    ";",
    ",",
    "a|b",
    "a\nb",
    "\n",
    "a\n",
    "a\r\nb",
    "\r",
    "a\r",
    "1",
    "0",
    "2",
    "-2.5",
    "+1",
    ".5",
    "1e3",
    "1e999",
    "1,5",
    "1.234,5",
    "2001-01",
    "0x1",
    "nan",
    "NaN",
    "-inf",
    "NA",
    "null",
    "None",
    "-",
    "label",
    "label2",
    "x1",
    "sample",
    "sample,cluster",
    "%%MatrixMarket matrix coordinate real general",
    "%PDF",
    "sep=",
    "sep=;",
    "SEP=|",
    "\xef\xbb\xbf"
    "b",
    "\xef\xbb\xbf",
    "\xff\xfe",
    "\xfe\xff z",
    "\x80\xff",
    "a\xc3",
    "\xed\xa0\x80",
    "\xc0\x80",
    "\xc3\xa9",
    "\xe2\x80\xae"
    "abc\xe2\x80\xac",
    "\xc2\x9b"
    "31m",
    "\x1b[31m",
    "\x7f",
    "\x01",
    "PK\x03\x04",
    "\x1f\x8b",
    "\x93NUMPY",
    "P5\n1 1\n255\n",
    "{\"a\": 1}",
    "<!DOCTYPE html>",
    "1 2:3",
    "2 3",
    "w 1 2 3 4 5 6 7 8 9 10 11",
    "\\",
    "a\\nb",
    "=1+1",
    "@x",
    "\xf0\x9f\x98\x80",
    long_name,
};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

static int pretend(int file)
{
    (void)file;
    return 0;
}

static int begin(void **state)
{
    (void)state;
    memset(long_name, 'n', LONG);
    return 0;
}

/* A file to be written and read. */
typedef struct trial {
    const armilla_writer *writer;
    char path[256];
    int64_t m, n;
    int kinds; /* bit k: it has names of kind k */
    int shift; /* of the hostile names */
    bool columns;
    const char *names[ARMILLA_NAMING_COUNT][MOST];
} trial;

/* 0.5, 1.5, ... and now and then 0, one for each place; for formats of bytes whole numbers. */
static float value_at(const trial *t, int64_t i)
{
    const bool whole = strcmp(t->writer->name, "idx") == 0;
    return i % 5 == 3 ? 0 : (float)(i + 1) + (whole ? 0 : 0.5f);
}

static int64_t count_of(const trial *t, int kind)
{
    return kind == ARMILLA_FEATURE_NAMES ? t->m : t->n;
}

static bool has(const trial *t, int kind)
{
    return t->kinds & 1 << kind;
}

static bool has_feature(const trial *t, const char *name)
{
    for (int64_t i = 0; i < t->m && has(t, ARMILLA_FEATURE_NAMES); i++)
        if (strcmp(t->names[ARMILLA_FEATURE_NAMES][i], name) == 0) return true;
    return false;
}

/* What the column of labels is called: as no feature is. */
static const char *label_column(const trial *t, char name[16])
{
    snprintf(name, 16, "label");
    for (int i = 2; has_feature(t, name); i++) snprintf(name, 16, "label%d", i);
    return name;
}

static bool is_number(const char *text)
{
    char *end = NULL;
    (void)armilla_read_number(text, &end);
    return *text && strchr("+-.0123456789", *text) && !strchr(text, 'x') && !strstr(text, "999") &&
           !strchr(text, '\n') && (*end == '\0' || strcmp(text, "1,5") == 0) && strcmp(text, "-inf") != 0;
}

/* svmlight has numbers for labels; over the first column of a table no name means that it holds the names of rows. */
static bool may_refuse(const trial *t)
{
    if (strcmp(t->writer->name, "svmlight") == 0 && has(t, ARMILLA_SAMPLE_LABELS))
        for (int64_t j = 0; j < t->n; j++)
            if (!is_number(t->names[ARMILLA_SAMPLE_LABELS][j])) return true;
    if (strcmp(t->writer->name, "csv") != 0) return false;
    const int across = t->columns ? ARMILLA_SAMPLE_NAMES : ARMILLA_FEATURE_NAMES;
    const int down = t->columns ? ARMILLA_FEATURE_NAMES : ARMILLA_SAMPLE_NAMES;
    return has(t, across) && !has(t, down) && !*t->names[across][0];
}

static armilla_status write_trial(trial *t)
{
    float values[MOST * MOST];
    const armilla_write_options options = {.size = sizeof(armilla_write_options),
                                           .sample_columns = t->columns,
                                           .overwrite = true,
                                           .format = t->writer->name};
    armilla_data *data = NULL;
    for (int64_t i = 0; i < t->m * t->n; i++) values[i] = value_at(t, i);
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F32, values, t->m, t->n, t->m, &data));
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT; kind++) {
        for (int64_t i = 0; i < count_of(t, kind); i++)
            t->names[kind][i] = hostile[(t->shift + kind * 7 + i * (1 + t->shift % 3)) % HOSTILE];
        if (has(t, kind))
            support_ok(context, armilla_data_set_names(data, (armilla_naming)kind, t->names[kind], count_of(t, kind)));
    }
    const armilla_status status = armilla_data_write(context, data, t->path, &options);
    armilla_data_free(data);
    return status;
}

/* "+1" and "1" are one label to svmlight. */
static const char *wanted_name(const trial *t, int kind, int64_t i)
{
    const char *name = t->names[kind][i];
    return strcmp(t->writer->name, "svmlight") == 0 && *name == '+' ? name + 1 : name;
}

static bool is_kept(const trial *t, int kind)
{
    const bool lost = t->columns && kind == ARMILLA_SAMPLE_LABELS && strcmp(t->writer->name, "csv") == 0;
    return has(t, kind) && t->writer->keeps & 1u << kind && !lost;
}

static bool same_names(const trial *t, const armilla_data *data)
{
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT; kind++)
        for (int64_t i = 0; i < count_of(t, kind) && is_kept(t, kind); i++) {
            const char *got = armilla_data_name(data, (armilla_naming)kind, i), *wanted = wanted_name(t, kind, i);
            if (got && strcmp(got, wanted) == 0) continue;
            print_error("name %lld of kind %d is '%s', not '%s'\n", (long long)i, kind, got ? got : "none", wanted);
            return false;
        }
    return true;
}

static bool same_data(const trial *t, const armilla_data *data)
{
    double sample[MOST];
    if (armilla_data_features(data) != t->m || armilla_data_samples(data) != t->n) return false;
    for (int64_t j = 0; j < t->n; j++) {
        support_ok(context, armilla_data_sample(context, data, j, sample));
        for (int64_t i = 0; i < t->m; i++)
            if (sample[i] != (double)value_at(t, j * t->m + i)) return false;
    }
    return same_names(t, data);
}

/* Which trial it is, and the file as it is. */
static void tell(const trial *t)
{
    char *text = support_read_file(t->path, NULL);
    print_error("%s: %lld features, %lld samples, names of kinds %d from %d on, %s: %.400s\n", t->path, (long long)t->m,
                (long long)t->n, t->kinds, t->shift, t->columns ? "columns" : "rows", text);
    free(text);
}

/* Returns whether it was written. */
static bool come_back(trial *t)
{
    char name[16];
    const armilla_status written = write_trial(t);
    if (written != ARMILLA_OK && may_refuse(t)) {
        assert_non_null(strstr(armilla_context_error(context), ".npz"));
        return false;
    }
    support_ok(context, written);
    const bool labelled = is_kept(t, ARMILLA_SAMPLE_LABELS) && strcmp(t->writer->name, "csv") == 0;
    const armilla_read_options options = {.size = sizeof(armilla_read_options),
                                          .sample_columns = t->columns,
                                          .label_column = labelled ? label_column(t, name) : NULL};
    armilla_data *data = NULL;
    const armilla_status status = armilla_data_open(context, t->path, &options, &data);
    const bool same = status == ARMILLA_OK && same_data(t, data);
    armilla_data_free(data);
    if (!same) tell(t);
    support_ok(context, status);
    assert_true(same);
    return true;
}

/* Every set of kinds and every shape for one ending. */
static int64_t try_ending(const armilla_writer *writer, const char *ending, int length)
{
    static const int64_t shapes[][2] = {{1, 3}, {3, 1}, {1, 1}, {5, MOST}, {2, 4}};
    const int64_t count = writer->keeps ? (int64_t)HOSTILE : 1;
    int64_t written = 0;
    char name[32];
    trial t = {.writer = writer};
    snprintf(name, sizeof name, "x%.*s", length, ending);
    support_path(t.path, sizeof t.path, name);
    for (t.shift = 0; t.shift < count; t.shift++)
        for (t.kinds = 0; t.kinds < 1 << ARMILLA_NAMING_COUNT; t.kinds++)
            for (int columns = 0; columns < 1 + (strcmp(writer->name, "svmlight") != 0); columns++) {
                const size_t shape = (size_t)(t.shift + t.kinds) % (sizeof shapes / sizeof *shapes);
                t.m = shapes[shape][0];
                t.n = shapes[shape][1];
                t.columns = columns;
                written += come_back(&t);
            }
    return written;
}

static void hostile_names_come_back(void **state)
{
    armilla_io io = armilla_io_system;
    (void)state;
    io.fsync = pretend;
    context->io = &io;
    for (size_t row = 0; armilla_writers_row(row); row++) {
        const armilla_writer *writer = armilla_writers_row(row);
        int length = 0;
        for (const char *at = writer->endings; *at; at += length + (at[length] == ' ')) {
            length = (int)strcspn(at, " ");
            assert_true(try_ending(writer, at, length) > 0);
        }
    }
    context->io = &armilla_io_system;
}

/* Samples and features of zeros are samples and features, in every format. */
static void zeros_come_back(void **state)
{
    static const float zeros[12] = {0}, one[12] = {0, 0, 0, 0, 7};
    static const float *const all[] = {zeros, one};
    (void)state;
    for (size_t row = 0; armilla_writers_row(row); row++)
        for (size_t k = 0; k < 2; k++) {
            const armilla_writer *writer = armilla_writers_row(row);
            const armilla_write_options options = {.size = sizeof(armilla_write_options), .overwrite = true};
            char name[32], path[256];
            double sample[4];
            armilla_data *data = NULL, *back = NULL;
            snprintf(name, sizeof name, "zeros%.*s", (int)strcspn(writer->endings, " "), writer->endings);
            support_path(path, sizeof path, name);
            support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F32, all[k], 4, 3, 4, &data));
            support_ok(context, armilla_data_write(context, data, path, &options));
            support_ok(context, armilla_data_open(context, path, NULL, &back));
            assert_int_equal(armilla_data_features(back), 4);
            assert_int_equal(armilla_data_samples(back), 3);
            for (int64_t j = 0; j < 3; j++) {
                support_ok(context, armilla_data_sample(context, back, j, sample));
                for (int64_t i = 0; i < 4; i++) assert_true(sample[i] == (double)all[k][4 * j + i]);
            }
            armilla_data_free(data);
            armilla_data_free(back);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(hostile_names_come_back), TEST(zeros_come_back)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
