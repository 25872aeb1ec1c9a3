/* Ranks: processes, on one machine or many, that make one call together. Each holds the samples of some slots, makes
 * their sums, and the sums of all are combined along the one tree over all slots, so that every rank has the bits that
 * one process would have. A program gives the library this table; how messages travel is the program's. */
#ifndef ARMILLA_RANKS_H
#define ARMILLA_RANKS_H

#include <armilla/base.h>
#include <armilla/cluster.h>
#include <armilla/data.h>
#include <armilla/model.h>

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
    int64_t local; /* ranks on this machine, which divide its cores where no number of threads is given; 0: one */
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
 * By ranks are made: armilla_fit, armilla_model_transform, armilla_model_check, armilla_cluster_data,
 * armilla_cluster_model, armilla_cluster_choose, armilla_cluster_recipe, armilla_data_survey, armilla_model_save of a
 * model that they have fitted, and the functions below. Every rank has the whole basis, radius, trace and summary of a model, and of codes,
 * of labels, and of what armilla_model_transform fills, those of its own samples: the others have no memory, and to read
 * them ends the process. All other calls are made by every rank on its own; of these, those that write files write them
 * on rank 0 alone.
 *
 * Ranks must be machines of one kind: each computes the basis by itself, and where they come to different numbers all of
 * them fail.
 *
 * After ARMILLA_IO_ERROR because a rank could not be reached, other ranks may still wait for a message: a program then
 * ends all of them. */
ARMILLA_API armilla_status armilla_context_set_ranks(armilla_context *context, const armilla_ranks *ranks);

/* What a rank has done by itself, such as opening its file, becomes everybody's: the status of the lowest rank that
 * failed, with its message, which is `message`, or where that is NULL the context's. *code, where given, becomes that of
 * the lowest rank that has one other than 0. A failure that all ranks know of already, because a call of all
 * returned it, is returned as it is. */
ARMILLA_API armilla_status armilla_context_agree(armilla_context *context, armilla_status status, const char *message,
                                                 int *code);

/* The samples of the data that are this rank's: *first ... *last - 1, all where there are no other ranks. Only their
 * numbers are read by calls of all ranks. */
ARMILLA_API void armilla_data_own(const armilla_context *context, const armilla_data *data, int64_t *first,
                                  int64_t *last);

/* *block (a pointer) = so many bytes for each sample of the data, one sample after the other, of which there is memory
 * for this rank's: what armilla_model_transform fills. armilla_release frees it. */
ARMILLA_API armilla_status armilla_columns_take(armilla_context *context, const armilla_data *data, size_t bytes,
                                                void *block);
/* Takes some bytes; anything but ARMILLA_OK ends the call with that status. */
typedef armilla_status (*armilla_put)(void *user, const void *bytes, size_t count);
/* Hands such a block to `put` on rank 0, in pieces, from the first sample of all ranks to the last; where put fails, all
 * ranks do. */
ARMILLA_API armilla_status armilla_columns_put(armilla_context *context, const armilla_data *data, size_t bytes,
                                               const void *block, armilla_put put, void *user);

/* All codes of a model, and all labels of a clustering, on rank 0. What other ranks have stays as it is. */
ARMILLA_API armilla_status armilla_model_gather(armilla_context *context, armilla_model *model);
ARMILLA_API armilla_status armilla_clustering_gather(armilla_context *context, armilla_clustering *clustering);

#ifdef __cplusplus
}
#endif

#endif
