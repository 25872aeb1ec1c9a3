/* Angles between samples as a model rebuilds them, from its codes alone. */
#include "cluster/top.h"

#include "linalg/dense.h"
#include "linalg/kernels.h"

#include <math.h>

/* H = U'U in double, and the lengths of atoms. */
static void fill(const armilla_model *model, double *U, armilla_metric *metric)
{
    const int64_t m = model->summary.m, r = metric->r;
    armilla_fetch(model->summary.precision, m * r, model->U, U);
    for (int64_t k = 0; k < r; k++) {
        double square = 0;
        for (int64_t i = 0; i < m; i++) square += U[k * m + i] * U[k * m + i];
        metric->norms[k] = sqrt(square);
    }
    if (metric->H) armilla_gram(m, r, U, metric->H);
}

armilla_status armilla_metric_make(armilla_context *context, const armilla_model *model, armilla_metric *metric)
{
    const int64_t m = model->summary.m, r = model->summary.rank;
    const bool identity = model->basis->gram_is_identity;
    double *U = NULL;
    *metric = (armilla_metric){.r = r};
    armilla_status status = armilla_blas_enter(context, 1);
    if (status != ARMILLA_OK) return status;
    status = armilla_take(context, r, (size_t)m * sizeof *U, &U);
    if (status == ARMILLA_OK) status = armilla_take(context, r, sizeof *metric->norms, &metric->norms);
    if (status == ARMILLA_OK) status = armilla_take(context, r, sizeof *metric->buffer, &metric->buffer);
    if (status == ARMILLA_OK && !identity) status = armilla_take(context, r, (size_t)r * sizeof *metric->H, &metric->H);
    if (status == ARMILLA_OK) fill(model, U, metric);
    armilla_release(context, U);
    armilla_blas_leave();
    return status;
}

void armilla_metric_release(armilla_context *context, armilla_metric *metric)
{
    armilla_release(context, metric->buffer);
    armilla_release(context, metric->norms);
    armilla_release(context, metric->H);
    *metric = (armilla_metric){0};
}

void armilla_metric_apply(const armilla_metric *metric, const double *v, double *to)
{
    const int64_t r = metric->r;
    for (int64_t k = 0; k < r; k++) to[k] = metric->H ? 0 : v[k];
    for (int64_t l = 0; l < r && metric->H; l++)
        for (int64_t k = 0; k < r && v[l] != 0; k++) to[k] += v[l] * metric->H[l * r + k];
}
