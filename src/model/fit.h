/* A fit under way, from data and options to a model. */
#ifndef ARMILLA_MODEL_FIT_H
#define ARMILLA_MODEL_FIT_H

#include "model/sketch.h"

typedef struct armilla_fit_state {
    armilla_context *context;
    const armilla_data *X; /* as given */
    armilla_view view;     /* as fitted */
    const armilla_options *options;
    armilla_resolved resolved;
    int threads;
    double clock_start;
    armilla_data_facts facts;
    double *squared_norms;
    const armilla_start *start; /* NULL where it is given */
    const armilla_start *used;  /* by the round under way */
    int64_t rounds;             /* starts that are fitted to all data */
    int64_t candidate_count;
    armilla_candidate *candidates; /* the starts, best first, where they were screened; else NULL */
    armilla_problem *problem;
    armilla_model *model;
    double *given; /* the basis of a given model, m x r */
    struct {
        double *U;
        void *W;
        double l, objective;
        armilla_trace *trace;
        armilla_stop stop;
        bool sealed;
    } best; /* of several starts; U is NULL where there is only one */
} armilla_fit_state;

/* The model from the state that was reached: factors, trace and summary, by one more pass that tells the objective. */
armilla_status armilla_fit_assemble(armilla_fit_state *f);

#endif
