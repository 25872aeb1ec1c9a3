/* Codes of samples for a fixed basis and radius, and the residual of given codes. */
#include "model/model.h"

#include "base/size.h"
#include "base/threads.h"
#include "solve/sweep.h"

#include <math.h>
#include <string.h>

/* The column problem min ||x - Uv||^2 over v in the set, ||v|| = l, from c = U'x. */
typedef struct column_problem {
    const armilla_code_set *codes;
    int64_t r, s;
    double l;
    bool exact;      /* U'U = I: v = l*Proj(c) is the answer */
    double *pull;    /* alpha*I - H with alpha >= sigma_1(H), r x r */
    double settled;  /* a step of w shorter than this is the last */
} column_problem;

enum { MOST_STEPS = 2000 };

static void first_direction(const column_problem *p, const double *c, double *w)
{
    if (p->codes->project(p->r, p->s, c, w)) return;
    memset(w, 0, (size_t)p->r * sizeof *w);
    w[0] = 1;
}

/* w <- Proj(c + (alpha*I - H)lw): (A6) in Gram space. Returns how far w moved. */
static double gram_step(const column_problem *p, const double *c, double *w, double *q, double *next)
{
    double moved = 0;
    memcpy(q, c, (size_t)p->r * sizeof *q);
    for (int64_t a = 0; a < p->r; a++) {
        const double v = p->l * w[a];
        if (v == 0) continue;
        for (int64_t k = 0; k < p->r; k++) q[k] += p->pull[a * p->r + k] * v;
    }
    if (!p->codes->project(p->r, p->s, q, next)) return 0;
    for (int64_t k = 0; k < p->r; k++) {
        moved += (next[k] - w[k]) * (next[k] - w[k]);
        w[k] = next[k];
    }
    return sqrt(moved);
}

static void solve_panel(void *self, const armilla_code_panel *panel)
{
    const column_problem *p = self;
    for (int64_t j = 0; j < panel->count; j++) {
        const double *c = panel->C + j * p->r;
        double *w = panel->W + j * p->r, *q = panel->scratch, *next = panel->scratch + p->r;
        first_direction(p, c, w);
        for (int step = 0; step < MOST_STEPS && !p->exact; step++)
            if (gram_step(p, c, w, q, next) <= p->settled) break;
    }
}

static armilla_status take_pull(armilla_context *context, const armilla_model *model, column_problem *p)
{
    const int64_t m = model->summary.m, r = model->summary.rank;
    armilla_algebra *algebra = NULL;
    double *U = NULL, largest = 0;
    armilla_status status = armilla_take(context, r * r, sizeof(double), &p->pull);
    if (status == ARMILLA_OK) status = armilla_take(context, m * r, sizeof(double), &U);
    if (status == ARMILLA_OK) status = armilla_algebra_new(context, m, r, &algebra);
    if (status == ARMILLA_OK) {
        armilla_fetch(model->summary.precision, m * r, model->U, U);
        armilla_gram(m, r, U, p->pull);
        status = armilla_largest_eigenvalue(algebra, r, p->pull, &largest);
    }
    for (int64_t i = 0; i < r * r && status == ARMILLA_OK; i++)
        p->pull[i] = (i % (r + 1) == 0 ? largest : 0) - p->pull[i];
    armilla_algebra_free(algebra);
    armilla_release(context, U);
    return status;
}

/* V = lW in place. */
static void scale_codes(armilla_type type, int64_t r, int64_t n, double l, double *column, void *codes)
{
    for (int64_t j = 0; j < n; j++) {
        char *place = (char *)codes + (size_t)(j * r) * armilla_type_size(type);
        armilla_fetch(type, r, place, column);
        for (int64_t k = 0; k < r; k++) column[k] *= l;
        armilla_store(type, r, column, place);
    }
}

armilla_status armilla_solve_codes(armilla_context *context, const armilla_model *model, const armilla_data *view,
                                   int threads, void *codes)
{
    const armilla_model_summary *s = &model->summary;
    column_problem p = {.codes = model->codes, .r = s->rank, .s = s->sparsity, .l = s->radius,
                        .exact = model->basis->gram_is_identity, .settled = 4 * armilla_epsilon(s->precision)};
    const armilla_sweep_plan plan = {.U = model->U, .codes = codes, .step = solve_panel, .self = &p};
    armilla_sweep *sweep = NULL;
    double *column = NULL;
    armilla_status status = armilla_take(context, p.r, sizeof *column, &column);
    if (status == ARMILLA_OK) status = armilla_sweep_new(context, view, s->precision, p.r, 0, threads, &sweep);
    if (status == ARMILLA_OK && !p.exact) status = take_pull(context, model, &p);
    if (status == ARMILLA_OK) {
        memset(codes, 0, (size_t)(p.r * view->n) * armilla_type_size(s->precision)); /* no previous codes */
        status = armilla_sweep_run(sweep, &plan);
    }
    if (status == ARMILLA_OK) scale_codes(s->precision, p.r, view->n, p.l, column, codes);
    armilla_sweep_free(sweep);
    armilla_release(context, p.pull);
    armilla_release(context, column);
    return status;
}

enum { TOGETHER = 4 }; /* samples whose residuals are made at once, so that U is read once for them */

typedef struct residual_pass {
    int64_t r;
    armilla_type type;
    const double *U;
    const void *V;
    double *rooms; /* TOGETHER*(m + r) per thread */
} residual_pass;

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

static armilla_status add_residuals(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const residual_pass *p = self;
    const int64_t m = panel->data->m, r = p->r;
    double *x = p->rooms + thread * TOGETHER * (m + r), *v = x + TOGETHER * m;
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
    return ARMILLA_OK;
}

armilla_status armilla_residual(armilla_context *context, const armilla_data *X, armilla_type type, int threads,
                                int64_t r, const void *U, const void *V, double *squared)
{
    double *wide = NULL, *rooms = NULL;
    armilla_status status = armilla_take(context, X->m * r, sizeof(double), &wide);
    if (status == ARMILLA_OK)
        status = armilla_take(context, armilla_threads_choose(threads) * TOGETHER * (X->m + r), sizeof(double), &rooms);
    if (status == ARMILLA_OK) {
        residual_pass pass = {r, type, wide, V, rooms};
        armilla_fetch(type, X->m * r, U, wide);
        status = armilla_traverse_once(context, X, type, threads, 1, add_residuals, &pass, squared);
    }
    armilla_release(context, rooms);
    armilla_release(context, wide);
    return status;
}
