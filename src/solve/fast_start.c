/* Sparsity continuation (docs/algorithm.md#orthonormal-basis): exact alternation is greedy, and from full codes that
 * become sparse little by little it finds better minima than from sparse ones. On the way codes are infeasible and h
 * rises, so this is a part of the start: the best feasible basis met, the start's own included, is where the trace
 * begins. */
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

static bool makes_sparse(const armilla_problem *p)
{
    return p->options.codes->sparse && p->options.s < p->r;
}

void armilla_fast_continue_list(armilla_fast *fast, armilla_state_list *list)
{
    const armilla_problem *p = fast->problem;
    int64_t *sweep = &fast->continuation.sweep;
    if (!makes_sparse(p)) return;
    armilla_state_number(list, "continuation.sweep", ARMILLA_STATE_I64, sweep);
    const bool holds = *sweep >= 0 && *sweep <= armilla_continuation_sweeps(p->r, p->options.s);
    if (!armilla_state_require(list, "continuation.sweep", holds)) return;
    if (list->purpose == ARMILLA_STATE_VISIT && *sweep == 0) return; /* not in progress */
    armilla_state_number(list, "continuation.most", ARMILLA_STATE_F64, &fast->continuation.most);
    armilla_state_array(list, "continuation.U_best", ARMILLA_STATE_F64, p->m, p->r, &fast->continuation.U_best);
    armilla_state_array(list, "continuation.U_start", ARMILLA_STATE_F64, p->m, p->r, &fast->continuation.U_start);
}

/* Codes of the sparsity of the moment, and the basis that is best for them. */
static armilla_status alternate(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    continuation c = {.fast = fast, .s = armilla_continuation_sparsity(p->r, p->options.s, fast->continuation.sweep)};
    const armilla_sweep_plan plan = {.U = p->U_typed,
                                     .codes = fast->W_trial, /* nobody's */
                                     .sums = true,
                                     .tally = TALLY,
                                     .step = falling_codes,
                                     .self = &c};
    armilla_call_step(p->context, fast->continuation.sweep, armilla_continuation_sweeps(p->r, p->options.s));
    armilla_status status = armilla_sweep_run(p->sweep, &plan);
    if (status != ARMILLA_OK) return status;
    if (armilla_sweep_tally(p->sweep)[FEASIBLE_CROSS] > fast->continuation.most) {
        fast->continuation.most = armilla_sweep_tally(p->sweep)[FEASIBLE_CROSS];
        memcpy(fast->continuation.U_best, p->U, (size_t)(p->m * p->r) * sizeof(double));
    }
    status = p->options.basis->exact(p->algebra, p->m, p->r, armilla_sweep_A(p->sweep), armilla_sweep_G(p->sweep),
                                     p->U_next);
    if (status == ARMILLA_OK) armilla_problem_set_basis(p, p->U_next, NULL);
    return status;
}

static armilla_status feasible_start(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    double h = 0;
    armilla_problem_set_basis(p, fast->continuation.U_best, NULL);
    const armilla_status status = armilla_fast_sweep(fast, armilla_fast_solve_codes, ARMILLA_DESCEND, &h);
    if (status != ARMILLA_OK) return status;
    armilla_fast_swap_codes(fast);
    armilla_fast_keep(fast);
    memcpy(fast->orthonormal.A_back, fast->A, (size_t)(p->m * p->r) * sizeof(double));
    return ARMILLA_OK;
}

armilla_status armilla_fast_continue(armilla_fast *fast, bool *ready)
{
    const armilla_problem *p = fast->problem;
    const bool last = fast->continuation.sweep == armilla_continuation_sweeps(p->r, p->options.s);
    const bool wanted = makes_sparse(p) && !p->given && !p->screened && p->options.stop.max_iter > 0;
    *ready = !wanted || last;
    if (!wanted) return ARMILLA_OK;
    if (fast->continuation.sweep == 0) {
        fast->continuation.most = -INFINITY;
        memcpy(fast->continuation.U_start, p->U, (size_t)(p->m * p->r) * sizeof(double));
    }
    const armilla_status status = last ? feasible_start(fast) : alternate(fast);
    if (status == ARMILLA_OK) fast->continuation.sweep = last ? 0 : fast->continuation.sweep + 1;
    return status;
}
