/* What a model learned of totals and of features that vary most, learned again from plain sums. */
#include "model/check.h"

#include "base/size.h"
#include "model/record.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Scores may differ by so much where a feature falls into another bin, because of the rounding of its mean. */
#define SCORE_SLACK 0.05

void armilla_check_total(int64_t count, double total, double *x)
{
    const int exponent = armilla_check_exponent(count, x);
    armilla_sum sum = {0, 0};
    for (int64_t i = 0; i < count; i++) armilla_sum_add(&sum, ldexp(x[i], -exponent));
    const double all = armilla_sum_value(sum);
    for (int64_t i = 0; i < count && all > 0; i++) x[i] = ldexp(x[i], -exponent) / all * total;
}

static int compare_numbers(const void *first, const void *second)
{
    const double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

/* Numbers first ... count-1, which are put in order. */
static double middle(int64_t count, double *numbers)
{
    qsort(numbers, (size_t)count, sizeof *numbers, compare_numbers);
    return numbers[(count - 1) / 2] / 2 + numbers[count / 2] / 2;
}

/* --- the median of the sums --- */

/* sums[j] of this rank's samples. */
static armilla_status add_samples(const armilla_source *source, int64_t *rows, double *values, double *sums)
{
    armilla_source_reader reader = {.source = NULL};
    armilla_status status = armilla_source_reader_open(source, &reader);
    for (int64_t j = source->first; j < source->last && status == ARMILLA_OK; j++) {
        armilla_sum sum = {0, 0};
        int64_t count = 0;
        if ((status = armilla_check_ask(source->context, 0, j, source->n)) != ARMILLA_OK) break;
        status = armilla_source_read(&reader, j, rows, values, &count);
        for (int64_t i = 0; i < count; i++) armilla_sum_add(&sum, values[i]);
        sums[j] = armilla_sum_value(sum);
    }
    armilla_source_reader_close(&reader);
    return status;
}

static armilla_status find_median(const armilla_source *source, double *median)
{
    armilla_context *context = source->context;
    const int64_t size = (int64_t)sizeof(double), n = source->n;
    int64_t *rows = NULL, zeros = 0;
    double *values = NULL, *sums = NULL;
    armilla_status status = armilla_take(context, source->m, sizeof *rows, &rows);
    if (status == ARMILLA_OK) status = armilla_take(context, source->m, sizeof *values, &values);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *sums, &sums);
    if (status == ARMILLA_OK) status = add_samples(source, rows, values, sums);
    status = armilla_ranks_gather(
        context, status, &(armilla_byte_range){sums, source->first * size, source->last * size, n * size, true});
    if (status == ARMILLA_OK) {
        qsort(sums, (size_t)n, sizeof *sums, compare_numbers);
        while (zeros < n && sums[zeros] <= 0) zeros++;
        *median = zeros < n ? middle(n - zeros, sums + zeros) : 1;
    }
    armilla_release(context, sums);
    armilla_release(context, values);
    armilla_release(context, rows);
    return status;
}

armilla_status armilla_check_sums(const armilla_source *source, const armilla_model *model,
                                  const armilla_feature_moments *of, double *excess)
{
    (void)of;
    const double *stated = armilla_check_stated(model, ARMILLA_STEP_TOTAL);
    char text[64] = "";
    double found = 0;
    bool taken = false;
    *excess = 0;
    if (!stated) return ARMILLA_OK;
    armilla_options_recorded(model->options_text, "total", text, sizeof text);
    if (!armilla_total_read(text, &taken, &found) || !taken) {
        *excess = INFINITY;
        return ARMILLA_OK;
    }
    const armilla_status status = found > 0 ? ARMILLA_OK : find_median(source, &found);
    const double tolerance = ((double)source->m + 16) * DBL_EPSILON * found;
    if (status == ARMILLA_OK) *excess = fabs(*stated - found) / tolerance;
    return status;
}

/* --- the features that vary most --- */

typedef struct varying {
    int64_t index;
    double mean, spread, score;
} varying;

static int compare_means(const void *first, const void *second)
{
    const varying *a = first, *b = second;
    const float x = (float)a->mean, y = (float)b->mean;
    if (x != y) return x < y ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void score(int64_t count, varying *bin, double *numbers)
{
    for (int64_t i = 0; i < count; i++) numbers[i] = log(bin[i].spread * bin[i].spread);
    const double centre = middle(count, numbers);
    for (int64_t i = 0; i < count; i++) numbers[i] = fabs(log(bin[i].spread * bin[i].spread) - centre);
    const double width = middle(count, numbers);
    for (int64_t i = 0; i < count; i++)
        bin[i].score = (log(bin[i].spread * bin[i].spread) - centre) / (width > 0 ? width : 1);
}

/* How far the best feature that was left out is above the worst that was chosen, in units of the slack. */
static double judge(int64_t count, const varying *features, const double *chosen, int64_t wanted)
{
    double least = INFINITY, most = -INFINITY;
    int64_t taken = 0;
    for (int64_t i = 0; i < count; i++) {
        if (chosen[features[i].index] != 0) {
            least = fmin(least, features[i].score);
            taken++;
        } else {
            most = fmax(most, features[i].score);
        }
    }
    if (taken != armilla_min64(wanted, count)) return INFINITY;
    return taken == 0 || taken == count ? 0 : fmax(0, most - least) / SCORE_SLACK;
}

armilla_status armilla_check_top(const armilla_source *source, const armilla_model *model,
                                 const armilla_feature_moments *of, double *excess)
{
    const double *chosen = armilla_check_stated(model, ARMILLA_STEP_TOP);
    armilla_context *context = source->context;
    varying *features = NULL;
    double *numbers = NULL;
    int64_t count = 0;
    char text[64] = "";
    *excess = 0;
    if (!chosen) return ARMILLA_OK;
    armilla_options_recorded(model->options_text, "top-features", text, sizeof text);
    armilla_status status = armilla_take(context, source->m, sizeof *features, &features);
    if (status == ARMILLA_OK) status = armilla_take(context, source->m, sizeof *numbers, &numbers);
    for (int64_t i = 0; i < source->m && status == ARMILLA_OK; i++) {
        const double mean = of->mean[i] / of->unit[i], spread = of->spread[i] / of->unit[i];
        if (spread > 8 * DBL_EPSILON * fabs(mean)) features[count++] = (varying){i, mean, spread, 0};
    }
    if (count > 0) qsort(features, (size_t)count, sizeof *features, compare_means);
    const int64_t bins = count / 20 < 1 ? 1 : count / 20 > 20 ? 20 : count / 20;
    for (int64_t b = 0; b < bins && count > 0; b++)
        score((b + 1) * count / bins - b * count / bins, features + b * count / bins, numbers);
    if (status == ARMILLA_OK) *excess = judge(count, features, chosen, strtoll(text, NULL, 10));
    armilla_release(context, numbers);
    armilla_release(context, features);
    return status;
}
