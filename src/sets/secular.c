/* min sum_i lambda_i w_i^2 - 2b_i w_i over unit w: w_i = b_i/(lambda_i + nu) with nu > -lambda_1 such that ||w|| = 1.
 * With t = nu + lambda_1 and delta_i = lambda_i - lambda_1 the equation is phi(t) = sum b_i^2/(delta_i + t)^2 = 1, and
 * t lies in [||b_E||, ||b||], E the eigenspace of lambda_1. The hard case, where b has no part in E and the rest cannot
 * fill the sphere, is filled up along the first vector of E. */
#include "sets/column.h"

#include <float.h>
#include <math.h>

/* Eigenvalues this close to the least, relative to the largest, are its eigenspace. */
#define SAME_EIGENVALUE 1e-13

static double closeness(int64_t r, const double *values)
{
    return SAME_EIGENVALUE * fmax(fabs(values[r - 1]), fabs(values[0]));
}

/* How far above the least; 0 in its eigenspace. */
static double gap(const double *values, double close, int64_t i)
{
    const double delta = values[i] - values[0];
    return delta <= close ? 0 : delta;
}

void armilla_secular_gaps(int64_t r, const double *values, double *gaps)
{
    const double close = closeness(r, values);
    for (int64_t i = 0; i < r; i++) gaps[i] = gap(values, close, i);
}

static double phi(int64_t r, const double *values, double close, const double *b, double t, double *slope)
{
    double sum = 0, derivative = 0;
    for (int64_t i = 0; i < r; i++) {
        const double bottom = gap(values, close, i) + t, w = b[i] / bottom;
        sum += w * w;
        derivative -= 2 * w * w / bottom;
    }
    *slope = derivative;
    return sum;
}

/* Newton on 1 - 1/sqrt(phi), which is nearly linear, kept inside its bracket by bisection. */
static double find_shift(int64_t r, const double *values, double close, const double *b, double low, double high)
{
    double t = low > 0 ? low : high * DBL_EPSILON;
    for (int step = 0; step < 100; step++) {
        double slope = 0;
        const double sum = phi(r, values, close, b, t, &slope), root = sqrt(sum);
        if (sum > 1)
            low = t;
        else
            high = t;
        if (fabs(root - 1) <= 4 * DBL_EPSILON) break;
        /* d/dt (1/sqrt(phi)) = -slope/(2 phi^(3/2)) */
        double next = t + 2 * sum * (1 - root) / slope;
        if (!(next > low && next < high)) next = (low + high) / 2;
        if (next == t) break;
        t = next;
    }
    return t;
}

void armilla_secular(int64_t r, const double *values, const double *b, double *w)
{
    const double close = closeness(r, values);
    double inside = 0, all = 0, rest = 0;
    for (int64_t i = 0; i < r; i++) {
        const bool least = values[i] - values[0] <= close;
        all += b[i] * b[i];
        if (least) inside += b[i] * b[i];
        w[i] = least ? 0 : b[i] / (values[i] - values[0]);
        rest += w[i] * w[i];
    }
    if (inside <= 1e-28 * all && rest <= 1) {
        w[0] = sqrt(1 - rest); /* the hard case */
    } else {
        const double t = find_shift(r, values, close, b, sqrt(inside), sqrt(all));
        for (int64_t i = 0; i < r; i++) w[i] = b[i] / (gap(values, close, i) + t);
    }
    (void)armilla_unit(r, w, w);
}
