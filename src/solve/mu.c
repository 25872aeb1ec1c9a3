/* The multiplicative rule for the paper's NMF equation (docs/algorithm.md#palm-and-mu): for X, U, V >= 0
 *
 *     U <- U * (XV') / (UVV')      V <- V * (U'X) / (U'UV)      entry by entry
 *
 * never raises h and keeps signs, without a step length. An entry that is 0 stays 0. It returns the last iterate. */
#include "solve/problem.h"

#include <float.h>
#include <math.h>

typedef struct multiplying {
    armilla_problem *problem;
    double *A, *G;  /* sums of the state */
    double *scaled; /* workspace: G divided by a power of two */
} multiplying;

static void list(void *self, armilla_state_list *items)
{
    multiplying *s = self;
    const int64_t m = s->problem->m, r = s->problem->r;
    armilla_state_array(items, "A", ARMILLA_STATE_F64, m, r, &s->A);
    armilla_state_array(items, "G", ARMILLA_STATE_F64, r, r, &s->G);
    armilla_state_workspace(items, ARMILLA_STATE_F64, r, r, &s->scaled);
}

static size_t bytes(const armilla_problem_options *options)
{
    (void)options;
    return sizeof(multiplying);
}

static armilla_status open(armilla_problem *p, void *self)
{
    multiplying *s = self;
    s->problem = p;
    return ARMILLA_OK;
}

static void begin(armilla_problem *p, void *self)
{
    multiplying *s = self;
    armilla_sweep_copy(p->sweep, s->A, s->G);
}

/* bottom is a sum with entry*own in it, own = the diagonal's: where top/bottom leaves the range, entry/bottom does not. */
static double rescale(double entry, double top, double bottom)
{
    const double ratio = top / bottom;
    if (!(bottom > 0)) return entry;
    return isfinite(ratio) && (ratio >= DBL_MIN || top == 0) ? entry * ratio : entry / bottom * top;
}

/* A and G are divided by the power of two that is nearest to the largest of G: the quotient does not see it, and an
 * entry that is small is not lost in its product with G. */
static void basis_step(const multiplying *s, double *dU)
{
    armilla_problem *p = s->problem;
    const double *A = s->A, *G = s->G;
    double *scaled = s->scaled, largest = 0;
    int exponent = 0;
    for (int64_t k = 0; k < p->r; k++) largest = fmax(largest, G[k * p->r + k]);
    (void)frexp(largest, &exponent);
    const double factor = ldexp(1, -exponent);
    for (int64_t i = 0; i < p->r * p->r; i++) scaled[i] = factor * G[i];
    armilla_multiply(p->m, p->r, p->r, 1, p->U, scaled, 0, p->U_next);
    for (int64_t i = 0; i < p->m * p->r; i++) p->U_next[i] = rescale(p->U[i], factor * A[i], p->U_next[i]);
    armilla_problem_set_basis(p, p->U_next, dU);
}

static void code_step(void *self, const armilla_code_panel *panel)
{
    const armilla_problem *p = self;
    const armilla_columns W = {.values = panel->W, .m = p->r, .count = panel->count, .stride = p->r};
    const armilla_atoms H = {.values = p->H, .r = p->r};
    armilla_kernels_for(p->context, ARMILLA_F64)->products(&W, &H, panel->Q);
    for (int64_t i = 0; i < p->r * panel->count; i++) panel->W[i] = rescale(panel->W[i], panel->C[i], panel->Q[i]);
}

static armilla_status step(armilla_problem *p, void *self, bool *ended)
{
    const multiplying *s = self;
    const armilla_sweep_plan codes = {
        .U = p->U_typed, .previous = p->W, .codes = p->W, .sums = true, .step = code_step, .self = p};
    double dU = 0;
    if (p->trace->count == 0) return armilla_problem_record_start(p, ended);
    basis_step(s, &dU);
    const armilla_status status = armilla_problem_sweep(p, &codes);
    if (status != ARMILLA_OK) return status;
    armilla_sweep_copy(p->sweep, s->A, s->G);
    const double dV = armilla_radius_step(p); /* no radius: what V moved */
    return armilla_problem_record(p, dU, dV, ended);
}

/* Entries of both factors are any number from 0 on. */
static bool takes(const armilla_basis_set *basis, const armilla_code_set *codes)
{
    return basis->scalable && !basis->is_signed && codes->conic && codes->nonnegative;
}

const armilla_solver armilla_solver_mu = {
    .name = "mu",
    .meaning = "multiplicative updates, for NMF alone",
    .descends = true,
    .positive = true,
    .takes = takes,
    .needs =
        ARMILLA_FIELD("basis nonnegative") " with " ARMILLA_FIELD("codes nonneg") " (" ARMILLA_FIELD("model nmf") ")",
    .bytes = bytes,
    .open = open,
    .list = list,
    .begin = begin,
    .step = step,
};
