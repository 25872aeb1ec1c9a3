/* Opening data files as the options say. */
#include "reading.h"

#include "announcing.h"
#include "external.h"
#include "signals.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

armilla_status match_features(cli_session *session, const armilla_model *model, const char *path, armilla_data **data)
{
    const char *missing = reading_of(session)->missing_features;
    const bool fill = missing && strcmp(missing, "zero") == 0;
    armilla_data *matched = NULL;
    const armilla_status status =
        about(session, path, armilla_model_match(session->context, model, *data, fill, &matched));
    if (!matched) return status;
    session->unmatched = *data;
    *data = matched;
    return status;
}

/* The session keeps what was opened, and *data become what is kept of it. */
static armilla_status choose(cli_session *session, const char *path, armilla_data **data)
{
    const armilla_selection *keep = &reading_of(session)->keep;
    armilla_data *kept = NULL;
    if (!keep->labels && !keep->samples && !keep->features) return ARMILLA_OK;
    const armilla_status status = about(session, path, armilla_data_select(session->context, *data, keep, &kept));
    armilla_data_free(session->source);
    session->source = *data;
    *data = kept;
    return status;
}

static armilla_read_options make_options(const cli_session *session, const reading_settings *reading)
{
    armilla_read_options options = reading->file;
    options.size = sizeof options;
    options.sample_columns = samples_are_columns(reading->samples);
    options.threads = (int)session->settings->threads;
    return options;
}

/* The library knows the files that another program reads, and refuses them; a pipe is then used up. No column of obs in
 * an .h5ad counts as a feature, so that labels are searched for only on request. */
static armilla_status open_any(cli_session *session, const char *path, armilla_data **data)
{
    reading_settings *reading = reading_of(session);
    const char *label_column = reading->file.label_column;
    armilla_read_options options = make_options(session, reading), recalled = {.size = 0};
    armilla_read_found found = {.size = sizeof found};
    struct stat facts;
    options.found = &found;
    if (session->recalled) {
        recalled = make_options(session, &session->recalled->reading);
        recalled.columns = session->recalled->columns;
        options.recalled = &recalled;
    }
    armilla_status status = armilla_data_open(session->context, path, &options, data);
    session->format = found.format;
    session->columns = found.columns;
    const bool external = status == ARMILLA_NOT_BUILT && stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
    if (status == ARMILLA_OK || external) reading_adopt(session);
    if (!external) return status == ARMILLA_OK ? status : reading_blame(session, status);
    reading->file.label_column = label_column;
    options = make_options(session, reading);
    return external_open(session, path, &options, data);
}

armilla_status open_data(cli_session *session, const char *path, armilla_data **data, double *seconds)
{
    const double begun = now();
    signals_reading(path);
    announce_reading(session, path);
    session->messages.reading = path;
    armilla_status status = open_any(session, path, data);
    session->messages.reading = NULL;
    message_erase(&session->messages);
    if (status == ARMILLA_OK) status = choose(session, path, data);
    if (status == ARMILLA_OK) announce_data(session, *data);
    if (seconds) *seconds = now() - begun;
    return status;
}

armilla_status open_for_model(cli_session *session, const armilla_model *model, const char *path, armilla_data **data)
{
    armilla_status status = reading_recall(session, model);
    if (status == ARMILLA_OK) status = open_data(session, path, data, NULL);
    return status == ARMILLA_OK ? match_features(session, model, path, data) : status;
}

armilla_status open_model_and_data(cli_session *session, armilla_model **model, armilla_model_summary *summary,
                                   armilla_data **data)
{
    const char *const *operands = session->settings->operands;
    const armilla_status status = open_model(session, operands[0], model);
    if (status != ARMILLA_OK) return status;
    armilla_model_summarize(*model, summary);
    session->rank = summary->rank;
    return open_for_model(session, *model, operands[1], data);
}

armilla_status open_table(cli_session *session, const char *path, armilla_table_facts **facts)
{
    const armilla_read_options options = make_options(session, reading_of(session));
    return armilla_table_facts_open(session->context, path, &options, facts);
}
