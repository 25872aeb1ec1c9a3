/* Leiden's algorithm: move, refine, join the refined parts into nodes, and again. */
#include "graph/communities.h"

#include "graph/weights.h"

#include <string.h>

/* Whole runs, each from the communities of the one before: the second mends what the first has decided early. */
enum { ROUNDS = 2 };

static void release_nodes(armilla_moving_nodes *s)
{
    armilla_release(s->context, s->queued);
    armilla_release(s->context, s->queue);
    armilla_release(s->context, s->order);
    armilla_release(s->context, s->touched);
    armilla_release(s->context, s->links);
    armilla_release(s->context, s->degrees);
    armilla_release(s->context, s->refined);
    armilla_release(s->context, s->labels);
}

/* For the largest level, which is the first. */
static armilla_status take_nodes(armilla_moving_nodes *s, int64_t n)
{
    armilla_context *context = s->context;
    armilla_status status = armilla_take(context, n, sizeof *s->labels, &s->labels);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s->refined, &s->refined);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s->degrees, &s->degrees);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s->links, &s->links);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s->touched, &s->touched);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s->order, &s->order);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s->queue, &s->queue);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s->queued, &s->queued);
    return status;
}

/* The parts become nodes: labels of these are those of the communities that they are in. touched is workspace. */
static void relabel_parts(const armilla_moving_nodes *s, int64_t nodes, int64_t parts)
{
    for (int64_t i = 0; i < nodes; i++) s->touched[s->refined[i]] = s->labels[i];
    memcpy(s->labels, s->touched, (size_t)parts * sizeof *s->labels);
    (void)armilla_labels_compact(parts, s->labels, nodes, s->queue);
}

/* One level; *next is the one after it, and place[i], where sample i is in this one, becomes that in the next. *ended:
 * there is no next. */
static armilla_status run_level(armilla_moving_nodes *s, int64_t n, int64_t *place, armilla_level *next, bool *ended)
{
    const int64_t nodes = s->level->nodes;
    bool moved = false;
    armilla_status status = armilla_nodes_move(s, &moved);
    if (status == ARMILLA_OK) status = armilla_nodes_refine(s);
    if (status != ARMILLA_OK) return status;
    const int64_t parts = armilla_labels_compact(nodes, s->refined, nodes, s->queue);
    *ended = parts == nodes;
    if (*ended) return ARMILLA_OK;
    status = armilla_level_join(s->context, s->level, s->refined, parts, next);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < n; i++) place[i] = s->refined[place[i]];
    relabel_parts(s, nodes, parts);
    return ARMILLA_OK;
}

/* From the communities in labels (of samples) to better ones. place is workspace. */
static armilla_status run_round(armilla_moving_nodes *s, const armilla_level *first, int64_t *labels, int64_t *place)
{
    const int64_t n = first->nodes;
    armilla_level level = {.nodes = 0}, next = {.nodes = 0};
    armilla_status status = ARMILLA_OK;
    s->level = first;
    memcpy(s->labels, labels, (size_t)n * sizeof *labels);
    for (int64_t i = 0; i < n; i++) place[i] = i;
    for (bool ended = false; !ended && status == ARMILLA_OK;) {
        status = run_level(s, n, place, &next, &ended);
        if (ended || status != ARMILLA_OK) break;
        armilla_level_release(s->context, &level);
        level = next;
        next = (armilla_level){.nodes = 0};
        s->level = &level;
    }
    for (int64_t i = 0; i < n && status == ARMILLA_OK; i++) labels[i] = s->labels[place[i]];
    s->level = first;
    armilla_level_release(s->context, &next);
    armilla_level_release(s->context, &level);
    return status;
}

armilla_status armilla_communities(armilla_context *context, const armilla_graph *graph,
                                   const armilla_communities_options *options, int64_t *labels, int64_t *count)
{
    armilla_moving_nodes s = {.context = context, .resolution = options->resolution};
    armilla_level level = {.nodes = 0};
    int64_t *place = NULL, *found = NULL;
    const int64_t n = graph->rows;
    armilla_status status = take_nodes(&s, n);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *place, &place);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *found, &found);
    if (status == ARMILLA_OK) status = armilla_level_of_graph(context, graph, &level);
    for (int64_t i = 0; i < n && status == ARMILLA_OK; i++) found[i] = i;
    for (uint64_t round = 0; round < ROUNDS && level.total > 0 && status == ARMILLA_OK; round++) {
        s.seed = options->seed * ROUNDS + round;
        status = run_round(&s, &level, found, place);
    }
    if (status == ARMILLA_OK) {
        *count = armilla_graph_components(graph, found, labels, s.queue); /* which only gains */
    }
    if (status == ARMILLA_STOPPED) status = armilla_call_explain(context);
    armilla_level_release(context, &level);
    armilla_release(context, found);
    armilla_release(context, place);
    release_nodes(&s);
    return status;
}

double armilla_modularity(const armilla_graph *graph, const int64_t *labels, int64_t count, double resolution,
                          double *sums)
{
    double inside = 0, total = 0, expected = 0;
    for (int64_t c = 0; c < count; c++) sums[c] = 0;
    for (int64_t i = 0; i < graph->rows; i++)
        for (int64_t e = graph->starts[i]; e < graph->starts[i + 1]; e++) {
            const double weight = (double)graph->weights[e];
            sums[labels[i]] += weight;
            total += weight;
            if (labels[i] == labels[graph->targets[e]]) inside += weight;
        }
    for (int64_t c = 0; c < count; c++) expected += sums[c] * sums[c];
    return total > 0 ? inside / total - resolution * expected / (total * total) : 0;
}
