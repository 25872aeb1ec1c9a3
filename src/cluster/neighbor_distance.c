/* How near neighbours are, beside samples that are none. */
#include "cluster/knn_graph.h"

#include "linalg/dense.h"

/* 1 - the mean cosine of all pairs of samples of length 1: 1 - ||mean||^2, by means and variances in any unit, so that
 * samples of other lengths count by these. 0: all samples are the same. */
static double spread_of(int64_t m, const armilla_feature_statistics *features)
{
    const double unit = armilla_safe_scale(m, features->deviations, NULL);
    double square = 0, variance = 0;
    for (int64_t i = 0; i < m; i++) {
        const double mean = unit * features->means[i], deviation = unit * features->deviations[i];
        square += mean * mean;
        variance += deviation * deviation;
    }
    return variance > 0 ? variance / (variance + square) : 0;
}

double armilla_neighbor_distance(int64_t m, const armilla_feature_statistics *features, const armilla_graph *neighbors)
{
    const int64_t entries = armilla_graph_entries(neighbors);
    const double spread = spread_of(m, features);
    double sum = 0;
    for (int64_t e = 0; e < entries; e++) sum += 1 - (double)neighbors->weights[e];
    return spread > 0 && entries > 0 ? sum / (double)entries / spread : 1;
}
