/* The default solver (ALGORITHM section 5): the paper's problem, monotone and feasible like its algorithm, but with
 * blocks solved exactly where that can be done, several cheap steps per read of X where it cannot, and momentum that
 * is taken back where it does not pay. The result is sealed: in canonical form, its codes those of transform. */
#include "solve/fast.h"

#include <math.h>
#include <string.h>

armilla_status armilla_fast_sweep(armilla_fast *fast, armilla_code_step step, void *self, double *h)
{
    armilla_problem *p = fast->problem;
    const armilla_sweep_plan plan = {
        .U = p->U_typed, .previous = p->W, .codes = fast->W_trial, .sums = true, .step = step, .self = self};
    p->l = fast->l;
    armilla_status status = armilla_column_problem_set(fast->columns, p->algebra, p->H, fast->effort);
    if (status == ARMILLA_OK) status = armilla_sweep_run(p->sweep, &plan);
    if (status != ARMILLA_OK) return status;
    fast->dV = armilla_radius_step(p);
    *h = armilla_problem_objective(p);
    return ARMILLA_OK;
}

void armilla_fast_keep(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    const size_t bytes = (size_t)(p->m * p->r) * sizeof(double);
    memcpy(fast->U_kept, p->U, bytes);
    memcpy(fast->A, armilla_sweep_A(p->sweep), bytes);
    memcpy(fast->G, armilla_sweep_G(p->sweep), (size_t)(p->r * p->r) * sizeof(double));
    fast->h = armilla_problem_objective(p);
    fast->l = p->l;
}

void armilla_fast_swap_codes(armilla_fast *fast)
{
    void *W = fast->problem->W;
    fast->problem->W = fast->W_trial;
    fast->W_trial = W;
}

void armilla_fast_adopt(armilla_fast *fast)
{
    double *A = fast->A_back;
    const double before = fast->h;
    armilla_fast_swap_codes(fast);
    fast->A_back = fast->A;
    fast->A = A;
    armilla_fast_keep(fast);
    if (fast->h < before) armilla_revival_moved(&fast->revival);
}

armilla_status armilla_fast_accept(armilla_fast *fast, bool *ended)
{
    armilla_problem *p = fast->problem;
    const double dU = armilla_distance(p->m * p->r, p->U, fast->U_kept);
    armilla_fast_adopt(fast);
    return armilla_problem_record(p, dU, fast->dV, ended);
}

void armilla_fast_revert(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    memcpy(p->U_next, fast->U_kept, (size_t)(p->m * p->r) * sizeof(double));
    armilla_problem_set_basis(p, p->U_next, NULL);
    p->l = fast->l;
}

/* The call is to end, and what was tried is abandoned: the accepted state is the result. */
static armilla_status halt(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    bool ended = false;
    armilla_fast_revert(fast);
    p->objective = fast->h;
    (void)armilla_call_stopped(p->context, &p->stop);
    return p->trace->count > 0 ? ARMILLA_OK : armilla_problem_record_as(p, fast->h, 0, 0, &ended);
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
    armilla_columns_solve(fast->columns, p->options.codes, panel->count, panel->C, unit, panel->W, panel->scratch);
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

static armilla_status take_fast(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    armilla_context *context = p->context;
    const int64_t basis = p->m * p->r;
    armilla_status status = armilla_column_problem_new(context, p->options.codes, p->r, p->options.s,
                                                       p->options.basis->gram_is_identity, &fast->columns);
    /* Large, and written whole before they are read: not zeroed. */
    if (status == ARMILLA_OK) status = armilla_grow(context, basis, sizeof(double), &fast->U_kept);
    if (status == ARMILLA_OK) status = armilla_grow(context, basis, sizeof(double), &fast->U_new);
    if (status == ARMILLA_OK) status = armilla_grow(context, basis, sizeof(double), &fast->A);
    if (status == ARMILLA_OK) status = armilla_grow(context, basis, sizeof(double), &fast->A_back);
    if (status == ARMILLA_OK) status = armilla_take(context, p->r * p->r, sizeof(double), &fast->G);
    if (status == ARMILLA_OK) status = armilla_take(context, p->r, sizeof *fast->revived, &fast->revived);
    if (status == ARMILLA_OK) status = armilla_take(context, p->n, sizeof(double), &fast->misfit);
    if (status == ARMILLA_OK) status = armilla_take(context, p->m, sizeof(double), &fast->sample);
    if (status == ARMILLA_OK)
        status = armilla_grow(context, p->r * p->n, armilla_type_size(p->options.type), &fast->W_trial);
    return status;
}

static void free_fast(armilla_fast *fast)
{
    armilla_context *context = fast->problem->context;
    armilla_release(context, fast->W_trial);
    armilla_release(context, fast->sample);
    armilla_release(context, fast->misfit);
    armilla_release(context, fast->revived);
    armilla_release(context, fast->G);
    armilla_release(context, fast->A_back);
    armilla_release(context, fast->A);
    armilla_release(context, fast->U_new);
    armilla_release(context, fast->U_kept);
    armilla_column_problem_free(fast->columns);
}

static const armilla_fast_loop *loop_of(const armilla_problem_options *o)
{
    if (armilla_pair_assigns(o->basis, o->codes, o->s)) return &armilla_loop_assign;
    return o->basis->gram_is_identity ? &armilla_loop_orthonormal : &armilla_loop_atoms;
}

/* Whether the last code solve costs no more than another sweep. */
static bool seals_cheaply(const armilla_problem *p)
{
    const armilla_problem_options *o = &p->options;
    return o->basis->gram_is_identity || o->codes->solves_cheaply(p->r, o->s);
}

/* Sealed, unless the call is to end first: who asked for that would wait for many sweeps. */
static armilla_status end(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    const bool cheap = seals_cheaply(p);
    armilla_call_stage(p->context, ARMILLA_STAGE_CODES);
    if (!cheap && armilla_call_over(p->context)) return halt(fast);
    const double l = fast->l;
    if (cheap) armilla_call_keep(p->context);
    armilla_status status = armilla_fast_seal(fast);
    if (cheap) armilla_call_keep_leave(p->context);
    p->sealed = status == ARMILLA_OK;
    if (status != ARMILLA_STOPPED) return status;
    fast->l = l;
    return halt(fast);
}

static armilla_status solve(armilla_problem *p)
{
    armilla_fast fast = {.problem = p, .loop = loop_of(&p->options)};
    fast.plain = p->options.basis->one_atom_per_row || fast.loop == &armilla_loop_assign;
    armilla_status status = take_fast(&fast);
    p->sealed = false;
    if (status == ARMILLA_OK) {
        armilla_momentum_begin(&fast.momentum);
        armilla_revival_begin(&fast.revival);
        armilla_fast_keep(&fast);
        memcpy(fast.A_back, fast.A, (size_t)(p->m * p->r) * sizeof(double));
        status = fast.loop->run(&fast);
    }
    if (status == ARMILLA_STOPPED) status = halt(&fast);
    /* Without an iteration the start is stored as it is. */
    if (status == ARMILLA_OK && !p->draft && p->trace->entries[p->trace->count - 1].iteration > 0) status = end(&fast);
    free_fast(&fast);
    return status;
}

const armilla_solver armilla_solver_fast = {
    .name = "fast",
    .meaning = "exact blocks or several cheap steps per read of the data, with guarded momentum; sealed codes",
    .sealed = true,
    .screens = true,
    .solve = solve,
};
