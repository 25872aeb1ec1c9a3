/* ||X - UV||^2 of given factors, in double. Dense columns by their residuals. Sparse ones by ||x||^2 - 2c'v + v'Hv with
 * c = U'x from the entries, which is O(r) per entry and O(r^2) per column; that cancels where a column is fitted nearly
 * exactly, and such a column is expanded after all. */
#include "model/model.h"

#include "base/size.h"
#include "base/team.h"
#include "data/column.h"
#include "data/traverse.h"
#include "linalg/column_kernels.h"

#include <math.h>
#include <string.h>

/* From this fraction of what was added up, half of the digits are left. */
#define CANCELLED 1e-6

enum { TOGETHER = ARMILLA_RESIDUALS };

typedef struct residual_pass {
    int64_t r;
    armilla_type type;
    const void *typed, *V; /* the factors, in the type */
    int64_t buffer;        /* numbers for each thread */
    double *buffers;
    int64_t *rows; /* for each thread: m features of a sparse column, or r atoms */
    const armilla_column_kernels *kernels;
    void (*add)(int64_t count, double factor, const void *from, double *to);
    int64_t features; /* dense data: m in whole vectors, */
    const double *U;  /* and that x r */
    /* Sparse data: */
    const void *by_feature; /* U', r x m in the type */
    const double *H;        /* U'U */
    const double *seen;     /* U'mean, where there is one */
} residual_pass;

/* to += factor * count numbers of the type, from the one at `at` on. */
static void add_multiple(const residual_pass *p, const void *from, int64_t at, int64_t count, double factor, double *to)
{
    p->add(count, factor, (const char *)from + (size_t)at * armilla_type_size(p->type), to);
}

static double expanded_residual(const residual_pass *p, const armilla_panel *panel, int64_t j, const double *v,
                                double *x)
{
    const int64_t m = panel->data->m;
    panel->data->ops->expand(panel, j, x);
    for (int64_t k = 0; k < p->r; k++)
        if (v[k] != 0) add_multiple(p, p->typed, k * m, m, -v[k], x);
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
    for (int64_t i = 0; i < x.count; i++) add_multiple(p, p->by_feature, x.rows[i] * r, r, x.values[i], c);
    const double residual = square - 2 * armilla_dot(r, c, v) + product_square;
    /* c has lost digits too where the mean is long beside what is left of the column. */
    const double own = armilla_dot(x.count, x.values, x.values);
    const double added = own + x.shift * x.shift * x.mean_squared + reach_bound(r, p->H, v);
    return residual > CANCELLED * added ? residual : expanded_residual(p, panel, j, v, buffer.values);
}

static void add_sparse(const residual_pass *p, const armilla_panel *panel, int thread, double *sums)
{
    const int64_t m = panel->data->m, r = p->r;
    double *x = p->buffers + thread * p->buffer, *v = x + m, *c = x + m + r;
    const armilla_column_buffer buffer = {p->rows + thread * m, x};
    for (int64_t j = 0; j < panel->count; j++) {
        const size_t place = (size_t)((panel->first + j) * r) * armilla_type_size(p->type);
        armilla_fetch(p->type, r, (const char *)p->V + place, v);
        sums[0] += sparse_residual(p, panel, j, v, c, buffer);
    }
}

/* Whether any of these samples uses the atom: of codes with few entries most are not used. */
static bool is_used(int64_t r, const double *v)
{
    bool used = false;
    for (int64_t c = 0; c < TOGETHER; c++) used |= v[c * r] != 0;
    return used;
}

static void add_dense(const residual_pass *p, const armilla_panel *panel, int thread, double *sums)
{
    const int64_t r = p->r;
    double *x = p->buffers + thread * p->buffer, *v = x + TOGETHER * p->features;
    int64_t *atoms = p->rows + thread * r;
    armilla_residuals residuals = {.m = p->features, .r = r, .U = p->U, .v = v, .atoms = atoms, .x = x};
    for (int64_t j = 0; j < panel->count; j += TOGETHER) {
        const int64_t count = armilla_min64(TOGETHER, panel->count - j);
        const size_t place = (size_t)((panel->first + j) * r) * armilla_type_size(p->type);
        if (count < TOGETHER) memset(x, 0, (size_t)p->buffer * sizeof *x); /* for those that are not there */
        armilla_fetch(p->type, r * count, (const char *)p->V + place, v);
        for (int64_t c = 0; c < count; c++) panel->data->ops->expand(panel, j + c, x + c * p->features);
        residuals.count = 0;
        for (int64_t k = 0; k < r; k++)
            if (is_used(r, v + k)) atoms[residuals.count++] = k;
        sums[0] += p->kernels->residuals(&residuals);
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

enum { MOST_PARTS = 8, PART_FEATURES = 1024 };

/* U', and of each part of the features what they add to H = U'U and U'mean. */
typedef struct looking {
    const armilla_data *X;
    const residual_pass *pass;
    int64_t parts;
    char *by_feature;
    double *sums; /* r*r + r for each part */
} looking;

static void turn_features(const looking *look, int64_t first, int64_t last)
{
    const int64_t m = look->X->m, r = look->pass->r;
    const size_t size = armilla_type_size(look->pass->type);
    for (int64_t k = 0; k < r; k++)
        for (int64_t i = first; i < last; i++)
            memcpy(look->by_feature + (size_t)(i * r + k) * size,
                   (const char *)look->pass->typed + (size_t)(k * m + i) * size, size);
}

static void look_at_part(const looking *look, int64_t part)
{
    enum { TURNED = 64 }; /* features whose numbers stay in a cache */
    const int64_t m = look->X->m, r = look->pass->r, end = m / look->parts * (part + 1);
    const int64_t last = part + 1 < look->parts ? end : m;
    const double *mean = armilla_sparse_of(look->X)->mean;
    double *H = look->sums + part * (r * r + r), *seen = H + r * r;
    for (int64_t i = m / look->parts * part; i < last; i++) {
        if (i % TURNED == 0 || i == m / look->parts * part)
            turn_features(look, i, armilla_min64((i / TURNED + 1) * TURNED, last));
        for (int64_t a = 0; a < r; a++) {
            double u = 0;
            armilla_fetch(look->pass->type, 1,
                          look->by_feature + (size_t)(i * r + a) * armilla_type_size(look->pass->type), &u);
            if (u == 0) continue;
            add_multiple(look->pass, look->by_feature, i * r, r, u, H + a * r);
            if (mean) seen[a] += u * mean[i];
        }
    }
}

static void look_at_parts(void *self, int64_t first, int64_t last)
{
    for (int64_t part = first; part < last; part++) look_at_part(self, part);
}

/* What sparse data need beside. */
static armilla_status take_sparse(armilla_context *context, const armilla_traversal *traversal, residual_pass *pass,
                                  looking *look)
{
    const armilla_data *X = armilla_traversal_data(traversal);
    const int64_t r = pass->r, numbers = r * r + r;
    *look = (looking){.X = X, .pass = pass};
    look->parts = armilla_max64(1, armilla_min64(MOST_PARTS, X->m / armilla_max64(r, PART_FEATURES)));
    armilla_status status = armilla_grow(context, X->m * r, armilla_type_size(pass->type), &look->by_feature);
    if (status == ARMILLA_OK) status = armilla_take(context, look->parts * numbers, sizeof(double), &look->sums);
    if (status != ARMILLA_OK) return status;
    armilla_team_share(armilla_traversal_team(traversal), look->parts, look_at_parts, look);
    for (int64_t part = 1; part < look->parts; part++)
        for (int64_t i = 0; i < numbers; i++) look->sums[i] += look->sums[part * numbers + i];
    pass->by_feature = look->by_feature;
    pass->H = look->sums;
    pass->seen = look->sums + r * r;
    return ARMILLA_OK;
}

armilla_status armilla_residual(armilla_context *context, const armilla_data *X, const armilla_factorization *of,
                                double *squared)
{
    const armilla_type type = of->type;
    const int64_t r = of->r;
    const bool sparse = armilla_sparse_of(X) != NULL;
    residual_pass pass = {.r = r, .type = type, .typed = of->U, .V = of->V};
    pass.kernels = armilla_column_kernels_for(context);
    pass.add = pass.kernels->add[type];
    armilla_traversal *traversal = NULL;
    double *doubles = NULL;
    looking look = {0};
    const armilla_traversal_plan plan = {.X = X, .kernels = armilla_kernels_for(context, type), .length = 1};
    armilla_status status = armilla_traversal_new(context, &plan, &traversal);
    const int64_t used = status == ARMILLA_OK ? armilla_traversal_threads(traversal) : 0;
    pass.features = (X->m + ARMILLA_RESIDUAL_FEATURES - 1) / ARMILLA_RESIDUAL_FEATURES * ARMILLA_RESIDUAL_FEATURES;
    pass.buffer = sparse ? X->m + 2 * r : TOGETHER * (pass.features + r);
    if (status == ARMILLA_OK) status = armilla_take(context, used * pass.buffer, sizeof(double), &pass.buffers);
    if (status == ARMILLA_OK) status = armilla_take(context, used * (sparse ? X->m : r), sizeof *pass.rows, &pass.rows);
    if (status == ARMILLA_OK && !sparse) status = armilla_take(context, pass.features * r, sizeof(double), &doubles);
    for (int64_t k = 0; k < r && status == ARMILLA_OK && !sparse; k++)
        armilla_fetch(type, X->m, (const char *)of->U + (size_t)(k * X->m) * armilla_type_size(type),
                      doubles + k * pass.features);
    pass.U = doubles;
    if (status == ARMILLA_OK && sparse) status = take_sparse(context, traversal, &pass, &look);
    if (status == ARMILLA_OK) status = armilla_traverse(traversal, 1, add_residuals, &pass, squared);
    armilla_release(context, pass.rows);
    armilla_release(context, look.sums);
    armilla_release(context, look.by_feature);
    armilla_release(context, pass.buffers);
    armilla_release(context, doubles);
    armilla_traversal_free(traversal);
    return status;
}
