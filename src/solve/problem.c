/* The problem's memory and its state. */
#include "solve/problem.h"

#include "base/clock.h"
#include "base/number.h"
#include "base/ranks.h"
#include "data/slots.h"

#include <math.h>
#include <string.h>

bool armilla_weight_read(const char *text, armilla_weight *weight)
{
    char *end = NULL;
    const double value = armilla_read_number(text, &end);
    const bool relative = strcmp(end, "x") == 0;
    if (end == text || (!relative && *end) || !(value > 0) || !isfinite(value)) return false;
    *weight = (armilla_weight){value, relative};
    return true;
}

double armilla_weight_apply(armilla_weight weight, double safe)
{
    return weight.relative ? weight.value * safe : weight.value;
}

void armilla_problem_list(armilla_problem *p, armilla_state_list *list)
{
    const int64_t m = p->m, r = p->r;
    const armilla_state_type work = armilla_state_working(p->options.type);
    const size_t outer = armilla_state_enter(list, "problem");
    armilla_state_array(list, "U", ARMILLA_STATE_F64, m, r, &p->U);
    armilla_state_samples(list, "W", work, r, &p->share, &p->W);
    armilla_state_number(list, "l", ARMILLA_STATE_F64, &p->l);
    armilla_state_number(list, "objective", ARMILLA_STATE_F64, &p->objective);
    armilla_state_number(list, "given", ARMILLA_STATE_U8, &p->given);
    armilla_state_number(list, "screened", ARMILLA_STATE_U8, &p->screened);
    armilla_state_number(list, "settled", ARMILLA_STATE_U8, &p->settled);
    armilla_state_number(list, "sealed", ARMILLA_STATE_U8, &p->sealed);
    armilla_state_number(list, "stop", ARMILLA_STATE_I32, &p->stop);
    (void)armilla_state_require(list, "stop", p->stop < ARMILLA_STOP_COUNT);
    if (p->trace) armilla_trace_list(p->trace, list);
    armilla_state_workspace(list, work, m, r, &p->U_typed);
    armilla_state_workspace(list, ARMILLA_STATE_F64, r, r, &p->H);
    armilla_state_workspace(list, ARMILLA_STATE_F64, m, r, &p->U_next);
    armilla_state_leave(list, outer);
    if (list->restoring && list->status == ARMILLA_OK) armilla_problem_set_basis(p, p->U, NULL);
}

void armilla_problem_list_passes(armilla_problem *p, armilla_state_list *list)
{
    const size_t outer = armilla_state_enter(list, "problem");
    int64_t *runs = armilla_sweep_runs(p->sweep);
    armilla_state_report(list, "sweeps", ARMILLA_STATE_I64, runs);
    (void)armilla_state_require(list, "sweeps", *runs >= 0 && *runs <= ARMILLA_STATE_MOST);
    armilla_state_report(list, "extra_sweeps", ARMILLA_STATE_I64, &p->extra_sweeps);
    (void)armilla_state_require(list, "extra_sweeps", p->extra_sweeps >= 0 && p->extra_sweeps <= ARMILLA_STATE_MOST);
    armilla_state_leave(list, outer);
}

static void list_state(void *self, armilla_state_list *list)
{
    armilla_problem_list(self, list);
}

static armilla_status take_state(armilla_problem *p)
{
    armilla_context *context = p->context;
    const int64_t m = p->m, r = p->r;
    armilla_status status = armilla_state_take(context, list_state, p);
    if (status == ARMILLA_OK) status = armilla_algebra_new(context, m, r, &p->algebra);
    if (status == ARMILLA_OK) status = armilla_trace_new(context, p->options.stop.max_iter, &p->trace);
    const bool assigns = armilla_pair_assigns(p->options.basis, p->options.codes, p->options.s);
    if (status == ARMILLA_OK)
        status = (p->options.whole && !assigns ? armilla_sweep_new_whole : armilla_sweep_new)(
            context, p->X, p->options.type, r, ARMILLA_TALLY_PER_ROW * r, &p->sweep);
    if (status == ARMILLA_OK) armilla_algebra_set_team(p->algebra, armilla_sweep_team(p->sweep));
    return status;
}

armilla_status armilla_problem_new(armilla_context *context, const armilla_data *X,
                                   const armilla_problem_options *options, double squared_norm,
                                   const double *squared_norms, armilla_problem **problem)
{
    armilla_problem *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    *made = (armilla_problem){
        .context = context,
        .X = X,
        .options = *options,
        .m = X->m,
        .n = X->n,
        .r = options->r,
        .squared_norm = squared_norm,
        .squared_norms = squared_norms,
        .share = armilla_data_share(context, X),
    };
    if (!options->codes->spherical) made->options.radius = 1; /* fixed: V = W */
    made->radius_stays = made->options.radius > 0;
    status = take_state(made);
    if (status != ARMILLA_OK) {
        armilla_problem_free(made);
        return status;
    }
    *problem = made;
    return ARMILLA_OK;
}

void armilla_problem_free(armilla_problem *problem)
{
    if (!problem) return;
    armilla_context *context = problem->context;
    armilla_sweep_free(problem->sweep);
    armilla_trace_free(problem->trace);
    problem->trace = NULL;
    armilla_algebra_free(problem->algebra);
    armilla_state_release(context, list_state, problem);
    armilla_release(context, problem);
}

/* A basis on its way into the problem. */
typedef struct settling {
    armilla_problem *problem;
    const double *next;
    bool measured;                    /* whether there was a basis before, and its distance is wanted */
    double moved[ARMILLA_ROW_BLOCKS]; /* ||U_next - U|| of each block of rows */
} settling;

static void settle_rows(void *self, int64_t block, int64_t first, int64_t last)
{
    settling *s = self;
    armilla_problem *p = s->problem;
    double *rounded = p->U_next, part = 0; /* may be next itself */
    for (int64_t k = 0; k < p->r; k++) {
        const int64_t at = k * p->m + first, count = last - first;
        void *typed = (char *)p->U_typed + (size_t)at * armilla_type_size(p->options.type);
        armilla_store(p->options.type, count, s->next + at, typed);
        armilla_fetch(p->options.type, count, typed, rounded + at);
        if (s->measured) part = hypot(part, armilla_distance(count, rounded + at, p->U + at));
        memcpy(p->U + at, rounded + at, (size_t)count * sizeof(double));
    }
    s->moved[block] = part;
}

static void settle(armilla_problem *problem, const double *next, double *moved)
{
    settling s = {.problem = problem, .next = next, .measured = moved != NULL};
    armilla_by_rows(problem->algebra, problem->m, settle_rows, &s);
    if (moved) *moved = armilla_norm(armilla_row_blocks(problem->algebra, problem->m), s.moved);
}

void armilla_problem_set_basis(armilla_problem *problem, const double *next, double *moved)
{
    settle(problem, next, moved);
    armilla_gram_by_rows(problem->algebra, problem->U, problem->H);
}

static void measure_atoms(void *self, int64_t first, int64_t last)
{
    const armilla_problem *p = self;
    for (int64_t k = first; k < last; k++) p->H[k * p->r + k] = armilla_dot(p->m, p->U + k * p->m, p->U + k * p->m);
}

void armilla_problem_set_atoms(armilla_problem *problem, const double *next, double *moved)
{
    settle(problem, next, moved);
    armilla_team_share(armilla_sweep_team(problem->sweep), problem->r, measure_atoms, problem);
}

armilla_status armilla_problem_sweep(armilla_problem *problem, const armilla_sweep_plan *plan)
{
    armilla_call_uninterrupted_enter(problem->context);
    const armilla_status status = armilla_sweep_run(problem->sweep, plan);
    armilla_call_uninterrupted_leave(problem->context);
    return status;
}

/* An orthonormal basis has H = I but for rounding, so that the diagonal of G is enough. */
double armilla_problem_product_square(const armilla_problem *problem)
{
    const double *sizes = armilla_sweep_sizes(problem->sweep);
    double product_square = 0;
    for (int64_t k = 0; k < problem->r && sizes; k++) product_square += problem->H[k * problem->r + k] * sizes[k];
    if (sizes) return product_square;
    return armilla_dot(problem->r * problem->r, problem->H, armilla_sweep_G(problem->sweep));
}

double armilla_problem_objective(const armilla_problem *problem)
{
    const double l = problem->l;
    const double h = problem->squared_norm - 2 * l * armilla_sweep_cross(problem->sweep) +
                     l * l * armilla_problem_product_square(problem);
    if (!isfinite(h)) return INFINITY; /* worse than any other, whichever way the sums have overflowed */
    return h < 0 ? 0 : h;              /* only by cancellation */
}

double armilla_relative_error(double h, double squared_norm)
{
    const double quotient = h / squared_norm;
    return isfinite(quotient) ? sqrt(quotient) : sqrt(h) / sqrt(squared_norm);
}

/* Asks whether the caller wants the end, by the callback or otherwise. Ranks then have one answer, and rank 0's clock; and
 * each has come to this objective by itself. */
static armilla_status ask(armilla_problem *problem, armilla_trace_entry *entry)
{
    const armilla_problem_options *options = &problem->options;
    uint64_t token = 0;
    if (options->callback && options->callback(options->callback_user, entry))
        armilla_call_stop(problem->context, ARMILLA_STOP_INTERRUPTED);
    (void)armilla_call_over(problem->context);
    memcpy(&token, &entry->objective, sizeof token);
    return armilla_ranks_meet(problem->context, ARMILLA_OK, token, &entry->seconds);
}

static bool is_interrupted(const armilla_problem *problem)
{
    armilla_stop reason = ARMILLA_STOP_CONVERGED;
    return armilla_call_stopped(problem->context, &reason) && reason == ARMILLA_STOP_INTERRUPTED;
}

/* Fits of other starts to the same data make about as many iterations. */
#define USUAL_SOONEST 0.5
#define USUAL_LATEST 2.0

/* The iteration that the fit is expected to stop at: as those before it did, or by its trace. */
static armilla_stop_guess expect_end(const armilla_problem *problem)
{
    const double now = (double)problem->trace->count;
    if (problem->usual > 0) return (armilla_stop_guess){fmax(problem->usual, now), USUAL_SOONEST, USUAL_LATEST};
    return armilla_stop_expect(&problem->options.stop, problem->trace);
}

/* Tells the call how far it is, and what it has learned of the rest. */
static void report(armilla_problem *problem, const armilla_trace_entry *entry)
{
    const armilla_stop_guess end = expect_end(problem);
    armilla_call_stage(problem->context, ARMILLA_STAGE_ITERATIONS);
    armilla_call_step(problem->context, entry->iteration, problem->options.stop.max_iter);
    armilla_call_guess(problem->context, (double)entry->iteration / end.last,
                       (double)(entry->iteration + 1) / end.last);
    armilla_call_bound(problem->context, end.soonest, end.latest);
}

/* Adds the entry and decides. */
static armilla_status add_entry(armilla_problem *problem, armilla_trace_entry *entry, bool *ended)
{
    armilla_trace *trace = problem->trace;
    const armilla_problem_options *options = &problem->options;
    armilla_status status = ask(problem, entry);
    if (status == ARMILLA_OK) status = armilla_trace_add(trace, entry);
    if (status != ARMILLA_OK) return status;
    problem->objective = entry->objective;
    armilla_call_iterates(problem->context, problem->n);
    const bool interrupted = is_interrupted(problem);
    *ended = armilla_stop_decide(&options->stop, trace, interrupted, &problem->stop);
    report(problem, entry);
    return ARMILLA_OK;
}

armilla_status armilla_problem_record(armilla_problem *problem, double dU, double dV, bool *ended)
{
    return armilla_problem_record_as(problem, armilla_problem_objective(problem), dU, dV, ended);
}

static armilla_trace_entry next_entry(const armilla_problem *problem, double h, double dU, double dV)
{
    return (armilla_trace_entry){
        .size = sizeof(armilla_trace_entry),
        .iteration = problem->trace->count,
        .objective = h,
        .relative_error = armilla_relative_error(h, problem->squared_norm),
        .dU = dU,
        .dV = dV,
        .radius = problem->options.codes->spherical ? problem->l : NAN,
        .seconds = armilla_clock() - problem->options.clock_start,
    };
}

armilla_status armilla_problem_record_unfinished(armilla_problem *problem, double dU, double dV)
{
    armilla_trace_entry entry = next_entry(problem, problem->objective, dU, dV);
    uint64_t token = 0;
    memcpy(&token, &dU, sizeof token);
    const armilla_status status = armilla_ranks_meet(problem->context, ARMILLA_OK, token, &entry.seconds);
    (void)armilla_call_stopped(problem->context, &problem->stop);
    problem->unfinished = true;
    return status == ARMILLA_OK ? armilla_trace_add(problem->trace, &entry) : status;
}

armilla_status armilla_problem_record_as(armilla_problem *problem, double h, double dU, double dV, bool *ended)
{
    armilla_trace_entry entry = next_entry(problem, h, dU, dV);
    if (!isfinite(h))
        return armilla_fail(problem->context, ARMILLA_BAD_DATA,
                            "the objective is not finite after iteration %lld: products of entries leave the range of "
                            "%s; scale the data nearer to 1",
                            (long long)entry.iteration, armilla_type_word(problem->options.type));
    return add_entry(problem, &entry, ended);
}

armilla_status armilla_problem_record_start(armilla_problem *problem, bool *ended)
{
    return armilla_problem_record_as(problem, problem->objective, 0, 0, ended);
}

armilla_status armilla_problem_repeat(armilla_problem *problem, bool *ended)
{
    armilla_trace_entry entry = problem->trace->entries[problem->trace->count - 1];
    entry.iteration++;
    entry.dU = entry.dV = 0;
    entry.seconds = armilla_clock() - problem->options.clock_start;
    return add_entry(problem, &entry, ended);
}
