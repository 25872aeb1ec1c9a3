/* Calls of a trial, and comparison of their results. */
#include "reference/rank_trial.h"

#include "reference/ranks.h"
#include "reference/reference.h"

#include "base/ranks.h"
#include "data/slots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t count_of(const rank_scene *s, const rank_numbers *x)
{
    return s->density < 1 ? (size_t)x->starts[s->n] : (size_t)(s->m * s->n);
}

rank_numbers rank_numbers_make(const rank_scene *s, uint64_t *random)
{
    const int64_t area = s->m * s->n;
    double *drawn = reference_new(area);
    rank_numbers x = {.values = calloc((size_t)area, sizeof(double)),
                      .rows = calloc((size_t)area, sizeof(int32_t)),
                      .starts = calloc((size_t)s->n + 1, sizeof(int32_t))};
    size_t count = 0;
    for (int64_t i = 0; i < area; i++)
        drawn[i] = reference_uniform(random) < s->density ? 1 + (double)reference_below(random, 60) : 0;
    for (int64_t i = 0; i < area && s->mixed; i++) drawn[i] = reference_uniform(random) < 0.5 ? -drawn[i] : drawn[i];
    for (int64_t j = 3; j < s->n; j += 97) memset(drawn + j * s->m, 0, (size_t)s->m * sizeof *drawn);
    for (int64_t i = 0; i < area; i++) {
        if (s->density < 1 && drawn[i] == 0) continue;
        armilla_store(s->type, 1, &drawn[i], (char *)x.values + count * armilla_type_size(s->type));
        x.rows[count++] = (int32_t)(i % s->m);
        x.starts[i / s->m + 1] = (int32_t)count;
    }
    for (int64_t j = 0; j < s->n; j++)
        if (x.starts[j + 1] < x.starts[j]) x.starts[j + 1] = x.starts[j];
    free(drawn);
    return x;
}

void rank_numbers_free(rank_numbers *x)
{
    free(x->values);
    free(x->rows);
    free(x->starts);
}

static armilla_status wrap(const rank_scene *s, const rank_numbers *x, armilla_context *context, armilla_data **data)
{
    if (s->density < 1)
        return armilla_data_wrap_sparse(context, s->type, ARMILLA_I32, x->values, x->rows, x->starts, s->m, s->n, data);
    return armilla_data_wrap_dense(context, s->type, x->values, s->m, s->n, s->m, data);
}

/* A copy whose numbers are NaN, 255 or -1, but for the samples of a rank. */
static rank_numbers mask_others(const rank_scene *s, const rank_numbers *x, const armilla_data *data, int rank,
                                int size)
{
    const size_t count = count_of(s, x), bytes = armilla_type_size(s->type);
    rank_numbers own = {.values = malloc((count + 1) * sizeof(double)), .rows = x->rows, .starts = x->starts};
    armilla_slots slots;
    armilla_slots_find(data, &slots);
    const armilla_tree tree = armilla_tree_of(slots.count);
    const armilla_share_of_tree share = armilla_ranks_share(&tree, rank, size);
    const int64_t first = slots.first_of[share.first_slot], last = slots.first_of[share.last_slot];
    const size_t begin = s->density < 1 ? (size_t)x->starts[first] : (size_t)(first * s->m);
    const size_t end = s->density < 1 ? (size_t)x->starts[last] : (size_t)(last * s->m);
    memset(own.values, 0xff, count * bytes);
    memcpy((char *)own.values + begin * bytes, (const char *)x->values + begin * bytes, (end - begin) * bytes);
    return own;
}

static armilla_options options_of(const rank_scene *s)
{
    armilla_options o;
    armilla_options_default(&o);
    o.rank = s->r;
    o.basis = s->basis;
    o.codes = s->codes;
    if (s->solver) o.solver = s->solver;
    o.start = s->start;
    o.precision = s->precision;
    o.log1p = s->log1p;
    o.tfidf = s->tfidf;
    o.scale = s->scale;
    o.center = s->center;
    o.normalize = s->normalize ? "l2" : "none";
    o.sparsity = s->sparsity;
    o.batch = s->batch;
    o.restarts = s->restarts ? s->restarts : 1;
    o.max_iter = s->max_iter ? s->max_iter : 6;
    o.tol = 0;
    o.seed = 5;
    return o;
}

static armilla_status cluster(armilla_context *context, const armilla_data *X, const rank_trial *t, rank_outcome *found)
{
    armilla_cluster_options clusters;
    armilla_options preparation;
    armilla_cluster_options_default(&clusters);
    armilla_options_default(&preparation);
    clusters.k = t->s->n < 3 ? 1 : 3;
    clusters.tries = 2;
    clusters.threads = t->threads;
    armilla_status status = armilla_cluster_data(context, X, NULL, &clusters, &found->of_data);
    if (status == ARMILLA_OK) status = armilla_cluster_model(context, found->model, &clusters, &found->of_model);
    if (status == ARMILLA_OK) status = armilla_cluster_recipe(context, X, &preparation, &clusters);
    return status;
}

static void run_calls(const rank_trial *t, int rank, armilla_context *context)
{
    const rank_scene *s = t->s;
    rank_outcome *found = &t->outcomes[rank];
    armilla_options options = options_of(s);
    armilla_data *X = NULL;
    found->status = wrap(s, t->x, context, &X);
    rank_numbers own = mask_others(s, t->x, X, rank, t->size);
    armilla_data_free(X);
    X = NULL;
    options.threads = t->threads;
    if (t->spoil && rank == t->bad_rank) found->status = t->spoil(context, &own, &options);
    if (found->status == ARMILLA_OK) found->status = wrap(s, &own, context, &X);
    if (found->status == ARMILLA_OK) found->status = armilla_fit(context, X, &options, &found->model);
    if (found->status == ARMILLA_OK && s->batch)
        found->status = armilla_model_update(context, found->model, X, &options, &found->updated);
    if (found->status == ARMILLA_OK && !t->short_of_calls) {
        found->codes = calloc((size_t)(s->r * s->n), sizeof(double));
        found->status = armilla_model_transform(context, found->model, X, t->threads, found->codes);
        if (found->status == ARMILLA_OK) found->status = armilla_model_check(context, found->model, X, &found->check);
        if (found->status == ARMILLA_OK) found->status = cluster(context, X, t, found);
    }
    snprintf(found->message, sizeof found->message, "%s", armilla_context_error(context));
    armilla_data_free(X);
    free(own.values);
}

void rank_outcome_clear(rank_outcome *o)
{
    armilla_clustering_free(o->of_model);
    armilla_clustering_free(o->of_data);
    armilla_model_free(o->updated);
    armilla_model_free(o->model);
    free(o->codes);
    o->of_model = o->of_data = NULL;
    o->model = o->updated = NULL;
    o->codes = NULL;
}

static bool same_columns(const armilla_samples *there, size_t column, const void *a, const void *b)
{
    const size_t at = (size_t)there->first * column;
    return memcmp((const char *)a + at, (const char *)b + at, (size_t)(there->last - there->first) * column) == 0;
}

static bool same_trace(const armilla_model *a, const armilla_model *b)
{
    bool same = a->trace_count == b->trace_count;
    for (int64_t k = 0; same && k < a->trace_count; k++) {
        const armilla_trace_entry *x = &a->trace[k], *y = &b->trace[k];
        same = x->objective == y->objective && x->dU == y->dU && x->dV == y->dV;
    }
    return same;
}

/* What differs, or NULL. */
static const char *compare_models(const armilla_model *one, const armilla_model *got)
{
    const armilla_model_summary *a = &one->summary, *b = &got->summary;
    const size_t size = armilla_type_size(a->precision);
    if (!same_trace(one, got)) return "the trace";
    if (memcmp(one->U, got->U, (size_t)(a->m * a->rank) * size) != 0) return "U";
    if (!same_columns(&got->share, (size_t)a->rank * size, one->V, got->V)) return "V";
    if (memcmp(&a->radius, &b->radius, sizeof a->radius) != 0) return "the radius";
    if (a->objective != b->objective || a->squared_norm != b->squared_norm) return "the objective";
    if (a->fingerprint != b->fingerprint || a->sweeps != b->sweeps) return "the fingerprint or the sweeps";
    return strcmp(a->start, b->start) != 0 || a->stop != b->stop || a->sealed != b->sealed ? "the summary" : NULL;
}

static const char *compare_clusters(const armilla_clustering *one, const armilla_clustering *got)
{
    if (one->summary.inertia != got->summary.inertia) return "the inertia";
    if (one->summary.iterations != got->summary.iterations) return "the iterations of k-means";
    if (!same_columns(&got->share, sizeof *one->labels, one->labels, got->labels)) return "labels";
    return memcmp(one->sizes, got->sizes, (size_t)one->summary.k * sizeof *one->sizes) != 0 ? "sizes" : NULL;
}

static const char *compare(const rank_outcome *one, const rank_outcome *got)
{
    const char *differs = compare_models(one->model, got->model);
    if (!differs && got->updated) differs = compare_models(one->updated, got->updated);
    if (differs || !got->codes) return differs;
    const size_t column = (size_t)one->model->summary.rank * armilla_type_size(one->model->summary.precision);
    if (!same_columns(&got->model->share, column, one->codes, got->codes)) return "codes by transform";
    if (got->check.passed != one->check.passed || one->check.radius_violation != got->check.radius_violation ||
        one->check.objective_found != got->check.objective_found)
        return "the check";
    differs = compare_clusters(one->of_data, got->of_data);
    return differs ? differs : compare_clusters(one->of_model, got->of_model);
}

void rank_trial_run(void *self, int rank, armilla_context *context)
{
    const rank_trial *t = self;
    rank_outcome *found = &t->outcomes[rank];
    *found = (rank_outcome){.status = ARMILLA_OK};
    run_calls(t, rank, context);
    if (found->model) {
        found->share = found->model->share;
        found->stop = found->model->summary.stop;
        found->iterations = found->model->summary.iterations;
        found->objective = found->model->summary.objective;
    }
    if (t->one && found->status == ARMILLA_OK) found->differs = compare(t->one, found);
    if (t->one || t->spoil || t->size > 1) rank_outcome_clear(found);
}
