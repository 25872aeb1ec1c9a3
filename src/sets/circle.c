/* The minimum of g on a circle: with t = tan(theta/2) its stationary points are the real roots of a quartic
 * (docs/algorithm.md#codes-of-new-samples). Roots are bracketed by those of the derivatives, so none is missed and none
 * is complex. */
#include "sets/column.h"

#include <math.h>

enum { DEGREE = 4 };

static double evaluate(int degree, const double *coefficients, double t)
{
    double value = coefficients[degree];
    for (int i = degree - 1; i >= 0; i--) value = value * t + coefficients[i];
    return value;
}

/* The root between low and high, where the polynomial has different signs: Newton inside a shrinking bracket. */
static double refine_root(int degree, const double *c, double low, double high)
{
    const bool rising = evaluate(degree, c, low) < 0;
    double t = (low + high) / 2;
    for (int step = 0; step < 80; step++) {
        double value = c[degree], slope = 0;
        for (int i = degree - 1; i >= 0; i--) {
            slope = slope * t + value;
            value = value * t + c[i];
        }
        if (value == 0) break;
        if ((value < 0) == rising)
            low = t;
        else
            high = t;
        double next = slope != 0 ? t - value / slope : low;
        if (!(next > low && next < high)) next = (low + high) / 2;
        if (fabs(next - t) <= 1e-16 * (1 + fabs(t))) break;
        t = next;
    }
    return t;
}

/* Roots in [low, high], rising; at most `degree` of them. */
static int find_roots(int degree, const double *c, double low, double high, double *roots)
{
    double slopes[DEGREE] = {0}, cuts[DEGREE + 1];
    int count = 0, cut_count = 0;
    if (degree == 1) {
        const double t = c[1] != 0 ? -c[0] / c[1] : high + 1;
        if (t >= low && t <= high) roots[count++] = t;
        return count;
    }
    for (int i = 1; i <= degree; i++) slopes[i - 1] = i * c[i];
    cut_count = find_roots(degree - 1, slopes, low, high, cuts);
    cuts[cut_count++] = high;
    double left = low, left_value = evaluate(degree, c, low);
    for (int i = 0; i < cut_count; i++) {
        const double right = cuts[i], right_value = evaluate(degree, c, right);
        if (right_value == 0)
            roots[count++] = right;
        else if ((left_value < 0) != (right_value < 0) && left_value != 0)
            roots[count++] = refine_root(degree, c, left, right);
        left = right;
        left_value = right_value;
    }
    return count;
}

static void try_point(const armilla_circle *k, double cosine, double sine, armilla_circle_point *best)
{
    const double value =
        k->aa * cosine * cosine + 2 * k->ab * cosine * sine + k->bb * sine * sine - 2 * (k->p * cosine + k->q * sine);
    if (value < best->value) *best = (armilla_circle_point){value, cosine, sine};
}

/* The stationary points with theta/2 in the arc, seen from the side that sign says. */
static void try_arc(const armilla_circle *k, double low, double sign, armilla_circle_point *best)
{
    const double d = (k->aa - k->bb) / 2, e = k->ab, p = sign * k->p, q = sign * k->q;
    const double quartic[DEGREE + 1] = {e - q, 2 * p - 4 * d, -6 * e, 4 * d + 2 * p, e + q};
    double roots[DEGREE + 1];
    const int count = find_roots(DEGREE, quartic, low, 1, roots);
    for (int i = 0; i < count; i++) {
        const double t = roots[i], scale = sign / (1 + t * t);
        try_point(k, (1 - t * t) * scale, 2 * t * scale, best);
    }
}

armilla_circle_point armilla_circle_minimum(const armilla_circle *circle)
{
    armilla_circle_point best = {INFINITY, 1, 0};
    try_point(circle, 1, 0, &best);
    try_point(circle, 0, 1, &best);
    try_arc(circle, circle->quarter ? 0 : -1, 1, &best);
    if (!circle->quarter) {
        try_point(circle, -1, 0, &best);
        try_point(circle, 0, -1, &best);
        try_arc(circle, -1, -1, &best); /* the other half: theta + pi turns p and q round */
    }
    return best;
}

/* With M the 2 x 2 matrix of aa, ab, ab and bb, and b = (p, q): g >= -b'(M + mu*I)^-1 b - mu for every mu that makes the
 * matrix positive definite. For mu = p - aa, the multiplier of t = 0 where that is stationary, this is
 *
 *     aa - 2p - slope^2/left,    slope = q - ab,    left = bb + p - aa - ab^2/p.
 *
 * On the quarter, where sin(t) >= 0 has a multiplier too, a negative slope counts as 0. A circle with negative p is looked
 * at from t = pi. */
double armilla_circle_bound(const armilla_circle *circle)
{
    const double p = fabs(circle->p), q = circle->p < 0 ? -circle->q : circle->q, ab = circle->ab;
    if (circle->quarter && circle->p < 0) return -INFINITY;
    const double turned = ab * (ab / p), size = circle->aa + circle->bb + 2 * p + 2 * fabs(q) + turned;
    const double left = circle->bb + p - circle->aa - turned;
    if (!(left > 1e-8 * size)) return -INFINITY; /* not definite, or known too badly */
    const double slope = circle->quarter ? fmax(q - ab, 0) : q - ab;
    return circle->aa - 2 * p - (1 + 1e-6) * slope * (slope / left) - 1e-12 * size; /* rounding makes it no higher */
}
