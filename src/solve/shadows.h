/* Shadows of samples and centres: their parts in a few leading directions Q of the centres, and the lengths of what is left.
 *
 *     x'u <= (Q'x)'(Q'u) + ||x - QQ'x|| ||u - QQ'u||
 *
 * is a product of few numbers instead of m, which says of most centres that they are not the nearest to a sample, also
 * where centres go far. Shadows are in f32, and what is left is rounded up by so much that the product is never below x'u
 * (docs/algorithm.md#which-products-are-made). Nothing depends on them but time. */
#ifndef ARMILLA_SOLVE_SHADOWS_H
#define ARMILLA_SOLVE_SHADOWS_H

#include "base/samples.h"
#include "base/state.h"
#include "linalg/pair_kernels.h"
#include "solve/sweep.h"

/* All zeros has none. */
typedef struct armilla_shadows {
    const armilla_kernels *kernels;    /* of the working type */
    const armilla_pair_kernels *pairs; /* of f32 */
    armilla_type work;
    armilla_samples share;
    const double *squared_norms; /* n: ||x_j||^2 */
    int64_t m, r;
    int64_t most; /* directions there is memory for; 0: there are no shadows */
    int threads;

    bool sought;         /* directions were looked for */
    bool known;          /* every sample has its shadow */
    int64_t depth;       /* directions there are; 0: none that are of use */
    double *Q;           /* m x most */
    double *loads;       /* most x centres: workspace */
    void *directions;    /* m x most, in the working type */
    double error;        /* of the squared length of what is left, beside that of the whole */
    float *samples;      /* width x n: Q'x and the length of what is left, in units, and 1; */
    float *packed;       /* the same of the centres, with -offset/2l, as pairs' products want them, */
    float *left;         /* r: the length of what is left of each, rounded up */
    double unit, length; /* the units of samples and centres */
    double slack;        /* what the last number of a shadow may be off in a product */

    /* Workspace of the threads: shadows of a few samples side by side, their products, infinities, numbers
     * of centres; and how many samples were looked at, and products made for them. */
    float *few, *tiles, *floors;
    int32_t *places;
    int64_t *tried, *made;
} armilla_shadows;

/* The centres of a pass. */
typedef struct armilla_shadow_centers {
    const double *U, *squares, *offsets; /* m x r; r: ||u_k||^2; r: ||l u_k||^2 as they are compared */
    const void *typed;                   /* U in the working type */
    double l, unit;                      /* centres are l*U; at least the length of every sample */
} armilla_shadow_centers;

/* Shadows of r centres and a sweep's data, before they are listed, in at most so many numbers for each sample. */
void armilla_shadows_plan(armilla_shadows *shadows, const armilla_sweep *sweep, int64_t r, const double *squared_norms,
                          int64_t numbers);
/* Their memory, all of it workspace. */
void armilla_shadows_list(armilla_shadows *shadows, armilla_state_list *list);

/* Before a pass; directions are those of the first centres that are given after all was forgotten. */
void armilla_shadows_move(armilla_shadows *shadows, const armilla_team *team, const armilla_shadow_centers *centers);
/* The shadows of a strip's samples; C has space for r x ARMILLA_STRIP numbers. */
void armilla_shadows_cast(armilla_shadows *shadows, const armilla_panel *strip, double *C);
/* After a pass: every sample has its shadow, or what was known is forgotten. */
void armilla_shadows_ran(armilla_shadows *shadows, bool all);

/* Row i of the tile is, for each centre, at least (x'u_k - offset_k/2l)/(unit*length) - slack, x the sample of that
 * number; at most pairs->few samples. Numbers may be changed. */
float *armilla_shadows_meet(const armilla_shadows *shadows, int thread, int64_t count, const int64_t *samples);
/* Numbers from one row to the next. */
int64_t armilla_shadows_stride(const armilla_shadows *shadows);

/* Numbers of a shadow. */
static inline int64_t armilla_shadow_width(const armilla_shadows *shadows)
{
    return shadows->depth + 2;
}

/* How far a number of the tile may be above what it bounds, less slack. */
static inline double armilla_shadow_range(const armilla_shadows *shadows, int64_t sample, int64_t center)
{
    const float *shadow = shadows->samples + sample * (shadows->most + 2);
    return 2 * (double)shadow[shadows->depth] * (double)shadows->left[center];
}

#endif
