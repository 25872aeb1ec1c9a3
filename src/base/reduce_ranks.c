/* The part of the tree over slots that lies above the subtrees of single ranks. Every rank walks the nodes that it has a
 * slot of, children first, left before right. So all have one order of messages in common, and whoever is to send or to
 * receive next finds the other rank there, at once or when it has done what comes before: none waits for ever. */
#include "base/reducer.h"

#include "base/size.h"

size_t armilla_exchange_offset(const armilla_reducer *reducer, int segment)
{
    int64_t elements = 0;
    for (int i = 0; i < segment; i++) elements += reducer->segments[i].count;
    return (size_t)elements * sizeof(uint64_t);
}

/* On the way up a rank has one vector for each level, the one that it receives, and the result. */
armilla_status armilla_exchange_take(armilla_reducer *reducer)
{
    const int64_t spans = reducer->tree.top - reducer->own.level + 3;
    armilla_status status = armilla_take(reducer->context, 2 * spans, sizeof(void *), &reducer->span);
    while (status == ARMILLA_OK && reducer->spans < spans) {
        status = armilla_grow(reducer->context, (int64_t)armilla_max64(1, (int64_t)reducer->exchange_bytes), 1,
                              &reducer->span[reducer->spans]);
        if (status == ARMILLA_OK) reducer->spans++;
    }
    return status;
}

void armilla_exchange_free(armilla_reducer *reducer)
{
    for (int64_t i = 0; i < reducer->spans; i++) armilla_release(reducer->context, reducer->span[i]);
    armilla_release(reducer->context, reducer->span);
}

static void *borrow_span(armilla_reducer *reducer)
{
    return reducer->span[reducer->spans + --reducer->spare_spans];
}

static void return_span(armilla_reducer *reducer, void *span)
{
    reducer->span[reducer->spans + reducer->spare_spans++] = span;
}

static void combine_spans(const armilla_reducer *reducer, void *left, const void *right)
{
    for (int i = 0; i < reducer->segment_count; i++) {
        const size_t offset = armilla_exchange_offset(reducer, i);
        const armilla_element kind = armilla_element_rows[reducer->segments[i].kind].combined;
        armilla_element_rows[kind].combine(reducer->segments[i].count, (const char *)right + offset,
                                           (char *)left + offset);
    }
}

static void *fold(armilla_reducer *reducer, int64_t node)
{
    char *span = borrow_span(reducer);
    for (int i = 0; i < reducer->segment_count; i++)
        armilla_deliver(
            &(armilla_delivery){reducer, i, reducer->own.level, node, span + armilla_exchange_offset(reducer, i)});
    return span;
}

/* Whether this rank has a slot of the node. */
static bool takes_part(const armilla_reducer *reducer, int level, int64_t node)
{
    const armilla_share_of_tree *own = &reducer->own;
    const int above = level - own->level;
    return own->first < own->last && node << above < own->last && (node + 1) << above > own->first;
}

/* The right sibling's vector to the left one's rank, which combines them; *left is NULL on others. */
static armilla_status join(armilla_reducer *reducer, int level, int64_t node, void **left, void *right)
{
    armilla_context *context = reducer->context;
    const int self = armilla_ranks_rank(context), size = armilla_ranks_size(context);
    const int to = armilla_ranks_owner(&reducer->tree, level, node, size);
    const int from = armilla_ranks_owner(&reducer->tree, level, node + 1, size);
    const size_t bytes = armilla_exchange_offset(reducer, reducer->segment_count);
    armilla_status status = ARMILLA_OK;
    if (self == from && self != to) status = armilla_ranks_send(context, to, right, bytes);
    if (self == to && self != from) {
        right = borrow_span(reducer);
        status = armilla_ranks_receive(context, from, right, bytes);
    }
    if (self == to && status == ARMILLA_OK) combine_spans(reducer, *left, right);
    if (right) return_span(reducer, right);
    return status;
}

/* *vector = the node's on the rank that has its first slot, NULL on others. */
static armilla_status climb(armilla_reducer *reducer, int level, int64_t node, void **vector)
{
    void *right = NULL;
    *vector = NULL;
    if (!takes_part(reducer, level, node)) return ARMILLA_OK;
    if (level == reducer->own.level) {
        *vector = fold(reducer, node);
        return ARMILLA_OK;
    }
    armilla_status status = climb(reducer, level - 1, 2 * node, vector);
    if (2 * node + 1 >= reducer->tree.nodes_at[level - 1] || status != ARMILLA_OK) return status;
    status = climb(reducer, level - 1, 2 * node + 1, &right);
    return status == ARMILLA_OK ? join(reducer, level - 1, 2 * node, vector, right) : status;
}

armilla_status armilla_exchange(armilla_reducer *reducer)
{
    void *root = NULL;
    for (int64_t i = 0; i < reducer->spans; i++) reducer->span[reducer->spans + i] = reducer->span[i];
    reducer->spare_spans = reducer->spans;
    armilla_status status = climb(reducer, reducer->tree.top, 0, &root);
    if (!root) root = borrow_span(reducer);
    if (status == ARMILLA_OK)
        status =
            armilla_ranks_broadcast(reducer->context, root, armilla_exchange_offset(reducer, reducer->segment_count));
    if (status == ARMILLA_OK) reducer->result = root;
    return status;
}
