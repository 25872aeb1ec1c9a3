/* Levels: from a graph, and from the parts of another level. */
#include "graph/level.h"

#include <string.h>

static armilla_status take_level(armilla_context *context, int64_t nodes, int64_t entries, armilla_level *made)
{
    *made = (armilla_level){.nodes = nodes};
    armilla_status status = armilla_take(context, nodes + 1, sizeof *made->starts, &made->starts);
    if (status == ARMILLA_OK) status = armilla_take(context, entries, sizeof *made->targets, &made->targets);
    if (status == ARMILLA_OK) status = armilla_take(context, entries, sizeof *made->weights, &made->weights);
    if (status == ARMILLA_OK) status = armilla_take(context, nodes, sizeof *made->degrees, &made->degrees);
    if (status != ARMILLA_OK) armilla_level_release(context, made);
    return status;
}

void armilla_level_release(armilla_context *context, armilla_level *level)
{
    armilla_release(context, level->degrees);
    armilla_release(context, level->weights);
    armilla_release(context, level->targets);
    armilla_release(context, level->starts);
    *level = (armilla_level){.nodes = 0};
}

armilla_status armilla_level_of_graph(armilla_context *context, const armilla_graph *graph, armilla_level *made)
{
    const int64_t entries = armilla_graph_entries(graph);
    const armilla_status status = take_level(context, graph->rows, entries, made);
    if (status != ARMILLA_OK) return status;
    memcpy(made->starts, graph->starts, (size_t)(graph->rows + 1) * sizeof *made->starts);
    memcpy(made->targets, graph->targets, (size_t)entries * sizeof *made->targets);
    for (int64_t i = 0; i < graph->rows; i++) {
        for (int64_t e = graph->starts[i]; e < graph->starts[i + 1]; e++) {
            made->weights[e] = (double)graph->weights[e];
            made->degrees[i] += made->weights[e];
        }
        made->total += made->degrees[i];
    }
    return status;
}

int64_t armilla_labels_compact(int64_t n, int64_t *labels, int64_t most, int64_t *seen)
{
    int64_t count = 0;
    for (int64_t i = 0; i < most; i++) seen[i] = -1;
    for (int64_t i = 0; i < n; i++) {
        if (seen[labels[i]] < 0) seen[labels[i]] = count++;
        labels[i] = seen[labels[i]];
    }
    return count;
}

/* The nodes of each part, together: members[starts[p]] ... members[starts[p+1]-1]. */
static void list_members(int64_t nodes, const int64_t *parts, int64_t count, int64_t *starts, int64_t *members)
{
    for (int64_t i = 0; i < nodes; i++) starts[parts[i] + 1]++;
    for (int64_t p = 0; p < count; p++) starts[p + 1] += starts[p];
    for (int64_t i = 0; i < nodes; i++) members[starts[parts[i]]++] = i;
    memmove(starts + 1, starts, (size_t)count * sizeof *starts);
    starts[0] = 0;
}

typedef struct joining {
    const armilla_level *level;
    const int64_t *parts;
    armilla_level *made;
    int64_t *places; /* of each part: where the edge to it is, of the part in hand or of one before */
} joining;

/* The edges of one node to other parts, added to those of its own, which begin at `first`. Returns where they end. */
static int64_t join_node(const joining *work, int64_t i, int64_t first, int64_t end)
{
    const armilla_level *level = work->level, *made = work->made;
    for (int64_t e = level->starts[i]; e < level->starts[i + 1]; e++) {
        const int64_t part = work->parts[level->targets[e]];
        if (part == work->parts[i]) continue;
        if (work->places[part] < first) {
            work->places[part] = end;
            made->targets[end] = part;
            made->weights[end++] = 0;
        }
        made->weights[work->places[part]] += level->weights[e];
    }
    return end;
}

static void join_parts(const joining *work, const int64_t *starts, const int64_t *members)
{
    armilla_level *made = work->made;
    for (int64_t p = 0; p < made->nodes; p++) work->places[p] = -1;
    for (int64_t p = 0; p < made->nodes; p++) {
        int64_t end = made->starts[p];
        for (int64_t m = starts[p]; m < starts[p + 1]; m++) {
            made->degrees[p] += work->level->degrees[members[m]];
            end = join_node(work, members[m], made->starts[p], end);
        }
        made->starts[p + 1] = end;
    }
}

armilla_status armilla_level_join(armilla_context *context, const armilla_level *level, const int64_t *parts,
                                  int64_t count, armilla_level *made)
{
    int64_t *starts = NULL, *members = NULL, *places = NULL;
    armilla_status status = armilla_take(context, count + 1, sizeof *starts, &starts);
    if (status == ARMILLA_OK) status = armilla_take(context, level->nodes, sizeof *members, &members);
    if (status == ARMILLA_OK) status = armilla_take(context, count, sizeof *places, &places);
    if (status == ARMILLA_OK) status = take_level(context, count, level->starts[level->nodes], made);
    if (status == ARMILLA_OK) {
        const joining work = {level, parts, made, places};
        made->total = level->total;
        list_members(level->nodes, parts, count, starts, members);
        join_parts(&work, starts, members);
    }
    armilla_release(context, places);
    armilla_release(context, members);
    armilla_release(context, starts);
    return status;
}
