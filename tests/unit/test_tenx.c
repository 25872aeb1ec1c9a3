/* 10x directories: old and new names, packed or not, what is missing, and names that do not fit. */
#include "support.h"

#include "data/data.h"
#include "files/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static armilla_context *context;
static support_allocator allocator;
static char directory[256];

static const char matrix[] = "%%MatrixMarket matrix coordinate integer general\n3 2 3\n3 1 7\n1 1 5\n2 2 6\n";
static const char genes[] = "ID1\tActb\tGene Expression\nID2\t\tGene Expression\nID3\n";
static const char cells[] = "AAAC-1\nAAAG-1\n";

static const char *const members[] = {"matrix.mtx", "matrix.mtx.gz", "features.tsv", "features.tsv.gz",
                                      "genes.tsv",  "genes.tsv.gz",  "barcodes.tsv", "barcodes.tsv.gz"};

static void clean(void)
{
    char path[512];
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, members[i]);
        unlink(path);
    }
}

static int set_up(void **state)
{
    (void)state;
    allocator = SUPPORT_ALLOCATOR;
    context = support_context_with(&allocator);
    support_path(directory, sizeof directory, "sample");
    assert_int_equal(mkdir(directory, 0700), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    clean();
    assert_int_equal(rmdir(directory), 0);
    armilla_context_free(context);
    assert_int_equal(allocator.live, 0);
    return 0;
}

static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (!strstr(name, ".gz")) {
        support_write_file(path, text, strlen(text));
        return;
    }
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzputs(file, text), (int)strlen(text));
    assert_int_equal(gzclose(file), Z_OK);
}

static void expect_data(const armilla_read_options *options)
{
    static const char *const names[] = {"Actb", "ID2", "ID3"};
    armilla_data *data = NULL;
    double sample[3];
    support_ok(context, armilla_data_open(context, directory, options, &data));
    assert_int_equal(armilla_data_features(data), 3);
    assert_int_equal(armilla_data_samples(data), 2);
    for (int i = 0; i < 3; i++) assert_string_equal(armilla_data_name(data, ARMILLA_FEATURE_NAMES, i), names[i]);
    assert_string_equal(armilla_data_name(data, ARMILLA_SAMPLE_NAMES, 1), "AAAG-1");
    support_ok(context, armilla_data_sample(context, data, 0, sample));
    assert_true(sample[0] == 5 && sample[1] == 0 && sample[2] == 7);
    armilla_data_free(data);
}

static void reads_old_and_new(void **state)
{
    (void)state;
    const armilla_read_options named = {.size = sizeof(armilla_read_options), .format = "10x"},
                               columns = {.size = sizeof(armilla_read_options), .sample_columns = true};
    put("matrix.mtx", matrix);
    put("genes.tsv", genes);
    put("barcodes.tsv", cells);
    expect_data(NULL);
    expect_data(&named);
    expect_data(&columns);
    clean();
    put("matrix.mtx.gz", matrix);
    put("features.tsv.gz", genes);
    put("barcodes.tsv.gz", cells);
    expect_data(NULL);
}

static void refuses(armilla_status wanted, const char *part)
{
    armilla_data *data = NULL;
    support_fails(context, armilla_data_open(context, directory, NULL, &data), wanted, part);
    assert_null(data);
}

static void says_what_is_missing(void **state)
{
    (void)state;
    armilla_data *data = NULL;
    const armilla_read_options named = {.size = sizeof(armilla_read_options), .format = "10x"},
                               csv = {.size = sizeof(armilla_read_options), .format = "csv"};
    char path[512];
    refuses(ARMILLA_CANNOT_OPEN, "sample: is a directory, and none that holds data");
    support_fails(context, armilla_data_open(context, directory, &named, &data), ARMILLA_BAD_DATA,
                  "is no 10x directory: it has no matrix.mtx (or .gz)");
    support_fails(context, armilla_data_open(context, directory, &csv, &data), ARMILLA_CANNOT_OPEN,
                  "is a directory, but data of the format csv are a file");
    put("matrix.mtx", matrix);
    snprintf(path, sizeof path, "%s/matrix.mtx", directory);
    support_fails(context, armilla_data_open(context, path, &named, &data), ARMILLA_CANNOT_OPEN,
                  "is a file, but data of the format 10x are a directory");
    refuses(ARMILLA_BAD_DATA, "it has no features.tsv or genes.tsv (or .gz)");
    put("features.tsv", genes);
    refuses(ARMILLA_BAD_DATA, "it has no barcodes.tsv (or .gz)");
    put("barcodes.tsv", "A\nB\nC\n");
    refuses(ARMILLA_BAD_DATA, "barcodes.tsv: has 3 names, and the data have 2 samples; give one name per sample");
    put("barcodes.tsv", cells);
    put("features.tsv", "a\nb\n");
    refuses(ARMILLA_BAD_DATA, "features.tsv: has 2 names, and the data have 3 features; give one name per feature");
    put("features.tsv", "");
    refuses(ARMILLA_BAD_DATA, "features.tsv: is empty");
    put("matrix.mtx", "1,2\n");
    refuses(ARMILLA_BAD_DATA, "matrix.mtx: is not a Matrix Market file");
}

/* Empty lines count only between names, where one may be missing. */
static void skips_empty_lines_at_the_end(void **state)
{
    (void)state;
    put("matrix.mtx", matrix);
    put("features.tsv", "ID1\tActb\r\nID2\t\tGene Expression\r\nID3\r\n\r\n");
    put("barcodes.tsv", "AAAC-1\nAAAG-1\n\n\n");
    expect_data(NULL);
    put("barcodes.tsv", "AAAC-1\n\nAAAG-1\n");
    refuses(ARMILLA_BAD_DATA, "barcodes.tsv: line 2 is empty; give one label or name per line");
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    bool refused = true;
    put("matrix.mtx.gz", matrix);
    put("features.tsv.gz", genes);
    put("barcodes.tsv", cells);
    for (int64_t k = 0; refused; k++) {
        armilla_data *data = NULL;
        allocator.countdown = allocator.taken + k;
        const armilla_status status = armilla_data_open(context, directory, NULL, &data);
        refused = status != ARMILLA_OK;
        if (refused) assert_int_equal(status, ARMILLA_NO_MEMORY);
        armilla_data_free(data);
        assert_true(refused || k > 10);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_old_and_new),
        TEST(says_what_is_missing),
        TEST(skips_empty_lines_at_the_end),
        TEST(survives_refused_allocations),
    };
    return cmocka_run_group_tests_name("tenx", tests, NULL, NULL);
}
