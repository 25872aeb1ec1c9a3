/* The first half of a level: nodes move between communities, from a queue in a seeded order. A node is visited again
 * when a neighbour has left its community. */
#include "graph/communities.h"

#include "base/random.h"

#include <string.h>

/* A move must gain more than rounding may pretend, as a part of the node's degree. */
#define LEAST_GAIN 1e-10
/* Nodes visited between two checks whether the run is to end. */
enum { CHECK_INTERVAL = 4096 };
/* The queue says what is visited next, in no order that memory knows: so many nodes before it is their turn their place is
 * fetched, then their edges, then the communities at the ends of these. */
enum { PLACE_AHEAD = 12, EDGES_AHEAD = 8, LABELS_AHEAD = 4, COMMUNITIES_AHEAD = 2 };

/* Fisher and Yates. */
static void shuffle(int64_t count, uint64_t seed, int32_t *order)
{
    for (int64_t i = 0; i < count; i++) order[i] = (int32_t)i;
    for (int64_t i = count - 1; i > 0; i--) {
        const uint64_t bits = armilla_random_bits(seed, ARMILLA_STREAM_COMMUNITIES, (uint64_t)i);
        const int64_t other = (int64_t)(bits % (uint64_t)(i + 1));
        const int32_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

/* links of a community = the weight of the node's edges to it. Returns how many are touched. Neighbours are mostly in one
 * community: its sum stays at hand. */
static int64_t add_links(const armilla_moving_nodes *s, int64_t node)
{
    const armilla_level *level = s->level;
    armilla_community *last = NULL;
    int64_t count = 0;
    double links = 0;
    for (int64_t e = level->starts[node]; e < level->starts[node + 1]; e++) {
        const int32_t c = s->labels[level->targets[e]];
        armilla_community *to = &s->communities[c];
        if (to != last) {
            if (last) last->links = links;
            last = to;
            links = to->links;
            if (links == 0) s->touched[count++] = c;
        }
        links += level->weights[e];
    }
    if (last) last->links = links;
    return count;
}

/* The gain of a community over being alone: k_{i,C} - gamma d_i D_C / 2w, without the node's own degree in D_C. */
static double gain_of(const armilla_moving_nodes *s, int64_t node, int32_t community)
{
    const armilla_community *to = &s->communities[community];
    const double own = s->labels[node] == community ? s->level->degrees[node] : 0;
    return to->links - s->resolution * s->level->degrees[node] * (to->degree - own) / s->level->total;
}

/* The community where the node gains most; its own unless another gains more; -1: best alone. */
static int32_t best_community(const armilla_moving_nodes *s, int64_t node, int64_t touched)
{
    const double tolerance = LEAST_GAIN * s->level->degrees[node];
    int32_t best = s->labels[node];
    double most = gain_of(s, node, best) + tolerance;
    for (int64_t t = 0; t < touched; t++) {
        const int32_t c = s->touched[t];
        const double gain = gain_of(s, node, c);
        const bool tie = gain == most && best != s->labels[node] && c < best;
        if (c == s->labels[node] || !(gain > most || tie)) continue;
        best = c;
        most = gain;
    }
    return most < 0 ? -1 : best;
}

/* The queue, a ring. */
typedef struct moving {
    const armilla_moving_nodes *nodes;
    int64_t first, count;
    int64_t empties;
} moving;

/* Place `ahead` of the ring. */
static int64_t in_ring(const moving *s, int64_t ahead)
{
    const int64_t at = s->first + ahead, n = s->nodes->level->nodes;
    return at < n ? at : at - n;
}

static void push(moving *s, int32_t node)
{
    s->nodes->queued[node] = true;
    s->nodes->queue[in_ring(s, s->count++)] = node;
}

static int32_t pop(moving *s)
{
    const int32_t node = s->nodes->queue[s->first];
    s->first = in_ring(s, 1);
    s->count--;
    s->nodes->queued[node] = false;
    return node;
}

ARMILLA_EXPECT expect(const moving *s)
{
    const armilla_moving_nodes *nodes = s->nodes;
    const armilla_level *level = nodes->level;
    if (s->count <= PLACE_AHEAD) return;
    const int32_t far = nodes->queue[in_ring(s, PLACE_AHEAD)], near = nodes->queue[in_ring(s, LABELS_AHEAD)],
                  next = nodes->queue[in_ring(s, COMMUNITIES_AHEAD)];
    __builtin_prefetch(&level->starts[far]);
    __builtin_prefetch(&level->degrees[far]);
    armilla_level_expect_row(level, nodes->queue[in_ring(s, EDGES_AHEAD)]);
    for (int64_t e = level->starts[near]; e < level->starts[near + 1]; e++)
        __builtin_prefetch(&nodes->labels[level->targets[e]]);
    for (int64_t e = level->starts[next]; e < level->starts[next + 1]; e++)
        __builtin_prefetch(&nodes->communities[nodes->labels[level->targets[e]]]);
}

static void leave(moving *s, int32_t node)
{
    const armilla_moving_nodes *nodes = s->nodes;
    const int32_t c = nodes->labels[node];
    nodes->communities[c].degree -= nodes->level->degrees[node];
    if (--nodes->members[c] > 0) return;
    nodes->communities[c].degree = 0; /* and not what rounding left */
    nodes->empty[s->empties++] = c;
}

static void enter(const moving *s, int32_t node, int32_t community)
{
    const armilla_moving_nodes *nodes = s->nodes;
    nodes->labels[node] = community;
    nodes->communities[community].degree += nodes->level->degrees[node];
    nodes->members[community]++;
}

/* Neighbours that are elsewhere may now want to follow. */
static void wake_neighbors(moving *s, int32_t node)
{
    const armilla_level *level = s->nodes->level;
    for (int64_t e = level->starts[node]; e < level->starts[node + 1]; e++) {
        const int32_t other = level->targets[e];
        if (!s->nodes->queued[other] && s->nodes->labels[other] != s->nodes->labels[node]) push(s, other);
    }
}

static void visit(moving *s)
{
    const armilla_moving_nodes *nodes = s->nodes;
    const int32_t node = pop(s), own = nodes->labels[node];
    const int64_t touched = add_links(nodes, node);
    int32_t best = best_community(nodes, node, touched);
    for (int64_t t = 0; t < touched; t++) nodes->communities[nodes->touched[t]].links = 0;
    if (best < 0 && nodes->members[own] == 1) best = own;
    if (best == own) return;
    leave(s, node);
    enter(s, node, best < 0 ? nodes->empty[--s->empties] : best);
    wake_neighbors(s, node);
}

/* Communities as the labels have them. */
static void count_members(moving *s)
{
    const armilla_moving_nodes *nodes = s->nodes;
    const int64_t n = nodes->level->nodes;
    memset(nodes->communities, 0, (size_t)n * sizeof *nodes->communities);
    memset(nodes->members, 0, (size_t)n * sizeof *nodes->members);
    for (int64_t i = 0; i < n; i++) enter(s, (int32_t)i, nodes->labels[i]);
    for (int64_t c = n - 1; c >= 0; c--)
        if (nodes->members[c] == 0) nodes->empty[s->empties++] = (int32_t)c;
}

armilla_status armilla_nodes_move(const armilla_moving_nodes *nodes)
{
    moving s = {.nodes = nodes};
    const int64_t n = nodes->level->nodes;
    count_members(&s);
    shuffle(n, nodes->seed, nodes->order);
    for (int64_t i = 0; i < n; i++) push(&s, nodes->order[i]);
    for (int64_t visits = 1; s.count > 0; visits++) {
        expect(&s);
        visit(&s);
        if (visits % CHECK_INTERVAL == 0 && armilla_nodes_over(nodes)) return ARMILLA_STOPPED;
    }
    return ARMILLA_OK;
}
