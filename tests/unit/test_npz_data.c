/* .npz archives of numpy.savez as data: which array is read, names beside it, limits, damage, refused allocations.
 * Labels from files of their own. */
#include "fixture.h"

#include "files/array.h"
#include "files/files.h"
#include "files/npz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

enum { ROWS = 3, COLS = 2 };

static char path[256], other[256];

static const double numbers[ROWS * COLS] = {1, 2, 3, 4, 5, 6};
static const char *const texts[] = {"plain", "", "Gr\xc3\xbc\xc3\x9f\x65 \xe2\x82\xac \xf0\x9d\x84\x9e"};

static int name_files(void **state)
{
    (void)state;
    support_path(path, sizeof path, "x.npz");
    support_path(other, sizeof other, "labels");
    return 0;
}

/* The matrix, a vector, and names of what there is where wanted. */
static void write_archive(int matrices, bool vector, bool named)
{
    static const char *const names[] = {"x", "y", "z"};
    armilla_npz_writer *writer = NULL;
    support_ok(context, armilla_npz_writer_new(context, path, true, &writer));
    if (vector)
        support_ok(context, armilla_npz_writer_add(writer, "v", ARMILLA_F64, (int64_t[]){ROWS, -1}, false, numbers));
    for (int i = 0; i < matrices; i++)
        support_ok(context,
                   armilla_npz_writer_add(writer, names[i], ARMILLA_F64, (int64_t[]){ROWS, COLS}, false, numbers));
    if (named) {
        armilla_names list = {.count = 0};
        for (int i = 0; i < ROWS; i++)
            support_ok(context, armilla_names_add(context, &list, texts[i], strlen(texts[i])));
        support_ok(context, armilla_npz_writer_add_names(writer, "sample_names", &list));
        support_ok(context, armilla_npz_writer_add_names(writer, "feature_names", &list)); /* one too many */
        armilla_names_free(context, &list);
    }
    support_ok(context, armilla_npz_writer_commit(writer));
    armilla_npz_writer_free(writer);
}

static armilla_data *open_ok(const armilla_read_options *options)
{
    armilla_data *data = NULL;
    double sample[ROWS];
    support_ok(context, armilla_data_open(context, path, options, &data));
    assert_int_equal(armilla_data_features(data), options->sample_columns ? ROWS : COLS);
    for (int64_t j = 0; j < armilla_data_samples(data); j++) {
        support_ok(context, armilla_data_sample(context, data, j, sample));
        for (int64_t i = 0; i < armilla_data_features(data); i++)
            assert_true(sample[i] == numbers[options->sample_columns ? i * COLS + j : j * COLS + i]);
    }
    return data;
}

static void refuses(const armilla_read_options *options, armilla_status status, const char *words)
{
    armilla_data *data = NULL;
    support_fails(context, armilla_data_open(context, path, options, &data), status, words);
    assert_null(data);
}

static void reads_the_only_matrix(void **state)
{
    (void)state;
    for (int columns = 0; columns < 2; columns++)
        for (int vector = 0; vector < 2; vector++) {
            const armilla_read_options options = {.size = sizeof(armilla_read_options), .sample_columns = columns};
            write_archive(1, vector, false);
            armilla_data_free(open_ok(&options));
        }
}

static void wants_a_name_among_several(void **state)
{
    (void)state;
    write_archive(3, true, false);
    refuses(NULL, ARMILLA_BAD_DATA, "choose one by array NAME among: v (3), x (3 x 2), y (3 x 2), z (3 x 2)");
    armilla_data_free(open_ok(&(armilla_read_options){.size = sizeof(armilla_read_options), .array = "y"}));
    refuses(&(armilla_read_options){.size = sizeof(armilla_read_options), .array = "w"}, ARMILLA_BAD_DATA,
            "has no array 'w'; it holds: v (3), x (3 x 2)");
    refuses(&(armilla_read_options){.size = sizeof(armilla_read_options), .array = "v"}, ARMILLA_BAD_DATA,
            "array v: the array has 1 dimension");
    write_archive(0, true, true);
    refuses(NULL, ARMILLA_BAD_DATA, "holds no matrix, but: v (3), sample_names, feature_names");
    write_archive(0, true, false);
    refuses(NULL, ARMILLA_BAD_DATA, "array v: the array has 1 dimension");
}

/* A list that is cut says so, wherever the names before it end. */
static void tells_that_there_are_more(void **state)
{
    enum { COUNT = 60, LONGEST = 30 };
    (void)state;
    for (int length = 6; length < LONGEST; length++) {
        armilla_npz_writer *writer = NULL;
        armilla_data *data = NULL;
        char name[LONGEST + 1];
        support_ok(context, armilla_npz_writer_new(context, path, true, &writer));
        for (int i = 0; i < COUNT; i++) {
            snprintf(name, sizeof name, "%0*d", i == 0 ? length : 6, i);
            support_ok(context,
                       armilla_npz_writer_add(writer, name, ARMILLA_F64, (int64_t[]){ROWS, COLS}, false, numbers));
        }
        support_ok(context, armilla_npz_writer_commit(writer));
        armilla_npz_writer_free(writer);
        support_fails(context, armilla_data_open(context, path, NULL, &data), ARMILLA_BAD_DATA,
                      "holds several matrices; choose one by array NAME among: 0");
        const char *error = armilla_context_error(context);
        assert_string_equal(error + strlen(error) - strlen(" (3 x 2), ..."), " (3 x 2), ...");
    }
}

static void knows_no_array_of_an_endless_name(void **state)
{
    char name[600];
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .array = name};
    (void)state;
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    write_archive(2, false, false);
    refuses(&options, ARMILLA_BAD_DATA, "has no array 'xxx");
}

static void keeps_names_that_fit(void **state)
{
    (void)state;
    write_archive(1, false, true);
    armilla_data *data =
        open_ok(&(armilla_read_options){.size = sizeof(armilla_read_options), .sample_columns = false});
    for (int i = 0; i < ROWS; i++) assert_string_equal(armilla_data_name(data, ARMILLA_SAMPLE_NAMES, i), texts[i]);
    assert_null(armilla_data_name(data, ARMILLA_FEATURE_NAMES, 0));
    armilla_data_free(data);
}

static void obeys_the_limit(void **state)
{
    const size_t needed = 128 + sizeof numbers;
    (void)state;
    write_archive(1, true, false);
    armilla_data_free(open_ok(&(armilla_read_options){.size = sizeof(armilla_read_options),
                                                      .memory = (int64_t)needed + 4000})); /* the array, and objects */
    refuses(&(armilla_read_options){.size = sizeof(armilla_read_options), .memory = (int64_t)needed}, ARMILLA_NO_MEMORY,
            "raise it by memory");
}

/* A small archive that declares far more than it can hold, and one that really holds very much. */
static void bounds_what_is_declared(void **state)
{
    const zip_uint64_t size = 64 << 20;
    int error = 0;
    (void)state;
    zip_t *archive = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &error);
    char *zeros = calloc(1, size);
    assert_non_null(zeros);
    assert_true(zip_file_add(archive, "x.npy", zip_source_buffer(archive, zeros, size, 1), 0) == 0);
    assert_int_equal(zip_close(archive), 0);
    refuses(&(armilla_read_options){.size = sizeof(armilla_read_options), .memory = 1 << 20}, ARMILLA_NO_MEMORY,
            "an array needs 64.0 MiB");
    size_t count = 0;
    char *bytes = support_read_file(path, &count);
    assert_true(count < (1 << 18));
    for (size_t i = 0; i + 4 < count; i++) /* the declared size, wherever it stands */
        if (memcmp(bytes + i, "\x00\x00\x00\x04", 4) == 0) bytes[i + 3] = 0x7f;
    support_write_file(path, bytes, count);
    refuses(NULL, ARMILLA_BAD_DATA, "which is impossible");
    free(bytes);
}

static void survives_truncation_and_damage(void **state)
{
    size_t count = 0;
    (void)state;
    write_archive(1, true, true);
    armilla_context_set_memory(context, 1 << 20);
    char *bytes = support_read_file(path, &count);
    for (size_t kept = 0; kept < count; kept++) {
        armilla_data *data = NULL;
        armilla_bytes cut = {.path = "x", .start = (const unsigned char *)bytes, .count = kept};
        const armilla_read_options options = {.size = sizeof(armilla_read_options), .format = NULL};
        assert_int_not_equal(armilla_format_npz.read(context, &cut, &options, &data), ARMILLA_OK);
        assert_null(data);
    }
    for (size_t i = 0; i < count; i++)
        for (int turn = 1; turn < 256; turn *= 3) {
            const armilla_read_options options = {
                .size = sizeof(armilla_read_options), .sample_columns = i % 2, .array = i % 3 ? NULL : "x"};
            armilla_bytes changed = {.path = "x", .start = (const unsigned char *)bytes, .count = count};
            armilla_data *data = NULL;
            bytes[i] = (char)(bytes[i] ^ turn);
            if (armilla_format_npz.read(context, &changed, &options, &data) == ARMILLA_OK)
                armilla_data_free(data);
            else
                assert_true(strlen(armilla_context_error(context)) > 10);
            bytes[i] = (char)(bytes[i] ^ turn);
        }
    free(bytes);
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    write_archive(1, true, true);
    support_write_file(other, "a\nb\nc\n", 6);
    for (int64_t k = 0;; k++) {
        support_allocator failing = SUPPORT_ALLOCATOR;
        const armilla_read_options options = {.size = sizeof(armilla_read_options), .labels = other};
        armilla_data *data = NULL;
        armilla_context *own = support_context_with(&failing);
        failing.countdown = failing.taken + k;
        const armilla_status status = armilla_data_open(own, path, &options, &data);
        armilla_data_free(data);
        armilla_context_free(own);
        assert_int_equal(failing.live, 0);
        if (status == ARMILLA_OK) break;
        assert_int_equal(status, ARMILLA_NO_MEMORY);
        assert_true(k < 1000);
    }
}

static void check_labels(const void *bytes, size_t count, const char *const wanted[ROWS])
{
    armilla_data *data = NULL;
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .labels = other};
    support_write_file(other, bytes, count);
    support_ok(context, armilla_data_open(context, path, &options, &data));
    for (int i = 0; i < ROWS; i++) assert_string_equal(armilla_data_name(data, ARMILLA_SAMPLE_LABELS, i), wanted[i]);
    armilla_data_free(data);
}

static void reads_labels(void **state)
{
    static const char *const words[ROWS] = {"T cell", "B", "7"}, *const digits[ROWS] = {"7", "0", "255"};
    static const char *const halves[ROWS] = {"1", "2", "3"};
    char npy[192 + sizeof numbers];
    (void)state;
    write_archive(1, false, false);
    check_labels("T cell\nB\n7", 10, words);
    check_labels("T cell \r\nB\r\n7\r\n\r\n", 17, words);
    check_labels("\0\0\x08\x01\0\0\0\x03\x07\x00\xff", 11, digits);
    const size_t header = armilla_array_header("f8", ROWS, -1, false, npy);
    memcpy(npy + header, numbers, ROWS * sizeof *numbers);
    check_labels(npy, header + ROWS * sizeof *numbers, halves);
}

static void refuses_labels_that_do_not_fit(void **state)
{
    static const struct {
        const char *bytes;
        size_t count;
        const char *words;
    } cases[] = {
        {"a\nb\n", 4, "has 2 labels, and the data have 3 samples"},
        {"a\nb\nc\nd\n", 8, "has 4 labels"},
        {"a\n\nb\nc\n", 7, "line 2 is empty"},
        {"a\nb\n\0c\n", 7, "is no text file"},
        {"\0\0\x08\x01\0\0\0\x03\x07\x00", 10, "is cut short: 1 bytes"},
        {"\0\0\x08\x01\0\0\0\x02\x07\x00", 10, "has 2 labels"},
        {"\0\0\x08\x02\0\0\0\x01\0\0\0\x01\x00", 13, "holds images, not labels"},
        {"", 0, "is empty"},
    };
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .labels = other};
    (void)state;
    write_archive(1, false, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        support_write_file(other, cases[i].bytes, cases[i].count);
        refuses(&options, ARMILLA_BAD_DATA, cases[i].words);
    }
    char matrix[512];
    const size_t header = armilla_array_header("i8", ROWS, 1, false, matrix);
    memset(matrix + header, 0, ROWS * sizeof(int64_t));
    support_write_file(other, matrix, header + ROWS * sizeof(int64_t));
    refuses(&options, ARMILLA_BAD_DATA, "labels are a vector; save labels.ravel()");
    refuses(&(armilla_read_options){.size = sizeof(armilla_read_options), .labels = "/nonexistent/labels"},
            ARMILLA_CANNOT_OPEN, "/nonexistent/labels");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_the_only_matrix),          TEST(wants_a_name_among_several),
        TEST(tells_that_there_are_more),      TEST(knows_no_array_of_an_endless_name),
        TEST(keeps_names_that_fit),           TEST(obeys_the_limit),
        TEST(bounds_what_is_declared),        TEST(survives_truncation_and_damage),
        TEST(survives_refused_allocations),   TEST(reads_labels),
        TEST(refuses_labels_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, name_files, NULL);
}
