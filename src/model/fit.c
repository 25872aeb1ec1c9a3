/* armilla_fit: from data and options to a model. Preparation, a survey of the data, the problem, one or several starts
 * each improved by the solver, and the model of the best. */
#include "model/model.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/team.h"
#include "model/sketch.h"
#include "solve/policy.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* One factor of longest to shortest sample from which one radius for all calls for a remark. */
#define WIDE_NORMS 3

/* Below this, squares of entries lose their digits to underflow. */
#define LEAST_SQUARED_NORM 1e-303
#define LEAST_SINGLE 1e-25
/* Codes without a sphere are as long as the samples, and a sweep adds their squares in the working precision. */
#define LEAST_FLAT_SINGLE 1e-19

/* How far the objective of a sealed model may lie above the last entry of its trace, as a fraction of ||X||^2. */
#define SEALED_RISE 1e-6

typedef struct fit {
    armilla_context *context;
    const armilla_data *X; /* as given */
    armilla_view view;     /* as fitted */
    const armilla_options *options;
    armilla_resolved resolved;
    int threads;
    double clock_start;
    armilla_data_facts facts;
    double *squared_norms;
    const armilla_start *start; /* NULL where it is given */
    int64_t rounds;             /* starts that are fitted to all data */
    int64_t candidate_count;
    armilla_candidate *candidates; /* the starts, best first, where they were screened; else NULL */
    armilla_problem *problem;
    armilla_model *model;
    double *given; /* the basis of a given model, m x r */
    struct {
        double *U;
        void *W;
        double l, objective;
        armilla_trace *trace;
        armilla_stop stop;
    } best; /* of several starts; U is NULL where there is only one */
} fit;

static armilla_status prepare(fit *f)
{
    f->model->summary.normalize = f->resolved.normalize;
    armilla_status status = armilla_model_learn(f->model, f->X, f->options, f->threads);
    if (status == ARMILLA_OK) status = armilla_model_view(f->context, f->model, f->X, true, &f->view);
    return status;
}

/* Too large is told already; zero and too small have no factorization. */
static armilla_status check_scale(fit *f)
{
    const armilla_code_set *codes = f->resolved.codes;
    const bool single = f->resolved.type == ARMILLA_F32, flat = !codes->spherical && codes->conic;
    if (f->facts.zero_samples == f->X->n)
        return armilla_fail(f->context, ARMILLA_BAD_DATA,
                            "every entry of the data is 0%s: no positive radius exists; there is nothing to factorise",
                            f->options->center ? " after centring" : "");
    if (f->facts.squared_norm < LEAST_SQUARED_NORM ||
        (single && f->facts.norm_high < (flat ? LEAST_FLAT_SINGLE : LEAST_SINGLE)))
        return armilla_fail(f->context, ARMILLA_BAD_DATA,
                            "the entries are too small for their squares to be added in %s; %s",
                            armilla_type_word(f->resolved.type),
                            single ? "use --precision f64 or multiply the data by a power of ten"
                                   : "multiply the data by a power of ten");
    return ARMILLA_OK;
}

static const char *entries_are(const armilla_data_facts *facts)
{
    return facts->negatives == 1 ? "entry is" : "entries are";
}

static void warn(const fit *f)
{
    const armilla_data_facts *facts = &f->facts;
    const double spread = facts->norm_low > 0 ? facts->norm_high / facts->norm_low : 0;
    if (f->resolved.codes->spherical && spread > WIDE_NORMS && strcmp(f->resolved.normalize, "none") == 0)
        armilla_log(f->context, ARMILLA_LOG_WARNING,
                    "the longest sample is %.3g times the shortest: one radius cannot fit both; --normalize l2 scales "
                    "every sample to length 1",
                    spread);
    if (f->resolved.codes->spherical && facts->zero_samples > 0)
        armilla_log(f->context, ARMILLA_LOG_WARNING, "%" PRId64 " of %" PRId64 " samples %s", facts->zero_samples,
                    f->X->n,
                    facts->zero_samples == 1 ? "is 0 and has no direction of its own"
                                             : "are 0 and have no direction of their own");
    if (armilla_weights_unsafe(f->options->lambda, f->options->mu) && strcmp(f->options->solver, "palm") == 0)
        armilla_log(
            f->context, ARMILLA_LOG_WARNING,
            "--lambda %s, --mu %s may be below the safe value: the objective may rise, and the last iterate need "
            "not be the best",
            f->options->lambda, f->options->mu);
    if (f->options->restarts > 1 && !f->start)
        armilla_log(f->context, ARMILLA_LOG_WARNING, "--restarts has no effect where the start is given");
    if (facts->negatives > 0 && !f->resolved.basis->is_signed && f->resolved.codes->nonnegative)
        armilla_log(f->context, ARMILLA_LOG_WARNING,
                    "%" PRId64 " %s negative, which a nonnegative basis with nonnegative codes cannot fit",
                    facts->negatives, entries_are(facts));
}

static armilla_status survey(fit *f)
{
    armilla_status status = armilla_take(f->context, f->X->n, sizeof(double), &f->squared_norms);
    if (status == ARMILLA_OK)
        status = armilla_survey(f->context, f->view.data, f->resolved.type, f->threads, &f->facts, f->squared_norms);
    if (status == ARMILLA_OK) status = armilla_view_finite(f->context, f->model, &f->view, &f->facts, f->resolved.type);
    if (status == ARMILLA_OK) status = check_scale(f);
    if (status == ARMILLA_OK && f->facts.negatives > 0 && armilla_solvers_find(f->options->solver)->positive)
        status = armilla_fail(f->context, ARMILLA_BAD_DATA,
                              "%" PRId64 " %s negative, and --solver %s multiplies: use --solver fast or palm",
                              f->facts.negatives, entries_are(&f->facts), f->options->solver);
    if (status == ARMILLA_OK) warn(f);
    return status;
}

static armilla_status make_problem(fit *f)
{
    const armilla_options *o = f->options;
    armilla_problem_options p = {
        .basis = f->resolved.basis,
        .codes = f->resolved.codes,
        .r = o->rank,
        .s = o->sparsity,
        .type = f->resolved.type,
        .threads = f->threads,
        .radius = o->radius,
        .stop = {o->max_iter, o->tol, o->time_limit, armilla_epsilon(f->resolved.type) * f->facts.squared_norm},
        .callback = o->callback,
        .callback_user = o->callback_user,
        .interrupt = o->interrupt,
        .clock_start = f->clock_start,
    };
    (void)armilla_weight_read(o->lambda, &p.lambda); /* both have been checked */
    (void)armilla_weight_read(o->mu, &p.mu);
    return armilla_problem_new(f->context, f->view.data, &p, f->facts.squared_norm, f->squared_norms, &f->problem);
}

static armilla_status from_model(fit *f)
{
    const armilla_model *start = f->options->start_model;
    const armilla_type type = start->summary.precision, work = f->resolved.type;
    const int64_t r = f->options->rank, codes = r * f->X->n;
    double *wide = NULL;
    void *V = NULL;
    armilla_status status = armilla_take(f->context, f->X->m * r, sizeof(double), &f->given);
    if (status == ARMILLA_OK) status = armilla_take(f->context, codes, sizeof(double), &wide);
    if (status == ARMILLA_OK) status = armilla_take(f->context, codes, armilla_type_size(work), &V);
    if (status == ARMILLA_OK) {
        armilla_fetch(type, f->X->m * r, start->U, f->given);
        armilla_fetch(type, codes, start->V, wide);
        armilla_store(work, codes, wide, V);
        /* Its radius goes with its sets: where these are others, U and V are changed, and so is the radius. */
        const bool same = start->basis == f->resolved.basis && start->codes == f->resolved.codes &&
                          start->summary.sparsity <= f->options->sparsity;
        status = armilla_start_from_codes(f->problem, f->given, V, same ? start->summary.radius : 0);
    }
    armilla_release(f->context, V);
    armilla_release(f->context, wide);
    return status;
}

/* A default start may hardly depend on the seed: where none was asked for, the further ones are random samples. */
static const armilla_start *start_row(const fit *f, int64_t i)
{
    return i == 0 || f->options->start ? f->start : &armilla_start_kmeans;
}

static uint64_t start_seed(const fit *f, int64_t i)
{
    const uint64_t seed = (uint64_t)f->options->seed;
    return i == 0 ? seed : armilla_random_bits(seed, ARMILLA_STREAM_RESTART, (uint64_t)i);
}

/* Start number i; only those by a row differ from each other. */
static armilla_status begin(fit *f, int64_t i)
{
    if (f->options->start_model) return from_model(f);
    if (f->options->start_basis) return armilla_start_from_basis(f->problem, f->options->start_basis);
    if (f->candidates) return armilla_start_from_sketch(f->problem, f->candidates[i].U, f->candidates[i].radius);
    return armilla_start_from_row(f->problem, start_row(f, i), start_seed(f, i));
}

static const armilla_start *start_of_round(const fit *f, int64_t i)
{
    return f->candidates ? f->candidates[i].start : start_row(f, i);
}

static void free_candidates(fit *f)
{
    for (int64_t i = 0; i < f->candidate_count; i++) armilla_release(f->context, f->candidates[i].U);
    armilla_release(f->context, f->candidates);
    f->candidates = NULL;
    f->candidate_count = 0;
}

/* The starts on a sketch; those that are worth it will be fitted. Where none was possible, all are tried as they are. */
static armilla_status screen(fit *f, const armilla_solver *solver, const armilla_sketch_plan *plan)
{
    armilla_problem *p = f->problem;
    armilla_sketch sketch = {.context = NULL};
    f->candidate_count = plan->starts;
    armilla_status status = armilla_take(f->context, f->candidate_count, sizeof *f->candidates, &f->candidates);
    for (int64_t i = 0; i < f->candidate_count && status == ARMILLA_OK; i++)
        f->candidates[i] = (armilla_candidate){.start = start_row(f, i), .seed = start_seed(f, i)};
    if (status == ARMILLA_OK)
        status = armilla_sketch_make(f->model, f->view.raw, p, plan, (uint64_t)f->options->seed, &sketch);
    if (status == ARMILLA_OK)
        status = armilla_screen(sketch.problem, solver, f->candidate_count, plan->kept, f->candidates);
    if (status == ARMILLA_OK) {
        const int64_t columns =
            plan->samples * (armilla_sweep_count(sketch.problem->sweep) + sketch.problem->extra_sweeps);
        p->extra_sweeps += (columns + p->n - 1) / p->n;
        f->rounds = 0;
        while (f->rounds < f->candidate_count && f->candidates[f->rounds].U) f->rounds++;
    }
    armilla_sketch_free(&sketch);
    if (status != ARMILLA_OK || f->rounds > 0) return status;
    free_candidates(f);
    f->rounds = f->options->restarts;
    return ARMILLA_OK;
}

static void swap_pointers(void *a, void *b)
{
    void **left = a, **right = b, *t = *left;
    *left = *right;
    *right = t;
}

/* The problem's state and the best change places. */
static void swap_best(fit *f)
{
    armilla_problem *p = f->problem;
    const double l = p->l, objective = p->objective;
    const armilla_stop stop = p->stop;
    swap_pointers(&p->U, &f->best.U);
    swap_pointers(&p->W, &f->best.W);
    swap_pointers(&p->trace, &f->best.trace);
    p->l = f->best.l;
    p->objective = f->best.objective;
    p->stop = f->best.stop;
    f->best.l = l;
    f->best.objective = objective;
    f->best.stop = stop;
}

static armilla_status take_best(fit *f)
{
    const int64_t m = f->X->m, n = f->X->n, r = f->options->rank;
    if (f->best.trace) return ARMILLA_OK; /* all screened starts failed, and others follow */
    armilla_status status = armilla_take(f->context, m * r, sizeof(double), &f->best.U);
    if (status == ARMILLA_OK) status = armilla_take(f->context, n * r, armilla_type_size(f->resolved.type), &f->best.W);
    if (status == ARMILLA_OK) status = armilla_trace_new(f->context, f->options->max_iter, &f->best.trace);
    return status;
}

/* Several starts: the state with the lowest objective is left in the problem. A start without a positive radius is
 * passed over where another has one. */
static armilla_status solve_restarts(fit *f, const armilla_solver *solver)
{
    armilla_problem *p = f->problem;
    bool over = false;
    int64_t winner = 0;
    armilla_stop stop = ARMILLA_STOP_MAX_ITER;
    armilla_status status = take_best(f), first_failure = ARMILLA_OK;
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < f->rounds && !over; i++) {
        p->trace->count = 0;
        status = begin(f, i);
        if (status == ARMILLA_BAD_DATA) {
            first_failure = status;
            continue;
        }
        if (status == ARMILLA_OK) status = solver->solve(p);
        if (status != ARMILLA_OK) return status;
        stop = p->stop;
        over = stop == ARMILLA_STOP_INTERRUPTED || stop == ARMILLA_STOP_TIME_LIMIT;
        if (f->best.trace->count == 0 || p->objective < f->best.objective) {
            swap_best(f);
            winner = i;
        }
    }
    swap_best(f);
    f->start = start_of_round(f, winner);
    if (p->trace->count == 0) return first_failure;
    if (over) p->stop = stop;
    return ARMILLA_OK;
}

static armilla_status solve_rounds(fit *f, const armilla_solver *solver)
{
    if (f->rounds > 1) return solve_restarts(f, solver);
    const armilla_status status = begin(f, 0);
    if (f->start) f->start = start_of_round(f, 0);
    return status == ARMILLA_OK ? solver->solve(f->problem) : status;
}

static armilla_status solve(fit *f)
{
    const armilla_solver *solver = armilla_solvers_find(f->options->solver);
    const armilla_start *start = f->start;
    const armilla_sketch_plan plan =
        armilla_sketch_decide(armilla_pair_landscape(f->resolved.basis, f->resolved.codes), f->X->n, f->options->rank,
                              (double)f->X->stored / ((double)f->X->m * (double)f->X->n), f->options->restarts);
    armilla_status status = ARMILLA_OK;
    f->rounds = start ? f->options->restarts : 1;
    if (start && solver->screens && plan.samples > 0 && f->options->max_iter > 0) status = screen(f, solver, &plan);
    if (status != ARMILLA_OK) return status;
    status = solve_rounds(f, solver);
    if (status != ARMILLA_BAD_DATA || !f->candidates) return status;
    /* What has a positive radius on a sketch need not have one on all data: then as if there were no sketch. */
    free_candidates(f);
    f->problem->screened = false;
    f->rounds = f->options->restarts;
    f->start = start;
    return solve_rounds(f, solver);
}

/* V = lW. */
static armilla_status assemble_factors(fit *f)
{
    const armilla_problem *p = f->problem;
    armilla_model *model = f->model;
    const armilla_type type = f->resolved.type;
    const size_t size = armilla_type_size(type);
    double *v = NULL;
    armilla_status status = armilla_take(f->context, p->m * p->r, size, &model->U);
    if (status == ARMILLA_OK) status = armilla_take(f->context, p->r * p->n, size, &model->V);
    if (status == ARMILLA_OK) status = armilla_take(f->context, p->r, sizeof *v, &v);
    if (status == ARMILLA_OK) {
        armilla_store(type, p->m * p->r, p->U, model->U);
        for (int64_t j = 0; j < p->n; j++) {
            const size_t place = (size_t)(j * p->r) * size;
            armilla_fetch(type, p->r, (const char *)p->W + place, v);
            for (int64_t k = 0; k < p->r; k++) v[k] *= p->l;
            armilla_store(type, p->r, v, (char *)model->V + place);
        }
    }
    armilla_release(f->context, v);
    return status;
}

static void state_objective(const fit *f, armilla_trace_entry *entry, double objective)
{
    entry->objective = objective;
    entry->relative_error = armilla_relative_error(objective, f->facts.squared_norm);
}

/* Where the column solver is not global, sealed codes can be worse than those that the last iterations had. Entries that
 * the model does not reach then state what it does reach: the trace ends at the model, and does not rise. */
static void raise_trace(const fit *f, double objective)
{
    armilla_trace_entry *trace = f->model->trace;
    const int64_t count = f->model->trace_count;
    const double last = trace[count - 1].objective;
    if (objective <= last + SEALED_RISE * f->facts.squared_norm) return;
    armilla_log(f->context, ARMILLA_LOG_WARNING,
                "the codes that transform finds, which are stored, are worse than those of the last iterations: the "
                "objective is %.6g instead of %.6g; with a smaller --rank or --sparsity they are exact",
                objective, last);
    for (int64_t k = 0; k < count; k++)
        if (trace[k].objective < objective) state_objective(f, &trace[k], objective);
}

/* The trace; its last entry takes the directly computed objective where it is of the same state. */
static armilla_status assemble_trace(fit *f, double objective)
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
    if (armilla_solvers_find(f->options->solver)->sealed && !same)
        raise_trace(f, objective);
    else
        state_objective(f, last, objective);
    return ARMILLA_OK;
}

static const char *start_word(const fit *f)
{
    if (f->start) return f->start->name;
    if (f->options->start) return f->options->start;
    return f->options->start_model ? "model" : "basis";
}

static void summarize(fit *f, double objective)
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
    s->solver = armilla_solvers_find(o->solver)->name;
    s->start = model->start;
    s->sparsity = o->sparsity;
    s->rank = p->r;
    s->n = p->n;
    s->nnz = f->X->stored;
    s->seed = o->seed;
    s->threads = f->threads;
    s->ranks = 1;
    s->iterations = last->iteration;
    s->sweeps = armilla_sweep_count(p->sweep) + p->extra_sweeps;
    s->zero_samples = f->facts.zero_samples;
    s->fingerprint = f->facts.fingerprint;
    s->precision = f->resolved.type;
    s->stop = p->stop;
    s->objective = objective;
    s->relative_error = armilla_relative_error(objective, f->facts.squared_norm);
    s->squared_norm = f->facts.squared_norm;
    s->radius = f->resolved.codes->spherical ? p->l : NAN;
    s->seconds = armilla_clock() - f->clock_start;
    s->seconds_per_iteration = last->iteration > 0 ? (last->seconds - first->seconds) / (double)last->iteration : 0;
}

/* What the data are called, and what they were chosen from. */
static armilla_status take_names(fit *f)
{
    armilla_status status = ARMILLA_OK;
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT && status == ARMILLA_OK; kind++)
        status = armilla_names_copy(f->context, armilla_data_names(f->X, (armilla_naming)kind), &f->model->names[kind]);
    for (int i = 0; i < ARMILLA_KEPT_COUNT && status == ARMILLA_OK; i++)
        status = armilla_kept_copy(f->context, &f->X->kept[i], &f->model->kept[i]);
    return status;
}

static armilla_status assemble(fit *f)
{
    double objective = 0;
    armilla_status status = assemble_factors(f);
    if (status == ARMILLA_OK)
        status = armilla_residual(f->context, f->view.data, f->resolved.type, f->threads, f->problem->r, f->model->U,
                                  f->model->V, &objective);
    if (status == ARMILLA_OK) status = assemble_trace(f, objective);
    if (status == ARMILLA_OK) status = armilla_copy_text(f->context, start_word(f), &f->model->start);
    if (status == ARMILLA_OK)
        status = armilla_options_describe(f->context, f->options, &f->resolved, &f->model->options_text);
    if (status == ARMILLA_OK) status = take_names(f);
    if (status == ARMILLA_OK) summarize(f, objective);
    return status;
}

static void free_fit(fit *f)
{
    free_candidates(f);
    armilla_trace_free(f->best.trace);
    armilla_release(f->context, f->best.W);
    armilla_release(f->context, f->best.U);
    armilla_release(f->context, f->given);
    armilla_problem_free(f->problem);
    armilla_release(f->context, f->squared_norms);
    armilla_view_free(&f->view);
    armilla_model_free(f->model);
}

static armilla_status choose_start(fit *f)
{
    if (f->options->start_model || f->options->start_basis) return ARMILLA_OK;
    const bool positive = armilla_solvers_find(f->options->solver)->positive;
    f->start = f->options->start ? armilla_starts_find(f->options->start)
               : positive        ? &armilla_start_random
                                 : armilla_starts_default(f->resolved.basis, f->resolved.codes);
    if (f->start) return ARMILLA_OK;
    return armilla_fail(f->context, ARMILLA_BAD_ARGUMENT,
                        "--start: '%s' is not a starting point; a file has to be opened and given as start_model or "
                        "start_basis",
                        f->options->start);
}

armilla_status armilla_fit(armilla_context *context, const armilla_data *X, const armilla_options *options,
                           armilla_model **model)
{
    const armilla_options filled = armilla_options_fill(options);
    fit f = {.context = context, .X = X, .options = &filled, .clock_start = armilla_clock()};
    armilla_status status = armilla_fit_check(context, X, options);
    if (status == ARMILLA_OK) status = armilla_options_resolve(context, options, X, &f.resolved);
    if (status != ARMILLA_OK) return status;
    f.threads = armilla_threads_choose(options->threads);
    status = armilla_blas_enter(context, f.threads);
    if (status != ARMILLA_OK) return status;
    const int64_t outer = armilla_memory_enter(context, options->memory);
    context->kernel = f.resolved.kernel;
    status = choose_start(&f);
    if (status == ARMILLA_OK) status = armilla_model_new(context, &f.model);
    if (status == ARMILLA_OK) status = prepare(&f);
    if (status == ARMILLA_OK) status = survey(&f);
    if (status == ARMILLA_OK) status = make_problem(&f);
    if (status == ARMILLA_OK) status = solve(&f);
    if (status == ARMILLA_OK) status = assemble(&f);
    if (status == ARMILLA_OK) {
        *model = f.model;
        f.model = NULL;
    }
    free_fit(&f);
    context->kernel = NULL;
    armilla_blas_leave();
    armilla_memory_leave(context, outer);
    return status;
}
