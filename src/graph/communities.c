/* Leiden's algorithm: move, refine, join the refined parts into nodes, and again. */
#include "graph/communities.h"

#include "base/size.h"

#include <string.h>

void armilla_nodes_release(armilla_moving_nodes *s)
{
    armilla_level_release(s->context, &s->levels[1]);
    armilla_level_release(s->context, &s->levels[0]);
    armilla_release(s->context, s->parts);
    armilla_release(s->context, s->communities);
    armilla_release(s->context, s->queued);
    armilla_release(s->context, s->numbers);
    *s = (armilla_moving_nodes){.context = s->context};
}

armilla_status armilla_nodes_take(armilla_context *context, int64_t n, armilla_moving_nodes *s)
{
    int32_t **const lists[] = {&s->labels,  &s->refined, &s->touched, &s->order, &s->queue,
                               &s->members, &s->empty,   &s->place,   &s->found};
    enum { LISTS = sizeof lists / sizeof *lists };
    int64_t numbers = 0;
    *s = (armilla_moving_nodes){.context = context};
    if (!armilla_size_area(LISTS, n + 1, &numbers)) numbers = -1;
    armilla_status status = armilla_take(context, numbers, sizeof *s->numbers, &s->numbers);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s->queued, &s->queued);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s->communities, &s->communities);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s->parts, &s->parts);
    for (int64_t i = 0; i < LISTS && status == ARMILLA_OK; i++) *lists[i] = s->numbers + i * (n + 1);
    if (status != ARMILLA_OK) armilla_nodes_release(s);
    return status;
}

double armilla_nodes_bytes(int64_t nodes, int64_t entries)
{
    const armilla_moving_nodes *s = NULL;
    const armilla_level *level = NULL;
    const double each = 9 * sizeof *s->numbers + sizeof *s->queued + sizeof *s->communities + sizeof *s->parts;
    return (double)nodes * (each + sizeof *level->starts + sizeof *level->degrees) +
           (double)entries * (sizeof *level->targets + sizeof *level->weights);
}

armilla_level_space armilla_nodes_space(const armilla_moving_nodes *s)
{
    return (armilla_level_space){.heads = s->empty, .members = s->order, .places = s->queue};
}

bool armilla_nodes_over(const armilla_moving_nodes *s)
{
    const armilla_communities_control *control = s->control;
    if (control->number >= atomic_load_explicit(control->cancelled_from, memory_order_relaxed)) return true;
    if (control->thread > 0) return armilla_call_stopped(s->context, NULL);
    return armilla_call_reached(s->context, atomic_load_explicit(control->rounds, memory_order_relaxed),
                                atomic_load_explicit(control->expected, memory_order_relaxed));
}

/* The parts become nodes: labels of these are those of the communities that they are in. touched is workspace. */
static void relabel_parts(const armilla_moving_nodes *s, int64_t nodes, int64_t parts)
{
    for (int64_t i = 0; i < nodes; i++) s->touched[s->refined[i]] = s->labels[i];
    memcpy(s->labels, s->touched, (size_t)parts * sizeof *s->labels);
    (void)armilla_labels_compact(parts, s->labels, nodes, s->queue);
}

/* One level of n samples; *next is the one after it, and place[i], where sample i is in this one, becomes that in the
 * next. *ended: there is no next. */
static armilla_status run_level(armilla_moving_nodes *s, int64_t n, armilla_level *next, bool *ended)
{
    const int64_t nodes = s->level->nodes;
    const armilla_level_space space = armilla_nodes_space(s);
    armilla_status status = armilla_nodes_move(s);
    if (status == ARMILLA_OK) status = armilla_nodes_refine(s);
    if (status != ARMILLA_OK) return status;
    const int64_t parts = armilla_labels_compact(nodes, s->refined, nodes, s->queue);
    *ended = parts == nodes;
    if (*ended) return ARMILLA_OK;
    status = armilla_level_join(s->context, s->level, s->refined, parts, &space, next);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < n; i++) s->place[i] = s->refined[s->place[i]];
    relabel_parts(s, nodes, parts);
    return ARMILLA_OK;
}

/* From the communities of samples in found to better ones. The last level, whose nodes are connected, says which parts
 * of a community are not: after the last round each becomes one, by which modularity only gains. */
static armilla_status run_round(armilla_moving_nodes *s, const armilla_level *fine, bool last)
{
    const int64_t n = fine->nodes;
    armilla_status status = ARMILLA_OK;
    s->level = fine;
    memcpy(s->labels, s->found, (size_t)n * sizeof *s->labels);
    for (int64_t i = 0; i < n; i++) s->place[i] = (int32_t)i;
    bool ended = false;
    for (int side = 0; !ended && status == ARMILLA_OK; side = 1 - side) {
        status = run_level(s, n, &s->levels[side], &ended);
        if (!ended) s->level = &s->levels[side];
    }
    if (status != ARMILLA_OK) return status;
    if (last) (void)armilla_level_components(s->level, s->labels, s->refined, s->queue);
    const int32_t *communities = last ? s->refined : s->labels;
    for (int64_t i = 0; i < n; i++) s->found[i] = communities[s->place[i]];
    return status;
}

armilla_status armilla_nodes_run(armilla_moving_nodes *s, const armilla_level *fine,
                                 const armilla_communities_options *options, const int64_t *from, int64_t *count)
{
    const int64_t n = fine->nodes;
    const int rounds = armilla_nodes_rounds(from);
    armilla_status status = ARMILLA_OK;
    s->resolution = options->resolution;
    for (int64_t i = 0; i < n; i++) s->found[i] = (int32_t)(from ? from[i] : i);
    for (int round = 0; round < rounds && fine->total > 0 && status == ARMILLA_OK; round++) {
        s->seed = options->seed * ARMILLA_NODES_ROUNDS + (uint64_t)round;
        status = run_round(s, fine, round + 1 == rounds);
        atomic_fetch_add_explicit(s->control->rounds, 1, memory_order_relaxed);
    }
    if (status == ARMILLA_OK) *count = armilla_labels_compact(n, s->found, n, s->queue);
    return status;
}

double armilla_modularity(const armilla_graph *graph, const int64_t *labels, int64_t count, double resolution,
                          double *sums, double *coverage)
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
    *coverage = total > 0 ? inside / total : 0;
    return total > 0 ? *coverage - resolution * expected / (total * total) : 0;
}

double armilla_level_modularity(const armilla_level *level, const int64_t *labels, int64_t count, double resolution,
                                double *sums, double *coverage)
{
    double inside = 0, expected = 0;
    for (int64_t c = 0; c < count; c++) sums[c] = 0;
    for (int64_t i = 0; i < level->nodes; i++) {
        sums[labels[i]] += level->degrees[i];
        for (int64_t e = level->starts[i]; e < level->starts[i + 1]; e++)
            inside += labels[i] == labels[level->targets[e]] ? level->weights[e] : 0;
    }
    *coverage = level->total > 0 ? inside / level->total : 0;
    if (!(level->total > 0)) return 0;
    for (int64_t c = 0; c < count; c++) expected += sums[c] / level->total * (sums[c] / level->total);
    return inside / level->total - resolution * expected;
}
