/* Numbers as text with a decimal point, whatever the host program's locale. */
#ifndef ARMILLA_BASE_NUMBER_H
#define ARMILLA_BASE_NUMBER_H

#include <stddef.h>

/* As strtod, in the C locale. */
double armilla_read_number(const char *text, char **end);
/* The number with that many digits (%.*g). */
void armilla_print_number(char *buffer, size_t size, int digits, double number);

#endif
