/* A table seen with features of one spread, beside the angles between samples as they are, which features that vary most
 * decide. Species of iris and crabs differ in the one, sexes of athletes and segments of images in the other; the mean of
 * both graphs keeps what either sees (docs/clustering.md). */
#include "cluster/shape.h"

#include "base/size.h"
#include "data/column.h"
#include "data/features.h"
#include "data/sparse.h"
#include "data/traverse.h"
#include "linalg/kernels.h"

#include <math.h>

/* Of more features, scaling gives those too much weight that are nearly constant: the border of images. */
enum { MOST_FEATURES = 40 };
/* A deviation below that part of the mean is rounding. */
#define LEAST_DEVIATION 1e-6

bool armilla_shape_is_table(const armilla_shape *shape)
{
    return shape->k > 0 && !shape->centered && shape->X && !armilla_sparse_of(shape->X) && shape->X->m > 1 &&
           shape->X->m <= MOST_FEATURES;
}

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

typedef struct evening {
    armilla_column_buffers buffers;
    const double *factors; /* m */
    float *made;           /* m x n */
} evening;

static armilla_status visit(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const evening *s = self;
    const armilla_column_buffer buffer = armilla_column_buffer_of(&s->buffers, thread);
    (void)sums;
    for (int64_t j = 0; j < panel->count; j++) {
        const armilla_column x = armilla_panel_whole_column(panel, j, buffer);
        for (int64_t i = 0; i < x.m; i++) x.values[i] *= s->factors[i];
        armilla_shape_unit(x.m, x.values, s->made + (panel->first + j) * x.m);
    }
    return ARMILLA_OK;
}

static armilla_status fill(armilla_context *context, const armilla_data *X, evening *s)
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

armilla_status armilla_shape_even(const armilla_shape *shape, float **made)
{
    armilla_feature_statistics found = {0};
    double *factors = NULL;
    int64_t numbers = 0;
    if (!armilla_size_area(shape->X->m, shape->n, &numbers)) numbers = -1;
    armilla_status status =
        armilla_feature_statistics_find(shape->context, shape->X, ARMILLA_FEATURE_DEVIATIONS, &found);
    if (status == ARMILLA_OK) status = armilla_take(shape->context, shape->X->m, sizeof *factors, &factors);
    if (status == ARMILLA_OK) status = armilla_take(shape->context, numbers, sizeof **made, made);
    if (status == ARMILLA_OK) {
        evening s = {.factors = factors, .made = *made};
        find_factors(shape->X->m, &found, factors);
        status = fill(shape->context, shape->X, &s);
    }
    armilla_release(shape->context, factors);
    armilla_feature_statistics_release(shape->context, &found);
    return status;
}
