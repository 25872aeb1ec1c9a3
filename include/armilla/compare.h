/* Two models side by side: which atoms of the one are those of the other, how far apart the spaces are that they span, how
 * well both fit, and whether they sort samples alike. */
#ifndef ARMILLA_COMPARE_H
#define ARMILLA_COMPARE_H

#include <armilla/base.h>
#include <armilla/cluster.h>
#include <armilla/data.h>
#include <armilla/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct armilla_comparison armilla_comparison;

/* Pairs of numbers are of the first model and of the second. */
typedef struct armilla_comparison_summary {
    size_t size;
    int64_t m;             /* features, which are the same */
    int64_t ranks[2];      /* atoms */
    int64_t matched;       /* pairs of atoms: the smaller rank */
    int64_t dimensions[2]; /* of the spaces that the atoms span */
    int64_t principal;     /* angles between these: the smaller dimension */
    bool reordered;        /* features were matched by name, and stand in another order in the second model */
    bool lines;            /* atoms count as lines: one of the models may negate an atom and its codes */
    bool same_preparation; /* both take the same steps with the same parameters, so that their errors mean the same */
    double mean_angle;     /* of the matched atoms that have a direction, in radians; NaN where there is none */
    double largest_angle;
    double relative_errors[2]; /* what the models state, each of its own data */
    int64_t samples;           /* of X, or -1 where none were given */
    double data_errors[2];     /* relative errors of X, codes by armilla_model_transform; NaN without X */
    int64_t clustered;         /* samples whose clusters were compared; -1: the models are not known to have the same */
    int64_t kept;              /* the same of clusters that both models keep; -1: there are none to compare */
} armilla_comparison_summary;

/* Compares two models of the same features, which are matched by name where both have names. X (may be NULL): samples
 * whose errors and clusters are compared; without, the clusters are those of the codes in the models, where these have the
 * same samples. threads <= 0: all cores. ARMILLA_BAD_DATA where the features differ, with what differs in the message. */
ARMILLA_API armilla_status armilla_model_compare(armilla_context *context, const armilla_model *first,
                                                 const armilla_model *second, const armilla_data *X, int threads,
                                                 armilla_comparison **comparison);
ARMILLA_API void armilla_comparison_free(armilla_comparison *comparison);

ARMILLA_API void armilla_comparison_summarize_sized(const armilla_comparison *comparison,
                                                    armilla_comparison_summary *summary, size_t size);
/* What was found, in one struct. */
static inline void armilla_comparison_summarize(const armilla_comparison *comparison,
                                                armilla_comparison_summary *summary)
{
    armilla_comparison_summarize_sized(comparison, summary, sizeof *summary);
}

/* An atom of each model, and the angle between them in radians, NaN where one of them is zero. */
typedef struct armilla_atom_match {
    size_t size;
    int64_t atoms[2]; /* from 0 */
    bool negated;     /* the angle is that with the second atom negated */
    double angle;
} armilla_atom_match;

ARMILLA_API bool armilla_comparison_match_sized(const armilla_comparison *comparison, int64_t index,
                                                armilla_atom_match *match, size_t size);
/* Pair `index` of the matching with the least sum of angles, from 0, nearest first; false, and all of it 0, past the last.
 * A pair without an angle counts as opposite atoms do, and comes last. */
static inline bool armilla_comparison_match(const armilla_comparison *comparison, int64_t index,
                                            armilla_atom_match *match)
{
    return armilla_comparison_match_sized(comparison, index, match, sizeof *match);
}
/* The angle between every atom of the first model (rows) and of the second (columns), column-major, in radians: up to pi/2
 * where atoms count as lines, else up to pi; NaN where one is zero. */
ARMILLA_API const double *armilla_comparison_angles(const armilla_comparison *comparison);
/* The principal angles between the two spaces, rising, in radians; as many as the summary says. */
ARMILLA_API const double *armilla_comparison_principal(const armilla_comparison *comparison);

ARMILLA_API bool armilla_comparison_scores_sized(const armilla_comparison *comparison, armilla_scores *scores,
                                                 size_t size);
/* How well the clusters of the second model agree with those of the first; false, and all of it 0, where there are none. A
 * sample belongs to the atom that contributes most to it, as with armilla_cluster_model by "argmax". */
static inline bool armilla_comparison_scores(const armilla_comparison *comparison, armilla_scores *scores)
{
    return armilla_comparison_scores_sized(comparison, scores, sizeof *scores);
}

ARMILLA_API bool armilla_comparison_kept_scores_sized(const armilla_comparison *comparison, armilla_scores *scores,
                                                      size_t size);
/* The same of the clusters that both models keep, of the samples that they were fitted to. */
static inline bool armilla_comparison_kept_scores(const armilla_comparison *comparison, armilla_scores *scores)
{
    return armilla_comparison_kept_scores_sized(comparison, scores, sizeof *scores);
}

#ifdef __cplusplus
}
#endif

#endif
