/* What programs that embed the library do with models: through memory, from arrays, and samples of given codes. */
#include "reference/reference.h"
#include "unit/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A model of data that the pair and the preparation fit: positive numbers, some of them 0. */
static armilla_model *fit(reference_trial *trial, size_t pair, armilla_type type, bool prepared)
{
    static const int64_t shapes[][3] = {{7, 23, 3}, {31, 9, 2}, {5, 40, 5}, {3, 1, 1}, {1, 12, 1}};
    const int64_t *shape = shapes[pair % 5];
    uint64_t random = 17 + pair;
    double *X = reference_new(shape[0] * shape[1]);
    for (int64_t i = 0; i < shape[0] * shape[1]; i++) X[i] = 1 + 9 * reference_uniform(&random);
    reference_trial_new(trial, &reference_pairs[pair], type, shape[0], shape[1], shape[2], 1, X);
    trial->options.max_iter = 3;
    trial->options.log1p = trial->options.tfidf = prepared && shape[1] > 1;
    trial->options.scale = prepared && shape[1] > 1 && shape[0] > 1;
    free(X);
    reference_scene("%s x %s, %s, prepared %d", reference_pairs[pair].basis, reference_pairs[pair].codes,
                    armilla_type_word(type), prepared);
    return reference_trial_fit(trial);
}

static void same_factors(const armilla_model *a, const armilla_model *b)
{
    const armilla_model_summary s = reference_summary(a), t = reference_summary(b);
    const size_t size = armilla_type_size(s.precision);
    REFERENCE_HOLDS(s.m == t.m && s.n == t.n && s.rank == t.rank && s.precision == t.precision);
    REFERENCE_HOLDS(strcmp(s.basis, t.basis) == 0 && strcmp(s.codes, t.codes) == 0 && s.sparsity == t.sparsity);
    REFERENCE_HOLDS(memcmp(&s.radius, &t.radius, sizeof s.radius) == 0);
    REFERENCE_HOLDS(memcmp(armilla_model_basis(a), armilla_model_basis(b), (size_t)(s.m * s.rank) * size) == 0);
    REFERENCE_HOLDS(memcmp(armilla_model_codes(a), armilla_model_codes(b), (size_t)(s.rank * s.n) * size) == 0);
}

/* The bytes are those of the file, and come back as the same model. */
static void through_memory(const armilla_model *model)
{
    char path[512];
    size_t count = 0, length = 0;
    void *bytes = NULL;
    armilla_model *opened = NULL;
    REFERENCE_OK(armilla_model_save(reference_context, model, support_path(path, sizeof path, "model.npz"), true));
    REFERENCE_OK(armilla_model_save_memory(reference_context, model, &bytes, &count));
    char *file = support_read_file(path, &length);
    REFERENCE_HOLDS(length == count && memcmp(file, bytes, count) == 0);
    free(file);
    REFERENCE_OK(armilla_model_open_memory(reference_context, bytes, count, &opened));
    same_factors(model, opened);
    REFERENCE_HOLDS(strcmp(armilla_model_options(model), armilla_model_options(opened)) == 0);
    armilla_model_free(opened);
    opened = NULL;
    for (size_t cut = 0; cut < count; cut += 1 + count / 7) { /* cut short anywhere: refused, and nothing is made */
        REFERENCE_STATUS(armilla_model_open_memory(reference_context, bytes, cut, &opened), ARMILLA_BAD_DATA);
        REFERENCE_SAYS("model in memory");
        REFERENCE_HOLDS(!opened);
    }
    armilla_release(reference_context, bytes);
}

static armilla_model_arrays arrays_of(const armilla_model *model)
{
    const armilla_model_summary s = reference_summary(model);
    armilla_model_arrays arrays;
    armilla_model_arrays_default(&arrays);
    arrays.precision = s.precision;
    arrays.m = s.m;
    arrays.n = s.n;
    arrays.basis = armilla_model_basis(model);
    arrays.codes = armilla_model_codes(model);
    arrays.radius = s.radius;
    arrays.mean = armilla_model_mean(model);
    arrays.idf = armilla_model_idf(model);
    arrays.scale = armilla_model_scale(model);
    arrays.objective = s.objective;
    arrays.squared_norm = s.squared_norm;
    return arrays;
}

static void same_codes(const reference_trial *trial, const armilla_model *a, const armilla_model *b)
{
    const size_t bytes = (size_t)(trial->r * trial->n) * armilla_type_size(trial->type);
    void *codes[2] = {malloc(bytes), malloc(bytes)};
    REFERENCE_OK(armilla_model_transform(reference_context, a, trial->data, 1, codes[0]));
    REFERENCE_OK(armilla_model_transform(reference_context, b, trial->data, 1, codes[1]));
    REFERENCE_HOLDS(memcmp(codes[0], codes[1], bytes) == 0);
    free(codes[0]);
    free(codes[1]);
}

/* The model of another's arrays does what that does, also after it has been saved; without codes it transforms. */
static void from_arrays(const reference_trial *trial, const armilla_model *model)
{
    armilla_model_arrays arrays = arrays_of(model);
    armilla_model *made = NULL, *opened = NULL;
    void *bytes = NULL;
    size_t count = 0;
    REFERENCE_OK(armilla_model_from_arrays(reference_context, &trial->options, &arrays, &made));
    same_factors(model, made);
    same_codes(trial, model, made);
    REFERENCE_OK(armilla_model_save_memory(reference_context, made, &bytes, &count));
    REFERENCE_OK(armilla_model_open_memory(reference_context, bytes, count, &opened));
    same_factors(model, opened);
    same_codes(trial, model, opened);
    armilla_release(reference_context, bytes);
    armilla_model_free(opened);
    armilla_model_free(made);
    made = NULL;
    arrays.n = 0;
    arrays.codes = NULL;
    REFERENCE_OK(armilla_model_from_arrays(reference_context, &trial->options, &arrays, &made));
    same_codes(trial, model, made);
    REFERENCE_STATUS(armilla_model_save_memory(reference_context, made, &bytes, &count), ARMILLA_BAD_ARGUMENT);
    REFERENCE_SAYS("without codes");
    armilla_model_free(made);
}

/* Reconstruction of the stored codes is that of the columns. */
static void of_given_codes(const armilla_model *model)
{
    const armilla_model_summary s = reference_summary(model);
    const size_t column = (size_t)s.m * armilla_type_size(s.precision), size = armilla_type_size(s.precision);
    char *all = malloc(column * (size_t)s.n), *one = malloc(column);
    REFERENCE_OK(armilla_model_reconstruct(reference_context, model, 0, s.n, all));
    for (int64_t j = 0; j < s.n; j++) {
        const char *code = (const char *)armilla_model_codes(model) + (size_t)(j * s.rank) * size;
        REFERENCE_OK(armilla_model_reconstruct_codes(reference_context, model, code, 1, one));
        REFERENCE_HOLDS(memcmp(one, all + (size_t)j * column, column) == 0);
    }
    REFERENCE_OK(armilla_model_reconstruct_codes(reference_context, model, armilla_model_codes(model), 0, one));
    REFERENCE_STATUS(armilla_model_reconstruct_codes(reference_context, model, armilla_model_codes(model), -1, one),
                     ARMILLA_BAD_ARGUMENT);
    free(one);
    free(all);
}

static void test_every_pair(void **state)
{
    (void)state;
    for (size_t pair = 0; pair < REFERENCE_PAIRS; pair++)
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++)
            for (int prepared = 0; prepared < 2; prepared++) {
                reference_trial trial;
                armilla_model *model = fit(&trial, pair, (armilla_type)type, prepared);
                through_memory(model);
                from_arrays(&trial, model);
                of_given_codes(model);
                armilla_model_free(model);
                reference_trial_free(&trial);
            }
}

static void test_arrays_that_are_no_model(void **state)
{
    reference_trial trial;
    armilla_model *model = fit(&trial, 0, ARMILLA_F64, false), *made = NULL;
    const armilla_model_arrays right = arrays_of(model);
    double numbers[64] = {1};
    (void)state;
    for (int i = 0; i < 11; i++) {
        static const char *const said[] = {
            "m, n",   "m, n",      "basis is NULL", "codes are there", "codes are there", "center",
            "radius", "objective", "not finite",    "f32 or f64",      "not aligned"};
        armilla_model_arrays arrays = right;
        if (i == 0) arrays.m = 0;
        if (i == 1) arrays.n = -1;
        if (i == 2) arrays.basis = NULL;
        if (i == 3) arrays.codes = NULL;
        if (i == 4) arrays.n = 0;
        if (i == 5) arrays.mean = numbers;
        if (i == 6) arrays.radius = 0;
        if (i == 7) arrays.objective = -1;
        if (i == 8) numbers[3] = (double)NAN, arrays.basis = numbers;
        if (i == 9) arrays.precision = ARMILLA_U8;
        if (i == 10) arrays.basis = (const char *)numbers + 4;
        reference_scene("arrays %d", i);
        REFERENCE_HOLDS(armilla_model_from_arrays(reference_context, &trial.options, &arrays, &made) != ARMILLA_OK);
        REFERENCE_SAYS(said[i]);
        REFERENCE_HOLDS(!made);
    }
    armilla_model_free(model);
    reference_trial_free(&trial);
}

static int stop(void *user, const armilla_progress *progress)
{
    ++*(int *)user;
    REFERENCE_HOLDS(progress->stage == ARMILLA_STAGE_READING && progress->done <= progress->total);
    return 1;
}

/* A model of several megabytes is read in parts, and the watch ends that too. */
static void test_reading_stops(void **state)
{
    enum { M = 700000 };
    double *U = reference_new(M);
    armilla_options options;
    armilla_model_arrays arrays;
    armilla_model *model = NULL, *opened = NULL;
    const double code = 1;
    void *bytes = NULL;
    size_t count = 0;
    int asked = 0;
    (void)state;
    U[0] = 1;
    armilla_options_default(&options);
    options.rank = 1;
    armilla_model_arrays_default(&arrays);
    arrays.m = M;
    arrays.n = 1;
    arrays.basis = U;
    arrays.codes = &code;
    arrays.radius = 1;
    REFERENCE_OK(armilla_model_from_arrays(reference_context, &options, &arrays, &model));
    REFERENCE_OK(armilla_model_save_memory(reference_context, model, &bytes, &count));
    armilla_context_set_watch(reference_context, stop, &asked);
    REFERENCE_STATUS(armilla_model_open_memory(reference_context, bytes, count, &opened), ARMILLA_STOPPED);
    armilla_context_set_watch(reference_context, NULL, NULL);
    REFERENCE_HOLDS(asked >= 1 && !opened);
    armilla_release(reference_context, bytes);
    armilla_model_free(model);
    free(U);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair),
        cmocka_unit_test(test_arrays_that_are_no_model),
        cmocka_unit_test(test_reading_stops),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
