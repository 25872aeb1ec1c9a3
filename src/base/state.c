/* Loops over listed states. */
#include "base/state.h"

#include "base/size.h"

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(bool) == 1 && sizeof(armilla_stop) == 4, "as their types in the list say");

size_t armilla_state_size(armilla_state_type type)
{
    static const size_t sizes[] = {[ARMILLA_STATE_F64] = 8,
                                   [ARMILLA_STATE_F32] = 4,
                                   [ARMILLA_STATE_I64] = 8,
                                   [ARMILLA_STATE_I32] = 4,
                                   [ARMILLA_STATE_U8] = 1};
    return sizes[type];
}

armilla_state_type armilla_state_working(armilla_type type)
{
    return type == ARMILLA_F32 ? ARMILLA_STATE_F32 : ARMILLA_STATE_F64;
}

size_t armilla_state_enter(armilla_state_list *list, const char *part)
{
    const size_t outer = list->part;
    const int length = snprintf(list->name + outer, sizeof list->name - outer, "%s.", part);
    list->part += (size_t)length;
    return outer;
}

void armilla_state_leave(armilla_state_list *list, size_t outer)
{
    list->part = outer;
}

void armilla_state_visit(armilla_state_list *list, const armilla_state_item *item)
{
    armilla_state_item named = *item;
    if (list->status != ARMILLA_OK || list->purpose != ARMILLA_STATE_VISIT) return;
    (void)snprintf(list->name + list->part, sizeof list->name - list->part, "%s", item->name);
    named.name = list->name;
    list->status = list->visit(list, &named);
}

static void visit_number(armilla_state_list *list, const char *name, armilla_state_type type, void *value,
                         bool reported)
{
    const armilla_state_item item = {.name = name,
                                     .type = type,
                                     .rows = 1,
                                     .columns = 1,
                                     .stride = (int64_t)armilla_state_size(type),
                                     .values = value,
                                     .reported = reported};
    armilla_state_visit(list, &item);
}

void armilla_state_number(armilla_state_list *list, const char *name, armilla_state_type type, void *value)
{
    visit_number(list, name, type, value, false);
}

void armilla_state_report(armilla_state_list *list, const char *name, armilla_state_type type, void *value)
{
    visit_number(list, name, type, value, true);
}

/* Whether the array is to be taken now. */
static bool takes_array(armilla_state_list *list, void **pointer)
{
    if (list->purpose == ARMILLA_STATE_RELEASE) {
        armilla_release(list->context, *pointer);
        *pointer = NULL;
    }
    return list->purpose == ARMILLA_STATE_TAKE && list->status == ARMILLA_OK;
}

void armilla_state_workspace(armilla_state_list *list, armilla_state_type type, int64_t rows, int64_t columns,
                             void *place)
{
    int64_t count = 0;
    if (!takes_array(list, place)) return;
    list->status = armilla_size_area(rows, columns, &count)
                       ? armilla_grow(list->context, count, armilla_state_size(type), place)
                       : armilla_fail(list->context, ARMILLA_NO_MEMORY, "%lld x %lld numbers are too many",
                                      (long long)rows, (long long)columns);
}

/* The item of the array that *place points to. */
static armilla_state_item item_of(const char *name, armilla_state_type type, int64_t rows, int64_t columns,
                                  void *const *place)
{
    return (armilla_state_item){.name = name,
                                .type = type,
                                .rows = rows,
                                .columns = columns,
                                .stride = rows * (int64_t)armilla_state_size(type),
                                .values = *place};
}

void armilla_state_array(armilla_state_list *list, const char *name, armilla_state_type type, int64_t rows,
                         int64_t columns, void *place)
{
    const armilla_state_item item = item_of(name, type, rows, columns, place);
    armilla_state_workspace(list, type, rows, columns, place);
    armilla_state_visit(list, &item);
}

void armilla_state_samples_workspace(armilla_state_list *list, armilla_state_type type, int64_t rows,
                                     const armilla_samples *share, void *place)
{
    if (takes_array(list, place))
        list->status = armilla_samples_take(list->context, share, rows, armilla_state_size(type), place);
}

void armilla_state_samples(armilla_state_list *list, const char *name, armilla_state_type type, int64_t rows,
                           const armilla_samples *share, void *place)
{
    armilla_state_item item = item_of(name, type, rows, share->count, place);
    item.share = share;
    armilla_state_samples_workspace(list, type, rows, share, place);
    armilla_state_visit(list, &item);
}

bool armilla_state_require(armilla_state_list *list, const char *name, bool holds)
{
    if (list->restoring && list->status == ARMILLA_OK && !holds)
        list->status = armilla_fail(list->context, ARMILLA_BAD_DATA,
                                    "the saved state is damaged: %.*s%s is out of range; begin the fit anew",
                                    (int)list->part, list->name, name);
    return list->status == ARMILLA_OK;
}

void armilla_state_count(armilla_state_list *list, const char *name, int64_t most, int64_t *count)
{
    armilla_state_number(list, name, ARMILLA_STATE_I64, count);
    (void)armilla_state_require(list, name, *count >= 0 && *count <= most);
}

armilla_status armilla_state_take(armilla_context *context, armilla_state_lister lister, void *self)
{
    armilla_state_list list = {.context = context, .purpose = ARMILLA_STATE_TAKE};
    lister(self, &list);
    return list.status;
}

void armilla_state_release(armilla_context *context, armilla_state_lister lister, void *self)
{
    armilla_state_list list = {.context = context, .purpose = ARMILLA_STATE_RELEASE};
    lister(self, &list);
}

armilla_status armilla_state_each(armilla_context *context, armilla_state_lister lister, void *self,
                                  armilla_status (*visit)(armilla_state_list *list, const armilla_state_item *item),
                                  void *visitor)
{
    armilla_state_list list = {.context = context, .purpose = ARMILLA_STATE_VISIT, .visit = visit, .self = visitor};
    lister(self, &list);
    return list.status;
}
