/* Every pair on data that are cut into many slots, dense and sparse, the sparse ones also with a sample that holds most
 * entries, more than the share of a slot: promises kept, and codes found again. Small enough for valgrind, which sees
 * what was never written. */
#include "reference/reference.h"

#include "data/traverse.h"

#include <stdlib.h>
#include <string.h>

typedef struct layout {
    const char *what;
    int64_t m, n, slots; /* slots: at least so many */
    double density;      /* 1: dense storage */
    bool skewed;
} layout;

static const layout layouts[] = {
    {"dense", 6, 120 * 18, 17, 1, false},
    {"sparse", 30, 640, 8, 0.2, false},
    {"skewed", 800, 620, 5, 0.001, true}, /* the large sample has the share of some */
};

enum { LAYOUTS = sizeof layouts / sizeof layouts[0], R = 3, S = 2 };

static void fill(const layout *kind, uint64_t *random, double *X)
{
    reference_sprinkle(random, kind->density, kind->m * kind->n, X);
    for (int64_t j = 0; j < kind->n; j++) X[j * kind->m + reference_below(random, kind->m)] += 1;
    for (int64_t i = 0; kind->skewed && i < kind->m; i++) X[kind->n / 3 * kind->m + i] += 1;
}

/* The test is about what it says it is about. */
static void check_slots(const layout *kind, const reference_trial *trial)
{
    armilla_traversal *traversal = NULL;
    reference_trial_scene(trial, kind->what);
    const armilla_traversal_plan plan = {.X = trial->data,
                                         .kernels = armilla_kernels_for(reference_context, trial->type),
                                         .length = trial->m * trial->r};
    REFERENCE_OK(armilla_traversal_new(reference_context, &plan, &traversal));
    REFERENCE_HOLDS(armilla_traversal_slots(traversal) >= kind->slots);
    armilla_traversal_free(traversal);
}

/* Codes of the same samples: those of the model where its solver ends with them. */
static void check_codes(const reference_trial *trial, const armilla_model *model)
{
    const size_t bytes = (size_t)(R * trial->n) * armilla_type_size(trial->type);
    void *codes = malloc(bytes);
    assert_non_null(codes);
    REFERENCE_OK(armilla_model_transform(reference_context, model, trial->data, 1, codes));
    if (strcmp(reference_summary(model).solver, "fast") == 0)
        REFERENCE_HOLDS(memcmp(codes, armilla_model_codes(model), bytes) == 0);
    free(codes);
}

static void check_fit(reference_trial *trial, const char *solver)
{
    trial->options.solver = solver;
    trial->options.max_iter = 3;
    armilla_model *model = reference_trial_fit(trial);
    reference_verify(model, trial->data, trial->X, true);
    check_codes(trial, model);
    armilla_model_free(model);
}

static void check_pair(const layout *kind, const reference_pair *pair, armilla_type type, const double *X)
{
    reference_trial trial;
    reference_sparse stored = {0};
    reference_trial_new(&trial, pair, type, kind->m, kind->n, R, S, X);
    if (kind->density < 1) {
        reference_sparse_new(&stored, type, ARMILLA_I32, false, kind->m, kind->n, trial.X);
        armilla_data_free(trial.data);
        trial.data = reference_sparse_wrap(&stored);
    }
    check_slots(kind, &trial);
    check_fit(&trial, "fast");
    if (!pair->disjoint) check_fit(&trial, "palm");
    reference_trial_free(&trial);
    reference_sparse_free(&stored);
}

static void test_every_pair_on_many_slots(void **state)
{
    uint64_t random = 31;
    (void)state;
    for (size_t k = 0; k < LAYOUTS; k++) {
        double *X = reference_new(layouts[k].m * layouts[k].n);
        fill(&layouts[k], &random, X);
        for (size_t p = 0; p < REFERENCE_FAMILY; p += (size_t)reference_effort(1, 6))
            for (int type = 0; type < ARMILLA_PRECISION_COUNT; type++)
                check_pair(&layouts[k], &reference_family[p], (armilla_type)type, X);
        free(X);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_pair_on_many_slots)};
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
