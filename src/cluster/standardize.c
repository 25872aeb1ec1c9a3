/* A table seen with features of one spread, beside the angles between samples as they are, which features that vary most
 * decide. Species of iris and crabs differ in the one, sexes of athletes and segments of images in the other; the mean of
 * both graphs keeps what either sees (docs/clustering.md). */
#include "cluster/knn_graph.h"

#include "base/size.h"
#include "data/column.h"
#include "data/traverse.h"
#include "linalg/kernels.h"

#include <math.h>

/* A deviation below that part of the mean is rounding. */
#define LEAST_DEVIATION 1e-6

/* What features are multiplied by: at most 1, so that nothing overflows, and 0 for a constant one. */
static void find_factors(int64_t m, const armilla_feature_statistics *found, double *factors)
{
    double least = INFINITY;
    for (int64_t i = 0; i < m; i++) {
        const double deviation = found->deviations[i];
        factors[i] = deviation > LEAST_DEVIATION * fabs(found->means[i]) ? deviation : 0;
        if (factors[i] > 0) least = fmin(least, factors[i]);
    }
    for (int64_t i = 0; i < m; i++)
        if (factors[i] > 0) factors[i] = least / factors[i];
}

typedef struct standardizing {
    armilla_column_buffers buffers;
    const double *factors; /* m */
    float *made;           /* m x n */
} standardizing;

static armilla_status visit(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const standardizing *s = self;
    const armilla_column_buffer buffer = armilla_column_buffer_of(&s->buffers, thread);
    (void)sums;
    for (int64_t j = 0; j < panel->count; j++) {
        const armilla_column x = armilla_panel_whole_column(panel, j, buffer);
        for (int64_t i = 0; i < x.m; i++) x.values[i] *= s->factors[i];
        armilla_unit_copy(x.m, x.values, s->made + (panel->first + j) * x.m);
    }
    return ARMILLA_OK;
}

static armilla_status fill(armilla_context *context, const armilla_data *X, standardizing *s)
{
    armilla_traversal *traversal = NULL;
    const armilla_kernels *kernels = armilla_kernels_for(context, armilla_type_precision(X->type));
    const armilla_traversal_plan plan = {.X = X, .kernels = kernels};
    armilla_status status = armilla_traversal_new(context, &plan, &traversal);
    if (status == ARMILLA_OK)
        status = armilla_column_buffers_take(context, X, armilla_traversal_threads(traversal), &s->buffers);
    if (status == ARMILLA_OK) status = armilla_traverse(traversal, 0, visit, s, NULL);
    armilla_column_buffers_release(context, &s->buffers);
    armilla_traversal_free(traversal);
    return status;
}

armilla_status armilla_graph_samples_standardize(const armilla_graph_samples *samples,
                                                 const armilla_feature_statistics *features, float **made)
{
    armilla_context *context = samples->context;
    double *factors = NULL;
    int64_t numbers = 0;
    if (!armilla_size_area(samples->X->m, samples->n, &numbers)) numbers = -1;
    armilla_status status = armilla_take(context, samples->X->m, sizeof *factors, &factors);
    if (status == ARMILLA_OK) status = armilla_take(context, numbers, sizeof **made, made);
    if (status == ARMILLA_OK) {
        standardizing s = {.factors = factors, .made = *made};
        find_factors(samples->X->m, features, factors);
        status = fill(context, samples->X, &s);
    }
    armilla_release(context, factors);
    return status;
}
