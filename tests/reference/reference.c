/* Checks that say what they were checking, random numbers, plain matrix algebra and brute-force projections. */
#include "reference/reference.h"

#include "unit/support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

armilla_context *reference_context;
static char scene[256];

int reference_set_up(void **state)
{
    (void)state;
    reference_context = support_context();
    return 0;
}

int reference_tear_down(void **state)
{
    (void)state;
    armilla_context_free(reference_context);
    reference_context = NULL;
    return 0;
}

void reference_scene(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(scene, sizeof scene, format, arguments);
    va_end(arguments);
}

void reference_at_most(double value, double limit, const char *text, const char *file, int line)
{
    if (value <= limit) return;
    print_error("[%s] %s = %.17g is above %.17g\n", scene, text, value, limit);
    _fail(file, line);
}

void reference_near(double value, double wanted, double tolerance, const char *text, const char *file, int line)
{
    if (fabs(value - wanted) <= tolerance) return;
    print_error("[%s] %s = %.17g, not %.17g up to %.3g (difference %.3g)\n", scene, text, value, wanted, tolerance,
                value - wanted);
    _fail(file, line);
}

void reference_holds(bool truth, const char *text, const char *file, int line)
{
    if (truth) return;
    print_error("[%s] %s is false\n", scene, text);
    _fail(file, line);
}

void reference_status(armilla_status status, armilla_status wanted, const char *text, const char *file, int line)
{
    if (status == wanted) return;
    print_error("[%s] %s gave '%s' (%s), not '%s'\n", scene, text, armilla_status_text(status),
                armilla_context_error(reference_context), armilla_status_text(wanted));
    _fail(file, line);
}

void reference_says(const char *words, const char *file, int line)
{
    if (strstr(armilla_context_error(reference_context), words)) return;
    print_error("[%s] the error '%s' does not say '%s'\n", scene, armilla_context_error(reference_context), words);
    _fail(file, line);
}

int64_t reference_effort(int64_t usual, int64_t slow)
{
    const char *effort = getenv("ARMILLA_EFFORT");
    return (effort && strcmp(effort, "few") == 0) || getenv("ARMILLA_VALGRIND") ? slow : usual;
}

bool reference_wide(void)
{
    volatile long double one = 1, tiny = LDBL_EPSILON;
    return LDBL_MANT_DIG > DBL_MANT_DIG && one + tiny != 1;
}

double *reference_new(int64_t count)
{
    double *made = calloc((size_t)(count > 0 ? count : 1), sizeof *made);
    assert_non_null(made);
    return made;
}

double *reference_copy(int64_t count, const double *from)
{
    double *made = reference_new(count);
    if (count > 0) memcpy(made, from, (size_t)count * sizeof *made);
    return made;
}

uint64_t reference_bits(uint64_t *random)
{
    uint64_t z = *random += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

double reference_uniform(uint64_t *random)
{
    return (double)(reference_bits(random) >> 11) * 0x1p-53;
}

double reference_normal(uint64_t *random)
{
    const double angle = 6.283185307179586 * reference_uniform(random);
    return sqrt(-2.0 * log(1.0 - reference_uniform(random))) * cos(angle);
}

int64_t reference_below(uint64_t *random, int64_t bound)
{
    return (int64_t)(reference_bits(random) % (uint64_t)bound);
}

void reference_fill_uniform(uint64_t *random, int64_t count, double *to)
{
    for (int64_t i = 0; i < count; i++) to[i] = reference_uniform(random);
}

void reference_fill_normal(uint64_t *random, int64_t count, double *to)
{
    for (int64_t i = 0; i < count; i++) to[i] = reference_normal(random);
}

void reference_multiply(int64_t m, int64_t k, int64_t n, const double *A, const double *B, double *C)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            long double sum = 0;
            for (int64_t p = 0; p < k; p++) sum += (long double)A[i + p * m] * B[p + j * k];
            C[i + j * m] = (double)sum;
        }
}

void reference_left_transposed(int64_t m, int64_t k, int64_t n, const double *A, const double *B, double *C)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t p = 0; p < k; p++) C[p + j * k] = reference_dot(m, A + p * m, B + j * m);
}

void reference_right_transposed(int64_t m, int64_t n, int64_t k, const double *A, const double *B, double *C)
{
    for (int64_t p = 0; p < k; p++)
        for (int64_t i = 0; i < m; i++) {
            long double sum = 0;
            for (int64_t j = 0; j < n; j++) sum += (long double)A[i + j * m] * B[p + j * k];
            C[i + p * m] = (double)sum;
        }
}

double reference_dot(int64_t count, const double *a, const double *b)
{
    long double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += (long double)a[i] * b[i];
    return (double)sum;
}

double reference_largest(int64_t count, const double *a)
{
    double largest = 0;
    for (int64_t i = 0; i < count; i++) largest = fmax(largest, fabs(a[i]));
    return largest;
}

/* Scaled by the largest entry, because long double has more range than double on some machines only. */
double reference_norm(int64_t count, const double *a)
{
    const double scale = reference_largest(count, a);
    long double sum = 0;
    if (scale == 0) return 0;
    for (int64_t i = 0; i < count; i++) sum += ((long double)a[i] / scale) * ((long double)a[i] / scale);
    return (double)(scale * sqrtl(sum));
}

double reference_distance(int64_t count, const double *a, const double *b)
{
    double *difference = reference_new(count);
    for (int64_t i = 0; i < count; i++) difference[i] = a[i] - b[i];
    const double distance = reference_norm(count, difference);
    free(difference);
    return distance;
}

double reference_skewness(int64_t m, int64_t r, const double *U)
{
    double worst = 0;
    for (int64_t k = 0; k < r; k++)
        for (int64_t p = 0; p <= k; p++) {
            const double error = fabs(reference_dot(m, U + k * m, U + p * m) - (p == k));
            if (isnan(error)) return error;
            worst = fmax(worst, error);
        }
    return worst;
}

double reference_objective(int64_t m, int64_t n, int64_t r, const double *X, const double *U, const double *V)
{
    long double sum = 0;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            long double residual = X[i + j * m];
            for (int64_t k = 0; k < r; k++) residual -= (long double)U[i + k * m] * V[k + j * r];
            sum += residual * residual;
        }
    return (double)sum;
}

const reference_pair reference_pairs[REFERENCE_PAIRS] = {
    {.basis = "orthonormal", .codes = "sphere", .orthonormal = true},
    {.basis = "orthonormal", .codes = "nonneg-sphere", .orthonormal = true, .nonnegative_codes = true},
    {.basis = "orthonormal", .codes = "sparse-sphere", .orthonormal = true, .sparse = true},
    {.basis = "orthonormal",
     .codes = "nonneg-sparse-sphere",
     .orthonormal = true,
     .nonnegative_codes = true,
     .sparse = true},
    {.basis = "nonnegative", .codes = "sphere"},
    {.basis = "nonnegative", .codes = "nonneg-sphere", .nonnegative_codes = true},
    {.basis = "nonnegative", .codes = "sparse-sphere", .sparse = true},
    {.basis = "nonnegative", .codes = "nonneg-sparse-sphere", .nonnegative_codes = true, .sparse = true},
};

const reference_pair reference_family[REFERENCE_FAMILY] = {
    {.basis = "orthonormal", .codes = "sphere", .orthonormal = true},
    {.basis = "orthonormal", .codes = "nonneg-sphere", .orthonormal = true, .nonnegative_codes = true},
    {.basis = "orthonormal", .codes = "sparse-sphere", .orthonormal = true, .sparse = true},
    {.basis = "orthonormal",
     .codes = "nonneg-sparse-sphere",
     .orthonormal = true,
     .nonnegative_codes = true,
     .sparse = true},
    {.basis = "orthonormal", .codes = "free", .orthonormal = true, .flat = true},
    {.basis = "orthonormal", .codes = "nonneg", .orthonormal = true, .nonnegative_codes = true, .flat = true},
    {.basis = "orthonormal", .codes = "sparse", .orthonormal = true, .sparse = true, .flat = true},
    {.basis = "orthonormal",
     .codes = "one-hot",
     .orthonormal = true,
     .nonnegative_codes = true,
     .flat = true,
     .one_hot = true},
    {.basis = "nonnegative", .codes = "sphere"},
    {.basis = "nonnegative", .codes = "nonneg-sphere", .nonnegative_codes = true},
    {.basis = "nonnegative", .codes = "sparse-sphere", .sparse = true},
    {.basis = "nonnegative", .codes = "nonneg-sparse-sphere", .nonnegative_codes = true, .sparse = true},
    {.basis = "nonnegative", .codes = "free", .flat = true},
    {.basis = "nonnegative", .codes = "nonneg", .nonnegative_codes = true, .flat = true},
    {.basis = "nonnegative", .codes = "sparse", .sparse = true, .flat = true},
    {.basis = "nonnegative", .codes = "one-hot", .nonnegative_codes = true, .flat = true, .one_hot = true},
    {.basis = "free", .codes = "sphere", .signed_basis = true},
    {.basis = "free", .codes = "nonneg-sphere", .nonnegative_codes = true, .signed_basis = true},
    {.basis = "free", .codes = "sparse-sphere", .sparse = true, .signed_basis = true},
    {.basis = "free", .codes = "nonneg-sparse-sphere", .nonnegative_codes = true, .sparse = true, .signed_basis = true},
    {.basis = "free", .codes = "free", .signed_basis = true, .flat = true},
    {.basis = "free", .codes = "nonneg", .nonnegative_codes = true, .signed_basis = true, .flat = true},
    {.basis = "free", .codes = "sparse", .sparse = true, .signed_basis = true, .flat = true},
    {.basis = "free",
     .codes = "one-hot",
     .nonnegative_codes = true,
     .signed_basis = true,
     .flat = true,
     .one_hot = true},
    {.basis = "unit", .codes = "sphere", .signed_basis = true, .unit = true},
    {.basis = "unit", .codes = "nonneg-sphere", .nonnegative_codes = true, .signed_basis = true, .unit = true},
    {.basis = "unit", .codes = "sparse-sphere", .sparse = true, .signed_basis = true, .unit = true},
    {.basis = "unit",
     .codes = "nonneg-sparse-sphere",
     .nonnegative_codes = true,
     .sparse = true,
     .signed_basis = true,
     .unit = true},
    {.basis = "unit", .codes = "free", .signed_basis = true, .unit = true, .flat = true},
    {.basis = "unit", .codes = "nonneg", .nonnegative_codes = true, .signed_basis = true, .unit = true, .flat = true},
    {.basis = "unit", .codes = "sparse", .sparse = true, .signed_basis = true, .unit = true, .flat = true},
    {.basis = "unit",
     .codes = "one-hot",
     .nonnegative_codes = true,
     .signed_basis = true,
     .unit = true,
     .flat = true,
     .one_hot = true},
    {.basis = "orthonormal-nonneg", .codes = "free", .orthonormal = true, .disjoint = true, .flat = true},
    {.basis = "orthonormal-nonneg",
     .codes = "nonneg",
     .orthonormal = true,
     .nonnegative_codes = true,
     .disjoint = true,
     .flat = true},
    {.basis = "orthonormal-nonneg",
     .codes = "sparse",
     .orthonormal = true,
     .sparse = true,
     .disjoint = true,
     .flat = true},
};

const reference_pair *reference_pair_find(const char *basis, const char *codes)
{
    for (size_t p = 0; p < REFERENCE_FAMILY; p++)
        if (strcmp(reference_family[p].basis, basis) == 0 && strcmp(reference_family[p].codes, codes) == 0)
            return &reference_family[p];
    fail_msg("the reference does not know the pair %s x %s", basis, codes);
    return NULL;
}

/* The best value on one support: the length of q there where w may have q's direction, a single entry otherwise;
 * -HUGE where the support holds no maximiser of its own. */
static long double support_value(int64_t r, unsigned support, bool nonnegative, const long double *q)
{
    long double sum = 0, entry = 0;
    int64_t size = 0;
    bool positive = true;
    for (int64_t i = 0; i < r; i++)
        if (support >> i & 1) {
            entry = q[i];
            sum += entry * entry;
            size++;
            if (!(entry > 0)) positive = false;
        }
    if (!nonnegative || positive) return sqrtl(sum);
    return size == 1 ? entry : -HUGE_VALL;
}

/* q without the exponent of its largest entry, which is returned. */
static int scale_down(int64_t r, const double *q, long double *scaled)
{
    int exponent = 0;
    (void)frexp(reference_largest(r, q), &exponent);
    for (int64_t i = 0; i < r; i++) scaled[i] = ldexp(q[i], -exponent);
    return exponent;
}

int reference_projection_values(int64_t r, bool nonnegative, const double *q, long double *values)
{
    long double scaled[16];
    const int exponent = scale_down(r, q, scaled);
    for (int64_t s = 0; s < r; s++) values[s] = -HUGE_VALL;
    for (unsigned support = 1; support < 1u << r; support++) {
        long double *value = &values[__builtin_popcount(support) - 1];
        *value = fmaxl(*value, support_value(r, support, nonnegative, scaled));
    }
    for (int64_t s = 1; s < r; s++) values[s] = fmaxl(values[s], values[s - 1]);
    return exponent;
}

void reference_project(int64_t r, int64_t s, bool nonnegative, const double *q, double *w)
{
    long double scaled[16], best = -HUGE_VALL;
    unsigned chosen = 0;
    (void)scale_down(r, q, scaled);
    for (unsigned support = 1; support < 1u << r; support++) {
        if (__builtin_popcount(support) > s) continue;
        const long double value = support_value(r, support, nonnegative, scaled);
        if (value > best) {
            best = value;
            chosen = support;
        }
    }
    for (int64_t i = 0; i < r; i++) {
        const bool kept = chosen >> i & 1;
        w[i] = !kept ? 0 : best > 0 ? (double)(scaled[i] / best) : 1;
    }
}
