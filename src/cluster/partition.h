/* Labels as the graph of samples sees them: communities, the number of these, and how good labels are. */
#ifndef ARMILLA_CLUSTER_PARTITION_H
#define ARMILLA_CLUSTER_PARTITION_H

#include "cluster/decision.h"
#include "cluster/knn_graph.h"
#include "graph/communities.h"

/* Orders of visiting in which communities are sought. */
enum { ARMILLA_PARTITION_ORDERS = 6 };

typedef struct armilla_partition {
    int64_t *labels;               /* n */
    armilla_labels_evidence found; /* of the communities; count is 0 where there are none */
    double resolution;             /* theirs */
    double stability;              /* the mean agreement of runs in several orders */
} armilla_partition;

/* The run of several that agrees best with the others; found.count is not k where no run has k communities. */
armilla_status armilla_partition_find(const armilla_graph_samples *samples, const armilla_graph *graph,
                                      armilla_partition *partition);
/* Modularity and coverage of the labels 0 ... evidence->count-1. */
armilla_status armilla_partition_measure(armilla_context *context, const armilla_graph *graph, const int64_t *labels,
                                         armilla_labels_evidence *evidence);

/* best = communities of a number that the samples themselves say, found.count 0 where they say none (labels has space for n);
 * *looked_at = all that were, by rising number. */
armilla_status armilla_partition_number(const armilla_graph_samples *samples, const armilla_level *fine,
                                        armilla_partition *best, armilla_cluster_number **looked_at, int64_t *count);

#endif
