/* An orthonormal basis that grows by blocks of k columns, as randomised methods for leading directions want it: its numbers
 * are in the working type, sums are in double, and each block is made in few passes over the rows, on a team. */
#ifndef ARMILLA_LINALG_SPAN_H
#define ARMILLA_LINALG_SPAN_H

#include "linalg/dense.h"
#include "linalg/kernels.h"

typedef struct armilla_span armilla_span;

/* What it is to be: at most `blocks` blocks of k columns, of m rows. */
typedef struct armilla_span_plan {
    armilla_type type;
    int64_t m, k, blocks;
    bool rough; /* columns may be orthogonal and of length 1 to a few digits alone */
    const armilla_team *team;
} armilla_span_plan;

armilla_status armilla_span_new(armilla_context *context, const armilla_span_plan *plan, armilla_span **span);
void armilla_span_free(armilla_span *span);

/* Block i: m x k in the type. */
const void *armilla_span_block(const armilla_span *span, int64_t i);

/* How a matrix was split: A = SB + QR, S the blocks before Q, B i*k x k and R k x k. */
typedef struct armilla_split {
    double *B, *R;
} armilla_split;

/* Block i <- an orthonormal basis Q of what A (m x k) has outside the blocks before it. Directions in which that is below
 * `least` times A become columns of 0. ARMILLA_BAD_DATA where A is not finite. */
armilla_status armilla_span_add(armilla_span *span, int64_t i, const double *A, double least,
                                const armilla_split *split);

/* U (m x columns) = the first blocks times Y (blocks*k x columns), and A (m x k) times Z (k x columns), unless that is
 * NULL. */
void armilla_span_combine(const armilla_span *span, int64_t blocks, int64_t columns, const double *Y, const double *A,
                          const double *Z, double *U);

#endif
