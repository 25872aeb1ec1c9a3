/* Restarts and screening, a phase at a time. Between two steps everything that is needed later is in the state. */
#include "model/fit.h"

#include <math.h>
#include <string.h>

static armilla_status make_start(void *self, armilla_problem *sketch, int64_t i)
{
    return armilla_fit_start_row(self, sketch, i);
}

/* Candidates of which none has been tried. */
static armilla_status begin_screening(armilla_fit_state *f)
{
    f->restarts.screened = true;
    f->restarts.screening = (armilla_screening){.context = f->context,
                                                .solver = f->solver->screens,
                                                .make = make_start,
                                                .self = f,
                                                .m = f->problem->m,
                                                .r = f->problem->r,
                                                .count = f->plan.starts,
                                                .most = f->plan.kept};
    return armilla_screening_begin(&f->restarts.screening);
}

/* The samples that they are tried on: the same whenever they are drawn. */
static armilla_status draw_sketch(armilla_fit_state *f)
{
    armilla_call_nested_enter(f->context); /* short beside what is done with it */
    const armilla_status status = armilla_sketch_make(f->model, f->view.raw, f->problem, &f->plan,
                                                      (uint64_t)f->options->seed, &f->restarts.sketch);
    armilla_call_nested_leave(f->context);
    f->restarts.screening.sketch = f->restarts.sketch.problem;
    return status;
}

static void free_sketch(armilla_restarts *s)
{
    armilla_run_close(&s->screening.run);
    s->screening.sketch = NULL;
    armilla_sketch_free(&s->sketch);
    s->sketch = (armilla_sketch){.context = NULL};
}

/* All starts as they are. */
static void begin_unscreened(armilla_fit_state *f)
{
    armilla_restarts *s = &f->restarts;
    free_sketch(s);
    armilla_screening_free(&s->screening);
    s->screened = false;
    s->round = 0;
    s->rounds = f->start ? f->options->restarts : 1;
    s->phase = ARMILLA_FIT_START;
}

static bool screens(const armilla_fit_state *f)
{
    return f->start && f->solver->screens && f->plan.samples > 0 && f->options->max_iter > 0;
}

int64_t armilla_restarts_rounds(const armilla_fit_state *f)
{
    return screens(f) ? f->plan.kept : f->start ? f->options->restarts : 1;
}

void armilla_restarts_begin(armilla_fit_state *f)
{
    armilla_call_stage(f->context, ARMILLA_STAGE_START);
    begin_unscreened(f);
    if (screens(f)) f->restarts.phase = ARMILLA_FIT_SKETCH;
}

/* Rounds from the candidates that were kept; without any all starts are tried as they are. */
static void begin_screened(armilla_fit_state *f)
{
    armilla_restarts *s = &f->restarts;
    s->rounds = 0;
    while (s->rounds < s->screening.count && s->screening.candidates[s->rounds].kept) s->rounds++;
    s->phase = ARMILLA_FIT_START;
    if (s->rounds == 0) begin_unscreened(f);
}

/* All starts of few data in one step. */
static armilla_status halve(armilla_fit_state *f)
{
    const armilla_halving halving = {.problem = f->problem,
                                     .start = f->start,
                                     .seed = (uint64_t)f->options->seed,
                                     .count = f->plan.starts,
                                     .most = f->plan.kept,
                                     .together = f->plan.together,
                                     .iterations = f->plan.iterations};
    armilla_call_nested_enter(f->context);
    const armilla_status status = armilla_halve_starts(&halving, f->restarts.screening.candidates);
    armilla_call_nested_leave(f->context);
    if (status != ARMILLA_OK && status != ARMILLA_STOPPED) return status;
    f->restarts.screening.tried = f->plan.starts;
    begin_screened(f);
    return ARMILLA_OK;
}

static armilla_status make_sketch(armilla_fit_state *f)
{
    armilla_status status = begin_screening(f);
    if (status == ARMILLA_OK && f->plan.together > 0) return halve(f);
    f->restarts.phase = ARMILLA_FIT_SCREEN;
    if (status == ARMILLA_OK) status = draw_sketch(f);
    if (status != ARMILLA_STOPPED) return status;
    begin_unscreened(f); /* before the first was tried */
    return ARMILLA_OK;
}

/* Makes the starts on a sketch; the best will be fitted. All are tried as they are where none was possible. */
static armilla_status screen(armilla_fit_state *f)
{
    armilla_restarts *s = &f->restarts;
    armilla_problem *p = f->problem;
    const armilla_problem *sketch = s->sketch.problem;
    bool ended = false;
    const armilla_status status = armilla_screening_step(&s->screening, &ended);
    if (status != ARMILLA_OK || !ended) return status;
    const double sweeps = (double)(armilla_sweep_count(sketch->sweep) + sketch->extra_sweeps);
    p->extra_sweeps += (int64_t)ceil((double)f->plan.samples * sweeps / (double)p->n);
    free_sketch(s);
    begin_screened(f);
    return ARMILLA_OK;
}

static armilla_status take_best(armilla_fit_state *f)
{
    armilla_restarts *s = &f->restarts;
    const int64_t m = f->problem->m, r = f->problem->r;
    if (s->rounds == 1 || s->best.trace) return ARMILLA_OK;
    armilla_status status = armilla_take(f->context, m * r, sizeof(double), &s->best.U);
    if (status == ARMILLA_OK)
        status =
            armilla_samples_take(f->context, &f->problem->share, r, armilla_type_size(f->resolved.type), &s->best.W);
    if (status == ARMILLA_OK) status = armilla_trace_new(f->context, f->options->max_iter, &s->best.trace);
    return status;
}

static void swap(void *a, void *b, size_t size)
{
    char t[sizeof(double)];
    memcpy(t, a, size);
    memcpy(a, b, size);
    memcpy(b, t, size);
}

/* The problem's state and the best change places. */
static void swap_best(armilla_fit_state *f)
{
    armilla_problem *p = f->problem;
    armilla_restarts *s = &f->restarts;
    swap(&p->U, &s->best.U, sizeof p->U);
    swap(&p->W, &s->best.W, sizeof p->W);
    swap(&p->trace, &s->best.trace, sizeof p->trace);
    swap(&p->l, &s->best.l, sizeof p->l);
    swap(&p->objective, &s->best.objective, sizeof p->objective);
    swap(&p->stop, &s->best.stop, sizeof p->stop);
    swap(&p->sealed, &s->best.sealed, sizeof p->sealed);
    swap(&p->unfinished, &s->best.unfinished, sizeof p->unfinished);
}

/* After the last round: the best state goes back into the problem. */
static armilla_status end(armilla_fit_state *f)
{
    armilla_restarts *s = &f->restarts;
    if (s->best.found) {
        swap_best(f);
        (void)armilla_call_stopped(f->context, &f->problem->stop);
        s->phase = ARMILLA_FIT_ENDED;
        return ARMILLA_OK;
    }
    if (!s->screened) return ARMILLA_BAD_DATA; /* the last start has said why */
    /* What has a positive radius on a sketch need not have one on all data: then as if there were no sketch. */
    begin_unscreened(f);
    return ARMILLA_OK;
}

static armilla_status next_round(armilla_fit_state *f)
{
    armilla_restarts *s = &f->restarts;
    s->round++;
    s->phase = ARMILLA_FIT_START;
    return s->round == s->rounds ? end(f) : ARMILLA_OK;
}

/* The start itself, which may be abandoned also where an end is held back: it is repeated from its seed. */
static armilla_status make_round(armilla_fit_state *f, int32_t *used)
{
    const bool deferred = armilla_call_accept_stop(f->context);
    const armilla_status status = armilla_fit_start(f, f->restarts.round, used);
    if (deferred) armilla_call_defer_stop(f->context);
    return status;
}

/* The state of a round before its first iteration. A start without a positive radius is passed over where another has
 * one. One that is abandoned leaves the state as it was, which can be gone on from; the next step ends it. */
static armilla_status start(armilla_fit_state *f)
{
    armilla_restarts *s = &f->restarts;
    const bool over = armilla_call_stopped(f->context, NULL);
    int32_t used = s->used;
    armilla_status status = take_best(f);
    if (status != ARMILLA_OK) return status;
    if (over && s->best.found) return end(f);
    if (s->rounds > 1)
        armilla_call_round(f->context, ARMILLA_PHASE_FITS, (double)s->round / (double)s->rounds,
                           (double)(s->round + 1) / (double)s->rounds);
    armilla_call_stage(f->context, ARMILLA_STAGE_START);
    status = over && f->start ? ARMILLA_STOPPED : make_round(f, &used);
    if (status == ARMILLA_STOPPED && !over) return ARMILLA_OK;
    if (status == ARMILLA_STOPPED) status = armilla_fit_start_at_once(f, &used);
    s->used = used;
    if (status == ARMILLA_BAD_DATA) return next_round(f);
    if (status == ARMILLA_OK) status = armilla_run_open(&s->run, f->problem, f->solver);
    if (status != ARMILLA_OK) return status;
    armilla_run_begin(&s->run);
    s->phase = ARMILLA_FIT_ITERATE;
    return ARMILLA_OK;
}

static armilla_status iterate(armilla_fit_state *f)
{
    armilla_restarts *s = &f->restarts;
    bool ended = false;
    const armilla_status status = armilla_run_step(&s->run, &ended);
    if (status != ARMILLA_OK || !ended) return status;
    armilla_run_close(&s->run);
    if (s->rounds == 1) {
        s->winner = s->used;
        s->phase = ARMILLA_FIT_ENDED;
        return ARMILLA_OK;
    }
    const double iterations = (double)f->problem->trace->count;
    f->problem->usual += (iterations - f->problem->usual) / (double)(s->round + 1);
    if (!s->best.found || f->problem->objective < s->best.objective) {
        swap_best(f);
        s->best.found = true;
        s->winner = s->used;
    }
    return next_round(f);
}

armilla_status armilla_restarts_step(armilla_fit_state *f, bool *ended)
{
    static armilla_status (*const phases[])(armilla_fit_state * f) = {
        [ARMILLA_FIT_SKETCH] = make_sketch,
        [ARMILLA_FIT_SCREEN] = screen,
        [ARMILLA_FIT_START] = start,
        [ARMILLA_FIT_ITERATE] = iterate,
    };
    const armilla_status status = phases[f->restarts.phase](f);
    *ended = f->restarts.phase == ARMILLA_FIT_ENDED;
    return status;
}

static void list_best(armilla_fit_state *f, armilla_state_list *list)
{
    armilla_restarts *s = &f->restarts;
    const armilla_problem *p = f->problem;
    armilla_state_number(list, "best.found", ARMILLA_STATE_U8, &s->best.found);
    if (!armilla_state_require(list, "best.found", !s->best.found || s->rounds > 1)) return;
    const bool holds = s->best.found || s->phase == ARMILLA_FIT_ITERATE; /* or will, after the round */
    if (list->restoring && list->status == ARMILLA_OK && holds) list->status = take_best(f);
    if (list->status != ARMILLA_OK || !s->best.found || s->phase == ARMILLA_FIT_ENDED) return;
    armilla_state_array(list, "best.U", ARMILLA_STATE_F64, p->m, p->r, &s->best.U);
    armilla_state_samples(list, "best.W", armilla_state_working(f->resolved.type), p->r, &p->share, &s->best.W);
    armilla_state_number(list, "best.l", ARMILLA_STATE_F64, &s->best.l);
    armilla_state_number(list, "best.objective", ARMILLA_STATE_F64, &s->best.objective);
    armilla_state_number(list, "best.stop", ARMILLA_STATE_I32, &s->best.stop);
    (void)armilla_state_require(list, "best.stop", s->best.stop < ARMILLA_STOP_COUNT);
    armilla_state_number(list, "best.sealed", ARMILLA_STATE_U8, &s->best.sealed);
    const size_t outer = armilla_state_enter(list, "best");
    armilla_trace_list(s->best.trace, list);
    armilla_state_leave(list, outer);
}

static bool is_row(int32_t start)
{
    return start == -1 || (start >= 0 && armilla_starts_row((size_t)start));
}

/* Whether the numbers that were restored can be those of such a fit. */
static bool is_state(const armilla_fit_state *f)
{
    const armilla_restarts *s = &f->restarts;
    const bool sketching = s->phase == ARMILLA_FIT_SKETCH || s->phase == ARMILLA_FIT_SCREEN;
    const bool working = s->phase == ARMILLA_FIT_START || s->phase == ARMILLA_FIT_ITERATE;
    const int64_t most = s->screened ? f->plan.starts : f->start ? f->options->restarts : 1;
    if (s->phase > ARMILLA_FIT_ENDED || !is_row(s->used) || !is_row(s->winner)) return false;
    if ((sketching || s->screened) && !screens(f)) return false;
    if (s->phase == ARMILLA_FIT_SCREEN && !s->screened) return false;
    return s->round >= 0 && s->rounds >= 1 && s->rounds <= most && s->round < s->rounds + !working;
}

/* Rounds have the candidates that they begin with. */
static bool has_candidates(const armilla_restarts *s)
{
    bool all = true;
    for (int64_t i = 0; i < s->rounds && s->screened && s->phase != ARMILLA_FIT_SCREEN; i++)
        all = all && s->screening.candidates[i].kept;
    return all;
}

/* What a phase works with is made anew where its state is restored: candidates, the sketch, the solver. */
static void list_work(armilla_fit_state *f, armilla_state_list *list)
{
    armilla_restarts *s = &f->restarts;
    const bool restores = list->restoring && list->status == ARMILLA_OK;
    if (restores && s->screened) list->status = begin_screening(f);
    if (restores && list->status == ARMILLA_OK && s->phase == ARMILLA_FIT_SCREEN) list->status = draw_sketch(f);
    if (s->screened && list->status == ARMILLA_OK) armilla_screening_list(&s->screening, list);
    if (restores && list->status == ARMILLA_OK) (void)armilla_state_require(list, "candidates.kept", has_candidates(s));
    if (restores && list->status == ARMILLA_OK && s->phase == ARMILLA_FIT_ITERATE)
        list->status = armilla_run_open(&s->run, f->problem, f->solver);
    if (list->status != ARMILLA_OK) return;
    if (s->phase == ARMILLA_FIT_ITERATE) armilla_run_list(&s->run, list);
    if (s->phase == ARMILLA_FIT_ENDED) armilla_problem_list(f->problem, list);
}

void armilla_restarts_list(armilla_fit_state *f, armilla_state_list *list)
{
    armilla_restarts *s = &f->restarts;
    const size_t outer = armilla_state_enter(list, "restarts");
    armilla_state_number(list, "phase", ARMILLA_STATE_I32, &s->phase);
    armilla_state_number(list, "round", ARMILLA_STATE_I64, &s->round);
    armilla_state_number(list, "rounds", ARMILLA_STATE_I64, &s->rounds);
    armilla_state_number(list, "screened", ARMILLA_STATE_U8, &s->screened);
    armilla_state_number(list, "used", ARMILLA_STATE_I32, &s->used);
    armilla_state_number(list, "winner", ARMILLA_STATE_I32, &s->winner);
    if (armilla_state_require(list, "phase", !list->restoring || is_state(f))) list_best(f, list);
    armilla_state_leave(list, outer);
    armilla_problem_list_passes(f->problem, list);
    list_work(f, list);
}

void armilla_restarts_free(armilla_fit_state *f)
{
    armilla_restarts *s = &f->restarts;
    armilla_run_close(&s->run);
    free_sketch(s);
    armilla_screening_free(&s->screening);
    armilla_trace_free(s->best.trace);
    armilla_release(f->context, s->best.W);
    armilla_release(f->context, s->best.U);
}
