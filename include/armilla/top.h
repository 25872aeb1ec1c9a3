/* What atoms and clusters are about: the features and samples at the top of their lists. */
#ifndef ARMILLA_TOP_H
#define ARMILLA_TOP_H

#include <armilla/base.h>
#include <armilla/cluster.h>
#include <armilla/data.h>
#include <armilla/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lists of the atoms of a model, or of clusters. */
typedef struct armilla_top armilla_top;

/* The lists of an atom or a cluster. */
typedef enum armilla_top_list {
    ARMILLA_TOP_FEATURES, /* of an atom: by the size of their weight; of a cluster: those that set it apart, by effect */
    ARMILLA_TOP_DISTINCTIVE, /* of an atom: features by the size of their weight times their lift; clusters have none */
    ARMILLA_TOP_TYPICAL,     /* samples at the smallest angles */
    ARMILLA_TOP_ODD,         /* of a cluster: samples at the largest angles; atoms have none */
    ARMILLA_TOP_LIST_COUNT
} armilla_top_list;

/* An atom or a cluster. */
typedef struct armilla_top_group {
    size_t size;
    /* The share of an atom in the sum of all squared contributions, (V_kj ||u_k||)^2; of a cluster in the number of
     * samples. */
    double share;
    int64_t samples;  /* of a cluster; of an atom those to which it contributes most (armilla/cluster.h) */
    double coherence; /* of a cluster: the mean cosine of its samples with the mean of their directions; of atoms NaN */
    /* Samples that are 0, of the cluster, or of an atom all: they have no angle, are in no list, and count for neither
     * coherence nor an atom's share and samples. */
    int64_t zeros;
} armilla_top_group;

/* A feature or a sample in a list; NaN is what does not apply. */
typedef struct armilla_top_entry {
    size_t size;
    int64_t index; /* of the feature or sample, from 0 */
    double weight; /* U_ik */
    /* The feature's part of the atom, |U_ik| / sum_i |U_ik|, over the mean of its parts of all atoms: 0 to the rank. */
    double lift;
    double inside, outside; /* means of the feature over the samples of the cluster, and over all others */
    double effect;          /* their difference in units of the pooled standard deviation (Cohen's d) */
    double p;     /* of a rank test (Mann-Whitney, two-sided), corrected for all features (Benjamini-Hochberg) */
    double angle; /* in radians, of a sample with the atom, or with the mean direction of the cluster */
} armilla_top_entry;

/* At most `count` entries in each list of each atom. Samples are those of X, as the model prepares them; where X is NULL
 * those of the fit, as the model rebuilds them. threads <= 0: all cores. */
ARMILLA_API armilla_status armilla_top_atoms(armilla_context *context, const armilla_model *model,
                                             const armilla_data *X, int64_t count, int threads, armilla_top **top);
/* The same for clusters: of the samples of X, whose numbers come from its labels (0 ... classes-1), or where X is NULL of the fit. Angles are those of samples as the model rebuilds them. Features are
 * compared as the model prepares X, but for centring; where X is NULL the means are those of rebuilt samples, and there
 * is no effect. The rank test is made where X is of counts: whole numbers, none negative. */
ARMILLA_API armilla_status armilla_top_clusters(armilla_context *context, const armilla_model *model,
                                                const armilla_data *X, const armilla_labels *labels, int64_t count,
                                                armilla_top **top);
ARMILLA_API void armilla_top_free(armilla_top *top);

/* How many atoms or clusters there are. */
ARMILLA_API int64_t armilla_top_count(const armilla_top *top);
ARMILLA_API bool armilla_top_group_get_sized(const armilla_top *top, int64_t group, armilla_top_group *found,
                                             size_t size);
/* Atom or cluster number `group`, from 0; false, and all of it 0, past the last. */
static inline bool armilla_top_group_get(const armilla_top *top, int64_t group, armilla_top_group *found)
{
    return armilla_top_group_get_sized(top, group, found, sizeof *found);
}
ARMILLA_API bool armilla_top_entry_get_sized(const armilla_top *top, int64_t group, armilla_top_list list,
                                             int64_t place, armilla_top_entry *found, size_t size);
/* The entry at that place of the group's list, from 0; false, and all of it 0, past the last. */
static inline bool armilla_top_entry_get(const armilla_top *top, int64_t group, armilla_top_list list, int64_t place,
                                         armilla_top_entry *found)
{
    return armilla_top_entry_get_sized(top, group, list, place, found, sizeof *found);
}

#ifdef __cplusplus
}
#endif

#endif
