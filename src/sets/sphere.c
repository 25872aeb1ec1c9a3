/* The paper's V1: ||v|| = l. */
#include "sets/sets.h"

static bool project(int64_t r, int64_t s, const double *q, double *w)
{
    (void)s;
    return armilla_unit(r, q, w);
}

const armilla_code_set armilla_codes_sphere = {
    .name = "sphere",
    .alias = "v1",
    .meaning = "codes on a sphere of one radius",
    .project = project,
};
