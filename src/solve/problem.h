/* A problem: the data, the pair of sets, the state (U, W, l) and everything that a solver needs, taken in one place
 * before the first sweep. The state is kept as unit codes W and a radius l, V = lW, so that the radius step (A7) is a
 * step of one number. Codes that are not on a sphere have the fixed radius 1, and W = V. All m x r algebra is in
 * double; U holds numbers that the working type has exactly. */
#ifndef ARMILLA_SOLVE_PROBLEM_H
#define ARMILLA_SOLVE_PROBLEM_H

#include "sets/sets.h"
#include "solve/sweep.h"
#include "solve/trace.h"

/* A step weight: a number, or a multiple of the value that is safe. */
typedef struct armilla_weight {
    double value;
    bool relative;
} armilla_weight;

/* Reads "0.3x" or "5"; false where it is neither. */
bool armilla_weight_read(const char *text, armilla_weight *weight);
double armilla_weight_apply(armilla_weight weight, double safe);

/* When to stop; what a solver and its tests share. */
typedef struct armilla_stop_rule {
    int64_t max_iter;
    double tol;
    bool automatic;      /* no tolerance was given */
    bool eases;          /* also when the last fifth of the iterations has brought little (armilla_stop_decide) */
    double time_limit;   /* 0: none */
    double noise;        /* eps*||X||^2: what h cannot tell from 0 */
    double squared_norm; /* ||X||^2 */
} armilla_stop_rule;

/* True where the fit ends with the last entry of the trace, and why. */
bool armilla_stop_decide(const armilla_stop_rule *rule, const armilla_trace *trace, bool interrupted,
                         armilla_stop *reason);

/* What of ||X||^2 = 1 may be still to be gained where a start that is a result ends, and h is left. */
double armilla_stop_allowance(const armilla_stop_rule *rule, double h);

/* A guess of the iteration at which it is going to stop; and the least and the most of the iterations until then that is
 * likely, in multiples of their number. */
typedef struct armilla_stop_guess {
    double last;
    double soonest, latest;
} armilla_stop_guess;

/* By the trace so far. */
armilla_stop_guess armilla_stop_expect(const armilla_stop_rule *rule, const armilla_trace *trace);

typedef struct armilla_problem_options {
    const armilla_basis_set *basis;
    const armilla_code_set *codes;
    int64_t r, s;
    armilla_type type;
    double radius; /* kept where > 0 */
    bool
        descent_suffices; /* codes that descend from the previous ones are as good as any, see armilla_descent_suffices */
    int passes;           /* of coordinate descent over the basis per sweep, see armilla_basis_passes */
    armilla_weight lambda, mu;
    bool whole;    /* no sweep is of some samples alone */
    bool settles;  /* the solver has nothing to add to a start that has settled */
    bool seals;    /* the fit ends in the canonical form, which chooses signs */
    int64_t batch; /* samples of a block; 0: automatic */
    uint64_t seed; /* of the order of blocks */
    armilla_stop_rule stop;
    armilla_callback callback;
    void *callback_user;
    double clock_start; /* when the data were ready */
} armilla_problem_options;

/* Samples that a model has been fitted to and that are no longer there: what is remembered of them
 * (docs/algorithm.md#new-samples), of unit codes. */
typedef struct armilla_past {
    double *A, *G; /* m x r, r x r */
    double seen;   /* samples that these stand for */
    double total;  /* samples so far */
} armilla_past;

typedef struct armilla_problem {
    armilla_context *context;
    const armilla_data *X;
    armilla_problem_options options;
    int64_t m, n, r;
    double squared_norm;         /* ||X||^2 */
    const double *squared_norms; /* ||x_j||^2, n */
    armilla_samples share;       /* the samples of this rank: what there is of arrays with a column for each */

    /* The state, which armilla_problem_list lists. */
    double *U;        /* m x r */
    void *W;          /* r x n unit codes in the working type */
    double l;         /* the radius */
    double objective; /* h of the state */
    bool given;       /* the start was given, so that no solver may improve on it beforehand */
    bool screened;    /* the start is a basis that was fitted to a sketch of X: its codes come first */
    bool settled;     /* the start is the result, as far as the tolerance goes; there is no A of its codes */
    bool sealed;      /* by the last code solve: codes are those of transform */
    bool
        unfinished; /* the last iteration was not ended, and what its entry says of the objective is that of the one before */
    armilla_trace *trace;
    double usual; /* iterations of the fits before this one, on average; 0: there was none */
    armilla_stop stop;
    int64_t extra_sweeps; /* passes over X that the start made by other sweeps */

    /* What follows from U alone. */
    void *U_typed; /* the same numbers in the working type */
    double *H;     /* U'U */

    double *U_next;     /* workspace of a basis step */
    double code_scale;  /* of q before the first codes are projected: 1 for codes on a sphere */
    bool radius_stays;  /* no radius step: it was given */
    armilla_past *past; /* of a model that is continued on new samples, and at the end of it with these; NULL: none */
    bool basis_only;    /* only the basis is wanted: no last code solve */

    armilla_algebra *algebra;
    armilla_sweep *sweep; /* A = XW', G = WW', <C,W> of the codes that it made last */
} armilla_problem;

/* How many counters steps may have per component. */
enum { ARMILLA_TALLY_PER_ROW = 4 };

armilla_status armilla_problem_new(armilla_context *context, const armilla_data *X,
                                   const armilla_problem_options *options, double squared_norm,
                                   const double *squared_norms, armilla_problem **problem);
void armilla_problem_free(armilla_problem *problem);

/* The state between two steps of a solver, and the passes over X so far, which count while there is no state yet, too. */
void armilla_problem_list(armilla_problem *problem, armilla_state_list *list);
void armilla_problem_list_passes(armilla_problem *problem, armilla_state_list *list);

/* U = next, rounded to the working type, with H; *moved, where given, = ||next - U||_F. */
void armilla_problem_set_basis(armilla_problem *problem, const double *next, double *moved);

/* The same for codes that are assignments, so that G is diagonal: only the diagonal of H. */
void armilla_problem_set_atoms(armilla_problem *problem, const double *next, double *moved);

/* A sweep that changes the state in its place, and so is not abandoned when the call is to end. */
armilla_status armilla_problem_sweep(armilla_problem *problem, const armilla_sweep_plan *plan);

/* (A3): h of the state from its sums. */
double armilla_problem_objective(const armilla_problem *problem);

/* sqrt(h / ||X||^2), also where the quotient overflows. */
double armilla_relative_error(double h, double squared_norm);

/* <UW,UW> = <H,G> */
double armilla_problem_product_square(const armilla_problem *problem);

/* Adds the state to the trace and calls back; *ended and problem->stop say whether that ends the fit. */
armilla_status armilla_problem_record(armilla_problem *problem, double dU, double dV, bool *ended);

/* The same where h of the state is known and the sums are those of another. */
armilla_status armilla_problem_record_as(armilla_problem *problem, double h, double dU, double dV, bool *ended);
/* Records an iteration that the end of the call interrupts after it has changed the state: no callback is called. */
armilla_status armilla_problem_record_unfinished(armilla_problem *problem, double dU, double dV);

/* The same for a start, whose h the problem has. */
armilla_status armilla_problem_record_start(armilla_problem *problem, bool *ended);

/* The same for an iteration that changed nothing. */
armilla_status armilla_problem_repeat(armilla_problem *problem, bool *ended);

/* (A7): l = <X,UW>/<UW,UW>, skipped where the radius stays or no positive one exists. Returns ||V_new - V_old||_F
 * for the codes that the last sweep changed. */
double armilla_radius_step(armilla_problem *problem);

/* A solver improves the problem's state step by step, an iteration or less each, until armilla_problem_record says that
 * it is ended. What the next step needs is in the problem and in the solver's own state, self, and listed there;
 * nothing else lives from one step to the next, so that a fit can be saved and restored between any two. A step leaves
 * the last complete state where the call in progress is to end (base/call.h), at the price of one sweep at most. */
typedef struct armilla_solver {
    const char *name;
    const char *meaning;
    /* Stored codes are codes(U, l, X) by a last code solve, whose objective may differ a little from the trace's last. */
    bool sealed;
    bool descends;                        /* h never rises, as far as the weights of a step are safe */
    bool settles;                         /* takes a start that has settled for the result */
    bool blocks;                          /* visits the data in blocks, whose size is an option */
    bool weighs;                          /* its steps have weights, which are options */
    bool eases;                           /* may end when little is still to be gained */
    const struct armilla_solver *screens; /* screens starts on a sketch where the data are many; NULL: none does */
    bool positive;                        /* needs data >= 0, and a start without zeros, which would stay */
    /* The pairs that it is for, NULL: all, and in words. */
    bool (*takes)(const armilla_basis_set *basis, const armilla_code_set *codes);
    const char *needs;
    size_t (*bytes)(const armilla_problem_options *options); /* of self */
    /* Self is zeroed: what the options say of it, and objects; then its arrays are taken by the list. NULL: nothing. */
    armilla_status (*open)(armilla_problem *problem, void *self);
    void (*close)(void *self);
    armilla_state_lister list;
    /* From the problem's state, which is a start. */
    void (*begin)(armilla_problem *problem, void *self);
    armilla_status (*step)(armilla_problem *problem, void *self, bool *ended);
    /* After the last step: what is no part of a step. NULL: nothing. */
    void (*finish)(armilla_problem *problem, void *self);
} armilla_solver;

/* A solver at work on a problem. */
typedef struct armilla_run {
    armilla_problem *problem; /* NULL where nothing is open */
    const armilla_solver *solver;
    void *self;
} armilla_run;

/* Memory for it. */
armilla_status armilla_run_open(armilla_run *run, armilla_problem *problem, const armilla_solver *solver);
void armilla_run_close(armilla_run *run);
/* From the problem's start; then steps until one says that it was the last. */
void armilla_run_begin(armilla_run *run);
armilla_status armilla_run_step(armilla_run *run, bool *ended);
/* The problem's state and the solver's. */
void armilla_run_list(armilla_run *run, armilla_state_list *list);

const armilla_solver *armilla_solvers_row(size_t index);
const armilla_solver *armilla_solvers_find(const char *name);

extern const armilla_solver armilla_solver_fast, armilla_solver_palm, armilla_solver_mu, armilla_solver_online;

#endif
