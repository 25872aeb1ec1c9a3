/* What atoms contribute to samples: V_kj ||u_k||. */
#ifndef ARMILLA_CLUSTER_CONTRIBUTION_H
#define ARMILLA_CLUSTER_CONTRIBUTION_H

#include "model/model.h"

/* lengths[k] = ||u_k||; 1 where the basis is of unit atoms, which are so to rounding. */
void armilla_atom_lengths(const armilla_model *model, double *lengths);
/* The atom that contributes most to a code of r numbers; the first of several. */
int64_t armilla_largest_contribution(int64_t r, const double *code, const double *lengths);

#endif
