/* armilla convert: data from one format to another, to the last bit. */
#include "outputs.h"
#include "reading.h"

#include <inttypes.h>

typedef struct convert_settings {
    cli_settings common;
    reading_settings reading;
    const char *to, *to_samples;
} convert_settings;

static const armilla_option options[] = {
    {OPTION("to", WORD, convert_settings, to), .choice = written_choice, .value = "NAME",
     .help = "format of OUT; otherwise by its ending"},
    {OPTION("to-samples", WORD, convert_settings, to_samples), .preset = "rows", .choice = samples_choice,
     .value = "WHERE", .help = "what a sample is in OUT"},
    OPTION_THREADS,
    OPTION_QUIET,
    OPTION_FORCE,
    OPTION_END,
};

static void report(cli_session *session, const armilla_data *X, const char *out)
{
    message_line(&session->messages, "written   %s: %" PRId64 " samples of %" PRId64 " features, %s", out,
                 armilla_data_samples(X), armilla_data_features(X), armilla_data_storage(X));
}

static armilla_status run(cli_session *session)
{
    convert_settings *settings = (convert_settings *)session->settings;
    const char *out = settings->common.operands[1];
    const output_path output = {.option = "OUT", .path = out};
    const armilla_write_options written = {
        .size = sizeof(armilla_write_options),
        .format = settings->to,
        .sample_columns = samples_are_columns(settings->to_samples),
        .overwrite = settings->common.force,
    };
    armilla_data *X = NULL;
    settings->common.operands[1] = NULL; /* it is no input */
    settings->reading.file.spill = out;
    armilla_status status = armilla_data_write_check(session->context, out, &written);
    if (status == ARMILLA_OK) status = outputs_check(session, &output, 1);
    if (status == ARMILLA_OK) status = outputs_choose_temporary(session, out);
    if (status == ARMILLA_OK) status = open_data(session, settings->common.operands[0], &X, NULL);
    if (status != ARMILLA_OK) return status;
    status = outputs_write_data(session, X, out, &written);
    if (status == ARMILLA_OK && !session->exit) report(session, X, out);
    armilla_data_free(X);
    return status;
}

const cli_command command_convert = {
    .name = "convert",
    .synopsis = "IN OUT [options]",
    .meaning = "write data in another format, to the last bit",
    .operands = {"IN", "OUT"},
    .required = 2,
    .writes = true,
    .settings_size = sizeof(convert_settings),
    .options = options,
    .groups = {{&group_reading, offsetof(convert_settings, reading)}},
    .notes =
        "OUT has one sample per row unless --to-samples columns is given; armilla list formats shows what is written.\n"
        "Names of features and samples and labels are kept by npz (arrays feature_names, sample_names, labels) and\n"
        "csv (header, first column, last column); svmlight keeps labels. Text has as many digits as give the numbers\n"
        "back bit for bit in the type that they are held in. Sparse data stay sparse but for csv, idx,\n"
        "fbin and fvecs.\n"
        "Text may be larger than --memory: what does not fit is kept in unnamed temporary files beside OUT.\n\n"
        "examples:\n"
        "  armilla convert counts.npz counts.csv\n"
        "  armilla convert counts.mtx.gz counts.npz --memory 2G\n"
        "  armilla convert images.idx3-ubyte images.npz --labels labels.idx1-ubyte\n",
    .run = run,
};
