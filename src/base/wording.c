/* Marked fields become what the context's wording makes of them. */
#include "base/wording.h"

#include "base/context.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_FIELD = 512 };

/* As C says it: the member of the struct, and its value. */
static void plain_wording(void *user, const char *field, const char *value, char *text, size_t size)
{
    (void)user;
    snprintf(text, size, "%s%s%s", field, value ? " " : "", value ? value : "");
    for (char *c = text; *c && *c != ' '; c++)
        if (*c == '-') *c = '_';
}

/* Appends what the wording makes of the marked text from `from` on, `length` bytes. */
static size_t say(armilla_wording wording, void *user, const char *from, size_t length, char *buffer, size_t size)
{
    char field[LONGEST_FIELD];
    const size_t kept = length < sizeof field ? length : sizeof field - 1;
    memcpy(field, from, kept);
    field[kept] = '\0';
    char *blank = strchr(field, ' ');
    if (blank) *blank = '\0';
    buffer[0] = '\0';
    wording(user, field, blank ? blank + 1 : NULL, buffer, size);
    buffer[size - 1] = '\0';
    return strlen(buffer);
}

const char *armilla_wording_apply(armilla_wording wording, void *user, const char *text, char *buffer, size_t size)
{
    const char mark = ARMILLA_FIELD("")[0], end_mark = ARMILLA_FIELD("")[1];
    size_t used = 0;
    if (!buffer || size == 0) return "";
    for (const char *at = text ? text : ""; *at && used + 1 < size; at++) {
        const char *end = *at == mark ? strchr(at, end_mark) : NULL;
        if (end) {
            used += say(wording ? wording : plain_wording, user, at + 1, (size_t)(end - at - 1), buffer + used,
                        size - used);
            at = end;
        } else {
            buffer[used++] = *at;
        }
    }
    buffer[used] = '\0';
    return buffer;
}

void armilla_context_set_wording(armilla_context *context, armilla_wording wording, void *user)
{
    if (!context) return;
    context->wording = wording;
    context->wording_user = user;
}
