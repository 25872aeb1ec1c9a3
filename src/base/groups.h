/* The order of groups of samples, such as clusters: by falling size, ties by the first sample, and then those that nobody is
 * in. It depends on which samples are together alone: not on storage, precision, threads or ranks. */
#ifndef ARMILLA_BASE_GROUPS_H
#define ARMILLA_BASE_GROUPS_H

#include "base/context.h"

/* Groups of samples of which all ranks have some each. */
typedef struct armilla_groups {
    int64_t count;
    int64_t *sizes;  /* of this rank's samples, then of all */
    int64_t *firsts; /* the first of these samples; INT64_MAX: none */
    int64_t *order;  /* the groups, the first of them at place 0 */
} armilla_groups;

/* Space for so many, without samples: sizes 0, firsts INT64_MAX. All zeros may be released. */
armilla_status armilla_groups_take(armilla_context *context, int64_t count, armilla_groups *groups);
void armilla_groups_release(armilla_context *context, armilla_groups *groups);

/* One more sample of a group: the size, and the first. In the order of samples. */
static inline void armilla_groups_add(armilla_groups *groups, int64_t group, int64_t sample)
{
    if (groups->sizes[group]++ == 0) groups->firsts[group] = sample;
}

/* Fills the order. By all ranks of the call in progress, whose sizes are added up; status: how what comes before has ended
 * here (base/ranks.h). */
armilla_status armilla_groups_arrange(armilla_context *context, armilla_status status, armilla_groups *groups);

#endif
