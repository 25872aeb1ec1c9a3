/* armilla predict: clusters of new samples, by those that a model keeps. */
#include "json.h"
#include "labelling.h"
#include "reading.h"
#include "signals.h"

#include <inttypes.h>

typedef struct predict_settings {
    cli_settings common;
    reading_settings reading;
    bool names;
} predict_settings;

static const armilla_option options[] = {
    OPTION_OUT("LABELS.csv",
               "write the labels there, one per line, or where it ends in .csv beside the names of the samples; "
               "otherwise to standard output"),
    OPTION_NAMES(predict_settings),
    OPTION_MISSING_FEATURES(predict_settings),
    OPTION_THREADS,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_FORCE,
    OPTION_END,
};

/* What is at work in one run. */
typedef struct predicting {
    armilla_model *model;
    armilla_data *X;
    int64_t *labels, *sizes;
    int64_t n, k;
} predicting;

static armilla_status open_inputs(cli_session *session, predicting *p)
{
    const cli_settings *settings = session->settings;
    armilla_status status = open_model(session, settings->operands[0], &p->model);
    if (status != ARMILLA_OK) return status;
    if (!armilla_model_clusters(p->model, &p->k))
        return fail(session, ARMILLA_BAD_DATA,
                    "%s: keeps no clusters; armilla cluster DATA --k K --model-out MODEL.npz makes a model that does",
                    settings->operands[0]);
    status = open_for_model(session, p->model, settings->operands[1], &p->X);
    if (status == ARMILLA_OK) p->n = armilla_data_samples(p->X);
    return status;
}

static armilla_status predict(cli_session *session, predicting *p)
{
    const cli_settings *settings = session->settings;
    armilla_context *context = session->context;
    armilla_status status = armilla_take(context, p->n, sizeof *p->labels, &p->labels);
    if (status == ARMILLA_OK) status = armilla_take(context, p->k, sizeof *p->sizes, &p->sizes);
    if (status == ARMILLA_OK)
        status = about(session, settings->operands[1],
                       armilla_model_predict(context, p->model, p->X, (int)settings->threads, p->labels));
    for (int64_t j = 0; j < p->n && status == ARMILLA_OK; j++) p->sizes[p->labels[j]]++;
    return status;
}

static armilla_status print_json(cli_session *session, const predicting *p)
{
    json_t *object = json_object();
    json_put_count(object, "k", p->k);
    json_put_count(object, "n", p->n);
    json_put_counts(object, "sizes", p->sizes, p->k);
    json_put_counts(object, "labels", session->settings->out ? NULL : p->labels, p->n);
    json_put_text(object, "out", session->settings->out);
    return json_print(session, object);
}

static armilla_status run(cli_session *session)
{
    const predict_settings *settings = (const predict_settings *)session->settings;
    const output_path output = labelling_output(session);
    predicting p = {.model = NULL};
    armilla_status status = outputs_check(session, &output, 1);
    if (status == ARMILLA_OK) status = open_inputs(session, &p);
    if (status == ARMILLA_OK) status = predict(session, &p);
    if (status == ARMILLA_OK)
        status = labelling_write(session,
                                 &(cli_labelled){.labels = p.labels, .count = p.n, .X = p.X, .named = settings->names});
    if (status == ARMILLA_OK && session->settings->out)
        message_line(&session->messages, "written   %s: clusters of %" PRId64 " sample%s", session->settings->out, p.n,
                     p.n == 1 ? "" : "s");
    if (status == ARMILLA_OK && session->settings->json) status = print_json(session, &p);
    armilla_release(session->context, p.sizes);
    armilla_release(session->context, p.labels);
    armilla_data_free(p.X);
    armilla_model_free(p.model);
    return status;
}

const cli_command command_predict = {
    .name = "predict",
    .synopsis = "MODEL NEW-DATA --out LABELS.csv [options]",
    .meaning = "clusters of new samples, by a model that armilla cluster --model-out kept",
    .operands = {"MODEL", "NEW-DATA"},
    .required = 2,
    .settings_size = sizeof(predict_settings),
    .options = options,
    .groups = {{&group_reading, offsetof(predict_settings, reading)}},
    .notes =
        "The samples that the clusters were made of get their labels back. Other samples belong to the nearest centre\n"
        "(--method kmeans: by angle, euclidean: by distance), with argmax to the atom that contributes most, and with\n"
        "any other method where most of the 15 nearest samples belong. Features are matched by name where the model\n"
        "and the data have names.\n\n"
        "examples:\n"
        "  armilla cluster cells.h5ad --k 12 --model-out cells.npz --out clusters.csv\n"
        "  armilla predict cells.npz new-cells.h5ad --out new-clusters.csv\n",
    .run = run,
};
