/* Slots: runs of samples that are the units of parallel work, and of which ranks have some each. They are a function of
 * the shape and the stored entries alone, so that every pass over the same data has the same. */
#ifndef ARMILLA_DATA_SLOTS_H
#define ARMILLA_DATA_SLOTS_H

#include "base/samples.h"
#include "data/data.h"

enum { ARMILLA_MOST_SLOTS = 1024 };

typedef struct armilla_slots {
    int64_t count;
    int64_t first_of[ARMILLA_MOST_SLOTS + 1]; /* each slot's first column, and n: they rise */
} armilla_slots;

void armilla_slots_find(const armilla_data *X, armilla_slots *slots);
/* The columns of a slot's panels, where so many are wanted: equal shares of the slot, of at most one and a half times that. */
int64_t armilla_slots_width(const armilla_slots *slots, const armilla_data *X, int64_t wanted, int64_t slot);

/* Slots first ... last-1 are this process's: all but where several ranks work together. */
void armilla_slots_own(const armilla_context *context, const armilla_slots *slots, int64_t *first, int64_t *last);
/* The same as samples, for arrays that have a column for each (base/samples.h). */
/* At the same point of all ranks, which were to be given the same data: ARMILLA_BAD_ARGUMENT where their shapes differ, for
 * then nobody's samples are where the others look for them. */
armilla_status armilla_data_meet(armilla_context *context, const armilla_data *X);
armilla_samples armilla_data_share(const armilla_context *context, const armilla_data *X);

#endif
