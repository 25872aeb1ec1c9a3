/* Products of matrices of many columns, from ARMILLA_LARGE on, for a team: results are cut into tiles or blocks of rows
 * that depend on the sizes alone, and each is made by one thread, so that bits do not depend on the team. */
#ifndef ARMILLA_LINALG_TILES_H
#define ARMILLA_LINALG_TILES_H

#include "linalg/algebra.h"

typedef void (*armilla_tile)(void *self, int64_t tile);
/* Runs body on tiles 0 ... count-1, each on the thread of the team that is free. */
void armilla_tiles_run(const armilla_algebra *algebra, int64_t count, armilla_tile body, void *self);

/* C = A'B, r x r, where that is symmetric: a Gram matrix, or a product of symmetric matrices that commute. A and B are
 * rows x r, C is neither. */
void armilla_tiles_inner(const armilla_algebra *algebra, int64_t rows, const double *A, const double *B, double *C);

/* y = Sx for a symmetric S, r x r. */
void armilla_tiles_apply(const armilla_algebra *algebra, const double *S, const double *x, double *y);

/* X <- XK, X rows x r with rows <= the algebra's m, K r x r. */
void armilla_tiles_multiply(const armilla_algebra *algebra, int64_t rows, const double *K, double *X);

/* X <- alpha*X + beta*X(R'R)^(-1), likewise, R upper triangular. */
typedef struct armilla_resolvent {
    double alpha, beta;
    const double *R;
} armilla_resolvent;
void armilla_tiles_resolve(const armilla_algebra *algebra, int64_t rows, const armilla_resolvent *by, double *X);

/* X <- R^(-1)X, X r x r. */
void armilla_tiles_solve(const armilla_algebra *algebra, const double *R, double *X);

/* S = R'R, R in the upper half of S; the lower half is left as it is. False where S is not positive definite. */
bool armilla_tiles_cholesky(const armilla_algebra *algebra, double *S);

#endif
