/* From a problem to its best state: starts are screened on a sketch where that pays, those that are worth it are each
 * improved by the solver, and the best is left in the problem. All of it in steps, whose state is listed. */
#ifndef ARMILLA_MODEL_RESTARTS_H
#define ARMILLA_MODEL_RESTARTS_H

#include "model/sketch.h"

typedef struct armilla_fit_state armilla_fit_state;

typedef enum armilla_fit_phase {
    ARMILLA_FIT_SKETCH,  /* samples are drawn */
    ARMILLA_FIT_SCREEN,  /* a start on them, or an iteration from it */
    ARMILLA_FIT_START,   /* a start on all data */
    ARMILLA_FIT_ITERATE, /* a step of the solver from it */
    ARMILLA_FIT_ENDED
} armilla_fit_phase;

typedef struct armilla_restarts {
    armilla_fit_phase phase;
    int64_t round, rounds; /* starts that are fitted to all data, and which of them it is at */
    bool screened;         /* they are candidates, best first */
    int32_t used, winner;  /* rows of the starts table, by the round in progress and by the best; -1: given */
    armilla_screening screening;
    armilla_sketch sketch;
    armilla_run run;
    struct {
        bool found;
        double *U;
        void *W;
        double l, objective;
        armilla_trace *trace;
        armilla_stop stop;
        bool sealed, unfinished;
    } best; /* of several starts; U is NULL where there is only one */
} armilla_restarts;

void armilla_restarts_begin(armilla_fit_state *f);
/* How many starts will be fitted to all data, as far as is known before they are screened. */
int64_t armilla_restarts_rounds(const armilla_fit_state *f);
armilla_status armilla_restarts_step(armilla_fit_state *f, bool *ended);
void armilla_restarts_list(armilla_fit_state *f, armilla_state_list *list);
void armilla_restarts_free(armilla_fit_state *f);

/* The starts of a fit (model/starts.c): number i by its row and seed; of the round in progress; and one for a call that is
 * to end before the one that was wanted is made: whatever there is at once. used: the row, or -1. */
armilla_status armilla_fit_start_row(armilla_fit_state *f, armilla_problem *problem, int64_t i);
armilla_status armilla_fit_start(armilla_fit_state *f, int64_t round, int32_t *used);
armilla_status armilla_fit_start_at_once(armilla_fit_state *f, int32_t *used);

#endif
