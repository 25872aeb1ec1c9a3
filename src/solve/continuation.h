/* Sparsity continuation as the last part of making a start: codes of falling sparsity, one exact alternation each; the
 * best feasible basis met is the start. */
#ifndef ARMILLA_SOLVE_CONTINUATION_H
#define ARMILLA_SOLVE_CONTINUATION_H

#include "solve/trial.h"

typedef struct armilla_continuation {
    int64_t sweep;   /* the next one, and after the last the return to feasible codes; 0: not begun */
    double most;     /* <C,W> of the best feasible codes so far */
    double *U_best;  /* their basis */
    double *U_start; /* the accepted basis: that of the problem moves on */
} armilla_continuation;

void armilla_continuation_list(armilla_continuation *continuation, const armilla_problem *problem,
                               armilla_state_list *list);
/* One sweep; *ready after the last. */
armilla_status armilla_continuation_step(armilla_continuation *continuation, armilla_trial *trial, bool *ready);

#endif
