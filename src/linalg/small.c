/* The symmetric eigenproblem without LAPACK: scaled to entries near 1, by a tridiagonal matrix, values in their order. */
#include "linalg/small.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Values rising, of equal ones in the order found, each with its vector. */
static void put_in_order(int64_t k, double *values, double *vectors)
{
    for (int64_t i = 1; i < k; i++)
        for (int64_t j = i; j > 0 && values[j] < values[j - 1]; j--) {
            const double value = values[j];
            values[j] = values[j - 1];
            values[j - 1] = value;
            for (int64_t a = 0; vectors && a < k; a++) {
                const double entry = vectors[j * k + a];
                vectors[j * k + a] = vectors[(j - 1) * k + a];
                vectors[(j - 1) * k + a] = entry;
            }
        }
}

/* Both halves of S from its upper one, in units of 2^exponent, in which its largest entry is near 1; returns the exponent.
 * Not finite: NAN in S[0]. */
static int scale_whole(int64_t k, double *S)
{
    double nothing = 0, largest = 0;
    int exponent = 0;
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j <= i; j++) {
            nothing += 0 * S[i * k + j];
            largest = fmax(largest, fabs(S[i * k + j]));
        }
    if (nothing == 0) (void)frexp(largest, &exponent);
    /* In two factors, each of which is a number where one would not be. */
    const double half = ldexp(1, -exponent / 2), rest = ldexp(1, -exponent + exponent / 2);
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j <= i; j++) S[i * k + j] = S[j * k + i] = half * S[i * k + j] * rest;
    if (nothing != 0) S[0] = NAN;
    return exponent;
}

bool armilla_small_eigen(int64_t k, bool wanted, double *values, double *vectors)
{
    if (k == 0) return true;
    const int exponent = scale_whole(k, vectors);
    if (isnan(vectors[0])) return false;
    if (!armilla_tridiagonal_eigen(k, wanted, values, vectors)) return false;
    for (int64_t i = 0; i < k; i++) values[i] = ldexp(values[i], exponent);
    put_in_order(k, values, wanted ? vectors : NULL);
    return true;
}
