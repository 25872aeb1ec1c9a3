/* Sizes of clusters, and their numbers. */
#include "cluster/cluster.h"

#include "base/groups.h"
#include "base/ranks.h"
#include "base/size.h"

#include <string.h>

/* Sizes that are added up over ranks at a time. */
enum { SIZES = ARMILLA_COMBINED / sizeof(int64_t) };

static void join_sizes(void *left, const void *right)
{
    int64_t *own = left;
    const int64_t *other = right;
    for (size_t i = 0; i < SIZES; i++) own[i] += other[i];
}

armilla_status armilla_clustering_add_sizes(armilla_context *context, armilla_status status,
                                            armilla_clustering *clustering)
{
    const int64_t k = clustering ? clustering->summary.k : 0;
    status = armilla_ranks_agree(context, ARMILLA_NO_SLOT, status);
    for (int64_t first = 0; first < k && status == ARMILLA_OK; first += SIZES) {
        const size_t bytes = (size_t)armilla_min64(SIZES, k - first) * sizeof(int64_t);
        int64_t some[SIZES] = {0};
        memcpy(some, clustering->sizes + first, bytes);
        status = armilla_ranks_combine(context, status, some, sizeof some, join_sizes);
        memcpy(clustering->sizes + first, some, bytes);
    }
    return status;
}

/* The label of each cluster, in the place of its size; and the sizes in the new order. */
static void renumber(armilla_clustering *clustering, armilla_groups *groups)
{
    const armilla_samples *share = &clustering->share;
    for (int64_t place = 0; place < groups->count; place++)
        clustering->sizes[place] = groups->sizes[groups->order[place]];
    for (int64_t place = 0; place < groups->count; place++) groups->sizes[groups->order[place]] = place;
    for (int64_t j = share->first; j < share->last; j++) clustering->labels[j] = groups->sizes[clustering->labels[j]];
}

armilla_status armilla_clustering_order(armilla_context *context, armilla_clustering *clustering)
{
    const armilla_samples *share = &clustering->share;
    armilla_groups groups;
    armilla_status status = armilla_groups_take(context, clustering->summary.k, &groups);
    for (int64_t j = share->first; j < share->last && status == ARMILLA_OK; j++)
        armilla_groups_add(&groups, clustering->labels[j], j);
    status = armilla_groups_arrange(context, status, &groups);
    if (status == ARMILLA_OK) renumber(clustering, &groups);
    armilla_groups_release(context, &groups);
    return status;
}
