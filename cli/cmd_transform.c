/* armilla transform: the codes of samples under a model, in the orientation of the input. */
#include "announcing.h"
#include "outputs.h"
#include "reading.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const armilla_option options[] = {
    OPTION_OUT("CODES.npy", "write the codes there (required)"),
    OPTION_MISSING_FEATURES(reader_settings),
    OPTION_THREADS,
    OPTION_QUIET,
    OPTION_FORCE,
    OPTION_END,
};

static const char *name_of(const void *source, armilla_naming kind, int64_t index)
{
    /* The samples' names and labels; features are the data's, not the codes'. */
    return kind == ARMILLA_FEATURE_NAMES ? NULL : armilla_data_name(source, kind, index);
}

/* The codes, which lie as the data do. */
static output_array array_of(const cli_session *session, const armilla_model_summary *model, const armilla_data *X)
{
    return (output_array){model->precision, armilla_data_samples(X), model->rank, samples_in_columns(session)};
}

/* Bytes of a code. */
static size_t code_bytes(const armilla_model_summary *model)
{
    return (size_t)model->rank * armilla_type_size(model->precision);
}

static armilla_status put(void *output, const void *bytes, size_t count)
{
    return armilla_output_write(output, bytes, count);
}

/* In pieces, where several ranks have the codes. */
static armilla_status write_array(cli_session *session, const armilla_model_summary *model, const armilla_data *X,
                                  const void *codes)
{
    const output_array array = array_of(session, model, X);
    armilla_output *output = NULL;
    armilla_status status = outputs_begin_array(session, &array, &output);
    status = session->ranks ? armilla_context_agree(session->context, status, NULL, NULL) : status;
    if (status == ARMILLA_OK) status = armilla_columns_put(session->context, X, code_bytes(model), codes, put, output);
    if (status == ARMILLA_OK) status = outputs_finish(session, output);
    armilla_output_free(output);
    return status;
}

static armilla_status put_behind(void *place, const void *bytes, size_t count)
{
    char **next = place;
    memcpy(*next, bytes, count);
    *next += count;
    return ARMILLA_OK;
}

/* A format with names wants all codes at once: the first rank gets them. */
static armilla_status write_table(cli_session *session, const armilla_model_summary *model, const armilla_data *X,
                                  const void *codes)
{
    const output_names names = {name_of, X, "code"};
    const output_array array = array_of(session, model, X);
    char *all = NULL;
    if (!session->ranks) return outputs_write_table(session, &array, codes, &names);
    armilla_status status =
        session->silent ? ARMILLA_OK : armilla_take(session->context, array.samples, code_bytes(model), &all);
    status = armilla_context_agree(session->context, status, NULL, NULL);
    char *next = all;
    if (status == ARMILLA_OK)
        status = armilla_columns_put(session->context, X, code_bytes(model), codes, put_behind, &next);
    if (status == ARMILLA_OK && !session->silent) status = outputs_write_table(session, &array, all, &names);
    armilla_release(session->context, all);
    return status;
}

static armilla_status write_codes(cli_session *session, const armilla_model_summary *model, const armilla_data *X,
                                  const void *codes)
{
    const int64_t n = armilla_data_samples(X);
    const armilla_status status = (outputs_by_format(session) ? write_table : write_array)(session, model, X, codes);
    if (status == ARMILLA_OK && !session->exit)
        message_line(&session->messages, "written   %s: codes of %" PRId64 " sample%s, %" PRId64 " number%s each, %s",
                     session->settings->out, n, n == 1 ? "" : "s", model->rank, model->rank == 1 ? "" : "s",
                     armilla_type_word(model->precision));
    return status;
}

static void expect(cli_session *session, const cli_shape *shape)
{
    armilla_workload own = announce_on(session, ARMILLA_WORK_TRANSFORM, shape);
    own.rank = session->rank;
    announce(session, &own);
    announce_numbers(session, 8.0 * (double)(shape->samples * session->rank));
}

static armilla_status run(cli_session *session)
{
    const cli_settings *settings = session->settings;
    armilla_model *model = NULL;
    armilla_data *X = NULL;
    void *codes = NULL;
    armilla_model_summary summary;
    armilla_status status = outputs_require(session, "transform", "CODES.npy");
    if (status == ARMILLA_OK) status = open_model_and_data(session, &model, &summary, &X);
    if (status != ARMILLA_OK) goto done;
    status = armilla_columns_take(session->context, X, code_bytes(&summary), &codes);
    if (status == ARMILLA_OK)
        status = about(session, settings->operands[1],
                       armilla_model_transform(session->context, model, X, (int)settings->threads, codes));
    if (status == ARMILLA_OK) status = write_codes(session, &summary, X, codes);
done:
    armilla_release(session->context, codes);
    armilla_data_free(X);
    armilla_model_free(model);
    return status;
}

const cli_command command_transform = {
    .name = "transform",
    .synopsis = "MODEL DATA --out CODES.npy [options]",
    .meaning = "codes of new samples under a model",
    .operands = {"MODEL", "DATA"},
    .required = 2,
    .settings_size = sizeof(reader_settings),
    .options = options,
    .groups = {{&group_reading, offsetof(reader_settings, reading)}},
    .notes =
        "The codes are n x r for samples in rows and r x n for samples in columns, in the model's precision. An\n"
        "--out that ends in .csv, .tsv, .npz or another format that is written has the names and labels of the\n"
        "samples beside the codes. Features are matched by name where the model and DATA have names: they may\n"
        "stand in any order, and others than the model's are left out. Where the model was fitted to some of the\n"
        "features, DATA may have all of them; a choice of samples is not made again unless it is asked for. A file of\n"
        "the format of the fit's is read by the same options (--label-column, --separator, --samples, ...) but\n"
        "for those that are given.\n\n"
        "examples:\n"
        "  armilla transform model.npz new.csv --out codes.npy\n"
        "  armilla transform model.npz new.csv --out codes.csv --keep-samples 1-100\n",
    .together = true,
    .run = run,
    .expect = expect,
};
