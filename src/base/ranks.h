/* What ranks (armilla/ranks.h) do together beside their sums: find out which slots are whose, agree on how a step ended,
 * and hand something to all. With one rank nothing is sent. */
#ifndef ARMILLA_BASE_RANKS_H
#define ARMILLA_BASE_RANKS_H

#include "base/context.h"
#include "base/tree.h"

#include <armilla/ranks.h>

int armilla_ranks_size(const armilla_context *context);
int armilla_ranks_rank(const armilla_context *context);

/* Whole subtrees of the tree over slots, at one level that has several for each rank, so that all have nearly the same:
 * the ranks have runs of them, in order. */
typedef struct armilla_share_of_tree {
    int level;
    int64_t first, last;           /* nodes of that level, last excluded */
    int64_t first_slot, last_slot; /* the same as slots */
} armilla_share_of_tree;

armilla_share_of_tree armilla_ranks_share(const armilla_tree *tree, int rank, int size);
/* The rank that has node `node` of that level. */
int armilla_ranks_owner(const armilla_tree *tree, int level, int64_t node, int size);

/* At the same point of all ranks: the status that they go on with, which is that of the lowest failing slot, among equals
 * and where no slot is at fault (ARMILLA_NO_SLOT) that of the lowest rank; with its message in the context of all. A call
 * that is to end on one is to end on all. */
#define ARMILLA_NO_SLOT (INT64_MAX - 1)
armilla_status armilla_ranks_agree(armilla_context *context, int64_t slot, armilla_status status);

/* Between two ranks, and from rank 0 to all. */
armilla_status armilla_ranks_send(armilla_context *context, int to, const void *bytes, size_t count);
armilla_status armilla_ranks_receive(armilla_context *context, int from, void *bytes, size_t count);
armilla_status armilla_ranks_broadcast(armilla_context *context, void *bytes, size_t count);

#endif
