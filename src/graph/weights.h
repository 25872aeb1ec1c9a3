/* From nearest neighbours to one weighted, symmetric graph (docs/algorithm.md#weights). */
#ifndef ARMILLA_GRAPH_WEIGHTS_H
#define ARMILLA_GRAPH_WEIGHTS_H

#include "graph/graph.h"

/* *made = the graph of neighbours whose weights are cosines: W_ij = exp(-d_ij^2 / (s_i s_j)) with d^2 = 2 - 2 cos and s_i
 * the distance to the 7th neighbour (the last where there are fewer; the smallest positive one of all where it is 0, and
 * 1 where none is positive), the larger of both directions. A cosine that is not positive is no edge: samples without
 * anything in common, and those of length 0, are not near each other. Rows are sorted by target. */
armilla_status armilla_graph_weigh(armilla_context *context, const armilla_graph *neighbors, armilla_graph *made);

/* *sum = a + b, entry by entry; rows of all three are sorted. */
armilla_status armilla_graph_add(armilla_context *context, const armilla_graph *a, const armilla_graph *b,
                                 armilla_graph *sum);
void armilla_graph_scale(armilla_graph *graph, float factor);

#endif
