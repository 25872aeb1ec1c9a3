/* Samples without a direction. On a sphere they have a code like any other, at a place that means nothing. */
#include "cluster/top.h"

#include "data/traverse.h"

/* Surveys data, in a call of their own. */
static armilla_status survey(armilla_context *context, const armilla_model *model, const armilla_data *X, bool *zero)
{
    armilla_view view = {0};
    armilla_data_facts facts;
    double *squares = NULL;
    armilla_status status = armilla_model_view(context, model, X, false, &view);
    if (status == ARMILLA_OK) status = armilla_take(context, X->n, sizeof *squares, &squares);
    if (status == ARMILLA_OK) status = armilla_survey(context, view.data, model->summary.precision, &facts, squares);
    for (int64_t j = 0; j < X->n && status == ARMILLA_OK; j++) zero[j] = squares[j] == 0;
    armilla_release(context, squares);
    armilla_view_free(&view);
    return status;
}

/* Codes of length 0, and of a model on a sphere the samples that it knows to be 0. */
static void mark_zero_codes(const armilla_model *model, bool *zero)
{
    const armilla_model_summary *s = &model->summary;
    const size_t size = armilla_type_size(s->precision);
    for (int64_t j = 0; j < s->n; j++) {
        const char *code = (const char *)model->V + (size_t)(j * s->rank) * size;
        zero[j] = true;
        for (int64_t k = 0; k < s->rank && zero[j]; k++) {
            double value = 0;
            armilla_fetch(s->precision, 1, code + (size_t)k * size, &value);
            zero[j] = value == 0;
        }
    }
    for (int64_t i = 0; i < model->zeros.count; i++) zero[model->zeros.at[i]] = true;
}

armilla_status armilla_zeros_find(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                  bool **zero)
{
    const armilla_status status = armilla_take(context, X ? X->n : model->summary.n, sizeof **zero, zero);
    if (status != ARMILLA_OK || X) return status == ARMILLA_OK ? survey(context, model, X, *zero) : status;
    mark_zero_codes(model, *zero);
    return ARMILLA_OK;
}
