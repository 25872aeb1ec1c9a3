/* The methods graph and smooth: which of communities, k-means on smoothed codes and plain k-means the labels are taken
 * from. The thresholds, each of which says when the graph is no evidence, were chosen by looking at about a hundred
 * labelled sets (docs/clustering.md, which also has the sets that were kept aside). */
#include "cluster/shape.h"

#include "base/ranks.h"
#include "base/size.h"
#include "model/model.h"

#include <math.h>
#include <string.h>

/* Neighbours are near where their squared distance is below that part of the one between any two samples. */
#define NEAR 0.72
/* Communities of fewer samples each are chance: where neighbours are not near; and of a small table where they are. */
enum { LEAST_EACH = 40, LEAST_NEAR = 16 };
/* Communities whose modularity is below that part of the smoothed codes' are none: one has nearly all samples. */
#define LEAST_MODULARITY 0.95
/* The part of the edges' weight inside communities, below which classes overlap where neighbours are not near; and inside
 * clusters of smoothed codes, below which neighbours are mostly chance. */
#define LEAST_COVERAGE 0.87
#define LEAST_SMOOTH_COVERAGE 0.82
/* How much more of the weight k-means has to keep together before communities are of one size rather than of one kind. */
#define COVERAGE_SLACK 0.02

/* The number of clusters of fewer samples is not to be found. */
enum { LEAST_COUNTED = 20 };

/* What is at work. */
typedef struct by_graph {
    armilla_shape shape;
    const armilla_clustered *from;
    const armilla_cluster_way *asked;
    armilla_kmeans_problem *problem; /* plain k-means */
    armilla_graph graph;
    double reach; /* of the data's neighbours */
    armilla_parting communities;
    float *smooth; /* codes, r x n; NULL: there are none */
} by_graph;

static const char *const sources[] = {"communities", "smoothing", "kmeans"};
enum { BY_COMMUNITIES, BY_SMOOTHING, BY_KMEANS };

/* What the summary says of labels that k-means has found. */
static armilla_status describe(const by_graph *s, int source, armilla_clustering *made)
{
    armilla_parting own = {.labels = made->labels, .count = made->summary.k};
    const armilla_status status = s->graph.rows > 0 ? armilla_shape_measure(&s->shape, &s->graph, &own) : ARMILLA_OK;
    made->summary.method = s->asked->name;
    made->summary.by = sources[source];
    made->summary.resolution = made->summary.stability = NAN;
    made->summary.modularity = s->graph.rows > 0 ? own.modularity : NAN;
    made->summary.coverage = s->graph.rows > 0 ? own.coverage : NAN;
    return status;
}

static armilla_status cluster_plainly(const by_graph *s, armilla_clustering **made)
{
    const armilla_status status = armilla_kmeans_prepared(s->shape.context, s->from, s->problem, made);
    return status == ARMILLA_OK ? describe(s, BY_KMEANS, *made) : status;
}

/* k-means by angle on the smoothed codes. */
static armilla_status cluster_smoothed(by_graph *s, armilla_clustering **made)
{
    armilla_context *context = s->shape.context;
    armilla_kmeans_problem problem = *s->problem;
    armilla_clustered from = {.raw = NULL};
    armilla_data *codes = NULL;
    armilla_status status = armilla_shape_smooth(&s->shape, &s->graph, &s->smooth);
    if (status == ARMILLA_OK)
        status = armilla_data_borrow_dense(context, ARMILLA_F32, s->smooth, s->shape.codes->m, s->shape.n, &codes);
    if (status == ARMILLA_OK) {
        from.raw = problem.X = codes;
        problem.work = ARMILLA_F32;
        problem.way = armilla_cluster_way_find("kmeans");
        status = armilla_kmeans_prepared(context, &from, &problem, made);
    }
    if (status == ARMILLA_OK) status = describe(s, BY_SMOOTHING, *made);
    armilla_data_free(codes);
    return status;
}

static bool is_near(const by_graph *s)
{
    return s->reach < NEAR;
}

/* Few samples each, of few features, which the codes have all of: a table too small for a graph. */
static bool is_small_table(const by_graph *s)
{
    const armilla_shape *shape = &s->shape;
    const int64_t least = is_near(s) ? LEAST_NEAR : LEAST_EACH;
    return shape->n / shape->k < least && shape->X && shape->codes && shape->X->m <= shape->codes->m;
}

/* Whether neighbours say enough for communities: where they are near, unless the table is too small; else where samples
 * are many and classes hardly overlap. */
static bool is_evidence(const by_graph *s)
{
    if (is_near(s)) return !is_small_table(s);
    return s->shape.n / s->shape.k >= LEAST_EACH && s->communities.coverage >= LEAST_COVERAGE;
}

/* Whether the communities are to be taken, beside what k-means has found. They are not where it cuts much less of the
 * edges. */
static bool communities_hold(const by_graph *s, const armilla_cluster_summary *other)
{
    const armilla_parting *own = &s->communities;
    return own->count == s->shape.k && is_evidence(s) && own->modularity >= LEAST_MODULARITY * other->modularity &&
           own->coverage >= other->coverage - COVERAGE_SLACK;
}

/* Whether they are to be taken beside whatever k-means would find: the modularity of k clusters is at most 1 - 1/k, and
 * their coverage at most 1. */
static bool communities_hold_anyway(const by_graph *s)
{
    const armilla_cluster_summary best = {.modularity = 1 - 1 / (double)s->shape.k, .coverage = 1};
    return !s->asked->moved && communities_hold(s, &best);
}

/* The communities in place of the labels that are there. */
static void take_communities(const by_graph *s, armilla_clustering *made)
{
    const armilla_parting *own = &s->communities;
    memcpy(made->labels, own->labels, (size_t)s->shape.n * sizeof *own->labels);
    memset(made->sizes, 0, (size_t)s->shape.k * sizeof *made->sizes);
    for (int64_t i = 0; i < s->shape.n; i++) made->sizes[own->labels[i]]++;
    made->summary.by = sources[BY_COMMUNITIES];
    made->summary.inertia = NAN;
    made->summary.modularity = own->modularity;
    made->summary.coverage = own->coverage;
    made->summary.resolution = own->resolution;
    made->summary.stability = own->stability;
}

/* The communities, by themselves. */
static armilla_status keep_communities(const by_graph *s, armilla_clustering **made)
{
    const armilla_samples share = armilla_samples_whole(s->shape.n);
    const armilla_status status = armilla_clustering_new(s->shape.context, s->asked, s->shape.k, &share, made);
    if (status != ARMILLA_OK) return status;
    take_communities(s, *made);
    (*made)->summary.stop = ARMILLA_STOP_CONVERGED;
    (*made)->summary.seed = s->problem->options->seed;
    return status;
}

/* Smoothing or plain k-means first, which the communities are compared with where that could matter; data alone have no
 * codes to smooth. */
static armilla_status compare(by_graph *s, armilla_clustering **made)
{
    const bool smooths = s->shape.codes && (s->asked->moved || !is_small_table(s));
    if (communities_hold_anyway(s)) return keep_communities(s, made);
    armilla_status status = smooths ? cluster_smoothed(s, made) : cluster_plainly(s, made);
    if (status != ARMILLA_OK || s->asked->moved) return status;
    if (communities_hold(s, &(*made)->summary)) {
        take_communities(s, *made);
    } else if (smooths && (*made)->summary.coverage < LEAST_SMOOTH_COVERAGE) {
        armilla_clustering_free(*made);
        *made = NULL;
        status = cluster_plainly(s, made);
    }
    return status;
}

static armilla_status find_communities(by_graph *s)
{
    armilla_context *context = s->shape.context;
    armilla_status status = armilla_shape_graph(&s->shape, &s->graph, &s->reach);
    if (status != ARMILLA_OK || s->asked->moved) return status;
    status = armilla_take(context, s->shape.n, sizeof *s->communities.labels, &s->communities.labels);
    if (status == ARMILLA_OK) status = armilla_shape_communities(&s->shape, &s->graph, &s->communities);
    if (status == ARMILLA_OK && s->communities.count == s->shape.k)
        status = armilla_shape_measure(&s->shape, &s->graph, &s->communities);
    return status;
}

/* The number is found too. */
static armilla_status count_clusters(by_graph *s, armilla_clustering **made)
{
    armilla_context *context = s->shape.context;
    armilla_cluster_number *numbers = NULL;
    int64_t count = 0;
    armilla_status status = armilla_shape_graph(&s->shape, &s->graph, NULL);
    if (status == ARMILLA_OK)
        status = armilla_take(context, s->shape.n, sizeof *s->communities.labels, &s->communities.labels);
    if (status == ARMILLA_OK) status = armilla_shape_number(&s->shape, &s->graph, &s->communities, &numbers, &count);
    if (status == ARMILLA_OK && s->communities.count == 0)
        status = armilla_fail(context, ARMILLA_BAD_DATA,
                              "no number of clusters is better than one or all; give " ARMILLA_FIELD("k"));
    s->shape.k = s->communities.count;
    if (status == ARMILLA_OK) status = keep_communities(s, made);
    if (status == ARMILLA_OK) {
        (*made)->numbers = numbers;
        (*made)->number_count = count;
        numbers = NULL;
    }
    armilla_release(context, numbers);
    return status;
}

/* Whether the memory that is left holds graph and communities, by a generous estimate; if not, it is said. */
static bool has_memory(const by_graph *s)
{
    const double needed = armilla_shape_bytes(&s->shape);
    if (needed <= (double)armilla_memory_left(s->shape.context)) return true;
    armilla_log(
        s->shape.context, ARMILLA_LOG_WARNING,
        "the graph of neighbours may need %.0f MiB, more than the memory left: clusters by k-means instead; raise "
        "the limit for " ARMILLA_FIELD("method %s"),
        needed / 0x1p20, s->asked->name);
    return false;
}

/* Everything within a call. Where the call is to end before there are communities, k-means ends with what it has. */
static armilla_status run(by_graph *s, armilla_clustering **clustering)
{
    armilla_clustering *made = NULL;
    armilla_status status = ARMILLA_OK;
    if (s->shape.k == 0 && s->shape.n < LEAST_COUNTED)
        return armilla_fail(s->shape.context, ARMILLA_BAD_DATA,
                            "%d samples are too few to find the number of clusters; give " ARMILLA_FIELD("k"),
                            (int)s->shape.n);
    if (s->shape.k == 0) {
        status = count_clusters(s, &made);
    } else if (armilla_shape_has_graph(&s->shape) && has_memory(s)) {
        status = find_communities(s);
        if (status == ARMILLA_OK) status = compare(s, &made);
        if (status == ARMILLA_STOPPED) {
            armilla_graph_release(s->shape.context, &s->graph);
            status = cluster_plainly(s, &made);
        }
    } else {
        status = cluster_plainly(s, &made);
    }
    if (status == ARMILLA_OK)
        *clustering = made;
    else
        armilla_clustering_free(made);
    return status;
}

armilla_status armilla_cluster_by_graph(armilla_context *context, const armilla_clustered *from,
                                        const armilla_cluster_way *asked, armilla_kmeans_problem *problem,
                                        armilla_clustering **clustering)
{
    armilla_view view = {.matched = NULL};
    const bool codes = problem->codes_of != NULL;
    const armilla_preparation *steps = codes ? &problem->codes_of->preparation : &from->preparation;
    by_graph s = {.from = from, .asked = asked, .problem = problem};
    armilla_status status = ARMILLA_OK;
    s.shape = (armilla_shape){.context = context,
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
        s.shape.X = view.data;
    }
    if (status == ARMILLA_OK) status = run(&s, clustering);
    armilla_release(context, s.smooth);
    armilla_release(context, s.communities.labels);
    armilla_graph_release(context, &s.graph);
    armilla_view_free(&view);
    return status;
}
