/* What armilla cluster is going to do, for its progress, and what it costs to leave out --k. */
#include "announcing.h"
#include "clustering.h"
#include "fitting.h"

#include <inttypes.h>
#include <string.h>

/* The workload of the clusters themselves, of codes of that rank beside the data, or of data alone. */
static armilla_workload clusters_of(const cli_session *session, const cli_shape *shape, int64_t rank)
{
    const armilla_cluster_options *asked = &cluster_of(session)->cluster;
    const char *method = asked->method ? asked->method : "graph";
    armilla_workload clusters = announce_on(session, ARMILLA_WORK_CLUSTER, shape);
    clusters.codes = rank > 0;
    clusters.rank = rank;
    clusters.k = asked->k;
    clusters.tries = asked->tries;
    clusters.graph = strcmp(method, "graph") == 0 || strcmp(method, "smooth") == 0;
    return clusters;
}

static int64_t rank_of(const cli_session *session, const cli_shape *shape)
{
    const cluster_settings *settings = cluster_of(session);
    if (strcmp(settings->on, "data") == 0) return 0;
    return settings->fit.rank > 0 ? settings->fit.rank
                                  : armilla_cluster_rank(shape->features, shape->samples, settings->cluster.k);
}

static void announce_verdict(cli_session *session, const cli_shape *shape)
{
    const armilla_workload verdict = announce_on(session, ARMILLA_WORK_STRUCTURE, shape);
    announce(session, &verdict);
}

void clustering_expect_rest(cli_session *session, const cli_shape *shape)
{
    const int64_t rank = rank_of(session, shape);
    const armilla_workload clusters = clusters_of(session, shape, rank);
    if (rank > 0) fitting_announce(session, shape, rank);
    announce(session, &clusters);
    announce_text(session, (double)shape->samples);
    announce_verdict(session, shape);
}

void clustering_expect(cli_session *session, const cli_shape *shape)
{
    const armilla_workload recipe = announce_on(session, ARMILLA_WORK_RECIPE, shape);
    announce(session, &recipe);
    clustering_expect_rest(session, shape);
}

/* Leaving out --k costs many runs of communities: it is said before they are begun, where they take long. */
#define LONG_SECONDS 20.0

void clustering_tell_cost(cli_session *session, const cli_shape *shape)
{
    armilla_workload clusters = clusters_of(session, shape, rank_of(session, shape));
    char found[32], given[32];
    if (clusters.k > 0) return;
    const double seconds = announce_seconds(session, &clusters);
    clusters.k = ARMILLA_ASSUMED_CLUSTERS;
    if (seconds < LONG_SECONDS) return;
    message_seconds(seconds, found, sizeof found);
    message_seconds(announce_seconds(session, &clusters), given, sizeof given);
    message_line(&session->messages,
                 "cost      finding the number of clusters of %" PRId64 " samples: about %s; with --k K about %s",
                 shape->samples, found, given);
}

void clustering_expect_model(cli_session *session, const armilla_model_summary *model)
{
    const cli_shape shape = {.samples = model->n};
    armilla_workload clusters = clusters_of(session, &shape, model->rank);
    clusters.graph = clustering_by_graph(cluster_of(session));
    announce(session, &clusters);
    announce_text(session, (double)model->n);
    announce_verdict(session, &(cli_shape){.samples = model->n, .features = model->rank});
}
