/* The sums of a sweep over sparse data against plain loops, where slots have one panel or several, and where single
 * samples have a large share of the entries, more than a slot's. */
#include "reference/reference.h"
#include "unit/support.h"

#include "data/traverse.h"
#include "solve/sweep.h"

#include <armilla/data.h>

#include <float.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A shape, and how often an entry is there; every so many columns, one is full. */
typedef struct shape {
    const char *what;
    int64_t m, n, r;
    double density;
    int64_t every, first;
} shape;

static const shape shapes[] = {
    {"one panel per slot", 700, 900, 5, 0.02, 0, 0},
    {"several panels per slot", 12, 6000, 9, 0.5, 0, 0},
    {"a wide rank", 150, 400, 70, 0.1, 0, 0},
    {"a single slot", 4000, 60, 3, 0.001, 60, 0},
    {"the first sample full", 900, 640, 3, 0.001, 640, 0},
    {"one in the middle full", 900, 640, 3, 0.001, 640, 320},
    {"the last sample full", 900, 640, 3, 0.001, 640, 639},
    {"several samples full", 400, 1300, 3, 0.001, 200, 150},
    {"all entries in one sample", 900, 640, 3, 0, 640, 500},
    {"no entries", 50, 640, 2, 0, 0, 0},
    {"a full sample beside long slots", 20, 9000, 2, 0.01, 9000, 4000},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

typedef struct scene {
    const shape *shape;
    double *X, *mean; /* m x n, rounded to f32; m */
    float *values;
    int32_t *rows, *starts;
    double *U, *W; /* m x r, r x n, rounded to f32 */
} scene;

static scene make_scene(const shape *form, uint64_t *random)
{
    const int64_t m = form->m, n = form->n, r = form->r;
    scene s = {form, reference_new(m * n), reference_new(m), NULL, NULL, NULL, NULL, NULL};
    double *drawn = reference_new(m);
    s.values = calloc((size_t)(m * n), sizeof *s.values);
    s.rows = calloc((size_t)(m * n), sizeof *s.rows);
    s.starts = calloc((size_t)n + 1, sizeof *s.starts);
    s.U = reference_new(m * r);
    s.W = reference_new(r * n);
    for (int64_t j = 0; j < n; j++) {
        reference_fill_normal(random, m, s.X + j * m);
        reference_round_to_f32(m, s.X + j * m);
        reference_fill_normal(random, m, drawn);
        s.starts[j + 1] = s.starts[j];
        for (int64_t i = 0; i < m; i++) {
            const bool full = form->every && j % form->every == form->first;
            if (erfc(fabs(drawn[i]) / sqrt(2)) > form->density && !full) s.X[j * m + i] = 0;
            if (s.X[j * m + i] == 0) continue;
            s.rows[s.starts[j + 1]] = (int32_t)i;
            s.values[s.starts[j + 1]++] = (float)s.X[j * m + i];
        }
    }
    reference_fill_normal(random, m, s.mean);
    reference_fill_normal(random, m * r, s.U);
    reference_fill_normal(random, r * n, s.W);
    reference_round_to_f32(m * r, s.U);
    reference_round_to_f32(r * n, s.W);
    free(drawn);
    return s;
}

static void free_scene(scene *s)
{
    free(s->X);
    free(s->mean);
    free(s->values);
    free(s->rows);
    free(s->starts);
    free(s->U);
    free(s->W);
}

/* The codes are given, and counted. */
static void give_codes(void *self, const armilla_code_panel *panel)
{
    const scene *s = self;
    memcpy(panel->W, s->W + panel->first * panel->r, (size_t)(panel->r * panel->count) * sizeof(double));
    panel->tally[0] += (double)panel->count;
}

typedef struct outcome {
    double *A, *G, cross;
} outcome;

static outcome run_sweep(armilla_context *context, scene *s, armilla_type work, bool centred, int threads)
{
    const int64_t m = s->shape->m, n = s->shape->n, r = s->shape->r;
    const armilla_column_map preparation = {.mean = s->mean};
    armilla_data *raw = NULL, *prepared = NULL;
    armilla_sweep *sweep = NULL;
    void *U = calloc((size_t)(m * r), sizeof(double));
    outcome got = {reference_new(m * r), reference_new(r * r), 0};
    armilla_store(work, m * r, s->U, U);
    REFERENCE_OK(
        armilla_data_wrap_sparse(context, ARMILLA_F32, ARMILLA_I32, s->values, s->rows, s->starts, m, n, &raw));
    if (centred) REFERENCE_OK(armilla_data_prepare(context, raw, &preparation, &prepared));
    REFERENCE_OK(armilla_call_enter(context, threads));
    REFERENCE_OK(armilla_sweep_new(context, centred ? prepared : raw, work, r, 1, &sweep));
    const armilla_sweep_plan plan = {.U = U, .sums = true, .tally = 1, .step = give_codes, .self = s};
    for (int run = 0; run < 2; run++) REFERENCE_OK(armilla_sweep_run(sweep, &plan)); /* nothing is left of the first */
    memcpy(got.A, armilla_sweep_A(sweep), (size_t)(m * r) * sizeof(double));
    memcpy(got.G, armilla_sweep_G(sweep), (size_t)(r * r) * sizeof(double));
    got.cross = armilla_sweep_cross(sweep);
    REFERENCE_HOLDS(armilla_sweep_tally(sweep)[0] == (double)n);
    armilla_sweep_free(sweep);
    armilla_call_leave(context);
    armilla_data_free(prepared);
    armilla_data_free(raw);
    free(U);
    return got;
}

static void free_outcome(outcome *o)
{
    free(o->A);
    free(o->G);
}

/* Entries of A, G and <C,W> within rounding of the plain sums; the bounds are sums of absolute values. */
static void check_sums(const scene *s, armilla_type work, bool centred, const outcome *got)
{
    const int64_t m = s->shape->m, n = s->shape->n, r = s->shape->r;
    /* 20 roundings, and those of the plain sums where they are in double. */
    const double plain = reference_wide() ? 0 : (double)(m * n) * DBL_EPSILON;
    const long double bound = (long double)(20 * armilla_epsilon(work) + plain);
    long double cross = 0, cross_size = 0;
    for (int64_t k = 0; k < r; k++)
        for (int64_t i = 0; i < m; i++) {
            long double sum = 0, size = 0; /* as exact as it gets */
            for (int64_t j = 0; j < n; j++) {
                const double x = s->X[j * m + i], mean = centred ? s->mean[i] : 0, w = s->W[j * r + k];
                sum += ((long double)x - (long double)mean) * (long double)w;
                size += (long double)((fabs(x) + fabs(mean)) * fabs(w));
            }
            REFERENCE_NEAR(got->A[k * m + i], sum, bound * size);
            cross += (long double)s->U[k * m + i] * sum;
            cross_size += (long double)fabs(s->U[k * m + i]) * size;
        }
    REFERENCE_NEAR(got->cross, cross, bound * cross_size);
    for (int64_t a = 0; a < r; a++)
        for (int64_t b = 0; b < r; b++) {
            long double sum = 0, size = 0; /* as exact as it gets */
            for (int64_t j = 0; j < n; j++) {
                sum += (long double)s->W[j * r + a] * (long double)s->W[j * r + b];
                size += (long double)fabs(s->W[j * r + a] * s->W[j * r + b]);
            }
            REFERENCE_NEAR(got->G[a * r + b], sum, bound * size);
        }
}

static void check_scene(armilla_context *context, scene *s, armilla_type work, bool centred)
{
    const size_t bytes = (size_t)(s->shape->m * s->shape->r) * sizeof(double);
    reference_scene("%s, %s%s", s->shape->what, armilla_type_word(work), centred ? ", centred" : "");
    outcome one = run_sweep(context, s, work, centred, 1), three = run_sweep(context, s, work, centred, 3);
    check_sums(s, work, centred, &one);
    REFERENCE_HOLDS(memcmp(one.A, three.A, bytes) == 0 && one.cross == three.cross);
    free_outcome(&one);
    free_outcome(&three);
}

/* Which slot each column is in. */
static armilla_status note_slots(void *self, const armilla_panel *panel, int thread, double *sums)
{
    int64_t *slot_of = self;
    (void)thread;
    (void)sums;
    for (int64_t j = 0; j < panel->count; j++) slot_of[panel->first + j] += panel->slot;
    return ARMILLA_OK;
}

/* Slots are runs of columns, none empty, and depend on the data alone. */
static void check_slots(armilla_context *context, const scene *s)
{
    const int64_t m = s->shape->m, n = s->shape->n;
    armilla_data *X = NULL;
    REFERENCE_OK(armilla_data_wrap_sparse(context, ARMILLA_F32, ARMILLA_I32, s->values, s->rows, s->starts, m, n, &X));
    for (int threads = 1; threads <= 8; threads *= 2) {
        armilla_traversal *traversal = NULL;
        int64_t *slot_of = calloc((size_t)n, sizeof *slot_of);
        reference_scene("%s, slots for %d threads", s->shape->what, threads);
        assert_non_null(slot_of);
        const armilla_traversal_plan plan = {.X = X, .kernels = armilla_kernels_for(context, ARMILLA_F32), .length = 1};
        REFERENCE_OK(armilla_call_enter(context, threads));
        REFERENCE_OK(armilla_traversal_new(context, &plan, &traversal));
        REFERENCE_OK(armilla_traverse(traversal, 0, note_slots, slot_of, NULL));
        REFERENCE_HOLDS(slot_of[0] == 0 && slot_of[n - 1] == armilla_traversal_slots(traversal) - 1);
        for (int64_t j = 1; j < n; j++)
            REFERENCE_HOLDS(slot_of[j] == slot_of[j - 1] || slot_of[j] == slot_of[j - 1] + 1);
        armilla_traversal_free(traversal);
        armilla_call_leave(context);
        free(slot_of);
    }
    armilla_data_free(X);
}

static void test_sums_of_sparse_data(void **state)
{
    uint64_t random = 77;
    armilla_context *context = support_context();
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        scene s = make_scene(&shapes[i], &random);
        check_slots(context, &s);
        for (int centred = 0; centred < 2; centred++) {
            check_scene(context, &s, ARMILLA_F32, centred);
            check_scene(context, &s, ARMILLA_F64, centred);
        }
        free_scene(&s);
    }
    armilla_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums_of_sparse_data)};
    (void)mallopt(M_PERTURB, 0x80); /* fresh memory is full of huge numbers */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
