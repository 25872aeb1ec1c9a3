/* The paper's V4: v >= 0, ||v|| = l, at most s nonzeros. The best code for a q without a positive entry is an axis,
 * which is sparse enough for any s, so that case is the one of V2. */
#include "sets/column.h"

static bool has_positive(int64_t r, const double *q)
{
    for (int64_t k = 0; k < r; k++)
        if (q[k] > 0) return true;
    return false;
}

static bool project(int64_t r, int64_t s, const double *q, double *w)
{
    if (!has_positive(r, q)) return armilla_codes_nonneg_sphere.project(r, s, q, w);
    armilla_keep_largest(r, s, true, q, w);
    return armilla_unit(r, w, w);
}

const armilla_code_set armilla_codes_nonneg_sparse_sphere = {
    .name = "nonneg-sparse-sphere",
    .alias = "v4",
    .meaning = "nonnegative codes on a sphere of one radius with at most s nonzeros",
    .sparse = true,
    .whole = &armilla_codes_nonneg_sphere,
    .nonnegative = true,
    .spherical = true,
    .project = project,
    .solve = armilla_solve_sparse,
    .solves_cheaply = armilla_sparse_solves_cheaply,
};
