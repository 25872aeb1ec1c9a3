/* Solver `online`: blocks that visit every sample once in a pass, every pair in both storages and precisions with exact
 * constraints and sealed codes, the same bits on any number of threads, objectives near those of `fast` also where the
 * data are sorted, and models that are continued on new samples. */
#include "reference/reference.h"

#include "model/model.h"
#include "solve/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool same_factors(const armilla_model *a, const armilla_model *b)
{
    const armilla_model_summary x = reference_summary(a), y = reference_summary(b);
    const size_t size = armilla_type_size(x.precision);
    return x.n == y.n && x.precision == y.precision && x.objective == y.objective && x.sweeps == y.sweeps &&
           memcmp(&x.radius, &y.radius, sizeof x.radius) == 0 &&
           memcmp(armilla_model_basis(a), armilla_model_basis(b), (size_t)(x.m * x.rank) * size) == 0 &&
           memcmp(armilla_model_codes(a), armilla_model_codes(b), (size_t)(x.rank * x.n) * size) == 0;
}

/* The codes are those of transform, bit for bit. */
static void check_sealed(const reference_trial *trial, const armilla_data *data, const armilla_model *model)
{
    const size_t bytes = (size_t)(trial->r * trial->n) * armilla_type_size(trial->type);
    void *codes = malloc(bytes);
    assert_non_null(codes);
    REFERENCE_OK(armilla_model_transform(reference_context, model, data, 2, codes));
    REFERENCE_HOLDS(memcmp(codes, armilla_model_codes(model), bytes) == 0);
    REFERENCE_HOLDS(reference_summary(model).sealed);
    free(codes);
}

static armilla_model *fit_online(reference_trial *trial, const armilla_data *data, int64_t batch, int64_t passes)
{
    armilla_model *model = NULL;
    trial->options.solver = "online";
    trial->options.batch = batch;
    trial->options.max_iter = passes;
    REFERENCE_OK(armilla_fit(reference_context, data, &trial->options, &model));
    return model;
}

static double objective(const armilla_model *model)
{
    return reference_summary(model).objective;
}

static void check_pair(const reference_pair *pair, armilla_type type, bool positive)
{
    enum { M = 9, N = 150, R = 4, S = 2, BATCH = 16 };
    uint64_t random = 77 + (uint64_t)positive;
    double *X = reference_new(M * N);
    reference_trial trial;
    reference_sparse compressed;
    for (int64_t i = 0; i < M * N; i++) X[i] = positive ? reference_uniform(&random) : reference_normal(&random) + 0.5;
    for (int64_t i = 0; i < M * N; i += 3) X[i] = 0;
    for (int64_t i = 0; i < M; i++) X[3 * M + i] = 0; /* a sample without a direction */
    reference_trial_new(&trial, pair, type, M, N, R, S, X);
    reference_sparse_new(&compressed, type, ARMILLA_I32, false, M, N, trial.X);
    armilla_data *sparse = reference_sparse_wrap(&compressed);
    for (int storage = 0; storage < 2; storage++) {
        const armilla_data *data = storage ? sparse : trial.data;
        reference_trial_scene(&trial, storage ? "sparse" : "dense");
        armilla_model *model = fit_online(&trial, data, BATCH, 4);
        reference_verify(model, data, trial.X, false);
        check_sealed(&trial, data, model);
        armilla_model_free(model);
    }
    armilla_data_free(sparse);
    reference_sparse_free(&compressed);
    reference_trial_free(&trial);
    free(X);
}

static void test_every_pair(void **state)
{
    (void)state;
    for (size_t p = 0; p < REFERENCE_FAMILY; p += (size_t)reference_effort(1, 5))
        for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++)
            for (int positive = 0; positive < 2; positive++)
                check_pair(&reference_family[p], (armilla_type)type, positive);
}

static void test_threads_do_not_change_bits(void **state)
{
    enum { M = 40, N = 7000, R = 5, S = 2 };
    static const int64_t counts[] = {1, 2, 3, 8}, batches[] = {0, 37};
    uint64_t random = 5;
    double *X = reference_new(M * N);
    (void)state;
    for (size_t p = 0; p < REFERENCE_FAMILY; p += 6)
        for (size_t b = 0; b < 2; b++) {
            const armilla_type type = (p + b) % 2 ? ARMILLA_F64 : ARMILLA_F32;
            armilla_model *first = NULL;
            reference_trial trial;
            reference_sparse compressed;
            reference_sprinkle(&random, 0.5, M * N, X);
            reference_trial_new(&trial, &reference_family[p], type, M, N, R, S, X);
            reference_sparse_new(&compressed, type, ARMILLA_I32, false, M, N, trial.X);
            armilla_data *sparse = reference_sparse_wrap(&compressed);
            for (size_t t = 0; t < (size_t)reference_effort(4, 2); t++) {
                reference_trial_scene(&trial, "threads");
                trial.options.threads = counts[t];
                armilla_model *model = fit_online(&trial, b ? sparse : trial.data, batches[b], b ? 1 : 2);
                REFERENCE_HOLDS(!first || same_factors(first, model));
                if (first)
                    armilla_model_free(model);
                else
                    first = model;
            }
            armilla_model_free(first);
            armilla_data_free(sparse);
            reference_sparse_free(&compressed);
            reference_trial_free(&trial);
        }
    free(X);
}

static void test_odd_shapes(void **state)
{
    static const int64_t sizes[] = {1, 2, 7, 73, 241}, batches[] = {1, 3, 100, 1000000};
    static const reference_kind kinds[] = {REFERENCE_UNIFORM, REFERENCE_DUPLICATES, REFERENCE_ZERO_COLUMNS};
    uint64_t random = 11;
    (void)state;
    for (size_t p = 0; p < REFERENCE_FAMILY; p += 4)
        for (size_t n = 0; n < 5; n++)
            for (size_t b = 0; b < 4; b++) {
                const int64_t shape[4] = {6, sizes[n], 5, 2};
                const reference_kind kind = kinds[(p + n + b) % 3];
                reference_trial trial;
                if (kind == REFERENCE_ZERO_COLUMNS && sizes[n] < 7) continue; /* nothing but zeros */
                reference_trial_fast(&trial, &reference_family[p], ARMILLA_F64, kind, &random, shape);
                reference_trial_scene(&trial, "odd shapes");
                armilla_model *model = fit_online(&trial, trial.data, batches[b], 2);
                reference_verify(model, trial.data, trial.X, false);
                check_sealed(&trial, trial.data, model);
                armilla_model_free(model);
                reference_trial_free(&trial);
            }
}

/* Every sample once, blocks of about the size that was asked for, and from all parts of the data. */
static void check_blocks(const armilla_data *data, int64_t n, int64_t batch)
{
    armilla_traversal *traversal = NULL;
    const armilla_traversal_plan plan = {.X = data, .kernels = armilla_kernels_choose(ARMILLA_F64), .length = 1};
    int64_t *seen = calloc((size_t)n, sizeof *seen), orders = 0;
    assert_non_null(seen);
    REFERENCE_OK(armilla_traversal_new(reference_context, &plan, &traversal));
    const armilla_blocks blocks = armilla_blocks_plan(traversal, 5, batch, 3);
    for (int64_t pass = 1; pass < 3; pass++)
        for (int64_t i = 0; i < blocks.count; i++) {
            const armilla_block block = armilla_blocks_take(&blocks, traversal, pass, i);
            const armilla_block other = armilla_blocks_take(&blocks, traversal, pass + 1, i);
            const armilla_portion portion = {armilla_block_cut, &block};
            const int64_t size = armilla_traversal_count(traversal, &portion);
            orders += block.group != other.group || block.part != other.part;
            REFERENCE_AT_MOST(size, 2 * batch + 16);
            for (int64_t slot = 0; slot < armilla_traversal_slots(traversal); slot++) {
                int64_t first = 0, last = 0;
                armilla_traversal_slot(traversal, slot, &first, &last);
                armilla_block_cut(&block, slot, &first, &last);
                for (int64_t j = first; j < last; j++) seen[j]++;
            }
        }
    for (int64_t j = 0; j < n; j++) REFERENCE_HOLDS(seen[j] == 2);
    REFERENCE_HOLDS(blocks.count < 8 || orders > 0);
    armilla_traversal_free(traversal);
    free(seen);
}

static void test_blocks(void **state)
{
    static const int64_t sizes[] = {1, 100, 1797, 20011}, batches[] = {1, 7, 64, 500, 100000};
    enum { M = 5 };
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        double *X = reference_new(M * sizes[i]);
        armilla_data *data = NULL;
        REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, M, sizes[i], M, &data));
        for (size_t b = 0; b < 5; b++) {
            reference_scene("%d samples in blocks of %d", (int)sizes[i], (int)batches[b]);
            check_blocks(data, sizes[i], batches[b]);
        }
        armilla_data_free(data);
        free(X);
    }
    for (int64_t count = 1; count < 300; count += 7) {
        bool found[300] = {false};
        for (int64_t i = 0; i < count; i++) found[armilla_permute(count, 9, i)] = true;
        for (int64_t i = 0; i < count; i++) REFERENCE_HOLDS(found[i]);
    }
}

/* Samples around ten directions, sorted by direction or shuffled. */
static void draw_classes(int64_t m, int64_t n, bool sorted, double *X)
{
    enum { CLASSES = 10 };
    uint64_t random = 21;
    double *centers = reference_new(m * CLASSES);
    reference_fill_uniform(&random, m * CLASSES, centers);
    for (int64_t i = 0; i < m * CLASSES; i++) centers[i] *= centers[i] * centers[i];
    for (int64_t j = 0; j < n; j++) {
        const int64_t k = sorted ? j * CLASSES / n : reference_below(&random, CLASSES);
        for (int64_t i = 0; i < m; i++) X[j * m + i] = centers[k * m + i] + 0.3 * reference_uniform(&random);
    }
    free(centers);
}

/* Near the objective of `fast` after one pass, nearer after three, whatever the order; and one pass from the model of
 * `fast` does not leave it. */
static void test_objectives_are_near_those_of_fast(void **state)
{
    enum { M = 30, N = 6000, R = 10 };
    static const char *const pairs[][2] = {
        {"orthonormal", "sphere"}, {"nonnegative", "nonneg"}, {"nonnegative", "nonneg-sphere"}, {"free", "one-hot"}};
    double *X = reference_new(M * N);
    (void)state;
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
        for (int sorted = 0; sorted < 2; sorted++) {
            reference_trial trial;
            draw_classes(M, N, sorted, X);
            reference_trial_new(&trial, reference_pair_find(pairs[p][0], pairs[p][1]), ARMILLA_F32, M, N, R, R, X);
            trial.options.solver = "fast";
            trial.options.max_iter = 300;
            trial.options.tol = 1e-6;
            reference_trial_scene(&trial, sorted ? "sorted" : "shuffled");
            armilla_model *fast = reference_trial_fit(&trial);
            armilla_model *once = fit_online(&trial, trial.data, 0, 1), *thrice = fit_online(&trial, trial.data, 0, 3);
            REFERENCE_AT_MOST(objective(once), 1.03 * objective(fast));
            REFERENCE_AT_MOST(objective(thrice), 1.015 * objective(fast));
            trial.options.start_model = fast;
            armilla_model *stayed = fit_online(&trial, trial.data, 0, 1);
            REFERENCE_AT_MOST(objective(stayed), 1.002 * objective(fast));
            armilla_model_free(stayed);
            armilla_model_free(thrice);
            armilla_model_free(once);
            armilla_model_free(fast);
            reference_trial_free(&trial);
        }
    free(X);
}

static void test_planted_factors_are_found(void **state)
{
    static const char *const codes[] = {"sphere", "nonneg-sphere", "free"};
    uint64_t random = 31;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const int64_t shape[4] = {20, 900, 3, 3};
        reference_trial trial;
        reference_trial_fast(&trial, reference_pair_find("orthonormal", codes[i]), ARMILLA_F64, REFERENCE_PLANTED,
                             &random, shape);
        reference_trial_scene(&trial, "planted");
        armilla_model *model = fit_online(&trial, trial.data, 0, 30);
        REFERENCE_AT_MOST(reference_summary(model).relative_error, 1e-2);
        armilla_model_free(model);
        reference_trial_free(&trial);
    }
}

static int stop_at_second(void *user, const armilla_trace_entry *entry)
{
    ++*(int *)user;
    return entry->iteration == 2;
}

static int stop_when_asked(void *user, const armilla_progress *progress)
{
    int *left = user;
    return progress->stage == ARMILLA_STAGE_ITERATIONS && (*left)-- <= 0;
}

/* In the middle of a pass the basis so far is the result, and the model says so: what checks it finds nothing. */
static void test_stops_within_passes(void **state)
{
    static const char *const pairs[][2] = {{"nonnegative", "nonneg-sphere"},
                                           {"orthonormal", "sphere"},
                                           {"orthonormal", "nonneg-sphere"},
                                           {"free", "one-hot"}};
    const int64_t shape[4] = {8, 400, 3, 3};
    int64_t interrupted = 0;
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int asked = 0; asked < 60; asked += (int)reference_effort(3, 7)) {
            uint64_t random = 43;
            int left = asked;
            reference_trial trial;
            reference_trial_fast(&trial, reference_pair_find(pairs[i][0], pairs[i][1]), ARMILLA_F64, REFERENCE_UNIFORM,
                                 &random, shape);
            reference_trial_scene(&trial, "stopped within a pass");
            trial.options.restarts = 1 + asked % 2;
            armilla_context_set_watch(reference_context, stop_when_asked, &left);
            armilla_model *model = fit_online(&trial, trial.data, 20, 3);
            armilla_context_set_watch(reference_context, NULL, NULL);
            const armilla_model_summary summary = reference_summary(model);
            armilla_check check;
            REFERENCE_OK(armilla_model_check(reference_context, model, trial.data, &check));
            if (!check.passed) print_error("asked %d: %s\n", asked, check.finding);
            REFERENCE_HOLDS(check.passed && summary.iterations <= 3);
            interrupted += summary.stop == ARMILLA_STOP_INTERRUPTED && summary.iterations > 0;
            armilla_model_free(model);
            reference_trial_free(&trial);
        }
    REFERENCE_HOLDS(interrupted > 0);
}

/* One iteration is one pass. */
static void test_stops(void **state)
{
    const int64_t shape[4] = {8, 400, 3, 3};
    uint64_t random = 41;
    int calls = 0;
    reference_trial trial;
    (void)state;
    reference_trial_fast(&trial, reference_pair_find("nonnegative", "nonneg"), ARMILLA_F64, REFERENCE_UNIFORM, &random,
                         shape);
    trial.options.callback = stop_at_second;
    trial.options.callback_user = &calls;
    armilla_model *model = fit_online(&trial, trial.data, 20, 100);
    REFERENCE_HOLDS(calls == 3 && reference_summary(model).stop == ARMILLA_STOP_INTERRUPTED);
    REFERENCE_HOLDS(reference_summary(model).iterations == 2);
    reference_verify(model, trial.data, trial.X, false);
    armilla_model_free(model);
    trial.options.callback = NULL;
    trial.options.time_limit = 1e-9;
    model = fit_online(&trial, trial.data, 20, 100);
    REFERENCE_HOLDS(reference_summary(model).stop == ARMILLA_STOP_TIME_LIMIT);
    reference_verify(model, trial.data, trial.X, false);
    armilla_model_free(model);
    trial.options.time_limit = 0;
    trial.options.tol = 1e-3; /* an objective that no longer falls ends it */
    model = fit_online(&trial, trial.data, 20, 1000);
    REFERENCE_HOLDS(reference_summary(model).stop == ARMILLA_STOP_CONVERGED);
    armilla_model_free(model);
    reference_trial_free(&trial);
}

static void test_batch_is_for_online_alone(void **state)
{
    armilla_options options;
    (void)state;
    armilla_options_default(&options);
    options.rank = 3;
    options.batch = 10;
    REFERENCE_STATUS(armilla_options_check(reference_context, &options), ARMILLA_BAD_ARGUMENT);
    REFERENCE_SAYS("batch does not go with solver fast");
    options.solver = "online";
    REFERENCE_OK(armilla_options_check(reference_context, &options));
    options.batch = -1;
    REFERENCE_STATUS(armilla_options_check(reference_context, &options), ARMILLA_BAD_ARGUMENT);
}

/* Saved, and opened from these bytes. */
static armilla_model *reopen(const armilla_model *model)
{
    armilla_model *opened = NULL;
    void *bytes = NULL;
    size_t count = 0;
    REFERENCE_OK(armilla_model_save_memory(reference_context, model, &bytes, &count));
    REFERENCE_OK(armilla_model_open_memory(reference_context, bytes, count, &opened));
    armilla_release(reference_context, bytes);
    return opened;
}

/* A model in parts: each part is checked against its own data, what is saved goes on with the same bits, and at the end
 * the basis fits all data nearly as well as one that has seen them together. */
static void check_stream(reference_trial *trial, double slack)
{
    enum { PARTS = 6 };
    const int64_t part = trial->n / PARTS;
    armilla_model *whole = fit_online(trial, trial->data, 0, 3), *model = NULL;
    void *codes = calloc((size_t)(trial->r * trial->n), sizeof(double));
    for (int64_t p = 0; p < PARTS; p++) {
        armilla_data *data = NULL;
        void *copy = reference_trial_batch(trial, p, part, PARTS, &data);
        armilla_model *next = NULL, *again = NULL, *opened = model ? reopen(model) : NULL;
        trial->options.max_iter = 1;
        if (!model) {
            REFERENCE_OK(armilla_fit(reference_context, data, &trial->options, &next));
        } else {
            REFERENCE_OK(armilla_model_update(reference_context, model, data, &trial->options, &next));
            REFERENCE_OK(armilla_model_update(reference_context, opened, data, &trial->options, &again));
            REFERENCE_HOLDS(same_factors(next, again));
            REFERENCE_HOLDS(armilla_model_open_memory(reference_context, copy, 8, &again) != ARMILLA_OK);
        }
        armilla_check check;
        REFERENCE_OK(armilla_model_check(reference_context, next, data, &check));
        REFERENCE_HOLDS(check.passed);
        REFERENCE_HOLDS(reference_summary(next).samples_seen == (p + 1) * part && reference_summary(next).n == part);
        armilla_model_free(again);
        armilla_model_free(opened);
        armilla_model_free(model);
        model = next;
        armilla_data_free(data);
        free(copy);
    }
    REFERENCE_OK(armilla_model_transform(reference_context, model, trial->data, 1, codes));
    double *U = reference_model_basis(model), *V = reference_copy(trial->r * trial->n, codes);
    for (int64_t i = 0; i < trial->r * trial->n && trial->type == ARMILLA_F32; i++) V[i] = (double)((float *)codes)[i];
    REFERENCE_AT_MOST(reference_objective(trial->m, trial->n, trial->r, trial->X, U, V), slack * objective(whole));
    free(V);
    free(U);
    free(codes);
    armilla_model_free(model);
    armilla_model_free(whole);
}

static void test_models_are_continued(void **state)
{
    enum { M = 12, N = 1200, R = 5, S = 2 };
    double *X = reference_new(M * N);
    (void)state;
    draw_classes(M, N, false, X);
    for (size_t p = 0; p < REFERENCE_FAMILY; p += (size_t)reference_effort(1, 5)) {
        reference_trial trial;
        reference_trial_new(&trial, &reference_family[p], p % 2 ? ARMILLA_F32 : ARMILLA_F64, M, N, R, S, X);
        reference_trial_scene(&trial, "in parts");
        check_stream(&trial, 1.5);
        reference_trial_free(&trial);
    }
    free(X);
}

/* The preparation stays what the first data taught, and the data need its features. */
static void test_continued_preparation(void **state)
{
    const int64_t shape[4] = {8, 300, 3, 3};
    uint64_t random = 51;
    reference_trial trial;
    armilla_data *few = NULL, *narrow = NULL;
    armilla_model *next = NULL;
    (void)state;
    reference_trial_fast(&trial, reference_pair_find("orthonormal", "sphere"), ARMILLA_F64, REFERENCE_UNIFORM, &random,
                         shape);
    trial.options.center = trial.options.scale = true;
    trial.options.normalize = "l2";
    armilla_model *model = reference_trial_fit(&trial); /* by fast */
    void *copy = reference_trial_batch(&trial, 0, 40, 7, &few);
    armilla_options options;
    armilla_options_default(&options);
    options.max_iter = 2;
    REFERENCE_OK(armilla_model_update(reference_context, model, few, &options, &next));
    for (int64_t i = 0; i < trial.m; i++) {
        REFERENCE_HOLDS(armilla_model_mean(next)[i] == armilla_model_mean(model)[i]);
        REFERENCE_HOLDS(armilla_model_scale(next)[i] == armilla_model_scale(model)[i]);
    }
    REFERENCE_HOLDS(reference_summary(next).samples_seen == 340 && reference_summary(next).center);
    armilla_check check;
    REFERENCE_OK(armilla_model_check(reference_context, next, few, &check));
    REFERENCE_HOLDS(check.passed);
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, copy, 7, 40, 8, &narrow));
    armilla_model *none = NULL;
    REFERENCE_STATUS(armilla_model_update(reference_context, model, narrow, &options, &none), ARMILLA_BAD_DATA);
    REFERENCE_SAYS("the data have 7 features and the model has 8");
    armilla_data_free(narrow);
    armilla_data_free(few);
    armilla_model_free(next);
    armilla_model_free(model);
    free(copy);
    reference_trial_free(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_every_pair),
        cmocka_unit_test(test_threads_do_not_change_bits),
        cmocka_unit_test(test_odd_shapes),
        cmocka_unit_test(test_objectives_are_near_those_of_fast),
        cmocka_unit_test(test_planted_factors_are_found),
        cmocka_unit_test(test_stops),
        cmocka_unit_test(test_stops_within_passes),
        cmocka_unit_test(test_batch_is_for_online_alone),
        cmocka_unit_test(test_models_are_continued),
        cmocka_unit_test(test_continued_preparation),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
