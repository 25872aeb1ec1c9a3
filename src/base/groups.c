#include "base/groups.h"

#include "base/ranks.h"
#include "base/size.h"

#include <stdlib.h>
#include <string.h>

/* Sizes and first samples of so many groups at a time go from rank to rank. */
enum { TOGETHER = ARMILLA_COMBINED / (2 * sizeof(int64_t)) };

/* One group beside others. */
typedef struct place {
    int64_t size, first, group;
} place;

armilla_status armilla_groups_take(armilla_context *context, int64_t count, armilla_groups *groups)
{
    *groups = (armilla_groups){.count = count};
    armilla_status status = armilla_take(context, count, sizeof *groups->sizes, &groups->sizes);
    if (status == ARMILLA_OK) status = armilla_take(context, count, sizeof *groups->firsts, &groups->firsts);
    if (status == ARMILLA_OK) status = armilla_take(context, count, sizeof *groups->order, &groups->order);
    for (int64_t k = 0; k < count && status == ARMILLA_OK; k++) groups->firsts[k] = INT64_MAX;
    return status;
}

void armilla_groups_release(armilla_context *context, armilla_groups *groups)
{
    armilla_release(context, groups->sizes);
    armilla_release(context, groups->firsts);
    armilla_release(context, groups->order);
    *groups = (armilla_groups){.count = 0};
}

static void join(void *left, const void *right)
{
    int64_t *own = left;
    const int64_t *other = right;
    for (int64_t k = 0; k < TOGETHER; k++) {
        own[k] += other[k];
        own[TOGETHER + k] = armilla_min64(own[TOGETHER + k], other[TOGETHER + k]);
    }
}

/* Combines the groups of the samples of all ranks. */
static armilla_status combine(armilla_context *context, armilla_status status, armilla_groups *groups)
{
    status = armilla_ranks_agree(context, ARMILLA_NO_SLOT, status);
    for (int64_t first = 0; first < groups->count && status == ARMILLA_OK; first += TOGETHER) {
        const int64_t count = armilla_min64(TOGETHER, groups->count - first);
        int64_t some[2 * TOGETHER] = {0};
        memcpy(some, groups->sizes + first, (size_t)count * sizeof *some);
        memcpy(some + TOGETHER, groups->firsts + first, (size_t)count * sizeof *some);
        status = armilla_ranks_combine(context, status, some, sizeof some, join);
        memcpy(groups->sizes + first, some, (size_t)count * sizeof *some);
        memcpy(groups->firsts + first, some + TOGETHER, (size_t)count * sizeof *some);
    }
    return status;
}

static int compare(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

armilla_status armilla_groups_arrange(armilla_context *context, armilla_status status, armilla_groups *groups)
{
    const int64_t count = groups->count;
    place *places = NULL;
    if (status == ARMILLA_OK) status = armilla_take(context, count, sizeof *places, &places);
    status = combine(context, status, groups);
    if (status == ARMILLA_OK) {
        for (int64_t k = 0; k < count; k++) places[k] = (place){groups->sizes[k], groups->firsts[k], k};
        qsort(places, (size_t)count, sizeof *places, compare);
        for (int64_t k = 0; k < count; k++) groups->order[k] = places[k].group;
    }
    armilla_release(context, places);
    return status;
}
