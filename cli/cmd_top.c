/* armilla top: what atoms and clusters are about. */
#include "describing.h"
#include "outputs.h"
#include "reading.h"

#include <inttypes.h>

typedef struct top_settings {
    cli_settings common;
    reading_settings reading;
    const char *data, *clusters, *atoms, *only_clusters;
    int64_t count;
} top_settings;

static const armilla_option options[] = {
    OPTION_PATH("data", top_settings, data, "DATA",
                "samples to list, and to compare inside and outside of clusters; otherwise those "
                "of the fit as the model rebuilds them"),
    OPTION_PATH("clusters", top_settings, clusters, "LABELS",
                "labels of the samples, one per line or as armilla cluster writes them: "
                "the clusters that are described beside the atoms; otherwise those that the model keeps, if it does"),
    OPTION_PATH("atoms", top_settings, atoms, "LIST", "only these atoms: numbers from 0, separated by commas; or none"),
    OPTION_PATH("only-clusters", top_settings, only_clusters, "LIST",
                "only clusters with these labels, separated by commas; those without one are (missing)"),
    {OPTION("count", INTEGER, top_settings, count), .preset = "10", .low = 1, .high = 1e6, .value = "N",
     .help = "how many features and samples of each"},
    OPTION_OUT("FILE.csv", "write a table there, a line for each feature and sample"),
    OPTION_MISSING_FEATURES(top_settings),
    OPTION_THREADS,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_FORCE,
    OPTION_END,
};

static const top_settings *settings_of(const cli_session *session)
{
    return (const top_settings *)session->settings;
}

/* Names from files of their own become the model's where there are no data to have them. */
static armilla_status open_named_model(describing *d)
{
    static const char *const of_models[] = {"feature-names", "sample-names", NULL};
    cli_session *session = d->session;
    const armilla_read_options *file = &reading_of(session)->file;
    const char *const names[] = {file->feature_names, file->sample_names};
    const char *path = session->settings->operands[0];
    armilla_status status = reading_refuse(session, path, of_models, ", or give --data DATA");
    if (status == ARMILLA_OK) status = open_model(session, path, &d->model);
    for (int kind = 0; kind <= ARMILLA_SAMPLE_NAMES && status == ARMILLA_OK; kind++)
        if (names[kind])
            status = armilla_model_read_names(session->context, d->model, (armilla_naming)kind, names[kind]);
    return status;
}

static armilla_status open_with_data(describing *d, const char *data)
{
    const armilla_status status = open_model(d->session, d->session->settings->operands[0], &d->model);
    return status == ARMILLA_OK ? open_for_model(d->session, d->model, data, &d->X) : status;
}

/* Clusters are those of a file, or those that the model keeps. */
static armilla_status open_inputs(describing *d)
{
    const top_settings *settings = settings_of(d->session);
    armilla_status status = settings->data ? open_with_data(d, settings->data) : open_named_model(d);
    if (status != ARMILLA_OK) return status;
    if (settings->clusters || armilla_model_clusters(d->model, NULL))
        return describing_open_clusters(d, settings->clusters);
    if (!settings->only_clusters) return ARMILLA_OK;
    return fail(d->session, ARMILLA_BAD_ARGUMENT, "--only-clusters has no effect without --clusters LABELS");
}

static armilla_status check_lists(const describing *d)
{
    armilla_model_summary summary;
    armilla_model_summarize(d->model, &summary);
    const armilla_status status = describing_check(d, TOP_ATOMS, summary.rank);
    return status == ARMILLA_OK && d->first ? describing_check(d, TOP_CLUSTERS, d->labels.classes) : status;
}

static armilla_status describe(describing *d)
{
    const top_settings *settings = settings_of(d->session);
    armilla_context *context = d->session->context;
    armilla_status status =
        armilla_top_atoms(context, d->model, d->X, settings->count, (int)settings->common.threads, &d->top[TOP_ATOMS]);
    if (status == ARMILLA_OK && d->first)
        status = armilla_top_clusters(context, d->model, d->X, &d->labels, settings->count, &d->top[TOP_CLUSTERS]);
    return status;
}

static void hint(const describing *d)
{
    const int64_t zeros = describing_zeros(d);
    if (zeros > 0)
        message_line(&d->session->messages,
                     "zeros     %" PRId64 " of the samples are 0 and have no angle: they are neither typical nor odd",
                     zeros);
    const bool named =
        armilla_model_name(d->model, ARMILLA_FEATURE_NAMES, 0) || armilla_data_name(d->X, ARMILLA_FEATURE_NAMES, 0);
    if (!named)
        message_line(&d->session->messages,
                     "names     the features have none and are numbered from 1; --feature-names FILE gives names");
}

static armilla_status show(const describing *d)
{
    const cli_settings *settings = d->session->settings;
    armilla_status status = ARMILLA_OK;
    hint(d);
    if (settings->out) status = describing_write(d);
    if (status == ARMILLA_OK && settings->json) status = describing_print_json(d);
    if (status == ARMILLA_OK && !settings->json && !settings->out) describing_print(d);
    return status;
}

static armilla_status run(cli_session *session)
{
    const top_settings *settings = settings_of(session);
    const output_path output = {"--out", settings->common.out, ".csv", NULL};
    describing d = {.session = session, .listed = {settings->atoms, settings->only_clusters}};
    armilla_status status = outputs_check(session, &output, 1);
    if (status == ARMILLA_OK) status = open_inputs(&d);
    if (status == ARMILLA_OK) status = check_lists(&d);
    if (status == ARMILLA_OK)
        status = about(session, settings->data ? settings->data : settings->common.operands[0], describe(&d));
    if (status == ARMILLA_OK) status = show(&d);
    describing_free(&d);
    return status;
}

const cli_command command_top = {
    .name = "top",
    .synopsis = "MODEL [--data DATA] [--clusters LABELS] [options]",
    .meaning = "what atoms and clusters are about: their features and samples",
    .operands = {"MODEL"},
    .required = 1,
    .settings_size = sizeof(top_settings),
    .options = options,
    .groups = {{&group_reading, offsetof(top_settings, reading)}},
    .input = offsetof(top_settings, data),
    .notes =
        "Of each atom: its features by weight, those that it has more of than other atoms do (by weight times lift,\n"
        "which is the feature's part of the atom over the mean of its parts of all atoms), and the samples at the\n"
        "smallest angles. Of each cluster: size, coherence (the mean cosine of its samples with their mean direction),\n"
        "the features that set it apart, its typical and its odd samples. With --data features are compared as the\n"
        "model prepares them: means inside and outside, the difference in standard deviations (d), and for counts the\n"
        "p of a rank test, corrected for all features. Angles are in radians in JSON and tables.\n\n"
        "examples:\n"
        "  armilla top model.npz --count 5\n"
        "  armilla top model.npz --data counts.mtx --clusters clusters.txt --json\n"
        "  armilla top model.npz --data cells.h5ad --atoms none    # the clusters that the model keeps, alone\n",
    .run = run,
};
