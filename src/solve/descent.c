/* The next basis of atoms that move one by one: coordinate descent (HALS) over U on fixed sums A and G; and their codes,
 * by several steps in Gram space from the previous ones, or by the column solver. */
#include "solve/descent.h"

#include "linalg/code_kernels.h"

#include <string.h>

/* An atom that is hardly used has no curvature to divide by. */
#define HARDLY 1e-12

/* Codes are renewed in every sweep: the last digits can wait. */
#define SETTLED_IN_LOOP 1e-6

typedef struct descending {
    const armilla_code_kernels *kernels;
    armilla_basis_descent rows;
} descending;

static double least_use(const armilla_trial *trial)
{
    const int64_t r = trial->problem->r;
    double used = 0;
    for (int64_t k = 0; k < r; k++) used += trial->G[k * r + k];
    return HARDLY * used;
}

/* Entries depend on those of their row alone, so that rows go through all passes while they are in a cache. */
static void descend_rows(void *self, int64_t block, int64_t first, int64_t last)
{
    const descending *s = self;
    (void)block;
    s->kernels->descend_rows(&s->rows, first, last);
}

/* Atom by atom, where a set says something about all entries of one. */
static void descend_atoms(armilla_trial *trial)
{
    const armilla_problem *p = trial->problem;
    const int64_t m = p->m, r = p->r;
    const double least = least_use(trial);
    double *step = trial->column;
    for (int64_t k = 0; k < r; k++) {
        double *u = trial->U_new + k * m;
        const double own = trial->G[k * r + k];
        if (own <= least) continue;
        for (int64_t i = 0; i < m; i++) step[i] = trial->A[k * m + i] / trial->l;
        armilla_multiply(m, r, 1, -1, trial->U_new, trial->G + k * r, 1, step);
        for (int64_t i = 0; i < m; i++) u[i] += step[i] / own;
        if (!p->options.basis->atom(m, u)) memcpy(u, trial->U_kept + k * m, (size_t)m * sizeof *u);
    }
}

/* u_k <- the atom nearest to u_k + (a_k - Ug_k)/G_kk, its best with the others fixed, for all k. */
void armilla_descend_basis(armilla_trial *trial, int passes)
{
    const armilla_problem *p = trial->problem;
    armilla_copy_tall(p->algebra, trial->U_kept, trial->U_new);
    if (!p->options.basis->entrywise) {
        descend_atoms(trial);
        return;
    }
    descending s = {.kernels = armilla_code_kernels_for(p->context),
                    .rows = {.m = p->m,
                             .r = p->r,
                             .A = trial->A,
                             .G = trial->G,
                             .l = trial->l,
                             .least = least_use(trial),
                             .floor = p->options.basis->floor,
                             .passes = passes,
                             .U = trial->U_new}};
    armilla_by_rows(p->algebra, p->m, descend_rows, &s);
}

/* Codes by the column solver, where they are better than the panel's. */
static void take_better_codes(const armilla_trial *trial, const armilla_code_panel *panel)
{
    const armilla_column_problem *columns = trial->columns;
    const int64_t r = panel->r;
    const double unit = armilla_column_unit(columns, trial->problem->l);
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

void armilla_code_descent_step(void *self, const armilla_code_panel *panel)
{
    const armilla_code_descent *descent = self;
    const armilla_column_problem *columns = descent->trial->columns;
    const double unit = armilla_column_unit(columns, descent->trial->problem->l);
    const armilla_column_batch batch = {panel->count, panel->C, unit, panel->W};
    if (descent->cheap) {
        armilla_columns_solve(columns, &batch, panel->scratch);
        return;
    }
    armilla_columns_descend(columns, &batch, &(armilla_column_steps){descent->steps, SETTLED_IN_LOOP, descent->little},
                            panel->scratch);
    if (descent->effort != ARMILLA_DESCEND) take_better_codes(descent->trial, panel);
}

void armilla_code_descent_open(armilla_code_descent *descent, const armilla_trial *trial)
{
    const armilla_problem_options *o = &trial->problem->options;
    *descent = (armilla_code_descent){
        .trial = trial, .cheap = o->codes->solves_cheaply(o->r, o->s), .descends = o->codes->descends};
}
