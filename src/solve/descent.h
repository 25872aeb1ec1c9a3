/* Coordinate descent, for a basis whose atoms move one by one: over U on fixed sums, and codes from the previous ones. */
#ifndef ARMILLA_SOLVE_DESCENT_H
#define ARMILLA_SOLVE_DESCENT_H

#include "solve/trial.h"

/* How the next sweep's codes are made. */
typedef struct armilla_code_descent {
    const armilla_trial *trial;
    armilla_effort effort;
    int32_t steps; /* code steps per sweep */
    double little; /* a code ends after a step that moves it by no more than this part of what the first did */
    bool cheap;    /* the column solver is used in every sweep, and nothing else */
    bool descends; /* descent needs no help of the column solver */
} armilla_code_descent;

/* What the options say. */
void armilla_code_descent_open(armilla_code_descent *descent, const armilla_trial *trial);
/* From the previous code: descent, or the column solver, or in a polishing sweep the better of both. self: an
 * armilla_code_descent. */
void armilla_code_descent_step(void *self, const armilla_code_panel *panel);

/* U_new = coordinate descent (HALS) in so many passes from the accepted basis on its sums. */
void armilla_descend_basis(armilla_trial *trial, int passes);

#endif
