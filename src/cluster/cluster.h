/* Clusters: k-means through the sweep of the solvers, and scores against known classes. */
#ifndef ARMILLA_CLUSTER_CLUSTER_H
#define ARMILLA_CLUSTER_CLUSTER_H

#include "base/random.h"
#include "base/samples.h"
#include "data/data.h"
#include "data/preparation.h"

#include <armilla/cluster.h>
#include <armilla/model.h>

struct armilla_clustering {
    armilla_context *context;
    armilla_cluster_summary summary;
    int64_t *labels;                 /* n */
    armilla_samples share;           /* the samples whose labels are there; */
    bool spread;                     /* other ranks have the others */
    int64_t *sizes;                  /* k */
    armilla_cluster_number *numbers; /* that were looked at, where k was not given */
    int64_t number_count;
};

/* One row of the methods. */
typedef struct armilla_method {
    const char *name;
    bool unit;  /* by angle: samples and centres have length 1 */
    bool codes; /* no centres: the largest coefficient of a code */
    bool graph; /* by the graph of nearest neighbours (cluster/knn_graph.h); */
    bool moved; /* and that by k-means on codes that are smoothed along it */
} armilla_method;

/* What k-means works on. */
typedef struct armilla_kmeans_problem {
    const armilla_data *X; /* of unit length where method->unit */
    armilla_type work;
    const double *squared_norms; /* of the samples */
    const armilla_method *method;
    const armilla_cluster_options *options;
    const double *centers;         /* m x k to start from, one try; NULL: k-means++ */
    const armilla_model *codes_of; /* whose codes X are; NULL: X are data */
    const armilla_data *fitted;    /* the data that the model is a fit of, where they are known */
    bool short_data;               /* codes: a look at them is cheap, and made even where the call is to end */
    const struct armilla_kmeans_problem *sample; /* of X, where tries are screened on it; NULL: each has all of X */
} armilla_kmeans_problem;

/* Some samples of X, prepared as all of them are, and the same problem on them. All zeros may be freed. */
typedef struct armilla_kmeans_sample {
    armilla_data *columns; /* as they are given */
    armilla_data *view;    /* NULL where nothing is prepared */
    double *squared_norms;
    armilla_kmeans_problem problem;
} armilla_kmeans_sample;

/* Draws a sample of raw, which the whole problem has as X through the preparation, and sets whole->sample; where there
 * is nothing to choose among, or the samples are too few for that to save anything, it stays NULL. */
armilla_status armilla_kmeans_sample_make(armilla_context *context, const armilla_data *raw,
                                          const armilla_preparation *preparation, armilla_kmeans_problem *whole,
                                          armilla_kmeans_sample *sample);
void armilla_kmeans_sample_free(armilla_context *context, armilla_kmeans_sample *sample);

/* X as given and as it is clustered. */
typedef struct armilla_clustered {
    armilla_preparation preparation;
    const armilla_data *raw;
    armilla_data *view; /* NULL where nothing is prepared */
} armilla_clustered;

/* k-means of the problem, whose X is prepared; within a call. */
armilla_status armilla_kmeans_prepared(armilla_context *context, const armilla_clustered *from,
                                       armilla_kmeans_problem *problem, armilla_clustering **clustering);
/* By the graph of the samples' neighbours, by the method asked for; where that says nothing, k-means of the problem. */
armilla_status armilla_cluster_by_graph(armilla_context *context, const armilla_clustered *from,
                                        const armilla_method *asked, armilla_kmeans_problem *problem,
                                        armilla_clustering **clustering);
/* Refuses a k that is to be found (0) where n samples are too few for that. */
armilla_status armilla_cluster_check_number(armilla_context *context, int64_t k, int64_t n);
/* The row of that name, NULL: none. */
const armilla_method *armilla_method_find(const char *name);
/* A clustering of all samples into k, its labels and sizes to be filled; within a call. */
armilla_status armilla_clustering_new(armilla_context *context, const armilla_method *method, int64_t k,
                                      const armilla_samples *share, armilla_clustering **clustering);

/* The sizes, of this rank's samples, become those of the samples of all ranks; status: base/ranks.h. */
armilla_status armilla_clustering_add_sizes(armilla_context *context, armilla_status status,
                                            armilla_clustering *clustering);
/* Numbers the clusters by size, ties by their first sample; within a call, by all ranks. */
armilla_status armilla_clustering_order(armilla_context *context, armilla_clustering *clustering);

/* Fills labels, and iterations, stop and inertia of the summary. inertias, where not NULL, has space for max_iter + 1
 * numbers: the inertia after each assignment of the last try. */
armilla_status armilla_kmeans(armilla_context *context, const armilla_kmeans_problem *problem,
                              armilla_clustering *clustering, double *inertias);

/* matching[row] = the column that each row is matched with in the heaviest matching of a rows x cols matrix (by rows)
 * with rows <= cols; O(rows^2 cols). */
armilla_status armilla_match(armilla_context *context, int64_t rows, int64_t cols, const double *weights,
                             int64_t *matching);

/* *nmi = the normalized mutual information of two lists of labels; 1 where both are of one class. */
armilla_status armilla_agreement(armilla_context *context, int64_t n, const int64_t *labels, const int64_t *others,
                                 double *nmi);
/* *ari = their adjusted Rand index. */
armilla_status armilla_adjusted_rand(armilla_context *context, int64_t n, const int64_t *labels, const int64_t *others,
                                     double *ari);

/* Expected mutual information of two partitions of n samples with these class sizes, drawn at random. */
armilla_status armilla_expected_information(armilla_context *context, int64_t n, const int64_t *sizes[2],
                                            const int64_t counts[2], double *expected);

/* *whole = the program's options, the defaults where it was compiled for a library with fewer. */
armilla_status armilla_cluster_options_read(armilla_context *context, const armilla_cluster_options *options,
                                            armilla_cluster_options *whole);

#endif
