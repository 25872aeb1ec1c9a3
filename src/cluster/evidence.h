/* What the choices of armilla cluster go by (cluster/decision.h), gathered once from data and from the graph of samples. */
#ifndef ARMILLA_CLUSTER_EVIDENCE_H
#define ARMILLA_CLUSTER_EVIDENCE_H

#include "cluster/partition.h"

/* Evidence of data as they are given, within a call: a pass over the entries, and the statistics of features that the
 * choice of a preparation needs. */
armilla_status armilla_data_evidence_gather(armilla_context *context, const armilla_data *X,
                                            const armilla_thresholds *thresholds, armilla_data_evidence *evidence);

/* What graph evidence is drawn from, kept for the labels. All zeros may be released. */
typedef struct armilla_graph_findings {
    armilla_graph graph;
    armilla_partition communities;
} armilla_graph_findings;

/* Evidence of samples that are to be samples->k clusters: the graph, and unless codes are to be smoothed
 * (evidence->smooths) its communities. */
armilla_status armilla_graph_evidence_gather(const armilla_graph_samples *samples, armilla_graph_findings *found,
                                             armilla_graph_evidence *evidence);
void armilla_graph_findings_release(armilla_context *context, armilla_graph_findings *found);

#endif
