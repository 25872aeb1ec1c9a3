/* k-means++ (Arthur and Vassilvitskii, 2007): samples drawn one after the other, with a chance that grows with the
 * distance to those drawn before. The candidate that leaves the least distances is taken where a draw has several.
 * Several seedings run side by side, so that each of their passes over X is one. */
#ifndef ARMILLA_START_SEEDING_H
#define ARMILLA_START_SEEDING_H

#include "base/random.h"
#include "solve/sweep.h"

enum { ARMILLA_MOST_CANDIDATES = 8 };

/* Those of a draw in the greedy variant, which scikit-learn has too: 2 + log count. */
int64_t armilla_greedy_candidates(int64_t count);

typedef struct armilla_seeding {
    armilla_context *context;
    const armilla_data *X;
    armilla_type work;
    const double *squared_norms; /* of the samples, n */
    bool angle;                  /* 1 - cos, whatever the lengths, with which 0 has no place; else squared distance */
    int64_t candidates;          /* of each draw, ARMILLA_MOST_CANDIDATES at most; 1: no choice */
    int64_t count;               /* samples of a seeding */
    int64_t first;               /* number of the first try: try i is the same wherever it stands */
    int64_t tries;
    uint64_t seed;
    armilla_stream stream;
    int64_t passes; /* over X: counted up */
} armilla_seeding;

/* chosen: count sample numbers for each try; -1 for the rest of a try where fewer places differ. */
armilla_status armilla_seed_samples(armilla_seeding *seeding, int64_t *chosen);

#endif
