/* Sums over slots in parallel, with the same bits for any number of threads.
 *
 * A slot's contribution is one flat vector. Slots are claimed in order by whichever thread is free, and their vectors
 * are added along one fixed binary tree over the slot numbers: whoever finishes the second child of a node adds right
 * to left there. So the tree, and with it every rounding, depends on the number of slots alone; and few vectors are
 * alive at a time, because finished subtrees have collapsed into one. */
#ifndef ARMILLA_BASE_REDUCE_H
#define ARMILLA_BASE_REDUCE_H

#include "base/context.h"
#include "base/team.h"

/* Adds what the slot contributes to sums, which is zeroed. Runs on several threads at once; thread < the reducer's. */
typedef armilla_status (*armilla_reduce_body)(void *self, int64_t slot, int thread, double *sums);

typedef struct armilla_reducer armilla_reducer;

/* All memory is taken here. length: the longest vector. */
armilla_status armilla_reducer_new(armilla_context *context, int64_t slots, int64_t length, int threads,
                                   armilla_reducer **reducer);
void armilla_reducer_free(armilla_reducer *reducer);

/* Its threads, which are idle between reductions. */
armilla_team *armilla_reducer_team(const armilla_reducer *reducer);

/* sums[0 ... length-1] = the tree sum of all slots; untouched on failure, which is that of the lowest failing slot. */
armilla_status armilla_reduce(armilla_reducer *reducer, int64_t length, armilla_reduce_body body, void *self,
                              double *sums);

#endif
