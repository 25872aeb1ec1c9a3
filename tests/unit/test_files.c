/* Opening files: the formats table, and bytes from files, pipes and failing disks. */
#include "faults.h"
#include "fixture.h"

#include "base/number.h"

#include "files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[256];

static int name_files(void **state)
{
    (void)state;
    support_path(path, sizeof path, "data.csv");
    return 0;
}

static void lists_its_formats(void **state)
{
    (void)state;
    size_t count = 0;
    for (; armilla_formats_row(count); count++) {
        const armilla_format *row = armilla_formats_row(count);
        assert_ptr_equal(armilla_formats_find(row->name), row);
        assert_true(row->endings[0] && row->meaning[0] && (row->read || row->read_directory));
    }
    assert_true(count >= 2);
    assert_null(armilla_formats_find("none"));
    assert_null(armilla_formats_row(1000));
}

static void maps_regular_files(void **state)
{
    (void)state;
    armilla_bytes bytes;
    support_write_file(path, "1,2\n", 4);
    support_ok(context, armilla_bytes_open(context, path, &bytes));
    assert_non_null(bytes.map);
    assert_null(bytes.memory);
    assert_int_equal(bytes.count, 4);
    assert_memory_equal(bytes.start, "1,2\n", 4);
    armilla_bytes_free(context, &bytes);
    assert_null(bytes.start);
}

/* Memory is asked for in steps; what was not used is given back. */
static void shrinks_what_a_pipe_gave(void **state)
{
    (void)state;
    enum { COUNT = 3 << 20 };
    armilla_bytes bytes;
    assert_int_equal(mkfifo(path, 0600), 0);
    const pid_t child = fork();
    if (child == 0) {
        char line[1024];
        memset(line, '7', sizeof line);
        const int pipe = open(path, O_WRONLY);
        for (int i = 0; i < COUNT / 1024; i++)
            if (write(pipe, line, sizeof line) != (ssize_t)sizeof line) _exit(1);
        _exit(0);
    }
    support_ok(context, armilla_bytes_open(context, path, &bytes));
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(bytes.count, COUNT);
    assert_null(bytes.map);
    assert_true(allocator.largest > COUNT);
    assert_in_range(allocator.newest, COUNT, COUNT + 64); /* a block has a header */
    for (size_t i = 0; i < COUNT; i++) assert_int_equal(bytes.start[i], '7');
    armilla_bytes_free(context, &bytes);
}

static void reads_pipes(void **state)
{
    (void)state;
    armilla_data *data = NULL;
    assert_int_equal(mkfifo(path, 0600), 0);
    const pid_t child = fork();
    if (child == 0) {
        const int pipe = open(path, O_WRONLY);
        for (int i = 0; i < 400000; i++)
            if (write(pipe, "1,2,3\n", 6) != 6) _exit(1);
        _exit(0);
    }
    support_ok(context, armilla_data_open(context, path, NULL, &data));
    assert_int_equal(armilla_data_samples(data), 400000);
    assert_int_equal(armilla_data_features(data), 3);
    armilla_data_free(data);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void says_why_it_cannot_open(void **state)
{
    (void)state;
    armilla_data *data = NULL;
    char directory[256];
    support_fails(context, armilla_data_open(context, path, NULL, &data), ARMILLA_CANNOT_OPEN,
                  "data.csv: cannot be opened: No such file");
    support_fails(context, armilla_data_open(context, NULL, NULL, &data), ARMILLA_BAD_ARGUMENT, "path is NULL");
    support_path(directory, sizeof directory, "");
    support_fails(context, armilla_data_open(context, directory, NULL, &data), ARMILLA_CANNOT_OPEN, "is a directory");
    support_write_file(path, "", 0);
    support_fails(context, armilla_data_open(context, path, NULL, &data), ARMILLA_BAD_DATA, "data.csv: is empty");
    support_fails(context, armilla_data_open(context, "/dev/null", NULL, &data), ARMILLA_BAD_DATA,
                  "/dev/null: is empty");
    if (geteuid() != 0) {
        assert_int_equal(chmod(path, 0), 0);
        support_fails(context, armilla_data_open(context, path, NULL, &data), ARMILLA_CANNOT_OPEN, "Permission denied");
    }
    assert_null(data);
}

static void chooses_the_format(void **state)
{
    (void)state;
    armilla_data *data = NULL;
    armilla_read_options options = {.size = sizeof(armilla_read_options), .format = "cvs"};
    char odd[256];
    support_write_file(path, "1,2\n", 4);
    support_fails(context, armilla_data_open(context, path, &options, &data), ARMILLA_BAD_ARGUMENT,
                  "format 'cvs' is unknown; choices: npy (.npy), npz (.npz), mtx (.mtx .mm)");
    options.format = "npy";
    support_fails(context, armilla_data_open(context, path, &options, &data), ARMILLA_BAD_DATA, "is not an .npy array");
    support_path(odd, sizeof odd, "data.odd");
    support_write_file(odd, "1,2\n", 4);
    support_fails(context, armilla_data_open(context, odd, NULL, &data), ARMILLA_BAD_DATA,
                  "data.odd: this kind of file is unknown; name its format (format): npy (.npy), npz (.npz), mtx");
    options.format = "csv";
    support_ok(context, armilla_data_open(context, odd, &options, &data));
    armilla_data_free(data);
    data = NULL;
    support_write_file(odd, "\x1f\x8b\x08", 3);
    support_fails(context, armilla_data_open(context, odd, NULL, &data), ARMILLA_BAD_DATA, "gzip data do not end");
    support_write_file(odd, "\x93NUMPY", 6); /* known by its content, whatever the name */
    support_fails(context, armilla_data_open(context, odd, NULL, &data), ARMILLA_BAD_DATA, "is cut short");
    assert_null(data);
}

/* Of the table's calls stat is left alone, and mappings are refused. */
static void use_faults(void)
{
    static armilla_io io;
    io = fault_io;
    io.stat = stat;
    fault.no_map = true;
    context->io = &io;
}

static armilla_status open_with_fault(int at, int error)
{
    armilla_data *data = NULL;
    fault_set(at, error);
    const armilla_status status = armilla_data_open(context, path, NULL, &data);
    if (status == ARMILLA_OK) assert_int_equal(armilla_data_samples(data), 2);
    armilla_data_free(data);
    return status;
}

static void survives_every_fault(void **state)
{
    (void)state;
    support_write_file(path, "1,2.125\n3,4\n", 12);
    use_faults();
    support_fails(context, open_with_fault(0, EACCES), ARMILLA_CANNOT_OPEN, armilla_error_text(EACCES));
    support_fails(context, open_with_fault(1, EIO), ARMILLA_CANNOT_OPEN, armilla_error_text(EIO));
    for (int k = 2; k < 6; k++) /* three reads, and the one that finds the end */
        support_fails(context, open_with_fault(k, EIO), ARMILLA_IO_ERROR, "data.csv: reading failed after");
    support_ok(context, open_with_fault(6, EIO)); /* closing what was read */
    support_ok(context, open_with_fault(100, EIO));
    support_ok(context, open_with_fault(0, EINTR));
    for (int k = 2; k < 7; k++) support_ok(context, open_with_fault(k, EINTR));
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    bool refused = true;
    support_write_file(path, "1,2\n3,4\n", 8);
    use_faults();
    for (int64_t k = 0; refused; k++) {
        allocator.countdown = allocator.taken + k;
        const armilla_status status = open_with_fault(100, EIO);
        refused = status != ARMILLA_OK;
        if (refused) support_fails(context, status, ARMILLA_NO_MEMORY, "out of memory");
        assert_true(refused || k > 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lists_its_formats),    TEST(maps_regular_files),           TEST(shrinks_what_a_pipe_gave),
        TEST(reads_pipes),          TEST(says_why_it_cannot_open),      TEST(chooses_the_format),
        TEST(survives_every_fault), TEST(survives_refused_allocations),
    };
    return cmocka_run_group_tests_name("files", tests, name_files, NULL);
}
