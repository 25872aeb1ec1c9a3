/* The model file (docs/model-file.md): arrays and a JSON record in an .npz. */
#include "model/model.h"
#include "model/record.h"

#include "files/files.h"
#include "files/npz.h"
#include "solve/problem.h"

#include <jansson.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FORMAT = 1 };

/* The columns of the trace, in the file and in CSV. */
static const struct {
    const char *array;
    size_t offset;
} trace_columns[] = {
    {"trace_objective", offsetof(armilla_trace_entry, objective)},
    {"trace_relative_error", offsetof(armilla_trace_entry, relative_error)},
    {"trace_dU", offsetof(armilla_trace_entry, dU)},
    {"trace_dV", offsetof(armilla_trace_entry, dV)},
    {"trace_radius", offsetof(armilla_trace_entry, radius)},
    {"trace_seconds", offsetof(armilla_trace_entry, seconds)},
};

enum { TRACE_COLUMNS = sizeof trace_columns / sizeof trace_columns[0] };

static double *trace_number(armilla_trace_entry *entry, size_t column)
{
    return (double *)(void *)((char *)entry + trace_columns[column].offset);
}

/* What was kept of the data that the fit's were chosen from. */
static const struct {
    const char *array, *size; /* the size stands in the record, under "kept_from" */
} kept_arrays[ARMILLA_KEPT_COUNT] = {
    [ARMILLA_KEPT_FEATURES] = {"kept_features", "m"},
    [ARMILLA_KEPT_SAMPLES] = {"kept_samples", "n"},
};

static json_int_t kept_size(const armilla_model *model, int i)
{
    const int64_t all[ARMILLA_KEPT_COUNT] = {model->summary.m, model->summary.n};
    return (json_int_t)(model->kept[i].at ? model->kept[i].of : all[i]);
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
        {"format", json_integer(FORMAT)},
        {"library", json_string(armilla_version())},
        {"options", json_loads(model->options_text, 0, NULL)},
        {"shape", json_pack("{s:I, s:I, s:I}", "m", (json_int_t)s->m, "n", (json_int_t)s->n, "r", (json_int_t)s->rank)},
        {"precision", json_string(armilla_type_word(s->precision))},
        {"model", s->model ? json_string(s->model) : json_null()},
        {"basis", json_string(s->basis)},
        {"codes", json_string(s->codes)},
        {"sparsity", s->sparsity ? json_integer(s->sparsity) : json_null()},
        {"solver", json_string(s->solver)},
        {"start", armilla_json_text(s->start)},
        {"seed", json_integer(s->seed)},
        {"normalize", json_string(s->normalize)},
        {"center", json_boolean(s->center)},
        {"tfidf", json_boolean(s->tfidf)},
        {"log1p", json_boolean(s->log1p)},
        {"scale", json_boolean(s->scale)},
        {"kept_from",
         json_pack("{s:I, s:I}", kept_arrays[0].size, kept_size(model, 0), kept_arrays[1].size, kept_size(model, 1))},
        {"threads", json_integer(s->threads)},
        {"ranks", json_integer(s->ranks)},
        {"nnz", json_integer(s->nnz)},
        {"iterations", json_integer(s->iterations)},
        {"sweeps", json_integer(s->sweeps)},
        {"stop", json_string(armilla_stop_word(s->stop))},
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
    if (whole) return record;
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
    double *column = NULL;
    armilla_status status = armilla_take(context, model->trace_count, sizeof *column, &column);
    for (size_t c = 0; c < TRACE_COLUMNS && status == ARMILLA_OK; c++) {
        for (int64_t k = 0; k < model->trace_count; k++) column[k] = *trace_number(&model->trace[k], c);
        status =
            armilla_npz_writer_add(writer, trace_columns[c].array, ARMILLA_F64, model->trace_count, -1, false, column);
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
            status = armilla_npz_writer_add_raw(writer, kept_arrays[i].array, "i8", shape, kept->at,
                                                (size_t)kept->count * sizeof *kept->at);
    }
    return status;
}

armilla_status armilla_model_save(armilla_context *context, const armilla_model *model, const char *path,
                                  bool overwrite)
{
    const armilla_model_summary *s = &model->summary;
    armilla_npz_writer *writer = NULL;
    armilla_status status = armilla_npz_writer_new(context, path, overwrite, &writer);
    if (status == ARMILLA_OK) status = armilla_npz_writer_add(writer, "U", s->precision, s->m, s->rank, true, model->U);
    if (status == ARMILLA_OK) status = armilla_npz_writer_add(writer, "V", s->precision, s->rank, s->n, true, model->V);
    if (status == ARMILLA_OK) status = armilla_npz_writer_add(writer, "radius", ARMILLA_F64, -1, -1, false, &s->radius);
    if (status == ARMILLA_OK && model->mean)
        status = armilla_npz_writer_add(writer, "mean", ARMILLA_F64, s->m, -1, false, model->mean);
    if (status == ARMILLA_OK && model->idf)
        status = armilla_npz_writer_add(writer, "idf", ARMILLA_F64, s->m, -1, false, model->idf);
    if (status == ARMILLA_OK && model->scale)
        status = armilla_npz_writer_add(writer, "scale", ARMILLA_F64, s->m, -1, false, model->scale);
    if (status == ARMILLA_OK) status = add_names(writer, model);
    if (status == ARMILLA_OK) status = add_trace(context, writer, model);
    if (status == ARMILLA_OK) status = add_record(context, writer, model);
    if (status == ARMILLA_OK) status = armilla_npz_writer_commit(writer);
    armilla_npz_writer_free(writer);
    return status;
}

armilla_status armilla_model_save_trace(armilla_context *context, const armilla_model *model, const char *path,
                                        bool overwrite)
{
    armilla_output *output = NULL;
    armilla_status status = armilla_output_new(context, path, overwrite, &output);
    if (status == ARMILLA_OK)
        status = armilla_output_print(output, "iter,objective,relative_error,dU,dV,radius,seconds\n");
    for (int64_t k = 0; k < model->trace_count && status == ARMILLA_OK; k++) {
        status = armilla_output_print(output, "%" PRId64, model->trace[k].iteration);
        for (size_t c = 0; c < TRACE_COLUMNS && status == ARMILLA_OK; c++)
            status = armilla_output_print(output, ",%.17g", *trace_number(&model->trace[k], c));
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
    if (context->io->stat(path, &found) != 0) return armilla_cannot_open(context, path);
    *model = false;
    if (!S_ISREG(found.st_mode)) return ARMILLA_OK; /* a pipe can be read only once */
    const armilla_status status = armilla_npz_open(context, path, &npz);
    if (status == ARMILLA_BAD_DATA) return ARMILLA_OK; /* no archive */
    if (status != ARMILLA_OK) return status;
    *model = armilla_npz_has(npz, "U") && armilla_npz_has(npz, "meta");
    armilla_npz_free(npz);
    return ARMILLA_OK;
}

static armilla_status bad_record(armilla_context *context, const char *path, const char *key)
{
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "%s: the model's record has no right '%s'; the file is damaged or not a model of Armilla", path,
                        key);
}

/* A word that a table or list knows. */
static const char *text_of(const json_t *record, const char *key)
{
    const char *text = json_string_value(json_object_get(record, key));
    return text ? text : "";
}

static bool read_words(const json_t *record, armilla_model *model, const char **wrong)
{
    armilla_model_summary *s = &model->summary;
    const char *stop = text_of(record, "stop"), *precision = text_of(record, "precision");
    const armilla_solver *solver = armilla_solvers_find(text_of(record, "solver"));
    int word = 0;
    model->basis = armilla_basis_find(text_of(record, "basis"));
    model->codes = armilla_codes_find(text_of(record, "codes"));
    *wrong = !model->basis ? "basis" : !model->codes ? "codes" : !solver ? "solver" : NULL;
    if (*wrong) return false;
    s->basis = model->basis->name;
    s->codes = model->codes->name;
    s->solver = solver->name;
    s->normalize = strcmp(text_of(record, "normalize"), "l2") == 0 ? "l2" : "none";
    for (word = 0; word < ARMILLA_STOP_COUNT && strcmp(stop, armilla_stop_word((armilla_stop)word)) != 0; word++) {}
    s->stop = (armilla_stop)word;
    *wrong = "stop";
    if (word == ARMILLA_STOP_COUNT) return false;
    for (word = 0; word < ARMILLA_PRECISION_COUNT && strcmp(precision, armilla_type_word((armilla_type)word)) != 0;
         word++) {}
    s->precision = (armilla_type)word;
    *wrong = "precision";
    return word < ARMILLA_PRECISION_COUNT;
}

static bool read_numbers(const json_t *record, armilla_model_summary *s, const char **wrong)
{
    const json_t *shape = json_object_get(record, "shape");
    const struct {
        const json_t *object;
        const char *key;
        int64_t *to;
        int64_t least;
    } integers[] = {
        {shape, "m", &s->m, 1},
        {shape, "n", &s->n, 1},
        {shape, "r", &s->rank, 1},
        {record, "seed", &s->seed, 0},
        {record, "nnz", &s->nnz, 0},
        {record, "iterations", &s->iterations, 0},
        {record, "sweeps", &s->sweeps, 0},
        {record, "threads", &s->threads, 1},
        {record, "ranks", &s->ranks, 1},
        {record, "zero_samples", &s->zero_samples, 0},
    };
    const struct {
        const char *key;
        double *to;
    } reals[] = {{"objective", &s->objective},
                 {"relative_error", &s->relative_error},
                 {"squared_norm", &s->squared_norm},
                 {"seconds", &s->seconds},
                 {"seconds_per_iteration", &s->seconds_per_iteration}};
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        const json_t *value = json_object_get(integers[i].object, integers[i].key);
        *wrong = integers[i].key;
        *integers[i].to = json_integer_value(value);
        if (!json_is_integer(value) || *integers[i].to < integers[i].least || *integers[i].to > INT64_MAX - 1)
            return false;
    }
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        const json_t *value = json_object_get(record, reals[i].key);
        *wrong = reals[i].key;
        *reals[i].to = json_number_value(value);
        if (!json_is_number(value)) return false;
    }
    return true;
}

static armilla_status read_record(armilla_context *context, const char *path, const json_t *record,
                                  armilla_model *model)
{
    armilla_model_summary *s = &model->summary;
    const json_t *options = json_object_get(record, "options");
    const char *wrong = NULL;
    char *end = NULL, *text = NULL;
    const json_int_t format = json_integer_value(json_object_get(record, "format"));
    if (format != FORMAT)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: the model has format %lld, this version reads %d; use the Armilla that wrote it (%s)",
                            path, (long long)format, FORMAT, text_of(record, "library"));
    if (!read_words(record, model, &wrong) || !read_numbers(record, s, &wrong)) return bad_record(context, path, wrong);
    s->sparsity = json_integer_value(json_object_get(record, "sparsity"));
    s->center = json_is_true(json_object_get(record, "center"));
    s->tfidf = json_is_true(json_object_get(record, "tfidf"));
    s->log1p = json_is_true(json_object_get(record, "log1p"));
    s->scale = json_is_true(json_object_get(record, "scale"));
    for (int i = 0; i < ARMILLA_KEPT_COUNT; i++)
        model->kept[i].of =
            json_integer_value(json_object_get(json_object_get(record, "kept_from"), kept_arrays[i].size));
    if (s->sparsity < 0 || (s->sparsity > 0) != model->codes->sparse || s->sparsity > s->rank)
        return bad_record(context, path, "sparsity");
    if (!armilla_pair_allowed(model->basis, model->codes)) return bad_record(context, path, "codes");
    const armilla_named_model *named =
        armilla_models_of_pair(model->basis->name, model->codes->name, s->sparsity, s->normalize);
    s->model = named ? named->name : NULL;
    if (!json_is_object(options)) return bad_record(context, path, "options");
    s->fingerprint = strtoull(text_of(record, "fingerprint"), &end, 16);
    if (end == text_of(record, "fingerprint") || *end) return bad_record(context, path, "fingerprint");
    model->unsafe = armilla_weights_unsafe(json_string_value(json_object_get(options, "lambda")),
                                           json_string_value(json_object_get(options, "mu")));
    armilla_status status = armilla_copy_text(context, text_of(record, "start"), &model->start);
    s->start = model->start;
    text = json_dumps(options, JSON_COMPACT | JSON_PRESERVE_ORDER);
    if (status == ARMILLA_OK && !text)
        status = armilla_fail(context, ARMILLA_NO_MEMORY, "out of memory for the options");
    if (status == ARMILLA_OK) status = armilla_copy_text(context, text, &model->options_text);
    free(text);
    return status;
}

static armilla_status read_meta(armilla_context *context, const char *path, armilla_npz *npz, armilla_model *model)
{
    char *text = NULL;
    json_error_t error;
    if (!armilla_npz_has(npz, "meta") || !armilla_npz_has(npz, "U"))
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: there is no 'meta' or no 'U' in it, so it is not a model of Armilla", path);
    armilla_status status = armilla_npz_read_text(npz, "meta", &text);
    if (status != ARMILLA_OK) return status;
    json_t *record = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (record)
        status = read_record(context, path, record, model);
    else
        status = armilla_fail(context, ARMILLA_BAD_DATA, "%s: the model's record is not JSON, line %d: %s", path,
                              error.line, error.text);
    json_decref(record);
    armilla_release(context, text);
    return status;
}

static armilla_status read_trace(armilla_context *context, armilla_npz *npz, armilla_model *model)
{
    int64_t count = model->summary.iterations + 1, one = -1;
    double *column = NULL;
    /* The first column shows that the entries are there before room for all of them is taken. */
    armilla_status status = armilla_npz_read(npz, trace_columns[0].array, ARMILLA_F64, &count, &one, &column);
    armilla_release(context, column);
    if (status == ARMILLA_OK) status = armilla_take(context, count, sizeof *model->trace, &model->trace);
    if (status == ARMILLA_OK) model->trace_count = count;
    for (size_t c = 0; c < TRACE_COLUMNS && status == ARMILLA_OK; c++) {
        column = NULL;
        status = armilla_npz_read(npz, trace_columns[c].array, ARMILLA_F64, &count, &one, &column);
        for (int64_t k = 0; k < count && status == ARMILLA_OK; k++) {
            model->trace[k].iteration = k;
            *trace_number(&model->trace[k], c) = column[k];
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

/* What was kept, where that was not all. */
static armilla_status read_kept(armilla_context *context, const char *path, armilla_npz *npz, armilla_model *model)
{
    const int64_t sizes[ARMILLA_KEPT_COUNT] = {model->summary.m, model->summary.n};
    armilla_status status = ARMILLA_OK;
    for (int i = 0; i < ARMILLA_KEPT_COUNT && status == ARMILLA_OK; i++) {
        armilla_kept *kept = &model->kept[i];
        if (!armilla_npz_has(npz, kept_arrays[i].array)) continue;
        kept->count = sizes[i];
        status = armilla_npz_read_integers(npz, kept_arrays[i].array, sizes[i], &kept->at);
        for (int64_t k = 0; k < kept->count && status == ARMILLA_OK; k++)
            if (kept->at[k] < 0 || kept->at[k] >= kept->of || (k > 0 && kept->at[k] <= kept->at[k - 1]))
                status = armilla_fail(context, ARMILLA_BAD_DATA,
                                      "%s: array %s: place %" PRId64 " is out of order or range; the file is damaged",
                                      path, kept_arrays[i].array, k);
    }
    return status;
}

static armilla_status check_finite(armilla_context *context, const char *path, const armilla_model *model)
{
    const armilla_model_summary *s = &model->summary;
    const struct {
        const char *name;
        const void *values;
        int64_t count;
    } arrays[] = {{"U", model->U, s->m * s->rank}, {"V", model->V, s->rank * s->n}};
    for (size_t a = 0; a < 2; a++)
        for (int64_t i = 0; i < arrays[a].count; i++) {
            double value = 0;
            armilla_fetch(s->precision, 1, (const char *)arrays[a].values + (size_t)i * armilla_type_size(s->precision),
                          &value);
            if (!isfinite(value))
                return armilla_fail(context, ARMILLA_BAD_DATA,
                                    "%s: %s has a value that is not finite; the file is damaged", path, arrays[a].name);
        }
    if (model->codes->spherical ? !(s->radius > 0) || !isfinite(s->radius) : !isnan(s->radius))
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: the radius %g is not one that such codes have; the file is damaged", path, s->radius);
    return ARMILLA_OK;
}

static armilla_status read_arrays(armilla_context *context, const char *path, armilla_npz *npz, armilla_model *model)
{
    armilla_model_summary *s = &model->summary;
    int64_t none = -1;
    double *radius = NULL;
    armilla_status status = armilla_npz_read(npz, "U", s->precision, &s->m, &s->rank, &model->U);
    if (status == ARMILLA_OK) status = armilla_npz_read(npz, "V", s->precision, &s->rank, &s->n, &model->V);
    if (status == ARMILLA_OK) status = armilla_npz_read(npz, "radius", ARMILLA_F64, &none, &none, &radius);
    if (status == ARMILLA_OK) s->radius = *radius;
    armilla_release(context, radius);
    if (status == ARMILLA_OK && s->center)
        status = armilla_npz_read(npz, "mean", ARMILLA_F64, &s->m, &none, &model->mean);
    if (status == ARMILLA_OK && s->tfidf) status = armilla_npz_read(npz, "idf", ARMILLA_F64, &s->m, &none, &model->idf);
    if (status == ARMILLA_OK && s->scale)
        status = armilla_npz_read(npz, "scale", ARMILLA_F64, &s->m, &none, &model->scale);
    if (status == ARMILLA_OK) status = armilla_model_weigh(model);
    if (status == ARMILLA_OK) status = read_names(context, path, npz, model);
    if (status == ARMILLA_OK) status = read_kept(context, path, npz, model);
    if (status == ARMILLA_OK) status = read_trace(context, npz, model);
    if (status == ARMILLA_OK) status = check_finite(context, path, model);
    return status;
}

armilla_status armilla_model_open(armilla_context *context, const char *path, armilla_model **model)
{
    armilla_npz *npz = NULL;
    armilla_model *made = NULL;
    armilla_status status = armilla_npz_open(context, path, &npz);
    if (status == ARMILLA_OK) status = armilla_model_new(context, &made);
    if (status == ARMILLA_OK) status = read_meta(context, path, npz, made);
    if (status == ARMILLA_OK) status = read_arrays(context, path, npz, made);
    armilla_npz_free(npz);
    if (status == ARMILLA_OK)
        *model = made;
    else
        armilla_model_free(made);
    return status;
}
