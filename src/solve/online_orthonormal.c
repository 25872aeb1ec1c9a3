/* Blocks of an orthonormal basis: codes are projections, and the basis is the polar factor of its sums (A4), or the set's
 * own step. */
#include "solve/online.h"

static armilla_status block_codes(armilla_trial *trial, const armilla_portion *portion)
{
    const armilla_problem *p = trial->problem;
    const armilla_sweep_plan plan = {.U = p->U_typed,
                                     .previous = p->W,
                                     .codes = p->W,
                                     .sums = true,
                                     .portion = portion,
                                     .step = armilla_trial_solve_codes,
                                     .self = trial};
    return armilla_trial_run(trial, &plan, ARMILLA_DESCEND);
}

static armilla_status next_basis(armilla_trial *trial)
{
    const armilla_problem *p = trial->problem;
    return p->options.basis->exact(p->algebra, p->m, p->r, trial->A, trial->G, trial->U_new);
}

/* A start's codes are the best of its basis. */
#define START_SHARE 0.1

static const armilla_online_rules rules = {
    .start_share = START_SHARE,
    .block_codes = block_codes,
    .find_unused = armilla_trial_find_unused,
    .next_basis = next_basis,
    .set_basis = armilla_problem_set_basis,
};

static void open(armilla_trial *trial)
{
    armilla_online_open(trial, &rules);
}

const armilla_loop armilla_online_orthonormal = {
    .bytes = sizeof(armilla_online),
    .open = open,
    .list = armilla_online_list,
    .begin = armilla_online_begin,
    .iterate = armilla_online_iterate,
    .sweep_sealed = armilla_trial_sweep_numbers,
    .finish = armilla_online_finish,
};
