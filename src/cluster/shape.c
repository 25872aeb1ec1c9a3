/* The graph of samples, its communities and the smoothed codes. */
#include "cluster/shape.h"

#include "base/size.h"
#include "data/column.h"
#include "graph/neighbors.h"
#include "graph/smooth.h"
#include "graph/weights.h"

#include <math.h>
#include <string.h>

/* Neighbours of a sample: so many, and of few samples for each cluster half of these, but not fewer than that. */
enum { NEIGHBORS = 10, FEW_NEIGHBORS = 3, USUAL_CLUSTERS = 10 };
/* Beyond so many samples nearly all neighbours do as well as all: [P] of 20000 samples .976 cost nothing. */
enum { EXACT = 20000 };
#define RECALL 0.98
/* Codes of that many numbers for each cluster have a graph of their own beside the whole ones. */
enum { SHORT_CODES = 2 };
/* Steps of smoothing, and orders in which communities are sought. */
enum { STEPS = 10, ORDERS = 6 };
/* Fewer samples than that have no shape. */
enum { LEAST_SAMPLES = 5 };

void armilla_shape_unit(int64_t count, const double *from, float *to)
{
    double most = 0, square = 0;
    for (int64_t i = 0; i < count; i++) most = fmax(most, fabs(from[i]));
    const double unit = most > 0 ? 1 / most : 0;
    for (int64_t i = 0; i < count; i++) square += from[i] * unit * (from[i] * unit);
    const double factor = square > 0 ? 1 / sqrt(square) : 0;
    for (int64_t i = 0; i < count; i++) to[i] = (float)(from[i] * unit * factor);
}

bool armilla_shape_has_graph(const armilla_shape *shape)
{
    const bool fits = shape->n <= shape->context->most_narrow; /* graph/level.h */
    return shape->n >= LEAST_SAMPLES && shape->k != 1 && shape->k < shape->n && fits;
}

static int64_t neighbors_each(const armilla_shape *shape)
{
    const int64_t clusters = shape->k > 0 ? shape->k : USUAL_CLUSTERS;
    const int64_t half = armilla_max64(FEW_NEIGHBORS, shape->n / (2 * clusters));
    return armilla_min64(armilla_min64(NEIGHBORS, half), shape->n - 1);
}

/* Up to four graphs of twice the neighbours each, 12 bytes an edge, two at a time as they are added; the sum in double; and
 * the arrays of nodes, runs, smoothed codes and evened features. */
double armilla_shape_bytes(const armilla_shape *shape)
{
    const double codes = shape->codes ? (double)shape->codes->m : 0;
    const double even = armilla_shape_is_table(shape) ? (double)shape->X->m : 0;
    const double edges = (even > 0 ? 4 : 3) * 2.0 * (double)neighbors_each(shape);
    return (double)shape->n * (edges * (2 * 12 + 16) + 8 * (ORDERS + 16) + sizeof(float) * (3 * codes + even));
}

/* *made = the weighted graph of these samples; reach is NULL, or the samples are the data. */
static armilla_status weigh_neighbors(const armilla_shape *shape, const armilla_data *samples, armilla_graph *made,
                                      double *reach)
{
    armilla_graph neighbors = {.rows = 0};
    const armilla_neighbors_plan plan = {
        .count = neighbors_each(shape), .recall = shape->n > EXACT ? RECALL : 1, .seed = shape->seed};
    armilla_status status = armilla_neighbors_find(shape->context, NULL, samples, &plan, &neighbors, NULL);
    armilla_call_phase(shape->context, ARMILLA_PHASE_WEIGHTS);
    if (status == ARMILLA_OK && reach) status = armilla_shape_reach(shape, &neighbors, reach);
    if (status == ARMILLA_OK) status = armilla_graph_weigh(shape->context, &neighbors, made);
    armilla_graph_release(shape->context, &neighbors);
    return status;
}

/* sum += the graph of these samples, `times` over. */
static armilla_status add_graph(const armilla_shape *shape, const armilla_data *samples, int times, armilla_graph *sum)
{
    armilla_graph own = {.rows = 0}, both = {.rows = 0};
    armilla_status status = weigh_neighbors(shape, samples, &own, NULL);
    if (status == ARMILLA_OK && times > 1) armilla_graph_scale(&own, (float)times);
    if (status == ARMILLA_OK && sum->rows == 0) {
        *sum = own;
        return status;
    }
    if (status == ARMILLA_OK) status = armilla_graph_add(shape->context, sum, &own, &both);
    armilla_graph_release(shape->context, &own);
    if (status != ARMILLA_OK) return status;
    armilla_graph_release(shape->context, sum);
    *sum = both;
    return status;
}

/* The first numbers of every code, of length 1. */
static armilla_status copy_codes(const armilla_shape *shape, int64_t count, float **made)
{
    const armilla_data *codes = shape->codes;
    const size_t size = armilla_type_size(codes->type);
    int64_t stride = 0, numbers = 0;
    const char *from = armilla_data_dense(codes, &stride);
    double *code = NULL;
    if (!armilla_size_area(count, codes->n, &numbers)) numbers = -1;
    armilla_status status = armilla_take(shape->context, numbers, sizeof **made, made);
    if (status == ARMILLA_OK) status = armilla_take(shape->context, count, sizeof *code, &code);
    for (int64_t j = 0; j < codes->n && status == ARMILLA_OK; j++) {
        armilla_fetch(codes->type, count, from + (size_t)(j * stride) * size, code);
        armilla_shape_unit(count, code, *made + j * count);
    }
    armilla_release(shape->context, code);
    return status;
}

/* The graph of the codes, and that of their first numbers: where these are all, the same counts twice. */
static armilla_status add_codes(const armilla_shape *shape, armilla_graph *sum)
{
    const int64_t few = SHORT_CODES * (shape->k > 0 ? shape->k : USUAL_CLUSTERS);
    armilla_data *first = NULL;
    float *numbers = NULL;
    if (few >= shape->codes->m) return add_graph(shape, shape->codes, 2, sum);
    armilla_status status = add_graph(shape, shape->codes, 1, sum);
    if (status == ARMILLA_OK) status = copy_codes(shape, few, &numbers);
    if (status == ARMILLA_OK)
        status = armilla_data_borrow_dense(shape->context, ARMILLA_F32, numbers, few, shape->n, &first);
    if (status == ARMILLA_OK) status = add_graph(shape, first, 1, sum);
    armilla_data_free(first);
    armilla_release(shape->context, numbers);
    return status;
}

/* The graph of a table's samples with features of one spread. */
static armilla_status add_even(const armilla_shape *shape, int times, armilla_graph *sum)
{
    armilla_data *even = NULL;
    float *numbers = NULL;
    armilla_status status = armilla_shape_even(shape, &numbers);
    if (status == ARMILLA_OK)
        status = armilla_data_borrow_dense(shape->context, ARMILLA_F32, numbers, shape->X->m, shape->n, &even);
    if (status == ARMILLA_OK) status = add_graph(shape, even, times, sum);
    armilla_data_free(even);
    armilla_release(shape->context, numbers);
    return status;
}

armilla_status armilla_shape_graph(const armilla_shape *shape, armilla_graph *made, double *reach)
{
    const int others = (shape->X != NULL) + 2 * (shape->codes != NULL);
    const int even = armilla_shape_is_table(shape) ? others : 0; /* as much as the others together */
    armilla_status status = ARMILLA_OK;
    *made = (armilla_graph){.rows = 0};
    if (reach) *reach = 1;
    if (shape->X) status = weigh_neighbors(shape, shape->X, made, reach);
    if (status == ARMILLA_OK && shape->codes) status = add_codes(shape, made);
    if (status == ARMILLA_OK && shape->X && even > 0) status = add_even(shape, even, made);
    if (status == ARMILLA_OK) armilla_graph_scale(made, 1 / (float)(others + even));
    if (status != ARMILLA_OK) armilla_graph_release(shape->context, made);
    return status;
}

/* Runs in several orders. */
typedef struct ordered {
    int64_t *labels;       /* n of each order */
    int64_t *runs[ORDERS]; /* of those with k communities */
    int found;             /* how many these are */
} ordered;

/* How well each run agrees with the others: sums[i] over them. */
static armilla_status compare_runs(const armilla_shape *shape, const ordered *all, double *sums)
{
    armilla_status status = ARMILLA_OK;
    for (int i = 0; i < all->found; i++) sums[i] = 0;
    for (int i = 1; i < all->found; i++)
        for (int j = 0; j < i && status == ARMILLA_OK; j++) {
            double same = 0;
            status = armilla_agreement(shape->context, shape->n, all->runs[i], all->runs[j], &same);
            sums[i] += same;
            sums[j] += same;
        }
    return status;
}

/* What a task that is done has found. */
static void keep_run(const armilla_communities_task *task, ordered *all, armilla_parting *parting)
{
    if (task->count != task->k) return;
    parting->resolution = task->options.resolution;
    all->runs[all->found++] = task->labels;
}

/* The search of each order begins at the resolution where that of the one before has ended, which mostly is where it
 * began: so all orders that are left are taken to begin there, at the same time, and those that should not have are
 * searched again. Where the first has not k communities there is no other. */
static armilla_status run_orders(const armilla_shape *shape, const armilla_graph *graph, const armilla_level *fine,
                                 ordered *all, armilla_parting *parting)
{
    armilla_communities_task tasks[ORDERS];
    double resolution = 1;
    armilla_status status = ARMILLA_OK;
    for (int first = 0, done = 0; first < ORDERS && status == ARMILLA_OK; first += done) {
        armilla_call_step(shape->context, first, ORDERS + 1);
        for (int order = first; order < ORDERS; order++)
            tasks[order] = (armilla_communities_task){.graph = graph,
                                                      .fine = fine,
                                                      .k = shape->k,
                                                      .options = {resolution, shape->seed * ORDERS + (uint64_t)order},
                                                      .labels = all->labels + order * shape->n};
        status = armilla_communities_share(shape->context, tasks + first, ORDERS - first, true, &done);
        for (int i = first; i < first + done && status == ARMILLA_OK; i++) keep_run(&tasks[i], all, parting);
        resolution = tasks[first + done - 1].options.resolution;
        if (first == 0) parting->count = tasks[0].count;
        if (first == 0 && parting->count != shape->k) break;
    }
    return status;
}

armilla_status armilla_shape_communities(const armilla_shape *shape, const armilla_graph *graph,
                                         armilla_parting *parting)
{
    ordered all = {.found = 0};
    armilla_level fine = {.nodes = 0};
    int64_t numbers = 0;
    double sums[ORDERS];
    int best = 0;
    if (!armilla_size_area(ORDERS, shape->n, &numbers)) numbers = -1;
    armilla_status status = armilla_take(shape->context, numbers, sizeof *all.labels, &all.labels);
    if (status == ARMILLA_OK) status = armilla_level_of_graph(shape->context, graph, &fine);
    armilla_call_phase(shape->context, ARMILLA_PHASE_COMMUNITIES);
    if (status == ARMILLA_OK) status = run_orders(shape, graph, &fine, &all, parting);
    armilla_level_release(shape->context, &fine);
    if (status == ARMILLA_OK) status = compare_runs(shape, &all, sums);
    if (status == ARMILLA_OK && all.found > 0) {
        double sum = 0;
        for (int i = 0; i < all.found; i++) {
            sum += sums[i];
            if (sums[i] > sums[best]) best = i;
        }
        parting->stability = all.found > 1 ? sum / (all.found * (all.found - 1)) : 1;
        memcpy(parting->labels, all.runs[best], (size_t)shape->n * sizeof *parting->labels);
    }
    armilla_release(shape->context, all.labels);
    return status;
}

armilla_status armilla_shape_measure(const armilla_shape *shape, const armilla_graph *graph, armilla_parting *parting)
{
    double *sums = NULL, inside = 0, total = 0;
    const int64_t *labels = parting->labels;
    const armilla_status status = armilla_take(shape->context, parting->count, sizeof *sums, &sums);
    if (status != ARMILLA_OK) return status;
    parting->modularity = armilla_modularity(graph, labels, parting->count, 1, sums);
    for (int64_t i = 0; i < graph->rows; i++)
        for (int64_t e = graph->starts[i]; e < graph->starts[i + 1]; e++) {
            total += (double)graph->weights[e];
            if (labels[i] == labels[graph->targets[e]]) inside += (double)graph->weights[e];
        }
    parting->coverage = total > 0 ? inside / total : 0;
    armilla_release(shape->context, sums);
    return status;
}

armilla_status armilla_shape_smooth(const armilla_shape *shape, const armilla_graph *graph, float **Z)
{
    const int64_t r = shape->codes->m;
    double *code = NULL;
    armilla_call_phase(shape->context, ARMILLA_PHASE_SMOOTHING);
    armilla_status status = copy_codes(shape, r, Z);
    if (status == ARMILLA_OK) status = armilla_take(shape->context, r, sizeof *code, &code);
    if (status == ARMILLA_OK) status = armilla_graph_smooth(shape->context, graph, r, STEPS, *Z);
    for (int64_t j = 0; j < shape->n && status == ARMILLA_OK; j++) {
        armilla_fetch(ARMILLA_F32, r, *Z + j * r, code);
        armilla_shape_unit(r, code, *Z + j * r);
    }
    armilla_release(shape->context, code);
    return status;
}
