/* ||X - UV||^2 of given factors, in double, by plain loops. Dense columns by their residuals. Sparse ones by ||x||^2 -
 * 2c'v + v'Hv with c = U'x from the entries, which is O(r) per entry and O(r^2) per column; that cancels where a column
 * is fitted nearly exactly, and such a column is expanded after all. */
#include "model/model.h"

#include "base/size.h"
#include "base/team.h"
#include "data/column.h"
#include "data/traverse.h"

#include <math.h>
#include <string.h>

/* From this fraction of what was added up, half of the digits are left. */
#define CANCELLED 1e-6

enum { TOGETHER = 4 }; /* dense samples whose residuals are made at once, so that U is read once for them */

typedef struct residual_pass {
    int64_t r;
    armilla_type type;
    const double *U; /* m x r */
    const void *V;
    double *buffers; /* TOGETHER*(m + r) per thread */
    /* Sparse data: */
    const double *by_feature; /* U', r x m */
    const double *H;          /* U'U */
    const double *seen;       /* U'mean, where there is one */
    int64_t *rows;            /* m per thread */
} residual_pass;

static double expanded_residual(const residual_pass *p, const armilla_panel *panel, int64_t j, const double *v,
                                double *x)
{
    const int64_t m = panel->data->m;
    panel->data->ops->expand(panel, j, x);
    for (int64_t k = 0; k < p->r; k++)
        for (int64_t i = 0; i < m && v[k] != 0; i++) x[i] -= v[k] * p->U[k * m + i];
    return armilla_dot(m, x, x);
}

/* (sum_k |v_k| ||u_k||)^2: what v'Hv is added up from, which is much more where atoms cancel each other. */
static double reach_bound(int64_t r, const double *H, const double *v)
{
    double sum = 0;
    for (int64_t k = 0; k < r; k++) sum += fabs(v[k]) * sqrt(H[k * r + k]);
    return sum * sum;
}

/* v'Hv */
static double gram_square(int64_t r, const double *H, const double *v)
{
    double sum = 0;
    for (int64_t k = 0; k < r; k++)
        if (v[k] != 0) sum += v[k] * armilla_dot(r, H + k * r, v);
    return sum;
}

static double sparse_residual(const residual_pass *p, const armilla_panel *panel, int64_t j, const double *v, double *c,
                              armilla_column_buffer buffer)
{
    const int64_t r = p->r;
    const armilla_column x = armilla_panel_column(panel, j, buffer);
    const double square = armilla_column_square(&x), product_square = gram_square(r, p->H, v);
    for (int64_t k = 0; k < r; k++) c[k] = x.mean ? -x.shift * p->seen[k] : 0;
    for (int64_t i = 0; i < x.count; i++)
        for (int64_t k = 0; k < r; k++) c[k] += x.values[i] * p->by_feature[x.rows[i] * r + k];
    const double residual = square - 2 * armilla_dot(r, c, v) + product_square;
    /* c has lost digits too where the mean is long beside what is left of the column. */
    const double own = armilla_dot(x.count, x.values, x.values);
    const double added = own + x.shift * x.shift * x.mean_squared + reach_bound(r, p->H, v);
    return residual > CANCELLED * added ? residual : expanded_residual(p, panel, j, v, buffer.values);
}

static void add_sparse(const residual_pass *p, const armilla_panel *panel, int thread, double *sums)
{
    const int64_t m = panel->data->m, r = p->r;
    double *x = p->buffers + thread * TOGETHER * (m + r), *v = x + m, *c = x + m + r;
    const armilla_column_buffer buffer = {p->rows + thread * m, x};
    for (int64_t j = 0; j < panel->count; j++) {
        const size_t place = (size_t)((panel->first + j) * r) * armilla_type_size(p->type);
        armilla_fetch(p->type, r, (const char *)p->V + place, v);
        sums[0] += sparse_residual(p, panel, j, v, c, buffer);
    }
}

/* x_c -= u_0 v_0c + u_1 v_1c for TOGETHER columns of x and of v, which are m and r numbers each. */
static void subtract_pair(int64_t m, int64_t r, const double *restrict U, const double *v, double *restrict x)
{
    const double *restrict a = U, *restrict b = U + m;
    double *restrict x0 = x, *restrict x1 = x0 + m, *restrict x2 = x1 + m, *restrict x3 = x2 + m;
    const double *v0 = v, *v1 = v0 + r, *v2 = v1 + r, *v3 = v2 + r;
    const double a0 = v0[0], a1 = v1[0], a2 = v2[0], a3 = v3[0], b0 = v0[1], b1 = v1[1], b2 = v2[1], b3 = v3[1];
    for (int64_t i = 0; i < m; i++) {
        x0[i] -= a0 * a[i] + b0 * b[i];
        x1[i] -= a1 * a[i] + b1 * b[i];
        x2[i] -= a2 * a[i] + b2 * b[i];
        x3[i] -= a3 * a[i] + b3 * b[i];
    }
}

static void subtract_one(int64_t m, int64_t r, const double *U, const double *v, double *x)
{
    for (int64_t c = 0; c < TOGETHER; c++)
        for (int64_t i = 0; i < m && v[c * r] != 0; i++) x[c * m + i] -= v[c * r] * U[i];
}

static void add_dense(const residual_pass *p, const armilla_panel *panel, int thread, double *sums)
{
    const int64_t m = panel->data->m, r = p->r;
    double *x = p->buffers + thread * TOGETHER * (m + r), *v = x + TOGETHER * m;
    for (int64_t j = 0; j < panel->count; j += TOGETHER) {
        const int64_t count = armilla_min64(TOGETHER, panel->count - j);
        const size_t place = (size_t)((panel->first + j) * r) * armilla_type_size(p->type);
        int64_t k = 0;
        memset(x, 0, (size_t)(TOGETHER * (m + r)) * sizeof *x); /* where there are fewer samples, zeros */
        armilla_fetch(p->type, r * count, (const char *)p->V + place, v);
        for (int64_t c = 0; c < count; c++) panel->data->ops->expand(panel, j + c, x + c * m);
        for (; k + 2 <= r; k += 2) subtract_pair(m, r, p->U + k * m, v + k, x);
        if (k < r) subtract_one(m, r, p->U + k * m, v + k, x);
        sums[0] += armilla_dot(TOGETHER * m, x, x);
    }
}

static armilla_status add_residuals(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const residual_pass *p = self;
    if (p->by_feature)
        add_sparse(p, panel, thread, sums);
    else
        add_dense(p, panel, thread, sums);
    return ARMILLA_OK;
}

/* U', then H = U'U and U'mean, feature by feature. */
static void look_at_basis(const armilla_data *X, int64_t r, const double *U, double *by_feature, double *H,
                          double *seen)
{
    const int64_t m = X->m;
    const double *mean = armilla_sparse_of(X)->mean;
    for (int64_t k = 0; k < r; k++)
        for (int64_t i = 0; i < m; i++) by_feature[i * r + k] = U[k * m + i];
    for (int64_t i = 0; i < m; i++) {
        const double *u = by_feature + i * r;
        for (int64_t a = 0; a < r; a++) {
            if (u[a] == 0) continue;
            for (int64_t b = 0; b < r; b++) H[a * r + b] += u[a] * u[b];
            if (mean) seen[a] += u[a] * mean[i];
        }
    }
}

/* What sparse data need beside; by_feature, H and seen are one block. */
static armilla_status take_sparse(armilla_context *context, const armilla_data *X, int64_t threads, residual_pass *pass,
                                  double **block)
{
    const int64_t m = X->m, r = pass->r;
    armilla_status status = armilla_take(context, m * r + r * r + r, sizeof **block, block);
    if (status == ARMILLA_OK) status = armilla_take(context, threads * m, sizeof *pass->rows, &pass->rows);
    if (status != ARMILLA_OK) return status;
    look_at_basis(X, r, pass->U, *block, *block + m * r, *block + m * r + r * r);
    pass->by_feature = *block;
    pass->H = *block + m * r;
    pass->seen = *block + m * r + r * r;
    return ARMILLA_OK;
}

armilla_status armilla_residual(armilla_context *context, const armilla_data *X, const armilla_factorization *of,
                                double *squared)
{
    const armilla_type type = of->type;
    const int64_t r = of->r;
    residual_pass pass = {.r = r, .type = type, .V = of->V};
    armilla_traversal *traversal = NULL;
    double *doubles = NULL, *block = NULL;
    const armilla_traversal_plan plan = {.X = X, .kernels = armilla_kernels_for(context, type), .length = 1};
    armilla_status status = armilla_traversal_new(context, &plan, &traversal);
    const int64_t used = status == ARMILLA_OK ? armilla_traversal_threads(traversal) : 0;
    if (status == ARMILLA_OK) status = armilla_take(context, X->m * r, sizeof(double), &doubles);
    if (status == ARMILLA_OK)
        status = armilla_take(context, used * TOGETHER * (X->m + r), sizeof(double), &pass.buffers);
    if (status == ARMILLA_OK) {
        armilla_fetch(type, X->m * r, of->U, doubles);
        pass.U = doubles;
    }
    if (status == ARMILLA_OK && armilla_sparse_of(X)) status = take_sparse(context, X, used, &pass, &block);
    if (status == ARMILLA_OK) status = armilla_traverse(traversal, 1, add_residuals, &pass, squared);
    armilla_release(context, pass.rows);
    armilla_release(context, block);
    armilla_release(context, pass.buffers);
    armilla_release(context, doubles);
    armilla_traversal_free(traversal);
    return status;
}
