/* The cone data: direction tells the groups apart, distance does not. Radii span a factor of ten while the groups'
 * mean directions are some 35 degrees apart, so that Euclidean clusters are near against far. */
#include "cones.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double degree = 3.14159265358979323846 / 180;

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* splitmix64 of (seed, index): a number in [low, high) that does not depend on what was drawn before. */
static double uniform(uint64_t seed, uint64_t index, double low, double high)
{
    const uint64_t bits = mix(mix(seed + 0x9e3779b97f4a7c15u) + (index + 1) * 0x9e3779b97f4a7c15u);
    return low + (high - low) * ((double)(bits >> 11) * 0x1p-53);
}

int cones_label(size_t i)
{
    return i < CONES_POINTS / 2 ? 0 : 1;
}

void cones_point(uint64_t seed, size_t i, double point[3])
{
    const double tilt = degree * uniform(seed, 3 * i, 5, 45);     /* from the Z axis towards X or Y */
    const double turn = degree * uniform(seed, 3 * i + 1, -5, 5); /* out of that plane */
    const double radius = uniform(seed, 3 * i + 2, 1, 10);
    const int along = cones_label(i);
    point[along] = radius * sin(tilt) * cos(turn);
    point[1 - along] = radius * sin(tilt) * sin(turn);
    point[2] = radius * cos(tilt);
}

static double squared_distance(const double a[3], const double b[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

/* Labels of the nearer centre; returns the sum of squared distances. */
static double assign(double points[][3], double centres[2][3], int *labels)
{
    double sum = 0;
    for (size_t i = 0; i < CONES_POINTS; i++) {
        const double first = squared_distance(points[i], centres[0]);
        const double second = squared_distance(points[i], centres[1]);
        labels[i] = second < first;
        sum += fmin(first, second);
    }
    return sum;
}

/* A centre without points stays where it is. */
static void move_centres(double points[][3], const int *labels, double centres[2][3])
{
    for (int c = 0; c < 2; c++) {
        double size = 0, sum[3] = {0, 0, 0};
        for (size_t i = 0; i < CONES_POINTS; i++) {
            if (labels[i] != c) continue;
            size++;
            for (int k = 0; k < 3; k++) sum[k] += points[i][k];
        }
        for (int k = 0; k < 3 && size > 0; k++) centres[c][k] = sum[k] / size;
    }
}

void cones_two_means(uint64_t seed, double points[][3], int *labels)
{
    enum { STARTS = 10, STEPS = 100 };
    double least = DBL_MAX;
    for (uint64_t start = 0; start < STARTS; start++) {
        double centres[2][3], sum = 0;
        int trial[CONES_POINTS];
        for (size_t c = 0; c < 2; c++) {
            const size_t i = (size_t)uniform(~seed, 2 * start + c, 0, CONES_POINTS);
            memcpy(centres[c], points[i], sizeof centres[c]);
        }
        for (int step = 0; step < STEPS; step++) {
            sum = assign(points, centres, trial);
            move_centres(points, trial, centres);
        }
        if (sum >= least) continue;
        least = sum;
        memcpy(labels, trial, sizeof trial);
    }
}

double cones_accuracy(const int *labels)
{
    size_t right = 0;
    for (size_t i = 0; i < CONES_POINTS; i++) right += labels[i] == cones_label(i);
    const double share = (double)right / CONES_POINTS;
    return share < 0.5 ? 1 - share : share;
}
