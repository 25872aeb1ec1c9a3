/* The model object itself. */
#include "model/model.h"

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
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT; kind++) armilla_names_free(context, &model->names[kind]);
    for (int i = 0; i < ARMILLA_KEPT_COUNT; i++) armilla_kept_free(context, &model->kept[i]);
    armilla_release(context, model->trace);
    armilla_preparation_release(context, &model->preparation);
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
    return model->preparation.learned[ARMILLA_STEP_CENTER];
}

const double *armilla_model_idf(const armilla_model *model)
{
    return model->preparation.learned[ARMILLA_STEP_TFIDF];
}

const double *armilla_model_scale(const armilla_model *model)
{
    return model->preparation.learned[ARMILLA_STEP_SCALE];
}

const armilla_trace_entry *armilla_model_trace(const armilla_model *model, int64_t *count)
{
    *count = model->trace_count;
    return model->trace;
}

const char *armilla_model_name(const armilla_model *model, armilla_naming kind, int64_t index)
{
    if ((unsigned)kind >= ARMILLA_NAMING_COUNT || index < 0 || index >= model->names[kind].count) return NULL;
    return armilla_names_at(&model->names[kind], index);
}

static const int64_t *kept_places(const armilla_kept *kept, int64_t *of)
{
    if (kept->at) *of = kept->of;
    return kept->at;
}

const int64_t *armilla_model_kept_features(const armilla_model *model, int64_t *of)
{
    return kept_places(&model->kept[ARMILLA_KEPT_FEATURES], of);
}

const int64_t *armilla_model_kept_samples(const armilla_model *model, int64_t *of)
{
    return kept_places(&model->kept[ARMILLA_KEPT_SAMPLES], of);
}
