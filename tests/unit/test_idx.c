/* IDX: every type of number, images of any height and width, what is refused, and damaged files. */
#include "fixture.h"

#include "data/data.h"
#include "files/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct kind {
    unsigned char code;
    size_t width;
    armilla_type type;
} kinds[] = {{0x08, 1, ARMILLA_U8},  {0x09, 1, ARMILLA_I8},  {0x0b, 2, ARMILLA_F64},
             {0x0c, 4, ARMILLA_F64}, {0x0d, 4, ARMILLA_F32}, {0x0e, 8, ARMILLA_F64}};

enum { KINDS = sizeof kinds / sizeof *kinds, MOST_FILE = 4096 };

static double element(int64_t index)
{
    return (double)(index * 29 % 127);
}

/* The number's bytes, largest first: the test's own idea of the format. */
static void put(const struct kind *kind, double value, unsigned char *to)
{
    uint64_t bits = (uint64_t)value;
    const float narrow = (float)value;
    uint32_t narrow_bits = 0;
    memcpy(&narrow_bits, &narrow, 4);
    if (kind->code == 0x0d) bits = narrow_bits;
    if (kind->code == 0x0e) memcpy(&bits, &value, 8);
    for (size_t k = 0; k < kind->width; k++) to[k] = (unsigned char)(bits >> 8 * (kind->width - 1 - k));
}

/* The header of a file with those sizes; returns its length. */
static size_t put_header(unsigned char code, int sizes, const uint32_t size[], unsigned char *file)
{
    const unsigned char start[] = {0, 0, code, (unsigned char)sizes};
    memcpy(file, start, 4);
    for (int i = 0; i < sizes; i++)
        for (int k = 0; k < 4; k++) file[4 + 4 * i + k] = (unsigned char)(size[i] >> 8 * (3 - k));
    return 4 + 4 * (size_t)sizes;
}

static size_t make_file(const struct kind *kind, int sizes, const uint32_t size[], unsigned char file[MOST_FILE])
{
    size_t used = put_header(kind->code, sizes, size, file);
    int64_t count = 1;
    for (int i = 0; i < sizes; i++) count *= size[i];
    for (int64_t i = 0; i < count; i++, used += kind->width) put(kind, element(i), file + used);
    return used;
}

static armilla_status read_memory(const unsigned char *file, size_t count, bool columns, armilla_data **data)
{
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .sample_columns = columns};
    return support_read(context, &armilla_format_idx, file, count, &options, data);
}

static void refuses(const unsigned char *file, size_t count, const char *part)
{
    armilla_data *data = NULL;
    support_fails(context, read_memory(file, count, false, &data), ARMILLA_BAD_DATA, part);
    assert_non_null(strstr(armilla_context_error(context), "a.idx: "));
    assert_null(data);
}

static void assert_images(const struct kind *kind, const armilla_data *data, bool columns, int64_t n, int64_t m)
{
    double sample[256];
    assert_int_equal(armilla_data_type(data), kind->type);
    assert_int_equal(armilla_data_samples(data), columns ? m : n);
    assert_int_equal(armilla_data_features(data), columns ? n : m);
    for (int64_t j = 0; j < armilla_data_samples(data); j++) {
        support_ok(context, armilla_data_sample(context, data, j, sample));
        for (int64_t i = 0; i < armilla_data_features(data); i++)
            assert_true(sample[i] == element(columns ? i * m + j : j * m + i));
    }
}

static void reads_every_type(void **state)
{
    const uint32_t sizes[][4] = {{5, 7, 0, 0}, {5, 3, 4, 0}, {2, 3, 2, 2}, {1, 1, 1, 1}};
    const int counts[] = {2, 3, 4, 4};
    const int64_t features[] = {7, 12, 12, 1};
    unsigned char file[MOST_FILE];
    (void)state;
    for (size_t k = 0; k < KINDS; k++)
        for (size_t s = 0; s < 4; s++)
            for (int columns = 0; columns < 2; columns++) {
                armilla_data *data = NULL;
                const size_t count = make_file(&kinds[k], counts[s], sizes[s], file);
                support_ok(context, read_memory(file, count, columns, &data));
                assert_images(&kinds[k], data, columns, sizes[s][0], features[s]);
                /* Three sizes are images, of which pixels are not the samples. */
                const bool images = counts[s] == 3 && !columns;
                assert_int_equal(data->image[0], images ? sizes[s][1] : 0);
                assert_int_equal(data->image[1], images ? sizes[s][2] : 0);
                armilla_data_free(data);
            }
}

/* Bytes are used where they lie: one block is the object itself. The name may have no point in it. */
static void maps_bytes(void **state)
{
    static const char *const names[] = {"a.idx", "t10k-images-idx3-ubyte", "train-images.idx3-ubyte", "no-ending"};
    const uint32_t size[] = {6, 3, 3};
    unsigned char file[MOST_FILE];
    char path[256];
    (void)state;
    for (size_t k = 0; k < KINDS; k++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            armilla_data *data = NULL;
            const size_t count = make_file(&kinds[k], 3, size, file);
            support_path(path, sizeof path, names[i]);
            support_write_file(path, file, count);
            const int64_t before = allocator.live;
            support_ok(context, armilla_data_open(context, path, NULL, &data));
            assert_int_equal(allocator.live - before, kinds[k].width == 1 ? 1 : 2);
            assert_images(&kinds[k], data, false, 6, 9);
            assert_true(data->image[0] == 3 && data->image[1] == 3);
            armilla_data_free(data);
        }
}

static void refuses_what_is_no_matrix(void **state)
{
    const uint32_t labels[] = {4}, none[] = {0, 3, 3}, empty[] = {3, 0, 3};
    const uint32_t huge[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    unsigned char file[MOST_FILE];
    (void)state;
    refuses(file, make_file(&kinds[0], 1, labels, file), "such as labels");
    refuses(file, make_file(&kinds[0], 3, none, file), "9 features and 0 samples");
    refuses(file, make_file(&kinds[0], 3, empty, file), "0 features and 3 samples");
    refuses(file, put_header(0x08, 4, huge, file), "samples larger than any memory");
    refuses(file, put_header(0x0e, 3, huge, file), "than any memory");
    refuses(file, put_header(0x0a, 3, huge, file), "is not an IDX file");
    refuses(file, put_header(0x08, 0, huge, file), "is not an IDX file");
    refuses((const unsigned char *)"1,2,3\n", 6, "is not an IDX file");
}

static void survives_truncation_anywhere(void **state)
{
    const uint32_t size[] = {3, 2, 2};
    unsigned char file[MOST_FILE];
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        const size_t whole = make_file(&kinds[k], 3, size, file);
        for (size_t count = 0; count < whole; count++) refuses(file, count, "is cut short");
        file[whole] = 0;
        refuses(file, whole + 1, "has 1 bytes behind the");
    }
}

/* Any byte of the header may be anything: an error or data, never a crash. */
static void survives_any_byte_in_the_header(void **state)
{
    const uint32_t size[] = {3, 2, 2};
    unsigned char file[MOST_FILE];
    (void)state;
    for (size_t at = 0; at < 16; at++)
        for (int byte = 0; byte < 256; byte++) {
            armilla_data *data = NULL;
            const size_t count = make_file(&kinds[2], 3, size, file);
            file[at] = (unsigned char)byte;
            if (read_memory(file, count, false, &data) == ARMILLA_OK)
                armilla_data_free(data);
            else
                assert_null(data);
        }
}

static void survives_refused_allocations(void **state)
{
    const uint32_t size[] = {3, 2, 2};
    unsigned char file[MOST_FILE];
    const size_t count = make_file(&kinds[3], 3, size, file);
    (void)state;
    for (int64_t k = 0; k < 2; k++) {
        armilla_data *data = NULL;
        allocator.countdown = allocator.taken + k;
        support_fails(context, read_memory(file, count, false, &data), ARMILLA_NO_MEMORY, "out of memory");
        assert_null(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_every_type),
        TEST(maps_bytes),
        TEST(refuses_what_is_no_matrix),
        TEST(survives_truncation_anywhere),
        TEST(survives_any_byte_in_the_header),
        TEST(survives_refused_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
