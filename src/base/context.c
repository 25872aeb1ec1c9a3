/* Context: where messages about failures go; its memory is in memory.c. */
#include "base/team.h"

#include "base/number.h"
#include "base/sized.h"

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
    armilla_allocator chosen = {.size = sizeof chosen, .resize = system_resize};
    armilla_context scratch = {.error_lock = PTHREAD_MUTEX_INITIALIZER}; /* there is nobody yet to tell it to */
    if (!context) return ARMILLA_BAD_ARGUMENT;
    const armilla_status status =
        allocator ? armilla_sized_read(&scratch, "armilla_allocator", allocator, &chosen, sizeof chosen) : ARMILLA_OK;
    if (status != ARMILLA_OK) return status;
    if (!chosen.resize) return ARMILLA_BAD_ARGUMENT;
    armilla_context *made = chosen.resize(chosen.user, NULL, sizeof *made);
    if (!made) return ARMILLA_NO_MEMORY;
    *made = (armilla_context){.allocator = chosen, .io = &armilla_io_system, .most_narrow = INT32_MAX};
    pthread_mutex_init(&made->error_lock, NULL);
    pthread_mutex_init(&made->helper_lock, NULL);
    armilla_context_set_memory(made, 0);
    *context = made;
    return ARMILLA_OK;
}

void armilla_context_free(armilla_context *context)
{
    if (!context) return;
    armilla_release(context, context->temporary);
    pthread_mutex_destroy(&context->error_lock);
    pthread_mutex_destroy(&context->helper_lock);
    context->allocator.resize(context->allocator.user, context, 0);
}

const char *armilla_context_error(const armilla_context *context)
{
    return context ? context->error : "there is no context";
}

void armilla_context_set_log(armilla_context *context, armilla_log_function log, void *user)
{
    if (!context) return;
    context->log = log;
    context->log_user = user;
}

void armilla_context_set_never_map(armilla_context *context, bool never)
{
    if (context) context->never_map = never;
}

void armilla_context_set_threads(armilla_context *context, int threads)
{
    if (context) context->threads = threads;
}

/* Control characters of ASCII, and those from U+0080 to U+009F, which UTF-8 has as C2 80 to C2 9F. */
char *armilla_plain_text(char *text)
{
    for (unsigned char *c = (unsigned char *)text; c && *c; c++) {
        const bool second = c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f;
        if (second) *c++ = '?';
        if (second || *c < ' ' || *c == 0x7f) *c = '?';
    }
    return text;
}

void armilla_set_error(armilla_context *context, const char *message)
{
    pthread_mutex_lock(&context->error_lock);
    snprintf(context->error, sizeof context->error, "%s", message);
    pthread_mutex_unlock(&context->error_lock);
}

/* Fields are named as the program's users name them, and a message is one line, whatever a file's name or content has
 * put into it. */
static void make_plain(const armilla_context *context, const char *marked, char *message, size_t size)
{
    armilla_wording_apply(context->wording, context->wording_user, marked, message, size);
    armilla_plain_text(message);
}

armilla_status armilla_fail(armilla_context *context, armilla_status status, const char *format, ...)
{
    /* Formatted apart: the arguments may quote the error text that is being replaced. */
    char marked[sizeof context->error], message[sizeof context->error];
    va_list arguments;
    va_start(arguments, format);
    (void)armilla_plain_print_list(marked, sizeof marked, format, arguments);
    va_end(arguments);
    make_plain(context, marked, message, sizeof message);
    char *own = armilla_pool_message(context->pool);
    if (own)
        memcpy(own, message, sizeof message);
    else
        armilla_set_error(context, message);
    return status;
}

armilla_status armilla_not_null(armilla_context *context, const char *function, const char *names,
                                const void *const pointers[], size_t count)
{
    static const char sized[] = "_sized"; /* the program called the inline function without it */
    const char *end = strstr(function, sized);
    if (!context) return ARMILLA_BAD_ARGUMENT;
    for (size_t i = 0; i < count; i++) {
        const size_t length = strcspn(names, ",");
        if (!pointers[i])
            return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "%.*s: %.*s is NULL; it is needed",
                                (int)(end ? (size_t)(end - function) : strlen(function)), function, (int)length, names);
        names += length + strspn(names + length, ", ");
    }
    return ARMILLA_OK;
}

void armilla_log(armilla_context *context, armilla_log_level level, const char *format, ...)
{
    char marked[sizeof context->error], message[sizeof context->error];
    va_list arguments;
    if (!context->log) return;
    va_start(arguments, format);
    (void)armilla_plain_print_list(marked, sizeof marked, format, arguments);
    va_end(arguments);
    make_plain(context, marked, message, sizeof message);
    context->log(context->log_user, level, message);
}
