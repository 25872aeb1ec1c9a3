/* The features that vary most for their mean. */
#ifndef ARMILLA_DATA_VARIABLE_H
#define ARMILLA_DATA_VARIABLE_H

#include "base/context.h"

/* chosen[i] = 1 for the `count` features of m that score highest, 0 for the others. Features that do not vary (deviation
 * 0, or no number) are never chosen. The others are ordered by mean (rounded to single precision, so that the rounding of
 * sums does not decide; ties by index) and divided into equal bins, one for each 20 of them, at most 20. The score is how
 * far the logarithm of the variance is above the median of its bin, in units of the median absolute deviation there (of 1
 * where that is 0). Among equal scores the lower index counts. */
armilla_status armilla_variable_features(armilla_context *context, int64_t m, const double *means,
                                         const double *deviations, int64_t count, double *chosen);

#endif
