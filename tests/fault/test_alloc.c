/* Every allocation made to fail in turn, alone and with all that follow, through a whole use of the library: a clear
 * status, nothing leaked, nothing left behind. And a sweep allocates nothing. */
#include "reference/reference.h"

#include "base/context.h"
#include "unit/support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { M = 5, N = 9, R = 3, S = 2, MOST_ALLOCATIONS = 5000 };

/* One way to use the library. */
typedef struct usage {
    const reference_pair *pair;
    const char *start, *precision;
    int64_t restarts;
    bool prepare, continues, sparse;
    const char *solver;
    int64_t s; /* for sparse codes */
} usage;

static double X[M * N];

static int skip_fsync(int file)
{
    (void)file;
    return 0;
}

/* What is made on the way and freed at the end, whatever happened. */
typedef struct things {
    armilla_context *context;
    armilla_data *whole, *data; /* data are chosen from the whole where there is one */
    armilla_model *model, *opened, *second;
    armilla_comparison *comparison;
} things;

static void set_options(const usage *use, armilla_options *options)
{
    armilla_options_default(options);
    options->rank = R;
    options->basis = use->pair->basis;
    options->codes = use->pair->codes;
    options->sparsity = use->pair->sparse ? use->s : 0;
    options->solver = use->solver;
    options->start = use->start;
    options->precision = use->precision;
    options->restarts = use->restarts;
    options->max_iter = 3;
    options->tol = 0;
    options->threads = 1;
    options->tfidf = options->log1p = options->scale = use->prepare;
    options->center = use->prepare && use->pair->orthonormal && !use->pair->disjoint;
    options->normalize = use->prepare ? "l2" : "none";
}

/* The matrix dense, or sparse in an order that has to be sorted. */
static armilla_status wrap(const usage *use, armilla_context *context, armilla_data **data)
{
    static int32_t features[M * N], starts[N + 1];
    static double values[M * N];
    if (!use->sparse) return armilla_data_wrap_dense(context, ARMILLA_F64, X, M, N, M, data);
    for (int i = 0; i < M * N; i++) {
        features[i] = (int32_t)(M - 1 - i % M);
        values[i] = X[i / M * M + features[i]];
        starts[i / M + 1] = (int32_t)(i + 1);
    }
    return armilla_data_wrap_sparse(context, ARMILLA_F64, ARMILLA_I32, values, features, starts, M, N, data);
}

/* All samples but the last, by their names; the features that are kept are all but the second. */
static armilla_status choose(things *t)
{
    static const char *const names[N] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    const armilla_selection selection = {
        .size = sizeof(armilla_selection), .samples = "a,b,c,d,e,f,g,8", .features = "1,3-5"};
    t->whole = t->data;
    t->data = NULL;
    armilla_status status = armilla_data_set_names(t->whole, ARMILLA_SAMPLE_NAMES, names, N);
    if (status == ARMILLA_OK) status = armilla_data_select(t->context, t->whole, &selection, &t->data);
    return status;
}

/* Fit, save, open, transform, rebuild, check, compare and, where asked, go on from the opened model. */
static armilla_status use_model(const usage *use, things *t, const char *path)
{
    armilla_options options;
    armilla_check check;
    double codes[R * N], column[M];
    set_options(use, &options);
    armilla_status status = wrap(use, t->context, &t->data);
    if (status == ARMILLA_OK && use->prepare) status = choose(t);
    if (status == ARMILLA_OK) status = armilla_fit(t->context, t->data, &options, &t->model);
    if (status == ARMILLA_OK) status = armilla_model_save(t->context, t->model, path, false);
    if (status == ARMILLA_OK) status = armilla_model_open(t->context, path, &t->opened);
    const armilla_data *all = t->whole ? t->whole : t->data; /* the model picks out of it what it was fitted to */
    if (status == ARMILLA_OK) status = armilla_model_transform(t->context, t->opened, all, 1, codes);
    if (status == ARMILLA_OK) status = armilla_model_reconstruct(t->context, t->opened, 0, 1, column);
    if (status == ARMILLA_OK) status = armilla_model_check(t->context, t->opened, all, &check);
    if (status == ARMILLA_OK) REFERENCE_HOLDS(check.passed);
    if (status == ARMILLA_OK && use->continues)
        status = armilla_model_compare(t->context, t->model, t->opened, all, 1, &t->comparison);
    options.start_model = t->opened;
    if (status == ARMILLA_OK && use->continues) status = armilla_fit(t->context, t->data, &options, &t->second);
    return status;
}

/* The whole use with allocation k failing; returns its status. Nothing is live afterwards. */
static armilla_status run(const usage *use, int64_t k, bool all, const char *path)
{
    support_allocator allocator = {.countdown = k, .fail_all_after = all};
    const armilla_allocator table = support_allocator_table(&allocator);
    armilla_io io = armilla_io_system;
    things t = {0};
    armilla_status status = armilla_context_new(&table, &t.context);
    io.fsync = skip_fsync; /* thousands of times: the disk is not what is tested here */
    if (status == ARMILLA_OK) {
        t.context->io = &io;
        status = use_model(use, &t, path);
    }
    if (status != ARMILLA_OK && t.context) REFERENCE_HOLDS(strstr(armilla_context_error(t.context), "memory") != NULL);
    armilla_comparison_free(t.comparison);
    armilla_model_free(t.second);
    armilla_model_free(t.opened);
    armilla_model_free(t.model);
    armilla_data_free(t.data);
    armilla_data_free(t.whole);
    armilla_context_free(t.context);
    REFERENCE_HOLDS(allocator.live == 0);
    return status;
}

/* k = 0, 1, 2, ... until a run meets no failure any more. Returns the number of failures seen. */
static int64_t fail_each(const usage *use, bool all)
{
    char path[256];
    support_path(path, sizeof path, "model.npz");
    for (int64_t k = 0; k < MOST_ALLOCATIONS; k += reference_effort(1, 17)) {
        reference_scene("%s x %s, %s, start %s, %s%s%s, allocation %d%s", use->pair->basis, use->pair->codes,
                        use->solver, use->start ? use->start : "by default", use->precision,
                        use->prepare ? ", prepared" : "", use->continues ? ", continued" : "", (int)k,
                        all ? " and all after it" : "");
        const armilla_status status = run(use, k, all, path);
        const bool saved = unlink(path) == 0;
        REFERENCE_HOLDS(support_entries() == 0); /* no temporary file either */
        if (status == ARMILLA_OK) {
            REFERENCE_HOLDS(saved);
            return k;
        }
        REFERENCE_HOLDS(status == ARMILLA_NO_MEMORY);
    }
    fail_msg("there is no end of allocations");
    return 0;
}

static int set_up_data(void **state)
{
    uint64_t random = 131;
    reference_fill_uniform(&random, M * N, X);
    return reference_set_up(state);
}

static void test_every_allocation_fails_in_turn(void **state)
{
    int64_t failures = 0;
    (void)state;
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        for (int all = 0; all < 2; all++) {
            const reference_pair *pair = &reference_pairs[p];
            const usage uses[] = {{pair, "random", "f64", 1, false, false, false, "palm", S},
                                  {pair, "kmeans++", "f32", 1, true, true, false, "palm", S},
                                  {pair, "random", "f64", 1, false, false, true, "palm", S},
                                  {pair, "kmeans++", "f32", 1, true, true, true, "palm", S},
                                  {pair, "random", "f64", 1, false, false, false, "fast", S},
                                  {pair, "kmeans++", "f32", 1, true, true, true, "fast", R}}; /* lists supports */
            for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) failures += fail_each(&uses[i], all);
        }
    print_message("%d failures survived\n", (int)failures);
    assert_true(failures > reference_effort(1000, 500));
}

/* The paper's eight are above; these are the rest of the family. */
static bool is_of_the_eight(const reference_pair *pair)
{
    for (size_t p = 0; p < REFERENCE_PAIRS; p++)
        if (strcmp(reference_pairs[p].basis, pair->basis) == 0 && strcmp(reference_pairs[p].codes, pair->codes) == 0)
            return true;
    return false;
}

static void test_every_other_pair_fails_in_turn(void **state)
{
    (void)state;
    for (size_t p = 0; p < REFERENCE_FAMILY; p++)
        for (int all = 0; all < 2 && !is_of_the_eight(&reference_family[p]); all++) {
            const reference_pair *pair = &reference_family[p];
            const usage dense = {pair, NULL, "f64", 1, false, true, false, "fast", S};
            const usage sparse = {pair, "kmeans++", "f32", 1, !pair->one_hot, false, true, "fast", R};
            assert_true(fail_each(&dense, all) > 20);
            assert_true(fail_each(&sparse, all) > 20);
        }
    const usage rule = {reference_pair_find("nonnegative", "nonneg"), NULL, "f64", 2, false, true, false, "mu", 0};
    assert_true(fail_each(&rule, false) > 20);
}

/* The other starts, and several of them. */
static void test_every_start_fails_in_turn(void **state)
{
    armilla_table_row start;
    (void)state;
    for (size_t i = 0; armilla_table_get(ARMILLA_TABLE_STARTS, i, &start); i++)
        for (size_t p = 0; p < REFERENCE_PAIRS; p += 7)
            for (int all = 0; all < 2; all++) {
                const usage use = {&reference_pairs[p],   start.name, "f64", 2, false, false, false,
                                   all ? "palm" : "fast", S};
                assert_true(fail_each(&use, all) > 20);
            }
}

static int64_t allocations_of(const usage *use, int64_t iterations)
{
    support_allocator allocator = SUPPORT_ALLOCATOR;
    armilla_context *context = support_context_with(&allocator);
    armilla_data *data = NULL;
    armilla_model *model = NULL;
    armilla_options options;
    set_options(use, &options);
    options.max_iter = iterations;
    support_ok(context, wrap(use, context, &data));
    support_ok(context, armilla_fit(context, data, &options, &model));
    armilla_model_free(model);
    armilla_data_free(data);
    armilla_context_free(context);
    assert_int_equal(allocator.live, 0);
    return allocator.taken;
}

static void test_a_sweep_allocates_nothing(void **state)
{
    (void)state;
    for (size_t p = 0; p < REFERENCE_FAMILY; p++) {
        const reference_pair *pair = &reference_family[p];
        if (pair->orthonormal && pair->one_hot) continue; /* an atom stays unused here, and its revivals read samples */
        for (int variant = 0; variant < 4 * ARMILLA_PRECISION_COUNT; variant++) {
            const char *precision = armilla_type_word((armilla_type)(variant / 4)), *solver = "palm";
            const bool sparse = variant % 2;
            if (variant % 4 > 1)
                solver = "fast";
            else if (!is_of_the_eight(&reference_family[p]))
                continue; /* palm is not for all of them */
            const usage use = {pair, "kmeans++", precision, 1, sparse, false, sparse, solver, R};
            const int64_t few = allocations_of(&use, 5);
            assert_true(few > 10);
            assert_int_equal(allocations_of(&use, 50), few);
            assert_int_equal(allocations_of(&use, 500), few);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_fails_in_turn),
        cmocka_unit_test(test_every_other_pair_fails_in_turn),
        cmocka_unit_test(test_every_start_fails_in_turn),
        cmocka_unit_test(test_a_sweep_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, set_up_data, reference_tear_down);
}
