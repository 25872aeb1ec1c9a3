/* Starting points: one file and one row each. A row makes a basis; what turns it into a state (feasible U, signs,
 * codes, radius) is the same for all (docs/algorithm.md#starts). */
#ifndef ARMILLA_START_START_H
#define ARMILLA_START_START_H

#include "solve/problem.h"

typedef struct armilla_start {
    const char *name;
    const char *meaning;
    bool meaningless; /* its atoms know nothing of X */
    /* U (m x r, zeroed) = a basis, not yet feasible. Columns that are left 0 are filled at random. */
    armilla_status (*make)(armilla_problem *problem, uint64_t seed, double *U);
    /* So many bases, one behind the other, of which the first is that of `make`; NULL: there is no saving in making them
     * together. */
    armilla_status (*make_several)(armilla_problem *problem, uint64_t seed, int64_t count, double *U);
} armilla_start;

const armilla_start *armilla_starts_row(size_t index);
const armilla_start *armilla_starts_find(const char *name);
/* The row that suits the pair best. */
const armilla_start *armilla_starts_default(const armilla_basis_set *basis, const armilla_code_set *codes);

extern const armilla_start armilla_start_random, armilla_start_kmeans, armilla_start_svd, armilla_start_nndsvd,
    armilla_start_samples;

/* The state from a row: U0 by the row, made feasible, signs (docs/algorithm.md#signs), V0 = l0*Proj(U0'X).
 * ARMILLA_STOPPED where the call is to end before there is a basis; once there is one its codes are made in any
 * case. */
armilla_status armilla_start_from_row(armilla_problem *problem, const armilla_start *start, uint64_t seed);
/* Feasible bases (m x r each, one behind the other) by a row. The state of the problem is lost. */
armilla_status armilla_start_bases(armilla_problem *problem, const armilla_start *start, uint64_t seed, int64_t count,
                                   double *U);
/* A state after that, by a row that makes no pass: one sweep, or few where a radius is hard to find. */
armilla_status armilla_start_at_once(armilla_problem *problem, const armilla_start *start, uint64_t seed);
/* The same from a given basis (m x r). */
armilla_status armilla_start_from_basis(armilla_problem *problem, const double *U);
/* The same from a basis and a radius that were fitted to a sketch of the data, which are left as they are. */
armilla_status armilla_start_from_sketch(armilla_problem *problem, const double *U, double radius);
/* From a given basis, codes V (r for each sample of this rank, in the working type) and radius, made feasible where they
 * are not. */
armilla_status armilla_start_from_codes(armilla_problem *problem, const double *U, const void *V, double radius);

/* Screening: which of many starts is worth a fit, judged by a problem that is small (a sketch of the data). */
typedef struct armilla_candidate {
    int64_t number;   /* which start it is */
    double objective; /* after a few iterations on the sketch; infinite where there was no start */
    double radius;
    bool kept; /* there is a basis */
    double *U; /* m x r */
} armilla_candidate;

typedef struct armilla_screening {
    armilla_context *context;
    armilla_problem *sketch; /* while starts are tried */
    const armilla_solver *solver;
    /* Start number i. */
    armilla_status (*make)(void *self, armilla_problem *sketch, int64_t i);
    void *self;
    int64_t m, r;    /* of the bases */
    int64_t count;   /* of starts */
    int64_t most;    /* that are kept */
    int64_t tried;   /* so far */
    bool iterating;  /* the next one has its start */
    armilla_run run; /* and then: the solver at work on it */
    armilla_candidate *candidates;
} armilla_screening;

/* The candidates, of which none has been tried. */
armilla_status armilla_screening_begin(armilla_screening *screening);
/* Makes a start, or a step of the solver from it. The best `most` come first, in falling order, and have their bases,
 * the others none. Candidates without a positive radius come last. Only those that were tried are there where the call
 * is to end. */
armilla_status armilla_screening_step(armilla_screening *screening, bool *ended);
void armilla_screening_list(armilla_screening *screening, armilla_state_list *list);
/* Candidate i, the newest, gets its place among the earlier ones; bases beyond the best `most` are released. */
void armilla_candidates_insert(armilla_context *context, armilla_candidate *candidates, int64_t i, int64_t most);
/* Candidates too; an all-zero screening may be freed. */
void armilla_screening_free(armilla_screening *screening);

/* Successive halving (docs/algorithm.md#screening): starts of Lloyd's iteration take steps side by side, by one pass over X
 * for all, and the better ones go on. */
typedef struct armilla_halving {
    armilla_problem *problem;
    const armilla_start *start;
    uint64_t seed;
    int64_t count, most; /* of starts, and of those that are kept */
    int64_t together;    /* starts side by side: a memory that is bounded */
    int64_t iterations;  /* that a start has at most */
} armilla_halving;

/* Into `count` candidates: the best `most` in falling order, with their bases. ARMILLA_STOPPED where the call is to end
 * before all have been tried: those that have been are there. */
armilla_status armilla_halve_starts(const armilla_halving *halving, armilla_candidate *candidates);

/* The seed of start number i. */
uint64_t armilla_start_seed(uint64_t seed, int64_t i);

/* For the rows. */

/* What a basis sees of the data: sums over the samples of C_k = u_k'X, divided by ||X||, for each of r atoms. */
typedef struct armilla_row_sums {
    double sum, absolute, positive_squares, negative_squares;
} armilla_row_sums;
/* U is m x r in the sweep's working type; sums has r entries. */
armilla_status armilla_row_sums_of(armilla_sweep *sweep, int64_t r, const void *U, double norm, armilla_row_sums *sums);

/* The r leading left singular vectors of X by a randomised block Krylov method, into U (m x r); columns past the rank of
 * X stay. */
armilla_status armilla_leading_directions(armilla_problem *problem, uint64_t seed, double *U);

/* The same by all eigenvectors of XX', of dense data whose singular values these resolve: *found, or U is as it was. */
armilla_status armilla_gram_directions(armilla_problem *problem, double *U, bool *found);
/* The one of u and -u whose largest entry is positive. */
void armilla_point_up(int64_t m, double *u);

/* samples = numbers of so many samples, all different: drawn at random from those with a direction, then the others. */
armilla_status armilla_draw_samples(armilla_problem *problem, uint64_t seed, int64_t count, int64_t *samples);

#endif
