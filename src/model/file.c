/* Writing the model file (docs/model-file.md): arrays and a JSON record in an .npz. */
#include "model/model.h"
#include "model/record.h"

#include "base/ranks.h"
#include "files/files.h"
#include "files/npz.h"

#include <jansson.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

const armilla_trace_column armilla_trace_columns[ARMILLA_TRACE_COLUMNS] = {
    {"trace_objective", offsetof(armilla_trace_entry, objective)},
    {"trace_relative_error", offsetof(armilla_trace_entry, relative_error)},
    {"trace_dU", offsetof(armilla_trace_entry, dU)},
    {"trace_dV", offsetof(armilla_trace_entry, dV)},
    {"trace_radius", offsetof(armilla_trace_entry, radius)},
    {"trace_seconds", offsetof(armilla_trace_entry, seconds)},
};

double *armilla_trace_number(armilla_trace_entry *entry, size_t column)
{
    return (double *)(void *)((char *)entry + armilla_trace_columns[column].offset);
}

const armilla_kept_array armilla_kept_arrays[ARMILLA_KEPT_COUNT] = {
    [ARMILLA_KEPT_FEATURES] = {"kept_features", "m"},
    [ARMILLA_KEPT_SAMPLES] = {"kept_samples", "n"},
};

static json_int_t kept_size(const armilla_model *model, int i)
{
    const int64_t all[ARMILLA_KEPT_COUNT] = {model->summary.m, model->summary.n};
    return (json_int_t)(model->kept[i].at ? model->kept[i].of : all[i]);
}

/* The steps of the preparation, by name. */
static bool put_steps(json_t *record, const armilla_preparation *p)
{
    bool whole = true;
    for (int step = 0; step < ARMILLA_STEP_COUNT; step++) {
        const char *word = armilla_steps[step].words[p->taken[step]];
        whole &= json_object_set_new(record, armilla_steps[step].name,
                                     word ? json_string(word) : json_boolean(p->taken[step])) == 0;
    }
    return whole;
}

/* How many clusters the model keeps, and how they were made; null where it keeps none. */
static json_t *describe_clusters(const armilla_model *model)
{
    const armilla_kept_clusters *kept = &model->clusters;
    if (!kept->labels) return json_null();
    return json_pack("{s:I, s:s}", "k", (json_int_t)kept->k, "method", kept->method);
}

/* Members in the order in which people read them. NULL where memory is short. */
static json_t *make_record(const armilla_model *model)
{
    const armilla_model_summary *s = &model->summary;
    char fingerprint[32];
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, s->fingerprint);
    const struct {
        const char *name;
        json_t *value;
    } members[] = {
        {"format", json_integer(ARMILLA_MODEL_FORMAT)},
        {"library", json_string(armilla_version())},
        {"options", json_loads(model->options_text, 0, NULL)},
        {"reading", model->reading_text ? json_loads(model->reading_text, 0, NULL) : json_null()},
        {"shape", json_pack("{s:I, s:I, s:I}", "m", (json_int_t)s->m, "n", (json_int_t)s->n, "r", (json_int_t)s->rank)},
        {"precision", json_string(armilla_type_word(s->precision))},
        {"model", s->model ? json_string(s->model) : json_null()},
        {"basis", json_string(s->basis)},
        {"codes", json_string(s->codes)},
        {"sparsity", s->sparsity ? json_integer(s->sparsity) : json_null()},
        {"solver", json_string(s->solver)},
        {"start", armilla_json_text(s->start)},
        {"seed", json_integer(s->seed)},
        {"kept_from", json_pack("{s:I, s:I}", armilla_kept_arrays[0].size, kept_size(model, 0),
                                armilla_kept_arrays[1].size, kept_size(model, 1))},
        {"image", s->image_rows ? json_pack("{s:I, s:I}", "rows", (json_int_t)s->image_rows, "columns",
                                            (json_int_t)s->image_columns)
                                : json_null()},
        {"clusters", describe_clusters(model)},
        {"threads", json_integer(s->threads)},
        {"ranks", json_integer(s->ranks)},
        {"nnz", json_integer(s->nnz)},
        {"samples_seen", json_integer(s->samples_seen)},
        {"iterations", json_integer(s->iterations)},
        {"sweeps", json_integer(s->sweeps)},
        {"passes", json_integer(s->passes)},
        {"passes_before", json_integer(s->passes_before)},
        {"stop", json_string(armilla_stop_word(s->stop))},
        {"sealed", json_boolean(s->sealed)},
        {"objective", json_real(s->objective)},
        {"relative_error", json_real(s->relative_error)},
        {"squared_norm", json_real(s->squared_norm)},
        {"zero_samples", json_integer(s->zero_samples)},
        {"fingerprint", json_string(fingerprint)},
        {"seconds", json_real(s->seconds)},
        {"seconds_per_iteration", json_real(s->seconds_per_iteration)},
    };
    json_t *record = json_object();
    bool whole = record != NULL;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) /* takes every value, also after a failure */
        whole &= json_object_set_new(record, members[i].name, members[i].value) == 0;
    if (put_steps(record, &model->preparation) && whole) return record;
    json_decref(record);
    return NULL;
}

static armilla_status add_record(armilla_context *context, armilla_npz_writer *writer, const armilla_model *model)
{
    json_t *record = make_record(model);
    char *text = record ? json_dumps(record, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;
    const armilla_status status =
        text ? armilla_npz_writer_add_text(writer, "meta", text)
             : armilla_fail(context, ARMILLA_NO_MEMORY, "out of memory for the model's record");
    free(text);
    json_decref(record);
    return status;
}

static armilla_status add_trace(armilla_context *context, armilla_npz_writer *writer, const armilla_model *model)
{
    const int64_t shape[2] = {model->trace_count, -1};
    double *column = NULL;
    armilla_status status = armilla_take(context, model->trace_count, sizeof *column, &column);
    for (size_t c = 0; c < ARMILLA_TRACE_COLUMNS && status == ARMILLA_OK; c++) {
        for (int64_t k = 0; k < model->trace_count; k++) column[k] = *armilla_trace_number(&model->trace[k], c);
        status = armilla_npz_writer_add(writer, armilla_trace_columns[c].array, ARMILLA_F64, shape, false, column);
    }
    armilla_release(context, column);
    return status;
}

static armilla_status add_names(armilla_npz_writer *writer, const armilla_model *model)
{
    armilla_status status = ARMILLA_OK;
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT && status == ARMILLA_OK; kind++)
        if (model->names[kind].count > 0)
            status = armilla_npz_writer_add_names(writer, armilla_npz_name_arrays[kind], &model->names[kind]);
    for (int i = 0; i < ARMILLA_KEPT_COUNT && status == ARMILLA_OK; i++) {
        const armilla_kept *kept = &model->kept[i];
        const int64_t shape[2] = {kept->count, -1};
        if (kept->at)
            status = armilla_npz_writer_add_raw(writer, armilla_kept_arrays[i].array, "i8", shape, kept->at,
                                                (size_t)kept->count * sizeof *kept->at);
    }
    return status;
}

/* The samples of length 0. */
static armilla_status add_zeros(armilla_npz_writer *writer, const armilla_model *model)
{
    const int64_t shape[2] = {model->zeros.count, -1};
    return armilla_npz_writer_add_raw(writer, "zero_samples", "i8", shape, model->zeros.at,
                                      (size_t)model->zeros.count * sizeof *model->zeros.at);
}

/* The clusters that the model keeps. */
static armilla_status add_clusters(armilla_npz_writer *writer, const armilla_model *model)
{
    const armilla_kept_clusters *kept = &model->clusters;
    const int64_t labels[2] = {model->summary.n, -1}, centres[2] = {model->summary.rank, kept->k};
    const armilla_status status = armilla_npz_writer_add_raw(writer, "cluster_labels", "i8", labels, kept->labels,
                                                             (size_t)model->summary.n * sizeof *kept->labels);
    return status == ARMILLA_OK
               ? armilla_npz_writer_add(writer, "cluster_centers", ARMILLA_F64, centres, true, kept->centres)
               : status;
}

/* What a model that was continued remembers. */
static armilla_status add_past(armilla_npz_writer *writer, const armilla_model *model)
{
    const armilla_past *past = &model->past;
    const int64_t m = model->summary.m, r = model->summary.rank, A[2] = {m, r}, G[2] = {r, r}, one[2] = {-1, -1};
    armilla_status status = armilla_npz_writer_add(writer, "past_A", ARMILLA_F64, A, true, past->A);
    if (status == ARMILLA_OK) status = armilla_npz_writer_add(writer, "past_G", ARMILLA_F64, G, true, past->G);
    return status == ARMILLA_OK ? armilla_npz_writer_add(writer, "past_samples", ARMILLA_F64, one, false, &past->seen)
                                : status;
}

static armilla_status add_basis(armilla_npz_writer *writer, const armilla_model *model)
{
    const armilla_model_summary *s = &model->summary;
    const int64_t shape[2] = {s->m, s->rank};
    return armilla_npz_writer_add(writer, "U", s->precision, shape, true, model->U);
}

/* What stands behind both factors. */
static armilla_status add_rest(armilla_context *context, armilla_npz_writer *writer, const armilla_model *model)
{
    const armilla_model_summary *s = &model->summary;
    const int64_t single[2] = {-1, -1}, features[2] = {s->m, -1};
    const armilla_preparation *p = &model->preparation;
    armilla_status status = armilla_npz_writer_add(writer, "radius", ARMILLA_F64, single, false, &s->radius);
    for (int step = 0; step < ARMILLA_STEP_COUNT && status == ARMILLA_OK; step++)
        if (p->learned[step])
            status = armilla_npz_writer_add(writer, armilla_steps[step].array, ARMILLA_F64,
                                            armilla_steps[step].single ? single : features, false, p->learned[step]);
    if (status == ARMILLA_OK && model->past.A) status = add_past(writer, model);
    if (status == ARMILLA_OK) status = add_names(writer, model);
    if (status == ARMILLA_OK && model->zeros.at) status = add_zeros(writer, model);
    if (status == ARMILLA_OK && model->clusters.labels) status = add_clusters(writer, model);
    if (status == ARMILLA_OK) status = add_trace(context, writer, model);
    return status == ARMILLA_OK ? add_record(context, writer, model) : status;
}

static armilla_status add_all(armilla_context *context, armilla_npz_writer *writer, const armilla_model *model)
{
    const int64_t shape[2] = {model->summary.rank, model->summary.n};
    armilla_status status = add_basis(writer, model);
    if (status == ARMILLA_OK)
        status = armilla_npz_writer_add(writer, "V", model->summary.precision, shape, true, model->V);
    return status == ARMILLA_OK ? add_rest(context, writer, model) : status;
}

/* Into the file, or into memory where path is NULL. */
static armilla_status begin_archive(armilla_context *context, const armilla_model *model, const char *path,
                                    bool overwrite, armilla_npz_writer **writer)
{
    if (model->summary.n == 0)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            "a model without codes cannot be saved; make it with the codes of its samples");
    return armilla_npz_writer_new(context, path, overwrite, writer);
}

/* Bytes of some ranks, one after the other: how many, and their CRC-32. */
typedef struct checked {
    uint64_t check;
    int64_t bytes;
} checked;

static void join_checks(void *left, const void *right)
{
    checked *own = left;
    const checked *other = right;
    own->check = crc32_combine((uLong)own->check, (uLong)other->check, (z_off_t)other->bytes);
    own->bytes += other->bytes;
}

static armilla_status put_codes(void *user, const void *bytes, size_t count)
{
    return armilla_npz_writer_put(user, bytes, count);
}

/* The codes, which the ranks have, in pieces: all of them are never on one. The writer is rank 0's, which has begun. */
static armilla_status add_spread_codes(armilla_context *context, armilla_status status, armilla_npz_writer *writer,
                                       const armilla_model *model)
{
    const armilla_model_summary *s = &model->summary;
    const int64_t shape[2] = {s->rank, s->n};
    const size_t column = (size_t)s->rank * armilla_type_size(s->precision);
    const unsigned char *own = (const unsigned char *)model->V + (size_t)model->share.first * column;
    checked sum = {.bytes = (model->share.last - model->share.first) * (int64_t)column};
    sum.check = crc32_z(0, NULL, 0);
    if (sum.bytes > 0) sum.check = crc32_z(sum.check, own, (z_size_t)sum.bytes);
    status = armilla_ranks_combine(context, status, &sum, sizeof sum, join_checks);
    if (status == ARMILLA_OK && writer)
        status = armilla_npz_writer_begin(writer, "V", s->precision, shape, (uint32_t)sum.check);
    return armilla_samples_put(context, status, &(armilla_putting){model->V, &model->share, column, put_codes, writer});
}

/* By all ranks; the first one writes. */
static armilla_status save_spread(armilla_context *context, const armilla_model *model, const char *path,
                                  bool overwrite)
{
    armilla_npz_writer *writer = NULL;
    armilla_status status = armilla_call_enter_together(context, 1);
    if (status != ARMILLA_OK) return status;
    const bool writes = armilla_ranks_rank(context) == 0;
    if (writes) status = begin_archive(context, model, path, overwrite, &writer);
    if (status == ARMILLA_OK && writes) status = add_basis(writer, model);
    status = add_spread_codes(context, status, writer, model);
    if (status == ARMILLA_OK && writes) status = add_rest(context, writer, model);
    if (status == ARMILLA_OK && writes) status = armilla_npz_writer_commit(writer);
    armilla_npz_writer_free(writer);
    return armilla_call_leave_together(context, status);
}

armilla_status armilla_model_save(armilla_context *context, const armilla_model *model, const char *path,
                                  bool overwrite)
{
    armilla_npz_writer *writer = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, model, path);
    if (status == ARMILLA_OK && model->spread && context->ranks) return save_spread(context, model, path, overwrite);
    if (status == ARMILLA_OK) status = armilla_model_is_whole(context, model);
    if (status == ARMILLA_OK) status = begin_archive(context, model, path, overwrite, &writer);
    if (status == ARMILLA_OK) status = add_all(context, writer, model);
    if (status == ARMILLA_OK) status = armilla_npz_writer_commit(writer);
    armilla_npz_writer_free(writer);
    return status;
}

armilla_status armilla_model_save_memory(armilla_context *context, const armilla_model *model, void **bytes,
                                         size_t *count)
{
    armilla_npz_writer *writer = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, model, bytes, count);
    if (status == ARMILLA_OK) status = armilla_model_is_whole(context, model);
    if (status == ARMILLA_OK) status = begin_archive(context, model, NULL, false, &writer);
    if (status == ARMILLA_OK) status = add_all(context, writer, model);
    if (status == ARMILLA_OK) status = armilla_npz_writer_take(writer, bytes, count);
    armilla_npz_writer_free(writer);
    return status;
}

armilla_status armilla_model_save_trace(armilla_context *context, const armilla_model *model, const char *path,
                                        bool overwrite)
{
    armilla_output *output = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, model, path);
    if (status == ARMILLA_OK) status = armilla_output_new(context, path, overwrite, &output);
    if (status == ARMILLA_OK)
        status = armilla_output_print(output, "iter,objective,relative_error,dU,dV,radius,seconds\n");
    for (int64_t k = 0; status == ARMILLA_OK && k < model->trace_count; k++) {
        status = armilla_output_print(output, "%" PRId64, model->trace[k].iteration);
        for (size_t c = 0; c < ARMILLA_TRACE_COLUMNS && status == ARMILLA_OK; c++)
            status = armilla_output_print(output, ",%.17g", *armilla_trace_number(&model->trace[k], c));
        if (status == ARMILLA_OK) status = armilla_output_print(output, "\n");
    }
    if (status == ARMILLA_OK) status = armilla_output_commit(output);
    armilla_output_free(output);
    return status;
}

/* Looks into the archive's directory only. */
armilla_status armilla_model_recognize(armilla_context *context, const char *path, bool *model)
{
    struct stat found;
    armilla_npz *npz = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, path, model);
    if (status != ARMILLA_OK) return status;
    if (context->io->stat(path, &found) != 0) return armilla_cannot_open(context, path);
    *model = false;
    if (!S_ISREG(found.st_mode)) return ARMILLA_OK; /* a pipe can be read only once */
    const int64_t input = context->memory.input;
    status = armilla_npz_open(context, path, &npz);
    armilla_memory_add_input(context, input - context->memory.input); /* it is opened again to be read */
    if (status == ARMILLA_BAD_DATA) return ARMILLA_OK;                /* no archive */
    if (status != ARMILLA_OK) return status;
    *model = armilla_npz_has(npz, "U") && armilla_npz_has(npz, "meta");
    armilla_npz_free(npz);
    return ARMILLA_OK;
}
