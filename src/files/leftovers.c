/* Temporary files of killed processes. A temporary is locked as long as its process writes it, and the system releases
 * the lock however that process ends; the number of a process would be reused, and means nothing in another container
 * or on another machine that shares the directory. Nothing is removed on a file system without locks. */
#include "files/leftovers.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MARK ARMILLA_TEMPORARY_MARK
#define ENDING ARMILLA_TEMPORARY_ENDING
#define DIGITS "0123456789"

enum {
    OLD = 3600,             /* seconds; where another machine's locks are not seen, its writing is */
    MOST_ENTRIES = 1 << 16, /* that are looked at: some 30 ms */
};

/* Whether armilla_temporary_name makes such names. */
static bool is_temporary(const char *name)
{
    const char *at = NULL;
    for (const char *mark = strstr(name, MARK); mark; mark = strstr(mark + 1, MARK)) at = mark + strlen(MARK);
    if (name[0] != '.' || !at) return false;
    const size_t process = strspn(at, DIGITS), counter = at[process] == '-' ? strspn(at + process + 1, DIGITS) : 0;
    return process > 0 && counter > 0 && strcmp(at + process + 1 + counter, ENDING) == 0;
}

/* A regular file of this user that nobody has written to for long. */
static bool is_old(const struct stat *facts)
{
    struct timespec now = {0};
    return S_ISREG(facts->st_mode) && facts->st_uid == geteuid() && clock_gettime(CLOCK_REALTIME, &now) == 0 &&
           now.tv_sec - facts->st_mtim.tv_sec > OLD;
}

/* Whoever has the lock may remove the name, if it still is that file's: so of two who clean up at once none removes a
 * file that has got the name since. */
static void remove_abandoned(const armilla_io *io, const char *path)
{
    struct stat opened, named;
    if (io->stat(path, &named) != 0 || !is_old(&named)) return;
    const int file = armilla_io_open(io, path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    if (file < 0) return;
    if (io->fstat(file, &opened) == 0 && is_old(&opened) && io->lock(file) == 0 && io->stat(path, &named) == 0 &&
        named.st_dev == opened.st_dev && named.st_ino == opened.st_ino)
        (void)io->unlink(path);
    (void)armilla_io_close(io, file);
}

void armilla_leftovers_remove(armilla_context *context, const char *path, size_t length)
{
    char found[PATH_MAX] = ".";
    const struct dirent *entry = NULL;
    if (length + NAME_MAX >= sizeof found) return;
    memcpy(found, path, length);
    found[length ? length : 1] = '\0';
    DIR *directory = armilla_io_opendir(context->io, found);
    if (!directory) return;
    for (int i = 0; i < MOST_ENTRIES && (entry = context->io->readdir(directory)); i++) {
        if ((entry->d_type != DT_REG && entry->d_type != DT_UNKNOWN) || !is_temporary(entry->d_name)) continue;
        strcpy(found + length, entry->d_name);
        remove_abandoned(context->io, found);
    }
    (void)context->io->closedir(directory);
}
