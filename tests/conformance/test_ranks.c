/* Whole calls by ranks, which are threads here: fits, codes, checks and clusters have the bits of one process on every
 * rank, for every pair, storage, solver, start and precision. */
#include "reference/rank_trial.h"
#include "reference/ranks.h"
#include "reference/reference.h"

#include "unit/support.h"

#include <stdio.h>

static rank_outcome outcomes[RANK_TRIAL_MOST];

static void check_same(const rank_outcome *got, int rank)
{
    if (got->status != ARMILLA_OK) print_error("rank %d: %s\n", rank, got->message);
    if (got->differs) print_error("rank %d: %s\n", rank, got->differs);
    REFERENCE_HOLDS(got->status == ARMILLA_OK && !got->differs);
}

/* Every rank's share is its own, and together they are all samples. */
static void check_shares(const rank_outcome *all, int size, int64_t n)
{
    int64_t next = 0;
    for (int r = 0; r < size; r++) {
        const armilla_samples *share = &all[r].share;
        REFERENCE_HOLDS(share->first == next || share->first == share->last);
        next += share->last - share->first;
    }
    REFERENCE_HOLDS(next == n);
}

static void compare_sizes(const rank_scene *s, const int *sizes, size_t count, bool short_of_calls)
{
    uint64_t random = 17;
    rank_numbers x = rank_numbers_make(s, &random);
    rank_outcome one = {.status = ARMILLA_OK};
    rank_trial t = {.s = s, .x = &x, .size = 1, .threads = 2, .outcomes = &one, .short_of_calls = short_of_calls};
    reference_scene("%s, one process", s->what);
    rank_trial_run(&t, 0, reference_context);
    if (one.status != ARMILLA_OK) print_error("%s\n", one.message);
    REFERENCE_HOLDS(one.status == ARMILLA_OK);
    REFERENCE_HOLDS(short_of_calls || one.check.passed);
    t.outcomes = outcomes;
    t.one = &one;
    for (size_t i = 0; i < count; i++) {
        t.size = sizes[i];
        t.threads = 1 + (int)i % 3;
        reference_scene("%s, %d ranks of %d threads", s->what, t.size, t.threads);
        reference_run_ranks(t.size, -1, rank_trial_run, &t);
        for (int r = 0; r < t.size; r++) check_same(&outcomes[r], r);
        check_shares(outcomes, t.size, s->n);
    }
    rank_outcome_clear(&one);
    rank_numbers_free(&x);
}

static const int few[] = {2, 3}, several[] = {1, 2, 3, 4, 7};

static void test_every_pair(void **state)
{
    (void)state;
    for (size_t p = 0; p < REFERENCE_FAMILY; p += (size_t)reference_effort(1, 5)) {
        const reference_pair *pair = &reference_family[p];
        char what[128];
        if (!pair->basis) continue;
        snprintf(what, sizeof what, "%s x %s", pair->basis, pair->codes);
        const rank_scene s = {.what = what,
                              .m = 9 + (int64_t)p % 4,
                              .n = 1500,
                              .r = 4,
                              .density = p % 3 == 0 ? 0.4 : 1,
                              .type = p % 2 ? ARMILLA_F32 : ARMILLA_F64,
                              .basis = pair->basis,
                              .codes = pair->codes,
                              .sparsity = pair->sparse ? 2 : 0};
        compare_sizes(&s, &few[p % 2], 1, false);
    }
}

static const rank_scene scenes[] = {
    {"dense u8 in f32", 30, 2000, 5, 1, ARMILLA_U8, "nonnegative", "nonneg-sphere", NULL, NULL, "f32", .max_iter = 4},
    {"dense f16, prepared", 14, 1500, 4, 1, ARMILLA_F16, "orthonormal", "sphere", "fast", NULL, NULL, true, true, true,
     true, true, .max_iter = 4},
    {"dense bf16 in f64", 20, 1200, 4, 1, ARMILLA_BF16, "free", "one-hot", "fast", NULL, "f64", .max_iter = 4},
    {"dense i8 of unit length", 12, 1200, 4, 1, ARMILLA_I8, "orthonormal", "nonneg-sphere", "palm", "samples", NULL,
     .normalize = true, .max_iter = 4, .mixed = true},
    {"dense f64, palm, svd", 20, 1200, 4, 1, ARMILLA_F64, "orthonormal", "sphere", "palm", "svd", NULL, .max_iter = 6},
    {"dense f32, palm, kmeans++", 20, 1200, 4, 1, ARMILLA_F32, "nonnegative", "nonneg-sphere", "palm", "kmeans++", NULL,
     .max_iter = 6},
    {"dense f32, samples", 15, 900, 6, 1, ARMILLA_F32, "orthonormal", "nonneg-sphere", "fast", "samples", NULL,
     .max_iter = 6},
    {"dense f32, random", 15, 900, 6, 1, ARMILLA_F32, "nonnegative", "sphere", "fast", "random", NULL, .max_iter = 6},
    {"pca by XX', prepared", 14, 1500, 4, 1, ARMILLA_F32, "orthonormal", "free", "fast", NULL, NULL, true, true, true,
     true, true, .max_iter = 6},
    {"pca by XX', f64", 33, 1300, 9, 1, ARMILLA_F64, "orthonormal", "free", "fast", "svd", NULL, .max_iter = 6},
    {"nmf by mu", 12, 900, 4, 1, ARMILLA_F64, "nonnegative", "nonneg", "mu", NULL, NULL, .max_iter = 6},
    {"nmf from nndsvd", 12, 900, 4, 1, ARMILLA_F32, "nonnegative", "nonneg", "fast", "nndsvd", NULL, .max_iter = 6},
    {"screened", 8, 9000, 4, 1, ARMILLA_F32, "nonnegative", "nonneg-sphere", "fast", NULL, NULL, .restarts = 5},
    {"screened, sparse", 30, 9000, 4, 0.2, ARMILLA_F32, "nonnegative", "nonneg-sphere", "fast", NULL, NULL,
     .restarts = 3},
    {"restarts, too few for a sketch", 8, 600, 4, 1, ARMILLA_F64, "nonnegative", "nonneg-sphere", "fast", NULL, NULL,
     .restarts = 3},
    {"sparse codes, continuation", 14, 1500, 6, 1, ARMILLA_F32, "orthonormal", "sparse-sphere", "fast", NULL, NULL,
     .sparsity = 2},
    {"prepared dense", 14, 1500, 4, 1, ARMILLA_F32, "orthonormal", "sphere", "fast", NULL, NULL, true, true, true, true,
     true, .max_iter = 6},
    {"prepared sparse", 40, 1500, 4, 0.2, ARMILLA_F32, "orthonormal", "sphere", "fast", NULL, NULL, true, true, true,
     true, true, .max_iter = 6},
    {"sparse of unit length, f64", 300, 800, 4, 0.05, ARMILLA_F64, "nonnegative", "nonneg-sphere", "palm", NULL, NULL,
     .normalize = true},
    {"k-means with more atoms than places", 3, 800, 40, 0.1, ARMILLA_F64, "free", "one-hot", "fast", NULL, NULL,
     .max_iter = 15},
    {"clusters of so many samples that tries are screened", 4, 60500, 3, 1, ARMILLA_F32, "orthonormal", "sphere",
     "palm", "random", NULL, .max_iter = 1},
    {"k-means of many steps", 12, 2500, 20, 1, ARMILLA_F32, "free", "one-hot", "fast", NULL, NULL, .max_iter = 40},
    {"spherical k-means of many steps", 12, 2500, 20, 1, ARMILLA_U8, "unit", "nonneg-sparse-sphere", "fast", NULL,
     "f32", .normalize = true, .sparsity = 1, .max_iter = 40},
    {"fewer samples than ranks", 6, 3, 2, 1, ARMILLA_F64, "orthonormal", "sphere", "fast", NULL, NULL, .max_iter = 6},
    {"one slot", 40, 60, 3, 1, ARMILLA_F32, "nonnegative", "nonneg-sphere", "fast", NULL, NULL, .max_iter = 6},
    {"tall", 900, 300, 7, 1, ARMILLA_F32, "nonnegative", "nonneg-sphere", "fast", NULL, NULL, .max_iter = 6},
    {"online, dense", 14, 2500, 5, 1, ARMILLA_F32, "nonnegative", "nonneg-sphere", "online", NULL, NULL, .max_iter = 2,
     .batch = 90},
    {"online, dense, orthonormal", 14, 1500, 5, 1, ARMILLA_F64, "orthonormal", "sphere", "online", NULL, NULL,
     .center = true, .max_iter = 2, .batch = 40, .mixed = true},
    {"online, sparse", 40, 2500, 4, 0.1, ARMILLA_F32, "nonnegative", "nonneg-sphere", "online", NULL, NULL,
     .max_iter = 2, .batch = 60},
    /* Negative entries times codes of 0 are negative zeros. */
    {"online, sparse, signed zeros", 60, 1500, 6, 0.05, ARMILLA_F64, "orthonormal", "sparse-sphere", "online", NULL,
     NULL, .sparsity = 1, .max_iter = 2, .batch = 25, .mixed = true},
    {"online, sparse f32, signed zeros", 60, 1500, 6, 0.05, ARMILLA_F32, "orthonormal", "nonneg-sparse-sphere",
     "online", NULL, NULL, .sparsity = 2, .max_iter = 2, .batch = 25, .mixed = true},
    {"online, k-means", 30, 1500, 6, 0.2, ARMILLA_F64, "free", "one-hot", "online", NULL, NULL, .max_iter = 2,
     .batch = 50, .mixed = true},
};

static void test_storages_solvers_and_starts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        compare_sizes(&scenes[i], several, sizeof several / sizeof *several, i % 3 != 0);
}

/* Hundreds of ranks: the tree between them has many levels, and its shape changes no bit. */
static void test_hundreds_of_ranks(void **state)
{
    static const int many[] = {100, 257};
    const rank_scene s = {
        "hundreds of ranks", 4, 40000, 3, 1, ARMILLA_F32, "nonnegative", "nonneg-sphere", "palm", "random", NULL,
        .max_iter = 2};
    (void)state;
    compare_sizes(&s, many, (size_t)reference_effort(2, 1), true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair),
        cmocka_unit_test(test_storages_solvers_and_starts),
        cmocka_unit_test(test_hundreds_of_ranks),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
