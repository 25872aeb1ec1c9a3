/* Sketches: drawing the samples, and the problem on them. */
#include "model/sketch.h"

#include "data/slots.h"
#include "solve/policy.h"

#include <stdlib.h>

static int rising(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Samples without a direction are drawn last: they say nothing about a start. */
static armilla_status draw(armilla_sketch *sketch, const armilla_data *X, armilla_problem *problem, int64_t samples,
                           uint64_t seed)
{
    int64_t *order = NULL;
    armilla_status status = armilla_take(sketch->context, samples, sizeof *order, &order);
    if (status == ARMILLA_OK) status = armilla_draw_samples(problem, seed, samples, order);
    if (status == ARMILLA_OK) {
        const armilla_kept features = {NULL, X->m, X->m}, drawn = {order, samples, X->n};
        qsort(order, (size_t)samples, sizeof *order, rising);
        status = armilla_data_copy(sketch->context, X, &features, &drawn, &sketch->columns);
    }
    armilla_release(sketch->context, order);
    return status;
}

static armilla_problem_options options_of(const armilla_problem *problem, const armilla_sketch_plan *plan)
{
    armilla_problem_options options = problem->options;
    options.stop.max_iter = plan->iterations;
    options.stop.tol = ARMILLA_SKETCH_TOL;
    options.stop.automatic = options.stop.eases = false;
    options.callback = NULL; /* what happens here is not an iteration of the fit; it can be interrupted all the same */
    return options;
}

armilla_status armilla_sketch_make(const armilla_model *model, const armilla_data *X, armilla_problem *problem,
                                   const armilla_sketch_plan *plan, uint64_t seed, armilla_sketch *sketch)
{
    const int64_t samples = plan->samples;
    armilla_problem_options options = options_of(problem, plan);
    armilla_data_facts facts = {.squared_norm = 0};
    sketch->context = problem->context;
    armilla_status status = draw(sketch, X, problem, samples, seed);
    if (status == ARMILLA_OK)
        status = armilla_preparation_view(sketch->context, &model->preparation, sketch->columns, &sketch->prepared);
    const armilla_data *fitted = sketch->prepared ? sketch->prepared : sketch->columns;
    if (status != ARMILLA_OK) return status;
    const armilla_samples share = armilla_data_share(sketch->context, fitted);
    status = armilla_samples_take(sketch->context, &share, 1, sizeof(double), &sketch->squared_norms);
    if (status == ARMILLA_OK)
        status = armilla_survey(sketch->context, fitted, options.type, &facts, sketch->squared_norms);
    if (status != ARMILLA_OK) return status;
    options.stop.noise = armilla_epsilon(options.type) * facts.squared_norm;
    return armilla_problem_new(sketch->context, fitted, &options, facts.squared_norm, sketch->squared_norms,
                               &sketch->problem);
}

void armilla_sketch_free(armilla_sketch *sketch)
{
    armilla_problem_free(sketch->problem);
    armilla_data_free(sketch->prepared);
    armilla_data_free(sketch->columns);
    if (sketch->context) armilla_release(sketch->context, sketch->squared_norms);
}
