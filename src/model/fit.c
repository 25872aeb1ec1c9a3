/* armilla_fit: from data and options to a model. Preparation, a survey of the data, the problem, one or several starts
 * each improved by the solver (model/restarts.h), and the model of the best. */
#include "base/workload.h"
#include "data/sparse.h"
#include "model/checkpoint.h"

#include "base/clock.h"
#include "base/ranks.h"
#include "base/sized.h"
#include "base/team.h"
#include "data/slots.h"
#include "sets/column.h"
#include "solve/policy.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <zlib.h>

/* One factor of longest to shortest sample from which one radius for all calls for a remark. */
#define MOST_SPREAD 3

/* Below this, squares of entries lose their digits to underflow. */
#define LEAST_SQUARED_NORM 1e-303
#define LEAST_F32 1e-25
/* Codes without a sphere are as long as the samples, and a sweep adds their squares in the working precision. */
#define LEAST_FLAT_F32 1e-19

/* What an iteration must lower the objective by where nothing is said. */
#define AUTOMATIC_TOL 1e-6

static armilla_status prepare(armilla_fit_state *f)
{
    armilla_preparation *p = &f->model->preparation;
    f->model->summary.m = f->X->m;
    *p = armilla_preparation_asked(f->options);
    armilla_status status = f->continued ? armilla_preparation_copy(f->context, &f->continued->preparation, p)
                                         : armilla_preparation_learn(f->context, p, f->X);
    armilla_model_describe_preparation(f->model); /* with what was learned */
    if (status == ARMILLA_OK) status = armilla_model_view(f->context, f->model, f->X, true, &f->view);
    return status;
}

/* Too large is reported already; zero and too small have no factorization. */
static armilla_status check_scale(armilla_fit_state *f)
{
    const armilla_code_set *codes = f->codes;
    const bool is_f32 = f->resolved.type == ARMILLA_F32, flat = !codes->spherical && codes->conic;
    if (f->facts.zero_samples == f->X->n)
        return armilla_fail(f->context, ARMILLA_BAD_DATA,
                            "every entry of the data is 0%s: no positive radius exists; there is nothing to factorise",
                            f->options->center ? " after centring" : "");
    if (f->facts.squared_norm < LEAST_SQUARED_NORM ||
        (is_f32 && f->facts.norm_high < (flat ? LEAST_FLAT_F32 : LEAST_F32)))
        return armilla_fail(f->context, ARMILLA_BAD_DATA,
                            "the entries are too small for their squares to be added in %s; %s",
                            armilla_type_word(f->resolved.type),
                            is_f32 ? "use " ARMILLA_FIELD("precision f64") " or multiply the data by a power of ten"
                                   : "multiply the data by a power of ten");
    return ARMILLA_OK;
}

/* ||.||_F of what rounding can make of samples that equal their mean: what the check allows (docs/model-file.md). The mean
 * is subtracted in double. */
static double centring_rounds(const armilla_fit_state *f)
{
    const double *mean = f->model->preparation.learned[ARMILLA_STEP_CENTER];
    const double loss = (double)(f->X->m + f->options->rank + 32) * DBL_EPSILON;
    return mean ? 2 * loss * sqrt((double)f->X->n) * armilla_norm(f->X->m, mean) : 0;
}

/* Lengths of 1 say nothing of what was there before: samples without a direction are 0 by then. */
static armilla_status check_centred(const armilla_fit_state *f)
{
    const double left = sqrt(f->facts.squared_norm);
    if (f->model->preparation.taken[ARMILLA_STEP_NORMALIZE] || left > centring_rounds(f)) return ARMILLA_OK;
    return armilla_fail(
        f->context, ARMILLA_BAD_DATA,
        "what centring leaves of the data, of length %.3g, is rounding: all samples are alike%s; fit without " ARMILLA_FIELD(
            "center"),
        left,
        armilla_preparation_before(&f->model->preparation, ARMILLA_STEP_CENTER) ? " after the steps before it" : "");
}

static const char *entries_are(const armilla_data_facts *facts)
{
    return facts->negatives == 1 ? "entry is" : "entries are";
}

static double spread_of(const armilla_data_facts *facts)
{
    return facts->norm_low > 0 ? facts->norm_high / facts->norm_low : 0;
}

static void warn(const armilla_fit_state *f)
{
    const armilla_data_facts *facts = &f->facts;
    const double spread = spread_of(facts);
    if (f->codes->spherical && spread > MOST_SPREAD && !f->model->preparation.taken[ARMILLA_STEP_NORMALIZE])
        armilla_log(f->context, ARMILLA_LOG_WARNING,
                    "the longest sample is %.3g times the shortest: one radius cannot fit both; " ARMILLA_FIELD(
                        "normalize l2") " scales "
                                        "every sample to length 1",
                    spread);
    if (f->codes->spherical && facts->zero_samples > 0)
        armilla_log(f->context, ARMILLA_LOG_WARNING, "%" PRId64 " of %" PRId64 " samples %s", facts->zero_samples,
                    f->X->n,
                    facts->zero_samples == 1 ? "is 0 and has no direction of its own"
                                             : "are 0 and have no direction of their own");
    if (armilla_weights_unsafe(f->options->lambda, f->options->mu))
        armilla_log(f->context, ARMILLA_LOG_WARNING,
                    ARMILLA_FIELD("lambda %s") ", " ARMILLA_FIELD(
                        "mu %s") " may be below the safe value: the objective may rise, and the last iterate need "
                                 "not be the best",
                    f->options->lambda, f->options->mu);
    if (f->options->restarts > 1 && !f->start)
        armilla_log(f->context, ARMILLA_LOG_WARNING,
                    ARMILLA_FIELD("restarts") " has no effect where the start is given");
    if (facts->negatives > 0 && !f->resolved.basis->is_signed && f->codes->nonnegative)
        armilla_log(f->context, ARMILLA_LOG_WARNING,
                    "%" PRId64 " %s negative, which a nonnegative basis with nonnegative codes cannot fit",
                    facts->negatives, entries_are(facts));
}

static armilla_status survey(armilla_fit_state *f)
{
    const armilla_samples share = armilla_data_share(f->context, f->view.data);
    armilla_status status = armilla_samples_take(f->context, &share, 1, sizeof(double), &f->squared_norms);
    if (status == ARMILLA_OK)
        status = armilla_survey(f->context, f->view.data, f->resolved.type, &f->facts, f->squared_norms);
    if (status == ARMILLA_OK)
        status =
            armilla_preparation_finite(f->context, &f->model->preparation, f->view.raw, &f->facts, f->resolved.type);
    if (status == ARMILLA_OK) status = check_scale(f);
    if (status == ARMILLA_OK) status = check_centred(f);
    if (status == ARMILLA_OK && f->facts.negatives > 0 && f->solver->positive)
        status = armilla_fail(f->context, ARMILLA_BAD_DATA,
                              "%" PRId64 " %s negative, and " ARMILLA_FIELD(
                                  "solver %s") " multiplies: use " ARMILLA_FIELD("solver fast") " or palm",
                              f->facts.negatives, entries_are(&f->facts), f->options->solver);
    if (status == ARMILLA_OK) warn(f);
    return status;
}

static bool starts_meaningless(const armilla_fit_state *f)
{
    return f->start && f->start->meaningless;
}

/* True from a random start alone: atoms of other starts are meaningful from the first, and solved codes are better for
 * them. */
static bool descent_suffices(const armilla_fit_state *f)
{
    return starts_meaningless(f) && armilla_descent_suffices(f->codes, spread_of(&f->facts));
}

static armilla_status make_problem(armilla_fit_state *f)
{
    const armilla_options *o = f->options;
    armilla_problem_options p = {
        .basis = f->resolved.basis,
        .codes = f->codes,
        .r = o->rank,
        .s = f->codes->sparse ? o->sparsity : 0,
        .type = f->resolved.type,
        .radius = o->radius,
        .descent_suffices = descent_suffices(f),
        .passes = armilla_basis_passes(f->codes, spread_of(&f->facts), starts_meaningless(f)),
        .whole = !f->solver->blocks,
        .settles = f->solver->settles,
        .seals = f->solver->sealed && o->max_iter > 0,
        .batch = o->batch,
        .seed = (uint64_t)o->seed,
        .stop = {.max_iter = o->max_iter,
                 .tol = o->tol < 0 ? AUTOMATIC_TOL : o->tol,
                 .automatic = o->tol < 0,
                 .eases =
                     o->tol < 0 && f->solver->eases && armilla_pair_eases(f->resolved.basis, f->codes, o->sparsity),
                 .time_limit = o->time_limit,
                 .noise = armilla_epsilon(f->resolved.type) * f->facts.squared_norm,
                 .squared_norm = f->facts.squared_norm},
        .callback = o->callback,
        .callback_user = o->callback_user,
        .clock_start = f->clock_start,
    };
    (void)armilla_weight_read(o->lambda, &p.lambda); /* both have been checked */
    (void)armilla_weight_read(o->mu, &p.mu);
    return armilla_problem_new(f->context, f->view.data, &p, f->facts.squared_norm, f->squared_norms, &f->problem);
}

/* The time that is allowed counts from when this call began, also where the clock of the trace goes on from earlier
 * ones. */
static void limit_time(const armilla_fit_state *f, double begun)
{
    const double limit = f->options->time_limit;
    if (limit <= 0) return;
    armilla_call_limit(f->context, begun + limit);
    if (f->problem->options.stop.time_limit > 0) /* else checkpoints see to it */
        f->problem->options.stop.time_limit = begun + limit - f->clock_start;
}

static armilla_status choose_start(armilla_fit_state *f)
{
    if (f->options->start_model) return armilla_model_within_reach(f->context, f->options->start_model);
    if (f->options->start_basis || f->continued) return ARMILLA_OK;
    const bool positive = f->solver->positive;
    f->start = f->options->start ? armilla_starts_find(f->options->start)
               : positive        ? &armilla_start_random
                                 : armilla_starts_default(f->resolved.basis, f->codes);
    if (f->start) return ARMILLA_OK;
    return armilla_fail(
        f->context, ARMILLA_BAD_ARGUMENT,
        ARMILLA_FIELD("start") ": '%s' is not a starting point; a file has to be opened and given as start_model or "
                               "start_basis",
        f->options->start);
}

/* Only what the data and the options say: it comes out the same whenever it is done. */
static armilla_sketch_plan plan_sketch(const armilla_fit_state *f)
{
    const armilla_landscape landscape = armilla_pair_landscape(f->resolved.basis, f->codes);
    const double stored = (double)armilla_data_stored(f->X), density = stored / ((double)f->X->m * (double)f->X->n);
    const int64_t n = f->X->n, r = f->options->rank, restarts = f->options->restarts;
    const bool assigns = armilla_pair_assigns(f->resolved.basis, f->codes, f->options->sparsity);
    const armilla_sketch_plan plan = armilla_sketch_decide(landscape, n, r, density, restarts);
    const bool leads = landscape == ARMILLA_LOCAL_MINIMA && restarts == 1 && !f->solver->blocks &&
                       f->problem->options.descent_suffices;
    const armilla_few_data data = {n, f->X->m, armilla_data_stored(f->X), r};
    const armilla_sketch_plan halving = armilla_sketch_halve(&data, restarts, f->options->max_iter);
    if (plan.samples > 0) return plan;
    if (assigns && halving.samples > 0) return halving;
    return leads ? armilla_sketch_lead(n, r, density) : plan;
}

/* What is expected of it: rounds 0 where they are not known yet. */
static void tell_work(const armilla_fit_state *f, int64_t rounds)
{
    armilla_call_plan(
        f->context, &(armilla_workload){.work = ARMILLA_WORK_FIT,
                                        .samples = f->X->n,
                                        .features = f->X->m,
                                        .entries = armilla_sparse_of(f->X) ? armilla_data_stored(f->X) : 0,
                                        .rank = f->options->rank,
                                        .restarts = f->options->restarts,
                                        .rounds = rounds,
                                        .max_iter = f->options->max_iter,
                                        .limit = f->options->time_limit,
                                        .code_seconds = armilla_codes_seconds(f->resolved.basis, f->codes,
                                                                              f->options->rank, f->options->sparsity)});
}

static armilla_status open(armilla_fit_state *f)
{
    armilla_status status = choose_start(f);
    armilla_call_count(f->context, f->X->n);
    if (status == ARMILLA_OK) status = armilla_model_new(f->context, &f->model);
    if (status == ARMILLA_OK) status = prepare(f);
    if (status == ARMILLA_OK) status = survey(f);
    if (status == ARMILLA_OK) status = make_problem(f);
    if (status == ARMILLA_OK && f->continued) status = armilla_fit_take_past(f);
    if (status != ARMILLA_OK) return status;
    /* Only from here on is there something that can be kept when the time is up. */
    limit_time(f, f->clock_start);
    f->plan = plan_sketch(f);
    tell_work(f, armilla_restarts_rounds(f));
    armilla_restarts_begin(f);
    return ARMILLA_OK;
}

/* A hash of what all ranks must have been given alike: options as the fit understands them (so that processors with
 * other kernels are found too), the shape of the data, and a given basis. */
static uint64_t token_of(const armilla_fit_state *f)
{
    const armilla_options *o = f->options;
    const armilla_model *model = f->continued ? f->continued : o->start_model;
    const int64_t entries = f->X->m * o->rank;
    const uint64_t numbers[] = {(uint64_t)f->X->m, (uint64_t)f->X->n, (uint64_t)armilla_data_stored(f->X),
                                armilla_options_token(o, &f->resolved)};
    uLong token = crc32_z(0, (const unsigned char *)numbers, sizeof numbers);
    if (model)
        token = crc32_z(token, model->U, (size_t)entries * armilla_type_size(model->summary.precision));
    else if (o->start_basis)
        token = crc32_z(token, (const unsigned char *)o->start_basis, (size_t)entries * sizeof *o->start_basis);
    return token;
}

/* f has context, X and the model that is continued. */
static armilla_status open_whole(armilla_fit_state *f, const armilla_options *options)
{
    armilla_context *context = f->context;
    const armilla_data *X = f->X;
    f->filled = armilla_options_fill(options);
    f->clock_start = armilla_clock();
    f->options = &f->filled;
    armilla_status status = armilla_call_enter_together(context, options->threads);
    if (status != ARMILLA_OK) return status;
    status = f->continued ? armilla_fit_check_continued(f) : ARMILLA_OK;
    if (status == ARMILLA_OK) status = armilla_fit_check_whole(context, X, options);
    if (status == ARMILLA_OK) status = armilla_options_resolve(context, options, X, &f->resolved);
    if (status == ARMILLA_OK) f->codes = armilla_codes_limited(f->resolved.codes, options->rank, options->sparsity);
    if (status == ARMILLA_OK) f->solver = armilla_solvers_find(f->options->solver);
    status = armilla_ranks_meet(context, status, status == ARMILLA_OK ? token_of(f) : 0, NULL);
    if (status == ARMILLA_OK && !f->solver) status = ARMILLA_INTERNAL; /* the options were checked: there is one */
    if (status == ARMILLA_OK) status = armilla_blas_enter_idle(context, armilla_call_threads(context));
    if (status != ARMILLA_OK) return armilla_call_leave_together(context, status);
    tell_work(f, 0);
    f->outer_memory = armilla_memory_enter(context, options->memory);
    armilla_kernels_pin(context, f->resolved.kernel);
    status = open(f);
    if (status != ARMILLA_OK) {
        status = armilla_ranks_end(context, status);
        armilla_fit_close(f, NULL);
    }
    return status;
}

armilla_status armilla_fit_open(armilla_context *context, const armilla_data *X, const armilla_options *options,
                                armilla_fit_state *f)
{
    *f = (armilla_fit_state){.context = context, .X = X};
    return open_whole(f, options);
}

armilla_status armilla_fit_step(armilla_fit_state *f, bool *ended)
{
    return armilla_restarts_step(f, ended);
}

void armilla_fit_list(void *self, armilla_state_list *list)
{
    armilla_fit_state *f = self;
    double seconds = armilla_clock() - f->clock_start; /* those of the trace go on */
    armilla_state_report(list, "seconds", ARMILLA_STATE_F64, &seconds);
    if (list->restoring) {
        const double begun = f->clock_start;
        f->clock_start = f->problem->options.clock_start = armilla_clock() - seconds;
        limit_time(f, begun);
    }
    armilla_state_report(list, "passes", ARMILLA_STATE_I64, &f->context->call.passes);
    armilla_state_report(list, "passes_before", ARMILLA_STATE_I64, &f->context->call.passes_before);
    armilla_restarts_list(f, list);
}

void armilla_fit_close(armilla_fit_state *f, armilla_model **model)
{
    if (model) {
        *model = f->model;
        f->model = NULL;
    }
    armilla_restarts_free(f);
    armilla_problem_free(f->problem);
    armilla_release(f->context, f->squared_norms);
    armilla_view_free(&f->view);
    armilla_model_free(f->model);
    armilla_blas_leave();
    armilla_memory_leave(f->context, f->outer_memory);
    armilla_call_leave(f->context);
}

/* All steps of a fit that is open, and its end. */
static armilla_status run_steps(armilla_fit_state *f, armilla_checkpoint *checkpoint, armilla_model **model)
{
    armilla_checkpointing c = {.asked = checkpoint};
    bool ended = false;
    armilla_status status = armilla_checkpoint_begin(&c, f, &ended);
    while (status == ARMILLA_OK && !ended) status = armilla_checkpoint_step(&c, f, &ended);
    if (status == ARMILLA_OK) status = armilla_fit_assemble(f);
    status = armilla_ranks_end(f->context, status);
    armilla_checkpoint_end(&c, f);
    armilla_fit_close(f, status == ARMILLA_OK ? model : NULL);
    return status;
}

armilla_status armilla_fit_whole(armilla_context *context, const armilla_data *X, const armilla_options *options,
                                 armilla_model **model)
{
    armilla_fit_state f;
    const armilla_status status = armilla_fit_open(context, X, options, &f);
    return status == ARMILLA_OK ? run_steps(&f, NULL, model) : status;
}

armilla_status armilla_fit_continue(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                    const armilla_options *options, armilla_model **updated)
{
    armilla_fit_state f = {.context = context, .X = X, .continued = model};
    const armilla_status status = open_whole(&f, options);
    return status == ARMILLA_OK ? run_steps(&f, NULL, updated) : status;
}

armilla_status armilla_fit_checkpointed(armilla_context *context, const armilla_data *X, const armilla_options *options,
                                        armilla_checkpoint *checkpoint, armilla_model **model)
{
    armilla_options whole;
    armilla_checkpoint asked;
    armilla_fit_state f;
    armilla_checkpoint_default(&asked);
    armilla_status status = ARMILLA_NOT_NULL(context, X, options, checkpoint, model);
    if (status == ARMILLA_OK) status = armilla_options_read(context, options, &whole);
    if (status == ARMILLA_OK)
        status = armilla_sized_read(context, "armilla_checkpoint", checkpoint, &asked, sizeof asked);
    if (status != ARMILLA_OK) return status;
    asked.written = 0;
    asked.failed = ARMILLA_OK;
    if (!context->ranks) status = armilla_checkpoint_check(context, &asked); /* else when all are in the call */
    if (status == ARMILLA_OK) status = armilla_fit_open(context, X, &whole, &f);
    if (status == ARMILLA_OK) status = run_steps(&f, &asked, model);
    armilla_sized_write_back(&asked, sizeof asked, checkpoint);
    return status;
}
