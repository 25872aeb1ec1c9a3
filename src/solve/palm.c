/* The paper's algorithm (ALGORITHM section 4): proximal alternating linearized minimization. One read of X per
 * iteration: the sweep that makes the new codes also makes the sums that the next basis step needs. It returns the
 * last iterate as it is. */
#include "solve/problem.h"

/* (A5): U <- the set's proximal step, mu >= 2 sigma_1(VV') = 2 l^2 sigma_1(WW'). */
static armilla_status basis_step(armilla_problem *p, double *dU)
{
    const double *A = armilla_sweep_A(p->sweep), *G = armilla_sweep_G(p->sweep);
    double sigma = 0;
    armilla_status status = armilla_largest_eigenvalue(p->algebra, p->r, G, &sigma);
    if (status != ARMILLA_OK) return status;
    if (!(sigma > 0)) { /* no code is used: every basis is as good */
        *dU = 0;
        return ARMILLA_OK;
    }
    const double mu = armilla_weight_apply(p->options.mu, 2 * p->l * p->l * sigma);
    status = p->options.basis->proximal(p->algebra, p->m, p->r, p->U, A, G, p->l, mu, p->U_next);
    if (status == ARMILLA_OK) armilla_problem_set_basis(p, p->U_next, dU);
    return status;
}

/* pull = lambda*I - 2H, lambda >= 2 sigma_1(H). For an orthonormal basis H is I, whatever its last bits say, so that
 * lambda = 2 is exactly safe and then (A6) is the exact minimiser. */
static armilla_status set_pull(armilla_problem *p)
{
    const bool identity = p->options.basis->gram_is_identity;
    double sigma = 1;
    if (!identity) {
        const armilla_status status = armilla_largest_eigenvalue(p->algebra, p->r, p->H, &sigma);
        if (status != ARMILLA_OK) return status;
    }
    const double lambda = armilla_weight_apply(p->options.lambda, 2 * sigma);
    p->pulls = false;
    /* On a sphere Proj does not see the scale; else the step is q/lambda. */
    p->code_scale = p->options.codes->spherical ? 1 : lambda > 0 ? 1 / lambda : 0;
    for (int64_t a = 0; a < p->r; a++)
        for (int64_t b = 0; b < p->r; b++) {
            const double h = identity ? a == b : p->H[a * p->r + b];
            p->pull[a * p->r + b] = (a == b ? lambda : 0) - 2 * h;
            p->pulls |= p->pull[a * p->r + b] != 0;
        }
    return ARMILLA_OK;
}

/* Q = 2C + (lambda*I - 2H)V of a panel. A column's product does not depend on the others'. */
static void form_q(const armilla_problem *p, const armilla_code_panel *panel)
{
    const int64_t r = p->r;
    const armilla_columns W = {.values = panel->W, .m = r, .count = panel->count, .stride = r};
    if (!p->pulls) {
        for (int64_t i = 0; i < r * panel->count; i++) panel->Q[i] = 2 * panel->C[i];
        return;
    }
    armilla_kernels_for(p->context, ARMILLA_F64)->products(&W, r, p->pull, panel->Q);
    for (int64_t i = 0; i < r * panel->count; i++) panel->Q[i] = 2 * panel->C[i] + p->l * panel->Q[i];
}

/* (A6): w_j <- Proj(q_j). Where q = 0 the previous direction stays. */
static void code_step(void *self, const armilla_code_panel *panel)
{
    const armilla_problem *p = self;
    const int64_t r = p->r;
    form_q(p, panel);
    for (int64_t j = 0; j < panel->count; j++) {
        double *w = panel->W + j * r, *q = panel->Q + j * r;
        bool any = !p->options.codes->spherical;
        for (int64_t k = 0; k < r && !any; k++) any = q[k] != 0;
        for (int64_t k = 0; k < r && p->code_scale != 1; k++) q[k] *= p->code_scale;
        if (any) (void)p->options.codes->project(r, p->options.s, q, w);
    }
}

static armilla_status palm(armilla_problem *p)
{
    const armilla_sweep_plan codes = {
        .U = p->U_typed, .previous = p->W, .codes = p->W, .sums = true, .step = code_step, .self = p};
    double dU = 0, dV = 0;
    bool ended = false;
    armilla_status status = armilla_problem_record(p, 0, 0, &ended); /* the start */
    while (status == ARMILLA_OK && !ended) {
        status = basis_step(p, &dU);                                         /* (A5) */
        if (status == ARMILLA_OK) status = set_pull(p);                      /* lambda*I - 2U'U */
        if (status == ARMILLA_OK) status = armilla_problem_sweep(p, &codes); /* (A6), and A, G (A2) */
        if (status != ARMILLA_OK) break;
        dV = armilla_radius_step(p);                        /* (A7) */
        status = armilla_problem_record(p, dU, dV, &ended); /* h by (A3) */
    }
    return status;
}

static bool takes(const armilla_basis_set *basis, const armilla_code_set *codes)
{
    (void)codes;
    return basis->proximal != NULL;
}

const armilla_solver armilla_solver_palm = {
    .name = "palm",
    .meaning = "the paper's algorithm: proximal alternating linearized minimization",
    .takes = takes,
    .needs = "a basis with a proximal step: any but orthonormal-nonneg",
    .solve = palm,
};
