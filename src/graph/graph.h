/* A sparse matrix of samples against samples, by rows: the neighbours of each sample, or the edges of a weighted graph. */
#ifndef ARMILLA_GRAPH_GRAPH_H
#define ARMILLA_GRAPH_GRAPH_H

#include "base/context.h"

/* Row i has the entries starts[i] ... starts[i+1]-1. A graph in the sense of communities is square and symmetric, its
 * weights are positive, and it has no entry (i,i). */
typedef struct armilla_graph {
    int64_t rows, columns;
    int64_t *starts;  /* rows + 1 */
    int64_t *targets; /* columns */
    float *weights;
} armilla_graph;

/* Memory for a graph of that many entries; *made is zeroed where that fails. */
armilla_status armilla_graph_take(armilla_context *context, int64_t rows, int64_t columns, int64_t entries,
                                  armilla_graph *made);
void armilla_graph_release(armilla_context *context, armilla_graph *graph);

static inline int64_t armilla_graph_entries(const armilla_graph *graph)
{
    return graph->starts[graph->rows];
}

#endif
