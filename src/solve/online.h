/* Solver `online`: a pass in blocks of samples, each followed by a step of the basis (online.c). A loop for each kind of
 * pairs says how blocks get their codes and the basis its step (online_*.c). */
#ifndef ARMILLA_SOLVE_ONLINE_H
#define ARMILLA_SOLVE_ONLINE_H

#include "solve/blocks.h"
#include "solve/trial.h"

/* What differs from one kind of pairs to another. */
typedef struct armilla_online_rules {
    double
        start_share; /* what the sums of a start are worth beside those of blocks: nothing where its codes are poor */
    /* V_b = codes(U, l, X_b), in their place, and the sums of the block. */
    armilla_status (*block_codes)(armilla_trial *trial, const armilla_portion *portion);
    /* Looks for atoms that no code uses (armilla_trial_find_unused). */
    armilla_status (*find_unused)(armilla_trial *trial);
    /* U_new = the next basis from the sums. */
    armilla_status (*next_basis)(armilla_trial *trial);
    void (*set_basis)(armilla_problem *problem, const double *next, double *moved);
} armilla_online_rules;

/* The states of these loops begin with it. */
typedef struct armilla_online {
    armilla_trial trial;
    const armilla_online_rules *rules;
    armilla_blocks blocks;
    int64_t block;  /* the next of the pass in progress; 0: it has not begun */
    double seen;    /* samples that the trial's A and G stand for */
    double change;  /* ||W - W_previous||^2 of the pass so far */
    double *A, *G;  /* sums of the pass, in which all samples count alike */
    double *U_back; /* where the pass began */
    double l_back;
} armilla_online;

/* As functions of an armilla_loop. */
void armilla_online_open(armilla_trial *trial, const armilla_online_rules *rules);
void armilla_online_list(armilla_trial *trial, armilla_state_list *list);
void armilla_online_begin(armilla_trial *trial);
armilla_status armilla_online_iterate(armilla_trial *trial, bool *ended);
void armilla_online_finish(armilla_trial *trial);

#endif
