/* Numbers as text with as few digits as give them back. x = c * 2^e is scaled by a power of ten to v = x * 10^q, which
 * has 17 (f64) or 9 digits before its point, and so are the halfway points to its neighbours: what lies between these is
 * read as x. A product of N = c * 2^h with 128 bits of 5^q (as in Lemire, "Number parsing at a gigabyte per second", 2021,
 * and Adams, "Ryu: fast float-to-string conversion", 2018) has v in its upper bits, and decides everything: powers that
 * are inexact are rounded up, so that v becomes larger by less than 2^-70; and neither v, nor v less 1/2, nor a halfway
 * point, where it is no integer, is above one by less than 2^-64.6 or below one by less than 2^-64.8, for any c and e (the
 * least distances are found by Euclid's algorithm, for each e). */
#include "base/number.h"
#include "base/powers.h"

#include <math.h>
#include <string.h>

#define MOST_WHOLE 1e15 /* whole numbers below it are printed as such */
#define TEN_8 100000000ull
#define TEN_16 (TEN_8 * TEN_8)
#define LONGEST 17 /* digits */

enum { LAST_EXACT = 55 }; /* of the powers of five from 5^0 on; later ones are rounded down */

/* The low half of a * b, and the high one. */
static inline uint64_t multiply(uint64_t a, uint64_t b, uint64_t *high)
{
#ifdef __SIZEOF_INT128__
    __extension__ const unsigned __int128 product = (unsigned __int128)a * b;
    *high = (uint64_t)(product >> 64);
    return (uint64_t)product;
#else
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;
    *high = a1 * b1 + (middle >> 32) + (other >> 32);
    return a * b;
#endif
}

/* A number's whole part and 64 bits behind it, of which the last one stands for more: fraction is 0 for integers alone,
 * and 2^63 for what lies exactly between two. */
typedef struct scaled {
    uint64_t whole, fraction;
} scaled;

/* number * 5^q / 2^128, of the 5^q whose highest bit is 2^127. */
static inline scaled scale(uint64_t number, int q)
{
    const uint64_t *power = armilla_powers_of_five[q - ARMILLA_POWER_LEAST];
    uint64_t whole = 0, carried = 0;
    const uint64_t last = multiply(number, power[1] + (q > LAST_EXACT), &carried);
    const uint64_t fraction = multiply(number, power[0], &whole) + carried;
    return (scaled){whole + (fraction < carried), fraction | last >> 63};
}

typedef struct format {
    int mantissa, least; /* bits that are stored of c, and the least e */
    int digits;          /* that are enough for any number */
    uint64_t limit;      /* 10^digits */
} format;

static const format wide = {52, -1074, LONGEST, 10 * TEN_16}, narrow = {23, -149, 9, 10 * TEN_8};

/* x = c * 2^e */
typedef struct binary {
    uint64_t c;
    int e;
    bool lopsided; /* the neighbour below is half as far as the one above */
} binary;

static binary take_apart(const format *f, uint64_t bits)
{
    const int stored = (int)(bits >> f->mantissa);
    const uint64_t c = bits & ((1ull << f->mantissa) - 1);
    if (stored == 0) return (binary){c, f->least, false};
    return (binary){c | 1ull << f->mantissa, f->least + stored - 1, c == 0 && stored > 1};
}

static binary take_apart_wide(double number)
{
    uint64_t bits = 0;
    memcpy(&bits, &number, sizeof bits);
    return take_apart(&wide, bits);
}

static binary take_apart_narrow(float number)
{
    uint32_t bits = 0;
    memcpy(&bits, &number, sizeof bits);
    return take_apart(&narrow, bits);
}

/* v, and the integers that are read as x when they are scaled back. */
typedef struct interval {
    scaled v;
    uint64_t low, high;
    int exponent; /* of the first digit of v, in x */
} interval;

static inline interval surround(const binary *x, int q, int exponent)
{
    const int log2_five = 1217359 * q >> 19, h = x->e + q + log2_five + 1; /* floor(q log2(5)) */
    const uint64_t number = x->c << h, half = 1ull << (h - 1);
    const scaled low = scale(number - (x->lopsided ? half / 2 : half), q), high = scale(number + half, q);
    const bool odd = x->c & 1; /* halfway points are read as the even neighbour */
    return (interval){.v = scale(number, q),
                      .low = low.whole + (low.fraction > 0 || odd),
                      .high = high.whole - (high.fraction == 0 && odd),
                      .exponent = exponent};
}

/* The power of ten is guessed by that of two, and may be one too small. */
static inline interval enlarge(const format *f, const binary *x)
{
    const int log2 = x->e + 63 - __builtin_clzll(x->c);
    const int exponent = log2 * 78913 >> 18; /* floor(log10(2^log2)) */
    const interval first = surround(x, f->digits - 1 - exponent, exponent);
    return first.v.whole < f->limit ? first : surround(x, f->digits - 2 - exponent, exponent + 1);
}

/* *rounded = v as a multiple of unit, halves to even; whether that is read as x. */
static inline __attribute__((always_inline)) bool fits(const interval *i, uint64_t unit, uint64_t *rounded)
{
    const uint64_t count = i->v.whole / unit, rest = i->v.whole % unit, fraction = i->v.fraction;
    const uint64_t point = unit == 1 ? fraction : rest, half = unit == 1 ? 1ull << 63 : unit / 2;
    const bool beyond = (unit > 1 && fraction > 0) || (count & 1);
    *rounded = (count + (point > half || (point == half && beyond))) * unit;
    return *rounded >= i->low && *rounded <= i->high;
}

/* How many of the last digits of v are not needed. */
static inline int shorten(const interval *i, bool four, uint64_t *rounded)
{
    if (four && fits(i, 1000, rounded)) return 3;
    if (fits(i, 100, rounded)) return 2;
    if (fits(i, 10, rounded)) return 1;
    (void)fits(i, 1, rounded);
    return 0;
}

/* A byte for each of eight digits, the first of them lowest: numbers of four, then two, then one digit are divided side
 * by side. 10486/2^20 and 103/2^10 are 1/100 and 1/10 for those. */
static inline uint64_t spread(uint32_t number)
{
    const uint64_t fours = number / 10000 | (uint64_t)(number % 10000) << 32;
    const uint64_t hundreds = fours * 10486 >> 20 & 0x0000007f0000007fu;
    const uint64_t twos = hundreds + ((fours - 100 * hundreds) << 16);
    const uint64_t tens = twos * 103 >> 10 & 0x000f000f000f000fu;
    return tens + ((twos - 10 * tens) << 8);
}

static inline void store(uint64_t digits, char *text)
{
    digits |= 0x3030303030303030u;
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) digits = __builtin_bswap64(digits);
    memcpy(text, &digits, sizeof digits);
}

/* All 17 digits of a number; returns how many there are without zeros at the end, at least 1. */
static inline int print_digits(uint64_t number, char text[LONGEST])
{
    const uint64_t rest = number % TEN_16;
    const uint64_t first = spread((uint32_t)(rest / TEN_8)), last = spread((uint32_t)(rest % TEN_8));
    text[0] = (char)('0' + number / TEN_16);
    store(first, text + 1);
    store(last, text + 9);
    if (last) return 17 - __builtin_clzll(last) / 8;
    return first ? 9 - __builtin_clzll(first) / 8 : 1;
}

/* Up to eight digits, as most numbers have. */
static inline size_t print_few(uint32_t number, char *text)
{
    const uint64_t digits = spread(number);
    const int zeros = digits ? __builtin_ctzll(digits) / 8 : 7;
    store(digits >> 8 * zeros, text);
    return (size_t)(8 - zeros);
}

size_t armilla_whole_text(uint64_t number, char text[ARMILLA_NUMBER_TEXT])
{
    if (number < TEN_8) return print_few((uint32_t)number, text);
    const size_t first = armilla_whole_text(number / TEN_8, text);
    store(spread((uint32_t)(number % TEN_8)), text + first);
    return first + 8;
}

/* A point behind `before` of the digits. */
static inline char *print_point(const char *digits, int count, int before, char *text)
{
    memcpy(text, digits, LONGEST);
    if (count <= before) return text + before;
    text[before] = '.';
    memcpy(text + before + 1, digits + before, LONGEST);
    return text + count + 1;
}

static char *print_exponent(int exponent, char *text)
{
    const int size = exponent < 0 ? -exponent : exponent;
    *text++ = 'e';
    *text++ = exponent < 0 ? '-' : '+';
    if (size >= 100) *text++ = (char)('0' + size / 100);
    *text++ = (char)('0' + size / 10 % 10);
    *text++ = (char)('0' + size % 10);
    return text;
}

/* As %g does with that precision. */
static inline char *lay_out(uint64_t number, int exponent, int precision, char *text)
{
    char digits[2 * LONGEST] = "";
    const int count = print_digits(number, digits);
    if (exponent < -4 || exponent >= precision) return print_exponent(exponent, print_point(digits, count, 1, text));
    if (exponent >= 0) return print_point(digits, count, exponent + 1, text);
    memcpy(text, "0.000", 5);
    memcpy(text + 1 - exponent, digits, LONGEST);
    return text + 1 - exponent + count;
}

/* A number above 0. */
static char *print_fraction(armilla_type type, double number, char *text)
{
    const float nearest = (float)number;
    const format *f = type == ARMILLA_F64 || (double)nearest != number ? &wide : &narrow;
    const binary x = f == &wide ? take_apart_wide(number) : take_apart_narrow(nearest);
    const interval i = enlarge(f, &x);
    uint64_t rounded = 0;
    const int precision = f->digits - shorten(&i, f == &narrow, &rounded);
    const bool carried = rounded >= f->limit;
    if (carried) rounded /= 10;
    if (f == &narrow) rounded *= TEN_8;
    return lay_out(rounded, i.exponent + carried, precision, text);
}

size_t armilla_shortest(armilla_type type, double number, char text[ARMILLA_NUMBER_TEXT])
{
    const double size = fabs(number);
    char *end = text;
    if (signbit(number)) *end++ = '-';
    if (size < MOST_WHOLE && size == (double)(uint64_t)size) {
        end += armilla_whole_text((uint64_t)size, end);
    } else if (isfinite(number)) {
        end = print_fraction(type, size, end);
    } else {
        memcpy(end, isnan(number) ? "nan" : "inf", 3);
        end += 3;
    }
    *end = '\0';
    return (size_t)(end - text);
}
