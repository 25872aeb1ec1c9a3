/* Messages between ranks. */
#include "base/ranks.h"

#include "base/size.h"
#include "base/sized.h"

#include <stdio.h>

enum { NODES_PER_RANK = 8 };

int armilla_ranks_size(const armilla_context *context)
{
    return context->ranks ? context->ranks->count : 1;
}

int armilla_ranks_rank(const armilla_context *context)
{
    return context->ranks ? context->ranks->rank : 0;
}

void armilla_ranks_default_sized(armilla_ranks *ranks, size_t size)
{
    const armilla_ranks alone = {.count = 1};
    armilla_sized_begin(&alone, sizeof alone, ranks, size);
}

armilla_status armilla_context_set_ranks(armilla_context *context, const armilla_ranks *ranks)
{
    armilla_ranks whole = {.size = sizeof whole, .count = 1};
    if (!context) return ARMILLA_BAD_ARGUMENT;
    if (context->call.open)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "ranks cannot change within a call; set them before it");
    const armilla_status status =
        ranks ? armilla_sized_read(context, "armilla_ranks", ranks, &whole, sizeof whole) : ARMILLA_OK;
    if (status != ARMILLA_OK) return status;
    if (ranks && (whole.rank < 0 || whole.rank >= whole.count || !whole.send || !whole.receive))
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            "the table of ranks is not whole: give 0 <= rank < count, send and receive");
    context->table_of_ranks = whole;
    context->ranks = whole.count > 1 ? &context->table_of_ranks : NULL;
    return ARMILLA_OK;
}

armilla_share_of_tree armilla_ranks_share(const armilla_tree *tree, int rank, int size)
{
    int level = tree->top;
    while (level > 0 && tree->nodes_at[level] < (int64_t)NODES_PER_RANK * size) level--;
    if (size == 1) level = tree->top;
    const int64_t nodes = tree->nodes_at[level], slots = tree->nodes_at[0];
    const int64_t first = (rank * nodes + size - 1) / size, last = ((rank + 1) * nodes + size - 1) / size;
    return (armilla_share_of_tree){level, first, last, armilla_min64(first << level, slots),
                                   armilla_min64(last << level, slots)};
}

int armilla_ranks_owner(const armilla_tree *tree, int level, int64_t node, int size)
{
    const int shared = armilla_ranks_share(tree, 0, size).level;
    return (int)((node << (level - shared)) * size / tree->nodes_at[shared]);
}

/* Whatever was sent next would arrive where the other ranks wait for something else. */
static armilla_status lost(armilla_context *context, int rank)
{
    context->call.agreed = true;
    return armilla_fail(context, ARMILLA_IO_ERROR,
                        "rank %d of %d cannot be reached: it has ended, or the connection is lost; start all again",
                        rank, context->ranks->count);
}

armilla_status armilla_ranks_send(armilla_context *context, int to, const void *bytes, size_t count)
{
    const armilla_ranks *ranks = context->ranks;
    return ranks->send(ranks->self, to, bytes, count) == 0 ? ARMILLA_OK : lost(context, to);
}

armilla_status armilla_ranks_receive(armilla_context *context, int from, void *bytes, size_t count)
{
    const armilla_ranks *ranks = context->ranks;
    return ranks->receive(ranks->self, from, bytes, count) == 0 ? ARMILLA_OK : lost(context, from);
}

/* Along a binomial tree: rank k has it from k less its lowest bit, and gives it to k plus each lower one. */
static armilla_status broadcast_by_messages(armilla_context *context, void *bytes, size_t count)
{
    const armilla_ranks *ranks = context->ranks;
    armilla_status status = ARMILLA_OK;
    int bit = 1;
    while (bit < ranks->count && !(ranks->rank & bit)) bit *= 2;
    if (ranks->rank > 0) status = armilla_ranks_receive(context, ranks->rank - bit, bytes, count);
    for (bit /= 2; bit > 0 && status == ARMILLA_OK; bit /= 2)
        if (ranks->rank + bit < ranks->count) status = armilla_ranks_send(context, ranks->rank + bit, bytes, count);
    return status;
}

armilla_status armilla_ranks_broadcast(armilla_context *context, void *bytes, size_t count)
{
    const armilla_ranks *ranks = context->ranks;
    if (!ranks) return ARMILLA_OK;
    if (!ranks->broadcast) return broadcast_by_messages(context, bytes, count);
    return ranks->broadcast(ranks->self, bytes, count) == 0 ? ARMILLA_OK : lost(context, 0);
}

/* How a step ended on a rank, and then on some. */
typedef struct ending {
    int64_t slot; /* that failed; INT64_MAX: none */
    int32_t rank, status;
    int32_t stop; /* 1 + armilla_stop, or 0 */
    int32_t none; /* so that no byte is unset */
} ending;

static void merge(ending *own, const ending *other)
{
    const int32_t stop = own->stop ? own->stop : other->stop;
    if (other->slot < own->slot || (other->slot == own->slot && other->rank < own->rank)) *own = *other;
    own->stop = stop;
}

/* To rank 0, along the tree of the broadcast. */
static armilla_status collect(armilla_context *context, ending *own)
{
    const armilla_ranks *ranks = context->ranks;
    ending other;
    for (int bit = 1; bit < ranks->count; bit *= 2) {
        if (ranks->rank & bit) return armilla_ranks_send(context, ranks->rank - bit, own, sizeof *own);
        if (ranks->rank + bit >= ranks->count) continue;
        const armilla_status status = armilla_ranks_receive(context, ranks->rank + bit, &other, sizeof other);
        if (status != ARMILLA_OK) return status;
        merge(own, &other);
    }
    return ARMILLA_OK;
}

/* The message of the rank that failed becomes everybody's. */
static armilla_status share_message(armilla_context *context, int from)
{
    char message[ARMILLA_MESSAGE];
    armilla_status status = ARMILLA_OK;
    snprintf(message, sizeof message, "%s", context->error);
    if (from != 0 && context->ranks->rank == from) status = armilla_ranks_send(context, 0, message, sizeof message);
    if (from != 0 && context->ranks->rank == 0) status = armilla_ranks_receive(context, from, message, sizeof message);
    if (status == ARMILLA_OK) status = armilla_ranks_broadcast(context, message, sizeof message);
    if (status == ARMILLA_OK) armilla_set_error(context, message);
    return status;
}

armilla_status armilla_ranks_agree(armilla_context *context, int64_t slot, armilla_status status)
{
    armilla_stop reason = ARMILLA_STOP_CONVERGED;
    if (!context->ranks || context->call.agreed) return status;
    const bool stopped = armilla_call_stopped(context, &reason);
    ending all = {.slot = status == ARMILLA_OK ? INT64_MAX : slot,
                  .rank = context->ranks->rank,
                  .status = (int32_t)status,
                  .stop = stopped ? 1 + (int32_t)reason : 0};
    armilla_status sent = collect(context, &all);
    if (sent == ARMILLA_OK) sent = armilla_ranks_broadcast(context, &all, sizeof all);
    if (sent == ARMILLA_OK && all.status != ARMILLA_OK) sent = share_message(context, all.rank);
    /* From a failure on there is nothing left to say to each other in this call. */
    context->call.agreed = sent != ARMILLA_OK || all.status != ARMILLA_OK;
    if (sent != ARMILLA_OK) return sent;
    if (all.stop) armilla_call_stop(context, (armilla_stop)(all.stop - 1));
    return (armilla_status)all.status;
}
