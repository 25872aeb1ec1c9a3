/* armilla_model_update (docs/algorithm.md#new-samples): a model is continued on new samples without those that it was
 * fitted to. It is a fit of the new samples by solver `online` that begins with the model's basis, radius and
 * preparation, and with sums that stand for the samples before. A model that has been continued has these sums. Any
 * other has the codes of its samples, and at a minimum, where X = UV but for what no basis fits better,
 * A = XW' = lUWW': so sums are made from U and G = WW', whose best basis is U. */
#include "model/fit.h"

#include "base/number.h"
#include "base/ranks.h"

#include <inttypes.h>
#include <string.h>

armilla_status armilla_fit_check_continued(const armilla_fit_state *f)
{
    const int64_t m = f->continued->summary.m;
    if (f->X->m == m) return ARMILLA_OK;
    return armilla_fail(f->context, ARMILLA_BAD_DATA,
                        "the data have %" PRId64 " features and the model has %" PRId64
                        "; give samples with the features that it was fitted to",
                        f->X->m, m);
}

/* The sum over codes that come one after the other, in any pieces. */
typedef struct summing {
    const armilla_model *model;
    double *G, *w;
    char *code; /* the part of a code that is there, */
    size_t held;
} summing;

/* G += ww', with V = lW */
static void add_code(const summing *s)
{
    const int64_t r = s->model->summary.rank;
    const double l = armilla_model_code_length(s->model);
    armilla_fetch(s->model->summary.precision, r, s->code, s->w);
    for (int64_t k = 0; k < r; k++)
        for (int64_t i = 0; i < r && s->w[k] != 0; i++) s->G[k * r + i] += s->w[k] / l * (s->w[i] / l);
}

static armilla_status add_codes(void *self, const void *bytes, size_t count)
{
    summing *s = self;
    const armilla_model_summary *of = &s->model->summary;
    const size_t whole = (size_t)of->rank * armilla_type_size(of->precision);
    for (const char *from = bytes; count > 0;) {
        const size_t part = count < whole - s->held ? count : whole - s->held;
        memcpy(s->code + s->held, from, part);
        from += part;
        count -= part;
        s->held = (s->held + part) % whole;
        if (s->held == 0) add_code(s);
    }
    return ARMILLA_OK;
}

/* G = WW' of the model's codes. Those that ranks have fitted come to the first, so that they are added in one order. */
static armilla_status sum_codes(armilla_context *context, armilla_status status, const armilla_model *model, summing *s)
{
    const armilla_model_summary *of = &model->summary;
    const size_t column = (size_t)of->rank * armilla_type_size(of->precision);
    if (!model->spread || armilla_ranks_size(context) == 1) {
        if (status == ARMILLA_OK) status = armilla_model_is_whole(context, model);
        return status == ARMILLA_OK ? add_codes(s, model->V, (size_t)of->n * column) : status;
    }
    status = armilla_samples_put(context, status, &(armilla_putting){model->V, &model->share, column, add_codes, s});
    if (status != ARMILLA_OK) return status;
    return armilla_ranks_broadcast(context, s->G, (size_t)(of->rank * of->rank) * sizeof *s->G);
}

/* G = WW', A = lUG */
static armilla_status sums_of_codes(armilla_context *context, armilla_status status, const armilla_model *model,
                                    armilla_past *past)
{
    const armilla_model_summary *of = &model->summary;
    const int64_t m = of->m, r = of->rank;
    summing s = {.model = model, .G = past->G};
    double *U = NULL;
    if (status == ARMILLA_OK) status = armilla_take(context, r, sizeof(double), &s.w);
    if (status == ARMILLA_OK) status = armilla_take(context, r, armilla_type_size(of->precision), &s.code);
    if (status == ARMILLA_OK) status = armilla_take(context, m * r, sizeof(double), &U);
    if (status == ARMILLA_OK) status = armilla_blas_need(context, r);
    status = sum_codes(context, status, model, &s);
    if (status == ARMILLA_OK) {
        armilla_fetch(of->precision, m * r, model->U, U);
        armilla_multiply(m, r, r, armilla_model_code_length(model), U, past->G, 0, past->A);
        past->seen = past->total = (double)of->n;
    }
    armilla_release(context, U);
    armilla_release(context, s.code);
    armilla_release(context, s.w);
    return status;
}

armilla_status armilla_fit_take_past(armilla_fit_state *f)
{
    const armilla_model *model = f->continued;
    const int64_t m = model->summary.m, r = model->summary.rank;
    armilla_past *past = &f->model->past;
    armilla_status status = armilla_take(f->context, m * r, sizeof(double), &past->A);
    if (status == ARMILLA_OK) status = armilla_take(f->context, r * r, sizeof(double), &past->G);
    if (!model->past.A)
        status = sums_of_codes(f->context, status, model, past);
    else if (status == ARMILLA_OK) {
        memcpy(past->A, model->past.A, (size_t)(m * r) * sizeof(double));
        memcpy(past->G, model->past.G, (size_t)(r * r) * sizeof(double));
        past->seen = model->past.seen;
        past->total = model->past.total;
    }
    f->problem->past = past;
    return status;
}

armilla_status armilla_fit_start_continued(armilla_fit_state *f)
{
    const armilla_model *model = f->continued;
    const int64_t count = f->problem->m * f->problem->r;
    double *U = NULL;
    armilla_status status = armilla_take(f->context, count, sizeof(double), &U);
    if (status == ARMILLA_OK) {
        armilla_fetch(model->summary.precision, count, model->U, U);
        status = armilla_start_from_sketch(f->problem, U, armilla_model_code_length(model));
    }
    armilla_release(f->context, U);
    return status;
}

/* What the model is, in place of what the options say of it. */
static void describe(const armilla_model *model, armilla_options *options)
{
    const armilla_model_summary *s = &model->summary;
    armilla_model_preparation(model, options);
    options->rank = s->rank;
    options->model = NULL;
    options->basis = s->basis;
    options->codes = s->codes;
    options->sparsity = s->sparsity;
    options->solver = armilla_solver_online.name;
    options->precision = armilla_type_word(s->precision);
    options->start = NULL;
    options->start_basis = NULL;
    options->start_model = NULL;
    options->restarts = 1;
}

armilla_status armilla_model_update(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                    const armilla_options *options, armilla_model **updated)
{
    armilla_options whole;
    armilla_status status = ARMILLA_NOT_NULL(context, model, X, options, updated);
    if (status == ARMILLA_OK) status = armilla_options_read(context, options, &whole);
    if (status != ARMILLA_OK) return status;
    describe(model, &whole);
    status = armilla_fit_continue(context, model, X, &whole, updated);
    if (status == ARMILLA_OK && model->reading_text)
        status = armilla_model_set_reading(context, *updated, model->reading_text);
    return status;
}
