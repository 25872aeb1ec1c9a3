/* Nearest samples: the lists of a search as a graph. */
#include "graph/neighbors.h"

#include "data/sparse.h"
#include "graph/cells.h"
#include "graph/search.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Samples as they are compared: those given, or a view of them with length 1. */
typedef struct compared {
    armilla_data *views[2]; /* of queries and data; NULL: as they are */
    const armilla_data *queries, *X;
} compared;

static armilla_status scale(armilla_context *context, const armilla_data *data, armilla_data **view)
{
    return armilla_data_prepare(context, data, &(armilla_column_map){.unit_length = true}, view);
}

static armilla_status compare(armilla_context *context, const armilla_data *queries, const armilla_data *data,
                              bool unit, compared *made)
{
    armilla_status status = ARMILLA_OK;
    *made = (compared){.queries = queries ? queries : data, .X = data};
    if (unit) return ARMILLA_OK;
    if (queries) status = scale(context, queries, &made->views[0]);
    if (status == ARMILLA_OK) status = scale(context, data, &made->views[1]);
    made->X = made->views[1];
    made->queries = queries ? made->views[0] : made->X;
    return status;
}

static void release(compared *made)
{
    armilla_data_free(made->views[0]);
    armilla_data_free(made->views[1]);
}

armilla_status armilla_neighbors_check(armilla_context *context, const armilla_data *queries, const armilla_data *data,
                                       int64_t count)
{
    const int64_t most = queries ? data->n : data->n - 1;
    if (queries && queries->m != data->m)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "the queries have %" PRId64 " features and the samples %" PRId64
                            "; both must have the same",
                            queries->m, data->m);
    if (count < 1 || count > most)
        return armilla_fail(context, count < 1 ? ARMILLA_BAD_ARGUMENT : ARMILLA_BAD_DATA,
                            ARMILLA_FIELD("count %" PRId64) ": %s %" PRId64 " neighbour%s; give %s", count,
                            queries ? "a query has at most" : "a sample has at most", most, most == 1 ? "" : "s",
                            most > 0 ? "no more, and at least 1" : "more samples");
    return ARMILLA_OK;
}

/* What rounding leaves beyond 1 is 1. */
static void fill_graph(const armilla_ranking *found, armilla_graph *graph)
{
    for (int64_t i = 0; i <= graph->rows; i++) graph->starts[i] = i * found->count;
    for (int64_t i = 0; i < graph->rows * found->count; i++) {
        graph->targets[i] = found->targets[i];
        graph->weights[i] = (float)fmax(-1, fmin(1, found->values[i]));
    }
}

/* The type to compute in: the one that is asked for, or that of the data with more digits. */
static armilla_type type_of(const compared *samples, const char *precision)
{
    for (int type = 0; precision && type < ARMILLA_PRECISION_COUNT; type++)
        if (strcmp(armilla_type_word((armilla_type)type), precision) == 0) return (armilla_type)type;
    const bool wide = armilla_type_precision(samples->queries->type) == ARMILLA_F64 ||
                      armilla_type_precision(samples->X->type) == ARMILLA_F64;
    return wide ? ARMILLA_F64 : ARMILLA_F32;
}

static armilla_status make_graph(armilla_context *context, const compared *samples, const armilla_ranking *found,
                                 armilla_graph *made)
{
    const int64_t rows = samples->queries->n;
    const armilla_status status = armilla_graph_take(context, rows, samples->X->n, rows * found->count, made);
    if (status == ARMILLA_OK) fill_graph(found, made);
    return status;
}

static armilla_status search_all(armilla_context *context, const compared *samples, const armilla_neighbors_plan *plan,
                                 armilla_graph *made)
{
    armilla_search search = {.context = context,
                             .queries = samples->queries,
                             .X = samples->X,
                             .work = type_of(samples, plan->precision),
                             .count = plan->count};
    armilla_status status = armilla_search_open(&search);
    if (status == ARMILLA_OK) status = armilla_search_run(&search);
    if (status == ARMILLA_OK) status = make_graph(context, samples, &search.found, made);
    armilla_search_close(&search);
    return status;
}

static armilla_status search_cells(armilla_context *context, const compared *samples,
                                   const armilla_neighbors_plan *plan, armilla_graph *made,
                                   armilla_neighbors_found *found)
{
    const bool same = samples->queries == samples->X;
    armilla_cells cells = {.context = context, .work = type_of(samples, plan->precision)};
    armilla_cell_lists queries = {.n = 0};
    armilla_ranking ranked = {.count = 0};
    armilla_status status = armilla_cells_make(&cells, samples->X, armilla_cells_wanted(samples->X->n, plan->count),
                                               plan->count, plan->seed);
    if (status == ARMILLA_OK && !same) status = armilla_cells_sort(&cells, samples->queries, &queries);
    if (status == ARMILLA_OK)
        status = armilla_cells_search(&cells, same ? &cells.samples : &queries, plan, &ranked, found);
    if (status == ARMILLA_OK) status = make_graph(context, samples, &ranked, made);
    armilla_ranking_release(context, &ranked);
    armilla_cell_lists_release(context, &queries);
    armilla_cells_release(&cells);
    return status;
}

/* Cells are of dense samples: sparse ones have few features in common, and are compared with all. */
static bool by_cells(const compared *samples, const armilla_neighbors_plan *plan)
{
    return plan->recall > 0 && plan->recall < 1 && !armilla_sparse_of(samples->X) &&
           !armilla_sparse_of(samples->queries) && armilla_cells_wanted(samples->X->n, plan->count) > 1;
}

armilla_status armilla_neighbors_find(armilla_context *context, const armilla_data *queries, const armilla_data *data,
                                      const armilla_neighbors_plan *plan, armilla_graph *made,
                                      armilla_neighbors_found *found)
{
    compared samples = {{NULL, NULL}, NULL, NULL};
    armilla_neighbors_found all = {.recall = 1};
    armilla_status status = armilla_neighbors_check(context, queries, data, plan->count);
    *made = (armilla_graph){.rows = 0};
    if (status == ARMILLA_OK) status = compare(context, queries, data, plan->unit, &samples);
    if (status == ARMILLA_OK && !by_cells(&samples, plan)) armilla_call_phase(context, ARMILLA_PHASE_NEIGHBORS);
    if (status == ARMILLA_OK)
        status = by_cells(&samples, plan) ? search_cells(context, &samples, plan, made, &all)
                                          : search_all(context, &samples, plan, made);
    if (status == ARMILLA_OK && found) *found = all;
    release(&samples);
    return status;
}
