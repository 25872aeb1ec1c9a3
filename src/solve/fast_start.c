/* Sparsity continuation (ALGORITHM section 5): exact alternation is greedy, and from full codes that become sparse
 * little by little it finds better minima than from sparse ones. On the way codes are infeasible and h rises, so this
 * is a part of the start: the best feasible basis met, the start's own included, is where the trace begins. */
#include "solve/fast.h"

#include <math.h>
#include <string.h>

typedef struct continuation {
    armilla_fast *fast;
    int64_t s; /* of this sweep's codes */
} continuation;

enum { FEASIBLE_CROSS, TALLY };

/* Codes with the sparsity of the moment; tallied is <C,W> of the feasible ones, which tells h of this basis. */
static void falling_codes(void *self, const armilla_code_panel *panel)
{
    const continuation *c = self;
    const armilla_problem_options *o = &c->fast->problem->options;
    const int64_t r = panel->r;
    for (int64_t j = 0; j < panel->count; j++) {
        const double *q = panel->C + j * r;
        double *w = panel->W + j * r;
        if (o->codes->project(r, o->s, q, panel->scratch))
            panel->tally[FEASIBLE_CROSS] += armilla_dot(r, q, panel->scratch);
        if (!o->codes->project(r, c->s, q, w)) {
            memset(w, 0, (size_t)r * sizeof *w);
            w[0] = 1;
        }
    }
}

static armilla_status feasible_start(armilla_fast *fast, const double *U)
{
    armilla_problem *p = fast->problem;
    double h = 0;
    memcpy(p->U_next, U, (size_t)(p->m * p->r) * sizeof(double));
    armilla_problem_set_basis(p, p->U_next, NULL);
    const armilla_status status = armilla_fast_sweep(fast, armilla_fast_solve_codes, fast, &h);
    if (status != ARMILLA_OK) return status;
    armilla_fast_swap_codes(fast);
    armilla_fast_keep(fast);
    memcpy(fast->A_back, fast->A, (size_t)(p->m * p->r) * sizeof(double));
    return ARMILLA_OK;
}

armilla_status armilla_fast_continue(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    const bool wanted =
        p->options.codes->sparse && p->options.s < p->r && !p->given && !p->screened && p->options.stop.max_iter > 0;
    double *best = fast->A_back, most = -INFINITY; /* A_back is not needed before the loop */
    continuation c = {.fast = fast};
    const armilla_sweep_plan plan = {.U = p->U_typed, .sums = true, .tally = TALLY, .step = falling_codes, .self = &c};
    armilla_status status = ARMILLA_OK;
    if (!wanted) return ARMILLA_OK;
    for (int64_t k = 0; k < ARMILLA_CONTINUATION_SWEEPS && status == ARMILLA_OK; k++) {
        c.s = armilla_continuation_sparsity(p->r, p->options.s, k);
        armilla_call_step(p->context, k, ARMILLA_CONTINUATION_SWEEPS);
        status = armilla_sweep_run(p->sweep, &plan);
        if (status == ARMILLA_OK && armilla_sweep_tally(p->sweep)[FEASIBLE_CROSS] > most) {
            most = armilla_sweep_tally(p->sweep)[FEASIBLE_CROSS];
            memcpy(best, p->U, (size_t)(p->m * p->r) * sizeof(double));
        }
        if (status == ARMILLA_OK)
            status = p->options.basis->exact(p->algebra, p->m, p->r, armilla_sweep_A(p->sweep),
                                             armilla_sweep_G(p->sweep), p->U_next);
        if (status == ARMILLA_OK) armilla_problem_set_basis(p, p->U_next, NULL);
    }
    return status == ARMILLA_OK ? feasible_start(fast, best) : status;
}
