/* The power fails while a checkpoint is being replaced. A file system in memory forgets what was not flushed: of a file
 * the bytes since its last fsync, of the directory what happened since its own, or not, as real ones do. Whenever that
 * is, the old checkpoint or the new one is there, whole. */
#include "fixture.h"

#include "base/context.h"
#include "files/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 4, MOST_NAMES = 4, NAME = 64, FIRST = 1000, DIRECTORY = 2000, COUNT = 3000 };
#define PATH "fit.checkpoint"

/* Bytes as the program sees them, and as many of them as have reached the disk. */
typedef struct node {
    char *bytes;
    size_t count, flushed;
} node;

/* Which node has a name; -1: the place is free. */
typedef struct names {
    struct {
        char name[NAME];
        int node;
    } entries[MOST_NAMES];
} names;

static struct {
    node nodes[MOST_FILES];
    int made;
    names seen, flushed; /* the directory, and what of it has reached the disk */
    int calls, at;       /* the power fails at that call; -1: it does not */
    bool forgetful;      /* fsync does nothing: then the test has to find that */
} disk;

static bool has_power(void)
{
    const bool on = disk.at < 0 || disk.calls < disk.at;
    disk.calls++;
    if (!on) errno = EIO;
    return on;
}

static int find(const names *directory, const char *name)
{
    for (int i = 0; i < MOST_NAMES; i++)
        if (directory->entries[i].node >= 0 && strcmp(directory->entries[i].name, name) == 0) return i;
    return -1;
}

static void bind(names *directory, const char *name, int number)
{
    int place = find(directory, name);
    for (int i = 0; i < MOST_NAMES && place < 0; i++)
        if (directory->entries[i].node < 0) place = i;
    assert_true(place >= 0);
    snprintf(directory->entries[place].name, NAME, "%s", name);
    directory->entries[place].node = number;
}

static void unbind(names *directory, const char *name)
{
    const int place = find(directory, name);
    if (place >= 0) directory->entries[place].node = -1;
}

static int disk_open(const char *path, int flags, mode_t mode)
{
    (void)mode;
    if (!has_power()) return -1;
    if (flags & O_DIRECTORY) return DIRECTORY;
    assert_true(flags & O_EXCL);
    assert_true(disk.made < MOST_FILES);
    bind(&disk.seen, path, disk.made);
    return FIRST + disk.made++;
}

static ssize_t disk_write(int file, const void *bytes, size_t count)
{
    node *written = &disk.nodes[file - FIRST];
    const size_t part = count < 700 ? count : 700; /* so that there are moments within */
    if (!has_power()) return -1;
    written->bytes = realloc(written->bytes, written->count + part);
    assert_non_null(written->bytes);
    memcpy(written->bytes + written->count, bytes, part);
    written->count += part;
    return (ssize_t)part;
}

static int disk_fsync(int file)
{
    if (!has_power()) return -1;
    if (disk.forgetful) return 0;
    if (file == DIRECTORY)
        disk.flushed = disk.seen;
    else
        disk.nodes[file - FIRST].flushed = disk.nodes[file - FIRST].count;
    return 0;
}

static int disk_close(int file)
{
    (void)file;
    return has_power() ? 0 : -1;
}

static int disk_rename(const char *from, const char *to)
{
    if (!has_power()) return -1;
    bind(&disk.seen, to, disk.seen.entries[find(&disk.seen, from)].node);
    unbind(&disk.seen, from);
    return 0;
}

static int disk_unlink(const char *path)
{
    if (!has_power()) return -1;
    unbind(&disk.seen, path);
    return 0;
}

static int disk_stat(const char *path, struct stat *facts)
{
    memset(facts, 0, sizeof *facts);
    facts->st_mode = S_IFREG;
    errno = ENOENT;
    return find(&disk.seen, path) >= 0 ? 0 : -1;
}

static int disk_lock(int file)
{
    (void)file;
    return 0;
}

static int disk_chmod(int file, mode_t mode)
{
    (void)file;
    (void)mode;
    return 0;
}

static DIR *disk_opendir(const char *path)
{
    (void)path;
    errno = EACCES;
    return NULL;
}

static const armilla_io disk_io = {
    .open = disk_open,
    .write = disk_write,
    .fsync = disk_fsync,
    .close = disk_close,
    .rename = disk_rename,
    .unlink = disk_unlink,
    .stat = disk_stat,
    .lock = disk_lock,
    .chmod = disk_chmod,
    .opendir = disk_opendir,
};

static void begin_disk(void)
{
    for (int i = 0; i < MOST_FILES; i++) {
        free(disk.nodes[i].bytes);
        disk.nodes[i] = (node){.bytes = NULL};
    }
    for (int i = 0; i < MOST_NAMES; i++) disk.seen.entries[i].node = disk.flushed.entries[i].node = -1;
    disk.made = disk.calls = 0;
    disk.at = -1;
}

static void list_numbers(void *self, armilla_state_list *list)
{
    double *numbers = self;
    armilla_state_array(list, "numbers", ARMILLA_STATE_F64, 1, COUNT, &numbers);
}

static armilla_status write_numbers(double value)
{
    static double numbers[COUNT];
    for (int i = 0; i < COUNT; i++) numbers[i] = value + i;
    return armilla_state_file_write(context, PATH, "{}", list_numbers, numbers);
}

/* The number that the checkpoint on the disk begins with; -1 where there is none that is whole. */
static double found_on(const names *directory)
{
    static double numbers[COUNT];
    const int place = find(directory, PATH);
    armilla_state_file *file = NULL;
    char path[256];
    if (place < 0) return -1;
    const node *kept = &disk.nodes[directory->entries[place].node];
    support_path(path, sizeof path, "found");
    support_write_file(path, kept->bytes ? kept->bytes : "", kept->flushed);
    context->io = &armilla_io_system;
    armilla_status status = armilla_state_file_open(context, path, &file);
    if (status == ARMILLA_OK) status = armilla_state_file_restore(file, list_numbers, numbers);
    armilla_state_file_close(file);
    context->io = &disk_io;
    return status == ARMILLA_OK ? numbers[0] : -1;
}

/* Moments at which neither the old nor the new one was there, of all moments; whether the new one was at the end. */
static int lost_moments(bool forgetful, int *moments)
{
    int lost = 0;
    bool done = false;
    *moments = 0;
    for (int at = 0; !done; at++, ++*moments) {
        begin_disk();
        disk.forgetful = false;
        context->io = &disk_io;
        support_ok(context, write_numbers(1));
        disk.forgetful = forgetful;
        disk.calls = 0;
        disk.at = at;
        done = write_numbers(2) == ARMILLA_OK;
        const double kept = found_on(&disk.flushed), seen = found_on(&disk.seen);
        lost += !(kept == 1 || kept == 2) || !(seen == 1 || seen == 2);
        if (done && !forgetful) assert_true(kept == 2 && seen == 2);
    }
    context->io = &armilla_io_system;
    begin_disk();
    return lost;
}

static void one_of_them_is_always_there(void **state)
{
    int moments = 0;
    (void)state;
    assert_int_equal(lost_moments(false, &moments), 0);
    assert_true(moments > 30);
}

/* The test sees what it is made for. */
static void without_flushes_it_would_be_lost(void **state)
{
    int moments = 0;
    (void)state;
    assert_true(lost_moments(true, &moments) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_of_them_is_always_there),
        TEST(without_flushes_it_would_be_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
