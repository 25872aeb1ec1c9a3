/* Evidence for the choices of armilla cluster. */
#include "cluster/evidence.h"

#include "base/order.h"
#include "data/column.h"
#include "data/sparse.h"
#include "data/traverse.h"
#include "linalg/dense.h"
#include "linalg/kernels.h"

#include <math.h>
#include <stdlib.h>

/* --- data --- */

/* Numbers of entries: those that are no counts; that are not 0; the small ones among these; and the negative ones. And
 * the number of samples that are 0. */
enum { FRACTIONS, PRESENT, SMALL, NEGATIVE, EMPTY, SUMS };

typedef struct survey {
    armilla_column_buffers buffers;
    double small_count;
} survey;

/* Adds the numbers of such entries to the sums but EMPTY. */
static void count_entries(int64_t count, const double *values, double small_count, double *sums)
{
    for (int64_t i = 0; i < count; i++) {
        const double x = values[i];
        sums[FRACTIONS] += !(x >= 0 && x == floor(x));
        sums[PRESENT] += x != 0;
        sums[SMALL] += x != 0 && x <= small_count;
        sums[NEGATIVE] += x < 0;
    }
}

static armilla_status visit_entries(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const survey *s = self;
    const armilla_column_buffer buffer = armilla_column_buffer_of(&s->buffers, thread);
    for (int64_t j = 0; j < panel->count; j++) {
        const armilla_column x = armilla_panel_column(panel, j, buffer);
        const double before = sums[PRESENT];
        count_entries(x.count, x.values, s->small_count, sums);
        sums[EMPTY] += sums[PRESENT] == before;
    }
    return ARMILLA_OK;
}

static armilla_status survey_entries(armilla_context *context, const armilla_data *X, double small_count, double *sums)
{
    survey s = {.small_count = small_count};
    armilla_traversal *traversal = NULL;
    const armilla_kernels *kernels = armilla_kernels_for(context, armilla_type_precision(X->type));
    const armilla_traversal_plan plan = {.X = X, .kernels = kernels, .length = SUMS};
    armilla_status status = armilla_traversal_new(context, &plan, &traversal);
    if (status == ARMILLA_OK)
        status = armilla_column_buffers_take(context, X, armilla_traversal_threads(traversal), &s.buffers);
    if (status == ARMILLA_OK) status = armilla_traverse(traversal, SUMS, visit_entries, &s, sums);
    armilla_column_buffers_release(context, &s.buffers);
    armilla_traversal_free(traversal);
    return status;
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

/* How the spread is divided among the features; sorts the deviations. */
static void measure_spread(int64_t m, double *deviations, armilla_data_evidence *evidence)
{
    evidence->spread_features = effective(m, deviations);
    for (int64_t i = 0; i < m; i++) evidence->varies |= deviations[i] > 0;
    qsort(deviations, (size_t)m, sizeof *deviations, armilla_by_number);
    evidence->median_deviation = deviations[m / 2];
    evidence->largest_deviation = deviations[m - 1];
}

/* Features of counts are searched for rare ones; those of other dense data have a spread. */
static armilla_status gather_features(armilla_context *context, const armilla_data *X, bool counts,
                                      armilla_data_evidence *evidence)
{
    armilla_feature_statistics found = {0};
    const int wanted = counts ? ARMILLA_FEATURE_COUNTS : ARMILLA_FEATURE_DEVIATIONS;
    if (!counts && evidence->sparse) return ARMILLA_OK;
    const armilla_status status = armilla_feature_statistics_find(context, X, wanted, &found);
    for (int64_t i = 0; i < X->m && counts && status == ARMILLA_OK; i++)
        evidence->rare |= found.counts[i] > 0 && found.counts[i] < (double)X->n;
    if (status == ARMILLA_OK && !counts) measure_spread(X->m, found.deviations, evidence);
    armilla_feature_statistics_release(context, &found);
    return status;
}

armilla_status armilla_data_evidence_gather(armilla_context *context, const armilla_data *X,
                                            const armilla_thresholds *thresholds, armilla_data_evidence *evidence)
{
    double sums[SUMS] = {0};
    armilla_data_evidence found = {.m = X->m, .n = X->n, .sparse = armilla_sparse_of(X) != NULL};
    armilla_status status = survey_entries(context, X, thresholds->small_count, sums);
    found.fractions = sums[FRACTIONS];
    found.present = sums[PRESENT];
    found.small = sums[SMALL];
    found.negative = sums[NEGATIVE];
    found.empty = sums[EMPTY];
    if (status == ARMILLA_OK) status = gather_features(context, X, armilla_decide_counts(&found, thresholds), &found);
    if (status == ARMILLA_OK) *evidence = found;
    return status;
}

/* --- graph --- */

armilla_status armilla_graph_evidence_gather(const armilla_graph_samples *samples, armilla_graph_findings *found,
                                             armilla_graph_evidence *evidence)
{
    armilla_context *context = samples->context;
    armilla_partition *communities = &found->communities;
    evidence->n = samples->n;
    evidence->k = samples->k;
    evidence->features = samples->X ? samples->X->m : 0;
    evidence->codes = samples->codes ? samples->codes->m : 0;
    armilla_status status = armilla_knn_graph_make(samples, &found->graph, &evidence->neighbor_distance);
    if (status != ARMILLA_OK || evidence->smooths) return status;
    status = armilla_take(context, samples->n, sizeof *communities->labels, &communities->labels);
    if (status == ARMILLA_OK) status = armilla_partition_find(samples, &found->graph, communities);
    if (status == ARMILLA_OK && communities->found.count == samples->k)
        status = armilla_partition_measure(context, &found->graph, communities->labels, &communities->found);
    if (status == ARMILLA_OK) evidence->communities = communities->found;
    return status;
}

void armilla_graph_findings_release(armilla_context *context, armilla_graph_findings *found)
{
    armilla_release(context, found->communities.labels);
    armilla_graph_release(context, &found->graph);
    *found = (armilla_graph_findings){.graph = {.rows = 0}};
}
