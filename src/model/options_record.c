/* The options in the model's record of how it was made: words that a user would type, by the option table. */
#include "model/model.h"
#include "model/record.h"

#include "linalg/kernels.h"
#include "solve/problem.h"

#include <jansson.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

const char *armilla_options_kernel(const char *text)
{
    json_t *record = text ? json_loads(text, 0, NULL) : NULL;
    const char *recorded = json_string_value(json_object_get(record, "kernel")), *found = NULL;
    for (size_t i = 1; recorded && armilla_kernel_choice(i); i++)
        if (strcmp(recorded, armilla_kernel_choice(i)) == 0 && armilla_kernels_available(recorded))
            found = armilla_kernel_choice(i);
    json_decref(record);
    return found;
}

void armilla_options_recorded(const char *text, const char *name, char *value, size_t size)
{
    json_t *record = text ? json_loads(text, 0, NULL) : NULL;
    const char *recorded = json_string_value(json_object_get(record, name));
    snprintf(value, size, "%s", recorded ? recorded : "");
    json_decref(record);
}

bool armilla_weights_unsafe(const char *lambda, const char *mu)
{
    const char *const texts[] = {lambda, mu};
    for (int i = 0; i < 2; i++) {
        armilla_weight weight;
        if (texts[i] && armilla_weight_read(texts[i], &weight) && (!weight.relative || weight.value < 1)) return true;
    }
    return false;
}

json_t *armilla_json_text(const char *text)
{
    char plain[4096];
    json_t *made = json_string(text);
    if (made) return made;
    snprintf(plain, sizeof plain, "%s", text);
    for (char *c = plain; *c; c++)
        if ((unsigned char)*c > 126) *c = '?';
    return json_string(plain);
}

/* With what the fit makes of those that are left to it. */
static armilla_options decided(const armilla_options *options, const armilla_resolved *resolved)
{
    armilla_options shown = *options;
    shown.basis = resolved->basis->name;
    shown.codes = resolved->codes->name;
    shown.precision = armilla_type_word(resolved->type);
    shown.kernel = resolved->kernel;
    return shown;
}

uint64_t armilla_options_token(const armilla_options *options, const armilla_resolved *resolved)
{
    armilla_options shown = decided(options, resolved);
    uLong token = 0;
    shown.threads = 0;
    if (shown.start_model || shown.start_basis) shown.start = NULL; /* the name of a file */
    for (const armilla_option *row = armilla_option_table(); row->name; row = armilla_option_next(row)) {
        char value[4096];
        armilla_option_show(row, &shown, value, sizeof value);
        token = crc32_z(token, (const unsigned char *)value, strlen(value) + 1);
    }
    return token;
}

armilla_status armilla_options_describe(armilla_context *context, const armilla_options *options,
                                        const armilla_resolved *resolved, char **text)
{
    json_t *object = json_object();
    char *dumped = NULL;
    const armilla_options shown = decided(options, resolved);
    bool fine = object != NULL;
    for (const armilla_option *row = armilla_option_table(); row->name && fine; row = armilla_option_next(row)) {
        char value[4096];
        armilla_option_show(row, &shown, value, sizeof value);
        fine = json_object_set_new(object, row->name, *value ? armilla_json_text(value) : json_null()) == 0;
    }
    if (fine) dumped = json_dumps(object, JSON_COMPACT);
    armilla_status status =
        dumped ? armilla_copy_text(context, dumped, text)
               : armilla_fail(context, ARMILLA_NO_MEMORY, "out of memory for the record of the options");
    free(dumped);
    json_decref(object);
    return status;
}
