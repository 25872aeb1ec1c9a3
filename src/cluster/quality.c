/* How well clusters hold together and apart, without known classes: angles of codes with the mean direction of their
 * cluster, and the silhouette by cosine distance. That distance needs no pairs: the mean over a cluster of 1 - <x, y> is
 * 1 - <x, mean y>, so that every sample counts, in O(nkr). */
#include "cluster/keep_clusters.h"

#include "base/sized.h"
#include "linalg/dense.h"

#include <inttypes.h>
#include <math.h>

typedef struct judging {
    const armilla_model *model;
    const int64_t *labels, *sizes;
    int64_t n, r, k;
    double *sums; /* r x k, of unit codes */
    double *v;    /* r */
} judging;

/* (b - a) / max(a, b) of the mean distances to its own cluster, itself left out, and to the nearest other one; 0 of a
 * sample that is alone. */
static double silhouette(const judging *q, int64_t own)
{
    double a = 0, b = INFINITY;
    if (q->sizes[own] < 2) return 0;
    for (int64_t c = 0; c < q->k; c++) {
        const double size = (double)q->sizes[c], all = size - armilla_dot_in_order(q->r, q->sums + c * q->r, q->v);
        if (c == own)
            a = (all - (1 - armilla_dot_in_order(q->r, q->v, q->v))) / (size - 1);
        else if (size > 0)
            b = fmin(b, all / size);
    }
    a = fmax(a, 0);
    b = fmax(b, 0);
    return a < b ? 1 - a / b : a > b ? b / a - 1 : 0;
}

static void judge(const judging *q, armilla_cluster_quality *found)
{
    int64_t filled = 0;
    double angles = 0, silhouettes = 0;
    for (int64_t c = 0; c < q->k; c++) filled += q->sizes[c] > 0;
    for (int64_t j = 0; j < q->n; j++) {
        armilla_code_fetch_unit(q->model, q->model->V, j, q->v);
        for (int64_t l = 0; l < q->r; l++) q->sums[q->labels[j] * q->r + l] += q->v[l];
    }
    for (int64_t j = 0; j < q->n; j++) {
        const double *sum = q->sums + q->labels[j] * q->r, length = sqrt(armilla_dot_in_order(q->r, sum, sum));
        armilla_code_fetch_unit(q->model, q->model->V, j, q->v);
        angles += acos(fmin(fmax(length > 0 ? armilla_dot_in_order(q->r, sum, q->v) / length : 0, -1), 1));
        silhouettes += silhouette(q, q->labels[j]);
    }
    found->angle = angles / (double)q->n;
    found->silhouette = filled > 1 ? silhouettes / (double)q->n : NAN;
}

armilla_status armilla_clustering_judge_sized(armilla_context *context, const armilla_clustering *clustering,
                                              const armilla_model *model, armilla_cluster_quality *quality, size_t size)
{
    armilla_cluster_quality found = {.angle = NAN};
    armilla_status status = ARMILLA_NOT_NULL(context, clustering, model, quality);
    if (status == ARMILLA_OK) status = armilla_model_is_whole(context, model);
    if (status == ARMILLA_OK && clustering->summary.n != model->summary.n)
        status = armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                              "the clusters are of %" PRId64 " samples, the model of %" PRId64, clustering->summary.n,
                              model->summary.n);
    if (status != ARMILLA_OK) return status;
    judging q = {.model = model,
                 .labels = clustering->labels,
                 .sizes = clustering->sizes,
                 .n = model->summary.n,
                 .r = model->summary.rank,
                 .k = clustering->summary.k};
    status = armilla_take(context, q.k, (size_t)q.r * sizeof *q.sums, &q.sums);
    if (status == ARMILLA_OK) status = armilla_take(context, q.r, sizeof *q.v, &q.v);
    if (status == ARMILLA_OK) judge(&q, &found);
    armilla_release(context, q.v);
    armilla_release(context, q.sums);
    if (status == ARMILLA_OK) armilla_sized_write(&found, sizeof found, quality, size);
    return status;
}
