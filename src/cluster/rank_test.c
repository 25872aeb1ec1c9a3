/* The rank test of Mann and Whitney, and the correction of Benjamini and Hochberg for many of them. */
#include "cluster/top.h"

#include <math.h>

double armilla_rank_test(int64_t inside, int64_t all, double rank_sum, double ties)
{
    const double n = (double)all, a = (double)inside, b = n - a;
    const double U = rank_sum - a * (a + 1) / 2, mean = a * b / 2;
    const double variance = a * b / 12 * (n + 1 - ties / (n * (n - 1)));
    if (!(variance > 0)) return 1;
    const double z = (fabs(U - mean) - 0.5) / sqrt(variance);
    return fmin(erfc(z / sqrt(2)), 1);
}

/* Places in the order of falling p: heap sort, which needs no memory. */
static void sift(const double *p, int64_t *order, int64_t from, int64_t count)
{
    const int64_t moved = order[from];
    for (int64_t child = 2 * from + 1; child < count; child = 2 * from + 1) {
        if (child + 1 < count && p[order[child + 1]] < p[order[child]]) child++;
        if (!(p[order[child]] < p[moved])) break;
        order[from] = order[child];
        from = child;
    }
    order[from] = moved;
}

static void sort_falling(int64_t count, const double *p, int64_t *order)
{
    for (int64_t i = 0; i < count; i++) order[i] = i;
    for (int64_t i = count / 2 - 1; i >= 0; i--) sift(p, order, i, count);
    for (int64_t last = count - 1; last > 0; last--) {
        const int64_t least = order[0];
        order[0] = order[last];
        order[last] = least;
        sift(p, order, 0, last);
    }
}

void armilla_correct_many(int64_t count, double *p, int64_t *order)
{
    double least = 1;
    sort_falling(count, p, order);
    for (int64_t i = 0; i < count; i++) {
        least = fmin(least, p[order[i]] * (double)count / (double)(count - i));
        p[order[i]] = least;
    }
}
