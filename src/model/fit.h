/* A fit in progress, from data and options to a model: opened, gone through in steps, and closed. Between two steps its
 * whole state is what armilla_fit_list lists, beside data and options: this is where a checkpoint is written and read. */
#ifndef ARMILLA_MODEL_FIT_H
#define ARMILLA_MODEL_FIT_H

#include "model/restarts.h"

struct armilla_fit_state {
    armilla_context *context;
    const armilla_data *X; /* as given */
    armilla_view view;     /* as fitted */
    armilla_options filled;
    const armilla_options *options; /* filled */
    armilla_resolved resolved;
    const armilla_code_set *codes; /* that are solved for: not sparse where the sparsity leaves nothing out */
    int64_t outer_memory;          /* of the call around this one */
    double clock_start;
    armilla_data_facts facts;
    double *squared_norms;
    const armilla_solver *solver;
    const armilla_start *start; /* NULL where it is given */
    armilla_sketch_plan plan;
    armilla_problem *problem;
    armilla_restarts restarts;
    armilla_model *model;
    const armilla_model *continued; /* on other samples, which are X; NULL: none */
};

/* Everything before the first step, which is the same whenever it is done. After a failure there is nothing to close. */
armilla_status armilla_fit_open(armilla_context *context, const armilla_data *X, const armilla_options *options,
                                armilla_fit_state *f);
/* What a fit that continues a model takes from it (model/update.c) beside the preparation, if the features are its own:
 * sums that stand for the samples before, and the start. */
armilla_status armilla_fit_check_continued(const armilla_fit_state *f);
armilla_status armilla_fit_take_past(armilla_fit_state *f);
armilla_status armilla_fit_start_continued(armilla_fit_state *f);
/* All of it, with options that describe the model. */
armilla_status armilla_fit_continue(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                    const armilla_options *options, armilla_model **updated);
/* Until *ended. */
armilla_status armilla_fit_step(armilla_fit_state *f, bool *ended);
/* Lists the state of an armilla_fit_state between two steps. It can be restored into one that has just been opened. */
void armilla_fit_list(void *self, armilla_state_list *list);
/* The model from the state that was reached: factors, trace and summary, by one more pass that tells the objective. */
armilla_status armilla_fit_assemble(armilla_fit_state *f);
/* Frees all but the model, which is the caller's where model is given. */
void armilla_fit_close(armilla_fit_state *f, armilla_model **model);

#endif
