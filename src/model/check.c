/* An independent look at a model: its factors, its trace and its record against the data, by plain loops that share
 * nothing with the fit (model/check.h). Every tolerance is what rounding can explain, from the machine's epsilon, the
 * shape and the sizes of what is added; docs/model-file.md lists them. */
#include "model/check.h"
#include "base/workload.h"
#include "data/sparse.h"

#include "base/number.h"
#include "base/sized.h"
#include "sets/column.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* How far sealing may raise the objective, as a fraction of ||X||^2. */
#define SEAL_SLACK 1e-6

/* The promises of the solver, in units of the working precision's epsilon. */
enum { RISE_SLACK = 100, POLAR_SLACK = 30 };

/* Only the first difference is reported. */
static void find(armilla_check *check, bool differs, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void find(armilla_check *check, bool differs, const char *format, ...)
{
    va_list arguments;
    if (!differs || check->finding[0]) return;
    va_start(arguments, format);
    (void)armilla_plain_print_list(check->finding, sizeof check->finding, format, arguments);
    va_end(arguments);
    check->passed = false;
}

static double epsilon_of(const armilla_model *model)
{
    return model->summary.precision == ARMILLA_F32 ? FLT_EPSILON : DBL_EPSILON;
}

static double least_of(const armilla_model *model)
{
    return model->summary.precision == ARMILLA_F32 ? FLT_TRUE_MIN : DBL_TRUE_MIN;
}

static void widen(armilla_type type, int64_t first, int64_t count, const void *from, double *to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = type == ARMILLA_F32 ? (double)((const float *)from)[first + i] : ((const double *)from)[first + i];
}

/* ||x||, also where squares overflow or underflow. */
static double length_of(int64_t count, double *x)
{
    const int exponent = armilla_check_exponent(count, x);
    for (int64_t i = 0; i < count; i++) x[i] = ldexp(x[i], -exponent);
    return ldexp(sqrt(armilla_check_dot(count, x, x)), exponent);
}

static armilla_status look_at_products(armilla_context *context, const armilla_model *model, const double *U,
                                       armilla_check *check)
{
    const int64_t m = model->summary.m, r = model->summary.rank;
    for (int64_t k = 0; k < r && model->basis->gram_is_identity; k++) {
        const armilla_status status = armilla_call_pass(context, 0, k * (k + 1), r * (r + 1));
        if (status != ARMILLA_OK) return status;
        for (int64_t l = 0; l <= k; l++) {
            const double product = armilla_check_dot(m, U + k * m, U + l * m);
            check->orthonormal_violation = fmax(check->orthonormal_violation, fabs(product - (k == l)));
        }
    }
    return ARMILLA_OK;
}

static void look_at_basis(const armilla_model *model, double *U, armilla_check *check)
{
    const armilla_model_summary *s = &model->summary;
    const armilla_basis_set *basis = model->basis;
    for (int64_t i = 0; i < s->m * s->rank && !basis->is_signed; i++)
        check->basis_negative = fmax(check->basis_negative, 0.0 - U[i]); /* -U would be -0 */
    for (int64_t i = 0; i < s->m && basis->one_atom_per_row; i++) {
        int64_t nonzeros = 0;
        for (int64_t k = 0; k < s->rank; k++) nonzeros += U[k * s->m + i] != 0;
        if (nonzeros > check->row_nonzeros) check->row_nonzeros = nonzeros;
    }
    for (int64_t k = 0; k < s->rank && !basis->gram_is_identity && !basis->scalable; k++)
        check->unit_violation = fmax(check->unit_violation, fabs(length_of(s->m, U + k * s->m) - 1));
}

/* What the codes of some samples show. */
typedef struct code_findings {
    double negative, radius_violation;
    int64_t not_one_hot, most_nonzeros;
} code_findings;

static void join_codes(void *left, const void *right)
{
    code_findings *own = left;
    const code_findings *other = right;
    own->negative = fmax(own->negative, other->negative);
    own->radius_violation = fmax(own->radius_violation, other->radius_violation);
    own->not_one_hot += other->not_one_hot;
    if (other->most_nonzeros > own->most_nonzeros) own->most_nonzeros = other->most_nonzeros;
}

/* Checks the code of sample j; v has space for a code. */
static void look_at_code(const armilla_model *model, int64_t j, double *v, code_findings *found)
{
    const armilla_model_summary *s = &model->summary;
    code_findings own = {0, 0, 0, 0};
    int64_t ones = 0;
    widen(s->precision, j * s->rank, s->rank, model->V, v);
    for (int64_t k = 0; k < s->rank; k++) {
        own.most_nonzeros += v[k] != 0;
        ones += v[k] == 1;
        if (model->codes->nonnegative) own.negative = fmax(own.negative, 0.0 - v[k]);
    }
    if (model->codes->spherical) own.radius_violation = fabs(length_of(s->rank, v) / s->radius - 1);
    if (!model->codes->spherical && !model->codes->conic) own.not_one_hot = ones != 1 || own.most_nonzeros != 1;
    join_codes(found, &own);
}

/* Each rank looks at the codes that it has, or where it has all at its part of them. */
static armilla_status look_at_codes(armilla_context *context, const armilla_model *model, double *v,
                                    armilla_check *check)
{
    const int64_t n = model->summary.n, rank = armilla_ranks_rank(context), size = armilla_ranks_size(context);
    const int64_t first = model->spread ? model->share.first : n / size * rank + n % size * rank / size;
    const int64_t next = rank + 1, last = model->spread ? model->share.last : n / size * next + n % size * next / size;
    code_findings found = {0, 0, 0, 0};
    armilla_status status = ARMILLA_OK;
    for (int64_t j = first; j < last && status == ARMILLA_OK; j++) {
        status = armilla_check_ask(context, 0, j, n);
        if (status == ARMILLA_OK) look_at_code(model, j, v, &found);
    }
    status = armilla_ranks_combine(context, status, &found, sizeof found, join_codes);
    check->codes_negative = found.negative;
    check->radius_violation = found.radius_violation;
    check->not_one_hot = found.not_one_hot;
    check->most_nonzeros = found.most_nonzeros;
    return status;
}

/* Both factors, by themselves. */
static armilla_status look_at_factors(armilla_context *context, const armilla_model *model, armilla_check *check)
{
    const int64_t r = model->summary.rank, count = model->summary.m * r;
    double *numbers = NULL;
    armilla_status status = armilla_take(context, count + r, sizeof *numbers, &numbers);
    if (status != ARMILLA_OK) return status;
    widen(model->summary.precision, 0, count, model->U, numbers);
    armilla_call_step(context, ARMILLA_CHECK_BASIS, ARMILLA_CHECK_STEPS);
    status = look_at_products(context, model, numbers, check);
    if (status == ARMILLA_OK) look_at_basis(model, numbers, check);
    armilla_call_step(context, ARMILLA_CHECK_CODES, ARMILLA_CHECK_STEPS);
    if (status == ARMILLA_OK) status = look_at_codes(context, model, numbers + count, check);
    armilla_release(context, numbers);
    return status;
}

/* What a plain sum of m*n squares loses, as a fraction. */
static double sum_loss(const armilla_model *model)
{
    return ((double)model->summary.m + (double)model->summary.n + 16) * DBL_EPSILON;
}

/* What (A3) cannot tell from 0 at an objective of h: of ||X||^2, -2<C,V> and <H,G>, as they are before they cancel. The
 * last entry may be a sum of squares instead. */
static double trace_noise(const armilla_model *model, const armilla_findings *f, double h)
{
    const double added = fmax(model->summary.squared_norm, ldexp(f->magnitude, 2 * f->exponent));
    return RISE_SLACK * epsilon_of(model) * fmax(added, h) + sum_loss(model) * h;
}

static void look_at_trace(const armilla_model *model, const armilla_findings *f, armilla_check *check)
{
    check->rises_expected = model->unsafe || !armilla_solvers_find(model->summary.solver)->descends;
    for (int64_t k = 1; k < model->trace_count; k++) {
        const double before = model->trace[k - 1].objective, now = model->trace[k].objective;
        check->rises += now - before > trace_noise(model, f, now);
    }
}

/* The relative error follows from the objective, and both from ||X||^2. */
static bool error_follows(const armilla_model *model, double objective, double relative_error)
{
    const double error = sqrt(objective / model->summary.squared_norm);
    return objective >= 0 && isfinite(objective) && fabs(relative_error - error) <= 8 * DBL_EPSILON * error + DBL_MIN;
}

/* Every entry is finite and of a possible size; the first one is a start, and time does not run back. */
static bool trace_holds(const armilla_model *model)
{
    double seconds = 0;
    for (int64_t k = 0; k < model->trace_count; k++) {
        const armilla_trace_entry *e = &model->trace[k];
        const bool radius = model->codes->spherical ? e->radius > 0 && isfinite(e->radius) : isnan(e->radius);
        const bool moved = e->dU >= 0 && e->dV >= 0 && isfinite(e->dU) && isfinite(e->dV);
        if (!error_follows(model, e->objective, e->relative_error) || !radius || !moved) return false;
        if ((k == 0 && (e->dU != 0 || e->dV != 0)) || !(e->seconds >= seconds) || !isfinite(e->seconds)) return false;
        seconds = e->seconds;
    }
    return model->trace_count == model->summary.iterations + 1;
}

/* The model is the trace's last state; a sealed one is in canonical form, and may end a little above it or below. */
static void judge_end(const armilla_model *model, const armilla_findings *f, armilla_check *check)
{
    const armilla_model_summary *s = &model->summary;
    const armilla_trace_entry *last = &model->trace[model->trace_count - 1];
    const armilla_code_set *codes = armilla_codes_limited(model->codes, s->rank, s->sparsity);
    const bool global = model->basis->gram_is_identity || armilla_codes_are_global(codes, s->rank, s->sparsity);
    const double slack = SEAL_SLACK * s->squared_norm + trace_noise(model, f, s->objective);
    find(check, !s->sealed && model->codes->spherical && last->radius != s->radius,
         "the last radius of the trace, %.17g, is not the model's", last->radius);
    find(check, s->sealed ? global && !(s->objective <= last->objective + slack) : s->objective != last->objective,
         "the objective %.17g does not follow from the last entry of the trace, %.17g", s->objective, last->objective);
}

/* |h(X + E) - h(X)| <= 2 sqrt(h) ||E|| + ||E||^2, what naive sums of m*n squares lose, what a sparse residual cancels,
 * and squares that underflow; in the findings' unit. */
static double slack_of(const armilla_model *model, const armilla_findings *f, double square, double rounding)
{
    const armilla_model_summary *s = &model->summary;
    const double m = (double)s->m, n = (double)s->n, r = (double)s->rank;
    return 2 * sqrt(square) * rounding + rounding * rounding + sum_loss(model) * square +
           (r + 16) * DBL_EPSILON * f->cancelling + ldexp(m * n * DBL_TRUE_MIN, -2 * f->exponent);
}

static void judge_data(const armilla_model *model, const armilla_findings *f, const armilla_learned *learned,
                       armilla_check *check)
{
    const armilla_model_summary *s = &model->summary;
    const int unit = 2 * f->exponent;
    const double slack = slack_of(model, f, f->objective, f->rounding);
    const double norm_slack = slack_of(model, f, f->squared_norm, f->data_rounding);
    check->objective_found = ldexp(f->objective, unit);
    check->objective_tolerance = ldexp(slack, unit);
    check->fingerprint_matches = f->fingerprint == s->fingerprint;
    find(check, !check->fingerprint_matches, "the data are not the ones the model was fitted to (fingerprints differ)");
    for (int step = 0; step < ARMILLA_STEP_COUNT; step++) {
        const char *wrong = armilla_check_learned_wrong((armilla_step)step);
        find(check, !(learned->excess[step] <= 1), "%s: off by %.3g times the rounding",
             wrong ? wrong : "a step was learned that the check does not know", learned->excess[step]);
    }
    find(check, !(fabs(ldexp(s->squared_norm, -unit) - f->squared_norm) <= norm_slack),
         "the model states ||X||^2 = %.17g, the data give %.17g", s->squared_norm, ldexp(f->squared_norm, unit));
    find(check, f->data_rounding * f->data_rounding > f->squared_norm,
         "what is left of the data, of length %.3g, is rounding, up to %.3g: fit them in f64, or without centring",
         ldexp(sqrt(f->squared_norm), f->exponent), ldexp(f->data_rounding, f->exponent));
    find(check, s->zero_samples < f->zeros_least || s->zero_samples > f->zeros_most,
         "the model states %" PRId64 " samples without a direction, the data have %" PRId64, s->zero_samples,
         f->zeros_least);
    find(check, !(fabs(ldexp(s->objective, -unit) - f->objective) <= slack),
         "the model states an objective of %.17g, the data give %.17g", check->objective_stated,
         check->objective_found);
}

static void judge_factors(const armilla_model *model, armilla_check *check)
{
    const armilla_model_summary *s = &model->summary;
    const double epsilon = epsilon_of(model), r = (double)s->rank;
    /* Entries that are rounded change a product of two atoms by 2*eps/2 at most; the rest is the solver's, in double. */
    const double orthonormal = 2 * epsilon + POLAR_SLACK * sqrt((double)s->m) * DBL_EPSILON;
    /* w and lw are rounded, after a norm in double. */
    check->radius_tolerance = 2 * epsilon + (r + 16) * DBL_EPSILON + sqrt(r) * least_of(model) / s->radius;
    find(check, !(check->orthonormal_violation <= orthonormal), "U'U differs from I by %.3g, more than %.3g",
         check->orthonormal_violation, orthonormal);
    find(check, !(check->unit_violation <= orthonormal), "an atom's length differs from 1 by %.3g, more than %.3g",
         check->unit_violation, orthonormal);
    find(check, check->row_nonzeros > 1, "a row of U has %" PRId64 " nonzeros, more than 1", check->row_nonzeros);
    find(check, check->not_one_hot > 0, "%" PRId64 " codes are not one entry 1 and zeros", check->not_one_hot);
    find(check, !(check->basis_negative <= 0), "U has a negative entry, -%.3g", check->basis_negative);
    find(check, !(check->codes_negative <= 0), "V has a negative entry, -%.3g", check->codes_negative);
    find(check, model->codes->spherical && !(check->radius_violation <= check->radius_tolerance),
         "a code's length differs from the radius %.17g by a factor of 1 + %.3g", s->radius, check->radius_violation);
    find(check, s->sparsity > 0 && check->most_nonzeros > s->sparsity,
         "a code has %" PRId64 " nonzeros, more than %" PRId64, check->most_nonzeros, s->sparsity);
}

static void judge_record(const armilla_model *model, const armilla_findings *f, armilla_check *check)
{
    const armilla_model_summary *s = &model->summary;
    find(check, !error_follows(model, s->objective, s->relative_error),
         "the relative error %.17g does not follow from the objective", s->relative_error);
    find(check, !trace_holds(model), "the trace has a value that is not finite or does not follow from the others");
    find(check, check->rises > 0 && !check->rises_expected,
         "the objective rose in %" PRId64 " iterations although lambda and mu were safe", check->rises);
    judge_end(model, f, check);
}

static armilla_status look_at_data(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                   armilla_findings *findings, armilla_learned *learned)
{
    armilla_source source = {.context = context};
    armilla_data *matched = NULL;
    armilla_status status = armilla_features_match(context, model, X, (armilla_matching){.silent = true}, &matched);
    if (status == ARMILLA_OK) status = armilla_source_open(context, model, matched ? matched : X, &source);
    if (status == ARMILLA_OK) status = armilla_check_residual(&source, model, findings);
    if (status == ARMILLA_OK && findings->bad_sample >= 0)
        status =
            armilla_fail(context, ARMILLA_BAD_DATA,
                         "sample %" PRId64 " (counted from 1) has a value that is NaN or infinite, or becomes so by "
                         "the model's preparation; give the data that the model was fitted to",
                         findings->bad_sample + 1);
    if (status == ARMILLA_OK) status = armilla_check_learned(&source, model, learned);
    armilla_source_close(&source);
    armilla_data_free(matched);
    return status;
}

armilla_status armilla_model_check_sized(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                         armilla_check *check, size_t size)
{
    armilla_check found = {.passed = true};
    armilla_findings findings = {.bad_sample = -1};
    armilla_learned learned = {.excess = {0}};
    armilla_status status = ARMILLA_NOT_NULL(context, model, X, check);
    if (status == ARMILLA_OK) status = armilla_call_enter_together(context, 0);
    if (status != ARMILLA_OK) return status;
    found.objective_stated = model->summary.objective;
    found.radius_stated = model->summary.radius;
    armilla_call_plan(context, &(armilla_workload){.work = ARMILLA_WORK_CHECK,
                                                   .samples = X->n,
                                                   .features = X->m,
                                                   .entries = armilla_sparse_of(X) ? armilla_data_stored(X) : 0,
                                                   .rank = model->summary.rank});
    armilla_call_stage(context, ARMILLA_STAGE_CHECK);
    status = look_at_data(context, model, X, &findings, &learned);
    if (status == ARMILLA_OK) status = look_at_factors(context, model, &found);
    if (status == ARMILLA_STOPPED) status = armilla_call_explain(context);
    status = armilla_call_leave_together(context, status);
    if (status != ARMILLA_OK) return status;
    look_at_trace(model, &findings, &found);
    judge_data(model, &findings, &learned, &found);
    judge_factors(model, &found);
    judge_record(model, &findings, &found);
    armilla_sized_write(&found, sizeof found, check, size);
    return ARMILLA_OK;
}
