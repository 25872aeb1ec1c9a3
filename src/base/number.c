/* The C locale for the length of one call, or of many; where it cannot be had, the present one. */
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WHOLE 1e15 /* whole numbers below it are printed as such */

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

static bool same(armilla_type type, const char *text, double number)
{
    return type == ARMILLA_F64 ? strtod(text, NULL) == number : strtof(text, NULL) == (float)number;
}

size_t armilla_shortest(armilla_type type, double number, char text[ARMILLA_NUMBER_TEXT])
{
    const int most = type == ARMILLA_F64 ? 17 : 9;
    char made[ARMILLA_NUMBER_TEXT] = "";
    int length = 0;
    if (fabs(number) < MOST_WHOLE && number == floor(number)) {
        length = snprintf(made, sizeof made, "%.0f", number); /* -0 keeps its sign */
    } else {
        for (int digits = type == ARMILLA_F64 ? 15 : 6; digits <= most; digits++) {
            length = snprintf(made, sizeof made, "%.*g", digits, number);
            if (same(type, made, number)) break;
        }
    }
    memcpy(text, made, sizeof made);
    return (size_t)length;
}
