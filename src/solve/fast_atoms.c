/* A basis whose atoms move one by one, such as the nonnegative: coordinate descent (HALS) over the columns of U on
 * fixed sums (descent.c), and per read of X several code steps in Gram space from the previous codes, or the column
 * solver where it is cheap or the steps have slowed down. The basis is extrapolated, and taken back where h did not fall. */
#include "solve/descent.h"

#include <string.h>

typedef struct descending_loop {
    armilla_trial trial;
    armilla_code_descent codes;
    armilla_polish polish;
    int passes;            /* of coordinate descent over the basis per sweep */
    bool descent_suffices; /* descent of codes rarely needs help of the column solver, and not at first */
} descending_loop;

static descending_loop *own(armilla_trial *trial)
{
    return (descending_loop *)trial;
}

static void list(armilla_trial *trial, armilla_state_list *items)
{
    armilla_code_descent *codes = &own(trial)->codes;
    armilla_polish *polish = &own(trial)->polish;
    armilla_state_number(items, "atoms.effort", ARMILLA_STATE_I32, &codes->effort);
    (void)armilla_state_require(items, "atoms.effort", codes->effort <= ARMILLA_SOLVE);
    if (codes->cheap) return;
    armilla_state_number(items, "atoms.steps", ARMILLA_STATE_I32, &codes->steps);
    (void)armilla_state_require(items, "atoms.steps",
                                codes->steps == armilla_code_steps(0) || codes->steps == armilla_code_steps(1));
    if (codes->descends) return;
    armilla_state_number(items, "atoms.polish.last", ARMILLA_STATE_I64, &polish->last);
    (void)armilla_state_require(items, "atoms.polish.last",
                                polish->last >= -ARMILLA_STATE_MOST && polish->last <= ARMILLA_STATE_MOST);
    armilla_state_number(items, "atoms.polish.wait", ARMILLA_STATE_F64, &polish->wait);
    armilla_state_number(items, "atoms.polish.thorough", ARMILLA_STATE_U8, &polish->thorough);
}

/* U = U_new + beta*(U_new - U_kept) as a trial, each atom made one of its set. */
static void set_trial(armilla_trial *trial, double beta)
{
    armilla_problem *p = trial->problem;
    for (int64_t k = 0; k < p->r; k++) {
        double *u = p->U_next + k * p->m;
        const double *to = trial->U_new + k * p->m, *from = trial->U_kept + k * p->m;
        for (int64_t i = 0; i < p->m; i++) u[i] = to[i] + beta * (to[i] - from[i]);
        if (beta > 0 && !p->options.basis->atom(p->m, u)) memcpy(u, to, (size_t)p->m * sizeof *u);
    }
    armilla_problem_set_basis(p, p->U_next, NULL);
}

/* The part of what the first step moves a code by below which the next basis gains more than further steps (Gillis and
 * Glineur, 2012). */
#define LITTLE 0.1

/* What the next iteration's codes are worth, by what fraction this one brought h down. */
static void plan_codes(armilla_trial *trial, double fall)
{
    const armilla_problem *p = trial->problem;
    armilla_code_descent *codes = &own(trial)->codes;
    armilla_polish *polish = &own(trial)->polish;
    codes->steps = armilla_code_steps(fall);
    if (codes->effort != ARMILLA_DESCEND) armilla_polish_done(polish, p->trace->count, fall);
    const bool due =
        codes->cheap || (!codes->descends && !p->basis_only && armilla_polish_due(polish, p->trace->count, fall));
    codes->effort = !due ? ARMILLA_DESCEND : polish->thorough ? ARMILLA_CLOSELY : ARMILLA_ROUGHLY;
}

static armilla_status try_codes(armilla_trial *trial, double *h)
{
    armilla_code_descent *codes = &own(trial)->codes;
    const armilla_sweep_plan plan = {.step = armilla_code_descent_step, .self = codes};
    return armilla_trial_sweep(trial, &plan, codes->effort, h);
}

static armilla_status iterate(armilla_trial *trial, bool *ended)
{
    const double before = trial->problem->objective;
    const int passes = own(trial)->passes;
    double h = 0;
    armilla_status status = armilla_trial_find_unused(trial);
    armilla_descend_basis(trial, passes);
    if (status == ARMILLA_OK) status = armilla_trial_revive(trial, trial->U_new);
    if (status != ARMILLA_OK) return status;
    const double beta = armilla_trial_beta(trial);
    const bool revived = trial->reviving > 0;
    set_trial(trial, beta);
    status = try_codes(trial, &h);
    if (status == ARMILLA_OK && h < before) {
        armilla_momentum_accept(&trial->momentum);
    } else if (status == ARMILLA_OK && armilla_trial_retreat(trial, beta)) {
        if (revived) armilla_descend_basis(trial, passes); /* again, without the samples */
        set_trial(trial, 0);
        status = try_codes(trial, &h);
    }
    if (status == ARMILLA_OK)
        status = h <= before ? armilla_trial_accept(trial, ended) : armilla_trial_stay(trial, ended);
    if (status == ARMILLA_OK) plan_codes(trial, before > 0 ? (before - trial->problem->objective) / before : 0);
    return status;
}

/* A basis that was fitted to a sketch is better than the first codes, Proj(U'X): codes that are worth a step of it. */
static armilla_status find_codes(armilla_trial *trial)
{
    const descending_loop *loop = own(trial);
    armilla_code_descent *codes = &own(trial)->codes;
    double h = 0;
    codes->steps = ARMILLA_FIRST_CODE_STEPS;
    codes->effort = codes->descends || loop->descent_suffices ? ARMILLA_DESCEND : ARMILLA_ROUGHLY;
    const armilla_status status = try_codes(trial, &h);
    if (status != ARMILLA_OK) return status;
    armilla_trial_swap_codes(trial);
    armilla_trial_keep(trial);
    codes->steps = armilla_code_steps(1);
    codes->effort = codes->cheap ? ARMILLA_ROUGHLY : ARMILLA_DESCEND;
    return ARMILLA_OK;
}

static armilla_status prepare(armilla_trial *trial, bool *ready)
{
    const armilla_problem *p = trial->problem;
    const bool wanted = p->screened || (p->options.codes->conic && !p->given && p->options.stop.max_iter > 0);
    *ready = true;
    return wanted && !armilla_call_over(p->context) ? find_codes(trial) : ARMILLA_OK;
}

static void open(armilla_trial *trial)
{
    const armilla_problem_options *o = &trial->problem->options;
    descending_loop *loop = own(trial);
    armilla_code_descent_open(&loop->codes, trial);
    loop->codes.little = LITTLE;
    loop->passes = o->passes > 0 ? o->passes : 1;
    loop->descent_suffices = o->descent_suffices;
    armilla_polish_begin(&loop->polish, loop->descent_suffices);
}

static void begin(armilla_trial *trial)
{
    const armilla_problem *p = trial->problem;
    descending_loop *loop = own(trial);
    const bool helped = !loop->codes.descends && !loop->descent_suffices && !p->screened && !p->basis_only;
    loop->codes.effort = loop->codes.cheap || helped ? ARMILLA_ROUGHLY : ARMILLA_DESCEND;
    loop->codes.steps = armilla_code_steps(1);
    armilla_polish_begin(&loop->polish, loop->descent_suffices);
}

static void step_sealed(armilla_trial *trial)
{
    armilla_descend_basis(trial, own(trial)->passes);
    set_trial(trial, 0);
}

const armilla_loop armilla_loop_atoms = {
    .bytes = sizeof(descending_loop),
    .momentum = true,
    .open = open,
    .list = list,
    .begin = begin,
    .prepare = prepare,
    .iterate = iterate,
    .sweep_sealed = armilla_trial_sweep_numbers,
    .step_sealed = step_sealed,
};
