/* What the loops of solvers `fast` and `online` share: the sweep of a trial, and what becomes of it. */
#include "solve/trial.h"

#include <math.h>
#include <string.h>

armilla_status armilla_trial_run(armilla_trial *trial, const armilla_sweep_plan *plan, armilla_effort effort)
{
    armilla_problem *p = trial->problem;
    const armilla_status status = armilla_column_problem_set(trial->columns, p->algebra, p->H, effort);
    return status == ARMILLA_OK ? armilla_sweep_run(p->sweep, plan) : status;
}

armilla_status armilla_trial_sweep(armilla_trial *trial, const armilla_sweep_plan *codes, armilla_effort effort,
                                   double *h)
{
    armilla_problem *p = trial->problem;
    armilla_sweep_plan plan = *codes;
    plan.U = p->U_typed;
    plan.previous = p->W;
    plan.codes = trial->W_trial;
    plan.sums = true;
    p->l = trial->l;
    const armilla_status status = armilla_trial_run(trial, &plan, effort);
    if (status != ARMILLA_OK) return status;
    trial->dV = armilla_radius_step(p);
    *h = armilla_problem_objective(p);
    return ARMILLA_OK;
}

armilla_status armilla_trial_sweep_projected(armilla_trial *trial, double *h)
{
    const armilla_sweep_plan codes = {.diagonal = true,
                                      .ignores_previous = true,
                                      .step = armilla_trial_solve_codes,
                                      .scaled = armilla_column_scaling(trial->columns),
                                      .self = trial};
    return armilla_trial_sweep(trial, &codes, ARMILLA_DESCEND, h);
}

armilla_status armilla_trial_sweep_numbers(armilla_trial *trial, double *h)
{
    const armilla_problem *p = trial->problem;
    const armilla_sweep_plan plan = {.U = p->U_typed,
                                     .codes = trial->W_trial,
                                     .sums = true,
                                     .step = armilla_trial_solve_codes,
                                     .scaled = armilla_column_scaling(trial->columns),
                                     .self = trial};
    const armilla_status status = armilla_trial_run(trial, &plan, ARMILLA_SOLVE);
    if (status == ARMILLA_OK) *h = armilla_problem_objective(p);
    return status;
}

/* How often each atom is assigned is all that G has. */
static void solve_assignments(void *self, const armilla_code_panel *panel)
{
    armilla_trial_solve_codes(self, panel);
    for (int64_t j = 0; j < panel->count; j++)
        for (int64_t k = 0; k < panel->r; k++)
            panel->tally[k] += panel->W[j * panel->r + k] * panel->W[j * panel->r + k];
}

/* Without XW' and WW', on which nothing depends any more. */
armilla_status armilla_trial_sweep_assigned(armilla_trial *trial, double *h)
{
    const armilla_problem *p = trial->problem;
    const armilla_sweep_plan plan = {
        .U = p->U_typed, .codes = trial->W_trial, .tally = p->r, .step = solve_assignments, .self = trial};
    const armilla_status status = armilla_trial_run(trial, &plan, ARMILLA_SOLVE);
    const double *sizes = armilla_sweep_tally(p->sweep);
    double square = 0;
    for (int64_t k = 0; k < p->r; k++) square += p->H[k * p->r + k] * sizes[k];
    if (status == ARMILLA_OK)
        *h = fmax(p->squared_norm - 2 * p->l * armilla_sweep_cross(p->sweep) + p->l * p->l * square, 0);
    return status;
}

void armilla_trial_solve_codes(void *self, const armilla_code_panel *panel)
{
    const armilla_trial *trial = self;
    const double unit = armilla_column_unit(trial->columns, trial->problem->l);
    const armilla_column_batch batch = {panel->count, panel->C, unit, panel->W};
    armilla_columns_solve(trial->columns, &batch, panel->scratch);
}

void armilla_trial_keep(armilla_trial *trial)
{
    armilla_problem *p = trial->problem;
    if (p->settled) { /* no step will ask for A */
        memset(trial->A, 0, (size_t)(p->m * p->r) * sizeof(double));
        memcpy(trial->G, armilla_sweep_G(p->sweep), (size_t)(p->r * p->r) * sizeof(double));
    } else {
        armilla_sweep_copy(p->sweep, trial->A, trial->G);
    }
    p->objective = armilla_problem_objective(p);
}

void armilla_trial_swap_codes(armilla_trial *trial)
{
    void *W = trial->problem->W;
    trial->problem->W = trial->W_trial;
    trial->W_trial = W;
}

void armilla_trial_adopt(armilla_trial *trial)
{
    const double before = trial->problem->objective;
    armilla_trial_swap_codes(trial);
    armilla_trial_keep(trial);
    if (trial->problem->objective < before) armilla_revival_moved(&trial->revival);
}

armilla_status armilla_trial_accept(armilla_trial *trial, bool *ended)
{
    armilla_problem *p = trial->problem;
    const double dU = armilla_distance_tall(p->algebra, p->U, trial->U_kept);
    armilla_trial_adopt(trial);
    return armilla_problem_record(p, dU, trial->dV, ended);
}

void armilla_trial_revert(armilla_trial *trial)
{
    armilla_problem *p = trial->problem;
    armilla_problem_set_basis(p, trial->U_kept, NULL);
    p->l = trial->l;
}

armilla_status armilla_trial_stay(armilla_trial *trial, bool *ended)
{
    armilla_trial_revert(trial);
    return armilla_problem_repeat(trial->problem, ended);
}

double armilla_trial_beta(const armilla_trial *trial)
{
    return trial->plain || trial->reviving ? 0 : trial->momentum.beta;
}

bool armilla_trial_retreat(armilla_trial *trial, double beta)
{
    if (trial->reviving)
        armilla_trial_revive_failed(trial);
    else if (beta > 0)
        armilla_momentum_reject(&trial->momentum);
    else
        return false;
    return true;
}

armilla_status armilla_trial_open(armilla_trial *trial, armilla_problem *p, const armilla_loop *loop)
{
    const armilla_problem_options *o = &p->options;
    trial->problem = p;
    trial->loop = loop;
    trial->plain = !loop->momentum || o->basis->one_atom_per_row;
    if (loop->open) loop->open(trial);
    const armilla_status status =
        armilla_column_problem_new(p->context, o->codes, p->r, o->s, o->basis->gram_is_identity, &trial->columns);
    return status == ARMILLA_OK && o->type == ARMILLA_F32 ? armilla_column_problem_allow_single(trial->columns)
                                                          : status;
}

void armilla_trial_close(armilla_trial *trial)
{
    armilla_column_problem_free(trial->columns);
}

static void list_workspace(armilla_trial *trial, armilla_state_list *list)
{
    const armilla_problem *p = trial->problem;
    const int64_t m = p->m, r = p->r;
    armilla_state_workspace(list, ARMILLA_STATE_F64, m, r, &trial->U_kept);
    armilla_state_workspace(list, ARMILLA_STATE_F64, m, r, &trial->U_new);
    armilla_state_samples_workspace(list, armilla_state_working(p->options.type), r, &p->share, &trial->W_trial);
    armilla_state_workspace(list, ARMILLA_STATE_F64, m, 1, &trial->column);
    armilla_state_workspace(list, ARMILLA_STATE_F64, r, r, &trial->axes);
    armilla_state_workspace(list, ARMILLA_STATE_F64, r, 1, &trial->weights);
    armilla_state_workspace(list, ARMILLA_STATE_I64, r, 1, &trial->revived);
    armilla_state_samples_workspace(list, ARMILLA_STATE_F64, 1, &p->share, &trial->residuals);
}

void armilla_trial_list(armilla_trial *trial, armilla_state_list *list)
{
    const armilla_problem *p = trial->problem;
    const bool seals = trial->loop->step_sealed;
    armilla_state_number(list, "phase", ARMILLA_STATE_I32, &trial->phase);
    const bool holds = trial->phase < ARMILLA_TRIAL_GO_ON || (trial->phase == ARMILLA_TRIAL_GO_ON && seals);
    if (!armilla_state_require(list, "phase", holds)) return;
    armilla_state_array(list, "A", ARMILLA_STATE_F64, p->m, p->r, &trial->A);
    armilla_state_array(list, "G", ARMILLA_STATE_F64, p->r, p->r, &trial->G);
    armilla_state_count(list, "revival.due", ARMILLA_STATE_MOST, &trial->revival.due);
    armilla_state_count(list, "revival.wait", ARMILLA_STATE_MOST, &trial->revival.wait);
    armilla_state_count(list, "revival.passed", ARMILLA_STATE_MOST, &trial->revival.passed);
    if (!trial->plain) armilla_state_number(list, "momentum.beta", ARMILLA_STATE_F64, &trial->momentum.beta);
    if (seals) {
        armilla_state_number(list, "seal.wanted", ARMILLA_STATE_F64, &trial->seal.wanted);
        armilla_state_count(list, "seal.steps", ARMILLA_STATE_MOST, &trial->seal.steps);
    }
    list_workspace(trial, list);
}

void armilla_trial_begin(armilla_trial *trial)
{
    armilla_momentum_begin(&trial->momentum);
    armilla_revival_begin(&trial->revival);
    armilla_trial_keep(trial);
}
