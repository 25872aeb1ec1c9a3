/* Files and an allocator that are nothing but memory, with limits. */
#include "fuzz.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_FILES = 16, MOST_OPEN = 8, FIRST = 1000, NAME = 64 };

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
    (void)flags;
    (void)mode;
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

static int memory_close(int number)
{
    opened[number - FIRST].file = NULL;
    return 0;
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

/* Read instead, into memory of just that size, where every step too far shows. */
static void *no_map(void *address, size_t count, int protection, int flags, int file, off_t offset)
{
    (void)address, (void)count, (void)protection, (void)flags, (void)file, (void)offset;
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
    .read = memory_read,
    .close = memory_close,
    .stat = memory_stat,
    .fstat = memory_fstat,
    .opendir = memory_opendir,
    .readdir = memory_readdir,
    .closedir = memory_closedir,
    .map = no_map,
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
