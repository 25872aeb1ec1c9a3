/* The end of a fit: what was reached becomes a model. */
#include "model/fit.h"

#include "base/clock.h"
#include "base/ranks.h"
#include "base/size.h"

#include <math.h>
#include <string.h>

/* How far the objective of a sealed model may lie above the last entry of its trace, as a fraction of ||X||^2. */
#define SEALED_RISE 1e-6

/* V = lW, in the place of W, which nobody needs any more. */
static armilla_status assemble_factors(armilla_fit_state *f)
{
    armilla_problem *p = f->problem;
    armilla_model *model = f->model;
    const armilla_type type = f->resolved.type;
    const armilla_status status = armilla_take(f->context, p->m * p->r, armilla_type_size(type), &model->U);
    model->spread = armilla_ranks_size(f->context) > 1;
    if (status != ARMILLA_OK) return status;
    armilla_store(type, p->m * p->r, p->U, model->U);
    model->share = p->share;
    model->V = p->W;
    p->W = NULL;
    return armilla_codes_scale(f->context, type, p->r, &p->share, p->l, model->V);
}

static void state_objective(const armilla_fit_state *f, armilla_trace_entry *entry, double objective)
{
    entry->objective = objective;
    entry->relative_error = armilla_relative_error(objective, f->facts.squared_norm);
}

/* Sealed codes can be worse than those of the last iterations where the column solver is not global. Entries below the
 * objective of the model then take that objective: the trace ends at the model, and does not rise. */
static void raise_trace(const armilla_fit_state *f, double objective)
{
    armilla_trace_entry *trace = f->model->trace;
    const int64_t count = f->model->trace_count;
    const double last = trace[count - 1].objective, rise = objective - last;
    if (rise <= SEALED_RISE * f->facts.squared_norm) return;
    /* A given radius can make ||UV|| far larger than ||X||, and then the rounding of (A3) is larger too. */
    if (rise > 100 * armilla_epsilon(f->resolved.type) * objective)
        armilla_log(
            f->context, ARMILLA_LOG_WARNING,
            "the codes that transform finds, which are stored, are worse than those of the last iterations: the "
            "objective is %.6g instead of %.6g; with a smaller " ARMILLA_FIELD("rank") " or " ARMILLA_FIELD(
                "sparsity") " they are exact",
            objective, last);
    for (int64_t k = 0; k < count; k++)
        if (trace[k].objective < objective) state_objective(f, &trace[k], objective);
}

/* The trace; its last entry takes the directly computed objective where it is of the same state, or does not have one. */
static armilla_status assemble_trace(armilla_fit_state *f, double objective)
{
    const armilla_trace *trace = f->problem->trace;
    armilla_model *model = f->model;
    const armilla_status status = armilla_take(f->context, trace->count, sizeof *model->trace, &model->trace);
    if (status != ARMILLA_OK) return status;
    memcpy(model->trace, trace->entries, (size_t)trace->count * sizeof *model->trace);
    model->trace_count = trace->count;
    armilla_trace_entry *last = &model->trace[trace->count - 1];
    /* A sealed model is another state, unless what lies between is only the rounding of (A3). */
    const double rounding = 100 * armilla_epsilon(f->resolved.type) * f->facts.squared_norm;
    const bool same = objective >= last->objective && objective - last->objective <= rounding;
    if (f->problem->sealed && !same && !f->problem->unfinished)
        raise_trace(f, objective);
    else
        state_objective(f, last, objective);
    return ARMILLA_OK;
}

static const char *start_word(const armilla_fit_state *f)
{
    if (f->restarts.winner >= 0) return armilla_starts_row((size_t)f->restarts.winner)->name;
    if (f->options->start) return f->options->start;
    return f->options->start_model || f->continued ? "model" : "basis";
}

static void summarize(armilla_fit_state *f, double objective)
{
    const armilla_options *o = f->options;
    const armilla_problem *p = f->problem;
    armilla_model *model = f->model;
    armilla_model_summary *s = &model->summary;
    const armilla_trace_entry *first = &model->trace[0], *last = &model->trace[model->trace_count - 1];
    model->basis = f->resolved.basis;
    model->codes = f->resolved.codes;
    model->unsafe = armilla_weights_unsafe(o->lambda, o->mu);
    s->model = f->resolved.model;
    s->basis = f->resolved.basis->name;
    s->codes = f->resolved.codes->name;
    s->solver = f->solver->name;
    s->start = model->start;
    s->sparsity = o->sparsity;
    s->rank = p->r;
    s->n = p->n;
    s->samples_seen = p->past ? (int64_t)p->past->total : p->n;
    s->nnz = armilla_data_stored(f->X);
    s->seed = o->seed;
    s->threads = armilla_call_threads(f->context);
    s->ranks = armilla_ranks_size(f->context);
    s->iterations = last->iteration;
    s->sweeps = armilla_sweep_count(p->sweep) + p->extra_sweeps;
    s->zero_samples = f->facts.zero_samples;
    s->fingerprint = f->facts.fingerprint;
    s->precision = f->resolved.type;
    s->stop = p->stop;
    s->sealed = p->sealed;
    s->objective = objective;
    s->relative_error = armilla_relative_error(objective, f->facts.squared_norm);
    s->squared_norm = f->facts.squared_norm;
    s->radius = f->resolved.codes->spherical ? p->l : NAN;
    const bool seen = f->continued && f->X->image[0] == 0;
    s->image_rows = seen ? f->continued->summary.image_rows : f->X->image[0];
    s->image_columns = seen ? f->continued->summary.image_columns : f->X->image[1];
    s->passes = f->context->call.passes;
    s->passes_before = armilla_max64(f->context->call.passes_before, 0);
    s->seconds = armilla_clock() - f->clock_start;
    s->seconds_per_iteration = last->iteration > 0 ? (last->seconds - first->seconds) / (double)last->iteration : 0;
}

/* What the data are called, and what they were chosen from. The features of a model that is continued stay what they are
 * where the new data do not say. */
static armilla_status take_names(armilla_fit_state *f)
{
    const armilla_model *before = f->continued;
    const armilla_kept *kept[] = {&f->X->kept[ARMILLA_KEPT_FEATURES], &f->X->kept[ARMILLA_KEPT_SAMPLES]};
    armilla_status status = ARMILLA_OK;
    if (before && !kept[ARMILLA_KEPT_FEATURES]->at) kept[ARMILLA_KEPT_FEATURES] = &before->kept[ARMILLA_KEPT_FEATURES];
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT && status == ARMILLA_OK; kind++) {
        const armilla_names *names = armilla_data_names(f->X, (armilla_naming)kind);
        if (!names && before && kind == ARMILLA_FEATURE_NAMES) names = &before->names[kind];
        status = armilla_names_copy(f->context, names, &f->model->names[kind]);
    }
    for (int i = 0; i < ARMILLA_KEPT_COUNT && status == ARMILLA_OK; i++)
        status = armilla_kept_copy(f->context, kept[i], &f->model->kept[i]);
    return status;
}

/* Lengths of all samples: this process's own, or on the first of several ranks a copy of everybody's in *all. */
static armilla_status gather_lengths(armilla_fit_state *f, double **all)
{
    const armilla_samples *share = &f->model->share;
    armilla_status status = ARMILLA_OK;
    if (!f->model->spread) return ARMILLA_OK;
    if (armilla_ranks_rank(f->context) == 0) status = armilla_take(f->context, share->count, sizeof **all, all);
    double *next = *all;
    return armilla_samples_put(
        f->context, status,
        &(armilla_putting){f->squared_norms, share, sizeof *f->squared_norms, armilla_put_behind, &next});
}

/* The list of zero samples: on a sphere these have a code like any other, and nothing else says that it means nothing.
 * The first rank has the list, because it writes the model. */
static armilla_status list_zeros(armilla_fit_state *f)
{
    armilla_kept *zeros = &f->model->zeros;
    const int64_t n = f->problem->n;
    double *all = NULL;
    if (f->facts.zero_samples == 0) return ARMILLA_OK;
    armilla_status status = gather_lengths(f, &all);
    const double *lengths = f->model->spread ? all : f->squared_norms;
    if (status == ARMILLA_OK && lengths)
        status = armilla_take(f->context, f->facts.zero_samples, sizeof *zeros->at, &zeros->at);
    zeros->of = n;
    for (int64_t j = 0; j < n && lengths && zeros->at && zeros->count < f->facts.zero_samples; j++)
        if (lengths[j] == 0) zeros->at[zeros->count++] = j;
    armilla_release(f->context, all);
    return status;
}

armilla_status armilla_fit_assemble(armilla_fit_state *f)
{
    double objective = 0;
    armilla_status status = assemble_factors(f);
    armilla_call_stage(f->context, ARMILLA_STAGE_CODES);
    armilla_call_uninterrupted_enter(f->context); /* what was reached is worth one more pass */
    if (status == ARMILLA_OK) {
        const armilla_factorization found = {f->resolved.type, f->problem->r, f->model->U, f->model->V};
        status = armilla_residual(f->context, f->view.data, &found, &objective);
    }
    armilla_call_uninterrupted_leave(f->context);
    if (status == ARMILLA_OK) status = assemble_trace(f, objective);
    if (status == ARMILLA_OK) status = armilla_copy_text(f->context, start_word(f), &f->model->start);
    if (status == ARMILLA_OK)
        status = armilla_options_describe(f->context, f->options, &f->resolved, &f->model->options_text);
    if (status == ARMILLA_OK) status = take_names(f);
    if (status == ARMILLA_OK) status = list_zeros(f);
    if (status == ARMILLA_OK) summarize(f, objective);
    return status;
}
