/* A basis whose atoms move one by one, such as the nonnegative: coordinate descent (HALS) over the columns of U on
 * fixed sums, and per read of X several code steps in Gram space from the previous codes, or the column solver where it
 * is cheap or the steps have slowed down. The basis is extrapolated, and taken back where h did not fall. */
#include "solve/fast.h"

#include <math.h>
#include <string.h>

/* Codes are renewed in every sweep: the last digits can wait. */
#define SETTLED_IN_LOOP 1e-6

typedef struct atom_loop {
    armilla_fast *fast;
    armilla_polish polish;
    int steps;  /* code steps per sweep */
    bool cheap; /* the column solver is used in every sweep, and nothing else */
    bool sure;  /* descent needs no help of the column solver */
} atom_loop;

/* u_k <- the atom nearest to u_k + (a_k - Ug_k)/G_kk, its best with the others fixed, for all k; A and G of V = lW. One
 * pass only: more fit U closely to codes that have hardly moved, and from there the way down is long. */
void armilla_fast_descend_basis(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    const int64_t m = p->m, r = p->r;
    double *step = p->U_next, used = 0; /* one column of room */
    for (int64_t k = 0; k < r; k++) used += fast->G[k * r + k];
    memcpy(fast->U_new, fast->U_kept, (size_t)(m * r) * sizeof(double));
    for (int64_t k = 0; k < r; k++) {
        double *u = fast->U_new + k * m;
        const double own = fast->G[k * r + k];
        if (own <= 1e-12 * used) continue; /* hardly used: no curvature to divide by */
        /* a_k/l - Ug_k, both divided by l */
        for (int64_t i = 0; i < m; i++) step[i] = fast->A[k * m + i] / fast->l;
        armilla_multiply(m, r, 1, -1, fast->U_new, fast->G + k * r, 1, step);
        for (int64_t i = 0; i < m; i++) u[i] += step[i] / own;
        if (!p->options.basis->atom(m, u)) memcpy(u, fast->U_kept + k * m, (size_t)m * sizeof *u);
    }
}

void armilla_fast_set_trial(armilla_fast *fast, double beta)
{
    armilla_problem *p = fast->problem;
    for (int64_t k = 0; k < p->r; k++) {
        double *u = p->U_next + k * p->m;
        const double *to = fast->U_new + k * p->m, *from = fast->U_kept + k * p->m;
        for (int64_t i = 0; i < p->m; i++) u[i] = to[i] + beta * (to[i] - from[i]);
        if (beta > 0 && !p->options.basis->atom(p->m, u)) memcpy(u, to, (size_t)p->m * sizeof *u);
    }
    armilla_problem_set_basis(p, p->U_next, NULL);
}

/* Codes by the column solver, where they are better than the panel's. */
static void take_better_codes(const armilla_fast *fast, const armilla_code_panel *panel)
{
    const armilla_column_problem *columns = fast->columns;
    const armilla_problem *p = fast->problem;
    const int64_t r = panel->r;
    const double unit = armilla_column_unit(columns, p->l);
    double *d = panel->scratch, *others = d + r, *room = others + ARMILLA_LANES * r;
    for (int64_t j = 0; j < panel->count; j++) {
        const int64_t lane = j % ARMILLA_LANES, left = panel->count - j;
        double *w = panel->W + j * r;
        if (lane == 0)
            armilla_columns_solve(columns, p->options.codes, left < ARMILLA_LANES ? left : ARMILLA_LANES,
                                  panel->C + j * r, unit, others, room);
        for (int64_t k = 0; k < r; k++) d[k] = panel->C[j * r + k] / unit;
        if (armilla_column_value(columns, d, others + lane * r) < armilla_column_value(columns, d, w))
            memcpy(w, others + lane * r, (size_t)r * sizeof *w);
    }
}

/* From the previous code: descent, or the column solver, or in a polishing sweep the better of both. */
static void code_steps(void *self, const armilla_code_panel *panel)
{
    const atom_loop *loop = self;
    const armilla_fast *fast = loop->fast;
    const armilla_column_problem *columns = fast->columns;
    const armilla_problem *p = fast->problem;
    const armilla_code_set *codes = p->options.codes;
    const double unit = armilla_column_unit(columns, p->l);
    if (loop->cheap) {
        armilla_columns_solve(columns, codes, panel->count, panel->C, unit, panel->W, panel->scratch);
        return;
    }
    armilla_columns_descend(columns, codes, panel->count, panel->C, unit, loop->steps, SETTLED_IN_LOOP, panel->W,
                            panel->scratch);
    if (fast->effort != ARMILLA_DESCEND) take_better_codes(fast, panel);
}

static armilla_status iterate(atom_loop *loop, bool *ended)
{
    armilla_fast *fast = loop->fast;
    const armilla_trace *trace = fast->problem->trace;
    const double before = fast->h;
    double h = 0;
    armilla_status status = armilla_fast_find_unused(fast);
    armilla_fast_descend_basis(fast);
    if (status == ARMILLA_OK) status = armilla_fast_revive(fast, fast->U_new);
    if (status != ARMILLA_OK) return status;
    const double beta = armilla_fast_beta(fast);
    const bool revived = fast->reviving > 0;
    armilla_fast_set_trial(fast, beta);
    status = armilla_fast_sweep(fast, code_steps, loop, &h);
    if (status == ARMILLA_OK && h < fast->h) {
        armilla_momentum_accept(&fast->momentum);
    } else if (status == ARMILLA_OK && armilla_fast_retreat(fast, beta)) {
        if (revived) armilla_fast_descend_basis(fast); /* again, without the samples */
        armilla_fast_set_trial(fast, 0);
        status = armilla_fast_sweep(fast, code_steps, loop, &h);
    }
    if (status == ARMILLA_OK) status = h <= fast->h ? armilla_fast_accept(fast, ended) : armilla_fast_stay(fast, ended);
    if (status != ARMILLA_OK) return status;
    const double fall = before > 0 ? (before - fast->h) / before : 0;
    loop->steps = armilla_code_steps(fall);
    if (fast->effort != ARMILLA_DESCEND) armilla_polish_done(&loop->polish, trace->count, fall);
    const bool polish =
        loop->cheap || (!loop->sure && !fast->problem->draft && armilla_polish_due(&loop->polish, trace->count, fall));
    fast->effort = !polish ? ARMILLA_DESCEND : loop->polish.thorough ? ARMILLA_SOLVE : ARMILLA_ROUGHLY;
    return ARMILLA_OK;
}

/* A basis that was fitted to a sketch is better than the first codes, Proj(U'X): codes that are worth a step of it. */
static armilla_status find_codes(atom_loop *loop)
{
    armilla_fast *fast = loop->fast;
    double h = 0;
    loop->steps = ARMILLA_FIRST_CODE_STEPS;
    fast->effort = loop->sure ? ARMILLA_DESCEND : ARMILLA_ROUGHLY;
    const armilla_status status = armilla_fast_sweep(fast, code_steps, loop, &h);
    if (status != ARMILLA_OK) return status;
    armilla_fast_swap_codes(fast);
    armilla_fast_keep(fast);
    loop->steps = armilla_code_steps(1);
    fast->effort = loop->cheap ? ARMILLA_ROUGHLY : ARMILLA_DESCEND;
    return ARMILLA_OK;
}

static armilla_status run(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    atom_loop loop = {.fast = fast, .steps = armilla_code_steps(1)};
    bool ended = false;
    loop.cheap = p->options.codes->solves_cheaply(p->r, p->options.s);
    loop.sure = p->options.codes->descends;
    fast->effort = loop.cheap || (!loop.sure && !p->screened && !p->draft) ? ARMILLA_ROUGHLY : ARMILLA_DESCEND;
    armilla_polish_begin(&loop.polish);
    const bool wanted = p->screened || (p->options.codes->conic && !p->given && p->options.stop.max_iter > 0);
    armilla_status status = wanted && !armilla_call_over(p->context) ? find_codes(&loop) : ARMILLA_OK;
    if (status == ARMILLA_OK) status = armilla_problem_record(p, 0, 0, &ended);
    while (status == ARMILLA_OK && !ended) status = iterate(&loop, &ended);
    return status;
}

static void step_sealed(armilla_fast *fast)
{
    armilla_fast_descend_basis(fast);
    armilla_fast_set_trial(fast, 0);
}

const armilla_fast_loop armilla_loop_atoms = {.run = run, .step_sealed = step_sealed};
