/* All supports of a sparse code with the eigenvectors of H on each: they belong to the basis, not to the column, so
 * that a column costs one small secular equation per support, or without a sphere one division per eigenvalue. */
#ifndef ARMILLA_SETS_SUPPORTS_H
#define ARMILLA_SETS_SUPPORTS_H

#include "sets/column.h"

/* How many there are: of size s, or, where smaller ones count too, of size 2 to s; more than the limit is 0. */
int64_t armilla_supports_count(int64_t r, int64_t s, bool smaller);

struct armilla_supports {
    armilla_context *context;
    int64_t r, s, count;
    bool spherical;
    int64_t *size;   /* count */
    int64_t *member; /* s of each: indices, rising */
    double *values;  /* s of each: eigenvalues of H on it, rising */
    double *vectors; /* s*s of each */
};

/* Makes the supports for codes on a sphere, or without one. */
armilla_status armilla_supports_new(armilla_context *context, int64_t r, int64_t s, bool smaller, bool spherical,
                                    armilla_supports **supports);
void armilla_supports_free(armilla_supports *supports);
armilla_status armilla_supports_set(armilla_supports *supports, armilla_algebra *algebra, const double *H);

/* Improves w, whose g is least, by the best support's minimiser; nonnegative ones only where asked. workspace: 4s. */
void armilla_supports_improve(const armilla_supports *supports, bool nonnegative, const double *d, double least,
                              double *w, double *workspace);

#endif
