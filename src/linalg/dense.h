/* Thin dense algebra in double, column-major: what the U step and the starts need. The only caller of BLAS and
 * LAPACK, always on one thread (armilla_blas_enter), so that results do not depend on thread counts. */
#ifndef ARMILLA_LINALG_DENSE_H
#define ARMILLA_LINALG_DENSE_H

#include "base/context.h"
#include "base/team.h"

/* Between enter and leave BLAS, loaded where it was not, runs on one thread; pairs nest and may overlap between threads
 * of the host program, whose own setting comes back with the last leave. So many threads will call it at once. A failure
 * (see armilla_blas_load) has not entered. */
armilla_status armilla_blas_enter(armilla_context *context, int threads);
void armilla_blas_leave(void);

/* The same, but BLAS is loaded by what first needs it: more columns than ARMILLA_SMALL. */
armilla_status armilla_blas_enter_idle(armilla_context *context, int threads);
/* Loads it where products of matrices with so many columns are made by it. */
armilla_status armilla_blas_need(armilla_context *context, int64_t columns);

/* Memory for the algebra of m x r matrices; made once, so that steps allocate nothing: but for the first
 * ill-conditioned polar factor of few columns, which loads LAPACK. */
typedef struct armilla_algebra armilla_algebra;
armilla_status armilla_algebra_new(armilla_context *context, int64_t m, int64_t r, armilla_algebra **algebra);
/* For eigenproblems of up to r columns, and nothing else. */
armilla_status armilla_algebra_new_eigen(armilla_context *context, int64_t r, armilla_algebra **algebra);
void armilla_algebra_free(armilla_algebra *algebra);

/* Gives the algebra a team, for the steps that run row by row; NULL takes it back. */
void armilla_algebra_set_team(armilla_algebra *algebra, const armilla_team *team);

typedef void (*armilla_rows)(void *self, int64_t block, int64_t first, int64_t last);
/* Runs body on blocks of rows, at most ARMILLA_ROW_BLOCKS, on the team where there is one. Blocks depend on m and
 * the algebra's r alone, so results do not depend on the team. */
enum { ARMILLA_ROW_BLOCKS = 64 };
void armilla_by_rows(const armilla_algebra *algebra, int64_t m, armilla_rows body, void *self);
int64_t armilla_row_blocks(const armilla_algebra *algebra, int64_t m);

/* G = B'B (r x r, both halves) for B m x r. */
void armilla_gram(int64_t m, int64_t r, const double *B, double *G);
/* The same for a B of the algebra's size, on the team where there is one. Rows are summed in parts that depend on m
 * alone: its bits are always the same, but not always those of armilla_gram. */
void armilla_gram_by_rows(const armilla_algebra *algebra, const double *B, double *G);

/* U <- UK for U of the algebra's size and K r x r, and of the result G = U'U: one pass over the rows, on the team where
 * there is one, with bits that depend on m alone. G is not K; NULL: it is not wanted. */
void armilla_multiply_in_place(const armilla_algebra *algebra, const double *K, double *U, double *G);
/* U = M times the power of two that brings its largest entry near 1, and G = U'U, likewise. M may be U. False where an
 * entry is not finite. */
bool armilla_scale_tall(const armilla_algebra *algebra, const double *M, double *U, double *G);

/* to = from; and ||a - b||_F. Matrices of the algebra's size, on the team. */
void armilla_copy_tall(const armilla_algebra *algebra, const double *from, double *to);
double armilla_distance_tall(const armilla_algebra *algebra, const double *a, const double *b);

/* Z = alpha*B*K + beta*Z for B m x r, K r x c, Z m x c. */
void armilla_multiply(int64_t m, int64_t r, int64_t c, double alpha, const double *B, const double *K, double beta,
                      double *Z);
/* The same for rows first ... last-1 alone. */
typedef struct armilla_product {
    int64_t m, r, c;
    double alpha, beta;
    const double *B, *K;
    double *Z;
} armilla_product;
void armilla_multiply_rows(const armilla_product *product, int64_t first, int64_t last);

/* Z = B'K for B m x r, K m x c, Z r x c. */
void armilla_inner(int64_t m, int64_t r, int64_t c, const double *B, const double *K, double *Z);

/* sum_i a_i b_i, sqrt(sum a_i^2) without overflow or underflow on the way. */
double armilla_dot(int64_t count, const double *a, const double *b);
/* The same sum term by term: of few numbers, such as a code. */
static inline double armilla_dot_in_order(int64_t count, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}
double armilla_norm(int64_t count, const double *a);
/* a = its direction; returns its length. 0 stays 0. */
double armilla_make_unit(int64_t count, double *a);

/* The power of two that brings the largest |a_i - b_i| near enough to 1 for its square; b may be NULL. 0 where all are
 * 0, and NaN where one is. */
double armilla_safe_scale(int64_t count, const double *a, const double *b);
/* ||a - b||; b may be NULL */
double armilla_distance(int64_t count, const double *a, const double *b);

/* The upper triangle of a symmetric k x k matrix from the lower one. */
void armilla_reflect(int64_t k, double *S);

/* Eigenvalues (rising) and eigenvectors of the symmetric k x k matrix S, k <= the algebra's r; vectors may be S. */
armilla_status armilla_eigen(armilla_algebra *algebra, int64_t k, const double *S, double *values, double *vectors);
/* Eigenvalues alone; S is destroyed. */
armilla_status armilla_eigenvalues(armilla_algebra *algebra, int64_t k, double *S, double *values);

/* sigma_1 of the symmetric positive semidefinite r x r matrix; from 128 columns on an upper bound that is at most
 * 1/4000 above it. */
armilla_status armilla_largest_eigenvalue(armilla_algebra *algebra, int64_t r, const double *S, double *largest);

/* U = the polar factor of M (A4): argmax over U'U = I of tr(U'M). m >= r. U may be M. A rank-deficient M has its basis
 * completed by a fixed rule. ARMILLA_BAD_DATA where M is not finite. */
armilla_status armilla_polar(armilla_algebra *algebra, const double *M, double *U);

#endif
