/* The preparation of a model: learned from the data of the fit, and applied to these and to all later data alike. The
 * order is logarithm, tf-idf, scale, centring, unit length; the weights of tf-idf and of scale are one factor per
 * feature. */
#include "model/model.h"

#include "data/traverse.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Longer samples than this leave no room for products in single precision. */
#define MOST_SINGLE 1e30
/* The part of centred sparse data that may be rounding: entries are rounded before the mean is subtracted. */
#define MOST_CANCELLED 1e-3

armilla_status armilla_model_weigh(armilla_model *model)
{
    const int64_t m = model->summary.m;
    if (!model->idf && !model->scale) return ARMILLA_OK;
    const armilla_status status = armilla_take(model->context, m, sizeof *model->weights, &model->weights);
    for (int64_t i = 0; i < m && status == ARMILLA_OK; i++)
        model->weights[i] = (model->idf ? model->idf[i] : 1) * (model->scale ? model->scale[i] : 1);
    return status;
}

/* idf_i = ln((1+n)/(1+n_i)) + 1, the smoothed form. Logarithms leave zeros zero, so X may be as given. */
static armilla_status learn_idf(armilla_model *model, const armilla_data *X)
{
    const double n = (double)X->n;
    armilla_status status = armilla_take(model->context, X->m, sizeof(double), &model->idf);
    if (status == ARMILLA_OK) status = armilla_feature_counts(model->context, X, model->idf);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++) model->idf[i] = log((1 + n) / (1 + model->idf[i])) + 1;
    return status;
}

/* scale_i = 1/sd of the feature after tf-idf; 1 for a feature that does not vary, or is not finite: the survey that
 * follows tells of those. */
static armilla_status learn_scale(armilla_model *model, const armilla_data *X, const double *means)
{
    armilla_status status = armilla_take(model->context, X->m, sizeof(double), &model->scale);
    if (status == ARMILLA_OK) status = armilla_feature_deviations(model->context, X, means, model->scale);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++) {
        const double deviation = model->scale[i];
        const bool varies = deviation > 0 && isfinite(deviation);
        model->scale[i] = varies ? 1 / (deviation * (model->idf ? model->idf[i] : 1)) : 1;
        if (!isfinite(model->scale[i]))
            status = armilla_fail(model->context, ARMILLA_BAD_DATA,
                                  "feature %" PRId64 " (counted from 1) varies by %g, too little for --scale to divide "
                                  "by; multiply the data by a power of ten",
                                  i + 1, deviation);
    }
    return status;
}

/* What depends on means; X with its logarithms taken. */
static armilla_status learn_moments(armilla_model *model, const armilla_data *X)
{
    double *means = NULL;
    armilla_status status = armilla_take(model->context, X->m, sizeof *means, &means);
    if (status == ARMILLA_OK) status = armilla_feature_means(model->context, X, means);
    if (status == ARMILLA_OK && model->summary.scale) status = learn_scale(model, X, means);
    if (status == ARMILLA_OK) status = armilla_model_weigh(model);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK && model->weights; i++) means[i] *= model->weights[i];
    if (status == ARMILLA_OK && model->summary.center) {
        model->mean = means;
        means = NULL;
    }
    armilla_release(model->context, means);
    return status;
}

armilla_status armilla_model_learn(armilla_model *model, const armilla_data *X, const armilla_options *options)
{
    const armilla_preparation logarithm = {.log1p = options->log1p};
    armilla_model_summary *s = &model->summary;
    armilla_data *logged = NULL;
    armilla_status status = ARMILLA_OK;
    s->m = X->m;
    s->center = options->center;
    s->tfidf = options->tfidf;
    s->log1p = options->log1p;
    s->scale = options->scale;
    if (s->tfidf) status = learn_idf(model, X);
    if (status == ARMILLA_OK && s->log1p) status = armilla_data_prepare(model->context, X, &logarithm, &logged);
    if (status == ARMILLA_OK)
        status = s->center || s->scale ? learn_moments(model, logged ? logged : X) : armilla_model_weigh(model);
    armilla_data_free(logged);
    return status;
}

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
                        " features; give data of the same features, with --samples rows or columns as they lie",
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

armilla_status armilla_model_prepare(armilla_context *context, const armilla_model *model, const armilla_data *raw,
                                     armilla_data **prepared)
{
    const armilla_preparation preparation = {model->summary.log1p, model->weights, model->mean,
                                             strcmp(model->summary.normalize, "l2") == 0};
    if (!armilla_preparation_any(&preparation)) return ARMILLA_OK;
    return armilla_data_prepare(context, raw, &preparation, prepared);
}

armilla_status armilla_model_view(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                  bool training, armilla_view *view)
{
    armilla_view made = {0};
    armilla_status status = select_kept(context, model, X, training, &made.selected);
    made.raw = made.selected ? made.selected : X;
    if (status == ARMILLA_OK) status = armilla_model_fits(context, model, made.raw->m, made.raw->n);
    if (status == ARMILLA_OK) status = armilla_model_prepare(context, model, made.raw, &made.prepared);
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
    *view = (armilla_view){0};
}

/* " (name)" where there is one. */
static const char *called(const armilla_data *X, armilla_naming kind, int64_t i, char buffer[80])
{
    const char *name = armilla_data_name(X, kind, i);
    buffer[0] = '\0';
    if (name && *name) snprintf(buffer, 80, " (%.64s)", name);
    return buffer;
}

/* A NaN in one sample makes means and lengths NaN in others: the place that is told is that of the data before these
 * steps. Also tells whether it is the logarithm that cannot be taken. */
static armilla_status tell_bad_place(armilla_context *context, const armilla_model *model, const armilla_view *view,
                                     armilla_data_facts facts, armilla_type work)
{
    const armilla_preparation logarithm = {.log1p = model->summary.log1p};
    const armilla_data *X = view->raw;
    armilla_data *logged = NULL;
    armilla_data_facts found = {.bad_sample = -1};
    char sample[80], feature[80];
    double *column = NULL;
    armilla_status status = armilla_data_prepare(context, X, &logarithm, &logged);
    if (status == ARMILLA_OK) status = armilla_survey(context, logged, work, &found, NULL);
    if (status == ARMILLA_OK && found.bad_sample >= 0) facts = found;
    if (status == ARMILLA_OK) status = armilla_take(context, X->m, sizeof *column, &column);
    if (status == ARMILLA_OK) status = armilla_data_column(context, X, work, facts.bad_sample, column);
    armilla_data_free(logged);
    const double value = status == ARMILLA_OK ? column[facts.bad_feature] : 0;
    armilla_release(context, column);
    if (status != ARMILLA_OK) return status;
    called(X, ARMILLA_SAMPLE_NAMES, facts.bad_sample, sample);
    called(X, ARMILLA_FEATURE_NAMES, facts.bad_feature, feature);
    if (logarithm.log1p && isfinite(value) && value <= -1)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "sample %" PRId64 "%s, feature %" PRId64 "%s (counted from 1) is %g, but --log1p takes "
                            "logarithms of 1 + x and needs entries above -1; leave it out or shift the data",
                            facts.bad_sample + 1, sample, facts.bad_feature + 1, feature, value);
    return armilla_fail(
        context, ARMILLA_BAD_DATA,
        "sample %" PRId64 "%s, feature %" PRId64 "%s (counted from 1) is NaN or infinite%s; remove or "
        "fill such values first",
        facts.bad_sample + 1, sample, facts.bad_feature + 1, feature,
        armilla_type_size(work) < armilla_type_size(X->type) ? " (or beyond f32; then use --precision f64)" : "");
}

armilla_status armilla_view_finite(armilla_context *context, const armilla_model *model, const armilla_view *view,
                                   const armilla_data_facts *facts, armilla_type work)
{
    if (facts->bad_sample >= 0) return tell_bad_place(context, model, view, *facts, work);
    if (!isfinite(facts->squared_norm) || (work == ARMILLA_F32 && facts->norm_high > MOST_SINGLE))
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "the entries are too large for their squares to be added in %s; %s",
                            armilla_type_word(work),
                            isfinite(facts->squared_norm) ? "use --precision f64 or divide the data by a power of ten"
                                                          : "divide the data by a power of ten");
    if (facts->cancellation * armilla_epsilon(work) > MOST_CANCELLED)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "the samples differ so little from their mean that sparse %s entries do not show it; %s",
                            armilla_type_word(work),
                            work == ARMILLA_F32 ? "fit with --precision f64 or without --center"
                                                : "fit without --center");
    return ARMILLA_OK;
}
