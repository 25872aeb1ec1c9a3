/* What ranks (armilla/ranks.h) do together beside their sums: find out which slots are whose, agree on how a step ended,
 * and hand something to all. With one rank nothing is sent. */
#ifndef ARMILLA_BASE_RANKS_H
#define ARMILLA_BASE_RANKS_H

#include "base/context.h"
#include "base/tree.h"

#include <armilla/ranks.h>

/* The ranks of the call in progress: 1 and 0 where this process makes it by itself. */
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

/* Every exchange below begins with this agreement, so that a rank that has failed by itself, and leaves the call, finds
 * the others at the same message: the status of what a rank has done before is handed over, and that of all returned. */

/* At the end of the call, or of a part of it that has agreements within: unless a failure has been agreed on, for then there
 * is nothing left to say. */
armilla_status armilla_ranks_end(armilla_context *context, armilla_status status);

/* Checks that all ranks have computed the same numbers, each by itself: ARMILLA_BAD_ARGUMENT where `token`, a hash of
 * them, is not the same on all. *seconds, where given, becomes that of rank 0. */
armilla_status armilla_ranks_meet(armilla_context *context, armilla_status status, uint64_t token, double *seconds);

/* *own, of `count` bytes, becomes on every rank what join makes of those of all ranks, along a tree: for what does not
 * depend on the order, such as sums of whole numbers. More than ARMILLA_COMBINED bytes need memory for as many. */
enum { ARMILLA_COMBINED = 64 };
typedef void (*armilla_ranks_join)(void *left, const void *right);
armilla_status armilla_ranks_combine(armilla_context *context, armilla_status status, void *own, size_t count,
                                     armilla_ranks_join join);
/* The same of one number. */
armilla_status armilla_ranks_most(armilla_context *context, armilla_status status, double *own);
armilla_status armilla_ranks_sum(armilla_context *context, armilla_status status, int64_t *own);

/* Bytes first ... last-1 are this rank's, and begin where those of the rank before end. The call gives every rank the bytes
 * of all, or rank 0 alone where `all` is false. */
typedef struct armilla_byte_range {
    void *bytes;
    int64_t first, last, count; /* count: of all ranks together */
    bool all;
} armilla_byte_range;
armilla_status armilla_ranks_gather(armilla_context *context, armilla_status status, const armilla_byte_range *range);

/* Between two ranks, and from rank 0 to all. */
armilla_status armilla_ranks_send(armilla_context *context, int to, const void *bytes, size_t count);
armilla_status armilla_ranks_receive(armilla_context *context, int from, void *bytes, size_t count);
armilla_status armilla_ranks_broadcast(armilla_context *context, void *bytes, size_t count);

#endif
