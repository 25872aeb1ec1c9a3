/* Communities of a weighted graph by modularity with a resolution (docs/algorithm.md, section 10): Leiden's algorithm (Traag,
 * Waltman, van Eck, 2019) with the largest gain in place of a random draw, so that a result is a function of the graph
 * and the seed. */
#ifndef ARMILLA_GRAPH_COMMUNITIES_H
#define ARMILLA_GRAPH_COMMUNITIES_H

#include "graph/level.h"

typedef struct armilla_communities_options {
    double resolution; /* gamma > 0: more communities where it is larger */
    uint64_t seed;     /* of the order in which nodes are visited */
} armilla_communities_options;

/* labels[i] = the community of sample i, numbered in the order of their first samples; *count = how many. Every community
 * is connected. A sample without an edge is a community by itself. */
armilla_status armilla_communities(armilla_context *context, const armilla_graph *graph,
                                   const armilla_communities_options *options, int64_t *labels, int64_t *count);

/* k communities: the resolution is searched, and of the run with the fewest communities beyond k those are joined that
 * modularity loses least by. *count is k, unless there are more components than that, or the search meets nothing
 * beyond k: then it is what there is, and the caller has to do something else. options->resolution
 * becomes that of the run they come from. */
armilla_status armilla_communities_search(armilla_context *context, const armilla_graph *graph, int64_t k,
                                          armilla_communities_options *options, int64_t *labels, int64_t *count);

/* Joins the communities 0 ... *count-1 until k are left, or no edge is left between two of them: always the two whose union
 * has the largest modularity, ties by index. */
armilla_status armilla_communities_join(armilla_context *context, const armilla_graph *graph, double resolution,
                                        int64_t k, int64_t *labels, int64_t *count);

/* Q = (1/2w) sum over pairs of one community of W_ij - resolution d_i d_j / 2w; 0 without an edge. sums has space for as
 * many numbers as there are communities. */
double armilla_modularity(const armilla_graph *graph, const int64_t *labels, int64_t count, double resolution,
                          double *sums);

/* A level's nodes in communities: what moving and refining share. */
typedef struct armilla_moving_nodes {
    armilla_context *context;
    const armilla_level *level;
    double resolution;
    uint64_t seed;
    int64_t *labels;  /* of the nodes; below the number of nodes */
    int64_t *refined; /* and of the parts that a community is made of */
    double *degrees;  /* of the communities, together */
    double *links;    /* to each community, of the node in hand; all 0 in between */
    int64_t *touched; /* the communities of which it has links */
    int64_t *order;   /* in which nodes are visited */
    int64_t *queue;
    bool *queued;
} armilla_moving_nodes;

/* Moves nodes to where modularity gains most until none gains; whether one was moved. ARMILLA_STOPPED where the call is
 * to end. */
armilla_status armilla_nodes_move(const armilla_moving_nodes *nodes, bool *moved);
/* refined = connected parts of the communities. */
armilla_status armilla_nodes_refine(const armilla_moving_nodes *nodes);

#endif
