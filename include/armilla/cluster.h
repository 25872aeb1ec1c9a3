/* Clusters of samples, by the codes of a model or straight from data, and how well they agree with known classes. */
#ifndef ARMILLA_CLUSTER_H
#define ARMILLA_CLUSTER_H

#include <armilla/base.h>
#include <armilla/data.h>
#include <armilla/fit.h>
#include <armilla/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* armilla_cluster_option_table describes every field down to max_iter. */
typedef struct armilla_cluster_options {
    size_t size;
    int64_t k; /* 0: with "graph" as many as the samples say, with "argmax" the model's rank */
    /* "graph": communities of the graph of nearest neighbours, or what does better there; "smooth": k-means on codes that
     * are smoothed along it; "kmeans": spherical k-means, which NULL is too; "euclidean": k-means by distance; "argmax"
     * (codes alone) */
    const char *method;
    int64_t tries;    /* best of so many starts */
    int64_t max_iter; /* of each try */
    int64_t seed;
    int64_t threads; /* 0: the cores this process may use */
} armilla_cluster_options;

/* Rows for armilla_cluster_options; ends with a row whose name is NULL. */
ARMILLA_API const armilla_option *armilla_cluster_option_table(void);
ARMILLA_API void armilla_cluster_options_default_sized(armilla_cluster_options *options, size_t size);
/* Sets every member to its default; k stays to be given. */
static inline void armilla_cluster_options_default(armilla_cluster_options *options)
{
    armilla_cluster_options_default_sized(options, sizeof *options);
}
/* The index-th method, NULL past the last. */
ARMILLA_API const char *armilla_cluster_method(size_t index);

/* A clustering that the context's watch (armilla/base.h) stops ends with what is there. Centres are samples at equal
 * distances where that comes before they are drawn; while data are prepared, and in armilla_cluster_choose, there is
 * nothing yet: ARMILLA_STOPPED. */
typedef struct armilla_clustering armilla_clustering;

typedef struct armilla_cluster_summary {
    size_t size;
    const char *method;
    int64_t k, n;
    int64_t seed, tries, iterations; /* iterations: of the best try */
    armilla_stop stop;               /* of the best try; interrupted where tries are missing */
    /* What is minimised: the sum over samples of 1 - cosine to the centre, or of the squared distance to it; of
     * smoothed codes where there are such. NaN for argmax and for communities. */
    double inertia;
    /* The source of the labels of graph and smooth, "communities", "smoothing" or "kmeans"; NULL else. Then, of these
     * labels, modularity at resolution 1 and the part of the edges' weight that is inside clusters; for communities the
     * resolution that gave them, and the mean agreement (normalized mutual information) of runs in several orders. NaN
     * where there is none. */
    const char *by;
    double modularity, coverage, resolution, stability;
    /* And why the labels come from there, in words; and the mean squared distance of neighbours in the data over that of
     * all pairs of samples, NaN where it was not looked at. */
    const char *reason;
    double neighbor_distance;
} armilla_cluster_summary;

/* Clusters of the samples of X. preparation (may be NULL: none): its fields of the group
 * ARMILLA_PREPARATION are applied as a fit would, and precision is the one to compute in. */
ARMILLA_API armilla_status armilla_cluster_data(armilla_context *context, const armilla_data *X,
                                                const armilla_options *preparation,
                                                const armilla_cluster_options *options,
                                                armilla_clustering **clustering);
/* Clusters of a model's codes. With argmax a sample belongs to the atom that contributes most to it: the one with the
 * largest v_k ||u_k||, with its sign; of equals the one with the lowest number. k is then the model's rank (or 0). */
ARMILLA_API armilla_status armilla_cluster_model(armilla_context *context, const armilla_model *model,
                                                 const armilla_cluster_options *options,
                                                 armilla_clustering **clustering);
/* The same by the codes and the data that they are codes of: "graph" and "smooth" look for neighbours in both, all other
 * methods in the codes alone. */
ARMILLA_API armilla_status armilla_cluster_fitted(armilla_context *context, const armilla_data *X,
                                                  const armilla_model *model, const armilla_cluster_options *options,
                                                  armilla_clustering **clustering);
ARMILLA_API void armilla_clustering_free(armilla_clustering *clustering);

ARMILLA_API void armilla_clustering_summarize_sized(const armilla_clustering *clustering,
                                                    armilla_cluster_summary *summary, size_t size);
/* What was clustered and how well; strings belong to the library. */
static inline void armilla_clustering_summarize(const armilla_clustering *clustering, armilla_cluster_summary *summary)
{
    armilla_clustering_summarize_sized(clustering, summary, sizeof *summary);
}
/* n numbers from 0 to k-1. Clusters are numbered by size, the largest first, ties by their first sample: the same labels
 * for the same clusters, whatever the storage, precision, threads and ranks. Those of argmax have the numbers of their
 * atoms. */
ARMILLA_API const int64_t *armilla_clustering_labels(const armilla_clustering *clustering);
/* k numbers; a cluster is empty where the samples have fewer than k different places. */
ARMILLA_API const int64_t *armilla_clustering_sizes(const armilla_clustering *clustering);

/* One of the numbers of clusters that were looked at because k was 0. */
typedef struct armilla_cluster_number {
    size_t size;
    int64_t k;
    double resolution; /* of the communities */
    double stability;  /* mean adjusted Rand index of the communities of parts, of four fifths of the samples each */
    double modularity; /* at resolution 1 */
    double score;      /* stability times modularity: the number with the largest one is taken */
} armilla_cluster_number;

/* How many numbers of clusters were looked at; 0 where k was given. */
ARMILLA_API int64_t armilla_clustering_numbers(const armilla_clustering *clustering);
ARMILLA_API void armilla_clustering_number_sized(const armilla_clustering *clustering, int64_t index,
                                                 armilla_cluster_number *number, size_t size);
/* The index-th of them, by rising number; zeros past the last. */
static inline void armilla_clustering_number(const armilla_clustering *clustering, int64_t index,
                                             armilla_cluster_number *number)
{
    armilla_clustering_number_sized(clustering, index, number, sizeof *number);
}

/* How well clusters of a model's codes hold together and apart. */
typedef struct armilla_cluster_quality {
    size_t size;
    double angle;      /* mean angle, in radians, of codes with the mean direction of their cluster */
    double silhouette; /* mean over all samples, by cosine distance (1 - cosine); NaN where there is one cluster */
} armilla_cluster_quality;

ARMILLA_API armilla_status armilla_clustering_judge_sized(armilla_context *context,
                                                          const armilla_clustering *clustering,
                                                          const armilla_model *model, armilla_cluster_quality *quality,
                                                          size_t size);
/* Judges a clustering of the model's samples, all of whose labels and codes are here. */
static inline armilla_status armilla_clustering_judge(armilla_context *context, const armilla_clustering *clustering,
                                                      const armilla_model *model, armilla_cluster_quality *quality)
{
    return armilla_clustering_judge_sized(context, clustering, model, quality, sizeof *quality);
}

/* Whether samples form groups at all: the best cut through the graph of nearest neighbours of at most 600 of them, beside
 * those of data without groups that are made from these, or where both are near 0 the gap between groups, which the reason
 * then says (docs/clustering.md). The same bits on any number of threads. */
typedef struct armilla_structure {
    size_t size;
    const char *verdict; /* "structure", "no structure" or "not judged" */
    const char *reason;  /* in words */
    double cut;          /* the part of the edges' weight between communities, over what chance puts there */
    double expected;     /* the same in data without groups, of the kind that comes nearest */
    double ratio;        /* of these two, two hundredths added to both: below ARMILLA_MOST_RATIO is structure */
    double score;      /* where the least difference of their logarithms is ARMILLA_LEAST_SCORE standard deviations, */
    double dependence; /* and neighbours are nearer than with shuffled features by ARMILLA_LEAST_DEPENDENCE of them */
    int64_t communities;                 /* of the best cut */
    int64_t samples, distinct, features; /* that were looked at */
    const char *beside;                  /* the kind that comes nearest */
    bool is_structure;                   /* the verdict is the first of the three */
} armilla_structure;

/* The limits. */
#define ARMILLA_MOST_RATIO 0.65
#define ARMILLA_LEAST_SCORE 3.0
#define ARMILLA_LEAST_DEPENDENCE 4.5

ARMILLA_API armilla_status armilla_structure_of_data_sized(armilla_context *context, const armilla_data *X,
                                                           const armilla_options *preparation,
                                                           const armilla_cluster_options *options,
                                                           armilla_structure *structure, size_t size);
/* Judges the samples of X, prepared as armilla_cluster_data does. Among the options method (by distance or by angle),
 * seed and threads count. Figures that were not found are NaN; what the context's watch stops, and ranks, are not
 * judged. */
static inline armilla_status armilla_structure_of_data(armilla_context *context, const armilla_data *X,
                                                       const armilla_options *preparation,
                                                       const armilla_cluster_options *options,
                                                       armilla_structure *structure)
{
    return armilla_structure_of_data_sized(context, X, preparation, options, structure, sizeof *structure);
}
ARMILLA_API armilla_status armilla_structure_of_model_sized(armilla_context *context, const armilla_data *X,
                                                            const armilla_model *model,
                                                            const armilla_cluster_options *options,
                                                            armilla_structure *structure, size_t size);
/* The same of the data that the model is a fit of, with its preparation; X may be NULL: of its codes, where these are on a
 * sphere or free. */
static inline armilla_status armilla_structure_of_model(armilla_context *context, const armilla_data *X,
                                                        const armilla_model *model,
                                                        const armilla_cluster_options *options,
                                                        armilla_structure *structure)
{
    return armilla_structure_of_model_sized(context, X, model, options, structure, sizeof *structure);
}

/* The model keeps these clusters of its samples, and its file will: labels, and the means of codes. */
ARMILLA_API armilla_status armilla_model_keep_clusters(armilla_context *context, armilla_model *model,
                                                       const armilla_clustering *clustering);
/* The labels of the n samples that the model keeps, and in *k (may be NULL) of how many clusters; NULL where it keeps
 * none. */
ARMILLA_API const int64_t *armilla_model_clusters(const armilla_model *model, int64_t *k);
/* Clusters of new samples by those that the model keeps. A sample that has a training sample's code, to the last bit, has
 * that sample's label; any other belongs to the centre that is nearest (kmeans: by angle, euclidean: by distance), with
 * argmax to the atom that contributes most, and with clusters of any other origin where most of its 15 nearest training
 * samples belong, each with a vote of one over its squared angle. Features are matched by name. threads <= 0: all cores. */
ARMILLA_API armilla_status armilla_model_predict(armilla_context *context, const armilla_model *model,
                                                 const armilla_data *X, int threads, int64_t *labels);

/* What is asked of armilla_cluster_choose beside the options, and why it has chosen; begins as {.size = sizeof choice}.
 * Strings belong to the library. */
typedef struct armilla_cluster_choice {
    size_t size;
    bool on_data;    /* asked: the prepared data are clustered, nothing is fitted */
    bool unprepared; /* asked: no preparation is chosen */
    const char
        *kind; /* what the data were taken for: "counts", "units", "signs", "zeros" or "other"; NULL: not looked at */
    const char *preparation_reason, *method_reason;
} armilla_cluster_choice;

/* The clusters that are assumed where their number is to be found. */
#define ARMILLA_ASSUMED_CLUSTERS 10

/* What armilla cluster does with data where something is left open (docs/clustering.md): sets the preparation of the fit,
 * unless a step of it is given or choice->unprepared; its rank where that is 0; and the method where that is NULL. Named
 * sets (model, basis, codes) and "argmax" have an atom for each cluster and are not centred; they, a given preparation and
 * choice->on_data have the method "kmeans". clusters->k may be 0, unless the samples are too few for their number to be
 * found. */
ARMILLA_API armilla_status armilla_cluster_choose(armilla_context *context, const armilla_data *X, armilla_options *fit,
                                                  armilla_cluster_options *clusters, armilla_cluster_choice *choice);
/* *method = the one that it takes, which depends on no data. */
ARMILLA_API armilla_status armilla_cluster_default_method(armilla_context *context, const armilla_options *fit,
                                                          const armilla_cluster_options *clusters,
                                                          const armilla_cluster_choice *choice, const char **method);
/* The rank that it takes for k clusters (0: of a number to be found) of data of that shape. */
ARMILLA_API int64_t armilla_cluster_rank(int64_t features, int64_t samples, int64_t k);

/* The same of options in which no step of the preparation is given, whatever they say, and nothing else is asked. */
ARMILLA_API armilla_status armilla_cluster_recipe(armilla_context *context, const armilla_data *X, armilla_options *fit,
                                                  armilla_cluster_options *clusters);

/* Classes as numbers from 0 in the order of labels: by number where all labels are numbers, otherwise by text, byte by
 * byte. Missing labels (no text, and what pandas takes for it: nan, NA, None and the like) are one class, the last. An empty
 * list is all zeros. */
typedef struct armilla_labels {
    size_t size;
    int64_t count, classes;
    int64_t *values;
    int64_t missing; /* samples whose label is missing */
} armilla_labels;

ARMILLA_API armilla_status armilla_labels_open_sized(armilla_context *context, const char *path, armilla_labels *labels,
                                                     size_t size);
ARMILLA_API armilla_status armilla_labels_of_data_sized(armilla_context *context, const armilla_data *data,
                                                        armilla_labels *labels, size_t size);
ARMILLA_API armilla_status armilla_labels_of_model_sized(armilla_context *context, const armilla_model *model,
                                                         armilla_labels *labels, size_t size);
ARMILLA_API armilla_status armilla_labels_open_pair_sized(armilla_context *context, const char *path, const char *other,
                                                          armilla_labels *labels, armilla_labels *others, size_t size);
/* From a file: text with one label (any word) per line or, of two columns, beside the name of its sample; IDX or a vector
 * in an .npy. */
static inline armilla_status armilla_labels_open(armilla_context *context, const char *path, armilla_labels *labels)
{
    return armilla_labels_open_sized(context, path, labels, sizeof *labels);
}
/* From two files. The labels of the second are in the order of the first where both have the names of samples, missing
 * where it has none for a sample; ARMILLA_BAD_DATA where it names others. */
static inline armilla_status armilla_labels_open_pair(armilla_context *context, const char *path, const char *other,
                                                      armilla_labels *labels, armilla_labels *others)
{
    return armilla_labels_open_pair_sized(context, path, other, labels, others, sizeof *labels);
}
/* From the labels that data have; untouched where they have none. */
static inline armilla_status armilla_labels_of_data(armilla_context *context, const armilla_data *data,
                                                    armilla_labels *labels)
{
    return armilla_labels_of_data_sized(context, data, labels, sizeof *labels);
}
static inline armilla_status armilla_labels_of_model(armilla_context *context, const armilla_model *model,
                                                     armilla_labels *labels)
{
    return armilla_labels_of_model_sized(context, model, labels, sizeof *labels);
}
ARMILLA_API void armilla_labels_free(armilla_context *context, armilla_labels *labels);

typedef struct armilla_scores {
    size_t size;
    double accuracy; /* the best one-to-one matching of clusters with classes; NaN where it is too large to find */
    double nmi;      /* normalized mutual information, arithmetic mean */
    double ari;      /* adjusted Rand index */
    double ami;      /* adjusted mutual information, arithmetic mean */
    double purity; /* samples that are of the class most frequent in their cluster; NaN, as accuracy, without samples */
} armilla_scores;

ARMILLA_API armilla_status armilla_score_sized(armilla_context *context, int64_t n, const int64_t *labels,
                                               const int64_t *truth, armilla_scores *scores, size_t size);
/* Scores of n labels, which may be any numbers, against n classes. */
static inline armilla_status armilla_score(armilla_context *context, int64_t n, const int64_t *labels,
                                           const int64_t *truth, armilla_scores *scores)
{
    return armilla_score_sized(context, n, labels, truth, scores, sizeof *scores);
}

#ifdef __cplusplus
}
#endif

#endif
