/* A graph whose nodes stand for sets of samples: a level of Leiden's algorithm, in double so that sums over many edges
 * stay exact enough to compare. */
#ifndef ARMILLA_GRAPH_LEVEL_H
#define ARMILLA_GRAPH_LEVEL_H

#include "graph/graph.h"

typedef struct armilla_level {
    int64_t nodes;
    int64_t *starts, *targets; /* as of a graph; no entry (i,i) */
    double *weights;
    double *degrees; /* of the samples of a node, together: the edges inside count twice */
    double total;    /* of all degrees: 2w */
} armilla_level;

armilla_status armilla_level_of_graph(armilla_context *context, const armilla_graph *graph, armilla_level *made);
/* *made = the level whose nodes are the parts 0 ... count-1 of this one's nodes. */
armilla_status armilla_level_join(armilla_context *context, const armilla_level *level, const int64_t *parts,
                                  int64_t count, armilla_level *made);
void armilla_level_release(armilla_context *context, armilla_level *level);

/* Renumbers labels, all below `most`, in the order in which they first occur; returns how many differ. seen has space
 * for `most` numbers. */
int64_t armilla_labels_compact(int64_t n, int64_t *labels, int64_t most, int64_t *seen);

#endif
