/* Random problems: factors of every pair, planted data, and data with the faults that real data have. */
#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KIND_WORD(name, word) [name] = word,
static const char *const kind_words[] = {REFERENCE_KIND_LIST(KIND_WORD)};

const char *reference_kind_word(reference_kind kind)
{
    return kind_words[kind];
}

static void scale_to(int64_t count, double *values, double length)
{
    const double norm = reference_norm(count, values);
    for (int64_t i = 0; i < count; i++) values[i] *= length / norm;
}

void reference_random_basis(uint64_t *random, const reference_pair *pair, int64_t m, int64_t r, double *U)
{
    reference_fill_normal(random, m * r, U);
    if (pair->orthonormal) {
        double *M = reference_copy(m * r, U);
        reference_polar(m, r, M, U);
        free(M);
        return;
    }
    for (int64_t i = 0; i < m * r; i++) U[i] = fabs(U[i]);
    for (int64_t k = 0; k < r; k++) scale_to(m, U + k * m, 1);
}

void reference_random_codes(uint64_t *random, const reference_pair *pair, int64_t r, int64_t s, int64_t n, double l,
                            double *V)
{
    for (int64_t j = 0; j < n; j++) {
        double *v = V + j * r;
        int64_t nonzeros = r;
        reference_fill_normal(random, r, v);
        if (pair->nonnegative_codes)
            for (int64_t k = 0; k < r; k++) v[k] = fabs(v[k]);
        while (pair->sparse && nonzeros > s) {
            double *victim = v + reference_below(random, r);
            if (*victim != 0) nonzeros--;
            *victim = 0;
        }
        scale_to(r, v, l);
    }
}

static void plant(uint64_t *random, const reference_pair *pair, int64_t m, int64_t n, int64_t r, int64_t s, double *X)
{
    double *U = reference_new(m * r), *V = reference_new(r * n);
    reference_random_basis(random, pair, m, r, U);
    reference_random_codes(random, pair, r, s, n, 3, V);
    reference_multiply(m, r, n, U, V, X);
    free(U);
    free(V);
}

/* Gaussian noise, or its absolute value where the basis is nonnegative, so that data stay what NMF is used for. */
static void add_noise(uint64_t *random, const reference_pair *pair, int64_t count, double amount, double *X)
{
    for (int64_t i = 0; i < count; i++) {
        const double noise = amount * reference_normal(random);
        X[i] += pair->orthonormal ? noise : fabs(noise);
    }
}

void reference_data(uint64_t *random, reference_kind kind, const reference_pair *pair, int64_t m, int64_t n, int64_t r,
                    int64_t s, double *X)
{
    const int64_t count = m * n;
    switch (kind) {
    case REFERENCE_GAUSSIAN:
        reference_fill_normal(random, count, X);
        return;
    case REFERENCE_PLANTED:
        plant(random, pair, m, n, r, s, X);
        return;
    case REFERENCE_NOISY:
        plant(random, pair, m, n, r, s, X);
        add_noise(random, pair, count, 0.1, X);
        return;
    case REFERENCE_CONSTANT:
        for (int64_t i = 0; i < count; i++) X[i] = 2.5;
        return;
    default:
        reference_fill_uniform(random, count, X);
        break;
    }
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            if (kind == REFERENCE_ZERO_ROWS && i % 2 == 1) X[i + j * m] = 0;
            if (kind == REFERENCE_ZERO_COLUMNS && j % 3 == 0) X[i + j * m] = 0;
            if (kind == REFERENCE_DUPLICATES && j % 4 != 0) X[i + j * m] = X[i + (j - 1) * m];
        }
    /* A single sample that is zero would leave nothing to fit. */
    if (kind == REFERENCE_ZERO_COLUMNS && n == 1) X[0] = 1;
}

void reference_cones(uint64_t *random, int64_t n, double *X)
{
    for (int64_t j = 0; j < n; j++) {
        double *x = X + 3 * j;
        const double height = 0.2 + 0.8 * reference_uniform(random);
        const double along = height * reference_uniform(random), aside = 0.05 * reference_uniform(random);
        x[0] = j < n / 2 ? along : aside;
        x[1] = j < n / 2 ? aside : along;
        x[2] = height;
    }
}

void reference_round_to_f32(int64_t count, double *X)
{
    for (int64_t i = 0; i < count; i++) X[i] = (double)(float)X[i];
}

float *reference_floats(int64_t count, const double *X)
{
    float *made = calloc((size_t)(count > 0 ? count : 1), sizeof *made);
    assert_non_null(made);
    for (int64_t i = 0; i < count; i++) made[i] = (float)X[i];
    return made;
}
