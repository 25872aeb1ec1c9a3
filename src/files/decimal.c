/* Decimal to double. Up to 15 digits with a power of ten up to 22 are exact in double, so that one multiplication or
 * division rounds once, correctly (Clinger, "How to read floating point numbers accurately", 1990). Up to 19 digits,
 * which is what NumPy writes, are done in whole numbers of 128 bits. The C library does the rest, on a copy with a
 * bounded number of digits. */
#include "files/decimal.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FAST_DIGITS 15
#define FAST_POWER 22
#define WIDE_DIGITS 19      /* fit 64 bits */
#define WIDE_POWER 27       /* 5^27 fits 64 bits */
#define MOST_DIGITS 800     /* 767 decide any double; what follows matters only by not being zero */
#define MOST_EXPONENT 99999 /* past it a double with so few digits is 0 or infinite */

/* digits * 10^exponent, without leading zeros. */
typedef struct decimal {
    bool negative;
    int count;
    bool more; /* a dropped digit was not 0 */
    int64_t exponent;
    uint64_t whole; /* the digits as a number where there are at most WIDE_DIGITS */
    char digits[MOST_DIGITS];
} decimal;

static bool is_digit(const unsigned char *at, const unsigned char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

static void add_digit(decimal *number, unsigned char digit, bool fraction)
{
    if (fraction) number->exponent--;
    if (number->count == 0 && digit == '0') return;
    if (number->count < MOST_DIGITS) {
        if (number->count < WIDE_DIGITS) number->whole = 10 * number->whole + (uint64_t)(digit - '0');
        number->digits[number->count++] = (char)digit;
        return;
    }
    number->exponent++;
    if (digit != '0') number->more = true;
}

static const unsigned char *scan_sign(const unsigned char *at, const unsigned char *end, bool *negative)
{
    *negative = at < end && *at == '-';
    return at < end && (*at == '-' || *at == '+') ? at + 1 : at;
}

/* NULL where e has no digits behind it. */
static const unsigned char *scan_exponent(const unsigned char *at, const unsigned char *end, int64_t *exponent)
{
    bool negative = false;
    int64_t value = 0;
    if (at == end || (*at != 'e' && *at != 'E')) return at;
    at = scan_sign(at + 1, end, &negative);
    if (!is_digit(at, end)) return NULL;
    for (; is_digit(at, end); at++)
        if (value < INT64_MAX / 100) value = 10 * value + (*at - '0');
    *exponent += negative ? -value : value;
    return at;
}

/* [sign] digits [. digits] [e [sign] digits], with a digit somewhere before the e, and nothing else. */
static bool scan(const unsigned char *at, const unsigned char *end, decimal *number)
{
    bool some = false;
    at = scan_sign(at, end, &number->negative);
    for (; is_digit(at, end); at++, some = true) add_digit(number, *at, false);
    if (at < end && *at == '.')
        for (at++; is_digit(at, end); at++, some = true) add_digit(number, *at, true);
    if (!some) return false;
    return scan_exponent(at, end, &number->exponent) == end;
}

static bool convert_fast(const decimal *number, double *value)
{
    static const double powers[FAST_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (number->count > FAST_DIGITS || number->exponent < -FAST_POWER || number->exponent > FAST_POWER) return false;
    const double digits = (double)number->whole;
    *value = number->exponent < 0 ? digits / powers[-number->exponent] : digits * powers[number->exponent];
    return true;
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

/* whole * 10^e = (whole * 5^e) * 2^e. A quotient has at least 64 bits, the last of which also stands for whatever is
 * left over, so that its conversion to double rounds as the exact value would. */
static bool convert_wide(const decimal *number, double *value)
{
    const int64_t e = number->exponent;
    uint64_t power = 1;
    if (number->count > WIDE_DIGITS || e < -WIDE_POWER || e > WIDE_POWER) return false;
    for (int64_t i = 0; i < (e < 0 ? -e : e); i++) power *= 5;
    if (e >= 0) {
        *value = ldexp((double)((wide)number->whole * power), (int)e);
        return true;
    }
    const int shift = 64 + __builtin_clzll(number->whole);
    const wide scaled = (wide)number->whole << shift, quotient = scaled / power;
    *value = ldexp((double)(quotient | (quotient * power != scaled)), (int)e - shift);
    return true;
}
#else
static bool convert_wide(const decimal *number, double *value)
{
    (void)number;
    (void)value;
    return false;
}
#endif

static double convert_slow(const decimal *number, locale_t plain)
{
    char text[MOST_DIGITS + 16];
    int64_t exponent = number->exponent;
    int count = number->count;
    memcpy(text, number->digits, (size_t)count);
    if (number->more) {
        text[count++] = '1';
        exponent--;
    }
    if (exponent > MOST_EXPONENT) exponent = MOST_EXPONENT;
    if (exponent < -MOST_EXPONENT) exponent = -MOST_EXPONENT;
    snprintf(text + count, sizeof text - (size_t)count, "e%d", (int)exponent);
    return strtod_l(text, NULL, plain);
}

static bool is_word(const unsigned char *start, const unsigned char *end)
{
    static const char *const words[] = {"nan", "na", "n/a", "inf", "infinity"};
    bool negative = false;
    start = scan_sign(start, end, &negative);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((size_t)(end - start) == strlen(words[i]) &&
            strncasecmp((const char *)start, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

armilla_decimal armilla_decimal_parse(const unsigned char *start, const unsigned char *end, locale_t plain,
                                      double *value)
{
    decimal number;
    double found = 0;
    number.count = 0;
    number.more = false;
    number.exponent = 0;
    number.whole = 0; /* digits are left as they are: clearing 800 bytes would cost more than the parsing */
    if (start == end) return ARMILLA_DECIMAL_EMPTY;
    if (!scan(start, end, &number)) return is_word(start, end) ? ARMILLA_DECIMAL_NOT_FINITE : ARMILLA_DECIMAL_TEXT;
    if (number.count > 0 && !convert_fast(&number, &found) && !convert_wide(&number, &found))
        found = convert_slow(&number, plain);
    if (isinf(found)) return ARMILLA_DECIMAL_TOO_LARGE;
    *value = number.negative ? -found : found;
    return ARMILLA_DECIMAL_NUMBER;
}
