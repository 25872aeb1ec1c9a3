/* A sketch: the problem of a fit on a small sample of its data, prepared as all of them are. */
#ifndef ARMILLA_MODEL_SKETCH_H
#define ARMILLA_MODEL_SKETCH_H

#include "model/model.h"
#include "solve/policy.h"
#include "start/start.h"

typedef struct armilla_sketch {
    armilla_context *context;
    armilla_data *columns;  /* the samples drawn, as they are given */
    armilla_data *prepared; /* NULL where nothing is prepared */
    double *squared_norms;
    armilla_problem *problem;
} armilla_sketch;

/* Draws the plan's samples of X for the problem, whose data are X prepared by the model. Same seed, same samples. An
 * all-zero sketch may be freed. */
armilla_status armilla_sketch_make(const armilla_model *model, const armilla_data *X, armilla_problem *problem,
                                   const armilla_sketch_plan *plan, uint64_t seed, armilla_sketch *sketch);
void armilla_sketch_free(armilla_sketch *sketch);

#endif
