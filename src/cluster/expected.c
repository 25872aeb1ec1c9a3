/* The expected mutual information of adjusted mutual information, exactly: the sum over pairs of class sizes and over
 * the values that their overlap can have under the hypergeometric distribution (Vinh, Epps and Bailey, 2010). Classes
 * of one size are counted once, so that many small classes cost little. */
#include "cluster/cluster.h"

#include "base/order.h"
#include "base/size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sizes that occur, and how often. */
typedef struct tally {
    int64_t count;
    int64_t *sizes, *times;
} tally;

static armilla_status make_tally(armilla_context *context, int64_t count, const int64_t *sizes, tally *made)
{
    armilla_status status = armilla_take(context, count, sizeof *made->sizes, &made->sizes);
    if (status == ARMILLA_OK) status = armilla_take(context, count, sizeof *made->times, &made->times);
    if (status != ARMILLA_OK || count == 0) return status;
    memcpy(made->sizes, sizes, (size_t)count * sizeof *sizes);
    qsort(made->sizes, (size_t)count, sizeof *made->sizes, armilla_by_integer);
    for (int64_t i = 0; i < count; i++) {
        if (made->count == 0 || made->sizes[made->count - 1] != made->sizes[i]) {
            made->sizes[made->count] = made->sizes[i];
            made->times[made->count++] = 0;
        }
        made->times[made->count - 1]++;
    }
    return ARMILLA_OK;
}

/* ln(i!) for i = 0 ... n. Nine of them, each in the ten thousands, leave a number near 1: that takes digits. */
static void fill_factorials(int64_t n, long double *factorials)
{
    for (int64_t i = 1; i <= n; i++) factorials[i] = factorials[i - 1] + logl((long double)i);
}

/* The sum over x of (x/n) ln(nx/(ab)) P(overlap = x). */
static double expect_pair(int64_t n, int64_t a, int64_t b, const long double *f)
{
    double sum = 0;
    for (int64_t x = armilla_max64(1, a + b - n); x <= armilla_min64(a, b); x++) {
        const long double power =
            f[a] + f[b] + f[n - a] + f[n - b] - f[n] - f[x] - f[a - x] - f[b - x] - f[n - a - b + x];
        const double chance = exp((double)power);
        sum += (double)x / (double)n * (log((double)n) + log((double)x) - log((double)a) - log((double)b)) * chance;
    }
    return sum;
}

armilla_status armilla_expected_information(armilla_context *context, int64_t n, const int64_t *sizes[2],
                                            const int64_t counts[2], double *expected)
{
    tally tallies[2] = {{0}, {0}};
    long double *factorials = NULL;
    double sum = 0;
    armilla_status status = armilla_take(context, n + 1, sizeof *factorials, &factorials);
    for (int side = 0; side < 2 && status == ARMILLA_OK; side++)
        status = make_tally(context, counts[side], sizes[side], &tallies[side]);
    if (status != ARMILLA_OK) goto done;
    fill_factorials(n, factorials);
    for (int64_t i = 0; i < tallies[0].count; i++)
        for (int64_t j = 0; j < tallies[1].count; j++)
            sum += (double)tallies[0].times[i] * (double)tallies[1].times[j] *
                   expect_pair(n, tallies[0].sizes[i], tallies[1].sizes[j], factorials);
    *expected = sum;
done:
    for (int side = 0; side < 2; side++) {
        armilla_release(context, tallies[side].sizes);
        armilla_release(context, tallies[side].times);
    }
    armilla_release(context, factorials);
    return status;
}
