/* The symmetric eigenproblem without LAPACK. Few columns by Jacobi's method: rotations in the plane of two axes, each of
 * which makes one entry beside the diagonal 0, pair after pair, until all of them are rounding. */
#include "linalg/small.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { SWEEPS = 60 };

/* A rotation of axes p < q. */
typedef struct rotation {
    int64_t k, p, q;
    double cosine, sine;
} rotation;

/* The one after which S_pq = 0, of two the smaller. */
static rotation find_rotation(int64_t k, int64_t p, int64_t q, const double *S)
{
    const double beside = S[q * k + p], half = (S[q * k + q] - S[p * k + p]) / (2 * beside);
    const double tangent = (half < 0 ? -1 : 1) / (fabs(half) + hypot(half, 1)),
                 cosine = 1 / sqrt(tangent * tangent + 1);
    return (rotation){k, p, q, cosine, tangent * cosine};
}

static void rotate_columns(const rotation *by, double *A)
{
    double *a = A + by->p * by->k, *b = A + by->q * by->k;
    for (int64_t i = 0; i < by->k; i++) {
        const double x = a[i], y = b[i];
        a[i] = by->cosine * x - by->sine * y;
        b[i] = by->sine * x + by->cosine * y;
    }
}

/* S <- R'SR, both halves. */
static void rotate_both(const rotation *by, double *S)
{
    const int64_t k = by->k, p = by->p, q = by->q;
    rotate_columns(by, S);
    for (int64_t i = 0; i < k; i++) {
        const double x = S[i * k + p], y = S[i * k + q];
        S[i * k + p] = by->cosine * x - by->sine * y;
        S[i * k + q] = by->sine * x + by->cosine * y;
    }
    S[q * k + p] = S[p * k + q] = 0;
}

/* One rotation for each pair whose entry is more than rounding, of the two or of the largest entry, which is
 * near 1; whether there was one. */
static bool sweep(int64_t k, double rounding, double *S, double *vectors)
{
    bool rotated = false;
    for (int64_t p = 0; p < k; p++)
        for (int64_t q = p + 1; q < k; q++) {
            const double beside = fabs(S[q * k + p]), least = fmin(fabs(S[p * k + p]), fabs(S[q * k + q]));
            const double most = fmax(fabs(S[p * k + p]), fabs(S[q * k + q]));
            if (beside <= rounding || beside <= DBL_EPSILON / 8 * sqrt(least) * sqrt(most)) continue;
            const rotation by = find_rotation(k, p, q, S);
            rotate_both(&by, S);
            if (vectors) rotate_columns(&by, vectors);
            rotated = true;
        }
    return rotated;
}

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
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j <= i; j++) S[i * k + j] = S[j * k + i] = ldexp(S[i * k + j], -exponent);
    if (nothing != 0) S[0] = NAN;
    return exponent;
}

/* The matrix in `vectors` becomes its eigenvectors where these are wanted. */
static void find_by_rotations(int64_t k, bool wanted, double *values, double *vectors)
{
    double S[ARMILLA_SMALL * ARMILLA_SMALL];
    memcpy(S, vectors, (size_t)(k * k) * sizeof *S);
    memset(vectors, 0, (size_t)(k * k) * sizeof *vectors);
    for (int64_t i = 0; i < k; i++) vectors[i * k + i] = 1;
    for (int count = 0; count < SWEEPS && sweep(k, DBL_EPSILON / 64, S, wanted ? vectors : NULL); count++) {}
    for (int64_t i = 0; i < k; i++) values[i] = S[i * k + i];
}

bool armilla_small_eigen(int64_t k, bool wanted, double *values, double *vectors)
{
    if (k == 0) return true;
    const int exponent = scale_whole(k, vectors);
    if (isnan(vectors[0])) return false;
    if (k <= ARMILLA_SMALL)
        find_by_rotations(k, wanted, values, vectors);
    else if (!armilla_tridiagonal_eigen(k, wanted, values, vectors))
        return false;
    for (int64_t i = 0; i < k; i++) values[i] = ldexp(values[i], exponent);
    put_in_order(k, values, wanted ? vectors : NULL);
    return true;
}
