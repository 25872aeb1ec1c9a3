/* Sums over slots in parallel, with the same bits for any number of threads.
 *
 * A slot's contribution is one vector. Slots are claimed in order by whichever thread is free, and their vectors are
 * combined along one fixed binary tree over the slot numbers: neighbours first, right into left, level by level; an odd
 * one goes up as it is. So the tree, and with it every rounding, depends on the number of slots alone.
 *
 * Below the level that has at most `keep` nodes, whoever finishes the second child of a node combines the two, so that
 * few vectors are alive at a time. The nodes of that level are kept, and the rest of the tree is made where the result is
 * read: window by window, by all threads at once, each number read once. That is how vectors that are as long as the
 * work which fills them cost least.
 *
 * A reduction over some of the slots costs vectors for these alone: absent children are skipped, not added as zeros.
 *
 * Each of several ranks (armilla/ranks.h) has whole subtrees. The vectors of these are combined from rank to rank along
 * the rest of the same tree, and the result is handed to all (base/reduce_ranks.c): it has the bits that one process
 * would have. */
#ifndef ARMILLA_BASE_REDUCE_H
#define ARMILLA_BASE_REDUCE_H

#include "base/context.h"
#include "base/team.h"

/* What the elements of a segment are, and how those of two neighbours become one. */
typedef enum armilla_element {
    ARMILLA_SUM,     /* double: added */
    ARMILLA_SUM_F32, /* float, added in double: only where no more than `keep` slots are summed, each of which is kept */
    ARMILLA_LEAST,   /* double: the lower one */
    ARMILLA_MOST,    /* double: the higher one */
    ARMILLA_WRAP,    /* uint64_t: added, modulo 2^64 */
    ARMILLA_FIRST,   /* int64_t: the lower one; INT64_MAX: none */
    ARMILLA_ELEMENTS
} armilla_element;

/* Elements of a segment: `runs` runs of `run` elements that are `stride` apart, at most ARMILLA_WINDOW together. */
typedef struct armilla_window {
    int64_t first, run, runs, stride;
} armilla_window;

/* buffer = what slots first ... last-1, the whole of one node, have in the window, along the tree. On any thread. */
typedef void (*armilla_make_window)(const void *self, int64_t first, int64_t last, const armilla_window *where,
                                    double *buffer);

/* A run of elements of one kind. A vector is one segment after the other; the sizes of all are multiples of 8 bytes. */
typedef struct armilla_segment {
    armilla_element kind;
    int64_t count;
    bool written; /* the body writes every element: it is not given the neutral element before */
    /* > 0: so many columns of sums, of which a slot has those alone whose counter, a double of the first segment from
     * `counters` on, is not 0: the body clears a column when it counts for the first time. The others cost nothing, and
     * are 0 in the result. */
    int64_t columns, counters;
    void *result; /* where the result goes, 8 bytes for each element; NULL: it is read by armilla_reduced */
    /* NULL, or a function that makes these elements where they are read, after the last slot; vectors then have none of
     * them. Only for a reduction over all slots, and elements of 8 bytes. */
    armilla_make_window make;
    const void *maker;
} armilla_segment;

size_t armilla_segment_bytes(const armilla_segment *segment);

/* Adds what the slot contributes to its vector. Runs on several threads at once; thread < the reducer's. */
typedef armilla_status (*armilla_reduce_body)(void *self, int64_t slot, int thread, void *vector);

typedef struct armilla_reduction {
    const armilla_segment *segments;
    int count; /* of segments, at most ARMILLA_MOST_SEGMENTS */
    armilla_reduce_body body;
    void *self;
    /* Whether the slot contributes; the same answer on all ranks. One that does not has no vector, and a node above
     * is what its other child is. NULL: all do. */
    bool (*has)(const void *self, int64_t slot);
} armilla_reduction;

enum { ARMILLA_MOST_SEGMENTS = 6 };

typedef struct armilla_reducer armilla_reducer;

typedef struct armilla_reducer_plan {
    int64_t slots;
    int64_t keep;          /* nodes that are combined where the result is read: 1 ... ARMILLA_MOST_KEPT */
    size_t bytes;          /* of the longest vector */
    size_t exchange_bytes; /* the same with 8 bytes for every element */
    int threads;           /* at most, of those of the call in progress */
} armilla_reducer_plan;

enum { ARMILLA_MOST_KEPT = 32 };

/* All memory is taken here. */
armilla_status armilla_reducer_new(armilla_context *context, const armilla_reducer_plan *plan,
                                   armilla_reducer **reducer);
void armilla_reducer_free(armilla_reducer *reducer);

/* Its threads, which are idle between reductions. */
const armilla_team *armilla_reducer_team(const armilla_reducer *reducer);
/* The slots of this process, last excluded: all where it is alone, those of its rank where there are several. */
void armilla_reducer_slots(const armilla_reducer *reducer, int64_t *first, int64_t *last);

/* The results of all slots; untouched on failure, which is that of the lowest failing slot, and so is its message in the
 * context, "" where it gave none. Slots behind one that has failed are not begun. */
armilla_status armilla_reduce(armilla_reducer *reducer, const armilla_reduction *reduction);

enum { ARMILLA_WINDOW = 128, ARMILLA_WINDOW_BUFFER = 7 * ARMILLA_WINDOW };

/* buffer[0 ... run*runs-1] = the last reduction's result there. On any thread, before the next reduction. */
void armilla_reduced(const armilla_reducer *reducer, int segment, const armilla_window *where,
                     double buffer[ARMILLA_WINDOW_BUFFER]);

#endif
