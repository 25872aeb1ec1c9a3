/* The preparation and rank that `armilla cluster DATA --k K` takes where nothing is said: chosen by measurement
 * (docs/clustering.md). Unit length always; log1p and tf-idf for counts; scale and centre for tables whose features have
 * different units, so that a few of them make up nearly all of the spread; centre where signs are mixed or samples are 0,
 * since the origin means nothing there. */
#include "base/workload.h"
#include "cluster/cluster.h"
#include "data/sparse.h"

#include "base/sized.h"
#include "model/model.h"

#include "base/size.h"
#include "base/team.h"
#include "data/column.h"
#include "data/preparation.h"
#include "data/slots.h"
#include "data/traverse.h"
#include "linalg/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Counts: whole numbers, most of them small, which pixels are not; of dense data nearly all are 0 besides. */
#define SMALL_COUNT 4.0
#define ABSENT_SHARE 0.9
/* Units: fewer than so many of the features have the spread, and the one in the middle has next to none beside the
 * largest. */
#define SPREAD_SHARE 0.125
#define MIDDLE_SPREAD (1.0 / 30)
/* Mixed signs: so many of all entries are negative. */
#define NEGATIVE_SHARE 0.2
/* So many samples of a table may be 0, which have no angle before it is centred: votes that are all No. */
#define EMPTY_SHARE 0.01
/* Atoms for each cluster. */
enum { ATOMS_PER_CLUSTER = 4, USUAL_CLUSTERS = 10 };

/* Of the entries: those that are no counts; that are not 0; of these the small ones; and the negative ones. Of the samples
 * those that are 0. */
enum { OTHERS, PRESENT, SMALL, NEGATIVE, EMPTY, SUMS };

static void look_at(int64_t count, const double *values, double *sums)
{
    for (int64_t i = 0; i < count; i++) {
        const double x = values[i];
        sums[OTHERS] += !(x >= 0 && x == floor(x));
        sums[PRESENT] += x != 0;
        sums[SMALL] += x != 0 && x <= SMALL_COUNT;
        sums[NEGATIVE] += x < 0;
    }
}

static armilla_status visit_entries(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const armilla_column_buffer buffer = armilla_column_buffer_of(self, thread);
    for (int64_t j = 0; j < panel->count; j++) {
        const armilla_column x = armilla_panel_column(panel, j, buffer);
        const double before = sums[PRESENT];
        look_at(x.count, x.values, sums);
        sums[EMPTY] += sums[PRESENT] == before;
    }
    return ARMILLA_OK;
}

static armilla_status survey_entries(armilla_context *context, const armilla_data *X, double *sums)
{
    armilla_column_buffers buffers = {0};
    armilla_traversal *traversal = NULL;
    const armilla_kernels *kernels = armilla_kernels_for(context, armilla_type_precision(X->type));
    const armilla_traversal_plan plan = {.X = X, .kernels = kernels, .length = SUMS};
    armilla_status status = armilla_traversal_new(context, &plan, &traversal);
    if (status == ARMILLA_OK)
        status = armilla_column_buffers_take(context, X, armilla_traversal_threads(traversal), &buffers);
    if (status == ARMILLA_OK) status = armilla_traverse(traversal, SUMS, visit_entries, &buffers, sums);
    armilla_column_buffers_release(context, &buffers);
    armilla_traversal_free(traversal);
    return status;
}

static bool are_counts(const armilla_data *X, const double *sums)
{
    const double absent = 1 - sums[PRESENT] / ((double)X->m * (double)X->n);
    return sums[OTHERS] == 0 && sums[PRESENT] > 0 && sums[SMALL] >= 0.5 * sums[PRESENT] &&
           (armilla_sparse_of(X) || absent >= ABSENT_SHARE);
}

/* How many features have the spread: (sum v)^2 / sum v^2 of the variances v, in any unit. */
static double effective(int64_t m, const double *deviations)
{
    const double unit = armilla_safe_scale(m, deviations, NULL);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < m; i++) {
        const double variance = unit * deviations[i] * (unit * deviations[i]);
        sum += variance;
        squares += variance * variance;
    }
    return squares > 0 ? sum * sum / squares : (double)m;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the deviations. */
static bool differ_in_unit(int64_t m, double *deviations)
{
    const double features = effective(m, deviations);
    qsort(deviations, (size_t)m, sizeof *deviations, compare);
    const double middle = deviations[m / 2], largest = deviations[m - 1];
    return features < fmax(SPREAD_SHARE * (double)m, 1.5) && middle < MIDDLE_SPREAD * largest;
}

/* Sparse data are no tables of measurements, and are not centred; nor are more features than samples, most of which would
 * be noise of the same weight. *varies: the samples are not all the same. */
static armilla_status have_units(armilla_context *context, const armilla_data *X, bool *units, bool *varies)
{
    armilla_feature_statistics found = {0};
    if (armilla_sparse_of(X)) return ARMILLA_OK;
    const armilla_status status = armilla_feature_statistics_find(context, X, ARMILLA_FEATURE_DEVIATIONS, &found);
    if (status == ARMILLA_OK) {
        *units = X->m > 1 && X->m <= X->n && differ_in_unit(X->m, found.deviations);
        for (int64_t i = 0; i < X->m; i++) *varies |= found.deviations[i] > 0;
    }
    armilla_feature_statistics_release(context, &found);
    return status;
}

/* Whether there is a feature that some samples have and others do not: else the plain form of tf-idf leaves nothing. */
static armilla_status have_rare(armilla_context *context, const armilla_data *X, bool *rare)
{
    armilla_feature_statistics found = {0};
    const armilla_status status = armilla_feature_statistics_find(context, X, ARMILLA_FEATURE_COUNTS, &found);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++)
        *rare |= found.counts[i] > 0 && found.counts[i] < (double)X->n;
    armilla_feature_statistics_release(context, &found);
    return status;
}

/* Whether the origin means nothing: signs are mixed, or it is a place among the samples. */
static bool needs_center(const armilla_data *X, const double *sums)
{
    return sums[NEGATIVE] >= NEGATIVE_SHARE * (double)X->m * (double)X->n || sums[EMPTY] > EMPTY_SHARE * (double)X->n;
}

static armilla_status choose(armilla_context *context, const armilla_data *X, armilla_options *fit,
                             armilla_cluster_options *clusters)
{
    bool units = false, varies = false, rare = false;
    double sums[SUMS] = {0};
    armilla_status status = armilla_call_enter_together(context, fit->threads);
    if (status != ARMILLA_OK) return status;
    armilla_call_plan(context, &(armilla_workload){.work = ARMILLA_WORK_RECIPE,
                                                   .samples = X->n,
                                                   .features = X->m,
                                                   .entries = armilla_sparse_of(X) ? armilla_data_stored(X) : 0});
    status = armilla_data_meet(context, X);
    if (status == ARMILLA_OK) status = survey_entries(context, X, sums);
    const bool counts = are_counts(X, sums);
    if (status == ARMILLA_OK && !counts) status = have_units(context, X, &units, &varies);
    if (status == ARMILLA_OK && counts) status = have_rare(context, X, &rare);
    status = armilla_call_leave_together(context, status);
    if (status != ARMILLA_OK) return status;
    fit->normalize = armilla_step_word(ARMILLA_STEP_NORMALIZE, true);
    fit->log1p = fit->tfidf = counts;
    if (counts && rare) fit->idf = armilla_step_form(ARMILLA_STEP_TFIDF, 1);
    fit->scale = units;
    fit->center = units || (varies && needs_center(X, sums));
    const bool finds = !clusters->method || strcmp(clusters->method, "graph") == 0;
    const int64_t most = armilla_min64(X->m, X->n), k = clusters->k == 0 && finds ? USUAL_CLUSTERS : clusters->k;
    if (fit->rank == 0) fit->rank = k > most / ATOMS_PER_CLUSTER ? most : ATOMS_PER_CLUSTER * k;
    if (!clusters->method) clusters->method = "graph";
    return ARMILLA_OK;
}

armilla_status armilla_cluster_recipe(armilla_context *context, const armilla_data *X, armilla_options *fit,
                                      armilla_cluster_options *clusters)
{
    armilla_options whole_fit;
    armilla_cluster_options whole_clusters;
    armilla_status status = ARMILLA_NOT_NULL(context, X, fit, clusters);
    if (status == ARMILLA_OK) status = armilla_options_read(context, fit, &whole_fit);
    if (status == ARMILLA_OK) status = armilla_cluster_options_read(context, clusters, &whole_clusters);
    if (status == ARMILLA_OK) status = choose(context, X, &whole_fit, &whole_clusters);
    if (status != ARMILLA_OK) return status;
    armilla_sized_write_back(&whole_fit, sizeof whole_fit, fit);
    armilla_sized_write_back(&whole_clusters, sizeof whole_clusters, clusters);
    return ARMILLA_OK;
}
