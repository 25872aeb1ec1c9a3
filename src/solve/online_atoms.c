/* Blocks of atoms that move one by one: codes descend from those of the pass before, and so does the basis on its sums. */
#include "solve/descent.h"
#include "solve/online.h"

typedef struct online_atoms {
    armilla_online online;
    armilla_code_descent codes;
} online_atoms;

static online_atoms *own(armilla_trial *trial)
{
    return (online_atoms *)trial;
}

/* Samples that are seen for the first time have codes that are hardly worth a step from them. */
static void plan_codes(armilla_trial *trial)
{
    const armilla_problem *p = trial->problem;
    armilla_code_descent *codes = &own(trial)->codes;
    const bool first = p->trace->count == 1 && !p->given;
    codes->steps = first ? ARMILLA_FIRST_CODE_STEPS : armilla_code_steps(0);
    codes->effort = codes->cheap || (first && !codes->descends) ? ARMILLA_ROUGHLY : ARMILLA_DESCEND;
}

static armilla_status block_codes(armilla_trial *trial, const armilla_portion *portion)
{
    const armilla_problem *p = trial->problem;
    armilla_code_descent *codes = &own(trial)->codes;
    const armilla_sweep_plan plan = {.U = p->U_typed,
                                     .previous = p->W,
                                     .codes = p->W,
                                     .sums = true,
                                     .portion = portion,
                                     .step = armilla_code_descent_step,
                                     .self = codes};
    plan_codes(trial);
    return armilla_trial_run(trial, &plan, codes->effort);
}

/* Sums of few blocks are not worth more than one pass. */
static armilla_status next_basis(armilla_trial *trial)
{
    armilla_descend_basis(trial, 1);
    return ARMILLA_OK;
}

static const armilla_online_rules rules = {
    .block_codes = block_codes,
    .find_unused = armilla_trial_find_unused,
    .next_basis = next_basis,
    .set_basis = armilla_problem_set_basis,
};

static void open(armilla_trial *trial)
{
    armilla_online_open(trial, &rules);
    armilla_code_descent_open(&own(trial)->codes, trial);
}

const armilla_loop armilla_online_atoms = {
    .bytes = sizeof(online_atoms),
    .open = open,
    .list = armilla_online_list,
    .begin = armilla_online_begin,
    .iterate = armilla_online_iterate,
    .sweep_sealed = armilla_trial_sweep_numbers,
    .finish = armilla_online_finish,
};
