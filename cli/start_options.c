/* `fit --start MODEL`: what the model says of its own fit holds for the next one, unless the command line says
 * otherwise. */
#include "json.h"
#include "reading.h"
#include "start.h"

#include <stdio.h>
#include <string.h>

/* Options that go together: where one of them is given, none is taken from the model. Those of the preparation do too. */
static const char *const sets[] = {"model", "basis", "codes", NULL};
static const char *const algorithm[] = {"solver", "lambda", "mu", "batch", NULL};

typedef struct taken_option {
    const char *name;
    const char *const *group; /* NULL: by itself */
} taken_option;

static const taken_option taken[] = {
    {"rank", NULL},        {"basis", sets},       {"codes", sets},   {"sparsity", sets},   {"radius", sets},
    {"solver", algorithm}, {"lambda", algorithm}, {"mu", algorithm}, {"batch", algorithm}, {"precision", NULL},
};

static bool is_given(const cli_session *session, const char *name)
{
    return settings_is_given(session, &group_fit, name);
}

static bool is_prepared(const cli_session *session)
{
    bool given = false;
    for (const armilla_option *row = armilla_option_table(); row->name; row = armilla_option_next(row))
        given |= armilla_option_is_of(row, ARMILLA_PREPARATION) && is_given(session, row->name);
    return given;
}

/* Whether the option is to be what the model says of it. */
static bool is_open(const cli_session *session, const armilla_option *row)
{
    const taken_option *found = NULL;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(taken[i].name, row->name) == 0) found = &taken[i];
    if (armilla_option_is_of(row, ARMILLA_PREPARATION)) return !is_prepared(session);
    if (!found || is_given(session, row->name)) return false;
    for (const char *const *other = found->group; other && *other; other++)
        if (is_given(session, *other)) return false;
    return true;
}

/* " --rank 5", a flag without its value; nothing where it is what the option would be anyway. */
static void tell(const armilla_option *row, const armilla_options *usual, const armilla_options *now, char *text,
                 size_t size)
{
    char before[256], after[256];
    const size_t used = strlen(text);
    armilla_option_show(row, usual, before, sizeof before);
    armilla_option_show(row, now, after, sizeof after);
    if (strcmp(before, after) == 0 || strcmp(after, "none") == 0) return;
    if (row->kind == ARMILLA_OPTION_FLAG)
        snprintf(text + used, size - used, " --%s", row->name);
    else
        snprintf(text + used, size - used, " --%s %s", row->name, after);
}

static armilla_status take_recorded(cli_session *session, const json_t *record, char *text, size_t size)
{
    armilla_options *fit = settings_fit(session), usual;
    armilla_status status = ARMILLA_OK;
    armilla_options_default(&usual);
    for (const armilla_option *row = armilla_option_table(); row->name && status == ARMILLA_OK;
         row = armilla_option_next(row)) {
        const char *value = json_string_value(json_object_get(record, row->name));
        if (!value || !is_open(session, row)) continue;
        const bool off = row->kind == ARMILLA_OPTION_FLAG && strcmp(value, "yes") != 0;
        if (off) continue;
        status = armilla_option_set(session->context, row, fit, row->kind == ARMILLA_OPTION_FLAG ? NULL : value);
        if (status == ARMILLA_OK) tell(row, &usual, fit, text, size);
    }
    return status;
}

armilla_status start_take_options(cli_session *session, start_file *start)
{
    const char *path = settings_fit(session)->start;
    bool model = false;
    if (!start_is_file(session)) return ARMILLA_OK;
    armilla_status status = start_check(session);
    if (status == ARMILLA_OK) status = armilla_model_recognize(session->context, path, &model);
    if (status != ARMILLA_OK || !model) return status;
    if ((status = armilla_model_open(session->context, path, &start->model)) != ARMILLA_OK) return status;
    start->options = json_loads(armilla_model_options(start->model), 0, NULL);
    if ((status = reading_recall(session, start->model)) != ARMILLA_OK) return status;
    if (!start->options) return fail(session, ARMILLA_NO_MEMORY, "%s: out of memory for its options", path);
    return take_recorded(session, start->options, start->taken, sizeof start->taken);
}

void start_report(cli_session *session, const start_file *start)
{
    char name[4096];
    if (*start->taken)
        message_line(&session->messages, "start     %s, with its%s",
                     message_quote(settings_fit(session)->start, name, sizeof name), start->taken);
}
