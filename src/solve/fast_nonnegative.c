/* Nonnegative basis: coordinate descent (HALS) over the columns of U on fixed sums, and per read of X several code
 * steps in Gram space from the previous codes, or the column solver where it is cheap or the steps have slowed down.
 * The basis is extrapolated, and taken back where h did not fall. */
#include "solve/fast.h"

#include <math.h>
#include <string.h>

/* Codes are renewed in every sweep: the last digits can wait. */
#define SETTLED_IN_LOOP 1e-6

typedef struct nonnegative_loop {
    armilla_fast *fast;
    armilla_polish polish;
    int steps;  /* code steps per sweep */
    bool cheap; /* the column solver is used in every sweep, and nothing else */
} nonnegative_loop;

/* u_k <- max(u_k + (a_k - Ug_k)/G_kk, 0), for all k; A and G of V = lW. One pass only: more fit U closely to codes that
 * have hardly moved, and from there the way down is long. */
void armilla_fast_descend_basis(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    const int64_t m = p->m, r = p->r;
    double *step = p->U_next; /* one column of room */
    memcpy(fast->U_new, fast->U_kept, (size_t)(m * r) * sizeof(double));
    for (int64_t k = 0; k < r; k++) {
        double *u = fast->U_new + k * m;
        const double own = fast->G[k * r + k];
        if (own <= 1e-12 * (double)p->n) continue; /* hardly used: no curvature to divide by */
        /* a_k/l - Ug_k, both divided by l */
        for (int64_t i = 0; i < m; i++) step[i] = fast->A[k * m + i] / fast->l;
        armilla_multiply(m, r, 1, -1, fast->U_new, fast->G + k * r, 1, step);
        for (int64_t i = 0; i < m; i++) u[i] = fmax(u[i] + step[i] / own, 0);
    }
}

void armilla_fast_set_trial(armilla_fast *fast, double beta)
{
    armilla_problem *p = fast->problem;
    for (int64_t i = 0; i < p->m * p->r; i++)
        p->U_next[i] = fmax(fast->U_new[i] + beta * (fast->U_new[i] - fast->U_kept[i]), 0);
    armilla_problem_set_basis(p, p->U_next, NULL);
}

/* From the previous code: descent, or the column solver, or in a polishing sweep the better of both. */
static void code_steps(void *self, const armilla_code_panel *panel)
{
    const nonnegative_loop *loop = self;
    const armilla_fast *fast = loop->fast;
    const armilla_column_problem *columns = fast->columns;
    const armilla_problem *p = fast->problem;
    const armilla_code_set *codes = p->options.codes;
    const int64_t r = panel->r;
    double *room = panel->scratch, *d = room + armilla_column_room(r) - 2 * r, *other = d + r;
    for (int64_t j = 0; j < panel->count; j++) {
        double *w = panel->W + j * r;
        for (int64_t k = 0; k < r; k++) d[k] = panel->C[j * r + k] / p->l;
        if (loop->cheap) {
            armilla_column_solve(columns, codes, d, w, room);
            continue;
        }
        armilla_column_descend(columns, codes, d, loop->steps, SETTLED_IN_LOOP, w, room);
        if (!fast->solving) continue;
        armilla_column_solve(columns, codes, d, other, room);
        if (armilla_column_value(columns, d, other) < armilla_column_value(columns, d, w))
            memcpy(w, other, (size_t)r * sizeof *w);
    }
}

static armilla_status iterate(nonnegative_loop *loop, bool *ended)
{
    armilla_fast *fast = loop->fast;
    const armilla_trace *trace = fast->problem->trace;
    const double before = fast->h;
    double h = 0;
    armilla_fast_descend_basis(fast);
    armilla_fast_set_trial(fast, fast->momentum.beta);
    armilla_status status = armilla_fast_sweep(fast, code_steps, loop, &h);
    if (status == ARMILLA_OK && h < fast->h) {
        armilla_momentum_accept(&fast->momentum);
    } else if (status == ARMILLA_OK) {
        armilla_momentum_reject(&fast->momentum);
        armilla_fast_set_trial(fast, 0);
        status = armilla_fast_sweep(fast, code_steps, loop, &h);
    }
    if (status == ARMILLA_OK) status = h <= fast->h ? armilla_fast_accept(fast, ended) : armilla_fast_stay(fast, ended);
    if (status != ARMILLA_OK) return status;
    const double fall = (before - fast->h) / before;
    loop->steps = armilla_code_steps(fall);
    if (fast->solving) armilla_polish_done(&loop->polish, trace->count, fall);
    fast->solving = loop->cheap || armilla_polish_due(&loop->polish, trace->count, fall);
    return ARMILLA_OK;
}

armilla_status armilla_fast_nonnegative(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    nonnegative_loop loop = {.fast = fast, .steps = armilla_code_steps(1)};
    bool ended = false;
    loop.cheap = p->options.codes->solves_cheaply(p->r, p->options.s);
    fast->solving = true;
    armilla_polish_begin(&loop.polish);
    armilla_status status = armilla_problem_record(p, 0, 0, &ended);
    while (status == ARMILLA_OK && !ended) status = iterate(&loop, &ended);
    return status;
}
