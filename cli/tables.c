/* Tables with names: what a command made, as a data object, written as any data are. */
#include "outputs.h"
#include "signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool outputs_by_format(const cli_session *session)
{
    const char *path = session->settings->out;
    if (outputs_ending(path, ".npy")) return false;
    return armilla_data_write_check(session->context, path, NULL) == ARMILLA_OK;
}

/* "code0", "code1", ... one after the other. */
static armilla_status number_features(cli_session *session, const char *stem, int64_t count, size_t size, char **names)
{
    char *made = NULL;
    const armilla_status status = armilla_take(session->context, count, size, &made);
    for (int64_t i = 0; status == ARMILLA_OK && i < count; i++)
        snprintf(made + (size_t)i * size, size, "%s%lld", stem, (long long)i);
    *names = made;
    return status;
}

static armilla_status set_names(cli_session *session, armilla_data *data, armilla_naming kind,
                                const output_names *names)
{
    enum { NAME_BYTES = 48 };
    const bool features = kind == ARMILLA_FEATURE_NAMES;
    const int64_t count = features ? armilla_data_features(data) : armilla_data_samples(data);
    const bool named = names->name && names->name(names->source, kind, 0);
    char *numbered = NULL;
    const char **texts = NULL;
    if (!named && !(features && names->stem)) return ARMILLA_OK;
    armilla_status status = armilla_take(session->context, count, sizeof *texts, &texts);
    if (status == ARMILLA_OK && !named) status = number_features(session, names->stem, count, NAME_BYTES, &numbered);
    for (int64_t i = 0; status == ARMILLA_OK && i < count; i++)
        texts[i] = named ? names->name(names->source, kind, i) : numbered + (size_t)i * NAME_BYTES;
    if (status == ARMILLA_OK) status = armilla_data_set_names(data, kind, texts, count);
    armilla_release(session->context, numbered);
    armilla_release(session->context, texts);
    return status;
}

armilla_status outputs_write_data(cli_session *session, const armilla_data *data, const char *path,
                                  const armilla_write_options *options)
{
    signals_defer();
    const armilla_status status = armilla_data_write(session->context, data, path, options);
    session->exit = signals_exit();
    return session->exit && status == ARMILLA_STOPPED ? ARMILLA_OK : status;
}

armilla_status outputs_write_table(cli_session *session, const output_array *array, const void *values,
                                   const output_names *names)
{
    const armilla_write_options options = {.size = sizeof(armilla_write_options),
                                           .sample_columns = array->sample_columns,
                                           .overwrite = session->settings->force};
    armilla_data *data = NULL;
    armilla_status status = armilla_data_wrap_dense(session->context, array->type, values, array->width, array->samples,
                                                    array->width, &data);
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT && status == ARMILLA_OK; kind++)
        status = set_names(session, data, (armilla_naming)kind, names);
    if (status == ARMILLA_OK) status = outputs_write_data(session, data, session->settings->out, &options);
    armilla_data_free(data);
    return status;
}
