/* U >= 0 with U'U = I (orthogonal NMF): atoms have no feature in common, so that a row of U has at most one nonzero. A
 * step that never raises the objective (docs/algorithm.md#orthonormal-bases-of-the-family): with V fixed up to the
 * scale of its rows, row i belongs to the atom k that gains most, (A_ik)+^2/G_kk, with B_ik = (A_ik)+/G_kk;
 * u_k = B_k/||B_k||, and ||B_k|| goes into V. */
#include "sets/sets.h"

#include <math.h>
#include <string.h>

/* What row i gains with atom k. */
static double gain(int64_t m, int64_t r, const double *A, const double *G, int64_t i, int64_t k)
{
    const double a = A[k * m + i], own = G[k * r + k];
    return a > 0 && own > 0 ? a / own * a : 0;
}

/* The atom that gains most with row i, the first of equals; -1 where none gains. */
static int64_t best_atom(int64_t m, int64_t r, const double *A, const double *G, int64_t i)
{
    int64_t best = -1;
    double most = 0;
    for (int64_t k = 0; k < r; k++) {
        const double own = gain(m, r, A, G, i, k);
        if (own <= most) continue;
        most = own;
        best = k;
    }
    return best;
}

static int64_t row_owner(int64_t m, int64_t r, const double *B, int64_t i)
{
    for (int64_t k = 0; k < r; k++)
        if (B[k * m + i] != 0) return k;
    return -1;
}

static int64_t count_rows(int64_t m, const double *b)
{
    int64_t count = 0;
    for (int64_t i = 0; i < m; i++) count += b[i] != 0;
    return count;
}

/* The row that an atom without any takes: one that no atom has, or else the longest entry of an atom with several. Its
 * codes will be (x^i)+, the best that a row can have, so the objective does not rise. */
static int64_t spare_row(int64_t m, int64_t r, const double *B)
{
    int64_t best = -1, free_row = -1;
    double most = 0;
    for (int64_t k = 0; k < r; k++) {
        if (count_rows(m, B + k * m) < 2) continue;
        for (int64_t i = 0; i < m; i++) {
            if (B[k * m + i] <= most) continue;
            most = B[k * m + i];
            best = i;
        }
    }
    for (int64_t i = 0; i < m && best < 0 && free_row < 0; i++)
        if (row_owner(m, r, B, i) < 0) free_row = i;
    return best >= 0 ? best : free_row;
}

/* Every atom has a row, and length 1; r <= m. */
static void finish(int64_t m, int64_t r, double *B)
{
    for (int64_t k = 0; k < r; k++) (void)armilla_unit(m, B + k * m, B + k * m);
    for (int64_t k = 0; k < r; k++) {
        if (count_rows(m, B + k * m) > 0) continue;
        const int64_t i = spare_row(m, r, B);
        const int64_t owner = row_owner(m, r, B, i);
        if (owner >= 0) {
            B[owner * m + i] = 0;
            (void)armilla_unit(m, B + owner * m, B + owner * m);
        }
        B[k * m + i] = 1;
    }
}

static armilla_status exact(armilla_algebra *algebra, int64_t m, int64_t r, const double *A, const double *G,
                            double *next)
{
    (void)algebra;
    memset(next, 0, (size_t)(m * r) * sizeof *next);
    for (int64_t i = 0; i < m; i++) {
        const int64_t k = best_atom(m, r, A, G, i);
        if (k >= 0) next[k * m + i] = A[k * m + i] / G[k * r + k];
    }
    finish(m, r, next);
    return ARMILLA_OK;
}

/* For starts: each row keeps its largest entry, with atoms of equal length. */
static armilla_status nearest(armilla_algebra *algebra, int64_t m, int64_t r, double *M)
{
    (void)algebra;
    for (int64_t k = 0; k < r; k++) (void)armilla_unit(m, M + k * m, M + k * m);
    for (int64_t i = 0; i < m; i++) {
        int64_t best = 0;
        for (int64_t k = 1; k < r; k++)
            if (M[k * m + i] > M[best * m + i]) best = k;
        for (int64_t k = 0; k < r; k++)
            if (k != best || !(M[k * m + i] > 0)) M[k * m + i] = 0;
    }
    finish(m, r, M);
    return ARMILLA_OK;
}

static double violation(int64_t m, int64_t r, const double *U)
{
    const double negative = armilla_most_negative(m * r, U);
    if (negative > 0 || armilla_fullest_row(m, r, U) > 1) return INFINITY;
    return isnan(negative) ? NAN : armilla_skewness(m, r, U);
}

const armilla_basis_set armilla_basis_orthonormal_nonneg = {
    .name = "orthonormal-nonneg",
    .meaning = "orthonormal atoms with nonnegative entries: no two share a feature",
    .gram_is_identity = true,
    .one_atom_per_row = true,
    .needs_conic_codes = true,
    .nearest = nearest,
    .violation = violation,
    .exact = exact,
};
