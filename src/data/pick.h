/* The features of other data in another order. */
#ifndef ARMILLA_DATA_PICK_H
#define ARMILLA_DATA_PICK_H

#include "data/data.h"

/* *data = X with `m` features: number i is X's places[i], or zeros where that is -1; no place of X occurs twice. Dense
 * data are a view, and X must outlive it; sparse data are copied. Names and labels of samples go along, and what
 * samples X was chosen from; names of features do not. The numbers are stored and summed as those of data that had this
 * order from the beginning, so that results have their bits. */
armilla_status armilla_data_pick(armilla_context *context, const armilla_data *X, const int64_t *places, int64_t m,
                                 armilla_data **data);

#endif
