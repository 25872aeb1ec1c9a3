/* Nearest neighbours as a program sees them (armilla/neighbors.h): the object, and how it is made of prepared samples. */
#ifndef ARMILLA_GRAPH_NEIGHBORS_API_H
#define ARMILLA_GRAPH_NEIGHBORS_API_H

#include "graph/neighbors.h"

#include <armilla/neighbors.h>

struct armilla_neighbors {
    armilla_context *context;
    armilla_neighbors_summary summary;
    armilla_graph graph;
    bool among; /* of the samples themselves */
};

/* *whole = the program's options, the defaults where it was compiled for a library with fewer; words are checked. */
armilla_status armilla_neighbors_options_read(armilla_context *context, const armilla_neighbors_options *options,
                                              armilla_neighbors_options *whole);
/* Neighbours of samples of length 1 or 0, within a call; queries may be NULL: neighbours among the samples
 * themselves. */
armilla_status armilla_neighbors_new(armilla_context *context, const armilla_data *queries, const armilla_data *X,
                                     const armilla_neighbors_options *options, const char *precision,
                                     armilla_neighbors **neighbors);

#endif
