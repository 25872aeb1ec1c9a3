/* The default solver (docs/algorithm.md#the-solver-fast): the paper's problem, monotone and feasible like its
 * algorithm, but with blocks solved exactly where that can be done, several cheap steps per read of X where it cannot,
 * and momentum that is taken back where it does not pay. The result is sealed: in canonical form, its codes those of
 * transform. */
#include "solve/fast.h"

#include <math.h>
#include <string.h>

armilla_status armilla_fast_run(armilla_fast *fast, const armilla_sweep_plan *plan, armilla_effort effort)
{
    armilla_problem *p = fast->problem;
    const armilla_status status = armilla_column_problem_set(fast->columns, p->algebra, p->H, effort);
    return status == ARMILLA_OK ? armilla_sweep_run(p->sweep, plan) : status;
}

armilla_status armilla_fast_sweep(armilla_fast *fast, armilla_code_step step, armilla_effort effort, double *h)
{
    armilla_problem *p = fast->problem;
    const bool solves = step == armilla_fast_solve_codes;
    const armilla_sweep_plan plan = {.U = p->U_typed,
                                     .previous = p->W,
                                     .codes = fast->W_trial,
                                     .sums = true,
                                     .diagonal = fast->loop == &armilla_loop_orthonormal,
                                     .blind = solves,
                                     .step = step,
                                     .scaled = solves ? armilla_column_scaling(fast->columns) : NULL,
                                     .self = fast};
    p->l = fast->l;
    const armilla_status status = armilla_fast_run(fast, &plan, effort);
    if (status != ARMILLA_OK) return status;
    fast->dV = armilla_radius_step(p);
    *h = armilla_problem_objective(p);
    return ARMILLA_OK;
}

/* Codes that name an atom each: how often each is named is all that G has. */
static void solve_names(void *self, const armilla_code_panel *panel)
{
    armilla_fast_solve_codes(self, panel);
    for (int64_t j = 0; j < panel->count; j++)
        for (int64_t k = 0; k < panel->r; k++)
            panel->tally[k] += panel->W[j * panel->r + k] * panel->W[j * panel->r + k];
}

/* The same without XW' and WW', on which nothing depends any more. */
static armilla_status sweep_names(armilla_fast *fast, double *h)
{
    const armilla_problem *p = fast->problem;
    const armilla_sweep_plan plan = {
        .U = p->U_typed, .codes = fast->W_trial, .tally = p->r, .step = solve_names, .self = fast};
    const armilla_status status = armilla_fast_run(fast, &plan, ARMILLA_SOLVE);
    const double *named = armilla_sweep_tally(p->sweep);
    double square = 0;
    for (int64_t k = 0; k < p->r; k++) square += p->H[k * p->r + k] * named[k];
    if (status == ARMILLA_OK)
        *h = fmax(p->squared_norm - 2 * p->l * armilla_sweep_cross(p->sweep) + p->l * p->l * square, 0);
    return status;
}

armilla_status armilla_fast_sweep_sealed(armilla_fast *fast, double *h)
{
    armilla_problem *p = fast->problem;
    const armilla_problem_options *o = &p->options;
    if (armilla_pair_assigns(o->basis, o->codes, o->s)) return sweep_names(fast, h);
    const armilla_sweep_plan plan = {.U = p->U_typed,
                                     .codes = fast->W_trial,
                                     .sums = true,
                                     .step = armilla_fast_solve_codes,
                                     .scaled = armilla_column_scaling(fast->columns),
                                     .self = fast};
    const armilla_status status = armilla_fast_run(fast, &plan, ARMILLA_SOLVE);
    if (status == ARMILLA_OK) *h = armilla_problem_objective(p);
    return status;
}

void armilla_fast_keep(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    if (p->settled) { /* no step will ask for A */
        memset(fast->A, 0, (size_t)(p->m * p->r) * sizeof(double));
        memcpy(fast->G, armilla_sweep_G(p->sweep), (size_t)(p->r * p->r) * sizeof(double));
    } else {
        armilla_sweep_copy(p->sweep, fast->A, fast->G);
    }
    p->objective = armilla_problem_objective(p);
}

void armilla_fast_swap_codes(armilla_fast *fast)
{
    void *W = fast->problem->W;
    fast->problem->W = fast->W_trial;
    fast->W_trial = W;
}

void armilla_fast_adopt(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    const double before = p->objective;
    armilla_fast_swap_codes(fast);
    if (fast->orthonormal.A_back) {
        double *A = fast->orthonormal.A_back;
        fast->orthonormal.A_back = fast->A;
        fast->A = A;
    }
    armilla_fast_keep(fast);
    if (p->objective < before) armilla_revival_moved(&fast->revival);
}

armilla_status armilla_fast_accept(armilla_fast *fast, bool *ended)
{
    armilla_problem *p = fast->problem;
    const double dU = armilla_distance_tall(p->algebra, p->U, fast->U_kept);
    armilla_fast_adopt(fast);
    return armilla_problem_record(p, dU, fast->dV, ended);
}

void armilla_fast_revert(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    armilla_problem_set_basis(p, fast->U_kept, NULL);
    p->l = fast->l;
}

armilla_status armilla_fast_stay(armilla_fast *fast, bool *ended)
{
    armilla_fast_revert(fast);
    return armilla_problem_repeat(fast->problem, ended);
}

void armilla_fast_solve_codes(void *self, const armilla_code_panel *panel)
{
    const armilla_fast *fast = self;
    const armilla_problem *p = fast->problem;
    const double unit = armilla_column_unit(fast->columns, p->l);
    const armilla_column_batch batch = {panel->count, panel->C, unit, panel->W};
    armilla_columns_solve(fast->columns, &batch, panel->scratch);
}

double armilla_fast_beta(const armilla_fast *fast)
{
    return fast->plain || fast->reviving ? 0 : fast->momentum.beta;
}

bool armilla_fast_retreat(armilla_fast *fast, double beta)
{
    if (fast->reviving)
        armilla_fast_revive_failed(fast);
    else if (beta > 0)
        armilla_momentum_reject(&fast->momentum);
    else
        return false;
    return true;
}

/* Everything that the next step depends on, beside what the problem lists, and the workspace. */
static void list(void *self, armilla_state_list *items)
{
    armilla_fast *fast = self;
    const armilla_problem *p = fast->problem;
    const int64_t m = p->m, r = p->r;
    armilla_state_number(items, "phase", ARMILLA_STATE_I32, &fast->phase);
    const bool holds =
        fast->phase < ARMILLA_FAST_GO_ON || (fast->phase == ARMILLA_FAST_GO_ON && fast->loop->step_sealed);
    if (!armilla_state_require(items, "phase", holds)) return;
    armilla_state_array(items, "A", ARMILLA_STATE_F64, m, r, &fast->A);
    armilla_state_array(items, "G", ARMILLA_STATE_F64, r, r, &fast->G);
    armilla_state_count(items, "revival.due", ARMILLA_STATE_MOST, &fast->revival.due);
    armilla_state_count(items, "revival.wait", ARMILLA_STATE_MOST, &fast->revival.wait);
    armilla_state_count(items, "revival.passed", ARMILLA_STATE_MOST, &fast->revival.passed);
    if (!fast->plain) armilla_state_number(items, "momentum.beta", ARMILLA_STATE_F64, &fast->momentum.beta);
    if (fast->loop->step_sealed) {
        armilla_state_number(items, "seal.wanted", ARMILLA_STATE_F64, &fast->seal.wanted);
        armilla_state_count(items, "seal.steps", ARMILLA_STATE_MOST, &fast->seal.steps);
    }
    fast->loop->list(fast, items);
    armilla_state_workspace(items, ARMILLA_STATE_F64, m, r, &fast->U_kept);
    armilla_state_workspace(items, ARMILLA_STATE_F64, m, r, &fast->U_new);
    armilla_state_samples_workspace(items, armilla_state_working(p->options.type), r, &p->share, &fast->W_trial);
    armilla_state_workspace(items, ARMILLA_STATE_F64, m, 1, &fast->column);
    armilla_state_workspace(items, ARMILLA_STATE_F64, r, r, &fast->axes);
    armilla_state_workspace(items, ARMILLA_STATE_F64, r, 1, &fast->weights);
    armilla_state_workspace(items, ARMILLA_STATE_I64, r, 1, &fast->revived);
    armilla_state_samples_workspace(items, ARMILLA_STATE_F64, 1, &p->share, &fast->residuals);
}

const armilla_fast_loop *armilla_fast_loop_of(const armilla_problem_options *o)
{
    if (armilla_pair_assigns(o->basis, o->codes, o->s)) return &armilla_loop_assign;
    return o->basis->gram_is_identity ? &armilla_loop_orthonormal : &armilla_loop_atoms;
}

static armilla_status open_with(armilla_problem *p, armilla_fast *fast, const armilla_fast_loop *loop)
{
    const armilla_problem_options *o = &p->options;
    fast->problem = p;
    fast->loop = loop;
    fast->plain = o->basis->one_atom_per_row || loop == &armilla_loop_assign || loop == &armilla_loop_online;
    if (fast->loop->open) fast->loop->open(fast);
    const armilla_status status =
        armilla_column_problem_new(p->context, o->codes, p->r, o->s, o->basis->gram_is_identity, &fast->columns);
    return status == ARMILLA_OK && o->type == ARMILLA_F32 ? armilla_column_problem_allow_single(fast->columns) : status;
}

static armilla_status open(armilla_problem *p, void *self)
{
    return open_with(p, self, armilla_fast_loop_of(&p->options));
}

static armilla_status open_online(armilla_problem *p, void *self)
{
    return open_with(p, self, &armilla_loop_online);
}

static void close(void *self)
{
    const armilla_fast *fast = self;
    armilla_column_problem_free(fast->columns);
}

static void begin(armilla_problem *p, void *self)
{
    armilla_fast *fast = self;
    (void)p;
    armilla_momentum_begin(&fast->momentum);
    armilla_revival_begin(&fast->revival);
    armilla_fast_keep(fast);
    fast->loop->begin(fast);
}

/* The call is to end, and what was tried is abandoned: the accepted state is the result. */
static armilla_status halt(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    bool ended = false;
    armilla_fast_revert(fast);
    (void)armilla_call_stopped(p->context, &p->stop);
    return p->trace->count > 0 ? ARMILLA_OK : armilla_problem_record_start(p, &ended);
}

/* After the last iteration. Without one the start is stored as it is, unless it is the result. */
static armilla_fast_phase phase_after(const armilla_problem *p)
{
    const bool settled = p->settled && p->stop == ARMILLA_STOP_CONVERGED;
    const bool iterated = settled || p->trace->entries[p->trace->count - 1].iteration > 0;
    return !p->draft && iterated ? ARMILLA_FAST_SEAL : ARMILLA_FAST_ENDED;
}

static armilla_status prepare(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    bool ready = true, ended = false;
    armilla_status status = fast->loop->prepare ? fast->loop->prepare(fast, &ready) : ARMILLA_OK;
    if (status == ARMILLA_OK && ready) {
        status = armilla_problem_record_start(p, &ended);
        fast->phase = ARMILLA_FAST_ITERATE;
        if (status == ARMILLA_OK && !ended && p->settled) {
            p->stop = ARMILLA_STOP_CONVERGED;
            ended = true;
        }
    }
    if (status == ARMILLA_STOPPED) {
        status = halt(fast);
        ended = true;
    }
    if (status == ARMILLA_OK && ended) fast->phase = phase_after(p);
    return status;
}

static armilla_status iterate(armilla_fast *fast)
{
    bool ended = false;
    armilla_status status = fast->loop->iterate(fast, &ended);
    if (status == ARMILLA_STOPPED) {
        status = halt(fast);
        ended = true;
    }
    if (status == ARMILLA_OK && ended) fast->phase = phase_after(fast->problem);
    return status;
}

/* Whether the last code solve costs no more than another sweep. */
static bool seals_cheaply(const armilla_problem *p)
{
    const armilla_problem_options *o = &p->options;
    return o->basis->gram_is_identity || o->codes->solves_cheaply(p->r, o->s);
}

/* Sealed, unless the call is to end first: who asked for that would wait for many sweeps. A step that is abandoned leaves
 * the state as it was, which can be gone on from; the next ends it. */
static armilla_status end_by(armilla_fast *fast, armilla_status (*step)(armilla_fast *fast))
{
    armilla_problem *p = fast->problem;
    const bool cheap = seals_cheaply(p), held = !cheap && armilla_call_heed(p->context);
    if (cheap) armilla_call_keep(p->context);
    const armilla_status status = step(fast);
    if (cheap) armilla_call_keep_leave(p->context);
    if (held) armilla_call_hold(p->context);
    if (status == ARMILLA_STOPPED) armilla_fast_revert(fast);
    if (status == ARMILLA_OK) p->sealed = true;
    return status == ARMILLA_STOPPED ? ARMILLA_OK : status;
}

/* After the last iteration, and after each step that follows it. */
static armilla_status seal_by(armilla_fast *fast, armilla_status (*step)(armilla_fast *fast))
{
    armilla_problem *p = fast->problem;
    armilla_call_stage(p->context, ARMILLA_STAGE_CODES);
    if (seals_cheaply(p) || !armilla_call_stopped(p->context, NULL)) return end_by(fast, step);
    fast->phase = ARMILLA_FAST_ENDED;
    return halt(fast);
}

static armilla_status seal(armilla_fast *fast)
{
    return seal_by(fast, armilla_fast_seal);
}

static armilla_status go_on(armilla_fast *fast)
{
    return seal_by(fast, armilla_fast_go_on_sealed);
}

static armilla_status step(armilla_problem *p, void *self, bool *ended)
{
    static armilla_status (*const phases[])(armilla_fast * fast) = {
        [ARMILLA_FAST_PREPARE] = prepare,
        [ARMILLA_FAST_ITERATE] = iterate,
        [ARMILLA_FAST_SEAL] = seal,
        [ARMILLA_FAST_GO_ON] = go_on,
    };
    armilla_fast *fast = self;
    const double *accepted = fast->continuation.sweep > 0 ? fast->continuation.U_start : p->U;
    armilla_copy_tall(p->algebra, accepted, fast->U_kept);
    fast->l = p->l;
    const armilla_status status = phases[fast->phase](fast);
    *ended = fast->phase == ARMILLA_FAST_ENDED;
    return status;
}

static void finish(armilla_problem *p, void *self)
{
    armilla_fast *fast = self;
    (void)p;
    if (fast->loop->finish) fast->loop->finish(fast);
}

const armilla_solver armilla_solver_fast = {
    .name = "fast",
    .meaning = "exact blocks or several cheap steps per read of the data, with guarded momentum; sealed codes",
    .sealed = true,
    .descends = true,
    .settles = true,
    .screens = &armilla_solver_fast,
    .bytes = sizeof(armilla_fast),
    .open = open,
    .close = close,
    .list = list,
    .begin = begin,
    .step = step,
    .finish = finish,
};

const armilla_solver armilla_solver_online = {
    .name = "online",
    .meaning = "blocks of samples, each followed by a step of the basis; an iteration is a pass; sealed codes",
    .sealed = true,
    .blocks = true,
    .screens = &armilla_solver_fast,
    .bytes = sizeof(armilla_fast),
    .open = open_online,
    .close = close,
    .list = list,
    .begin = begin,
    .step = step,
    .finish = finish,
};
