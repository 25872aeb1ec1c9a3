/* Data that cannot be computed with as prepared, and which entry is to blame. */
#include "data/preparation.h"

#include "data/traverse.h"
#include "linalg/dense.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Longer samples than this leave no space for products in single precision. */
#define MOST_F32 1e30
/* The part of centred sparse data that may be rounding: entries are rounded before the mean is subtracted. */
#define MOST_CANCELLED 1e-3

/* " (name)" where there is one. */
static const char *called(const armilla_data *X, armilla_naming kind, int64_t i, char buffer[80])
{
    const char *name = armilla_data_name(X, kind, i);
    buffer[0] = '\0';
    if (name && *name) snprintf(buffer, 80, " (%.64s)", name);
    return buffer;
}

/* The step that is not defined for such an entry, or NULL. */
static const armilla_step_row *refusing(const armilla_preparation *p, double x)
{
    for (int step = 0; step < ARMILLA_STEP_COUNT; step++)
        if (p->taken[step] && armilla_steps[step].takes && isfinite(x) && !armilla_steps[step].takes(x))
            return &armilla_steps[step];
    return NULL;
}

/* A NaN in one sample makes means and lengths NaN in others: the place that is named is that of the data before
 * these steps. */
static armilla_status name_bad_place(armilla_context *context, const armilla_preparation *p, const armilla_data *X,
                                     armilla_data_facts facts, armilla_type work)
{
    const armilla_column_map map = armilla_preparation_map(p), entries = {.total = map.total, .entries = map.entries};
    armilla_data *mapped = NULL;
    armilla_data_facts found = {.bad_sample = -1};
    char sample[80], feature[80];
    double *column = NULL;
    armilla_status status = armilla_data_prepare(context, X, &entries, &mapped);
    if (status == ARMILLA_OK) status = armilla_survey(context, mapped, work, &found, NULL);
    if (status == ARMILLA_OK && found.bad_sample >= 0) facts = found;
    if (status == ARMILLA_OK) status = armilla_take(context, X->m, sizeof *column, &column);
    if (status == ARMILLA_OK) status = armilla_data_column(context, X, work, facts.bad_sample, column);
    armilla_data_free(mapped);
    const double value = status == ARMILLA_OK ? column[facts.bad_feature] : 0;
    armilla_release(context, column);
    if (status != ARMILLA_OK) return status;
    called(X, ARMILLA_SAMPLE_NAMES, facts.bad_sample, sample);
    called(X, ARMILLA_FEATURE_NAMES, facts.bad_feature, feature);
    const armilla_step_row *step = refusing(p, value);
    if (step)
        return armilla_fail(
            context, ARMILLA_BAD_DATA,
            "sample %" PRId64 "%s, feature %" PRId64 "%s (counted from 1) is %g, but " ARMILLA_FIELD("%s") " %s",
            facts.bad_sample + 1, sample, facts.bad_feature + 1, feature, value, step->name, step->needs);
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "sample %" PRId64 "%s, feature %" PRId64 "%s (counted from 1) is NaN or infinite%s; remove or "
                        "fill such values first",
                        facts.bad_sample + 1, sample, facts.bad_feature + 1, feature,
                        armilla_type_size(work) < armilla_type_size(X->type)
                            ? " (or beyond f32; then use " ARMILLA_FIELD("precision f64") ")"
                            : "");
}

armilla_status armilla_preparation_finite(armilla_context *context, const armilla_preparation *p,
                                          const armilla_data *raw, const armilla_data_facts *facts, armilla_type work)
{
    if (facts->bad_sample >= 0) return name_bad_place(context, p, raw, *facts, work);
    if (!isfinite(facts->squared_norm) || (work == ARMILLA_F32 && facts->norm_high > MOST_F32))
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "the entries are too large for their squares to be added in %s; %s",
                            armilla_type_word(work),
                            isfinite(facts->squared_norm)
                                ? "use " ARMILLA_FIELD("precision f64") " or divide the data by a power of ten"
                                : "divide the data by a power of ten");
    if (facts->cancellation * armilla_epsilon(work) > MOST_CANCELLED)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "the samples differ so little from their mean that sparse %s entries do not show it; %s",
                            armilla_type_word(work),
                            work == ARMILLA_F32
                                ? "fit with " ARMILLA_FIELD("precision f64") " or without " ARMILLA_FIELD("center")
                                : "fit without " ARMILLA_FIELD("center"));
    return ARMILLA_OK;
}
