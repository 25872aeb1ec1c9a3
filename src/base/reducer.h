/* What a reducer has, for the files of src/base. */
#ifndef ARMILLA_BASE_REDUCER_H
#define ARMILLA_BASE_REDUCER_H

#include "base/element.h"
#include "base/ranks.h"

#include <pthread.h>
#include <stdatomic.h>

struct armilla_reducer {
    armilla_context *context;
    armilla_team team;
    pthread_mutex_t lock; /* of waiting, spare and the failure */
    int threads;
    int64_t slots;
    size_t bytes;
    armilla_tree tree;
    armilla_share_of_tree own; /* of this rank; all where there is one */
    int kept_level;
    void *
        *waiting; /* by node: of a finished one that is kept, or whose sibling is not finished, the vector; else NULL */
    bool *present;   /* by node: whether a slot below contributes to the last reduction */
    int64_t vectors; /* in all */
    void **vector;   /* all of them, as they were taken */
    void **spare;    /* those not in use, `free` of them, from the first whole cache line on */
    int64_t free;
    armilla_status status; /* of the lowest failing slot */
    atomic_int_fast64_t failed_slot;
    char message[ARMILLA_MESSAGE];                   /* of that slot's failure; "" where it gave none */
    armilla_segment segments[ARMILLA_MOST_SEGMENTS]; /* of the last reduction */
    size_t offset_of[ARMILLA_MOST_SEGMENTS];         /* of each in a vector */
    int segment_count;
    size_t exchange_bytes;
    int64_t spans; /* vectors of 8 bytes for every element, for the exchange between ranks */
    void **span;   /* all of them, and then those not in use */
    int64_t spare_spans;
    void *result; /* the root's, where ranks have exchanged; NULL: it is read from the kept ones */
};

/* target = the segment's elements of a node at or above the kept level, 8 bytes each, by all threads. */
typedef struct armilla_delivery {
    const armilla_reducer *reducer;
    int segment, level;
    int64_t node;
    void *target;
} armilla_delivery;
void armilla_deliver(armilla_delivery *delivery);

/* Between ranks: takes what that needs; and makes reducer->result from the kept vectors of all. */
armilla_status armilla_exchange_take(armilla_reducer *reducer);
void armilla_exchange_free(armilla_reducer *reducer);
armilla_status armilla_exchange(armilla_reducer *reducer);
/* The offset of a segment in such a vector. */
size_t armilla_exchange_offset(const armilla_reducer *reducer, int segment);

#endif
