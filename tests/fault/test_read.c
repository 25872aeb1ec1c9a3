/* Every system call of reading made to fail in turn, for every format: a clear status, no descriptor and no memory
 * lost; interruptions and short reads change nothing. */
#include "base/context.h"
#include "unit/support.h"

#include <armilla/data.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_CALLS = 200 };

static struct {
    int calls, at, error;
    bool hit, only_interruptible, no_map;
} fault;

static bool fails(bool interruptible)
{
    if (fault.only_interruptible && !interruptible) return false;
    if (fault.calls++ != fault.at) return false;
    fault.hit = true;
    errno = fault.error;
    return true;
}

static int fault_open(const char *path, int flags, mode_t mode)
{
    return fails(true) ? -1 : armilla_io_system.open(path, flags, mode);
}

static ssize_t fault_read(int file, void *bytes, size_t count)
{
    return fails(true) ? -1 : read(file, bytes, count < 5 ? count : 5); /* every transfer is short */
}

static int fault_close(int file)
{
    close(file);
    return fails(true) ? -1 : 0;
}

static int fault_stat(const char *path, struct stat *facts)
{
    return fails(false) ? -1 : stat(path, facts);
}

static int fault_fstat(int file, struct stat *facts)
{
    return fails(false) ? -1 : fstat(file, facts);
}

static DIR *fault_opendir(const char *path)
{
    return fails(false) ? NULL : opendir(path);
}

static struct dirent *fault_readdir(DIR *directory)
{
    return fails(false) ? NULL : readdir(directory);
}

static void *fault_map(void *address, size_t count, int protection, int flags, int file, off_t offset)
{
    if (fault.no_map || fails(false)) return MAP_FAILED;
    return mmap(address, count, protection, flags, file, offset);
}

static const armilla_io fault_io = {
    .open = fault_open,
    .read = fault_read,
    .close = fault_close,
    .stat = fault_stat,
    .fstat = fault_fstat,
    .opendir = fault_opendir,
    .readdir = fault_readdir,
    .closedir = closedir,
    .map = fault_map,
};

static const char matrix[] = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n2 2 4\n";

static const struct input {
    const char *file, *content;
} inputs[] = {
    {"t.csv", "1,2\n3,4\n"},
    {"t.mtx", matrix},
    {"t.svm", "1 1:2\n-1 2:3\n"},
    {"t.pgm", "P2 2 2 9\n1 2\n3 9\n"},
    {"ten/matrix.mtx", matrix},
    {"ten/features.tsv", "a\nb\n"},
    {"ten/barcodes.tsv", "c\nd\n"},
    {"pictures/1.pgm", "P2 2 2 9\n1 2\n3 9\n"},
    {"pictures/2.pgm", "P2 2 2 9\n4 3\n2 1\n"},
};

static const char *const opened[] = {"t.csv", "t.mtx", "t.svm", "t.pgm", "t.npy", "t.npz", "ten", "pictures"};

enum { OPENED = sizeof opened / sizeof *opened };

static int write_inputs(void **state)
{
    char path[256], to[256];
    armilla_context *context = support_context();
    armilla_data *data = NULL;
    (void)state;
    assert_int_equal(mkdir(support_path(path, sizeof path, "ten"), 0700), 0);
    assert_int_equal(mkdir(support_path(path, sizeof path, "pictures"), 0700), 0);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        support_write_file(support_path(path, sizeof path, inputs[i].file), inputs[i].content,
                           strlen(inputs[i].content));
    support_ok(context, armilla_data_open(context, support_path(path, sizeof path, "t.csv"), NULL, &data));
    support_ok(context, armilla_data_write(context, data, support_path(to, sizeof to, "t.npy"), NULL));
    support_ok(context, armilla_data_write(context, data, support_path(to, sizeof to, "t.npz"), NULL));
    armilla_data_free(data);
    armilla_context_free(context);
    return 0;
}

static int next_descriptor(void)
{
    const int file = open("/dev/null", O_RDONLY);
    close(file);
    return file;
}

/* One reading with call k failing. */
static armilla_status read_once(const char *path, int k, int error)
{
    support_allocator allocator = SUPPORT_ALLOCATOR;
    armilla_context *context = support_context_with(&allocator);
    const armilla_read_options options = {.threads = 1};
    armilla_data *data = NULL;
    fault.calls = 0;
    fault.at = k;
    fault.error = error;
    fault.hit = false;
    context->io = &fault_io;
    const armilla_status status = armilla_data_open(context, path, &options, &data);
    assert_true((status == ARMILLA_OK) == (data != NULL));
    if (status != ARMILLA_OK) {
        assert_true(fault.hit);
        assert_non_null(strstr(armilla_context_error(context), path));
        assert_true(status == ARMILLA_CANNOT_OPEN || status == ARMILLA_IO_ERROR || status == ARMILLA_BAD_DATA);
    }
    armilla_data_free(data);
    armilla_context_free(context);
    assert_int_equal(allocator.live, 0);
    return status;
}

/* k = 0, 1, 2, ... until nothing fails any more; how many of them ended the reading. */
static int fail_each(const char *name, int error)
{
    char path[256];
    int ended = 0, k = 0;
    support_path(path, sizeof path, name);
    do ended += read_once(path, k, error) != ARMILLA_OK;
    while (fault.hit && ++k < MOST_CALLS);
    assert_true(k > 2 && k < MOST_CALLS);
    return ended;
}

static void every_call_fails_in_turn(void **state)
{
    const int errors[] = {EIO, ENOMEM, EACCES}, before = next_descriptor();
    (void)state;
    fault.only_interruptible = false;
    for (int no_map = 0; no_map < 2; no_map++)
        for (int i = 0; i < OPENED; i++)
            for (int e = 0; e < 3; e++) {
                fault.no_map = no_map;
                assert_true(fail_each(opened[i], errors[e]) >= (no_map ? 3 : 2)); /* open, fstat, a read */
            }
    assert_int_equal(next_descriptor(), before);
}

static void interruptions_change_nothing(void **state)
{
    (void)state;
    fault.only_interruptible = true;
    fault.no_map = true;
    for (int i = 0; i < OPENED; i++) assert_int_equal(fail_each(opened[i], EINTR), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_fails_in_turn),
        cmocka_unit_test(interruptions_change_nothing),
    };
    return cmocka_run_group_tests_name("read faults", tests, write_inputs, NULL);
}
