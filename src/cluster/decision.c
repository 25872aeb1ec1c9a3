/* The choices of armilla cluster. */
#include "cluster/decision.h"

#include "base/size.h"

#include <math.h>
#include <string.h>

const armilla_thresholds armilla_thresholds_default = {
    .small_count = 4,
    .small_share = 0.5,
    .absent_share = 0.9,
    .spread_share = 0.125,
    .spread_features = 1.5,
    .median_deviation = 1.0 / 30,
    .negative_share = 0.2,
    .empty_share = 0.01,
    .atoms = 4,
    .assumed_clusters = ARMILLA_ASSUMED_CLUSTERS,
    .least_samples = 5,
    .least_counted = 20,
    .neighbors = 10,
    .fewest_neighbors = 3,
    .short_codes = 2,
    .exact_samples = 20000,
    .separate_samples = 20000,
    .recall = 0.98,
    .table_features = 40,
    .near = 0.72,
    .least_each = 40,
    .least_near = 16,
    .least_modularity = 0.95,
    .coverage_slack = 0.02,
    .least_coverage = 0.87,
    .least_smooth_coverage = 0.82,
};

const char *const armilla_label_sources[] = {
    [ARMILLA_BY_COMMUNITIES] = "communities", [ARMILLA_BY_SMOOTHING] = "smoothing", [ARMILLA_BY_KMEANS] = "kmeans"};

/* --- what was asked for --- */

static bool is_method(const armilla_cluster_request *request, const char *name)
{
    return request->method && strcmp(request->method, name) == 0;
}

/* Atoms have a meaning of their own, one for each cluster. */
static bool names_atoms(const armilla_cluster_request *request)
{
    return request->named_sets || is_method(request, "argmax");
}

armilla_choice armilla_decide_method(const armilla_cluster_request *request)
{
    if (request->method) return (armilla_choice){request->method, "given"};
    if (request->on_data) return (armilla_choice){"kmeans", "the data are clustered without a fit"};
    if (request->named_sets) return (armilla_choice){"kmeans", "the sets of the fit are named"};
    if (request->prepared) return (armilla_choice){"kmeans", "the preparation is given"};
    return (armilla_choice){"graph", "nothing else is asked for"};
}

int64_t armilla_decide_rank(const armilla_cluster_request *request, int64_t m, int64_t n,
                            const armilla_thresholds *thresholds)
{
    const int64_t most = armilla_min64(m, n);
    const bool finds = strcmp(armilla_decide_method(request).word, "graph") == 0;
    const int64_t k = request->k == 0 && finds ? thresholds->assumed_clusters : request->k;
    if (request->rank > 0) return request->rank;
    if (names_atoms(request) && request->k > 0) return request->k;
    return k > most / thresholds->atoms ? most : thresholds->atoms * k;
}

/* Measured (docs/clustering.md): distances of codes do as well as angles, or better, but for words. */
const char *armilla_decide_kmeans(bool codes, bool sparse)
{
    return codes && !sparse ? "euclidean" : "kmeans";
}

/* --- the preparation --- */

bool armilla_decide_counts(const armilla_data_evidence *evidence, const armilla_thresholds *thresholds)
{
    const double absent = 1 - evidence->present / ((double)evidence->m * (double)evidence->n);
    return evidence->fractions == 0 && evidence->present > 0 &&
           evidence->small >= thresholds->small_share * evidence->present &&
           (evidence->sparse || absent >= thresholds->absent_share);
}

/* Sparse data are no tables of measurements, and are not centred; nor are more features than samples scaled, most of which
 * would be noise of the same weight. */
static bool has_units(const armilla_data_evidence *evidence, const armilla_thresholds *thresholds)
{
    const double share = thresholds->spread_share * (double)evidence->m;
    return !evidence->sparse && evidence->m > 1 && evidence->m <= evidence->n &&
           evidence->spread_features < fmax(share, thresholds->spread_features) &&
           evidence->median_deviation < thresholds->median_deviation * evidence->largest_deviation;
}

static bool has_signs(const armilla_data_evidence *evidence, const armilla_thresholds *thresholds)
{
    return evidence->varies &&
           evidence->negative >= thresholds->negative_share * (double)evidence->m * (double)evidence->n;
}

static bool has_zeros(const armilla_data_evidence *evidence, const armilla_thresholds *thresholds)
{
    return evidence->varies && evidence->empty > thresholds->empty_share * (double)evidence->n;
}

static bool is_any(const armilla_data_evidence *evidence, const armilla_thresholds *thresholds)
{
    (void)evidence;
    (void)thresholds;
    return true;
}

/* The first row that applies is taken. The origin means nothing where signs are mixed, or where it is a place among the
 * samples. */
static const struct {
    bool (*applies)(const armilla_data_evidence *evidence, const armilla_thresholds *thresholds);
    armilla_preparation_choice choice;
} kinds[] = {
    {armilla_decide_counts, {{"counts", "whole numbers, most of them small, and zeros"}, .log1p = true, .tfidf = true}},
    {has_units, {{"units", "a few features have nearly all of the spread"}, .scale = true, .center = true}},
    {has_signs, {{"signs", "signs are mixed"}, .center = true}},
    {has_zeros, {{"zeros", "some samples are 0"}, .center = true}},
    {is_any, {{"other", "no counts, units of one size, and few negative entries"}, .center = false}},
};

armilla_preparation_choice armilla_decide_preparation(const armilla_cluster_request *request,
                                                      const armilla_data_evidence *evidence,
                                                      const armilla_thresholds *thresholds)
{
    size_t row = 0;
    while (!kinds[row].applies(evidence, thresholds)) row++;
    armilla_preparation_choice choice = kinds[row].choice;
    choice.plain_idf = choice.tfidf && evidence->rare;
    choice.center &= !names_atoms(request);
    return choice;
}

/* --- labels by a graph --- */

const char *armilla_decide_no_graph(const armilla_graph_prospect *prospect, const armilla_thresholds *thresholds,
                                    bool *memory)
{
    if (memory) *memory = false;
    if (prospect->k == 1) return "one cluster has all samples";
    if (prospect->k >= prospect->n) return "there are as many clusters as samples";
    if (prospect->n < thresholds->least_samples) return "the samples are too few for a graph of neighbours";
    if (prospect->n > prospect->most_nodes) return "the samples are too many for a graph of neighbours";
    if (prospect->bytes <= prospect->memory) return NULL;
    if (memory) *memory = true;
    return "the memory left does not hold a graph of neighbours";
}

/* Half the samples of a cluster where these are few. */
int64_t armilla_decide_neighbors(int64_t n, int64_t k, const armilla_thresholds *thresholds)
{
    const int64_t clusters = k > 0 ? k : thresholds->assumed_clusters;
    const int64_t half = armilla_max64(thresholds->fewest_neighbors, n / (2 * clusters));
    return armilla_min64(armilla_min64(thresholds->neighbors, half), n - 1);
}

static bool is_near(const armilla_graph_evidence *evidence, const armilla_thresholds *thresholds)
{
    return evidence->neighbor_distance < thresholds->near;
}

/* Few samples each, of few features, which the codes have all of: a table too small for a graph. */
static bool is_small_table(const armilla_graph_evidence *evidence, const armilla_thresholds *thresholds)
{
    const int64_t least = is_near(evidence, thresholds) ? thresholds->least_near : thresholds->least_each;
    return evidence->n / evidence->k < least && evidence->features > 0 && evidence->features <= evidence->codes;
}

/* Why the communities are no evidence by themselves, NULL where they are: where neighbours are near, unless the table is
 * too small; else where samples are many and classes hardly overlap. */
static const char *doubt_communities(const armilla_graph_evidence *evidence, const armilla_thresholds *thresholds)
{
    if (evidence->communities.count != evidence->k) return "neighbours form no communities of that number";
    if (is_small_table(evidence, thresholds)) return "the table has few samples for each cluster";
    if (is_near(evidence, thresholds)) return NULL;
    if (evidence->n / evidence->k < thresholds->least_each)
        return "neighbours are hardly nearer than other samples, and few for each cluster";
    if (evidence->communities.coverage < thresholds->least_coverage)
        return "neighbours are hardly nearer than other samples, and communities overlap";
    return NULL;
}

/* The same beside other clusters. Communities do not hold where these cut much less of the edges. */
static const char *doubt_beside(const armilla_graph_evidence *evidence, const armilla_labels_evidence *other,
                                const armilla_thresholds *thresholds)
{
    const char *reason = doubt_communities(evidence, thresholds);
    if (reason) return reason;
    if (!(evidence->communities.modularity >= thresholds->least_modularity * other->modularity))
        return "one community has nearly all samples";
    if (!(evidence->communities.coverage >= other->coverage - thresholds->coverage_slack))
        return "k-means cuts fewer edges than communities do";
    return NULL;
}

/* The modularity of k clusters is at most 1 - 1/k, and their coverage at most 1: communities that hold beside these hold
 * beside whatever k-means would find. */
armilla_labels_choice armilla_decide_labels(const armilla_graph_evidence *evidence,
                                            const armilla_thresholds *thresholds)
{
    const armilla_labels_evidence best = {.modularity = 1 - 1 / (double)evidence->k, .coverage = 1};
    const bool compared = evidence->kmeans.count > 0;
    const bool smooths = evidence->codes > 0 && (evidence->smooths || !is_small_table(evidence, thresholds));
    const armilla_label_source other = smooths ? ARMILLA_BY_SMOOTHING : ARMILLA_BY_KMEANS;
    if (evidence->smooths) return (armilla_labels_choice){other, "smoothing is asked for", !compared};
    const char *doubt = doubt_beside(evidence, compared ? &evidence->kmeans : &best, thresholds);
    if (!doubt) return (armilla_labels_choice){ARMILLA_BY_COMMUNITIES, "neighbours form clear communities", false};
    if (!compared) return (armilla_labels_choice){other, doubt, true};
    if (smooths && evidence->kmeans.coverage < thresholds->least_smooth_coverage)
        return (armilla_labels_choice){ARMILLA_BY_KMEANS, "neighbours are mostly chance", false};
    return (armilla_labels_choice){other, doubt, false};
}

/* --- the number of clusters --- */

bool armilla_decide_is_number(int64_t count, int64_t n)
{
    return count >= 2 && count <= n / 2;
}

double armilla_decide_number_score(double stability, double modularity)
{
    return fmax(stability, 0) * fmax(modularity, 0);
}
