/* The second half of a level: each community is put together anew from single nodes, by merges into parts that are well
 * connected within it. The parts are connected, which communities after moving need not be. */
#include "graph/communities.h"

/* Nodes visited between two checks whether the run is to end. */
enum { CHECK_INTERVAL = 4096 };
/* How long before it is a node's turn its place, its edges and the parts at their ends are fetched (moving.c). */
enum { PLACE_AHEAD = 12, EDGES_AHEAD = 8, NUMBERS_AHEAD = 4, PARTS_AHEAD = 2 };

/* Whether a part with these edges to the rest of its community, and that degree, belongs there:
 * outside >= gamma D_part (D_community - D_part) / 2w. */
static bool is_well_connected(const armilla_moving_nodes *nodes, double outside, double degree, double community)
{
    return outside >= nodes->resolution * degree * (community - degree) / nodes->level->total;
}

/* links of a part = the node's edges to it, of parts of its own community; returns how many are touched. */
static int64_t add_links(const armilla_moving_nodes *s, int64_t node)
{
    const armilla_level *level = s->level;
    const int32_t own = s->labels[node];
    int64_t count = 0;
    for (int64_t e = level->starts[node]; e < level->starts[node + 1]; e++) {
        const int32_t p = s->refined[level->targets[e]];
        armilla_community_part *part = &s->parts[p];
        if (part->community != own) continue;
        s->touched[count] = p;
        count += part->links == 0;
        part->links += level->weights[e];
    }
    return count;
}

/* The part that a node by itself gains most by joining; itself where none gains. */
static int32_t best_part(const armilla_moving_nodes *s, int64_t node, int64_t touched)
{
    const double degree = s->level->degrees[node], community = s->communities[s->labels[node]].degree;
    int32_t best = s->refined[node];
    double most = 0;
    for (int64_t t = 0; t < touched; t++) {
        const int32_t p = s->touched[t];
        const armilla_community_part *part = &s->parts[p];
        const double gain = part->links - s->resolution * degree * part->weight / s->level->total;
        if (gain < most || (gain == most && best != s->refined[node] && p > best)) continue;
        if (!is_well_connected(s, part->outside, part->weight, community)) continue;
        best = p;
        most = gain;
    }
    return best;
}

/* inside: the node's edges within its community. */
static void join(const armilla_moving_nodes *s, int64_t node, int32_t p, double inside)
{
    armilla_community_part *part = &s->parts[p];
    s->refined[node] = p;
    part->joined = true;
    part->weight += s->level->degrees[node];
    part->outside += inside - 2 * part->links;
}

static void visit(const armilla_moving_nodes *s, int64_t node)
{
    const armilla_community_part *own = &s->parts[s->refined[node]];
    const double degree = s->level->degrees[node], community = s->communities[s->labels[node]].degree;
    if (own->joined || !is_well_connected(s, own->outside, degree, community)) return;
    const int64_t touched = add_links(s, node);
    const int32_t p = best_part(s, node, touched);
    if (p != s->refined[node]) join(s, node, p, own->outside);
    for (int64_t t = 0; t < touched; t++) s->parts[s->touched[t]].links = 0;
}

ARMILLA_EXPECT expect(const armilla_moving_nodes *s, int64_t at)
{
    const armilla_level *level = s->level;
    if (at + PLACE_AHEAD >= level->nodes) return;
    const int32_t far = s->order[at + PLACE_AHEAD], near = s->order[at + NUMBERS_AHEAD],
                  next = s->order[at + PARTS_AHEAD];
    __builtin_prefetch(&level->starts[far]);
    __builtin_prefetch(&level->degrees[far]);
    __builtin_prefetch(&s->refined[far]);
    armilla_level_expect_row(level, s->order[at + EDGES_AHEAD]);
    for (int64_t e = level->starts[near]; e < level->starts[near + 1]; e++)
        __builtin_prefetch(&s->refined[level->targets[e]]);
    for (int64_t e = level->starts[next]; e < level->starts[next + 1]; e++)
        __builtin_prefetch(&s->parts[s->refined[level->targets[e]]]);
}

/* Every node is a part, with its edges inside the community. */
static void begin(const armilla_moving_nodes *s)
{
    const armilla_level *level = s->level;
    for (int64_t i = 0; i < level->nodes; i++) {
        const int32_t own = s->labels[i];
        double outside = 0;
        for (int64_t e = level->starts[i]; e < level->starts[i + 1]; e++)
            outside += s->labels[level->targets[e]] == own ? level->weights[e] : 0;
        s->refined[i] = (int32_t)i;
        s->parts[i] = (armilla_community_part){.weight = level->degrees[i], .outside = outside, .community = own};
    }
}

armilla_status armilla_nodes_refine(const armilla_moving_nodes *nodes)
{
    begin(nodes);
    for (int64_t i = 0; i < nodes->level->nodes; i++) {
        expect(nodes, i);
        visit(nodes, nodes->order[i]);
        if ((i + 1) % CHECK_INTERVAL == 0 && armilla_nodes_over(nodes)) return ARMILLA_STOPPED;
    }
    return ARMILLA_OK;
}
