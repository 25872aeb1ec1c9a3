/* Numbers as text with a decimal point, whatever the host program's locale. */
#ifndef ARMILLA_BASE_NUMBER_H
#define ARMILLA_BASE_NUMBER_H

#include <armilla/base.h>

#include <locale.h>

/* As strtod, in the C locale. */
double armilla_read_number(const char *text, char **end);
/* The number with that many digits (%.*g). */
void armilla_print_number(char *buffer, size_t size, int digits, double number);

/* For many numbers at once: this thread is in the C locale until leave, which takes what enter gave. */
typedef struct armilla_plain {
    locale_t plain, before;
} armilla_plain;
armilla_plain armilla_plain_enter(void);
void armilla_plain_leave(armilla_plain plain);

enum { ARMILLA_NUMBER_TEXT = 32 };
/* text = the number of that type with as few digits as give it back bit for bit; returns its length. In the C locale
 * only. */
size_t armilla_shortest(armilla_type type, double number, char text[ARMILLA_NUMBER_TEXT]);

#endif
