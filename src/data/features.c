/* Statistics of every feature over the samples: what tf-idf, scaling and centring are made of. Sums are in double, of
 * data in double, and the same for any number of threads. Only the stored entries of sparse data are read; the zeros of
 * a feature are accounted for at the end. */
#include "data/features.h"

#include "data/column.h"
#include "data/total.h"
#include "data/traverse.h"
#include "linalg/dense.h"

#include <float.h>
#include <math.h>

/* Equal numbers of 24 bits whose sum has 53, and a bit to spare. */
#define MOST_EXACT ((int64_t)1 << 28)

/* What is added up: a function of an entry and of the feature's offset. */
typedef double (*term)(double x, double offset);

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

/* The sums are m of the term; for sparse forms, m counts of entries; and where they are wanted, m counts of entries that
 * are not 0. */
typedef struct feature_sums {
    term add;
    const double *offsets; /* m */
    const double *units;   /* m factors of entry and offset, powers of two; NULL: 1 */
    armilla_column_buffers buffers;
    int64_t counts; /* where the counts of what is not 0 begin among the sums; 0: they are not wanted */
} feature_sums;

static double term_of(const feature_sums *f, int64_t feature, double x)
{
    if (!f->units) return f->add(x, f->offsets[feature]);
    return f->add(x * f->units[feature], f->offsets[feature] * f->units[feature]);
}

/* The terms that make most passes, of whole columns at once. */
static void add_differences(int64_t m, const double *x, const double *offsets, double *sums)
{
    for (int64_t i = 0; i < m; i++) sums[i] += difference(x[i], offsets[i]);
}

static void add_squared_differences(int64_t m, const double *x, const double *offsets, double *sums)
{
    for (int64_t i = 0; i < m; i++) sums[i] += squared_difference(x[i], offsets[i]);
}

static void add_dense(const feature_sums *f, int64_t m, const double *x, double *sums)
{
    if (!f->units && f->add == difference)
        add_differences(m, x, f->offsets, sums);
    else if (!f->units && f->add == squared_difference)
        add_squared_differences(m, x, f->offsets, sums);
    else
        for (int64_t i = 0; i < m; i++) sums[i] += term_of(f, i, x[i]);
    for (int64_t i = 0; i < m && f->counts; i++) sums[f->counts + i] += x[i] != 0;
}

static void add_sparse(const feature_sums *f, int64_t m, const armilla_column *x, double *sums)
{
    for (int64_t i = 0; i < x->count; i++) {
        const int64_t feature = armilla_column_feature(x, i);
        sums[feature] += term_of(f, feature, x->values[i]);
        sums[m + feature] += 1;
        if (f->counts) sums[f->counts + feature] += x->values[i] != 0;
    }
}

static armilla_status visit(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const feature_sums *f = self;
    const armilla_column_buffer buffer = armilla_column_buffer_of(&f->buffers, thread);
    const int64_t m = panel->data->m;
    for (int64_t j = 0; j < panel->count; j++) {
        const double *doubles = armilla_panel_doubles(panel, j);
        if (doubles) {
            add_dense(f, m, doubles, sums);
            continue;
        }
        const armilla_column x = armilla_panel_column(panel, j, buffer); /* these data are not centred */
        if (x.rows)
            add_sparse(f, m, &x, sums);
        else
            add_dense(f, m, x.values, sums);
    }
    return ARMILLA_OK;
}

/* found = the sum of the terms over all samples, also where a sparse sample has no entry. counts, where not NULL: in how
 * many samples each feature is not 0. */
static armilla_status sum_features(armilla_context *context, const armilla_data *X, feature_sums f, double *counts,
                                   double *found)
{
    const bool sparse = armilla_sparse_of(X);
    const int64_t m = X->m, terms = sparse ? 2 * m : m, length = counts ? terms + m : terms;
    const armilla_traversal_plan plan = {
        .X = X, .kernels = armilla_kernels_for(context, ARMILLA_F64), .length = length};
    armilla_traversal *traversal = NULL;
    double *sums = NULL;
    armilla_status status = armilla_traversal_new(context, &plan, &traversal);
    f.counts = counts ? terms : 0;
    if (status == ARMILLA_OK)
        status = armilla_column_buffers_take(context, X, armilla_traversal_threads(traversal), &f.buffers);
    if (status == ARMILLA_OK) status = armilla_take(context, length, sizeof *sums, &sums);
    if (status == ARMILLA_OK) status = armilla_traverse(traversal, length, visit, &f, sums);
    for (int64_t i = 0; i < m && status == ARMILLA_OK; i++) {
        const double absent = sparse ? (double)X->n - sums[m + i] : 0;
        found[i] = sums[i] + (absent > 0 ? absent * term_of(&f, i, 0) : 0);
        if (counts) counts[i] = sums[terms + i];
    }
    armilla_release(context, sums);
    armilla_column_buffers_release(context, &f.buffers);
    armilla_traversal_free(traversal);
    return status;
}

/* sums/n in these units, as a number. */
static double mean_of(const armilla_data *X, const feature_sums *f, int64_t i, double sum)
{
    return sum / (double)X->n / (f->units ? f->units[i] : 1);
}

/* Whether sums of the entries are as good as exact in double: as many equal numbers of 24 bits add up to one of 53. */
static bool adds_exactly(const armilla_data *X, int wanted)
{
    return (wanted & ARMILLA_FEATURE_AS_STORED) && armilla_type_precision(X->type) == ARMILLA_F32 && X->n < MOST_EXACT;
}

/* A second pass adds the mean of what the first one left: the rounding of a long sum is then gone, so that features
 * that do not vary are 0 when centred. The first one counts too, and is all where only counts are wanted, or sums are
 * exact. offsets: zeros, units: NULL in the first try. */
static armilla_status find_means(armilla_context *context, const armilla_data *X, int wanted, feature_sums f,
                                 armilla_feature_statistics *found)
{
    const bool again = found->means && !adds_exactly(X, wanted);
    double *first = NULL, *rest = NULL;
    armilla_status status = armilla_take(context, X->m, sizeof *first, &first);
    if (status == ARMILLA_OK) status = armilla_take(context, X->m, sizeof *rest, &rest);
    if (status == ARMILLA_OK) status = sum_features(context, X, f, f.units ? NULL : found->counts, rest);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++) first[i] = mean_of(X, &f, i, rest[i]);
    f.offsets = first;
    if (status == ARMILLA_OK && again) status = sum_features(context, X, f, NULL, rest);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK && found->means; i++)
        found->means[i] = first[i] + (again ? mean_of(X, &f, i, rest[i]) : 0);
    armilla_release(context, rest);
    armilla_release(context, first);
    return status;
}

static armilla_status find_counts_and_means(armilla_context *context, const armilla_data *X, int wanted,
                                            armilla_feature_statistics *found)
{
    const double *means = found->means;
    double *zeros = NULL, *units = NULL;
    bool finite = true;
    armilla_status status = armilla_take(context, X->m, sizeof *zeros, &zeros);
    feature_sums f = {.add = difference, .offsets = zeros};
    if (status == ARMILLA_OK) status = find_means(context, X, wanted, f, found);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK && means; i++) finite &= isfinite(means[i]);
    if (status == ARMILLA_OK && !finite) {
        status = armilla_take(context, X->m, sizeof *units, &units);
        for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++)
            units[i] = isfinite(means[i]) ? 1 : ARMILLA_TOTAL_UNIT;
        f.units = units;
        if (status == ARMILLA_OK) status = find_means(context, X, wanted, f, found);
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
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++) units[i] = isinf(deviations[i]) ? ARMILLA_TOTAL_UNIT : 1;
    f.units = units;
    if (status == ARMILLA_OK) status = sum_features(context, X, f, NULL, sums);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++) {
        const double deviation = sums[i] / (double)X->n, scale = armilla_safe_scale(1, &deviation, NULL);
        units[i] *= scale > 0 ? scale : 1;
    }
    f.add = squared_difference;
    if (status == ARMILLA_OK) status = sum_features(context, X, f, NULL, sums);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++)
        if (!isfinite(deviations[i])) deviations[i] = sqrt(sums[i] / (double)X->n) / units[i];
    armilla_release(context, sums);
    armilla_release(context, units);
    return status;
}

/* What is below the digits of such a mean is nothing, whether its square has digits or not. */
#define CLEAR_MEAN 1e-120

static armilla_status find_deviations(armilla_context *context, const armilla_data *X, const double *means,
                                      double *deviations)
{
    const feature_sums f = {.add = squared_difference, .offsets = means};
    bool rescue = false;
    armilla_status status = sum_features(context, X, f, NULL, deviations);
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

armilla_status armilla_feature_statistics_find(armilla_context *context, const armilla_data *X, int wanted,
                                               armilla_feature_statistics *found)
{
    const bool deviations = wanted & ARMILLA_FEATURE_DEVIATIONS, means = deviations || wanted & ARMILLA_FEATURE_MEANS;
    armilla_status status = ARMILLA_OK;
    *found = (armilla_feature_statistics){.n = X->n};
    if (wanted & ARMILLA_FEATURE_COUNTS) status = armilla_take(context, X->m, sizeof(double), &found->counts);
    if (status == ARMILLA_OK && means) status = armilla_take(context, X->m, sizeof(double), &found->means);
    if (status == ARMILLA_OK && deviations) status = armilla_take(context, X->m, sizeof(double), &found->deviations);
    if (status == ARMILLA_OK) status = find_counts_and_means(context, X, wanted, found);
    if (status == ARMILLA_OK && deviations) status = find_deviations(context, X, found->means, found->deviations);
    return status;
}

void armilla_feature_statistics_release(armilla_context *context, armilla_feature_statistics *found)
{
    armilla_release(context, found->deviations);
    armilla_release(context, found->means);
    armilla_release(context, found->counts);
    *found = (armilla_feature_statistics){0};
}
