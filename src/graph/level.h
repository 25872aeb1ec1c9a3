/* A graph whose nodes stand for sets of samples: a level of Leiden's algorithm, in double so that sums over many edges
 * stay exact enough to compare. Nodes have 32 bits: what is visited in a random order is as small as it can be. */
#ifndef ARMILLA_GRAPH_LEVEL_H
#define ARMILLA_GRAPH_LEVEL_H

#include "graph/graph.h"

/* All zeros may be released. */
typedef struct armilla_level {
    int64_t nodes;
    int64_t *starts;  /* as of a graph */
    int32_t *targets; /* no entry (i,i) */
    double *weights;
    double *degrees;                 /* of the samples of a node, together: the edges inside count twice */
    double total;                    /* of all degrees: 2w */
    int64_t capacity, node_capacity; /* entries and nodes that there is memory for */
} armilla_level;

/* Lists that joining needs, for as many numbers as the level has nodes, and one more in `heads`. */
typedef struct armilla_level_space {
    int32_t *heads, *members, *places;
} armilla_level_space;

armilla_status armilla_level_of_graph(armilla_context *context, const armilla_graph *graph, armilla_level *made);
/* *made = some of the level's nodes, and the edges between them: node i becomes row[i] of `count`, rising with i; -1: it
 * is left out. */
armilla_status armilla_level_of_part(armilla_context *context, const armilla_level *level, const int32_t *row,
                                     int64_t count, armilla_level *made);
/* *made = the level whose nodes are the parts 0 ... count-1 of this one's nodes; the memory that it has is used. */
armilla_status armilla_level_join(armilla_context *context, const armilla_level *level, const int32_t *parts,
                                  int64_t count, const armilla_level_space *space, armilla_level *made);
void armilla_level_release(armilla_context *context, armilla_level *level);

/* Renumbers labels, all below `most`, in the order in which they first occur; returns how many differ. seen has space
 * for `most` numbers. */
int64_t armilla_labels_compact(int64_t n, int32_t *labels, int64_t most, int32_t *seen);

/* components[i] = which part of its class node i is connected with, numbered from 0; returns how many. waiting has space
 * for as many numbers as there are nodes. */
int64_t armilla_level_components(const armilla_level *level, const int32_t *classes, int32_t *components,
                                 int32_t *waiting);

/* What comes next in a random order is fetched before it is needed. Always inline: GCC takes a function that does nothing
 * else for one that does nothing. */
#define ARMILLA_EXPECT static inline __attribute__((always_inline)) void
ARMILLA_EXPECT armilla_level_expect_row(const armilla_level *level, int64_t node)
{
    enum { LINE = 64, MOST_BYTES = 512 }; /* bytes of a line, and so many of a row: the rest comes by itself */
    const int64_t first = level->starts[node], all = (level->starts[node + 1] - first) * (int64_t)sizeof(double);
    const int64_t bytes = all < MOST_BYTES ? all : MOST_BYTES;
    const char *targets = (const char *)(level->targets + first), *weights = (const char *)(level->weights + first);
    for (int64_t b = 0; b < bytes; b += LINE) __builtin_prefetch(weights + b);
    for (int64_t b = 0; b < bytes / 2; b += LINE) __builtin_prefetch(targets + b);
}

#endif
