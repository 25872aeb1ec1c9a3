/* The table of steps, and what is done to data by going through it. */
#include "data/preparation.h"

#include "data/logarithm.h"
#include "data/total.h"
#include "data/variable.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void undo_log1p(int64_t count, double *x)
{
    for (int64_t i = 0; i < count; i++) x[i] = expm1(x[i]);
}

static const armilla_entry_map log1p_map = {armilla_log1p_all, undo_log1p};

static bool is_above_minus_one(double x)
{
    return x > -1;
}

bool armilla_is_finite(double x)
{
    return isfinite(x);
}

bool armilla_is_amount(double x)
{
    return x >= 0 && isfinite(x);
}

bool armilla_is_factor(double x)
{
    return x > 0 && isfinite(x);
}

static bool is_choice(double x)
{
    return x == 0 || x == 1;
}

static armilla_status learn_choice(armilla_context *context, const armilla_preparation *p,
                                   const armilla_feature_statistics *found, double *learned)
{
    return armilla_variable_features(context, p->m, found->means, found->deviations,
                                     (int64_t)p->number[ARMILLA_STEP_TOP], learned);
}

/* idf_i = ln((1+n)/(1+n_i)) + 1, the smoothed form; or ln(n/n_i), where a feature that no sample has counts as one of
 * one. */
static armilla_status learn_idf(armilla_context *context, const armilla_preparation *p,
                                const armilla_feature_statistics *found, double *learned)
{
    const bool plain = p->form[ARMILLA_STEP_TFIDF] == 1;
    const double n = (double)found->n;
    (void)context;
    for (int64_t i = 0; i < p->m; i++)
        learned[i] = plain ? log(n / fmax(found->counts[i], 1)) : log((1 + n) / (1 + found->counts[i])) + 1;
    return ARMILLA_OK;
}

/* scale_i = 1/sd of the feature as weighted before; 1 for a feature that does not vary, or is not finite: the survey
 * that follows names those. */
static armilla_status learn_scale(armilla_context *context, const armilla_preparation *p,
                                  const armilla_feature_statistics *found, double *learned)
{
    for (int64_t i = 0; i < p->m; i++) {
        const double deviation = found->deviations[i], weight = p->weights ? p->weights[i] : 1;
        const bool varies = deviation > 0 && isfinite(deviation) && weight != 0;
        learned[i] = varies ? 1 / (deviation * weight) : 1;
        if (!isfinite(learned[i]))
            return armilla_fail(context, ARMILLA_BAD_DATA,
                                "feature %" PRId64 " (counted from 1) varies by %g, too little for " ARMILLA_FIELD(
                                    "scale") " to divide "
                                             "by; multiply the data by a power of ten",
                                i + 1, deviation);
    }
    return ARMILLA_OK;
}

/* The mean of the weighted entries. */
static armilla_status learn_mean(armilla_context *context, const armilla_preparation *p,
                                 const armilla_feature_statistics *found, double *learned)
{
    (void)context;
    for (int64_t i = 0; i < p->m; i++) learned[i] = found->means[i] * (p->weights ? p->weights[i] : 1);
    return ARMILLA_OK;
}

#define PLACES(field) .option = offsetof(armilla_options, field), .summary = offsetof(armilla_model_summary, field)
#define GIVEN(field) .array = #field, .given = offsetof(armilla_model_arrays, field)

const armilla_step_row armilla_steps[ARMILLA_STEP_COUNT] = {
    [ARMILLA_STEP_TOTAL] = {.name = "total",
                            .kind = ARMILLA_STEP_SUM,
                            .asked = ARMILLA_ASKED_BY_TOTAL,
                            PLACES(total),
                            .late = true,
                            .single = true,
                            .shown = "total",
                            GIVEN(total),
                            .allows = armilla_is_factor,
                            .takes = armilla_is_amount,
                            .needs = "scales samples to a sum and needs entries that are not negative; leave it out"},
    [ARMILLA_STEP_LOG1P] = {.name = "log1p",
                            .kind = ARMILLA_STEP_ENTRIES,
                            PLACES(log1p),
                            .late = true,
                            .shown = "log1p",
                            .entries = &log1p_map,
                            .plain = log1p,
                            .takes = is_above_minus_one,
                            .needs = "takes logarithms of 1 + x and needs entries above -1; leave it out or shift the "
                                     "data"},
    [ARMILLA_STEP_TOP] = {.name = "top_features",
                          .kind = ARMILLA_STEP_FACTOR,
                          .asked = ARMILLA_ASKED_BY_COUNT,
                          PLACES(top_features),
                          .late = true,
                          .shown = "most variable features",
                          GIVEN(top_features),
                          .allows = is_choice,
                          .statistics = ARMILLA_FEATURE_DEVIATIONS,
                          .learn = learn_choice},
    [ARMILLA_STEP_TFIDF] = {.name = "tfidf",
                            .kind = ARMILLA_STEP_FACTOR,
                            PLACES(tfidf),
                            .shown = "tf-idf",
                            GIVEN(idf),
                            .form = "idf",
                            .form_option = offsetof(armilla_options, idf),
                            .forms = {"smooth", "plain"},
                            .allows = armilla_is_amount,
                            .statistics = ARMILLA_FEATURE_COUNTS,
                            .learn = learn_idf},
    [ARMILLA_STEP_SCALE] = {.name = "scale",
                            .kind = ARMILLA_STEP_FACTOR,
                            PLACES(scale),
                            .late = true,
                            .shown = "scaled",
                            GIVEN(scale),
                            .allows = armilla_is_factor,
                            .statistics = ARMILLA_FEATURE_DEVIATIONS,
                            .learn = learn_scale},
    [ARMILLA_STEP_CENTER] = {.name = "center",
                             .kind = ARMILLA_STEP_OFFSET,
                             PLACES(center),
                             .shown = "centred",
                             GIVEN(mean),
                             .allows = armilla_is_finite,
                             .statistics = ARMILLA_FEATURE_MEANS,
                             .learn = learn_mean},
    [ARMILLA_STEP_NORMALIZE] = {.name = "normalize",
                                .kind = ARMILLA_STEP_LENGTH,
                                .asked = ARMILLA_ASKED_BY_WORD,
                                PLACES(normalize),
                                .words = {"none", "l2"},
                                .shown = "unit length"},
};

bool armilla_preparation_any(const armilla_preparation *p)
{
    return armilla_preparation_before(p, ARMILLA_STEP_COUNT);
}

bool armilla_preparation_before(const armilla_preparation *p, armilla_step step)
{
    bool any = false;
    for (int i = 0; i < (int)step; i++) any |= p->taken[i];
    return any;
}

/* The weights with those of the step. */
static armilla_status weigh_by(armilla_context *context, armilla_preparation *p, armilla_step step)
{
    const double *learned = p->learned[step];
    if (armilla_steps[step].kind != ARMILLA_STEP_FACTOR || !learned) return ARMILLA_OK;
    const bool first = !p->weights;
    const armilla_status status = first ? armilla_take(context, p->m, sizeof *p->weights, &p->weights) : ARMILLA_OK;
    for (int64_t i = 0; i < p->m && status == ARMILLA_OK; i++)
        p->weights[i] = first ? learned[i] : p->weights[i] * learned[i];
    return status;
}

armilla_status armilla_preparation_weigh(armilla_context *context, armilla_preparation *p)
{
    armilla_status status = ARMILLA_OK;
    for (int step = 0; step < ARMILLA_STEP_COUNT && status == ARMILLA_OK; step++)
        status = weigh_by(context, p, (armilla_step)step);
    return status;
}

/* The statistics of X after total and the functions of entries, which counts of what is not 0 do not need. */
static armilla_status find_statistics(armilla_context *context, const armilla_preparation *p, const armilla_data *X,
                                      armilla_feature_statistics *found)
{
    const armilla_column_map map = armilla_preparation_map(p);
    const armilla_column_map entries = {.total = map.total, .entries = map.entries};
    armilla_data *mapped = NULL;
    armilla_status status = ARMILLA_OK;
    int wanted = 0;
    for (int step = 0; step < ARMILLA_STEP_COUNT; step++)
        if (p->taken[step]) wanted |= armilla_steps[step].statistics;
    if (!wanted) return ARMILLA_OK;
    if ((entries.entries || entries.total > 0) && wanted != ARMILLA_FEATURE_COUNTS)
        status = armilla_data_prepare(context, X, &entries, &mapped);
    if (!mapped) wanted |= ARMILLA_FEATURE_AS_STORED;
    if (status == ARMILLA_OK) status = armilla_feature_statistics_find(context, mapped ? mapped : X, wanted, found);
    armilla_data_free(mapped);
    return status;
}

static armilla_status learn_total(armilla_context *context, armilla_preparation *p, const armilla_data *X)
{
    if (!p->taken[ARMILLA_STEP_TOTAL]) return ARMILLA_OK;
    const armilla_status status = armilla_take(context, 1, sizeof(double), &p->learned[ARMILLA_STEP_TOTAL]);
    if (status != ARMILLA_OK) return status;
    *p->learned[ARMILLA_STEP_TOTAL] = p->number[ARMILLA_STEP_TOTAL];
    return *p->learned[ARMILLA_STEP_TOTAL] > 0 ? ARMILLA_OK
                                               : armilla_total_median(context, X, p->learned[ARMILLA_STEP_TOTAL]);
}

armilla_status armilla_preparation_learn(armilla_context *context, armilla_preparation *p, const armilla_data *X)
{
    armilla_feature_statistics found = {0};
    p->m = X->m;
    armilla_status status = learn_total(context, p, X);
    if (status == ARMILLA_OK) status = find_statistics(context, p, X, &found);
    for (int step = 0; step < ARMILLA_STEP_COUNT && status == ARMILLA_OK; step++) {
        const armilla_step_row *row = &armilla_steps[step];
        if (!p->taken[step] || !row->learn) continue;
        status = armilla_take(context, p->m, sizeof(double), &p->learned[step]);
        if (status == ARMILLA_OK) status = row->learn(context, p, &found, p->learned[step]);
        if (status == ARMILLA_OK) status = weigh_by(context, p, (armilla_step)step);
    }
    armilla_feature_statistics_release(context, &found);
    return status;
}

armilla_status armilla_preparation_copy(armilla_context *context, const armilla_preparation *from,
                                        armilla_preparation *to)
{
    armilla_status status = ARMILLA_OK;
    to->m = from->m;
    for (int step = 0; step < ARMILLA_STEP_COUNT && status == ARMILLA_OK; step++) {
        if (!from->learned[step]) continue;
        const int64_t numbers = armilla_step_numbers((armilla_step)step, from->m);
        status = armilla_take(context, numbers, sizeof(double), &to->learned[step]);
        if (status == ARMILLA_OK) memcpy(to->learned[step], from->learned[step], (size_t)numbers * sizeof(double));
    }
    return status == ARMILLA_OK ? armilla_preparation_weigh(context, to) : status;
}

void armilla_preparation_release(armilla_context *context, armilla_preparation *p)
{
    for (int step = 0; step < ARMILLA_STEP_COUNT; step++) armilla_release(context, p->learned[step]);
    armilla_release(context, p->weights);
    *p = (armilla_preparation){0};
}

armilla_column_map armilla_preparation_map(const armilla_preparation *p)
{
    armilla_column_map map = {.weights = p->weights};
    for (int step = 0; step < ARMILLA_STEP_COUNT; step++) {
        if (!p->taken[step]) continue;
        if (armilla_steps[step].kind == ARMILLA_STEP_SUM && p->learned[step]) map.total = *p->learned[step];
        if (armilla_steps[step].kind == ARMILLA_STEP_ENTRIES) map.entries = armilla_steps[step].entries;
        if (armilla_steps[step].kind == ARMILLA_STEP_OFFSET) map.mean = p->learned[step];
        if (armilla_steps[step].kind == ARMILLA_STEP_LENGTH) map.unit_length = true;
    }
    return map;
}

armilla_status armilla_preparation_view(armilla_context *context, const armilla_preparation *p, const armilla_data *raw,
                                        armilla_data **prepared)
{
    const armilla_column_map map = armilla_preparation_map(p);
    *prepared = NULL;
    return armilla_preparation_any(p) ? armilla_data_prepare(context, raw, &map, prepared) : ARMILLA_OK;
}

/* The length of a column before it is scaled. */
static double length_of(int64_t m, const double *x)
{
    const armilla_length length = armilla_length_of(m, NULL, x);
    return length.value / length.scale;
}

/* The columns of data through the map. Only their lengths are made where lengths is not NULL: X then has space for one
 * column. */
static armilla_status map_columns(armilla_context *context, const armilla_column_map *map, const armilla_data *data,
                                  double *lengths, double *X)
{
    armilla_data *view = NULL;
    armilla_status status = armilla_data_prepare(context, data, map, &view);
    for (int64_t j = 0; j < data->n && status == ARMILLA_OK; j++) {
        double *column = lengths ? X : X + j * data->m;
        status = armilla_data_column(context, view, ARMILLA_F64, j, column);
        if (status == ARMILLA_OK && lengths) lengths[j] = length_of(data->m, column);
    }
    armilla_data_free(view);
    return status;
}

armilla_status armilla_preparation_apply(armilla_context *context, const armilla_preparation *p, int64_t count,
                                         double *X, double *lengths)
{
    const armilla_column_map map = armilla_preparation_map(p);
    armilla_column_map before = map;
    armilla_data *data = NULL;
    double *column = NULL;
    before.unit_length = false;
    for (int64_t j = 0; j < count && lengths; j++) lengths[j] = 1;
    if (!armilla_preparation_any(p) || count == 0) return ARMILLA_OK;
    armilla_status status = armilla_data_borrow_dense(context, ARMILLA_F64, X, p->m, count, &data);
    if (status == ARMILLA_OK && map.unit_length && lengths) {
        status = armilla_take(context, p->m, sizeof *column, &column);
        if (status == ARMILLA_OK) status = map_columns(context, &before, data, lengths, column);
    }
    if (status == ARMILLA_OK) status = map_columns(context, &map, data, NULL, X);
    armilla_release(context, column);
    armilla_data_free(data);
    return status;
}

void armilla_preparation_undo(const armilla_preparation *p, int64_t count, const double *lengths, double *X)
{
    const armilla_column_map map = armilla_preparation_map(p);
    for (int64_t j = 0; j < count; j++) {
        double *x = X + j * p->m;
        for (int64_t i = 0; i < p->m && lengths && map.unit_length; i++) x[i] *= lengths[j];
        for (int64_t i = 0; i < p->m && map.mean; i++) x[i] += map.mean[i];
        for (int64_t i = 0; i < p->m && map.weights; i++) /* what weighs nothing is not known */
            x[i] = map.weights[i] != 0 ? x[i] / map.weights[i] : 0;
        if (map.entries) map.entries->undo(p->m, x);
    }
}
