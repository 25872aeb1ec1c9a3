/* Powers of five for decimals: 5^q, scaled by a power of two so that the highest of 128 bits is set, as high and low
 * halves; rounded down for q > 55, up for q < 0, exact else. No low half has all its bits set. Those of q = -292 ... 340
 * are what a double takes to become 17 digits (base/shortest.c). */
#ifndef ARMILLA_BASE_POWERS_H
#define ARMILLA_BASE_POWERS_H

#include <stdint.h>

#define ARMILLA_POWER_LEAST (-292)
#define ARMILLA_POWER_MOST 340

extern const uint64_t armilla_powers_of_five[ARMILLA_POWER_MOST - ARMILLA_POWER_LEAST + 1][2];

#endif
