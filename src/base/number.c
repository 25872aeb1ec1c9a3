/* The C locale for the length of one call; where it cannot be had, the present one. */
#include "base/number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static locale_t enter(locale_t *plain)
{
    *plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    return *plain ? uselocale(*plain) : (locale_t)0;
}

static void leave(locale_t plain, locale_t before)
{
    if (!plain) return;
    uselocale(before);
    freelocale(plain);
}

double armilla_read_number(const char *text, char **end)
{
    locale_t plain;
    const locale_t before = enter(&plain);
    const double value = strtod(text, end);
    leave(plain, before);
    return value;
}

void armilla_print_number(char *buffer, size_t size, int digits, double number)
{
    locale_t plain;
    const locale_t before = enter(&plain);
    snprintf(buffer, size, "%.*g", digits, number);
    leave(plain, before);
}
