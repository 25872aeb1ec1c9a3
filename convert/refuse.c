/* Why a conversion fails, in one line, and what is to be said where it does not. */
#include "convert.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

armilla_status refuse(conversion *c, armilla_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->error, sizeof c->error, format, arguments);
    va_end(arguments);
    armilla_plain_text(c->error); /* names in it come from the file */
    return status;
}

void warn(conversion *c, const char *format, ...)
{
    char line[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const size_t used = strlen(c->warnings);
    snprintf(c->warnings + used, sizeof c->warnings - used, "armilla-convert: warning: %s\n", armilla_plain_text(line));
}
