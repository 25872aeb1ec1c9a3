/* The nearest samples by angle: for each sample the others of the largest cosine, by codes of a model or by data. */
#ifndef ARMILLA_NEIGHBORS_H
#define ARMILLA_NEIGHBORS_H

#include <armilla/base.h>
#include <armilla/data.h>
#include <armilla/fit.h>
#include <armilla/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* armilla_neighbors_option_table describes every field down to weights. */
typedef struct armilla_neighbors_options {
    size_t size;
    int64_t count;       /* neighbours of each sample */
    double recall;       /* 1: all of them; below, the part that is to be found at least, of many samples much faster */
    const char *weights; /* "cosine", which NULL is too; "distance": the chord, the root of 2 - 2cos */
    int64_t seed;        /* of what is drawn where recall is below 1 */
    int64_t threads;     /* 0: the cores this process may use */
} armilla_neighbors_options;

/* Rows for armilla_neighbors_options; ends with a row whose name is NULL. */
ARMILLA_API const armilla_option *armilla_neighbors_option_table(void);
ARMILLA_API void armilla_neighbors_options_default_sized(armilla_neighbors_options *options, size_t size);
/* Sets every member to its default: 10 neighbours, all of them, with their cosines. */
static inline void armilla_neighbors_options_default(armilla_neighbors_options *options)
{
    armilla_neighbors_options_default_sized(options, sizeof *options);
}
/* The index-th kind of weights, NULL past the last. */
ARMILLA_API const char *armilla_neighbors_weight(size_t index);

/* Neighbours in compressed rows: sample i, or query i, has those from starts[i] to starts[i+1]-1, the nearest first, and
 * of equally near ones that of the lower index. A sample is no neighbour of itself, a copy of it is. A sample of length 0
 * has no direction: its cosine is 0 to all. The result depends on the data alone, and on the seed where recall is below
 * 1: not on threads or memory. */
typedef struct armilla_neighbors armilla_neighbors;

typedef struct armilla_neighbors_summary {
    size_t size;
    int64_t rows, columns; /* samples or queries, and samples */
    int64_t count;
    const char *weights;
    double recall;   /* measured, on that many of the rows: */
    int64_t checked; /* 0: all neighbours were found */
    int64_t cells;   /* that the samples were divided into, and */
    int64_t probed;  /* how many of them each row was compared with; 0: with all samples */
} armilla_neighbors_summary;

/* Neighbours of the samples of X; or where queries is not NULL those of the queries, which are prepared as X is, among
 * them, with features matched by name where both have names. preparation (may be NULL: none): its fields of the
 * group ARMILLA_PREPARATION are applied as a fit would, and precision is the one to compute in. Lengths do not matter. A
 * count of n or more (of n + 1 with queries) is ARMILLA_BAD_DATA. Without recall all products are made, n^2/2 of them. By this
 * process alone, also where it is one of several ranks. */
ARMILLA_API armilla_status armilla_neighbors_of_data(armilla_context *context, const armilla_data *X,
                                                     const armilla_data *queries, const armilla_options *preparation,
                                                     const armilla_neighbors_options *options,
                                                     armilla_neighbors **neighbors);
/* The same by the codes of a model; those of queries are computed by it first. */
ARMILLA_API armilla_status armilla_neighbors_of_model(armilla_context *context, const armilla_model *model,
                                                      const armilla_data *queries,
                                                      const armilla_neighbors_options *options,
                                                      armilla_neighbors **neighbors);
ARMILLA_API void armilla_neighbors_free(armilla_neighbors *neighbors);

ARMILLA_API void armilla_neighbors_summarize_sized(const armilla_neighbors *neighbors,
                                                   armilla_neighbors_summary *summary, size_t size);
/* What was found; strings belong to the library. */
static inline void armilla_neighbors_summarize(const armilla_neighbors *neighbors, armilla_neighbors_summary *summary)
{
    armilla_neighbors_summarize_sized(neighbors, summary, sizeof *summary);
}
/* rows + 1 numbers. */
ARMILLA_API const int64_t *armilla_neighbors_starts(const armilla_neighbors *neighbors);
/* Samples from 0, count of each row. */
ARMILLA_API const int64_t *armilla_neighbors_targets(const armilla_neighbors *neighbors);
/* As many cosines, or distances. */
ARMILLA_API const float *armilla_neighbors_weights(const armilla_neighbors *neighbors);

/* A map of the samples by their neighbours: what is near stays near, groups are apart. places has 3 n numbers, three
 * for each sample: in the plane the third is 0, and the others are in the square from -1 to 1, of which they reach two
 * sides; with globe all are on the sphere of radius 1. The neighbours are those among the samples themselves, with
 * either kind of weights. The same for any number of threads, <= 0: all cores. */
ARMILLA_API armilla_status armilla_neighbors_layout(armilla_context *context, const armilla_neighbors *neighbors,
                                                    bool globe, int64_t seed, int64_t threads, double *places);

/* A file that scipy.sparse.load_npz reads as a csr_matrix of rows x columns, whole or not at all. */
ARMILLA_API armilla_status armilla_neighbors_write(armilla_context *context, const armilla_neighbors *neighbors,
                                                   const char *path, bool overwrite);

#ifdef __cplusplus
}
#endif

#endif
