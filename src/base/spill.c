/* Arrays in unnamed temporary files. */
#include "base/spill.h"

#include "base/context.h"
#include "base/number.h"
#include "base/size.h"
#include "base/temporary.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SPILL_NAME_KEPT = 190 }; /* of the output's */

struct armilla_spilled {
    struct armilla_spilled *next;
    char *start;
    int64_t bytes;
    int file;
};

const char *armilla_spill_enter(armilla_context *context, const char *beside)
{
    const char *outer = context->spill.beside;
    context->spill.beside = beside;
    return outer;
}

void armilla_spill_leave(armilla_context *context, const char *outer)
{
    context->spill.beside = outer;
}

bool armilla_spill_allowed(const armilla_context *context)
{
    return context->spill.beside != NULL;
}

/* The array that the address is in; NULL: none. */
static struct armilla_spilled *find(const armilla_context *context, const void *at)
{
    for (struct armilla_spilled *s = context->spill.head; s; s = s->next)
        if ((const char *)at >= s->start && (const char *)at < s->start + s->bytes) return s;
    return NULL;
}

bool armilla_spill_owns(const armilla_context *context, const void *block)
{
    return block && find(context, block);
}

/* Whole pages: one that is shared with a neighbour comes back from the file when it is used. */
void armilla_mapped_drop(const void *start, int64_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)start / page * page;
    if (bytes > 0) (void)madvise((void *)first, (size_t)((uintptr_t)start + (uintptr_t)bytes - first), MADV_DONTNEED);
}

void armilla_spill_drop(const armilla_context *context, const void *start, int64_t bytes)
{
    if (bytes > 0 && find(context, start)) armilla_mapped_drop(start, bytes);
}

static armilla_status cannot_create(armilla_context *context)
{
    return armilla_fail(context, ARMILLA_CANNOT_CREATE,
                        "%s: a temporary file beside it cannot be created: %s; choose another directory",
                        context->spill.beside, armilla_error_text(errno));
}

static armilla_status cannot_hold(armilla_context *context, int64_t bytes)
{
    return armilla_fail(context, ARMILLA_IO_ERROR,
                        "%s: a temporary file of %lld bytes beside it failed: %s; free some space or choose another "
                        "directory",
                        context->spill.beside, (long long)bytes, armilla_error_text(errno));
}

/* A file without a name in the output's directory. */
static armilla_status open_unnamed(armilla_context *context, int *file)
{
    const char *beside = context->spill.beside, *slash = strrchr(beside, '/');
    const size_t before = slash ? (size_t)(slash + 1 - beside) : 0;
    char *directory = NULL, name[SPILL_NAME_KEPT + sizeof ".spill"];
    const armilla_status status = armilla_take(context, (int64_t)before + 2, 1, &directory);
    if (status != ARMILLA_OK) return status;
    memcpy(directory, before ? beside : ".", before ? before : 1);
    snprintf(name, sizeof name, "%.*s.spill", SPILL_NAME_KEPT, beside + before);
    *file = armilla_temporary_open(context->io, directory, name);
    const armilla_status opened = *file >= 0 ? ARMILLA_OK : cannot_create(context);
    armilla_release(context, directory);
    return opened;
}

/* Space for so many bytes on the disk, and the mapping of them in s->start; what was mapped before stays as it is. */
static armilla_status reserve(armilla_context *context, struct armilla_spilled *s, int64_t bytes)
{
    const armilla_io *io = context->io;
    if (io->reserve(s->file, s->bytes, bytes - s->bytes) != 0) return cannot_hold(context, bytes);
    void *map = io->map(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->file, 0);
    if (map == MAP_FAILED) return cannot_hold(context, bytes);
    if (s->start) (void)munmap(s->start, (size_t)s->bytes);
    s->start = map;
    s->bytes = bytes;
    return ARMILLA_OK;
}

armilla_status armilla_spill_take(armilla_context *context, int64_t bytes, void *block)
{
    struct armilla_spilled *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status == ARMILLA_OK) status = open_unnamed(context, &made->file);
    if (status == ARMILLA_OK && (status = reserve(context, made, bytes)) != ARMILLA_OK)
        (void)armilla_io_close(context->io, made->file);
    if (status != ARMILLA_OK) {
        armilla_release(context, made);
        return status;
    }
    made->next = context->spill.head;
    context->spill.head = made;
    *(void **)block = made->start;
    return ARMILLA_OK;
}

armilla_status armilla_spill_resize(armilla_context *context, int64_t bytes, void *block)
{
    struct armilla_spilled *s = find(context, *(void **)block);
    if (bytes <= s->bytes) return ARMILLA_OK;
    const armilla_status status = reserve(context, s, bytes);
    if (status == ARMILLA_OK) *(void **)block = s->start;
    return status;
}

bool armilla_spill_release(armilla_context *context, const void *block)
{
    struct armilla_spilled **place = &context->spill.head;
    while (*place && (*place)->start != block) place = &(*place)->next;
    struct armilla_spilled *s = *place;
    if (!s) return false;
    *place = s->next;
    (void)munmap(s->start, (size_t)s->bytes);
    (void)armilla_io_close(context->io, s->file);
    armilla_release(context, s);
    return true;
}
