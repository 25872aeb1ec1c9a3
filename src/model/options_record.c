/* The options in the model's record of how it was made: words that a user would type, by the option table. */
#include "model/model.h"
#include "model/record.h"

#include "linalg/kernels.h"
#include "solve/problem.h"

#include <jansson.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

armilla_status armilla_options_describe(armilla_context *context, const armilla_options *options,
                                        const armilla_resolved *resolved, char **text)
{
    json_t *object = json_object();
    char *dumped = NULL;
    armilla_options shown = *options;
    bool fine = object != NULL;
    shown.basis = resolved->basis->name;
    shown.codes = resolved->codes->name;
    shown.precision = armilla_type_word(resolved->type);
    shown.kernel = resolved->kernel;
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
