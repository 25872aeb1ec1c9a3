/* Statistics of every feature over the samples: what tf-idf, scaling and centring are made of. Sums are in double, of
 * data in double, and the same for any number of threads. Of sparse data only entries are read: what a feature is where
 * it has none is added at the end. */
#include "data/traverse.h"

#include "linalg/dense.h"

#include <float.h>
#include <math.h>

/* What is added up: a function of an entry and of the feature's offset. */
typedef double (*term)(double x, double offset);

static double is_nonzero(double x, double offset)
{
    (void)offset;
    return x != 0;
}

static double difference(double x, double offset)
{
    return x - offset;
}

static double squared_difference(double x, double offset)
{
    return (x - offset) * (x - offset);
}

static double absolute_difference(double x, double offset)
{
    return fabs(x - offset);
}

/* The sums are m of the term and, for sparse forms, m counts of entries. */
typedef struct feature_sums {
    term add;
    const double *offsets; /* m */
    const double *units;   /* m factors of entry and offset, powers of two; NULL: 1 */
    double *columns;       /* m per thread */
    int64_t *rows;         /* m per thread */
} feature_sums;

static double term_of(const feature_sums *f, int64_t feature, double x)
{
    if (!f->units) return f->add(x, f->offsets[feature]);
    return f->add(x * f->units[feature], f->offsets[feature] * f->units[feature]);
}

static void add_entries(const feature_sums *f, const armilla_panel *panel, int64_t j, int thread, double *sums)
{
    const int64_t m = panel->data->m;
    double *x = f->columns + thread * m, shift = 0; /* these data are not centred: nothing is shifted */
    int64_t *rows = f->rows + thread * m;
    const int64_t count = panel->data->ops->entries(panel, j, rows, x, &shift);
    for (int64_t i = 0; i < count; i++) {
        sums[rows[i]] += term_of(f, rows[i], x[i]);
        sums[m + rows[i]] += 1;
    }
}

static armilla_status visit(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const feature_sums *f = self;
    const int64_t m = panel->data->m;
    double *x = f->columns + thread * m;
    for (int64_t j = 0; j < panel->count; j++) {
        if (panel->data->ops->entries) {
            add_entries(f, panel, j, thread, sums);
            continue;
        }
        panel->data->ops->expand(panel, j, x);
        for (int64_t i = 0; i < m; i++) sums[i] += term_of(f, i, x[i]);
    }
    return ARMILLA_OK;
}

/* found = the sum of the terms over all samples, also where a sparse sample has no entry. */
static armilla_status sum_features(armilla_context *context, const armilla_data *X, feature_sums f, double *found)
{
    const int64_t m = X->m, length = X->ops->entries ? 2 * m : m;
    const armilla_traversal_plan plan = {
        .X = X, .kernels = armilla_kernels_for(context, ARMILLA_F64), .length = length};
    armilla_traversal *traversal = NULL;
    double *sums = NULL;
    armilla_status status = armilla_traversal_new(context, &plan, &traversal);
    const int64_t room = status == ARMILLA_OK ? armilla_traversal_threads(traversal) * m : 0;
    if (status == ARMILLA_OK) status = armilla_take(context, room, sizeof *f.columns, &f.columns);
    if (status == ARMILLA_OK) status = armilla_take(context, room, sizeof *f.rows, &f.rows);
    if (status == ARMILLA_OK) status = armilla_take(context, length, sizeof *sums, &sums);
    if (status == ARMILLA_OK) status = armilla_traverse(traversal, length, visit, &f, sums);
    for (int64_t i = 0; i < m && status == ARMILLA_OK; i++) {
        const double absent = X->ops->entries ? (double)X->n - sums[m + i] : 0;
        found[i] = sums[i] + (absent > 0 ? absent * term_of(&f, i, 0) : 0);
    }
    armilla_release(context, sums);
    armilla_release(context, f.rows);
    armilla_release(context, f.columns);
    armilla_traversal_free(traversal);
    return status;
}

armilla_status armilla_feature_counts(armilla_context *context, const armilla_data *X, double *counts)
{
    double *zeros = NULL;
    armilla_status status = armilla_take(context, X->m, sizeof *zeros, &zeros);
    if (status == ARMILLA_OK)
        status = sum_features(context, X, (feature_sums){.add = is_nonzero, .offsets = zeros}, counts);
    armilla_release(context, zeros);
    return status;
}

/* sums/n in these units, as a number. */
static double mean_of(const armilla_data *X, const feature_sums *f, int64_t i, double sum)
{
    return sum / (double)X->n / (f->units ? f->units[i] : 1);
}

/* A second pass adds the mean of what the first one left: the rounding of a long sum is then gone, so that features
 * that do not vary are 0 when centred. offsets: zeros. */
static armilla_status find_means(armilla_context *context, const armilla_data *X, feature_sums f, double *means)
{
    double *first = NULL, *rest = NULL;
    armilla_status status = armilla_take(context, X->m, sizeof *first, &first);
    if (status == ARMILLA_OK) status = armilla_take(context, X->m, sizeof *rest, &rest);
    if (status == ARMILLA_OK) status = sum_features(context, X, f, rest);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++) first[i] = mean_of(X, &f, i, rest[i]);
    f.offsets = first;
    if (status == ARMILLA_OK) status = sum_features(context, X, f, rest);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++) means[i] = first[i] + mean_of(X, &f, i, rest[i]);
    armilla_release(context, rest);
    armilla_release(context, first);
    return status;
}

/* A unit in which no sum of numbers leaves the range. */
#define SMALL_UNIT 0x1p-64

armilla_status armilla_feature_means(armilla_context *context, const armilla_data *X, double *means)
{
    double *zeros = NULL, *units = NULL;
    bool finite = true;
    armilla_status status = armilla_take(context, X->m, sizeof *zeros, &zeros);
    feature_sums f = {.add = difference, .offsets = zeros};
    if (status == ARMILLA_OK) status = find_means(context, X, f, means);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++) finite &= isfinite(means[i]);
    if (status == ARMILLA_OK && !finite) {
        status = armilla_take(context, X->m, sizeof *units, &units);
        for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++) units[i] = isfinite(means[i]) ? 1 : SMALL_UNIT;
        f.units = units;
        if (status == ARMILLA_OK) status = find_means(context, X, f, means);
    }
    armilla_release(context, units);
    armilla_release(context, zeros);
    return status;
}

/* Deviations whose squares overflowed (infinite here) or lost digits (NaN), from squares in units of the mean absolute
 * deviation, which is never above the standard deviation, and not below it by more than a factor of the root of n. */
static armilla_status rescue_deviations(armilla_context *context, const armilla_data *X, const double *means,
                                        double *deviations)
{
    feature_sums f = {.add = absolute_difference, .offsets = means};
    double *units = NULL, *sums = NULL;
    armilla_status status = armilla_take(context, X->m, sizeof *units, &units);
    if (status == ARMILLA_OK) status = armilla_take(context, X->m, sizeof *sums, &sums);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++) units[i] = isinf(deviations[i]) ? SMALL_UNIT : 1;
    f.units = units;
    if (status == ARMILLA_OK) status = sum_features(context, X, f, sums);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++) {
        const double deviation = sums[i] / (double)X->n, scale = armilla_safe_scale(1, &deviation, NULL);
        units[i] *= scale > 0 ? scale : 1;
    }
    f.add = squared_difference;
    if (status == ARMILLA_OK) status = sum_features(context, X, f, sums);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++)
        if (!isfinite(deviations[i])) deviations[i] = sqrt(sums[i] / (double)X->n) / units[i];
    armilla_release(context, sums);
    armilla_release(context, units);
    return status;
}

/* What is below the digits of such a mean is nothing, whether its square has digits or not. */
#define CLEAR_MEAN 1e-120

armilla_status armilla_feature_deviations(armilla_context *context, const armilla_data *X, const double *means,
                                          double *deviations)
{
    const feature_sums f = {.add = squared_difference, .offsets = means};
    bool rescue = false;
    armilla_status status = sum_features(context, X, f, deviations);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++) {
        const double variance = deviations[i] / (double)X->n;
        const bool holds = armilla_square_holds(variance) || (variance < 1 && fabs(means[i]) > CLEAR_MEAN);
        deviations[i] = holds ? sqrt(variance) : variance > 1 ? INFINITY : NAN;
        rescue |= !holds;
    }
    if (status == ARMILLA_OK && rescue) status = rescue_deviations(context, X, means, deviations);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++)
        if (deviations[i] <= 8 * DBL_EPSILON * fabs(means[i])) deviations[i] = 0;
    return status;
}
