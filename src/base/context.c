/* Context: where memory comes from and where sentences about failures go. */
#include "base/context.h"

#include "base/size.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *system_resize(void *user, void *block, size_t bytes)
{
    (void)user;
    if (bytes == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, bytes);
}

armilla_status armilla_context_new(const armilla_allocator *allocator, armilla_context **context)
{
    const armilla_allocator chosen = allocator ? *allocator : (armilla_allocator){system_resize, NULL};
    armilla_context *made = chosen.resize(chosen.user, NULL, sizeof *made);
    if (!made) return ARMILLA_NO_MEMORY;
    *made = (armilla_context){.allocator = chosen, .io = &armilla_io_system, .most_narrow = INT32_MAX};
    *context = made;
    return ARMILLA_OK;
}

void armilla_context_free(armilla_context *context)
{
    if (context) context->allocator.resize(context->allocator.user, context, 0);
}

const char *armilla_context_error(const armilla_context *context)
{
    return context ? context->error : "there is no context";
}

void armilla_context_set_log(armilla_context *context, armilla_log_function log, void *user)
{
    context->log = log;
    context->log_user = user;
}

void armilla_context_set_never_map(armilla_context *context, bool never)
{
    context->never_map = never;
}

/* A sentence is one line, whatever a file's name or content has put into it: nothing in it moves a terminal either. */
static void make_plain(char *sentence)
{
    for (; *sentence; sentence++)
        if ((unsigned char)*sentence < ' ' || *sentence == '\x7f') *sentence = '?';
}

armilla_status armilla_fail(armilla_context *context, armilla_status status, const char *format, ...)
{
    /* Formatted apart: the arguments may quote the error text that is being replaced. */
    char sentence[sizeof context->error];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    make_plain(sentence);
    memcpy(context->error, sentence, sizeof sentence);
    return status;
}

void armilla_log(armilla_context *context, armilla_log_level level, const char *format, ...)
{
    char sentence[sizeof context->error];
    va_list arguments;
    if (!context->log) return;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    make_plain(sentence);
    context->log(context->log_user, level, sentence);
}

static armilla_status refuse(armilla_context *context, int64_t count, size_t size)
{
    return armilla_fail(context, ARMILLA_NO_MEMORY,
                        "out of memory: %" PRId64 " elements of %zu bytes cannot be had; use a smaller rank, "
                        "--precision f32 or a machine with more memory",
                        count, size);
}

armilla_status armilla_grow(armilla_context *context, int64_t count, size_t size, void *block)
{
    void **place = block;
    size_t bytes = 0;
    if (count < 0 || !armilla_size_multiply(count > 0 ? count : 1, size, &bytes)) return refuse(context, count, size);
    void *grown = context->allocator.resize(context->allocator.user, *place, bytes);
    if (!grown) return refuse(context, count, size);
    *place = grown;
    return ARMILLA_OK;
}

armilla_status armilla_take(armilla_context *context, int64_t count, size_t size, void *block)
{
    void *made = NULL;
    armilla_status status = armilla_grow(context, count, size, &made);
    if (status != ARMILLA_OK) return status;
    memset(made, 0, (size_t)(count > 0 ? count : 1) * size);
    *(void **)block = made;
    return ARMILLA_OK;
}

void armilla_release(armilla_context *context, void *block)
{
    if (block) context->allocator.resize(context->allocator.user, block, 0);
}

armilla_status armilla_copy_text(armilla_context *context, const char *text, char **copy)
{
    char *made = NULL;
    armilla_status status = ARMILLA_OK;
    if (text) {
        const size_t bytes = strlen(text) + 1;
        status = armilla_take(context, (int64_t)bytes, 1, &made);
        if (status == ARMILLA_OK) memcpy(made, text, bytes);
    }
    if (status == ARMILLA_OK) *copy = made;
    return status;
}
