/* Codes that are assignments to an atom (k-means, spherical k-means): steps of Lloyd's iteration (lloyd.h) and of the
 * radius, l = <C,W>/<H,G>, that are taken where they do not raise h. G is diagonal, every block has its closed form and
 * nothing is added to them; a sweep keeps an assignment for each sample instead of a code, adds each sample to one
 * column of A, and makes only the products that can change an assignment (bounds.h). Another pass, over one product for
 * each sample, is made only where an atom without samples is to be revived (docs/algorithm.md#unused-atoms). */
#include "solve/assignments.h"

#include <string.h>

typedef struct lloyd_loop {
    armilla_trial trial;
    armilla_assignments accepted;
    int32_t *tried; /* workspace: atoms of the samples in a trial; change places on acceptance */
    int64_t age;    /* of A, in steps from sums of all samples; 0: these are to be made */
    armilla_bounds bounds;
    double dU; /* from the accepted state to the trial */
} lloyd_loop;

static lloyd_loop *own(armilla_trial *trial)
{
    return (lloyd_loop *)trial;
}

static void list(armilla_trial *trial, armilla_state_list *items)
{
    lloyd_loop *loop = own(trial);
    const armilla_problem *p = trial->problem;
    armilla_assignments_list(&loop->accepted, p, items);
    armilla_state_count(items, "assign.age", ARMILLA_LLOYD_RENEWS - 1, &loop->age);
    armilla_state_samples_workspace(items, ARMILLA_STATE_F64, 1, &p->share, &loop->accepted.misfit);
    armilla_bounds_list(&loop->bounds, items);
    armilla_state_samples_workspace(items, ARMILLA_STATE_I32, 1, &p->share, &loop->tried);
}

static void open(armilla_trial *trial)
{
    const armilla_problem *p = trial->problem;
    armilla_bounds_plan(&own(trial)->bounds, p->sweep, p->r, p->squared_norms);
}

static void begin(armilla_trial *trial)
{
    armilla_assignments_begin(&own(trial)->accepted, trial->problem);
    own(trial)->age = 0;
}

static armilla_status revive(void *self)
{
    lloyd_loop *loop = self;
    return armilla_trial_revive(&loop->trial, loop->trial.problem->U_next);
}

/* The next basis as a trial, whose assignments are compared with those of the accepted state. */
static void settle(void *self)
{
    lloyd_loop *loop = self;
    armilla_problem *p = loop->trial.problem;
    armilla_problem_set_atoms(p, p->U_next, &loop->dU);
    memcpy(loop->tried + p->share.first, loop->accepted.atoms + p->share.first,
           (size_t)(p->share.last - p->share.first) * sizeof *loop->tried);
}

/* One step of Lloyd's iteration from the sums of the accepted state, then (A7); *h of that trial. */
static armilla_status try_step(lloyd_loop *loop, double *h)
{
    armilla_problem *p = loop->trial.problem;
    armilla_lloyd lloyd = armilla_assignments_lloyd(&loop->accepted, &loop->trial);
    lloyd.bounds = &loop->bounds;
    lloyd.age = loop->age;
    lloyd.assignments = loop->tried;
    lloyd.revive = revive;
    lloyd.settle = settle;
    lloyd.self = loop;
    const armilla_status status = armilla_lloyd_step(&lloyd);
    if (status != ARMILLA_OK) return status;
    loop->trial.dV = armilla_radius_step(p);
    *h = armilla_problem_objective(p);
    loop->accepted.assigned = true;
    return ARMILLA_OK;
}

/* Squared distances of the accepted state, where atoms are to be revived. */
static armilla_status measure(const lloyd_loop *loop)
{
    armilla_lloyd lloyd = armilla_assignments_lloyd(&loop->accepted, &loop->trial);
    const bool wanted = loop->accepted.assigned && armilla_trial_revival_due(&loop->trial);
    return wanted ? armilla_lloyd_measure(&lloyd) : ARMILLA_OK;
}

static armilla_status accept(lloyd_loop *loop, double h, bool *ended)
{
    armilla_trial *trial = &loop->trial;
    armilla_problem *p = trial->problem;
    if (h < p->objective)
        armilla_revival_moved(&trial->revival);
    else if (trial->reviving)
        armilla_trial_revive_failed(trial);
    int32_t *atoms = loop->accepted.atoms;
    loop->accepted.atoms = loop->tried;
    loop->tried = atoms;
    loop->accepted.settled = false;
    loop->age = armilla_lloyd_older(loop->age);
    memcpy(trial->A, armilla_sweep_A(p->sweep), (size_t)(p->m * p->r) * sizeof(double));
    for (int64_t k = 0; k < p->r; k++) trial->G[k * p->r + k] = armilla_sweep_sizes(p->sweep)[k];
    return armilla_problem_record(p, loop->dU, trial->dV, ended);
}

static armilla_status iterate(armilla_trial *trial, bool *ended)
{
    lloyd_loop *loop = own(trial);
    armilla_problem *p = trial->problem;
    double h = 0;
    armilla_status status = measure(loop);
    if (status == ARMILLA_OK) status = armilla_assignments_find_unused(&loop->accepted, trial);
    if (status != ARMILLA_OK) return status;
    if (loop->accepted.settled && !trial->reviving) return armilla_problem_repeat(p, ended);
    if ((status = try_step(loop, &h)) != ARMILLA_OK) return status;
    if (h <= p->objective) return accept(loop, h, ended);
    armilla_problem_set_atoms(p, trial->U_kept, NULL);
    p->l = trial->l;
    if (trial->reviving)
        armilla_trial_revive_failed(trial);
    else
        loop->accepted.settled = true;
    return armilla_problem_repeat(p, ended);
}

static const int32_t *assignments(const armilla_trial *trial)
{
    return armilla_assignments_newest(&((const lloyd_loop *)trial)->accepted);
}

static void finish(armilla_trial *trial)
{
    armilla_assignments_finish(&own(trial)->accepted, trial->problem);
}

const armilla_loop armilla_loop_assign = {
    .bytes = sizeof(lloyd_loop),
    .open = open,
    .list = list,
    .begin = begin,
    .iterate = iterate,
    .sweep_sealed = armilla_trial_sweep_assigned,
    .finish = finish,
    .assignments = assignments,
};
