/* The model object itself. */
#include "model/model.h"
#include "model/record.h"

#include "base/sized.h"

armilla_status armilla_model_new(armilla_context *context, armilla_model **model)
{
    armilla_model *made = NULL;
    const armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    made->context = context;
    *model = made;
    return ARMILLA_OK;
}

void armilla_kept_clusters_release(armilla_context *context, armilla_kept_clusters *clusters)
{
    armilla_release(context, clusters->centres);
    armilla_release(context, clusters->sizes);
    armilla_release(context, clusters->labels);
    armilla_release(context, clusters->method);
    *clusters = (armilla_kept_clusters){0};
}

void armilla_model_free(armilla_model *model)
{
    if (!model) return;
    armilla_context *context = model->context;
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT; kind++) armilla_names_free(context, &model->names[kind]);
    for (int i = 0; i < ARMILLA_KEPT_COUNT; i++) armilla_kept_free(context, &model->kept[i]);
    armilla_kept_clusters_release(context, &model->clusters);
    armilla_kept_free(context, &model->zeros);
    armilla_release(context, model->trace);
    armilla_preparation_release(context, &model->preparation);
    armilla_release(context, model->past.G);
    armilla_release(context, model->past.A);
    armilla_release(context, model->V);
    armilla_release(context, model->U);
    armilla_release(context, model->options_text);
    armilla_release(context, model->reading_text);
    armilla_release(context, model->start);
    armilla_release(context, model);
}

void armilla_model_summarize_sized(const armilla_model *model, armilla_model_summary *summary, size_t size)
{
    const armilla_model_summary none = {.size = 0};
    armilla_sized_write(model ? &model->summary : &none, sizeof none, summary, size);
}

const char *armilla_model_options(const armilla_model *model)
{
    return model ? model->options_text : NULL;
}

const char *armilla_model_reading(const armilla_model *model)
{
    return model ? model->reading_text : NULL;
}

armilla_status armilla_model_set_reading(armilla_context *context, armilla_model *model, const char *reading)
{
    char *copy = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, model);
    if (status == ARMILLA_OK && reading && !armilla_record_of_texts(reading))
        status = armilla_fail(context, ARMILLA_BAD_ARGUMENT, "how data were read is no JSON object of texts");
    if (status == ARMILLA_OK && reading) status = armilla_copy_text(context, reading, &copy);
    if (status != ARMILLA_OK) return status;
    armilla_release(context, model->reading_text);
    model->reading_text = copy;
    return ARMILLA_OK;
}

const void *armilla_model_basis(const armilla_model *model)
{
    return model ? model->U : NULL;
}

const void *armilla_model_codes(const armilla_model *model)
{
    return model ? model->V : NULL;
}

const double *armilla_model_mean(const armilla_model *model)
{
    return model ? model->preparation.learned[ARMILLA_STEP_CENTER] : NULL;
}

const double *armilla_model_idf(const armilla_model *model)
{
    return model ? model->preparation.learned[ARMILLA_STEP_TFIDF] : NULL;
}

const double *armilla_model_scale(const armilla_model *model)
{
    return model ? model->preparation.learned[ARMILLA_STEP_SCALE] : NULL;
}

void armilla_model_describe_preparation(armilla_model *model)
{
    model->prepared.size = sizeof model->prepared;
    armilla_preparation_tell(&model->preparation, &model->step_texts, &model->prepared);
    armilla_preparation_describe(&model->preparation, &model->summary);
}

void armilla_model_preparation(const armilla_model *model, armilla_options *options)
{
    for (const armilla_option *row = armilla_option_table(); row->name && model; row = armilla_option_next(row))
        if (armilla_option_is_of(row, ARMILLA_PREPARATION)) armilla_option_copy(row, &model->prepared, options);
}

int64_t armilla_model_trace_count(const armilla_model *model)
{
    return model ? model->trace_count : 0;
}

bool armilla_model_trace_entry_sized(const armilla_model *model, int64_t k, armilla_trace_entry *entry, size_t size)
{
    const armilla_trace_entry none = {.size = 0};
    const bool there = model && k >= 0 && k < model->trace_count;
    armilla_sized_write(there ? &model->trace[k] : &none, sizeof none, entry, size);
    return there;
}

const char *armilla_model_name(const armilla_model *model, armilla_naming kind, int64_t index)
{
    if (!model || (unsigned)kind >= ARMILLA_NAMING_COUNT || index < 0 || index >= model->names[kind].count) return NULL;
    return armilla_names_at(&model->names[kind], index);
}

static const int64_t *kept_places(const armilla_kept *kept, int64_t *of)
{
    if (kept->at && of) *of = kept->of;
    return kept->at;
}

const int64_t *armilla_model_kept_features(const armilla_model *model, int64_t *of)
{
    return model ? kept_places(&model->kept[ARMILLA_KEPT_FEATURES], of) : NULL;
}

const int64_t *armilla_model_zero_samples(const armilla_model *model, int64_t *count)
{
    if (model && model->zeros.at && count) *count = model->zeros.count;
    return model ? model->zeros.at : NULL;
}

const int64_t *armilla_model_kept_samples(const armilla_model *model, int64_t *of)
{
    return model ? kept_places(&model->kept[ARMILLA_KEPT_SAMPLES], of) : NULL;
}
