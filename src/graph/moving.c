/* The first half of a level: nodes move between communities, from a queue in a seeded order. A node is visited again
 * when a neighbour has left its community. */
#include "graph/communities.h"

#include "base/random.h"

#include <string.h>

/* A move must gain more than rounding may pretend, as a part of the node's degree. */
#define LEAST_GAIN 1e-10
/* Nodes visited between two questions whether the call is to end. */
enum { BREATH = 4096 };

/* Fisher and Yates. */
static void shuffle(int64_t count, uint64_t seed, int64_t *order)
{
    for (int64_t i = 0; i < count; i++) order[i] = i;
    for (int64_t i = count - 1; i > 0; i--) {
        const uint64_t bits = armilla_random_bits(seed, ARMILLA_STREAM_COMMUNITIES, (uint64_t)i);
        const int64_t other = (int64_t)(bits % (uint64_t)(i + 1)), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

/* links[c] = the weight of the node's edges to community c. Returns how many are touched. */
static int64_t add_links(const armilla_moving_nodes *s, int64_t node)
{
    const armilla_level *level = s->level;
    int64_t count = 0;
    for (int64_t e = level->starts[node]; e < level->starts[node + 1]; e++) {
        const int64_t c = s->labels[level->targets[e]];
        if (s->links[c] == 0) s->touched[count++] = c;
        s->links[c] += level->weights[e];
    }
    return count;
}

/* Of a community beside being alone: k_{i,C} - gamma d_i D_C / 2w, without the node's own degree in D_C. */
static double gain_of(const armilla_moving_nodes *s, int64_t node, int64_t community)
{
    const double own = s->labels[node] == community ? s->level->degrees[node] : 0;
    return s->links[community] -
           s->resolution * s->level->degrees[node] * (s->degrees[community] - own) / s->level->total;
}

/* The community where the node gains most; its own unless another gains more; -1: best alone. */
static int64_t best_community(const armilla_moving_nodes *s, int64_t node, int64_t touched)
{
    const double tolerance = LEAST_GAIN * s->level->degrees[node];
    int64_t best = s->labels[node];
    double most = gain_of(s, node, best) + tolerance;
    for (int64_t t = 0; t < touched; t++) {
        const int64_t c = s->touched[t];
        const double gain = gain_of(s, node, c);
        const bool tie = gain == most && best != s->labels[node] && c < best;
        if (c == s->labels[node] || !(gain > most || tie)) continue;
        best = c;
        most = gain;
    }
    return most < 0 ? -1 : best;
}

/* The queue, a ring, and who is where. */
typedef struct moving {
    const armilla_moving_nodes *nodes;
    int64_t first, count;
    int64_t *members; /* of each community */
    int64_t *empty;   /* communities without members, for nodes that are best alone */
    int64_t empties;
} moving;

static void push(moving *s, int64_t node)
{
    s->nodes->queued[node] = true;
    s->nodes->queue[(s->first + s->count++) % s->nodes->level->nodes] = node;
}

static int64_t pop(moving *s)
{
    const int64_t node = s->nodes->queue[s->first];
    s->first = (s->first + 1) % s->nodes->level->nodes;
    s->count--;
    s->nodes->queued[node] = false;
    return node;
}

static void leave(moving *s, int64_t node)
{
    const int64_t c = s->nodes->labels[node];
    s->nodes->degrees[c] -= s->nodes->level->degrees[node];
    if (--s->members[c] > 0) return;
    s->nodes->degrees[c] = 0; /* and not what rounding left */
    s->empty[s->empties++] = c;
}

static void enter(moving *s, int64_t node, int64_t community)
{
    s->nodes->labels[node] = community;
    s->nodes->degrees[community] += s->nodes->level->degrees[node];
    s->members[community]++;
}

/* Neighbours that are elsewhere may now want to follow. */
static void wake_neighbors(moving *s, int64_t node)
{
    const armilla_level *level = s->nodes->level;
    for (int64_t e = level->starts[node]; e < level->starts[node + 1]; e++) {
        const int64_t other = level->targets[e];
        if (!s->nodes->queued[other] && s->nodes->labels[other] != s->nodes->labels[node]) push(s, other);
    }
}

static bool visit(moving *s)
{
    const armilla_moving_nodes *nodes = s->nodes;
    const int64_t node = pop(s), own = nodes->labels[node];
    const int64_t touched = add_links(nodes, node);
    int64_t best = best_community(nodes, node, touched);
    for (int64_t t = 0; t < touched; t++) nodes->links[nodes->touched[t]] = 0;
    if (best < 0 && s->members[own] == 1) best = own;
    if (best == own) return false;
    leave(s, node);
    enter(s, node, best < 0 ? s->empty[--s->empties] : best);
    wake_neighbors(s, node);
    return true;
}

/* Communities as the labels have them. */
static void count_members(moving *s)
{
    const armilla_moving_nodes *nodes = s->nodes;
    const int64_t n = nodes->level->nodes;
    memset(nodes->degrees, 0, (size_t)n * sizeof *nodes->degrees);
    for (int64_t i = 0; i < n; i++) enter(s, i, nodes->labels[i]);
    for (int64_t c = n - 1; c >= 0; c--)
        if (s->members[c] == 0) s->empty[s->empties++] = c;
}

static armilla_status empty_queue(moving *s, bool *moved)
{
    const int64_t n = s->nodes->level->nodes;
    shuffle(n, s->nodes->seed, s->nodes->order);
    for (int64_t i = 0; i < n; i++) push(s, s->nodes->order[i]);
    for (int64_t visits = 1; s->count > 0; visits++) {
        *moved |= visit(s);
        if (visits % BREATH == 0 && armilla_call_over(s->nodes->context)) return ARMILLA_STOPPED;
    }
    return ARMILLA_OK;
}

armilla_status armilla_nodes_move(const armilla_moving_nodes *nodes, bool *moved)
{
    moving s = {.nodes = nodes};
    const int64_t n = nodes->level->nodes;
    armilla_status status = armilla_take(nodes->context, n, sizeof *s.members, &s.members);
    if (status == ARMILLA_OK) status = armilla_take(nodes->context, n, sizeof *s.empty, &s.empty);
    *moved = false;
    if (status == ARMILLA_OK) {
        count_members(&s);
        status = empty_queue(&s, moved);
    }
    armilla_release(nodes->context, s.empty);
    armilla_release(nodes->context, s.members);
    return status;
}
