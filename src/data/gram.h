/* XX', the Gram matrix of the features, by one pass over X. */
#ifndef ARMILLA_DATA_GRAM_H
#define ARMILLA_DATA_GRAM_H

#include "data/traverse.h"

/* G = XX' (m x m), of data whose panels are dense: summed over a panel in the working type, then in double along the
 * fixed tree. */
armilla_status armilla_data_gram(armilla_context *context, const armilla_data *X, armilla_type work, double *G);

#endif
