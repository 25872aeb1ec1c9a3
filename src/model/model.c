/* The model object itself, and X as a model's fit saw it. */
#include "model/model.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Longer samples than this leave no room for products in single precision. */
#define MOST_SINGLE 1e30

armilla_status armilla_model_new(armilla_context *context, armilla_model **model)
{
    armilla_model *made = NULL;
    const armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    made->context = context;
    *model = made;
    return ARMILLA_OK;
}

void armilla_model_free(armilla_model *model)
{
    if (!model) return;
    armilla_context *context = model->context;
    armilla_release(context, model->trace);
    armilla_release(context, model->idf);
    armilla_release(context, model->mean);
    armilla_release(context, model->V);
    armilla_release(context, model->U);
    armilla_release(context, model->options_text);
    armilla_release(context, model->start);
    armilla_release(context, model);
}

void armilla_model_summarize(const armilla_model *model, armilla_model_summary *summary)
{
    *summary = model->summary;
}

const char *armilla_model_options(const armilla_model *model)
{
    return model->options_text;
}

const void *armilla_model_basis(const armilla_model *model)
{
    return model->U;
}

const void *armilla_model_codes(const armilla_model *model)
{
    return model->V;
}

const double *armilla_model_mean(const armilla_model *model)
{
    return model->mean;
}

const double *armilla_model_idf(const armilla_model *model)
{
    return model->idf;
}

const armilla_trace_entry *armilla_model_trace(const armilla_model *model, int64_t *count)
{
    *count = model->trace_count;
    return model->trace;
}

armilla_status armilla_model_view(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                  armilla_data **prepared, const armilla_data **view)
{
    const armilla_preparation preparation = {model->idf, model->mean, strcmp(model->summary.normalize, "l2") == 0};
    armilla_status status = ARMILLA_OK;
    if (X->m != model->summary.m)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "the data have %" PRId64 " features and %" PRId64 " samples, the model has %" PRId64
                            " features; give data of the same features, with --samples rows or columns as they lie",
                            X->m, X->n, model->summary.m);
    if (preparation.idf || preparation.mean || preparation.unit_length)
        status = armilla_data_prepare(context, X, &preparation, prepared);
    if (status == ARMILLA_OK) *view = *prepared ? *prepared : X;
    return status;
}

armilla_status armilla_facts_finite(armilla_context *context, const armilla_data_facts *facts, const armilla_data *X,
                                    armilla_type work)
{
    const bool narrower = armilla_type_size(work) < armilla_type_size(X->type);
    if (facts->bad_sample >= 0)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "sample %" PRId64 ", feature %" PRId64 " (counted from 1) is NaN or infinite%s; remove or "
                            "fill such values first",
                            facts->bad_sample + 1, facts->bad_feature + 1,
                            narrower ? " (or beyond f32; then use --precision f64)" : "");
    if (!isfinite(facts->squared_norm) || (work == ARMILLA_F32 && facts->norm_high > MOST_SINGLE))
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "the entries are too large for their squares to be added in %s; %s",
                            armilla_type_word(work),
                            isfinite(facts->squared_norm) ? "use --precision f64 or divide the data by a power of ten"
                                                          : "divide the data by a power of ten");
    return ARMILLA_OK;
}
