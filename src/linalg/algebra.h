/* The work arrays behind armilla_algebra, for the files of src/linalg. */
#ifndef ARMILLA_LINALG_ALGEBRA_H
#define ARMILLA_LINALG_ALGEBRA_H

#include "linalg/dense.h"

enum { ALGEBRA_SQUARES = 3 };

struct armilla_algebra {
    armilla_context *context;
    const armilla_team *team; /* borrowed; NULL: none */
    int64_t m, r;
    double *thin;                    /* m x r */
    double *square[ALGEBRA_SQUARES]; /* r x r */
    double *values, *tau;            /* r */
    double *grams;                   /* r x r for each part of the rows; NULL where there is one part */
    double *work;
    int *integers;
    int work_size, integer_size;
};

#endif
