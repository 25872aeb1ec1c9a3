/* Ranks, which are threads here, of which one was given something else than the others: all of them say so, none waits
 * for a message that never comes, and no model is made of two fits. What may differ changes nothing. */
#include "reference/ranks.h"
#include "reference/reference.h"

#include "unit/support.h"

#include "base/context.h"
#include "linalg/kernels.h"

#include <armilla/checkpoint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 7, N = 400, R = 3, RANKS = 3 };

/* What one rank is given. */
typedef struct gift {
    armilla_options options;
    armilla_checkpoint checkpoint;
    int64_t m;      /* features of its data */
    bool continues; /* a model */
} gift;

typedef struct trial {
    const char *what;
    void (*change)(gift *own);
    armilla_status status;
    bool continues;
} trial;

typedef struct turn {
    const trial *what;
    int other; /* the rank that is given something else */
    const double *X;
    armilla_status statuses[RANKS];
    char messages[RANKS][ARMILLA_MESSAGE];
} turn;

static char early[256], late[256], new_file[256];
static double basis[M * R];

static void other_kernel(gift *own)
{
    const bool portable = strcmp(armilla_kernels_choose(ARMILLA_F64)->name, "portable") == 0;
    own->options.kernel = "portable";
    own->options.seed = portable; /* where there is one kernel alone */
}

static void other_solver(gift *own)
{
    own->options.solver = "online";
}

static void other_batch(gift *own)
{
    own->options.batch = 50;
}

static void other_tol(gift *own)
{
    own->options.tol = 0.1;
}

static void other_codes(gift *own)
{
    own->options.codes = "nonneg-sphere";
}

static void other_radius(gift *own)
{
    own->options.radius = 2;
}

static void other_preparation(gift *own)
{
    own->options.normalize = "l2";
}

static void other_start(gift *own)
{
    own->options.start = "samples";
}

static void given_start(gift *own)
{
    own->options.start_basis = basis;
}

static void other_limit(gift *own)
{
    own->options.time_limit = 1e-9;
}

static void other_memory(gift *own)
{
    own->options.threads = 2;
    own->options.memory = 1 << 28;
}

static void no_checkpoint(gift *own)
{
    own->checkpoint.path = NULL;
}

static void no_resume(gift *own)
{
    own->checkpoint.resume = NULL;
}

static void other_resume(gift *own)
{
    own->checkpoint.resume = late;
}

static void other_features(gift *own)
{
    own->m = M - 1;
}

static const trial trials[] = {
    {"kernel", other_kernel, ARMILLA_BAD_ARGUMENT, false},
    {"solver", other_solver, ARMILLA_BAD_ARGUMENT, false},
    {"batch", other_batch, ARMILLA_BAD_ARGUMENT, false},
    {"tol", other_tol, ARMILLA_BAD_ARGUMENT, false},
    {"codes", other_codes, ARMILLA_BAD_ARGUMENT, false},
    {"radius", other_radius, ARMILLA_BAD_ARGUMENT, false},
    {"preparation", other_preparation, ARMILLA_BAD_ARGUMENT, false},
    {"start", other_start, ARMILLA_BAD_ARGUMENT, false},
    {"given start", given_start, ARMILLA_BAD_ARGUMENT, false},
    {"time limit", other_limit, ARMILLA_BAD_ARGUMENT, false},
    {"no checkpoint", no_checkpoint, ARMILLA_BAD_ARGUMENT, false},
    {"nothing to resume", no_resume, ARMILLA_BAD_ARGUMENT, false},
    {"another checkpoint to resume", other_resume, ARMILLA_BAD_ARGUMENT, false},
    {"features", other_features, ARMILLA_BAD_ARGUMENT, false},
    {"threads and memory", other_memory, ARMILLA_OK, false},
    {"features of new samples", other_features, ARMILLA_BAD_DATA, true},
    {"kernel for new samples", other_kernel, ARMILLA_BAD_ARGUMENT, true},
};

static gift usual(void)
{
    gift made = {.m = M};
    armilla_options_default(&made.options);
    armilla_checkpoint_default(&made.checkpoint);
    made.options.rank = R;
    made.options.max_iter = 6;
    made.options.tol = 0;
    made.options.threads = 1;
    return made;
}

static armilla_status fit(armilla_context *context, gift *own, const turn *t, armilla_data *data)
{
    armilla_model *model = NULL, *next = NULL;
    armilla_status status = ARMILLA_OK;
    if (!t->what->continues) status = armilla_fit_checkpointed(context, data, &own->options, &own->checkpoint, &model);
    if (t->what->continues) {
        armilla_data *whole = NULL;
        gift all = usual();
        status = armilla_data_wrap_dense(context, ARMILLA_F64, t->X, M, N, M, &whole);
        if (status == ARMILLA_OK) status = armilla_fit(context, whole, &all.options, &model);
        if (status == ARMILLA_OK) status = armilla_model_update(context, model, data, &own->options, &next);
        armilla_data_free(whole);
    }
    armilla_model_free(next);
    armilla_model_free(model);
    return status;
}

static void run(void *self, int rank, armilla_context *context)
{
    turn *t = self;
    gift own = usual();
    armilla_data *data = NULL;
    own.checkpoint.path = new_file;
    own.checkpoint.overwrite = true;
    own.checkpoint.resume = early;
    if (rank == t->other) t->what->change(&own);
    t->statuses[rank] = armilla_data_wrap_dense(context, ARMILLA_F64, t->X, own.m, N, own.m, &data);
    if (t->statuses[rank] == ARMILLA_OK) t->statuses[rank] = fit(context, &own, t, data);
    snprintf(t->messages[rank], ARMILLA_MESSAGE, "%s", armilla_context_error(context));
    armilla_data_free(data);
}

/* Calls with data of which one rank has a sample less. */
static void run_other_calls(void *self, int rank, armilla_context *context)
{
    turn *t = self;
    gift own = usual();
    armilla_cluster_options clusters;
    armilla_data *data = NULL, *other = NULL;
    armilla_model *model = NULL;
    armilla_clustering *found = NULL;
    void *codes = NULL;
    armilla_cluster_options_default(&clusters);
    clusters.k = 2;
    armilla_status status = armilla_data_wrap_dense(context, ARMILLA_F64, t->X, M, N, M, &data);
    if (status == ARMILLA_OK)
        status = armilla_data_wrap_dense(context, ARMILLA_F64, t->X, M, N - (rank == t->other), M, &other);
    if (status == ARMILLA_OK) status = armilla_fit(context, data, &own.options, &model);
    if (status == ARMILLA_OK) status = armilla_columns_take(context, other, R * sizeof(double), &codes);
    t->statuses[rank] = status;
    if (status == ARMILLA_OK) {
        const armilla_status transformed = armilla_model_transform(context, model, other, 1, codes);
        const armilla_status clustered = armilla_cluster_data(context, other, NULL, &clusters, &found);
        t->statuses[rank] = transformed == clustered ? clustered : ARMILLA_INTERNAL;
    }
    snprintf(t->messages[rank], ARMILLA_MESSAGE, "%s", armilla_context_error(context));
    armilla_clustering_free(found);
    armilla_release(context, codes);
    armilla_model_free(model);
    armilla_data_free(other);
    armilla_data_free(data);
}

static void test_one_rank_has_a_sample_less(void **state)
{
    uint64_t random = 8;
    double *X = reference_new((int64_t)M * N);
    (void)state;
    reference_fill_uniform(&random, (int64_t)M * N, X);
    for (int other = -1; other < RANKS; other++) {
        turn t = {.other = other, .X = X};
        reference_scene("rank %d has a sample less", other);
        reference_run_ranks(RANKS, -1, run_other_calls, &t);
        for (int r = 0; r < RANKS; r++)
            REFERENCE_HOLDS(t.statuses[r] == (other < 0 ? ARMILLA_OK : ARMILLA_BAD_ARGUMENT));
    }
    free(X);
}

static int stop_at(void *user, const armilla_trace_entry *entry)
{
    return entry->iteration >= *(const int *)user;
}

/* Checkpoints of one fit, of different moments. */
static void prepare(const double *X, int iteration, const char *path)
{
    gift own = usual();
    armilla_data *data = NULL;
    armilla_model *model = NULL;
    own.checkpoint.path = path;
    own.options.callback = stop_at;
    own.options.callback_user = &iteration;
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, M, N, M, &data));
    REFERENCE_OK(armilla_fit_checkpointed(reference_context, data, &own.options, &own.checkpoint, &model));
    armilla_model_free(model);
    armilla_data_free(data);
}

static void test_one_rank_was_given_something_else(void **state)
{
    uint64_t random = 7;
    double *X = reference_new((int64_t)M * N);
    (void)state;
    reference_fill_uniform(&random, (int64_t)M * N, X);
    reference_fill_normal(&random, M * R, basis);
    support_path(early, sizeof early, "early");
    support_path(late, sizeof late, "late");
    support_path(new_file, sizeof new_file, "new");
    prepare(X, 1, early);
    prepare(X, 3, late);
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        for (int other = 0; other < RANKS; other++) {
            turn t = {.what = &trials[i], .other = other, .X = X};
            reference_scene("rank %d has another: %s", other, trials[i].what);
            reference_run_ranks(RANKS, -1, run, &t);
            for (int r = 0; r < RANKS; r++) {
                REFERENCE_HOLDS(t.statuses[r] == trials[i].status);
                REFERENCE_HOLDS(t.statuses[r] == ARMILLA_OK || strcmp(t.messages[r], t.messages[0]) == 0);
            }
        }
    free(X);
    support_clean();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_rank_was_given_something_else),
                                       cmocka_unit_test(test_one_rank_has_a_sample_less)};
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
