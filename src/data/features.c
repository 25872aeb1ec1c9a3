/* Statistics of every feature over the samples: what tf-idf, scaling and centring are made of. Sums are in double, of
 * data in double, and the same for any number of threads. Of sparse data only entries are read: what a feature is where
 * it has none is added at the end. */
#include "data/traverse.h"

#include "base/team.h"

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

/* The sums are m of the term and, for sparse forms, m counts of entries. */
typedef struct feature_sums {
    term add;
    const double *offsets; /* m */
    double *columns;       /* m per thread */
    int64_t *rows;         /* m per thread */
} feature_sums;

static void add_entries(const feature_sums *f, const armilla_panel *panel, int64_t j, int thread, double *sums)
{
    const int64_t m = panel->data->m;
    double *x = f->columns + thread * m, shift = 0; /* these data are not centred: nothing is shifted */
    int64_t *rows = f->rows + thread * m;
    const int64_t count = panel->data->ops->entries(panel, j, rows, x, &shift);
    for (int64_t i = 0; i < count; i++) {
        sums[rows[i]] += f->add(x[i], f->offsets[rows[i]]);
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
        for (int64_t i = 0; i < m; i++) sums[i] += f->add(x[i], f->offsets[i]);
    }
    return ARMILLA_OK;
}

/* found = the sum of add(x, offset) over all samples, also where a sparse sample has no entry. */
static armilla_status sum_features(armilla_context *context, const armilla_data *X, int threads, term add,
                                   const double *offsets, double *found)
{
    const int64_t m = X->m, length = X->ops->entries ? 2 * m : m;
    const armilla_kernels *kernels = armilla_kernels_for(context, ARMILLA_F64);
    feature_sums f = {.add = add, .offsets = offsets};
    armilla_traversal *traversal = NULL;
    double *sums = NULL;
    armilla_status status = armilla_traversal_new(context, X, kernels, threads, length, &traversal);
    const int64_t room = status == ARMILLA_OK ? armilla_traversal_threads(traversal) * m : 0;
    if (status == ARMILLA_OK) status = armilla_take(context, room, sizeof *f.columns, &f.columns);
    if (status == ARMILLA_OK) status = armilla_take(context, room, sizeof *f.rows, &f.rows);
    if (status == ARMILLA_OK) status = armilla_take(context, length, sizeof *sums, &sums);
    if (status == ARMILLA_OK) status = armilla_traverse(traversal, length, visit, &f, sums);
    for (int64_t i = 0; i < m && status == ARMILLA_OK; i++) {
        const double absent = X->ops->entries ? (double)X->n - sums[m + i] : 0;
        found[i] = sums[i] + (absent > 0 ? absent * add(0, offsets[i]) : 0);
    }
    armilla_release(context, sums);
    armilla_release(context, f.rows);
    armilla_release(context, f.columns);
    armilla_traversal_free(traversal);
    return status;
}

armilla_status armilla_feature_counts(armilla_context *context, const armilla_data *X, int threads, double *counts)
{
    double *zeros = NULL;
    armilla_status status = armilla_take(context, X->m, sizeof *zeros, &zeros);
    if (status == ARMILLA_OK) status = sum_features(context, X, threads, is_nonzero, zeros, counts);
    armilla_release(context, zeros);
    return status;
}

/* A second pass adds the mean of what the first one left: the rounding of a long sum is then gone, so that features
 * that do not vary are 0 when centred. */
armilla_status armilla_feature_means(armilla_context *context, const armilla_data *X, int threads, double *means)
{
    double *first = NULL, *rest = NULL;
    armilla_status status = armilla_take(context, X->m, sizeof *first, &first); /* zeros, the first offsets */
    if (status == ARMILLA_OK) status = armilla_take(context, X->m, sizeof *rest, &rest);
    if (status == ARMILLA_OK) status = sum_features(context, X, threads, difference, first, rest);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++) first[i] = rest[i] / (double)X->n;
    if (status == ARMILLA_OK) status = sum_features(context, X, threads, difference, first, rest);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++) means[i] = first[i] + rest[i] / (double)X->n;
    armilla_release(context, rest);
    armilla_release(context, first);
    return status;
}

armilla_status armilla_feature_variances(armilla_context *context, const armilla_data *X, int threads,
                                         const double *means, double *variances)
{
    const armilla_status status = sum_features(context, X, threads, squared_difference, means, variances);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++) {
        const double rounding = 8 * DBL_EPSILON * means[i];
        variances[i] /= (double)X->n;
        if (variances[i] <= rounding * rounding) variances[i] = 0;
    }
    return status;
}
