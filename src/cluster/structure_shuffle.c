/* Numbers of samples in another order, and densities of one mode. */
#include "cluster/structure.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

/* Exchanges for each number that is not 0. */
enum { EXCHANGES = 3 };
/* Places where the mode is tried. */
enum { MODES = 17 };

static int64_t draw_below(const armilla_structure_shuffling *s, uint64_t index, int64_t count)
{
    const double where = armilla_random_uniform(s->seed, ARMILLA_STREAM_STRUCTURE, s->first + index);
    const int64_t drawn = (int64_t)(where * (double)count);
    return drawn < count ? drawn : count - 1;
}

static void permute_feature(const armilla_structure_shuffling *s, int64_t feature, double *Y)
{
    for (int64_t j = s->n - 1; j > 0; j--) {
        const int64_t other = draw_below(s, (uint64_t)(feature * s->n + j), j + 1);
        const double value = Y[j * s->m + feature];
        Y[j * s->m + feature] = Y[other * s->m + feature];
        Y[other * s->m + feature] = value;
    }
}

/* The mean size of a feature's numbers: what is beside it belongs to the sample. */
static int64_t list_entries(const armilla_structure_shuffling *s, const double *Y)
{
    int64_t count = 0;
    memset(s->weights, 0, (size_t)s->m * sizeof *s->weights);
    for (int64_t p = 0; p < s->m * s->n; p++) {
        if (Y[p] == 0) continue;
        s->entries[count++] = p;
        s->weights[p % s->m] += fabs(Y[p]);
    }
    for (int64_t i = 0; i < s->m; i++) {
        int64_t filled = 0;
        for (int64_t j = 0; j < s->n; j++) filled += Y[j * s->m + i] != 0;
        if (filled > 0) s->weights[i] /= (double)filled;
    }
    return count;
}

/* Two numbers exchange their features, where neither sample has the other's. */
static void exchange(const armilla_structure_shuffling *s, int64_t *a, int64_t *b, double *Y)
{
    const int64_t i = *a % s->m, k = *b % s->m, to_a = *a - i + k, to_b = *b - k + i;
    if (Y[to_a] != 0 || Y[to_b] != 0) return;
    const double ratio = s->weights[k] / s->weights[i];
    Y[to_a] = Y[*a] * ratio;
    Y[to_b] = Y[*b] / ratio;
    Y[*a] = Y[*b] = 0;
    *a = to_a;
    *b = to_b;
}

void armilla_structure_shuffle(const armilla_structure_shuffling *s, double *Y)
{
    for (int64_t i = 0; i < s->m && !s->sparse; i++) permute_feature(s, i, Y);
    if (!s->sparse) return;
    const int64_t count = list_entries(s, Y);
    for (int64_t step = 0; step < EXCHANGES * count; step++) {
        const int64_t a = draw_below(s, (uint64_t)(2 * step), count),
                      b = draw_below(s, (uint64_t)(2 * step + 1), count);
        exchange(s, &s->entries[a], &s->entries[b], Y);
    }
}

/* to = the numbers nearest to steps that do not rise, by pooling neighbours that do (PAVA); from the end where `back`. */
static void pool(int64_t count, const double *steps, bool back, double *to)
{
    double means[ARMILLA_QUANTILES];
    int64_t sizes[ARMILLA_QUANTILES], pools = 0, at = 0;
    for (int64_t i = 0; i < count; i++) {
        means[pools] = steps[back ? count - 1 - i : i];
        sizes[pools++] = 1;
        while (pools > 1 && means[pools - 2] < means[pools - 1]) {
            const int64_t both = sizes[pools - 2] + sizes[pools - 1];
            means[pools - 2] =
                (means[pools - 2] * (double)sizes[pools - 2] + means[pools - 1] * (double)sizes[pools - 1]) /
                (double)both;
            sizes[pools-- - 2] = both;
        }
    }
    for (int64_t p = 0; p < pools; p++)
        for (int64_t i = 0; i < sizes[p]; i++, at++) to[back ? count - 1 - at : at] = means[p];
}

/* Quantiles of one mode: steps between them fall to it and rise behind it. */
void armilla_structure_one_mode(int64_t count, double *quantiles)
{
    double steps[ARMILLA_QUANTILES], fitted[ARMILLA_QUANTILES], best[ARMILLA_QUANTILES], least = INFINITY;
    if (count < 2) return;
    for (int64_t i = 0; i + 1 < count; i++) steps[i] = quantiles[i + 1] - quantiles[i];
    for (int64_t mode = 0; mode < MODES; mode++) {
        const int64_t before = mode * (count - 1) / (MODES - 1);
        double at = quantiles[0], error = 0;
        pool(before, steps, false, fitted);
        pool(count - 1 - before, steps + before, true, fitted + before);
        for (int64_t i = 0; i + 1 < count; i++) {
            at += fitted[i];
            error += (at - quantiles[i + 1]) * (at - quantiles[i + 1]);
        }
        if (!(error < least)) continue;
        least = error;
        memcpy(best, fitted, (size_t)(count - 1) * sizeof *best);
    }
    for (int64_t i = 0; i + 1 < count && least < INFINITY; i++) quantiles[i + 1] = quantiles[i] + best[i];
}
