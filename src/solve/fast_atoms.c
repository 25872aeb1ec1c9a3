/* A basis whose atoms move one by one, such as the nonnegative: coordinate descent (HALS) over the columns of U on
 * fixed sums (fast_basis.c), and per read of X several code steps in Gram space from the previous codes, or the column
 * solver where it is cheap or the steps have slowed down. The basis is extrapolated, and taken back where h did not fall. */
#include "solve/fast.h"

#include <math.h>
#include <string.h>

/* Codes are renewed in every sweep: the last digits can wait. */
#define SETTLED_IN_LOOP 1e-6

static void list(armilla_fast *fast, armilla_state_list *items)
{
    armilla_polish *polish = &fast->atoms.polish;
    armilla_state_number(items, "atoms.effort", ARMILLA_STATE_I32, &fast->atoms.effort);
    (void)armilla_state_require(items, "atoms.effort", fast->atoms.effort <= ARMILLA_SOLVE);
    if (fast->atoms.cheap) return;
    armilla_state_number(items, "atoms.steps", ARMILLA_STATE_I32, &fast->atoms.steps);
    (void)armilla_state_require(
        items, "atoms.steps", fast->atoms.steps == armilla_code_steps(0) || fast->atoms.steps == armilla_code_steps(1));
    if (fast->atoms.sure) return;
    armilla_state_number(items, "atoms.polish.last", ARMILLA_STATE_I64, &polish->last);
    (void)armilla_state_require(items, "atoms.polish.last",
                                polish->last >= -ARMILLA_STATE_MOST && polish->last <= ARMILLA_STATE_MOST);
    armilla_state_number(items, "atoms.polish.wait", ARMILLA_STATE_F64, &polish->wait);
    armilla_state_number(items, "atoms.polish.thorough", ARMILLA_STATE_U8, &polish->thorough);
}

/* Codes by the column solver, where they are better than the panel's. */
static void take_better_codes(const armilla_fast *fast, const armilla_code_panel *panel)
{
    const armilla_column_problem *columns = fast->columns;
    const int64_t r = panel->r;
    const double unit = armilla_column_unit(columns, fast->problem->l);
    double *d = panel->scratch, *others = d + r, *workspace = others + ARMILLA_MOST_LANES * r;
    for (int64_t j = 0; j < panel->count; j++) {
        const int64_t lane = j % ARMILLA_MOST_LANES, left = panel->count - j;
        const armilla_column_batch batch = {left < ARMILLA_MOST_LANES ? left : ARMILLA_MOST_LANES, panel->C + j * r,
                                            unit, others};
        double *w = panel->W + j * r;
        if (lane == 0) armilla_columns_solve(columns, &batch, workspace);
        for (int64_t k = 0; k < r; k++) d[k] = panel->C[j * r + k] / unit;
        if (armilla_column_value(columns, d, others + lane * r) < armilla_column_value(columns, d, w))
            memcpy(w, others + lane * r, (size_t)r * sizeof *w);
    }
}

/* From the previous code: descent, or the column solver, or in a polishing sweep the better of both. */
void armilla_fast_step_codes(void *self, const armilla_code_panel *panel)
{
    const armilla_fast *fast = self;
    const armilla_column_problem *columns = fast->columns;
    const double unit = armilla_column_unit(columns, fast->problem->l);
    const armilla_column_batch batch = {panel->count, panel->C, unit, panel->W};
    if (fast->atoms.cheap) {
        armilla_columns_solve(columns, &batch, panel->scratch);
        return;
    }
    armilla_columns_descend(columns, &batch, fast->atoms.steps, SETTLED_IN_LOOP, panel->scratch);
    if (fast->atoms.effort != ARMILLA_DESCEND) take_better_codes(fast, panel);
}

/* What the next iteration's codes are worth, by what fraction this one brought h down. */
static void plan_codes(armilla_fast *fast, double fall)
{
    const armilla_problem *p = fast->problem;
    armilla_polish *polish = &fast->atoms.polish;
    fast->atoms.steps = armilla_code_steps(fall);
    if (fast->atoms.effort != ARMILLA_DESCEND) armilla_polish_done(polish, p->trace->count, fall);
    const bool due =
        fast->atoms.cheap || (!fast->atoms.sure && !p->draft && armilla_polish_due(polish, p->trace->count, fall));
    fast->atoms.effort = !due ? ARMILLA_DESCEND : polish->thorough ? ARMILLA_CLOSELY : ARMILLA_ROUGHLY;
}

static armilla_status try_codes(armilla_fast *fast, double *h)
{
    return armilla_fast_sweep(fast, armilla_fast_step_codes, fast->atoms.effort, h);
}

static armilla_status iterate(armilla_fast *fast, bool *ended)
{
    const double before = fast->problem->objective;
    double h = 0;
    armilla_status status = armilla_fast_find_unused(fast);
    armilla_fast_descend_basis(fast);
    if (status == ARMILLA_OK) status = armilla_fast_revive(fast, fast->U_new);
    if (status != ARMILLA_OK) return status;
    const double beta = armilla_fast_beta(fast);
    const bool revived = fast->reviving > 0;
    armilla_fast_set_trial(fast, beta);
    status = try_codes(fast, &h);
    if (status == ARMILLA_OK && h < before) {
        armilla_momentum_accept(&fast->momentum);
    } else if (status == ARMILLA_OK && armilla_fast_retreat(fast, beta)) {
        if (revived) armilla_fast_descend_basis(fast); /* again, without the samples */
        armilla_fast_set_trial(fast, 0);
        status = try_codes(fast, &h);
    }
    if (status == ARMILLA_OK) status = h <= before ? armilla_fast_accept(fast, ended) : armilla_fast_stay(fast, ended);
    if (status == ARMILLA_OK) plan_codes(fast, before > 0 ? (before - fast->problem->objective) / before : 0);
    return status;
}

/* A basis that was fitted to a sketch is better than the first codes, Proj(U'X): codes that are worth a step of it. */
static armilla_status find_codes(armilla_fast *fast)
{
    double h = 0;
    fast->atoms.steps = ARMILLA_FIRST_CODE_STEPS;
    fast->atoms.effort = fast->atoms.sure || fast->atoms.suffices ? ARMILLA_DESCEND : ARMILLA_ROUGHLY;
    const armilla_status status = try_codes(fast, &h);
    if (status != ARMILLA_OK) return status;
    armilla_fast_swap_codes(fast);
    armilla_fast_keep(fast);
    fast->atoms.steps = armilla_code_steps(1);
    fast->atoms.effort = fast->atoms.cheap ? ARMILLA_ROUGHLY : ARMILLA_DESCEND;
    return ARMILLA_OK;
}

static armilla_status prepare(armilla_fast *fast, bool *ready)
{
    const armilla_problem *p = fast->problem;
    const bool wanted = p->screened || (p->options.codes->conic && !p->given && p->options.stop.max_iter > 0);
    *ready = true;
    return wanted && !armilla_call_over(p->context) ? find_codes(fast) : ARMILLA_OK;
}

static void open(armilla_fast *fast)
{
    const armilla_problem_options *o = &fast->problem->options;
    fast->atoms.passes = o->passes > 0 ? o->passes : 1;
    fast->atoms.cheap = o->codes->solves_cheaply(o->r, o->s);
    fast->atoms.sure = o->codes->descends;
    fast->atoms.suffices = o->trusting;
    armilla_polish_begin(&fast->atoms.polish, fast->atoms.suffices);
}

static void begin(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    const bool helped = !fast->atoms.sure && !fast->atoms.suffices && !p->screened && !p->draft;
    fast->atoms.effort = fast->atoms.cheap || helped ? ARMILLA_ROUGHLY : ARMILLA_DESCEND;
    fast->atoms.steps = armilla_code_steps(1);
    armilla_polish_begin(&fast->atoms.polish, fast->atoms.suffices);
}

static void step_sealed(armilla_fast *fast)
{
    armilla_fast_descend_basis(fast);
    armilla_fast_set_trial(fast, 0);
}

const armilla_fast_loop armilla_loop_atoms = {
    .list = list,
    .open = open,
    .begin = begin,
    .prepare = prepare,
    .iterate = iterate,
    .step_sealed = step_sealed,
};
