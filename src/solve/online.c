/* Solver `online` (docs/algorithm.md#the-solver-online): for every block of samples the codes of the basis as it
 * stands, and then the step of the basis that `fast` makes, on sums that remember the blocks before:
 *
 *     (A9)  V_b = codes(U, l, X_b)      A <- rho A + X_b V_b'      G <- rho G + V_b V_b'      rho = 1 - n_b/N
 *
 * Codes that are kept fixed can only be worse than the best ones, so that the sums are those of a majoriser of the past,
 * and rho forgets old, worse codes. N is the samples that are remembered: a part of the data, so that the basis makes many
 * steps in a pass. An iteration is a pass over all blocks, a step of the solver a block. At the end of a pass every sample
 * has a code of that pass: their sums, in which all count alike, take the place of the weighted ones for a last step of
 * the basis, which brings down what the choice of blocks has left as noise, and they tell h without another read of the
 * data. h may rise from pass to pass.
 *
 * Where the problem continues a model on new samples (problem->past) the sums begin as that model's, and stay weighted. */
#include "solve/fast.h"

#include <math.h>
#include <string.h>

enum {
    BLOCKS_REMEMBERED = 6, /* at least, */
    PER_ATOM = 64,         /* so many samples for each atom, */
    PASS_SHARE = 20,       /* and this part of the data; */
    PAST_SHARE = 4         /* of endless data this part of the samples so far: no end of a pass takes the noise away */
};

/* What the sums of a start are worth beside those of blocks, where its codes are the best of its basis. */
#define START_SHARE 0.1

static bool assigns(const armilla_fast *fast)
{
    const armilla_problem_options *o = &fast->problem->options;
    return armilla_pair_assigns(o->basis, o->codes, o->s);
}

static void list(armilla_fast *fast, armilla_state_list *items)
{
    const armilla_problem *p = fast->problem;
    const int64_t m = p->m, r = p->r;
    armilla_state_number(items, "online.block", ARMILLA_STATE_I64, &fast->online.block);
    const bool holds = fast->online.block >= 0 && fast->online.block < fast->online.blocks.count;
    if (!armilla_state_require(items, "online.block", holds)) return;
    armilla_state_number(items, "online.seen", ARMILLA_STATE_F64, &fast->online.seen);
    armilla_state_number(items, "online.change", ARMILLA_STATE_F64, &fast->online.change);
    armilla_state_number(items, "online.l_back", ARMILLA_STATE_F64, &fast->online.l_back);
    armilla_state_array(items, "online.A", ARMILLA_STATE_F64, m, r, &fast->online.A);
    armilla_state_array(items, "online.G", ARMILLA_STATE_F64, r, r, &fast->online.G);
    armilla_state_array(items, "online.U_back", ARMILLA_STATE_F64, m, r, &fast->online.U_back);
    if (assigns(fast)) armilla_loop_assign.list(fast, items);
}

static void open(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    const armilla_problem_options *o = &p->options;
    fast->online.blocks = armilla_blocks_plan(armilla_sweep_traversal(p->sweep), p->r, o->batch, o->seed);
    if (o->basis->atom && !assigns(fast)) armilla_loop_atoms.open(fast);
    fast->atoms.passes = 1; /* sums of few blocks are not worth more */
}

/* The start's sums are those of its codes: as good as any where these are the best of its basis, and else worth nothing
 * beside the first block's. */
static void begin(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    const int64_t m = p->m, r = p->r;
    const double worth = p->given ? 1 : p->options.basis->exact ? START_SHARE : 0;
    if (assigns(fast)) {
        armilla_loop_assign.begin(fast);
        const size_t own = (size_t)(p->share.last - p->share.first);
        memset(fast->assign.misfit + p->share.first, 0, own * sizeof(double)); /* known from the first pass on */
        fast->assign.assigned = true;
    }
    for (int64_t i = 0; i < m * r; i++) fast->A[i] = p->past ? p->past->A[i] : worth * fast->A[i];
    for (int64_t i = 0; i < r * r; i++) fast->G[i] = p->past ? p->past->G[i] : worth * fast->G[i];
    fast->online.seen = p->past ? p->past->seen : worth * (double)p->n;
    fast->online.block = 0;
    fast->online.change = fast->online.l_back = 0;
    memset(fast->online.A, 0, (size_t)(m * r) * sizeof(double));
    memset(fast->online.G, 0, (size_t)(r * r) * sizeof(double));
    memcpy(fast->online.U_back, p->U, (size_t)(m * r) * sizeof(double));
}

/* (A7) from the sums: <X,UW> = <U,XW'> */
static void radius_step(const armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    const double cross = armilla_dot(p->m * p->r, p->U, fast->A), square = armilla_dot(p->r * p->r, p->H, fast->G);
    if (!p->radius_stays && cross > 0 && square > 0) p->l = cross / square;
}

/* U_new = the next basis from the sums: polar factor (A4), coordinate descent, or means
 * (docs/algorithm.md#the-solver-online). */
static armilla_status next_basis(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    const armilla_basis_set *basis = p->options.basis;
    if (basis->exact) return basis->exact(p->algebra, p->m, p->r, fast->A, fast->G, fast->U_new);
    if (assigns(fast)) {
        armilla_lloyd lloyd = armilla_fast_lloyd(fast);
        lloyd.U_next = fast->U_new;
        armilla_lloyd_move(&lloyd);
        return ARMILLA_OK;
    }
    armilla_fast_descend_basis(fast);
    return ARMILLA_OK;
}

static armilla_status basis_step(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    armilla_status status = next_basis(fast);
    if (status == ARMILLA_OK) status = armilla_fast_revive(fast, fast->U_new);
    if (status != ARMILLA_OK) return status;
    fast->reviving = 0;
    (assigns(fast) ? armilla_problem_set_atoms : armilla_problem_set_basis)(p, fast->U_new, NULL);
    radius_step(fast);
    return ARMILLA_OK;
}

/* The basis from what is known before the first block; where atoms are unused, with samples in their place. */
static armilla_status begin_pass(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    memcpy(fast->online.U_back, p->U, (size_t)(p->m * p->r) * sizeof(double));
    fast->online.l_back = p->l;
    fast->online.change = 0;
    memset(fast->online.A, 0, (size_t)(p->m * p->r) * sizeof(double));
    memset(fast->online.G, 0, (size_t)(p->r * p->r) * sizeof(double));
    if (fast->online.seen == 0 || p->past) return ARMILLA_OK;
    const armilla_status status = assigns(fast) ? armilla_fast_find_unnamed(fast) : armilla_fast_find_unused(fast);
    return status == ARMILLA_OK ? basis_step(fast) : status;
}

/* Samples that are seen for the first time have codes that are hardly worth a step from them. */
static void plan_codes(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    const bool first = p->trace->count == 1 && !p->given;
    const bool solved = fast->atoms.cheap || (first && !fast->atoms.sure);
    fast->atoms.steps = first ? ARMILLA_FIRST_CODE_STEPS : armilla_code_steps(0);
    fast->atoms.effort = solved && !p->options.basis->exact ? ARMILLA_ROUGHLY : ARMILLA_DESCEND;
}

/* V_b = codes(U, l, X_b), in their place, and the sums of the block. */
static armilla_status block_codes(armilla_fast *fast, const armilla_portion *portion)
{
    armilla_problem *p = fast->problem;
    const armilla_basis_set *basis = p->options.basis;
    if (assigns(fast)) {
        armilla_lloyd lloyd = armilla_fast_lloyd(fast);
        lloyd.assignments = fast->assign.assignments;
        lloyd.l = p->l;
        lloyd.portion = portion;
        return armilla_lloyd_assign(&lloyd);
    }
    plan_codes(fast);
    const armilla_sweep_plan plan = {.U = p->U_typed,
                                     .previous = p->W,
                                     .codes = p->W,
                                     .sums = true,
                                     .portion = portion,
                                     .step = basis->exact ? armilla_fast_solve_codes : armilla_fast_step_codes,
                                     .self = fast};
    return armilla_fast_run(fast, &plan, fast->atoms.effort);
}

static void add(int64_t count, double factor, const double *part, double *sums)
{
    for (int64_t i = 0; i < count; i++) sums[i] = factor * sums[i] + part[i];
}

/* N: the samples that the sums stand for once so many have been added. */
static double remembered(const armilla_fast *fast, double samples)
{
    const armilla_problem *p = fast->problem;
    const double seen = fast->online.seen + samples, all = (p->past ? p->past->total : 0) + (double)p->n;
    const double share = all / (p->past ? PAST_SHARE : PASS_SHARE);
    const double most = fmax(share, fmax(BLOCKS_REMEMBERED * samples, PER_ATOM * (double)p->r));
    return fmin(seen, fmin(all, most)); /* another pass adds no samples */
}

/* A <- rho A + X_b V_b', G <- rho G + V_b V_b' */
static void add_block(armilla_fast *fast, int64_t samples)
{
    const armilla_problem *p = fast->problem;
    const int64_t m = p->m, r = p->r;
    const double *sizes = armilla_sweep_sizes(p->sweep), *A = armilla_sweep_A(p->sweep);
    const double seen = fmax((double)samples, remembered(fast, (double)samples));
    const double rho = fast->online.seen > 0 ? (seen - (double)samples) / fast->online.seen : 0;
    add(m * r, rho, A, fast->A);
    add(m * r, 1, A, fast->online.A);
    if (!sizes) {
        add(r * r, rho, armilla_sweep_G(p->sweep), fast->G);
        add(r * r, 1, armilla_sweep_G(p->sweep), fast->online.G);
    }
    for (int64_t k = 0; k < r && sizes; k++) {
        add(1, rho, sizes + k, fast->G + k * r + k);
        add(1, 1, sizes + k, fast->online.G + k * r + k);
    }
    fast->online.seen = seen;
    fast->online.change += armilla_sweep_change(p->sweep);
}

/* The sums of the pass take the place of the weighted ones. */
static armilla_status settle_pass(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    if (p->past) return ARMILLA_OK;
    memcpy(fast->A, fast->online.A, (size_t)(p->m * p->r) * sizeof(double));
    memcpy(fast->G, fast->online.G, (size_t)(p->r * p->r) * sizeof(double));
    fast->online.seen = (double)p->n;
    return basis_step(fast);
}

/* (A3) from the sums of the pass. */
static double pass_objective(const armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    const double cross = armilla_dot(p->m * p->r, p->U, fast->online.A);
    const double h = p->squared_norm - 2 * p->l * cross + p->l * p->l * armilla_dot(p->r * p->r, p->H, fast->online.G);
    return isfinite(h) ? fmax(h, 0) : INFINITY;
}

/* Since the pass began. */
static double basis_change(const armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    return armilla_distance(p->m * p->r, p->U, fast->online.U_back);
}

static double codes_change(const armilla_fast *fast)
{
    const double n = (double)fast->problem->n, l = fast->problem->l, back = fast->online.l_back;
    return sqrt(n * (l - back) * (l - back) + l * back * fast->online.change);
}

static armilla_status end_pass(armilla_fast *fast, bool *ended)
{
    armilla_problem *p = fast->problem;
    const double before = p->objective;
    armilla_status status = settle_pass(fast);
    if (status != ARMILLA_OK) return status;
    const double h = pass_objective(fast);
    ++*armilla_sweep_runs(p->sweep);
    armilla_call_passed(p->context, p->n);
    status = armilla_problem_record_as(p, h, basis_change(fast), codes_change(fast), ended);
    /* What no longer falls goes up and down. */
    if (status == ARMILLA_OK && !*ended && p->options.stop.tol > 0 && p->trace->count > 2 && h >= before) {
        p->stop = ARMILLA_STOP_CONVERGED;
        *ended = true;
    }
    return status;
}

static armilla_status run_block(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    const armilla_traversal *traversal = armilla_sweep_traversal(p->sweep);
    const armilla_block block =
        armilla_blocks_take(&fast->online.blocks, traversal, p->trace->count, fast->online.block);
    const armilla_portion portion = {armilla_block_cut, &block};
    const int64_t samples = armilla_traversal_count(traversal, &portion);
    if (samples == 0) return ARMILLA_OK;
    fast->l = p->l;
    memcpy(fast->U_kept, p->U, (size_t)(p->m * p->r) * sizeof(double));
    armilla_status status = block_codes(fast, &portion);
    if (status != ARMILLA_OK) return status;
    add_block(fast, samples);
    return basis_step(fast);
}

static armilla_status iterate(armilla_fast *fast, bool *ended)
{
    armilla_problem *p = fast->problem;
    armilla_status status = ARMILLA_OK;
    if (armilla_call_over(p->context)) {
        *ended = fast->online.block > 0; /* the basis so far is the result: the pass counts */
        return *ended ? armilla_problem_record_torn(p, basis_change(fast), codes_change(fast)) : ARMILLA_STOPPED;
    }
    armilla_call_keep(p->context);
    if (fast->online.block == 0) status = begin_pass(fast);
    if (status == ARMILLA_OK) status = run_block(fast);
    armilla_call_keep_leave(p->context);
    if (status != ARMILLA_OK) return status;
    fast->online.block = (fast->online.block + 1) % fast->online.blocks.count;
    return fast->online.block == 0 ? end_pass(fast, ended) : ARMILLA_OK;
}

/* What the next samples begin with. */
static void finish(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    if (assigns(fast)) armilla_loop_assign.finish(fast);
    if (!p->past) return;
    memcpy(p->past->A, fast->A, (size_t)(p->m * p->r) * sizeof(double));
    memcpy(p->past->G, fast->G, (size_t)(p->r * p->r) * sizeof(double));
    p->past->seen = fast->online.seen;
    p->past->total += (double)p->n;
}

const armilla_fast_loop armilla_loop_online = {
    .list = list,
    .open = open,
    .begin = begin,
    .iterate = iterate,
    .finish = finish,
};
