/* Clusters of data and of codes: options, preparation, and the table of methods. */
#include "cluster/cluster.h"
#include "base/workload.h"

#include "base/sized.h"

#include "base/ranks.h"
#include "base/size.h"
#include "cluster/contribution.h"
#include "cluster/decision.h"
#include "data/slots.h"
#include "data/sparse.h"
#include "data/traverse.h"
#include "model/model.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const armilla_method methods[] = {
    {.name = "graph", .graph = true},  {.name = "smooth", .graph = true, .moved = true},
    {.name = "kmeans", .unit = true},  {.name = "euclidean"},
    {.name = "argmax", .codes = true},
};

enum { METHODS = sizeof methods / sizeof *methods };

const char *armilla_cluster_method(size_t index)
{
    return index < METHODS ? methods[index].name : NULL;
}

const armilla_method *armilla_method_find(const char *name)
{
    for (size_t i = 0; i < METHODS; i++)
        if (strcmp(methods[i].name, name) == 0) return &methods[i];
    return NULL;
}

#define AT(field) offsetof(armilla_cluster_options, field)

static const armilla_option table[] = {
    {ARMILLA_OPTION_ROW("k"), .sized = true, .kind = ARMILLA_OPTION_INTEGER, .offset = AT(k), .low = 1, .high = 32000,
     .value = "K",
     .help =
         "number of clusters; " ARMILLA_FIELD("method graph") " finds one where it is not given, the others need it"},
    {ARMILLA_OPTION_ROW("method"), .sized = true, .kind = ARMILLA_OPTION_WORD, .offset = AT(method),
     .choice = armilla_cluster_method, .value = "NAME",
     .help =
         "graph: communities of the graph of nearest neighbours; smooth: k-means on codes that are smoothed along it; "
         "kmeans: spherical k-means, by angle; euclidean: k-means by distance; argmax: the atom that contributes most, the one with the largest v_k |u_k|, with its sign; "
         "otherwise graph where the preparation is chosen, else kmeans"},
    {ARMILLA_OPTION_ROW("tries"), .sized = true, .kind = ARMILLA_OPTION_INTEGER, .offset = AT(tries), .preset = "10",
     .low = 1, .high = 1e6, .value = "N", .help = "starts of k-means, of which the best is taken"},
    {ARMILLA_OPTION_ROW("cluster-iter"), .sized = true, .kind = ARMILLA_OPTION_INTEGER, .offset = AT(max_iter),
     .preset = "300", .low = 0, .high = 1e9, .value = "N", .help = "most iterations of k-means from each start"},
    {.name = NULL},
};

const armilla_option *armilla_cluster_option_table(void)
{
    return table;
}

void armilla_cluster_options_default_sized(armilla_cluster_options *options, size_t size)
{
    armilla_cluster_options whole = {.size = sizeof whole};
    armilla_option_presets(table, &whole);
    armilla_sized_begin(&whole, sizeof whole, options, size);
}

armilla_status armilla_cluster_options_read(armilla_context *context, const armilla_cluster_options *options,
                                            armilla_cluster_options *whole)
{
    armilla_cluster_options_default(whole);
    return armilla_sized_read(context, "armilla_cluster_options", options, whole, sizeof *whole);
}

static armilla_status check_options(armilla_context *context, const armilla_cluster_options *options,
                                    const armilla_method **method)
{
    const char *word = options->method ? options->method : "kmeans";
    const armilla_method *found = armilla_method_find(word);
    if (!found)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("method '%s'") " is unknown; give graph, smooth, kmeans, euclidean or argmax",
                            word);
    const bool finds = found->codes || (found->graph && !found->moved);
    if (options->k < 0 || (!finds && options->k < 1))
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("k") " is missing; give the number of clusters, e.g. " ARMILLA_FIELD(
                                "k 10") ", or " ARMILLA_FIELD("method graph") ", which finds one");
    if (!found->codes && (options->tries < 1 || options->max_iter < 0))
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("tries") " and " ARMILLA_FIELD("cluster.max_iter") " must be positive");
    *method = found;
    return ARMILLA_OK;
}

armilla_status armilla_clustering_new(armilla_context *context, const armilla_method *method, int64_t k,
                                      const armilla_samples *share, armilla_clustering **clustering)
{
    armilla_clustering *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    *made = (armilla_clustering){.context = context, .share = *share, .spread = armilla_ranks_size(context) > 1};
    made->summary = (armilla_cluster_summary){.method = method->name, .k = k, .n = share->count, .inertia = NAN};
    status = armilla_samples_take(context, share, 1, sizeof *made->labels, &made->labels);
    if (status == ARMILLA_OK) status = armilla_take(context, k, sizeof *made->sizes, &made->sizes);
    if (status == ARMILLA_OK)
        *clustering = made;
    else
        armilla_clustering_free(made);
    return status;
}

void armilla_clustering_free(armilla_clustering *clustering)
{
    if (!clustering) return;
    armilla_release(clustering->context, clustering->numbers);
    armilla_release(clustering->context, clustering->sizes);
    armilla_release(clustering->context, clustering->labels);
    armilla_release(clustering->context, clustering);
}

armilla_status armilla_clustering_gather(armilla_context *context, armilla_clustering *clustering)
{
    int64_t *labels = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, clustering);
    if (status == ARMILLA_OK) status = armilla_call_enter_together(context, 1);
    if (status != ARMILLA_OK) return status;
    const bool first = armilla_ranks_rank(context) == 0, moves = armilla_ranks_size(context) > 1 && clustering->spread;
    if (first && moves) status = armilla_grow(context, clustering->share.count, sizeof *labels, &labels);
    char *next = (char *)labels;
    const armilla_putting stream = {clustering->labels, &clustering->share, sizeof *labels, armilla_put_behind, &next};
    if (moves) status = armilla_samples_put(context, status, &stream);
    status = armilla_call_leave_together(context, status);
    if (status == ARMILLA_OK && labels) {
        armilla_release(context, clustering->labels);
        clustering->labels = labels;
        labels = NULL;
    }
    armilla_release(context, labels);
    return status;
}

void armilla_clustering_summarize_sized(const armilla_clustering *clustering, armilla_cluster_summary *summary,
                                        size_t size)
{
    const armilla_cluster_summary none = {.size = 0};
    armilla_sized_write(clustering ? &clustering->summary : &none, sizeof none, summary, size);
}

const int64_t *armilla_clustering_labels(const armilla_clustering *clustering)
{
    return clustering ? clustering->labels : NULL;
}

const int64_t *armilla_clustering_sizes(const armilla_clustering *clustering)
{
    return clustering ? clustering->sizes : NULL;
}

armilla_status armilla_kmeans_prepared(armilla_context *context, const armilla_clustered *from,
                                       armilla_kmeans_problem *problem, armilla_clustering **clustering)
{
    const armilla_cluster_options *options = problem->options;
    armilla_clustering *made = NULL;
    armilla_kmeans_sample sample = {.columns = NULL};
    armilla_data_facts facts;
    double *squared_norms = NULL;
    const int64_t n = problem->X->n;
    armilla_status status = ARMILLA_OK;
    if (options->k > n)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            ARMILLA_FIELD("k %" PRId64) " is more than the %" PRId64 " samples; give a smaller one",
                            options->k, n);
    const armilla_samples share = armilla_data_share(context, problem->X);
    status = armilla_samples_take(context, &share, 1, sizeof *squared_norms, &squared_norms);
    if (problem->short_data) armilla_call_uninterrupted_enter(context);
    if (status == ARMILLA_OK) status = armilla_survey(context, problem->X, problem->work, &facts, squared_norms);
    if (problem->short_data) armilla_call_uninterrupted_leave(context);
    if (status == ARMILLA_OK)
        status = armilla_preparation_finite(context, &from->preparation, from->raw, &facts, problem->work);
    if (status == ARMILLA_OK) status = armilla_clustering_new(context, problem->method, options->k, &share, &made);
    if (status != ARMILLA_OK) goto done;
    problem->squared_norms = squared_norms;
    if (problem->short_data) armilla_call_uninterrupted_enter(context);
    status = armilla_kmeans_sample_make(context, from->raw, &from->preparation, problem, &sample);
    if (problem->short_data) armilla_call_uninterrupted_leave(context);
    if (status != ARMILLA_OK) goto done;
    made->summary.seed = options->seed;
    made->summary.tries = options->tries;
    status = armilla_kmeans(context, problem, made, NULL);
    if (status != ARMILLA_OK) goto done;
    *clustering = made;
    made = NULL;
done:
    armilla_kmeans_sample_free(context, &sample);
    armilla_clustering_free(made);
    armilla_release(context, squared_norms);
    return status;
}

static armilla_type choose_type(const armilla_data *X, const armilla_options *preparation)
{
    for (int type = 0; preparation->precision && type < ARMILLA_PRECISION_COUNT; type++)
        if (strcmp(armilla_type_word((armilla_type)type), preparation->precision) == 0) return (armilla_type)type;
    return armilla_type_precision(X->type);
}

int64_t armilla_clustering_numbers(const armilla_clustering *clustering)
{
    return clustering ? clustering->number_count : 0;
}

void armilla_clustering_number_sized(const armilla_clustering *clustering, int64_t index,
                                     armilla_cluster_number *number, size_t size)
{
    const armilla_cluster_number none = {.size = 0};
    const bool is_there = clustering && index >= 0 && index < clustering->number_count;
    armilla_sized_write(is_there ? &clustering->numbers[index] : &none, sizeof none, number, size);
}

/* The lengths that the mean has beyond the spread before distances in single precision are mostly rounding. */
#define HIDING 1e3

/* Whether the samples are so far from the origin that their distances have no digits left. To centre them changes no
 * distance. */
static armilla_status is_far(armilla_context *context, const armilla_data *X, bool *far)
{
    armilla_feature_statistics found = {0};
    double offset = 0, spread = 0;
    const armilla_status status = armilla_feature_statistics_find(context, X, ARMILLA_FEATURE_DEVIATIONS, &found);
    for (int64_t i = 0; i < X->m && status == ARMILLA_OK; i++) {
        offset += found.means[i] * found.means[i];
        spread += found.deviations[i] * found.deviations[i];
    }
    *far = offset > HIDING * spread;
    armilla_feature_statistics_release(context, &found);
    return status;
}

/* The preparation is learned, and the problem's X is the view through it. Samples get length 1 where the method asks for it,
 * and dense ones in single precision are centred where they are far from the origin. */
static armilla_status prepare(armilla_context *context, armilla_kmeans_problem *problem, armilla_clustered *data)
{
    const armilla_data *X = data->raw;
    armilla_preparation *p = &data->preparation;
    armilla_status status = ARMILLA_OK;
    p->taken[ARMILLA_STEP_NORMALIZE] |= problem->method->unit;
    if (!armilla_preparation_any(p) && problem->work == ARMILLA_F32 && !armilla_sparse_of(X))
        status = is_far(context, X, &p->taken[ARMILLA_STEP_CENTER]);
    if (status == ARMILLA_OK) status = armilla_preparation_learn(context, p, X);
    if (status == ARMILLA_OK) status = armilla_preparation_view(context, p, X, &data->view);
    problem->X = data->view ? data->view : X;
    return status;
}

/* Codes as data: other slots than those of the samples, so that ranks need those of other samples. */
typedef struct moved_codes {
    void *codes;
    armilla_data *data;
} moved_codes;

static armilla_status move_codes(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                 moved_codes *moved)
{
    const armilla_samples share = armilla_data_share(context, X);
    const armilla_type type = model->summary.precision;
    const size_t size = armilla_type_size(type);
    armilla_status status = armilla_samples_take(context, &share, X->m, size, &moved->codes);
    const armilla_moving moving = {model->V, moved->codes, &model->share, &share, (size_t)X->m * size};
    status = armilla_samples_move(context, status, &moving);
    if (status == ARMILLA_OK) status = armilla_data_borrow_dense(context, type, moved->codes, X->m, X->n, &moved->data);
    return status;
}

/* The k-means of samples that have no graph worth the name. */
static const armilla_method *instead_of_graph(const armilla_kmeans_problem *wanted, const armilla_data *X)
{
    const armilla_data *data = wanted->fitted ? wanted->fitted : X;
    return armilla_method_find(armilla_decide_kmeans(wanted->codes_of != NULL, armilla_sparse_of(data) != NULL));
}

/* What is expected of the call: codes beside the data that were fitted, codes alone, or data. */
static void tell_work(armilla_context *context, const armilla_kmeans_problem *wanted, const armilla_data *X)
{
    const bool codes = wanted->codes_of != NULL;
    const armilla_data *data = codes ? wanted->fitted : X;
    armilla_call_plan(context,
                      &(armilla_workload){.work = ARMILLA_WORK_CLUSTER,
                                          .samples = X->n,
                                          .features = data ? data->m : 0,
                                          .entries = data && armilla_sparse_of(data) ? armilla_data_stored(data) : 0,
                                          .codes = codes,
                                          .rank = codes ? X->m : 0,
                                          .k = wanted->options->k,
                                          .tries = wanted->options->tries,
                                          .graph = wanted->method->graph});
}

static armilla_status cluster(const armilla_kmeans_problem *wanted, armilla_context *context, const armilla_data *X,
                              const armilla_options *preparation, armilla_clustering **clustering)
{
    armilla_options asked = {.size = sizeof asked};
    armilla_cluster_options options = *wanted->options;
    armilla_kmeans_problem problem = *wanted;
    armilla_clustering *made = NULL;
    armilla_status status = preparation ? armilla_options_read(context, preparation, &asked) : ARMILLA_OK;
    if (status == ARMILLA_OK) status = armilla_options_check_words(context, &asked);
    if (status != ARMILLA_OK) return status;
    armilla_clustered data = {.preparation = armilla_preparation_asked(&asked), .raw = X};
    moved_codes moved = {NULL, NULL};
    armilla_memory_add_rank(context, options.k);
    problem.options = &options;
    problem.work = choose_type(X, &asked);
    if (wanted->method->graph) problem.method = instead_of_graph(wanted, X);
    if ((status = armilla_call_enter_together(context, options.threads)) != ARMILLA_OK) return status;
    tell_work(context, wanted, X);
    status = armilla_data_meet(context, X);
    if (status == ARMILLA_OK && problem.codes_of && problem.codes_of->spread)
        status = move_codes(context, problem.codes_of, X, &moved);
    if (moved.data) data.raw = moved.data;
    if (problem.short_data) armilla_call_uninterrupted_enter(context);
    if (status == ARMILLA_OK) status = prepare(context, &problem, &data);
    if (problem.short_data) armilla_call_uninterrupted_leave(context);
    if (status == ARMILLA_OK && wanted->method->graph)
        status = armilla_cluster_by_graph(context, &data, wanted->method, &problem, &made);
    else if (status == ARMILLA_OK)
        status = armilla_kmeans_prepared(context, &data, &problem, &made);
    if (status == ARMILLA_OK) status = armilla_clustering_order(context, made);
    status = armilla_call_leave_together(context, status);
    if (status == ARMILLA_OK)
        *clustering = made;
    else
        armilla_clustering_free(made);
    armilla_data_free(data.view);
    armilla_data_free(moved.data);
    armilla_release(context, moved.codes);
    armilla_preparation_release(context, &data.preparation);
    return status;
}

armilla_status armilla_cluster_data(armilla_context *context, const armilla_data *X, const armilla_options *preparation,
                                    const armilla_cluster_options *options, armilla_clustering **clustering)
{
    armilla_cluster_options whole;
    armilla_kmeans_problem problem = {.options = &whole};
    armilla_status status = ARMILLA_NOT_NULL(context, X, options, clustering);
    if (status == ARMILLA_OK) status = armilla_cluster_options_read(context, options, &whole);
    if (status == ARMILLA_OK) status = check_options(context, &whole, &problem.method);
    if (status != ARMILLA_OK) return status;
    if (problem.method->codes)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("method argmax") " is for codes; with data give graph, kmeans or euclidean");
    if (problem.method->moved)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("method smooth") " smooths codes; with data alone give graph or kmeans");
    return cluster(&problem, context, X, preparation, clustering);
}

static armilla_status cluster_argmax(armilla_context *context, const armilla_model *model, const armilla_method *method,
                                     int64_t k, armilla_clustering **clustering)
{
    const int64_t r = model->summary.rank;
    const armilla_samples *share = &model->share;
    armilla_clustering *made = NULL;
    if (k > 0 && k != r)
        return armilla_fail(
            context, ARMILLA_BAD_ARGUMENT,
            ARMILLA_FIELD("method argmax") " gives a cluster to each of the model's %" PRId64 " atoms, not %" PRId64
                                           "; leave out " ARMILLA_FIELD("k") ", or use " ARMILLA_FIELD("method kmeans"),
            r, k);
    armilla_status status = armilla_call_enter_together(context, 1);
    if (status != ARMILLA_OK) return status;
    status = armilla_clustering_new(context, method, r, share, &made);
    if (status == ARMILLA_OK) status = armilla_largest_contributions(context, model, model->V, share, made->labels);
    for (int64_t j = share->first; j < share->last && status == ARMILLA_OK; j++) made->sizes[made->labels[j]]++;
    if (made) made->spread = model->spread;
    if (model->spread) status = armilla_clustering_add_sizes(context, status, made);
    status = armilla_call_leave_together(context, status);
    if (status == ARMILLA_OK)
        *clustering = made;
    else
        armilla_clustering_free(made);
    return status;
}

/* Clusters of the codes, and of the data too where X is not NULL. */
static armilla_status cluster_codes(armilla_context *context, const armilla_data *X, const armilla_model *model,
                                    const armilla_cluster_options *options, armilla_clustering **clustering)
{
    armilla_cluster_options whole;
    armilla_kmeans_problem problem = {.options = &whole, .short_data = true, .codes_of = model, .fitted = X};
    armilla_data *codes = NULL;
    armilla_status status = armilla_model_within_reach(context, model);
    if (status == ARMILLA_OK) status = armilla_cluster_options_read(context, options, &whole);
    if (status == ARMILLA_OK) status = check_options(context, &whole, &problem.method);
    if (status != ARMILLA_OK) return status;
    if (problem.method->codes) return cluster_argmax(context, model, problem.method, whole.k, clustering);
    const armilla_model_summary *s = &model->summary;
    status = armilla_data_borrow_dense(context, s->precision, model->V, s->rank, s->n, &codes);
    if (status == ARMILLA_OK) status = cluster(&problem, context, codes, NULL, clustering);
    armilla_data_free(codes);
    return status;
}

armilla_status armilla_cluster_model(armilla_context *context, const armilla_model *model,
                                     const armilla_cluster_options *options, armilla_clustering **clustering)
{
    const armilla_status status = ARMILLA_NOT_NULL(context, model, options, clustering);
    return status == ARMILLA_OK ? cluster_codes(context, NULL, model, options, clustering) : status;
}

armilla_status armilla_cluster_fitted(armilla_context *context, const armilla_data *X, const armilla_model *model,
                                      const armilla_cluster_options *options, armilla_clustering **clustering)
{
    const armilla_status status = ARMILLA_NOT_NULL(context, X, model, options, clustering);
    return status == ARMILLA_OK ? cluster_codes(context, X, model, options, clustering) : status;
}
