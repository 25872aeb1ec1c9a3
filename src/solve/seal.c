/* The end of a fast fit: the canonical form, so that equal inputs give equal, comparable models, and the codes of that
 * basis by the column solver, which are the ones transform gives. */
#include "solve/fast.h"

#include <math.h>
#include <string.h>

/* How far above the last iterate the sealed codes may be, as a fraction of ||X||^2; the promise is 1e-6. */
#define CLOSE 5e-7

enum { MOST_STEPS = 50 };

/* orthonormal x sphere tells only the subspace: its axes become the principal axes of the codes, U <- UZ. */
static armilla_status rotate_to_axes(armilla_fast *fast, double *U)
{
    armilla_problem *p = fast->problem;
    double *Z = fast->columns->vectors, *values = fast->columns->values;
    const armilla_status status = armilla_eigen(p->algebra, p->r, fast->G, values, Z);
    if (status != ARMILLA_OK) return status;
    armilla_multiply(p->m, p->r, p->r, 1, p->U, Z, 0, U);
    memset(fast->G, 0, (size_t)(p->r * p->r) * sizeof(double)); /* now diagonal */
    for (int64_t k = 0; k < p->r; k++) fast->G[k * p->r + k] = fmax(values[k], 0);
    return ARMILLA_OK;
}

/* Atoms in falling order of ||u_k|| ||V(k,:)||, ties by index: from U into ordered. */
static void order_atoms(const armilla_fast *fast, const double *U, double *ordered)
{
    const armilla_problem *p = fast->problem;
    const int64_t m = p->m, r = p->r;
    double *weight = fast->columns->values;
    for (int64_t k = 0; k < r; k++) weight[k] = armilla_norm(m, U + k * m) * sqrt(fast->G[k * r + k]);
    for (int64_t place = 0; place < r; place++) {
        int64_t top = -1;
        for (int64_t k = 0; k < r; k++)
            if (weight[k] >= 0 && (top < 0 || weight[k] > weight[top])) top = k;
        memcpy(ordered + place * m, U + top * m, (size_t)m * sizeof *U);
        weight[top] = -1;
    }
}

/* Where signs are free the largest entry of each atom is positive, ties by index. The entries are those that are
 * stored, since rounding makes ties; rounded takes them. */
static void fix_signs(const armilla_problem *p, double *U, double *rounded)
{
    if (!p->options.basis->is_signed || p->options.codes->nonnegative) return;
    armilla_store(p->options.type, p->m * p->r, U, p->U_typed);
    armilla_fetch(p->options.type, p->m * p->r, p->U_typed, rounded);
    for (int64_t k = 0; k < p->r; k++) {
        const double *stored = rounded + k * p->m;
        double *u = U + k * p->m;
        int64_t top = 0;
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

static armilla_status canonical_form(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    const armilla_code_set *codes = p->options.codes;
    double *U = fast->A; /* the sums are not needed any more */
    armilla_status status = ARMILLA_OK;
    /* Samples without a direction have the first axis for a code whatever the basis: they say nothing about it. */
    for (int64_t j = 0; j < p->n && p->options.basis->gram_is_identity && !codes->conic; j++)
        fast->G[0] -= p->squared_norms[j] == 0;
    fast->G[0] = fmax(fast->G[0], 0);
    if (p->options.basis->gram_is_identity && p->options.basis->is_signed && !codes->nonnegative && !codes->sparse)
        status = rotate_to_axes(fast, U);
    else
        memcpy(U, p->U, (size_t)(p->m * p->r) * sizeof *U);
    if (status != ARMILLA_OK) return status;
    order_atoms(fast, U, p->U_next);
    fix_scale(p, p->U_next);
    fix_signs(p, p->U_next, U);
    armilla_problem_set_basis(p, p->U_next, NULL);
    return ARMILLA_OK;
}

/* The codes of the problem's basis by the column solver become the state; *h of it. */
static armilla_status solve_state(armilla_fast *fast, double *h)
{
    const armilla_status status = armilla_fast_sweep(fast, armilla_fast_solve_codes, fast, h);
    if (status == ARMILLA_OK) armilla_fast_swap_codes(fast);
    return status;
}

/* What lies between the last iterate and the sealed codes may be as much as that, or the rounding of (A3). */
static double reachable(const armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    return fast->h + fmax(CLOSE * p->squared_norm, armilla_epsilon(p->options.type) * fast->h);
}

/* The next basis in its canonical scale, and its codes; *h of that trial. */
static armilla_status try_sealed(armilla_fast *fast, double *h)
{
    armilla_problem *p = fast->problem;
    fast->loop->step_sealed(fast);
    fix_scale(p, p->U_next); /* it holds U */
    armilla_problem_set_basis(p, p->U_next, NULL);
    fast->l = p->l;
    return armilla_fast_sweep(fast, armilla_fast_solve_codes, fast, h);
}

/* Where the column solver is not global, codes that descended from earlier ones can be better than its own. Then the
 * model goes on from the solver's codes, and from here every code is the solver's, as long as h falls. These steps
 * belong to sealing: the trace is that of the iterations, and stays. */
static armilla_status go_on_sealed(armilla_fast *fast, double wanted)
{
    armilla_problem *p = fast->problem;
    armilla_fast_keep(fast);
    for (int step = 0; step < MOST_STEPS && !armilla_call_stopped(p->context, NULL); step++) {
        const double before = fast->h, l = fast->l;
        double h = 0;
        const armilla_status status = try_sealed(fast, &h);
        if (status != ARMILLA_OK && status != ARMILLA_STOPPED) return status;
        if (status == ARMILLA_STOPPED || !(h < before)) {
            (void)armilla_call_stopped(p->context, &p->stop);
            fast->l = l;
            armilla_fast_revert(fast);
            break;
        }
        armilla_fast_adopt(fast);
        p->objective = h;
        if (h <= wanted && before - h <= p->options.stop.tol * before) break;
    }
    return ARMILLA_OK;
}

armilla_status armilla_fast_seal(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    const double wanted = reachable(fast);
    const bool stayed = p->radius_stays;
    armilla_status status = canonical_form(fast);
    if (status != ARMILLA_OK) return status;
    p->radius_stays = true;
    fast->l = p->l;
    fast->effort = ARMILLA_SOLVE;
    status = solve_state(fast, &p->objective);
    if (status == ARMILLA_OK && fast->loop->step_sealed && !(p->objective <= wanted))
        status = go_on_sealed(fast, wanted);
    p->radius_stays = stayed;
    return status;
}
