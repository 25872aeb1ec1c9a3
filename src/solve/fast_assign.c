/* Codes that only name an atom (k-means, spherical k-means): Lloyd's iteration,
 *
 *     w_j = e_k, k the nearest atom      l = <C,W>/<H,G>      u_k = the set's nearest point to a_k/(l G_kk)
 *
 * with G diagonal. Every block has its closed form and nothing is added to them; a sweep keeps a name for each sample
 * instead of a code, adds each sample to one column of A, and notes on its way how well each is fitted, so that an atom
 * that nobody names is revived (ALGORITHM section 5) without another pass. */
#include "solve/fast.h"

#include "solve/nearest.h"

#include <math.h>
#include <string.h>

typedef struct assigning {
    armilla_fast *fast;
    armilla_nearest nearest;
    int32_t *names, *kept; /* of a trial, and of the accepted state; change places on acceptance */
    double *sizes;         /* r: how many samples name each atom of the accepted state */
    const double *A;       /* its sums */
    bool named;            /* a sweep with names has been made: distances are there */
    bool settled;          /* the step from the accepted state has been tried and brought nothing */
} assigning;

/* Atoms first ... last-1 of the next basis. One that nobody names, or whose samples cancel, stays. */
static void move_atoms(void *self, int64_t first, int64_t last)
{
    const assigning *a = self;
    const armilla_problem *p = a->fast->problem;
    const int64_t m = p->m;
    for (int64_t k = first; k < last; k++) {
        const double weight = a->fast->l * a->sizes[k];
        double *u = p->U_next + k * m;
        for (int64_t i = 0; i < m && weight > 0; i++) u[i] = a->A[k * m + i] / weight;
        if (a->settled || !(weight > 0) || !p->options.basis->atom(m, u))
            memcpy(u, p->U + k * m, (size_t)m * sizeof *u);
    }
}

/* Names for the problem's basis, then (A7); *h of that trial. */
static armilla_status try_names(assigning *a, double *h)
{
    armilla_fast *fast = a->fast;
    armilla_problem *p = fast->problem;
    const armilla_sweep_plan plan = {.U = p->U_typed,
                                     .names = a->names,
                                     .sums = true,
                                     .tally = ARMILLA_NEAREST_TALLY,
                                     .step = armilla_nearest_step,
                                     .self = &a->nearest};
    p->l = fast->l;
    a->nearest.factor = 2 * p->l;
    for (int64_t k = 0; k < p->r; k++) a->nearest.offsets[k] = p->l * p->l * p->H[k * p->r + k];
    memcpy(a->names, a->kept, (size_t)p->n * sizeof *a->names); /* the previous ones */
    const armilla_status status = armilla_sweep_run(p->sweep, &plan);
    if (status != ARMILLA_OK) return status;
    fast->dV = armilla_radius_step(p);
    *h = armilla_problem_objective(p);
    a->named = true;
    return ARMILLA_OK;
}

/* Atoms without samples, where it is time for them. The first look has codes instead of names. */
static armilla_status find_unused(assigning *a)
{
    if (!a->named) return armilla_fast_find_unused(a->fast);
    armilla_fast_choose_revived(a->fast);
    return ARMILLA_OK;
}

static void accept(assigning *a, double h)
{
    armilla_fast *fast = a->fast;
    if (h < fast->h)
        armilla_revival_moved(&fast->revival);
    else if (fast->reviving)
        armilla_fast_revive_failed(fast);
    const armilla_problem *p = fast->problem;
    int32_t *names = a->kept;
    a->kept = a->names;
    a->names = names;
    a->A = armilla_sweep_A(p->sweep);
    a->settled = false;
    memcpy(a->sizes, armilla_sweep_sizes(p->sweep), (size_t)p->r * sizeof *a->sizes);
    for (int64_t k = 0; k < p->r; k++) fast->G[k * p->r + k] = a->sizes[k];
    fast->h = h;
    fast->l = p->l;
}

static armilla_status iterate(assigning *a, bool *ended)
{
    armilla_fast *fast = a->fast;
    armilla_problem *p = fast->problem;
    double h = 0, dU = 0;
    armilla_status status = find_unused(a);
    if (status != ARMILLA_OK) return status;
    if (a->settled && !fast->reviving) return armilla_problem_repeat(p, ended);
    armilla_team_share(armilla_sweep_team(p->sweep), p->r, move_atoms, a);
    if ((status = armilla_fast_revive(fast, p->U_next)) != ARMILLA_OK) return status;
    memcpy(fast->U_kept, p->U, (size_t)(p->m * p->r) * sizeof(double));
    armilla_problem_set_atoms(p, p->U_next, &dU);
    if ((status = try_names(a, &h)) != ARMILLA_OK) return status;
    if (h <= fast->h) {
        accept(a, h);
        return armilla_problem_record(p, dU, fast->dV, ended);
    }
    memcpy(p->U_next, fast->U_kept, (size_t)(p->m * p->r) * sizeof(double));
    armilla_problem_set_atoms(p, p->U_next, NULL);
    p->l = fast->l;
    if (fast->reviving)
        armilla_fast_revive_failed(fast);
    else
        a->settled = true;
    return armilla_problem_repeat(p, ended);
}

static armilla_status take(assigning *a)
{
    const armilla_problem *p = a->fast->problem;
    armilla_status status = armilla_take(p->context, p->n, sizeof *a->names, &a->names);
    if (status == ARMILLA_OK) status = armilla_take(p->context, p->n, sizeof *a->kept, &a->kept);
    if (status == ARMILLA_OK) status = armilla_take(p->context, p->r, sizeof *a->sizes, &a->sizes);
    if (status == ARMILLA_OK) status = armilla_take(p->context, p->r, sizeof *a->nearest.offsets, &a->nearest.offsets);
    return status;
}

/* The names that the start's codes are, and the sizes that go with them. */
static void read_codes(assigning *a)
{
    const armilla_fast *fast = a->fast;
    const armilla_problem *p = fast->problem;
    const size_t size = armilla_type_size(p->options.type);
    double w = 0;
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t k = 0; k < p->r; k++) {
            armilla_fetch(p->options.type, 1, (const char *)p->W + (size_t)(j * p->r + k) * size, &w);
            if (w != 0) a->kept[j] = (int32_t)k;
        }
    for (int64_t k = 0; k < p->r; k++) a->sizes[k] = fast->G[k * p->r + k];
    a->A = fast->A;
}

/* The codes that the names stand for, for what comes after the loop. */
static void write_codes(const assigning *a)
{
    const armilla_problem *p = a->fast->problem;
    const size_t size = armilla_type_size(p->options.type);
    const double one = 1;
    memset(p->W, 0, (size_t)(p->r * p->n) * size);
    for (int64_t j = 0; j < p->n; j++)
        armilla_store(p->options.type, 1, &one, (char *)p->W + (size_t)(j * p->r + a->kept[j]) * size);
}

static armilla_status run(armilla_fast *fast)
{
    armilla_problem *p = fast->problem;
    assigning a = {.fast = fast,
                   .nearest = {.kernels = armilla_code_kernels_for(p->context),
                               .squared_norms = p->squared_norms,
                               .distances = fast->misfit}};
    bool ended = false;
    armilla_status status = take(&a);
    if (status == ARMILLA_OK) {
        read_codes(&a);
        status = armilla_problem_record(p, 0, 0, &ended);
    }
    while (status == ARMILLA_OK && !ended) status = iterate(&a, &ended);
    if (a.named) write_codes(&a); /* of the accepted state, also where a trial was abandoned */
    armilla_release(p->context, a.nearest.offsets);
    armilla_release(p->context, a.sizes);
    armilla_release(p->context, a.kept);
    armilla_release(p->context, a.names);
    return status;
}

const armilla_fast_loop armilla_loop_assign = {.run = run};
