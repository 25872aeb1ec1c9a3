/* Arrays that are larger than memory may be: mappings of temporary files beside an output, which have no name any more
 * when they are used, so that nothing is left behind however the process ends. The context knows them, and
 * armilla_grow and armilla_release take them like blocks of memory; they do not count against its limit. Disk space is
 * reserved when one is taken, as a mapping of what the disk cannot hold would end the process. */
#ifndef ARMILLA_BASE_SPILL_H
#define ARMILLA_BASE_SPILL_H

#include <armilla/base.h>

struct armilla_spilled;

/* A part of the context. */
typedef struct armilla_spill {
    const char *beside;           /* the output whose directory they are in; NULL: nothing is spilled */
    struct armilla_spilled *head; /* all there are; changed by the thread that makes the call alone */
} armilla_spill;

/* Between these, arrays that armilla_grow_large takes may be beside the path (NULL: they may not). Returns what leave
 * takes at the end; arrays that are left then stay until they are released. */
const char *armilla_spill_enter(armilla_context *context, const char *beside);
void armilla_spill_leave(armilla_context *context, const char *outer);
/* Whether they may. */
bool armilla_spill_allowed(const armilla_context *context);

/* As armilla_grow; but what would take a large part of the memory that is left is spilled, where that is allowed. */
armilla_status armilla_grow_large(armilla_context *context, int64_t count, size_t size, void *block);

/* Whether the block is spilled. */
bool armilla_spill_owns(const armilla_context *context, const void *block);
/* The bytes, in or out of a spilled array, are not wanted for some time: they stay in the file, and leave the process's
 * memory. On any thread; nothing happens to other memory. */
void armilla_spill_drop(const armilla_context *context, const void *start, int64_t bytes);

/* The same for bytes of a mapping of a file that is only read. */
void armilla_mapped_drop(const void *start, int64_t bytes);

/* For base/memory.c: a new one of zeros, one of another size in the same place of *block, and the end of one, which is
 * false for other blocks. */
armilla_status armilla_spill_take(armilla_context *context, int64_t bytes, void *block);
armilla_status armilla_spill_resize(armilla_context *context, int64_t bytes, void *block);
bool armilla_spill_release(armilla_context *context, const void *block);

#endif
