/* Clusters in a model: what a clustering found, kept with the codes that it was made of. */
#include "cluster/keep_clusters.h"

#include "linalg/kernels.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *method;
    armilla_rule how;
} rules[] = {
    {.method = "argmax", .how = ARMILLA_RULE_ATOMS},
    {.method = "kmeans", .how = ARMILLA_RULE_ANGLES},
    {.method = "euclidean", .how = ARMILLA_RULE_DISTANCES},
};

armilla_rule armilla_cluster_rule_of(const char *method)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].method, method) == 0) return rules[i].how;
    return ARMILLA_RULE_NEIGHBORS;
}

armilla_status armilla_cluster_rule_check(armilla_context *context, const armilla_model *model,
                                          const armilla_kept_clusters *kept)
{
    const int64_t r = model->summary.rank;
    if (armilla_cluster_rule_of(kept->method) != ARMILLA_RULE_ATOMS || kept->k == r) return ARMILLA_OK;
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "%" PRId64 " clusters by %s cannot be those of a model with %" PRId64
                        " atoms; cluster the model again",
                        kept->k, kept->method, r);
}

double armilla_code_fetch(const armilla_model *model, const void *codes, int64_t j, double *v)
{
    const armilla_type type = model->summary.precision;
    const int64_t r = model->summary.rank;
    double square = 0;
    armilla_fetch(type, r, (const char *)codes + (size_t)(j * r) * armilla_type_size(type), v);
    for (int64_t k = 0; k < r; k++) square += v[k] * v[k];
    return sqrt(square);
}

void armilla_code_fetch_unit(const armilla_model *model, const void *codes, int64_t j, double *v)
{
    const double length = armilla_code_fetch(model, codes, j, v);
    for (int64_t k = 0; k < model->summary.rank && length > 0; k++) v[k] /= length;
}

/* Means of the codes of each cluster, of unit codes where angles count; of an empty cluster 0. */
static void find_centres(const armilla_model *model, const int64_t *labels, armilla_kept_clusters *kept, double *v)
{
    const bool unit = armilla_cluster_rule_of(kept->method) == ARMILLA_RULE_ANGLES;
    const int64_t r = model->summary.rank;
    for (int64_t j = 0; j < model->summary.n; j++) {
        const double length = armilla_code_fetch(model, model->V, j, v), scale = unit && length > 0 ? length : 1;
        for (int64_t l = 0; l < r; l++) kept->centres[labels[j] * r + l] += v[l] / scale;
        kept->sizes[labels[j]]++;
    }
    for (int64_t c = 0; c < kept->k; c++)
        for (int64_t l = 0; l < r && kept->sizes[c] > 0; l++) kept->centres[c * r + l] /= (double)kept->sizes[c];
}

/* Memory comes from the model's context, since the clusters belong to the model: another context may end before it. */
static armilla_status fill(const armilla_model *model, const armilla_clustering *clustering,
                           armilla_kept_clusters *kept)
{
    armilla_context *context = model->context;
    const armilla_cluster_summary *s = &clustering->summary;
    double *v = NULL;
    kept->k = s->k;
    armilla_status status = armilla_take(context, (int64_t)strlen(s->method) + 1, 1, &kept->method);
    if (status == ARMILLA_OK) status = armilla_take(context, s->n, sizeof *kept->labels, &kept->labels);
    if (status == ARMILLA_OK) status = armilla_take(context, s->k, sizeof *kept->sizes, &kept->sizes);
    if (status == ARMILLA_OK)
        status = armilla_take(context, s->k, (size_t)model->summary.rank * sizeof *kept->centres, &kept->centres);
    if (status == ARMILLA_OK) status = armilla_take(context, model->summary.rank, sizeof *v, &v);
    if (status == ARMILLA_OK) {
        strcpy(kept->method, s->method);
        memcpy(kept->labels, clustering->labels, (size_t)s->n * sizeof *kept->labels);
        find_centres(model, kept->labels, kept, v);
        status = armilla_cluster_rule_check(context, model, kept);
    }
    armilla_release(context, v);
    return status;
}

armilla_status armilla_model_keep_clusters(armilla_context *context, armilla_model *model,
                                           const armilla_clustering *clustering)
{
    armilla_kept_clusters kept = {0};
    armilla_status status = ARMILLA_NOT_NULL(context, model, clustering);
    if (status == ARMILLA_OK) status = armilla_model_is_whole(context, model);
    if (status == ARMILLA_OK && clustering->summary.n != model->summary.n)
        status = armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                              "the clusters are of %" PRId64 " samples, the model of %" PRId64
                              "; give clusters of its own samples",
                              clustering->summary.n, model->summary.n);
    if (status != ARMILLA_OK) return status;
    status = fill(model, clustering, &kept);
    if (status != ARMILLA_OK) {
        armilla_kept_clusters_release(model->context, &kept);
        return model->context == context ? status
                                         : armilla_fail(context, status, "%s", armilla_context_error(model->context));
    }
    armilla_kept_clusters_release(model->context, &model->clusters);
    model->clusters = kept;
    return ARMILLA_OK;
}

const int64_t *armilla_model_clusters(const armilla_model *model, int64_t *k)
{
    if (!model || !model->clusters.labels) return NULL;
    if (k) *k = model->clusters.k;
    return model->clusters.labels;
}
