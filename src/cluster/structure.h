/* Whether samples form groups: the best cut through the graph of neighbours of a sample of them, beside that of data
 * without groups which are made from the same sample (docs/clustering.md). */
#ifndef ARMILLA_CLUSTER_STRUCTURE_H
#define ARMILLA_CLUSTER_STRUCTURE_H

#include "cluster/cluster.h"
#include "data/preparation.h"

/* Samples that are looked at, and features of them, at most; the fewest that say something; and how often each kind of
 * data without groups is made. */
enum { ARMILLA_STRUCTURE_MOST = 600, ARMILLA_STRUCTURE_FEATURES = 1000, ARMILLA_STRUCTURE_LEAST = 20 };
enum { ARMILLA_STRUCTURE_RUNS = 10 };

/* The source of the samples. */
typedef struct armilla_structure_source {
    const armilla_data *raw;                /* before the preparation */
    const armilla_preparation *preparation; /* that was learned */
    bool unit;                              /* samples are compared by angle */
    uint64_t seed;
} armilla_structure_source;

/* Samples as columns; all zeros may be released. */
typedef struct armilla_structure_sample {
    int64_t m, n;
    bool unit;       /* as above */
    bool sparse;     /* at least half of the numbers are 0 */
    double *X;       /* m x n: prepared, but neither centred nor of length 1 */
    double *offsets; /* m: what centring takes away */
    double *places;  /* m x n: where the samples are, centred and of length 1 as far as that is wanted */
} armilla_structure_sample;

/* *sample = some samples, drawn evenly, with the features of the largest spread; n is 0 where memory does not hold
 * them or numbers are not finite. */
armilla_status armilla_structure_draw(armilla_context *context, const armilla_structure_source *source,
                                      armilla_structure_sample *sample);
void armilla_structure_release(armilla_context *context, armilla_structure_sample *sample);
/* Only samples that differ from all before them, and have a direction where it counts, stay. */
void armilla_structure_distinct(armilla_structure_sample *sample);
/* A column of X becomes a place; false where it has no direction. */
bool armilla_structure_place(const armilla_structure_sample *sample, double *column);
/* places (m x n) = those of all columns of X. */
void armilla_structure_place_all(const armilla_structure_sample *sample, double *places);
/* The samples before they get length 1: borrows all but the places, which are NULL. */
armilla_structure_sample armilla_structure_plain(const armilla_structure_sample *sample);

/* The leading directions of the places, and what the samples are there. All zeros may be released. */
typedef struct armilla_structure_space {
    int64_t d;
    double *V;     /* m x d, orthonormal */
    double *codes; /* d x n = V'places */
} armilla_structure_space;

armilla_status armilla_structure_space_find(armilla_context *context, const armilla_structure_sample *sample,
                                            armilla_structure_space *space);
void armilla_structure_space_release(armilla_context *context, armilla_structure_space *space);

/* mean (d) = that of the points (d x n), from 0 on. */
void armilla_structure_mean(int64_t d, int64_t n, const double *points, double *mean);
/* *lifted ((d+1) x n) = the points (d x n) on a sphere of one more dimension, so that the nearest by angle are the
 * nearest by distance: centred, and far from the origin beside *extent, the largest distance from the mean where that
 * is 0. */
armilla_status armilla_structure_lift(armilla_context *context, int64_t d, int64_t n, const double *points,
                                      double *extent, double **lifted);

/* *cut = the smallest normalised cut of the points' graph into communities: the part of the edges' weight between them over
 * what chance puts there; 1 where there are none. *count = how many they are. */
armilla_status armilla_structure_cut(armilla_context *context, int64_t d, int64_t n, const double *points, double *cut,
                                     int64_t *count);

/* Data without groups, made from a sample. */
typedef struct armilla_structure_nulls armilla_structure_nulls;
armilla_status armilla_structure_nulls_new(armilla_context *context, const armilla_structure_sample *sample,
                                           const armilla_structure_space *space, uint64_t seed,
                                           armilla_structure_nulls **nulls);
void armilla_structure_nulls_free(armilla_context *context, armilla_structure_nulls *nulls);
/* codes (d x n) = those of the run-th data of the index-th kind, which suits the samples. */
void armilla_structure_null(armilla_structure_nulls *nulls, size_t index, int run, double *codes);
/* Whether the index-th kind is for such samples. */
bool armilla_structure_null_suits(const armilla_structure_sample *sample, size_t index);
/* The name of the index-th kind, NULL past the last. */
const char *armilla_structure_null_name(size_t index);

/* *gap = the longest edge of the shortest tree through the points (d x n) that has enough of them on both sides, over the
 * usual length of its edges; sides (n, may be NULL): on which side of it each point is. */
armilla_status armilla_structure_gap(armilla_context *context, int64_t d, int64_t n, const double *points, double *gap,
                                     bool *sides);
/* *apart = the gap in the samples, before they get length 1, is far wider than in data without groups, and no sample is
 * nearest to one beyond it among the places either, which are `seen`. */
armilla_status armilla_structure_find_apart(armilla_context *context, const armilla_structure_sample *sample,
                                            const armilla_structure_space *seen, uint64_t seed, bool *apart);

/* Y (m x n): each feature's numbers in another order; where it is sparse each sample keeps how many it has, and each feature
 * too. Random numbers are those of the seed from `first` on. */
typedef struct armilla_structure_shuffling {
    int64_t m, n;
    bool sparse;
    uint64_t seed, first;
    double *weights;  /* m; workspace */
    int64_t *entries; /* m*n; workspace */
} armilla_structure_shuffling;

void armilla_structure_shuffle(const armilla_structure_shuffling *shuffling, double *Y);

/* From sorted numbers to those of a density that rises to one mode and falls behind it: `count` quantiles at equal steps, at
 * most ARMILLA_QUANTILES, in place. */
enum { ARMILLA_QUANTILES = 129 };
void armilla_structure_one_mode(int64_t count, double *quantiles);

#endif
