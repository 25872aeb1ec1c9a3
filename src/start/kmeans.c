/* kmeans++ (start/seeding.h): by cosine, or where codes have no length of their own by distance. */
#include "data/column.h"
#include "start/seeding.h"
#include "start/start.h"

/* The start decides most where alternation is Lloyd's iteration: the draws are greedy. */
static armilla_seeding plan_seeding(const armilla_problem *p, uint64_t seed, int64_t tries)
{
    const armilla_code_set *codes = p->options.codes;
    const bool assigns = armilla_pair_assigns(p->options.basis, codes, p->options.s);
    return (armilla_seeding){.context = p->context,
                             .X = p->X,
                             .work = p->options.type,
                             .squared_norms = p->squared_norms,
                             .angle = codes->spherical || codes->conic,
                             .candidates = assigns ? armilla_greedy_candidates(p->r) : 1,
                             .count = p->r,
                             .tries = tries,
                             .seed = seed,
                             .stream = ARMILLA_STREAM_SAMPLES};
}

/* Samples, by angle scaled to unit length. */
static armilla_status make_several(armilla_problem *problem, uint64_t seed, int64_t count, double *U)
{
    armilla_context *context = problem->context;
    armilla_seeding seeding = plan_seeding(problem, seed, count);
    const int64_t atoms = count * problem->r;
    int64_t *chosen = NULL;
    armilla_status status = armilla_take(context, atoms, sizeof *chosen, &chosen);
    if (status == ARMILLA_OK) status = armilla_seed_samples(&seeding, chosen);
    if (status == ARMILLA_OK)
        status = armilla_data_gather(context, problem->X, problem->options.type, atoms, chosen, U);
    for (int64_t k = 0; k < atoms && status == ARMILLA_OK && seeding.angle; k++)
        if (chosen[k] >= 0) (void)armilla_unit(problem->m, U + k * problem->m, U + k * problem->m);
    problem->extra_sweeps += seeding.passes;
    armilla_release(context, chosen);
    return status;
}

static armilla_status make(armilla_problem *problem, uint64_t seed, double *U)
{
    return make_several(problem, seed, 1, U);
}

const armilla_start armilla_start_kmeans = {
    .name = "kmeans++",
    .meaning = "samples far apart, drawn by kmeans++: in angle, or for one-hot codes in distance",
    .make = make,
    .make_several = make_several,
};
