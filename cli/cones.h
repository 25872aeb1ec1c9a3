/* The two-cone points of the paper's toy experiment, and what clustering makes of them. */
#ifndef ARMILLA_CLI_CONES_H
#define ARMILLA_CLI_CONES_H

#include <stddef.h>
#include <stdint.h>

enum { CONES_POINTS = 200 };

/* Point i of the set: x, y, z. The first half lies between the plane X = Z and the Z axis, the second between Y = Z
 * and the Z axis. */
void cones_point(uint64_t seed, size_t i, double point[3]);
int cones_label(size_t i);

/* The best of ten runs of Lloyd's 2-means on CONES_POINTS points: a 0 or 1 per point. */
void cones_two_means(uint64_t seed, double points[][3], int *labels);

/* The share of points in the right cluster, under the better of the two matchings. */
double cones_accuracy(const int *labels);

#endif
