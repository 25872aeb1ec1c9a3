/* The polar factor of a thin matrix (A4). M(M'M)^(-1/2) costs three thin products, but its orthonormality error grows
 * as kappa^2; so it is polished by Newton-Schulz steps while kappa is moderate, and beyond that replaced by QR and the
 * SVD of R. That path also completes the basis where M is rank deficient: Q and the factors of R always have all their
 * columns. Many columns are left to products (linalg/polar_products.c), and to QR where these do not suffice. */
#include "linalg/algebra.h"
#include "linalg/blas.h"
#include "linalg/small.h"

#include <float.h>
#include <math.h>

/* kappa^2 up to which the cheap factor is used: its directions are then right to kappa^2*eps = 2e-11. */
#define MODERATE 1e5

/* root = ZZ', the lower half */
static void multiply_halves(int64_t r, const double *Z, double *root)
{
    for (int64_t b = 0; b < r; b++)
        for (int64_t a = b; a < r; a++) {
            double sum = 0;
            for (int64_t k = 0; k < r; k++) sum += Z[k * r + a] * Z[k * r + b];
            root[b * r + a] = sum;
        }
}

/* S^(-1/2) = Z diag(values^(-1/2)) Z' into root; Z is destroyed. */
static void inverse_root(const armilla_algebra *algebra, double *Z, double *root)
{
    const int64_t r = algebra->r;
    const double *values = algebra->values;
    for (int64_t k = 0; k < r; k++) {
        const double fourth = 1 / sqrt(sqrt(values[k]));
        for (int64_t i = 0; i < r; i++) Z[k * r + i] *= fourth;
    }
    if (armilla_is_small(algebra->m, r))
        multiply_halves(r, Z, root);
    else
        armilla_dsyrk('L', 'N', (int)r, (int)r, 1, Z, (int)r, 0, root, (int)r);
    for (int64_t a = 0; a < r; a++)
        for (int64_t b = 0; b < a; b++) root[a * r + b] = root[b * r + a];
}

/* Whether E = U'U is further than rounding from I; then E <- (3I - E)/2 into K, the factor of a Newton-Schulz step. */
static bool polish_by(int64_t m, int64_t r, const double *E, double *K)
{
    double worst = 0;
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = 0; i < r; i++) worst = fmax(worst, fabs(E[j * r + i] - (i == j)));
    if (worst <= 4 * sqrt((double)m) * DBL_EPSILON) return false;
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = 0; i < r; i++) K[j * r + i] = ((i == j ? 3 : 0) - E[j * r + i]) / 2;
    return true;
}

bool armilla_polish(armilla_algebra *algebra, double *U, double *E, double *K)
{
    enum { MOST_STEPS = 3 };
    for (int steps = 0; polish_by(algebra->m, algebra->r, E, K); steps++) {
        if (steps == MOST_STEPS) return false;
        armilla_multiply_in_place(algebra, K, U, E);
    }
    return true;
}

/* U = M(M'M)^(-1/2), M in U and M'M in the first square. *done is false, with U untouched, where M is too ill conditioned
 * for that. */
static armilla_status cheap_factor(armilla_algebra *algebra, double *U, bool *done)
{
    const int64_t r = algebra->r;
    double *Z = algebra->square[0], *root = algebra->square[1], *E = algebra->square[2], *values = algebra->values;
    *done = false;
    const armilla_status status = armilla_eigen(algebra, r, Z, values, Z);
    if (status != ARMILLA_OK) return status;
    if (!(values[0] > 0 && values[r - 1] <= MODERATE * values[0])) return ARMILLA_OK;
    inverse_root(algebra, Z, root);
    armilla_multiply_in_place(algebra, root, U, E);
    (void)armilla_polish(algebra, U, E, root);
    *done = true;
    return ARMILLA_OK;
}

/* M = QR, R = Y Sigma Z', U = Q(YZ'); M in U, and Q. */
static armilla_status careful_factor(armilla_algebra *algebra, double *U)
{
    const int m = (int)algebra->m, r = (int)algebra->r;
    const armilla_status status = armilla_algebra_need_lapack(algebra);
    if (status != ARMILLA_OK) return status;
    double *R = algebra->square[0], *Y = algebra->square[1], *Zt = algebra->square[2];
    int info = armilla_dgeqrf(m, r, U, m, algebra->tau, algebra->work, algebra->work_size);
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = 0; i < r; i++) R[j * r + i] = i <= j ? U[j * m + i] : 0;
    if (info == 0) info = armilla_dorgqr(m, r, r, U, m, algebra->tau, algebra->work, algebra->work_size);
    if (info == 0)
        info = armilla_dgesdd('A', r, r, R, r, algebra->values, Y, r, Zt, r, algebra->work, algebra->work_size,
                              algebra->integers);
    if (info != 0)
        return armilla_fail(algebra->context, ARMILLA_INTERNAL, "LAPACK failed with info %d in QR or SVD", info);
    armilla_multiply(r, r, r, 1, Y, Zt, 0, R);
    armilla_multiply_in_place(algebra, R, U, NULL);
    return ARMILLA_OK;
}

armilla_status armilla_polar(armilla_algebra *algebra, const double *M, double *U)
{
    bool done = false;
    if (!armilla_scale_tall(algebra, M, U, algebra->square[0]))
        return armilla_fail(algebra->context, ARMILLA_BAD_DATA,
                            "the basis step is not finite; scale the data nearer to 1");
    armilla_status status = ARMILLA_OK;
    if (algebra->r >= ARMILLA_LARGE)
        done = armilla_polar_by_products(algebra, U);
    else
        status = cheap_factor(algebra, U, &done);
    if (status == ARMILLA_OK && !done) status = careful_factor(algebra, U);
    return status;
}
