/* X as a model's fit saw it: features matched by name, the same features and samples picked, and prepared. */
#include "model/model.h"

#include <inttypes.h>
#include <stdio.h>

/* "100" or, where the model was fitted to some of the features, "100 of 784". */
static const char *count_features(const armilla_model *model, char buffer[64])
{
    const armilla_kept *kept = &model->kept[ARMILLA_KEPT_FEATURES];
    snprintf(buffer, 64, "%" PRId64, model->summary.m);
    if (kept->at) snprintf(buffer, 64, "%" PRId64 " of %" PRId64, model->summary.m, kept->of);
    return buffer;
}

armilla_status armilla_model_fits(armilla_context *context, const armilla_model *model, int64_t m, int64_t n)
{
    char features[64];
    if (m == model->summary.m) return ARMILLA_OK;
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "the data have %" PRId64 " features and %" PRId64 " samples, the model has %s"
                        " features; give data of the same features, with " ARMILLA_FIELD(
                            "sample_columns rows or columns") " as they lie",
                        m, n, count_features(model, features));
}

/* What the model keeps of X, where X is what its data were chosen from; data that were chosen themselves are taken as
 * they are. */
static armilla_status select_kept(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                  bool training, armilla_data **selected)
{
    const int64_t sizes[ARMILLA_KEPT_COUNT] = {X->m, X->n};
    const bool wanted[ARMILLA_KEPT_COUNT] = {true, training};
    armilla_kept kept[ARMILLA_KEPT_COUNT] = {{0}, {0}};
    bool any = false;
    for (int i = 0; i < ARMILLA_KEPT_COUNT; i++) {
        const armilla_kept *own = &model->kept[i];
        if (!wanted[i] || !own->at || X->kept[i].at || own->of != sizes[i]) continue;
        kept[i] = *own;
        any = true;
    }
    return any ? armilla_data_keep(context, X, kept, selected) : ARMILLA_OK;
}

armilla_status armilla_model_view(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                  bool training, armilla_view *view)
{
    armilla_view made = {0};
    armilla_status status =
        armilla_features_match(context, model, X, (armilla_matching){.silent = true}, &made.matched);
    if (made.matched) X = made.matched;
    if (status == ARMILLA_OK) status = select_kept(context, model, X, training, &made.selected);
    made.raw = made.selected ? made.selected : X;
    if (status == ARMILLA_OK) status = armilla_model_fits(context, model, made.raw->m, made.raw->n);
    if (status == ARMILLA_OK) status = armilla_preparation_view(context, &model->preparation, made.raw, &made.prepared);
    if (status != ARMILLA_OK) {
        armilla_view_free(&made);
        return status;
    }
    made.data = made.prepared ? made.prepared : made.raw;
    *view = made;
    return ARMILLA_OK;
}

void armilla_view_free(armilla_view *view)
{
    armilla_data_free(view->prepared);
    armilla_data_free(view->selected);
    armilla_data_free(view->matched);
    *view = (armilla_view){0};
}
