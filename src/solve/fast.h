/* What the two loops of solver `fast` share: trial states, and the end of a fit. */
#ifndef ARMILLA_SOLVE_FAST_H
#define ARMILLA_SOLVE_FAST_H

#include "sets/column.h"
#include "solve/policy.h"
#include "solve/problem.h"

/* The accepted state stands in the problem; a trial is made beside it and may be thrown away. */
typedef struct armilla_fast {
    armilla_problem *problem;
    const struct armilla_fast_loop *loop; /* of the pair */
    armilla_column_problem *columns;
    armilla_momentum momentum;
    bool plain;             /* no momentum: rows of U choose, or it is Lloyd's iteration */
    armilla_effort effort;  /* of the next sweeps */
    double *U_kept;         /* the accepted basis, while a trial is in the problem */
    double *A, *A_back, *G; /* sums of the accepted state, and A of the one before */
    double *U_new;          /* what a basis step has made of the accepted basis */
    void *W_trial;          /* codes of a trial; change places with the problem's on acceptance */
    double h, l;            /* of the accepted state */
    double dV;              /* from it to the trial */
    armilla_revival revival;
    int64_t reviving; /* how many atoms of the next basis are to be samples */
    int64_t *revived; /* r: the sample that atom k becomes, or -1 */
    double *misfit;   /* n: squared residuals, when they were wanted last */
    double *sample;   /* m */
} armilla_fast;

/* One sweep of codes for the problem's basis, from the accepted codes into W_trial, then (A7); *h of that trial. */
armilla_status armilla_fast_sweep(armilla_fast *fast, armilla_code_step step, void *self, double *h);
/* The trial's codes become the problem's. */
void armilla_fast_swap_codes(armilla_fast *fast);
/* The trial becomes the state; the same, recorded. */
void armilla_fast_adopt(armilla_fast *fast);
armilla_status armilla_fast_accept(armilla_fast *fast, bool *ended);
/* The problem's basis and radius become the accepted ones again; its codes are still. */
void armilla_fast_revert(armilla_fast *fast);
/* An iteration whose plain step brought nothing but rounding: the state stays, and is recorded once more. */
armilla_status armilla_fast_stay(armilla_fast *fast, bool *ended);

/* U_new = coordinate descent (HALS) from the accepted basis on its sums. */
void armilla_fast_descend_basis(armilla_fast *fast);
/* U = U_new + beta*(U_new - U_kept) as a trial, each atom made one of its set. */
void armilla_fast_set_trial(armilla_fast *fast, double beta);

/* Looks for atoms that no code uses and, where it is time, chooses the samples that they become; costs a sweep only
 * then. */
armilla_status armilla_fast_find_unused(armilla_fast *fast);
/* The same for a sweep that has measured the misfit by the way. */
void armilla_fast_choose_revived(armilla_fast *fast);
/* Puts them into U, the next basis; where none of them can be there, no atom is reviving any more. */
armilla_status armilla_fast_revive(armilla_fast *fast, double *U);
/* They brought nothing: the next step is without them, and they are passed over until the state has changed. */
void armilla_fast_revive_failed(armilla_fast *fast);

/* Codes by the column solver: exact, or as good as it gets. self: an armilla_fast. */
void armilla_fast_solve_codes(void *self, const armilla_code_panel *panel);

/* Sparsity continuation as the last part of making a start: codes of falling sparsity, one exact alternation each; the
 * best feasible basis met is the start. */
armilla_status armilla_fast_continue(armilla_fast *fast);
/* The state and sums of the problem become the accepted ones. */
void armilla_fast_keep(armilla_fast *fast);

/* How far the next trial goes ahead. */
double armilla_fast_beta(const armilla_fast *fast);
/* After a trial with that beta brought nothing: what it was more than the plain step is given up. False where it was
 * the plain step, which would come out the same again. */
bool armilla_fast_retreat(armilla_fast *fast, double beta);

/* The loops: for sets with U'U = I, for those whose atoms move one by one, and for codes that name an atom each. */
typedef struct armilla_fast_loop {
    armilla_status (*run)(armilla_fast *fast);
    /* Sealed codes can be worse than those that the loop had: then this makes the next basis from the accepted state,
     * and the codes are solved again. NULL where codes have a global solution, so that only rounding lies between. */
    void (*step_sealed)(armilla_fast *fast);
} armilla_fast_loop;
extern const armilla_fast_loop armilla_loop_orthonormal, armilla_loop_atoms, armilla_loop_assign;

/* The canonical form (ALGORITHM section 5), and the codes of that basis: what transform will give. */
armilla_status armilla_fast_seal(armilla_fast *fast);

#endif
