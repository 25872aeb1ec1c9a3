/* Opening the model file. Every array has the shape that the record declares and numbers that a fit can have written:
 * what is wrong is said with the array's name. */
#include "model/record.h"

#include "base/size.h"
#include "files/files.h"
#include "files/npz.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_RECORD = 1 << 20 }; /* bytes; a record has about two thousand, and file names */

static armilla_status damaged(armilla_context *context, const char *path, const char *array, const char *why)
{
    return armilla_fail(context, ARMILLA_BAD_DATA, "%s: array %s %s; the file is damaged or not a model of Armilla",
                        path, array, why);
}

static armilla_status read_record(armilla_context *context, const char *path, armilla_npz *npz, armilla_model *model)
{
    armilla_array array;
    char *text = NULL;
    if (!armilla_npz_has(npz, "meta") || !armilla_npz_has(npz, "U"))
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: there is no 'meta' or no 'U' in it, so it is not a model of Armilla", path);
    armilla_status status = armilla_npz_peek(npz, "meta", &array);
    if (status == ARMILLA_OK && (array.dimensions != 1 || array.shape[0] > MOST_RECORD))
        status = damaged(context, path, "meta", "is larger than any record");
    if (status == ARMILLA_OK) status = armilla_npz_read_text(npz, "meta", &text);
    if (status == ARMILLA_OK && (int64_t)strlen(text) != array.shape[0])
        status = damaged(context, path, "meta", "has a zero byte in its text");
    if (status == ARMILLA_OK) status = armilla_record_read(context, path, text, model);
    armilla_release(context, text);
    return status;
}

static bool is_distance(double x)
{
    return x >= 0; /* also infinite: the difference of codes that are far from scale 1 */
}

static bool is_nan(double x)
{
    return isnan(x);
}

/* Whether all count numbers of the type are so. */
static bool all_are(bool (*fits)(double), armilla_type type, int64_t count, const void *values)
{
    for (int64_t i = 0; i < count; i++) {
        double value = 0;
        armilla_fetch(type, 1, (const char *)values + (size_t)i * armilla_type_size(type), &value);
        if (!fits(value)) return false;
    }
    return true;
}

static armilla_status read_trace(armilla_context *context, const char *path, armilla_npz *npz, armilla_model *model)
{
    bool (*const radius)(double) = model->codes->spherical ? armilla_is_amount : is_nan;
    bool (*const fits[ARMILLA_TRACE_COLUMNS])(double) = {
        armilla_is_amount, armilla_is_amount, is_distance, is_distance, radius, armilla_is_amount};
    int64_t count = model->summary.iterations + 1, one = -1;
    double *column = NULL;
    /* The first column shows that the entries are there before space for all of them is taken. */
    armilla_status status = armilla_npz_read(npz, armilla_trace_columns[0].array, ARMILLA_F64, &count, &one, &column);
    armilla_release(context, column);
    if (status == ARMILLA_OK) status = armilla_take(context, count, sizeof *model->trace, &model->trace);
    if (status == ARMILLA_OK) model->trace_count = count;
    for (size_t c = 0; c < ARMILLA_TRACE_COLUMNS && status == ARMILLA_OK; c++) {
        const char *name = armilla_trace_columns[c].array;
        column = NULL;
        status = armilla_npz_read(npz, name, ARMILLA_F64, &count, &one, &column);
        if (status == ARMILLA_OK && !all_are(fits[c], ARMILLA_F64, count, column))
            status = damaged(context, path, name, "has a number that no fit leaves");
        for (int64_t k = 0; k < count && status == ARMILLA_OK; k++) {
            model->trace[k].size = sizeof model->trace[k];
            model->trace[k].iteration = k;
            *armilla_trace_number(&model->trace[k], c) = column[k];
        }
        armilla_release(context, column);
    }
    return status;
}

/* Names that are there. */
static armilla_status read_names(armilla_context *context, const char *path, armilla_npz *npz, armilla_model *model)
{
    const int64_t counts[ARMILLA_NAMING_COUNT] = {model->summary.m, model->summary.n, model->summary.n};
    armilla_status status = ARMILLA_OK;
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT && status == ARMILLA_OK; kind++) {
        const char *array = armilla_npz_name_arrays[kind];
        if (!armilla_npz_has(npz, array)) continue;
        status = armilla_npz_read_texts(npz, array, &model->names[kind]);
        if (status == ARMILLA_OK && model->names[kind].count != counts[kind])
            status = armilla_fail(context, ARMILLA_BAD_DATA,
                                  "%s: array %s has %" PRId64 " names for %" PRId64 " places; the file is damaged",
                                  path, array, model->names[kind].count, counts[kind]);
    }
    return status;
}

armilla_status armilla_model_read_names(armilla_context *context, armilla_model *model, armilla_naming kind,
                                        const char *path)
{
    armilla_names names = {.count = 0};
    armilla_status status = ARMILLA_NOT_NULL(context, model, path);
    if (status == ARMILLA_OK && (unsigned)kind >= ARMILLA_NAMING_COUNT)
        status = armilla_fail(context, ARMILLA_BAD_ARGUMENT, "names: the kind is unknown");
    if (status == ARMILLA_OK) status = armilla_call_enter(context, 1);
    if (status != ARMILLA_OK) return status;
    const int64_t sizes[2] = {model->summary.m, model->summary.n};
    const armilla_names *samples = &model->names[ARMILLA_SAMPLE_NAMES];
    status = armilla_texts_open(context, path, kind, sizes, samples->count ? samples : NULL, &names);
    armilla_call_leave(context);
    if (status != ARMILLA_OK) return status;
    armilla_names_free(context, &model->names[kind]);
    model->names[kind] = names;
    return ARMILLA_OK;
}

/* Places that rise, below `of`. */
static armilla_status read_places(armilla_context *context, const char *path, armilla_npz *npz, const char *array,
                                  armilla_kept *places)
{
    armilla_status status = armilla_npz_read_integers(npz, array, places->count, &places->at);
    for (int64_t k = 0; k < places->count && status == ARMILLA_OK; k++)
        if (places->at[k] < 0 || places->at[k] >= places->of || (k > 0 && places->at[k] <= places->at[k - 1]))
            status = damaged(context, path, array, "has a place that is out of order or range");
    return status;
}

/* Which samples are 0; files of old do not say. */
static armilla_status read_zeros(armilla_context *context, const char *path, armilla_npz *npz, armilla_model *model)
{
    const armilla_model_summary *s = &model->summary;
    if (s->zero_samples == 0 || !armilla_npz_has(npz, "zero_samples")) return ARMILLA_OK;
    model->zeros = (armilla_kept){.count = s->zero_samples, .of = s->n};
    return read_places(context, path, npz, "zero_samples", &model->zeros);
}

/* What was kept, where that was not all. */
static armilla_status read_kept(armilla_context *context, const char *path, armilla_npz *npz, armilla_model *model)
{
    const int64_t sizes[ARMILLA_KEPT_COUNT] = {model->summary.m, model->summary.n};
    armilla_status status = ARMILLA_OK;
    for (int i = 0; i < ARMILLA_KEPT_COUNT && status == ARMILLA_OK; i++) {
        armilla_kept *kept = &model->kept[i];
        const char *array = armilla_kept_arrays[i].array;
        const bool chosen = armilla_npz_has(npz, array);
        if (!chosen && kept->of != sizes[i]) status = damaged(context, path, array, "is missing");
        if (!chosen) continue;
        kept->count = sizes[i];
        status = read_places(context, path, npz, array, kept);
    }
    return status;
}

/* The clusters that the record tells of. */
static armilla_status read_clusters(armilla_context *context, const char *path, armilla_npz *npz, armilla_model *model)
{
    armilla_kept_clusters *kept = &model->clusters;
    armilla_model_summary *s = &model->summary;
    if (!kept->method) return ARMILLA_OK;
    if (!armilla_npz_has(npz, "cluster_labels")) return damaged(context, path, "cluster_labels", "is missing");
    armilla_status status = armilla_npz_read_integers(npz, "cluster_labels", s->n, &kept->labels);
    if (status == ARMILLA_OK)
        status = armilla_npz_read(npz, "cluster_centers", ARMILLA_F64, &s->rank, &kept->k, &kept->centres);
    if (status == ARMILLA_OK) status = armilla_take(context, kept->k, sizeof *kept->sizes, &kept->sizes);
    if (status != ARMILLA_OK) return status;
    for (int64_t j = 0; j < s->n; j++) {
        if (kept->labels[j] < 0 || kept->labels[j] >= kept->k)
            return damaged(context, path, "cluster_labels", "has a label of no cluster");
        kept->sizes[kept->labels[j]]++;
    }
    if (!all_are(armilla_is_finite, ARMILLA_F64, s->rank * kept->k, kept->centres))
        return damaged(context, path, "cluster_centers", "has a value that is not finite");
    return ARMILLA_OK;
}

/* U and V are stored in the working type. */
static armilla_status check_type(armilla_context *context, const char *path, armilla_npz *npz, const char *name,
                                 armilla_type wanted)
{
    armilla_type type = wanted;
    const armilla_status status = armilla_npz_type(npz, name, &type);
    if (status != ARMILLA_OK || type == wanted) return status;
    return damaged(context, path, name, "has numbers of another type than the record's 'precision'");
}

static armilla_status read_factors(armilla_context *context, const char *path, armilla_npz *npz, armilla_model *model)
{
    armilla_model_summary *s = &model->summary;
    double *radius = NULL;
    int64_t none = -1;
    armilla_status status = check_type(context, path, npz, "U", s->precision);
    if (status == ARMILLA_OK) status = check_type(context, path, npz, "V", s->precision);
    if (status == ARMILLA_OK) status = armilla_npz_read(npz, "U", s->precision, &s->m, &s->rank, &model->U);
    if (status == ARMILLA_OK) status = armilla_npz_read(npz, "V", s->precision, &s->rank, &s->n, &model->V);
    model->share = armilla_samples_whole(s->n);
    if (status == ARMILLA_OK) status = armilla_npz_read(npz, "radius", ARMILLA_F64, &none, &none, &radius);
    if (status != ARMILLA_OK) return status;
    s->radius = *radius;
    armilla_release(context, radius);
    if (!all_are(armilla_is_finite, s->precision, s->m * s->rank, model->U))
        return damaged(context, path, "U", "has a value that is not finite");
    if (!all_are(armilla_is_finite, s->precision, s->rank * s->n, model->V))
        return damaged(context, path, "V", "has a value that is not finite");
    if (!(model->codes->spherical ? armilla_is_factor : is_nan)(s->radius))
        return damaged(context, path, "radius", "is not one that such codes have");
    return ARMILLA_OK;
}

/* What a step learned is there where the record says that it was taken, and only there. */
static armilla_status read_learned(armilla_context *context, const char *path, armilla_npz *npz, armilla_model *model,
                                   armilla_step step)
{
    const armilla_step_row *row = &armilla_steps[step];
    armilla_preparation *p = &model->preparation;
    int64_t none = -1;
    if (!row->array) return ARMILLA_OK;
    if (!p->taken[step] && armilla_npz_has(npz, row->array))
        return damaged(context, path, row->array, "is there, but the record says that it was not used");
    if (!p->taken[step]) return ARMILLA_OK;
    const int64_t numbers = armilla_step_numbers(step, p->m);
    const armilla_status status =
        armilla_npz_read(npz, row->array, ARMILLA_F64, row->single ? &none : &p->m, &none, &p->learned[step]);
    if (status != ARMILLA_OK || all_are(row->allows, ARMILLA_F64, numbers, p->learned[step])) return status;
    return damaged(context, path, row->array, "has a number that no fit leaves");
}

static armilla_status read_preparation(armilla_context *context, const char *path, armilla_npz *npz,
                                       armilla_model *model)
{
    armilla_status status = ARMILLA_OK;
    model->preparation.m = model->summary.m;
    for (int step = 0; step < ARMILLA_STEP_COUNT && status == ARMILLA_OK; step++)
        status = read_learned(context, path, npz, model, (armilla_step)step);
    armilla_model_describe_preparation(model);
    return status == ARMILLA_OK ? armilla_preparation_weigh(context, &model->preparation) : status;
}

/* What a model that was continued remembers: sums of codes. */
static armilla_status read_past(armilla_context *context, const char *path, armilla_npz *npz, armilla_model *model)
{
    armilla_past *past = &model->past;
    armilla_model_summary *s = &model->summary;
    int64_t none = -1;
    double *samples = NULL;
    if (s->samples_seen < s->n)
        return armilla_fail(
            context, ARMILLA_BAD_DATA,
            "%s: the model's record has no right 'samples_seen': it has more codes; the file is damaged", path);
    if (!armilla_npz_has(npz, "past_A")) return ARMILLA_OK;
    armilla_status status = armilla_npz_read(npz, "past_A", ARMILLA_F64, &s->m, &s->rank, &past->A);
    if (status == ARMILLA_OK) status = armilla_npz_read(npz, "past_G", ARMILLA_F64, &s->rank, &s->rank, &past->G);
    if (status == ARMILLA_OK) status = armilla_npz_read(npz, "past_samples", ARMILLA_F64, &none, &none, &samples);
    if (status != ARMILLA_OK) return status;
    past->seen = *samples;
    past->total = (double)s->samples_seen;
    armilla_release(context, samples);
    if (!all_are(armilla_is_finite, ARMILLA_F64, s->m * s->rank, past->A))
        return damaged(context, path, "past_A", "has a value that is not finite");
    bool sums = all_are(armilla_is_finite, ARMILLA_F64, s->rank * s->rank, past->G);
    for (int64_t k = 0; k < s->rank && sums; k++) sums = armilla_is_amount(past->G[k * s->rank + k]);
    if (!sums) return damaged(context, path, "past_G", "has a number that no fit leaves");
    if (!armilla_is_amount(past->seen) || past->seen > past->total)
        return damaged(context, path, "past_samples", "is not a number of samples before these");
    return ARMILLA_OK;
}

static armilla_status read_model(armilla_context *context, const char *path, armilla_npz *npz, armilla_model **model)
{
    static armilla_status (*const parts[])(armilla_context * context, const char *path, armilla_npz *npz,
                                           armilla_model *model) = {
        read_record, read_factors, read_preparation, read_past,  read_names,
        read_kept,   read_zeros,   read_clusters,    read_trace,
    };
    armilla_status status = armilla_model_new(context, model);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == ARMILLA_OK; i++)
        status = parts[i](context, path, npz, *model);
    return status;
}

/* The file at path, or bytes that are called so. */
static armilla_status open_model(armilla_context *context, const char *path, const void *bytes, size_t count,
                                 armilla_model **model)
{
    armilla_npz *npz = NULL;
    armilla_model *made = NULL;
    armilla_status status = armilla_call_enter(context, 1);
    if (status != ARMILLA_OK) return status;
    armilla_call_stage(context, ARMILLA_STAGE_READING);
    if (bytes) armilla_memory_add_input(context, (int64_t)count);
    status = bytes ? armilla_npz_open_bytes(context, path, bytes, count, &npz) : armilla_npz_open(context, path, &npz);
    if (status == ARMILLA_OK) status = read_model(context, path, npz, &made);
    armilla_npz_free(npz);
    status = armilla_about(context, path, status);
    if (armilla_call_stopped(context, NULL)) status = armilla_call_explain(context);
    if (status == ARMILLA_OK)
        *model = made;
    else
        armilla_model_free(made);
    armilla_call_leave(context);
    return status;
}

armilla_status armilla_model_open(armilla_context *context, const char *path, armilla_model **model)
{
    const armilla_status status = ARMILLA_NOT_NULL(context, path, model);
    return status == ARMILLA_OK ? open_model(context, path, NULL, 0, model) : status;
}

armilla_status armilla_model_open_memory(armilla_context *context, const void *bytes, size_t count,
                                         armilla_model **model)
{
    const armilla_status status = ARMILLA_NOT_NULL(context, bytes, model);
    return status == ARMILLA_OK ? open_model(context, "model in memory", bytes, count, model) : status;
}
