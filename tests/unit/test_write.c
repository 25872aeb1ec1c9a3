/* Writers of data: every row of the table, dense with a stride and sparse, both orientations; numbers come back to the
 * bit whatever the locale; refused allocations and failing system calls leave what was there. */
#include "fixture.h"

#include "base/number.h"
#include "data/data.h"
#include "files/write.h"

#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 3, SAMPLES = 2, STRIDE = 5 };

static char path[256];

static const float dense[SAMPLES][STRIDE] = {{1, 0, 2, 77, 77}, {3, 255, 0, 77, 77}};
static const float values[] = {1, 2, 3, 255};
static const int32_t features[] = {0, 2, 0, 1}, starts[] = {0, 2, 4};
static const char *const feature_names[] = {"a", "b,c", "d"}, *const labels[] = {"4", "-1.5"};

static armilla_data *wrap(armilla_context *with, bool sparse, bool named)
{
    armilla_data *data = NULL;
    if (sparse)
        support_ok(with, armilla_data_wrap_sparse(with, ARMILLA_F32, ARMILLA_I32, values, features, starts, FEATURES,
                                                  SAMPLES, &data));
    else
        support_ok(with, armilla_data_wrap_dense(with, ARMILLA_F32, dense, FEATURES, SAMPLES, STRIDE, &data));
    if (named) {
        support_ok(with, armilla_data_set_names(data, ARMILLA_FEATURE_NAMES, feature_names, FEATURES));
        support_ok(with, armilla_data_set_names(data, ARMILLA_SAMPLE_LABELS, labels, SAMPLES));
    }
    return data;
}

/* Every writer with its first ending as the file's name. */
static const char *path_for(const armilla_writer *writer)
{
    char name[64];
    snprintf(name, sizeof name, "x%.*s", (int)strcspn(writer->endings, " "), writer->endings);
    return support_path(path, sizeof path, name);
}

static bool takes(const armilla_writer *writer, bool sparse, bool columns)
{
    if (sparse && strcmp(writer->name, "npy") == 0) return false;
    return !columns || strcmp(writer->name, "svmlight") != 0;
}

/* What is read from the file again is what was written, for formats that are read. */
static void check_again(bool columns)
{
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .sample_columns = columns};
    armilla_data *data = NULL;
    double sample[FEATURES];
    support_ok(context, armilla_data_open(context, path, &options, &data));
    assert_int_equal(armilla_data_features(data), FEATURES);
    assert_int_equal(armilla_data_samples(data), SAMPLES);
    for (int64_t j = 0; j < SAMPLES; j++) {
        support_ok(context, armilla_data_sample(context, data, j, sample));
        for (int64_t i = 0; i < FEATURES; i++) assert_true(sample[i] == (double)dense[j][i]);
    }
    armilla_data_free(data);
}

static void writes_what_is_read_again(void **state)
{
    (void)state;
    for (size_t row = 0; armilla_writers_row(row); row++)
        for (int sparse = 0; sparse < 2; sparse++)
            for (int columns = 0; columns < 2; columns++) {
                const armilla_writer *writer = armilla_writers_row(row);
                const armilla_write_options options = {
                    .size = sizeof(armilla_write_options), .sample_columns = columns, .overwrite = true};
                armilla_data *data = wrap(context, sparse, false);
                const armilla_status status = armilla_data_write(context, data, path_for(writer), &options);
                armilla_data_free(data);
                assert_int_equal(status == ARMILLA_OK, takes(writer, sparse, columns));
                if (status == ARMILLA_OK) check_again(columns);
            }
}

static void check_text(bool sparse, bool named, const char *name, const armilla_write_options *options,
                       const char *wanted)
{
    armilla_data *data = wrap(context, sparse, named);
    support_path(path, sizeof path, name);
    support_ok(context, armilla_data_write(context, data, path, options));
    armilla_data_free(data);
    char *text = support_read_file(path, NULL);
    assert_string_equal(text, wanted);
    free(text);
}

static void writes_text(void **state)
{
    const armilla_write_options columns = {.size = sizeof(armilla_write_options), .sample_columns = true},
                                svm = {.size = sizeof(armilla_write_options), .format = "svmlight"};
    (void)state;
    check_text(false, true, "a.csv", NULL, "a,\"b,c\",d,label\n1,0,2,4\n3,255,0,-1.5\n");
    check_text(true, true, "b.tsv", &columns, "\tx1\tx2\na\t1\t3\n\"b,c\"\t0\t255\nd\t2\t0\n");
    check_text(true, false, "c.mtx", NULL,
               "%%MatrixMarket matrix coordinate real general\n2 3 4\n1 1 1\n1 3 2\n2 1 3\n2 2 255\n");
    check_text(true, false, "d.mtx", &columns,
               "%%MatrixMarket matrix coordinate real general\n3 2 4\n1 1 1\n3 1 2\n1 2 3\n2 2 255\n");
    check_text(false, false, "e.mtx", NULL, "%%MatrixMarket matrix array real general\n2 3\n1\n3\n0\n255\n2\n0\n");
    check_text(false, false, "f.mtx", &columns, "%%MatrixMarket matrix array real general\n3 2\n1\n0\n2\n3\n255\n0\n");
    check_text(false, true, "g.libsvm", NULL, "4 1:1 3:2\n-1.5 1:3 2:255\n");
    check_text(true, false, "h", &svm, "0 1:1 3:2\n0 1:3 2:255\n");
}

static void numbers_come_back(void **state)
{
    static const double hard[] = {0.1,     1.0 / 3,  5e-324, DBL_MIN, DBL_MAX, FLT_MIN,         1e22,
                                  1e23,    1e15 + 1, -0.0,   1e-5,    123456,  (double)FLT_MAX, 9007199254740993.0,
                                  2.5e-45, 1e-45};
    char text[ARMILLA_NUMBER_TEXT];
    (void)state;
    (void)setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is not installed this changes nothing */
    const armilla_plain plain = armilla_plain_enter();
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        const double number = hard[i];
        const float narrow = (float)number;
        const size_t length = armilla_shortest(ARMILLA_F64, number, text);
        assert_int_equal(length, strlen(text));
        const double back = strtod(text, NULL);
        assert_memory_equal(&back, &number, sizeof back);
        armilla_shortest(ARMILLA_F32, (double)narrow, text);
        const float narrow_back = strtof(text, NULL);
        assert_memory_equal(&narrow_back, &narrow, sizeof narrow_back);
    }
    armilla_shortest(ARMILLA_F32, (double)0.1f, text);
    assert_string_equal(text, "0.1");
    armilla_plain_leave(plain);
    (void)setlocale(LC_ALL, "C");
}

/* What svmlight takes for a label is written as it is, and comes back. */
static void labels_come_back(void **state)
{
    static const char *const pairs[][SAMPLES] = {{"1,2", "-3"}, {"1e5", "0.5,1,7"}, {"-0", "10"}};
    (void)state;
    support_path(path, sizeof path, "labels.svm");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const armilla_write_options options = {.size = sizeof(armilla_write_options), .overwrite = true};
        armilla_data *data = wrap(context, i % 2, false), *back = NULL;
        support_ok(context, armilla_data_set_names(data, ARMILLA_SAMPLE_LABELS, pairs[i], SAMPLES));
        support_ok(context, armilla_data_write(context, data, path, &options));
        support_ok(context, armilla_data_open(context, path, NULL, &back));
        for (int64_t j = 0; j < SAMPLES; j++)
            assert_string_equal(armilla_data_name(back, ARMILLA_SAMPLE_LABELS, j), pairs[i][j]);
        armilla_data_free(data);
        armilla_data_free(back);
    }
}

/* Names that would end their field, or lose blanks, stand in quotes. */
static void quotes_names(void **state)
{
    static const char *const hard[FEATURES] = {" before", "behind ", "a \"b\"; c,\td"};
    static const char header[] = "\" before\",\"behind \",\"a \"\"b\"\"; c,\td\"\n";
    (void)state;
    support_path(path, sizeof path, "names.csv");
    armilla_data *data = wrap(context, false, false), *back = NULL;
    support_ok(context, armilla_data_set_names(data, ARMILLA_FEATURE_NAMES, hard, FEATURES));
    support_ok(context, armilla_data_write(context, data, path, NULL));
    char *text = support_read_file(path, NULL);
    assert_memory_equal(text, header, strlen(header));
    free(text);
    support_ok(context, armilla_data_open(context, path, NULL, &back));
    assert_string_equal(armilla_data_name(back, ARMILLA_FEATURE_NAMES, 2), hard[2]);
    armilla_data_free(data);
    armilla_data_free(back);
}

static void refuses_what_cannot_be(void **state)
{
    static const char *const word[] = {"x", "y"};
    /* strtod takes some of them, the reader of svmlight none. */
    static const char *const no_numbers[] = {"", "nan", "inf", "0x1A", "1e999", " 4", "4 ", "1,", ",1", "1 2", "1;2"};
    armilla_data *data = wrap(context, true, false);
    (void)state;
    support_path(path, sizeof path, "x.npy");
    support_fails(context, armilla_data_write(context, data, path, NULL), ARMILLA_BAD_ARGUMENT, "the data are sparse");
    support_path(path, sizeof path, "x.odd");
    support_fails(context, armilla_data_write(context, data, path, NULL), ARMILLA_BAD_ARGUMENT,
                  "(write.format): npy (.npy)");
    support_fails(context, armilla_data_write_check(context, path, NULL), ARMILLA_BAD_ARGUMENT, "(write.format)");
    const armilla_write_options odd = {.size = sizeof(armilla_write_options), .format = "odd"};
    support_fails(context, armilla_data_write(context, data, path, &odd), ARMILLA_BAD_ARGUMENT, "'odd' is not written");
    support_ok(context, armilla_data_set_names(data, ARMILLA_SAMPLE_LABELS, word, SAMPLES));
    support_path(path, sizeof path, "x.svm");
    support_fails(context, armilla_data_write(context, data, path, NULL), ARMILLA_BAD_DATA, "sample 1 is 'x'");
    for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++) {
        const char *const pair[] = {"1", no_numbers[i]};
        support_ok(context, armilla_data_set_names(data, ARMILLA_SAMPLE_LABELS, pair, SAMPLES));
        support_fails(context, armilla_data_write(context, data, path, NULL), ARMILLA_BAD_DATA, "that of sample 2 is");
    }
    support_fails(context, armilla_data_write(context, data, NULL, NULL), ARMILLA_BAD_ARGUMENT, "path is NULL");
    support_fails(context, armilla_data_write_check(context, NULL, NULL), ARMILLA_BAD_ARGUMENT, "path is NULL");
    support_fails(context, armilla_data_set_names(data, ARMILLA_SAMPLE_NAMES, word, 1), ARMILLA_BAD_DATA,
                  "there are 1 names of samples, but 2 are needed");
    assert_int_equal(support_entries(), 0);
    armilla_data_free(data);
}

static int stop_at_once(void *user, const armilla_progress *progress)
{
    assert_int_equal(progress->stage, ARMILLA_STAGE_WRITING);
    ++*(int *)user;
    return 1;
}

static void stops_when_asked(void **state)
{
    (void)state;
    for (size_t row = 0; armilla_writers_row(row); row++) {
        int asked = 0;
        armilla_data *data = wrap(context, false, false);
        armilla_context_set_watch(context, stop_at_once, &asked);
        support_fails(context, armilla_data_write(context, data, path_for(armilla_writers_row(row)), NULL),
                      ARMILLA_STOPPED, "stopped");
        armilla_context_set_watch(context, NULL, NULL);
        assert_int_equal(asked, 1);
        assert_int_equal(support_entries(), 0);
        armilla_data_free(data);
    }
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    for (size_t row = 0; armilla_writers_row(row); row++)
        for (int sparse = 0; sparse < 2; sparse++)
            for (int64_t k = 0;; k++) {
                const armilla_writer *writer = armilla_writers_row(row);
                const armilla_write_options options = {.size = sizeof(armilla_write_options),
                                                       .sample_columns = takes(writer, sparse, true)};
                support_allocator failing = SUPPORT_ALLOCATOR;
                armilla_context *own = support_context_with(&failing);
                armilla_data *data = wrap(own, sparse, true);
                support_clean();
                failing.countdown = failing.taken + k;
                const armilla_status status = armilla_data_write(own, data, path_for(writer), &options);
                armilla_data_free(data);
                armilla_context_free(own);
                assert_int_equal(failing.live, 0);
                assert_int_equal(support_entries(), status == ARMILLA_OK);
                if (status != ARMILLA_NO_MEMORY) break;
                assert_true(k < 1000);
            }
}

static int calls_left;

static int fail_or(int result)
{
    if (calls_left-- != 0) return result;
    errno = ENOSPC;
    return -1;
}

static ssize_t failing_write(int file, const void *bytes, size_t count)
{
    return fail_or(0) ? -1 : armilla_io_system.write(file, bytes, count);
}

static int failing_sync(int file)
{
    return fail_or(0) ? -1 : armilla_io_system.fsync(file);
}

static int failing_rename(const char *from, const char *to)
{
    return fail_or(0) ? -1 : armilla_io_system.rename(from, to);
}

/* Each write, flush and rename fails in turn: the old file stays, and nothing else. */
static void keeps_the_old_file(void **state)
{
    armilla_io io = armilla_io_system;
    (void)state;
    io.write = failing_write;
    io.fsync = failing_sync;
    io.rename = failing_rename;
    for (size_t row = 0; armilla_writers_row(row); row++) {
        const armilla_writer *writer = armilla_writers_row(row);
        const armilla_write_options options = {.size = sizeof(armilla_write_options), .overwrite = true};
        armilla_data *data = wrap(context, false, false);
        support_clean();
        support_write_file(path_for(writer), "old", 3);
        context->io = &io;
        int failures = 0;
        for (;; failures++) {
            calls_left = failures;
            if (armilla_data_write(context, data, path, &options) == ARMILLA_OK) break;
            char *text = support_read_file(path, NULL);
            /* Only the last step, flushing the directory, comes after the new file is in place. */
            if (strcmp(text, "old") != 0) assert_non_null(strstr(armilla_context_error(context), "is written whole"));
            free(text);
            assert_int_equal(support_entries(), 1);
            assert_true(failures < 20);
        }
        context->io = &armilla_io_system;
        assert_true(failures >= 3);
        armilla_data_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(writes_what_is_read_again),
        TEST(writes_text),
        TEST(numbers_come_back),
        TEST(labels_come_back),
        TEST(quotes_names),
        TEST(refuses_what_cannot_be),
        TEST(stops_when_asked),
        TEST(survives_refused_allocations),
        TEST(keeps_the_old_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
