/* Codes of a model that several ranks have fitted, on the first of them. */
#include "model/model.h"

#include "base/ranks.h"

armilla_status armilla_model_is_whole(armilla_context *context, const armilla_model *model)
{
    if (!model->spread || model->gathered) return ARMILLA_OK;
    return armilla_fail(
        context, ARMILLA_BAD_ARGUMENT,
        "this rank has the codes of %lld of the model's %lld samples; armilla_model_gather brings all to "
        "rank 0",
        (long long)(model->share.last - model->share.first), (long long)model->share.count);
}

armilla_status armilla_model_within_reach(armilla_context *context, const armilla_model *model)
{
    if (!model->spread || context->ranks) return ARMILLA_OK;
    return armilla_fail(
        context, ARMILLA_BAD_ARGUMENT,
        "the model was fitted by several ranks, which have its codes; make this call by all of them, or "
        "save the model and open it");
}

armilla_status armilla_model_gather(armilla_context *context, armilla_model *model)
{
    char *codes = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, model);
    if (status != ARMILLA_OK || !model->spread) return status;
    if ((status = armilla_call_enter_together(context, 1)) != ARMILLA_OK) return status;
    const size_t column = (size_t)model->summary.rank * armilla_type_size(model->summary.precision);
    const bool first = armilla_ranks_rank(context) == 0;
    if (first) status = armilla_grow(context, model->share.count, column, &codes);
    char *next = codes;
    status = armilla_samples_put(context, status,
                                 &(armilla_putting){model->V, &model->share, column, armilla_put_behind, &next});
    status = armilla_call_leave_together(context, status);
    if (status != ARMILLA_OK || !first) {
        armilla_release(context, codes);
        return status;
    }
    armilla_release(context, model->V);
    model->V = codes;
    model->gathered = true;
    return ARMILLA_OK;
}
