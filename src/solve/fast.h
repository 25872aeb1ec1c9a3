/* Solvers `fast` and `online`: their state, and what their loops share. */
#ifndef ARMILLA_SOLVE_FAST_H
#define ARMILLA_SOLVE_FAST_H

#include "sets/column.h"
#include "solve/blocks.h"
#include "solve/lloyd.h"
#include "solve/policy.h"
#include "solve/problem.h"

/* Where a fit is between two steps. */
typedef enum armilla_fast_phase {
    ARMILLA_FAST_PREPARE, /* what comes before the first iteration, and its entry in the trace */
    ARMILLA_FAST_ITERATE,
    ARMILLA_FAST_SEAL,  /* the canonical form, and its codes */
    ARMILLA_FAST_GO_ON, /* where these are worse: a step of basis and sealed codes */
    ARMILLA_FAST_ENDED
} armilla_fast_phase;

/* Between two steps the accepted state stands in the problem. In a step a trial takes its place, is made from what is
 * kept of it, and may be thrown away. armilla_fast_list says what lives from one step to the next. */
typedef struct armilla_fast {
    armilla_problem *problem;
    const struct armilla_fast_loop *loop; /* of the pair */
    armilla_column_problem *columns;
    bool plain; /* no momentum: rows of U choose, or it is Lloyd's iteration */

    armilla_fast_phase phase;
    double *A, *G; /* sums of the accepted state; of an orthonormal basis' G, which is all it needs, the diagonal */
    armilla_momentum momentum;
    armilla_revival revival;

    struct {
        double *A_back; /* A of the accepted state before this one */
    } orthonormal;

    struct {
        int64_t sweep;   /* the next one, and after the last the return to feasible codes; 0: not begun */
        double most;     /* <C,W> of the best feasible codes so far */
        double *U_best;  /* their basis */
        double *U_start; /* the accepted basis: that of the problem moves on */
    } continuation;

    struct {
        armilla_polish polish;
        armilla_effort effort; /* of the next sweeps */
        int32_t steps;         /* code steps per sweep */
        int32_t passes;        /* of coordinate descent over the basis, likewise */
        bool cheap;            /* the column solver is used in every sweep, and nothing else */
        bool sure;             /* descent needs no help of the column solver */
        bool suffices;         /* it rarely does, and not at first */
    } atoms;

    struct {
        int32_t *assignments; /* n: the atom of each sample */
        int32_t *trial;       /* workspace: those of a trial; change places on acceptance */
        double *misfit;       /* n: squared distances: by the last sweep of `online`, when they are wanted of `fast` */
        bool assigned;        /* a sweep with assignments has been made: the problem's codes are older */
        bool settled;         /* the step from the accepted state has been tried and brought nothing */
        int64_t age;          /* of A, in steps from sums of all samples; 0: these are to be made */
        double *offsets;      /* r: workspace of lloyd.c */
        armilla_bounds bounds;
    } assign;

    struct {
        armilla_blocks blocks;
        int64_t block;  /* the next of the pass in progress; 0: it has not begun */
        double seen;    /* samples that A and G stand for */
        double change;  /* ||W - W_previous||^2 of the pass so far */
        double *A, *G;  /* sums of the pass, in which all samples count alike */
        double *U_back; /* where the pass began */
        double l_back;
    } online;

    struct {
        double wanted; /* h that sealed codes should come down to */
        int64_t steps; /* of going on, so far */
    } seal;

    /* Workspace. */
    double *U_kept;    /* the accepted basis, while a trial is in the problem */
    double l;          /* and its radius */
    double *U_new;     /* the next basis, before it is a trial */
    void *W_trial;     /* codes of a trial; change places with the problem's on acceptance */
    double dU, dV;     /* from the accepted state to the trial */
    double *column;    /* m */
    double *axes;      /* r x r: principal axes of the codes */
    double *weights;   /* r: of atoms, for their order */
    int64_t reviving;  /* how many atoms of the next basis are to be samples */
    int64_t *revived;  /* r: the sample that atom k becomes, or -1 */
    double *residuals; /* n: squared residuals, where atoms are to be revived */
} armilla_fast;

/* One sweep of codes for the problem's basis into W_trial; *h of that trial. With the accepted radius and then (A7), from
 * the accepted codes; or by the column solver with the problem's radius. */
armilla_status armilla_fast_sweep(armilla_fast *fast, armilla_code_step step, armilla_effort effort, double *h);
armilla_status armilla_fast_sweep_sealed(armilla_fast *fast, double *h);
/* The trial's codes become the problem's. */
void armilla_fast_swap_codes(armilla_fast *fast);
/* What the problem has becomes the accepted state: its sums. */
void armilla_fast_keep(armilla_fast *fast);
/* The trial becomes the accepted state; the same, recorded. */
void armilla_fast_adopt(armilla_fast *fast);
armilla_status armilla_fast_accept(armilla_fast *fast, bool *ended);
/* The problem's basis and radius become the accepted ones again; its codes are still. */
void armilla_fast_revert(armilla_fast *fast);
/* An iteration whose plain step brought nothing but rounding: the state stays, and is recorded once more. */
armilla_status armilla_fast_stay(armilla_fast *fast, bool *ended);

/* U_new = coordinate descent (HALS) from the accepted basis on its sums (fast_basis.c). */
void armilla_fast_descend_basis(armilla_fast *fast);
/* U = U_new + beta*(U_new - U_kept) as a trial, each atom made one of its set. */
void armilla_fast_set_trial(armilla_fast *fast, double beta);

/* Whether there are such atoms, and it is time. */
bool armilla_fast_revival_due(const armilla_fast *fast);
/* Looks for atoms that no code uses and, where it is time, chooses the samples that they become; costs a sweep only
 * then. */
armilla_status armilla_fast_find_unused(armilla_fast *fast);
/* The same where squared residuals are there already; those of samples that are chosen become 0. */
armilla_status armilla_fast_choose_revived(armilla_fast *fast, double *residuals);
/* Puts them into U, the next basis; where none of them can be there, no atom is reviving any more. */
armilla_status armilla_fast_revive(armilla_fast *fast, double *U);
/* They brought nothing: the next step is without them, and they are passed over until the state has changed. */
void armilla_fast_revive_failed(armilla_fast *fast);

/* Codes by the column solver: exact, or as good as it gets. self: an armilla_fast. */
void armilla_fast_solve_codes(void *self, const armilla_code_panel *panel);

/* Sparsity continuation as the last part of making a start: codes of falling sparsity, one exact alternation each; the
 * best feasible basis met is the start. One sweep; *ready after the last. */
armilla_status armilla_fast_continue(armilla_fast *fast, bool *ready);
void armilla_fast_continue_list(armilla_fast *fast, armilla_state_list *list);

/* Codes of atoms that move one by one, from the previous ones (fast_atoms.c). */
void armilla_fast_step_codes(void *self, const armilla_code_panel *panel);
/* Lloyd's iteration on the accepted state (fast_assign.c); and atoms that nobody names, where it is time for them. */
armilla_lloyd armilla_fast_lloyd(armilla_fast *fast);
armilla_status armilla_fast_find_unnamed(armilla_fast *fast);
/* The sweep of a plan whose codes are solved with that effort. */
armilla_status armilla_fast_run(armilla_fast *fast, const armilla_sweep_plan *plan, armilla_effort effort);

/* How far the next trial goes ahead. */
double armilla_fast_beta(const armilla_fast *fast);
/* After a trial with that beta brought nothing: what it was more than the plain step is given up. False where it was
 * the plain step, which would come out the same again. */
bool armilla_fast_retreat(armilla_fast *fast, double beta);

/* The loops: for sets with U'U = I, for those whose atoms move one by one, and for codes that name an atom each. Every
 * function may be NULL but list, begin and iterate. */
typedef struct armilla_fast_loop {
    void (*list)(armilla_fast *fast, armilla_state_list *list);
    void (*open)(armilla_fast *fast); /* what the options say */
    void (*begin)(armilla_fast *fast);
    /* A step of what comes before the first iteration; *ready where there is no more of it. */
    armilla_status (*prepare)(armilla_fast *fast, bool *ready);
    armilla_status (*iterate)(armilla_fast *fast, bool *ended);
    /* Sealed codes can be worse than those that the loop had: then this makes the next basis from the accepted state,
     * and the codes are solved again. NULL where codes have a global solution, so that only rounding lies between. */
    void (*step_sealed)(armilla_fast *fast);
    void (*finish)(armilla_fast *fast);
} armilla_fast_loop;
extern const armilla_fast_loop armilla_loop_orthonormal, armilla_loop_atoms, armilla_loop_assign, armilla_loop_online;
/* Solver `fast`'s for a pair. */
const armilla_fast_loop *armilla_fast_loop_of(const armilla_problem_options *options);

/* The canonical form (docs/algorithm.md#canonical-form-and-sealing), and the codes of that basis: what transform will
 * give. Each sets the phase that follows. */
armilla_status armilla_fast_seal(armilla_fast *fast);
armilla_status armilla_fast_go_on_sealed(armilla_fast *fast);

#endif
