/* Weights of nearest neighbours, and sums of graphs: merges of sorted rows. */
#include "graph/weights.h"

#include "base/size.h"

#include <math.h>
#include <string.h>

/* The neighbour whose distance is the scale of a sample (Zelnik-Manor and Perona, 2004). */
enum { SCALE_NEIGHBOR = 7 };
/* What an edge weighs at least: one that is there connects. */
#define LEAST_WEIGHT 1e-12

static double squared_distance(float cosine)
{
    return fmax(2 - 2 * (double)cosine, 0);
}

/* The distance to the 7th neighbour, by rank among the row's cosines, in whatever order they stand. */
static double own_scale(const armilla_graph *neighbors, int64_t i)
{
    double nearest[SCALE_NEIGHBOR];
    int count = 0;
    for (int64_t e = neighbors->starts[i]; e < neighbors->starts[i + 1]; e++) {
        const double d = squared_distance(neighbors->weights[e]);
        if (!(neighbors->weights[e] > 0)) continue;
        int place = count < SCALE_NEIGHBOR ? count++ : SCALE_NEIGHBOR;
        for (; place > 0 && nearest[place - 1] > d; place--)
            if (place < SCALE_NEIGHBOR) nearest[place] = nearest[place - 1];
        if (place < SCALE_NEIGHBOR) nearest[place] = d;
    }
    return count > 0 ? sqrt(nearest[count - 1]) : 0;
}

/* Cosines in single precision do not tell a distance below this from 0. */
#define SAME_PLACE 1e-3

static void find_scales(const armilla_graph *neighbors, double *scales)
{
    double least = INFINITY;
    for (int64_t i = 0; i < neighbors->rows; i++) {
        scales[i] = own_scale(neighbors, i);
        if (scales[i] > SAME_PLACE) least = fmin(least, scales[i]);
    }
    for (int64_t i = 0; i < neighbors->rows; i++)
        if (!(scales[i] > SAME_PLACE)) scales[i] = isfinite(least) ? least : 1;
}

/* The transposed matrix without the entries that are not positive; its rows are sorted whatever the order within those of
 * the graph. */
static armilla_status transpose(armilla_context *context, const armilla_graph *graph, armilla_graph *made)
{
    int64_t entries = 0;
    for (int64_t e = 0; e < armilla_graph_entries(graph); e++) entries += graph->weights[e] > 0;
    const armilla_status status = armilla_graph_take(context, graph->columns, graph->rows, entries, made);
    if (status != ARMILLA_OK) return status;
    int64_t *starts = made->starts;
    for (int64_t e = 0; e < armilla_graph_entries(graph); e++)
        if (graph->weights[e] > 0) starts[graph->targets[e] + 1]++;
    for (int64_t i = 0; i < graph->columns; i++) starts[i + 1] += starts[i];
    for (int64_t i = 0; i < graph->rows; i++)
        for (int64_t e = graph->starts[i]; e < graph->starts[i + 1]; e++) {
            if (!(graph->weights[e] > 0)) continue;
            const int64_t place = starts[graph->targets[e]]++;
            made->targets[place] = i;
            made->weights[place] = graph->weights[e];
        }
    memmove(starts + 1, starts, (size_t)graph->columns * sizeof *starts);
    starts[0] = 0;
    return status;
}

typedef float (*joining)(float a, float b);

static float larger(float a, float b)
{
    return fmaxf(a, b);
}

static float both(float a, float b)
{
    return a + b;
}

/* Row i of a and b into the entries from `place` on, or counts them where targets is NULL. Returns where it ends. */
static int64_t merge_row(const armilla_graph *sides[2], int64_t i, joining join, const armilla_graph *made,
                         int64_t place)
{
    const armilla_graph *a = sides[0], *b = sides[1];
    int64_t x = a->starts[i], y = b->starts[i];
    while (x < a->starts[i + 1] || y < b->starts[i + 1]) {
        const int64_t s = x < a->starts[i + 1] ? a->targets[x] : INT64_MAX;
        const int64_t t = y < b->starts[i + 1] ? b->targets[y] : INT64_MAX;
        const float u = s <= t ? a->weights[x++] : 0, v = t <= s ? b->weights[y++] : 0;
        if (made->targets) {
            made->targets[place] = armilla_min64(s, t);
            made->weights[place] = join(u, v);
        }
        place++;
    }
    return place;
}

static armilla_status merge(armilla_context *context, const armilla_graph *a, const armilla_graph *b, joining join,
                            armilla_graph *made)
{
    const armilla_graph *sides[2] = {a, b}, counting = {.rows = a->rows};
    int64_t entries = 0;
    for (int64_t i = 0; i < a->rows; i++) entries = merge_row(sides, i, join, &counting, entries);
    const armilla_status status = armilla_graph_take(context, a->rows, a->columns, entries, made);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < a->rows; i++) made->starts[i + 1] = merge_row(sides, i, join, made, made->starts[i]);
    return status;
}

armilla_status armilla_graph_add(armilla_context *context, const armilla_graph *a, const armilla_graph *b,
                                 armilla_graph *sum)
{
    return merge(context, a, b, both, sum);
}

void armilla_graph_scale(armilla_graph *graph, float factor)
{
    for (int64_t e = 0; e < armilla_graph_entries(graph); e++) graph->weights[e] *= factor;
}

/* W of a graph's own directions, in place of cosines. */
static void weigh_entries(const armilla_graph *graph, const double *scales)
{
    for (int64_t i = 0; i < graph->rows; i++)
        for (int64_t e = graph->starts[i]; e < graph->starts[i + 1]; e++) {
            const double area = scales[i] * scales[graph->targets[e]];
            graph->weights[e] = (float)fmax(exp(-squared_distance(graph->weights[e]) / area), LEAST_WEIGHT);
        }
}

/* Steps of weighing and of what follows with the graph: the end of each is reported. */
enum { STEPS = 5 };

armilla_status armilla_graph_weigh(armilla_context *context, const armilla_graph *neighbors, armilla_graph *made)
{
    armilla_graph turned = {.rows = 0}, sorted = {.rows = 0};
    double *scales = NULL;
    armilla_status status = armilla_take(context, neighbors->rows, sizeof *scales, &scales);
    if (status == ARMILLA_OK) status = transpose(context, neighbors, &turned);
    (void)armilla_call_reached(context, 1, STEPS);
    if (status == ARMILLA_OK) {
        find_scales(neighbors, scales);
        weigh_entries(&turned, scales);
        (void)armilla_call_reached(context, 2, STEPS);
        status = transpose(context, &turned, &sorted);
        (void)armilla_call_reached(context, 3, STEPS);
    }
    if (status == ARMILLA_OK) status = merge(context, &sorted, &turned, larger, made);
    armilla_graph_release(context, &sorted);
    armilla_graph_release(context, &turned);
    armilla_release(context, scales);
    return status;
}
