/* Ranks: processes, on one machine or many, that make one call together. Each holds the samples of some slots, makes
 * their sums, and the sums of all are combined along the one tree over all slots, so that every rank has the bits that
 * one process would have. A program gives the library this table; how messages travel is the program's. */
#ifndef ARMILLA_RANKS_H
#define ARMILLA_RANKS_H

#include <armilla/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library reduces, broadcasts and agrees by messages between two ranks alone, in an order that is the same on all:
 * nobody can add in another order by mistake. Both functions return when the bytes may be used again, or are there; 0,
 * or not 0 where the other rank cannot be reached, which ends the call with ARMILLA_IO_ERROR. Bytes that one rank sends
 * to another arrive in their order, and are received in the pieces in which they were sent. They are called on the thread
 * that made the call. */
typedef struct armilla_ranks {
    size_t size;
    int rank, count; /* 0 <= rank < count */
    void *self;      /* for the functions */
    int (*send)(void *self, int to, const void *bytes, size_t count);
    int (*receive)(void *self, int from, void *bytes, size_t count);
    /* From rank 0 to all, where the program has something faster than messages along a tree; NULL: those. */
    int (*broadcast)(void *self, void *bytes, size_t count);
} armilla_ranks;

ARMILLA_API void armilla_ranks_default_sized(armilla_ranks *ranks, size_t size);
/* One rank, and no functions. */
static inline void armilla_ranks_default(armilla_ranks *ranks)
{
    armilla_ranks_default_sized(ranks, sizeof *ranks);
}

/* Calls with the context are made by all ranks together from now on, in the same order and with the same arguments but
 * for the numbers of the samples that belong to other ranks. NULL, as at first: by this process alone. The table is
 * copied. Every rank gets the same status and, where it is not ARMILLA_OK, the same message: that of the lowest slot
 * that failed, or of the lowest rank; and where one is stopped, all are.
 *
 * So far these calls are made by ranks: armilla_data_survey. Other calls that go through all samples (armilla_fit,
 * armilla_transform, armilla_cluster_data ...) return ARMILLA_NOT_BUILT where there is more than one rank. Calls that
 * read or write files, or that compute from a model or single samples alone, are made by every rank on its own.
 *
 * After ARMILLA_IO_ERROR because a rank could not be reached, other ranks may still wait for a message: a program then
 * ends all of them. */
ARMILLA_API armilla_status armilla_context_set_ranks(armilla_context *context, const armilla_ranks *ranks);

#ifdef __cplusplus
}
#endif

#endif
