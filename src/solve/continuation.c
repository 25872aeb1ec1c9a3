/* Sparsity continuation (docs/algorithm.md#orthonormal-basis): exact alternation is greedy, and from full codes that
 * become sparse little by little it finds better minima than from sparse ones. On the way codes are infeasible and h
 * rises, so this is a part of the start: the best feasible basis met, the start's own included, is where the trace
 * begins. */
#include "solve/continuation.h"

#include <math.h>
#include <string.h>

typedef struct falling {
    const armilla_problem_options *options;
    int64_t s; /* of this sweep's codes */
} falling;

enum { FEASIBLE_CROSS, TALLY };

/* Codes with the sparsity of the moment; tallied is <C,W> of the feasible ones, which tells h of this basis. */
static void falling_codes(void *self, const armilla_code_panel *panel)
{
    const falling *f = self;
    const armilla_problem_options *o = f->options;
    const int64_t r = panel->r;
    for (int64_t j = 0; j < panel->count; j++) {
        const double *q = panel->C + j * r;
        double *w = panel->W + j * r;
        if (o->codes->project(r, o->s, q, panel->scratch))
            panel->tally[FEASIBLE_CROSS] += armilla_dot(r, q, panel->scratch);
        if (!o->codes->project(r, f->s, q, w)) {
            memset(w, 0, (size_t)r * sizeof *w);
            w[0] = 1;
        }
    }
}

static bool makes_sparse(const armilla_problem *p)
{
    return p->options.codes->sparse && p->options.s < p->r;
}

void armilla_continuation_list(armilla_continuation *c, const armilla_problem *p, armilla_state_list *list)
{
    if (!makes_sparse(p)) return;
    armilla_state_number(list, "continuation.sweep", ARMILLA_STATE_I64, &c->sweep);
    const bool holds = c->sweep >= 0 && c->sweep <= armilla_continuation_sweeps(p->r, p->options.s);
    if (!armilla_state_require(list, "continuation.sweep", holds)) return;
    if (list->purpose == ARMILLA_STATE_VISIT && c->sweep == 0) return; /* not in progress */
    armilla_state_number(list, "continuation.most", ARMILLA_STATE_F64, &c->most);
    armilla_state_array(list, "continuation.U_best", ARMILLA_STATE_F64, p->m, p->r, &c->U_best);
    armilla_state_array(list, "continuation.U_start", ARMILLA_STATE_F64, p->m, p->r, &c->U_start);
}

/* Codes of the sparsity of the moment, and the basis that is best for them. */
static armilla_status alternate(armilla_continuation *c, const armilla_trial *trial)
{
    armilla_problem *p = trial->problem;
    falling f = {&p->options, armilla_continuation_sparsity(p->r, p->options.s, c->sweep)};
    const armilla_sweep_plan plan = {.U = p->U_typed,
                                     .codes = trial->W_trial, /* nobody's */
                                     .sums = true,
                                     .tally = TALLY,
                                     .step = falling_codes,
                                     .self = &f};
    armilla_call_step(p->context, c->sweep, armilla_continuation_sweeps(p->r, p->options.s));
    armilla_status status = armilla_sweep_run(p->sweep, &plan);
    if (status != ARMILLA_OK) return status;
    if (armilla_sweep_tally(p->sweep)[FEASIBLE_CROSS] > c->most) {
        c->most = armilla_sweep_tally(p->sweep)[FEASIBLE_CROSS];
        memcpy(c->U_best, p->U, (size_t)(p->m * p->r) * sizeof(double));
    }
    status = p->options.basis->exact(p->algebra, p->m, p->r, armilla_sweep_A(p->sweep), armilla_sweep_G(p->sweep),
                                     p->U_next);
    if (status == ARMILLA_OK) armilla_problem_set_basis(p, p->U_next, NULL);
    return status;
}

static armilla_status feasible_start(const armilla_continuation *c, armilla_trial *trial)
{
    double h = 0;
    armilla_problem_set_basis(trial->problem, c->U_best, NULL);
    const armilla_status status = armilla_trial_sweep_projected(trial, &h);
    if (status != ARMILLA_OK) return status;
    armilla_trial_swap_codes(trial);
    armilla_trial_keep(trial);
    return ARMILLA_OK;
}

armilla_status armilla_continuation_step(armilla_continuation *c, armilla_trial *trial, bool *ready)
{
    const armilla_problem *p = trial->problem;
    const bool last = c->sweep == armilla_continuation_sweeps(p->r, p->options.s);
    const bool wanted = makes_sparse(p) && !p->given && !p->screened && p->options.stop.max_iter > 0;
    *ready = !wanted || last;
    if (!wanted) return ARMILLA_OK;
    if (c->sweep == 0) {
        c->most = -INFINITY;
        memcpy(c->U_start, p->U, (size_t)(p->m * p->r) * sizeof(double));
    }
    const armilla_status status = last ? feasible_start(c, trial) : alternate(c, trial);
    if (status == ARMILLA_OK) c->sweep = last ? 0 : c->sweep + 1;
    return status;
}
