/* The methods graph and smooth: labels of communities, of k-means on smoothed codes or of plain k-means, whichever
 * cluster/decision.c chooses by the evidence. */
#include "cluster/evidence.h"

#include "base/ranks.h"
#include "model/model.h"

#include <math.h>
#include <string.h>

/* What is at work. */
typedef struct by_graph {
    armilla_graph_samples samples;
    const armilla_clustered *from;
    const armilla_method *asked;
    armilla_kmeans_problem *problem; /* plain k-means */
    armilla_graph_findings found;
    armilla_graph_evidence evidence;
} by_graph;

/* What the summary says of labels that k-means has found, which are evidence too. */
static armilla_status describe(by_graph *s, armilla_label_source by, armilla_clustering *made)
{
    armilla_cluster_summary *summary = &made->summary;
    armilla_labels_evidence own = {.count = summary->k, .modularity = NAN, .coverage = NAN};
    armilla_status status = ARMILLA_OK;
    if (s->found.graph.rows > 0)
        status = armilla_partition_measure(s->samples.context, &s->found.graph, made->labels, &own);
    s->evidence.kmeans = own;
    summary->method = s->asked->name;
    summary->by = armilla_label_sources[by];
    summary->resolution = summary->stability = NAN;
    summary->modularity = own.modularity;
    summary->coverage = own.coverage;
    return status;
}

static armilla_status cluster_plainly(by_graph *s, armilla_clustering **made)
{
    const armilla_status status = armilla_kmeans_prepared(s->samples.context, s->from, s->problem, made);
    return status == ARMILLA_OK ? describe(s, ARMILLA_BY_KMEANS, *made) : status;
}

/* k-means by angle on the smoothed codes. */
static armilla_status cluster_smoothed(by_graph *s, armilla_clustering **made)
{
    armilla_context *context = s->samples.context;
    armilla_kmeans_problem problem = *s->problem;
    armilla_clustered from = {.raw = NULL};
    armilla_data *codes = NULL;
    float *smooth = NULL; /* r x n */
    armilla_status status = armilla_codes_smooth(&s->samples, &s->found.graph, &smooth);
    if (status == ARMILLA_OK)
        status = armilla_data_borrow_dense(context, ARMILLA_F32, smooth, s->samples.codes->m, s->samples.n, &codes);
    if (status == ARMILLA_OK) {
        from.raw = problem.X = codes;
        problem.work = ARMILLA_F32;
        problem.method = armilla_method_find("kmeans");
        status = armilla_kmeans_prepared(context, &from, &problem, made);
    }
    if (status == ARMILLA_OK) status = describe(s, ARMILLA_BY_SMOOTHING, *made);
    armilla_data_free(codes);
    armilla_release(context, smooth);
    return status;
}

/* The communities in place of the labels that are there. */
static void take_communities(const by_graph *s, armilla_clustering *made)
{
    const armilla_partition *own = &s->found.communities;
    memcpy(made->labels, own->labels, (size_t)s->samples.n * sizeof *own->labels);
    memset(made->sizes, 0, (size_t)s->samples.k * sizeof *made->sizes);
    for (int64_t i = 0; i < s->samples.n; i++) made->sizes[own->labels[i]]++;
    made->summary.by = armilla_label_sources[ARMILLA_BY_COMMUNITIES];
    made->summary.inertia = NAN;
    made->summary.modularity = own->found.modularity;
    made->summary.coverage = own->found.coverage;
    made->summary.resolution = own->resolution;
    made->summary.stability = own->stability;
}

/* The communities, by themselves. */
static armilla_status keep_communities(const by_graph *s, armilla_clustering **made)
{
    const armilla_samples share = armilla_samples_whole(s->samples.n);
    const armilla_status status = armilla_clustering_new(s->samples.context, s->asked, s->samples.k, &share, made);
    if (status != ARMILLA_OK) return status;
    take_communities(s, *made);
    (*made)->summary.stop = ARMILLA_STOP_CONVERGED;
    (*made)->summary.seed = s->problem->options->seed;
    return status;
}

/* What was made to compare communities with is kept where it is chosen. */
static armilla_status label(by_graph *s, armilla_clustering **made)
{
    const armilla_thresholds *thresholds = &armilla_thresholds_default;
    armilla_labels_choice choice = armilla_decide_labels(&s->evidence, thresholds);
    const armilla_label_source other = choice.by;
    armilla_status status = ARMILLA_OK;
    if (choice.open) {
        const bool smooths = other == ARMILLA_BY_SMOOTHING && s->samples.codes;
        status = smooths ? cluster_smoothed(s, made) : cluster_plainly(s, made);
        if (status != ARMILLA_OK) return status;
        choice = armilla_decide_labels(&s->evidence, thresholds);
    }
    if (choice.by == ARMILLA_BY_COMMUNITIES && *made) {
        take_communities(s, *made);
    } else if (choice.by == ARMILLA_BY_COMMUNITIES) {
        status = keep_communities(s, made);
    } else if (choice.by != other) {
        armilla_clustering_free(*made);
        *made = NULL;
        status = cluster_plainly(s, made);
    }
    if (status != ARMILLA_OK || !*made) return status;
    (*made)->summary.reason = choice.reason;
    (*made)->summary.neighbor_distance = s->evidence.neighbor_distance;
    return ARMILLA_OK;
}

/* The number is found too. */
static armilla_status count_clusters(by_graph *s, armilla_clustering **made)
{
    armilla_context *context = s->samples.context;
    armilla_partition *communities = &s->found.communities;
    armilla_cluster_number *numbers = NULL;
    int64_t count = 0;
    armilla_level fine = {.nodes = 0};
    armilla_status status = armilla_knn_graph_make(&s->samples, &s->found.graph, NULL);
    if (status == ARMILLA_OK) status = armilla_level_of_graph(context, &s->found.graph, &fine);
    armilla_graph_release(context, &s->found.graph);
    if (status == ARMILLA_OK)
        status = armilla_take(context, s->samples.n, sizeof *communities->labels, &communities->labels);
    if (status == ARMILLA_OK) status = armilla_partition_number(&s->samples, &fine, communities, &numbers, &count);
    armilla_level_release(context, &fine);
    if (status == ARMILLA_OK && communities->found.count == 0)
        status = armilla_fail(context, ARMILLA_BAD_DATA,
                              "no number of clusters is better than one or all; give " ARMILLA_FIELD("k"));
    s->samples.k = communities->found.count;
    if (status == ARMILLA_OK) status = keep_communities(s, made);
    if (status == ARMILLA_OK) {
        (*made)->summary.neighbor_distance = NAN;
        (*made)->summary.reason = "communities of that number are the most stable and modular ones";
        (*made)->numbers = numbers;
        (*made)->number_count = count;
        numbers = NULL;
    }
    armilla_release(context, numbers);
    return status;
}

/* Why there is to be no graph, NULL: there is one. A warning says so where a generous estimate exceeds the memory that
 * is left. */
static const char *refuse_graph(const by_graph *s)
{
    armilla_context *context = s->samples.context;
    const armilla_graph_prospect prospect = {.n = s->samples.n,
                                             .k = s->samples.k,
                                             .most_nodes = context->most_narrow, /* graph/level.h */
                                             .bytes = armilla_knn_graph_bytes(&s->samples),
                                             .memory = (double)armilla_memory_left(context)};
    bool memory = false;
    const char *reason = armilla_decide_no_graph(&prospect, &armilla_thresholds_default, &memory);
    if (memory)
        armilla_log(
            context, ARMILLA_LOG_WARNING,
            "the graph of neighbours may need %.0f MiB, more than the memory left: clusters by k-means instead; raise "
            "the limit for " ARMILLA_FIELD("method %s"),
            prospect.bytes / 0x1p20, s->asked->name);
    return reason;
}

/* The number of clusters is given. k-means ends with what it has where the call is to end before there are
 * communities. */
static armilla_status cluster_given(by_graph *s, armilla_clustering **made)
{
    const char *reason = refuse_graph(s);
    armilla_status status = ARMILLA_OK;
    if (!reason) {
        status = armilla_graph_evidence_gather(&s->samples, &s->found, &s->evidence);
        if (status == ARMILLA_OK) status = label(s, made);
        if (status != ARMILLA_STOPPED) return status;
        reason = "the call was to end before there was a graph";
        armilla_graph_release(s->samples.context, &s->found.graph);
    }
    status = cluster_plainly(s, made);
    if (status == ARMILLA_OK) (*made)->summary.reason = reason;
    if (status == ARMILLA_OK) (*made)->summary.neighbor_distance = NAN;
    return status;
}

armilla_status armilla_cluster_check_number(armilla_context *context, int64_t k, int64_t n)
{
    if (k > 0 || n >= armilla_thresholds_default.least_counted) return ARMILLA_OK;
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "%d samples are too few to find the number of clusters; give " ARMILLA_FIELD("k"), (int)n);
}

/* Everything within a call. */
static armilla_status run(by_graph *s, armilla_clustering **clustering)
{
    armilla_clustering *made = NULL;
    armilla_status status = armilla_cluster_check_number(s->samples.context, s->samples.k, s->samples.n);
    if (status == ARMILLA_OK) status = s->samples.k == 0 ? count_clusters(s, &made) : cluster_given(s, &made);
    if (status == ARMILLA_OK)
        *clustering = made;
    else
        armilla_clustering_free(made);
    return status;
}

armilla_status armilla_cluster_by_graph(armilla_context *context, const armilla_clustered *from,
                                        const armilla_method *asked, armilla_kmeans_problem *problem,
                                        armilla_clustering **clustering)
{
    armilla_view view = {.matched = NULL};
    const bool codes = problem->codes_of != NULL;
    const armilla_preparation *steps = codes ? &problem->codes_of->preparation : &from->preparation;
    by_graph s = {.from = from, .asked = asked, .problem = problem, .evidence = {.smooths = asked->moved}};
    armilla_status status = ARMILLA_OK;
    s.samples = (armilla_graph_samples){.context = context,
                                        .X = codes ? NULL : problem->X,
                                        .codes = codes ? from->raw : NULL,
                                        .centered = steps->taken[ARMILLA_STEP_CENTER],
                                        .n = problem->X->n,
                                        .k = problem->options->k,
                                        .seed = (uint64_t)problem->options->seed};
    if (armilla_ranks_size(context) > 1)
        return armilla_fail(
            context, ARMILLA_BAD_ARGUMENT,
            ARMILLA_FIELD("method %s") " is for one process, not for several ranks; give " ARMILLA_FIELD(
                "method kmeans") " or " ARMILLA_FIELD("method euclidean"),
            asked->name);
    if (problem->fitted) {
        status = armilla_model_view(context, problem->codes_of, problem->fitted, true, &view);
        s.samples.X = view.data;
    }
    if (status == ARMILLA_OK) status = run(&s, clustering);
    armilla_graph_findings_release(context, &s.found);
    armilla_view_free(&view);
    return status;
}
