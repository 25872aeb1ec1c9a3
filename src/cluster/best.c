/* Lists of the best, and the object that holds those of atoms or clusters. */
#include "cluster/top.h"

#include "base/size.h"
#include "base/sized.h"

#include <math.h>

armilla_top_entry armilla_top_entry_new(int64_t index)
{
    return (armilla_top_entry){.size = sizeof(armilla_top_entry),
                               .index = index,
                               .weight = NAN,
                               .lift = NAN,
                               .inside = NAN,
                               .outside = NAN,
                               .effect = NAN,
                               .p = NAN,
                               .angle = NAN};
}

armilla_status armilla_best_take(armilla_context *context, int64_t most, armilla_best *best)
{
    *best = (armilla_best){.most = most};
    const armilla_status status = armilla_take(context, most, sizeof *best->keys, &best->keys);
    return status == ARMILLA_OK ? armilla_take(context, most, sizeof *best->entries, &best->entries) : status;
}

void armilla_best_release(armilla_context *context, armilla_best *best)
{
    armilla_release(context, best->entries);
    armilla_release(context, best->keys);
    *best = (armilla_best){0};
}

static bool is_better(double key, int64_t index, const armilla_best *best, int64_t at)
{
    return key > best->keys[at] || (key == best->keys[at] && index < best->entries[at].index);
}

void armilla_best_offer(armilla_best *best, double key, const armilla_top_entry *entry)
{
    if (isnan(key) || best->most == 0) return;
    const bool full = best->count == best->most;
    if (full && !is_better(key, entry->index, best, best->count - 1)) return;
    int64_t at = full ? best->count - 1 : best->count++;
    for (; at > 0 && is_better(key, entry->index, best, at - 1); at--) {
        best->keys[at] = best->keys[at - 1];
        best->entries[at] = best->entries[at - 1];
    }
    best->keys[at] = key;
    best->entries[at] = *entry;
}

armilla_best *armilla_top_best(const armilla_top *top, int64_t group, armilla_top_list list)
{
    return &top->lists[group * ARMILLA_TOP_LIST_COUNT + list];
}

/* Features, or samples. */
static const int side_of[ARMILLA_TOP_LIST_COUNT] = {
    [ARMILLA_TOP_FEATURES] = 0, [ARMILLA_TOP_DISTINCTIVE] = 0, [ARMILLA_TOP_TYPICAL] = 1, [ARMILLA_TOP_ODD] = 1};

armilla_status armilla_top_new(armilla_context *context, int64_t groups, int64_t count, const int64_t sizes[2],
                               armilla_top **top)
{
    armilla_top *made = NULL;
    if (count < 1 || count > ARMILLA_MOST_TOP)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("count %lld") " is no number of entries; give one from 1 to %d",
                            (long long)count, ARMILLA_MOST_TOP);
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    made->context = context;
    status = armilla_take(context, groups, sizeof *made->group, &made->group);
    if (status == ARMILLA_OK)
        status = armilla_take(context, groups * ARMILLA_TOP_LIST_COUNT, sizeof *made->lists, &made->lists);
    if (status == ARMILLA_OK) made->groups = groups;
    for (int64_t i = 0; i < groups * ARMILLA_TOP_LIST_COUNT && status == ARMILLA_OK; i++)
        status = armilla_best_take(context, armilla_min64(count, sizes[side_of[i % ARMILLA_TOP_LIST_COUNT]]),
                                   &made->lists[i]);
    if (status == ARMILLA_OK)
        *top = made;
    else
        armilla_top_free(made);
    return status;
}

void armilla_top_free(armilla_top *top)
{
    if (!top) return;
    for (int64_t i = 0; i < top->groups * ARMILLA_TOP_LIST_COUNT; i++)
        armilla_best_release(top->context, &top->lists[i]);
    armilla_release(top->context, top->lists);
    armilla_release(top->context, top->group);
    armilla_release(top->context, top);
}

int64_t armilla_top_count(const armilla_top *top)
{
    return top ? top->groups : 0;
}

bool armilla_top_group_get_sized(const armilla_top *top, int64_t group, armilla_top_group *found, size_t size)
{
    const armilla_top_group none = {.size = 0};
    const bool there = top && group >= 0 && group < top->groups;
    armilla_sized_write(there ? &top->group[group] : &none, sizeof none, found, size);
    return there;
}

bool armilla_top_entry_get_sized(const armilla_top *top, int64_t group, armilla_top_list list, int64_t place,
                                 armilla_top_entry *found, size_t size)
{
    const armilla_top_entry none = {.size = 0};
    const bool known = top && group >= 0 && group < top->groups && (unsigned)list < ARMILLA_TOP_LIST_COUNT;
    const bool there = known && place >= 0 && place < armilla_top_best(top, group, list)->count;
    armilla_sized_write(there ? &armilla_top_best(top, group, list)->entries[place] : &none, sizeof none, found, size);
    return there;
}
