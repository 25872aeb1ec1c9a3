/* Memory of graphs. */
#include "graph/graph.h"

armilla_status armilla_graph_take(armilla_context *context, int64_t rows, int64_t columns, int64_t entries,
                                  armilla_graph *made)
{
    *made = (armilla_graph){.rows = rows, .columns = columns};
    armilla_status status = armilla_take(context, rows + 1, sizeof *made->starts, &made->starts);
    if (status == ARMILLA_OK) status = armilla_take(context, entries, sizeof *made->targets, &made->targets);
    if (status == ARMILLA_OK) status = armilla_take(context, entries, sizeof *made->weights, &made->weights);
    if (status != ARMILLA_OK) armilla_graph_release(context, made);
    return status;
}

void armilla_graph_release(armilla_context *context, armilla_graph *graph)
{
    armilla_release(context, graph->weights);
    armilla_release(context, graph->targets);
    armilla_release(context, graph->starts);
    *graph = (armilla_graph){.rows = 0};
}
