/* Singular values and eigenvalues by Jacobi's rotations: slow, short, and accurate. */
#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SWEEPS = 100 };

static void rotate(int64_t count, double *a, double *b, double c, double s)
{
    for (int64_t i = 0; i < count; i++) {
        const double x = a[i], y = b[i];
        a[i] = c * x - s * y;
        b[i] = s * x + c * y;
    }
}

/* The rotation that makes the columns of a symmetric 2 x 2 problem (aa, ab, bb) orthogonal. */
static void angle(double aa, double ab, double bb, double *c, double *s)
{
    const double zeta = (bb - aa) / (2 * ab);
    const double t = (zeta >= 0 ? 1 : -1) / (fabs(zeta) + hypot(1, zeta));
    *c = 1 / hypot(1, t);
    *s = *c * t;
}

/* Rotates columns p and q of A until they are orthogonal; false where they already were. */
static bool orthogonalise(int64_t m, int64_t r, double *A, double *right, int64_t p, int64_t q)
{
    double *a = A + p * m, *b = A + q * m, c = 0, s = 0;
    const double aa = reference_dot(m, a, a), bb = reference_dot(m, b, b), ab = reference_dot(m, a, b);
    if (fabs(ab) <= 1e-15 * sqrt(aa) * sqrt(bb) || ab == 0) return false;
    angle(aa, ab, bb, &c, &s);
    rotate(m, a, b, c, s);
    rotate(r, right + p * r, right + q * r, c, s);
    return true;
}

static void swap_columns(int64_t count, double *a, double *b)
{
    rotate(count, a, b, 0, 1);
}

/* Falling order, columns of unit length. */
static void arrange(int64_t m, int64_t r, double *left, double *sigma, double *right)
{
    for (int64_t k = 0; k < r; k++) sigma[k] = reference_norm(m, left + k * m);
    for (int64_t k = 0; k < r; k++) {
        int64_t best = k;
        for (int64_t p = k + 1; p < r; p++)
            if (sigma[p] > sigma[best]) best = p;
        if (best != k) {
            const double kept = sigma[k];
            sigma[k] = sigma[best];
            sigma[best] = kept;
            swap_columns(m, left + k * m, left + best * m);
            swap_columns(r, right + k * r, right + best * r);
        }
        for (int64_t i = 0; i < m; i++) left[i + k * m] = sigma[k] > 0 ? left[i + k * m] / sigma[k] : 0;
    }
}

void reference_svd(int64_t m, int64_t r, const double *A, double *left, double *sigma, double *right)
{
    const double scale = reference_largest(m * r, A);
    bool rotated = scale > 0;
    for (int64_t i = 0; i < m * r; i++) left[i] = scale > 0 ? A[i] / scale : 0;
    for (int64_t i = 0; i < r * r; i++) right[i] = i % (r + 1) == 0;
    for (int sweep = 0; rotated && sweep < MOST_SWEEPS; sweep++) {
        rotated = false;
        for (int64_t p = 0; p < r; p++)
            for (int64_t q = p + 1; q < r; q++) rotated |= orthogonalise(m, r, left, right, p, q);
    }
    arrange(m, r, left, sigma, right);
    for (int64_t k = 0; k < r; k++) sigma[k] *= scale;
}

void reference_polar(int64_t m, int64_t r, const double *M, double *U)
{
    double *left = reference_new(m * r), *sigma = reference_new(r), *right = reference_new(r * r);
    reference_svd(m, r, M, left, sigma, right);
    reference_right_transposed(m, r, r, left, right, U);
    free(left);
    free(sigma);
    free(right);
}

static int compare_rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Rows and columns p and q of the symmetric matrix, so that S_pq becomes 0. */
static void annihilate(int64_t r, double *S, int64_t p, int64_t q)
{
    double c = 0, s = 0;
    angle(S[p + p * r], S[p + q * r], S[q + q * r], &c, &s);
    rotate(r, S + p * r, S + q * r, c, s);
    for (int64_t k = 0; k < r; k++) {
        const double x = S[p + k * r], y = S[q + k * r];
        S[p + k * r] = c * x - s * y;
        S[q + k * r] = s * x + c * y;
    }
}

void reference_eigenvalues(int64_t r, const double *S, double *values)
{
    double *rest = reference_copy(r * r, S);
    const double enough = 1e-17 * reference_norm(r * r, S);
    bool rotated = true;
    for (int sweep = 0; rotated && sweep < MOST_SWEEPS; sweep++) {
        rotated = false;
        for (int64_t p = 0; p < r; p++)
            for (int64_t q = p + 1; q < r; q++)
                if (fabs(rest[p + q * r]) > enough) {
                    annihilate(r, rest, p, q);
                    rotated = true;
                }
    }
    for (int64_t k = 0; k < r; k++) values[k] = rest[k + k * r];
    qsort(values, (size_t)r, sizeof *values, compare_rising);
    free(rest);
}
