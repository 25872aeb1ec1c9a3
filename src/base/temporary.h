/* Names of files that are not whole yet, or that nobody is to see: what is left under such a name by a process that was
 * killed can be recognised (files/leftovers.h). */
#ifndef ARMILLA_BASE_TEMPORARY_H
#define ARMILLA_BASE_TEMPORARY_H

#include "base/io.h"

#include <stddef.h>

#define ARMILLA_TEMPORARY_MARK ".armilla."
#define ARMILLA_TEMPORARY_ENDING ".tmp"

enum {
    ARMILLA_TEMPORARY_BYTES = 256,   /* that such a name takes at most */
    ARMILLA_TEMPORARY_TRIES = 10000, /* names that are tried */
};

/* text = .NAME.armilla.PID-COUNTER.tmp, with as much of the name as a file system takes. */
void armilla_temporary_name(char *text, size_t size, const char *name, int counter);

/* A file in the directory that has no name any more, for reading and writing; where the file system knows none without a
 * name, it has had such a one. -1, with errno, where there can be none. */
int armilla_temporary_open(const armilla_io *io, const char *directory, const char *name);

#endif
