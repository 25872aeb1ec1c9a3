/* ln(1 + x) of our own: the same bits on every machine and in every loop, and a loop over it becomes vector code. */
#ifndef ARMILLA_DATA_LOGARITHM_H
#define ARMILLA_DATA_LOGARITHM_H

#include <stdint.h>
#include <string.h>

/* With y = 1 + x rounded and e what that lost, ln(1+x) = ln y + e/y. With y = 2^k m, sqrt(1/2) <= m < sqrt(2),
 * f = m - 1 and s = f/(2 + f), ln m = 2 artanh s = f - (f^2/2 - s(f^2/2 + R)), R = 2(s^2/3 + s^4/5 + ...): the series
 * is cut where its terms are below a quarter of an ulp. Within one ulp of the exact value. The result is NaN where x is
 * infinite or at most -1: by 0/0, by inf - inf, or by the sign of y. There are no branches, which would keep a loop
 * from being vectorized. */
static inline double armilla_log1p(double x)
{
    const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33; /* k times the first is exact */
    const uint64_t root_half = 0x3fe6a09e667f3bcdu, one = 0x3ff0000000000000u, fraction = 0x000fffffffffffffu;
    const double y = 1 + x, back = y - 1, lost = (1 - (y - back)) + (x - back);
    double m = 0, biased = 0, bad = 0;
    uint64_t bits = 0;
    memcpy(&bits, &y, sizeof bits);
    const uint64_t negative = (0 - (bits >> 63)) & 0x7ff8000000000000u; /* NaN, or 0 */
    bits += one - root_half;
    const uint64_t exponent = (bits >> 52) | 0x4330000000000000u; /* 2^52 + the biased exponent, as a double */
    bits = (bits & fraction) + root_half;
    memcpy(&m, &bits, sizeof m);
    memcpy(&biased, &exponent, sizeof biased);
    memcpy(&bad, &negative, sizeof bad);
    const double k = biased - (0x1p52 + 1023), f = m - 1, s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    const double even = z * z, low = 2.0 / 3 + z * (2.0 / 5), middle = 2.0 / 7 + z * (2.0 / 9);
    const double high = 2.0 / 11 + z * (2.0 / 13), top = 2.0 / 15 + z * (2.0 / 17) + even * (2.0 / 19 + z * (2.0 / 21));
    const double R = z * (low + even * (middle + even * (high + even * top)));
    return k * ln2_high + (f - (half - (s * (half + R) + (k * ln2_low + lost / y)))) + bad;
}

/* x becomes ln(1 + x), number by number. */
void armilla_log1p_all(int64_t count, double *x);

#endif
