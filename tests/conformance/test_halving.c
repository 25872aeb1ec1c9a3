/* Starts of Lloyd's iteration that are compared side by side (docs/algorithm.md#screening), against each of them alone in
 * plain loops: the same objectives, the best of those that go on, the same bits on any threads. */
#include "reference/reference.h"

#include "sets/sets.h"
#include "start/start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_N = 400, MOST_STARTS = 20, MOST_STEPS = 17, MOST_THREADS = 3 };

typedef struct scene {
    const char *basis, *codes;
    int64_t m, n, r, starts, most, iterations;
    bool sparse, f32;
} scene;

static const scene scenes[] = {
    {"free", "one-hot", 5, 300, 4, 16, 1, 500, false, false},
    {"free", "one-hot", 40, 200, 7, 16, 3, 500, false, false},
    {"free", "one-hot", 3, 400, 20, 5, 2, 500, false, true},
    {"free", "one-hot", 30, 250, 6, 20, 1, 500, true, false},
    {"unit", "nonneg-sparse-sphere", 6, 300, 5, 16, 2, 500, false, false},
    {"unit", "nonneg-sparse-sphere", 60, 120, 9, 16, 1, 500, true, false},
    {"free", "nonneg-sparse-sphere", 8, 200, 4, 9, 9, 500, false, false},
    {"free", "one-hot", 4, 50, 3, 16, 1, 1, false, false},
    {"free", "one-hot", 4, 50, 3, 16, 2, 5, false, true},
    {"free", "one-hot", 2, 10, 10, 16, 1, 500, false, false},
    {"free", "one-hot", 7, 90, 1, 16, 1, 500, false, false},
};

/* A start alone: its centres, and h before each move of them. */
typedef struct lone {
    double U[60 * 20], h[MOST_STEPS + 1];
    int64_t atoms[MOST_N], moved[MOST_STEPS + 1];
    double l, total; /* ||X||^2 */
} lone;

static double assign(const scene *s, const double *X, lone *own, int64_t *sizes, double *A, int64_t *moved)
{
    double cross = 0;
    for (int64_t j = 0; j < s->n; j++) {
        double least = INFINITY;
        int64_t best = 0;
        for (int64_t k = 0; k < s->r; k++) {
            const double *u = own->U + k * s->m;
            const double value =
                own->l * own->l * reference_dot(s->m, u, u) - 2 * own->l * reference_dot(s->m, X + j * s->m, u);
            if (value < least) best = k;
            least = fmin(least, value);
        }
        *moved += own->atoms[j] != best;
        own->atoms[j] = best;
        sizes[best]++;
        cross += reference_dot(s->m, X + j * s->m, own->U + best * s->m);
        for (int64_t i = 0; i < s->m; i++) A[best * s->m + i] += X[j * s->m + i];
    }
    return cross;
}

static void move(const scene *s, lone *own, const int64_t *sizes, const double *A)
{
    for (int64_t k = 0; k < s->r; k++) {
        const double length =
            strcmp(s->basis, "unit") == 0 ? reference_norm(s->m, A + k * s->m) : own->l * (double)sizes[k];
        for (int64_t i = 0; i < s->m && length > 0; i++) own->U[k * s->m + i] = A[k * s->m + i] / length;
    }
}

static void step(const scene *s, const double *X, lone *own, int64_t number)
{
    int64_t sizes[20] = {0};
    double A[60 * 20] = {0}, square = 0;
    own->moved[number] = 0;
    const double cross = assign(s, X, own, sizes, A, &own->moved[number]);
    for (int64_t k = 0; k < s->r; k++)
        square += (double)sizes[k] * reference_dot(s->m, own->U + k * s->m, own->U + k * s->m);
    if (strcmp(s->codes, "one-hot") != 0) own->l = cross / square;
    own->h[number] = own->total - 2 * own->l * cross + own->l * own->l * square;
    move(s, own, sizes, A);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Whether any of the starts that are left has moved in that step. */
static bool goes_on(const scene *s, const lone *all, const bool *left, int64_t number)
{
    int64_t moved = 0;
    for (int64_t i = 0; i < s->starts; i++) moved += left[i] ? all[i].moved[number] : 0;
    return moved > 0;
}

/* The best of them go on, and those that are as good but for rounding. */
static void halve(const scene *s, const lone *all, int64_t number, int64_t most, bool *left)
{
    double h[MOST_STARTS];
    int64_t count = 0;
    for (int64_t i = 0; i < s->starts; i++)
        if (left[i]) h[count++] = all[i].h[number];
    qsort(h, (size_t)count, sizeof *h, compare);
    const double limit = h[(most < count ? most : count) - 1] + 1e-12 * all[0].total;
    for (int64_t i = 0; i < s->starts; i++) left[i] = left[i] && all[i].h[number] <= limit;
}

/* left: the starts that are the best in the end; the number of the last step. */
static int64_t run_alone(const scene *s, const double *X, lone *all, bool *left)
{
    static const struct {
        int64_t last, eighths;
    } rounds[] = {{3, 3}, {8, 1}, {16, 0}};
    int64_t number = -1;
    bool ended = false;
    for (int64_t i = 0; i < s->starts; i++) left[i] = true;
    for (int round = 0; round < 3 && !ended; round++) {
        const int64_t last = rounds[round].last < s->iterations ? rounds[round].last : s->iterations;
        const int64_t wanted = (s->starts * rounds[round].eighths + 7) / 8;
        while (number < last && !ended) {
            number++;
            for (int64_t i = 0; i < s->starts; i++)
                if (left[i]) step(s, X, &all[i], number);
            ended = !goes_on(s, all, left, number);
        }
        ended = ended || last == s->iterations;
        halve(s, all, number, wanted > s->most ? wanted : s->most, left);
    }
    halve(s, all, number, s->most, left);
    return number;
}

/* Clusters that overlap, so that starts end apart; a tenth of the entries of sparse data are stored. */
static void fill(const scene *s, uint64_t *random, double *X)
{
    double *centres = reference_new(s->m * s->r * 2);
    reference_fill_uniform(random, s->m * s->r * 2, centres);
    for (int64_t j = 0; j < s->n; j++)
        for (int64_t i = 0; i < s->m; i++) {
            const double value = centres[(j % (2 * s->r)) * s->m + i] + 0.3 * reference_uniform(random);
            X[j * s->m + i] = s->sparse && reference_below(random, 10) > 0 ? 0 : value;
        }
    if (s->f32) reference_round_to_f32(s->m * s->n, X);
    free(centres);
}

static armilla_problem *problem_of(const scene *s, const armilla_data *data, const double *X, double *norms)
{
    armilla_problem *problem = NULL;
    double total = 0;
    for (int64_t j = 0; j < s->n; j++) total += norms[j] = reference_dot(s->m, X + j * s->m, X + j * s->m);
    const armilla_problem_options options = {.basis = armilla_basis_find(s->basis),
                                             .codes = armilla_codes_find(s->codes),
                                             .r = s->r,
                                             .s = 1,
                                             .type = s->f32 ? ARMILLA_F32 : ARMILLA_F64,
                                             .lambda = {1, true},
                                             .mu = {1, true},
                                             .stop = {.max_iter = 20, .tol = 1e-4}};
    REFERENCE_HOLDS(armilla_pair_assigns(options.basis, options.codes, 1));
    REFERENCE_OK(armilla_problem_new(reference_context, data, &options, total, norms, &problem));
    return problem;
}

static void check(const scene *s, const lone *all, const bool *left, int64_t last, const armilla_candidate *candidates)
{
    const double near = s->f32 ? 1e-5 : 1e-9;
    const int64_t kept = s->most < s->starts ? s->most : s->starts;
    bool seen[MOST_STARTS] = {false};
    for (int64_t c = 0; c < s->starts; c++) {
        REFERENCE_HOLDS(candidates[c].kept == (c < kept) && (candidates[c].U != NULL) == (c < kept));
        REFERENCE_HOLDS(candidates[c].number >= 0 && candidates[c].number < s->starts && !seen[candidates[c].number]);
        seen[candidates[c].number] = true;
        if (c >= kept) continue;
        const lone *own = &all[candidates[c].number];
        if (!s->f32) REFERENCE_HOLDS(left[candidates[c].number]); /* ties of f32 fall either way */
        if (c > 0) REFERENCE_AT_MOST(candidates[c - 1].objective, candidates[c].objective);
        REFERENCE_NEAR(candidates[c].objective, own->h[last], near * own->total);
        REFERENCE_NEAR(candidates[c].radius, own->l, near * own->l);
        for (int64_t i = 0; i < s->m * s->r; i++)
            REFERENCE_NEAR(candidates[c].U[i], own->U[i], near * (1 + fabs(own->U[i])));
    }
}

static void release(const scene *s, armilla_candidate *candidates)
{
    for (int64_t c = 0; c < s->starts; c++) armilla_release(reference_context, candidates[c].U);
}

/* The starts as the library makes them, each alone from there. */
static void compare_with_lone(const scene *s, const double *X, const armilla_halving *halving,
                              const armilla_candidate *found)
{
    const int64_t basis = s->m * s->r;
    double *U = reference_new(s->starts * basis);
    lone *all = calloc((size_t)s->starts, sizeof *all);
    bool left[MOST_STARTS];
    assert_non_null(all);
    REFERENCE_OK(armilla_start_bases(halving->problem, halving->start, halving->seed, s->starts, U));
    for (int64_t k = 0; k < s->starts; k++) {
        memcpy(all[k].U, U + k * basis, (size_t)basis * sizeof *U);
        for (int64_t j = 0; j < s->n; j++) all[k].atoms[j] = -1;
        all[k].l = 1;
        all[k].total = halving->problem->squared_norm;
    }
    const int64_t last = run_alone(s, X, all, left);
    check(s, all, left, last, found);
    free(all);
    free(U);
}

static void compare_bits(const scene *s, const armilla_candidate *found, const armilla_candidate *wanted)
{
    for (int64_t c = 0; c < s->starts; c++) {
        REFERENCE_HOLDS(found[c].number == wanted[c].number && found[c].kept == wanted[c].kept);
        if (!found[c].kept) continue;
        REFERENCE_HOLDS(found[c].objective == wanted[c].objective && found[c].radius == wanted[c].radius);
        REFERENCE_HOLDS(memcmp(found[c].U, wanted[c].U, (size_t)(s->m * s->r) * sizeof(double)) == 0);
    }
}

static void run_scene(const scene *s, uint64_t seed, const armilla_data *data, const double *X)
{
    armilla_candidate found[MOST_THREADS][MOST_STARTS] = {{{.number = 0}}};
    double norms[MOST_N];
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        REFERENCE_OK(armilla_call_enter(reference_context, threads));
        armilla_problem *problem = problem_of(s, data, X, norms);
        const armilla_halving halving = {.problem = problem,
                                         .start = &armilla_start_kmeans,
                                         .seed = seed,
                                         .count = s->starts,
                                         .most = s->most,
                                         .together = s->starts,
                                         .iterations = s->iterations};
        REFERENCE_OK(armilla_halve_starts(&halving, found[threads - 1]));
        if (threads == 1)
            compare_with_lone(s, X, &halving, found[0]);
        else
            compare_bits(s, found[threads - 1], found[0]);
        armilla_problem_free(problem);
        armilla_call_leave(reference_context);
    }
    for (int i = 0; i < MOST_THREADS; i++) release(s, found[i]);
}

static void test_starts_side_by_side_are_those_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        const scene *s = &scenes[i];
        uint64_t random = 700 + i;
        double *X = reference_new(s->m * s->n);
        reference_sparse sparse = {.entries = 0};
        armilla_data *data = NULL;
        reference_scene("scene %d", (int)i);
        fill(s, &random, X);
        float *floats = reference_floats(s->m * s->n, X);
        if (s->sparse) {
            reference_sparse_new(&sparse, ARMILLA_F64, ARMILLA_I32, false, s->m, s->n, X);
            data = reference_sparse_wrap(&sparse);
        } else
            REFERENCE_OK(armilla_data_wrap_dense(reference_context, s->f32 ? ARMILLA_F32 : ARMILLA_F64,
                                                 s->f32 ? (void *)floats : X, s->m, s->n, s->m, &data));
        run_scene(s, 5 + i, data, X);
        armilla_data_free(data);
        if (s->sparse) reference_sparse_free(&sparse);
        free(floats);
        free(X);
    }
}

/* Groups one after the other: the best of what each has alone, with numbers that go on. */
static void test_groups_are_merged(void **state)
{
    enum { TOGETHER = 5, COUNT = 13, MOST = 3 };
    const scene *s = &scenes[0];
    uint64_t random = 790;
    double *X = reference_new(s->m * s->n), norms[MOST_N], best[COUNT];
    armilla_data *data = NULL;
    armilla_candidate all[COUNT] = {{.number = 0}};
    int kept = 0;
    (void)state;
    reference_scene("groups of %d", TOGETHER);
    fill(s, &random, X);
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, X, s->m, s->n, s->m, &data));
    REFERENCE_OK(armilla_call_enter(reference_context, 2));
    armilla_problem *problem = problem_of(s, data, X, norms);
    armilla_halving halving = {.problem = problem,
                               .start = &armilla_start_kmeans,
                               .seed = 3,
                               .count = COUNT,
                               .most = MOST,
                               .together = TOGETHER,
                               .iterations = 500};
    REFERENCE_OK(armilla_halve_starts(&halving, all));
    for (int64_t first = 0; first < COUNT; first += TOGETHER) {
        armilla_candidate own[TOGETHER] = {{.number = 0}};
        halving.seed = armilla_start_seed(3, first);
        halving.count = first + TOGETHER < COUNT ? TOGETHER : COUNT - first;
        REFERENCE_OK(armilla_halve_starts(&halving, own));
        for (int64_t i = 0; i < halving.count; i++) {
            if (own[i].kept) best[kept++] = own[i].objective;
            for (int64_t c = 0; c < MOST && own[i].kept; c++)
                REFERENCE_HOLDS(all[c].number != first + own[i].number || all[c].objective == own[i].objective);
            armilla_release(reference_context, own[i].U);
        }
    }
    qsort(best, (size_t)kept, sizeof *best, compare);
    for (int64_t c = 0; c < COUNT; c++) {
        REFERENCE_HOLDS(all[c].kept == (c < MOST) && (c >= MOST || all[c].objective == best[c]));
        armilla_release(reference_context, all[c].U);
    }
    armilla_problem_free(problem);
    armilla_call_leave(reference_context);
    armilla_data_free(data);
    free(X);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_starts_side_by_side_are_those_alone),
                                       cmocka_unit_test(test_groups_are_merged)};
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
