/* Two models side by side. */
#ifndef ARMILLA_CLUSTER_COMPARE_H
#define ARMILLA_CLUSTER_COMPARE_H

#include "cluster/cluster.h"
#include "model/model.h"

#include <armilla/compare.h>

struct armilla_comparison {
    armilla_context *context;
    armilla_comparison_summary summary;
    armilla_atom_match *matches;
    double *angles;    /* ranks[0] x ranks[1] */
    double *principal; /* the smaller rank */
    armilla_scores scores, kept;
};

/* The atoms of two models with the same features in the same places: in double, of length 1 or 0. */
typedef struct armilla_compared_atoms {
    int64_t m, ranks[2];
    double *unit[2];    /* m x ranks[i] */
    double *lengths[2]; /* ranks[i] */
} armilla_compared_atoms;

/* Fills atoms, which all zeros may be freed. ARMILLA_BAD_DATA where the models do not have the same features; *reordered
 * says whether those of the second had to be put in order. */
armilla_status armilla_compared_take(armilla_context *context, const armilla_model *const models[2],
                                     armilla_compared_atoms *atoms, bool *reordered);
void armilla_compared_free(armilla_context *context, armilla_compared_atoms *atoms);

/* Fills angles and matches, and of the summary what they say; summary.lines is set. */
armilla_status armilla_compared_match(armilla_context *context, const armilla_compared_atoms *atoms,
                                      armilla_comparison *made);

#endif
