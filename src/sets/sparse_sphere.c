/* The paper's V3: ||v|| = l, at most s nonzeros. */
#include "sets/column.h"

static bool project(int64_t r, int64_t s, const double *q, double *w)
{
    armilla_keep_largest(r, s, false, q, w);
    return armilla_unit(r, w, w);
}

const armilla_code_set armilla_codes_sparse_sphere = {
    .name = "sparse-sphere",
    .alias = "v3",
    .meaning = "codes on a sphere of one radius with at most s nonzeros",
    .sparse = true,
    .whole = &armilla_codes_sphere,
    .spherical = true,
    .project = project,
    .solve = armilla_solve_sparse,
    .solves_cheaply = armilla_sparse_solves_cheaply,
};
