/* The nearest atom of each sample of a panel. */
#include "solve/nearest.h"

#include <math.h>

void armilla_nearest_step(void *self, const armilla_code_panel *panel)
{
    const armilla_nearest *s = self;
    const int64_t r = panel->r;
    double inertia = 0;
    s->kernels->nearest(r, panel->count, panel->C, s->offsets, s->factor, panel->names);
    for (int64_t j = 0; j < panel->count; j++) {
        const int64_t sample = panel->first + j, k = panel->names[j];
        const double distance = s->squared_norms[sample] + s->offsets[k] - s->factor * panel->C[j * r + k];
        s->distances[sample] = fmax(distance, 0);
        inertia += s->distances[sample];
    }
    panel->tally[ARMILLA_NEAREST_INERTIA] += inertia;
}
