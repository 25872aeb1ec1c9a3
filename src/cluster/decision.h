/* What armilla cluster takes where nothing is said: pure functions from what was asked for, evidence (cluster/evidence.h)
 * and named thresholds to a choice with its reason. They see no data (tests/unit/test_decision.c). The values of the
 * thresholds were chosen on labelled sets (docs/clustering.md, which also has the sets that were kept aside). */
#ifndef ARMILLA_CLUSTER_DECISION_H
#define ARMILLA_CLUSTER_DECISION_H

#include <armilla/cluster.h>

/* Every number that a choice depends on. */
typedef struct armilla_thresholds {
    /* The preparation. */
    double small_count;      /* counts: the largest entry that is a small one; */
    double small_share;      /* the least share of small ones among entries that are not 0, which pixels do not have; */
    double absent_share;     /* and the least share of zeros in dense data */
    double spread_share;     /* units: the share of the features that have the spread is below this, */
    double spread_features;  /* or their number below this; */
    double median_deviation; /* and the median deviation below this part of the largest */
    double negative_share;   /* mixed signs: the least share of negative entries */
    double empty_share;      /* samples of zeros, which have no angle before they are centred: more than this share */
    /* The fit. */
    int64_t atoms;            /* rank for each cluster */
    int64_t assumed_clusters; /* where their number is to be found */
    /* The graph of nearest neighbours. */
    int64_t least_samples;    /* fewer have no graph */
    int64_t least_counted;    /* the number of clusters of fewer samples is not to be found */
    int64_t neighbors;        /* of a sample, at most; */
    int64_t fewest_neighbors; /* and at least, where half a cluster's samples are fewer */
    int64_t short_codes;      /* codes of that many numbers for each cluster have a graph of their own */
    int64_t exact_samples;    /* beyond so many samples */
    double recall;            /* this share of the neighbours is as good as all: .976 on 20000 samples cost nothing */
    int64_t table_features; /* of at most so many features, a standardized copy has a graph of its own; of more, scaling
                                 * gives too much weight to those that are nearly constant: the border of images */
    int64_t separate_samples; /* of more samples, communities at a resolution begin from those at the one above */
    /* Labels: communities, or k-means on smoothed or plain codes. */
    double near;        /* neighbours are near below this part of the squared distance between any two samples */
    int64_t least_each; /* communities of fewer samples each are chance where neighbours are not near; */
    int64_t least_near; /* and of a small table where they are */
    double
        least_modularity;  /* communities below this part of k-means' modularity are none: one has nearly all samples */
    double coverage_slack; /* communities are of one size, not of one kind, where k-means has that much more coverage */
    double least_coverage; /* of communities, below which classes overlap where neighbours are not near; */
    double least_smooth_coverage; /* and of smoothed codes, below which neighbours are mostly chance */
} armilla_thresholds;

extern const armilla_thresholds armilla_thresholds_default;

/* --- what was asked for --- */

typedef struct armilla_cluster_request {
    const char *method; /* NULL: any */
    int64_t k;          /* clusters; 0: to be found, or with argmax one for each atom */
    int64_t rank;       /* 0: any */
    bool named_sets;    /* the model, the basis or the codes are named */
    bool prepared;      /* a step of the preparation is given, or none is to be chosen */
    bool on_data;       /* nothing is fitted */
} armilla_cluster_request;

/* A word, and why. */
typedef struct armilla_choice {
    const char *word, *reason;
} armilla_choice;

/* The method. */
armilla_choice armilla_decide_method(const armilla_cluster_request *request);
/* The rank for data of m features and n samples; 0 where nobody can say. */
int64_t armilla_decide_rank(const armilla_cluster_request *request, int64_t m, int64_t n,
                            const armilla_thresholds *thresholds);
/* The k-means of samples that have no graph worth the name. */
const char *armilla_decide_kmeans(bool codes, bool sparse);

/* --- the preparation --- */

/* What entries and features of data say. */
typedef struct armilla_data_evidence {
    int64_t m, n;
    bool sparse;              /* stored so */
    double fractions;         /* entries that are no counts: negative ones or not whole; */
    double present;           /* entries that are not 0; */
    double small;             /* of these, those of at most small_count; */
    double negative;          /* and the negative ones */
    double empty;             /* samples that are 0 */
    bool rare;                /* of counts: a feature is in some samples and not in others */
    bool varies;              /* of other dense data: a feature has a deviation; */
    double spread_features;   /* how many features have the spread, (sum v)^2 / sum v^2 of the variances v; */
    double median_deviation;  /* the upper median of the deviations, */
    double largest_deviation; /* and the largest */
} armilla_data_evidence;

typedef struct armilla_preparation_choice {
    armilla_choice kind; /* "counts", "units", "signs", "zeros" or "other" */
    bool log1p, tfidf, scale, center;
    bool plain_idf; /* the plain form of tf-idf, which leaves nothing where no feature is rare */
} armilla_preparation_choice;

/* Whether these are counts, by their entries alone. */
bool armilla_decide_counts(const armilla_data_evidence *evidence, const armilla_thresholds *thresholds);
/* Samples get length 1 in any case. Named sets and argmax are not centred: what is nonnegative could not follow. */
armilla_preparation_choice armilla_decide_preparation(const armilla_cluster_request *request,
                                                      const armilla_data_evidence *evidence,
                                                      const armilla_thresholds *thresholds);

/* --- labels by a graph --- */

/* What is known of samples before there is a graph. */
typedef struct armilla_graph_prospect {
    int64_t n, k;
    int64_t most_nodes;   /* of a graph */
    double bytes, memory; /* what graph and communities take at most, and what is left */
} armilla_graph_prospect;

/* NULL, or why there is to be no graph; *memory (may be NULL): that alone is the reason. */
const char *armilla_decide_no_graph(const armilla_graph_prospect *prospect, const armilla_thresholds *thresholds,
                                    bool *memory);

/* Neighbours of each of n samples that are to be k clusters; 0: of a number to be found. */
int64_t armilla_decide_neighbors(int64_t n, int64_t k, const armilla_thresholds *thresholds);

/* Labels as the graph sees them. */
typedef struct armilla_labels_evidence {
    int64_t count;     /* of clusters; 0: there are none */
    double modularity; /* at resolution 1 */
    double coverage;   /* the part of the edges' weight that is inside clusters */
} armilla_labels_evidence;

typedef struct armilla_graph_evidence {
    int64_t n, k;
    int64_t features, codes;             /* numbers of a sample in the data and in its code; 0: none */
    bool smooths;                        /* the method is smooth: no communities are sought */
    double neighbor_distance;            /* mean squared distance of the data's neighbours over that of all pairs */
    armilla_labels_evidence communities; /* count is not k where there are none of k */
    armilla_labels_evidence kmeans;      /* of the codes, smoothed where they can be; count 0: not yet */
} armilla_graph_evidence;

/* What labels come from: rows of armilla_label_sources. */
typedef enum armilla_label_source {
    ARMILLA_BY_COMMUNITIES,
    ARMILLA_BY_SMOOTHING,
    ARMILLA_BY_KMEANS
} armilla_label_source;

extern const char *const armilla_label_sources[];

typedef struct armilla_labels_choice {
    armilla_label_source by;
    const char *reason;
    bool open; /* k-means of that kind is to be made, kept, and compared: the choice is made again with its evidence */
} armilla_labels_choice;

armilla_labels_choice armilla_decide_labels(const armilla_graph_evidence *evidence,
                                            const armilla_thresholds *thresholds);

/* --- the number of clusters --- */

/* Whether so many communities of n samples may be clusters. */
bool armilla_decide_is_number(int64_t count, int64_t n);
/* How good a number is by the stability and the modularity of its communities; the largest is taken. */
double armilla_decide_number_score(double stability, double modularity);

#endif
