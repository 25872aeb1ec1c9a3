/* Digits of text, up to eight at once: how many there are is found and used without a branch, which numbers of varying
 * length would mislead. */
#ifndef ARMILLA_FILES_DIGITS_H
#define ARMILLA_FILES_DIGITS_H

#include <stdint.h>
#include <string.h>

/* The eight bytes, of which the first is the lowest; digits have become their values, others are above 9. */
static inline uint64_t armilla_digits_load(const unsigned char *at)
{
    uint64_t word = 0;
    memcpy(&word, at, sizeof word);
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) word = __builtin_bswap64(word);
    return word ^ 0x3030303030303030u;
}

/* How many of them are digits, from the first. Carries of larger bytes go to those behind. */
static inline int armilla_digits_count(uint64_t word)
{
    const uint64_t others = ((word + 0x7676767676767676u) | word) & 0x8080808080808080u;
    return others ? __builtin_ctzll(others) / 8 : 8;
}

/* The number that eight digits are. */
static inline uint64_t armilla_digits_value(uint64_t word)
{
    word = word * ((10 << 8) + 1) >> 8;
    word = (word & 0x00ff00ff00ff00ffu) * ((100u << 16) + 1) >> 16;
    return (word & 0x0000ffff0000ffffu) * ((10000ull << 32) + 1) >> 32;
}

/* Adds the digits at `at` to whole, which wraps where they are too many: where they end tells. */
static inline const unsigned char *armilla_digits_scan(const unsigned char *at, const unsigned char *end,
                                                       uint64_t *whole)
{
    static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    while (end - at >= 8) {
        const uint64_t word = armilla_digits_load(at);
        const int count = armilla_digits_count(word);
        if (count == 0) return at;
        *whole = powers[count] * *whole + armilla_digits_value(word << 8 * (8 - count));
        at += count;
        if (count < 8) return at;
    }
    for (; at < end && (unsigned)(*at - '0') < 10; at++) *whole = 10 * *whole + (uint64_t)(*at - '0');
    return at;
}

#endif
