/* The end of a fast fit: the canonical form, so that equal inputs give equal, comparable models, and the codes of that
 * basis by the column solver, which are the ones transform gives. */
#include "solve/trial.h"

#include "base/groups.h"
#include "base/ranks.h"

#include <math.h>
#include <string.h>

/* How far above the last iterate the sealed codes may be, as a fraction of ||X||^2; the promise is 1e-6. */
#define CLOSE 5e-7

/* The rounding of sums in the working type, in units of its epsilon, relative to the largest. */
#define ROUNDING 32

/* From a principal axis, in a basis whose numbers have more digits. */
#define ANGLE 1e-10

enum { MOST_STEPS = 50, MOST_ORDERS = 4 };

/* orthonormal x sphere tells only the subspace: its axes become the principal axes of the codes, U <- UZ. */
static armilla_status rotate_to_axes(armilla_trial *trial)
{
    armilla_problem *p = trial->problem;
    double *squares = trial->weights;
    const armilla_status status = armilla_eigen(p->algebra, p->r, trial->axes, squares, trial->axes);
    if (status != ARMILLA_OK) return status;
    armilla_multiply(p->m, p->r, p->r, 1, p->U, trial->axes, 0, trial->U_new);
    for (int64_t k = 0; k < p->r; k++) squares[k] = fmax(squares[k], 0);
    return ARMILLA_OK;
}

/* Atoms in falling order of ||u_k|| ||V(k,:)||, ties by index: from U_new into ordered. The weights are squares of
 * ||V(k,:)|| before. */
static void order_atoms(const armilla_trial *trial, double *ordered)
{
    const armilla_problem *p = trial->problem;
    const int64_t m = p->m, r = p->r;
    const double *U = trial->U_new;
    double *weight = trial->weights;
    for (int64_t k = 0; k < r; k++) {
        weight[k] = armilla_norm(m, U + k * m) * sqrt(weight[k]);
        if (!(weight[k] >= 0)) weight[k] = 0; /* not a number: sums that have overflowed */
    }
    for (int64_t place = 0; place < r; place++) {
        int64_t top = -1;
        for (int64_t k = 0; k < r; k++)
            if (weight[k] >= 0 && (top < 0 || weight[k] > weight[top])) top = k;
        memcpy(ordered + place * m, U + top * m, (size_t)m * sizeof *U);
        weight[top] = -1;
    }
}

static bool are_clusters(const armilla_problem_options *o)
{
    return armilla_codes_have_one_atom(o->codes, o->s);
}

/* The atom that sample j has by its code. */
static int64_t atom_of(const armilla_problem *p, int64_t j)
{
    const size_t size = armilla_type_size(p->options.type);
    double w = 0;
    for (int64_t k = 0; k < p->r; k++) {
        armilla_fetch(p->options.type, 1, (const char *)p->W + (size_t)(j * p->r + k) * size, &w);
        if (w != 0) return k;
    }
    return 0;
}

/* Atoms that are clusters, by size, ties by the first sample; those that were given stay in their order. From U_new into
 * ordered; *moved: some have another place than before; assigned: the atom of each sample, NULL: by the problem's codes.
 * Samples without a direction do not count where atoms have one length: they are equally far from all, and rounding
 * decides. */
static armilla_status order_clusters(const armilla_trial *trial, const int32_t *assigned, double *ordered, bool *moved)
{
    const armilla_problem *p = trial->problem;
    const bool all = p->options.basis->scalable && !p->options.codes->spherical;
    armilla_groups groups;
    armilla_status status = armilla_groups_take(p->context, p->r, &groups);
    for (int64_t j = p->share.first; j < p->share.last && status == ARMILLA_OK; j++)
        if (all || p->squared_norms[j] > 0) armilla_groups_add(&groups, assigned ? assigned[j] : atom_of(p, j), j);
    status = armilla_groups_arrange(p->context, status, &groups);
    for (int64_t place = 0; place < p->r && status == ARMILLA_OK; place++) {
        const int64_t from = p->given ? place : groups.order[place];
        memcpy(ordered + place * p->m, trial->U_new + from * p->m, (size_t)p->m * sizeof *ordered);
        *moved |= from != place;
    }
    armilla_groups_release(p->context, &groups);
    return status;
}

/* The largest entry of each atom is positive where signs are free, ties by index. The entries are those that are
 * stored, since rounding makes ties. */
static void fix_signs(const armilla_trial *trial, double *U)
{
    const armilla_problem *p = trial->problem;
    double *stored = trial->column;
    if (!p->options.basis->is_signed || p->options.codes->nonnegative) return;
    for (int64_t k = 0; k < p->r; k++) {
        double *u = U + k * p->m;
        int64_t top = 0;
        void *typed = (char *)p->U_typed + (size_t)(k * p->m) * armilla_type_size(p->options.type);
        armilla_store(p->options.type, p->m, u, typed);
        armilla_fetch(p->options.type, p->m, typed, stored);
        for (int64_t i = 1; i < p->m; i++)
            if (fabs(stored[i]) > fabs(stored[top])) top = i;
        const double sign = stored[top] < 0 ? -1 : 1;
        for (int64_t i = 0; i < p->m; i++) u[i] *= sign;
    }
}

/* Codes without a sphere take the length of every atom. */
static void fix_lengths(const armilla_problem *p, double *U)
{
    for (int64_t k = 0; k < p->r; k++) (void)armilla_unit(p->m, U + k * p->m, U + k * p->m);
}

/* A basis of free scale has ||U||_F = sqrt(r), and the radius takes the rest. */
static void fix_scale(armilla_problem *p, double *U)
{
    const double norm = armilla_norm(p->m * p->r, U), wanted = sqrt((double)p->r);
    if (!p->options.basis->scalable) return;
    if (p->options.codes->conic) fix_lengths(p, U);
    if (p->options.radius > 0 || !p->options.codes->spherical || !(norm > 0)) return;
    for (int64_t i = 0; i < p->m * p->r; i++) U[i] *= wanted / norm;
    p->l *= norm / wanted;
}

/* Into the problem, which may change its radius; the sums are those of the basis before. */
static armilla_status canonical_form(armilla_trial *trial)
{
    armilla_problem *p = trial->problem;
    const int64_t r = p->r;
    const armilla_basis_set *basis = p->options.basis;
    const armilla_code_set *codes = p->options.codes;
    const int32_t *assigned = trial->loop->assignments ? trial->loop->assignments(trial) : NULL;
    const bool rotates = basis->gram_is_identity && basis->is_signed && !codes->nonnegative && !codes->sparse;
    memcpy(trial->axes, trial->G, (size_t)(r * r) * sizeof(double));
    /* The exact alternation has the diagonal of G alone. */
    armilla_status status = rotates ? armilla_sweep_gram(p->sweep, p->W, trial->axes) : ARMILLA_OK;
    if (status != ARMILLA_OK) return status;
    /* Samples without a direction have the first axis for a code whatever the basis: they say nothing about it. */
    int64_t without = 0;
    for (int64_t j = p->share.first; j < p->share.last && basis->gram_is_identity && !codes->conic; j++)
        without += p->squared_norms[j] == 0;
    status = armilla_ranks_sum(p->context, status, &without);
    if (status != ARMILLA_OK) return status;
    trial->axes[0] = fmax(trial->axes[0] - (double)without, 0);
    for (int64_t k = 0; k < r; k++) trial->weights[k] = trial->axes[k * r + k];
    if (rotates)
        status = rotate_to_axes(trial);
    else
        memcpy(trial->U_new, p->U, (size_t)(p->m * r) * sizeof(double));
    if (status != ARMILLA_OK) return status;
    if (are_clusters(&p->options))
        status = order_clusters(trial, assigned, p->U_next, &(bool){false});
    else
        order_atoms(trial, p->U_next);
    if (status != ARMILLA_OK) return status;
    fix_scale(p, p->U_next);
    fix_signs(trial, p->U_next);
    armilla_problem_set_basis(p, p->U_next, NULL);
    return ARMILLA_OK;
}

/* Whether a start that settled is in canonical form already: principal axes in their order, but for the rounding of G or
 * an angle that is as good as rounding, and signs. Its codes are then those of the column solver, for they are C itself. */
static bool is_canonical(const armilla_trial *trial)
{
    const armilla_problem *p = trial->problem;
    const double *G = trial->G, rounding = ROUNDING * armilla_epsilon(p->options.type), angle = fmax(rounding, ANGLE);
    bool holds = p->settled;
    for (int64_t k = 0; k < p->r && holds; k++) {
        const double *u = p->U + k * p->m;
        int64_t top = 0;
        for (int64_t i = 1; i < p->m; i++)
            if (fabs(u[i]) > fabs(u[top])) top = i;
        holds = u[top] > 0 && (k == 0 || G[k * p->r + k] <= G[(k - 1) * p->r + k - 1]);
        const double slack = rounding * sqrt(G[0]) * sqrt(fmax(G[k * p->r + k], 0));
        for (int64_t i = 0; i < k; i++)
            holds = holds && fabs(G[k * p->r + i]) <= slack + angle * (G[i * p->r + i] - G[k * p->r + k]);
    }
    return holds;
}

/* What lies between the last iterate and the sealed codes may be as much as that, or the rounding of (A3). */
static double reachable(const armilla_problem *p)
{
    const double h = p->objective;
    return h + fmax(CLOSE * p->squared_norm, armilla_epsilon(p->options.type) * h);
}

/* The codes of the problem's basis by the column solver become the state; *h of it. */
static armilla_status solve_codes(armilla_trial *trial, double *h)
{
    const armilla_status status = trial->loop->sweep_sealed(trial, h);
    if (status == ARMILLA_OK) armilla_trial_swap_codes(trial);
    return status;
}

/* A sample that is as far from two atoms has the first of them, and may be in another cluster now: then these have other
 * sizes, and are ordered again. */
static armilla_status settle_order(armilla_trial *trial, double *h)
{
    armilla_problem *p = trial->problem;
    armilla_status status = ARMILLA_OK;
    bool moved = are_clusters(&p->options) && !p->given;
    for (int round = 0; round < MOST_ORDERS && moved && status == ARMILLA_OK; round++) {
        moved = false;
        memcpy(trial->U_new, p->U, (size_t)(p->m * p->r) * sizeof *p->U);
        status = order_clusters(trial, NULL, p->U_next, &moved);
        if (status != ARMILLA_OK || !moved) break;
        armilla_problem_set_basis(p, p->U_next, NULL);
        status = solve_codes(trial, h);
    }
    return status;
}

/* The codes of the canonical basis by the column solver become the state. */
armilla_status armilla_trial_seal(armilla_trial *trial)
{
    armilla_problem *p = trial->problem;
    double h = 0;
    trial->seal.wanted = reachable(p);
    if (is_canonical(trial)) {
        trial->phase = ARMILLA_TRIAL_ENDED;
        return ARMILLA_OK;
    }
    /* The atoms of a model that is continued keep their places. */
    armilla_status status = p->past ? ARMILLA_OK : canonical_form(trial);
    if (status == ARMILLA_OK) status = solve_codes(trial, &h);
    if (status == ARMILLA_OK && !p->past) status = settle_order(trial, &h);
    if (status != ARMILLA_OK) return status;
    const bool goes_on = trial->loop->step_sealed && !(h <= trial->seal.wanted);
    trial->phase = goes_on ? ARMILLA_TRIAL_GO_ON : ARMILLA_TRIAL_ENDED;
    p->objective = h;
    if (goes_on) armilla_trial_keep(trial);
    return ARMILLA_OK;
}

/* The next basis in its canonical scale, and its codes; *h of that trial. */
static armilla_status try_sealed(armilla_trial *trial, double *h)
{
    armilla_problem *p = trial->problem;
    trial->loop->step_sealed(trial);
    fix_scale(p, p->U_next); /* it holds U */
    armilla_problem_set_basis(p, p->U_next, NULL);
    return trial->loop->sweep_sealed(trial, h);
}

/* Codes that descended from earlier ones can be better than those of a column solver that is not global. The model then
 * continues from the solver's codes, and from here every code is the solver's, as long as h falls. These steps belong
 * to sealing: the trace is that of the iterations, and stays. */
armilla_status armilla_trial_go_on_sealed(armilla_trial *trial)
{
    armilla_problem *p = trial->problem;
    const double before = p->objective;
    double h = 0;
    const bool over = trial->seal.steps >= MOST_STEPS || armilla_call_stopped(p->context, NULL);
    const armilla_status status = over ? ARMILLA_OK : try_sealed(trial, &h);
    if (status != ARMILLA_OK) return status;
    trial->phase = ARMILLA_TRIAL_ENDED;
    if (over) return ARMILLA_OK;
    if (!(h < before)) {
        armilla_trial_revert(trial);
        return ARMILLA_OK;
    }
    armilla_trial_adopt(trial);
    trial->seal.steps++;
    /* Iterations that a limit ended are not made up for here. */
    const bool settled =
        p->stop != ARMILLA_STOP_CONVERGED || p->options.stop.eases || before - h <= p->options.stop.tol * before;
    if (!(h <= trial->seal.wanted && settled)) trial->phase = ARMILLA_TRIAL_GO_ON;
    return ARMILLA_OK;
}
