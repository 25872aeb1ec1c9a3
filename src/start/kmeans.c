/* kmeans++ (start/seeding.h): by cosine, or where codes have no length of their own by distance. */
#include "data/column.h"
#include "start/seeding.h"
#include "start/start.h"

/* The start decides most where alternation is Lloyd's iteration: the draws are greedy. */
static armilla_seeding plan_seeding(const armilla_problem *p, uint64_t seed)
{
    const armilla_code_set *codes = p->options.codes;
    return (armilla_seeding){.context = p->context,
                             .X = p->X,
                             .work = p->options.type,
                             .squared_norms = p->squared_norms,
                             .angle = codes->spherical || codes->conic,
                             .greedy = armilla_pair_assigns(p->options.basis, codes, p->options.s),
                             .count = p->r,
                             .tries = 1,
                             .seed = seed,
                             .stream = ARMILLA_STREAM_SAMPLES};
}

/* Samples, by angle scaled to unit length. */
static armilla_status make(armilla_problem *problem, uint64_t seed, double *U)
{
    armilla_context *context = problem->context;
    armilla_seeding seeding = plan_seeding(problem, seed);
    int64_t *chosen = NULL;
    armilla_status status = armilla_take(context, problem->r, sizeof *chosen, &chosen);
    if (status == ARMILLA_OK) status = armilla_seed_samples(&seeding, chosen);
    if (status == ARMILLA_OK)
        status = armilla_data_gather(context, problem->X, problem->options.type, problem->r, chosen, U);
    for (int64_t k = 0; k < problem->r && status == ARMILLA_OK && seeding.angle; k++)
        if (chosen[k] >= 0) (void)armilla_unit(problem->m, U + k * problem->m, U + k * problem->m);
    problem->extra_sweeps += seeding.passes;
    armilla_release(context, chosen);
    return status;
}

const armilla_start armilla_start_kmeans = {
    .name = "kmeans++",
    .meaning = "samples far apart, drawn by kmeans++: in angle, or for one-hot codes in distance",
    .make = make,
};
