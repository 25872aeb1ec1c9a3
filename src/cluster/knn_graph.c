/* The graph of samples, and codes that are smoothed along it. */
#include "cluster/knn_graph.h"

#include "base/size.h"
#include "cluster/decision.h"
#include "cluster/partition.h"
#include "data/column.h"
#include "data/sparse.h"
#include "graph/neighbors.h"
#include "graph/smooth.h"
#include "graph/weights.h"

#include <math.h>

/* Steps of smoothing. */
enum { STEPS = 10 };

void armilla_unit_copy(int64_t count, const double *from, float *to)
{
    double most = 0, square = 0;
    for (int64_t i = 0; i < count; i++) most = fmax(most, fabs(from[i]));
    const double unit = most > 0 ? 1 / most : 0;
    for (int64_t i = 0; i < count; i++) square += from[i] * unit * (from[i] * unit);
    const double factor = square > 0 ? 1 / sqrt(square) : 0;
    for (int64_t i = 0; i < count; i++) to[i] = (float)(from[i] * unit * factor);
}

bool armilla_graph_samples_are_table(const armilla_graph_samples *samples)
{
    const armilla_data *X = samples->X;
    return samples->k > 0 && !samples->centered && X && !armilla_sparse_of(X) && X->m > 1 &&
           X->m <= armilla_thresholds_default.table_features;
}

/* Up to four graphs of twice the neighbours each, 12 bytes an edge, two at a time as they are added; the sum in double; and
 * the arrays of nodes, runs, smoothed codes and standardized features. */
double armilla_knn_graph_bytes(const armilla_graph_samples *samples)
{
    const int64_t neighbors = armilla_decide_neighbors(samples->n, samples->k, &armilla_thresholds_default);
    const double codes = samples->codes ? (double)samples->codes->m : 0;
    const double standardized = armilla_graph_samples_are_table(samples) ? (double)samples->X->m : 0;
    const double edges = (standardized > 0 ? 4 : 3) * 2.0 * (double)neighbors;
    return (double)samples->n *
           (edges * (2 * 12 + 16) + 8 * (ARMILLA_PARTITION_ORDERS + 16) + sizeof(float) * (3 * codes + standardized));
}

/* The statistics of the data's features, which the distance of neighbours and standardizing both need. */
typedef struct data_view {
    armilla_feature_statistics features;
    double neighbor_distance;
} data_view;

/* *made = the weighted graph of `of`; view is NULL, or `of` are the data. */
static armilla_status weigh_neighbors(const armilla_graph_samples *samples, const armilla_data *of, data_view *view,
                                      armilla_graph *made)
{
    const armilla_thresholds *t = &armilla_thresholds_default;
    armilla_context *context = samples->context;
    armilla_graph neighbors = {.rows = 0};
    const armilla_neighbors_plan plan = {.count = armilla_decide_neighbors(samples->n, samples->k, t),
                                         .recall = samples->n > t->exact_samples ? t->recall : 1,
                                         .seed = samples->seed};
    armilla_status status = armilla_neighbors_find(context, NULL, of, &plan, &neighbors, NULL);
    armilla_call_phase(context, ARMILLA_PHASE_WEIGHTS);
    if (status == ARMILLA_OK && view)
        status = armilla_feature_statistics_find(context, of, ARMILLA_FEATURE_DEVIATIONS, &view->features);
    if (status == ARMILLA_OK && view)
        view->neighbor_distance = armilla_neighbor_distance(of->m, &view->features, &neighbors);
    if (status == ARMILLA_OK) status = armilla_graph_weigh(context, &neighbors, made);
    armilla_graph_release(context, &neighbors);
    return status;
}

/* sum += the graph of `of`, `times` over. */
static armilla_status add_graph(const armilla_graph_samples *samples, const armilla_data *of, int times,
                                armilla_graph *sum)
{
    armilla_graph own = {.rows = 0}, both = {.rows = 0};
    armilla_status status = weigh_neighbors(samples, of, NULL, &own);
    if (status == ARMILLA_OK && times > 1) armilla_graph_scale(&own, (float)times);
    if (status == ARMILLA_OK && sum->rows == 0) {
        *sum = own;
        return status;
    }
    if (status == ARMILLA_OK) status = armilla_graph_add(samples->context, sum, &own, &both);
    armilla_graph_release(samples->context, &own);
    if (status != ARMILLA_OK) return status;
    armilla_graph_release(samples->context, sum);
    *sum = both;
    return status;
}

/* The first numbers of every code, of length 1. */
static armilla_status copy_codes(const armilla_graph_samples *samples, int64_t count, float **made)
{
    const armilla_data *codes = samples->codes;
    const size_t size = armilla_type_size(codes->type);
    int64_t stride = 0, numbers = 0;
    const char *from = armilla_data_dense(codes, &stride);
    double *code = NULL;
    if (!armilla_size_area(count, codes->n, &numbers)) numbers = -1;
    armilla_status status = armilla_take(samples->context, numbers, sizeof **made, made);
    if (status == ARMILLA_OK) status = armilla_take(samples->context, count, sizeof *code, &code);
    for (int64_t j = 0; j < codes->n && status == ARMILLA_OK; j++) {
        armilla_fetch(codes->type, count, from + (size_t)(j * stride) * size, code);
        armilla_unit_copy(count, code, *made + j * count);
    }
    armilla_release(samples->context, code);
    return status;
}

/* The graph of the codes, and that of their first numbers: where these are all, the same counts twice. */
static armilla_status add_codes(const armilla_graph_samples *samples, armilla_graph *sum)
{
    const armilla_thresholds *t = &armilla_thresholds_default;
    const int64_t few = t->short_codes * (samples->k > 0 ? samples->k : t->assumed_clusters);
    armilla_data *first = NULL;
    float *numbers = NULL;
    if (few >= samples->codes->m) return add_graph(samples, samples->codes, 2, sum);
    armilla_status status = add_graph(samples, samples->codes, 1, sum);
    if (status == ARMILLA_OK) status = copy_codes(samples, few, &numbers);
    if (status == ARMILLA_OK)
        status = armilla_data_borrow_dense(samples->context, ARMILLA_F32, numbers, few, samples->n, &first);
    if (status == ARMILLA_OK) status = add_graph(samples, first, 1, sum);
    armilla_data_free(first);
    armilla_release(samples->context, numbers);
    return status;
}

/* The graph of a table's samples with features of one spread. */
static armilla_status add_standardized(const armilla_graph_samples *samples, const armilla_feature_statistics *features,
                                       int times, armilla_graph *sum)
{
    armilla_data *data = NULL;
    float *numbers = NULL;
    armilla_status status = armilla_graph_samples_standardize(samples, features, &numbers);
    if (status == ARMILLA_OK)
        status = armilla_data_borrow_dense(samples->context, ARMILLA_F32, numbers, samples->X->m, samples->n, &data);
    if (status == ARMILLA_OK) status = add_graph(samples, data, times, sum);
    armilla_data_free(data);
    armilla_release(samples->context, numbers);
    return status;
}

armilla_status armilla_knn_graph_make(const armilla_graph_samples *samples, armilla_graph *made,
                                      double *neighbor_distance)
{
    const bool is_table = armilla_graph_samples_are_table(samples);
    const int others = (samples->X != NULL) + 2 * (samples->codes != NULL);
    const int standardized = is_table ? others : 0; /* as much as the others together */
    data_view view = {.neighbor_distance = 1};
    armilla_status status = ARMILLA_OK;
    *made = (armilla_graph){.rows = 0};
    if (samples->X) status = weigh_neighbors(samples, samples->X, neighbor_distance || is_table ? &view : NULL, made);
    if (status == ARMILLA_OK && samples->codes) status = add_codes(samples, made);
    if (status == ARMILLA_OK && is_table) status = add_standardized(samples, &view.features, standardized, made);
    if (status == ARMILLA_OK) armilla_graph_scale(made, 1 / (float)(others + standardized));
    if (status != ARMILLA_OK) armilla_graph_release(samples->context, made);
    if (status == ARMILLA_OK && neighbor_distance) *neighbor_distance = view.neighbor_distance;
    armilla_feature_statistics_release(samples->context, &view.features);
    return status;
}

armilla_status armilla_codes_smooth(const armilla_graph_samples *samples, const armilla_graph *graph, float **Z)
{
    const int64_t r = samples->codes->m;
    double *code = NULL;
    armilla_call_phase(samples->context, ARMILLA_PHASE_SMOOTHING);
    armilla_status status = copy_codes(samples, r, Z);
    if (status == ARMILLA_OK) status = armilla_take(samples->context, r, sizeof *code, &code);
    if (status == ARMILLA_OK) status = armilla_graph_smooth(samples->context, graph, r, STEPS, *Z);
    for (int64_t j = 0; j < samples->n && status == ARMILLA_OK; j++) {
        armilla_fetch(ARMILLA_F32, r, *Z + j * r, code);
        armilla_unit_copy(r, code, *Z + j * r);
    }
    armilla_release(samples->context, code);
    return status;
}
