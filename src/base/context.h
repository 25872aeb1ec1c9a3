/* The context: allocator, log, error text and system calls. Everything fallible takes one; nothing is global. */
#ifndef ARMILLA_BASE_CONTEXT_H
#define ARMILLA_BASE_CONTEXT_H

#include "base/io.h"

#include <armilla/base.h>

struct armilla_context {
    armilla_allocator allocator;
    armilla_log_function log;
    void *log_user;
    const armilla_io *io;
    bool never_map;      /* files are read, not mapped */
    const char *kernel;  /* of the call under way: the row of the kernels that it is pinned to; NULL: the best */
    int64_t most_narrow; /* sizes beyond it need 64-bit indices: INT32_MAX, and less where a test says so */
    char error[1024];
};

/* Puts the sentence into the context and returns status, so that callers can `return armilla_fail(...)`. */
armilla_status armilla_fail(armilla_context *context, armilla_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void armilla_log(armilla_context *context, armilla_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* *block = count zeroed elements of that size; ARMILLA_NO_MEMORY, with the size in the text, where the product
 * overflows or the allocator refuses. A count of 0 gives a block that can be released, never NULL. */
armilla_status armilla_take(armilla_context *context, int64_t count, size_t size, void *block);

/* As armilla_take, but with the old content kept and the added part not zeroed. *block may be NULL. */
armilla_status armilla_grow(armilla_context *context, int64_t count, size_t size, void *block);

/* NULL is fine. */
void armilla_release(armilla_context *context, void *block);

/* *copy = a copy of text that armilla_release frees; NULL for NULL. */
armilla_status armilla_copy_text(armilla_context *context, const char *text, char **copy);

#endif
