/* What armilla cluster takes where nothing is said: evidence is gathered, decided by, and written into the options. */
#include "base/sized.h"
#include "base/workload.h"
#include "cluster/evidence.h"
#include "data/preparation.h"
#include "data/slots.h"
#include "data/sparse.h"
#include "model/model.h"

#include <string.h>

/* No step is given. */
static void forget_preparation(armilla_options *fit)
{
    armilla_options plain;
    armilla_options_default(&plain);
    for (const armilla_option *row = armilla_option_table(); row->name; row = armilla_option_next(row))
        if (armilla_option_is_of(row, ARMILLA_PREPARATION)) armilla_option_copy(row, &plain, fit);
}

static armilla_cluster_request request_of(const armilla_options *fit, const armilla_cluster_options *clusters,
                                          const armilla_cluster_choice *choice)
{
    return (armilla_cluster_request){.method = clusters->method,
                                     .k = clusters->k,
                                     .rank = fit->rank,
                                     .named_sets = fit->model || fit->basis || fit->codes,
                                     .prepared = choice->unprepared || armilla_preparation_given(fit) != NULL,
                                     .on_data = choice->on_data};
}

static armilla_status gather(armilla_context *context, const armilla_data *X, int64_t threads,
                             armilla_data_evidence *evidence)
{
    armilla_status status = armilla_call_enter_together(context, threads);
    if (status != ARMILLA_OK) return status;
    armilla_call_plan(context, &(armilla_workload){.work = ARMILLA_WORK_RECIPE,
                                                   .samples = X->n,
                                                   .features = X->m,
                                                   .entries = armilla_sparse_of(X) ? armilla_data_stored(X) : 0});
    status = armilla_data_meet(context, X);
    if (status == ARMILLA_OK) status = armilla_data_evidence_gather(context, X, &armilla_thresholds_default, evidence);
    return armilla_call_leave_together(context, status);
}

static void take_preparation(const armilla_preparation_choice *chosen, armilla_options *fit)
{
    fit->normalize = armilla_steps[ARMILLA_STEP_NORMALIZE].words[1];
    fit->log1p = chosen->log1p;
    fit->tfidf = chosen->tfidf;
    if (chosen->plain_idf) fit->idf = armilla_step_form(ARMILLA_STEP_TFIDF, 1);
    fit->scale = chosen->scale;
    fit->center = chosen->center;
}

/* Chooses with options that have been read. */
static armilla_status choose(armilla_context *context, const armilla_data *X, armilla_options *fit,
                             armilla_cluster_options *clusters, armilla_cluster_choice *choice)
{
    const armilla_thresholds *thresholds = &armilla_thresholds_default;
    const armilla_cluster_request request = request_of(fit, clusters, choice);
    const armilla_choice method = armilla_decide_method(&request);
    const armilla_method *row = armilla_method_find(method.word);
    armilla_preparation_choice preparation = {.kind = {NULL, "given"}};
    /* The clusters would be refused after the fit. */
    armilla_status status = row && row->graph ? armilla_cluster_check_number(context, clusters->k, X->n) : ARMILLA_OK;
    if (status == ARMILLA_OK && !request.prepared) {
        armilla_data_evidence evidence;
        status = gather(context, X, fit->threads, &evidence);
        if (status != ARMILLA_OK) return status;
        preparation = armilla_decide_preparation(&request, &evidence, thresholds);
        take_preparation(&preparation, fit);
    }
    if (status != ARMILLA_OK) return status;
    if (!request.on_data) fit->rank = armilla_decide_rank(&request, X->m, X->n, thresholds);
    clusters->method = method.word;
    choice->kind = preparation.kind.word;
    choice->preparation_reason = preparation.kind.reason;
    choice->method_reason = method.reason;
    return ARMILLA_OK;
}

/* Options as the library has them. */
typedef struct whole_options {
    armilla_options fit;
    armilla_cluster_options clusters;
    armilla_cluster_choice choice;
} whole_options;

static armilla_status read_options(armilla_context *context, const armilla_options *fit,
                                   const armilla_cluster_options *clusters, const armilla_cluster_choice *choice,
                                   whole_options *whole)
{
    whole->choice = (armilla_cluster_choice){.size = sizeof whole->choice};
    armilla_status status = armilla_options_read(context, fit, &whole->fit);
    if (status == ARMILLA_OK) status = armilla_cluster_options_read(context, clusters, &whole->clusters);
    if (status == ARMILLA_OK)
        status = armilla_sized_read(context, "armilla_cluster_choice", choice, &whole->choice, sizeof whole->choice);
    return status;
}

armilla_status armilla_cluster_choose(armilla_context *context, const armilla_data *X, armilla_options *fit,
                                      armilla_cluster_options *clusters, armilla_cluster_choice *choice)
{
    whole_options whole;
    armilla_status status = ARMILLA_NOT_NULL(context, X, fit, clusters, choice);
    if (status == ARMILLA_OK) status = read_options(context, fit, clusters, choice, &whole);
    if (status == ARMILLA_OK) status = choose(context, X, &whole.fit, &whole.clusters, &whole.choice);
    if (status != ARMILLA_OK) return status;
    armilla_sized_write_back(&whole.fit, sizeof whole.fit, fit);
    armilla_sized_write_back(&whole.clusters, sizeof whole.clusters, clusters);
    armilla_sized_write_back(&whole.choice, sizeof whole.choice, choice);
    return ARMILLA_OK;
}

armilla_status armilla_cluster_default_method(armilla_context *context, const armilla_options *fit,
                                              const armilla_cluster_options *clusters,
                                              const armilla_cluster_choice *choice, const char **method)
{
    whole_options whole;
    armilla_status status = ARMILLA_NOT_NULL(context, fit, clusters, choice, method);
    if (status == ARMILLA_OK) status = read_options(context, fit, clusters, choice, &whole);
    if (status != ARMILLA_OK) return status;
    const armilla_cluster_request request = request_of(&whole.fit, &whole.clusters, &whole.choice);
    *method = armilla_decide_method(&request).word;
    return ARMILLA_OK;
}

armilla_status armilla_cluster_recipe(armilla_context *context, const armilla_data *X, armilla_options *fit,
                                      armilla_cluster_options *clusters)
{
    armilla_options whole;
    armilla_cluster_choice choice = {.size = sizeof choice};
    armilla_status status = ARMILLA_NOT_NULL(context, X, fit, clusters);
    if (status == ARMILLA_OK) status = armilla_options_read(context, fit, &whole);
    if (status == ARMILLA_OK) forget_preparation(&whole);
    if (status == ARMILLA_OK) status = armilla_cluster_choose(context, X, &whole, clusters, &choice);
    if (status == ARMILLA_OK) armilla_sized_write_back(&whole, sizeof whole, fit);
    return status;
}

int64_t armilla_cluster_rank(int64_t features, int64_t samples, int64_t k)
{
    return armilla_decide_rank(&(armilla_cluster_request){.k = k}, features, samples, &armilla_thresholds_default);
}
