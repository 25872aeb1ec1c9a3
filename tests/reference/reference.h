/* Slow, obvious implementations in plain loops, without BLAS and without anything of src/: what the library must
 * agree with. Matrices are column-major doubles; sums are long double where that costs nothing. The functions
 * assert by cmocka, so they are called from tests only. */
#ifndef ARMILLA_TESTS_REFERENCE_H
#define ARMILLA_TESTS_REFERENCE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <armilla/armilla.h>

/* The context of the test program, for cmocka_run_group_tests(tests, reference_set_up, reference_tear_down). */
extern armilla_context *reference_context;
int reference_set_up(void **state);
int reference_tear_down(void **state);

/* What is being tested now, in words: printed when one of the checks below fails. */
void reference_scene(const char *format, ...) __attribute__((format(printf, 1, 2)));
void reference_at_most(double value, double limit, const char *text, const char *file, int line);
void reference_near(double value, double wanted, double tolerance, const char *text, const char *file, int line);
void reference_holds(bool truth, const char *text, const char *file, int line);
void reference_status(armilla_status status, armilla_status wanted, const char *text, const char *file, int line);

/* NaN never passes. */
#define REFERENCE_AT_MOST(value, limit) reference_at_most((double)(value), (double)(limit), #value, __FILE__, __LINE__)
#define REFERENCE_NEAR(value, wanted, tolerance)                                                                       \
    reference_near((double)(value), (double)(wanted), (double)(tolerance), #value, __FILE__, __LINE__)
#define REFERENCE_HOLDS(truth) reference_holds((truth), #truth, __FILE__, __LINE__)
#define REFERENCE_STATUS(call, wanted) reference_status((call), (wanted), #call, __FILE__, __LINE__)
#define REFERENCE_OK(call) REFERENCE_STATUS(call, ARMILLA_OK)
/* The message about the last failure has the words. */
void reference_says(const char *words, const char *file, int line);
#define REFERENCE_SAYS(words) reference_says((words), __FILE__, __LINE__)

/* usual, or slow where everything takes ten to fifty times as long: ARMILLA_VALGRIND is set, or ARMILLA_EFFORT is "few". */
int64_t reference_effort(int64_t usual, int64_t slow);
/* Whether long double has the digits and the range that it promises; under valgrind it is a double. References in it are
 * no better than what they judge there, and OpenBLAS' norms, which rely on it, overflow. */
bool reference_wide(void);

/* Zeroed; released by free(). */
double *reference_new(int64_t count);
double *reference_copy(int64_t count, const double *from);

/* Random numbers by splitmix64 from a state that the test seeds. */
uint64_t reference_bits(uint64_t *random);
double reference_uniform(uint64_t *random); /* [0, 1) */
double reference_normal(uint64_t *random);
int64_t reference_below(uint64_t *random, int64_t bound); /* 0 ... bound-1 */
void reference_fill_uniform(uint64_t *random, int64_t count, double *to);
void reference_fill_normal(uint64_t *random, int64_t count, double *to);

/* C = AB, A m x k, B k x n; C = A'B, A m x k, B m x n; C = AB', A m x n, B k x n. */
void reference_multiply(int64_t m, int64_t k, int64_t n, const double *A, const double *B, double *C);
void reference_left_transposed(int64_t m, int64_t k, int64_t n, const double *A, const double *B, double *C);
void reference_right_transposed(int64_t m, int64_t n, int64_t k, const double *A, const double *B, double *C);
double reference_dot(int64_t count, const double *a, const double *b);
double reference_norm(int64_t count, const double *a);
double reference_distance(int64_t count, const double *a, const double *b);
double reference_largest(int64_t count, const double *a); /* max |a_i| */
/* max |U'U - I| */
double reference_skewness(int64_t m, int64_t r, const double *U);

/* One-sided Jacobi: A = left diag(sigma) right', A m x r, sigma falling. left has columns of 0 where sigma is 0. */
void reference_svd(int64_t m, int64_t r, const double *A, double *left, double *sigma, double *right);
/* left right'; for matrices of full rank. */
void reference_polar(int64_t m, int64_t r, const double *M, double *U);
/* Two-sided Jacobi: eigenvalues of the symmetric matrix, rising. */
void reference_eigenvalues(int64_t r, const double *S, double *values);

/* ||X - UV||^2 by the residual itself. */
double reference_objective(int64_t m, int64_t n, int64_t r, const double *X, const double *U, const double *V);

/* A pair of sets, by the reference's own knowledge of what the names mean. */
typedef struct reference_pair {
    const char *basis, *codes;
    bool orthonormal; /* else nonnegative */
    bool nonnegative_codes;
    bool sparse;
    /* Beyond the paper's eight. */
    bool signed_basis; /* not nonnegative although not orthonormal */
    bool unit;         /* atoms of length 1 */
    bool disjoint;     /* orthonormal and nonnegative */
    bool flat;         /* codes are not on a sphere */
    bool one_hot;
} reference_pair;

enum { REFERENCE_PAIRS = 8 };
extern const reference_pair reference_pairs[REFERENCE_PAIRS];
/* All pairs that the library's tables allow, the eight included; count at most REFERENCE_FAMILY. */
enum { REFERENCE_FAMILY = 35 };
extern const reference_pair reference_family[REFERENCE_FAMILY];
/* Fails the test where the names are not in the table. */
const reference_pair *reference_pair_find(const char *basis, const char *codes);

/* By trying every support, r <= 16: values[s-1]*2^exponent = max <w, q> over unit w with at most s nonzeros (>= 0 where
 * nonnegative), the exponent being returned; and a maximiser for one s (an axis where q = 0 or no value is positive). */
int reference_projection_values(int64_t r, bool nonnegative, const double *q, long double *values);
void reference_project(int64_t r, int64_t s, bool nonnegative, const double *q, double *w);

/* The paper's algorithm in the paper's own variables (docs/algorithm.md#the-solver-palm): V on the sphere of radius
 * l. */
typedef struct reference_palm {
    const reference_pair *pair;
    int64_t m, n, r, s; /* s = r where codes are not sparse */
    const double *X;
    double lambda, mu; /* as multiples of the safe values, or absolute */
    bool lambda_absolute, mu_absolute;
    double fixed_radius; /* 0: learned */
    double *U, *V, l;
    double objective, dU, dV; /* of the last step */
} reference_palm;

/* Takes a copy of U0, which must lie in its set, and applies the sign rule. */
void reference_palm_start(reference_palm *palm, const double *U0);
void reference_palm_step(reference_palm *palm);
void reference_palm_free(reference_palm *palm);

/* Factors of a pair: U of unit-length columns, V with columns of length l. */
void reference_random_basis(uint64_t *random, const reference_pair *pair, int64_t m, int64_t r, double *U);
void reference_random_codes(uint64_t *random, const reference_pair *pair, int64_t r, int64_t s, int64_t n, double l,
                            double *V);

/* Data of many sorts: X(name, word). */
#define REFERENCE_KIND_LIST(X)                                                                                         \
    X(REFERENCE_GAUSSIAN, "gaussian")                                                                                  \
    X(REFERENCE_UNIFORM, "uniform")                                                                                    \
    X(REFERENCE_PLANTED, "planted")                                                                                    \
    X(REFERENCE_NOISY, "planted with noise")                                                                           \
    X(REFERENCE_ZERO_ROWS, "zero rows")                                                                                \
    X(REFERENCE_ZERO_COLUMNS, "zero columns")                                                                          \
    X(REFERENCE_DUPLICATES, "duplicates")                                                                              \
    X(REFERENCE_CONSTANT, "constant")
#define REFERENCE_ENUM(name, word) name,
typedef enum reference_kind { REFERENCE_KIND_LIST(REFERENCE_ENUM) REFERENCE_KINDS } reference_kind;
#undef REFERENCE_ENUM
const char *reference_kind_word(reference_kind kind);

/* X, m x n. A planted X is l U W of the pair, with l = 3. */
void reference_data(uint64_t *random, reference_kind kind, const reference_pair *pair, int64_t m, int64_t n, int64_t r,
                    int64_t s, double *X);
/* The paper's synthetic data, 3 x n: half between the z axis and the plane x = z, half between it and y = z. */
void reference_cones(uint64_t *random, int64_t n, double *X);
void reference_round_to_f32(int64_t count, double *X);
/* The same numbers as floats; released by free(). */
float *reference_floats(int64_t count, const double *X);

/* One problem for the library: the numbers in the type, wrapped, and options to be changed by the test. */
typedef struct reference_trial {
    const reference_pair *pair;
    armilla_type type; /* of the data and of the arithmetic */
    int64_t m, n, r, s;
    double *X; /* as the library sees them: rounded where the type is f32 */
    void *typed;
    armilla_data *data;
    armilla_options options;
} reference_trial;

/* Takes a copy of X. Options: palm, one thread, 20 iterations without a tolerance. s counts for sparse codes only. */
void reference_trial_new(reference_trial *trial, const reference_pair *pair, armilla_type type, int64_t m, int64_t n,
                         int64_t r, int64_t s, const double *X);
void reference_trial_free(reference_trial *trial);
/* The same for solver `fast` on data of that sort; shape: m, n, r, s. */
void reference_trial_fast(reference_trial *trial, const reference_pair *pair, armilla_type type, reference_kind kind,
                          uint64_t *random, const int64_t shape[4]);
/* The trial in words, and what is being done with it, as the scene. */
void reference_trial_scene(const reference_trial *trial, const char *what);
/* A copy of `count` of its samples: first, first+step, ...; *data wraps it. The caller frees both, the data first. */
void *reference_trial_batch(const reference_trial *trial, int64_t first, int64_t count, int64_t step,
                            armilla_data **data);
/* Asserts that it succeeds. */
armilla_model *reference_trial_fit(const reference_trial *trial);

/* A matrix in compressed columns. */
typedef struct reference_sparse {
    armilla_type type;
    armilla_index index;
    int64_t m, n, entries;
    void *values, *features, *starts;
} reference_sparse;

/* The entries of X that are not 0; scrambled: unsorted and with duplicates, but the same matrix. */
void reference_sparse_new(reference_sparse *sparse, armilla_type type, armilla_index index, bool scrambled, int64_t m,
                          int64_t n, const double *X);
armilla_data *reference_sparse_wrap(const reference_sparse *sparse);
void reference_sparse_free(reference_sparse *sparse);
/* Positive numbers at a fraction of the places, 0 elsewhere. */
void reference_sprinkle(uint64_t *random, double density, int64_t count, double *X);

armilla_model_summary reference_summary(const armilla_model *model);
/* All entries of the trace, where the model has them. */
const armilla_trace_entry *reference_trace(const armilla_model *model, int64_t *count);
/* The factors of a model as doubles; released by free(). */
double *reference_model_basis(const armilla_model *model);
double *reference_model_codes(const armilla_model *model);

/* Asserts every promise about a fitted model against X, the prepared data as plain numbers, m x n; and, where raw is
 * not NULL, that armilla_model_check agrees about the data as they were given. monotone: the objective may not rise. */
void reference_verify(const armilla_model *model, const armilla_data *raw, const double *X, bool monotone);

#endif
