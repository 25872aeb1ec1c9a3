/* The graph of nearest neighbours that clusters follow, and codes smoothed along it (docs/clustering.md). */
#ifndef ARMILLA_CLUSTER_KNN_GRAPH_H
#define ARMILLA_CLUSTER_KNN_GRAPH_H

#include "cluster/cluster.h"
#include "data/features.h"
#include "graph/graph.h"

/* Samples as they are to be clustered. */
typedef struct armilla_graph_samples {
    armilla_context *context;
    const armilla_data *X;     /* prepared; NULL: codes alone */
    const armilla_data *codes; /* r numbers each, in memory; NULL: data alone */
    bool centered;             /* the preparation has taken the mean away */
    int64_t n;
    int64_t k; /* clusters; 0: as many as there are */
    uint64_t seed;
} armilla_graph_samples;

/* The mean of the graphs of neighbours in the data, in the first 2k numbers of the codes and in the codes; of tables the
 * mean of this and the graph of standardized features. *neighbor_distance, where not NULL, is that of the data; 1 where
 * there are codes alone. */
armilla_status armilla_knn_graph_make(const armilla_graph_samples *samples, armilla_graph *made,
                                      double *neighbor_distance);
/* Bytes that graph and communities take together, at most. */
double armilla_knn_graph_bytes(const armilla_graph_samples *samples);

/* The mean squared distance of the data's neighbours, whose cosines the graph has, over that of all pairs: near 0 on
 * surfaces of few dimensions, near 1 where neighbours are hardly nearer than others; 1 where all are the same. features:
 * means and deviations of the m features. */
double armilla_neighbor_distance(int64_t m, const armilla_feature_statistics *features, const armilla_graph *neighbors);
/* Whether the data are a table of few features, which a standardized copy shows in another way. Not where they are centred,
 * which gains nothing from it, nor where the number is to be found: standardized groups split more easily, and the number
 * is right less often. */
bool armilla_graph_samples_are_table(const armilla_graph_samples *samples);
/* *made (m x n) = the data with each feature divided by its standard deviation, of length 1. */
armilla_status armilla_graph_samples_standardize(const armilla_graph_samples *samples,
                                                 const armilla_feature_statistics *features, float **made);
/* to = the numbers in single precision, scaled to length 1 from whatever unit; 0 stays 0. */
void armilla_unit_copy(int64_t count, const double *from, float *to);

/* Z (r x n) = the codes smoothed along the graph, of length 1. */
armilla_status armilla_codes_smooth(const armilla_graph_samples *samples, const armilla_graph *graph, float **Z);

#endif
