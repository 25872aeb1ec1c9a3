/* An independent look at a model: plain loops over its factors and the data, no BLAS, nothing of the solver. */
#include "model/model.h"

#include "data/traverse.h"
#include "sets/column.h"
#include "solve/problem.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* The promises, in units of the working precision's epsilon. */
/* How far sealing may raise the objective, as a fraction of ||X||^2. */
#define SEAL_SLACK 1e-6

enum { OBJECTIVE_SLACK = 50, RISE_SLACK = 100, NORM_SLACK = 10, ORTHONORMAL_SLACK = 30 };

/* Only the first difference is told. */
static void find(armilla_check *check, bool differs, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void find(armilla_check *check, bool differs, const char *format, ...)
{
    va_list arguments;
    if (!differs || check->finding[0]) return;
    va_start(arguments, format);
    vsnprintf(check->finding, sizeof check->finding, format, arguments);
    va_end(arguments);
    check->passed = false;
}

static void look_at_basis(const armilla_model *model, const double *U, armilla_check *check)
{
    const armilla_model_summary *s = &model->summary;
    const armilla_basis_set *basis = model->basis;
    if (basis->gram_is_identity) check->orthonormal_violation = armilla_skewness(s->m, s->rank, U);
    if (!basis->is_signed) check->basis_negative = armilla_most_negative(s->m * s->rank, U);
    if (!basis->gram_is_identity && !basis->scalable) check->unit_violation = basis->violation(s->m, s->rank, U);
    if (basis->one_atom_per_row) check->row_nonzeros = armilla_fullest_row(s->m, s->rank, U);
}

static void look_at_codes(const armilla_model *model, double *v, armilla_check *check)
{
    const armilla_model_summary *s = &model->summary;
    for (int64_t j = 0; j < s->n; j++) {
        const size_t place = (size_t)(j * s->rank) * armilla_type_size(s->precision);
        double sum = 0;
        int64_t nonzeros = 0, ones = 0;
        armilla_fetch(s->precision, s->rank, (const char *)model->V + place, v);
        for (int64_t k = 0; k < s->rank; k++) {
            const double w = v[k] / armilla_model_code_length(model); /* so that no square overflows */
            sum += w * w;
            nonzeros += v[k] != 0;
            ones += v[k] == 1;
            if (model->codes->nonnegative) check->codes_negative = fmax(check->codes_negative, -v[k]);
        }
        if (model->codes->spherical) check->radius_violation = fmax(check->radius_violation, fabs(sqrt(sum) - 1));
        if (!model->codes->spherical && !model->codes->conic) check->not_one_hot += ones != 1 || nonzeros != 1;
        if (nonzeros > check->most_nonzeros) check->most_nonzeros = nonzeros;
    }
}

static void look_at_trace(const armilla_model *model, double rounding, armilla_check *check)
{
    check->rises_expected = model->unsafe;
    for (int64_t k = 1; k < model->trace_count; k++)
        check->rises += model->trace[k].objective - model->trace[k - 1].objective >
                        RISE_SLACK * rounding * fmax(1, model->trace[k].objective / model->summary.squared_norm);
}

/* Every entry finite, its relative error that of its objective. */
static bool trace_holds(const armilla_model *model)
{
    for (int64_t k = 0; k < model->trace_count; k++) {
        const armilla_trace_entry *e = &model->trace[k];
        const double error = sqrt(e->objective / model->summary.squared_norm);
        const bool radius = model->codes->spherical ? isfinite(e->radius) : isnan(e->radius);
        if (!(fabs(e->relative_error - error) <= 1e-12) || !radius || !isfinite(e->dU + e->dV + e->seconds))
            return false;
    }
    return true;
}

/* The model is the trace's last state; a sealed one is in canonical form, and may end a little above it or below. */
static void judge_end(const armilla_model *model, const armilla_data_facts *facts, armilla_check *check)
{
    const armilla_model_summary *s = &model->summary;
    const armilla_trace_entry *last = &model->trace[model->trace_count - 1];
    const bool sealed = armilla_solvers_find(s->solver)->sealed;
    find(check, !sealed && model->codes->spherical && last->radius != s->radius,
         "the last radius of the trace, %.17g, is not the model's", last->radius);
    find(check,
         sealed ? s->objective > last->objective + SEAL_SLACK * facts->squared_norm : s->objective != last->objective,
         "the objective %.17g does not follow from the last entry of the trace, %.17g", s->objective, last->objective);
}

static void judge(const armilla_model *model, const armilla_data_facts *facts, armilla_check *check)
{
    const armilla_model_summary *s = &model->summary;
    const double epsilon = armilla_epsilon(s->precision);
    const double slack = OBJECTIVE_SLACK * epsilon * facts->squared_norm;
    const double orthonormal = ORTHONORMAL_SLACK * sqrt((double)s->m) * epsilon;
    check->passed = true;
    find(check, !check->fingerprint_matches, "the data are not the ones the model was fitted to (fingerprints differ)");
    find(check, !(fabs(check->objective_found - check->objective_stated) <= slack),
         "the model states an objective of %.17g, the data give %.17g", check->objective_stated,
         check->objective_found);
    find(check, !(check->orthonormal_violation <= orthonormal), "U'U differs from I by %.3g, more than %.3g",
         check->orthonormal_violation, orthonormal);
    find(check, !(check->unit_violation <= orthonormal), "an atom's length differs from 1 by %.3g, more than %.3g",
         check->unit_violation, orthonormal);
    find(check, check->row_nonzeros > 1, "a row of U has %" PRId64 " nonzeros, more than 1", check->row_nonzeros);
    find(check, check->not_one_hot > 0, "%" PRId64 " codes are not one entry 1 and zeros", check->not_one_hot);
    find(check, !(check->basis_negative <= 0), "U has a negative entry, -%.3g", check->basis_negative);
    find(check, check->codes_negative > 0, "V has a negative entry, -%.3g", check->codes_negative);
    find(check, !(check->radius_violation <= NORM_SLACK * epsilon),
         "a code's length differs from the radius %.17g by a factor of 1 + %.3g", s->radius, check->radius_violation);
    find(check, s->sparsity > 0 && check->most_nonzeros > s->sparsity,
         "a code has %" PRId64 " nonzeros, more than %" PRId64, check->most_nonzeros, s->sparsity);
    find(check, check->rises > 0 && !check->rises_expected,
         "the objective rose in %" PRId64 " iterations although lambda and mu were safe", check->rises);
    find(check, !(fabs(s->squared_norm - facts->squared_norm) <= slack),
         "the model states ||X||^2 = %.17g, the data give %.17g", s->squared_norm, facts->squared_norm);
    find(check, !(fabs(s->relative_error - sqrt(s->objective / s->squared_norm)) <= 1e-12),
         "the relative error %.17g does not follow from the objective", s->relative_error);
    find(check, !trace_holds(model), "the trace has a value that is not finite or does not follow from the others");
    judge_end(model, facts, check);
}

armilla_status armilla_model_check(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                   armilla_check *check)
{
    const armilla_model_summary *s = &model->summary;
    armilla_check found = {.objective_stated = s->objective, .radius_stated = s->radius};
    armilla_view view = {0};
    armilla_data_facts facts;
    double *numbers = NULL;
    const int threads = armilla_threads_choose(0);
    armilla_status status = armilla_model_view(context, model, X, true, &view);
    if (status != ARMILLA_OK) goto done;
    if (view.raw->n != s->n) {
        status = armilla_fail(context, ARMILLA_BAD_DATA,
                              "the data have %" PRId64 " samples, the model was fitted to %" PRId64, view.raw->n, s->n);
        goto done;
    }
    if ((status = armilla_survey(context, view.data, s->precision, threads, &facts, NULL)) != ARMILLA_OK) goto done;
    if ((status = armilla_view_finite(context, model, &view, &facts, s->precision)) != ARMILLA_OK) goto done;
    status = armilla_residual(context, view.data, s->precision, threads, s->rank, model->U, model->V,
                              &found.objective_found);
    if (status != ARMILLA_OK) goto done;
    if ((status = armilla_take(context, s->m * s->rank + s->rank, sizeof *numbers, &numbers)) != ARMILLA_OK) goto done;
    armilla_fetch(s->precision, s->m * s->rank, model->U, numbers);
    look_at_basis(model, numbers, &found);
    look_at_codes(model, numbers, &found); /* its first r numbers are room for a code */
    look_at_trace(model, armilla_epsilon(s->precision) * facts.squared_norm, &found);
    found.fingerprint_matches = facts.fingerprint == s->fingerprint;
    judge(model, &facts, &found);
    *check = found;
done:
    armilla_release(context, numbers);
    armilla_view_free(&view);
    return status;
}
