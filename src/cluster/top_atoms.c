/* What atoms are about: their features by weight and by lift, and the samples closest to them. */
#include "cluster/top.h"

#include "cluster/contribution.h"
#include "cluster/keep_clusters.h"
#include "data/column.h"
#include "data/slots.h"
#include "data/traverse.h"
#include "linalg/kernels.h"

#include <math.h>
#include <string.h>

/* U in double, and of each feature the mean of its parts of the atoms. */
typedef struct atoms {
    const armilla_model *model;
    int64_t m, r;
    double *U;    /* m x r */
    double *sums; /* r, of |U_ik| over i */
    double *mean; /* m */
} atoms;

static armilla_status open_atoms(armilla_context *context, const armilla_model *model, atoms *a)
{
    *a = (atoms){.model = model, .m = model->summary.m, .r = model->summary.rank};
    armilla_status status = armilla_take(context, a->r, (size_t)a->m * sizeof *a->U, &a->U);
    if (status == ARMILLA_OK) status = armilla_take(context, a->r, sizeof *a->sums, &a->sums);
    if (status == ARMILLA_OK) status = armilla_take(context, a->m, sizeof *a->mean, &a->mean);
    if (status != ARMILLA_OK) return status;
    armilla_fetch(model->summary.precision, a->m * a->r, model->U, a->U);
    for (int64_t k = 0; k < a->r; k++)
        for (int64_t i = 0; i < a->m; i++) a->sums[k] += fabs(a->U[k * a->m + i]);
    for (int64_t k = 0; k < a->r; k++)
        for (int64_t i = 0; i < a->m && a->sums[k] > 0; i++)
            a->mean[i] += fabs(a->U[k * a->m + i]) / a->sums[k] / (double)a->r;
    return ARMILLA_OK;
}

static void close_atoms(armilla_context *context, atoms *a)
{
    armilla_release(context, a->mean);
    armilla_release(context, a->sums);
    armilla_release(context, a->U);
}

static void list_features(const atoms *a, armilla_top *top)
{
    for (int64_t k = 0; k < a->r; k++)
        for (int64_t i = 0; i < a->m; i++) {
            armilla_top_entry entry = armilla_top_entry_new(i);
            entry.weight = a->U[k * a->m + i];
            if (entry.weight == 0) continue;
            entry.lift = fabs(entry.weight) / a->sums[k] / a->mean[i];
            armilla_best_offer(armilla_top_best(top, k, ARMILLA_TOP_FEATURES), fabs(entry.weight), &entry);
            armilla_best_offer(armilla_top_best(top, k, ARMILLA_TOP_DISTINCTIVE), fabs(entry.weight) * entry.lift,
                               &entry);
        }
}

/* How many samples each atom contributes most to; samples without a direction have none. */
static armilla_status count_samples(armilla_context *context, const armilla_model *model, const bool *zero,
                                    armilla_top *top)
{
    const armilla_samples all = armilla_samples_whole(model->summary.n);
    int64_t *most = NULL;
    armilla_status status = armilla_take(context, all.count, sizeof *most, &most);
    if (status == ARMILLA_OK) status = armilla_largest_contributions(context, model, model->V, &all, most);
    for (int64_t j = 0; j < all.count && status == ARMILLA_OK; j++)
        if (!zero[j]) top->group[most[j]].samples++;
    armilla_release(context, most);
    return status;
}

static void share_out(const armilla_model *model, const armilla_metric *metric, const bool *zero, double *v,
                      armilla_top *top)
{
    const armilla_model_summary *s = &model->summary;
    double total = 0;
    for (int64_t j = 0; j < s->n; j++) {
        if (zero[j]) continue;
        (void)armilla_code_fetch(model, model->V, j, v);
        for (int64_t k = 0; k < s->rank; k++) {
            v[k] *= metric->norms[k];
            top->group[k].share += v[k] * v[k];
            total += v[k] * v[k];
        }
    }
    for (int64_t k = 0; k < s->rank; k++) {
        top->group[k].share = total > 0 ? top->group[k].share / total : 0;
        top->group[k].coherence = NAN;
        top->group[k].size = sizeof top->group[k];
    }
}

/* The sample's cosines with the atoms, r of them, go into the lists. */
static void offer_sample(int64_t j, int64_t r, const double *cosines, armilla_best *lists)
{
    for (int64_t k = 0; k < r; k++) {
        armilla_top_entry entry = armilla_top_entry_new(j);
        entry.angle = acos(fmin(fmax(cosines[k], -1), 1));
        armilla_best_offer(&lists[k], cosines[k], &entry);
    }
}

/* Samples as the model rebuilds them: <Uv, u_k> = (Hv)_k. */
static void list_rebuilt(const armilla_model *model, const armilla_metric *metric, const bool *zero, double *v,
                         armilla_best *lists)
{
    const armilla_model_summary *s = &model->summary;
    double *h = metric->buffer;
    for (int64_t j = 0; j < s->n; j++) {
        double square = 0;
        if (zero[j]) continue;
        (void)armilla_code_fetch(model, model->V, j, v);
        armilla_metric_apply(metric, v, h);
        for (int64_t k = 0; k < s->rank; k++) square += v[k] * h[k];
        for (int64_t k = 0; k < s->rank; k++) h[k] /= sqrt(square) * metric->norms[k];
        offer_sample(j, s->rank, h, lists);
    }
}

/* A pass over data: each thread has lists of its own, which are merged afterwards. */
typedef struct nearness {
    int64_t r;
    const double *rows;  /* U by feature, r numbers each */
    const double *norms; /* of the atoms */
    const double *means; /* r, <mean, u_k> of sparse data that are centred; else NULL */
    double *cosines;     /* r for each thread */
    armilla_best *lists; /* r for each thread */
    int64_t *zeros;      /* for each thread: samples without a direction */
    armilla_column_buffers buffers;
} nearness;

static armilla_status visit(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const nearness *f = self;
    const armilla_column_buffer buffer = armilla_column_buffer_of(&f->buffers, thread);
    double *cosines = f->cosines + thread * f->r;
    (void)sums;
    for (int64_t j = 0; j < panel->count; j++) {
        const armilla_column x = armilla_panel_column(panel, j, buffer);
        for (int64_t k = 0; k < f->r; k++) cosines[k] = f->means && x.shift > 0 ? -x.shift * f->means[k] : 0;
        for (int64_t i = 0; i < x.count; i++) {
            const double value = x.values[i], *row = f->rows + armilla_column_feature(&x, i) * f->r;
            for (int64_t k = 0; k < f->r && value != 0; k++) cosines[k] += value * row[k];
        }
        const double length = sqrt(armilla_column_square(&x));
        f->zeros[thread] += length == 0;
        if (length == 0) continue;
        for (int64_t k = 0; k < f->r; k++) cosines[k] /= length * f->norms[k];
        offer_sample(panel->first + j, f->r, cosines, f->lists + thread * f->r);
    }
    return ARMILLA_OK;
}

static void merge(const nearness *f, int threads, armilla_top *top)
{
    for (int t = 0; t < threads; t++)
        for (int64_t k = 0; k < f->r; k++) {
            const armilla_best *own = &f->lists[t * f->r + k];
            top->group[k].zeros += f->zeros[t];
            for (int64_t i = 0; i < own->count; i++)
                armilla_best_offer(armilla_top_best(top, k, ARMILLA_TOP_TYPICAL), own->keys[i], &own->entries[i]);
        }
}

/* U by feature, and what the mean of centred sparse data has in common with the atoms. */
static void turn(const atoms *a, const armilla_data *view, double *rows, double *means)
{
    const armilla_sparse_data *sparse = armilla_sparse_of(view);
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t k = 0; k < a->r; k++) {
            rows[i * a->r + k] = a->U[k * a->m + i];
            if (sparse && sparse->mean) means[k] += sparse->mean[i] * a->U[k * a->m + i];
        }
}

static armilla_status pass(armilla_context *context, const armilla_data *view, const atoms *a,
                           const armilla_metric *metric, armilla_top *top)
{
    const armilla_traversal_plan plan = {.X = view, .kernels = armilla_kernels_for(context, ARMILLA_F64)};
    nearness f = {.r = a->r, .norms = metric->norms};
    armilla_traversal *traversal = NULL;
    double *rows = NULL, *means = NULL;
    armilla_status status = armilla_traversal_new(context, &plan, &traversal);
    const int threads = status == ARMILLA_OK ? armilla_traversal_threads(traversal) : 0;
    if (status == ARMILLA_OK) status = armilla_column_buffers_take(context, view, threads, &f.buffers);
    if (status == ARMILLA_OK) status = armilla_take(context, a->m, (size_t)a->r * sizeof *rows, &rows);
    if (status == ARMILLA_OK) status = armilla_take(context, a->r, sizeof *means, &means);
    if (status == ARMILLA_OK) status = armilla_take(context, threads * a->r, sizeof *f.cosines, &f.cosines);
    if (status == ARMILLA_OK) status = armilla_take(context, threads, sizeof *f.zeros, &f.zeros);
    if (status == ARMILLA_OK) status = armilla_take(context, threads * a->r, sizeof *f.lists, &f.lists);
    for (int64_t i = 0; i < threads * a->r && status == ARMILLA_OK; i++)
        status = armilla_best_take(context, armilla_top_best(top, 0, ARMILLA_TOP_TYPICAL)->most, &f.lists[i]);
    if (status == ARMILLA_OK) {
        turn(a, view, rows, means);
        f.rows = rows;
        f.means = means;
        status = armilla_traverse(traversal, 0, visit, &f, NULL);
    }
    if (status == ARMILLA_OK) merge(&f, threads, top);
    for (int64_t i = 0; i < threads * a->r && f.lists; i++) armilla_best_release(context, &f.lists[i]);
    armilla_release(context, f.lists);
    armilla_release(context, f.zeros);
    armilla_release(context, f.cosines);
    armilla_release(context, means);
    armilla_release(context, rows);
    armilla_column_buffers_release(context, &f.buffers);
    armilla_traversal_free(traversal);
    return status;
}

static void count_zeros(const bool *zero, int64_t n, armilla_top *top)
{
    int64_t zeros = 0;
    for (int64_t j = 0; j < n; j++) zeros += zero[j];
    for (int64_t k = 0; k < top->groups; k++) top->group[k].zeros = zeros;
}

/* The samples of the data, or those of the fit where there are no data. */
static armilla_status list_samples(armilla_context *context, const armilla_data *X, const atoms *a,
                                   const armilla_metric *metric, armilla_top *top)
{
    armilla_view view = {0};
    armilla_best *lists = NULL;
    double *v = NULL;
    bool *zero = NULL; /* of the fit's samples */
    armilla_status status = armilla_take(context, a->r, sizeof *v, &v);
    if (status == ARMILLA_OK) status = armilla_zeros_find(context, a->model, NULL, &zero);
    if (status == ARMILLA_OK) status = armilla_take(context, a->r, sizeof *lists, &lists);
    for (int64_t k = 0; k < a->r && status == ARMILLA_OK; k++)
        lists[k] = *armilla_top_best(top, k, ARMILLA_TOP_TYPICAL);
    if (status == ARMILLA_OK) status = count_samples(context, a->model, zero, top);
    if (status == ARMILLA_OK) share_out(a->model, metric, zero, v, top);
    if (status == ARMILLA_OK && !X) {
        list_rebuilt(a->model, metric, zero, v, lists);
        count_zeros(zero, a->model->summary.n, top);
        for (int64_t k = 0; k < a->r; k++) *armilla_top_best(top, k, ARMILLA_TOP_TYPICAL) = lists[k];
    }
    armilla_release(context, lists);
    armilla_release(context, zero);
    armilla_release(context, v);
    if (status != ARMILLA_OK || !X) return status;
    status = armilla_model_view(context, a->model, X, false, &view);
    if (status == ARMILLA_OK) status = pass(context, view.data, a, metric, top);
    armilla_view_free(&view);
    return status;
}

armilla_status armilla_top_atoms(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                 int64_t count, int threads, armilla_top **top)
{
    armilla_metric metric = {0};
    armilla_top *made = NULL;
    atoms a = {.model = NULL};
    armilla_status status = ARMILLA_NOT_NULL(context, model, top);
    if (status == ARMILLA_OK) status = armilla_model_is_whole(context, model);
    if (status == ARMILLA_OK) status = armilla_call_enter(context, threads);
    if (status != ARMILLA_OK) return status;
    const int64_t sizes[2] = {model->summary.m, X ? X->n : model->summary.n};
    status = armilla_top_new(context, model->summary.rank, count, sizes, &made);
    if (status == ARMILLA_OK) status = open_atoms(context, model, &a);
    if (status == ARMILLA_OK) status = armilla_metric_make(context, model, &metric);
    if (status == ARMILLA_OK) list_features(&a, made);
    if (status == ARMILLA_OK) status = list_samples(context, X, &a, &metric, made);
    armilla_metric_release(context, &metric);
    close_atoms(context, &a);
    armilla_call_leave(context);
    if (status == ARMILLA_OK)
        *top = made;
    else
        armilla_top_free(made);
    return status;
}
