/* Lists of the best, and what they are made from. */
#ifndef ARMILLA_CLUSTER_TOP_H
#define ARMILLA_CLUSTER_TOP_H

#include "base/order.h"
#include "model/model.h"

#include <armilla/top.h>

/* The best `most` entries by key, the largest first, of equal keys the smallest index; which does not depend on the order
 * in which they were offered. */
typedef struct armilla_best {
    int64_t count, most;
    double *keys;
    armilla_top_entry *entries;
} armilla_best;

struct armilla_top {
    armilla_context *context;
    int64_t groups;
    armilla_top_group *group;
    armilla_best *lists; /* groups x ARMILLA_TOP_LIST_COUNT */
};

enum { ARMILLA_MOST_TOP = 1000000 };

/* An entry to which nothing applies. */
armilla_top_entry armilla_top_entry_new(int64_t index);

armilla_status armilla_best_take(armilla_context *context, int64_t most, armilla_best *best);
void armilla_best_release(armilla_context *context, armilla_best *best);
void armilla_best_offer(armilla_best *best, double key, const armilla_top_entry *entry);

/* Space for that many groups; a list has at most as many entries as there are features or samples. */
armilla_status armilla_top_new(armilla_context *context, int64_t groups, int64_t count, const int64_t sizes[2],
                               armilla_top **top);
armilla_best *armilla_top_best(const armilla_top *top, int64_t group, armilla_top_list list);

/* *zero (n flags) = which samples have no direction: those of X as the model prepares them, or where X is NULL of the fit.
 * Released by the caller. */
armilla_status armilla_zeros_find(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                  bool **zero);

/* Angles between samples Uv as a model rebuilds them: <Uv, Uw> = v'Hw. */
typedef struct armilla_metric {
    int64_t r;
    double *H;      /* r x r, U'U; NULL: the identity */
    double *norms;  /* ||u_k|| */
    double *buffer; /* r */
} armilla_metric;

armilla_status armilla_metric_make(armilla_context *context, const armilla_model *model, armilla_metric *metric);
void armilla_metric_release(armilla_context *context, armilla_metric *metric);
/* Hv into to, r numbers. */
void armilla_metric_apply(const armilla_metric *metric, const double *v, double *to);

/* Two-sided p of the Mann-Whitney test by its normal approximation, corrected for ties and for continuity: rank_sum of
 * the `inside` samples among all, midranks from 1; ties is the sum of t^3 - t. 1 where nothing differs. */
double armilla_rank_test(int64_t inside, int64_t all, double rank_sum, double ties);
/* p corrected by Benjamini and Hochberg, in place; order is workspace for as many. */
void armilla_correct_many(int64_t count, double *p, armilla_keyed *order);

/* The features that set clusters apart, into the lists; labels are 0 ... top->groups-1. view: X as it was fitted. */
armilla_status armilla_markers_find(armilla_context *context, const armilla_model *model, const armilla_data *raw,
                                    const int64_t *labels, armilla_top *top);

#endif
