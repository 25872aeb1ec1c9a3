/* What clusters are about: how well their samples hold together, which are typical and which odd, and the features that
 * set them apart. */
#include "cluster/top.h"

#include "base/sized.h"
#include "cluster/keep_clusters.h"
#include "linalg/dense.h"
#include "linalg/kernels.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Codes of samples and their clusters. */
typedef struct members {
    const armilla_model *model;
    int64_t n, r, k;
    const char *codes; /* r x n in the model's precision */
    const int64_t *labels;
    bool *zero; /* n: it has no direction */
    armilla_metric metric;
    double *centres; /* r x k, sums of unit directions */
    double *lengths; /* k, of the centres */
    double *v;       /* r */
} members;

/* v = code j; h = Hv; returns its length |v|_H, 0 of a sample without a direction. */
static double fetch(const members *c, int64_t j, double *h)
{
    double square = 0;
    (void)armilla_code_fetch(c->model, c->codes, j, c->v);
    armilla_metric_apply(&c->metric, c->v, h);
    for (int64_t k = 0; k < c->r; k++) square += c->v[k] * h[k];
    return c->zero[j] ? 0 : sqrt(fmax(square, 0));
}

static void find_centres(members *c)
{
    for (int64_t j = 0; j < c->n; j++) {
        const double length = fetch(c, j, c->metric.buffer);
        double *centre = c->centres + c->labels[j] * c->r;
        for (int64_t k = 0; k < c->r && length > 0; k++) centre[k] += c->v[k] / length;
    }
    for (int64_t i = 0; i < c->k; i++) {
        const double *centre = c->centres + i * c->r;
        armilla_metric_apply(&c->metric, centre, c->metric.buffer);
        c->lengths[i] = sqrt(fmax(armilla_dot_in_order(c->r, centre, c->metric.buffer), 0));
    }
}

/* Coherence, typical and odd samples, of those that have a direction. */
static void list_samples(members *c, armilla_top *top)
{
    for (int64_t i = 0; i < c->k; i++) top->group[i] = (armilla_top_group){.size = sizeof *top->group};
    for (int64_t j = 0; j < c->n; j++) {
        const int64_t i = c->labels[j];
        const double length = fetch(c, j, c->metric.buffer) * c->lengths[i];
        const double product = armilla_dot_in_order(c->r, c->centres + i * c->r, c->metric.buffer);
        const double cosine = fmin(fmax(product / length, -1), 1);
        top->group[i].samples++;
        top->group[i].zeros += !(length > 0);
        if (!(length > 0)) continue;
        armilla_top_entry entry = armilla_top_entry_new(j);
        entry.angle = acos(cosine);
        armilla_best_offer(armilla_top_best(top, i, ARMILLA_TOP_TYPICAL), cosine, &entry);
        armilla_best_offer(armilla_top_best(top, i, ARMILLA_TOP_ODD), -cosine, &entry);
        top->group[i].coherence += cosine;
    }
    for (int64_t i = 0; i < c->k; i++) {
        armilla_top_group *group = &top->group[i];
        group->coherence /= (double)(group->samples - group->zeros);
        group->share = (double)group->samples / (double)c->n;
    }
}

/* Means of rebuilt samples, U times the mean code, inside and outside; by their difference. */
static armilla_status list_rebuilt_features(armilla_context *context, const members *c, armilla_top *top)
{
    const int64_t m = c->model->summary.m, r = c->r, k = c->k;
    double *sums = NULL, *row = NULL; /* of codes by cluster (r x k), and behind these of all */
    armilla_status status = armilla_take(context, k + 1, (size_t)r * sizeof *sums, &sums);
    if (status == ARMILLA_OK) status = armilla_take(context, r, sizeof *row, &row);
    for (int64_t j = 0; j < c->n && status == ARMILLA_OK; j++) {
        (void)fetch(c, j, c->metric.buffer);
        for (int64_t l = 0; l < r; l++) sums[c->labels[j] * r + l] += c->v[l], sums[k * r + l] += c->v[l];
    }
    for (int64_t i = 0; i < m && status == ARMILLA_OK; i++) {
        const armilla_type type = c->model->summary.precision;
        for (int64_t l = 0; l < r; l++)
            armilla_fetch(type, 1, (const char *)c->model->U + (size_t)(l * m + i) * armilla_type_size(type), &row[l]);
        const double all = armilla_dot_in_order(r, row, sums + k * r);
        for (int64_t g = 0; g < k; g++) {
            const double sum = armilla_dot_in_order(r, row, sums + g * r), inside = (double)top->group[g].samples;
            const double outside = (double)c->n - inside;
            armilla_top_entry entry = armilla_top_entry_new(i);
            entry.inside = sum / inside;
            entry.outside = outside > 0 ? (all - sum) / outside : 0;
            if (entry.inside > entry.outside)
                armilla_best_offer(armilla_top_best(top, g, ARMILLA_TOP_FEATURES), entry.inside - entry.outside,
                                   &entry);
        }
    }
    armilla_release(context, row);
    armilla_release(context, sums);
    return status;
}

static armilla_status check_labels(armilla_context *context, const armilla_labels *labels, int64_t n)
{
    if (labels->count != n)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "there are %" PRId64 " labels for %" PRId64 " samples; give one for each", labels->count,
                            n);
    for (int64_t j = 0; j < n; j++)
        if (labels->values[j] < 0 || labels->values[j] >= labels->classes)
            return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                                "label %" PRId64 " of sample %" PRId64 " is none of 0 to %" PRId64, labels->values[j],
                                j + 1, labels->classes - 1);
    return ARMILLA_OK;
}

static armilla_status describe(armilla_context *context, members *c, const armilla_data *X, armilla_top *top)
{
    armilla_view view = {0};
    armilla_status status = armilla_metric_make(context, c->model, &c->metric);
    if (status == ARMILLA_OK) status = armilla_take(context, c->k, (size_t)c->r * sizeof *c->centres, &c->centres);
    if (status == ARMILLA_OK) status = armilla_take(context, c->k, sizeof *c->lengths, &c->lengths);
    if (status == ARMILLA_OK) status = armilla_take(context, c->r, sizeof *c->v, &c->v);
    if (status == ARMILLA_OK) status = armilla_zeros_find(context, c->model, X, &c->zero);
    if (status == ARMILLA_OK) {
        find_centres(c);
        list_samples(c, top);
    }
    if (status == ARMILLA_OK && !X) status = list_rebuilt_features(context, c, top);
    if (status == ARMILLA_OK && X) status = armilla_model_view(context, c->model, X, false, &view);
    if (status == ARMILLA_OK && X) status = armilla_markers_find(context, c->model, view.raw, c->labels, top);
    armilla_view_free(&view);
    armilla_release(context, c->zero);
    armilla_release(context, c->v);
    armilla_release(context, c->lengths);
    armilla_release(context, c->centres);
    armilla_metric_release(context, &c->metric);
    return status;
}

armilla_status armilla_top_clusters(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                    const armilla_labels *labels, int64_t count, armilla_top **top)
{
    armilla_labels given = {.size = sizeof given};
    armilla_top *made = NULL;
    char *codes = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, model, labels, top);
    if (status == ARMILLA_OK) status = armilla_sized_read(context, "armilla_labels", labels, &given, sizeof given);
    if (status == ARMILLA_OK) status = armilla_model_is_whole(context, model);
    if (status == ARMILLA_OK) status = check_labels(context, &given, X ? X->n : model->summary.n);
    if (status != ARMILLA_OK) return status;
    const int64_t n = given.count, r = model->summary.rank, sizes[2] = {model->summary.m, n};
    members c = {.model = model, .n = n, .r = r, .k = given.classes, .codes = model->V, .labels = given.values};
    status = armilla_top_new(context, given.classes, count, sizes, &made);
    if (status == ARMILLA_OK && X)
        status = armilla_take(context, n, (size_t)r * armilla_type_size(model->summary.precision), &codes);
    if (status == ARMILLA_OK && X) status = armilla_model_transform(context, model, X, 0, codes);
    if (X) c.codes = codes;
    if (status == ARMILLA_OK && (status = armilla_call_enter(context, 0)) == ARMILLA_OK) {
        status = describe(context, &c, X, made);
        armilla_call_leave(context);
    }
    armilla_release(context, codes);
    if (status == ARMILLA_OK)
        *top = made;
    else
        armilla_top_free(made);
    return status;
}
