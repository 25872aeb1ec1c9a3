/* armilla_fit: from data and options to a model. Preparation, a survey of the data, the problem, one or several starts
 * each improved by the solver, and the model of the best. */
#include "model/fit.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/team.h"
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

static armilla_status prepare(armilla_fit_state *f)
{
    armilla_preparation *p = &f->model->preparation;
    f->model->summary.m = f->X->m;
    *p = armilla_preparation_asked(f->options);
    armilla_preparation_describe(p, &f->model->summary);
    armilla_status status = armilla_preparation_learn(f->context, p, f->X);
    if (status == ARMILLA_OK) status = armilla_model_view(f->context, f->model, f->X, true, &f->view);
    return status;
}

/* Too large is told already; zero and too small have no factorization. */
static armilla_status check_scale(armilla_fit_state *f)
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

static void warn(const armilla_fit_state *f)
{
    const armilla_data_facts *facts = &f->facts;
    const double spread = facts->norm_low > 0 ? facts->norm_high / facts->norm_low : 0;
    if (f->resolved.codes->spherical && spread > WIDE_NORMS && !f->model->preparation.taken[ARMILLA_STEP_NORMALIZE])
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

static armilla_status survey(armilla_fit_state *f)
{
    armilla_status status = armilla_take(f->context, f->X->n, sizeof(double), &f->squared_norms);
    if (status == ARMILLA_OK)
        status = armilla_survey(f->context, f->view.data, f->resolved.type, &f->facts, f->squared_norms);
    if (status == ARMILLA_OK)
        status =
            armilla_preparation_finite(f->context, &f->model->preparation, f->view.raw, &f->facts, f->resolved.type);
    if (status == ARMILLA_OK) status = check_scale(f);
    if (status == ARMILLA_OK && f->facts.negatives > 0 && armilla_solvers_find(f->options->solver)->positive)
        status = armilla_fail(f->context, ARMILLA_BAD_DATA,
                              "%" PRId64 " %s negative, and --solver %s multiplies: use --solver fast or palm",
                              f->facts.negatives, entries_are(&f->facts), f->options->solver);
    if (status == ARMILLA_OK) warn(f);
    return status;
}

static armilla_status make_problem(armilla_fit_state *f)
{
    const armilla_options *o = f->options;
    armilla_problem_options p = {
        .basis = f->resolved.basis,
        .codes = f->resolved.codes,
        .r = o->rank,
        .s = o->sparsity,
        .type = f->resolved.type,
        .radius = o->radius,
        .stop = {o->max_iter, o->tol, o->time_limit, armilla_epsilon(f->resolved.type) * f->facts.squared_norm},
        .callback = o->callback,
        .callback_user = o->callback_user,
        .clock_start = f->clock_start,
    };
    (void)armilla_weight_read(o->lambda, &p.lambda); /* both have been checked */
    (void)armilla_weight_read(o->mu, &p.mu);
    return armilla_problem_new(f->context, f->view.data, &p, f->facts.squared_norm, f->squared_norms, &f->problem);
}

static armilla_status from_model(armilla_fit_state *f)
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
static const armilla_start *start_row(const armilla_fit_state *f, int64_t i)
{
    return i == 0 || f->options->start ? f->start : &armilla_start_kmeans;
}

static uint64_t start_seed(const armilla_fit_state *f, int64_t i)
{
    const uint64_t seed = (uint64_t)f->options->seed;
    return i == 0 ? seed : armilla_random_bits(seed, ARMILLA_STREAM_RESTART, (uint64_t)i);
}

static const armilla_start *start_of_round(const armilla_fit_state *f, int64_t i)
{
    return f->candidates ? f->candidates[i].start : start_row(f, i);
}

/* Start number i; only those by a row differ from each other. */
static armilla_status make_start(armilla_fit_state *f, int64_t i)
{
    if (f->options->start_model) return from_model(f);
    if (f->options->start_basis) return armilla_start_from_basis(f->problem, f->options->start_basis);
    if (f->candidates) return armilla_start_from_sketch(f->problem, f->candidates[i].U, f->candidates[i].radius);
    return armilla_start_from_row(f->problem, start_row(f, i), start_seed(f, i));
}

/* A start for a call that is to end before the one that was wanted is made: whatever there is at once. */
static armilla_status make_any_start(armilla_fit_state *f)
{
    const bool positive = armilla_solvers_find(f->options->solver)->positive;
    armilla_stop reason = ARMILLA_STOP_INTERRUPTED;
    f->used = positive ? &armilla_start_random : &armilla_start_samples;
    const armilla_status status = armilla_start_at_once(f->problem, f->used, (uint64_t)f->options->seed);
    (void)armilla_call_stopped(f->context, &reason);
    if (status != ARMILLA_BAD_DATA) return status;
    if (reason == ARMILLA_STOP_INTERRUPTED) return armilla_call_explain(f->context);
    return armilla_fail(f->context, ARMILLA_BAD_DATA,
                        "the time limit came before there was a start, and random samples have no positive radius; "
                        "give it more time");
}

/* The state of round i before its first iteration; ARMILLA_STOPPED only where an earlier round has one. */
static armilla_status begin(armilla_fit_state *f, int64_t i)
{
    armilla_call_stage(f->context, ARMILLA_STAGE_START);
    f->used = f->start ? start_of_round(f, i) : NULL;
    const armilla_status status = make_start(f, i);
    const bool first = !f->best.trace || f->best.trace->count == 0;
    return status == ARMILLA_STOPPED && first ? make_any_start(f) : status;
}

static void free_candidates(armilla_fit_state *f)
{
    for (int64_t i = 0; i < f->candidate_count; i++) armilla_release(f->context, f->candidates[i].U);
    armilla_release(f->context, f->candidates);
    f->candidates = NULL;
    f->candidate_count = 0;
}

/* The starts on a sketch; those that are worth it will be fitted. Where none was possible, all are tried as they are. */
static armilla_status screen(armilla_fit_state *f, const armilla_solver *solver, const armilla_sketch_plan *plan)
{
    armilla_problem *p = f->problem;
    armilla_sketch sketch = {.context = NULL};
    f->candidate_count = plan->starts;
    armilla_status status = armilla_take(f->context, f->candidate_count, sizeof *f->candidates, &f->candidates);
    for (int64_t i = 0; i < f->candidate_count && status == ARMILLA_OK; i++)
        f->candidates[i] = (armilla_candidate){.start = start_row(f, i), .seed = start_seed(f, i)};
    armilla_call_inner_enter(f->context); /* short beside what is done with it */
    if (status == ARMILLA_OK)
        status = armilla_sketch_make(f->model, f->view.raw, p, plan, (uint64_t)f->options->seed, &sketch);
    armilla_call_inner_leave(f->context);
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
    if (status == ARMILLA_STOPPED) f->rounds = 0; /* before the first was tried */
    if ((status != ARMILLA_OK && status != ARMILLA_STOPPED) || f->rounds > 0) return status;
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
static void swap_best(armilla_fit_state *f)
{
    armilla_problem *p = f->problem;
    const double l = p->l, objective = p->objective;
    const armilla_stop stop = p->stop;
    const bool sealed = p->sealed;
    swap_pointers(&p->U, &f->best.U);
    swap_pointers(&p->W, &f->best.W);
    swap_pointers(&p->trace, &f->best.trace);
    p->l = f->best.l;
    p->objective = f->best.objective;
    p->stop = f->best.stop;
    p->sealed = f->best.sealed;
    f->best.l = l;
    f->best.objective = objective;
    f->best.stop = stop;
    f->best.sealed = sealed;
}

static armilla_status take_best(armilla_fit_state *f)
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
static armilla_status solve_restarts(armilla_fit_state *f, const armilla_solver *solver)
{
    armilla_problem *p = f->problem;
    const armilla_start *winner = f->start;
    armilla_status status = take_best(f), first_failure = ARMILLA_OK;
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < f->rounds && (i == 0 || !armilla_call_stopped(f->context, NULL)); i++) {
        p->trace->count = 0;
        status = begin(f, i);
        if (status == ARMILLA_STOPPED && f->best.trace->count > 0) break;
        if (status == ARMILLA_BAD_DATA) {
            first_failure = status;
            continue;
        }
        if (status == ARMILLA_OK) status = solver->solve(p);
        if (status != ARMILLA_OK) return status;
        if (f->best.trace->count == 0 || p->objective < f->best.objective) {
            swap_best(f);
            winner = f->used;
        }
    }
    swap_best(f);
    f->start = winner;
    if (p->trace->count == 0) return first_failure;
    (void)armilla_call_stopped(f->context, &p->stop);
    return ARMILLA_OK;
}

static armilla_status solve_rounds(armilla_fit_state *f, const armilla_solver *solver)
{
    if (f->rounds > 1) return solve_restarts(f, solver);
    const armilla_status status = begin(f, 0);
    f->start = f->used;
    return status == ARMILLA_OK ? solver->solve(f->problem) : status;
}

static armilla_status solve(armilla_fit_state *f)
{
    const armilla_solver *solver = armilla_solvers_find(f->options->solver);
    const armilla_start *start = f->start;
    const armilla_sketch_plan plan = armilla_sketch_decide(
        armilla_pair_landscape(f->resolved.basis, f->resolved.codes), f->X->n, f->options->rank,
        (double)armilla_data_stored(f->X) / ((double)f->X->m * (double)f->X->n), f->options->restarts);
    armilla_status status = ARMILLA_OK;
    f->rounds = start ? f->options->restarts : 1;
    armilla_call_stage(f->context, ARMILLA_STAGE_START);
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

static void free_fit(armilla_fit_state *f)
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

static armilla_status choose_start(armilla_fit_state *f)
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
    armilla_fit_state f = {.context = context, .X = X, .options = &filled, .clock_start = armilla_clock()};
    armilla_status status = armilla_fit_check(context, X, options);
    if (status == ARMILLA_OK) status = armilla_options_resolve(context, options, X, &f.resolved);
    if (status != ARMILLA_OK) return status;
    if ((status = armilla_call_enter_alone(context, options->threads)) != ARMILLA_OK) return status;
    f.threads = armilla_call_threads(context);
    const int64_t outer = armilla_memory_enter(context, options->memory);
    if ((status = armilla_blas_enter(context, f.threads)) != ARMILLA_OK) goto done;
    armilla_kernels_pin(context, f.resolved.kernel);
    armilla_call_ask(context, options->interrupt, options->callback_user);
    status = choose_start(&f);
    if (status == ARMILLA_OK) status = armilla_model_new(context, &f.model);
    if (status == ARMILLA_OK) status = prepare(&f);
    if (status == ARMILLA_OK) status = survey(&f);
    /* Only from here on is there something that can be kept when the time is up. */
    if (options->time_limit > 0) armilla_call_limit(context, f.clock_start + options->time_limit);
    if (status == ARMILLA_OK) status = make_problem(&f);
    if (status == ARMILLA_OK) status = solve(&f);
    if (status == ARMILLA_OK) status = armilla_fit_assemble(&f);
    if (status == ARMILLA_OK) {
        *model = f.model;
        f.model = NULL;
    }
    free_fit(&f);
    armilla_blas_leave();
done:
    armilla_memory_leave(context, outer);
    armilla_call_leave(context);
    return status;
}
