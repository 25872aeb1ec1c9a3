/* How near neighbours are, beside samples that are none. */
#include "cluster/shape.h"

#include "data/features.h"
#include "linalg/dense.h"

/* 1 - the mean cosine of all pairs of samples of length 1: 1 - ||mean||^2, by means and variances in any unit, so that
 * samples of other lengths count by these. 0: all samples are the same. */
static armilla_status find_spread(armilla_context *context, const armilla_data *X, double *spread)
{
    armilla_feature_statistics found = {0};
    double square = 0, variance = 0;
    const armilla_status status = armilla_feature_statistics_find(context, X, ARMILLA_FEATURE_DEVIATIONS, &found);
    if (status == ARMILLA_OK) {
        const double unit = armilla_safe_scale(X->m, found.deviations, NULL);
        for (int64_t i = 0; i < X->m; i++) {
            const double mean = unit * found.means[i], deviation = unit * found.deviations[i];
            square += mean * mean;
            variance += deviation * deviation;
        }
    }
    *spread = variance > 0 ? variance / (variance + square) : 0;
    armilla_feature_statistics_release(context, &found);
    return status;
}

armilla_status armilla_shape_reach(const armilla_shape *shape, const armilla_graph *neighbors, double *reach)
{
    const int64_t entries = armilla_graph_entries(neighbors);
    double sum = 0, spread = 0;
    const armilla_status status = find_spread(shape->context, shape->X, &spread);
    for (int64_t e = 0; e < entries; e++) sum += 1 - (double)neighbors->weights[e];
    *reach = spread > 0 && entries > 0 ? sum / (double)entries / spread : 1;
    return status;
}
