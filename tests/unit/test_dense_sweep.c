/* The sums of a sweep over dense data against plain loops, from one feature to many, for ranks up to 1024: on any number of
 * threads, from slots' vectors and by blocks of features, with all of G or its diagonal. */
#include "reference/reference.h"
#include "unit/support.h"

#include "solve/sweep.h"

#include <armilla/data.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct shape {
    int64_t m, n, r, padding;
} shapes[] = {
    {1, 700, 1, 0},     {1, 50, 40, 2},     {63, 900, 10, 0},    {64, 1500, 64, 0},  {65, 733, 33, 3},
    {64, 97, 64, 0},    {300, 150, 256, 0}, {1025, 40, 1024, 1}, {20001, 75, 4, 0},  {8192, 250, 9, 0},
    {2048, 90, 520, 0}, {9000, 301, 50, 7}, {16500, 130, 11, 1}, {16384, 60, 20, 0},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

typedef struct scene {
    struct shape of;
    armilla_type work;
    void *X, *U, *W; /* in the type; columns of X are m + padding apart */
    double *x, *u, *w;
} scene;

static void *rounded(armilla_type type, int64_t count, double *numbers)
{
    void *made = calloc((size_t)count, armilla_type_size(type));
    assert_non_null(made);
    armilla_store(type, count, numbers, made);
    armilla_fetch(type, count, made, numbers);
    return made;
}

static scene make_scene(const struct shape *of, armilla_type work, uint64_t *random)
{
    const int64_t m = of->m, n = of->n, r = of->r, stride = m + of->padding;
    scene s = {
        .of = *of, .work = work, .x = reference_new(stride * n), .u = reference_new(m * r), .w = reference_new(r * n)};
    reference_fill_normal(random, stride * n, s.x);
    reference_fill_normal(random, m * r, s.u);
    reference_fill_normal(random, r * n, s.w);
    for (int64_t i = 0; i < stride * n; i++)
        if (i % stride >= m) s.x[i] = NAN;
    s.X = rounded(work, stride * n, s.x);
    s.U = rounded(work, m * r, s.u);
    s.W = rounded(work, r * n, s.w);
    return s;
}

static void free_scene(scene *s)
{
    free(s->X);
    free(s->U);
    free(s->W);
    free(s->x);
    free(s->u);
    free(s->w);
}

static void give_codes(void *self, const armilla_code_panel *panel)
{
    const scene *s = self;
    memcpy(panel->W, s->w + panel->first * panel->r, (size_t)(panel->r * panel->count) * sizeof(double));
}

typedef armilla_status (*maker)(armilla_context *context, const armilla_data *X, armilla_type work, int64_t r,
                                int64_t tally, armilla_sweep **sweep);

typedef struct outcome {
    double *A, *G, *again; /* again: G from the codes alone */
    double cross, change;
} outcome;

static outcome run_sweep(armilla_context *context, scene *s, maker make, bool diagonal, int threads)
{
    const int64_t m = s->of.m, n = s->of.n, r = s->of.r;
    armilla_data *data = NULL;
    armilla_sweep *sweep = NULL;
    outcome got = {.A = reference_new(m * r), .G = reference_new(r * r), .again = reference_new(r * r)};
    void *codes = calloc((size_t)(r * n), armilla_type_size(s->work)),
         *previous = calloc((size_t)(r * n), sizeof(double));
    REFERENCE_OK(armilla_data_wrap_dense(context, s->work, s->X, m, n, m + s->of.padding, &data));
    REFERENCE_OK(armilla_call_enter(context, threads));
    REFERENCE_OK(make(context, data, s->work, r, 0, &sweep));
    const armilla_sweep_plan plan = {.U = s->U,
                                     .previous = previous,
                                     .codes = codes,
                                     .sums = true,
                                     .diagonal = diagonal,
                                     .ignores_previous = true,
                                     .step = give_codes,
                                     .self = s};
    for (int run = 0; run < 2; run++) REFERENCE_OK(armilla_sweep_run(sweep, &plan)); /* nothing is left of the first */
    armilla_sweep_copy(sweep, got.A, got.G);
    got.cross = armilla_sweep_cross(sweep);
    got.change = armilla_sweep_change(sweep);
    REFERENCE_HOLDS((armilla_sweep_G(sweep) == NULL) == diagonal);
    REFERENCE_OK(armilla_sweep_gram(sweep, codes, got.again));
    REFERENCE_HOLDS(armilla_sweep_count(sweep) == 2);
    REFERENCE_HOLDS(memcmp(codes, s->W, (size_t)(r * n) * armilla_type_size(s->work)) == 0);
    armilla_sweep_free(sweep);
    armilla_call_leave(context);
    armilla_data_free(data);
    free(codes);
    free(previous);
    return got;
}

static void free_outcome(outcome *o)
{
    free(o->A);
    free(o->G);
    free(o->again);
}

/* Every element of G, and of A those of some atoms; <C,W> = <U,A>. */
static void check_sums(const scene *s, const outcome *got)
{
    const int64_t m = s->of.m, n = s->of.n, r = s->of.r, stride = m + s->of.padding, step = 1 + m * n * r / 4000000;
    const double epsilon = armilla_epsilon(s->work), terms = fmin((double)n, 504) + 16;
    for (int64_t e = 0; e < m * r; e += step) {
        const int64_t i = e % m, k = e / m;
        long double sum = 0, size = 0;
        for (int64_t j = 0; j < n; j++) {
            sum += (long double)s->x[j * stride + i] * s->w[j * r + k];
            size += fabsl((long double)s->x[j * stride + i] * s->w[j * r + k]);
        }
        REFERENCE_NEAR(got->A[e], sum, terms * epsilon * (double)size);
    }
    for (int64_t a = 0; a < r; a += 1 + r / 16)
        for (int64_t b = 0; b < r; b++) {
            long double sum = 0, size = 0;
            for (int64_t j = 0; j < n; j++) {
                sum += (long double)s->w[j * r + a] * s->w[j * r + b];
                size += fabsl((long double)s->w[j * r + a] * s->w[j * r + b]);
            }
            REFERENCE_NEAR(got->G[a * r + b], sum, terms * epsilon * (double)size);
        }
    long double cross = 0, squares = 0, size = 0;
    for (int64_t i = 0; i < m * r; i++) cross += (long double)s->u[i] * got->A[i];
    for (int64_t i = 0; i < m * r; i++) size += fabsl((long double)s->u[i] * got->A[i]);
    for (int64_t i = 0; i < r * n; i++) squares += (long double)s->w[i] * s->w[i];
    REFERENCE_NEAR(got->cross, cross, 1000 * epsilon * (double)size);
    REFERENCE_NEAR(got->change, squares, 1e-11 * (double)squares); /* the previous codes are 0 */
}

static void check_same(const scene *s, const outcome *a, const outcome *b, bool diagonal)
{
    const int64_t r = s->of.r;
    const double epsilon = armilla_epsilon(s->work);
    REFERENCE_HOLDS(memcmp(a->A, b->A, (size_t)(s->of.m * r) * sizeof(double)) == 0);
    REFERENCE_HOLDS(a->cross == b->cross && a->change == b->change);
    REFERENCE_HOLDS(memcmp(a->G, a->again, (size_t)(r * r) * sizeof(double)) == 0);
    REFERENCE_HOLDS(memcmp(a->again, b->again, (size_t)(r * r) * sizeof(double)) == 0);
    for (int64_t k = 0; k < r; k++)
        REFERENCE_NEAR(a->G[k * r + k], b->G[k * r + k], 600 * epsilon * fabs(b->G[k * r + k]));
    for (int64_t i = 0; i < r * r && diagonal; i++) REFERENCE_HOLDS(i % (r + 1) == 0 || b->G[i] == 0);
}

static void test_sums(void **state)
{
    uint64_t random = 77;
    armilla_context *context = support_context();
    (void)state;
    for (int i = 0; i < 2 * SHAPES; i++) {
        const armilla_type work = i % 2 ? ARMILLA_F64 : ARMILLA_F32;
        scene s = make_scene(&shapes[i / 2], work, &random);
        reference_scene("%s, %d x %d, r = %d", armilla_type_word(work), (int)s.of.m, (int)s.of.n, (int)s.of.r);
        outcome one = run_sweep(context, &s, armilla_sweep_new, false, 1);
        check_sums(&s, &one);
        for (int kind = 0; kind < 3; kind++) {
            const bool diagonal = kind == 1;
            outcome other =
                run_sweep(context, &s, kind ? armilla_sweep_new_whole : armilla_sweep_new, diagonal, kind ? kind : 3);
            check_same(&s, &one, &other, diagonal);
            free_outcome(&other);
        }
        free_outcome(&one);
        free_scene(&s);
    }
    armilla_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
