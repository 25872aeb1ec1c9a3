/* Blocks of codes that assign each sample to an atom: the halves of a step of Lloyd's iteration (lloyd.h), of which the
 * first moves atoms to means of the sums, and the second is made of the samples of a block. */
#include "solve/assignments.h"
#include "solve/online.h"

#include <string.h>

typedef struct online_assign {
    armilla_online online;
    armilla_assignments codes; /* misfit: by the last sweep over each sample's block */
} online_assign;

static online_assign *own(armilla_trial *trial)
{
    return (online_assign *)trial;
}

static void list(armilla_trial *trial, armilla_state_list *items)
{
    armilla_assignments *codes = &own(trial)->codes;
    const armilla_problem *p = trial->problem;
    armilla_online_list(trial, items);
    armilla_assignments_list(codes, p, items);
    if (items->purpose != ARMILLA_STATE_VISIT || codes->assigned)
        armilla_state_samples(items, "assign.misfit", ARMILLA_STATE_F64, 1, &p->share, &codes->misfit);
}

static void begin(armilla_trial *trial)
{
    armilla_assignments *codes = &own(trial)->codes;
    const armilla_problem *p = trial->problem;
    const size_t count = (size_t)(p->share.last - p->share.first);
    armilla_assignments_begin(codes, p);
    memset(codes->misfit + p->share.first, 0, count * sizeof(double)); /* known from the first pass on */
    codes->assigned = true;
    armilla_online_begin(trial);
}

static armilla_status block_codes(armilla_trial *trial, const armilla_portion *portion)
{
    armilla_lloyd lloyd = armilla_assignments_lloyd(&own(trial)->codes, trial);
    lloyd.l = trial->problem->l;
    lloyd.portion = portion;
    return armilla_lloyd_assign(&lloyd);
}

static armilla_status find_unused(armilla_trial *trial)
{
    return armilla_assignments_find_unused(&own(trial)->codes, trial);
}

static armilla_status next_basis(armilla_trial *trial)
{
    armilla_lloyd lloyd = armilla_assignments_lloyd(&own(trial)->codes, trial);
    lloyd.U_next = trial->U_new;
    armilla_lloyd_move(&lloyd);
    return ARMILLA_OK;
}

static const int32_t *assignments(const armilla_trial *trial)
{
    return armilla_assignments_newest(&((const online_assign *)trial)->codes);
}

static void finish(armilla_trial *trial)
{
    armilla_assignments_finish(&own(trial)->codes, trial->problem);
    armilla_online_finish(trial);
}

static const armilla_online_rules rules = {
    .block_codes = block_codes,
    .find_unused = find_unused,
    .next_basis = next_basis,
    .set_basis = armilla_problem_set_atoms,
};

static void open(armilla_trial *trial)
{
    armilla_online_open(trial, &rules);
}

const armilla_loop armilla_online_assign = {
    .bytes = sizeof(online_assign),
    .open = open,
    .list = list,
    .begin = begin,
    .iterate = armilla_online_iterate,
    .sweep_sealed = armilla_trial_sweep_assigned,
    .finish = finish,
    .assignments = assignments,
};
