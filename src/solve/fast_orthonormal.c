/* Orthonormal basis: ||UW||^2 = n is constant, so every block has a closed form (A8):
 *
 *     W = Proj(U'X)      l = <C,W>/n      U = polar(XW')
 *
 * and guarded momentum makes the alternation faster: U = polar(A_k + beta(A_k - A_{k-1})), where beta grows while the
 * next sweep shows that h fell; if not, that sweep is thrown away and the plain step is made. Codes without a sphere
 * have closed forms too, and an orthonormal basis of nonnegative entries its own step in place of the polar factor. */
#include "solve/continuation.h"

#include <string.h>

typedef struct alternation {
    armilla_trial trial;
    double *A_back; /* A of the accepted state before this one */
    armilla_continuation continuation;
} alternation;

static alternation *own(armilla_trial *trial)
{
    return (alternation *)trial;
}

static void list(armilla_trial *trial, armilla_state_list *items)
{
    const armilla_problem *p = trial->problem;
    armilla_state_array(items, "A_back", ARMILLA_STATE_F64, p->m, p->r, &own(trial)->A_back);
    armilla_continuation_list(&own(trial)->continuation, p, items);
}

static const double *accepted(const armilla_trial *trial)
{
    const armilla_continuation *c = &((const alternation *)trial)->continuation;
    return c->sweep > 0 ? c->U_start : trial->problem->U;
}

/* A + beta*(A - A_back), which is made where other loops have their new basis */
typedef struct leap {
    const alternation *loop;
    double beta;
} leap;

static void leap_rows(void *self, int64_t block, int64_t first, int64_t last)
{
    const leap *l = self;
    const armilla_trial *trial = &l->loop->trial;
    const int64_t m = trial->problem->m;
    (void)block;
    for (int64_t k = 0; k < trial->problem->r; k++) {
        const double *A = trial->A + k * m, *back = l->loop->A_back + k * m;
        double *ahead = trial->U_new + k * m;
        for (int64_t i = first; i < last; i++) ahead[i] = A[i] + l->beta * (A[i] - back[i]);
    }
}

/* U = polar(A + beta*(A - A_back)), or the set's own step */
static armilla_status basis_step(armilla_trial *trial, double beta)
{
    armilla_problem *p = trial->problem;
    leap l = {own(trial), beta};
    armilla_by_rows(p->algebra, p->m, leap_rows, &l);
    armilla_status status = p->options.basis->exact(p->algebra, p->m, p->r, trial->U_new, trial->G, p->U_next);
    if (status == ARMILLA_OK) status = armilla_trial_revive(trial, p->U_next);
    if (status == ARMILLA_OK) armilla_problem_set_basis(p, p->U_next, NULL);
    return status;
}

static armilla_status try_step(armilla_trial *trial, double beta, double *h)
{
    const armilla_status status = basis_step(trial, beta); /* (A4) */
    /* W = Proj(U'X), l = <C,W>/n (A8) */
    return status == ARMILLA_OK ? armilla_trial_sweep_projected(trial, h) : status;
}

/* There is no step before the first. */
static void forget_back(armilla_trial *trial)
{
    const armilla_problem *p = trial->problem;
    memcpy(own(trial)->A_back, trial->A, (size_t)(p->m * p->r) * sizeof(double));
}

/* Sparsity falls to its value. */
static armilla_status prepare(armilla_trial *trial, bool *ready)
{
    const armilla_status status = armilla_continuation_step(&own(trial)->continuation, trial, ready);
    if (status == ARMILLA_OK && *ready) forget_back(trial);
    return status;
}

static armilla_status accept(armilla_trial *trial, bool *ended)
{
    double *A = own(trial)->A_back;
    own(trial)->A_back = trial->A;
    trial->A = A;
    return armilla_trial_accept(trial, ended);
}

static armilla_status iterate(armilla_trial *trial, bool *ended)
{
    double h = 0;
    armilla_status status = armilla_trial_find_unused(trial);
    const double beta = armilla_trial_beta(trial), before = trial->problem->objective;
    if (status == ARMILLA_OK) status = try_step(trial, beta, &h);
    if (status != ARMILLA_OK) return status;
    if (h < before)
        armilla_momentum_accept(&trial->momentum);
    else if (armilla_trial_retreat(trial, beta))
        status = try_step(trial, 0, &h);
    if (status != ARMILLA_OK) return status;
    return h <= before ? accept(trial, ended) : armilla_trial_stay(trial, ended);
}

const armilla_loop armilla_loop_orthonormal = {
    .bytes = sizeof(alternation),
    .momentum = true,
    .list = list,
    .begin = forget_back,
    .prepare = prepare,
    .iterate = iterate,
    .sweep_sealed = armilla_trial_sweep_numbers,
    .accepted = accepted,
};
