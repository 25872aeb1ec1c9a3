/* Whether a small table is better seen around its mean. Angles from the origin tell proportions and not sizes; where all
 * features are larger in one class, only the mean is a place to look from. No figure of the features says so beforehand:
 * what does is that neighbours form no communities in the one view, or doubtful ones, and do in the other
 * (docs/clustering.md). */
#include "cluster/recipe.h"

#include "base/call.h"
#include "base/ranks.h"
#include "cluster/shape.h"
#include "model/model.h"

#include <string.h>

/* Beyond so many samples a trial would cost more than the choice is worth. */
enum { MOST_SAMPLES = 10000 };

/* The part of the edges' weight inside communities above which they are beyond doubt, and below which they are not; and
 * how much more of it makes communities better than labels that are none. */
#define CLEAR_COVERAGE 0.98
#define DOUBTFUL_COVERAGE 0.95
#define COVERAGE_GAIN 0.02

/* What the clusters of a preparation say of it. */
typedef struct evidence {
    bool communities; /* the labels are */
    double modularity, coverage;
} evidence;

/* Data that a fit refuses are no evidence: they are left for the real one to refuse. */
static armilla_status look(armilla_context *context, const armilla_data *X, const armilla_options *fit,
                           const armilla_cluster_options *clusters, evidence *found)
{
    armilla_model *model = NULL;
    armilla_clustering *clustering = NULL;
    armilla_cluster_summary summary = {.by = NULL};
    armilla_status status = armilla_fit(context, X, fit, &model);
    if (status == ARMILLA_OK) status = armilla_cluster_fitted(context, X, model, clusters, &clustering);
    if (status == ARMILLA_OK) armilla_clustering_summarize(clustering, &summary);
    found->communities = summary.by && strcmp(summary.by, "communities") == 0;
    found->modularity = summary.modularity;
    found->coverage = summary.coverage;
    armilla_clustering_free(clustering);
    armilla_model_free(model);
    return status == ARMILLA_BAD_DATA || status == ARMILLA_BAD_ARGUMENT ? ARMILLA_OK : status;
}

static bool leaves_doubt(const evidence *found)
{
    return !found->communities || found->coverage < DOUBTFUL_COVERAGE;
}

/* Communities around the mean take the place of labels that are none where they are better by one measure at least, and of
 * doubtful communities where they are beyond doubt. */
static bool is_better(const evidence *around, const evidence *found)
{
    const bool parts = around->modularity > found->modularity;
    if (!around->communities) return false;
    if (found->communities) return parts && around->coverage >= CLEAR_COVERAGE;
    return parts || around->coverage >= found->coverage + COVERAGE_GAIN;
}

static bool is_worth_trying(armilla_context *context, const armilla_data *X, const armilla_options *fit,
                            const armilla_cluster_options *clusters)
{
    const armilla_shape shape = {.X = X, .k = clusters->k};
    const armilla_preparation asked = armilla_preparation_asked(fit);
    const bool plain = !armilla_preparation_before(&asked, ARMILLA_STEP_NORMALIZE);
    const bool own = fit->model || fit->basis || fit->codes || fit->start || fit->start_basis || fit->start_model;
    return plain && !own && clusters->k > 1 && clusters->k < X->n && X->n <= MOST_SAMPLES &&
           strcmp(clusters->method, "graph") == 0 && armilla_shape_is_table(&shape) && armilla_ranks_size(context) == 1;
}

/* The program's watch, and whether it has asked for the end: a fit and clusters that it ends are a result all the same, but
 * no evidence. */
typedef struct listener {
    armilla_watch watch;
    void *user;
    bool stopped;
} listener;

static int hear(void *self, const armilla_progress *progress)
{
    listener *s = self;
    s->stopped |= s->watch(s->user, progress) != 0;
    return s->stopped;
}

/* Both looks, without a word: the real fit says it all again. They are short, and end by themselves: what is chosen does not
 * depend on how far a machine gets within a limit. */
static armilla_status look_twice(armilla_context *context, const armilla_data *X, const armilla_options *fit,
                                 const armilla_cluster_options *clusters, evidence found[2])
{
    const armilla_log_function log = context->log;
    listener own = {context->watch, context->watch_user, false};
    armilla_options plain = *fit, centered;
    plain.callback = NULL;
    plain.time_limit = 0;
    centered = plain;
    centered.center = true;
    context->log = NULL;
    if (own.watch) armilla_context_set_watch(context, hear, &own);
    armilla_context_hold_plan(context, ARMILLA_PHASE_TRIALS);
    armilla_status status = look(context, X, &plain, clusters, &found[0]);
    armilla_plan_reach(&context->plan, 0.5);
    if (status == ARMILLA_OK && !own.stopped && leaves_doubt(&found[0]))
        status = look(context, X, &centered, clusters, &found[1]);
    armilla_context_release_plan(context);
    armilla_context_set_watch(context, own.watch, own.user);
    context->log = log;
    return status == ARMILLA_OK && own.stopped ? armilla_call_explain(context) : status;
}

armilla_status armilla_recipe_try(armilla_context *context, const armilla_data *X, armilla_options *fit,
                                  const armilla_cluster_options *clusters)
{
    evidence found[2] = {{.communities = false}, {.communities = false}};
    if (!is_worth_trying(context, X, fit, clusters)) return ARMILLA_OK;
    const armilla_status status = look_twice(context, X, fit, clusters, found);
    fit->center = status == ARMILLA_OK && is_better(&found[1], &found[0]);
    return status;
}
