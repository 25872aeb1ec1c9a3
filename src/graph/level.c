/* Levels: from a graph, and from the parts of another level. */
#include "graph/level.h"

#include "base/size.h"

#include <string.h>

/* The rows of parts come one after the other, and how long they are is known at the end: the memory of edges begins with
 * that part of what the level has, and grows by so much. */
#define FIRST_PART 0.25
#define GROWTH 1.25

/* Memory of edges for at least so many, with what is there. */
static armilla_status reserve(armilla_context *context, int64_t entries, armilla_level *made)
{
    if (entries <= made->capacity && made->targets && made->weights) return ARMILLA_OK;
    armilla_status status = armilla_grow(context, entries, sizeof *made->targets, &made->targets);
    if (status == ARMILLA_OK) status = armilla_grow(context, entries, sizeof *made->weights, &made->weights);
    if (status == ARMILLA_OK) made->capacity = entries;
    return status;
}

/* An empty level of so many nodes. */
static armilla_status begin_level(armilla_context *context, int64_t nodes, armilla_level *made)
{
    armilla_status status = ARMILLA_OK;
    made->nodes = 0;
    if (nodes > made->node_capacity || !made->starts || !made->degrees) {
        status = armilla_grow(context, nodes + 1, sizeof *made->starts, &made->starts);
        if (status == ARMILLA_OK) status = armilla_grow(context, nodes, sizeof *made->degrees, &made->degrees);
        if (status == ARMILLA_OK) made->node_capacity = nodes;
    }
    if (status != ARMILLA_OK) return status;
    memset(made->degrees, 0, (size_t)nodes * sizeof *made->degrees);
    made->nodes = nodes;
    made->starts[0] = 0;
    made->total = 0;
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
    if (graph->rows > context->most_narrow)
        return armilla_fail(context, ARMILLA_BAD_DATA, "communities are sought among at most %lld samples",
                            (long long)context->most_narrow);
    armilla_status status = begin_level(context, graph->rows, made);
    if (status == ARMILLA_OK) status = reserve(context, entries, made);
    if (status != ARMILLA_OK) {
        armilla_level_release(context, made);
        return status;
    }
    memcpy(made->starts, graph->starts, (size_t)(graph->rows + 1) * sizeof *made->starts);
    for (int64_t i = 0; i < graph->rows; i++) {
        for (int64_t e = graph->starts[i]; e < graph->starts[i + 1]; e++) {
            made->targets[e] = (int32_t)graph->targets[e];
            made->weights[e] = (double)graph->weights[e];
            made->degrees[i] += made->weights[e];
        }
        made->total += made->degrees[i];
    }
    return status;
}

/* The edges of node i that stay. */
static void fill_row(const armilla_level *level, const int32_t *row, int64_t i, armilla_level *made)
{
    const int32_t own = row[i];
    int64_t place = made->starts[own];
    for (int64_t e = level->starts[i]; e < level->starts[i + 1]; e++) {
        const int32_t to = row[level->targets[e]];
        if (to < 0) continue;
        made->targets[place] = to;
        made->weights[place++] = level->weights[e];
        made->degrees[own] += level->weights[e];
    }
    made->starts[own + 1] = place;
    made->total += made->degrees[own];
}

armilla_status armilla_level_of_part(armilla_context *context, const armilla_level *level, const int32_t *row,
                                     int64_t count, armilla_level *made)
{
    int64_t entries = 0;
    for (int64_t i = 0; i < level->nodes; i++)
        for (int64_t e = level->starts[i]; e < level->starts[i + 1] && row[i] >= 0; e++)
            entries += row[level->targets[e]] >= 0;
    armilla_status status = begin_level(context, count, made);
    if (status == ARMILLA_OK) status = reserve(context, entries, made);
    for (int64_t i = 0; i < level->nodes && status == ARMILLA_OK; i++)
        if (row[i] >= 0) fill_row(level, row, i, made);
    if (status != ARMILLA_OK) armilla_level_release(context, made);
    return status;
}

int64_t armilla_labels_compact(int64_t n, int32_t *labels, int64_t most, int32_t *seen)
{
    int32_t count = 0;
    for (int64_t i = 0; i < most; i++) seen[i] = -1;
    for (int64_t i = 0; i < n; i++) {
        if (seen[labels[i]] < 0) seen[labels[i]] = count++;
        labels[i] = seen[labels[i]];
    }
    return count;
}

/* All that can be reached from `first` without leaving its class. */
static void fill_component(const armilla_level *level, const int32_t *classes, int64_t first, int32_t *components,
                           int32_t *waiting)
{
    int64_t count = 1;
    waiting[0] = (int32_t)first;
    while (count > 0) {
        const int32_t i = waiting[--count];
        for (int64_t e = level->starts[i]; e < level->starts[i + 1]; e++) {
            const int32_t to = level->targets[e];
            if (components[to] >= 0 || classes[to] != classes[first]) continue;
            components[to] = components[first];
            waiting[count++] = to;
        }
    }
}

int64_t armilla_level_components(const armilla_level *level, const int32_t *classes, int32_t *components,
                                 int32_t *waiting)
{
    int32_t count = 0;
    for (int64_t i = 0; i < level->nodes; i++) components[i] = -1;
    for (int64_t i = 0; i < level->nodes; i++) {
        if (components[i] >= 0) continue;
        components[i] = count++;
        fill_component(level, classes, i, components, waiting);
    }
    return count;
}

/* The nodes of each part, together: members[heads[p]] ... members[heads[p+1]-1]. */
static void list_members(int64_t nodes, const int32_t *parts, int64_t count, int32_t *heads, int32_t *members)
{
    memset(heads, 0, (size_t)(count + 1) * sizeof *heads);
    for (int64_t i = 0; i < nodes; i++) heads[parts[i] + 1]++;
    for (int64_t p = 0; p < count; p++) heads[p + 1] += heads[p];
    for (int64_t i = 0; i < nodes; i++) members[heads[parts[i]]++] = (int32_t)i;
    memmove(heads + 1, heads, (size_t)count * sizeof *heads);
    heads[0] = 0;
}

typedef struct joining {
    armilla_context *context;
    const armilla_level *level;
    const int32_t *parts;
    armilla_level *made;
    const armilla_level_space *space; /* places: of each part, where the edge to it is in the row in hand, if it is */
} joining;

/* The edges of one node to other parts, added to those of its own row, of which there are `count`. Returns how many there
 * are now. */
static int64_t join_node(const joining *work, int64_t i, int64_t first, int64_t count)
{
    const armilla_level *level = work->level;
    const int32_t *parts = work->parts, own = parts[i];
    int32_t *targets = work->made->targets + first, *places = work->space->places;
    double *weights = work->made->weights + first;
    for (int64_t e = level->starts[i]; e < level->starts[i + 1]; e++) {
        const int32_t part = parts[level->targets[e]], place = places[part];
        if (part == own) continue;
        if (place < count && targets[place] == part) {
            weights[place] += level->weights[e];
        } else {
            places[part] = (int32_t)count;
            targets[count] = part;
            weights[count++] = level->weights[e];
        }
    }
    return count;
}

/* Edges that the nodes of a part have together: its row has no more. */
static int64_t most_of_row(const joining *work, int64_t p)
{
    const int64_t *starts = work->level->starts;
    int64_t sum = 0;
    for (int32_t m = work->space->heads[p]; m < work->space->heads[p + 1]; m++) {
        const int32_t i = work->space->members[m];
        sum += starts[i + 1] - starts[i];
    }
    return sum;
}

/* Prefetches, while member m is visited, the edges of a later member, and the parts at the ends of the edges of the one
 * after the next. */
ARMILLA_EXPECT expect_members(const joining *work, int64_t m)
{
    enum { EDGES_AHEAD = 6, PARTS_AHEAD = 2 };
    const armilla_level *level = work->level;
    if (m + EDGES_AHEAD >= level->nodes) return;
    const int32_t near = work->space->members[m + PARTS_AHEAD];
    armilla_level_expect_row(level, work->space->members[m + EDGES_AHEAD]);
    for (int64_t e = level->starts[near]; e < level->starts[near + 1]; e++)
        __builtin_prefetch(&work->parts[level->targets[e]]);
}

static armilla_status join_part(const joining *work, int64_t p)
{
    const armilla_level_space *space = work->space;
    armilla_level *made = work->made;
    const int64_t first = made->starts[p], needed = first + most_of_row(work, p);
    int64_t count = 0;
    if (needed > made->capacity) {
        const int64_t more = (int64_t)(GROWTH * (double)made->capacity);
        const int64_t most = work->level->starts[work->level->nodes];
        const armilla_status status = reserve(work->context, armilla_max64(needed, armilla_min64(more, most)), made);
        if (status != ARMILLA_OK) return status;
    }
    for (int32_t m = space->heads[p]; m < space->heads[p + 1]; m++) {
        const int32_t i = space->members[m];
        expect_members(work, m);
        made->degrees[p] += work->level->degrees[i];
        count = join_node(work, i, first, count);
    }
    made->starts[p + 1] = first + count;
    return ARMILLA_OK;
}

armilla_status armilla_level_join(armilla_context *context, const armilla_level *level, const int32_t *parts,
                                  int64_t count, const armilla_level_space *space, armilla_level *made)
{
    const joining work = {context, level, parts, made, space};
    const int64_t entries = level->starts[level->nodes];
    armilla_status status = begin_level(context, count, made);
    if (status == ARMILLA_OK) status = reserve(context, (int64_t)(FIRST_PART * (double)entries), made);
    if (status != ARMILLA_OK) return status;
    made->total = level->total;
    list_members(level->nodes, parts, count, space->heads, space->members);
    memset(space->places, 0, (size_t)count * sizeof *space->places);
    for (int64_t p = 0; p < count && status == ARMILLA_OK; p++) status = join_part(&work, p);
    return status;
}
