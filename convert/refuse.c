/* Why a conversion fails, in one line. */
#include "convert.h"

#include <stdarg.h>
#include <stdio.h>

armilla_status refuse(conversion *c, armilla_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->error, sizeof c->error, format, arguments);
    va_end(arguments);
    armilla_plain_text(c->error); /* names in it come from the file */
    return status;
}
