/* The writer of archives against libzip: old records, zip64 records, and both in one archive. */
#include "fixture.h"

#include "files/zip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

/* The last entry and the directory begin there: 30 bytes and a name of 7 are before each entry. */
enum { ENTRIES = 5, LONGEST = 900, LAST = 0 + 1 + 300 + LONGEST + 4 * 37, END = LAST + 77 + 37 };

static const size_t sizes[ENTRIES] = {0, 1, 300, LONGEST, 77};
static char path[256];

static int name_files(void **state)
{
    (void)state;
    support_path(path, sizeof path, "x.zip");
    return 0;
}

static void fill(int entry, char bytes[LONGEST])
{
    for (size_t i = 0; i < sizes[entry]; i++) bytes[i] = (char)((size_t)entry + 31 * i);
}

/* An entry, in two parts. */
static armilla_status put_entry(void *self, armilla_zip *zip)
{
    char bytes[LONGEST];
    const int *entry = self;
    const size_t cut = sizes[*entry] / 3;
    fill(*entry, bytes);
    const armilla_status status = armilla_zip_put(zip, bytes, cut);
    return status == ARMILLA_OK ? armilla_zip_put(zip, bytes + cut, sizes[*entry] - cut) : status;
}

static void write_archive(uint32_t full)
{
    armilla_output *output = NULL;
    armilla_zip *zip = NULL;
    support_ok(context, armilla_output_new(context, path, true, &output));
    support_ok(context, armilla_zip_new(context, output, &zip));
    armilla_zip_set_full(zip, full);
    for (int i = 0; i < ENTRIES; i++) {
        char name[32];
        snprintf(name, sizeof name, "entry %d", i);
        support_ok(context, armilla_zip_add_made(zip, name, &(armilla_zip_source){put_entry, &i}));
    }
    support_ok(context, armilla_zip_finish(zip));
    support_ok(context, armilla_output_commit(output));
    armilla_zip_free(zip);
    armilla_output_free(output);
}

static void check_archive(void)
{
    int error = 0;
    zip_t *archive = zip_open(path, ZIP_RDONLY | ZIP_CHECKCONS, &error);
    assert_non_null(archive);
    assert_int_equal(zip_get_num_entries(archive, 0), ENTRIES);
    for (int i = 0; i < ENTRIES; i++) {
        char wanted[LONGEST], got[LONGEST + 1], name[16];
        fill(i, wanted);
        snprintf(name, sizeof name, "entry %d", i);
        assert_string_equal(zip_get_name(archive, (zip_uint64_t)i, 0), name);
        zip_file_t *file = zip_fopen_index(archive, (zip_uint64_t)i, 0);
        assert_non_null(file);
        assert_int_equal(zip_fread(file, got, sizeof got), sizes[i]);
        assert_memory_equal(got, wanted, sizes[i]);
        assert_int_equal(zip_fread(file, got, 1), 0); /* the checksum holds */
        assert_int_equal(zip_fclose(file), 0);
    }
    zip_discard(archive);
}

static bool has_zip64(void)
{
    size_t count = 0;
    char *bytes = support_read_file(path, &count);
    const bool found = memmem(bytes, count, "PK\6\7", 4) != NULL;
    free(bytes);
    return found;
}

/* Sizes beyond the bound, offsets beyond it, both, only the end of the directory, none. */
static void is_read_with_records_of_every_kind(void **state)
{
    static const uint32_t bounds[] = {1, 2, 100, 301, LONGEST, LONGEST + 1, LAST, LAST + 1, END};
    (void)state;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        write_archive(bounds[i]);
        assert_true(has_zip64());
        check_archive();
    }
    static const uint32_t beyond[] = {END + 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        write_archive(beyond[i]);
        assert_false(has_zip64());
        check_archive();
    }
}

static void refuses_names_that_do_not_fit(void **state)
{
    char name[300];
    armilla_output *output = NULL;
    armilla_zip *zip = NULL;
    (void)state;
    memset(name, 'n', sizeof name);
    name[256] = '\0';
    support_ok(context, armilla_output_new(context, path, true, &output));
    support_ok(context, armilla_zip_new(context, output, &zip));
    support_fails(context, armilla_zip_begin(zip, name, 0, 0), ARMILLA_BAD_ARGUMENT, "longer than 255 bytes");
    name[255] = '\0';
    support_ok(context, armilla_zip_begin(zip, name, 0, 0));
    armilla_zip_free(zip);
    armilla_output_free(output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(is_read_with_records_of_every_kind),
        TEST(refuses_names_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, name_files, NULL);
}
