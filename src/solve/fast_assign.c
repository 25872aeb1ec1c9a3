/* Codes that only name an atom (k-means, spherical k-means): Lloyd's iteration,
 *
 *     w_j = e_k, k the nearest atom      l = <C,W>/<H,G>      u_k = the set's nearest point to a_k/(l G_kk)
 *
 * with G diagonal. Every block has its closed form and nothing is added to them; a sweep keeps a name for each sample
 * instead of a code, adds each sample to one column of A, and notes on its way how well each is fitted, so that an atom
 * that nobody names is revived (ALGORITHM section 5) without another pass. */
#include "solve/fast.h"

#include <math.h>
#include <string.h>

static void list(armilla_fast *fast, armilla_state_list *items)
{
    const armilla_problem *p = fast->problem;
    armilla_state_number(items, "assign.named", ARMILLA_STATE_U8, &fast->assign.named);
    armilla_state_number(items, "assign.settled", ARMILLA_STATE_U8, &fast->assign.settled);
    armilla_state_array(items, "assign.names", ARMILLA_STATE_I32, p->n, 1, &fast->assign.names);
    for (int64_t j = 0; j < p->n && items->restoring && items->status == ARMILLA_OK; j++)
        (void)armilla_state_require(items, "assign.names", (uint32_t)fast->assign.names[j] < (uint64_t)p->r);
    if (items->purpose != ARMILLA_STATE_VISIT || fast->assign.named)
        armilla_state_array(items, "assign.misfit", ARMILLA_STATE_F64, p->n, 1, &fast->assign.misfit);
    armilla_state_workspace(items, ARMILLA_STATE_I32, p->n, 1, &fast->assign.trial);
    armilla_state_workspace(items, ARMILLA_STATE_F64, p->r, 1, &fast->assign.nearest.offsets);
}

/* Atoms first ... last-1 of the next basis. One that nobody names, or whose samples cancel, stays. */
static void move_atoms(void *self, int64_t first, int64_t last)
{
    const armilla_fast *fast = self;
    const armilla_problem *p = fast->problem;
    const int64_t m = p->m;
    for (int64_t k = first; k < last; k++) {
        const double weight = fast->l * fast->G[k * p->r + k];
        double *u = p->U_next + k * m;
        for (int64_t i = 0; i < m && weight > 0; i++) u[i] = fast->A[k * m + i] / weight;
        if (fast->assign.settled || !(weight > 0) || !p->options.basis->atom(m, u))
            memcpy(u, p->U + k * m, (size_t)m * sizeof *u);
    }
}

/* Names for the problem's basis, then (A7); *h of that trial. */
static armilla_status try_names(armilla_fast *fast, double *h)
{
    armilla_problem *p = fast->problem;
    armilla_nearest *nearest = &fast->assign.nearest;
    const armilla_sweep_plan plan = {.U = p->U_typed,
                                     .names = fast->assign.trial,
                                     .sums = true,
                                     .tally = ARMILLA_NEAREST_TALLY,
                                     .step = armilla_nearest_step,
                                     .self = nearest};
    p->l = fast->l;
    nearest->distances = fast->assign.misfit;
    nearest->factor = 2 * p->l;
    for (int64_t k = 0; k < p->r; k++) nearest->offsets[k] = p->l * p->l * p->H[k * p->r + k];
    memcpy(fast->assign.trial, fast->assign.names, (size_t)p->n * sizeof *fast->assign.trial); /* the previous ones */
    const armilla_status status = armilla_sweep_run(p->sweep, &plan);
    if (status != ARMILLA_OK) return status;
    fast->dV = armilla_radius_step(p);
    *h = armilla_problem_objective(p);
    fast->assign.named = true;
    return ARMILLA_OK;
}

/* Atoms without samples, where it is time for them. The first look has codes instead of names. */
static armilla_status find_unused(armilla_fast *fast)
{
    if (!fast->assign.named) return armilla_fast_find_unused(fast);
    armilla_fast_choose_revived(fast, fast->assign.misfit);
    return ARMILLA_OK;
}

static armilla_status accept(armilla_fast *fast, double h, double dU, bool *ended)
{
    armilla_problem *p = fast->problem;
    if (h < p->objective)
        armilla_revival_moved(&fast->revival);
    else if (fast->reviving)
        armilla_fast_revive_failed(fast);
    int32_t *names = fast->assign.names;
    fast->assign.names = fast->assign.trial;
    fast->assign.trial = names;
    fast->assign.settled = false;
    memcpy(fast->A, armilla_sweep_A(p->sweep), (size_t)(p->m * p->r) * sizeof(double));
    for (int64_t k = 0; k < p->r; k++) fast->G[k * p->r + k] = armilla_sweep_sizes(p->sweep)[k];
    return armilla_problem_record(p, dU, fast->dV, ended);
}

static armilla_status iterate(armilla_fast *fast, bool *ended)
{
    armilla_problem *p = fast->problem;
    double h = 0, dU = 0;
    armilla_status status = find_unused(fast);
    if (status != ARMILLA_OK) return status;
    if (fast->assign.settled && !fast->reviving) return armilla_problem_repeat(p, ended);
    armilla_team_share(armilla_sweep_team(p->sweep), p->r, move_atoms, fast);
    if ((status = armilla_fast_revive(fast, p->U_next)) != ARMILLA_OK) return status;
    armilla_problem_set_atoms(p, p->U_next, &dU);
    if ((status = try_names(fast, &h)) != ARMILLA_OK) return status;
    if (h <= p->objective) return accept(fast, h, dU, ended);
    armilla_problem_set_atoms(p, fast->U_kept, NULL);
    p->l = fast->l;
    if (fast->reviving)
        armilla_fast_revive_failed(fast);
    else
        fast->assign.settled = true;
    return armilla_problem_repeat(p, ended);
}

/* The names that the start's codes are. */
static void begin(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    const size_t size = armilla_type_size(p->options.type);
    double w = 0;
    memset(fast->assign.names, 0, (size_t)p->n * sizeof *fast->assign.names);
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t k = 0; k < p->r; k++) {
            armilla_fetch(p->options.type, 1, (const char *)p->W + (size_t)(j * p->r + k) * size, &w);
            if (w != 0) fast->assign.names[j] = (int32_t)k;
        }
}

/* The codes that the names stand for, where sealing has made none. */
static void finish(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    const size_t size = armilla_type_size(p->options.type);
    const double one = 1;
    if (p->sealed || !fast->assign.named) return;
    memset(p->W, 0, (size_t)(p->r * p->n) * size);
    for (int64_t j = 0; j < p->n; j++)
        armilla_store(p->options.type, 1, &one, (char *)p->W + (size_t)(j * p->r + fast->assign.names[j]) * size);
}

static void open(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    fast->assign.nearest.kernels = armilla_code_kernels_for(p->context);
    fast->assign.nearest.squared_norms = p->squared_norms;
}

const armilla_fast_loop armilla_loop_assign = {
    .list = list,
    .open = open,
    .begin = begin,
    .iterate = iterate,
    .finish = finish,
};
