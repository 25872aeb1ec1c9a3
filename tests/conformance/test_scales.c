/* Data of unit length at every scale that numbers have, dense and sparse: each prepared sample against plain loops in
 * long double, fits of both forms against each other, and lengths as the survey tells them. */
#include "reference/reference.h"

#include "model/model.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 23, N = 40, R = 3 };

/* Powers of ten, down to where numbers have one digit left and up to where lengths are no numbers. */
static const int exponents[ARMILLA_PRECISION_COUNT][24] = {
    [ARMILLA_F32] = {-41, -38, -30, -20, 0, 15, 19, 30, 37}, [ARMILLA_F64] = {-320, -310, -307, -300, -250, -200,
                                                                              -170, -161, -154, -150, -140, -100,
                                                                              0,    100,  140,  149,  151,  154,
                                                                              160,  200,  250,  300,  307,  308}};

static int exponent_count(armilla_type type)
{
    return type == ARMILLA_F32 ? 9 : 24;
}

typedef struct matrix {
    armilla_type type;
    double *X; /* M x N, as the library sees them */
    float *floats;
    reference_sparse sparse;
    armilla_data *data[2]; /* dense, sparse */
} matrix;

/* A third of the places filled; sample 5 full, sample 7 empty, sample 9 ten times longer than the others. */
static matrix make_matrix(uint64_t seed, armilla_type type, int exponent)
{
    matrix a = {.type = type, .X = reference_new(M * N)};
    uint64_t random = seed;
    reference_sprinkle(&random, 0.35, M * N, a.X);
    reference_sprinkle(&random, 1, M, a.X + 5 * M);
    for (int64_t i = 0; i < M; i++) a.X[7 * M + i] = 0;
    for (int64_t i = 0; i < M; i++) a.X[9 * M + i] *= 10;
    for (int64_t i = 0; i < M * N; i++) {
        a.X[i] = (double)((long double)a.X[i] * powl(10, exponent - 1));
        if (i % 3 == 0) a.X[i] = -a.X[i];
    }
    if (type == ARMILLA_F32) reference_round_to_f32(M * N, a.X);
    a.floats = type == ARMILLA_F32 ? reference_floats(M * N, a.X) : NULL;
    const void *values = type == ARMILLA_F32 ? (const void *)a.floats : a.X;
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, type, values, M, N, M, &a.data[0]));
    reference_sparse_new(&a.sparse, type, ARMILLA_I32, false, M, N, a.X);
    a.data[1] = reference_sparse_wrap(&a.sparse);
    return a;
}

static void free_matrix(matrix *a)
{
    armilla_data_free(a->data[0]);
    armilla_data_free(a->data[1]);
    reference_sparse_free(&a->sparse);
    free(a->floats);
    free(a->X);
}

enum { CENTER = 1, TFIDF = 2, SCALE = 4, LOG1P = 8, PREPARATIONS = 16 };

static armilla_options prepare_by(int preparation)
{
    armilla_options options;
    armilla_options_default(&options);
    options.normalize = "l2";
    options.center = preparation & CENTER;
    options.tfidf = preparation & TFIDF;
    options.scale = preparation & SCALE;
    options.log1p = preparation & LOG1P;
    return options;
}

static long double long_length(const long double *x)
{
    long double sum = 0;
    for (int64_t i = 0; i < M; i++) sum += x[i] * x[i];
    return sqrtl(sum);
}

/* Weights and mean as plain loops make them; the lengths stay. */
static void prepare_plainly(const matrix *a, int preparation, long double *Y)
{
    for (int64_t i = 0; i < M; i++) {
        long double found = 0, mean = 0, square = 0, weight = 1;
        for (int64_t j = 0; j < N; j++) {
            const long double x = (long double)a->X[j * M + i];
            Y[j * M + i] = preparation & LOG1P ? log1pl(x) : x;
            found += x != 0;
            mean += Y[j * M + i] / N;
        }
        for (int64_t j = 0; j < N; j++) square += (Y[j * M + i] - mean) * (Y[j * M + i] - mean) / N;
        if (preparation & TFIDF) weight = logl((1.0L + N) / (1 + found)) + 1;
        if (preparation & SCALE) weight = 1 / sqrtl(square);
        for (int64_t j = 0; j < N; j++) Y[j * M + i] = weight * (Y[j * M + i] - (preparation & CENTER ? mean : 0));
    }
}

/* Every sample of both forms: within rounding of the plain one, which grows where the numbers themselves have few
 * digits, as the mean and the weighted entries then have. */
static void check_columns(const matrix *a, int preparation, armilla_type work)
{
    const armilla_options options = prepare_by(preparation);
    const long double epsilon = (long double)(work == ARMILLA_F32 ? FLT_EPSILON : DBL_EPSILON);
    long double *Y = calloc(M * N, sizeof *Y);
    assert_non_null(Y);
    prepare_plainly(a, preparation, Y);
    for (int form = 0; form < 2; form++) {
        armilla_preparation p = armilla_preparation_asked(&options);
        armilla_data *view = NULL;
        double x[M];
        REFERENCE_OK(armilla_preparation_learn(reference_context, &p, a->data[form]));
        REFERENCE_OK(armilla_preparation_view(reference_context, &p, a->data[form], &view));
        for (int64_t j = 0; j < N; j++) {
            const long double length = long_length(Y + j * M);
            const long double grain = preparation ? 8 * (long double)5e-324 * (long double)sqrt(M) / length : 0;
            for (int pass = 0; pass < 2; pass++) { /* what the first has found out is used by the second */
                REFERENCE_OK(armilla_data_column(reference_context, view, work, j, x));
                for (int64_t i = 0; i < M; i++)
                    REFERENCE_NEAR(x[i], length > 0 ? Y[j * M + i] / length : 0, 100 * epsilon + grain);
            }
        }
        armilla_data_free(view);
        armilla_preparation_release(reference_context, &p);
    }
    free(Y);
}

/* Whether the preparation can be made at that scale: a weight of --scale is 1/sd, which has to be a number, as weighted
 * entries have to be; logarithms of what is below -1 are none. */
static bool makes_sense(int preparation, int exponent)
{
    if (preparation & SCALE && (exponent < -305 || preparation & TFIDF)) return false;
    if (preparation & TFIDF && exponent > 307) return false;
    return !(preparation & LOG1P && exponent > -1);
}

static void test_prepared_samples(void **state)
{
    (void)state;
    for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++)
        for (int e = 0; e < reference_effort(exponent_count((armilla_type)type), 0); e++) {
            const int exponent = exponents[type][e];
            matrix a = make_matrix(611, (armilla_type)type, exponent);
            for (int preparation = 0; preparation < PREPARATIONS; preparation++)
                for (int work = 0; work < ARMILLA_PRECISION_COUNT && makes_sense(preparation, exponent); work++) {
                    reference_scene("%s data of 1e%d, preparation %d, in %s", armilla_type_word((armilla_type)type),
                                    exponent, preparation, armilla_type_word((armilla_type)work));
                    check_columns(&a, preparation, (armilla_type)work);
                }
            free_matrix(&a);
        }
}

/* Deviations without a reciprocal are refused, in either form. */
static void test_scale_of_next_to_nothing(void **state)
{
    matrix a = make_matrix(612, ARMILLA_F64, -315);
    (void)state;
    for (int form = 0; form < 2; form++) {
        const armilla_options options = prepare_by(SCALE);
        armilla_preparation p = armilla_preparation_asked(&options);
        REFERENCE_STATUS(armilla_preparation_learn(reference_context, &p, a.data[form]), ARMILLA_BAD_DATA);
        REFERENCE_SAYS("for scale to divide");
        armilla_preparation_release(reference_context, &p);
    }
    free_matrix(&a);
}

/* The same model of both forms, which checks, and whose codes transform gives back. */
static void test_fits(void **state)
{
    (void)state;
    for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++)
        for (int e = 0; e < reference_effort(exponent_count((armilla_type)type), 0); e++) {
            matrix a = make_matrix(613, (armilla_type)type, exponents[type][e]);
            double error[2], *codes = reference_new(N * R);
            for (int form = 0; form < 2; form++) {
                armilla_options options = prepare_by(e % 2 ? CENTER : 0);
                armilla_model *model = NULL;
                armilla_check check;
                reference_scene("%s %s data of 1e%d", form ? "sparse" : "dense", armilla_type_word((armilla_type)type),
                                exponents[type][e]);
                options.rank = R;
                options.max_iter = 5;
                REFERENCE_OK(armilla_fit(reference_context, a.data[form], &options, &model));
                const armilla_model_summary s = reference_summary(model);
                error[form] = s.relative_error;
                REFERENCE_NEAR(s.squared_norm, e % 2 ? N : N - 1, 1e-5 * N);
                REFERENCE_HOLDS(s.zero_samples == (e % 2 ? 0 : 1));
                REFERENCE_OK(armilla_model_check(reference_context, model, a.data[form], &check));
                REFERENCE_HOLDS(check.passed);
                REFERENCE_OK(armilla_model_transform(reference_context, model, a.data[form], 2, codes));
                REFERENCE_HOLDS(
                    memcmp(codes, armilla_model_codes(model), (size_t)(N * R) * armilla_type_size(s.precision)) == 0);
                armilla_model_free(model);
            }
            REFERENCE_NEAR(error[1], error[0], type == ARMILLA_F32 ? 1e-4 : 1e-7);
            free(codes);
            free_matrix(&a);
        }
}

static void test_clusters(void **state)
{
    (void)state;
    for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++)
        for (int e = 0; e < reference_effort(exponent_count((armilla_type)type), 0); e++) {
            matrix a = make_matrix(614, (armilla_type)type, exponents[type][e]);
            double inertia[2];
            for (int form = 0; form < 2; form++) {
                armilla_cluster_options options;
                armilla_clustering *found = NULL;
                armilla_cluster_summary summary;
                reference_scene("clusters of %s %s data of 1e%d", form ? "sparse" : "dense",
                                armilla_type_word((armilla_type)type), exponents[type][e]);
                armilla_cluster_options_default(&options);
                options.k = R;
                REFERENCE_OK(armilla_cluster_data(reference_context, a.data[form], NULL, &options, &found));
                armilla_clustering_summarize(found, &summary);
                inertia[form] = summary.inertia;
                armilla_clustering_free(found);
            }
            REFERENCE_NEAR(inertia[1], inertia[0], (type == ARMILLA_F32 ? 1e-4 : 1e-9) * N);
            free_matrix(&a);
        }
}

static void test_survey(void **state)
{
    (void)state;
    for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++)
        for (int e = 0; e < reference_effort(exponent_count((armilla_type)type), 0); e++) {
            matrix a = make_matrix(615, (armilla_type)type, exponents[type][e]);
            long double low = INFINITY, high = 0, x[M];
            for (int64_t j = 0; j < N; j++) {
                for (int64_t i = 0; i < M; i++) x[i] = (long double)a.X[j * M + i];
                const long double length = long_length(x);
                if (length > 0) low = fminl(low, length);
                high = fmaxl(high, length);
            }
            for (int form = 0; form < 2; form++) {
                armilla_data_facts facts;
                reference_scene("%s %s data of 1e%d", form ? "sparse" : "dense", armilla_type_word((armilla_type)type),
                                exponents[type][e]);
                REFERENCE_OK(armilla_data_survey(reference_context, a.data[form], 2, &facts));
                REFERENCE_NEAR(facts.norm_low, low, 4 * DBL_EPSILON * (double)low + 5e-324);
                if (high > (long double)DBL_MAX)
                    REFERENCE_HOLDS(isinf(facts.norm_high));
                else
                    REFERENCE_NEAR(facts.norm_high, high, 4 * DBL_EPSILON * (double)high + 5e-324);
                REFERENCE_HOLDS(facts.zero_samples == 1 && facts.bad_sample < 0);
            }
            free_matrix(&a);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prepared_samples),
        cmocka_unit_test(test_scale_of_next_to_nothing),
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_survey),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
