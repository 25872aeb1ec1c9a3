/* The column problem (codes(U, l, x), docs/algorithm.md#codes-of-new-samples): min ||x - Uv||^2 over v = lw in a code
 * set. With c = U'x, H = U'U and d = c/l that is
 *
 *     min g(w) = w'Hw - 2d'w   over unit w in the set,
 *
 * a problem in r numbers: a function of the sample alone, so codes do not depend on batch, order or history. */
#ifndef ARMILLA_SETS_COLUMN_H
#define ARMILLA_SETS_COLUMN_H

#include "linalg/descent_kernels.h"
#include "linalg/kernels.h"
#include "linalg/thin_kernels.h"
#include "sets/sets.h"

typedef struct armilla_supports armilla_supports;

/* What a column problem is set up for: descent alone; solving, but only roughly where that saves much, or closely enough for
 * codes that will descend from there; the codes that are stored. */
typedef enum armilla_effort { ARMILLA_DESCEND, ARMILLA_ROUGHLY, ARMILLA_CLOSELY, ARMILLA_SOLVE } armilla_effort;

/* H as the kernels of descent have it: in their type, and divided by 2^exponent. */
typedef struct armilla_typed_gram {
    const armilla_descent_kernels *kernels;
    int lanes; /* columns side by side */
    const void *H;
    const void *cone;           /* of codes that descend over a cone, as set_cone of the kernels has it */
    const void *rows, *columns; /* of F, where H = F'F is less work by it; else NULL */
    double alpha;
    int exponent;
} armilla_typed_gram;

/* What all columns share. */
struct armilla_column_problem {
    const armilla_code_set *codes;
    int64_t r, s;
    bool exact;          /* H = I: Proj(d) is the answer for every set */
    bool spherical;      /* the set is a sphere's, and H is not I */
    bool spectral;       /* the set's solver needs the eigenvalues and eigenvectors of H */
    const double *H;     /* r x r */
    double *scaled;      /* space for it, where its squares could overflow or underflow */
    int exponent;        /* H and d are divided by 2^exponent there: w does not see it; else 0 */
    double *values;      /* eigenvalues of H, rising */
    double *gaps;        /* how far they are above the least (armilla_secular_gaps) */
    double *vectors;     /* its eigenvectors, each with its largest entry positive */
    double *factor;      /* F with H = F'F, by rows and then by columns, where that is less; NULL: not looked for */
    int64_t factor_rank; /* rows of F; 0: H is as good */
    double alpha;        /* the largest of them */
    armilla_supports *supports; /* of sparse codes, where they are few; NULL else */
    armilla_typed_gram typed;
    double *cone;  /* space for typed.cone, where codes descend over a cone, else NULL */
    float *single; /* space for it in single precision, where that may be used for all but stored codes; else NULL */
    const armilla_thin_kernels *thin;
    armilla_effort effort;
    armilla_context *context;
};

/* Eigenvalues of H = U'U that are smaller beside the largest are rounding. */
#define ARMILLA_NO_DIRECTION 1e-14

/* How many numbers solvers may use for rank r. */
int64_t armilla_column_workspace(int64_t r);

/* Memory for rank r and the set; armilla_column_problem_set fills it for a basis' Gram matrix, which is borrowed. */
armilla_status armilla_column_problem_new(armilla_context *context, const armilla_code_set *codes, int64_t r, int64_t s,
                                          bool exact, armilla_column_problem **problem);
/* From now on codes that are not stored may be found in single precision. */
armilla_status armilla_column_problem_allow_single(armilla_column_problem *problem);
armilla_status armilla_column_problem_set(armilla_column_problem *problem, armilla_algebra *algebra, const double *gram,
                                          armilla_effort effort);
/* The set that codes of r numbers, at most s of them nonzero, are solved in: with s = r that without sparsity, which costs
 * less and finds more. */
const armilla_code_set *armilla_codes_limited(const armilla_code_set *codes, int64_t r, int64_t s);
/* Whether armilla_column_solve gives the global minimum, so that no other code of the set is better, for any basis of r
 * atoms. */
bool armilla_codes_are_global(const armilla_code_set *codes, int64_t r, int64_t s);
void armilla_column_problem_free(armilla_column_problem *problem);

/* What c is divided by to get d: the radius, times the scale of H; or 1 where Proj is the answer, which does not see
 * the scale and then has the same bits with any radius. */
double armilla_column_unit(const armilla_column_problem *problem, double l);

/* w = the code of d by the set's solver; by Proj where the problem is exact; the first axis where d = 0. */
void armilla_column_solve(const armilla_column_problem *problem, const double *d, double *w, double *workspace);

/* The scaling that all codes of the problem are made by, and nothing else; NULL: there is more to do. */
armilla_scaling armilla_column_scaling(const armilla_column_problem *problem);

/* g(w) */
double armilla_column_value(const armilla_column_problem *problem, const double *d, const double *w);

/* Up to `steps` accelerated steps, one column: w <- Proj(d + (alpha*I - H)y), y ahead of w where that has helped; g
 * never rises. Ends early where no entry of w moves by more than settled. workspace: 6r. */
#define ARMILLA_SETTLED 1e-14 /* as exact as it gets */
void armilla_column_descend(const armilla_column_problem *problem, const double *d, int steps, double settled,
                            double *w, double *workspace);

/* Columns of C = U'X and where their codes stand; both are r x count. */
typedef struct armilla_column_batch {
    int64_t count;
    const double *C;
    double unit; /* d = c/unit, see armilla_column_unit */
    double *W;
} armilla_column_batch;

/* The same for a batch. Column j's code does not depend on the others, and is the one that a call for it alone gives. */
void armilla_columns_solve(const armilla_column_problem *problem, const armilla_column_batch *batch, double *workspace);
void armilla_columns_descend(const armilla_column_problem *problem, const armilla_column_batch *batch,
                             const armilla_column_steps *steps, double *workspace);

/* For the sets' solvers. */

/* product = Hw, with as many columns of H as w has nonzeros. */
void armilla_gram_multiply(const armilla_column_problem *problem, const double *w, double *product);

/* Lanes of the kernels' type from and to a column of double; H and d have the scale of problem->H in the column. */
void armilla_lane_get(const armilla_column_problem *problem, const void *lanes, int64_t lane, bool is_d,
                      double *column);
void armilla_lane_put(const armilla_column_problem *problem, const double *column, int64_t lane, void *lanes);
void armilla_lane_copy(const armilla_column_problem *problem, const void *from, int64_t lane, void *to);

/* g on the unit circle cos(t)*a + sin(t)*b: aa = a'Ha, ab = a'Hb, bb = b'Hb, p = d'a, q = d'b. */
typedef struct armilla_circle {
    double aa, ab, bb, p, q;
    bool quarter; /* only t in [0, pi/2] */
} armilla_circle;

typedef struct armilla_circle_point {
    double value;        /* g there */
    double cosine, sine; /* of t */
} armilla_circle_point;

/* The point of the circle with the least g. */
armilla_circle_point armilla_circle_minimum(const armilla_circle *circle);
/* A number that g is nowhere below on the circle: near the least g where a small turn from t = 0 (or from t = pi, where p is
 * negative) reaches it. */
double armilla_circle_bound(const armilla_circle *circle);

/* The unit w that minimises sum_i values_i w_i^2 - 2b_i w_i: the secular equation with its hard case. values rise. */
void armilla_secular(int64_t r, const double *values, const double *b, double *w);
/* How far each value is above the least; 0 where it is so near that it counts as the same. */
void armilla_secular_gaps(int64_t r, const double *values, double *gaps);

/* Least squares on some atoms, `member`: LL' = H on them, and LL'z = d. */
typedef struct armilla_refit {
    const armilla_column_problem *problem;
    const double *d;
    double
        dependent; /* a pivot that is smaller beside its own entry of H says that an atom depends on those before it */
    int64_t *member;
    double *L, *z; /* size x size, size */
} armilla_refit;
/* Solves for the first `size` members; false where they depend on each other. */
bool armilla_refit_members(const armilla_refit *refit, int64_t size);

/* w = the minimiser over w >= 0, sought from w >= 0. workspace: r*r + 3r. */
void armilla_solve_by_active_set(const armilla_column_problem *problem, const double *d, double *w, double *workspace);

/* What g is nowhere below on the sphere, and what it is measured by: the square of the sample's part that atoms reach. */
typedef struct armilla_ball_bound {
    double least, size;
} armilla_ball_bound;

/* Whether H has a factor with so few rows that codes in the ball are found quickly. */
bool armilla_ball_helps(const armilla_column_problem *problem);
/* The bound of a code that fits the sample; workspace: r. */
armilla_ball_bound armilla_ball_bound_of(const armilla_column_problem *problem, const double *d, double *workspace);
/* w = the best nonnegative code in the ball, made one of length 1, where that lowers g. workspace: 3r + r*r. */
armilla_ball_bound armilla_solve_in_ball(const armilla_column_problem *problem, const double *d, double *w,
                                         double *workspace);

/* A support with no more members than this has every exchange of a member for an atom outside tried, and up to twice as
 * many accepted as it has members; for a larger one the most promising exchanges are tried, and as many accepted as for
 * this size. */
enum { ARMILLA_FEW_MEMBERS = 16, ARMILLA_PROMISING = 12 };
int64_t armilla_sparse_swaps(int64_t s);
/* The count-th least of r numbers, the last where they are fewer; count is at most ARMILLA_PROMISING. */
double armilla_few_least(int64_t r, int64_t count, const double *numbers);

/* solves_cheaply of sets that always do, never do, and do for one atom. */
bool armilla_solves_at_once(int64_t r, int64_t s);
bool armilla_solves_slowly(int64_t r, int64_t s);
bool armilla_sparse_solves_cheaply(int64_t r, int64_t s);

/* Solves the sparse problems of both sign rules; r >= s. */
void armilla_solve_sparse(const armilla_column_problem *problem, const double *d, double *w, double *workspace);

#endif
