/* Arrays with a column for each sample: codes, lengths, distances, assignments. With several ranks (armilla/ranks.h)
 * such an array has its whole length on every rank, so that a sample has the same place in all of them, but only the
 * columns of the rank's own samples are there: the others have addresses and no memory, and to read or write them ends
 * the process. What is counted against the limit is what is there.
 *
 * An array that takes a large part of the memory that is left is kept in a temporary file, where the context has a
 * directory for it (armilla_context_set_temporary), and does not count. */
#ifndef ARMILLA_BASE_SAMPLES_H
#define ARMILLA_BASE_SAMPLES_H

#include "base/context.h"

/* Which samples are this process's, last excluded: all of them but where several ranks work together. */
typedef struct armilla_samples {
    int64_t count; /* of all */
    int64_t first, last;
} armilla_samples;

/* All samples are this process's. */
static inline armilla_samples armilla_samples_whole(int64_t count)
{
    return (armilla_samples){count, 0, count};
}

static inline bool armilla_samples_are_whole(const armilla_samples *share)
{
    return share->first == 0 && share->last == share->count;
}

/* *block (a pointer) = rows elements of `size` bytes for each sample, column by column; not zeroed. armilla_release
 * releases it. */
armilla_status armilla_samples_take(armilla_context *context, const armilla_samples *share, int64_t rows, size_t size,
                                    void *block);

/* From an array of which the ranks have some columns each to another of which they have others. */
typedef struct armilla_moving {
    const void *from;
    void *to;
    const armilla_samples *from_share, *to_share;
    size_t column; /* bytes */
} armilla_moving;

/* To `put` on rank 0, from the first sample to the last, in pieces, by all ranks of the call in progress. */
typedef struct armilla_putting {
    const void *block;
    const armilla_samples *share;
    size_t column; /* bytes */
    armilla_put put;
    void *user;
} armilla_putting;
/* Puts bytes into memory; user: where the next go, a pointer that moves on. */
armilla_status armilla_put_behind(void *user, const void *bytes, size_t count);
armilla_status armilla_samples_put(armilla_context *context, armilla_status status, const armilla_putting *stream);

/* By all ranks of the call in progress; status: how what comes before has ended here (base/ranks.h). */
armilla_status armilla_samples_move(armilla_context *context, armilla_status status, const armilla_moving *moving);
/* Columns first ... last-1 of all arrays with so many columns will not be touched for some time: those in files need not
 * be in memory. On any thread. */
void armilla_samples_passed(const armilla_context *context, int64_t count, int64_t first, int64_t last);

/* For armilla_release: the mapping that starts there is none of the context's any more. */
void armilla_samples_forget(armilla_context *context, const void *start);

#endif
