/* The second half of a level: each community is put together anew from single nodes, by merges into parts that are well
 * connected within it. The parts are connected, which communities after moving need not be. */
#include "graph/communities.h"

#include <string.h>

typedef struct refining {
    const armilla_moving_nodes *nodes;
    double *weights; /* of a part: the degrees of its nodes together */
    double *outside; /* of a part: its edges to the rest of its community */
    bool *joined;    /* a part that more than one node is in */
} refining;

/* Whether a part with these edges to the rest of its community, and that degree, belongs there:
 * outside >= gamma D_part (D_community - D_part) / 2w. */
static bool is_well_connected(const armilla_moving_nodes *nodes, double outside, double degree, double community)
{
    return outside >= nodes->resolution * degree * (community - degree) / nodes->level->total;
}

/* links[p] = the node's edges to part p of its own community; returns how many parts are touched, and all that weight. */
static int64_t add_links(const armilla_moving_nodes *s, int64_t node, double *inside)
{
    const armilla_level *level = s->level;
    int64_t count = 0;
    *inside = 0;
    for (int64_t e = level->starts[node]; e < level->starts[node + 1]; e++) {
        const int64_t other = level->targets[e], part = s->refined[other];
        if (s->labels[other] != s->labels[node]) continue;
        if (s->links[part] == 0) s->touched[count++] = part;
        s->links[part] += level->weights[e];
        *inside += level->weights[e];
    }
    return count;
}

/* The part that a node by itself gains most by joining; itself where none gains. */
static int64_t best_part(const refining *s, int64_t node, int64_t touched)
{
    const armilla_moving_nodes *nodes = s->nodes;
    const double degree = nodes->level->degrees[node], community = nodes->degrees[nodes->labels[node]];
    int64_t best = nodes->refined[node];
    double most = 0;
    for (int64_t t = 0; t < touched; t++) {
        const int64_t part = nodes->touched[t];
        const double gain = nodes->links[part] - nodes->resolution * degree * s->weights[part] / nodes->level->total;
        if (!is_well_connected(nodes, s->outside[part], s->weights[part], community)) continue;
        if (gain < most || (gain == most && best != nodes->refined[node] && part > best)) continue;
        best = part;
        most = gain;
    }
    return best;
}

static void join(const refining *s, int64_t node, int64_t part, double inside)
{
    const armilla_moving_nodes *nodes = s->nodes;
    nodes->refined[node] = part;
    s->joined[part] = true;
    s->weights[part] += nodes->level->degrees[node];
    s->outside[part] += inside - 2 * nodes->links[part];
}

static void visit(const refining *s, int64_t node)
{
    const armilla_moving_nodes *nodes = s->nodes;
    double inside = 0;
    if (s->joined[nodes->refined[node]]) return;
    const double degree = nodes->level->degrees[node], community = nodes->degrees[nodes->labels[node]];
    const int64_t touched = add_links(nodes, node, &inside);
    if (is_well_connected(nodes, inside, degree, community)) {
        const int64_t part = best_part(s, node, touched);
        if (part != nodes->refined[node]) join(s, node, part, inside);
    }
    for (int64_t t = 0; t < touched; t++) nodes->links[nodes->touched[t]] = 0;
}

/* Every node is a part, with its edges inside the community. */
static void begin(const refining *s)
{
    const armilla_moving_nodes *nodes = s->nodes;
    const armilla_level *level = nodes->level;
    for (int64_t i = 0; i < level->nodes; i++) {
        nodes->refined[i] = i;
        s->weights[i] = level->degrees[i];
        for (int64_t e = level->starts[i]; e < level->starts[i + 1]; e++)
            if (nodes->labels[level->targets[e]] == nodes->labels[i]) s->outside[i] += level->weights[e];
    }
}

armilla_status armilla_nodes_refine(const armilla_moving_nodes *nodes)
{
    armilla_context *context = nodes->context;
    const int64_t n = nodes->level->nodes;
    refining s = {.nodes = nodes};
    armilla_status status = armilla_take(context, n, sizeof *s.weights, &s.weights);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s.outside, &s.outside);
    if (status == ARMILLA_OK) status = armilla_take(context, n, sizeof *s.joined, &s.joined);
    if (status == ARMILLA_OK) {
        begin(&s);
        for (int64_t i = 0; i < n; i++) visit(&s, nodes->order[i]);
    }
    armilla_release(context, s.joined);
    armilla_release(context, s.outside);
    armilla_release(context, s.weights);
    return status;
}
