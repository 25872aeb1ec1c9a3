/* Decimal numbers in text that has no end mark, whatever the locale; rounded correctly. */
#ifndef ARMILLA_FILES_DECIMAL_H
#define ARMILLA_FILES_DECIMAL_H

#include <locale.h>
#include <stdbool.h>

typedef enum armilla_decimal {
    ARMILLA_DECIMAL_NUMBER,
    ARMILLA_DECIMAL_EMPTY,
    ARMILLA_DECIMAL_TEXT,
    ARMILLA_DECIMAL_NOT_FINITE, /* nan, inf, na and the like, and what spreadsheets write instead of a number */
    ARMILLA_DECIMAL_TOO_LARGE,
    ARMILLA_DECIMAL_COUNT
} armilla_decimal;

/* What start ... end-1 is; *value is set where it is a number. mark: what stands before the decimals, a point or a
 * comma; plain: a "C" locale. */
armilla_decimal armilla_decimal_parse(const unsigned char *start, const unsigned char *end, unsigned char mark,
                                      locale_t plain, double *value);

/* The number that the text begins with: where it stops, or NULL where there is none or it is too large. */
const unsigned char *armilla_decimal_scan(const unsigned char *start, const unsigned char *end, unsigned char mark,
                                          locale_t plain, double *value);

/* Whether start ... end-1 is a number, or several separated by commas. */
bool armilla_decimal_list(const unsigned char *start, const unsigned char *end, locale_t plain);

#endif
