/* The minimum of g on a circle: with t = tan(theta/2) its stationary points are the real roots of a quartic
 * (ALGORITHM section 5). Roots are bracketed by those of the derivatives, so none is missed and none is complex. */
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

typedef struct circle {
    double aa, ab, bb, p, q;
    double value, cosine, sine; /* the best so far */
} circle;

static void try_point(circle *k, double cosine, double sine)
{
    const double value =
        k->aa * cosine * cosine + 2 * k->ab * cosine * sine + k->bb * sine * sine - 2 * (k->p * cosine + k->q * sine);
    if (value >= k->value) return;
    k->value = value;
    k->cosine = cosine;
    k->sine = sine;
}

/* The stationary points with theta/2 in the arc, seen from the side that sign says. */
static void try_arc(circle *k, double low, double sign)
{
    const double d = (k->aa - k->bb) / 2, e = k->ab, p = sign * k->p, q = sign * k->q;
    const double quartic[DEGREE + 1] = {e - q, 2 * p - 4 * d, -6 * e, 4 * d + 2 * p, e + q};
    double roots[DEGREE + 1];
    const int count = find_roots(DEGREE, quartic, low, 1, roots);
    for (int i = 0; i < count; i++) {
        const double t = roots[i], scale = sign / (1 + t * t);
        try_point(k, (1 - t * t) * scale, 2 * t * scale);
    }
}

double armilla_circle_minimum(double aa, double ab, double bb, double p, double q, bool quarter, double *cosine,
                              double *sine)
{
    circle k = {aa, ab, bb, p, q, INFINITY, 1, 0};
    try_point(&k, 1, 0);
    try_point(&k, 0, 1);
    try_arc(&k, quarter ? 0 : -1, 1);
    if (!quarter) {
        try_point(&k, -1, 0);
        try_point(&k, 0, -1);
        try_arc(&k, -1, -1); /* the other half: theta + pi turns p and q round */
    }
    *cosine = k.cosine;
    *sine = k.sine;
    return k.value;
}
