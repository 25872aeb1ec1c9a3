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
    s->kernels->nearest(r, panel->count, panel->C, s->offsets, factor, panel->assignments);
    for (int64_t j = 0; j < panel->count; j++) {
        const int64_t sample = panel->first + j, k = panel->assignments[j];
        const double distance = s->squared_norms[sample] + s->offsets[k] - factor * panel->C[j * r + k];
        s->distances[sample] = fmax(distance, 0);
        inertia += s->distances[sample];
    }
    panel->tally[ARMILLA_LLOYD_INERTIA] += inertia;
}

armilla_status armilla_lloyd_assign(armilla_lloyd *lloyd)
{
    const armilla_sweep_plan plan = {.U = lloyd->U_typed,
                                     .assignments = lloyd->assignments,
                                     .sums = true,
                                     .tally = ARMILLA_LLOYD_TALLY,
                                     .step = name_nearest,
                                     .self = lloyd};
    for (int64_t k = 0; k < lloyd->r; k++) lloyd->offsets[k] = lloyd->l * lloyd->l * lloyd->squares[k * lloyd->stride];
    return armilla_sweep_run(lloyd->sweep, &plan);
}

/* Centres first ... last-1. One that nobody names, or whose samples cancel, stays. */
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

armilla_status armilla_lloyd_step(armilla_lloyd *lloyd)
{
    armilla_team_share(armilla_sweep_team(lloyd->sweep), lloyd->r, move_centers, lloyd);
    const armilla_status status = lloyd->revive(lloyd->self);
    if (status != ARMILLA_OK) return status;
    lloyd->settle(lloyd->self);
    return armilla_lloyd_assign(lloyd);
}
