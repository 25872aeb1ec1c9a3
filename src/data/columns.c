/* Arrays of programs that have a column for each sample. */
#include "data/slots.h"

#include "base/ranks.h"

void armilla_data_own(const armilla_context *context, const armilla_data *data, int64_t *first, int64_t *last)
{
    armilla_context all = {.ranks = context ? context->ranks : NULL};
    if (!data || !first || !last) return;
    all.call.together = all.ranks != NULL;
    const armilla_samples share = armilla_data_share(&all, data);
    *first = share.first;
    *last = share.last;
}

armilla_status armilla_data_meet(armilla_context *context, const armilla_data *X)
{
    const int64_t numbers[] = {X->m, X->n, armilla_data_stored(X)};
    uint64_t token = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        token = (token ^ (uint64_t)numbers[i]) * 0x9E3779B97F4A7C15U; /* odd, so that no number is lost */
    return armilla_ranks_meet(context, ARMILLA_OK, token, NULL);
}

armilla_status armilla_columns_take(armilla_context *context, const armilla_data *data, size_t bytes, void *block)
{
    armilla_status status = ARMILLA_NOT_NULL(context, data, block);
    if (status == ARMILLA_OK) status = armilla_call_enter_together(context, 1);
    if (status != ARMILLA_OK) return status;
    const armilla_samples share = armilla_data_share(context, data);
    void *made = NULL;
    status = armilla_samples_take(context, &share, 1, bytes, &made);
    status = armilla_call_leave_together(context, status);
    if (status == ARMILLA_OK)
        *(void **)block = made;
    else
        armilla_release(context, made);
    return status;
}

armilla_status armilla_columns_put(armilla_context *context, const armilla_data *data, size_t bytes, const void *block,
                                   armilla_put put, void *user)
{
    armilla_status status = ARMILLA_NOT_NULL(context, data, block);
    if (status == ARMILLA_OK && !put)
        status = armilla_fail(context, ARMILLA_BAD_ARGUMENT, "armilla_columns_put: put is NULL; it is needed");
    if (status == ARMILLA_OK) status = armilla_call_enter_together(context, 1);
    if (status != ARMILLA_OK) return status;
    const armilla_samples share = armilla_data_share(context, data);
    status = armilla_samples_put(context, ARMILLA_OK, &(armilla_putting){block, &share, bytes, put, user});
    return armilla_call_leave_together(context, status);
}
