/* The two small problems that the column solvers are made of: the secular equation against its dual bound, and the
 * minimum on a circle against a grid. */
#include "reference/reference.h"

#include "sets/column.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_RANK = 8, GRID = 100000 };

/* The dual sum_i -b_i^2/(delta_i + t) - t + lambda_1 is below g for every t > 0, and its greatest value is the minimum
 * of g, in the hard case too; phi(t) - 1 is its slope, so that bisection finds it. */
static long double secular_bound(int64_t r, const double *values, const double *b)
{
    long double low = 0, high = 0, best = -INFINITY;
    for (int64_t i = 0; i < r; i++) high += fabsl((long double)b[i]);
    for (int step = 0; step < 300; step++) {
        const long double t = step < 200 && low == 0 ? high / 4 : (low + high) / 2;
        long double phi = 0, bound = (long double)values[0] - t;
        for (int64_t i = 0; i < r && t > 0; i++) {
            const long double w = b[i] / ((long double)values[i] - values[0] + t);
            phi += w * w;
            bound -= w * b[i];
        }
        if (bound > best) best = bound;
        if (phi > 1)
            low = t;
        else
            high = t;
    }
    return best;
}

static void check_secular(int64_t r, const double *values, const double *b)
{
    double w[MOST_RANK], scale = fabs(values[r - 1]) + fabs(values[0]) + 2 * reference_norm(r, b);
    long double value = 0;
    armilla_secular(r, values, b, w);
    for (int64_t i = 0; i < r; i++)
        value += (long double)w[i] * ((long double)values[i] * w[i] - 2 * (long double)b[i]);
    REFERENCE_NEAR(reference_norm(r, w), 1, 10 * DBL_EPSILON);
    REFERENCE_AT_MOST(value - secular_bound(r, values, b), 2e-13 * scale);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Eigenvalues alone, in clusters, or with zeros; b with no part, or hardly one, along the least of them. */
static void test_secular(void **state)
{
    uint64_t random = 201;
    (void)state;
    for (int draw = 0; draw < reference_effort(6000, 200); draw++) {
        const int64_t r = 1 + reference_below(&random, MOST_RANK), least = 1 + reference_below(&random, r);
        const double gap = pow(10, -17 * reference_uniform(&random)), part = pow(10, -20 * reference_uniform(&random));
        const double size = pow(10, 4 * reference_uniform(&random) - 2);
        double values[MOST_RANK], b[MOST_RANK];
        reference_scene("draw %d, r = %d, multiplicity %d, gap %g, part %g", draw, (int)r, (int)least, gap, part);
        reference_fill_uniform(&random, r, values);
        qsort(values, (size_t)r, sizeof *values, compare);
        if (draw % 2) values[0] = 0;
        for (int64_t i = 1; i < least && draw % 3; i++) values[i] = values[0] + (draw % 3 == 1 ? 0 : gap * (double)i);
        qsort(values, (size_t)r, sizeof *values, compare);
        reference_fill_normal(&random, r, b);
        for (int64_t i = 0; i < r; i++) b[i] *= i >= least ? size : draw % 5 < 2 ? 0 : draw % 5 == 2 ? part : size;
        check_secular(r, values, b);
    }
}

static void test_secular_hard_cases(void **state)
{
    static const struct {
        double values[3], b[3];
    } cases[] = {
        {{0, 0, 0}, {0, 0, 0}},           {{1, 1, 1}, {0, 0, 0}},     {{0, 1, 2}, {0, 0, 0}},
        {{0, 1, 2}, {0, 0.5, 0.5}},       {{0, 0, 1}, {0, 0, 0.5}},   {{0, 0, 1}, {0, 0, 1}},
        {{0, 0, 1}, {0, 0, 2}},           {{0, 0, 1}, {1e-30, 0, 2}}, {{0, 0, 1}, {0, 1e-16, 0.5}},
        {{-1e-17, 0, 1}, {0, 1e-9, 0.5}}, {{0, 1, 1}, {-1, 0, 0}},    {{0, 1e-300, 1}, {0, 1e-300, 0}},
        {{0, 1e-14, 1}, {0, 1e-14, 0.3}}, {{2, 2, 2}, {-1, 2, 3}},    {{0, 1e-12, 1}, {1e-13, 1e-12, 0.3}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reference_scene("hard case %d", (int)i);
        check_secular(3, cases[i].values, cases[i].b);
    }
}

static double *grid; /* cos and sin, GRID points of the whole circle */

static void check_circle(double aa, double ab, double bb, double p, double q, bool quarter)
{
    const double scale = fabs(aa) + 2 * fabs(ab) + fabs(bb) + 2 * fabs(p) + 2 * fabs(q);
    double least = INFINITY;
    for (int i = 0; i < (quarter ? GRID / 4 + 1 : GRID); i++) {
        const double x = grid[2 * i], y = grid[2 * i + 1];
        least = fmin(least, aa * x * x + 2 * ab * x * y + bb * y * y - 2 * p * x - 2 * q * y);
    }
    const armilla_circle circle = {aa, ab, bb, p, q, quarter};
    const armilla_circle_point found = armilla_circle_minimum(&circle);
    const double value = found.value, cosine = found.cosine, sine = found.sine;
    REFERENCE_NEAR(cosine * cosine + sine * sine, 1, 4 * DBL_EPSILON);
    if (quarter) REFERENCE_HOLDS(cosine >= 0 && sine >= 0);
    REFERENCE_NEAR(aa * cosine * cosine + 2 * ab * cosine * sine + bb * sine * sine - 2 * (p * cosine + q * sine),
                   value, 1e-14 * scale);
    REFERENCE_AT_MOST(value, least + 1e-14 * scale);
    REFERENCE_AT_MOST(least - value, 1e-8 * scale);
    REFERENCE_AT_MOST(armilla_circle_bound(&circle), value);
}

/* The bound is nowhere above the minimum, and below it by no more than a small turn from t = 0 promises. */
static void test_circle_bound(void **state)
{
    uint64_t random = 203;
    int near = 0;
    (void)state;
    for (int draw = 0; draw < 20000; draw++) {
        double k[5];
        reference_fill_normal(&random, 5, k);
        const double scale = pow(10, draw % 7 * 50.0 - 150), p = fabs(k[3]), aa = k[0] * k[0], bb = k[2] * k[2];
        const double ab = 0.5 * fabs(k[0] * k[2]) * (k[1] > 0 ? 1 : -1), q = ab + 1e-3 * k[4];
        const double left = bb + p - aa - ab * ab / p;
        const armilla_circle circle = {
            scale * aa,   scale * ab, scale * bb, scale * (draw % 2 ? p : -p), scale * (draw % 2 ? q : -q),
            draw % 4 == 1};
        const double value = armilla_circle_minimum(&circle).value / scale,
                     bound = armilla_circle_bound(&circle) / scale;
        reference_scene("draw %d: %g %g %g %g %g", draw, aa, ab, bb, p, q);
        REFERENCE_AT_MOST(bound, value);
        if (left < 0.1) continue;
        near++;
        REFERENCE_AT_MOST(value - bound, 2 * (q - ab) * (q - ab) / left + 1e-10);
    }
    REFERENCE_HOLDS(near > 5000);
}

/* Random coefficients, each of them 0 or tiny at times, on both arcs. */
static void test_circle(void **state)
{
    const double turn = 2 * acos(-1.0);
    uint64_t random = 202;
    (void)state;
    grid = reference_new(2 * GRID);
    for (int i = 0; i < GRID; i++) {
        grid[2 * i] = cos(turn * i / GRID);
        grid[2 * i + 1] = sin(turn * i / GRID);
    }
    grid[2 * (GRID / 4)] = 0;
    for (int draw = 0; draw < reference_effort(640, 10); draw++) {
        double k[5];
        reference_fill_normal(&random, 5, k);
        reference_scene("draw %d: %g %g %g %g %g", draw, k[0], k[1], k[2], k[3], k[4]);
        k[0] = fabs(k[0]);
        k[2] = fabs(k[2]);
        for (int i = 0; i < 5; i++) k[i] *= draw >> i & 1 ? 1 : draw % 7 ? 0 : 1e-9;
        if (draw % 11 == 0) k[2] = k[0];
        if (draw % 13 == 0) k[4] = k[3];
        check_circle(k[0], k[1], k[2], k[3], k[4], draw % 2);
        check_circle(k[0], k[1], k[2], k[3], k[4], !(draw % 2));
    }
    free(grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secular),
        cmocka_unit_test(test_secular_hard_cases),
        cmocka_unit_test(test_circle),
        cmocka_unit_test(test_circle_bound),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
