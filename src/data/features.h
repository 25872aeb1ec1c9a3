/* Statistics of every feature over the samples. */
#ifndef ARMILLA_DATA_FEATURES_H
#define ARMILLA_DATA_FEATURES_H

#include "data/data.h"

/* Which are wanted; deviations are about the means, and come with them. As stored: the entries are numbers of the data's
 * type, not what a map has made of these. */
enum {
    ARMILLA_FEATURE_COUNTS = 1,
    ARMILLA_FEATURE_MEANS = 2,
    ARMILLA_FEATURE_DEVIATIONS = 4,
    ARMILLA_FEATURE_AS_STORED = 8
};

/* m numbers each, NULL where not wanted. At any scale. */
typedef struct armilla_feature_statistics {
    int64_t n;
    double *counts;     /* of samples in which the feature is not 0 */
    double *means;      /* NaN or infinite where an entry is */
    double *deviations; /* standard deviations (by n, not by n-1), 0 where all that varies is rounding */
} armilla_feature_statistics;

/* One pass for counts, which means share with their first of two, or of one where entries have no more than 24 bits; one
 * more for deviations. Numbers at the ends of the
 * range take up to two more each. All zeros may be released, as may what a failure leaves. */
armilla_status armilla_feature_statistics_find(armilla_context *context, const armilla_data *X, int wanted,
                                               armilla_feature_statistics *found);
void armilla_feature_statistics_release(armilla_context *context, armilla_feature_statistics *found);

#endif
