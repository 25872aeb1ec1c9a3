/* Codes that only name an atom (k-means, spherical k-means): steps of Lloyd's iteration (lloyd.h) and of the radius,
 * l = <C,W>/<H,G>, that are taken where they do not raise h. G is diagonal, every block has its closed form and nothing
 * is added to them; a sweep keeps a name for each sample instead of a code, adds each sample to one column of A, and
 * makes the products that can change a name alone (bounds.h). Another pass, over one product for each sample, is made
 * only where an atom that nobody names is to be revived (docs/algorithm.md#unused-atoms). */
#include "solve/fast.h"

#include <math.h>
#include <string.h>

static void list(armilla_fast *fast, armilla_state_list *items)
{
    const armilla_problem *p = fast->problem;
    armilla_state_number(items, "assign.assigned", ARMILLA_STATE_U8, &fast->assign.assigned);
    armilla_state_number(items, "assign.settled", ARMILLA_STATE_U8, &fast->assign.settled);
    armilla_state_samples(items, "assign.assignments", ARMILLA_STATE_I32, 1, &p->share, &fast->assign.assignments);
    for (int64_t j = p->share.first; j < p->share.last && items->restoring && items->status == ARMILLA_OK; j++)
        (void)armilla_state_require(items, "assign.assignments",
                                    (uint32_t)fast->assign.assignments[j] < (uint64_t)p->r);
    if (fast->loop == &armilla_loop_assign) {
        armilla_state_count(items, "assign.age", ARMILLA_LLOYD_RENEWS - 1, &fast->assign.age);
        armilla_state_samples_workspace(items, ARMILLA_STATE_F64, 1, &p->share, &fast->assign.misfit);
        armilla_bounds_list(&fast->assign.bounds, items);
    } else if (items->purpose != ARMILLA_STATE_VISIT || fast->assign.assigned)
        armilla_state_samples(items, "assign.misfit", ARMILLA_STATE_F64, 1, &p->share, &fast->assign.misfit);
    armilla_state_samples_workspace(items, ARMILLA_STATE_I32, 1, &p->share, &fast->assign.trial);
    armilla_state_workspace(items, ARMILLA_STATE_F64, p->r, 1, &fast->assign.offsets);
}

static void open(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    armilla_bounds_plan(&fast->assign.bounds, p->sweep, p->r, p->squared_norms);
}

static armilla_status revive(void *self)
{
    armilla_fast *fast = self;
    return armilla_fast_revive(fast, fast->problem->U_next);
}

/* The next basis as a trial, whose assignments are compared with those of the accepted state. */
static void settle(void *self)
{
    armilla_fast *fast = self;
    armilla_problem *p = fast->problem;
    armilla_problem_set_atoms(p, p->U_next, &fast->dU);
    memcpy(fast->assign.trial + p->share.first, fast->assign.assignments + p->share.first,
           (size_t)(p->share.last - p->share.first) * sizeof *fast->assign.trial);
}

armilla_lloyd armilla_fast_lloyd(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    return (armilla_lloyd){.sweep = p->sweep,
                           .kernels = armilla_code_kernels_for(p->context),
                           .m = p->m,
                           .share = p->share,
                           .r = p->r,
                           .squared_norms = p->squared_norms,
                           .l = fast->l,
                           .U = p->U,
                           .U_typed = p->U_typed,
                           .U_next = p->U_next,
                           .stays = fast->assign.settled,
                           .bounds = fast->loop == &armilla_loop_assign ? &fast->assign.bounds : NULL,
                           .age = fast->assign.age,
                           .A = fast->A,
                           .sizes = fast->G,
                           .squares = p->H,
                           .stride = p->r + 1,
                           .assignments = fast->assign.trial,
                           .distances = fast->assign.misfit,
                           .offsets = fast->assign.offsets,
                           .atom = p->options.basis->atom,
                           .revive = revive,
                           .settle = settle,
                           .self = fast};
}

/* One step of Lloyd's iteration from the sums of the accepted state, then (A7); *h of that trial. */
static armilla_status try_step(armilla_fast *fast, double *h)
{
    armilla_problem *p = fast->problem;
    armilla_lloyd lloyd = armilla_fast_lloyd(fast);
    const armilla_status status = armilla_lloyd_step(&lloyd);
    if (status != ARMILLA_OK) return status;
    fast->dV = armilla_radius_step(p);
    *h = armilla_problem_objective(p);
    fast->assign.assigned = true;
    return ARMILLA_OK;
}

/* Squared distances of the accepted state, where atoms are to be revived. */
static armilla_status measure(armilla_fast *fast)
{
    armilla_lloyd lloyd = armilla_fast_lloyd(fast);
    lloyd.assignments = fast->assign.assignments;
    return fast->assign.assigned && armilla_fast_revival_due(fast) ? armilla_lloyd_measure(&lloyd) : ARMILLA_OK;
}

/* The first look has codes instead of assignments. */
armilla_status armilla_fast_find_unnamed(armilla_fast *fast)
{
    if (!fast->assign.assigned) return armilla_fast_find_unused(fast);
    return armilla_fast_choose_revived(fast, fast->assign.misfit);
}

static armilla_status accept(armilla_fast *fast, double h, bool *ended)
{
    armilla_problem *p = fast->problem;
    if (h < p->objective)
        armilla_revival_moved(&fast->revival);
    else if (fast->reviving)
        armilla_fast_revive_failed(fast);
    int32_t *assignments = fast->assign.assignments;
    fast->assign.assignments = fast->assign.trial;
    fast->assign.trial = assignments;
    fast->assign.settled = false;
    fast->assign.age = armilla_lloyd_older(fast->assign.age);
    memcpy(fast->A, armilla_sweep_A(p->sweep), (size_t)(p->m * p->r) * sizeof(double));
    for (int64_t k = 0; k < p->r; k++) fast->G[k * p->r + k] = armilla_sweep_sizes(p->sweep)[k];
    return armilla_problem_record(p, fast->dU, fast->dV, ended);
}

static armilla_status iterate(armilla_fast *fast, bool *ended)
{
    armilla_problem *p = fast->problem;
    double h = 0;
    armilla_status status = measure(fast);
    if (status == ARMILLA_OK) status = armilla_fast_find_unnamed(fast);
    if (status != ARMILLA_OK) return status;
    if (fast->assign.settled && !fast->reviving) return armilla_problem_repeat(p, ended);
    if ((status = try_step(fast, &h)) != ARMILLA_OK) return status;
    if (h <= p->objective) return accept(fast, h, ended);
    armilla_problem_set_atoms(p, fast->U_kept, NULL);
    p->l = fast->l;
    if (fast->reviving)
        armilla_fast_revive_failed(fast);
    else
        fast->assign.settled = true;
    return armilla_problem_repeat(p, ended);
}

/* The assignments that the start's codes are. */
static void begin(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    const size_t size = armilla_type_size(p->options.type);
    double w = 0;
    fast->assign.age = 0;
    for (int64_t j = p->share.first; j < p->share.last; j++) {
        fast->assign.assignments[j] = 0;
        for (int64_t k = 0; k < p->r; k++) {
            armilla_fetch(p->options.type, 1, (const char *)p->W + (size_t)(j * p->r + k) * size, &w);
            if (w != 0) fast->assign.assignments[j] = (int32_t)k;
        }
    }
}

/* The codes that the assignments stand for, where sealing has made none. */
static void finish(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    const size_t size = armilla_type_size(p->options.type);
    const double one = 1;
    if (p->sealed || !fast->assign.assigned) return;
    for (int64_t j = p->share.first; j < p->share.last; j++) {
        char *w = (char *)p->W + (size_t)(j * p->r) * size;
        memset(w, 0, (size_t)p->r * size);
        armilla_store(p->options.type, 1, &one, w + (size_t)fast->assign.assignments[j] * size);
    }
}

const armilla_fast_loop armilla_loop_assign = {
    .list = list,
    .open = open,
    .begin = begin,
    .iterate = iterate,
    .finish = finish,
};
