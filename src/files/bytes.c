/* A file's bytes: a regular file is mapped, so that numbers can be used where they lie; anything else is read. */
#include "files/files.h"

#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_BYTES (1 << 20)

armilla_status armilla_cannot_open(armilla_context *context, const char *path)
{
    return armilla_fail(context, ARMILLA_CANNOT_OPEN, "%s: cannot be opened: %s; check the name and the permissions",
                        path, armilla_error_text(errno));
}

armilla_status armilla_about(armilla_context *context, const char *path, armilla_status status)
{
    const char *message = armilla_context_error(context);
    if (status != ARMILLA_NO_MEMORY || strncmp(message, path, strlen(path)) == 0) return status;
    return armilla_fail(context, status, "%s: %s", path, message);
}

static bool map_file(armilla_context *context, int file, const struct stat *facts, armilla_bytes *bytes)
{
    if (context->never_map || !S_ISREG(facts->st_mode) || facts->st_size <= 0) return false;
    void *map = context->io->map(NULL, (size_t)facts->st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (map == MAP_FAILED) return false;
    bytes->map = map;
    bytes->start = map;
    bytes->count = (size_t)facts->st_size;
    armilla_memory_add_input(context, facts->st_size);
    return true;
}

/* An end before the size that was stated: some files of the system have a size that is not their own, and keep it. */
static armilla_status check_end(armilla_context *context, int file, int64_t stated, int64_t used, const char *path)
{
    struct stat facts;
    if (used >= stated || (context->io->fstat(file, &facts) == 0 && facts.st_size == stated)) return ARMILLA_OK;
    return armilla_fail(context, ARMILLA_IO_ERROR,
                        "%s: became shorter while it was read; let it be finished, and start again", path);
}

/* Until the end, whatever stat said of the size: pipes have none, and files in /proc lie. */
static armilla_status read_file(armilla_context *context, int file, int64_t stated, armilla_bytes *bytes)
{
    unsigned char *block = NULL;
    int64_t capacity = 0, used = 0;
    armilla_status status = ARMILLA_OK;
    for (ssize_t got = 1; got > 0; used += got) {
        if (used == capacity) {
            /* One byte more, to find the end without asking for memory. */
            capacity = capacity ? 2 * capacity : stated > 0 ? stated + 1 : FIRST_BYTES;
            if ((status = armilla_grow_large(context, capacity, 1, &block)) != ARMILLA_OK) goto done;
        }
        got = armilla_io_read(context->io, file, block + used, (size_t)(capacity - used));
        if (got < 0) {
            status = armilla_fail(context, ARMILLA_IO_ERROR, "%s: reading failed after %lld bytes: %s; try again",
                                  bytes->path, (long long)used, armilla_error_text(errno));
            goto done;
        }
        armilla_spill_drop(context, block + used, got);
        armilla_memory_add_input(context, got);
    }
    if ((status = check_end(context, file, stated, used, bytes->path)) != ARMILLA_OK) goto done;
    if ((status = armilla_grow(context, used, 1, &block)) != ARMILLA_OK) goto done; /* gives back what is not used */
    bytes->memory = block;
    bytes->start = block;
    bytes->count = (size_t)used;
    block = NULL;
done:
    armilla_release(context, block);
    return status;
}

static armilla_status load(armilla_context *context, int file, armilla_bytes *bytes)
{
    struct stat facts;
    if (context->io->fstat(file, &facts) != 0) return armilla_cannot_open(context, bytes->path);
    if (S_ISDIR(facts.st_mode))
        return armilla_fail(context, ARMILLA_CANNOT_OPEN, "%s: is a directory; give the name of a file in it",
                            bytes->path);
    if (map_file(context, file, &facts, bytes)) return ARMILLA_OK;
    return read_file(context, file, facts.st_size, bytes);
}

armilla_status armilla_bytes_open(armilla_context *context, const char *path, armilla_bytes *bytes)
{
    armilla_bytes made = {.path = path};
    const int file = armilla_io_open(context->io, path, O_RDONLY | O_NOCTTY, 0);
    if (file < 0) return armilla_cannot_open(context, path);
    armilla_status status = load(context, file, &made);
    (void)armilla_io_close(context->io, file);
    if (status == ARMILLA_OK && made.count == 0)
        status = armilla_fail(context, ARMILLA_BAD_DATA, "%s: is empty; check how it was made", path);
    if (status == ARMILLA_OK)
        *bytes = made;
    else
        armilla_bytes_free(context, &made);
    return status;
}

void armilla_bytes_free(armilla_context *context, armilla_bytes *bytes)
{
    if (bytes->map) munmap(bytes->map, bytes->count);
    armilla_release(context, bytes->memory);
    *bytes = (armilla_bytes){.path = NULL};
}
