/* The default solver (docs/algorithm.md#the-solver-fast): the paper's problem, monotone and feasible like its
 * algorithm, but with blocks solved exactly where that can be done, several cheap steps per read of X where it cannot,
 * and momentum that is taken back where it does not pay. The result is sealed: in canonical form, its codes those of
 * transform. Solver `online` goes through the same phases with loops of its own. */
#include "solve/trial.h"

/* What a pair needs of a loop. */
typedef enum kind { EXACT, ATOMS, ASSIGN } kind;

static const armilla_loop *const fast_loops[] = {
    [EXACT] = &armilla_loop_orthonormal,
    [ATOMS] = &armilla_loop_atoms,
    [ASSIGN] = &armilla_loop_assign,
};

static const armilla_loop *const online_loops[] = {
    [EXACT] = &armilla_online_orthonormal,
    [ATOMS] = &armilla_online_atoms,
    [ASSIGN] = &armilla_online_assign,
};

static kind kind_of(const armilla_problem_options *o)
{
    if (armilla_pair_assigns(o->basis, o->codes, o->s)) return ASSIGN;
    return o->basis->exact ? EXACT : ATOMS;
}

static size_t bytes(const armilla_problem_options *options)
{
    return fast_loops[kind_of(options)]->bytes;
}

static size_t bytes_online(const armilla_problem_options *options)
{
    return online_loops[kind_of(options)]->bytes;
}

static armilla_status open(armilla_problem *p, void *self)
{
    return armilla_trial_open(self, p, fast_loops[kind_of(&p->options)]);
}

static armilla_status open_online(armilla_problem *p, void *self)
{
    return armilla_trial_open(self, p, online_loops[kind_of(&p->options)]);
}

static void close(void *self)
{
    armilla_trial_close(self);
}

static void list(void *self, armilla_state_list *items)
{
    armilla_trial *trial = self;
    armilla_trial_list(trial, items);
    trial->loop->list(trial, items);
}

static void begin(armilla_problem *p, void *self)
{
    armilla_trial *trial = self;
    (void)p;
    armilla_trial_begin(trial);
    trial->loop->begin(trial);
}

/* The call is to end, and what was tried is abandoned: the accepted state is the result. */
static armilla_status halt(armilla_trial *trial)
{
    armilla_problem *p = trial->problem;
    bool ended = false;
    armilla_trial_revert(trial);
    (void)armilla_call_stopped(p->context, &p->stop);
    return p->trace->count > 0 ? ARMILLA_OK : armilla_problem_record_start(p, &ended);
}

/* After the last iteration. Without one the start is stored as it is, unless it is the result. */
static armilla_trial_phase phase_after(const armilla_problem *p)
{
    const bool settled = p->settled && p->stop == ARMILLA_STOP_CONVERGED;
    const bool iterated = settled || p->trace->entries[p->trace->count - 1].iteration > 0;
    return !p->basis_only && iterated ? ARMILLA_TRIAL_SEAL : ARMILLA_TRIAL_ENDED;
}

static armilla_status prepare(armilla_trial *trial)
{
    armilla_problem *p = trial->problem;
    bool ready = true, ended = false;
    armilla_status status = trial->loop->prepare ? trial->loop->prepare(trial, &ready) : ARMILLA_OK;
    if (status == ARMILLA_OK && ready) {
        status = armilla_problem_record_start(p, &ended);
        trial->phase = ARMILLA_TRIAL_ITERATE;
        if (status == ARMILLA_OK && !ended && p->settled) {
            p->stop = ARMILLA_STOP_CONVERGED;
            ended = true;
        }
    }
    if (status == ARMILLA_STOPPED) {
        status = halt(trial);
        ended = true;
    }
    if (status == ARMILLA_OK && ended) trial->phase = phase_after(p);
    return status;
}

static armilla_status iterate(armilla_trial *trial)
{
    bool ended = false;
    armilla_status status = trial->loop->iterate(trial, &ended);
    if (status == ARMILLA_STOPPED) {
        status = halt(trial);
        ended = true;
    }
    if (status == ARMILLA_OK && ended) trial->phase = phase_after(trial->problem);
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
static armilla_status end_by(armilla_trial *trial, armilla_status (*step)(armilla_trial *trial))
{
    armilla_problem *p = trial->problem;
    const bool cheap = seals_cheaply(p), deferred = !cheap && armilla_call_accept_stop(p->context);
    if (cheap) armilla_call_uninterrupted_enter(p->context);
    const armilla_status status = step(trial);
    if (cheap) armilla_call_uninterrupted_leave(p->context);
    if (deferred) armilla_call_defer_stop(p->context);
    if (status == ARMILLA_STOPPED) armilla_trial_revert(trial);
    if (status == ARMILLA_OK) p->sealed = true;
    return status == ARMILLA_STOPPED ? ARMILLA_OK : status;
}

/* After the last iteration, and after each step that follows it. */
static armilla_status seal_by(armilla_trial *trial, armilla_status (*step)(armilla_trial *trial))
{
    armilla_problem *p = trial->problem;
    armilla_call_stage(p->context, ARMILLA_STAGE_CODES);
    if (seals_cheaply(p) || !armilla_call_stopped(p->context, NULL)) return end_by(trial, step);
    trial->phase = ARMILLA_TRIAL_ENDED;
    return halt(trial);
}

static armilla_status seal(armilla_trial *trial)
{
    return seal_by(trial, armilla_trial_seal);
}

static armilla_status go_on(armilla_trial *trial)
{
    return seal_by(trial, armilla_trial_go_on_sealed);
}

static armilla_status step(armilla_problem *p, void *self, bool *ended)
{
    static armilla_status (*const phases[])(armilla_trial * trial) = {
        [ARMILLA_TRIAL_PREPARE] = prepare,
        [ARMILLA_TRIAL_ITERATE] = iterate,
        [ARMILLA_TRIAL_SEAL] = seal,
        [ARMILLA_TRIAL_GO_ON] = go_on,
    };
    armilla_trial *trial = self;
    const double *accepted = trial->loop->accepted ? trial->loop->accepted(trial) : p->U;
    armilla_copy_tall(p->algebra, accepted, trial->U_kept);
    trial->l = p->l;
    const armilla_status status = phases[trial->phase](trial);
    *ended = trial->phase == ARMILLA_TRIAL_ENDED;
    return status;
}

static void finish(armilla_problem *p, void *self)
{
    armilla_trial *trial = self;
    (void)p;
    if (trial->loop->finish) trial->loop->finish(trial);
}

const armilla_solver armilla_solver_fast = {
    .name = "fast",
    .meaning = "exact blocks or several cheap steps per read of the data, with guarded momentum; sealed codes",
    .sealed = true,
    .descends = true,
    .settles = true,
    .eases = true,
    .screens = &armilla_solver_fast,
    .bytes = bytes,
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
    .bytes = bytes_online,
    .open = open_online,
    .close = close,
    .list = list,
    .begin = begin,
    .step = step,
    .finish = finish,
};
