/* The next basis of atoms that move one by one: coordinate descent (HALS) over U on fixed sums A and G, and the trial that
 * goes ahead of it. */
#include "solve/fast.h"

#include <string.h>

/* An atom that is hardly used has no curvature to divide by. */
#define HARDLY 1e-12

typedef struct descending {
    const armilla_code_kernels *kernels;
    armilla_basis_descent rows;
} descending;

static double least_use(const armilla_fast *fast)
{
    const int64_t r = fast->problem->r;
    double used = 0;
    for (int64_t k = 0; k < r; k++) used += fast->G[k * r + k];
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
static void descend_atoms(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    const int64_t m = p->m, r = p->r;
    const double least = least_use(fast);
    double *step = fast->column;
    for (int64_t k = 0; k < r; k++) {
        double *u = fast->U_new + k * m;
        const double own = fast->G[k * r + k];
        if (own <= least) continue;
        for (int64_t i = 0; i < m; i++) step[i] = fast->A[k * m + i] / fast->l;
        armilla_multiply(m, r, 1, -1, fast->U_new, fast->G + k * r, 1, step);
        for (int64_t i = 0; i < m; i++) u[i] += step[i] / own;
        if (!p->options.basis->atom(m, u)) memcpy(u, fast->U_kept + k * m, (size_t)m * sizeof *u);
    }
}

/* u_k <- the atom nearest to u_k + (a_k - Ug_k)/G_kk, its best with the others fixed, for all k. */
void armilla_fast_descend_basis(armilla_fast *fast)
{
    const armilla_problem *p = fast->problem;
    armilla_copy_tall(p->algebra, fast->U_kept, fast->U_new);
    if (!p->options.basis->entrywise) {
        descend_atoms(fast);
        return;
    }
    descending s = {.kernels = armilla_code_kernels_for(p->context),
                    .rows = {.m = p->m,
                             .r = p->r,
                             .A = fast->A,
                             .G = fast->G,
                             .l = fast->l,
                             .least = least_use(fast),
                             .floor = p->options.basis->floor,
                             .passes = fast->atoms.passes,
                             .U = fast->U_new}};
    armilla_by_rows(p->algebra, p->m, descend_rows, &s);
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
