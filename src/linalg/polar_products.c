/* The polar factor of many columns (A4) by products. M(M'M)^(-1/2) is a power series where M'M is near a multiple of I,
 * as it is in the steps of palm. Otherwise singular values are brought to 1 by Halley's iteration with dynamic weights
 * (QDWH: Nakatsukasa, Bai and Gygi 2010), X <- X((b/c)I + (a - b/c)(I + cX'X)^(-1)), which leaves the factor as it is and
 * takes two to four steps before the series. */
#include "linalg/blas.h"
#include "linalg/lanczos.h"
#include "linalg/tiles.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The half width of the spectrum of M'M, its middle being 1, up to which the series is used, and its products, each of
 * which adds two powers. */
#define NEAR 0.25
/* The same after which a step of the iteration costs more. */
#define NEAR_ENOUGH 0x1p-9
enum { MOST_PRODUCTS = 6, MOST_POWERS = 2 * MOST_PRODUCTS + 2 };
/* The least eigenvalue of M'M beside the largest that the iteration is right for, and that a Gram matrix of the whole M
 * has without loss: its directions are then right to 2e-11. */
#define LEAST 1e-12
#define LEAST_BY_GRAM 1e-5
/* The iteration is cheaper on a triangular factor where the rows are so many times the columns. */
#define TALL 1.5
/* What the ends of a spectrum are moved by for what Lanczos' method does not see. */
#define BEYOND 0.1
enum { MOST_STEPS = 8, INVERSE_STEPS = 12, SPECTRUM_STEPS = 24 };

typedef struct operand {
    const armilla_algebra *algebra;
    const double *S; /* or R, S = R'R */
} operand;

static void apply(const void *self, const double *x, double *y)
{
    const operand *of = self;
    armilla_tiles_apply(of->algebra, of->S, x, y);
}

static void apply_inverse(const void *self, const double *x, double *y)
{
    const operand *of = self;
    const int r = (int)of->algebra->r;
    memcpy(y, x, (size_t)r * sizeof *y);
    armilla_dtrsm('L', 'U', 'T', 'N', r, 1, 1, of->S, r, y, r);
    armilla_dtrsm('L', 'U', 'N', 'N', r, 1, 1, of->S, r, y, r);
}

/* (1 + y)^(-1/2) = sum of a_k y^k */
static void set_series(double a[MOST_POWERS])
{
    a[0] = 1;
    for (int k = 1; k < MOST_POWERS; k++) a[k] = -a[k - 1] * (2 * k - 1) / (2 * k);
}

/* T <- T + a*I + b*Y */
static void add_linear(int64_t r, double a, double b, const double *Y, double *T)
{
    for (int64_t i = 0; i < r * r; i++) T[i] += b * Y[i];
    for (int64_t i = 0; i < r; i++) T[i * r + i] += a;
}

/* Whether so many products leave of |y| <= width what rounding does. */
static bool suffices(const armilla_algebra *algebra, const double *a, int products, double width)
{
    return width < 1 && fabs(a[2 * products + 1]) * pow(width, 2 * products + 1) / (1 - width) <=
                            sqrt((double)algebra->m) * DBL_EPSILON;
}

static int count_products(const armilla_algebra *algebra, const double *a, double width)
{
    int products = 1;
    while (products < MOST_PRODUCTS && !suffices(algebra, a, products, width)) products++;
    return products;
}

/* X <- XS^(-1/2), X rows x r and S = X'X in the first square, which is destroyed: the series by Horner's rule in Q = YY for
 * S = middle*(I + Y). Whether that is proved to be orthonormal to rounding: |Y| is at most the root of ||Q||_F, whatever
 * the width, which is an estimate. */
static bool multiply_by_series(const armilla_algebra *algebra, double middle, double width, int64_t rows, double *X)
{
    const int64_t r = algebra->r;
    double *Y = algebra->square[0], *Q = algebra->square[3], *T = algebra->square[4], *next = algebra->square[5];
    double a[MOST_POWERS];
    set_series(a);
    const int products = count_products(algebra, a, width);
    for (int64_t i = 0; i < r * r; i++) Y[i] /= middle;
    for (int64_t i = 0; i < r; i++) Y[i * r + i] -= 1;
    armilla_tiles_inner(algebra, r, Y, Y, Q);
    const bool proved = suffices(algebra, a, products, sqrt(armilla_norm(r * r, Q)));
    for (int64_t i = 0; i < r * r; i++) T[i] = a[2 * products] * Q[i];
    for (int k = products - 1; k >= 0; k--) {
        add_linear(r, a[2 * k], a[2 * k + 1], Y, T);
        if (k == 0) break;
        armilla_tiles_inner(algebra, r, T, Q, next);
        double *old = T;
        T = next;
        next = old;
    }
    for (int64_t i = 0; i < r * r; i++) T[i] /= sqrt(middle);
    armilla_tiles_multiply(algebra, rows, T, X);
    return proved;
}

/* X, rows x r, on its way; its singular values are between `least` and 1, times the root of `largest`. */
typedef struct iterate {
    armilla_algebra *algebra;
    int64_t rows;
    double *X;
    double least, largest;
} iterate;

/* One step; X'X in the first square, which is destroyed. The weights are best for what is known of the singular values. */
static bool step(iterate *it)
{
    const int64_t r = it->algebra->r;
    const double l = it->least, square = l * l, root = sqrt(it->largest);
    const double d = cbrt(4 * (1 - square) / (square * square)), e = sqrt(1 + d);
    const double a = e + sqrt(8 - 4 * d + 8 * (2 - square) / (square * e)) / 2, b = (a - 1) * (a - 1) / 4,
                 c = a + b - 1;
    double *W = it->algebra->square[0];
    for (int64_t i = 0; i < r * r; i++) W[i] *= c / it->largest;
    for (int64_t i = 0; i < r; i++) W[i * r + i] += 1;
    if (!armilla_tiles_cholesky(it->algebra, W)) return false;
    const armilla_resolvent by = {b / c / root, (a - b / c) / root, W};
    armilla_tiles_resolve(it->algebra, it->rows, &by, it->X);
    it->least = fmin(1, l * (a + b * square) / (1 + c * square));
    it->largest = 1;
    return true;
}

/* X <- its polar factor; X'X in the first square, which becomes that of the factor. */
static bool iterate_factor(iterate *it)
{
    double half = 1;
    for (int count = 0; count < MOST_STEPS && half > NEAR_ENOUGH; count++) {
        if (!step(it)) return false;
        armilla_tiles_inner(it->algebra, it->rows, it->X, it->X, it->algebra->square[0]);
        half = (1 - it->least * it->least) / 2;
    }
    (void)multiply_by_series(it->algebra, 1 - half, half * (1 + BEYOND), it->rows, it->X);
    armilla_tiles_inner(it->algebra, it->rows, it->X, it->X, it->algebra->square[0]);
    return true;
}

/* The second square <- R of the first one, R'R; false where that is not positive definite. */
static bool factor_gram(armilla_algebra *algebra)
{
    const int64_t r = algebra->r;
    double *R = algebra->square[1];
    memcpy(R, algebra->square[0], (size_t)(r * r) * sizeof *R);
    if (!armilla_tiles_cholesky(algebra, R)) return false;
    for (int64_t j = 0; j < r; j++) memset(R + j * r + j + 1, 0, (size_t)(r - j - 1) * sizeof *R);
    return true;
}

/* U <- UR^(-1)P with the polar factor P of R, where U'U = R'R is in the first square and R in the second. */
static bool iterate_triangle(iterate *it)
{
    armilla_algebra *algebra = it->algebra;
    const int64_t r = algebra->r;
    const double *R = algebra->square[1];
    double *K = algebra->square[2];
    iterate of_R = {algebra, r, K, it->least, it->largest};
    memcpy(K, R, (size_t)(r * r) * sizeof *K);
    if (!iterate_factor(&of_R)) return false;
    armilla_tiles_solve(algebra, R, K);
    armilla_multiply_in_place(algebra, K, it->X, algebra->square[0]);
    return true;
}

/* U <- its polar factor; U'U in the first square, which becomes that of the factor. False, with a U of the same factor,
 * where the condition does not allow it. */
static bool multiply_by_iteration(armilla_algebra *algebra, double largest, double *U)
{
    const int64_t m = algebra->m;
    const operand inverse = {algebra, algebra->square[1]};
    const armilla_lanczos of = {.apply = apply_inverse, .self = &inverse, .most = INVERSE_STEPS, .settled = BEYOND / 2};
    if (!factor_gram(algebra)) return false;
    const double high = armilla_lanczos_ends(algebra, &of).high;
    const double least = 1 / (high * (1 + BEYOND) * largest);
    if (!(least >= LEAST && least < 1)) return false;
    iterate it = {algebra, m, U, sqrt(least), largest};
    if ((double)m < TALL * (double)algebra->r) return iterate_factor(&it);
    if (least < LEAST_BY_GRAM) {
        if (!step(&it)) return false;
        armilla_tiles_inner(algebra, m, U, U, algebra->square[0]);
        if (!factor_gram(algebra)) return false;
    }
    return iterate_triangle(&it);
}

bool armilla_polar_by_products(armilla_algebra *algebra, double *U)
{
    const operand gram = {algebra, algebra->square[0]};
    const armilla_lanczos of = {
        .apply = apply, .self = &gram, .most = SPECTRUM_STEPS, .settled = BEYOND / 100, .both = true};
    const armilla_ends ends = armilla_lanczos_ends(algebra, &of);
    const double middle = (ends.high + ends.low) / 2, half = (ends.high - ends.low) / 2 * (1 + BEYOND);
    if (!(middle > 0)) return false;
    if (half <= NEAR * middle) {
        if (multiply_by_series(algebra, middle, half / middle, algebra->m, U)) return true;
        armilla_tiles_inner(algebra, algebra->m, U, U, algebra->square[0]);
    } else if (!multiply_by_iteration(algebra, middle + half, U))
        return false;
    return armilla_polish(algebra, U, algebra->square[0], algebra->square[1]);
}
