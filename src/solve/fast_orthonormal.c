/* Orthonormal basis: ||UW||^2 = n is constant, so every block has a closed form (A8):
 *
 *     W = Proj(U'X)      l = <C,W>/n      U = polar(XW')
 *
 * and guarded momentum makes the alternation faster: U = polar(A_k + beta(A_k - A_{k-1})), where beta grows while the
 * next sweep shows that h fell; if not, that sweep is thrown away and the plain step is made. Codes without a sphere
 * have closed forms too, and an orthonormal basis of nonnegative entries its own step in place of the polar factor. */
#include "solve/fast.h"

#include <string.h>

static void list(armilla_fast *fast, armilla_state_list *items)
{
    const armilla_problem *p = fast->problem;
    armilla_state_array(items, "A_back", ARMILLA_STATE_F64, p->m, p->r, &fast->orthonormal.A_back);
    armilla_fast_continue_list(fast, items);
}

/* A + beta*(A - A_back), which is made where other loops have their new basis */
typedef struct leap {
    const armilla_fast *fast;
    double beta;
} leap;

static void leap_rows(void *self, int64_t block, int64_t first, int64_t last)
{
    const leap *l = self;
    const int64_t m = l->fast->problem->m;
    (void)block;
    for (int64_t k = 0; k < l->fast->problem->r; k++) {
        const double *A = l->fast->A + k * m, *back = l->fast->orthonormal.A_back + k * m;
        double *ahead = l->fast->U_new + k * m;
        for (int64_t i = first; i < last; i++) ahead[i] = A[i] + l->beta * (A[i] - back[i]);
    }
}

/* U = polar(A + beta*(A - A_back)), or the set's own step */
static armilla_status basis_step(armilla_fast *fast, double beta)
{
    armilla_problem *p = fast->problem;
    leap l = {fast, beta};
    armilla_by_rows(p->algebra, p->m, leap_rows, &l);
    armilla_status status = p->options.basis->exact(p->algebra, p->m, p->r, fast->U_new, fast->G, p->U_next);
    if (status == ARMILLA_OK) status = armilla_fast_revive(fast, p->U_next);
    if (status == ARMILLA_OK) armilla_problem_set_basis(p, p->U_next, NULL);
    return status;
}

static armilla_status try_step(armilla_fast *fast, double beta, double *h)
{
    const armilla_status status = basis_step(fast, beta); /* (A4) */
    /* W = Proj(U'X), l = <C,W>/n (A8) */
    return status == ARMILLA_OK ? armilla_fast_sweep(fast, armilla_fast_solve_codes, ARMILLA_DESCEND, h) : status;
}

static void begin(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    memcpy(fast->orthonormal.A_back, fast->A, (size_t)(p->m * p->r) * sizeof(double));
}

static armilla_status iterate(armilla_fast *fast, bool *ended)
{
    double h = 0;
    armilla_status status = armilla_fast_find_unused(fast);
    const double beta = armilla_fast_beta(fast), before = fast->problem->objective;
    if (status == ARMILLA_OK) status = try_step(fast, beta, &h);
    if (status != ARMILLA_OK) return status;
    if (h < before)
        armilla_momentum_accept(&fast->momentum);
    else if (armilla_fast_retreat(fast, beta))
        status = try_step(fast, 0, &h);
    if (status != ARMILLA_OK) return status;
    return h <= before ? armilla_fast_accept(fast, ended) : armilla_fast_stay(fast, ended);
}

const armilla_fast_loop armilla_loop_orthonormal = {
    .list = list,
    .begin = begin,
    .prepare = armilla_fast_continue, /* sparsity falls to its value */
    .iterate = iterate,
};
