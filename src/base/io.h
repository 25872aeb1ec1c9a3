/* The system calls of the file code as a table, so that tests can make each of them fail in turn. */
#ifndef ARMILLA_BASE_IO_H
#define ARMILLA_BASE_IO_H

#include <dirent.h>
#include <sys/stat.h>
#include <sys/types.h>

typedef struct armilla_io {
    int (*open)(const char *path, int flags, mode_t mode);
    int (*duplicate)(int file); /* another descriptor of it, at its end; fails where it cannot be written to */
    ssize_t (*read)(int file, void *bytes, size_t count);
    ssize_t (*pread)(int file, void *bytes, size_t count, off_t offset);
    int (*reserve)(int file, off_t offset, off_t count); /* space on the disk, which the file then has */
    int (*forget)(int file, off_t offset, off_t count);  /* the system need not keep these bytes in memory */
    ssize_t (*write)(int file, const void *bytes, size_t count);
    int (*fsync)(int file);
    int (*close)(int file);
    int (*rename)(const char *from, const char *to);
    int (*link)(const char *from, const char *to);
    int (*unlink)(const char *path);
    int (*lock)(int file); /* for this process alone, until it closes the file; fails rather than waits */
    int (*stat)(const char *path, struct stat *facts);
    int (*fstat)(int file, struct stat *facts);
    int (*access)(const char *path, int mode);
    int (*chmod)(int file, mode_t mode);
    DIR *(*opendir)(const char *path);
    struct dirent *(*readdir)(DIR *directory); /* NULL at the end with errno as it was, else for the reason in errno */
    int (*closedir)(DIR *directory);
    void *(*map)(void *address, size_t count, int protection, int flags, int file, off_t offset);
} armilla_io;

/* The operating system's own. */
extern const armilla_io armilla_io_system;

/* The call again until no signal interrupts it; else as the call itself. */
int armilla_io_open(const armilla_io *io, const char *path, int flags, mode_t mode);
ssize_t armilla_io_read(const armilla_io *io, int file, void *bytes, size_t count);
ssize_t armilla_io_pread(const armilla_io *io, int file, void *bytes, size_t count, off_t offset);
ssize_t armilla_io_write(const armilla_io *io, int file, const void *bytes, size_t count);
int armilla_io_fsync(const armilla_io *io, int file);
DIR *armilla_io_opendir(const armilla_io *io, const char *path);
/* Not called again: the file is closed however close ends, so an interruption counts as success. */
int armilla_io_close(const armilla_io *io, int file);

#endif
