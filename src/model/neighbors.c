/* Nearest neighbours of data that are prepared as for a fit, and of the codes of a model. */
#include "graph/neighbors_api.h"

#include "base/workload.h"
#include "data/sparse.h"
#include "data/traverse.h"
#include "model/model.h"

/* Data as they are given and as they are compared. */
typedef struct prepared_data {
    const armilla_data *raw;
    armilla_data *view;
} prepared_data;

static armilla_status prepare(armilla_context *context, const armilla_preparation *preparation, prepared_data *data)
{
    const armilla_type work = armilla_type_precision(data->raw->type);
    armilla_data_facts facts;
    armilla_status status = armilla_preparation_view(context, preparation, data->raw, &data->view);
    if (status == ARMILLA_OK) status = armilla_survey(context, data->view, work, &facts, NULL);
    if (status == ARMILLA_OK) status = armilla_preparation_finite(context, preparation, data->raw, &facts, work);
    return status;
}

static armilla_status find_in_data(armilla_context *context, const armilla_data *X, const armilla_data *queries,
                                   const armilla_options *asked, const armilla_neighbors_options *options,
                                   armilla_neighbors **neighbors)
{
    armilla_preparation preparation = armilla_preparation_asked(asked);
    armilla_data *matched = NULL;
    prepared_data samples = {X, NULL}, others = {queries, NULL};
    preparation.taken[ARMILLA_STEP_NORMALIZE] = true;
    armilla_status status = queries ? armilla_queries_match(context, X, queries, &matched) : ARMILLA_OK;
    if (matched) others.raw = queries = matched;
    if (status == ARMILLA_OK) status = armilla_neighbors_check(context, queries, X, options->count);
    if (status == ARMILLA_OK) status = armilla_preparation_learn(context, &preparation, X);
    if (status == ARMILLA_OK) status = prepare(context, &preparation, &samples);
    if (status == ARMILLA_OK && queries) status = prepare(context, &preparation, &others);
    if (status == ARMILLA_OK)
        status = armilla_neighbors_new(context, others.view, samples.view, options, asked->precision, neighbors);
    armilla_data_free(others.view);
    armilla_data_free(samples.view);
    armilla_data_free(matched);
    armilla_preparation_release(context, &preparation);
    return status;
}

armilla_status armilla_neighbors_of_data(armilla_context *context, const armilla_data *X, const armilla_data *queries,
                                         const armilla_options *preparation, const armilla_neighbors_options *options,
                                         armilla_neighbors **neighbors)
{
    armilla_options asked = {.size = sizeof asked};
    armilla_neighbors_options whole;
    armilla_status status = ARMILLA_NOT_NULL(context, X, options, neighbors);
    if (status == ARMILLA_OK) status = armilla_neighbors_options_read(context, options, &whole);
    if (status == ARMILLA_OK && preparation) status = armilla_options_read(context, preparation, &asked);
    if (status == ARMILLA_OK) status = armilla_options_check_words(context, &asked);
    if (status == ARMILLA_OK) status = armilla_call_enter(context, whole.threads);
    if (status != ARMILLA_OK) return status;
    armilla_call_plan(context, &(armilla_workload){.work = ARMILLA_WORK_NEIGHBORS,
                                                   .samples = X->n,
                                                   .features = X->m,
                                                   .entries = armilla_sparse_of(X) ? armilla_data_stored(X) : 0,
                                                   .count = whole.count,
                                                   .queries = queries ? queries->n : 0,
                                                   .recall = whole.recall});
    status = find_in_data(context, X, queries, &asked, &whole, neighbors);
    armilla_call_leave(context);
    return status;
}

/* Codes as data. */
static armilla_status codes_of(armilla_context *context, const armilla_model *model, const void *codes, int64_t n,
                               armilla_data **data)
{
    return armilla_data_borrow_dense(context, model->summary.precision, codes, model->summary.rank, n, data);
}

armilla_status armilla_neighbors_of_model(armilla_context *context, const armilla_model *model,
                                          const armilla_data *queries, const armilla_neighbors_options *options,
                                          armilla_neighbors **neighbors)
{
    armilla_data *samples = NULL, *others = NULL;
    void *codes = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, model, options, neighbors);
    if (status == ARMILLA_OK) status = armilla_model_within_reach(context, model);
    if (status != ARMILLA_OK) return status;
    const int64_t n = queries ? armilla_data_samples(queries) : 0;
    status = codes_of(context, model, model->V, model->summary.n, &samples);
    if (status == ARMILLA_OK && queries)
        status = armilla_take(context, n * model->summary.rank, armilla_type_size(model->summary.precision), &codes);
    if (status == ARMILLA_OK && queries)
        status = armilla_model_transform(context, model, queries, (int)options->threads, codes);
    if (status == ARMILLA_OK && queries) status = codes_of(context, model, codes, n, &others);
    if (status == ARMILLA_OK) status = armilla_neighbors_of_data(context, samples, others, NULL, options, neighbors);
    armilla_data_free(others);
    armilla_data_free(samples);
    armilla_release(context, codes);
    return status;
}
