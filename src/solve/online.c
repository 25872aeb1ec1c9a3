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
 * A problem that continues a model on new samples (problem->past) begins with the sums of that model, which stay
 * weighted. */
#include "solve/online.h"

#include <math.h>
#include <string.h>

enum {
    BLOCKS_REMEMBERED = 6,    /* at least, */
    REMEMBERED_PER_ATOM = 64, /* so many samples for each atom, */
    PASS_SHARE = 20,          /* and this part of the data; */
    PAST_SHARE = 4 /* of endless data this part of the samples so far: no end of a pass takes the noise away */
};

static armilla_online *own(armilla_trial *trial)
{
    return (armilla_online *)trial;
}

void armilla_online_list(armilla_trial *trial, armilla_state_list *list)
{
    armilla_online *s = own(trial);
    const int64_t m = trial->problem->m, r = trial->problem->r;
    armilla_state_number(list, "online.block", ARMILLA_STATE_I64, &s->block);
    if (!armilla_state_require(list, "online.block", s->block >= 0 && s->block < s->blocks.count)) return;
    armilla_state_number(list, "online.seen", ARMILLA_STATE_F64, &s->seen);
    armilla_state_number(list, "online.change", ARMILLA_STATE_F64, &s->change);
    armilla_state_number(list, "online.l_back", ARMILLA_STATE_F64, &s->l_back);
    armilla_state_array(list, "online.A", ARMILLA_STATE_F64, m, r, &s->A);
    armilla_state_array(list, "online.G", ARMILLA_STATE_F64, r, r, &s->G);
    armilla_state_array(list, "online.U_back", ARMILLA_STATE_F64, m, r, &s->U_back);
}

void armilla_online_open(armilla_trial *trial, const armilla_online_rules *rules)
{
    const armilla_problem *p = trial->problem;
    const armilla_problem_options *o = &p->options;
    own(trial)->rules = rules;
    own(trial)->blocks = armilla_blocks_plan(armilla_sweep_traversal(p->sweep), p->r, o->batch, o->seed);
}

/* The start's sums are those of its codes: as good as any where it was given, and else worth the share that the rules give
 * them beside the first block's. */
void armilla_online_begin(armilla_trial *trial)
{
    armilla_online *s = own(trial);
    const armilla_problem *p = trial->problem;
    const int64_t m = p->m, r = p->r;
    const double worth = p->given ? 1 : s->rules->start_share;
    for (int64_t i = 0; i < m * r; i++) trial->A[i] = p->past ? p->past->A[i] : worth * trial->A[i];
    for (int64_t i = 0; i < r * r; i++) trial->G[i] = p->past ? p->past->G[i] : worth * trial->G[i];
    s->seen = p->past ? p->past->seen : worth * (double)p->n;
    s->block = 0;
    s->change = s->l_back = 0;
    memset(s->A, 0, (size_t)(m * r) * sizeof(double));
    memset(s->G, 0, (size_t)(r * r) * sizeof(double));
    memcpy(s->U_back, p->U, (size_t)(m * r) * sizeof(double));
}

/* (A7) from the sums: <X,UW> = <U,XW'> */
static void radius_step(const armilla_online *s)
{
    armilla_problem *p = s->trial.problem;
    const double cross = armilla_dot(p->m * p->r, p->U, s->trial.A);
    const double square = armilla_dot(p->r * p->r, p->H, s->trial.G);
    if (!p->radius_stays && cross > 0 && square > 0) p->l = cross / square;
}

static armilla_status basis_step(armilla_online *s)
{
    armilla_problem *p = s->trial.problem;
    armilla_status status = s->rules->next_basis(&s->trial);
    if (status == ARMILLA_OK) status = armilla_trial_revive(&s->trial, s->trial.U_new);
    if (status != ARMILLA_OK) return status;
    s->trial.reviving = 0;
    s->rules->set_basis(p, s->trial.U_new, NULL);
    radius_step(s);
    return ARMILLA_OK;
}

/* The basis from what is known before the first block; where atoms are unused, with samples in their place. */
static armilla_status begin_pass(armilla_online *s)
{
    armilla_problem *p = s->trial.problem;
    memcpy(s->U_back, p->U, (size_t)(p->m * p->r) * sizeof(double));
    s->l_back = p->l;
    s->change = 0;
    memset(s->A, 0, (size_t)(p->m * p->r) * sizeof(double));
    memset(s->G, 0, (size_t)(p->r * p->r) * sizeof(double));
    if (s->seen == 0 || p->past) return ARMILLA_OK;
    const armilla_status status = s->rules->find_unused(&s->trial);
    return status == ARMILLA_OK ? basis_step(s) : status;
}

static void add(int64_t count, double factor, const double *part, double *sums)
{
    for (int64_t i = 0; i < count; i++) sums[i] = factor * sums[i] + part[i];
}

/* N: the samples that the sums stand for once so many have been added. */
static double remembered(const armilla_online *s, double samples)
{
    const armilla_problem *p = s->trial.problem;
    const double seen = s->seen + samples, all = (p->past ? p->past->total : 0) + (double)p->n;
    const double share = all / (p->past ? PAST_SHARE : PASS_SHARE);
    const double most = fmax(share, fmax(BLOCKS_REMEMBERED * samples, REMEMBERED_PER_ATOM * (double)p->r));
    return fmin(seen, fmin(all, most)); /* another pass adds no samples */
}

/* A <- rho A + X_b V_b', G <- rho G + V_b V_b' */
static void add_block(armilla_online *s, int64_t samples)
{
    const armilla_problem *p = s->trial.problem;
    const int64_t m = p->m, r = p->r;
    const double *sizes = armilla_sweep_sizes(p->sweep), *A = armilla_sweep_A(p->sweep);
    const double seen = fmax((double)samples, remembered(s, (double)samples));
    const double rho = s->seen > 0 ? (seen - (double)samples) / s->seen : 0;
    add(m * r, rho, A, s->trial.A);
    add(m * r, 1, A, s->A);
    if (!sizes) {
        add(r * r, rho, armilla_sweep_G(p->sweep), s->trial.G);
        add(r * r, 1, armilla_sweep_G(p->sweep), s->G);
    }
    for (int64_t k = 0; k < r && sizes; k++) {
        add(1, rho, sizes + k, s->trial.G + k * r + k);
        add(1, 1, sizes + k, s->G + k * r + k);
    }
    s->seen = seen;
    s->change += armilla_sweep_change(p->sweep);
}

/* The sums of the pass take the place of the weighted ones. */
static armilla_status settle_pass(armilla_online *s)
{
    const armilla_problem *p = s->trial.problem;
    if (p->past) return ARMILLA_OK;
    memcpy(s->trial.A, s->A, (size_t)(p->m * p->r) * sizeof(double));
    memcpy(s->trial.G, s->G, (size_t)(p->r * p->r) * sizeof(double));
    s->seen = (double)p->n;
    return basis_step(s);
}

/* (A3) from the sums of the pass. */
static double pass_objective(const armilla_online *s)
{
    const armilla_problem *p = s->trial.problem;
    const double cross = armilla_dot(p->m * p->r, p->U, s->A);
    const double h = p->squared_norm - 2 * p->l * cross + p->l * p->l * armilla_dot(p->r * p->r, p->H, s->G);
    return isfinite(h) ? fmax(h, 0) : INFINITY;
}

/* Since the pass began. */
static double basis_change(const armilla_online *s)
{
    const armilla_problem *p = s->trial.problem;
    return armilla_distance(p->m * p->r, p->U, s->U_back);
}

static double codes_change(const armilla_online *s)
{
    const double n = (double)s->trial.problem->n, l = s->trial.problem->l, back = s->l_back;
    return sqrt(n * (l - back) * (l - back) + l * back * s->change);
}

static armilla_status end_pass(armilla_online *s, bool *ended)
{
    armilla_problem *p = s->trial.problem;
    const double before = p->objective;
    armilla_status status = settle_pass(s);
    if (status != ARMILLA_OK) return status;
    const double h = pass_objective(s);
    ++*armilla_sweep_runs(p->sweep);
    armilla_call_passed(p->context, p->n);
    status = armilla_problem_record_as(p, h, basis_change(s), codes_change(s), ended);
    /* What no longer falls goes up and down. */
    if (status == ARMILLA_OK && !*ended && p->options.stop.tol > 0 && p->trace->count > 2 && h >= before) {
        p->stop = ARMILLA_STOP_CONVERGED;
        *ended = true;
    }
    return status;
}

static armilla_status run_block(armilla_online *s)
{
    armilla_problem *p = s->trial.problem;
    const armilla_traversal *traversal = armilla_sweep_traversal(p->sweep);
    const armilla_block block = armilla_blocks_take(&s->blocks, traversal, p->trace->count, s->block);
    const armilla_portion portion = {armilla_block_cut, &block};
    const int64_t samples = armilla_traversal_count(traversal, &portion);
    if (samples == 0) return ARMILLA_OK;
    s->trial.l = p->l;
    memcpy(s->trial.U_kept, p->U, (size_t)(p->m * p->r) * sizeof(double));
    armilla_status status = s->rules->block_codes(&s->trial, &portion);
    if (status != ARMILLA_OK) return status;
    add_block(s, samples);
    return basis_step(s);
}

armilla_status armilla_online_iterate(armilla_trial *trial, bool *ended)
{
    armilla_online *s = own(trial);
    armilla_problem *p = s->trial.problem;
    armilla_status status = ARMILLA_OK;
    if (armilla_call_over(p->context)) {
        *ended = s->block > 0; /* the basis so far is the result: the pass counts */
        return *ended ? armilla_problem_record_unfinished(p, basis_change(s), codes_change(s)) : ARMILLA_STOPPED;
    }
    armilla_call_uninterrupted_enter(p->context);
    if (s->block == 0) status = begin_pass(s);
    if (status == ARMILLA_OK) status = run_block(s);
    armilla_call_uninterrupted_leave(p->context);
    if (status != ARMILLA_OK) return status;
    s->block = (s->block + 1) % s->blocks.count;
    return s->block == 0 ? end_pass(s, ended) : ARMILLA_OK;
}

/* What the next samples begin with. */
void armilla_online_finish(armilla_trial *trial)
{
    const armilla_online *s = own(trial);
    const armilla_problem *p = trial->problem;
    if (!p->past) return;
    memcpy(p->past->A, s->trial.A, (size_t)(p->m * p->r) * sizeof(double));
    memcpy(p->past->G, s->trial.G, (size_t)(p->r * p->r) * sizeof(double));
    p->past->seen = s->seen;
    p->past->total += (double)p->n;
}
