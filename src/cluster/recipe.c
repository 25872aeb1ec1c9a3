/* The preparation and rank that `armilla cluster DATA --k K` takes where nothing is said: chosen by measurement
 * (docs/clustering.md). Unit length always; tf-idf for counts, which are sparse whole numbers; scale and centre for
 * tables whose features have different units, so that a few of them make up nearly all of the length. */
#include "cluster/cluster.h"

#include "base/size.h"
#include "data/traverse.h"

#include <math.h>

/* Features that count, of m: below an eighth, or (of few) hardly more than one. */
#define LEAST_SHARE 0.125
#define LEAST_COUNT 1.2

typedef struct look {
    int64_t *rows;
    double *values;
} look;

static armilla_status visit_entries(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const look *l = self;
    (void)thread;
    for (int64_t j = 0; j < panel->count; j++) {
        double shift = 0;
        const int64_t count = panel->data->ops->entries(panel, j, l->rows, l->values, &shift);
        for (int64_t i = 0; i < count; i++) sums[0] += !(l->values[i] >= 0 && l->values[i] == floor(l->values[i]));
    }
    return ARMILLA_OK;
}

/* Sparse, whole numbers, none negative. */
static armilla_status are_counts(armilla_context *context, const armilla_data *X, bool *counts)
{
    look l = {NULL, NULL};
    double others = 0;
    if (!X->ops->entries) return ARMILLA_OK;
    armilla_status status = armilla_take(context, X->m, sizeof *l.rows, &l.rows);
    if (status == ARMILLA_OK) status = armilla_take(context, X->m, sizeof *l.values, &l.values);
    if (status == ARMILLA_OK)
        status = armilla_traverse_once(context, X, armilla_type_precision(X->type), 1, 1, visit_entries, &l, &others);
    if (status == ARMILLA_OK) *counts = others == 0;
    armilla_release(context, l.values);
    armilla_release(context, l.rows);
    return status;
}

/* How many features count: (sum s)^2 / sum s^2 with s a feature's mean square. */
static double effective(int64_t m, const double *means, const double *variances)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < m; i++) {
        const double s = variances[i] + means[i] * means[i];
        sum += s;
        squares += s * s;
    }
    return squares > 0 ? sum * sum / squares : (double)m;
}

static armilla_status have_units(armilla_context *context, const armilla_data *X, int threads, bool *units)
{
    double *means = NULL, *variances = NULL;
    if (X->ops->entries || X->m < 2) return ARMILLA_OK;
    armilla_status status = armilla_take(context, X->m, sizeof *means, &means);
    if (status == ARMILLA_OK) status = armilla_take(context, X->m, sizeof *variances, &variances);
    if (status == ARMILLA_OK) status = armilla_feature_means(context, X, threads, means);
    if (status == ARMILLA_OK) status = armilla_feature_variances(context, X, threads, means, variances);
    if (status == ARMILLA_OK)
        *units = effective(X->m, means, variances) < fmax(LEAST_SHARE * (double)X->m, LEAST_COUNT);
    armilla_release(context, variances);
    armilla_release(context, means);
    return status;
}

armilla_status armilla_cluster_recipe(armilla_context *context, const armilla_data *X, int64_t k,
                                      armilla_options *options)
{
    bool counts = false, units = false;
    armilla_status status = are_counts(context, X, &counts);
    if (status == ARMILLA_OK) status = have_units(context, X, (int)options->threads, &units);
    if (status != ARMILLA_OK) return status;
    options->normalize = "l2";
    options->tfidf = counts;
    options->scale = options->center = units;
    if (options->rank == 0) options->rank = armilla_min64(k > X->m / 2 ? X->m : 2 * k, X->m);
    return ARMILLA_OK;
}
