/* Reading the record of a model file. The file is input like any other: each member is a row of a table that says what
 * it has to be, and nothing is believed that the rows, or one member beside another, do not allow. */
#include "model/record.h"

#include "base/size.h"
#include "solve/problem.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FINGERPRINT = 16, MOST_START = 4096, MOST_METHOD = 64 };
#define MOST_COUNT (INT64_MAX / 2)
#define MOST_THREADS 1000000

/* A record being read. */
typedef struct reading {
    armilla_context *context;
    const char *path;
    const json_t *record;
    armilla_model *model;
} reading;

static armilla_status refuse(const reading *r, const char *key)
{
    return armilla_fail(r->context, ARMILLA_BAD_DATA,
                        "%s: the model's record has no right '%s'; the file is damaged or not a model of Armilla",
                        r->path, key);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static bool set_basis(armilla_model *model, const char *word)
{
    model->basis = armilla_basis_find(word);
    if (model->basis) model->summary.basis = model->basis->name;
    return model->basis != NULL;
}

static bool set_codes(armilla_model *model, const char *word)
{
    model->codes = armilla_codes_find(word);
    if (model->codes) model->summary.codes = model->codes->name;
    return model->codes != NULL;
}

static bool set_solver(armilla_model *model, const char *word)
{
    const armilla_solver *found = armilla_solvers_find(word);
    if (!found) return false;
    model->summary.solver = found->name;
    model->summary.sealed = found->sealed; /* where the file does not say */
    return true;
}

static bool set_stop(armilla_model *model, const char *word)
{
    int stop = 0;
    while (stop < ARMILLA_STOP_COUNT && strcmp(word, armilla_stop_word((armilla_stop)stop)) != 0) stop++;
    model->summary.stop = (armilla_stop)stop;
    return stop < ARMILLA_STOP_COUNT;
}

static bool set_precision(armilla_model *model, const char *word)
{
    int type = 0;
    while (type < ARMILLA_PRECISION_COUNT && strcmp(word, armilla_type_word((armilla_type)type)) != 0) type++;
    model->summary.precision = (armilla_type)type;
    return type < ARMILLA_PRECISION_COUNT;
}

static bool set_fingerprint(armilla_model *model, const char *word)
{
    if (strlen(word) != FINGERPRINT || strspn(word, "0123456789abcdef") != FINGERPRINT) return false;
    model->summary.fingerprint = strtoull(word, NULL, 16);
    return true;
}

static armilla_status read_words(const reading *r)
{
    static const struct {
        const char *key;
        bool (*set)(armilla_model *model, const char *word);
    } words[] = {
        {"basis", set_basis}, {"codes", set_codes},         {"solver", set_solver},
        {"stop", set_stop},   {"precision", set_precision}, {"fingerprint", set_fingerprint},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!words[i].set(r->model, text_of(r->record, words[i].key))) return refuse(r, words[i].key);
    return ARMILLA_OK;
}

/* Whether the value is a whole number from least to most; *number is written in any case. */
static bool read_integer(const json_t *value, int64_t least, int64_t most, int64_t *number)
{
    *number = json_integer_value(value);
    return json_is_integer(value) && *number >= least && *number <= most;
}

#define SUMMARY(member) offsetof(armilla_model_summary, member)

static armilla_status read_integers(const reading *r)
{
    static const struct {
        const char *object, *key; /* object: NULL for the record itself */
        size_t offset;
        int64_t least, most;
        bool late; /* files of 0.1.0 do not have it: 0 */
    } integers[] = {
        {"shape", "m", SUMMARY(m), 1, MOST_COUNT, false},
        {"shape", "n", SUMMARY(n), 1, MOST_COUNT, false},
        {"shape", "r", SUMMARY(rank), 1, ARMILLA_MOST_RANK, false},
        {NULL, "seed", SUMMARY(seed), 0, INT64_MAX, false},
        {NULL, "nnz", SUMMARY(nnz), 0, MOST_COUNT, false},
        {NULL, "iterations", SUMMARY(iterations), 0, MOST_COUNT, false},
        {NULL, "sweeps", SUMMARY(sweeps), 0, MOST_COUNT, false},
        {NULL, "threads", SUMMARY(threads), 1, MOST_THREADS, false},
        {NULL, "ranks", SUMMARY(ranks), 1, MOST_THREADS, false},
        {NULL, "zero_samples", SUMMARY(zero_samples), 0, MOST_COUNT, false},
        {NULL, "samples_seen", SUMMARY(samples_seen), 1, MOST_COUNT, true},
        {NULL, "passes", SUMMARY(passes), 0, MOST_COUNT, true},
        {NULL, "passes_before", SUMMARY(passes_before), 0, MOST_COUNT, true},
    };
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        const json_t *object = integers[i].object ? json_object_get(r->record, integers[i].object) : r->record;
        int64_t *number = (int64_t *)(void *)((char *)&r->model->summary + integers[i].offset);
        char name[32];
        if (integers[i].late && !json_object_get(object, integers[i].key)) continue;
        snprintf(name, sizeof name, "%s%s%s", integers[i].object ? integers[i].object : "",
                 integers[i].object ? "." : "", integers[i].key);
        if (!read_integer(json_object_get(object, integers[i].key), integers[i].least, integers[i].most, number))
            return refuse(r, name);
    }
    if (r->model->summary.samples_seen == 0) r->model->summary.samples_seen = r->model->summary.n;
    return ARMILLA_OK;
}

/* Numbers are finite where they are JSON at all, and none of these is negative. */
static armilla_status read_reals(const reading *r)
{
    static const struct {
        const char *key;
        size_t offset;
    } reals[] = {{"objective", SUMMARY(objective)},
                 {"relative_error", SUMMARY(relative_error)},
                 {"squared_norm", SUMMARY(squared_norm)},
                 {"seconds", SUMMARY(seconds)},
                 {"seconds_per_iteration", SUMMARY(seconds_per_iteration)}};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        const json_t *value = json_object_get(r->record, reals[i].key);
        const double number = json_number_value(value);
        if (!json_is_number(value) || !isfinite(number) || number < 0) return refuse(r, reals[i].key);
        *(double *)(void *)((char *)&r->model->summary + reals[i].offset) = number;
    }
    return r->model->summary.squared_norm > 0 ? ARMILLA_OK : refuse(r, "squared_norm");
}

/* A flag; late: files of 0.1.0 do not have it, and then it stays as the model is made, or as the solver says. */
static bool read_flag(const reading *r, const char *key, bool late, bool *flag)
{
    const json_t *value = json_object_get(r->record, key);
    if (!json_is_boolean(value) && (value || !late)) return false;
    if (value) *flag = json_is_true(value);
    return true;
}

static armilla_status read_sealed(const reading *r)
{
    return read_flag(r, "sealed", true, &r->model->summary.sealed) ? ARMILLA_OK : refuse(r, "sealed");
}

/* The steps of the preparation, by name. */
static armilla_status read_steps(const reading *r)
{
    armilla_preparation *p = &r->model->preparation;
    for (int step = 0; step < ARMILLA_STEP_COUNT; step++) {
        const armilla_step_row *row = &armilla_steps[step];
        if (!(row->words[0] ? armilla_step_read((armilla_step)step, text_of(r->record, row->name), &p->taken[step])
                            : read_flag(r, row->name, row->late, &p->taken[step])))
            return refuse(r, row->name);
    }
    armilla_model_describe_preparation(r->model);
    return ARMILLA_OK;
}

/* What there was before some features or samples were chosen; files of 0.1.0 do not say it, and chose none. */
static armilla_status read_kept_from(const reading *r)
{
    const json_t *from = json_object_get(r->record, "kept_from");
    const int64_t sizes[ARMILLA_KEPT_COUNT] = {r->model->summary.m, r->model->summary.n};
    for (int i = 0; i < ARMILLA_KEPT_COUNT; i++) {
        r->model->kept[i].of = sizes[i];
        if (from && !read_integer(json_object_get(from, armilla_kept_arrays[i].size), sizes[i], MOST_COUNT,
                                  &r->model->kept[i].of))
            return refuse(r, "kept_from");
    }
    return ARMILLA_OK;
}

/* Rows and columns of the images that samples are, or null; files of 0.1.0 do not say it. */
static armilla_status read_image(const reading *r)
{
    armilla_model_summary *s = &r->model->summary;
    const json_t *image = json_object_get(r->record, "image");
    int64_t pixels = 0;
    if (!image || json_is_null(image)) return ARMILLA_OK;
    if (!read_integer(json_object_get(image, "rows"), 1, MOST_COUNT, &s->image_rows) ||
        !read_integer(json_object_get(image, "columns"), 1, MOST_COUNT, &s->image_columns) ||
        !armilla_size_area(s->image_rows, s->image_columns, &pixels) ||
        pixels != r->model->kept[ARMILLA_KEPT_FEATURES].of)
        return refuse(r, "image");
    return ARMILLA_OK;
}

/* What clusters the model keeps; earlier files do not say it, and keep none. */
static armilla_status read_clusters(const reading *r)
{
    armilla_kept_clusters *kept = &r->model->clusters;
    const json_t *value = json_object_get(r->record, "clusters");
    if (!value || json_is_null(value)) return ARMILLA_OK;
    const char *method = text_of(value, "method");
    if (!read_integer(json_object_get(value, "k"), 1, ARMILLA_MOST_RANK, &kept->k) || !*method ||
        strlen(method) > MOST_METHOD)
        return refuse(r, "clusters");
    return armilla_copy_text(r->context, method, &kept->method);
}

/* A whole number where the codes are sparse, null where they are not: the model's stays 0. */
static armilla_status read_sparsity(const reading *r)
{
    armilla_model_summary *s = &r->model->summary;
    const json_t *value = json_object_get(r->record, "sparsity");
    if (!json_is_null(value) && !read_integer(value, 1, s->rank, &s->sparsity)) return refuse(r, "sparsity");
    return (s->sparsity > 0) == r->model->codes->sparse ? ARMILLA_OK : refuse(r, "sparsity");
}

/* The pair's name is what the tables call it now; what the file calls it has to be a name. */
static armilla_status read_pair(const reading *r)
{
    armilla_model_summary *s = &r->model->summary;
    const json_t *word = json_object_get(r->record, "model");
    if (!armilla_pair_allowed(r->model->basis, r->model->codes)) return refuse(r, "codes");
    if (r->model->basis->gram_is_identity && s->rank > s->m) return refuse(r, "shape.r");
    if (!json_is_null(word) && !armilla_models_find(text_of(r->record, "model"))) return refuse(r, "model");
    const armilla_named_model *named = armilla_models_of_pair(s->basis, s->codes, s->sparsity, s->normalize);
    s->model = named ? named->name : NULL;
    return ARMILLA_OK;
}

static bool has_texts(json_t *object)
{
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(object)) return false;
    json_object_foreach(object, key, value)
    {
        if (!json_is_string(value) && !json_is_null(value)) return false;
    }
    return true;
}

/* Forms and numbers of the steps, by the options that asked for them; an option that is not right asks for nothing. */
static void read_asked(const reading *r, const json_t *options)
{
    armilla_preparation *p = &r->model->preparation;
    armilla_context scratch = {.error = ""};
    armilla_options recorded;
    armilla_options_default(&recorded);
    for (const armilla_option *row = armilla_option_table(); row->name; row = armilla_option_next(row)) {
        const char *value = json_string_value(json_object_get(options, row->name));
        if (value && armilla_option_is_of(row, ARMILLA_PREPARATION) && row->kind != ARMILLA_OPTION_FLAG)
            (void)armilla_option_set(&scratch, row, &recorded, value);
    }
    const armilla_preparation asked = armilla_preparation_asked(&recorded);
    memcpy(p->form, asked.form, sizeof p->form);
    memcpy(p->number, asked.number, sizeof p->number);
}

/* *copy = the object as it is written. */
static armilla_status keep_text(const reading *r, const json_t *object, char **copy)
{
    char *text = json_dumps(object, JSON_COMPACT);
    const armilla_status status =
        text ? armilla_copy_text(r->context, text, copy)
             : armilla_fail(r->context, ARMILLA_NO_MEMORY, "%s: out of memory for the record", r->path);
    free(text);
    return status;
}

/* Every option is a text or null. */
static armilla_status read_options(const reading *r)
{
    json_t *options = json_object_get(r->record, "options");
    if (!has_texts(options)) return refuse(r, "options");
    r->model->unsafe = armilla_weights_unsafe(json_string_value(json_object_get(options, "lambda")),
                                              json_string_value(json_object_get(options, "mu")));
    read_asked(r, options);
    return keep_text(r, options, &r->model->options_text);
}

bool armilla_record_of_texts(const char *text)
{
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const bool fine = has_texts(object);
    json_decref(object);
    return fine;
}

/* How the data were read: texts or null; earlier files do not say it. */
static armilla_status read_reading(const reading *r)
{
    json_t *object = json_object_get(r->record, "reading");
    if (!object || json_is_null(object)) return ARMILLA_OK;
    if (!has_texts(object)) return refuse(r, "reading");
    return keep_text(r, object, &r->model->reading_text);
}

static armilla_status read_start(const reading *r)
{
    const json_t *value = json_object_get(r->record, "start");
    if (!json_is_string(value) || json_string_length(value) > MOST_START) return refuse(r, "start");
    const armilla_status status = armilla_copy_text(r->context, json_string_value(value), &r->model->start);
    r->model->summary.start = r->model->start;
    return status;
}

/* Counts that cannot be larger than others are. */
static armilla_status check_counts(const reading *r)
{
    const armilla_model_summary *s = &r->model->summary;
    int64_t area = 0, basis = 0, codes = 0;
    if (!armilla_size_area(s->m, s->rank, &basis) || !armilla_size_area(s->rank, s->n, &codes))
        return refuse(r, "shape");
    if (!armilla_size_area(s->m, s->n, &area) || s->nnz > area) return refuse(r, "nnz");
    return s->zero_samples <= s->n ? ARMILLA_OK : refuse(r, "zero_samples");
}

static armilla_status read_format(const reading *r)
{
    const json_t *value = json_object_get(r->record, "format");
    if (!json_is_integer(value)) return refuse(r, "format");
    if (!json_is_string(json_object_get(r->record, "library"))) return refuse(r, "library");
    if (json_integer_value(value) == ARMILLA_MODEL_FORMAT) return ARMILLA_OK;
    return armilla_fail(r->context, ARMILLA_BAD_DATA,
                        "%s: the model has format %lld, this version reads %d; use the Armilla that wrote it (%.40s)",
                        r->path, (long long)json_integer_value(value), ARMILLA_MODEL_FORMAT,
                        text_of(r->record, "library"));
}

armilla_status armilla_record_read(armilla_context *context, const char *path, const char *text, armilla_model *model)
{
    /* In this order: a later one may ask what an earlier one has read. */
    static armilla_status (*const parts[])(const reading *r) = {
        read_format,   read_words,    read_integers, read_reals,   read_steps, read_sealed,  read_kept_from, read_image,
        read_clusters, read_sparsity, read_pair,     check_counts, read_start, read_options, read_reading,
    };
    json_error_t error;
    json_t *record = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    const reading r = {context, path, record, model};
    armilla_status status = ARMILLA_OK;
    if (!record)
        return armilla_fail(context, ARMILLA_BAD_DATA, "%s: the model's record is not JSON, line %d: %s", path,
                            error.line, error.text);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == ARMILLA_OK; i++) status = parts[i](&r);
    json_decref(record);
    return status;
}
