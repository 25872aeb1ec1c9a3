/* The atom that contributes most to a sample: the one with the largest v_k ||u_k||, with its sign; of equals the lowest.
 * A sample of zeros has none; where it needs a label all the same, it has that of its code. */
#ifndef ARMILLA_CLUSTER_CONTRIBUTION_H
#define ARMILLA_CLUSTER_CONTRIBUTION_H

#include "model/model.h"

/* lengths[k] = ||u_k||; 1 where the basis is of unit atoms, which are so to rounding. */
void armilla_atom_lengths(const armilla_model *model, double *lengths);
/* The atom that contributes most to the sample of a code of r numbers. */
int64_t armilla_largest_contribution(int64_t r, const double *code, const double *lengths);
/* atoms[j] = the same of code j of the model, for the samples of the share. */
armilla_status armilla_largest_contributions(armilla_context *context, const armilla_model *model, const void *codes,
                                             const armilla_samples *share, int64_t *atoms);

#endif
