/* A map of the samples of a graph (docs/algorithm.md#maps): from its leading eigenvectors, by attraction along edges
 * and repulsion between all, in the plane or on a sphere. */
#ifndef ARMILLA_GRAPH_LAYOUT_H
#define ARMILLA_GRAPH_LAYOUT_H

#include "graph/graph.h"

typedef struct armilla_layout_plan {
    bool globe; /* on the sphere of radius 1; otherwise in the plane, the third coordinate is 0 */
    uint64_t seed;
} armilla_layout_plan;

/* places[i] = where sample i is, a function of graph and plan. In the plane they are in the
 * middle of the square from -1 to 1, and reach two of its sides; a single one is at 0. Within a call (base/call.h); ARMILLA_STOPPED where it is to end. */
armilla_status armilla_graph_layout(armilla_context *context, const armilla_graph *graph,
                                    const armilla_layout_plan *plan, double (*places)[3]);

/* places[i] = entry i of each of the three leading eigenvectors of D^(-1) W but the constant one, nearly, in the order in
 * which they lead; of length 1 over all samples, or 0 where there is none. */
armilla_status armilla_graph_spectral(armilla_context *context, const armilla_graph *graph, uint64_t seed,
                                      double (*places)[3]);

#endif
