/* Readers of text that are asked to end at any question: ARMILLA_STOPPED and nothing left, whatever is in the file, and
 * about a megabyte later; a stop is no mistake of the file. */
#include "fixture.h"

#include <armilla/data.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { MEGABYTE = 1 << 20, SIZE = 5 * MEGABYTE / 2 };

typedef struct caller {
    int64_t asked, fires_at, after, at_end;
    double fraction;
} caller;

static int answer(void *user, const armilla_progress *progress)
{
    caller *c = user;
    assert_int_equal(progress->stage, ARMILLA_STAGE_READING);
    assert_true(progress->fraction >= c->fraction && progress->fraction <= 1);
    c->after += c->fires_at > 0 && c->asked >= c->fires_at;
    c->at_end += progress->fraction == 1;
    c->fraction = progress->fraction;
    return ++c->asked == c->fires_at;
}

/* A file of text that is `size` bytes long or a little more, by lines; line 0 is the header. */
typedef struct kind {
    const char *name, *file;
    int (*line)(char *line, size_t size, long number, long lines);
    const char *mistake; /* a line that the format has not; what is said of it begins with the second word */
    const char *said;
} kind;

static int csv_line(char *line, size_t size, long number, long lines)
{
    (void)lines;
    return snprintf(line, size, "%ld,%ld.25,-0.%ld\n", number, number % 7, number % 11);
}

/* A quoted line end: the file is one part. */
static int quoted_line(char *line, size_t size, long number, long lines)
{
    (void)lines;
    return snprintf(line, size, "\"a\nname\",%ld.5,%ld\n", number % 13, number % 5);
}

/* Many empty lines: records are counted before memory is taken. */
static int sparse_line(char *line, size_t size, long number, long lines)
{
    (void)lines;
    return number % 8 == 0 ? snprintf(line, size, "%ld,2.5,3\n", number) : snprintf(line, size, "\n\n\n\n\n\n");
}

static int coordinate_line(char *line, size_t size, long number, long lines)
{
    if (number == 0)
        return snprintf(line, size, "%%%%MatrixMarket matrix coordinate real general\n10 200001 %10ld\n", lines - 1);
    return snprintf(line, size, "%ld %ld %ld.5\n", 1 + number % 10, 1 + number % 200000, number % 9);
}

static int array_line(char *line, size_t size, long number, long lines)
{
    if (number == 0) return snprintf(line, size, "%%%%MatrixMarket matrix array real general\n%10ld 1\n", lines - 1);
    return snprintf(line, size, "%ld.125\n", number);
}

static int svmlight_line(char *line, size_t size, long number, long lines)
{
    (void)lines;
    return snprintf(line, size, "%ld 1:%ld.5 %ld:2 # word\n", number % 2, number % 9, 2 + number % 10);
}

static const kind kinds[] = {
    {"csv", "a.csv", csv_line, "1,x,2\n", "'x' is not a number"},
    {"csv with quoted line ends", "a.csv", quoted_line, "\"a\nname\",x,1\n", "'x' is not a number"},
    {"csv with empty lines", "a.csv", sparse_line, "1,x,2\n", "'x' is not a number"},
    {"gzip", "a.csv.gz", csv_line, "1,x,2\n", "'x' is not a number"},
    {"coordinates", "a.mtx", coordinate_line, "1 x 2\n", "'x' is no column"},
    {"array", "a.mtx", array_line, "x\n", "'x' is not a number"},
    {"svmlight", "a.svm", svmlight_line, "1 x:2\n", "'x:2' is no index:value"},
    {"10x", "ten/matrix.mtx", coordinate_line, "1 x 2\n", "'x' is no column"},
};

/* All lines but the last, which is the mistake where there is one. The number of lines is known after a first pass. */
static char *make_text(const kind *k, bool mistaken, size_t *count)
{
    char *text = malloc(SIZE + 512), line[256];
    long lines = 0;
    assert_non_null(text);
    for (int pass = 0; pass < 2; pass++) {
        const long all = lines;
        *count = 0;
        for (lines = 0; *count < SIZE; lines++) {
            const int length = k->line(line, sizeof line, lines, all);
            memcpy(text + *count, line, (size_t)length);
            *count += (size_t)length;
        }
    }
    if (mistaken) {
        memcpy(text + *count, k->mistake, strlen(k->mistake));
        *count += strlen(k->mistake);
    }
    return text;
}

static void write_names(const char *name, long count)
{
    char path[256];
    FILE *file = fopen(support_path(path, sizeof path, name), "w");
    assert_non_null(file);
    for (long i = 0; i < count; i++) fprintf(file, "n%ld\tname%ld\n", i, i);
    assert_int_equal(fclose(file), 0);
}

/* Writes the file; what is to be opened goes into path. */
static void make_file(const kind *k, bool mistaken, char path[256])
{
    size_t count = 0;
    char *text = make_text(k, mistaken, &count);
    const bool directory = strchr(k->file, '/') != NULL;
    if (directory) {
        (void)mkdir(support_path(path, 256, "ten"), 0700);
        write_names("ten/features.tsv", 10);
        write_names("ten/barcodes.tsv", 200001);
    }
    support_path(path, 256, k->file);
    if (strstr(k->file, ".gz")) {
        gzFile packed = gzopen(path, "wb1");
        assert_non_null(packed);
        assert_int_equal(gzwrite(packed, text, (unsigned)count), (int)count);
        assert_int_equal(gzclose(packed), Z_OK);
    } else {
        support_write_file(path, text, count);
    }
    if (directory) *strrchr(path, '/') = '\0';
    free(text);
}

static armilla_status read_asked(const char *path, int threads, int64_t fires_at, caller *c, armilla_data **data)
{
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .threads = threads};
    *c = (caller){.fires_at = fires_at};
    armilla_context_set_watch(context, answer, c);
    const armilla_status status = armilla_data_open(context, path, &options, data);
    armilla_context_set_watch(context, NULL, NULL);
    return status;
}

/* Nothing is asked after the answer; every megabyte has a question of its own, and the end is reported at the end only. */
static void stop_at_every_question(const kind *k, bool mistaken, int threads)
{
    char path[256];
    bool fired = true;
    make_file(k, mistaken, path);
    for (int64_t at = 1; fired; at++) {
        caller c;
        armilla_data *data = NULL;
        const armilla_status status = read_asked(path, threads, at, &c, &data);
        fired = c.asked >= at;
        if (fired)
            support_fails(context, status, ARMILLA_STOPPED, "stopped before there was a result");
        else if (mistaken)
            support_fails(context, status, ARMILLA_BAD_DATA, k->said);
        else
            support_ok(context, status);
        assert_int_equal(c.after, 0);
        assert_true((data != NULL) == (status == ARMILLA_OK));
        if (!fired && threads == 1) assert_in_range(c.asked, SIZE / MEGABYTE + 1, 40);
        if (!fired) assert_true(c.at_end <= 2);
        armilla_data_free(data);
    }
}

static void stop_every_kind(bool mistaken)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int threads = 1; threads <= 2; threads++) {
            print_message("%s, %d\n", kinds[i].name, threads);
            stop_at_every_question(&kinds[i], mistaken, threads);
        }
}

static void stops_anywhere(void **state)
{
    (void)state;
    stop_every_kind(false);
}

static void stops_before_a_mistake(void **state)
{
    (void)state;
    stop_every_kind(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(stops_anywhere),
        TEST(stops_before_a_mistake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
