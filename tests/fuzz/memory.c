/* Files and an allocator that are nothing but memory, with limits. */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_FILES = 16, MOST_OPEN = 8, FIRST = 1000, NAME = 64, DISK = 1 << 24 };

static struct file {
    char path[NAME];
    const unsigned char *bytes;
    size_t count;
} files[MOST_FILES];

static struct {
    const struct file *file;
    size_t at;
} opened[MOST_OPEN];

static int file_count, listed;
static size_t most_read, live;

void fuzz_files_clear(size_t most)
{
    file_count = 0;
    most_read = most;
    memset(opened, 0, sizeof opened);
}

void fuzz_files_add(const char *path, size_t length, const void *bytes, size_t count)
{
    if (file_count == MOST_FILES || length >= NAME) return;
    struct file *added = &files[file_count++];
    memcpy(added->path, path, length);
    added->path[length] = '\0';
    added->bytes = bytes;
    added->count = count;
}

static const struct file *find(const char *path)
{
    for (int i = 0; i < file_count; i++)
        if (strcmp(files[i].path, path) == 0) return &files[i];
    errno = ENOENT;
    return NULL;
}

static int memory_open(const char *path, int flags, mode_t mode)
{
    (void)mode;
    if ((flags & O_TMPFILE) == O_TMPFILE) return memfd_create("spill", 0);
    const struct file *file = find(path);
    for (int i = 0; file && i < MOST_OPEN; i++)
        if (!opened[i].file) {
            opened[i].file = file;
            opened[i].at = 0;
            return FIRST + i;
        }
    return -1;
}

static ssize_t memory_read(int number, void *bytes, size_t count)
{
    const struct file *file = opened[number - FIRST].file;
    size_t part = file->count - opened[number - FIRST].at;
    if (part > count) part = count;
    if (part > most_read) part = most_read;
    if (part) memcpy(bytes, file->bytes + opened[number - FIRST].at, part);
    opened[number - FIRST].at += part;
    return (ssize_t)part;
}

static ssize_t memory_pread(int number, void *bytes, size_t count, off_t offset)
{
    const struct file *file = opened[number - FIRST].file;
    size_t part = (size_t)offset < file->count ? file->count - (size_t)offset : 0;
    if (part > count) part = count;
    if (part > most_read) part = most_read;
    if (part) memcpy(bytes, file->bytes + offset, part);
    return (ssize_t)part;
}

static int memory_close(int number)
{
    if (number < FIRST) return close(number); /* what is spilled */
    opened[number - FIRST].file = NULL;
    return 0;
}

/* It is in memory, and stays there. */
static int memory_forget(int number, off_t offset, off_t count)
{
    (void)number, (void)offset, (void)count;
    return 0;
}

/* There is no disk, and nothing is written. */

static ssize_t no_write(int number, const void *bytes, size_t count)
{
    (void)number, (void)bytes, (void)count;
    errno = EROFS;
    return -1;
}

static int no_change(int number)
{
    (void)number;
    errno = EROFS;
    return -1;
}

static int no_name(const char *path)
{
    (void)path;
    errno = EROFS;
    return -1;
}

static int no_names(const char *from, const char *to)
{
    (void)from, (void)to;
    errno = EROFS;
    return -1;
}

static int no_access(const char *path, int mode)
{
    (void)path, (void)mode;
    errno = EROFS;
    return -1;
}

/* "folder" is the one directory. */
static int memory_stat(const char *path, struct stat *facts)
{
    memset(facts, 0, sizeof *facts);
    facts->st_mode = S_IFDIR;
    if (strcmp(path, "folder") == 0) return 0;
    const struct file *file = find(path);
    facts->st_mode = S_IFREG;
    facts->st_size = file ? (off_t)file->count : 0;
    return file ? 0 : -1;
}

static int memory_fstat(int number, struct stat *facts)
{
    return memory_stat(opened[number - FIRST].file->path, facts);
}

/* A small disk, for what is spilled. */
static int memory_reserve(int file, off_t start, off_t count)
{
    errno = ENOSPC;
    return start + count > DISK ? -1 : ftruncate(file, start + count);
}

/* Inputs are read instead, into memory of just that size, where every step too far shows. */
static void *map_spilled(void *address, size_t count, int protection, int flags, int file, off_t offset)
{
    if (file < FIRST) return mmap(address, count, protection, flags, file, offset);
    errno = ENODEV;
    return MAP_FAILED;
}

static DIR *memory_opendir(const char *path)
{
    (void)path;
    listed = 0;
    return (DIR *)(void *)files;
}

static struct dirent *memory_readdir(DIR *directory)
{
    static struct dirent entry;
    (void)directory;
    if (listed == file_count) return NULL;
    const char *path = files[listed++].path, *slash = strrchr(path, '/');
    snprintf(entry.d_name, sizeof entry.d_name, "%s", slash ? slash + 1 : path);
    return &entry;
}

static int memory_closedir(DIR *directory)
{
    (void)directory;
    return 0;
}

const armilla_io fuzz_io = {
    .open = memory_open,
    .duplicate = no_change,
    .read = memory_read,
    .pread = memory_pread,
    .write = no_write,
    .fsync = no_change,
    .rename = no_names,
    .link = no_names,
    .unlink = no_name,
    .lock = no_change,
    .access = no_access,
    .close = memory_close,
    .stat = memory_stat,
    .fstat = memory_fstat,
    .opendir = memory_opendir,
    .readdir = memory_readdir,
    .closedir = memory_closedir,
    .reserve = memory_reserve,
    .forget = memory_forget,
    .map = map_spilled,
};

static void *limited_resize(void *user, void *block, size_t bytes)
{
    (void)user;
    const size_t before = block ? malloc_usable_size(block) : 0;
    if (bytes > FUZZ_MEMORY || live - before > FUZZ_MEMORY - bytes) return NULL;
    void *made = NULL;
    if (bytes)
        made = realloc(block, bytes);
    else
        free(block);
    if (made || bytes == 0) live = live - before + (made ? malloc_usable_size(made) : 0);
    return made;
}

armilla_allocator fuzz_allocator(void)
{
    return (armilla_allocator){sizeof(armilla_allocator), limited_resize, NULL};
}

size_t fuzz_live(void)
{
    return live;
}
