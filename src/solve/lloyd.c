/* One step of Lloyd's iteration. */
#include "solve/lloyd.h"

#include <math.h>
#include <string.h>

/* ||x - lu_k||^2 = ||x||^2 + l^2||u_k||^2 - 2l u_k'x */
static void name_nearest(void *self, const armilla_code_panel *panel)
{
    const armilla_lloyd *s = self;
    const int64_t r = panel->r;
    const double factor = 2 * s->l;
    double inertia = 0;
    s->kernels->nearest(r, panel->count, panel->C, r, s->offsets, factor, panel->assignments);
    for (int64_t j = 0; j < panel->count; j++) {
        const int64_t sample = panel->first + j, k = panel->assignments[j];
        const double distance = s->squared_norms[sample] + s->offsets[k] - factor * panel->C[j * r + k];
        s->distances[sample] = fmax(distance, 0);
        inertia += s->distances[sample];
    }
    panel->tally[ARMILLA_LLOYD_INERTIA] += inertia;
}

/* With bounds: what is known of the distances then is their sum. */
static void name_bounded(void *self, const armilla_assigning *a)
{
    const armilla_lloyd *s = self;
    double squares = 0;
    armilla_bounds_assign(s->bounds, a);
    for (int64_t j = 0; j < a->strip->count; j++) squares += s->squared_norms[a->strip->first + j];
    a->tally[ARMILLA_LLOYD_INERTIA] += squares;
}

/* sum_j ||x_j||^2 + sum_k n_k ||l u_k||^2 - 2l <X,UW> */
static double inertia_of(const armilla_lloyd *s)
{
    const double *sizes = armilla_sweep_sizes(s->sweep);
    double inertia = armilla_sweep_tally(s->sweep)[ARMILLA_LLOYD_INERTIA];
    for (int64_t k = 0; k < s->r; k++) inertia += sizes[k] * s->offsets[k];
    return fmax(inertia - 2 * s->l * armilla_sweep_cross(s->sweep), 0);
}

static void set_offsets(const armilla_lloyd *s)
{
    for (int64_t k = 0; k < s->r; k++) s->offsets[k] = s->l * s->l * s->squares[k * s->stride];
}

static armilla_status assign_bounded(armilla_lloyd *lloyd)
{
    const bool changes = lloyd->age > 0 && armilla_sweep_adds_changes(lloyd->sweep);
    const armilla_sweep_plan plan = {.U = lloyd->U_typed,
                                     .assignments = lloyd->assignments,
                                     .sums = true,
                                     .A_before = changes ? lloyd->A : NULL,
                                     .basis = lloyd->U,
                                     .tally = ARMILLA_LLOYD_TALLY,
                                     .assign = name_bounded,
                                     .self = lloyd};
    const armilla_bound_centers centers = {lloyd->U, lloyd->U_typed, lloyd->offsets, lloyd->l};
    armilla_bounds_move(lloyd->bounds, armilla_sweep_team(lloyd->sweep), &centers);
    const armilla_status status = armilla_sweep_run(lloyd->sweep, &plan);
    armilla_bounds_ran(lloyd->bounds, status == ARMILLA_OK);
    if (status == ARMILLA_OK) lloyd->inertia = inertia_of(lloyd);
    return status;
}

armilla_status armilla_lloyd_assign(armilla_lloyd *lloyd)
{
    const armilla_sweep_plan plan = {.U = lloyd->U_typed,
                                     .assignments = lloyd->assignments,
                                     .sums = true,
                                     .portion = lloyd->portion,
                                     .tally = ARMILLA_LLOYD_TALLY,
                                     .step = name_nearest,
                                     .self = lloyd};
    set_offsets(lloyd);
    if (lloyd->bounds && !lloyd->portion) return assign_bounded(lloyd);
    const armilla_status status = armilla_sweep_run(lloyd->sweep, &plan);
    if (status == ARMILLA_OK) lloyd->inertia = armilla_sweep_tally(lloyd->sweep)[ARMILLA_LLOYD_INERTIA];
    return status;
}

/* The product of a column with its own centre alone, where the basis lies as m x r. */
static void measure_own(void *self, const armilla_assigning *a)
{
    const armilla_lloyd *s = self;
    const armilla_panel *strip = a->strip;
    const bool packed = strip->data->ops->layout != NULL;
    const size_t bytes = (size_t)s->m * armilla_type_size(strip->kernels->type);
    if (packed) strip->data->ops->products(strip, s->r, a->U, a->C);
    for (int64_t j = 0; j < strip->count; j++) {
        const int64_t k = a->assignments[j], sample = strip->first + j;
        double *c = packed ? a->C + j * s->r + k : a->C;
        if (!packed) {
            const armilla_panel one = armilla_panel_cut(strip, j, 1);
            const armilla_columns x = {
                .values = one.columns, .m = s->m, .count = 1, .stride = one.stride, .ahead = one.columns};
            armilla_multiply_some(strip, &x, 1, (const char *)a->atoms + (size_t)k * bytes, c);
        }
        s->distances[sample] = fmax(s->squared_norms[sample] + s->offsets[k] - 2 * s->l * *c, 0);
    }
}

armilla_status armilla_lloyd_measure(armilla_lloyd *lloyd)
{
    const armilla_sweep_plan plan = {
        .U = lloyd->U_typed, .assignments = lloyd->assignments, .assign = measure_own, .self = lloyd};
    set_offsets(lloyd);
    return armilla_sweep_run(lloyd->sweep, &plan);
}

/* Centres first ... last-1. One without samples, or whose samples cancel, stays. */
static void move_centers(void *self, int64_t first, int64_t last)
{
    const armilla_lloyd *s = self;
    const int64_t m = s->m;
    for (int64_t k = first; k < last; k++) {
        const double weight = s->l * s->sizes[k * s->stride];
        const bool assigned = !s->stays && weight > 0;
        double *u = s->U_next + k * m;
        for (int64_t i = 0; i < m && assigned; i++) u[i] = s->A[k * m + i] / weight;
        if (!assigned || !s->atom(m, u)) memcpy(u, s->U + k * m, (size_t)m * sizeof *u);
    }
}

void armilla_lloyd_move(armilla_lloyd *lloyd)
{
    armilla_team_share(armilla_sweep_team(lloyd->sweep), lloyd->r, move_centers, lloyd);
}

armilla_status armilla_lloyd_step(armilla_lloyd *lloyd)
{
    armilla_lloyd_move(lloyd);
    const armilla_status status = lloyd->revive(lloyd->self);
    if (status != ARMILLA_OK) return status;
    lloyd->settle(lloyd->self);
    return armilla_lloyd_assign(lloyd);
}
