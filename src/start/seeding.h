/* k-means++ (Arthur and Vassilvitskii, 2007): samples drawn one after the other, with a chance that grows with the
 * distance to those drawn before. Greedy where asked for: of several draws the one is taken that leaves the least
 * distances. Several seedings run side by side, so that each of their passes over X is one. */
#ifndef ARMILLA_START_SEEDING_H
#define ARMILLA_START_SEEDING_H

#include "base/random.h"
#include "solve/sweep.h"

typedef struct armilla_seeding {
    armilla_context *context;
    const armilla_data *X;
    armilla_type work;
    const double *squared_norms; /* of the samples, n */
    bool angle;                  /* 1 - cos, whatever the lengths, with which 0 has no place; else squared distance */
    bool greedy;
    int64_t count; /* samples of a seeding */
    int64_t first; /* number of the first try: try i is the same wherever it stands */
    int64_t tries;
    uint64_t seed;
    armilla_stream stream;
    int64_t passes; /* over X: counted up */
} armilla_seeding;

/* chosen: count sample numbers for each try; -1 for the rest of a try where fewer places differ. */
armilla_status armilla_seed_samples(armilla_seeding *seeding, int64_t *chosen);

#endif
