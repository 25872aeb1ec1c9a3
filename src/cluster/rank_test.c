/* The rank test of Mann and Whitney, and the correction of Benjamini and Hochberg for many of them. */
#include "cluster/top.h"

#include <math.h>
#include <stdlib.h>

double armilla_rank_test(int64_t inside, int64_t all, double rank_sum, double ties)
{
    const double n = (double)all, a = (double)inside, b = n - a;
    const double U = rank_sum - a * (a + 1) / 2, mean = a * b / 2;
    const double variance = a * b / 12 * (n + 1 - ties / (n * (n - 1)));
    if (!(variance > 0)) return 1;
    const double z = (fabs(U - mean) - 0.5) / sqrt(variance);
    return fmin(erfc(z / sqrt(2)), 1);
}

void armilla_correct_many(int64_t count, double *p, armilla_keyed *order)
{
    double least = 1;
    for (int64_t i = 0; i < count; i++) order[i] = (armilla_keyed){p[i], i};
    qsort(order, (size_t)count, sizeof *order, armilla_by_falling);
    for (int64_t i = 0; i < count; i++) {
        least = fmin(least, order[i].key * (double)count / (double)(count - i));
        p[order[i].index] = least;
    }
}
