/* Numbers and texts whatever the host program's locale: only number.c calls what depends on it (tests/style/locale.sh). */
#ifndef ARMILLA_BASE_NUMBER_H
#define ARMILLA_BASE_NUMBER_H

#include <armilla/base.h>

#include <locale.h>
#include <stdarg.h>

/* As strtod, in the C locale. */
double armilla_read_number(const char *text, char **end);
/* As snprintf and vsnprintf, in the C locale. */
int armilla_plain_print(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int armilla_plain_print_list(char *buffer, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
/* As strerror, in the C locale. */
const char *armilla_error_text(int error);

/* For many numbers at once: this thread is in the C locale until leave, which takes what enter gave. */
typedef struct armilla_plain {
    locale_t plain, before;
} armilla_plain;
armilla_plain armilla_plain_enter(void);
void armilla_plain_leave(armilla_plain plain);

enum { ARMILLA_NUMBER_TEXT = 48 }; /* the longest has 24; more may be written behind it */
/* text = the number of that type with as few digits as give it back bit for bit, as printf's %g writes them: the first of
 * 15 to 17 (f64) or 6 to 9 that do; whole numbers below 1e15 have neither point nor exponent. Returns its length. Calls
 * nothing of the C library: the locale does not matter. */
size_t armilla_shortest(armilla_type type, double number, char text[ARMILLA_NUMBER_TEXT]);
/* text = the whole number, without an end mark; returns its length. */
size_t armilla_whole_text(uint64_t number, char text[ARMILLA_NUMBER_TEXT]);

#endif
