/* Revival (docs/algorithm.md#unused-atoms): an atom that no code uses (G_kk = 0) is moved to the sample that is fitted
 * worst. No code sees it, so h stays; the next codes may use it, so h can fall where it could not before. */
#include "solve/trial.h"

#include <math.h>
#include <string.h>

/* ||x - lUw||^2 = ||x||^2 - 2l c'w + l^2 w'Hw */
static void measure_misfit(void *self, const armilla_code_panel *panel)
{
    const armilla_trial *trial = self;
    const armilla_problem *p = trial->problem;
    const int64_t r = panel->r;
    const double l = trial->l;
    for (int64_t j = 0; j < panel->count; j++) {
        const double *w = panel->W + j * r;
        double product_square = 0;
        for (int64_t k = 0; k < r; k++) product_square += w[k] * armilla_dot(r, p->H + k * r, w);
        trial->residuals[panel->first + j] =
            p->squared_norms[panel->first + j] - 2 * l * armilla_dot(r, panel->C + j * r, w) + l * l * product_square;
    }
}

/* An atom that a sample can take the place of: a set with one atom per row gives every atom a row by its own step. */
static bool has_unused(const armilla_trial *trial)
{
    const int64_t r = trial->problem->r;
    if (trial->problem->options.basis->one_atom_per_row) return false;
    for (int64_t k = 0; k < r; k++)
        if (trial->G[k * r + k] == 0) return true;
    return false;
}

bool armilla_trial_revival_due(const armilla_trial *trial)
{
    const bool candidates = trial->revival.passed < trial->problem->n;
    return candidates && armilla_revival_due(&trial->revival, trial->problem->trace->count) && has_unused(trial);
}

armilla_status armilla_trial_choose_revived(armilla_trial *trial, double *residuals)
{
    const armilla_problem *p = trial->problem;
    const armilla_misfit misfit = {.context = p->context, .share = p->share, .squares = residuals};
    armilla_status status = ARMILLA_OK;
    int64_t count = 0, none = 0;
    trial->reviving = 0;
    if (!armilla_trial_revival_due(trial)) return ARMILLA_OK;
    armilla_revival_done(&trial->revival, p->trace->count);
    for (int64_t passed = 0; passed < trial->revival.passed && status == ARMILLA_OK; passed++)
        status = armilla_misfit_take(&misfit, &none);
    if (status == ARMILLA_OK) status = armilla_misfit_share(&misfit, p->r, trial->G, p->r + 1, trial->revived, &count);
    if (status != ARMILLA_OK) return status;
    trial->reviving = count;
    if (count == 0) armilla_revival_failed(&trial->revival, p->n); /* all have been tried */
    return ARMILLA_OK;
}

armilla_status armilla_trial_find_unused(armilla_trial *trial)
{
    armilla_problem *p = trial->problem;
    const armilla_sweep_plan plan = {.U = p->U_typed, .previous = p->W, .step = measure_misfit, .self = trial};
    const armilla_status status = armilla_trial_revival_due(trial) ? armilla_sweep_run(p->sweep, &plan) : ARMILLA_OK;
    return status == ARMILLA_OK ? armilla_trial_choose_revived(trial, trial->residuals) : status;
}

void armilla_trial_revive_failed(armilla_trial *trial)
{
    armilla_revival_failed(&trial->revival, trial->reviving);
    trial->reviving = 0;
}

/* u = what is orthogonal to the other atoms, of unit length; false, with u untouched, where nothing is left. */
static bool orthogonalise(const armilla_problem *p, int64_t k, double *x, double *U)
{
    const double before = armilla_norm(p->m, x);
    for (int pass = 0; pass < 2; pass++) /* the second takes off what rounding left of the first */
        for (int64_t other = 0; other < p->r; other++) {
            const double *u = U + other * p->m;
            if (other == k) continue;
            const double along = armilla_dot(p->m, u, x);
            for (int64_t i = 0; i < p->m; i++) x[i] -= along * u[i];
        }
    const double after = armilla_norm(p->m, x);
    if (!(after > 1e-6 * before)) return false;
    for (int64_t i = 0; i < p->m; i++) U[k * p->m + i] = x[i] / after;
    return true;
}

/* l*u = the sample, or what the set can have of it; where that is nothing, the atom stays. */
static bool take_sample(const armilla_trial *trial, int64_t k, double *x, double *U)
{
    const int64_t m = trial->problem->m;
    const double l = trial->problem->options.basis->scalable ? trial->l : 1;
    bool any = false;
    if (!trial->problem->options.basis->atom(m, x)) return false;
    for (int64_t i = 0; i < m && !any; i++) any = x[i] != 0;
    for (int64_t i = 0; i < m && any; i++) U[k * m + i] = x[i] / l;
    return any;
}

armilla_status armilla_trial_revive(armilla_trial *trial, double *U)
{
    const armilla_problem *p = trial->problem;
    armilla_status status = ARMILLA_OK;
    bool any = false;
    for (int64_t k = 0; trial->reviving && k < p->r && status == ARMILLA_OK; k++) {
        if (trial->revived[k] < 0) continue;
        status = armilla_data_column(p->context, p->X, p->options.type, trial->revived[k], trial->column);
        if (status != ARMILLA_OK) break;
        any |= p->options.basis->atom ? take_sample(trial, k, trial->column, U) : orthogonalise(p, k, trial->column, U);
    }
    if (!any && status == ARMILLA_OK) armilla_trial_revive_failed(trial);
    return status;
}
