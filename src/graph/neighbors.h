/* The nearest samples by angle (docs/algorithm.md#neighbours): for each sample the `count` others of the largest
 * cosine. */
#ifndef ARMILLA_GRAPH_NEIGHBORS_H
#define ARMILLA_GRAPH_NEIGHBORS_H

#include "data/data.h"
#include "graph/graph.h"

typedef struct armilla_neighbors_plan {
    int64_t count;         /* neighbours of each sample: 1 ... n-1, or n where there are queries */
    bool unit;             /* samples, and queries, have length 1 or 0 already; else they are scaled to it here */
    const char *precision; /* of products: "f32", "f64", or NULL: that of the data */
    double recall;         /* the part of the nearest that is to be found; 0 or 1: all */
    uint64_t seed;         /* of what is drawn where recall is below 1 */
} armilla_neighbors_plan;

/* What was found: how much of the nearest, measured where not all are, and by how many products. */
typedef struct armilla_neighbors_found {
    double recall;   /* 1: all */
    int64_t checked; /* samples that the recall was measured on; 0: none */
    int64_t cells;   /* that samples were divided into, and */
    int64_t probed;  /* how many of them each query was compared with; 0: all samples */
} armilla_neighbors_found;

/* ARMILLA_BAD_DATA where there are not so many neighbours, or the features differ. */
armilla_status armilla_neighbors_check(armilla_context *context, const armilla_data *queries, const armilla_data *data,
                                       int64_t count);

/* *made: row i has the neighbours of sample i, or where queries is not NULL those of query i among the data, by falling
 * cosine, of equal ones the lower index first; weights are the cosines. A sample is no neighbour of itself. One of length
 * 0 has the cosine 0 with all. It depends on the data alone: not on threads, nor on how much is in memory. Within a call
 * (base/call.h); found may be NULL. Data are finite; ranks do not share them. */
armilla_status armilla_neighbors_find(armilla_context *context, const armilla_data *queries, const armilla_data *data,
                                      const armilla_neighbors_plan *plan, armilla_graph *made,
                                      armilla_neighbors_found *found);

#endif
