/* Memory of gathered views. */
#include "data/gathered.h"

#include "base/size.h"

size_t armilla_gathered_bytes(const armilla_data *X, armilla_type work, int64_t width)
{
    return ((size_t)(X->m * width) * armilla_type_size(work) + ARMILLA_LINE - 1) / ARMILLA_LINE * ARMILLA_LINE;
}

size_t armilla_gathered_workspace(const armilla_data *X, armilla_type work, int64_t width)
{
    const armilla_data *inner = armilla_gathered_of(X)->inner;
    return armilla_gathered_bytes(X, work, width) + inner->ops->workspace(inner, work, width);
}

void armilla_gathered_free(armilla_data *data)
{
    armilla_release(data->context, ((armilla_gathered *)data)->places);
    armilla_release(data->context, data);
}

armilla_status armilla_gathered_new(armilla_context *context, const armilla_data *X, const armilla_data_ops *ops,
                                    const armilla_kept *kept, armilla_gathered **made)
{
    armilla_kept copy = {0};
    armilla_gathered *view = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *view, &view);
    if (status == ARMILLA_OK) status = armilla_kept_copy(context, kept, &copy);
    if (status != ARMILLA_OK) {
        armilla_release(context, view);
        return status;
    }
    armilla_data_view(&view->data, X, ops, context);
    view->inner = X;
    view->places = copy.at;
    *made = view;
    return ARMILLA_OK;
}
