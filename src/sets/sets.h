/* The constraint sets: one file and one row each. Basis sets say how U moves, code sets what a code may be. */
#ifndef ARMILLA_SETS_SETS_H
#define ARMILLA_SETS_SETS_H

#include "linalg/dense.h"

typedef struct armilla_column_problem armilla_column_problem;

/* Steps of descent of a code: so many at most, or until one moves no entry by more than a part of the largest, or (of sets
 * that descend) of what the first moved one by. */
typedef struct armilla_column_steps {
    int most;
    double settled, little;
} armilla_column_steps;

/* A basis U (m x r) and the sums that its next step is made of: A = XW' and G = WW' are of unit codes, V = lW. */
typedef struct armilla_basis_step {
    int64_t m, r;
    const double *U, *A, *G;
    double l;
    double mu; /* weight of staying near U */
} armilla_basis_step;

/* A step of the basis from fixed sums, see the solvers. */
typedef struct armilla_basis_set {
    const char *name;
    const char *alias; /* the paper's; NULL where it has none */
    const char *meaning;
    bool gram_is_identity;  /* U'U = I: lambda = 2 makes (A6) exact, and needs r <= m */
    bool is_signed;         /* entries of U may be negative, so u_k may be flipped */
    bool scalable;          /* atoms may have any length */
    bool one_atom_per_row;  /* a row of U has at most one nonzero: it chooses an atom */
    bool needs_conic_codes; /* a step of U scales the rows of V */
    bool entrywise;         /* the set asks of every entry of U to be at least `floor`, and nothing else */
    double floor;
    /* M (m x r) becomes the set's nearest point to it, for starts. */
    armilla_status (*nearest)(armilla_algebra *algebra, int64_t m, int64_t r, double *M);
    /* (A5): next = the proximal step from U along 2(XV' - UVV') with weight mu; it may not be U. NULL where the set's
     * nearest point is not known. */
    armilla_status (*proximal)(armilla_algebra *algebra, const armilla_basis_step *step, double *next);
    /* How far U is from the set: largest |U'U - I|, or the most negative entry. Plain loops, no BLAS. */
    double (*violation)(int64_t m, int64_t r, const double *U);
    /* u, one atom by itself, becomes the set's nearest point to it; false, with u untouched, where there is none. NULL
     * where atoms depend on each other: then there is `exact`. */
    bool (*atom)(int64_t m, double *u);
    /* U = argmin ||X - UV||^2 from A = XV' and G = VV', scaled rows of V allowed where the set needs such codes; for
     * sets with U'U = I. next may not be A. */
    armilla_status (*exact)(armilla_algebra *algebra, int64_t m, int64_t r, const double *A, const double *G,
                            double *next);
} armilla_basis_set;

typedef struct armilla_code_set {
    const char *name;
    const char *alias;
    const char *meaning;
    bool sparse;                          /* takes a sparsity s */
    const struct armilla_code_set *whole; /* of a sparse set: what it is where s leaves nothing out */
    bool nonnegative;                     /* entries are >= 0 */
    bool spherical; /* codes are lw, w of unit length and l learned; else there is no radius: l = 1 and w is the code */
    bool conic;     /* entries may be scaled, each by its own positive number; neither: an entry is 0 or 1 */
    bool scales;    /* project is q scaled to length 1, and no more */
    /* w = argmax over unit w in the set of <w, q> (docs/algorithm.md#projections); q and w are r numbers and may not
     * overlap. false, with w untouched or overwritten by scratch, where q = 0 has no direction: the caller decides.
     * Codes that are not on a sphere: the nearest to q, and always true. */
    bool (*project)(int64_t r, int64_t s, const double *q, double *w);
    /* w = argmin over unit w in the set of w'Hw - 2d'w, as exact as can be (sets/column.h); NULL where
     * solve_lanes does it. workspace: armilla_column_workspace(r) numbers. */
    void (*solve)(const armilla_column_problem *problem, const double *d, double *w, double *workspace);
    /* The same for columns side by side (linalg/descent_kernels.h) in the type of problem->typed, and steps of descent from
     * w; NULL: each by itself. */
    void (*solve_lanes)(const armilla_column_problem *problem, const void *d, void *w, double *workspace);
    void (*descend_lanes)(const armilla_column_problem *problem, const armilla_column_steps *steps, const void *d,
                          void *w, double *workspace);
    /* The set is convex, and descent from any code leads to the best one: it takes the place of solving inside the
     * loop. Then descend_lanes is there and needs H alone. */
    bool descends;
    /* solve is global and costs little more than a projection, so that sweeps can use it. */
    bool (*solves_cheaply)(int64_t r, int64_t s);
} armilla_code_set;

/* A named pair. */
typedef struct armilla_named_model {
    const char *name;
    const char *basis, *codes;
    const char *pair; /* the two, for listings */
    const char *meaning;
    int64_t sparsity;      /* that the name stands for; 0: none, or given beside it */
    const char *normalize; /* that the name switches on, or NULL */
} armilla_named_model;

/* Rows by index (NULL past the last) and by name or alias (NULL where there is none). */
const armilla_basis_set *armilla_basis_row(size_t index);
const armilla_basis_set *armilla_basis_find(const char *name);
const armilla_code_set *armilla_codes_row(size_t index);
const armilla_code_set *armilla_codes_find(const char *name);
const armilla_named_model *armilla_models_row(size_t index);
const armilla_named_model *armilla_models_find(const char *name);
/* The model that stands for the pair with that sparsity and normalization, or NULL. */
const armilla_named_model *armilla_models_of_pair(const char *basis, const char *codes, int64_t sparsity,
                                                  const char *normalize);

/* Whether the two go together. */
bool armilla_pair_allowed(const armilla_basis_set *basis, const armilla_code_set *codes);
/* Whether codes of at most s nonzeros have one atom each, so that atoms are clusters. */
bool armilla_codes_have_one_atom(const armilla_code_set *codes, int64_t s);
/* Whether codes only choose an atom and each atom then moves by itself: alternation is Lloyd's iteration, and nothing
 * is added to it. */
bool armilla_pair_assigns(const armilla_basis_set *basis, const armilla_code_set *codes, int64_t s);
/* Whether every minimum is a global one and signs mean nothing (PCA), so that starts need no choice. */
bool armilla_pair_is_pca(const armilla_basis_set *basis, const armilla_code_set *codes);

extern const armilla_basis_set armilla_basis_orthonormal, armilla_basis_nonnegative, armilla_basis_free,
    armilla_basis_unit, armilla_basis_orthonormal_nonneg;
extern const armilla_code_set armilla_codes_sphere, armilla_codes_nonneg_sphere, armilla_codes_sparse_sphere,
    armilla_codes_nonneg_sparse_sphere, armilla_codes_free, armilla_codes_nonneg, armilla_codes_sparse,
    armilla_codes_one_hot;

/* For the basis sets' files. */
/* next = max(U + (2/mu)(XV' - UVV'), floor) */
void armilla_gradient_step(armilla_algebra *algebra, const armilla_basis_step *step, double floor, double *next);
/* max |U'U - I|, and the most negative entry as a positive number; NaN where there is one. */
double armilla_skewness(int64_t m, int64_t r, const double *U);
double armilla_most_negative(int64_t count, const double *U);
/* How many nonzeros the fullest row of U has. */
int64_t armilla_fullest_row(int64_t m, int64_t r, const double *U);

/* For the code sets' files. */
/* w = q scaled to length 1, without overflow or underflow; entries that are not kept must be 0. false for q = 0. */
bool armilla_unit(int64_t r, const double *q, double *w);
/* The same for columns of many entries, right to one rounding more. */
bool armilla_unit_long(int64_t r, const double *q, double *w);
/* w = e_k */
void armilla_axis(int64_t r, int64_t k, double *w);
/* w = the s entries of q that are largest in absolute value, or, where positive is set, the s largest of the positive
 * ones; 0 elsewhere. Ties go to the lowest index. */
void armilla_keep_largest(int64_t r, int64_t s, bool positive, const double *q, double *w);

#endif
