/* The two types of 16 bits that C does not have, as bits. Every one of their numbers is a float. */
#ifndef ARMILLA_LINALG_HALF_H
#define ARMILLA_LINALG_HALF_H

#include <stdint.h>
#include <string.h>

static inline float armilla_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t armilla_bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* f16, IEEE 754's binary16: 1 sign, 5 exponent and 10 fraction bits. Without arithmetic on subnormal floats, which a
 * program may have switched off. */
static inline float armilla_f16_value(uint16_t word)
{
    const uint32_t sign = (uint32_t)(word & 0x8000) << 16, exponent = word >> 10 & 31, fraction = word & 1023;
    const uint32_t small = armilla_bits_of_float((float)fraction * 0x1p-24f); /* of exponent 0 */
    const uint32_t large = (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13;
    return armilla_float_of_bits(sign | (exponent ? large : small));
}

/* The f16 of a number that is one, or NaN. */
static inline uint16_t armilla_f16_of(float value)
{
    const uint32_t bits = armilla_bits_of_float(value), magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
    if (magnitude > 0x7f800000) return (uint16_t)(sign | 0x7e00);
    if (magnitude == 0x7f800000) return (uint16_t)(sign | 0x7c00);
    if (magnitude >= 113u << 23) return (uint16_t)(sign | ((magnitude >> 13) - (112u << 10)));
    return (uint16_t)(sign |
                      (uint32_t)(armilla_float_of_bits(magnitude) * 0x1p24f)); /* subnormal: a multiple of 2^-24 */
}

/* bf16: the upper half of a float. */
static inline float armilla_bf16_value(uint16_t word)
{
    return armilla_float_of_bits((uint32_t)word << 16);
}

/* The bf16 of a number that is one, or NaN. */
static inline uint16_t armilla_bf16_of(float value)
{
    return (uint16_t)(value != value ? 0x7fc0 : armilla_bits_of_float(value) >> 16);
}

#endif
