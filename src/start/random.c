/* A random basis: normal entries where signs are free, uniform ones else. */
#include "start/start.h"

static armilla_status make(armilla_problem *problem, uint64_t seed, double *U)
{
    (void)problem;
    (void)seed;
    (void)U; /* every column that is left 0 is filled at random */
    return ARMILLA_OK;
}

const armilla_start armilla_start_random = {
    .name = "random",
    .meaning = "random atoms",
    .meaningless = true,
    .make = make,
};
