/* armilla neighbors: the nearest samples by angle, of a model's codes or of data, as a sparse matrix. */
#include "announcing.h"
#include "json.h"
#include "outputs.h"
#include "preparing.h"
#include "reading.h"
#include "signals.h"

#include <inttypes.h>
#include <string.h>

OPTION_WORDS(static, preparation_choice, "none", "auto")

static const char *precision_choice(size_t index)
{
    return index < ARMILLA_PRECISION_COUNT ? armilla_type_word((armilla_type)index) : NULL;
}

typedef struct neighbors_settings {
    cli_settings common;
    reading_settings reading;
    armilla_neighbors_options neighbors;
    armilla_options fit; /* what says how DATA are prepared, and the precision */
    const char *prepare, *queries;
} neighbors_settings;

static const armilla_option options[] = {
    OPTION_OUT("GRAPH.npz", "write the neighbours there, for scipy.sparse.load_npz (required)"),
    OPTION_PATH(
        "queries", neighbors_settings, queries, "NEW-DATA",
        "neighbours of these samples among those of MODEL or DATA, prepared as they are; features are matched by "
        "name; with DATA, options that choose or name samples are of DATA alone"),
    OPTION_MISSING_FEATURES(neighbors_settings),
    {OPTION("prepare", WORD, neighbors_settings, prepare), .preset = "none", .choice = preparation_choice,
     .value = "none|auto", .help = "auto: as armilla cluster prepares DATA, by a look at them"},
    {OPTION("precision", WORD, neighbors_settings, fit.precision), .choice = precision_choice, .value = "f32|f64",
     .help = "of the products with DATA (default: f64 where the data are f64, else f32)"},
    {OPTION("seed", INTEGER, neighbors_settings, fit.seed), .preset = "0", .low = 0, .high = 9007199254740992,
     .value = "N", .help = "of what is drawn where --recall is below 1"},
    OPTION_THREADS,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_FORCE,
    OPTION_END,
};

static neighbors_settings *settings_of(const cli_session *session)
{
    return (neighbors_settings *)session->settings;
}

/* What is at work in one run. */
typedef struct cli_search {
    armilla_data *X, *queries;
    armilla_data *source; /* what X was chosen from; queries may be chosen too, from another */
    armilla_model *model;
    armilla_neighbors *found;
    double begun;
} cli_search;

/* Exact neighbours that take longer than that are worth a word about others. */
#define LONG_SECONDS 20.0
#define USUAL_RECALL 0.98

static armilla_workload search_of(const cli_session *session, const cli_shape *shape, int64_t queries)
{
    const armilla_neighbors_options *asked = &settings_of(session)->neighbors;
    armilla_workload search = announce_on(session, ARMILLA_WORK_NEIGHBORS, shape);
    search.count = asked->count;
    search.queries = queries;
    search.recall = asked->recall;
    return search;
}

/* What all products of many samples will take, and what most of the neighbours would. */
static void tell_cost(cli_session *session, const cli_shape *shape, int64_t queries)
{
    armilla_workload search = search_of(session, shape, queries);
    const double seconds = announce_seconds(session, &search);
    char all[32], most[32];
    if (search.recall < 1 || seconds < LONG_SECONDS) return;
    search.recall = USUAL_RECALL;
    message_seconds(seconds, all, sizeof all);
    message_seconds(announce_seconds(session, &search), most, sizeof most);
    if (shape->entries > 0)
        message_line(&session->messages, "cost      all pairs of %" PRId64 " samples are compared: about %s",
                     shape->samples, all);
    else
        message_line(&session->messages,
                     "cost      all pairs of %" PRId64 " samples are compared: about %s; --recall %.2f about %s",
                     shape->samples, all, USUAL_RECALL, most);
}

static void expect(cli_session *session, const cli_shape *shape)
{
    const armilla_workload search = search_of(session, shape, 0);
    announce(session, &search);
    announce_numbers(session, 12.0 * (double)(shape->samples * settings_of(session)->neighbors.count));
}

/* The search itself, when all is known of it. */
static void tell_search(cli_session *session, const cli_shape *shape, const armilla_data *queries)
{
    const int64_t others = queries ? armilla_data_samples(queries) : 0;
    const armilla_workload search = search_of(session, shape, others);
    tell_cost(session, shape, others);
    announce(session, &search);
}

static armilla_status choose_preparation(cli_session *session, const armilla_data *X)
{
    neighbors_settings *settings = settings_of(session);
    armilla_cluster_options clusters;
    armilla_cluster_choice choice = {
        .size = sizeof choice, .on_data = true, .unprepared = strcmp(settings->prepare, "none") == 0};
    armilla_cluster_options_default(&clusters);
    clusters.k = 1;
    return armilla_cluster_choose(session->context, X, &settings->fit, &clusters, &choice);
}

/* A model has its own preparation: options that say another are a mistake. */
static armilla_status refuse_preparation(cli_session *session)
{
    const neighbors_settings *settings = settings_of(session);
    const char *given = armilla_preparation_given(&settings->fit);
    if (strcmp(settings->prepare, "none") != 0) given = "prepare";
    if (settings->fit.precision) given = "precision";
    if (!given) return ARMILLA_OK;
    return fail(session, ARMILLA_BAD_ARGUMENT,
                "--%s: %s is a model, fitted already; leave the option out, or give the data", given,
                settings->common.operands[0]);
}

/* Beside DATA, which samples there are and what they are called is not said of the queries. */
static armilla_status open_queries(cli_session *session, cli_search *work)
{
    neighbors_settings *settings = settings_of(session);
    if (!settings->queries) return ARMILLA_OK;
    if (work->X) {
        work->source = session->source;
        session->source = NULL;
        reading_drop_samples(&settings->reading);
    }
    if (work->model) return open_for_model(session, work->model, settings->queries, &work->queries);
    return open_data(session, settings->queries, &work->queries, NULL);
}

static armilla_status search_data(cli_session *session, cli_search *work)
{
    const neighbors_settings *settings = settings_of(session);
    if (settings->reading.missing_features && strcmp(settings->reading.missing_features, "zero") == 0)
        return fail(session, ARMILLA_BAD_ARGUMENT,
                    "--missing-features zero is for queries to a model; leave it out, or fit a model first");
    armilla_status status = open_data(session, settings->common.operands[0], &work->X, NULL);
    if (status == ARMILLA_OK) status = open_queries(session, work);
    if (status == ARMILLA_OK) status = choose_preparation(session, work->X);
    if (status != ARMILLA_OK) return status;
    const cli_shape shape = announce_shape(work->X);
    tell_search(session, &shape, work->queries);
    return about(session, settings->common.operands[0],
                 armilla_neighbors_of_data(session->context, work->X, work->queries, &settings->fit,
                                           &settings->neighbors, &work->found));
}

static armilla_status search_model(cli_session *session, cli_search *work)
{
    const neighbors_settings *settings = settings_of(session);
    armilla_model_summary model;
    armilla_status status = refuse_preparation(session);
    if (status == ARMILLA_OK && !settings->queries)
        status = reading_refuse(session, settings->common.operands[0], NULL, ", or give data as --queries");
    if (status == ARMILLA_OK) status = open_model(session, settings->common.operands[0], &work->model);
    if (status == ARMILLA_OK) status = open_queries(session, work);
    if (status != ARMILLA_OK) return status;
    armilla_model_summarize(work->model, &model);
    tell_search(session, &(cli_shape){model.n, model.rank, 0}, work->queries);
    status =
        armilla_neighbors_of_model(session->context, work->model, work->queries, &settings->neighbors, &work->found);
    return about(session, settings->queries ? settings->queries : settings->common.operands[0], status);
}

static void report(cli_session *session, const armilla_neighbors_summary *found)
{
    message_line(&session->messages, "neighbors %" PRId64 " of each of %" PRId64 " %s among %" PRId64 " samples",
                 found->count, found->rows, settings_of(session)->queries ? "queries" : "samples", found->columns);
    if (found->checked > 0)
        message_line(&session->messages,
                     "recall    %.4f, measured on %" PRId64 "; %" PRId64 " of %" PRId64 " cells compared",
                     found->recall, found->checked, found->probed, found->cells);
    message_line(&session->messages, "written   %s: sparse matrix, %s", session->settings->out,
                 strcmp(found->weights, "cosine") == 0 ? "cosines" : "distances");
}

static armilla_status print_json(cli_session *session, const cli_search *work)
{
    const armilla_options prepared = work->model ? preparing_of_model(work->model) : settings_of(session)->fit;
    armilla_neighbors_summary found;
    json_t *object = json_object();
    armilla_neighbors_summarize(work->found, &found);
    json_put_text(object, "on", work->model ? "codes" : "data");
    json_put_count(object, "rows", found.rows);
    json_put_count(object, "columns", found.columns);
    json_put_count(object, "count", found.count);
    json_put_text(object, "weights", found.weights);
    json_put_number(object, "recall", found.recall);
    json_put_count(object, "checked", found.checked);
    json_put_count(object, "cells", found.cells);
    json_put_count(object, "probed", found.probed);
    preparing_put(object, &prepared);
    json_put_number(object, "seconds", now() - work->begun);
    json_put_peak_memory(object);
    json_put_text(object, "out", session->settings->out);
    return json_print(session, object);
}

/* *fitted = whether the operand is a model. */
static armilla_status check_request(cli_session *session, bool *fitted)
{
    neighbors_settings *settings = settings_of(session);
    const output_path output = {"--out", settings->common.out, ".npz", NULL};
    if (!output.path) return fail(session, ARMILLA_BAD_ARGUMENT, "neighbors: say where to write with --out GRAPH.npz");
    armilla_status status = outputs_check(session, &output, 1);
    if (status == ARMILLA_OK) status = armilla_model_recognize(session->context, settings->common.operands[0], fitted);
    settings->neighbors.seed = settings->fit.seed;
    settings->neighbors.threads = settings->fit.threads = settings->common.threads;
    return status;
}

static armilla_status run(cli_session *session)
{
    cli_search work = {.begun = now()};
    armilla_neighbors_summary found;
    bool fitted = false;
    armilla_status status = check_request(session, &fitted);
    if (status == ARMILLA_OK) status = fitted ? search_model(session, &work) : search_data(session, &work);
    if (status != ARMILLA_OK) goto done;
    signals_defer(); /* what is found is written, and no temporary file is left */
    status = armilla_neighbors_write(session->context, work.found, session->settings->out, session->settings->force);
    session->exit = signals_exit();
    if (status != ARMILLA_OK) goto done;
    armilla_neighbors_summarize(work.found, &found);
    report(session, &found);
    if (session->settings->json) status = print_json(session, &work);
done:
    armilla_neighbors_free(work.found);
    armilla_model_free(work.model);
    armilla_data_free(work.queries);
    armilla_data_free(work.X);
    armilla_data_free(work.source);
    return status;
}

const cli_command command_neighbors = {
    .name = "neighbors",
    .synopsis = "MODEL|DATA --count K --out GRAPH.npz [options]",
    .meaning = "the nearest samples by angle, of a model's codes or of data",
    .operands = {"MODEL|DATA"},
    .required = 1,
    .settings_size = sizeof(neighbors_settings),
    .options = options,
    .groups = {{&group_neighbors, offsetof(neighbors_settings, neighbors)},
               {&group_preparation, offsetof(neighbors_settings, fit)},
               {&group_reading, offsetof(neighbors_settings, reading)}},
    .notes =
        "GRAPH.npz is opened by scipy.sparse.load_npz: a csr_matrix whose row i has the K samples with the largest cosines\n"
        "to sample i, or to query i, the nearest first and of equally near ones the lower number first. A sample is not its\n"
        "own neighbour, a copy of it is. A sample of length 0 has the cosine 0 to all. The result depends on the data alone,\n"
        "not on threads or memory; without --recall all products are made, n^2/2 of them, never all kept.\n"
        "With --recall, the samples are divided into cells by k-means, and each is compared with the nearest cells, as many\n"
        "as the recall needs on some samples whose neighbours are found exactly; it is printed. armilla-mpi: by the first\n"
        "rank alone.\n\n"
        "examples:\n"
        "  armilla neighbors model.npz --count 15 --out graph.npz\n"
        "  armilla neighbors vectors.npy --count 10 --recall 0.98 --out graph.npz\n"
        "  armilla neighbors model.npz --queries new.csv --count 5 --weights distance --out nearest.npz\n",
    .run = run,
    .expect = expect,
};
