/* The C locale for the length of one call, or of many; where it cannot be had, the present one. */
#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

armilla_plain armilla_plain_enter(void)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return (armilla_plain){plain, plain ? uselocale(plain) : (locale_t)0};
}

void armilla_plain_leave(armilla_plain plain)
{
    if (!plain.plain) return;
    uselocale(plain.before);
    freelocale(plain.plain);
}

double armilla_read_number(const char *text, char **end)
{
    const armilla_plain plain = armilla_plain_enter();
    const double value = strtod(text, end);
    armilla_plain_leave(plain);
    return value;
}

int armilla_plain_print_list(char *buffer, size_t size, const char *format, va_list arguments)
{
    const armilla_plain plain = armilla_plain_enter();
    const int length = vsnprintf(buffer, size, format, arguments);
    armilla_plain_leave(plain);
    return length;
}

int armilla_plain_print(char *buffer, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = armilla_plain_print_list(buffer, size, format, arguments);
    va_end(arguments);
    return length;
}

const char *armilla_error_text(int error)
{
    const armilla_plain plain = armilla_plain_enter();
    const char *text = strerror(error);
    armilla_plain_leave(plain);
    return text;
}
