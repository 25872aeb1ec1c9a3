#include "linalg/lanczos.h"

#include "linalg/tiles.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Steps between two looks at the Ritz values. */
enum { LOOK = 4, HALVINGS = 60 };
/* How far above the greatest Ritz value the bound is. */
#define MARGIN 0x1p-12

/* The tridiagonal matrix of the steps so far. */
typedef struct tridiagonal {
    int size;
    double diagonal[ARMILLA_LANCZOS_MOST], beside[ARMILLA_LANCZOS_MOST];
} tridiagonal;

/* Eigenvalues below x, by Sturm's sequence. */
static int count_below(const tridiagonal *T, double x)
{
    int count = 0;
    double pivot = 1;
    for (int i = 0; i < T->size; i++) {
        const double square = i > 0 ? T->beside[i - 1] * T->beside[i - 1] : 0;
        pivot = T->diagonal[i] - x - square / (pivot == 0 ? DBL_MIN : pivot);
        count += pivot < 0;
    }
    return count;
}

/* Eigenvalue `index`, counted from the least. */
static double find_value(const tridiagonal *T, int index)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < T->size; i++) {
        const double around = (i > 0 ? T->beside[i - 1] : 0) + (i + 1 < T->size ? T->beside[i] : 0);
        low = fmin(low, T->diagonal[i] - around);
        high = fmax(high, T->diagonal[i] + around);
    }
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = low + (high - low) / 2;
        *(count_below(T, middle) > index ? &high : &low) = middle;
    }
    return low + (high - low) / 2;
}

/* A unit vector that has every direction a matrix may prefer: far from 0 along 1, and irregular. */
static void begin(int64_t r, double *x)
{
    double fraction = 0;
    for (int64_t i = 0; i < r; i++) {
        fraction += 0.6180339887498949;
        fraction -= fraction >= 1;
        x[i] = 0.5 + fraction;
    }
    (void)armilla_make_unit(r, x);
}

/* y <- (y - a x - b before), and its length; x and before are unit vectors. */
static double take_off(int64_t r, double a, const double *x, double b, const double *before, double *y)
{
    for (int64_t i = 0; i < r; i++) y[i] -= a * x[i] + b * before[i];
    return armilla_make_unit(r, y);
}

static bool has_settled(const armilla_lanczos *of, armilla_ends now, armilla_ends before)
{
    const double most = of->settled * fabs(now.high);
    return now.high - before.high <= most && (!of->both || before.low - now.low <= most);
}

armilla_ends armilla_lanczos_ends(const armilla_algebra *algebra, const armilla_lanczos *of)
{
    const int64_t r = algebra->r;
    double *before = algebra->vectors[0], *x = algebra->vectors[1], *next = algebra->vectors[2];
    tridiagonal T = {.size = 0};
    armilla_ends ends = {INFINITY, -INFINITY};
    double beside = 0;
    memset(before, 0, (size_t)r * sizeof *before);
    begin(r, x);
    while (T.size < of->most) {
        of->apply(of->self, x, next);
        const double own = armilla_dot(r, x, next);
        T.diagonal[T.size] = own;
        beside = T.beside[T.size++] = take_off(r, own, x, beside, before, next);
        if (!isfinite(own) || !isfinite(beside)) return (armilla_ends){NAN, NAN};
        const bool exhausted = beside <= DBL_EPSILON * fabs(own);
        if (exhausted || T.size % LOOK == 0 || T.size == of->most) {
            const armilla_ends last = ends;
            ends = (armilla_ends){find_value(&T, 0), find_value(&T, T.size - 1)};
            if (exhausted || has_settled(of, ends, last)) break;
        }
        double *old = before;
        before = x;
        x = next;
        next = old;
    }
    return ends;
}

typedef struct scaled {
    const armilla_algebra *algebra;
    const double *S;
    double scale;
} scaled;

static void apply_scaled(const void *self, const double *x, double *y)
{
    const scaled *s = self;
    armilla_tiles_apply(s->algebra, s->S, x, y);
    for (int64_t i = 0; i < s->algebra->r; i++) y[i] *= s->scale;
}

/* The power of two that brings the largest entry, which is on the diagonal, near 1; 0 where that is out of range. */
static double find_scale(int64_t r, const double *S)
{
    double largest = 0;
    int exponent = 0;
    for (int64_t k = 0; k < r; k++) {
        if (!isfinite(S[k * r + k])) return 0;
        largest = fmax(largest, S[k * r + k]);
    }
    (void)frexp(largest, &exponent);
    return largest > 0 && exponent > -900 && exponent < 900 ? ldexp(1, -exponent) : 0;
}

bool armilla_lanczos_bound(const armilla_algebra *algebra, const double *S, double *bound)
{
    const int64_t r = algebra->r;
    const scaled s = {algebra, S, find_scale(r, S)};
    const armilla_lanczos of = {
        .apply = apply_scaled, .self = &s, .most = ARMILLA_LANCZOS_MOST, .settled = MARGIN / 16};
    double *left = algebra->square[0];
    if (s.scale == 0) return false;
    const double above = armilla_lanczos_ends(algebra, &of).high * (1 + MARGIN);
    if (!(above > 0)) return false;
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = 0; i <= j; i++) left[j * r + i] = (i == j ? above : 0) - s.scale * S[j * r + i];
    if (!armilla_tiles_cholesky(algebra, left)) return false;
    /* Cholesky's method succeeds where rounding has made a matrix positive definite that is less so by r*eps*trace. */
    *bound = above * (1 + (double)(r * r) * DBL_EPSILON) / s.scale;
    return true;
}
