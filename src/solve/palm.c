/* The paper's algorithm (docs/algorithm.md#the-solver-palm): proximal alternating linearized minimization. One read of
 * X per iteration: the sweep that makes the new codes also makes the sums that the next basis step needs. It returns
 * the last iterate as it is. */
#include "solve/problem.h"

#include <string.h>

typedef struct palm {
    armilla_problem *problem;
    double *A, *G; /* sums of the state */
    /* Workspace. */
    double *proximal;  /* lambda*I - 2H, r x r: what V adds to the gradient step */
    bool moves;        /* whether it is anything but 0 */
    double code_scale; /* of q before it is projected: 1 for codes on a sphere */
} palm;

static void list(void *self, armilla_state_list *items)
{
    palm *s = self;
    const int64_t m = s->problem->m, r = s->problem->r;
    armilla_state_array(items, "A", ARMILLA_STATE_F64, m, r, &s->A);
    armilla_state_array(items, "G", ARMILLA_STATE_F64, r, r, &s->G);
    armilla_state_workspace(items, ARMILLA_STATE_F64, r, r, &s->proximal);
}

static size_t bytes(const armilla_problem_options *options)
{
    (void)options;
    return sizeof(palm);
}

static armilla_status open(armilla_problem *p, void *self)
{
    palm *s = self;
    s->problem = p;
    return ARMILLA_OK;
}

static void begin(armilla_problem *p, void *self)
{
    palm *s = self;
    armilla_sweep_copy(p->sweep, s->A, s->G);
}

/* (A5): U <- the set's proximal step, mu >= 2 sigma_1(VV') = 2 l^2 sigma_1(WW'). */
static armilla_status basis_step(const palm *s, double *dU)
{
    armilla_problem *p = s->problem;
    double sigma = 0;
    armilla_status status = armilla_largest_eigenvalue(p->algebra, p->r, s->G, &sigma);
    if (status != ARMILLA_OK) return status;
    if (!(sigma > 0)) { /* no code is used: every basis is as good */
        *dU = 0;
        return ARMILLA_OK;
    }
    const double mu = armilla_weight_apply(p->options.mu, 2 * p->l * p->l * sigma);
    const armilla_basis_step step = {p->m, p->r, p->U, s->A, s->G, p->l, mu};
    status = p->options.basis->proximal(p->algebra, &step, p->U_next);
    if (status == ARMILLA_OK) armilla_problem_set_basis(p, p->U_next, dU);
    return status;
}

/* lambda*I - 2H, lambda >= 2 sigma_1(H). For an orthonormal basis H is I, whatever its last bits say, so that
 * lambda = 2 is exactly safe and then (A6) is the exact minimiser. */
static armilla_status set_proximal(palm *s)
{
    const armilla_problem *p = s->problem;
    const bool identity = p->options.basis->gram_is_identity;
    double sigma = 1;
    if (!identity) {
        const armilla_status status = armilla_largest_eigenvalue(p->algebra, p->r, p->H, &sigma);
        if (status != ARMILLA_OK) return status;
    }
    const double lambda = armilla_weight_apply(p->options.lambda, 2 * sigma);
    s->moves = false;
    /* On a sphere Proj does not see the scale; else the step is q/lambda. */
    s->code_scale = p->options.codes->spherical ? 1 : lambda > 0 ? 1 / lambda : 0;
    for (int64_t a = 0; a < p->r; a++)
        for (int64_t b = 0; b < p->r; b++) {
            const double h = identity ? a == b : p->H[a * p->r + b];
            s->proximal[a * p->r + b] = (a == b ? lambda : 0) - 2 * h;
            s->moves |= s->proximal[a * p->r + b] != 0;
        }
    return ARMILLA_OK;
}

/* Q = 2C + (lambda*I - 2H)V of a panel. A column's product does not depend on the others'. */
static void form_q(const palm *s, const armilla_code_panel *panel)
{
    const armilla_problem *p = s->problem;
    const int64_t r = p->r;
    const armilla_columns W = {.values = panel->W, .m = r, .count = panel->count, .stride = r};
    if (!s->moves) {
        for (int64_t i = 0; i < r * panel->count; i++) panel->Q[i] = 2 * panel->C[i];
        return;
    }
    const armilla_atoms proximal = {.values = s->proximal, .r = r};
    armilla_kernels_for(p->context, ARMILLA_F64)->products(&W, &proximal, panel->Q);
    for (int64_t i = 0; i < r * panel->count; i++) panel->Q[i] = 2 * panel->C[i] + p->l * panel->Q[i];
}

/* (A6): w_j <- Proj(q_j). The previous direction stays where q = 0. */
static void code_step(void *self, const armilla_code_panel *panel)
{
    const palm *s = self;
    const armilla_problem *p = s->problem;
    const int64_t r = p->r;
    form_q(s, panel);
    for (int64_t j = 0; j < panel->count; j++) {
        double *w = panel->W + j * r, *q = panel->Q + j * r;
        bool any = !p->options.codes->spherical;
        for (int64_t k = 0; k < r && !any; k++) any = q[k] != 0;
        for (int64_t k = 0; k < r && s->code_scale != 1; k++) q[k] *= s->code_scale;
        if (any) (void)p->options.codes->project(r, p->options.s, q, w);
    }
}

static armilla_status step(armilla_problem *p, void *self, bool *ended)
{
    palm *s = self;
    const armilla_sweep_plan codes = {
        .U = p->U_typed, .previous = p->W, .codes = p->W, .sums = true, .step = code_step, .self = s};
    double dU = 0;
    if (p->trace->count == 0) return armilla_problem_record_start(p, ended);
    armilla_status status = basis_step(s, &dU);                          /* (A5) */
    if (status == ARMILLA_OK) status = set_proximal(s);                  /* lambda*I - 2U'U */
    if (status == ARMILLA_OK) status = armilla_problem_sweep(p, &codes); /* (A6), and A, G (A2) */
    if (status != ARMILLA_OK) return status;
    armilla_sweep_copy(p->sweep, s->A, s->G);
    const double dV = armilla_radius_step(p);        /* (A7) */
    return armilla_problem_record(p, dU, dV, ended); /* h by (A3) */
}

static bool takes(const armilla_basis_set *basis, const armilla_code_set *codes)
{
    (void)codes;
    return basis->proximal != NULL;
}

const armilla_solver armilla_solver_palm = {
    .name = "palm",
    .meaning = "the paper's algorithm: proximal alternating linearized minimization",
    .descends = true,
    .weighs = true,
    .takes = takes,
    .needs = "a basis with a proximal step: any but orthonormal-nonneg",
    .bytes = bytes,
    .open = open,
    .list = list,
    .begin = begin,
    .step = step,
};
