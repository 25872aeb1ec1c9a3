/* One pass over X, panel by panel, on all threads, with sums added along a fixed tree. Sweeps, surveys, means,
 * residuals and transform are visitors of this pass. */
#ifndef ARMILLA_DATA_TRAVERSE_H
#define ARMILLA_DATA_TRAVERSE_H

#include "base/reduce.h"
#include "data/data.h"

/* Adds what the panel contributes to sums: the first segment of the vector, and behind it the others. Panels of one slot
 * come in order; slots run at the same time. */
typedef armilla_status (*armilla_visitor)(void *self, const armilla_panel *panel, int thread, double *sums);

/* Some of the columns: of each slot a run of neighbours, or none. It is a function of the slot, the same on all ranks, so
 * that the sums have the same bits for any number of threads and ranks; a slot without a run costs nothing. */
typedef struct armilla_portion {
    void (*cut)(const void *self, int64_t slot, int64_t *first, int64_t *last); /* narrows the slot's columns */
    const void *self;
} armilla_portion;

typedef struct armilla_traversal armilla_traversal;

typedef struct armilla_traversal_plan {
    const armilla_data *X;
    const armilla_kernels *kernels; /* X is handed out in their type */
    int64_t length;                 /* elements of 8 bytes of the longest vector */
    int64_t beside;                 /* more of them that are summed elsewhere: panels are as wide as with these */
    int64_t parts;                  /* numbers of the data's layout (data/data.h) behind them; 0: none */
    bool made;                      /* which are in no vector but made where they are read (base/reduce.h) */
} armilla_traversal_plan;

/* All memory is taken here. What visitors want for each thread is laid out by armilla_traversal_threads. */
armilla_status armilla_traversal_new(armilla_context *context, const armilla_traversal_plan *plan,
                                     armilla_traversal **traversal);
void armilla_traversal_free(armilla_traversal *traversal);

/* The data, the widest panel, the slots, and the threads that visitors see. */
const armilla_data *armilla_traversal_data(const armilla_traversal *traversal);
int64_t armilla_traversal_width(const armilla_traversal *traversal);
int64_t armilla_traversal_slots(const armilla_traversal *traversal);
/* The columns of a slot, last excluded. */
void armilla_traversal_slot(const armilla_traversal *traversal, int64_t slot, int64_t *first, int64_t *last);
/* The width of the slot's panels, except for the last. */
int64_t armilla_traversal_slot_width(const armilla_traversal *traversal, int64_t slot);
/* The samples that this process visits, last excluded: all but where several ranks work together. They are the same in
 * every pass over the same data. */
void armilla_traversal_columns(const armilla_traversal *traversal, int64_t *first, int64_t *last);
int armilla_traversal_threads(const armilla_traversal *traversal);
/* The type of numbers in a layout in a slot's vector; and whether a panel writes them there, because it is the only one
 * of its slot, rather than adding them up in double. */
armilla_type armilla_traversal_part_type(const armilla_traversal *traversal);
bool armilla_traversal_direct(const armilla_traversal *traversal);
/* For work between passes. */
const armilla_team *armilla_traversal_team(const armilla_traversal *traversal);

/* sums[0 ... length-1] over all panels; length may be 0 (sums NULL). ARMILLA_STOPPED, with the sums untouched, where the
 * call in progress is to end (base/call.h): what visitors wrote elsewhere is then unfinished. */
armilla_status armilla_traverse(armilla_traversal *traversal, int64_t length, armilla_visitor visitor, void *self,
                                double *sums);
/* The same for vectors of any segments, which have their results. What has none is read from the reducer. */
armilla_status armilla_traverse_into(armilla_traversal *traversal, const armilla_segment *segments, int count,
                                     armilla_visitor visitor, void *self);
/* The same over some columns; portion NULL: all. */
armilla_status armilla_traverse_some(armilla_traversal *traversal, const armilla_portion *portion,
                                     const armilla_segment *segments, int count, armilla_visitor visitor, void *self);
/* The same for visitors that look at samples' codes alone: panels are not loaded. */
armilla_status armilla_traverse_unread(armilla_traversal *traversal, const armilla_segment *segments, int count,
                                       armilla_visitor visitor, void *self);
/* Columns of the portion, which may be NULL. */
int64_t armilla_traversal_count(const armilla_traversal *traversal, const armilla_portion *portion);
const armilla_reducer *armilla_traversal_sums(const armilla_traversal *traversal);

/* The survey of armilla/data.h, and with it ||x_j||^2 of every sample where squared_norms is not NULL. */
armilla_status armilla_survey(armilla_context *context, const armilla_data *X, armilla_type work,
                              armilla_data_facts *facts, double *squared_norms);

#endif
