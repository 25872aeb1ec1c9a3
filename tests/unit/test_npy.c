/* .npy: every kind of number in every order, what is refused, and damaged files. */
#include "fixture.h"

#include "files/array.h"
#include "files/files.h"

#include <armilla/files.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file of that version with the dictionary as it stands (padded with `pad` blanks) and the bytes behind it. */
static unsigned char *make_file(int version, const char *dictionary, size_t pad, const void *values, size_t bytes,
                                size_t *count)
{
    const size_t prefix = version == 1 ? 10 : 12, length = strlen(dictionary) + pad + 1;
    unsigned char *file = malloc(prefix + length + bytes);
    assert_non_null(file);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (unsigned char)version;
    file[7] = 0;
    for (size_t i = 8; i < prefix; i++) file[i] = (unsigned char)(length >> 8 * (i - 8));
    memset(file + prefix, ' ', length);
    memcpy(file + prefix, dictionary, strlen(dictionary));
    file[prefix + length - 1] = '\n';
    if (bytes) memcpy(file + prefix + length, values, bytes);
    *count = prefix + length + bytes;
    return file;
}

static armilla_status read_memory(const unsigned char *file, size_t count, bool columns, armilla_data **data)
{
    armilla_bytes bytes = {.path = "memory.npy", .start = file, .count = count};
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .sample_columns = columns};
    return armilla_format_npy.read(context, &bytes, &options, data);
}

/* The message about a file with that dictionary, and as many bytes of zeros. */
static void refuses(const char *dictionary, size_t bytes, const char *part)
{
    unsigned char zeros[256] = {0};
    size_t count = 0;
    armilla_data *data = NULL;
    unsigned char *file = make_file(1, dictionary, 0, zeros, bytes, &count);
    support_fails(context, read_memory(file, count, false, &data), ARMILLA_BAD_DATA, part);
    assert_non_null(strstr(armilla_context_error(context), "memory.npy: "));
    assert_null(data);
    free(file);
}

/* How one number is stored; the test's own idea of it, apart from the reader's. */
#define STORE(name, type)                                                                                              \
    static void store_##name(double value, void *to)                                                                   \
    {                                                                                                                  \
        const type number = (type)value;                                                                               \
        memcpy(to, &number, sizeof number);                                                                            \
    }
STORE(i1, int8_t)
STORE(i2, int16_t)
STORE(i4, int32_t)
STORE(i8, int64_t)
STORE(u1, uint8_t)
STORE(u2, uint16_t)
STORE(u4, uint32_t)
STORE(u8, uint64_t)
STORE(f4, float)
STORE(f8, double)

/* 0 ... 2047 are exact in half precision. */
static void store_f2(double value, void *to)
{
    uint16_t word = 0;
    int exponent = 0;
    if (value > 0) {
        int whole = (int)value;
        while (whole >> (exponent + 1)) exponent++;
        word = (uint16_t)((exponent + 15) << 10 | ((whole << 10 >> exponent) & 1023));
    }
    memcpy(to, &word, 2);
}

static void store_b1(double value, void *to)
{
    const unsigned char truth = value != 0;
    memcpy(to, &truth, 1);
}

static const struct kind {
    const char *descriptor;
    size_t width;
    armilla_type type;
    double most; /* values are 0 ... most */
    void (*store)(double value, void *to);
} kinds[] = {
    {"b1", 1, ARMILLA_F32, 1, store_b1},    {"i1", 1, ARMILLA_I8, 127, store_i1},
    {"u1", 1, ARMILLA_U8, 255, store_u1},   {"f2", 2, ARMILLA_F16, 2047, store_f2},
    {"i2", 2, ARMILLA_F64, 4000, store_i2}, {"u2", 2, ARMILLA_F64, 4000, store_u2},
    {"i4", 4, ARMILLA_F64, 4000, store_i4}, {"u4", 4, ARMILLA_F64, 4000, store_u4},
    {"f4", 4, ARMILLA_F32, 4000, store_f4}, {"i8", 8, ARMILLA_F64, 4000, store_i8},
    {"u8", 8, ARMILLA_F64, 4000, store_u8}, {"f8", 8, ARMILLA_F64, 4000, store_f8},
};

static double element(const struct kind *kind, int64_t row, int64_t col)
{
    return (double)((row * 71 + col * 13) % ((int64_t)kind->most + 1));
}

/* A rows x cols file of the kind, in the byte order and the order of elements. */
static unsigned char *make_matrix(const struct kind *kind, char order, bool column_major, int64_t rows, int64_t cols,
                                  size_t *count)
{
    char dictionary[160];
    const size_t width = kind->width;
    unsigned char *values = malloc((size_t)(rows * cols) * width);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            unsigned char *to = values + (size_t)(column_major ? j * rows + i : i * cols + j) * width;
            kind->store(element(kind, i, j), to);
            for (size_t k = 0; order == '>' && k < width / 2; k++) {
                const unsigned char byte = to[k];
                to[k] = to[width - 1 - k];
                to[width - 1 - k] = byte;
            }
        }
    snprintf(dictionary, sizeof dictionary, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (%d, %d), }", order,
             kind->descriptor, column_major ? "True" : "False", (int)rows, (int)cols);
    unsigned char *file = make_file(1, dictionary, 3, values, (size_t)(rows * cols) * width, count);
    free(values);
    return file;
}

static void assert_matrix(const struct kind *kind, const armilla_data *data, bool columns, int64_t rows, int64_t cols)
{
    const int64_t m = columns ? rows : cols, n = columns ? cols : rows;
    double *sample = malloc((size_t)m * sizeof *sample);
    assert_int_equal(armilla_data_features(data), m);
    assert_int_equal(armilla_data_samples(data), n);
    assert_int_equal(armilla_data_type(data), kind->type);
    for (int64_t j = 0; j < n; j++) {
        support_ok(context, armilla_data_sample(context, data, j, sample));
        for (int64_t i = 0; i < m; i++)
            if (sample[i] != (columns ? element(kind, i, j) : element(kind, j, i)))
                fail_msg("%s: sample %d, feature %d is %g", kind->descriptor, (int)j, (int)i, sample[i]);
    }
    free(sample);
}

static void reads_every_kind(void **state)
{
    (void)state;
    const int64_t shapes[][2] = {{1, 1}, {3, 5}, {1, 7}, {7, 1}, {32, 33}, {70, 45}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int bits = 0; bits < 8; bits++) {
                armilla_data *data = NULL;
                size_t count = 0;
                const bool columns = bits & 2;
                unsigned char *file =
                    make_matrix(&kinds[k], bits & 4 ? '>' : '<', bits & 1, shapes[s][0], shapes[s][1], &count);
                support_ok(context, read_memory(file, count, columns, &data));
                assert_matrix(&kinds[k], data, columns, shapes[s][0], shapes[s][1]);
                armilla_data_free(data);
                free(file);
            }
}

/* Halves that are not whole numbers, and integers past 2^53. */
static void converts_extreme_numbers(void **state)
{
    (void)state;
    const uint16_t halves[] = {0x0001, 0x03ff, 0x3555, 0xfbff, 0x8000};
    const double wanted[] = {0x1p-24, 1023 * 0x1p-24, 1365 * 0x1p-12, -65504, 0};
    const int64_t large[] = {INT64_MAX, INT64_MIN, (1LL << 53) + 1};
    const uint64_t largest = UINT64_MAX;
    double got[5];
    armilla_number_find('f', 2)->fetch((const unsigned char *)halves, false, 5, got);
    for (int i = 0; i < 5; i++) assert_true(got[i] == wanted[i]);
    const uint16_t not_finite[] = {0x7c00, 0xfc00, 0x7c01, 0xfe00};
    armilla_number_find('f', 2)->fetch((const unsigned char *)not_finite, false, 4, got);
    assert_true(got[0] == INFINITY && got[1] == -INFINITY && isnan(got[2]) && isnan(got[3]));
    armilla_number_find('i', 8)->fetch((const unsigned char *)large, false, 3, got);
    assert_true(got[0] == 0x1p63 && got[1] == -0x1p63 && got[2] == 0x1p53);
    armilla_number_find('u', 8)->fetch((const unsigned char *)&largest, false, 1, got);
    assert_true(got[0] == 0x1p64);
    assert_null(armilla_number_find('f', 16));
}

/* One block is the object itself; a second one holds converted numbers. */
static void maps_what_fits(void **state)
{
    (void)state;
    char path[256];
    support_path(path, sizeof path, "a.npy");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int bits = 0; bits < 4; bits++) {
            const bool column_major = bits & 1, columns = bits & 2;
            armilla_data *data = NULL;
            size_t count = 0;
            const armilla_read_options options = {.size = sizeof(armilla_read_options), .sample_columns = columns};
            unsigned char *file = make_matrix(&kinds[k], '<', column_major, 9, 6, &count);
            support_write_file(path, file, count);
            const int64_t before = allocator.live;
            support_ok(context, armilla_data_open(context, path, &options, &data));
            const bool aligned = (count - 54 * kinds[k].width) % kinds[k].width == 0;
            const char sort = kinds[k].descriptor[0];
            const bool usable = sort == 'f' || (sort != 'b' && kinds[k].width == 1);
            const bool mapped = usable && column_major == columns && aligned;
            assert_int_equal(allocator.live - before, mapped ? 1 : 2);
            assert_matrix(&kinds[k], data, columns, 9, 6);
            armilla_data_free(data);
            free(file);
        }
}

static void copies_what_is_misaligned(void **state)
{
    (void)state;
    const char *dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }";
    const double values[] = {1, 2, 3, 4};
    char path[256];
    int mapped = 0;
    support_path(path, sizeof path, "a.npy");
    for (size_t pad = 0; pad < 16; pad++) {
        armilla_data *data = NULL;
        double sample[2];
        size_t count = 0;
        unsigned char *file = make_file(1, dictionary, pad, values, sizeof values, &count);
        support_write_file(path, file, count);
        const int64_t before = allocator.live;
        support_ok(context, armilla_data_open(context, path, NULL, &data));
        mapped += allocator.live - before == 1;
        support_ok(context, armilla_data_sample(context, data, 1, sample));
        assert_true(sample[0] == 3 && sample[1] == 4);
        armilla_data_free(data);
        free(file);
    }
    assert_int_equal(mapped, 2);
}

static void reads_every_version_and_spelling(void **state)
{
    (void)state;
    const char *const spellings[] = {
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }",
        "{\"shape\":(1,2,),\"fortran_order\":True,\"descr\":\"<f8\"}",
        " { 'fortran_order' : False , 'shape' : ( 1L , 2L ) , 'descr' : '=f8' } ",
    };
    const double values[] = {1.5, -2};
    for (int version = 1; version <= 3; version++)
        for (size_t i = 0; i < 3; i++) {
            armilla_array array;
            size_t count = 0;
            unsigned char *file = make_file(version, spellings[i], 0, values, sizeof values, &count);
            support_ok(context, armilla_array_parse(context, "f", file, count, false, &array));
            assert_int_equal(array.dimensions, 2);
            assert_int_equal(array.shape[0], 1);
            assert_int_equal(array.shape[1], 2);
            assert_memory_equal(array.values, values, sizeof values);
            free(file);
        }
}

static void refuses_what_is_no_matrix_of_numbers(void **state)
{
    (void)state;
    refuses("{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }", 32, "Python objects");
    refuses("{'descr': '<U5', 'fortran_order': False, 'shape': (2, 2), }", 80, "text");
    refuses("{'descr': '|S5', 'fortran_order': False, 'shape': (2, 2), }", 20, "text");
    refuses("{'descr': '<c16', 'fortran_order': False, 'shape': (2, 2), }", 64, "complex numbers");
    refuses("{'descr': '|V8', 'fortran_order': False, 'shape': (2, 2), }", 32, "records or raw bytes");
    refuses("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (2, 2), }", 32, "a structured array");
    refuses("{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (2, 2), }", 32, "dates");
    refuses("{'descr': '<f16', 'fortran_order': False, 'shape': (2, 2), }", 64, "'<f16' cannot be read");
    refuses("{'descr': '', 'fortran_order': False, 'shape': (2, 2), }", 64, "'' cannot be read");
    refuses("{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }", 32, "1 dimension, and a matrix has 2");
    refuses("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", 8, "0 dimensions");
    refuses("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1, 2), }", 32, "3 dimensions");
    refuses("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4), }", 0, "at least one of each");
}

static void refuses_malformed_headers(void **state)
{
    (void)state;
    refuses("{'descr': '<f8', 'fortran_order': False}", 32, "is missing");
    refuses("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", 32, "twice");
    refuses("{'descr': '<f8', 'extra': 1, 'fortran_order': False, 'shape': (2, 2), }", 32, "none of descr");
    refuses("{'descr': '<f8', 'fortran_order': 0, 'shape': (2, 2), }", 32, "True or False");
    refuses("{'descr': '<f8', 'fortran_order': False, 'shape': (2, -2), }", 32, "a size is expected");
    refuses("{'descr': '<f8', 'fortran_order': False, 'shape': (4), }", 32, "behind a single size");
    refuses("{'descr': '<f8', 'fortran_order': False, 'shape': (2 2), }", 32, "between sizes");
    refuses("{'descr': '<f8', 'fortran_order': False, 'shape': [2, 2], }", 32, "in parentheses");
    refuses("{'descr': '<f8' 'fortran_order': False, 'shape': (2, 2), }", 32, "a comma is expected");
    refuses("{'descr' '<f8', 'fortran_order': False, 'shape': (2, 2), }", 32, "a colon is expected");
    refuses("{'descr': '<f8", 32, "not closed");
    refuses("{'descr': '|f8', 'fortran_order': False, 'shape': (2, 2), }", 32, "byte order");
    refuses("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), } 1", 32, "behind the closing brace");
    refuses("'descr': '<f8'", 32, "opening brace");
    refuses("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 1), }", 8, "too large");
    refuses("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 8,
            "larger than any memory");
    refuses("{'descr': '<f8', 'fortran_order': False, 'shape': (3037000499, 3037000499), }", 8,
            "larger than any memory");
}

static void says_how_much_is_missing(void **state)
{
    (void)state;
    armilla_array array;
    refuses("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", 29, "3 bytes of its numbers are missing");
    refuses("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", 37, "5 bytes behind the 32");
    support_fails(
        context,
        armilla_array_parse(context, "f", (const unsigned char *)"\x93NUMPY\x01\x00\x76\x00{", 11, false, &array),
        ARMILLA_BAD_DATA, "117 bytes of its header are missing");
    support_fails(
        context,
        armilla_array_parse(context, "f", (const unsigned char *)"\x93NUMPY\x04\x00\x76\x00{", 11, false, &array),
        ARMILLA_BAD_DATA, "version 4.0");
    support_fails(context, armilla_array_parse(context, "f", (const unsigned char *)"1,2,3\n4,5,6", 11, false, &array),
                  ARMILLA_BAD_DATA, "is not an .npy array");
}

/* An exact copy on the heap, so that a read past the end is seen by the sanitizer. */
static armilla_status parse_copy(const unsigned char *file, size_t count)
{
    armilla_array array;
    unsigned char *copy = malloc(count ? count : 1);
    if (count) memcpy(copy, file, count);
    const armilla_status status = armilla_array_parse(context, "f", copy, count, false, &array);
    if (status == ARMILLA_OK) {
        double *values = malloc((size_t)(array.shape[0] * array.shape[1]) * sizeof *values + 1);
        armilla_array_copy(&array, ARMILLA_F64, true, values);
        free(values);
    }
    free(copy);
    return status;
}

static void survives_truncation_anywhere(void **state)
{
    (void)state;
    size_t count = 0;
    unsigned char *file = make_matrix(&kinds[0], '|', false, 6, 7, &count);
    for (size_t cut = 0; cut < count; cut++) assert_int_equal(parse_copy(file, cut), ARMILLA_BAD_DATA);
    assert_int_equal(parse_copy(file, count), ARMILLA_OK);
    free(file);
}

static void survives_any_byte_in_the_header(void **state)
{
    (void)state;
    size_t count = 0;
    int accepted = 0;
    unsigned char *file = make_matrix(&kinds[11], '<', true, 3, 4, &count);
    for (size_t at = 0; at < count - 96; at++)
        for (int byte = 0; byte < 256; byte++) {
            const unsigned char before = file[at];
            file[at] = (unsigned char)byte;
            accepted += parse_copy(file, count) == ARMILLA_OK;
            file[at] = before;
        }
    assert_true(accepted < 4000); /* blanks for blanks, i8 for f8, 4x3 for 3x4, and the byte itself */
    free(file);
}

static void writes_what_numpy_writes(void **state)
{
    (void)state;
    char header[ARMILLA_ARRAY_HEADER], path[256];
    armilla_output *output = NULL;
    armilla_data *data = NULL;
    const float values[] = {1, 2, 3, 4, 5, 6};
    double sample[3];
    assert_int_equal(armilla_array_header("f8", 3, 4, true, header), 128);
    assert_memory_equal(header, "\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': True, 'shape': (3, 4), }",
                        68);
    assert_int_equal(header[127], '\n');
    assert_int_equal(armilla_array_header("u1", 7, -1, false, header), 128);
    assert_memory_equal(header + 10, "{'descr': '|u1', 'fortran_order': False, 'shape': (7,), }", 57);
    assert_int_equal(armilla_array_header("f8", INT64_MAX, INT64_MAX, false, header) % 64, 0);
    assert_int_equal(armilla_array_header("f4", -1, -1, false, header), 128);
    assert_memory_equal(header + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 55);
    support_path(path, sizeof path, "b.npy");
    support_ok(context, armilla_output_new(context, path, false, &output));
    support_ok(context, armilla_output_npy_header(output, ARMILLA_F32, 2, 3, false));
    support_ok(context, armilla_output_write(output, values, sizeof values));
    support_ok(context, armilla_output_commit(output));
    armilla_output_free(output);
    support_ok(context, armilla_data_open(context, path, NULL, &data));
    support_ok(context, armilla_data_sample(context, data, 1, sample));
    assert_true(sample[0] == 4 && sample[1] == 5 && sample[2] == 6);
    armilla_data_free(data);
}

/* A copy that the limit has no space for is refused before memory is asked for; what lies as it should is streamed. */
static void respects_the_memory_limit(void **state)
{
    (void)state;
    enum { ROWS = 300, COLUMNS = 40, BYTES = ROWS * COLUMNS * 8 };
    static const unsigned char zeros[BYTES];
    size_t count = 0;
    char path[256];
    armilla_data *data = NULL;
    armilla_read_options options = {.size = sizeof(armilla_read_options), .memory = BYTES - 1, .threads = 1};
    support_path(path, sizeof path, "a.npy");
    unsigned char *file =
        make_file(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (300, 40), }", 56, zeros, BYTES, &count);
    support_write_file(path, file, count);
    free(file);
    allocator.largest = 0;
    support_fails(context, armilla_data_open(context, path, &options, &data), ARMILLA_NO_MEMORY, "raise it by memory");
    assert_true(allocator.largest < BYTES);
    options.memory = BYTES + 2000; /* and the object, and one thread */
    support_ok(context, armilla_data_open(context, path, &options, &data));
    assert_in_range(allocator.largest, BYTES, BYTES + 64);
    armilla_data_free(data);
    allocator.largest = 0;
    options = (armilla_read_options){
        .size = sizeof(armilla_read_options), .memory = BYTES / 2, .sample_columns = true, .threads = 1};
    support_ok(context, armilla_data_open(context, path, &options, &data));
    assert_true(armilla_data_bytes_read(data) > 0);
    assert_true(allocator.largest < BYTES / 2);
    armilla_data_free(data);
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    size_t count = 0;
    unsigned char *file = make_matrix(&kinds[4], '<', true, 3, 4, &count);
    for (int64_t k = 0; k < 2; k++) {
        armilla_data *data = NULL;
        allocator.countdown = allocator.taken + k;
        support_fails(context, read_memory(file, count, false, &data), ARMILLA_NO_MEMORY, "out of memory");
        assert_null(data);
    }
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_every_kind),
        TEST(converts_extreme_numbers),
        TEST(maps_what_fits),
        TEST(copies_what_is_misaligned),
        TEST(reads_every_version_and_spelling),
        TEST(refuses_what_is_no_matrix_of_numbers),
        TEST(refuses_malformed_headers),
        TEST(says_how_much_is_missing),
        TEST(survives_truncation_anywhere),
        TEST(survives_any_byte_in_the_header),
        TEST(writes_what_numpy_writes),
        TEST(respects_the_memory_limit),
        TEST(survives_refused_allocations),
    };
    return cmocka_run_group_tests_name("npy", tests, NULL, NULL);
}
