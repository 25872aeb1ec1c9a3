/* The operating system's calls behind armilla_io, and what interruptions by signals need. */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

static int system_open(const char *path, int flags, mode_t mode)
{
    return open(path, flags | O_CLOEXEC, mode);
}

static int system_reserve(int file, off_t offset, off_t count)
{
    int error = 0;
    do error = posix_fallocate(file, offset, count);
    while (error == EINTR);
    errno = error ? error : errno;
    return error ? -1 : 0;
}

static int system_forget(int file, off_t offset, off_t count)
{
    return posix_fadvise(file, offset, count, POSIX_FADV_DONTNEED);
}

static int system_lock(int file)
{
    return flock(file, LOCK_EX | LOCK_NB);
}

static int system_duplicate(int file)
{
    const int flags = fcntl(file, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) errno = EACCES;
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) return -1;
    (void)lseek(file, 0, SEEK_END); /* a pipe has no other place */
    return fcntl(file, F_DUPFD_CLOEXEC, 0);
}

const armilla_io armilla_io_system = {
    .open = system_open,
    .duplicate = system_duplicate,
    .read = read,
    .pread = pread,
    .reserve = system_reserve,
    .forget = system_forget,
    .write = write,
    .fsync = fsync,
    .close = close,
    .rename = rename,
    .link = link,
    .unlink = unlink,
    .lock = system_lock,
    .stat = stat,
    .fstat = fstat,
    .access = access,
    .chmod = fchmod,
    .opendir = opendir,
    .readdir = readdir,
    .closedir = closedir,
    .map = mmap,
};

int armilla_io_open(const armilla_io *io, const char *path, int flags, mode_t mode)
{
    int file = -1;
    do file = io->open(path, flags, mode);
    while (file < 0 && errno == EINTR);
    return file;
}

ssize_t armilla_io_read(const armilla_io *io, int file, void *bytes, size_t count)
{
    ssize_t got = -1;
    do got = io->read(file, bytes, count);
    while (got < 0 && errno == EINTR);
    return got;
}

ssize_t armilla_io_pread(const armilla_io *io, int file, void *bytes, size_t count, off_t offset)
{
    ssize_t got = -1;
    do got = io->pread(file, bytes, count, offset);
    while (got < 0 && errno == EINTR);
    return got;
}

ssize_t armilla_io_write(const armilla_io *io, int file, const void *bytes, size_t count)
{
    ssize_t put = -1;
    do put = io->write(file, bytes, count);
    while (put < 0 && errno == EINTR);
    return put;
}

int armilla_io_fsync(const armilla_io *io, int file)
{
    int result = -1;
    do result = io->fsync(file);
    while (result < 0 && errno == EINTR);
    return result;
}

DIR *armilla_io_opendir(const armilla_io *io, const char *path)
{
    DIR *directory = NULL;
    do directory = io->opendir(path);
    while (!directory && errno == EINTR);
    return directory;
}

int armilla_io_close(const armilla_io *io, int file)
{
    const int result = io->close(file);
    return result < 0 && errno == EINTR ? 0 : result;
}
