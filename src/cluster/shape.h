/* Clusters that follow the shape of the data: communities of the graph of nearest neighbours, or k-means on codes that
 * are smoothed along it (docs/clustering.md). */
#ifndef ARMILLA_CLUSTER_SHAPE_H
#define ARMILLA_CLUSTER_SHAPE_H

#include "cluster/cluster.h"
#include "graph/communities.h"

/* Samples as they are to be clustered. */
typedef struct armilla_shape {
    armilla_context *context;
    const armilla_data *X;     /* prepared; NULL: codes alone */
    const armilla_data *codes; /* r numbers each, in memory; NULL: data alone */
    bool centered;             /* the preparation has taken the mean away */
    int64_t n;
    int64_t k; /* clusters; 0: as many as there are */
    uint64_t seed;
} armilla_shape;

/* The mean of the graphs of neighbours in the data, in the first 2k numbers of the codes and in the codes; of tables the
 * mean of this and the graph of evened features. *reach, where not NULL, is that of the data; 1 where there are codes
 * alone. */
armilla_status armilla_shape_graph(const armilla_shape *shape, armilla_graph *made, double *reach);
/* *reach = the mean squared distance of the data's neighbours, whose cosines the graph has, over that of all pairs: near 0
 * on surfaces of few dimensions, near 1 where neighbours are hardly nearer than others; 1 where all are the same. */
armilla_status armilla_shape_reach(const armilla_shape *shape, const armilla_graph *neighbors, double *reach);
/* Whether the data are a table of few features, which armilla_shape_even sees in another way. Not where they are centred,
 * which gains nothing from it, nor where the number is to be found: evened groups split more easily, and the number is
 * right less often. */
bool armilla_shape_is_table(const armilla_shape *shape);
/* *made (m x n) = the data with each feature divided by its standard deviation, of length 1. */
armilla_status armilla_shape_even(const armilla_shape *shape, float **made);
/* to = the numbers in single precision, scaled to length 1 from whatever unit; 0 stays 0. */
void armilla_shape_unit(int64_t count, const double *from, float *to);
/* Whether the samples are enough for neighbours to say something: 2 <= k < n, and a few each; and not too many to be
 * nodes. */
bool armilla_shape_has_graph(const armilla_shape *shape);

/* Bytes that graph and communities take together, at most. */
double armilla_shape_bytes(const armilla_shape *shape);

/* A partition, and what says how good it is. */
typedef struct armilla_parting {
    int64_t *labels;   /* n */
    int64_t count;     /* of communities; 0: none were found */
    double resolution; /* of these */
    double stability;  /* the mean agreement of runs in several orders */
    double modularity; /* at resolution 1 */
    double coverage;   /* the part of the edges' weight that is inside clusters */
} armilla_parting;

/* Of several runs the one that agrees best with the others; count is not k where there is none of k communities. */
armilla_status armilla_shape_communities(const armilla_shape *shape, const armilla_graph *graph,
                                         armilla_parting *parting);
/* Modularity and coverage of the labels 0 ... count-1. */
armilla_status armilla_shape_measure(const armilla_shape *shape, const armilla_graph *graph, armilla_parting *parting);

/* best = communities of a number that the samples themselves say, count 0 where they say none (labels has space for n);
 * *looked_at = all that were, by rising number. */
armilla_status armilla_shape_number(const armilla_shape *shape, const armilla_graph *graph, armilla_parting *best,
                                    armilla_cluster_number **looked_at, int64_t *count);

/* Z (r x n) = the codes smoothed along the graph, of length 1. */
armilla_status armilla_shape_smooth(const armilla_shape *shape, const armilla_graph *graph, float **Z);

#endif
