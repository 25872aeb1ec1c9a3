/* Some features and samples of other data. */
#ifndef ARMILLA_DATA_SELECT_H
#define ARMILLA_DATA_SELECT_H

#include "base/context.h"

#include <armilla/data.h>

/* Places that were kept: `count` of `of`, from 0, rising; `at` is NULL where all were. */
typedef struct armilla_kept {
    int64_t *at;
    int64_t count, of;
} armilla_kept;

enum { ARMILLA_KEPT_FEATURES, ARMILLA_KEPT_SAMPLES, ARMILLA_KEPT_COUNT };

armilla_status armilla_kept_copy(armilla_context *context, const armilla_kept *from, armilla_kept *to);
void armilla_kept_free(armilla_context *context, armilla_kept *kept);

/* X with what is kept of it alone; the arrays are copied. Where only samples of dense data are chosen it is a view,
 * and X must outlive it; else it is a copy of what was kept. Names go along. The new data know what was kept, and where
 * X was such a choice itself, of what X was chosen from. */
armilla_status armilla_data_keep(armilla_context *context, const armilla_data *X,
                                 const armilla_kept kept[ARMILLA_KEPT_COUNT], armilla_data **data);

/* *copy = X as plain data where it is a view of others that armilla_data_keep made, else NULL. */
armilla_status armilla_data_flatten(armilla_context *context, const armilla_data *X, armilla_data **copy);

#endif
