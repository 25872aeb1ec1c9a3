/* The column problem min w'Hw - 2d'w over unit w of each code set: its solvers against grids, every support there is and
 * random points, and what all of them promise. */
#include "reference/reference.h"

#include "linalg/kernels.h"
#include "sets/column.h"
#include "sets/supports.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_RANK = 8, MOST_RANK = 16 };

/* Where H comes from. */
typedef enum gram_kind { TALL, NONNEGATIVE, WIDE, TWINS, ZEROS, NOTHING, GRAM_KINDS } gram_kind;
static const char *const gram_words[] = {"tall", "nonnegative", "r > m", "duplicate atoms", "zero atoms", "H = 0"};

/* One problem, ready to be solved. */
typedef struct column {
    const armilla_code_set *codes;
    int64_t r, s;
    double H[MOST_RANK * MOST_RANK], d[MOST_RANK];
    armilla_algebra *algebra;
    armilla_column_problem *problem;
    double *room;
} column;

static double gram_value(int64_t r, const double *H, const double *d, const double *w)
{
    long double sum = 0;
    for (int64_t a = 0; a < r; a++) {
        long double row = -2 * (long double)d[a];
        for (int64_t b = 0; b < r; b++) row += (long double)H[a * r + b] * w[b];
        sum += row * w[a];
    }
    return (double)sum;
}

static double value_of(const column *c, const double *w)
{
    return gram_value(c->r, c->H, c->d, w);
}

/* What differences of g are measured by. */
static double scale_of(const column *c)
{
    double trace = 0;
    for (int64_t k = 0; k < c->r; k++) trace += c->H[k * c->r + k];
    return trace + 2 * reference_norm(c->r, c->d);
}

/* U of the kind gives H; d = U'x for an x near the span or, at times, any d at all. nonnegative: of U. */
static void draw_problem(uint64_t *random, gram_kind kind, bool nonnegative, column *c)
{
    const int64_t r = c->r, m = kind == WIDE ? (r + 1) / 2 : r + 3;
    double U[(MOST_RANK + 3) * MOST_RANK], x[MOST_RANK + 3];
    reference_fill_normal(random, m * r, U);
    for (int64_t i = 0; i < m * r && (nonnegative || kind == NONNEGATIVE); i++) U[i] = fmax(U[i], 0);
    if (kind == TWINS) memcpy(U, U + (r - 1) * m, (size_t)m * sizeof *U);
    if (kind == ZEROS || kind == NOTHING) memset(U, 0, (size_t)(kind == ZEROS ? m : m * r) * sizeof *U);
    reference_left_transposed(m, r, r, U, U, c->H);
    reference_fill_normal(random, m, x);
    if (reference_below(random, 2))
        for (int64_t i = 0; i < m; i++) x[i] = fabs(x[i]) * 2;
    reference_left_transposed(m, r, 1, U, x, c->d);
    if (reference_below(random, 4) == 0) reference_fill_normal(random, r, c->d);
}

static void open_column(const char *codes, int64_t r, int64_t s, bool exact, column *c)
{
    *c = (column){.codes = armilla_codes_find(codes), .r = r, .s = s, .room = reference_new(armilla_column_room(r))};
    REFERENCE_OK(armilla_algebra_new(reference_context, r, r, &c->algebra));
    REFERENCE_OK(armilla_column_problem_new(reference_context, c->codes, r, s, exact, &c->problem));
}

static void close_column(column *c)
{
    armilla_column_problem_free(c->problem);
    armilla_algebra_free(c->algebra);
    free(c->room);
}

/* Exactly in the set. */
static void check_feasible(const column *c, const double *w)
{
    int64_t nonzeros = 0;
    for (int64_t k = 0; k < c->r; k++) {
        REFERENCE_HOLDS(isfinite(w[k]));
        REFERENCE_HOLDS(!(w[k] == 0 && signbit(w[k])));
        if (c->codes->nonnegative) REFERENCE_HOLDS(w[k] >= 0);
        nonzeros += w[k] != 0;
    }
    if (c->codes->sparse) REFERENCE_AT_MOST(nonzeros, c->s);
    REFERENCE_NEAR(reference_norm(c->r, w), 1, 10 * DBL_EPSILON);
}

/* The code, its feasibility, and that neither Proj(d) nor an axis is better. Returns g. */
static double solve(column *c, double *w)
{
    const double slack = 1e-13 * scale_of(c);
    double first[MOST_RANK];
    REFERENCE_OK(armilla_column_problem_set(c->problem, c->algebra, c->H, ARMILLA_SOLVE));
    for (int64_t k = 0; k < c->r; k++) w[k] = NAN;
    armilla_column_solve(c->problem, c->codes, c->d, w, c->room);
    check_feasible(c, w);
    const double value = value_of(c, w);
    REFERENCE_NEAR(armilla_column_value(c->problem, c->d, w), value, slack);
    reference_project(c->r, c->codes->sparse ? c->s : c->r, c->codes->nonnegative, c->d, first);
    REFERENCE_AT_MOST(value, value_of(c, first) + slack);
    for (int64_t k = 0; k < c->r; k++) {
        memset(first, 0, sizeof first);
        first[k] = 1;
        REFERENCE_AT_MOST(value, value_of(c, first) + slack);
    }
    return value;
}

static void scene_of(const column *c, gram_kind kind, int draw)
{
    reference_scene("%s, r = %d, s = %d, %s, draw %d", c->codes->name, (int)c->r, (int)c->s, gram_words[kind], draw);
}

/* s = 1 and s = 2: every axis, every pair on a fine grid. */
static double brute_pairs(const column *c)
{
    enum { POINTS = 360 };
    const double step = 2 * acos(-1.0) / POINTS;
    double least = INFINITY, w[MOST_RANK];
    for (int64_t a = 0; a < c->r; a++)
        for (int64_t b = a; b < c->r; b++)
            for (int i = 0; i < (c->codes->nonnegative ? POINTS / 4 + 1 : POINTS); i++) {
                const bool axis = c->s == 1 || a == b;
                if (axis && i != 0 && (c->codes->nonnegative || i != POINTS / 2)) continue;
                if (c->s == 1 && a != b) continue;
                memset(w, 0, sizeof w);
                if (!axis) w[b] = i == POINTS / 2 || i == 0 ? 0 : sin(step * i);
                w[a] = axis ? (i == 0 ? 1 : -1) : cos(step * i);
                if (c->codes->nonnegative) w[a] = fmax(w[a], 0);
                least = fmin(least, value_of(c, w));
            }
    return least;
}

static void test_one_and_two_nonzeros(void **state)
{
    static const char *const sets[] = {"sparse-sphere", "nonneg-sparse-sphere"};
    uint64_t random = 203;
    (void)state;
    for (int set = 0; set < 2; set++)
        for (int draw = 0; draw < reference_effort(360, 12); draw++) {
            const int64_t s = 1 + draw % 2, r = s + reference_below(&random, SMALL_RANK - s + 1);
            const gram_kind kind = (gram_kind)(draw / 2 % GRAM_KINDS);
            double w[MOST_RANK];
            column c;
            open_column(sets[set], r, s, false, &c);
            draw_problem(&random, kind, set == 1, &c);
            scene_of(&c, kind, draw);
            const double value = solve(&c, w), least = brute_pairs(&c);
            REFERENCE_HOLDS(armilla_column_is_global(c.problem, c.codes));
            REFERENCE_AT_MOST(value, least + 1e-13 * scale_of(&c));
            REFERENCE_AT_MOST(least - value, (s == 1 ? 1e-13 : 3e-4) * scale_of(&c));
            close_column(&c);
        }
}

/* Plain projected steps on the support, from there. */
static double descend_on(const column *c, unsigned support, double *w)
{
    const double alpha = scale_of(c);
    for (int step = 0; step < 100; step++) {
        double q[MOST_RANK] = {0};
        for (int64_t a = 0; a < c->r; a++) {
            if (!(support >> a & 1)) continue;
            q[a] = c->d[a] + alpha * w[a];
            for (int64_t b = 0; b < c->r; b++) q[a] -= c->H[a * c->r + b] * w[b];
            if (c->codes->nonnegative) q[a] = fmax(q[a], 0);
        }
        const double norm = reference_norm(c->r, q);
        if (!(norm > 0)) break;
        for (int64_t a = 0; a < c->r; a++) w[a] = q[a] / norm;
    }
    return value_of(c, w);
}

/* The least g that descents from random points of every support of size s find. */
static double brute_supports(uint64_t *random, const column *c)
{
    double least = INFINITY;
    for (unsigned support = 0; support < 1u << c->r; support++) {
        if (__builtin_popcount(support) != c->s) continue;
        for (int start = 0; start < 4; start++) {
            double w[MOST_RANK] = {0};
            for (int64_t a = 0; a < c->r; a++)
                if (support >> a & 1) w[a] = reference_normal(random);
            for (int64_t a = 0; a < c->r && c->codes->nonnegative; a++) w[a] = fabs(w[a]);
            const double norm = reference_norm(c->r, w);
            for (int64_t a = 0; a < c->r; a++) w[a] /= norm;
            least = fmin(least, descend_on(c, support, w));
        }
    }
    return least;
}

static void test_all_supports(void **state)
{
    static const char *const sets[] = {"sparse-sphere", "nonneg-sparse-sphere"};
    uint64_t random = 204;
    (void)state;
    assert_int_equal(armilla_supports_count(7, 3, false), 35);
    assert_int_equal(armilla_supports_count(7, 3, true), 56);
    assert_int_equal(armilla_supports_count(1000, 3, true), 0);
    for (int set = 0; set < 2; set++)
        for (int draw = 0; draw < reference_effort(120, 6); draw++) {
            const int64_t r = 3 + reference_below(&random, 5);
            const gram_kind kind = (gram_kind)(draw % GRAM_KINDS);
            double w[MOST_RANK];
            column c;
            open_column(sets[set], r, 3, false, &c);
            draw_problem(&random, kind, set == 1, &c);
            scene_of(&c, kind, draw);
            REFERENCE_HOLDS(c.problem->supports != NULL);
            const double value = solve(&c, w);
            REFERENCE_AT_MOST(value, brute_supports(&random, &c) + 1e-9 * scale_of(&c));
            close_column(&c);
        }
}

/* A point of the octant for r = 3, of the quarter for r = 2. */
static void grid_point(int64_t r, int i, int j, int steps, double *w)
{
    const double right = acos(-1.0) / 2, s = right * i / steps, t = right * j / steps;
    w[0] = fmax(cos(s), 0);
    w[1] = r == 2 ? sin(s) : sin(s) * fmax(cos(t), 0);
    if (r == 3) w[2] = sin(s) * sin(t);
}

static void test_nonneg_sphere_is_global_for_small_ranks(void **state)
{
    uint64_t random = 205;
    (void)state;
    for (int draw = 0; draw < reference_effort(300, 12); draw++) {
        const int64_t r = 2 + draw % 2;
        const int steps = r == 2 ? 4000 : 150;
        const gram_kind kind = (gram_kind)(draw / 2 % GRAM_KINDS);
        double w[MOST_RANK], least = INFINITY;
        column c;
        open_column("nonneg-sphere", r, 0, false, &c);
        draw_problem(&random, kind, true, &c);
        scene_of(&c, kind, draw);
        const double value = solve(&c, w);
        for (int i = 0; i <= steps; i++)
            for (int j = 0; j <= (r == 2 ? 0 : steps); j++) {
                double point[3];
                grid_point(r, i, j, steps, point);
                least = fmin(least, value_of(&c, point));
            }
        REFERENCE_AT_MOST(value, least + 1e-6 * scale_of(&c));
        close_column(&c);
    }
}

/* A random point of the set; some of its entries are 0 where they may be. */
static void draw_point(uint64_t *random, const column *c, double *w)
{
    double q[MOST_RANK];
    do {
        reference_fill_normal(random, c->r, q);
        for (int64_t k = 0; k < c->r; k++)
            q[k] *= reference_below(random, 3) ? (c->codes->nonnegative && q[k] < 0 ? -1 : 1) : 0;
    } while (!c->codes->project(c->r, c->s, q, w));
}

static const struct {
    const char *codes;
    int64_t r, s;
} sorts[] = {
    {"sphere", 1, 0},
    {"sphere", 5, 0},
    {"sphere", 8, 0},
    {"sphere", 16, 0},
    {"nonneg-sphere", 1, 0},
    {"nonneg-sphere", 4, 0},
    {"nonneg-sphere", 8, 0},
    {"nonneg-sphere", 16, 0},
    {"sparse-sphere", 1, 1},
    {"sparse-sphere", 6, 1},
    {"sparse-sphere", 8, 2},
    {"sparse-sphere", 8, 4},
    {"sparse-sphere", 5, 5},
    {"sparse-sphere", 16, 6},
    {"nonneg-sparse-sphere", 1, 1},
    {"nonneg-sparse-sphere", 6, 1},
    {"nonneg-sparse-sphere", 8, 2},
    {"nonneg-sparse-sphere", 8, 4},
    {"nonneg-sparse-sphere", 5, 5},
    {"nonneg-sparse-sphere", 16, 6},
};
enum { SORTS = sizeof sorts / sizeof sorts[0] };

/* Each sort of problem and each kind of H, several times. */
static void for_each_problem(uint64_t seed, int draws, void (*check)(uint64_t *random, column *c))
{
    for (size_t i = 0; i < SORTS; i++)
        for (int draw = 0; draw < draws * GRAM_KINDS; draw++) {
            const gram_kind kind = (gram_kind)(draw % GRAM_KINDS);
            column c;
            open_column(sorts[i].codes, sorts[i].r, sorts[i].s, false, &c);
            draw_problem(&seed, kind, c.codes->nonnegative || draw % 2, &c);
            scene_of(&c, kind, draw);
            check(&seed, &c);
            close_column(&c);
        }
}

static void beats_random_points(uint64_t *random, column *c)
{
    double w[MOST_RANK], point[MOST_RANK];
    const double value = solve(c, w);
    for (int i = 0; i < 1000; i++) {
        draw_point(random, c, point);
        REFERENCE_AT_MOST(value, value_of(c, point) + 1e-13 * scale_of(c));
    }
}

/* The whole sphere is one support: descents from anywhere end there at best. */
static void beats_descents(uint64_t *random, column *c)
{
    double w[MOST_RANK], point[MOST_RANK];
    if (c->codes->sparse || c->codes->nonnegative) return;
    const double value = solve(c, w);
    REFERENCE_HOLDS(armilla_column_is_global(c->problem, c->codes));
    for (int i = 0; i < 10; i++) {
        draw_point(random, c, point);
        REFERENCE_AT_MOST(value, descend_on(c, (1u << c->r) - 1, point) + 1e-13 * scale_of(c));
    }
}

static void gives_the_same_bits_again(uint64_t *random, column *c)
{
    double first[MOST_RANK], again[MOST_RANK];
    (void)random;
    (void)solve(c, first);
    for (int64_t i = 0; i < armilla_column_room(c->r); i++) c->room[i] = i % 3 ? NAN : 1e300;
    REFERENCE_OK(armilla_column_problem_set(c->problem, c->algebra, c->H, ARMILLA_SOLVE));
    armilla_column_solve(c->problem, c->codes, c->d, again, c->room);
    REFERENCE_HOLDS(memcmp(first, again, (size_t)c->r * sizeof *first) == 0);
}

static void does_not_see_the_scale(uint64_t *random, column *c)
{
    static const double scales[] = {0x1p-20, 0x1p30, 1e-8, 1e8, 1e-100, 1e100};
    double w[MOST_RANK], scaled_w[MOST_RANK];
    column scaled = *c;
    (void)random;
    const double value = solve(c, w), scale = scale_of(c);
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        for (int64_t k = 0; k < c->r * c->r; k++) scaled.H[k] = scales[i] * c->H[k];
        for (int64_t k = 0; k < c->r; k++) scaled.d[k] = scales[i] * c->d[k];
        (void)solve(&scaled, scaled_w);
        REFERENCE_NEAR(value_of(c, scaled_w), value, 1e-9 * scale);
    }
}

static void has_a_code_of_zero(uint64_t *random, column *c)
{
    double w[MOST_RANK];
    (void)random;
    memset(c->d, 0, sizeof c->d);
    (void)solve(c, w);
    for (int64_t k = 0; k < c->r; k++) c->d[k] = -0.0;
    (void)solve(c, w);
}

static void never_rises(uint64_t *random, column *c)
{
    double w[MOST_RANK];
    REFERENCE_OK(armilla_column_problem_set(c->problem, c->algebra, c->H, ARMILLA_DESCEND));
    for (int i = 0; i < 10; i++) {
        draw_point(random, c, w);
        for (int steps = 0; steps < 40; steps += 1 + steps) {
            const double before = value_of(c, w);
            armilla_column_descend(c->problem, c->codes, c->d, steps, ARMILLA_SETTLED, w, c->room);
            check_feasible(c, w);
            REFERENCE_AT_MOST(value_of(c, w), before + 1e-14 * scale_of(c));
        }
    }
}

enum { NEIGHBOURS = 19 }; /* two blocks of lanes and a part of one */

/* Among any neighbours, in any number, a column has the code that it has alone; descent too. */
static void does_not_see_its_neighbours(uint64_t *random, column *c)
{
    const int64_t r = c->r;
    double C[NEIGHBOURS * MOST_RANK], W[NEIGHBOURS * MOST_RANK], start[NEIGHBOURS * MOST_RANK], w[MOST_RANK];
    const double unit = exp(reference_normal(random));
    for (int64_t j = 0; j < NEIGHBOURS; j++) {
        for (int64_t k = 0; k < r; k++) C[j * r + k] = c->d[k] * unit + (j % 3 ? reference_normal(random) : 0);
        draw_point(random, c, start + j * r);
    }
    for (int descent = 0; descent < 2; descent++)
        for (int64_t count = 1; count <= NEIGHBOURS; count += 1 + count / 2) {
            REFERENCE_OK(armilla_column_problem_set(c->problem, c->algebra, c->H, ARMILLA_SOLVE));
            memcpy(W, start, sizeof W);
            if (descent)
                armilla_columns_descend(c->problem, c->codes, count, C, unit, 7, 1e-6, W, c->room);
            else
                armilla_columns_solve(c->problem, c->codes, count, C, unit, W, c->room);
            for (int64_t j = 0; j < count; j++) {
                memcpy(w, start + j * r, (size_t)r * sizeof *w);
                if (descent)
                    armilla_columns_descend(c->problem, c->codes, 1, C + j * r, unit, 7, 1e-6, w, c->room);
                else
                    armilla_columns_solve(c->problem, c->codes, 1, C + j * r, unit, w, c->room);
                REFERENCE_HOLDS(memcmp(w, W + j * r, (size_t)r * sizeof *w) == 0);
                check_feasible(c, w);
            }
        }
}

/* Lanes by every table against descent of one column at a time, step by step. */
static void descends_as_one_column_does(uint64_t *random, column *c)
{
    const int64_t r = c->r, L = ARMILLA_LANES;
    double d[ARMILLA_LANES * MOST_RANK], w[ARMILLA_LANES * MOST_RANK], one[MOST_RANK], own[MOST_RANK];
    double start[ARMILLA_LANES * MOST_RANK];
    if (!c->codes->descend_lanes) return;
    REFERENCE_OK(armilla_column_problem_set(c->problem, c->algebra, c->H, ARMILLA_DESCEND));
    for (int64_t i = 0; i < L; i++) {
        draw_point(random, c, one);
        for (int64_t k = 0; k < r; k++) {
            d[k * L + i] = c->d[k] + (i ? reference_normal(random) : 0);
            start[k * L + i] = one[k];
        }
    }
    for (size_t row = 0; armilla_code_kernels_row(row); row++)
        for (int steps = 1; steps < 30; steps += steps) {
            const armilla_descent descent = {r, c->problem->H, c->problem->alpha, steps, 1e-12};
            if (!armilla_instructions_supported(armilla_code_kernels_row(row)->name)) continue;
            memcpy(w, start, sizeof w);
            armilla_code_kernels_row(row)->descend(&descent, d, w, c->room);
            for (int64_t i = 0; i < L; i++) {
                double from = 0, to = 0;
                for (int64_t k = 0; k < r; k++) {
                    own[k] = d[k * L + i];
                    one[k] = start[k * L + i];
                }
                from = armilla_column_value(c->problem, own, one);
                armilla_column_descend(c->problem, c->codes, own, steps, 1e-12, one, c->room);
                to = armilla_column_value(c->problem, own, one);
                for (int64_t k = 0; k < r; k++) own[k] = w[k * L + i];
                check_feasible(c, own);
                for (int64_t k = 0; k < r; k++) one[k] = d[k * L + i];
                /* Rounding may decide a near-tie otherwise; what is reached is the same but for that. */
                const double reached = armilla_column_value(c->problem, one, own);
                REFERENCE_AT_MOST(reached, from + 1e-13 * (scale_of(c) + fabs(from)));
                REFERENCE_NEAR(reached, to, 1e-9 * (scale_of(c) + fabs(to)) + 0.02 * (from - to));
            }
        }
}

static void test_random_points(void **state)
{
    (void)state;
    for_each_problem(206, (int)reference_effort(4, 1), beats_random_points);
}

static void test_descents(void **state)
{
    (void)state;
    for_each_problem(207, (int)reference_effort(20, 1), beats_descents);
}

static void test_determinism(void **state)
{
    (void)state;
    for_each_problem(208, (int)reference_effort(6, 1), gives_the_same_bits_again);
}

static void test_scale(void **state)
{
    (void)state;
    for_each_problem(209, (int)reference_effort(3, 1), does_not_see_the_scale);
}

static void test_neighbours(void **state)
{
    (void)state;
    for_each_problem(211, (int)reference_effort(3, 1), does_not_see_its_neighbours);
}

static void test_lanes(void **state)
{
    (void)state;
    for_each_problem(212, (int)reference_effort(6, 1), descends_as_one_column_does);
}

static void test_zero(void **state)
{
    (void)state;
    for_each_problem(210, (int)reference_effort(4, 1), has_a_code_of_zero);
}

static void test_descent(void **state)
{
    (void)state;
    for_each_problem(211, (int)reference_effort(8, 1), never_rises);
}

/* H = I: Proj(d) itself, bit for bit; the first axis where d = 0. */
static void test_exact_problems(void **state)
{
    uint64_t random = 212;
    (void)state;
    for (size_t i = 0; i < SORTS; i++)
        for (int draw = 0; draw < 50; draw++) {
            double w[MOST_RANK], wanted[MOST_RANK] = {1};
            column c;
            open_column(sorts[i].codes, sorts[i].r, sorts[i].s, true, &c);
            for (int64_t k = 0; k < c.r; k++) c.H[k * c.r + k] = 1;
            if (draw > 0) reference_fill_normal(&random, c.r, c.d);
            scene_of(&c, TALL, draw);
            (void)solve(&c, w);
            if (draw > 0) assert_true(c.codes->project(c.r, c.s, c.d, wanted));
            REFERENCE_HOLDS(memcmp(w, wanted, (size_t)c.r * sizeof *w) == 0);
            REFERENCE_HOLDS(armilla_column_is_global(c.problem, c.codes));
            REFERENCE_HOLDS(armilla_column_unit(c.problem, 7) == 1);
            close_column(&c);
        }
}

/* BLAS on one thread, as in a fit. */
static int set_up(void **state)
{
    armilla_blas_enter();
    return reference_set_up(state);
}

static int tear_down(void **state)
{
    armilla_blas_leave();
    return reference_tear_down(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_and_two_nonzeros),
        cmocka_unit_test(test_all_supports),
        cmocka_unit_test(test_nonneg_sphere_is_global_for_small_ranks),
        cmocka_unit_test(test_random_points),
        cmocka_unit_test(test_descents),
        cmocka_unit_test(test_determinism),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_zero),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_descent),
        cmocka_unit_test(test_exact_problems),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
