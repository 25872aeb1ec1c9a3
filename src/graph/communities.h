/* Communities of a weighted graph by modularity with a resolution: Leiden's algorithm (Traag, Waltman, van Eck, 2019;
 * docs/algorithm.md#leidens-algorithm). The largest gain is taken where the authors draw at random, so that a result is
 * a function of the graph and the seed. From top to bottom, with the file and the function of each step:
 *
 *     communities of a graph                                  tasks.c       armilla_communities_share
 *     k of them: search the resolution gamma                  resolution.c  armilla_nodes_search
 *       a run at one gamma: two rounds, or one from the       communities.c armilla_nodes_run
 *       |  communities at a higher gamma
 *       |  level 0 = the graph, a node for each sample        level.c       armilla_level_of_graph
 *       |  labels = those of the round before                 communities.c run_round
 *       |  repeat
 *       |    move    nodes from a queue in a seeded order;    moving.c      armilla_nodes_move
 *       |            node i to the community C with the
 *       |            largest k_iC - gamma d_i D_C / 2w > 0
 *       |    refine  each community anew from single nodes,   refining.c    armilla_nodes_refine
 *       |            by merges of nodes and parts that are
 *       |            well connected: k_vS >= gamma d_v (D_S - d_v) / 2w
 *       |    join    parts become the nodes of the next       level.c       armilla_level_join
 *       |            level, labelled as in `move`
 *       |  until no two nodes were joined
 *       |  after the last round, divide communities into      level.c       armilla_level_components
 *       |    their connected components
 *       run again at another gamma until k is bracketed       resolution.c  next_resolution
 *     join the pair with the largest e_ab - gamma D_a D_b/2w  resolution.c  join_communities
 *     until k communities are left
 *
 * d_i is the degree of node i, D_C the sum of degrees of community C, k_iC the weight of the edges from i to C, 2w the
 * sum of all degrees. The graph comes from weights.c. Several searches run side by side on the threads of the call
 * (tasks.c), each with a workspace of its own (armilla_moving_nodes). */
#ifndef ARMILLA_GRAPH_COMMUNITIES_H
#define ARMILLA_GRAPH_COMMUNITIES_H

#include "graph/level.h"

#include <stdatomic.h>

typedef struct armilla_communities_options {
    double resolution; /* gamma > 0: more communities where it is larger */
    uint64_t seed;     /* of the order in which nodes are visited */
} armilla_communities_options;

/* One search of several at the same time. labels[i] becomes the community of sample i, numbered in the order of their first
 * samples, and count how many there are. At a given resolution every community is connected, and a sample without an edge
 * is one by itself. With k the resolution is searched, and of the run with the fewest communities beyond k those are joined
 * that modularity loses least by: count is k, unless there are more components than that, or the search meets nothing
 * beyond k; then it is what there is, and the caller has to do something else. */
typedef struct armilla_communities_task {
    const armilla_graph *graph; /* NULL where it is a level: */
    const armilla_level *fine;  /* the same as a level, which tasks may share; NULL: it is made for the task */
    int64_t k;                  /* 0: at the resolution of the options */
    const int64_t *from; /* without k: communities to begin from, as at a higher resolution, in one round; may be the
                          * labels; NULL: single samples */
    armilla_communities_options options; /* with k its resolution becomes that of the run they come from */
    int64_t *labels;
    int64_t count;
    armilla_status status;
} armilla_communities_task;

/* Tasks on the threads of the call, some at a time, as memory has space; what they find does not depend on that. The
 * first *done of them are done: all, or where they are a chain, in which a search begins at the resolution at which the
 * one before has ended, those that did begin there. */
armilla_status armilla_communities_share(armilla_context *context, armilla_communities_task *tasks, int count,
                                         bool chain, int *done);

/* Q = (1/2w) sum over pairs of one community of W_ij - resolution d_i d_j / 2w, and *coverage = the part of the edges'
 * weight that is inside communities; 0 without an edge. sums has space for as many numbers as there are communities. */
double armilla_modularity(const armilla_graph *graph, const int64_t *labels, int64_t count, double resolution,
                          double *sums, double *coverage);
/* The same of a level's nodes. */
double armilla_level_modularity(const armilla_level *level, const int64_t *labels, int64_t count, double resolution,
                                double *sums, double *coverage);

/* A task among others that run at the same time. */
typedef struct armilla_communities_control {
    int thread;                 /* of the team; 0 is the one that asks whether the call is to end */
    int number;                 /* of the task */
    bool chain;                 /* as above */
    atomic_int *cancelled_from; /* tasks from this number on are not wanted */
    atomic_int *rounds;         /* of all tasks that are done, */
    atomic_int *expected;       /* of so many: one run each, and those by which a search goes on */
} armilla_communities_control;

/* Tasks after this one are not wanted. */
void armilla_communities_cancel_later(const armilla_communities_control *control);

/* What is known of a community while nodes move, side by side in memory because it is asked for together. */
typedef struct armilla_community {
    double degree; /* of its nodes, together */
    double links;  /* of the node in hand to it; 0 in between */
} armilla_community;

/* And of a part that a community is made of. */
typedef struct armilla_community_part {
    double weight;  /* the degrees of its nodes together */
    double outside; /* its edges to the rest of its community */
    double links;   /* of the node in hand to it; 0 in between */
    int32_t community;
    bool joined; /* more than one node is in it */
} armilla_community_part;

/* A level's nodes in communities: what moving and refining share. Zeros but for the context may be released; memory is for
 * the largest level, which is the first, and for many runs one after the other. */
typedef struct armilla_moving_nodes {
    armilla_context *context;
    const armilla_communities_control *control;
    const armilla_level *level;
    double resolution;
    uint64_t seed;
    int32_t *numbers; /* the memory of the following: */
    int32_t *labels;  /* of the nodes; below the number of nodes */
    int32_t *refined; /* the parts that they are in */
    int32_t *touched; /* communities, or parts, that the node in hand has links to */
    int32_t *order;   /* in which nodes are visited */
    int32_t *queue;
    int32_t *members; /* of each community */
    int32_t *empty;   /* communities without members, for nodes that are best alone; one more than there are nodes */
    int32_t *place;   /* of each sample: its node */
    int32_t *found;   /* and its community, after a round */
    bool *queued;
    armilla_community *communities;
    armilla_community_part *parts;
    armilla_level levels[2]; /* beyond the first, in turn */
} armilla_moving_nodes;

/* Memory for levels of at most so many nodes. */
armilla_status armilla_nodes_take(armilla_context *context, int64_t n, armilla_moving_nodes *nodes);
void armilla_nodes_release(armilla_moving_nodes *nodes);
/* About how many bytes of memory a run takes on a level of so many nodes and edges. */
double armilla_nodes_bytes(int64_t nodes, int64_t entries);

/* nodes->found = the communities of the level's nodes, of a task without k. ARMILLA_STOPPED, without a
 * message, where the run is to end. */
armilla_status armilla_nodes_run(armilla_moving_nodes *nodes, const armilla_level *fine,
                                 const armilla_communities_options *options, const int64_t *from, int64_t *count);
/* The same with k. */
armilla_status armilla_nodes_search(armilla_moving_nodes *nodes, const armilla_level *fine, int64_t k,
                                    armilla_communities_options *options, int64_t *labels, int64_t *count);

/* Moves nodes to where modularity gains most until none gains. ARMILLA_STOPPED where the run is to end. */
armilla_status armilla_nodes_move(const armilla_moving_nodes *nodes);
/* refined = connected parts of the communities. */
armilla_status armilla_nodes_refine(const armilla_moving_nodes *nodes);
/* The workspace of joining: lists that moving and refining use too. */
armilla_level_space armilla_nodes_space(const armilla_moving_nodes *nodes);
/* Rounds of a run from single samples, each from the communities of the one before: the second corrects early decisions of
 * the first. */
enum { ARMILLA_NODES_ROUNDS = 2 };
/* Rounds of a run from these communities, or from single samples where it is NULL. */
static inline int armilla_nodes_rounds(const int64_t *from)
{
    return from ? 1 : ARMILLA_NODES_ROUNDS;
}
/* Whether the run is to end: asked every so many nodes. */
bool armilla_nodes_over(const armilla_moving_nodes *nodes);

#endif
