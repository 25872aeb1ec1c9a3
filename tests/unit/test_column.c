/* The column problem min w'Hw - 2d'w over unit w of each code set on a sphere: its solvers against grids, every support
 * there is and random points. */
#include "reference/column.h"

#include "sets/supports.h"

#include <math.h>
#include <string.h>

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
                least = fmin(least, column_value(c, w));
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
            column_open(sets[set], r, s, false, &c);
            column_draw(&random, kind, set == 1, &c);
            column_scene(&c, kind, draw);
            const double value = column_solve(&c, w), least = brute_pairs(&c);
            REFERENCE_HOLDS(armilla_codes_are_global(c.problem->codes, c.r, c.s));
            REFERENCE_AT_MOST(value, least + 1e-13 * column_scale(&c));
            REFERENCE_AT_MOST(least - value, (s == 1 ? 1e-13 : 3e-4) * column_scale(&c));
            column_close(&c);
        }
}

/* Plain projected steps on the support, from there. */
static double descend_on(const column *c, unsigned support, double *w)
{
    const double alpha = column_scale(c);
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
    return column_value(c, w);
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
            column_open(sets[set], r, 3, false, &c);
            column_draw(&random, kind, set == 1, &c);
            column_scene(&c, kind, draw);
            REFERENCE_HOLDS(c.problem->supports != NULL);
            const double value = column_solve(&c, w);
            REFERENCE_AT_MOST(value, brute_supports(&random, &c) + 1e-9 * column_scale(&c));
            column_close(&c);
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
        column_open("nonneg-sphere", r, 0, false, &c);
        column_draw(&random, kind, true, &c);
        column_scene(&c, kind, draw);
        const double value = column_solve(&c, w);
        for (int i = 0; i <= steps; i++)
            for (int j = 0; j <= (r == 2 ? 0 : steps); j++) {
                double point[3];
                grid_point(r, i, j, steps, point);
                least = fmin(least, column_value(&c, point));
            }
        REFERENCE_AT_MOST(value, least + 1e-6 * column_scale(&c));
        column_close(&c);
    }
}

static void beats_random_points(uint64_t *random, column *c)
{
    double w[MOST_RANK], point[MOST_RANK];
    const double value = column_solve(c, w);
    for (int i = 0; i < 1000; i++) {
        column_draw_point(random, c, point);
        REFERENCE_AT_MOST(value, column_value(c, point) + 1e-13 * column_scale(c));
    }
}

/* The whole sphere is one support: descents from anywhere end there at best. */
static void beats_descents(uint64_t *random, column *c)
{
    double w[MOST_RANK], point[MOST_RANK];
    if (c->codes->sparse || c->codes->nonnegative) return;
    const double value = column_solve(c, w);
    REFERENCE_HOLDS(armilla_codes_are_global(c->problem->codes, c->r, c->s));
    for (int i = 0; i < 10; i++) {
        column_draw_point(random, c, point);
        REFERENCE_AT_MOST(value, descend_on(c, (1u << c->r) - 1, point) + 1e-13 * column_scale(c));
    }
}

static void test_random_points(void **state)
{
    (void)state;
    column_for_each(206, (int)reference_effort(4, 1), beats_random_points);
}

static void test_descents(void **state)
{
    (void)state;
    column_for_each(207, (int)reference_effort(20, 1), beats_descents);
}

/* H = I: Proj(d) itself, bit for bit; the first axis where d = 0. */
static void test_exact_problems(void **state)
{
    uint64_t random = 212;
    (void)state;
    for (size_t i = 0; i < COLUMN_SORTS; i++)
        for (int draw = 0; draw < 50; draw++) {
            double w[MOST_RANK], wanted[MOST_RANK] = {1};
            column c;
            column_open(column_sorts[i].codes, column_sorts[i].r, column_sorts[i].s, true, &c);
            for (int64_t k = 0; k < c.r; k++) c.H[k * c.r + k] = 1;
            if (draw > 0) reference_fill_normal(&random, c.r, c.d);
            column_scene(&c, TALL, draw);
            (void)column_solve(&c, w);
            if (draw > 0) assert_true(c.codes->project(c.r, c.s, c.d, wanted));
            REFERENCE_HOLDS(memcmp(w, wanted, (size_t)c.r * sizeof *w) == 0);
            REFERENCE_HOLDS(armilla_column_unit(c.problem, 7) == 1);
            column_close(&c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_and_two_nonzeros),
        cmocka_unit_test(test_all_supports),
        cmocka_unit_test(test_nonneg_sphere_is_global_for_small_ranks),
        cmocka_unit_test(test_random_points),
        cmocka_unit_test(test_descents),
        cmocka_unit_test(test_exact_problems),
    };
    return cmocka_run_group_tests(tests, column_set_up, column_tear_down);
}
