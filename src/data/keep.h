/* Some features and samples of other data, and its features in another order. */
#ifndef ARMILLA_DATA_KEEP_H
#define ARMILLA_DATA_KEEP_H

#include "base/context.h"

#include <armilla/data.h>

/* Places that were kept: `count` of `of`, from 0, rising; `at` is NULL where all were. */
typedef struct armilla_kept {
    int64_t *at;
    int64_t count, of;
} armilla_kept;

static inline int64_t armilla_kept_place(const armilla_kept *kept, int64_t i)
{
    return kept->at ? kept->at[i] : i;
}

enum { ARMILLA_KEPT_FEATURES, ARMILLA_KEPT_SAMPLES, ARMILLA_KEPT_COUNT };

armilla_status armilla_kept_copy(armilla_context *context, const armilla_kept *from, armilla_kept *to);
void armilla_kept_free(armilla_context *context, armilla_kept *kept);

/* The selected features and samples of X; the arrays of the selection are copied. The result is a view, which X must
 * outlive, where only samples of dense data are selected, and a copy otherwise. Names are selected too. The new data
 * record the selection, in terms of the original data where X is a selection itself. */
armilla_status armilla_data_keep(armilla_context *context, const armilla_data *X,
                                 const armilla_kept kept[ARMILLA_KEPT_COUNT], armilla_data **data);

/* *data = X with `m` features: number i is X's places[i], or zeros where that is -1; no place of X occurs twice. Dense
 * data are a view, and X must outlive it; sparse data are copied. Names and labels of samples go along, and what
 * samples X was chosen from; names of features do not. The numbers are stored and summed as those of data that had this
 * order from the beginning, so that results have their bits. */
armilla_status armilla_data_pick(armilla_context *context, const armilla_data *X, const int64_t *places, int64_t m,
                                 armilla_data **data);

/* *copy = these features of these samples, in memory of its own, in X's own type. Samples may be in any order,
 * and so may features of sparse data, where -1 is one without entries. */
armilla_status armilla_data_copy(armilla_context *context, const armilla_data *X, const armilla_kept *features,
                                 const armilla_kept *samples, armilla_data **copy);

#endif
