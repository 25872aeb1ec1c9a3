/* A sample that bounds are looked at of, for the files that know bounds. */
#ifndef ARMILLA_SOLVE_BOUNDS_SAMPLE_H
#define ARMILLA_SOLVE_BOUNDS_SAMPLE_H

#include "base/size.h"
#include "solve/bounds.h"

#include <float.h>
#include <math.h>

#define ARMILLA_BOUND_ROUND 0x1p-22f /* what rounding to float, and a sum of two floats, changes at most, twice */
#define ARMILLA_BOUND_MOST 1e30      /* of a stored bound: so far is farther than all limits, and still a number */

static inline int64_t armilla_bound_group(const armilla_bounds *b, int64_t k)
{
    return k / b->width;
}

static inline int64_t armilla_bound_width(const armilla_bounds *b, int64_t group)
{
    return armilla_min64(b->width, b->r - group * b->width);
}

/* A sample that is looked at: what is known of its nearest centre so far. */
typedef struct armilla_bounded {
    double squared, error; /* ||x||^2 and e */
    double score;          /* s of that centre */
    int64_t nearest;       /* which it is */
    float *lower;          /* its bounds */
    float limit;           /* groups whose lower bound is above this, and their shift, are too far */
} armilla_bounded;

static inline double armilla_bound_error(const armilla_bounds *b, double squared)
{
    return b->by_length * sqrt(squared) + b->by_square * squared + b->always;
}

/* The distance that a score stands for, at least, as it is stored. */
static inline float armilla_bound_lower(const armilla_bounds *b, const armilla_bounded *x, int64_t group, double score)
{
    const double square = score + x->squared - x->error;
    const double least = square > 0 ? sqrt(square) / b->unit : 0;
    return (float)fmin((least + b->shift[group]) * (1 - 2 * (double)ARMILLA_BOUND_ROUND), ARMILLA_BOUND_MOST);
}

/* sqrt(square) in units, rounded up. */
static inline float armilla_bound_limit(const armilla_bounds *b, double square)
{
    return (float)(sqrt(fmax(square, 0)) / b->unit * (1 + 2 * (double)ARMILLA_BOUND_ROUND)) + FLT_MIN;
}

/* The nearest of a group has been found, of which the nearest of all so far may be one; the first of equals counts. */
static inline void armilla_bound_take(const armilla_bounds *b, armilla_bounded *x, int64_t group,
                                      const armilla_nearest *found)
{
    const int64_t atom = group * b->width + found->atom;
    const bool nearer = found->least < x->score || (found->least == x->score && atom < x->nearest);
    x->lower[group] = armilla_bound_lower(b, x, group, nearer ? found->second : found->least);
    if (!nearer) return;
    const int64_t before = x->nearest < 0 ? group : armilla_bound_group(b, x->nearest);
    if (before != group) x->lower[before] = armilla_bound_lower(b, x, before, x->score);
    x->score = found->least;
    x->nearest = atom;
    x->limit = armilla_bound_limit(b, x->score + x->squared + x->error);
}

static inline armilla_bounded armilla_bound_begin(const armilla_bounds *b, int64_t j)
{
    const double squared = b->squared_norms[j];
    return (armilla_bounded){.squared = squared,
                             .error = armilla_bound_error(b, squared),
                             .score = INFINITY,
                             .nearest = -1,
                             .lower = b->lower + j * b->groups};
}

static inline void armilla_bound_end(const armilla_bounds *b, const armilla_bounded *x, int64_t j)
{
    const double upper = sqrt(fmax(x->score + x->squared + x->error, 0)) / b->unit - b->moved[x->nearest];
    b->nearest[j] = (int32_t)x->nearest;
    b->upper[j] = (float)(upper + 2 * (double)ARMILLA_BOUND_ROUND * (fabs(upper) + b->moved[x->nearest])) + FLT_MIN;
}

#endif
