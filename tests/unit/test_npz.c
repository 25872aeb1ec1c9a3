/* .npz: round trips, equal bytes, what NumPy or others write, and damaged archives. */
#include "fixture.h"

#include "files/files.h"
#include "files/npz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

static char path[256];

static const double U[6] = {1, 2, 3, 4, 5, 6};
static const float V[4] = {0.5f, 1.5f, -2.5f, 1e30f};
static const double radius = 3.25;
static const double trace[3] = {9, 8, 7};
static const char meta[] = "{\"format\": 1, \"name\": \"\xc3\xa9\"}";

static int name_files(void **state)
{
    (void)state;
    support_path(path, sizeof path, "model.npz");
    return 0;
}

static armilla_status write_model(armilla_context *with, const char *to, bool overwrite)
{
    armilla_npz_writer *writer = NULL;
    armilla_status status = armilla_npz_writer_new(with, to, overwrite, &writer);
    if (status != ARMILLA_OK) return status;
    /* The statuses on the way are dropped on purpose: the commit has to remember them. */
    (void)armilla_npz_writer_add(writer, "U", ARMILLA_F64, (int64_t[]){3, 2}, true, U);
    (void)armilla_npz_writer_add(writer, "V", ARMILLA_F32, (int64_t[]){2, 2}, false, V);
    (void)armilla_npz_writer_add(writer, "radius", ARMILLA_F64, (int64_t[]){-1, -1}, false, &radius);
    (void)armilla_npz_writer_add(writer, "trace", ARMILLA_F64, (int64_t[]){3, -1}, false, trace);
    (void)armilla_npz_writer_add_text(writer, "meta", meta);
    status = armilla_npz_writer_commit(writer);
    armilla_npz_writer_free(writer);
    return status;
}

/* Opens and reads every array; what can be read must be what was written. */
static armilla_status read_model(armilla_context *with, const char *from)
{
    armilla_npz *npz = NULL;
    double *u = NULL, *r = NULL;
    float *v = NULL;
    char *text = NULL;
    int64_t three = 3, any_u = 0, rows = 0, cols = 0, none = -1;
    armilla_status status = armilla_npz_open(with, from, &npz);
    if (status == ARMILLA_OK) status = armilla_npz_read(npz, "U", ARMILLA_F64, &three, &any_u, &u);
    if (status == ARMILLA_OK) status = armilla_npz_read(npz, "V", ARMILLA_F32, &rows, &cols, &v);
    if (status == ARMILLA_OK) status = armilla_npz_read(npz, "radius", ARMILLA_F64, &none, &none, &r);
    if (status == ARMILLA_OK) status = armilla_npz_read_text(npz, "meta", &text);
    if (status == ARMILLA_OK) {
        assert_true(any_u == 2 && rows == 2 && cols == 2);
        assert_memory_equal(u, U, sizeof U);
        assert_true(v[0] == V[0] && v[1] == V[2] && v[2] == V[1] && v[3] == V[3]);
        assert_true(*r == radius);
        assert_string_equal(text, meta);
    }
    armilla_release(with, u);
    armilla_release(with, v);
    armilla_release(with, r);
    armilla_release(with, text);
    armilla_npz_free(npz);
    return status;
}

static void gives_back_what_was_written(void **state)
{
    (void)state;
    support_ok(context, write_model(context, path, false));
    support_ok(context, read_model(context, path));
    support_fails(context, write_model(context, path, false), ARMILLA_CANNOT_CREATE, "exists already");
    assert_int_equal(support_entries(), 1);
}

static void gives_equal_bytes(void **state)
{
    (void)state;
    char other[256];
    size_t first_count = 0, second_count = 0;
    support_path(other, sizeof other, "other.npz");
    support_ok(context, write_model(context, path, false));
    support_ok(context, write_model(context, other, false));
    char *first = support_read_file(path, &first_count), *second = support_read_file(other, &second_count);
    assert_int_equal(first_count, second_count);
    assert_memory_equal(first, second, first_count);
    free(first);
    free(second);
}

static void converts_types_and_tells_them(void **state)
{
    (void)state;
    armilla_npz *npz = NULL;
    float *u = NULL;
    double *v = NULL, *t = NULL;
    int64_t rows = 3, cols = 2, two = 2, any = 0, vector = -1;
    armilla_type type = ARMILLA_F32;
    support_ok(context, write_model(context, path, false));
    support_ok(context, armilla_npz_open(context, path, &npz));
    assert_true(armilla_npz_has(npz, "U") && armilla_npz_has(npz, "meta"));
    assert_false(armilla_npz_has(npz, "W") || armilla_npz_has(npz, "") || armilla_npz_has(npz, "U.npy"));
    support_ok(context, armilla_npz_type(npz, "U", &type));
    assert_int_equal(type, ARMILLA_F64);
    support_ok(context, armilla_npz_type(npz, "V", &type));
    assert_int_equal(type, ARMILLA_F32);
    support_ok(context, armilla_npz_read(npz, "U", ARMILLA_F32, &rows, &cols, &u));
    for (int i = 0; i < 6; i++) assert_true(u[i] == (float)U[i]);
    support_ok(context, armilla_npz_read(npz, "V", ARMILLA_F64, &two, &any, &v));
    assert_true(v[0] == (double)V[0] && v[1] == (double)V[2] && v[2] == (double)V[1] && v[3] == (double)V[3]);
    any = 0;
    support_ok(context, armilla_npz_read(npz, "trace", ARMILLA_F64, &any, &vector, &t));
    assert_int_equal(any, 3);
    assert_memory_equal(t, trace, sizeof trace);
    armilla_release(context, u);
    armilla_release(context, v);
    armilla_release(context, t);
    armilla_npz_free(npz);
}

static void says_what_does_not_fit(void **state)
{
    (void)state;
    armilla_npz *npz = NULL;
    double *values = NULL;
    char *text = NULL;
    armilla_type type;
    int64_t four = 4, any = 0, none = -1;
    support_ok(context, write_model(context, path, false));
    support_ok(context, armilla_npz_open(context, path, &npz));
    support_fails(context, armilla_npz_read(npz, "W", ARMILLA_F64, &any, &any, &values), ARMILLA_BAD_DATA,
                  "model.npz: has no array 'W'");
    support_fails(context, armilla_npz_read(npz, "U", ARMILLA_F64, &four, &any, &values), ARMILLA_BAD_DATA,
                  "model.npz: array U: has the shape (3, 2), and (4, any) is expected");
    support_fails(context, armilla_npz_read(npz, "U", ARMILLA_F64, &any, &none, &values), ARMILLA_BAD_DATA,
                  "(any,) is expected");
    support_fails(context, armilla_npz_read(npz, "radius", ARMILLA_F64, &any, &any, &values), ARMILLA_BAD_DATA,
                  "has the shape (), and (any, any)");
    support_fails(context, armilla_npz_read(npz, "trace", ARMILLA_F64, &none, &none, &values), ARMILLA_BAD_DATA,
                  "has the shape (3,), and ()");
    support_fails(context, armilla_npz_read(npz, "meta", ARMILLA_F64, &any, &none, &values), ARMILLA_BAD_DATA,
                  "type u1, and f4 or f8 are expected");
    support_fails(context, armilla_npz_type(npz, "meta", &type), ARMILLA_BAD_DATA,
                  "array meta: holds numbers of type u1");
    support_fails(context, armilla_npz_read_text(npz, "U", &text), ARMILLA_BAD_DATA, "bytes (u1) are expected");
    assert_true(any == 0 && !values && !text);
    armilla_npz_free(npz);
}

static void says_why_it_cannot_open(void **state)
{
    (void)state;
    armilla_npz *npz = NULL;
    support_fails(context, armilla_npz_open(context, path, &npz), ARMILLA_CANNOT_OPEN, "model.npz: cannot be opened");
    support_write_file(path, "", 0);
    support_fails(context, armilla_npz_open(context, path, &npz), ARMILLA_BAD_DATA, "is empty");
    support_write_file(path, "1,2,3\n", 6);
    support_fails(context, armilla_npz_open(context, path, &npz), ARMILLA_BAD_DATA, "is not a whole .npz archive");
    assert_null(npz);
}

static void is_no_data(void **state)
{
    (void)state;
    armilla_data *data = NULL;
    support_ok(context, write_model(context, path, false));
    support_fails(context, armilla_data_open(context, path, NULL, &data), ARMILLA_BAD_DATA, "is a model, not data");
}

/* An archive by libzip with one entry of the method. */
static void make_archive(const char *name, const void *bytes, size_t count, int method)
{
    int error = 0;
    zip_t *archive = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &error);
    assert_non_null(archive);
    zip_source_t *source = zip_source_buffer(archive, bytes, count, 0);
    const zip_int64_t index = zip_file_add(archive, name, source, 0);
    assert_true(index >= 0);
    assert_int_equal(zip_set_file_compression(archive, (zip_uint64_t)index, method, 0), 0);
    assert_int_equal(zip_close(archive), 0);
}

static void reads_what_is_compressed(void **state)
{
    (void)state;
    const int64_t n = 50000;
    char *file = calloc(1, 128 + (size_t)n * 8);
    armilla_npz *npz = NULL;
    double *values = NULL;
    int64_t rows = 0, cols = 1;
    const size_t used = armilla_array_header("f8", n, 1, false, file);
    make_archive("X.npy", file, used + (size_t)n * 8, ZIP_CM_DEFLATE);
    support_ok(context, armilla_npz_open(context, path, &npz));
    support_ok(context, armilla_npz_read(npz, "X", ARMILLA_F64, &rows, &cols, &values));
    assert_int_equal(rows, n);
    for (int64_t i = 0; i < n; i++) assert_true(values[i] == 0);
    armilla_release(context, values);
    armilla_npz_free(npz);
    free(file);
}

/* The archive's directory says 3 GB of a few hundred bytes: refused before memory is taken. */
static void refuses_bombs(void **state)
{
    (void)state;
    char *file = calloc(1, 128 + 8000);
    size_t count = 0;
    armilla_npz *npz = NULL;
    double *values = NULL;
    int64_t rows = 0, cols = -1;
    armilla_array_header("f8", 1000, -1, false, file);
    make_archive("X.npy", file, 128 + 8000, ZIP_CM_DEFLATE);
    free(file);
    char *bytes = support_read_file(path, &count);
    char *central = memmem(bytes, count, "PK\x01\x02", 4);
    assert_non_null(central);
    memcpy(central + 24, "\0\0\0\xb2", 4);
    support_write_file(path, bytes, count);
    free(bytes);
    support_ok(context, armilla_npz_open(context, path, &npz));
    const int64_t before = allocator.taken;
    support_fails(context, armilla_npz_read(npz, "X", ARMILLA_F64, &rows, &cols, &values), ARMILLA_BAD_DATA,
                  "X: declares 2986344448 bytes out of");
    assert_int_equal(allocator.taken, before);
    armilla_npz_free(npz);
}

static void refuses_other_methods(void **state)
{
    (void)state;
    armilla_npz *npz = NULL;
    armilla_type type;
    char zeros[1000] = "";
    if (!zip_compression_method_supported(ZIP_CM_BZIP2, 1)) skip();
    make_archive("X.npy", zeros, sizeof zeros, ZIP_CM_BZIP2);
    support_ok(context, armilla_npz_open(context, path, &npz));
    support_fails(context, armilla_npz_type(npz, "X", &type), ARMILLA_BAD_DATA, "compressed by method 12");
    armilla_npz_free(npz);
}

static void survives_truncation_anywhere(void **state)
{
    (void)state;
    size_t count = 0;
    support_ok(context, write_model(context, path, false));
    char *bytes = support_read_file(path, &count);
    for (size_t cut = 0; cut < count; cut++) {
        support_write_file(path, bytes, cut);
        assert_int_equal(read_model(context, path), ARMILLA_BAD_DATA);
    }
    free(bytes);
}

/* The checksum guards the numbers: a changed byte is refused, or in a place that says nothing (dates, attributes). */
static void survives_any_changed_byte(void **state)
{
    (void)state;
    size_t count = 0;
    int refused = 0;
    support_ok(context, write_model(context, path, false));
    char *bytes = support_read_file(path, &count);
    for (size_t at = 0; at < count; at++)
        for (int bit = 0; bit < 8; bit += 7) {
            bytes[at] = (char)(bytes[at] ^ 1 << bit);
            support_write_file(path, bytes, count);
            refused += read_model(context, path) != ARMILLA_OK;
            bytes[at] = (char)(bytes[at] ^ 1 << bit);
        }
    assert_true(refused > (int)count);
    free(bytes);
}

/* More entries than the old records can count. */
static void counts_past_65535(void **state)
{
    (void)state;
    armilla_npz_writer *writer = NULL;
    armilla_npz *npz = NULL;
    int64_t none = -1;
    support_ok(context, armilla_npz_writer_new(context, path, false, &writer));
    for (int i = 0; i < 70000; i++) {
        char name[16];
        const double value = i;
        snprintf(name, sizeof name, "a%d", i);
        support_ok(context, armilla_npz_writer_add(writer, name, ARMILLA_F64, (int64_t[]){-1, -1}, false, &value));
    }
    support_ok(context, armilla_npz_writer_commit(writer));
    armilla_npz_writer_free(writer);
    support_ok(context, armilla_npz_open(context, path, &npz));
    for (int i = 0; i < 70000; i += 13999) {
        char name[16];
        double *value = NULL;
        snprintf(name, sizeof name, "a%d", i);
        support_ok(context, armilla_npz_read(npz, name, ARMILLA_F64, &none, &none, &value));
        assert_true(*value == i);
        armilla_release(context, value);
    }
    armilla_npz_free(npz);
}

static void writes_empty_and_refuses_impossible(void **state)
{
    (void)state;
    armilla_npz_writer *writer = NULL;
    armilla_npz *npz = NULL;
    double *values = NULL;
    char *text = NULL;
    int64_t rows = 0, cols = -1;
    support_ok(context, armilla_npz_writer_new(context, path, false, &writer));
    support_ok(context, armilla_npz_writer_add(writer, "none", ARMILLA_F64, (int64_t[]){0, -1}, false, NULL));
    support_ok(context, armilla_npz_writer_add_text(writer, "text", ""));
    support_ok(context, armilla_npz_writer_commit(writer));
    armilla_npz_writer_free(writer);
    support_ok(context, armilla_npz_open(context, path, &npz));
    support_ok(context, armilla_npz_read(npz, "none", ARMILLA_F64, &rows, &cols, &values));
    support_ok(context, armilla_npz_read_text(npz, "text", &text));
    assert_int_equal(rows, 0);
    assert_string_equal(text, "");
    armilla_release(context, values);
    armilla_release(context, text);
    armilla_npz_free(npz);
    support_ok(context, armilla_npz_writer_new(context, path, true, &writer));
    support_fails(context, armilla_npz_writer_add(writer, "X", ARMILLA_F64, (int64_t[]){INT64_MAX, 2}, false, NULL),
                  ARMILLA_BAD_ARGUMENT, "array X");
    assert_int_equal(armilla_npz_writer_commit(writer), ARMILLA_BAD_ARGUMENT);
    armilla_npz_writer_free(writer);
    assert_int_equal(support_entries(), 1);
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    bool refused = true;
    for (int64_t k = 0; refused; k++) {
        support_clean();
        allocator.countdown = allocator.taken + k;
        const armilla_status status = write_model(context, path, false);
        refused = status != ARMILLA_OK;
        if (refused) support_fails(context, status, ARMILLA_NO_MEMORY, "out of memory");
        assert_int_equal(support_entries(), refused ? 0 : 1);
        assert_true(refused || k > 8);
    }
    refused = true;
    for (int64_t k = 0; refused; k++) {
        allocator.countdown = allocator.taken + k;
        const armilla_status status = read_model(context, path);
        refused = status != ARMILLA_OK;
        if (refused) support_fails(context, status, ARMILLA_NO_MEMORY, "out of memory");
        assert_true(refused || k > 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(gives_back_what_was_written),
        TEST(gives_equal_bytes),
        TEST(converts_types_and_tells_them),
        TEST(says_what_does_not_fit),
        TEST(says_why_it_cannot_open),
        TEST(is_no_data),
        TEST(reads_what_is_compressed),
        TEST(refuses_bombs),
        TEST(refuses_other_methods),
        TEST(survives_truncation_anywhere),
        TEST(survives_any_changed_byte),
        TEST(counts_past_65535),
        TEST(writes_empty_and_refuses_impossible),
        TEST(survives_refused_allocations),
    };
    return cmocka_run_group_tests_name("npz", tests, name_files, NULL);
}
