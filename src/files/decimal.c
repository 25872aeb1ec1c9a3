/* Decimal to double, whole * 10^exponent, in three ways, each for what the one before it leaves.
 * 1. Both are exact in double: one multiplication or division rounds once (Clinger, "How to read floating point numbers
 *    accurately", 1990).
 * 2. A product with a power of five of 128 bits (Lemire, "Number parsing at a gigabyte per second", 2021): exact unless
 *    its last bits say that it may not be. Digits past the 19th are dropped, where both neighbours round to the same.
 * 3. The C library, on a copy with a bounded number of digits. */
#include "files/decimal.h"

#include "base/ascii.h"
#include "base/powers.h"
#include "files/digits.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_POWER 22
#define WIDE_DIGITS 19       /* fit 64 bits */
#define MOST_DIGITS 800      /* 767 decide any double; what follows matters only by not being zero */
#define MOST_EXPONENT 99999  /* past it a double with so few digits is 0 or infinite */
#define LONGEST (1ull << 40) /* of an exponent that is still counted */
#define POWER_MOST 64        /* of ten, in the second way */

typedef struct decimal {
    bool negative;
    const unsigned char *digits, *behind; /* digits and the mark between them */
    int64_t count;                        /* significant digits */
    int64_t exponent;                     /* of the last digit */
    uint64_t whole;                       /* the digits as a number where there are at most WIDE_DIGITS */
} decimal;

static bool is_digit(const unsigned char *at, const unsigned char *end)
{
    return at < end && (unsigned)(*at - '0') < 10;
}

static const unsigned char *scan_sign(const unsigned char *at, const unsigned char *end, bool *negative)
{
    *negative = at < end && *at == '-';
    return at < end && (*at == '-' || *at == '+') ? at + 1 : at;
}

/* NULL where e has no digits behind it. */
static inline __attribute__((always_inline)) const unsigned char *
scan_exponent(const unsigned char *at, const unsigned char *end, int64_t *exponent)
{
    bool negative = false;
    int64_t value = 0;
    if (at == end || (*at != 'e' && *at != 'E')) return at;
    at = scan_sign(at + 1, end, &negative);
    if (!is_digit(at, end)) return NULL;
    for (; is_digit(at, end); at++)
        if (value < (int64_t)LONGEST) value = 10 * value + (*at - '0');
    *exponent += negative ? -value : value;
    return at;
}

/* Leaves out zeros in front; the first WIDE_DIGITS of longer numbers become whole, and the exponent is theirs. */
static __attribute__((noinline)) void shorten(decimal *number)
{
    const unsigned char *at = number->digits;
    while (at < number->behind && (*at == '0' || !is_digit(at, number->behind))) number->count -= *at++ == '0';
    number->digits = at;
    if (number->count <= WIDE_DIGITS) return;
    number->whole = 0;
    number->exponent += number->count - WIDE_DIGITS;
    for (int used = 0; used < WIDE_DIGITS; at++)
        if (is_digit(at, number->behind)) {
            number->whole = 10 * number->whole + (uint64_t)(*at - '0');
            used++;
        }
}

/* [sign] digits [mark digits] [e [sign] digits], with a digit somewhere before the e; NULL for anything else. */
static inline __attribute__((always_inline)) const unsigned char *
scan(const unsigned char *at, const unsigned char *end, unsigned char mark, decimal *number)
{
    number->whole = 0;
    number->exponent = 0;
    number->digits = at = scan_sign(at, end, &number->negative);
    const unsigned char *stop = at;
    for (; is_digit(stop, end); stop++) number->whole = 10 * number->whole + (uint64_t)(*stop - '0');
    number->count = stop - at;
    if (stop < end && *stop == mark) {
        at = stop + 1;
        stop = armilla_digits_scan(at, end, &number->whole);
        number->count += stop - at;
        number->exponent = at - stop;
    }
    if (number->count == 0) return NULL;
    number->behind = stop;
    if (number->count > WIDE_DIGITS) shorten(number);
    return scan_exponent(stop, end, &number->exponent);
}

static bool convert_exact(uint64_t whole, int64_t exponent, double *value)
{
    static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (whole >> 53 || exponent < -EXACT_POWER || exponent > EXACT_POWER) return false;
    *value = exponent < 0 ? (double)whole / powers[-exponent] : (double)whole * powers[exponent];
    return true;
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 uint128;

/* The top 128 bits of whole * 5^q, whole's highest bit being set; false where what was left out could matter. */
static bool multiply(uint64_t whole, int64_t q, uint64_t *high, uint64_t *low)
{
    const uint64_t *power = armilla_powers_of_five[q - ARMILLA_POWER_LEAST];
    uint128 product = (uint128)whole * power[0];
    if ((product >> 64 & 0x1ff) == 0x1ff) { /* the lower half of the power may carry into the bits that round */
        const uint128 rest = (uint128)whole * power[1] >> 64;
        product += rest;
    }
    *high = (uint64_t)(product >> 64);
    *low = (uint64_t)product;
    return *low != UINT64_MAX || (q >= -27 && q <= 55);
}

/* whole * 10^q as mantissa * 2^x. Powers up to POWER_MOST keep the result far from subnormal and infinite numbers. */
static bool convert_index64(uint64_t whole, int64_t q, double *value)
{
    enum { MANTISSA = 52, SPARE = 64 - MANTISSA - 3, BIAS = 1023 };
    uint64_t high = 0, low = 0;
    if (whole == 0 || q < -POWER_MOST || q > POWER_MOST) return false;
    const int shift = __builtin_clzll(whole);
    if (!multiply(whole << shift, q, &high, &low)) return false;
    const int top = (int)(high >> 63);
    uint64_t mantissa = high >> (top + SPARE);
    /* Exactly halfway: to even. Only such powers of ten can be halfway. */
    if (low <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1 && mantissa << (top + SPARE) == high) mantissa &= ~1ull;
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    int64_t power = (217706 * q >> 16) + 63 + top - shift + BIAS; /* 217706/2^16: log2(10) */
    if (mantissa >> (MANTISSA + 1)) {
        mantissa >>= 1;
        power++;
    }
    const uint64_t bits = (uint64_t)power << MANTISSA | (mantissa & ((1ull << MANTISSA) - 1));
    memcpy(value, &bits, sizeof bits);
    return true;
}
#else
static bool convert_index64(uint64_t whole, int64_t q, double *value)
{
    (void)whole, (void)q, (void)value;
    return false;
}
#endif

/* Digits that were dropped do not matter where the number without them and the next one round to the same. */
static inline __attribute__((always_inline)) bool convert(const decimal *number, double *value)
{
    double above = 0;
    if (number->count <= WIDE_DIGITS && convert_exact(number->whole, number->exponent, value)) return true;
    if (!convert_index64(number->whole, number->exponent, value)) return false;
    if (number->count <= WIDE_DIGITS) return true;
    return convert_index64(number->whole + 1, number->exponent, &above) && above == *value;
}

static __attribute__((noinline)) double convert_slow(const decimal *number, locale_t plain)
{
    char text[MOST_DIGITS + 32];
    int64_t exponent = number->exponent;
    int count = 0;
    bool more = false;
    if (number->count > WIDE_DIGITS) exponent -= number->count - WIDE_DIGITS;
    for (const unsigned char *at = number->digits; at < number->behind; at++) {
        if (!is_digit(at, number->behind) || (count == 0 && *at == '0')) continue;
        if (count < MOST_DIGITS) {
            text[count++] = (char)*at;
            continue;
        }
        exponent++;
        more = more || *at != '0';
    }
    if (count == 0) return 0;
    if (more) {
        text[count++] = '1';
        exponent--;
    }
    if (exponent > MOST_EXPONENT) exponent = MOST_EXPONENT;
    if (exponent < -MOST_EXPONENT) exponent = -MOST_EXPONENT;
    snprintf(text + count, sizeof text - (size_t)count, "e%d", (int)exponent);
    return strtod_l(text, NULL, plain);
}

static inline __attribute__((always_inline)) double finish(const decimal *number, locale_t plain)
{
    double found = 0;
    if (!convert(number, &found)) found = convert_slow(number, plain);
    return number->negative ? -found : found;
}

const unsigned char *armilla_decimal_scan(const unsigned char *start, const unsigned char *end, unsigned char mark,
                                          locale_t plain, double *value)
{
    decimal number;
    const unsigned char *behind = scan(start, end, mark, &number);
    if (!behind) return NULL;
    const double found = finish(&number, plain);
    if (isinf(found)) return NULL;
    *value = found;
    return behind;
}

static bool is_word(const unsigned char *start, const unsigned char *end)
{
    static const char *const words[] = {"nan",  "na",  "n/a",     "null",   "none",   "inf",   "infinity", "<na>",
                                        "#n/a", "#na", "#div/0!", "#name?", "#null!", "#num!", "#ref!",    "#value!"};
    bool negative = false;
    start = scan_sign(start, end, &negative);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((size_t)(end - start) == strlen(words[i]) &&
            armilla_ascii_begins((const char *)start, words[i], strlen(words[i])))
            return true;
    return false;
}

armilla_decimal armilla_decimal_parse(const unsigned char *start, const unsigned char *end, unsigned char mark,
                                      locale_t plain, double *value)
{
    decimal number;
    if (start == end) return ARMILLA_DECIMAL_EMPTY;
    if (scan(start, end, mark, &number) != end)
        return is_word(start, end) ? ARMILLA_DECIMAL_NOT_FINITE : ARMILLA_DECIMAL_TEXT;
    const double found = finish(&number, plain);
    if (isinf(found)) return ARMILLA_DECIMAL_TOO_LARGE;
    *value = found;
    return ARMILLA_DECIMAL_NUMBER;
}

bool armilla_decimal_list(const unsigned char *start, const unsigned char *end, locale_t plain)
{
    double value = 0;
    while (start) {
        const unsigned char *comma = memchr(start, ',', (size_t)(end - start));
        const unsigned char *stop = comma ? comma : end;
        if (armilla_decimal_parse(start, stop, '.', plain, &value) != ARMILLA_DECIMAL_NUMBER) return false;
        start = comma ? comma + 1 : NULL;
    }
    return true;
}
