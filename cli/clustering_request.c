/* What armilla cluster is asked for: which options go together, and what is refused before the work begins. */
#include "clustering.h"
#include "labelling.h"
#include "resuming.h"
#include "streams.h"

#include <inttypes.h>
#include <string.h>

cluster_settings *cluster_of(const cli_session *session)
{
    return (cluster_settings *)session->settings;
}

/* Options of a fit that is not made are a mistake, but for those that the clusters have a use for too. */
static armilla_status refuse_fit_options(cli_session *session, const char *const *useful, const char *why)
{
    for (const armilla_option *row = armilla_option_table(); row->name; row = armilla_option_next(row)) {
        bool fine = !settings_is_given(session, &group_fit, row->name);
        for (size_t i = 0; useful[i]; i++)
            fine |= strcmp(row->name, useful[i]) == 0 || armilla_option_is_of(row, useful[i]);
        if (!fine)
            return fail(session, ARMILLA_BAD_ARGUMENT, "--%s: %s %s; leave the option out", row->name,
                        session->settings->operands[0], why);
    }
    return ARMILLA_OK;
}

/* A model is fitted already. */
armilla_status clustering_refuse_fit(cli_session *session)
{
    static const char *const useful[] = {"seed", "threads", "kernel", NULL};
    if (strcmp(cluster_of(session)->on, "data") == 0)
        return fail(session, ARMILLA_BAD_ARGUMENT, "--on data: %s is a model; give the data",
                    session->settings->operands[0]);
    return refuse_fit_options(session, useful, "is a model, fitted already");
}

/* --on data fits nothing. */
static armilla_status refuse_fit_of_data(cli_session *session)
{
    static const char *const useful[] = {"seed", "threads", "precision", ARMILLA_PREPARATION, NULL};
    if (cluster_of(session)->model_out)
        return fail(session, ARMILLA_BAD_ARGUMENT, "--model-out: nothing is fitted with --on data; leave one out");
    return refuse_fit_options(session, useful, "is clustered as it is by --on data, and nothing is fitted");
}

static bool is_argmax(const cluster_settings *settings)
{
    return settings->cluster.method && strcmp(settings->cluster.method, "argmax") == 0;
}

bool clustering_by_graph(const cluster_settings *settings)
{
    const char *method = settings->cluster.method;
    return method && (strcmp(method, "graph") == 0 || strcmp(method, "smooth") == 0);
}

/* Neighbours are sought among all samples, which no rank has: refused before the fit rather than after it. */
armilla_status clustering_check_ranks(cli_session *session)
{
    const char *method = cluster_of(session)->cluster.method;
    if (!session->ranks || !clustering_by_graph(cluster_of(session))) return ARMILLA_OK;
    return fail(session, ARMILLA_BAD_ARGUMENT,
                "--method %s%s is for one process; give --method kmeans or euclidean, or run armilla", method,
                strcmp(method, "graph") == 0 ? ", the default," : "");
}

/* What would be refused after a long fit is refused before it; --on data has none, so that its options are a mistake. */
armilla_status clustering_check_data(cli_session *session, int64_t n)
{
    const cluster_settings *settings = cluster_of(session);
    const armilla_options *fit = &settings->fit;
    const int64_t k = settings->cluster.k;
    if (k > n)
        return fail(session, ARMILLA_BAD_DATA,
                    "--k %" PRId64 " is more than the %" PRId64 " samples; give a smaller one", k, n);
    if (strcmp(settings->on, "data") == 0) return refuse_fit_of_data(session);
    if (is_argmax(settings) && fit->rank && fit->rank != k)
        return fail(session, ARMILLA_BAD_ARGUMENT,
                    "--method argmax gives a cluster to each of the %" PRId64 " atoms, not %" PRId64
                    "; leave out --rank or --k",
                    fit->rank, k);
    return ARMILLA_OK;
}

/* Without --out the labels go to standard output, and --json takes it for itself. */
static armilla_status check_stream(cli_session *session)
{
    const cluster_settings *settings = cluster_of(session);
    if (settings->common.out || !settings->model_out || !streams_standard(settings->model_out)) return ARMILLA_OK;
    return fail(session, ARMILLA_BAD_ARGUMENT,
                "--model-out: the model and the labels would both go to standard output; give --out LABELS.txt");
}

/* The largest contribution is found without k-means. */
static armilla_status check_tries(cli_session *session)
{
    static const char *const names[] = {"tries", "cluster-iter"};
    for (size_t i = 0; i < sizeof names / sizeof *names && is_argmax(cluster_of(session)); i++)
        if (settings_is_given(session, &group_cluster, names[i]))
            return fail(session, ARMILLA_BAD_ARGUMENT,
                        "--%s has no effect with --method argmax, which makes no k-means; leave it out", names[i]);
    return ARMILLA_OK;
}

static armilla_status missing_k(cli_session *session)
{
    return fail(session, ARMILLA_BAD_ARGUMENT,
                "--k is missing; give the number of clusters, e.g. --k 10; only --method graph finds one by itself");
}

armilla_cluster_choice clustering_asked(const cluster_settings *settings)
{
    return (armilla_cluster_choice){.size = sizeof(armilla_cluster_choice),
                                    .on_data = strcmp(settings->on, "data") == 0,
                                    .unprepared = strcmp(settings->prepare, "none") == 0};
}

/* The number of clusters can be left out where the method is the graph, or the atoms of a model are the clusters. */
static armilla_status check_number(cli_session *session, bool fitted)
{
    const cluster_settings *settings = cluster_of(session);
    const armilla_cluster_choice asked = clustering_asked(settings);
    const char *method = settings->cluster.method;
    if (settings->cluster.k > 0 || (fitted && is_argmax(settings))) return ARMILLA_OK;
    if (!fitted) {
        const armilla_status status =
            armilla_cluster_default_method(session->context, &settings->fit, &settings->cluster, &asked, &method);
        if (status != ARMILLA_OK) return status;
    }
    return method && strcmp(method, "graph") == 0 ? ARMILLA_OK : missing_k(session);
}

/* A checkpoint is that of a fit. */
static armilla_status check_checkpoint(cli_session *session, bool fitted)
{
    const cluster_settings *settings = cluster_of(session);
    const armilla_checkpoint *checkpoint = &settings->checkpoint;
    const bool given = checkpoint->path || checkpoint->resume;
    if (!given || !(fitted || strcmp(settings->on, "data") == 0)) return resuming_check(session, checkpoint);
    return fail(session, ARMILLA_BAD_ARGUMENT, "--%s: %s, so nothing is fitted that could be kept; leave it out",
                checkpoint->path ? "checkpoint" : "resume",
                fitted ? "the operand is a model" : "--on data clusters the data themselves");
}

/* *fitted = whether the operand is a model. */
armilla_status clustering_check(cli_session *session, bool *fitted)
{
    cluster_settings *settings = cluster_of(session);
    const armilla_checkpoint *checkpoint = &settings->checkpoint;
    const output_path outputs[] = {labelling_output(session),
                                   {"--model-out", settings->model_out, ".npz", NULL},
                                   {"--checkpoint", checkpoint->path, ".checkpoint", checkpoint->resume}};
    const bool argmax = is_argmax(settings);
    armilla_status status = outputs_check(session, outputs, sizeof outputs / sizeof *outputs);
    if (status == ARMILLA_OK) status = check_stream(session);
    if (status == ARMILLA_OK) status = check_tries(session);
    if (status == ARMILLA_OK) status = armilla_model_recognize(session->context, settings->common.operands[0], fitted);
    if (status == ARMILLA_OK) status = check_checkpoint(session, *fitted);
    if (status != ARMILLA_OK) return status;
    if (settings->cluster.k == 0 && !*fitted && argmax) settings->cluster.k = settings->fit.rank;
    if ((status = check_number(session, *fitted)) != ARMILLA_OK) return status;
    settings->cluster.seed = settings->fit.seed;
    settings->cluster.threads = settings->fit.threads;
    return ARMILLA_OK;
}
