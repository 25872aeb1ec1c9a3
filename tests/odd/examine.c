/* What must hold of any fit: a status that fits the data, the independent check, the same bits on any number of threads,
 * the same outcome for the same numbers held otherwise, stored codes from transform, and a file that comes back. */
#include "odd.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int thread_counts[] = {1, 2, 3, 8};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof *thread_counts };

/* What sealing may add, as a fraction of ||X||^2, and what sums by (A3) cannot tell from 0, in units of epsilon. */
#define SEAL_SLACK 1e-6
enum { NOISE = 200 };

typedef struct examination {
    const odd_problem *problem;
    armilla_context *context;
    odd_data data, other;
    armilla_model *model, *other_model;
    armilla_model_summary summary;
    char *finding;
    size_t size;
} examination;

static bool fails(examination *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fails(examination *e, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(e->finding, e->size, format, arguments);
    va_end(arguments);
    return false;
}

static armilla_status fit(examination *e, const odd_data *data, int threads, armilla_model **model)
{
    armilla_options options = e->problem->options;
    options.threads = threads;
    if (!options.precision) /* that of the first storage, for both */
        options.precision = armilla_type_word(armilla_type_precision(e->problem->storage->type));
    return armilla_fit(e->context, data->data, &options, model);
}

/* Summary, factors and trace, all but the time. */
static bool same_bits(const armilla_model *a, const armilla_model *b)
{
    armilla_model_summary s, t;
    armilla_trace_entry x, y;
    armilla_model_summarize(a, &s);
    armilla_model_summarize(b, &t);
    const int64_t count = armilla_model_trace_count(a), other = armilla_model_trace_count(b);
    const size_t size = armilla_type_size(s.precision);
    if (count != other || s.iterations != t.iterations || s.sweeps != t.sweeps || s.precision != t.precision ||
        memcmp(&s.objective, &t.objective, sizeof s.objective) != 0 ||
        memcmp(&s.radius, &t.radius, sizeof s.radius) != 0 || s.fingerprint != t.fingerprint)
        return false;
    for (int64_t k = 0; armilla_model_trace_entry(a, k, &x) && armilla_model_trace_entry(b, k, &y); k++)
        if (memcmp(&x.objective, &y.objective, sizeof(double)) != 0 || memcmp(&x.dU, &y.dU, sizeof(double)) != 0 ||
            memcmp(&x.dV, &y.dV, sizeof(double)) != 0)
            return false;
    return memcmp(armilla_model_basis(a), armilla_model_basis(b), (size_t)(s.m * s.rank) * size) == 0 &&
           memcmp(armilla_model_codes(a), armilla_model_codes(b), (size_t)(s.rank * s.n) * size) == 0;
}

static bool checks(examination *e, const armilla_model *model, const odd_data *data, const char *what)
{
    armilla_check check;
    const armilla_status status = armilla_model_check(e->context, model, data->data, &check);
    if (status != ARMILLA_OK) return fails(e, "the check of %s: %s", what, armilla_context_error(e->context));
    return check.passed || fails(e, "the check of %s: %s", what, check.finding);
}

/* All numbers of threads end alike. */
static bool same_on_threads(examination *e, armilla_status *status)
{
    *status = fit(e, &e->data, thread_counts[0], &e->model);
    if (*status != ARMILLA_OK && *status != ARMILLA_BAD_DATA)
        return fails(e, "the fit fails with status %d: %s", armilla_status_exit(*status),
                     armilla_context_error(e->context));
    for (int i = 1; i < THREAD_COUNTS; i++) {
        armilla_model *again = NULL;
        const armilla_status other = fit(e, &e->data, thread_counts[i], &again);
        const bool same = other == *status && (other != ARMILLA_OK || same_bits(e->model, again));
        armilla_model_free(again);
        if (!same) return fails(e, "%d threads give another result than one", thread_counts[i]);
    }
    return true;
}

/* The start of palm by random numbers depends on the data by sums alone: these agree up to their rounding. */
static bool starts_agree(examination *e)
{
    const armilla_options *o = &e->problem->options;
    armilla_trace_entry first, second;
    (void)armilla_model_trace_entry(e->model, 0, &first);
    (void)armilla_model_trace_entry(e->other_model, 0, &second);
    const double here = first.objective, there = second.objective;
    const double epsilon = e->summary.precision == ARMILLA_F32 ? 0x1p-23 : 0x1p-52;
    const double noise = NOISE * epsilon * fmax(e->summary.squared_norm, here);
    if (strcmp(o->solver, "palm") != 0 || !o->start || strcmp(o->start, "random") != 0) return true;
    if (o->center || o->restarts > 1 || fabs(here - there) <= noise) return true;
    return fails(e, "%s starts at %.17g, %s at %.17g", e->problem->storage->name, here, e->problem->other->name, there);
}

/* Only the width of indices differs, or there is nothing between the numbers and the kernels. */
static bool promises_bits(const odd_problem *p)
{
    return p->storage->sparse && p->other->sparse && p->storage->type == p->other->type;
}

/* Sparse numbers are rounded to f32 before they are centred, dense ones after: where centring leaves next to nothing the
 * two are different problems, of noise. */
static bool rounds_alike(const examination *e)
{
    const odd_problem *p = e->problem;
    const bool single = !p->options.precision ? armilla_type_precision(p->storage->type) == ARMILLA_F32
                                              : strcmp(p->options.precision, "f32") == 0;
    return !single || !p->options.center || p->storage->sparse == p->other->sparse;
}

static bool same_elsewhere(examination *e, armilla_status status)
{
    const odd_problem *p = e->problem;
    char before[256];
    snprintf(before, sizeof before, "%s", status == ARMILLA_OK ? "" : armilla_context_error(e->context));
    const armilla_status other = fit(e, &e->other, 2, &e->other_model);
    if (other != status)
        return fails(e, "%s ends with status %d (%s), %s with %d (%s)", p->storage->name, armilla_status_exit(status),
                     before, p->other->name, armilla_status_exit(other),
                     other == ARMILLA_OK ? "" : armilla_context_error(e->context));
    if (status != ARMILLA_OK) return true;
    if (promises_bits(p) && !same_bits(e->model, e->other_model))
        return fails(e, "%s and %s give different bits", p->storage->name, p->other->name);
    return checks(e, e->other_model, &e->other, "the other storage's model") &&
           checks(e, e->model, &e->other, "the model against the other storage") &&
           checks(e, e->other_model, &e->data, "the other storage's model against this one") && starts_agree(e);
}

/* `fast` and `online` seal: transform gives the codes of the model, unless that is the start as it was. */
static bool transforms_alike(examination *e)
{
    const armilla_model_summary *s = &e->summary;
    const size_t bytes = (size_t)(s->rank * s->n) * armilla_type_size(s->precision);
    void *codes = malloc(bytes);
    if (!codes) abort();
    const armilla_status status = armilla_model_transform(e->context, e->model, e->data.data, 2, codes);
    const bool same = status == ARMILLA_OK && memcmp(codes, armilla_model_codes(e->model), bytes) == 0;
    free(codes);
    if (status != ARMILLA_OK) return fails(e, "transform: %s", armilla_context_error(e->context));
    return same || !s->sealed || e->problem->options.max_iter == 0 ||
           fails(e, "transform gives other codes than the model has");
}

static bool comes_back(examination *e)
{
    char path[64];
    armilla_model *opened = NULL;
    snprintf(path, sizeof path, "/tmp/armilla-odd-%ld.npz", (long)getpid());
    armilla_status status = armilla_model_save(e->context, e->model, path, true);
    if (status == ARMILLA_OK) status = armilla_model_open(e->context, path, &opened);
    (void)remove(path);
    if (status != ARMILLA_OK) return fails(e, "saving and opening: %s", armilla_context_error(e->context));
    const bool same = same_bits(e->model, opened);
    const bool right = same ? checks(e, opened, &e->data, "the opened model") : fails(e, "the file gives other bits");
    armilla_model_free(opened);
    return right;
}

/* Codes that are solved for as they are, so that going on cannot be worse: palm's, and those of an orthonormal basis. */
static bool descends(const armilla_options *o)
{
    if (strcmp(o->solver, "online") == 0) return false;
    return strcmp(o->solver, "palm") == 0 || strcmp(o->basis, "orthonormal") == 0;
}

/* From the model, in the other storage: the objective may not rise beyond what sealing may add. */
static bool goes_on(examination *e)
{
    const odd_problem *p = e->problem;
    armilla_options options = p->options;
    armilla_model *further = NULL;
    armilla_model_summary s;
    const double epsilon = e->summary.precision == ARMILLA_F32 ? 0x1p-23 : 0x1p-52;
    options.start = NULL;
    options.start_model = e->model;
    options.max_iter = 2;
    options.precision = armilla_type_word(e->summary.precision);
    if (strcmp(options.solver, "mu") == 0) options.solver = "fast"; /* needs a start without zeros */
    const armilla_status status = armilla_fit(e->context, e->other.data, &options, &further);
    if (status != ARMILLA_OK) return fails(e, "going on from the model: %s", armilla_context_error(e->context));
    armilla_model_summarize(further, &s);
    const double added = isnan(s.radius) ? 0 : (double)s.n * s.radius * s.radius; /* what an atom of length 1 adds */
    const double noise =
        NOISE * epsilon * fmax(fmax(s.squared_norm, added), e->summary.objective) + SEAL_SLACK * s.squared_norm;
    const bool lower = !descends(&options) || s.objective <= e->summary.objective + noise;
    const bool right =
        lower ? checks(e, further, &e->other, "the model that went on")
              : fails(e, "going on from %.17g the objective rose to %.17g", e->summary.objective, s.objective);
    armilla_model_free(further);
    return right;
}

bool odd_examine(const odd_problem *problem, bool *fitted, char *finding, size_t size)
{
    examination e = {.problem = problem, .context = odd_context(), .finding = finding, .size = size};
    armilla_status status = ARMILLA_OK;
    odd_data_make(e.context, &problem->matrix, problem->storage, &e.data);
    odd_data_make(e.context, &problem->matrix, problem->other, &e.other);
    bool right = same_on_threads(&e, &status);
    *fitted = e.model != NULL;
    if (e.model) armilla_model_summarize(e.model, &e.summary);
    if (right && e.model) right = checks(&e, e.model, &e.data, "the model");
    if (right && rounds_alike(&e)) right = same_elsewhere(&e, status);
    if (right && e.model) right = transforms_alike(&e) && comes_back(&e) && (!rounds_alike(&e) || goes_on(&e));
    armilla_model_free(e.model);
    armilla_model_free(e.other_model);
    odd_data_free(&e.data);
    odd_data_free(&e.other);
    armilla_context_free(e.context);
    return right;
}
