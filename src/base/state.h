/* The state of what runs in steps. A solver, screening and the restarts each have ONE function that lists everything
 * their next step depends on: name, type and shape of every array and number. All else is a loop over that list: memory
 * is taken and released by it, so that an array that is not listed does not exist, and a state is saved and restored by
 * it. Workspace, which no step reads before it has written it, is listed as such: it is taken, and not saved.
 *
 * Numbers are listed before what is shaped by them. A list is gone through in order, and while a state is restored a
 * number has its value as soon as it is listed. */
#ifndef ARMILLA_BASE_STATE_H
#define ARMILLA_BASE_STATE_H

#include "base/samples.h"

#include <armilla/data.h>

typedef enum armilla_state_type {
    ARMILLA_STATE_F64,
    ARMILLA_STATE_F32,
    ARMILLA_STATE_I64,
    ARMILLA_STATE_I32, /* enumerations too */
    ARMILLA_STATE_U8,  /* bool */
} armilla_state_type;

size_t armilla_state_size(armilla_state_type type);
/* The type of numbers in the working precision. */
armilla_state_type armilla_state_working(armilla_type type);

typedef struct armilla_state_item {
    const char *name; /* unique and stable: "restarts.round", "sketch.fast.momentum.beta" */
    armilla_state_type type;
    int64_t rows, columns;
    int64_t stride; /* bytes from one column to the next */
    void *values;
    bool reported; /* only reported in the model's summary: no other number depends on it */
    /* The samples of this rank, whose columns are the only ones that are there, in an array with a column for each
     * sample; else NULL. */
    const armilla_samples *share;
} armilla_state_item;

enum { ARMILLA_STATE_NAME = 64 };

typedef enum armilla_state_purpose {
    ARMILLA_STATE_TAKE,
    ARMILLA_STATE_RELEASE,
    ARMILLA_STATE_VISIT
} armilla_state_purpose;

typedef struct armilla_state_list armilla_state_list;
struct armilla_state_list {
    armilla_context *context;
    armilla_state_purpose purpose;
    bool restoring;        /* each item has its saved value once it has been listed */
    int64_t left;          /* while restoring: bytes that the saved state has behind the last item */
    armilla_status status; /* the first that is not ARMILLA_OK; from then on listing does nothing */
    armilla_status (*visit)(armilla_state_list *list, const armilla_state_item *item);
    void *self;                    /* the visitor's */
    char name[ARMILLA_STATE_NAME]; /* of the item; its first `part` characters are those of the part in progress */
    size_t part;
};

/* Lists the state of self. */
typedef void (*armilla_state_lister)(void *self, armilla_state_list *list);

/* For listers. */

/* What is listed until leave belongs to that part: its names begin with "part.". Returns what leave takes. */
size_t armilla_state_enter(armilla_state_list *list, const char *part);
void armilla_state_leave(armilla_state_list *list, size_t outer);
/* One number; the same that is only reported. */
void armilla_state_number(armilla_state_list *list, const char *name, armilla_state_type type, void *value);
void armilla_state_report(armilla_state_list *list, const char *name, armilla_state_type type, void *value);
/* A number from 0 up to so many, and while restoring no other. */
#define ARMILLA_STATE_MOST ((int64_t)1 << 52)
void armilla_state_count(armilla_state_list *list, const char *name, int64_t most, int64_t *count);
/* *place (a pointer): rows x columns, column by column. Not zeroed when it is taken. */
void armilla_state_array(armilla_state_list *list, const char *name, armilla_state_type type, int64_t rows,
                         int64_t columns, void *place);
void armilla_state_workspace(armilla_state_list *list, armilla_state_type type, int64_t rows, int64_t columns,
                             void *place);
/* The same of arrays with a column for each sample, rows numbers each (base/samples.h). */
void armilla_state_samples(armilla_state_list *list, const char *name, armilla_state_type type, int64_t rows,
                           const armilla_samples *share, void *place);
void armilla_state_samples_workspace(armilla_state_list *list, armilla_state_type type, int64_t rows,
                                     const armilla_samples *share, void *place);
/* Anything else that memory has already. */
void armilla_state_visit(armilla_state_list *list, const armilla_state_item *item);
/* While restoring: ARMILLA_BAD_DATA where what was restored is not a state; name: the item. Whether listing goes on. */
bool armilla_state_require(armilla_state_list *list, const char *name, bool holds);

/* For those that have a lister. */

armilla_status armilla_state_take(armilla_context *context, armilla_state_lister lister, void *self);
void armilla_state_release(armilla_context *context, armilla_state_lister lister, void *self);
/* Every item in order; visit may look at it and change it. */
armilla_status armilla_state_each(armilla_context *context, armilla_state_lister lister, void *self,
                                  armilla_status (*visit)(armilla_state_list *list, const armilla_state_item *item),
                                  void *visitor);

#endif
