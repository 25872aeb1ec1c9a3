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

static armilla_status name_samples(cli_session *session, const armilla_model *model, const armilla_data *X,
                                   armilla_data *carrier)
{
    const int64_t n = armilla_data_samples(carrier);
    const char **names = NULL;
    if (n == 0 ||
        !(X ? armilla_data_name(X, ARMILLA_SAMPLE_NAMES, 0) : armilla_model_name(model, ARMILLA_SAMPLE_NAMES, 0)))
        return ARMILLA_OK;
    armilla_status status = armilla_take(session->context, n, sizeof *names, &names);
    for (int64_t j = 0; j < n && status == ARMILLA_OK; j++)
        names[j] =
            X ? armilla_data_name(X, ARMILLA_SAMPLE_NAMES, j) : armilla_model_name(model, ARMILLA_SAMPLE_NAMES, j);
    if (status == ARMILLA_OK) status = armilla_data_set_names(carrier, ARMILLA_SAMPLE_NAMES, names, n);
    armilla_release(session->context, names);
    return status;
}

armilla_status labelling_open(cli_session *session, const char *path, const armilla_model *model, const armilla_data *X,
                              armilla_data **carrier)
{
    static const unsigned char nothing = 0; /* of the carrier only the texts are used */
    armilla_model_summary summary = {.n = 0};
    armilla_data *made = NULL;
    if (!X) armilla_model_summarize(model, &summary);
    const int64_t m = X ? armilla_data_features(X) : summary.m, n = X ? armilla_data_samples(X) : summary.n;
    armilla_status status = armilla_data_wrap_dense(session->context, ARMILLA_U8, &nothing, m, n, m, &made);
    if (status == ARMILLA_OK) status = name_samples(session, model, X, made);
    if (status == ARMILLA_OK) status = armilla_data_read_labels(session->context, made, path);
    if (status == ARMILLA_OK)
        *carrier = made;
    else
        armilla_data_free(made);
    return status;
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
