/* The public face of nearest neighbours (graph/neighbors.h): options, preparation, and codes of a model. */
#include "graph/neighbors.h"
#include "base/workload.h"
#include "data/sparse.h"

#include "base/sized.h"
#include "cluster/cluster.h"
#include "data/preparation.h"
#include "data/traverse.h"
#include "files/npz.h"
#include "graph/layout.h"
#include "graph/weights.h"
#include "model/model.h"

#include <armilla/neighbors.h>

#include <math.h>
#include <string.h>

struct armilla_neighbors {
    armilla_context *context;
    armilla_neighbors_summary summary;
    armilla_graph graph;
    bool among; /* of the samples themselves */
};

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

static armilla_status read_options(armilla_context *context, const armilla_neighbors_options *options,
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
                            ARMILLA_FIELD("recall %g") " cannot be: give a part of 1, such as 0.98", whole->recall);
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

/* Of samples of length 1 or 0, within a call. */
static armilla_status find(armilla_context *context, const armilla_data *queries, const armilla_data *X,
                           const armilla_neighbors_plan *plan, const armilla_neighbors_options *options,
                           armilla_neighbors **neighbors)
{
    armilla_neighbors *made = NULL;
    armilla_neighbors_found found = {.recall = 1};
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    made->context = context;
    made->among = !queries;
    status = armilla_neighbors_find(context, queries, X, plan, &made->graph, &found);
    if (status == ARMILLA_OK) {
        fill_summary(options, &found, made);
        *neighbors = made;
    } else {
        armilla_neighbors_free(made);
    }
    return status;
}

static armilla_neighbors_plan plan_of(const armilla_neighbors_options *options, const char *precision)
{
    return (armilla_neighbors_plan){.count = options->count,
                                    .unit = true,
                                    .precision = precision,
                                    .recall = options->recall,
                                    .seed = (uint64_t)options->seed};
}

/* Data as they are given and as they are compared. */
typedef struct prepared_data {
    const armilla_data *raw;
    armilla_data *view;
} prepared_data;

static armilla_status prepare(armilla_context *context, const armilla_preparation *preparation, prepared_data *data)
{
    const armilla_type work = armilla_type_precision(data->raw->type);
    armilla_data_facts facts;
    armilla_status status = armilla_preparation_view(context, preparation, data->raw, &data->view);
    if (status == ARMILLA_OK) status = armilla_survey(context, data->view, work, &facts, NULL);
    if (status == ARMILLA_OK) status = armilla_preparation_finite(context, preparation, data->raw, &facts, work);
    return status;
}

static armilla_status find_in_data(armilla_context *context, const armilla_data *X, const armilla_data *queries,
                                   const armilla_options *asked, const armilla_neighbors_options *options,
                                   armilla_neighbors **neighbors)
{
    armilla_preparation preparation = armilla_preparation_asked(asked);
    const armilla_neighbors_plan plan = plan_of(options, asked->precision);
    armilla_data *matched = NULL;
    prepared_data samples = {X, NULL}, others = {queries, NULL};
    preparation.taken[ARMILLA_STEP_NORMALIZE] = true;
    armilla_status status = queries ? armilla_queries_match(context, X, queries, &matched) : ARMILLA_OK;
    if (matched) others.raw = queries = matched;
    if (status == ARMILLA_OK) status = armilla_neighbors_check(context, queries, X, options->count);
    if (status == ARMILLA_OK) status = armilla_preparation_learn(context, &preparation, X);
    if (status == ARMILLA_OK) status = prepare(context, &preparation, &samples);
    if (status == ARMILLA_OK && queries) status = prepare(context, &preparation, &others);
    if (status == ARMILLA_OK) status = find(context, others.view, samples.view, &plan, options, neighbors);
    armilla_data_free(others.view);
    armilla_data_free(samples.view);
    armilla_data_free(matched);
    armilla_preparation_release(context, &preparation);
    return status;
}

armilla_status armilla_neighbors_of_data(armilla_context *context, const armilla_data *X, const armilla_data *queries,
                                         const armilla_options *preparation, const armilla_neighbors_options *options,
                                         armilla_neighbors **neighbors)
{
    armilla_options asked = {.size = sizeof asked};
    armilla_neighbors_options whole;
    armilla_status status = ARMILLA_NOT_NULL(context, X, options, neighbors);
    if (status == ARMILLA_OK) status = read_options(context, options, &whole);
    if (status == ARMILLA_OK && preparation) status = armilla_options_read(context, preparation, &asked);
    if (status == ARMILLA_OK) status = armilla_options_check_words(context, &asked);
    if (status == ARMILLA_OK) status = armilla_call_enter(context, whole.threads);
    if (status != ARMILLA_OK) return status;
    armilla_call_plan(context, &(armilla_workload){.work = ARMILLA_WORK_NEIGHBORS,
                                                   .samples = X->n,
                                                   .features = X->m,
                                                   .entries = armilla_sparse_of(X) ? armilla_data_stored(X) : 0,
                                                   .count = whole.count,
                                                   .queries = queries ? queries->n : 0,
                                                   .recall = whole.recall});
    status = find_in_data(context, X, queries, &asked, &whole, neighbors);
    armilla_call_leave(context);
    return status;
}

/* Codes as data. */
static armilla_status codes_of(armilla_context *context, const armilla_model *model, const void *codes, int64_t n,
                               armilla_data **data)
{
    return armilla_data_borrow_dense(context, model->summary.precision, codes, model->summary.rank, n, data);
}

armilla_status armilla_neighbors_of_model(armilla_context *context, const armilla_model *model,
                                          const armilla_data *queries, const armilla_neighbors_options *options,
                                          armilla_neighbors **neighbors)
{
    armilla_data *samples = NULL, *others = NULL;
    void *codes = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, model, options, neighbors);
    if (status == ARMILLA_OK) status = armilla_model_within_reach(context, model);
    if (status != ARMILLA_OK) return status;
    const int64_t n = queries ? armilla_data_samples(queries) : 0;
    status = codes_of(context, model, model->V, model->summary.n, &samples);
    if (status == ARMILLA_OK && queries)
        status = armilla_take(context, n * model->summary.rank, armilla_type_size(model->summary.precision), &codes);
    if (status == ARMILLA_OK && queries)
        status = armilla_model_transform(context, model, queries, (int)options->threads, codes);
    if (status == ARMILLA_OK && queries) status = codes_of(context, model, codes, n, &others);
    if (status == ARMILLA_OK) status = armilla_neighbors_of_data(context, samples, others, NULL, options, neighbors);
    armilla_data_free(others);
    armilla_data_free(samples);
    armilla_release(context, codes);
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

/* The arrays of scipy.sparse.save_npz. */
static armilla_status add_arrays(armilla_npz_writer *writer, const armilla_graph *graph)
{
    const int64_t entries = armilla_graph_entries(graph), sizes[2] = {graph->rows, graph->columns};
    const int64_t scalar[2] = {-1, -1}, pair[2] = {2, -1}, starts[2] = {graph->rows + 1, -1}, places[2] = {entries, -1};
    armilla_status status = armilla_npz_writer_add_raw(writer, "indices", "i8", places, graph->targets,
                                                       (size_t)entries * sizeof *graph->targets);
    if (status == ARMILLA_OK)
        status = armilla_npz_writer_add_raw(writer, "indptr", "i8", starts, graph->starts,
                                            (size_t)(graph->rows + 1) * sizeof *graph->starts);
    if (status == ARMILLA_OK) status = armilla_npz_writer_add_raw(writer, "format", "S3", scalar, "csr", 3);
    if (status == ARMILLA_OK) status = armilla_npz_writer_add_raw(writer, "shape", "i8", pair, sizes, sizeof sizes);
    if (status == ARMILLA_OK)
        status = armilla_npz_writer_add(writer, "data", ARMILLA_F32, places, false, graph->weights);
    return status;
}

armilla_status armilla_neighbors_write(armilla_context *context, const armilla_neighbors *neighbors, const char *path,
                                       bool overwrite)
{
    armilla_npz_writer *writer = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, neighbors, path);
    if (status == ARMILLA_OK) status = armilla_npz_writer_new(context, path, overwrite, &writer);
    if (status == ARMILLA_OK) status = add_arrays(writer, &neighbors->graph);
    if (status == ARMILLA_OK) status = armilla_npz_writer_commit(writer);
    armilla_npz_writer_free(writer);
    return status;
}
