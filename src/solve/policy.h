/* The decisions of solver `fast`, apart from the numerics so that they can be tested without data. */
#ifndef ARMILLA_SOLVE_POLICY_H
#define ARMILLA_SOLVE_POLICY_H

#include "base/samples.h"
#include "sets/sets.h"

/* Guarded momentum (docs/algorithm.md#orthonormal-basis): how far a trial basis goes past the last step. */
typedef struct armilla_momentum {
    double beta;
} armilla_momentum;

void armilla_momentum_begin(armilla_momentum *momentum);
void armilla_momentum_accept(armilla_momentum *momentum);
void armilla_momentum_reject(armilla_momentum *momentum);

/* Sparsity continuation: the sparsity of sweep `sweep` (from 0) on the way from r down to s; s from the last on. */
int64_t armilla_continuation_sparsity(int64_t r, int64_t s, int64_t sweep);
/* How many sweeps that takes, and at most. */
int64_t armilla_continuation_sweeps(int64_t r, int64_t s);
enum { ARMILLA_CONTINUATION_SWEEPS = 15 };

/* Code steps in Gram space per sweep, by what fraction the last iteration brought h down. */
int armilla_code_steps(double fall);
enum { ARMILLA_FIRST_CODE_STEPS = 30 }; /* once, for a basis whose codes are not known */

/* Passes of coordinate descent over a basis per sweep: more where descent of codes needs no other solver, and on a sphere
 * where samples have one length and the atoms of the start mean nothing yet. */
int armilla_basis_passes(const armilla_code_set *codes, double spread, bool meaningless);

/* Whether codes that descend from the previous ones are as good as any, by how many times the longest sample is as long as
 * the shortest. */
bool armilla_descent_suffices(const armilla_code_set *codes, double spread);

/* Whether fits of the pair gain ever less for very long. Exact alternation and assignments end by themselves. */
bool armilla_pair_eases(const armilla_basis_set *basis, const armilla_code_set *codes, int64_t s);

/* Seconds that the final code of a sample takes on a core of an ordinary machine, beside the product with the basis; 0
 * where that is all. */
double armilla_codes_seconds(const armilla_basis_set *basis, const armilla_code_set *codes, int64_t r, int64_t s);

/* When the expensive code solve is due inside the loop: where the cheap steps have slowed down. */
typedef struct armilla_polish {
    double slow;   /* what fraction of h an iteration brings then */
    int64_t last;  /* the iteration of the last one */
    double wait;   /* iterations until the next may come; doubles where a thorough one brought little */
    bool thorough; /* the next is not a rough one: rough ones have brought what they can */
} armilla_polish;

/* It is due later where descent suffices. */
void armilla_polish_begin(armilla_polish *polish, bool descent_suffices);
bool armilla_polish_due(const armilla_polish *polish, int64_t iteration, double fall);
void armilla_polish_done(armilla_polish *polish, int64_t iteration, double fall);

/* When atoms that no code uses may be revived: at once, then ever more rarely, for what is not taken up soon is not
 * wanted. What brought nothing is not tried again before the state has changed: the next samples are. */
typedef struct armilla_revival {
    int64_t due, wait; /* iterations */
    int64_t passed;    /* of the worst samples: those tried in vain on this state */
} armilla_revival;

void armilla_revival_begin(armilla_revival *revival);
bool armilla_revival_due(const armilla_revival *revival, int64_t iteration);
void armilla_revival_done(armilla_revival *revival, int64_t iteration);
/* That many more samples brought nothing; h has fallen, and all may be tried again. */
void armilla_revival_failed(armilla_revival *revival, int64_t samples);
void armilla_revival_moved(armilla_revival *revival);

/* Squared distances of samples to what stands for them: atoms and centres that nobody uses become the worst-fitted. */
typedef struct armilla_misfit {
    armilla_context *context; /* of the ranks that have the samples */
    armilla_samples share;
    double *squares;                                                 /* of a sample that is taken 0 */
    bool (*counts)(const void *self, int64_t sample, double square); /* whether it may be taken; NULL: all may */
    const void *self;
} armilla_misfit;

/* Takes the worst-fitted sample, the first of equals; -1 where none has a misfit that counts. */
armilla_status armilla_misfit_take(const armilla_misfit *misfit, int64_t *sample);
/* samples[k] = a sample for each of r atoms that nobody uses, sizes[k * stride] = 0, as far as there are any; else -1.
 * *count: how many there were. */
armilla_status armilla_misfit_share(const armilla_misfit *misfit, int64_t r, const double *sizes, int64_t stride,
                                    int64_t *samples, int64_t *count);

/* What the minima of a pair are like: all global; much the same whatever the start, since only a subspace is sought, since
 * blocks have closed forms or since each block is a convex problem; or of all heights. */
typedef enum armilla_landscape {
    ARMILLA_GLOBAL,
    ARMILLA_SUBSPACE,
    ARMILLA_CLOSED,
    ARMILLA_CONVEX,
    ARMILLA_LOCAL_MINIMA
} armilla_landscape;
armilla_landscape armilla_pair_landscape(const armilla_basis_set *basis, const armilla_code_set *codes);

/* Screening on a sketch, a small sample of the data. */
typedef struct armilla_sketch_plan {
    int64_t
        samples; /* 0: there is no choice, or the data are too few, or say too little each, for a sketch to save anything */
    int64_t starts;     /* that are tried on it */
    int64_t kept;       /* of them fitted to all data */
    int64_t iterations; /* that each has */
    int64_t together;   /* so many at a time side by side, by successive halving; 0: one after the other */
} armilla_sketch_plan;

/* density: the part of X that is stored. */
armilla_sketch_plan armilla_sketch_decide(armilla_landscape landscape, int64_t n, int64_t r, double density,
                                          int64_t restarts);
/* For fewer data: a sketch that one start gets a lead on, whose iterations cost a part of those on all data;
 * samples = 0 where that saves nothing either. */
armilla_sketch_plan armilla_sketch_lead(int64_t n, int64_t r, double density);
/* For codes that are assignments, of so few data (n samples, m features, `stored` entries) that an iteration takes
 * milliseconds: starts are halved on all samples, by no more iterations than the fit may have; samples = 0 where the data
 * are more. */
typedef struct armilla_few_data {
    int64_t n, m, stored, r;
} armilla_few_data;
armilla_sketch_plan armilla_sketch_halve(const armilla_few_data *data, int64_t restarts, int64_t max_iter);
#define ARMILLA_SKETCH_TOL 1e-4

#endif
