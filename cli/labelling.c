/* Labels of samples: one per line, or beside the names of the samples. */
#include "labelling.h"

#include "tops.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static bool is_table(const char *path)
{
    return path && outputs_ending(path, ".csv");
}

void labelling_say_missing(cli_session *session, int64_t missing, int64_t count)
{
    if (missing > 0)
        message_line(&session->messages,
                     "labels    %" PRId64 " of %" PRId64
                     " are missing (empty, nan, NA or the like): one class, " LABEL_MISSING,
                     missing, count);
}

output_path labelling_output(const cli_session *session)
{
    const char *path = session->settings->out;
    return (output_path){"--out", path, is_table(path) ? ".csv" : ".txt", NULL};
}

static armilla_status write_row(armilla_output *output, const cli_labelled *labelled, int64_t j, bool table)
{
    if (!table) return armilla_output_print(output, "%" PRId64 "\n", labelled->labels[j]);
    char buffer[TOP_NAME];
    const char *name = top_name(labelled->model, labelled->X, ARMILLA_SAMPLE_NAMES, j, buffer);
    const armilla_status status = armilla_output_field(output, name);
    return status == ARMILLA_OK ? armilla_output_print(output, ",%" PRId64 "\n", labelled->labels[j]) : status;
}

bool labelling_spares(const cli_session *session, bool named)
{
    const cli_settings *settings = session->settings;
    return !settings->out && !settings->json && !settings->quiet && !named && isatty(STDOUT_FILENO);
}

armilla_status labelling_write(cli_session *session, const cli_labelled *labelled)
{
    const cli_settings *settings = session->settings;
    const bool table = labelled->named || is_table(settings->out);
    const bool spared = labelled->summarized && labelling_spares(session, labelled->named);
    const bool printed = !settings->out && !settings->json && !spared;
    armilla_output *output = NULL;
    message_erase(&session->messages); /* standard output may be the same terminal */
    for (int64_t j = 0; j < labelled->count && printed && !table; j++) printf("%" PRId64 "\n", labelled->labels[j]);
    if (!settings->out && !(printed && table)) return ARMILLA_OK;
    armilla_status status =
        armilla_output_new(session->context, printed ? "/dev/stdout" : settings->out, settings->force, &output);
    if (status == ARMILLA_OK && table) status = armilla_output_print(output, "sample,cluster\n");
    for (int64_t j = 0; j < labelled->count && status == ARMILLA_OK; j++)
        status = write_row(output, labelled, j, table);
    if (status == ARMILLA_OK) status = armilla_output_commit(output);
    armilla_output_free(output);
    return status;
}
