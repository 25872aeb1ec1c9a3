/* Codes that only say which atom a sample is assigned to, as a loop keeps them: a number for each sample. */
#ifndef ARMILLA_SOLVE_ASSIGNMENTS_H
#define ARMILLA_SOLVE_ASSIGNMENTS_H

#include "solve/lloyd.h"
#include "solve/trial.h"

typedef struct armilla_assignments {
    int32_t *atoms;  /* n: the atom of each sample */
    bool assigned;   /* a sweep has made them: the problem's codes are older */
    bool settled;    /* the step from the accepted state has been tried and brought nothing */
    double *misfit;  /* n: squared distances to the atoms, where they are known; listed by the loop */
    double *offsets; /* r: workspace of lloyd.c */
} armilla_assignments;

void armilla_assignments_list(armilla_assignments *assignments, const armilla_problem *problem,
                              armilla_state_list *list);
/* Those that the start's codes are. */
void armilla_assignments_begin(armilla_assignments *assignments, const armilla_problem *problem);
/* The codes that they stand for, where sealing has made none. */
void armilla_assignments_finish(const armilla_assignments *assignments, const armilla_problem *problem);
/* The assignments of the loop; NULL where codes are newer. */
const int32_t *armilla_assignments_newest(const armilla_assignments *assignments);

/* Lloyd's iteration on the accepted state; whoever takes whole steps says what becomes of them. */
armilla_lloyd armilla_assignments_lloyd(const armilla_assignments *assignments, const armilla_trial *trial);
/* Looks for atoms without samples, where it is time, by the misfit. */
armilla_status armilla_assignments_find_unused(const armilla_assignments *assignments, armilla_trial *trial);

#endif
