/* armilla reconstruct: UV as an array, block by block, so that it may be larger than memory. */
#include "outputs.h"
#include "reading.h"
#include "signals.h"

#include <inttypes.h>
#include <stdlib.h>

enum { BLOCK_BYTES = 16 << 20 };

typedef struct reconstruct_settings {
    cli_settings common;
    const char *samples;
} reconstruct_settings;

static const armilla_option options[] = {
    OPTION_OUT("X.npy", "write the array there (required)"),
    {OPTION("samples", WORD, reconstruct_settings, samples), .preset = "rows", .choice = samples_choice,
     .value = "WHERE", .help = "what a sample is in the array: rows gives n x m, columns m x n"},
    OPTION_MEMORY,
    OPTION_QUIET,
    OPTION_FORCE,
    OPTION_END,
};

static output_array array_of(const cli_session *session, const armilla_model_summary *summary)
{
    return (output_array){summary->precision, summary->n, summary->m,
                          samples_are_columns(((const reconstruct_settings *)session->settings)->samples)};
}

static armilla_status write_blocks(cli_session *session, const armilla_model *model,
                                   const armilla_model_summary *summary, armilla_output *output)
{
    const size_t sample = (size_t)summary->m * armilla_type_size(summary->precision);
    const int64_t fitting = sample < BLOCK_BYTES ? (int64_t)(BLOCK_BYTES / sample) : 1;
    const int64_t width = fitting < summary->n ? fitting : summary->n;
    void *block = NULL;
    armilla_status status = armilla_take(session->context, width, sample, &block);
    for (int64_t first = 0; first < summary->n && status == ARMILLA_OK && !signals_exit(); first += width) {
        const int64_t count = summary->n - first < width ? summary->n - first : width;
        status = armilla_model_reconstruct(session->context, model, first, count, block);
        if (status == ARMILLA_OK) status = armilla_output_write(output, block, (size_t)count * sample);
    }
    armilla_release(session->context, block);
    return status;
}

static const char *name_of(const void *source, armilla_naming kind, int64_t index)
{
    return armilla_model_name(source, kind, index);
}

/* With names all of it has to be there at once. */
static armilla_status write_table(cli_session *session, const armilla_model *model,
                                  const armilla_model_summary *summary)
{
    const output_names names = {name_of, model, NULL};
    const output_array array = array_of(session, summary);
    void *all = NULL;
    armilla_status status =
        armilla_take(session->context, summary->n, (size_t)summary->m * armilla_type_size(summary->precision), &all);
    if (status == ARMILLA_OK) status = armilla_model_reconstruct(session->context, model, 0, summary->n, all);
    if (status == ARMILLA_OK) status = outputs_write_table(session, &array, all, &names);
    armilla_release(session->context, all);
    return status;
}

static armilla_status write_array(cli_session *session, const armilla_model *model,
                                  const armilla_model_summary *summary)
{
    const output_array array = array_of(session, summary);
    armilla_output *output = NULL;
    armilla_status status = outputs_begin_array(session, &array, &output);
    if (status == ARMILLA_OK) status = write_blocks(session, model, summary, output);
    if (status == ARMILLA_OK) status = outputs_finish(session, output);
    armilla_output_free(output);
    return status;
}

static armilla_status run(cli_session *session)
{
    armilla_model *model = NULL;
    armilla_model_summary summary;
    armilla_status status = outputs_require(session, "reconstruct", "X.npy");
    if (status == ARMILLA_OK) status = open_model(session, session->settings->operands[0], &model);
    if (status != ARMILLA_OK) goto done;
    armilla_model_summarize(model, &summary);
    status = outputs_by_format(session) ? write_table(session, model, &summary) : write_array(session, model, &summary);
    if (status == ARMILLA_OK && !session->exit)
        message_line(&session->messages, "written   %s: %" PRId64 " samples of %" PRId64 " features, %s",
                     session->settings->out, summary.n, summary.m, armilla_type_word(summary.precision));
done:
    armilla_model_free(model);
    return status;
}

const cli_command command_reconstruct = {
    .name = "reconstruct",
    .synopsis = "MODEL --out X.npy [options]",
    .meaning = "the data as the model sees them: UV, with centring, scale, tf-idf and log1p undone",
    .operands = {"MODEL"},
    .required = 1,
    .settings_size = sizeof(reconstruct_settings),
    .options = options,
    .notes = "Samples that were scaled to unit length by --normalize l2 stay so: their lengths are not kept.\n"
             "An --out that ends in .csv or another format that is written has the names of features and samples.\n\n"
             "example:\n"
             "  armilla reconstruct model.npz --out approximation.npy\n",
    .run = run,
};
