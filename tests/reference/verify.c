/* The independent verifier: every promise about a fitted model, from its factors, its trace and the data alone. */
#include "reference/reference.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct promises {
    const reference_pair *pair;
    armilla_model_summary summary;
    const armilla_trace_entry *trace;
    int64_t entries;
    double epsilon;
    double squared_norm;
    double objective; /* ||X - UV||^2 */
    double added;     /* || |U||V| ||^2: what UV is added up from, much more where atoms cancel each other */
    bool sealed;      /* by the solver */
    double *U, *V;
} promises;

static double *as_doubles(armilla_type type, int64_t count, const void *from)
{
    double *made = reference_new(count);
    assert_non_null(from);
    for (int64_t i = 0; i < count; i++)
        made[i] = type == ARMILLA_F32 ? (double)((const float *)from)[i] : ((const double *)from)[i];
    return made;
}

double *reference_model_basis(const armilla_model *model)
{
    armilla_model_summary summary;
    armilla_model_summarize(model, &summary);
    return as_doubles(summary.precision, summary.m * summary.rank, armilla_model_basis(model));
}

double *reference_model_codes(const armilla_model *model)
{
    armilla_model_summary summary;
    armilla_model_summarize(model, &summary);
    return as_doubles(summary.precision, summary.rank * summary.n, armilla_model_codes(model));
}

static void verify_basis(const promises *p)
{
    const int64_t m = p->summary.m, r = p->summary.rank;
    for (int64_t i = 0; i < m * r; i++) {
        REFERENCE_HOLDS(isfinite(p->U[i]));
        if (p->pair->disjoint || (!p->pair->orthonormal && !p->pair->signed_basis)) REFERENCE_HOLDS(p->U[i] >= 0);
    }
    if (p->pair->orthonormal) REFERENCE_AT_MOST(reference_skewness(m, r, p->U), 30 * sqrt((double)m) * p->epsilon);
    for (int64_t k = 0; k < r && p->pair->unit; k++)
        REFERENCE_AT_MOST(fabs(reference_norm(m, p->U + k * m) - 1), 30 * sqrt((double)m) * p->epsilon);
    for (int64_t i = 0; i < m && p->pair->disjoint; i++) {
        int64_t nonzeros = 0;
        for (int64_t k = 0; k < r; k++) nonzeros += p->U[i + k * m] != 0;
        REFERENCE_HOLDS(nonzeros <= 1);
    }
}

static void verify_codes(const promises *p)
{
    const int64_t n = p->summary.n, r = p->summary.rank;
    for (int64_t j = 0; j < n; j++) {
        const double *v = p->V + j * r;
        int64_t nonzeros = 0, ones = 0;
        for (int64_t k = 0; k < r; k++) {
            REFERENCE_HOLDS(isfinite(v[k]));
            ones += v[k] == 1;
            nonzeros += v[k] != 0;
            if (p->pair->nonnegative_codes) REFERENCE_HOLDS(v[k] >= 0 && !signbit(v[k]));
        }
        if (p->pair->sparse) REFERENCE_AT_MOST(nonzeros, p->summary.sparsity);
        if (p->pair->one_hot) REFERENCE_HOLDS(nonzeros == 1 && ones == 1);
        if (!p->pair->flat) REFERENCE_AT_MOST(fabs(reference_norm(r, v) / p->summary.radius - 1), 10 * p->epsilon);
    }
}

static int exponent_of(int64_t count, const double *a)
{
    int exponent = 0;
    (void)frexp(reference_largest(count, a), &exponent);
    return exponent;
}

/* ||X||^2, the objective and what it is added up from, each in units where no square overflows or underflows. */
static void measure(promises *p, const double *X)
{
    const int64_t m = p->summary.m, n = p->summary.n, r = p->summary.rank;
    const int u = exponent_of(m * r, p->U), v = exponent_of(r * n, p->V), x = exponent_of(m * n, X);
    const int unit = u + v > x ? u + v : x;
    long double norm = 0, objective = 0, added = 0;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            const long double entry = ldexp(X[i + j * m], -unit), own = ldexp(X[i + j * m], -x);
            long double fitted = 0, size = 0;
            for (int64_t k = 0; k < r; k++) {
                const long double part = (long double)ldexp(p->U[i + k * m], -u) * ldexp(p->V[k + j * r], u - unit);
                fitted += part;
                size += fabsl(part);
            }
            norm += own * own;
            objective += (entry - fitted) * (entry - fitted);
            added += size * size;
        }
    p->squared_norm = ldexp((double)norm, 2 * x);
    p->objective = ldexp((double)objective, 2 * unit);
    p->added = ldexp((double)added, 2 * unit);
}

/* What rounding leaves of a sum of squares: of the entries, in the working precision, and of UV, in double. */
static void verify_objective(const promises *p)
{
    const armilla_model_summary *s = &p->summary;
    const double tolerance = s->precision == ARMILLA_F32 ? 1e-5 : 1e-10, rounding = 16 * DBL_EPSILON * sqrt(p->added);
    REFERENCE_NEAR(s->objective, p->objective,
                   tolerance * fmax(p->squared_norm, p->objective) + 2 * rounding * sqrt(p->objective) +
                       rounding * rounding);
    REFERENCE_NEAR(s->squared_norm, p->squared_norm, tolerance * p->squared_norm);
    REFERENCE_NEAR(s->relative_error, sqrt(s->objective) / sqrt(s->squared_norm), 1e-12 * fmax(1, s->relative_error));
}

/* What (A3) cannot tell from 0 in the working precision. */
static double noise(const promises *p, double objective)
{
    return p->epsilon * fmax(objective, fmax(p->squared_norm, p->added));
}

/* palm returns the last state of the trace. A sealed model is that state in canonical form with codes that are solved
 * again: a little above it at most. */
static void verify_end(const promises *p)
{
    const armilla_trace_entry *last = p->trace + p->entries - 1;
    REFERENCE_HOLDS(p->pair->flat ? isnan(p->summary.radius) : p->summary.radius > 0 && isfinite(p->summary.radius));
    if (p->sealed) {
        REFERENCE_AT_MOST(p->summary.objective,
                          last->objective + fmax(1e-6 * p->squared_norm, 4 * noise(p, last->objective)));
        return;
    }
    REFERENCE_HOLDS(last->objective == p->summary.objective);
    REFERENCE_HOLDS(last->relative_error == p->summary.relative_error);
    REFERENCE_HOLDS(p->pair->flat || last->radius == p->summary.radius);
}

static void verify_trace(const promises *p, bool monotone)
{
    const armilla_trace_entry *trace = p->trace;
    REFERENCE_HOLDS(p->entries == p->summary.iterations + 1);
    verify_end(p);
    REFERENCE_HOLDS(trace[0].dU == 0 && trace[0].dV == 0);
    for (int64_t k = 0; k < p->entries; k++) {
        REFERENCE_HOLDS(trace[k].iteration == k);
        REFERENCE_HOLDS(trace[k].objective >= 0 && isfinite(trace[k].objective));
        REFERENCE_HOLDS(p->pair->flat ? isnan(trace[k].radius) : trace[k].radius > 0 && isfinite(trace[k].radius));
        REFERENCE_HOLDS(isfinite(trace[k].dU) && isfinite(trace[k].dV));
        REFERENCE_NEAR(trace[k].relative_error, sqrt(trace[k].objective) / sqrt(p->summary.squared_norm),
                       1e-12 * fmax(1, trace[k].relative_error));
        if (k == 0) continue;
        REFERENCE_HOLDS(trace[k].seconds >= trace[k - 1].seconds);
        if (monotone)
            REFERENCE_AT_MOST(trace[k].objective, trace[k - 1].objective + 100 * noise(p, trace[k - 1].objective));
    }
}

/* The library's own check must come to the same judgement. */
static void verify_check(const promises *p, const armilla_model *model, const armilla_data *raw, bool monotone)
{
    armilla_check check;
    REFERENCE_OK(armilla_model_check(reference_context, model, raw, &check));
    if (!check.passed) print_error("armilla_model_check: %s\n", check.finding);
    REFERENCE_HOLDS(check.passed && check.fingerprint_matches && check.finding[0] == '\0');
    REFERENCE_HOLDS(!monotone || check.rises == 0);
    REFERENCE_HOLDS(check.objective_stated == p->summary.objective);
    REFERENCE_HOLDS(p->pair->flat ? isnan(check.radius_stated) : check.radius_stated == p->summary.radius);
    REFERENCE_HOLDS(check.basis_negative == 0 && check.codes_negative == 0);
}

void reference_verify(const armilla_model *model, const armilla_data *raw, const double *X, bool monotone)
{
    promises p = {.U = reference_model_basis(model), .V = reference_model_codes(model)};
    armilla_model_summarize(model, &p.summary);
    p.pair = reference_pair_find(p.summary.basis, p.summary.codes);
    p.trace = reference_trace(model, &p.entries);
    p.epsilon = p.summary.precision == ARMILLA_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
    p.sealed = p.summary.sealed;
    measure(&p, X);
    assert_non_null(p.trace);
    assert_true(p.entries > 0);
    verify_basis(&p);
    verify_codes(&p);
    verify_objective(&p);
    verify_trace(&p, monotone);
    if (raw) verify_check(&p, model, raw, monotone);
    free(p.U);
    free(p.V);
}
