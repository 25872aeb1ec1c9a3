/* armilla cluster: clusters of a model's codes; or of data, by a fit whose preparation and rank are chosen where
 * nothing is said, or without one. */
#include "advice.h"
#include "announcing.h"
#include "clustering.h"
#include "fitting.h"
#include "labelling.h"
#include "reading.h"
#include "resuming.h"
#include "scoring.h"
#include "signals.h"
#include "start.h"
#include "tops.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

OPTION_WORDS(static, place_choice, "codes", "data")
OPTION_WORDS(static, preparation_choice, "auto", "none")

static const armilla_option options[] = {
    OPTION_OUT("LABELS.txt",
               "write the labels there, one per line, or where it ends in .csv beside the names of the samples; "
               "otherwise to standard output, unless that is a terminal, which shows a table of the clusters"),
    OPTION_NAMES(cluster_settings),
    OPTION_PATH("model-out", cluster_settings, model_out, "MODEL.npz",
                "write the model there with the clusters in it, for armilla predict"),
    OPTION_PATH("truth", cluster_settings, truth, "FILE",
                "known classes to score against, as armilla score takes them"),
    {OPTION("on", WORD, cluster_settings, on), .preset = "codes", .choice = place_choice, .value = "codes|data",
     .help = "what is clustered: the codes of a fit, or the prepared data themselves"},
    {OPTION("prepare", WORD, cluster_settings, prepare), .preset = "auto", .choice = preparation_choice,
     .value = "auto|none", .help = "auto: by a look at the data, where no option of preparation is given"},
    OPTION_CHECKPOINT(cluster_settings),
    OPTION_CHECKPOINT_EVERY(cluster_settings),
    OPTION_RESUME(cluster_settings),
    OPTION_MISSING_FEATURES(cluster_settings),
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_FORCE,
    OPTION_END,
};

static void set_defaults(cli_settings *settings)
{
    armilla_checkpoint_default(settings_at(settings, offsetof(cluster_settings, checkpoint)));
}

/* The preparation, the rank and the method where they are not given. */
static armilla_status choose(cli_session *session, cli_clustering *work)
{
    cluster_settings *settings = cluster_of(session);
    work->choice = clustering_asked(settings);
    return armilla_cluster_choose(session->context, work->X, &settings->fit, &settings->cluster, &work->choice);
}

static armilla_status fit_first(cli_session *session, cli_clustering *work)
{
    armilla_checkpoint *checkpoint = &cluster_of(session)->checkpoint;
    start_file start = {.model = NULL};
    armilla_status status = start_check(session);
    if (status == ARMILLA_OK) status = start_open(session, &work->X, &start);
    if (status == ARMILLA_OK) status = armilla_fit_check(session->context, work->X, &cluster_of(session)->fit);
    if (status == ARMILLA_OK) status = fitting_run(session, work->X, settings_fit(session), checkpoint, &work->model);
    start_free(session, &start);
    return resuming_about(session, checkpoint, status);
}

/* The classes of --truth, before the work that they score. */
static armilla_status open_truth(cli_session *session, const cli_clustering *work, armilla_labels *truth)
{
    const char *path = cluster_of(session)->truth;
    armilla_data *carrier = NULL;
    if (!path) return ARMILLA_OK;
    armilla_labels_free(session->context, truth);
    armilla_status status = labelling_open(session, path, work->model, work->X, &carrier);
    if (status == ARMILLA_OK) status = armilla_labels_of_data(session->context, carrier, truth);
    armilla_data_free(carrier);
    return status;
}

static armilla_status cluster_data(cli_session *session, cli_clustering *work)
{
    const cluster_settings *settings = cluster_of(session);
    const char *path = settings->common.operands[0];
    armilla_status status = open_data(session, path, &work->X, NULL);
    if (status == ARMILLA_OK) status = armilla_labels_of_data(session->context, work->X, &work->truth);
    if (status == ARMILLA_OK) status = clustering_check_data(session, armilla_data_samples(work->X));
    if (status == ARMILLA_OK) status = open_truth(session, work, &work->truth);
    char doubt[256] = "";
    if (status == ARMILLA_OK) status = advice_orientation(session, work->X, doubt, sizeof doubt);
    if (status == ARMILLA_OK && *doubt) message_log(&session->messages, ARMILLA_LOG_WARNING, doubt);
    const cli_shape shape = status == ARMILLA_OK ? announce_shape(work->X) : (cli_shape){0, 0, 0};
    if (status == ARMILLA_OK) clustering_tell_cost(session, &shape);
    if (status == ARMILLA_OK) status = choose(session, work);
    if (status == ARMILLA_OK) clustering_expect_rest(session, &shape);
    if (status == ARMILLA_OK) status = clustering_check_ranks(session);
    if (status != ARMILLA_OK) return status;
    signals_defer(); /* from here on there is something to tell */
    if (strcmp(settings->on, "data") == 0)
        return about(
            session, path,
            armilla_cluster_data(session->context, work->X, &settings->fit, &settings->cluster, &work->clustering));
    status = fit_first(session, work);
    if (status != ARMILLA_OK) return status;
    return armilla_cluster_fitted(session->context, work->X, work->model, &settings->cluster, &work->clustering);
}

static armilla_status cluster_model(cli_session *session, cli_clustering *work)
{
    armilla_model_summary summary;
    armilla_status status = clustering_refuse_fit(session);
    if (status == ARMILLA_OK)
        status = reading_refuse(session, session->settings->operands[0], NULL, " (known classes: --truth FILE)");
    if (status == ARMILLA_OK) status = open_model(session, session->settings->operands[0], &work->model);
    if (status == ARMILLA_OK) status = armilla_labels_of_model(session->context, work->model, &work->truth);
    if (status != ARMILLA_OK) return status;
    armilla_model_summarize(work->model, &summary);
    status = open_truth(session, work, &work->truth);
    if (status != ARMILLA_OK) return status;
    clustering_expect_model(session, &summary);
    signals_defer();
    return armilla_cluster_model(session->context, work->model, &cluster_of(session)->cluster, &work->clustering);
}

static armilla_status score(cli_session *session, cli_clustering *work)
{
    armilla_cluster_summary found;
    armilla_clustering_summarize(work->clustering, &found);
    if (work->truth.count == 0) return ARMILLA_OK;
    work->scored = true;
    labelling_say_missing(session, work->truth.missing, work->truth.count);
    return armilla_score(session->context, found.n, armilla_clustering_labels(work->clustering), work->truth.values,
                         &work->scores);
}

static armilla_status write_labels(cli_session *session, const cli_clustering *work)
{
    armilla_cluster_summary found;
    armilla_clustering_summarize(work->clustering, &found);
    return labelling_write(session, &(cli_labelled){.labels = armilla_clustering_labels(work->clustering),
                                                    .count = found.n,
                                                    .model = work->model,
                                                    .X = work->X,
                                                    .named = cluster_of(session)->names,
                                                    .summarized = true});
}

/* The model with the clusters in it, and how well these hold together; neither where nothing was fitted. */
static armilla_status keep(cli_session *session, cli_clustering *work)
{
    const cluster_settings *settings = cluster_of(session);
    armilla_status status = ARMILLA_OK;
    work->quality.angle = work->quality.silhouette = NAN;
    if (!work->model) return ARMILLA_OK;
    if (session->ranks && settings->model_out) status = armilla_model_gather(session->context, work->model);
    if (!session->ranks)
        status = armilla_clustering_judge(session->context, work->clustering, work->model, &work->quality);
    if (!settings->model_out || status != ARMILLA_OK) return status;
    if (!session->silent) status = armilla_model_keep_clusters(session->context, work->model, work->clustering);
    status = armilla_context_agree(session->context, status, NULL, NULL);
    return status == ARMILLA_OK ? fitting_save(session, work->model, settings->model_out, NULL) : status;
}

/* Whether there are groups at all, in what was clustered. */
static armilla_status judge(cli_session *session, cli_clustering *work)
{
    const cluster_settings *settings = cluster_of(session);
    const armilla_status status = work->model ? armilla_structure_of_model(session->context, work->X, work->model,
                                                                           &settings->cluster, &work->structure)
                                              : armilla_structure_of_data(session->context, work->X, &settings->fit,
                                                                          &settings->cluster, &work->structure);
    return about(session, settings->common.operands[0], status);
}

static bool is_cut_short(const armilla_model *model)
{
    armilla_model_summary summary;
    if (!model) return false;
    armilla_model_summarize(model, &summary);
    return summary.stop == ARMILLA_STOP_INTERRUPTED || summary.stop == ARMILLA_STOP_TIME_LIMIT;
}

/* After a signal or the time limit of the fit, how this can go on. */
static void tell_resuming(cli_session *session, const cli_clustering *work, bool fitted, armilla_status status)
{
    const cluster_settings *settings = cluster_of(session);
    const bool written = status == ARMILLA_OK, fits = !fitted && strcmp(settings->on, "data") != 0;
    const bool ended = written && (session->exit || (fits && is_cut_short(work->model)));
    if (status != ARMILLA_STOPPED && !ended) return;
    resuming_report(session, &(cli_left){.checkpoint = fits ? &settings->checkpoint : NULL,
                                         .model = written ? settings->model_out : NULL});
}

static armilla_status run(cli_session *session)
{
    cli_clustering work = {.begun = now()};
    bool fitted = false;
    armilla_status status = clustering_check(session, &fitted);
    if (status != ARMILLA_OK) return status;
    status = fitted ? cluster_model(session, &work) : cluster_data(session, &work);
    if (status == ARMILLA_OK) status = armilla_clustering_gather(session->context, work.clustering);
    if (status == ARMILLA_OK && !session->silent) status = score(session, &work);
    if (status == ARMILLA_OK && !session->silent) status = write_labels(session, &work);
    if (status == ARMILLA_OK) status = keep(session, &work);
    if (status == ARMILLA_OK) status = judge(session, &work);
    session->exit = signals_exit();
    if (status != ARMILLA_OK) goto done;
    clustering_report(session, &work);
    status = tops_report_clusters(session, work.model, work.clustering);
    if (status == ARMILLA_OK && labelling_spares(session, cluster_of(session)->names))
        message_line(&session->messages, "labels    not shown on a terminal: --out LABELS.txt or a pipe gets them");
    if (status == ARMILLA_OK && session->settings->json) status = clustering_print_json(session, &work);
    if (status == ARMILLA_OK) status = resuming_finish(session, &cluster_of(session)->checkpoint);
done:
    tell_resuming(session, &work, fitted, status);
    armilla_labels_free(session->context, &work.truth);
    armilla_clustering_free(work.clustering);
    armilla_model_free(work.model);
    armilla_data_free(work.X);
    return status;
}

const cli_command command_cluster = {
    .name = "cluster",
    .synopsis = "MODEL|DATA [--k K] [options]",
    .meaning = "clusters of a model's codes, or of data by a fit and its codes in one step",
    .operands = {"MODEL|DATA"},
    .required = 1,
    .settings_size = sizeof(cluster_settings),
    .options = options,
    .groups = {{&group_cluster, offsetof(cluster_settings, cluster)},
               {&group_fit, offsetof(cluster_settings, fit)},
               {&group_reading, offsetof(cluster_settings, reading)}},
    .output = offsetof(cluster_settings, model_out),
    .defaults = set_defaults,
    .notes =
        "Labels are 0 ... K-1, one per line, or beside the names of the samples where --out ends in .csv; --json has\n"
        "them where there is no --out. --model-out keeps the model and the clusters for armilla predict. Of DATA with\n"
        "no other option the preparation is chosen by a look at them: unit length; log1p and tf-idf for counts (small\n"
        "whole numbers, most of them 0); scale and centre for tables in which a few features have nearly all of the\n"
        "spread; centre where signs are mixed or samples are 0. Then spherical-pca of rank 4K (or as many features or\n"
        "samples as there are), and --method graph on data and codes: communities of the graph of nearest neighbours,\n"
        "or k-means, on smoothed codes or plain, where the graph says too little. Without\n"
        "--k the number is found too, with a table of those that are plausible. A set that is named (--model, --basis,\n"
        "--codes) and argmax have rank K, and are not centred; with these, an option of preparation or --on data the\n"
        "method is kmeans.\n"
        "The verdict says first whether the samples form groups at all: whether communities of their neighbours are clearer\n"
        "than in data without groups that are made from them. Labels are given in any case.\n"
        "--checkpoint keeps the state of the fit in a file, from which --resume goes on; a fit that was complete is not made\n"
        "again. After INT, TERM or --time-limit the command that resumes is printed.\n"
        "Scores are shown where the classes are known: --truth, --labels or --label-column, or those in the model.\n\n"
        "examples:\n"
        "  armilla cluster counts.mtx --samples columns --k 20 --out clusters.txt\n"
        "  armilla cluster cells.csv --out clusters.txt\n"
        "  armilla cluster model.npz --k 10 --truth classes.txt --json\n"
        "  armilla cluster images.npy --k 10 --on data --out clusters.txt\n"
        "  armilla cluster cells.csv --k 12 --out clusters.csv --model-out cells.npz\n",
    .together = true,
    .run = run,
    .expect = clustering_expect,
};
