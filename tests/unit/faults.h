/* System calls that fail: call number `at` of the table fault_io does. Reads are short in any case. */
#ifndef ARMILLA_TESTS_FAULTS_H
#define ARMILLA_TESTS_FAULTS_H

#include "base/context.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    _Atomic int calls; /* also by threads that read ahead */
    int at, error;
    _Atomic bool hit;        /* it came to that call */
    bool only_interruptible; /* only those that a signal interrupts are counted */
    bool no_map;
} fault;

enum { FAULT_READ = 5 }; /* bytes of a read at most */

static inline void fault_set(int at, int error)
{
    fault.calls = 0;
    fault.at = at;
    fault.error = error;
    fault.hit = false;
}

static inline bool fault_comes(bool interruptible)
{
    if (fault.only_interruptible && !interruptible) return false;
    if (fault.calls++ != fault.at) return false;
    fault.hit = true;
    errno = fault.error;
    return true;
}

static inline int fault_open(const char *path, int flags, mode_t mode)
{
    return fault_comes(true) ? -1 : armilla_io_system.open(path, flags, mode);
}

static inline ssize_t fault_read(int file, void *bytes, size_t count)
{
    return fault_comes(true) ? -1 : read(file, bytes, count < FAULT_READ ? count : FAULT_READ);
}

/* Whole, but for every third. */
static inline ssize_t fault_pread(int file, void *bytes, size_t count, off_t offset)
{
    if (fault_comes(true)) return -1;
    return pread(file, bytes, fault.calls % 3 == 0 && count > 7 ? count / 2 : count, offset);
}

static inline int fault_forget(int file, off_t offset, off_t count)
{
    (void)file;
    (void)offset;
    (void)count;
    return fault_comes(false) ? -1 : 0;
}

static inline int fault_reserve(int file, off_t offset, off_t count)
{
    return fault_comes(false) ? -1 : armilla_io_system.reserve(file, offset, count);
}

static inline ssize_t fault_write(int file, const void *bytes, size_t count)
{
    return fault_comes(true) ? -1 : write(file, bytes, count);
}

static inline int fault_fsync(int file)
{
    return fault_comes(true) ? -1 : fsync(file);
}

/* As the system's, it closes even where it fails. */
static inline int fault_close(int file)
{
    close(file);
    return fault_comes(true) ? -1 : 0;
}

static inline int fault_rename(const char *from, const char *to)
{
    return fault_comes(false) ? -1 : rename(from, to);
}

static inline int fault_link(const char *from, const char *to)
{
    return fault_comes(false) ? -1 : link(from, to);
}

static inline int fault_unlink(const char *path)
{
    return fault_comes(false) ? -1 : unlink(path);
}

static inline int fault_stat(const char *path, struct stat *facts)
{
    return fault_comes(false) ? -1 : stat(path, facts);
}

static inline int fault_fstat(int file, struct stat *facts)
{
    return fault_comes(false) ? -1 : fstat(file, facts);
}

static inline int fault_access(const char *path, int mode)
{
    return fault_comes(false) ? -1 : access(path, mode);
}

static inline int fault_lock(int file)
{
    return fault_comes(false) ? -1 : armilla_io_system.lock(file);
}

static inline int fault_duplicate(int file)
{
    return fault_comes(false) ? -1 : armilla_io_system.duplicate(file);
}

static inline DIR *fault_opendir(const char *path)
{
    return fault_comes(true) ? NULL : opendir(path);
}

static inline struct dirent *fault_readdir(DIR *directory)
{
    return fault_comes(false) ? NULL : readdir(directory);
}

static inline void *fault_map(void *address, size_t count, int protection, int flags, int file, off_t offset)
{
    if (fault.no_map) errno = ENODEV;
    if (fault.no_map || fault_comes(false)) return MAP_FAILED;
    return mmap(address, count, protection, flags, file, offset);
}

static const armilla_io fault_io = {
    .open = fault_open,
    .duplicate = fault_duplicate,
    .read = fault_read,
    .pread = fault_pread,
    .forget = fault_forget,
    .reserve = fault_reserve,
    .write = fault_write,
    .fsync = fault_fsync,
    .close = fault_close,
    .rename = fault_rename,
    .link = fault_link,
    .unlink = fault_unlink,
    .stat = fault_stat,
    .fstat = fault_fstat,
    .access = fault_access,
    .chmod = fchmod, /* only ever narrows what is written */
    .lock = fault_lock,
    .opendir = fault_opendir,
    .readdir = fault_readdir,
    .closedir = closedir,
    .map = fault_map,
};

/* The descriptor that comes next: higher where one has leaked. */
static inline int fault_next_descriptor(void)
{
    const int file = open("/dev/null", O_RDONLY);
    close(file);
    return file;
}

#endif
