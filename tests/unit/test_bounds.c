/* Lloyd's iteration by bounds against all products: the same assignments bit for bit, whatever the centres do in between,
 * and sums that are those of plain addition. */
#include "reference/reference.h"
#include "unit/support.h"

#include "base/context.h"
#include "data/column.h"
#include "linalg/dense.h"
#include "solve/lloyd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How samples are made; how centres begin and move. */
typedef enum kind {
    NORMAL,
    GROUPED,
    WHOLE_NUMBERS,
    TWINS,
    FAR_TWINS,
    FEW_PLACES,
    ZEROS,
    FLAT,
    FLAT_TWINS,
    FLAT_FAR
} kind;
typedef enum form { DENSE, SPARSE, DENSE_UNIT, SPARSE_UNIT, SPARSE_CENTRED } form;

typedef struct scenario {
    kind kind;
    form form;
    armilla_type type;
    int64_t m, n, r;
    double scale;
} scenario;

static const scenario scenarios[] = {
    {NORMAL, DENSE, ARMILLA_F64, 13, 700, 21, 1},
    {NORMAL, DENSE, ARMILLA_F32, 300, 500, 40, 1},
    {GROUPED, DENSE, ARMILLA_F32, 40, 3000, 30, 1},
    {GROUPED, DENSE, ARMILLA_F64, 8, 2500, 64, 1},
    {GROUPED, DENSE, ARMILLA_F32, 40, 900, 1, 1},
    {GROUPED, DENSE, ARMILLA_F32, 40, 60, 60, 1},
    {GROUPED, DENSE, ARMILLA_F64, 20, 600, 17, 1e100},
    {GROUPED, DENSE, ARMILLA_F64, 20, 600, 17, 1e-100},
    {GROUPED, DENSE, ARMILLA_F64, 20, 400, 17, 1e-200},
    {GROUPED, DENSE, ARMILLA_F32, 20, 600, 17, 1e15},
    {GROUPED, DENSE, ARMILLA_F32, 20, 600, 17, 1e-15},
    {GROUPED, DENSE, ARMILLA_F32, 20, 600, 17, 1e-24},
    {WHOLE_NUMBERS, DENSE, ARMILLA_F32, 4, 1500, 33, 1},
    {WHOLE_NUMBERS, DENSE, ARMILLA_F64, 3, 1500, 20, 1},
    {TWINS, DENSE, ARMILLA_F32, 500, 400, 32, 1},
    {TWINS, DENSE, ARMILLA_F64, 100, 400, 32, 1},
    {FAR_TWINS, DENSE, ARMILLA_F32, 100, 900, 32, 1},
    {FAR_TWINS, DENSE, ARMILLA_F64, 300, 400, 32, 1},
    {TWINS, DENSE_UNIT, ARMILLA_F32, 200, 400, 32, 1},
    {FEW_PLACES, DENSE, ARMILLA_F32, 30, 800, 24, 1},
    {FEW_PLACES, DENSE_UNIT, ARMILLA_F32, 30, 800, 24, 1},
    {ZEROS, DENSE, ARMILLA_F64, 30, 500, 9, 1},
    {ZEROS, DENSE_UNIT, ARMILLA_F32, 30, 500, 9, 1},
    {GROUPED, SPARSE, ARMILLA_F32, 60, 2000, 30, 1},
    {TWINS, SPARSE, ARMILLA_F32, 300, 400, 12, 1},
    {WHOLE_NUMBERS, SPARSE, ARMILLA_F64, 4, 900, 20, 1},
    {GROUPED, SPARSE_UNIT, ARMILLA_F32, 60, 2000, 30, 1},
    {GROUPED, SPARSE_CENTRED, ARMILLA_F32, 60, 2000, 30, 1},
    {ZEROS, SPARSE_UNIT, ARMILLA_F64, 60, 500, 9, 1},
    {GROUPED, DENSE, ARMILLA_F32, 2, 3000, 50, 1},
    /* Those that have shadows. */
    {FLAT, DENSE, ARMILLA_F32, 400, 900, 50, 1},
    {FLAT, DENSE_UNIT, ARMILLA_F32, 300, 700, 100, 1},
    {FLAT, DENSE, ARMILLA_F64, 301, 500, 40, 1},
    {FLAT, DENSE, ARMILLA_F32, 300, 400, 33, 1e15},
    {FLAT, DENSE, ARMILLA_F32, 300, 400, 33, 1e-15},
    {FLAT_TWINS, DENSE, ARMILLA_F32, 333, 500, 64, 1},
    {FLAT_TWINS, DENSE, ARMILLA_F64, 300, 400, 48, 1},
    {FLAT_FAR, DENSE, ARMILLA_F32, 300, 400, 40, 1},
};
enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0], STEPS = 12 };

typedef struct trial {
    const scenario *of;
    uint64_t random;
    double *X, *mean;
    void *typed;
    reference_sparse compressed;
    armilla_data *raw, *data;
    double *squared;
} trial;

/* Samples that are in a few directions but for noise. */
static bool is_flat(const scenario *s)
{
    return s->kind == FLAT || s->kind == FLAT_TWINS || s->kind == FLAT_FAR;
}

/* What sample j has of direction d. */
static double weight_of(int64_t j, int64_t d)
{
    return sin((double)(j * (2 * d + 3)) + 0.7 * (double)(j % (11 + d)));
}

static void fill(trial *t)
{
    const scenario *s = t->of;
    double places[7 * 512];
    reference_fill_normal(&t->random, 7 * s->m, places);
    reference_fill_normal(&t->random, s->m * s->n, t->X);
    for (int64_t j = 0; j < s->n; j++)
        for (int64_t i = 0; i < s->m; i++) {
            double *x = &t->X[j * s->m + i];
            if (s->kind == GROUPED) *x = places[j % 7 * s->m + i] + 0.2 * *x;
            if (is_flat(s)) *x *= 0.02;
            for (int64_t d = 0; d < 7 && is_flat(s); d++) *x += places[d * s->m + i] * weight_of(j, d);
            if (s->kind == FLAT_FAR) *x += 4;
            if (s->kind == FAR_TWINS) *x += 40; /* squares of which rounding is much of a distance */
            if (s->kind == FEW_PLACES) *x = places[j % 7 * s->m + i];
            if (s->kind == ZEROS && j % 3 == 0) *x = 0;
            if (s->kind == WHOLE_NUMBERS) *x = (double)reference_below(&t->random, 3);
            if (s->form != DENSE && s->form != DENSE_UNIT && reference_below(&t->random, 2)) *x = 0;
            *x *= s->scale;
        }
}

static void begin_trial(armilla_context *context, trial *t, const scenario *s, uint64_t seed)
{
    const armilla_column_map unit = {.unit_length = true};
    *t = (trial){.of = s, .random = seed, .X = reference_new(s->m * s->n), .mean = reference_new(s->m)};
    fill(t);
    for (int64_t i = 0; i < s->m; i++) t->mean[i] = 0.1 * (double)(i % 5);
    const armilla_column_map centre = {.mean = t->mean};
    t->squared = reference_new(s->n);
    if (s->form == DENSE || s->form == DENSE_UNIT) {
        t->typed =
            s->type == ARMILLA_F32 ? (void *)reference_floats(s->m * s->n, t->X) : reference_copy(s->m * s->n, t->X);
        support_ok(context, armilla_data_wrap_dense(context, s->type, t->typed, s->m, s->n, s->m, &t->raw));
    } else {
        reference_sparse_new(&t->compressed, s->type, ARMILLA_I32, false, s->m, s->n, t->X);
        support_ok(context,
                   armilla_data_wrap_sparse(context, s->type, ARMILLA_I32, t->compressed.values, t->compressed.features,
                                            t->compressed.starts, s->m, s->n, &t->raw));
    }
    if (s->form >= DENSE_UNIT)
        support_ok(context,
                   armilla_data_prepare(context, t->raw, s->form == SPARSE_CENTRED ? &centre : &unit, &t->data));
    armilla_data_facts facts;
    support_ok(context, armilla_survey(context, t->data ? t->data : t->raw, s->type, &facts, t->squared));
}

static void end_trial(trial *t)
{
    armilla_data_free(t->data);
    armilla_data_free(t->raw);
    if (t->compressed.starts) reference_sparse_free(&t->compressed);
    free(t->typed);
    free(t->squared);
    free(t->mean);
    free(t->X);
}

/* One variant of the steps. */
typedef struct variant {
    armilla_lloyd lloyd;
    armilla_bounds bounds;
    double *U, *A, *squares, *offsets, *distances;
    void *typed;
    int32_t *assignments;
} variant;

static void list(void *self, armilla_state_list *items)
{
    armilla_bounds_list(self, items);
}

static void begin_variant(armilla_context *context, const trial *t, bool bounded, variant *w)
{
    const scenario *s = t->of;
    const armilla_data *X = t->data ? t->data : t->raw;
    *w = (variant){.U = reference_new(s->m * s->r),
                   .A = reference_new(s->m * s->r),
                   .squares = reference_new(s->r),
                   .offsets = reference_new(s->r),
                   .distances = reference_new(s->n),
                   .typed = malloc((size_t)(s->m * s->r) * sizeof(double)),
                   .assignments = malloc((size_t)s->n * sizeof(int32_t))};
    w->lloyd = (armilla_lloyd){.kernels = armilla_code_kernels_for(context),
                               .m = s->m,
                               .r = s->r,
                               .share = {s->n, 0, s->n},
                               .squared_norms = t->squared,
                               .U = w->U,
                               .U_typed = w->typed,
                               .A = w->A,
                               .squares = w->squares,
                               .stride = 1,
                               .assignments = w->assignments,
                               .distances = w->distances,
                               .offsets = w->offsets,
                               .bounds = bounded ? &w->bounds : NULL};
    for (int64_t j = 0; j < s->n; j++) w->assignments[j] = -1;
    support_ok(context, armilla_sweep_new_assigning(context, X, s->type, s->r, ARMILLA_LLOYD_TALLY, &w->lloyd.sweep));
    armilla_bounds_plan(&w->bounds, w->lloyd.sweep, s->r, t->squared);
    support_ok(context, armilla_state_take(context, list, &w->bounds));
}

static void end_variant(armilla_context *context, variant *w)
{
    armilla_state_release(context, list, &w->bounds);
    armilla_sweep_free(w->lloyd.sweep);
    free(w->assignments);
    free(w->typed);
    free(w->distances);
    free(w->offsets);
    free(w->squares);
    free(w->A);
    free(w->U);
}

/* Centres for step `step`: samples first, then means; some jump to a sample, some become the twin of another, exactly or
 * in all but the last digits; in some steps nothing moves, or all by a last digit. */
static void move_centers(trial *t, armilla_context *context, int step, const variant *from, double *U)
{
    const scenario *s = t->of;
    const double *sizes = step > 0 ? armilla_sweep_sizes(from->lloyd.sweep) : NULL;
    const double ulp = s->type == ARMILLA_F32 ? 1e-7 : 1e-15;
    if (step % 5 == 4) return;
    for (int64_t i = 0; i < s->m * s->r && step % 5 == 3; i++)
        U[i] *= 1 + ulp * (double)(reference_below(&t->random, 3) - 1);
    for (int64_t k = 0; k < s->r && step % 5 != 3; k++) {
        const bool jumps = step == 0 || sizes[k] == 0 || reference_below(&t->random, 20) == 0;
        int64_t sample = reference_below(&t->random, s->n);
        double *u = U + k * s->m;
        for (int64_t i = 0; i < s->m && !jumps; i++) u[i] = from->A[k * s->m + i] / sizes[k];
        if (jumps)
            support_ok(context, armilla_data_gather(context, t->data ? t->data : t->raw, s->type, 1, &sample, u));
        const bool twins = s->kind == TWINS || s->kind == FAR_TWINS || s->kind == FLAT_TWINS;
        const double off = twins && step % 2 ? ulp : 0;
        const int64_t half = s->r / 2; /* the twin of another group */
        for (int64_t i = 0; i < s->m && k >= half && half > 0 && (twins || k % 9 == 0); i++)
            u[i] = u[i - half * s->m] * (1 + off * (double)(reference_below(&t->random, 3) - 1));
    }
}

static void set_centers(const scenario *s, const double *U, double l, variant *w)
{
    const bool unit = s->form == DENSE_UNIT || s->form == SPARSE_UNIT;
    armilla_store(s->type, s->m * s->r, U, w->typed);
    armilla_fetch(s->type, s->m * s->r, w->typed, w->U);
    for (int64_t k = 0; k < s->r; k++) /* by angle a length that is taken for 1 */
        w->squares[k] = unit ? 1 : armilla_dot(s->m, w->U + k * s->m, w->U + k * s->m);
    w->lloyd.l = l;
}

static void step_variant(armilla_context *context, variant *w)
{
    support_ok(context, armilla_lloyd_assign(&w->lloyd));
    memcpy(w->A, armilla_sweep_A(w->lloyd.sweep), (size_t)(w->lloyd.m * w->lloyd.r) * sizeof *w->A);
}

static void check_step(const scenario *s, const trial *t, const variant *plain, const variant *bounded)
{
    double total = 0;
    assert_memory_equal(bounded->assignments, plain->assignments, (size_t)s->n * sizeof(int32_t));
    assert_memory_equal(armilla_sweep_sizes(bounded->lloyd.sweep), armilla_sweep_sizes(plain->lloyd.sweep),
                        (size_t)s->r * sizeof(double));
    for (int64_t j = 0; j < s->n; j++) total += t->squared[j];
    for (int64_t i = 0; i < s->m * s->r; i++)
        REFERENCE_NEAR(bounded->A[i], plain->A[i], 1e-12 * sqrt((double)s->n * total));
    /* Products of plain comparison are rounded to the type, and vanish where they are too small for it. */
    const double vanished = s->type == ARMILLA_F32 ? 0x1p-149 * (double)(s->m * s->n) : 0;
    REFERENCE_NEAR(bounded->lloyd.inertia, plain->lloyd.inertia,
                   8 * armilla_epsilon(s->type) * (double)s->m * (total + plain->lloyd.inertia) + 4 * vanished);
    assert_true(armilla_sweep_change(bounded->lloyd.sweep) == armilla_sweep_change(plain->lloyd.sweep));
}

/* (x'u_k - offset_k/2l)/(unit*length) is between what shadows say. */
static void check_shadows(armilla_context *context, const trial *t, const variant *w)
{
    const scenario *s = t->of;
    const armilla_shadows *shadows = &w->bounds.shadows;
    double *x = reference_new(s->m), most = 0;
    for (int64_t j = 0; j < s->n; j++) {
        const float *row = armilla_shadows_meet(shadows, 0, 1, &j);
        support_ok(context, armilla_data_gather(context, t->data ? t->data : t->raw, s->type, 1, &j, x));
        for (int64_t k = 0; k < s->r; k++) {
            long double product = 0;
            for (int64_t i = 0; i < s->m; i++) product += (long double)x[i] * (long double)w->U[k * s->m + i];
            const double exact = (double)(product - (long double)w->offsets[k] / (2 * (long double)w->lloyd.l)) /
                                 (shadows->unit * shadows->length);
            const double range = armilla_shadow_range(shadows, j, k);
            assert_true((double)row[k] + shadows->slack >= exact);
            assert_true((double)row[k] - range * (1 + 1e-6) - shadows->slack <= exact);
            most = fmax(most, range);
        }
    }
    assert_true(most < 1); /* so that they say something */
    free(x);
}

/* What a run ends with, and how many steps left bounds that are known, and shadows. */
typedef struct outcome {
    double *A;
    int64_t known, shadowed;
} outcome;

static outcome run(const scenario *s, int number, int threads)
{
    armilla_context *context = support_context();
    trial t;
    variant plain, bounded;
    double *U = reference_new(s->m * s->r);
    outcome end = {.known = 0};
    reference_scene("scenario %d, %d threads", number, threads);
    support_ok(context, armilla_call_enter(context, threads));
    begin_trial(context, &t, s, 100 + (uint64_t)number);
    begin_variant(context, &t, false, &plain);
    begin_variant(context, &t, true, &bounded);
    for (int step = 0; step < STEPS; step++) {
        const double l = step < 6 || step == 9 ? 1 : 0.9 + 0.01 * step;
        move_centers(&t, context, step, &bounded, U);
        set_centers(s, U, l, &plain);
        set_centers(s, U, l, &bounded);
        bounded.lloyd.age = step % 7;
        step_variant(context, &plain);
        step_variant(context, &bounded);
        check_step(s, &t, &plain, &bounded);
        end.known += bounded.bounds.known;
        end.shadowed += bounded.bounds.shadows.known && bounded.bounds.shadows.depth > 0;
        if (step % 4 == 2 && bounded.bounds.shadows.known && bounded.bounds.shadows.depth > 0)
            check_shadows(context, &t, &bounded);
        support_ok(context, armilla_lloyd_measure(&bounded.lloyd));
        assert_memory_equal(bounded.distances, plain.distances, (size_t)s->n * sizeof(double));
        assert_memory_equal(bounded.assignments, plain.assignments, (size_t)s->n * sizeof(int32_t));
        assert_memory_equal(bounded.A, armilla_sweep_A(bounded.lloyd.sweep), (size_t)(s->m * s->r) * sizeof(double));
    }
    end.A = reference_copy(s->m * s->r, bounded.A);
    end_variant(context, &bounded);
    end_variant(context, &plain);
    end_trial(&t);
    free(U);
    armilla_call_leave(context);
    armilla_context_free(context);
    return end;
}

/* On any number of threads the sums have the same bits, however they were made. Beyond the squares of numbers nothing is
 * known, and all products are made. */
static void test_same_assignments(void **state)
{
    (void)state;
    for (int i = 0; i < SCENARIOS; i++) {
        const scenario *s = &scenarios[i];
        const outcome one = run(s, i, 1), more = run(s, i, 2 + i % 3);
        assert_memory_equal(one.A, more.A, (size_t)(s->m * s->r) * sizeof(double));
        assert_int_equal(one.known, s->scale < 1e-150 ? 0 : STEPS);
        if (is_flat(s)) assert_true(one.shadowed >= (s->kind == FLAT ? STEPS - 1 : 1));
        free(one.A);
        free(more.A);
    }
}

/* Bounds that say that all others are far keep a sample where it is: no product is made of it. */
static void test_bounds_are_respected(void **state)
{
    const scenario s = {NORMAL, DENSE, ARMILLA_F32, 50, 400, 40, 1};
    armilla_context *context = support_context();
    double *U = reference_new(s.m * s.r);
    int32_t *before = malloc((size_t)s.n * sizeof *before);
    trial t;
    variant w;
    (void)state;
    support_ok(context, armilla_call_enter(context, 2));
    begin_trial(context, &t, &s, 5);
    begin_variant(context, &t, true, &w);
    for (int step = 0; step < 2; step++) {
        move_centers(&t, context, 0, &w, U);
        set_centers(&s, U, 1, &w);
        memcpy(before, w.assignments, (size_t)s.n * sizeof *before);
        for (int64_t i = 0; i < s.n * w.bounds.groups && step == 1; i++) w.bounds.lower[i] = 1e30F;
        step_variant(context, &w);
    }
    assert_memory_equal(before, w.assignments, (size_t)s.n * sizeof *before);
    end_variant(context, &w);
    end_trial(&t);
    free(before);
    free(U);
    armilla_call_leave(context);
    armilla_context_free(context);
}

/* Without memory for bounds there are none, and the same assignments. */
static void test_without_memory(void **state)
{
    const scenario s = {GROUPED, DENSE, ARMILLA_F32, 30, 9000, 40, 1};
    armilla_context *context = support_context();
    double *U = reference_new(s.m * s.r);
    trial t;
    variant w, plain;
    (void)state;
    support_ok(context, armilla_call_enter(context, 2));
    begin_trial(context, &t, &s, 5);
    const int64_t outer = armilla_memory_enter(context, armilla_context_memory_live(context) + 400000);
    begin_variant(context, &t, true, &w);
    assert_int_equal(w.bounds.groups, 0);
    armilla_memory_leave(context, outer);
    begin_variant(context, &t, false, &plain);
    for (int step = 0; step < 3; step++) {
        move_centers(&t, context, step, &w, U);
        set_centers(&s, U, 1, &plain);
        set_centers(&s, U, 1, &w);
        w.lloyd.age = step;
        step_variant(context, &plain);
        step_variant(context, &w);
        check_step(&s, &t, &plain, &w);
    }
    end_variant(context, &plain);
    end_variant(context, &w);
    end_trial(&t);
    free(U);
    armilla_call_leave(context);
    armilla_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_assignments),
        cmocka_unit_test(test_bounds_are_respected),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
