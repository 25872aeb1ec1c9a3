/* Nearest neighbours as a program sees them: their options, the object with its arrays, and a map of them. The calls that
 * know options of a fit and models are those of model/neighbors.c. */
#include "graph/neighbors_api.h"

#include "base/sized.h"
#include "graph/layout.h"
#include "graph/weights.h"

#include <math.h>
#include <string.h>

static const char *const kinds[] = {"cosine", "distance"};
enum { COSINE, DISTANCE, KINDS };

const char *armilla_neighbors_weight(size_t index)
{
    return index < KINDS ? kinds[index] : NULL;
}

#define AT(field) offsetof(armilla_neighbors_options, field)

static const armilla_option table[] = {
    {ARMILLA_OPTION_ROW("count"), .sized = true, .kind = ARMILLA_OPTION_INTEGER, .offset = AT(count), .preset = "10",
     .low = 1, .high = 1e9, .value = "K", .help = "neighbours of each sample"},
    {ARMILLA_OPTION_ROW("recall"), .sized = true, .kind = ARMILLA_OPTION_REAL, .offset = AT(recall), .preset = "1",
     .low = 0.01, .high = 1, .value = "R",
     .help = "the part of the nearest that is to be found, e.g. 0.98, measured on some samples: for many samples, "
             "where all products would take long; 1: all"},
    {ARMILLA_OPTION_ROW("weights"), .sized = true, .kind = ARMILLA_OPTION_WORD, .offset = AT(weights),
     .preset = "cosine", .choice = armilla_neighbors_weight, .value = "cosine|distance",
     .help = "what is written of each: the cosine, or the distance of the directions, sqrt(2 - 2cos)"},
    {.name = NULL},
};

const armilla_option *armilla_neighbors_option_table(void)
{
    return table;
}

void armilla_neighbors_options_default_sized(armilla_neighbors_options *options, size_t size)
{
    armilla_neighbors_options whole = {.size = sizeof whole};
    armilla_option_presets(table, &whole);
    armilla_sized_begin(&whole, sizeof whole, options, size);
}

armilla_status armilla_neighbors_options_read(armilla_context *context, const armilla_neighbors_options *options,
                                              armilla_neighbors_options *whole)
{
    armilla_neighbors_options_default(whole);
    const armilla_status status =
        armilla_sized_read(context, "armilla_neighbors_options", options, whole, sizeof *whole);
    if (status != ARMILLA_OK) return status;
    if (!whole->weights) whole->weights = kinds[COSINE];
    if (strcmp(whole->weights, kinds[COSINE]) != 0 && strcmp(whole->weights, kinds[DISTANCE]) != 0)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("weights '%s'") " are unknown; give cosine or distance", whole->weights);
    if (!(whole->recall > 0 && whole->recall <= 1))
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("recall %g") " is not above 0 and at most 1; give a part such as 0.98",
                            whole->recall);
    return ARMILLA_OK;
}

static void fill_summary(const armilla_neighbors_options *options, const armilla_neighbors_found *found,
                         armilla_neighbors *made)
{
    armilla_graph *graph = &made->graph;
    const bool distance = strcmp(options->weights, kinds[DISTANCE]) == 0;
    made->summary = (armilla_neighbors_summary){.rows = graph->rows,
                                                .columns = graph->columns,
                                                .count = options->count,
                                                .weights = kinds[distance ? DISTANCE : COSINE],
                                                .recall = found->recall,
                                                .checked = found->checked,
                                                .cells = found->cells,
                                                .probed = found->probed};
    for (int64_t i = 0; i < armilla_graph_entries(graph) && distance; i++)
        graph->weights[i] = (float)sqrt(2 - 2 * (double)graph->weights[i]);
}

armilla_status armilla_neighbors_new(armilla_context *context, const armilla_data *queries, const armilla_data *X,
                                     const armilla_neighbors_options *options, const char *precision,
                                     armilla_neighbors **neighbors)
{
    const armilla_neighbors_plan plan = {.count = options->count,
                                         .unit = true,
                                         .precision = precision,
                                         .recall = options->recall,
                                         .seed = (uint64_t)options->seed};
    armilla_neighbors *made = NULL;
    armilla_neighbors_found found = {.recall = 1};
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    *made = (armilla_neighbors){.context = context, .among = !queries};
    status = armilla_neighbors_find(context, queries, X, &plan, &made->graph, &found);
    if (status == ARMILLA_OK) {
        fill_summary(options, &found, made);
        *neighbors = made;
    } else {
        armilla_neighbors_free(made);
    }
    return status;
}

void armilla_neighbors_free(armilla_neighbors *neighbors)
{
    if (!neighbors) return;
    armilla_graph_release(neighbors->context, &neighbors->graph);
    armilla_release(neighbors->context, neighbors);
}

void armilla_neighbors_summarize_sized(const armilla_neighbors *neighbors, armilla_neighbors_summary *summary,
                                       size_t size)
{
    const armilla_neighbors_summary none = {.size = 0};
    armilla_sized_write(neighbors ? &neighbors->summary : &none, sizeof none, summary, size);
}

const int64_t *armilla_neighbors_starts(const armilla_neighbors *neighbors)
{
    return neighbors ? neighbors->graph.starts : NULL;
}

const int64_t *armilla_neighbors_targets(const armilla_neighbors *neighbors)
{
    return neighbors ? neighbors->graph.targets : NULL;
}

const float *armilla_neighbors_weights(const armilla_neighbors *neighbors)
{
    return neighbors ? neighbors->graph.weights : NULL;
}

/* *made = the graph with cosines for distances, where it has those. */
static armilla_status copy_cosines(armilla_context *context, const armilla_neighbors *neighbors, armilla_graph *made)
{
    const armilla_graph *from = &neighbors->graph;
    const int64_t entries = armilla_graph_entries(from);
    const bool distance = strcmp(neighbors->summary.weights, kinds[DISTANCE]) == 0;
    const armilla_status status = armilla_graph_take(context, from->rows, from->columns, entries, made);
    if (status != ARMILLA_OK) return status;
    memcpy(made->starts, from->starts, (size_t)(from->rows + 1) * sizeof *from->starts);
    memcpy(made->targets, from->targets, (size_t)entries * sizeof *from->targets);
    for (int64_t i = 0; i < entries; i++) {
        const double weight = (double)from->weights[i];
        made->weights[i] = (float)(distance ? 1 - weight * weight / 2 : weight);
    }
    return status;
}

armilla_status armilla_neighbors_layout(armilla_context *context, const armilla_neighbors *neighbors, bool globe,
                                        int64_t seed, int64_t threads, double *places)
{
    const armilla_layout_plan plan = {.globe = globe, .seed = (uint64_t)seed};
    armilla_graph cosines = {.rows = 0}, graph = {.rows = 0};
    armilla_status status = ARMILLA_NOT_NULL(context, neighbors, places);
    if (status != ARMILLA_OK) return status;
    if (!neighbors->among)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            "these are neighbours of queries; a map is of neighbours among the samples themselves");
    status = armilla_call_enter(context, threads);
    if (status != ARMILLA_OK) return status;
    armilla_call_stage(context, ARMILLA_STAGE_NEIGHBORS);
    status = copy_cosines(context, neighbors, &cosines);
    if (status == ARMILLA_OK) status = armilla_graph_weigh(context, &cosines, &graph);
    armilla_graph_release(context, &cosines);
    if (status == ARMILLA_OK) status = armilla_graph_layout(context, &graph, &plan, (double(*)[3])places);
    armilla_graph_release(context, &graph);
    armilla_call_leave(context);
    return status;
}
