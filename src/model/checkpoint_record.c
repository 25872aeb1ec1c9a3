/* What a checkpoint is of: the data and every option that changes a number, as a user would type it. */
#include "model/checkpoint.h"
#include "model/record.h"

#include "base/ranks.h"
#include "base/samples.h"

#include <armilla/version.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define STREAMED "streamed " /* before the storage that the same numbers have in memory */

static json_t *count_text(int64_t count)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, count);
    return json_string(text);
}

static armilla_status add_check(void *check, const void *bytes, size_t count)
{
    uint32_t *sum = check;
    *sum = (uint32_t)crc32_z(*sum, bytes, count);
    return ARMILLA_OK;
}

/* A start that is given is known by its numbers; of a model's codes a rank may have its own alone. *check: its
 * checksum on rank 0, whose record is written, and then on all. */
static armilla_status check_start(armilla_fit_state *f, uint32_t *check)
{
    const armilla_options *o = f->options;
    const armilla_model *given = o->start_model;
    const int64_t basis = f->X->m * o->rank;
    *check = 0;
    if (!given) return o->start_basis ? add_check(check, o->start_basis, (size_t)basis * sizeof(double)) : ARMILLA_OK;
    const size_t size = armilla_type_size(given->summary.precision);
    const armilla_putting codes = {.block = given->V,
                                   .share = &f->problem->share,
                                   .column = (size_t)o->rank * size,
                                   .put = add_check,
                                   .user = check};
    (void)add_check(check, given->U, (size_t)basis * size);
    armilla_status status = armilla_samples_put(f->context, ARMILLA_OK, &codes);
    if (status == ARMILLA_OK) status = armilla_ranks_broadcast(f->context, check, sizeof *check);
    if (status == ARMILLA_OK) (void)add_check(check, &given->summary.radius, sizeof given->summary.radius);
    return status;
}

/* Any other start is known by its name. */
static json_t *start_text(const armilla_fit_state *f, uint32_t check)
{
    char text[32];
    if (f->start) return json_string(f->start->name);
    snprintf(text, sizeof text, "%s %08" PRIx32, f->options->start_model ? "model" : "basis", check);
    return json_string(text);
}

/* The same for data in memory and in a file that is streamed: their numbers are. */
static const char *storage_of(const armilla_data *X)
{
    const char *storage = armilla_data_storage(X);
    return strncmp(storage, STREAMED, strlen(STREAMED)) == 0 ? storage + strlen(STREAMED) : storage;
}

static bool put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

static json_t *data_object(const armilla_fit_state *f)
{
    json_t *object = json_object();
    char fingerprint[32];
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, f->facts.fingerprint);
    const bool fine = put(object, "features", count_text(f->X->m)) && put(object, "samples", count_text(f->X->n)) &&
                      put(object, "stored", count_text(armilla_data_stored(f->X))) &&
                      put(object, "storage", json_string(storage_of(f->X))) &&
                      put(object, "fingerprint", json_string(fingerprint));
    if (fine) return object;
    json_decref(object);
    return NULL;
}

static json_t *options_object(const armilla_fit_state *f, uint32_t start, const char *text)
{
    json_t *object = json_loads(text, 0, NULL);
    if (put(object, "start", start_text(f, start))) return object;
    json_decref(object);
    return NULL;
}

armilla_status armilla_checkpoint_describe(armilla_fit_state *f, char **text)
{
    char *options = NULL, *dumped = NULL;
    uint32_t start = 0;
    armilla_status status = check_start(f, &start);
    if (status == ARMILLA_OK) status = armilla_options_describe(f->context, f->options, &f->resolved, &options);
    if (status != ARMILLA_OK) return status;
    json_t *object = json_object();
    if (put(object, "library", json_string(ARMILLA_VERSION)) && put(object, "data", data_object(f)) &&
        put(object, "options", options_object(f, start, options)))
        dumped = json_dumps(object, JSON_COMPACT);
    status = dumped ? armilla_copy_text(f->context, dumped, text)
                    : armilla_fail(f->context, ARMILLA_NO_MEMORY, "out of memory for the record of the checkpoint");
    free(dumped);
    json_decref(object);
    armilla_release(f->context, options);
    return status;
}

/* Two records side by side. */
typedef struct comparison {
    armilla_context *context;
    const char *path;
    const json_t *file, *own;
} comparison;

static const char *member(const json_t *record, const char *object, const char *key)
{
    const char *text = json_string_value(json_object_get(json_object_get(record, object), key));
    return text ? text : "";
}

static armilla_status compare_member(const comparison *c, const char *key)
{
    const char *file = member(c->file, "data", key), *own = member(c->own, "data", key);
    if (strcmp(file, own) == 0) return ARMILLA_OK;
    return armilla_fail(c->context, ARMILLA_BAD_DATA,
                        "%s: the checkpoint is of other data: %s %.40s there, %s here; give the data that it was made "
                        "from",
                        c->path, key, file, own);
}

/* Whether the numbers of a fit depend on the option; a pair's name stands for its sets, which are compared. */
static bool decides(const char *option)
{
    static const char *const others[] = {"threads", "time-limit", "model"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(option, others[i]) == 0) return false;
    return true;
}

static armilla_status compare_options(const comparison *c)
{
    for (const armilla_option *row = armilla_option_table(); row->name; row = armilla_option_next(row)) {
        const char *file = member(c->file, "options", row->name), *own = member(c->own, "options", row->name);
        if (!decides(row->name) || strcmp(file, own) == 0) continue;
        return armilla_fail(c->context, ARMILLA_BAD_DATA,
                            "%s: the checkpoint is of a fit with another " ARMILLA_FIELD(
                                "%s") ": %.40s there, %.40s here; give the options that it was made with",
                            c->path, row->name, *file ? file : "none", *own ? own : "none");
    }
    return ARMILLA_OK;
}

armilla_status armilla_checkpoint_compare(armilla_context *context, const char *path, const char *record,
                                          const char *own)
{
    json_t *file = json_loads(record, JSON_REJECT_DUPLICATES, NULL), *mine = json_loads(own, 0, NULL);
    static const char *const shape[] = {"features", "samples", "stored", "storage"};
    const comparison c = {context, path, file, mine};
    armilla_status status = ARMILLA_OK;
    if (!mine) status = armilla_fail(context, ARMILLA_NO_MEMORY, "%s: out of memory for its record", path);
    if (mine && !file)
        status = armilla_fail(context, ARMILLA_BAD_DATA, "%s: the checkpoint's record is not JSON; begin the fit anew",
                              path);
    for (size_t i = 0; i < sizeof shape / sizeof *shape && status == ARMILLA_OK; i++)
        status = compare_member(&c, shape[i]);
    if (status == ARMILLA_OK) status = compare_options(&c);
    if (status == ARMILLA_OK) status = compare_member(&c, "fingerprint"); /* of the numbers in the working precision */
    const char *library = json_string_value(json_object_get(file, "library"));
    if (status == ARMILLA_OK && (!library || strcmp(library, ARMILLA_VERSION) != 0))
        armilla_log(context, ARMILLA_LOG_WARNING,
                    "%s: was written by version %.20s of the library, this is " ARMILLA_VERSION
                    ": the last bits of the model may not be those of a fit by one of them alone",
                    path, library ? library : "unknown");
    json_decref(file);
    json_decref(mine);
    return status;
}
