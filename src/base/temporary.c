/* Names of temporary files. */
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { MOST_PATH = 4096, NAME_KEPT = 200 }; /* of the destination's name; the file system takes 255 */

void armilla_temporary_name(char *text, size_t size, const char *name, int counter)
{
    snprintf(text, size, ".%.*s" ARMILLA_TEMPORARY_MARK "%ld-%d" ARMILLA_TEMPORARY_ENDING, NAME_KEPT, name,
             (long)getpid(), counter);
}

/* For file systems that cannot do without a name. */
static int open_named(const armilla_io *io, const char *directory, const char *name)
{
    char own[ARMILLA_TEMPORARY_BYTES], path[MOST_PATH];
    int file = -1;
    for (int counter = 0; file < 0 && counter < ARMILLA_TEMPORARY_TRIES; counter++) {
        armilla_temporary_name(own, sizeof own, name, counter);
        const int length = snprintf(path, sizeof path, "%s/%s", directory, own);
        if (length < 0 || (size_t)length >= sizeof path) errno = ENAMETOOLONG;
        if (length < 0 || (size_t)length >= sizeof path) return -1;
        file = armilla_io_open(io, path, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (file < 0 && errno != EEXIST) return -1;
    }
    if (file < 0 || io->unlink(path) == 0) return file;
    const int error = errno;
    (void)io->unlink(path); /* a second failure is left to whoever cleans up (files/leftovers.h) */
    (void)armilla_io_close(io, file);
    errno = error;
    return -1;
}

int armilla_temporary_open(const armilla_io *io, const char *directory, const char *name)
{
    const int file = armilla_io_open(io, directory, O_RDWR | O_TMPFILE, 0600);
    return file >= 0 ? file : open_named(io, directory, name);
}
