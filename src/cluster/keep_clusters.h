/* Clusters that a model keeps, and the rules by which new samples get theirs. */
#ifndef ARMILLA_CLUSTER_KEEP_CLUSTERS_H
#define ARMILLA_CLUSTER_KEEP_CLUSTERS_H

#include "cluster/cluster.h"
#include "model/model.h"

/* The rule that assigns a new sample to a cluster. */
typedef enum armilla_rule {
    ARMILLA_RULE_ATOMS,     /* to the atom that contributes most */
    ARMILLA_RULE_ANGLES,    /* to the centre at the smallest angle */
    ARMILLA_RULE_DISTANCES, /* to the nearest centre */
    ARMILLA_RULE_NEIGHBORS, /* where the nearest training samples belong: labels of any other origin */
} armilla_rule;

armilla_rule armilla_cluster_rule_of(const char *method);
/* Refuses clusters that the rule of their method cannot be: atoms name as many as the model has. */
armilla_status armilla_cluster_rule_check(armilla_context *context, const armilla_model *model,
                                          const armilla_kept_clusters *kept);

/* v = code j of `codes`, r x any in the model's precision; returns its length. */
double armilla_code_fetch(const armilla_model *model, const void *codes, int64_t j, double *v);
/* The same at length 1; 0 stays 0. */
void armilla_code_fetch_unit(const armilla_model *model, const void *codes, int64_t j, double *v);

#endif
