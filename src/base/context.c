/* Context: where sentences about failures go; its memory is in memory.c. */
#include "base/team.h"

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
    pthread_mutex_init(&made->error_lock, NULL);
    armilla_context_set_memory(made, 0);
    *context = made;
    return ARMILLA_OK;
}

void armilla_context_free(armilla_context *context)
{
    if (!context) return;
    pthread_mutex_destroy(&context->error_lock);
    context->allocator.resize(context->allocator.user, context, 0);
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

void armilla_set_error(armilla_context *context, const char *sentence)
{
    pthread_mutex_lock(&context->error_lock);
    snprintf(context->error, sizeof context->error, "%s", sentence);
    pthread_mutex_unlock(&context->error_lock);
}

armilla_status armilla_fail(armilla_context *context, armilla_status status, const char *format, ...)
{
    /* Formatted apart: the arguments may quote the error text that is being replaced. */
    char sentence[sizeof context->error];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    armilla_plain_text(sentence); /* one line, whatever a file's name or content has put into it */
    char *own = armilla_crew_message(context->crew);
    if (own)
        memcpy(own, sentence, sizeof sentence);
    else
        armilla_set_error(context, sentence);
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
    armilla_plain_text(sentence); /* one line, whatever a file's name or content has put into it */
    context->log(context->log_user, level, sentence);
}
