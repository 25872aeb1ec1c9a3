/* Messages between ranks. */
#include "base/ranks.h"

#include "base/size.h"
#include "base/sized.h"

#include <stdio.h>

enum { NODES_PER_RANK = 8 };

int armilla_ranks_size(const armilla_context *context)
{
    return context->call.together ? context->ranks->count : 1;
}

int armilla_ranks_rank(const armilla_context *context)
{
    return context->call.together ? context->ranks->rank : 0;
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
    context->call.lost = true;
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
    if (!context->call.together) return ARMILLA_OK;
    if (!ranks->broadcast) return broadcast_by_messages(context, bytes, count);
    return ranks->broadcast(ranks->self, bytes, count) == 0 ? ARMILLA_OK : lost(context, 0);
}

/* *own = what join makes of it and those of the ranks behind, to rank 0 along the tree of the broadcast. other: space for
 * as much. */
static armilla_status collect(armilla_context *context, void *own, void *other, size_t count, armilla_ranks_join join)
{
    const armilla_ranks *ranks = context->ranks;
    for (int bit = 1; bit < ranks->count; bit *= 2) {
        if (ranks->rank & bit) return armilla_ranks_send(context, ranks->rank - bit, own, count);
        if (ranks->rank + bit >= ranks->count) continue;
        const armilla_status status = armilla_ranks_receive(context, ranks->rank + bit, other, count);
        if (status != ARMILLA_OK) return status;
        join(own, other);
    }
    return ARMILLA_OK;
}

/* How a step ended on a rank, and then on some. */
typedef struct ending {
    int64_t slot; /* that failed; INT64_MAX: none */
    int32_t rank, status;
    int32_t stop;    /* 1 + armilla_stop, or 0 */
    int32_t differs; /* tokens do */
    int32_t code;    /* of the lowest rank that has one */
    int32_t none;    /* so that no byte is unset */
    uint64_t token;
    double seconds; /* of the lowest rank */
} ending;

static void merge(void *left, const void *right)
{
    ending *own = left, others = *own;
    const ending *other = right;
    const bool differs = own->differs || other->differs || own->token != other->token;
    if (other->slot < own->slot || (other->slot == own->slot && other->rank < own->rank)) others = *other;
    others.stop = own->stop ? own->stop : other->stop;
    others.differs = differs;
    others.token = own->token;
    others.seconds = own->seconds;
    others.code = own->code ? own->code : other->code;
    *own = others;
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

/* All of it at once; *all: what was agreed on. */
static armilla_status agree(armilla_context *context, ending *all)
{
    armilla_call *call = &context->call;
    const int stopped = atomic_load_explicit(&call->stopped, memory_order_relaxed);
    const int wish = atomic_load_explicit(&call->wish, memory_order_relaxed);
    all->rank = context->ranks->rank;
    all->stop = stopped ? stopped : wish;
    ending other;
    armilla_status sent = collect(context, all, &other, sizeof *all, merge);
    if (sent == ARMILLA_OK) sent = armilla_ranks_broadcast(context, all, sizeof *all);
    if (sent == ARMILLA_OK && all->status != ARMILLA_OK) sent = share_message(context, all->rank);
    if (sent != ARMILLA_OK) return sent;
    call->agreed = (armilla_status)all->status;
    if (!stopped) atomic_store_explicit(&call->stopped, all->stop, memory_order_relaxed);
    return call->agreed;
}

/* Whether there is somebody to agree with. */
static bool alone(const armilla_context *context)
{
    return !context->call.together || context->call.lost;
}

armilla_status armilla_ranks_agree(armilla_context *context, int64_t slot, armilla_status status)
{
    ending all = {.slot = status == ARMILLA_OK ? INT64_MAX : slot, .status = (int32_t)status};
    return alone(context) ? status : agree(context, &all);
}

armilla_status armilla_context_agree(armilla_context *context, armilla_status status, const char *message, int *code)
{
    if (!context) return ARMILLA_BAD_ARGUMENT;
    if (context->call.open)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "ranks agree before or after a call, not within it");
    ending all = {.slot = status == ARMILLA_OK ? INT64_MAX : ARMILLA_NO_SLOT,
                  .status = (int32_t)status,
                  .code = code ? *code : 0};
    if (message && status != ARMILLA_OK) armilla_set_error(context, message);
    if (!context->ranks || (context->failed_on_all && status != ARMILLA_OK)) return status;
    context->call = (armilla_call){.open = true, .together = true};
    status = agree(context, &all);
    context->call = (armilla_call){.open = false};
    context->failed_on_all = status != ARMILLA_OK;
    if (code) *code = all.code;
    return status;
}

armilla_status armilla_ranks_end(armilla_context *context, armilla_status status)
{
    if (status == ARMILLA_OK || status != context->call.agreed)
        status = armilla_ranks_agree(context, ARMILLA_NO_SLOT, status);
    context->failed_on_all = status != ARMILLA_OK;
    return status;
}

armilla_status armilla_ranks_meet(armilla_context *context, armilla_status status, uint64_t token, double *seconds)
{
    ending all = {.slot = status == ARMILLA_OK ? INT64_MAX : ARMILLA_NO_SLOT,
                  .status = (int32_t)status,
                  .token = token,
                  .seconds = seconds ? *seconds : 0};
    if (alone(context)) return status;
    status = agree(context, &all);
    if (status != ARMILLA_OK) return status;
    if (seconds) *seconds = all.seconds;
    if (!all.differs) return ARMILLA_OK;
    context->call.agreed = ARMILLA_BAD_ARGUMENT; /* all of them see it */
    return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                        "the %d ranks have come to different numbers: they were given other data or options, or their "
                        "machines are of different kinds; give all the same",
                        context->ranks->count);
}

armilla_status armilla_ranks_combine(armilla_context *context, armilla_status status, void *own, size_t count,
                                     armilla_ranks_join join)
{
    double few[ARMILLA_COMBINED / sizeof(double)];
    void *many = NULL;
    if (alone(context)) return status;
    if (status == ARMILLA_OK && count > sizeof few) status = armilla_take(context, (int64_t)count, 1, &many);
    status = armilla_ranks_agree(context, ARMILLA_NO_SLOT, status);
    if (status == ARMILLA_OK) status = collect(context, own, many ? many : few, count, join);
    if (status == ARMILLA_OK) status = armilla_ranks_broadcast(context, own, count);
    armilla_release(context, many);
    return status;
}

static void take_most(void *left, const void *right)
{
    const double other = *(const double *)right;
    if (other > *(double *)left) *(double *)left = other;
}

static void add(void *left, const void *right)
{
    *(int64_t *)left += *(const int64_t *)right;
}

armilla_status armilla_ranks_most(armilla_context *context, armilla_status status, double *own)
{
    return armilla_ranks_combine(context, status, own, sizeof *own, take_most);
}

armilla_status armilla_ranks_sum(armilla_context *context, armilla_status status, int64_t *own)
{
    return armilla_ranks_combine(context, status, own, sizeof *own, add);
}

/* Gathers all bytes on rank 0, along a binary tree: a rank receives the bytes that follow its own from the ranks after
 * it, and sends the rank before it where its bytes end, and then the bytes. range->bytes has space for all. */
static armilla_status collect_ranges(armilla_context *context, const armilla_byte_range *range)
{
    const armilla_ranks *ranks = context->ranks;
    armilla_status status = ARMILLA_OK;
    int64_t end = range->last;
    for (int bit = 1; bit < ranks->count && status == ARMILLA_OK; bit *= 2) {
        const int behind = ranks->rank + bit, before = ranks->rank - bit;
        int64_t reached = end;
        if (ranks->rank & bit) {
            status = armilla_ranks_send(context, before, &end, sizeof end);
            if (status != ARMILLA_OK || end == range->first) return status;
            return armilla_ranks_send(context, before, (const char *)range->bytes + range->first,
                                      (size_t)(end - range->first));
        }
        if (behind >= ranks->count) continue;
        status = armilla_ranks_receive(context, behind, &reached, sizeof reached);
        if (status == ARMILLA_OK && reached > end)
            status = armilla_ranks_receive(context, behind, (char *)range->bytes + end, (size_t)(reached - end));
        end = reached;
    }
    return status;
}

armilla_status armilla_ranks_gather(armilla_context *context, armilla_status status, const armilla_byte_range *range)
{
    status = armilla_ranks_agree(context, ARMILLA_NO_SLOT, status);
    if (status != ARMILLA_OK || alone(context)) return status;
    status = collect_ranges(context, range);
    if (status != ARMILLA_OK || !range->all || range->count == 0) return status;
    return armilla_ranks_broadcast(context, range->bytes, (size_t)range->count);
}
