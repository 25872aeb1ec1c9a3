/* Samples moved towards their neighbours: Z <- ((I + S)/2)^steps Z, S = D^(-1/2) W D^(-1/2)
 * (docs/algorithm.md#smoothing). */
#ifndef ARMILLA_GRAPH_SMOOTH_H
#define ARMILLA_GRAPH_SMOOTH_H

#include "graph/graph.h"

/* Z has a column of r numbers for each sample, in place; a column without an edge halves at each step. */
armilla_status armilla_graph_smooth(armilla_context *context, const armilla_graph *graph, int64_t r, int steps,
                                    float *Z);

#endif
