/* Standardised variances about a binned trend of the mean. */
#include "data/variable.h"

#include "base/size.h"
#include "data/total.h"

#include <math.h>
#include <stdlib.h>

enum { BIN_FEATURES = 20, MOST_BINS = 20 };

typedef struct feature {
    int64_t index;
    float mean;
    double variance; /* its logarithm, */
    double score;    /* and how far above the trend it is */
} feature;

static int by_index(const feature *a, const feature *b)
{
    return a->index < b->index ? -1 : a->index > b->index;
}

static int by_mean(const void *first, const void *second)
{
    const feature *a = first, *b = second;
    if (a->mean != b->mean) return a->mean < b->mean ? -1 : 1;
    return by_index(a, b);
}

static int by_score(const void *first, const void *second)
{
    const feature *a = first, *b = second;
    if (a->score != b->score) return a->score > b->score ? -1 : 1;
    return by_index(a, b);
}

/* numbers: space for count. */
static void score_bin(int64_t count, feature *bin, double *numbers)
{
    for (int64_t i = 0; i < count; i++) numbers[i] = bin[i].variance;
    const double middle = armilla_median(count, numbers);
    for (int64_t i = 0; i < count; i++) numbers[i] = fabs(bin[i].variance - middle);
    const double spread = armilla_median(count, numbers);
    for (int64_t i = 0; i < count; i++) bin[i].score = (bin[i].variance - middle) / (spread > 0 ? spread : 1);
}

static int64_t gather(int64_t m, const double *means, const double *deviations, feature *features)
{
    int64_t count = 0;
    for (int64_t i = 0; i < m; i++)
        if (deviations[i] > 0 && isfinite(deviations[i]))
            features[count++] = (feature){i, (float)means[i], 2 * log(deviations[i]), 0};
    return count;
}

armilla_status armilla_variable_features(armilla_context *context, int64_t m, const double *means,
                                         const double *deviations, int64_t count, double *chosen)
{
    feature *features = NULL;
    double *numbers = NULL;
    armilla_status status = armilla_take(context, m, sizeof *features, &features);
    if (status == ARMILLA_OK) status = armilla_take(context, m, sizeof *numbers, &numbers);
    if (status != ARMILLA_OK) goto done;
    const int64_t vary = gather(m, means, deviations, features);
    const int64_t bins = armilla_max64(1, armilla_min64(MOST_BINS, vary / BIN_FEATURES));
    if (vary > 0) qsort(features, (size_t)vary, sizeof *features, by_mean);
    for (int64_t b = 0; b < bins && vary > 0; b++) {
        const int64_t first = b * vary / bins, last = (b + 1) * vary / bins;
        score_bin(last - first, features + first, numbers);
    }
    if (vary > 0) qsort(features, (size_t)vary, sizeof *features, by_score);
    for (int64_t i = 0; i < m; i++) chosen[i] = 0;
    for (int64_t i = 0; i < armilla_min64(count, vary); i++) chosen[features[i].index] = 1;
done:
    armilla_release(context, numbers);
    armilla_release(context, features);
    return status;
}
