/* The next basis of atoms that move one by one: coordinate descent (HALS) over U on fixed sums A and G, and the trial that
 * goes ahead of it. */
#include "solve/fast.h"

#include <string.h>

/* Rows of U that are moved together: sums of one atom fit into registers, and the rows of all atoms into a cache. */
enum { STRIP = 16 };

/* An atom that is hardly used has no curvature to divide by. */
#define HARDLY 1e-12

typedef struct descending {
    const armilla_fast *fast;
    double least; /* of G_kk, for an atom to move */
    int passes;
} descending;

static double least_use(const armilla_fast *fast)
{
    const int64_t r = fast->problem->r;
    double used = 0;
    for (int64_t k = 0; k < r; k++) used += fast->G[k * r + k];
    return HARDLY * used;
}

/* Entries first ... first+count-1 of atom k: u + (a_k - Ug_k)/G_kk, A and G of V = lW, both divided by l. */
static inline void move_entries(const descending *s, int64_t k, int64_t first, int64_t count)
{
    const armilla_fast *fast = s->fast;
    const int64_t m = fast->problem->m, r = fast->problem->r;
    const double *g = fast->G + k * r, *a = fast->A + k * m + first, *U = fast->U_new + first;
    const double floor = fast->problem->options.basis->floor;
    double sum[STRIP], *u = fast->U_new + k * m + first;
    for (int64_t i = 0; i < count; i++) sum[i] = a[i] / fast->l;
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = 0; i < count; i++) sum[i] -= U[j * m + i] * g[j];
    for (int64_t i = 0; i < count; i++) {
        const double moved = u[i] + sum[i] / g[k];
        u[i] = moved > floor ? moved : floor; /* fmax is a call */
    }
}

/* Entries depend on those of their row alone, so that rows go through all passes while they are in a cache. */
static void descend_rows(void *self, int64_t block, int64_t first, int64_t last)
{
    const descending *s = self;
    const int64_t r = s->fast->problem->r;
    (void)block;
    for (int64_t i = first; i < last; i += STRIP)
        for (int pass = 0; pass < s->passes; pass++)
            for (int64_t k = 0; k < r; k++) {
                if (s->fast->G[k * r + k] <= s->least) continue;
                if (last - i >= STRIP)
                    move_entries(s, k, i, STRIP);
                else
                    move_entries(s, k, i, last - i);
            }
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
    descending s = {fast, least_use(fast), fast->atoms.passes};
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
