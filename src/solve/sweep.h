/* The sweep (docs/algorithm.md#the-sweep): one read of X, panel by panel. For each panel C = U'X_b, new codes W_b from
 * C by a step that the caller gives, and A += X_b W_b', G += W_b W_b' and a few sums. Solvers, starts and transform are
 * only different steps. Codes are unit codes: V = lW. */
#ifndef ARMILLA_SOLVE_SWEEP_H
#define ARMILLA_SOLVE_SWEEP_H

#include "data/traverse.h"

/* What a step sees of one panel. Columns of C and W are r numbers each. */
typedef struct armilla_code_panel {
    int64_t r, first, count;
    const double *C; /* U'X_b; not set where the plan has no basis */
    double *W;       /* the previous codes where the plan has them, and the place of the new ones */
    double *Q;       /* space for as many numbers */
    double *scratch; /* armilla_column_workspace(r) numbers */
    double *tally;   /* the plan's counters, added up over panels */
    int32_t *
        assignments; /* where the plan has assignments: the previous ones, and the place of the new; W and Q are not there */
    int64_t assignment_stride; /* the plan's */
} armilla_code_panel;

/* Columns that a step sees at a time at most. */
enum { ARMILLA_STRIP = 120 };

/* What a step sees that makes its products itself, those that it needs alone. */
typedef struct armilla_assigning {
    const armilla_panel *strip;
    const void *U;        /* the basis where the data's products want it, */
    const void *atoms;    /* and as the plan has it: m x r */
    double *C;            /* space for r x ARMILLA_STRIP numbers */
    int32_t *assignments; /* of the strip's columns: the previous ones, and the place of the new */
    double *tally;
    int thread;
} armilla_assigning;

/* C = U'X for columns of a dense panel, or copies of them, and some atoms (m x r): the bits that the panel's own products
 * have there. */
void armilla_multiply_some(const armilla_panel *panel, const armilla_columns *X, int64_t r, const void *U, double *C);

/* Runs on several threads at once. */
typedef void (*armilla_assign_step)(void *self, const armilla_assigning *assigning);
typedef void (*armilla_code_step)(void *self, const armilla_code_panel *panel);

typedef struct armilla_sweep_plan {
    const void *U;             /* m x r in the working type, or NULL: codes that do not depend on X */
    const void *previous;      /* r x n in the working type: codes that the step sees in W; NULL: none */
    void *codes;               /* r x n in the working type: new codes; may be `previous`; NULL: they are not kept */
    int32_t *assignments;      /* n: the atom of each sample, w = e_k, instead of codes; NULL: codes */
    int64_t assignment_stride; /* between partitions, of a sweep that has several, */
    const int32_t *before;     /* and the previous assignments there, which A_before is of */
    bool sums;                 /* A and G are wanted, */
    bool gram_alone;           /* or G alone */
    bool diagonal;             /* of G its diagonal is all that is wanted */
    bool ignores_previous;     /* the step does not look at the previous codes: they are not in its W */
    const armilla_portion *portion; /* some columns: sums and codes of these alone; NULL: all */
    int64_t tally;                  /* how many counters the step has */
    armilla_code_step step;
    /* NULL, or the step's codes are C scaled to length 1, which this does for a column: short ones may be left to the
     * kernels, in codes of other last bits. */
    armilla_scaling scaled;
    armilla_assign_step assign; /* instead of a step, where there are assignments; <C,W> is then <basis,A>, or 0: */
    const double *basis;        /* m x r: U in double, where A is known after the run; else NULL */
    /* m x r: A of the previous assignments, in memory of its own: only samples that change theirs are added and taken
     * away; NULL: A is the sum of all. Data with a layout have it always NULL (armilla_sweep_adds_changes). */
    const double *A_before;
    void *self;
} armilla_sweep_plan;

typedef struct armilla_sweep armilla_sweep;

/* All memory is taken here; running allocates nothing. tally: the most counters a plan will have. */
armilla_status armilla_sweep_new(armilla_context *context, const armilla_data *X, armilla_type work, int64_t r,
                                 int64_t tally, armilla_sweep **sweep);
/* The same for plans with assignments or without codes alone: memory that grows with r, not with its square. */
armilla_status armilla_sweep_new_assigning(armilla_context *context, const armilla_data *X, armilla_type work,
                                           int64_t r, int64_t tally, armilla_sweep **sweep);
/* The same for plans of all columns, with codes of numbers that are kept where there are sums: where the data are sparse and it pays, they are copied
 * by feature (data/transposed.h). */
armilla_status armilla_sweep_new_whole(armilla_context *context, const armilla_data *X, armilla_type work, int64_t r,
                                       int64_t tally, armilla_sweep **sweep);
/* Partitions side by side: each assigns every sample to one of its own atoms, which stand one behind the other. A step has
 * the assignments of all; <C,W> and what has changed are for it to count. */
typedef struct armilla_partitions {
    int64_t count, atoms, counters; /* of each partition */
} armilla_partitions;
armilla_status armilla_sweep_new_partitions(armilla_context *context, const armilla_data *X, armilla_type work,
                                            const armilla_partitions *partitions, armilla_sweep **sweep);
/* Such a sweep of another rank over the same data, which uses the other's copy and must not outlive it. It keeps codes
 * that a plan does not. */
armilla_status armilla_sweep_new_beside(const armilla_sweep *other, int64_t r, armilla_sweep **sweep);
void armilla_sweep_free(armilla_sweep *sweep);

/* Whether a plan for such data may have A_before. */
bool armilla_sweep_adds_changes(const armilla_sweep *sweep);

armilla_status armilla_sweep_run(armilla_sweep *sweep, const armilla_sweep_plan *plan);
/* G = WW' of codes (r x n in the working type), with the bits that a run which made them has. X is not read, and it is no
 * run. What the last run left is gone. */
armilla_status armilla_sweep_gram(armilla_sweep *sweep, void *codes, double *G);

/* Results of the last run; owned by the sweep. */
const double *armilla_sweep_A(const armilla_sweep *sweep); /* XW', m x r */
const double *armilla_sweep_G(const armilla_sweep *sweep); /* WW', r x r; NULL where its diagonal is all there is */
/* Copies of both; where G is a diagonal the rest is 0. */
void armilla_sweep_copy(const armilla_sweep *sweep, double *A, double *G);
/* The diagonal of WW', r numbers, where the plan wanted no more, or where codes are assignments, which have no more:
 * how many samples are assigned to each atom; else NULL. */
const double *armilla_sweep_sizes(const armilla_sweep *sweep);
const double *armilla_sweep_tally(const armilla_sweep *sweep);
double armilla_sweep_cross(const armilla_sweep *sweep);  /* <C,W> = <X,UW> */
double armilla_sweep_change(const armilla_sweep *sweep); /* ||W - W_previous||^2, 0 without previous codes */
int64_t armilla_sweep_count(const armilla_sweep *sweep); /* runs over all columns so far */
int64_t *armilla_sweep_runs(armilla_sweep *sweep);       /* where they are counted, for a state that is restored */
const armilla_traversal *armilla_sweep_traversal(const armilla_sweep *sweep); /* its slots */
armilla_type armilla_sweep_type(const armilla_sweep *sweep);                  /* it works in */
int armilla_sweep_threads(const armilla_sweep *sweep);
const armilla_team *armilla_sweep_team(const armilla_sweep *sweep); /* for work between runs */

#endif
