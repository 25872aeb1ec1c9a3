/* The paper's V2: v >= 0, ||v|| = l. Where q has no positive entry the best direction is the axis of its largest one
 * (the paper's case 3). */
#include "sets/sets.h"

#include <math.h>

static bool project(int64_t r, int64_t s, const double *q, double *w)
{
    int64_t best = 0;
    bool zero = true;
    (void)s;
    for (int64_t k = 0; k < r; k++) {
        if (q[k] > q[best]) best = k;
        if (q[k] != 0) zero = false;
        w[k] = fmax(q[k], 0);
    }
    if (zero) return false;
    if (q[best] > 0) return armilla_unit(r, w, w);
    w[best] = 1; /* the rest is 0 already */
    return true;
}

const armilla_code_set armilla_codes_nonneg_sphere = {
    .name = "nonneg-sphere",
    .alias = "v2",
    .meaning = "nonnegative codes on a sphere of one radius",
    .nonnegative = true,
    .project = project,
};
