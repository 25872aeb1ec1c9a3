/* scipy.sparse.save_npz files: the three forms in both orientations, every index and number type, lying shapes and
 * indices, truncation and damage anywhere, refused allocations. */
#include "fixture.h"

#include "base/context.h"
#include "files/array.h"
#include "files/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

enum { MOST_BYTES = 512, ROWS = 3, COLS = 4, MEMBERS = 5 };

static char path[256];
static bool swaps; /* archives are written in the other byte order */

/* The matrix [1 0 2 0; 0 0 0 0; 0 3 4 5] in all forms. */
static const double matrix[ROWS][COLS] = {{1, 0, 2, 0}, {0, 0, 0, 0}, {0, 3, 4, 5}};

/* One array of an archive, up to 8 numbers. */
typedef struct member {
    const char *name, *descriptor; /* "i4"; "S3" for the word */
    int64_t count;                 /* below 0: that many as a column, a matrix and no vector */
    int64_t numbers[8];
    const char *word;
} member;

static int name_files(void **state)
{
    (void)state;
    support_path(path, sizeof path, "x.npz");
    return 0;
}

static void put_number(const char *descriptor, int64_t number, char *to)
{
    const int32_t i4 = (int32_t)number;
    const int8_t i1 = (int8_t)number;
    const float f4 = (float)number;
    const double f8 = (double)number;
    if (strcmp(descriptor, "i4") == 0) memcpy(to, &i4, sizeof i4);
    if (strcmp(descriptor, "i8") == 0) memcpy(to, &number, sizeof number);
    if (strcmp(descriptor, "i1") == 0) memcpy(to, &i1, sizeof i1);
    if (strcmp(descriptor, "f4") == 0) memcpy(to, &f4, sizeof f4);
    if (strcmp(descriptor, "f8") == 0) memcpy(to, &f8, sizeof f8);
}

static size_t make_member(const member *m, char bytes[MOST_BYTES])
{
    const int64_t count = llabs(m->count);
    size_t used = armilla_array_header(m->descriptor, m->word ? -1 : count, m->count < 0 ? 1 : -1, false, bytes);
    if (m->word) {
        /* The header's maker writes a byte order that NumPy does not write for words. */
        char *order = strstr(bytes + 10, m->descriptor[0] == 'U' ? "U" : "S");
        order[-1] = m->descriptor[0] == 'U' ? '<' : '|';
        for (size_t i = 0; m->word[i]; i++) {
            memset(bytes + used, 0, 4);
            bytes[used] = m->word[i];
            used += m->descriptor[0] == 'U' ? 4 : 1;
        }
        return used;
    }
    const size_t size = (size_t)(m->descriptor[1] - '0');
    if (swaps) *strchr(bytes + 10, '<') = '>';
    for (int64_t i = 0; i < count; i++, used += size) {
        put_number(m->descriptor, m->numbers[i], bytes + used);
        for (size_t k = 0; k < size / 2 && swaps; k++) {
            const char byte = bytes[used + k];
            bytes[used + k] = bytes[used + size - 1 - k];
            bytes[used + size - 1 - k] = byte;
        }
    }
    return used;
}

static void write_archive(const member members[MEMBERS], int method)
{
    char bytes[MEMBERS][MOST_BYTES], name[32];
    int error = 0;
    zip_t *archive = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &error);
    assert_non_null(archive);
    for (int i = 0; i < MEMBERS && members[i].name; i++) {
        const size_t count = make_member(&members[i], bytes[i]);
        snprintf(name, sizeof name, "%s.npy", members[i].name);
        const zip_int64_t index = zip_file_add(archive, name, zip_source_buffer(archive, bytes[i], count, 0), 0);
        assert_true(index >= 0);
        assert_int_equal(zip_set_file_compression(archive, (zip_uint64_t)index, method, 0), 0);
    }
    assert_int_equal(zip_close(archive), 0);
}

static const member csr[MEMBERS] = {{"indices", "i4", 5, {0, 2, 1, 2, 3}, NULL},
                                    {"indptr", "i4", 4, {0, 2, 2, 5}, NULL},
                                    {"format", "S3", 0, {0}, "csr"},
                                    {"shape", "i8", 2, {ROWS, COLS}, NULL},
                                    {"data", "f4", 5, {1, 2, 3, 4, 5}, NULL}};
static const member csc[MEMBERS] = {{"indices", "i8", 5, {0, 2, 0, 2, 2}, NULL},
                                    {"indptr", "i8", 5, {0, 1, 2, 4, 5}, NULL},
                                    {"format", "S3", 0, {0}, "csc"},
                                    {"shape", "i8", 2, {ROWS, COLS}, NULL},
                                    {"data", "f8", 5, {1, 3, 2, 4, 5}, NULL}};
/* Unsorted, and 4 as 1 + 3. */
static const member coo[MEMBERS] = {{"row", "i4", 6, {2, 2, 0, 2, 0, 2}, NULL},
                                    {"col", "i4", 6, {3, 2, 2, 1, 0, 2}, NULL},
                                    {"format", "U3", 0, {0}, "coo"},
                                    {"shape", "i8", 2, {ROWS, COLS}, NULL},
                                    {"data", "i1", 6, {5, 1, 2, 3, 1, 3}, NULL}};
/* CSR with falling and repeated indices. */
static const member scrambled[MEMBERS] = {{"indices", "i8", 6, {2, 0, 3, 2, 1, 2}, NULL},
                                          {"indptr", "i8", 4, {0, 2, 2, 6}, NULL},
                                          {"format", "S3", 0, {0}, "csr"},
                                          {"shape", "i4", 2, {ROWS, COLS}, NULL},
                                          {"data", "f4", 6, {2, 1, 5, 1, 3, 3}, NULL}};

static armilla_status open_path(bool sample_columns, armilla_data **data)
{
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .sample_columns = sample_columns};
    return armilla_data_open(context, path, &options, data);
}

static void check_matrix(bool sample_columns, armilla_type type)
{
    armilla_data *data = NULL;
    double sample[COLS];
    const int64_t m = sample_columns ? ROWS : COLS, n = sample_columns ? COLS : ROWS;
    support_ok(context, open_path(sample_columns, &data));
    assert_int_equal(armilla_data_features(data), m);
    assert_int_equal(armilla_data_samples(data), n);
    assert_int_equal(armilla_data_stored(data), 5);
    assert_int_equal(armilla_data_type(data), type);
    assert_string_equal(armilla_data_storage(data), type == ARMILLA_F32 ? "sparse f32" : "sparse f64");
    for (int64_t j = 0; j < n; j++) {
        support_ok(context, armilla_data_sample(context, data, j, sample));
        for (int64_t i = 0; i < m; i++) assert_true(sample[i] == (sample_columns ? matrix[i][j] : matrix[j][i]));
    }
    armilla_data_free(data);
}

static void reads_every_form(void **state)
{
    static const struct {
        const member *members;
        armilla_type type;
    } forms[] = {{csr, ARMILLA_F32}, {csc, ARMILLA_F64}, {coo, ARMILLA_F32}, {scrambled, ARMILLA_F32}};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (int compressed = 0; compressed < 2; compressed++) {
            write_archive(forms[i].members, compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE);
            for (int index64 = 0; index64 < 2; index64++) {
                context->most_narrow = index64 ? 0 : INT32_MAX;
                check_matrix(false, forms[i].type);
                check_matrix(true, forms[i].type);
            }
        }
}

/* SciPy on a machine of the other byte order: every number and the header's mark turned around. */
static void reads_the_other_byte_order(void **state)
{
    const member *const forms[] = {csr, csc, scrambled};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        swaps = true;
        write_archive(forms[i], ZIP_CM_STORE);
        swaps = false;
        check_matrix(false, forms[i] == csc ? ARMILLA_F64 : ARMILLA_F32);
        check_matrix(true, forms[i] == csc ? ARMILLA_F64 : ARMILLA_F32);
    }
}

/* Triplets are counted by entries and features first: more samples than that do not fit in narrow indices. */
static void refuses_triplets_of_too_many_samples(void **state)
{
    member members[MEMBERS];
    armilla_data *data = NULL;
    (void)state;
    memcpy(members, coo, sizeof members);
    members[3] = (member){"shape", "i8", 2, {20, COLS}, NULL};
    write_archive(members, ZIP_CM_STORE);
    context->most_narrow = 10;
    support_fails(context, open_path(false, &data), ARMILLA_BAD_DATA, "save matrix.tocsr()");
    assert_null(data);
    context->most_narrow = INT32_MAX;
    support_ok(context, open_path(false, &data));
    assert_int_equal(armilla_data_samples(data), 20);
    armilla_data_free(data);
}

/* One member of csr changed: what is said of it. */
static void refuses_change(int place, const member *changed, const char *words)
{
    member members[MEMBERS];
    armilla_data *data = NULL;
    memcpy(members, csr, sizeof members);
    members[place] = *changed;
    write_archive(members, ZIP_CM_STORE);
    support_fails(context, open_path(false, &data), ARMILLA_BAD_DATA, words);
    assert_null(data);
}

static void refuses_what_does_not_fit(void **state)
{
    static const struct {
        int place;
        member changed;
        const char *words;
    } cases[] = {
        {0, {"indices", "i4", 5, {0, 2, 1, 4, 3}, NULL}, "number 3 (counted from 0) of array indices is 4"},
        {0, {"indices", "i8", 5, {0, 2, 1, 1LL << 40, 3}, NULL}, "is 1099511627776, which is not between 0 and 3"},
        {0, {"indices", "i4", 5, {0, -2, 1, 2, 3}, NULL}, "of array indices is -2"},
        {0, {"indices", "i4", 4, {0, 2, 1, 2}, NULL}, "array indices has 4 numbers where the sparse matrix needs 5"},
        {0, {"indices", "f4", 5, {0, 2, 1, 2, 3}, NULL}, "has numbers of type f4, not indices"},
        {0, {"indices", "i1", 5, {0, 2, 1, 2, 3}, NULL}, "has numbers of type i1, not indices"},
        {0, {"indices", "i4", -5, {0, 2, 1, 2, 3}, NULL}, "array indices has 5 numbers"},
        {4, {"data", "f4", -5, {1, 2, 3, 4, 5}, NULL}, "the values of the sparse matrix are not a vector"},
        {0, {"other", "i4", 5, {0, 2, 1, 2, 3}, NULL}, "has no array 'indices'"},
        {1, {"indptr", "i4", 4, {0, 3, 2, 5}, NULL}, "the start of sparse column 2 is 2"},
        {1, {"indptr", "i4", 4, {1, 2, 2, 5}, NULL}, "the start of sparse column 0 is 1"},
        {1, {"indptr", "i4", 4, {0, 2, 2, 4}, NULL}, "does not end at the number of values"},
        {1, {"indptr", "i4", 4, {0, 2, 2, 6}, NULL}, "of array indptr is 6"},
        {1, {"indptr", "i4", 5, {0, 2, 2, 4, 5}, NULL}, "array indptr has 5 numbers where the sparse matrix needs 4"},
        {2, {"format", "S3", 0, {0}, "bsr"}, "is a sparse matrix of the form 'bsr'"},
        {2, {"format", "i4", 1, {7}, NULL}, "array format: the array holds no text (<i4)"},
        {2, {"format", "S21", 0, {0}, "a word that is longer"}, "is not a short word"},
        {3, {"shape", "i8", 2, {ROWS, 3}, NULL}, "which is not between 0 and 2"},
        {3, {"shape", "i8", 2, {1LL << 62, COLS}, NULL}, "are too many"},
        {3, {"shape", "i8", 2, {1LL << 40, COLS}, NULL}, "array indptr has 4 numbers"},
        {3, {"shape", "i8", 2, {-1, COLS}, NULL}, "at least one of each"},
        {3, {"shape", "i8", 3, {ROWS, COLS, 1}, NULL}, "array shape has 3 numbers"},
        {4, {"data", "f4", 4, {1, 2, 3, 4}, NULL}, "array indices has 5 numbers where the sparse matrix needs 4"},
        {4, {"values", "f4", 5, {1, 2, 3, 4, 5}, NULL}, "holds no matrix, but: indices (5)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuses_change(cases[i].place, &cases[i].changed, cases[i].words);
}

static void survives_truncation_anywhere(void **state)
{
    size_t count = 0;
    (void)state;
    write_archive(coo, ZIP_CM_DEFLATE);
    char *bytes = support_read_file(path, &count);
    for (size_t kept = 0; kept < count; kept++) {
        armilla_data *data = NULL;
        support_write_file(path, bytes, kept);
        assert_int_equal(open_path(false, &data), ARMILLA_BAD_DATA);
        assert_null(data);
    }
    free(bytes);
}

/* Whatever a changed byte does, it is a clear error or a matrix. */
static void survives_any_changed_byte(void **state)
{
    size_t count = 0;
    (void)state;
    write_archive(scrambled, ZIP_CM_STORE);
    char *bytes = support_read_file(path, &count);
    for (size_t i = 0; i < count; i++)
        for (int turn = 1; turn < 256; turn *= 5) {
            const armilla_read_options options = {.size = sizeof(armilla_read_options), .sample_columns = i % 2};
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
    const member *const forms[] = {csr, csc, coo, scrambled};
    (void)state;
    for (size_t form = 0; form < 4; form++)
        for (int all = 0; all < 2; all++) {
            write_archive(forms[form], ZIP_CM_STORE);
            for (int64_t k = 0;; k++) {
                support_allocator failing = SUPPORT_ALLOCATOR;
                armilla_context *own = support_context_with(&failing);
                armilla_data *data = NULL;
                failing.countdown = failing.taken + k;
                failing.fail_all_after = all;
                const armilla_status status = armilla_data_open(own, path, NULL, &data);
                armilla_data_free(data);
                armilla_context_free(own);
                assert_int_equal(failing.live, 0);
                if (status == ARMILLA_OK) break;
                assert_int_equal(status, ARMILLA_NO_MEMORY);
                assert_true(k < 1000);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_every_form),
        TEST(reads_the_other_byte_order),
        TEST(refuses_triplets_of_too_many_samples),
        TEST(refuses_what_does_not_fit),
        TEST(survives_truncation_anywhere),
        TEST(survives_any_changed_byte),
        TEST(survives_refused_allocations),
    };
    return cmocka_run_group_tests(tests, name_files, NULL);
}
