/* PCA by the start `svd` is the truncated singular value decomposition as far as the tolerance goes: error, axes, order and
 * signs, against Jacobi's decomposition, for spectra of many sorts. */
#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Singular values, k from 0 on. */
static double falling(int64_t r, int64_t k)
{
    (void)r;
    return pow(0.7, (double)k);
}

static double slow(int64_t r, int64_t k)
{
    (void)r;
    return 1 / (1 + (double)k);
}

static double flat(int64_t r, int64_t k)
{
    return 1 + 0.01 * slow(r, k);
}

static double few(int64_t r, int64_t k)
{
    return k < (r + 1) / 2 ? slow(r, k) : 0;
}

static double pairs(int64_t r, int64_t k)
{
    return slow(r, k / 2);
}

/* More equal ones than narrow blocks have columns; the same but for what is near rounding. */
static double steps(int64_t r, int64_t k)
{
    (void)r;
    return k < 24 ? 1 : k < 50 ? 0.3 : 0.1;
}

static double near_steps(int64_t r, int64_t k)
{
    return steps(r, k) * (1 + 1e-7 * slow(r, k));
}

static double loose_steps(int64_t r, int64_t k)
{
    return steps(r, k) * (1 + 1e-4 * slow(r, k));
}

typedef struct spectrum {
    const char *word;
    double (*sigma)(int64_t r, int64_t k);
    double slack; /* of the objective beside the tolerance: where directions are as good as equal it falls slowly */
} spectrum;

static const spectrum spectra[] = {
    {"falling", falling, 0},
    {"slow", slow, 0},
    {"flat", flat, 1e-3},
    {"few", few, 0},
    {"pairs", pairs, 0},
    {"steps", steps, 0},
    {"near steps", near_steps, 1e-6},
    {"loose steps", loose_steps, 1e-3},
};

enum { FALLING, SLOW, FLAT, SPECTRA = sizeof spectra / sizeof spectra[0] };

typedef struct trial {
    int64_t m, n, r;
    armilla_type type;
    double tol, scale;
} trial;

static const trial trials[] = {
    {100, 90, 3, ARMILLA_F64, 1e-3, 1},
    {90, 100, 20, ARMILLA_F32, 1e-3, 1},
    {200, 80, 10, ARMILLA_F32, 1e-6, 1e12},
    {80, 70, 12, ARMILLA_F64, 1e-9, 1},
    {130, 140, 34, ARMILLA_F64, 1e-6, 1},
    {64, 64, 1, ARMILLA_F64, 1e-6, 1e-100},
    {75, 130, 32, ARMILLA_F32, 1e-3, 1},
    {70, 64, 16, ARMILLA_F64, 1e-12, 1e90},
    /* So few features that XX' is summed. */
    {30, 800, 5, ARMILLA_F64, 1e-6, 1},
    {61, 900, 20, ARMILLA_F32, 1e-6, 1},
    {12, 300, 12, ARMILLA_F64, 1e-12, 1},
    {1, 200, 1, ARMILLA_F32, 1e-6, 1},
    {25, 400, 7, ARMILLA_F64, 1e-9, 1e-150},
    {17, 260, 16, ARMILLA_F64, 1e-6, 1e150},
    {40, 500, 9, ARMILLA_F32, 1e-6, 1e-18},
};

enum { TRIALS = sizeof trials / sizeof trials[0] };

/* X = left sigma right' with sigma of the kind. */
static double *make_data(const trial *t, int kind, uint64_t *random)
{
    const int64_t least = t->m < t->n ? t->m : t->n;
    double *normal = reference_new(t->m * t->n), *left = reference_new(t->m * least),
           *right = reference_new(t->n * least);
    double *X = reference_new(t->m * t->n);
    reference_fill_normal(random, t->m * t->n, normal);
    reference_polar(t->m, least, normal, left);
    reference_fill_normal(random, t->m * t->n, normal);
    reference_polar(t->n, least, normal, right);
    for (int64_t k = 0; k < least; k++)
        for (int64_t i = 0; i < t->m; i++) left[k * t->m + i] *= t->scale * spectra[kind].sigma(t->r, k);
    reference_right_transposed(t->m, least, t->n, left, right, X);
    free(right);
    free(left);
    free(normal);
    return X;
}

/* What the best basis of r atoms leaves. */
static double least_objective(const trial *t, const double *X)
{
    const int64_t least = t->m < t->n ? t->m : t->n;
    double *turned = reference_new(t->m * t->n), *left = reference_new(t->m * t->n),
           *right = reference_new(least * least);
    double *sigma = reference_new(least), rest = 0;
    for (int64_t j = 0; j < t->n; j++)
        for (int64_t i = 0; i < t->m; i++)
            turned[t->m < t->n ? i * t->n + j : j * t->m + i] = X[j * t->m + i] / t->scale;
    reference_svd(t->m < t->n ? t->n : t->m, least, turned, left, sigma, right);
    for (int64_t k = t->r; k < least; k++) rest += sigma[k] * sigma[k];
    free(sigma);
    free(right);
    free(left);
    free(turned);
    return rest * t->scale * t->scale;
}

/* Axes are principal and in order, and the largest entry of each is positive. */
static void check_axes(const trial *t, const armilla_model *model)
{
    double *U = reference_model_basis(model), *V = reference_model_codes(model), *G = reference_new(t->r * t->r);
    const double epsilon = t->type == ARMILLA_F32 ? 1.2e-7 : 2.3e-16;
    reference_right_transposed(t->r, t->n, t->r, V, V, G);
    for (int64_t k = 0; k < t->r; k++) {
        int64_t top = 0;
        for (int64_t i = 1; i < t->m; i++)
            if (fabs(U[k * t->m + i]) > fabs(U[k * t->m + top])) top = i;
        REFERENCE_HOLDS(U[k * t->m + top] > 0);
        for (int64_t i = 0; i < k; i++) REFERENCE_NEAR(G[k * t->r + i] / G[0], 0, 256 * epsilon);
        if (k > 0) REFERENCE_AT_MOST(G[k * t->r + k] / G[0], G[(k - 1) * t->r + k - 1] / G[0] + 256 * epsilon);
    }
    free(G);
    free(V);
    free(U);
}

/* limit: of the objective, but for rounding. */
static void check_fit(const trial *t, double limit, const reference_trial *of, const armilla_data *data)
{
    armilla_model *model = NULL;
    REFERENCE_OK(armilla_fit(reference_context, data, &of->options, &model));
    const armilla_model_summary summary = reference_summary(model);
    const double square = reference_dot(t->m * t->n, of->X, of->X);
    const double rounding = (t->type == ARMILLA_F32 ? 1e-5 : 1e-13) * square;
    reference_verify(model, data, of->X, true);
    REFERENCE_HOLDS(summary.stop == ARMILLA_STOP_CONVERGED && summary.sealed);
    REFERENCE_AT_MOST(summary.objective, limit + rounding);
    check_axes(t, model);
    armilla_model_free(model);
}

/* Without a tolerance a thousandth of what is left may be still to be had, or a hundredth of what is explained: as the rest
 * is extrapolated from the last blocks, up to four times that. Equal values hide nothing. */
static void check_without_tolerance(const trial *t, double least, double slack, reference_trial *of)
{
    const double all = reference_dot(t->m * t->n, of->X, of->X);
    of->options.tol = -1;
    check_fit(t, least * (1 + slack) + 4 * fmin(1e-3 * least, 1e-2 * (all - least)), of, of->data);
}

static void test_it_is_the_truncated_svd(void **state)
{
    uint64_t random = 3;
    (void)state;
    for (size_t i = 0; i < TRIALS; i++)
        for (int kind = 0; kind < SPECTRA; kind++) {
            const trial *t = &trials[i];
            double *X = make_data(t, kind, &random);
            reference_trial of;
            reference_sparse sparse;
            reference_trial_new(&of, reference_pair_find("orthonormal", "free"), t->type, t->m, t->n, t->r, t->r, X);
            of.options.solver = "fast";
            of.options.tol = t->tol;
            of.options.max_iter = 5000;
            const double least = least_objective(t, of.X), limit = (1 + 2 * t->tol + spectra[kind].slack) * least;
            reference_scene("%s, trial %zu, dense", spectra[kind].word, i);
            check_fit(t, limit, &of, of.data);
            reference_scene("%s, trial %zu, sparse", spectra[kind].word, i);
            reference_sparse_new(&sparse, t->type, ARMILLA_I32, false, t->m, t->n, of.X);
            armilla_data *data = reference_sparse_wrap(&sparse);
            check_fit(t, limit, &of, data);
            reference_scene("%s, trial %zu, no tolerance", spectra[kind].word, i);
            check_without_tolerance(t, least, spectra[kind].slack, &of);
            armilla_data_free(data);
            reference_sparse_free(&sparse);
            reference_trial_free(&of);
            free(X);
        }
}

/* Column k of the orthonormal cosines of length m. */
static double cosine(int64_t m, int64_t i, int64_t k)
{
    return sqrt((k == 0 ? 1.0 : 2.0) / (double)m) * cos(acos(-1.0) * ((double)i + 0.5) * (double)k / (double)m);
}

/* As many nearly equal singular values as atoms, more than a block has columns, in far more dimensions than the blocks span:
 * those that the first blocks do not show are no less found. */
static void test_hidden_directions(void **state)
{
    enum { FEATURES = 400, SAMPLES = 420, VALUES = 200 };
    static const int64_t ranks[] = {17, 20, 24};
    (void)state;
    for (size_t c = 0; c < sizeof ranks / sizeof *ranks; c++) {
        const int64_t r = ranks[c];
        double *left = reference_new(FEATURES * VALUES), *right = reference_new(SAMPLES * VALUES), least = 0;
        double *X = reference_new(FEATURES * SAMPLES);
        for (int64_t k = 0; k < VALUES; k++) {
            const double sigma = (1 + 1e-4 * cos((double)k)) / (double)(1 + k / r);
            if (k >= r) least += sigma * sigma;
            for (int64_t i = 0; i < FEATURES; i++) left[k * FEATURES + i] = sigma * cosine(FEATURES, i, k);
            for (int64_t j = 0; j < SAMPLES; j++) right[k * SAMPLES + j] = cosine(SAMPLES, j, k);
        }
        reference_right_transposed(FEATURES, VALUES, SAMPLES, left, right, X);
        for (int64_t seed = 0; seed < 3; seed++) {
            reference_trial of;
            reference_scene("%d nearly equal values, seed %d", (int)r, (int)seed);
            reference_trial_new(&of, reference_pair_find("orthonormal", "free"), ARMILLA_F32, FEATURES, SAMPLES, r, r,
                                X);
            of.options.solver = "fast";
            of.options.tol = -1;
            of.options.seed = seed;
            armilla_model *model = reference_trial_fit(&of);
            REFERENCE_AT_MOST(reference_summary(model).objective, 1.005 * least);
            armilla_model_free(model);
            reference_trial_free(&of);
        }
        free(X);
        free(right);
        free(left);
    }
}

/* Where it converges fast no iteration follows; and a start that is all that is asked for is as it was made. */
static void test_iterations(void **state)
{
    const trial t = {120, 150, 8, ARMILLA_F32, 1e-4, 1};
    uint64_t random = 5;
    double *X = make_data(&t, FALLING, &random);
    (void)state;
    for (int64_t most = 0; most < 3; most++)
        for (int tol = 0; tol < 2; tol++) {
            reference_trial of;
            reference_scene("at most %d iterations, tolerance %d", (int)most, tol);
            reference_trial_new(&of, reference_pair_find("orthonormal", "free"), t.type, t.m, t.n, t.r, t.r, X);
            of.options.solver = "fast";
            of.options.tol = tol ? t.tol : 0;
            of.options.max_iter = most;
            armilla_model *model = reference_trial_fit(&of);
            const armilla_model_summary summary = reference_summary(model);
            const bool settles = tol && most > 0;
            REFERENCE_HOLDS(summary.iterations == (settles ? 0 : most));
            REFERENCE_HOLDS(summary.stop == (settles ? ARMILLA_STOP_CONVERGED : ARMILLA_STOP_MAX_ITER));
            REFERENCE_HOLDS(summary.sealed == (most > 0));
            reference_verify(model, of.data, of.X, true);
            armilla_model_free(model);
            reference_trial_free(&of);
        }
    free(X);
}

/* Dense data of few features are read once for all vectors: beside that by the survey, for the codes and for the residual.
 * Where rounding of squares would hide the vectors they are read more often. */
static void test_one_pass(void **state)
{
    static const struct {
        int kind;
        int64_t rank;
        bool once;
    } cases[] = {{FALLING, 4, true}, {SLOW, 10, true}, {FLAT, 10, true}, {FALLING, 36, false}};
    enum { BESIDE = 3 };
    uint64_t random = 6;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const trial t = {40, 900, cases[i].rank, ARMILLA_F32, 1e-6, 1};
        double *X = make_data(&t, cases[i].kind, &random);
        reference_trial of;
        reference_scene("%s, rank %d", spectra[cases[i].kind].word, (int)t.r);
        reference_trial_new(&of, reference_pair_find("orthonormal", "free"), t.type, t.m, t.n, t.r, t.r, X);
        of.options.solver = "fast";
        of.options.tol = t.tol;
        armilla_model *model = reference_trial_fit(&of);
        const armilla_model_summary summary = reference_summary(model);
        REFERENCE_HOLDS((summary.passes == BESIDE + 1) == cases[i].once);
        REFERENCE_HOLDS(!cases[i].once || (summary.iterations == 0 && summary.stop == ARMILLA_STOP_CONVERGED));
        armilla_model_free(model);
        reference_trial_free(&of);
        free(X);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_the_truncated_svd),
        cmocka_unit_test(test_hidden_directions),
        cmocka_unit_test(test_iterations),
        cmocka_unit_test(test_one_pass),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
