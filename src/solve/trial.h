/* The trial step of solvers `fast` and `online`. Between two steps the accepted state stands in the problem. In a step a
 * trial takes its place, is made from what is kept of it, and may be thrown away. What a loop needs beside that is a state
 * of its own, which begins with the trial (armilla_loop). */
#ifndef ARMILLA_SOLVE_TRIAL_H
#define ARMILLA_SOLVE_TRIAL_H

#include "sets/column.h"
#include "solve/policy.h"
#include "solve/problem.h"

/* The phase of a fit between two steps. */
typedef enum armilla_trial_phase {
    ARMILLA_TRIAL_PREPARE, /* what comes before the first iteration, and its entry in the trace */
    ARMILLA_TRIAL_ITERATE,
    ARMILLA_TRIAL_SEAL,  /* the canonical form, and its codes */
    ARMILLA_TRIAL_GO_ON, /* where these are worse: a step of basis and sealed codes */
    ARMILLA_TRIAL_ENDED
} armilla_trial_phase;

/* armilla_trial_list says what lives from one step to the next. */
typedef struct armilla_trial {
    armilla_problem *problem;
    const struct armilla_loop *loop;
    armilla_column_problem *columns;
    bool plain; /* no momentum: the loop has none, or rows of U choose */

    armilla_trial_phase phase;
    double *A, *G; /* sums of the accepted state; of an orthonormal basis' G, which is all it needs, the diagonal */
    armilla_momentum momentum;
    armilla_revival revival;
    struct {
        double wanted; /* h that sealed codes should come down to */
        int64_t steps; /* of going on, so far */
    } seal;

    /* Workspace. */
    double *U_kept;    /* the accepted basis, while a trial is in the problem */
    double l;          /* and its radius */
    double *U_new;     /* the next basis, before it is a trial */
    void *W_trial;     /* codes of a trial; change places with the problem's on acceptance */
    double dV;         /* from the accepted state to the trial */
    double *column;    /* m */
    double *axes;      /* r x r: principal axes of the codes */
    double *weights;   /* r: of atoms, for their order */
    int64_t reviving;  /* how many atoms of the next basis are to be samples */
    int64_t *revived;  /* r: the sample that atom k becomes, or -1 */
    double *residuals; /* n: squared residuals, where atoms are to be revived */
} armilla_trial;

/* A loop: its state, whose first member is the trial, and its steps. Every function may be NULL but list, begin, iterate
 * and sweep_sealed. */
typedef struct armilla_loop {
    size_t bytes; /* of the state */
    bool momentum;
    void (*open)(armilla_trial *trial); /* what the options say */
    void (*list)(armilla_trial *trial, armilla_state_list *list);
    void (*begin)(armilla_trial *trial);
    /* A step of what comes before the first iteration; *ready where there is no more of it. */
    armilla_status (*prepare)(armilla_trial *trial, bool *ready);
    armilla_status (*iterate)(armilla_trial *trial, bool *ended);
    /* One sweep of codes by the column solver, for the problem's basis and radius, into W_trial; *h of that trial. */
    armilla_status (*sweep_sealed)(armilla_trial *trial, double *h);
    /* Sealed codes can be worse than those that the loop had: then this makes the next basis from the accepted state,
     * and the codes are solved again. NULL where codes have a global solution, so that only rounding lies between. */
    void (*step_sealed)(armilla_trial *trial);
    void (*finish)(armilla_trial *trial);
    /* The accepted basis between two steps; NULL: the problem's. */
    const double *(*accepted)(const armilla_trial *trial);
    /* n: the atom of each sample, where these are newer than the problem's codes, else NULL; NULL: codes are numbers. */
    const int32_t *(*assignments)(const armilla_trial *trial);
} armilla_loop;

/* The loops of solver `fast`, and of `online`, by kinds of pairs: a basis in closed form (`exact`), atoms that move one
 * by one (`atom`), and codes that assign each sample to an atom. */
extern const armilla_loop armilla_loop_orthonormal, armilla_loop_atoms, armilla_loop_assign;
extern const armilla_loop armilla_online_orthonormal, armilla_online_atoms, armilla_online_assign;

/* What all loops have: objects, the listed state, and the beginning. */
armilla_status armilla_trial_open(armilla_trial *trial, armilla_problem *problem, const armilla_loop *loop);
void armilla_trial_close(armilla_trial *trial);
void armilla_trial_list(armilla_trial *trial, armilla_state_list *list);
void armilla_trial_begin(armilla_trial *trial);

/* The sweep of a plan whose codes are solved with that effort. */
armilla_status armilla_trial_run(armilla_trial *trial, const armilla_sweep_plan *plan, armilla_effort effort);
/* One sweep of codes for the problem's basis into W_trial, from the accepted codes, with the accepted radius and then
 * (A7); *h of that trial. codes: the part of a plan that says how codes are made. */
armilla_status armilla_trial_sweep(armilla_trial *trial, const armilla_sweep_plan *codes, armilla_effort effort,
                                   double *h);
/* The same for an orthonormal basis, whose codes are projections. */
armilla_status armilla_trial_sweep_projected(armilla_trial *trial, double *h);
/* Sealed codes of numbers, and those that assign each sample to an atom. */
armilla_status armilla_trial_sweep_numbers(armilla_trial *trial, double *h);
armilla_status armilla_trial_sweep_assigned(armilla_trial *trial, double *h);
/* Codes by the column solver: exact, or as good as it gets. self: an armilla_trial. */
void armilla_trial_solve_codes(void *self, const armilla_code_panel *panel);

/* The trial's codes become the problem's. */
void armilla_trial_swap_codes(armilla_trial *trial);
/* What the problem has becomes the accepted state: its sums. */
void armilla_trial_keep(armilla_trial *trial);
/* The trial becomes the accepted state; the same, recorded. */
void armilla_trial_adopt(armilla_trial *trial);
armilla_status armilla_trial_accept(armilla_trial *trial, bool *ended);
/* The problem's basis and radius become the accepted ones again; its codes are still. */
void armilla_trial_revert(armilla_trial *trial);
/* An iteration whose plain step brought nothing but rounding: the state stays, and is recorded once more. */
armilla_status armilla_trial_stay(armilla_trial *trial, bool *ended);

/* How far the next trial goes ahead. */
double armilla_trial_beta(const armilla_trial *trial);
/* After a trial with that beta brought nothing: what it was more than the plain step is given up. False where it was
 * the plain step, which would come out the same again. */
bool armilla_trial_retreat(armilla_trial *trial, double beta);

/* Revival of atoms that no code uses (revive.c): whether there are such atoms, and it is time. */
bool armilla_trial_revival_due(const armilla_trial *trial);
/* Looks for such atoms and, where it is time, chooses the samples that they become; costs a sweep only then. */
armilla_status armilla_trial_find_unused(armilla_trial *trial);
/* The same where squared residuals are there already; those of samples that are chosen become 0. */
armilla_status armilla_trial_choose_revived(armilla_trial *trial, double *residuals);
/* Puts them into U, the next basis; where none of them can be there, no atom is reviving any more. */
armilla_status armilla_trial_revive(armilla_trial *trial, double *U);
/* They brought nothing: the next step is without them, and they are passed over until the state has changed. */
void armilla_trial_revive_failed(armilla_trial *trial);

/* The canonical form (docs/algorithm.md#canonical-form-and-sealing), and the codes of that basis: what transform will
 * give (seal.c). Each sets the phase that follows. */
armilla_status armilla_trial_seal(armilla_trial *trial);
armilla_status armilla_trial_go_on_sealed(armilla_trial *trial);

#endif
