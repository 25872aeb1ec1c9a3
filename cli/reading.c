/* Opening data files as the options say. */
#include "reading.h"

#include "external.h"

#include <string.h>

const armilla_option reading_options[] = {
    OPTION_FORMAT,
    OPTION_PATH("array", array, "NAME", "which array, of a file that holds several"),
    OPTION_PATH("labels", labels, "FILE", "the samples' labels: a text file with one per line, or IDX"),
    OPTION_PATH("keep-label", keep.labels, "LIST", "only samples with these labels, apart by commas"),
    OPTION_PATH(
        "keep-samples", keep.samples, "LIST|FILE",
        "only these samples: names, numbers from 1 or ranges such as 1-100, apart by commas, or a file with one "
        "per line"),
    OPTION_PATH("keep-features", keep.features, "LIST|FILE",
                "only these features, given alike; a model remembers them and picks them out of other data"),
    {.name = "memory",
     .kind = ARMILLA_OPTION_SIZE,
     .offset = offsetof(cli_settings, fit.memory),
     .value = "LIMIT",
     .help = "most memory for data, codes and state, such as 512M or 2G; what does not fit is refused"},
    OPTION_END,
};

/* The index-th of the formats whose use has the word in it. */
static const char *table_choice(const char *use, size_t index)
{
    armilla_table_row row;
    for (size_t i = 0; armilla_table_get(ARMILLA_TABLE_FORMATS, i, &row); i++)
        if (strstr(row.use, use) && index-- == 0) return row.name;
    return NULL;
}

const char *written_choice(size_t index)
{
    return table_choice("written", index);
}

const char *format_choice(size_t index)
{
    return table_choice("read", index);
}

const char *samples_choice(size_t index)
{
    static const char *const choices[] = {"rows", "columns"};
    return index < sizeof choices / sizeof *choices ? choices[index] : NULL;
}

bool samples_in_columns(const cli_session *session)
{
    return session->settings.samples && strcmp(session->settings.samples, "columns") == 0;
}

/* The session keeps what was opened, and *data become what is kept of it. */
static armilla_status choose(cli_session *session, const char *path, armilla_data **data)
{
    const armilla_selection *keep = &session->settings.keep;
    armilla_data *kept = NULL;
    if (!keep->labels && !keep->samples && !keep->features) return ARMILLA_OK;
    const armilla_status status = about(session, path, armilla_data_select(session->context, *data, keep, &kept));
    armilla_data_free(session->source);
    session->source = *data;
    *data = kept;
    return status;
}

/* Read by another program: unless the format is named otherwise. */
static bool is_external(const char *format, const char *path)
{
    if (format) return strcmp(format, "hdf5") == 0 || strcmp(format, "mat") == 0;
    return external_recognize(path);
}

armilla_status open_data(cli_session *session, const char *path, armilla_data **data, double *seconds)
{
    const cli_settings *settings = &session->settings;
    const armilla_read_options options = {
        .format = settings->format,
        .sample_columns = samples_in_columns(session),
        .array = settings->array,
        .labels = settings->labels,
        .threads = (int)settings->fit.threads,
        .memory = settings->fit.memory,
    };
    const double begun = now();
    armilla_status status = is_external(settings->format, path)
                                ? external_open(session, path, &options, data)
                                : armilla_data_open(session->context, path, &options, data);
    if (status == ARMILLA_OK) status = choose(session, path, data);
    if (seconds) *seconds = now() - begun;
    return status;
}
