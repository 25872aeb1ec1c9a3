/* What a reducer has, for the files of src/base. */
#ifndef ARMILLA_BASE_REDUCER_H
#define ARMILLA_BASE_REDUCER_H

#include "base/element.h"
#include "base/tree.h"

#include <pthread.h>

struct armilla_reducer {
    armilla_context *context;
    armilla_team *team;
    pthread_mutex_t lock; /* of waiting, spare and the failure */
    int threads;
    int64_t slots;
    size_t bytes;
    armilla_tree tree;
    int kept_level;
    void *
        *waiting; /* by node: of a finished one that is kept, or whose sibling is not finished, the vector; else NULL */
    int64_t vectors; /* in all */
    void **vector;   /* all of them, as they were taken */
    void **spare;    /* those not in use, `free` of them, from the first whole cache line on */
    int64_t free;
    armilla_status status; /* of the lowest failing slot */
    int64_t failed_slot;
    armilla_segment segments[ARMILLA_MOST_SEGMENTS]; /* of the last reduction */
    size_t offset_of[ARMILLA_MOST_SEGMENTS];         /* of each in a vector */
    int segment_count;
};

#endif
