/* Codes without a sphere, min w'Hw - 2d'w over w in the set: the solvers of `nonneg`, `sparse` and `free` against every
 * support there is, each solved by elimination in long double; and coordinate descent side by side against its formula
 * for one column. */
#include "reference/column.h"

#include "linalg/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { BRUTE_RANK = 6 };

/* A pivot this small beside the largest diagonal entry is rounding: the support has atoms to spare, and a smaller one
 * is as good. */
#define NO_PIVOT 1e-11L

/* Hw = d on the support by Gaussian elimination with full pivoting of the diagonal; false where it is singular. */
static bool solve_support(const column *c, unsigned support, double *w)
{
    long double S[BRUTE_RANK][BRUTE_RANK + 1], top = 0;
    int64_t member[BRUTE_RANK], size = 0;
    for (int64_t k = 0; k < c->r; k++)
        if (support >> k & 1) member[size++] = k;
    for (int64_t a = 0; a < size; a++) {
        for (int64_t b = 0; b < size; b++) S[a][b] = c->H[member[a] * c->r + member[b]];
        S[a][size] = c->d[member[a]];
        top = fmaxl(top, S[a][a]);
    }
    for (int64_t a = 0; a < size; a++) {
        if (!(S[a][a] > NO_PIVOT * top)) return false;
        for (int64_t b = 0; b < size; b++) {
            const long double factor = b == a ? 0 : S[b][a] / S[a][a];
            for (int64_t k = a; k <= size; k++) S[b][k] -= factor * S[a][k];
        }
    }
    memset(w, 0, (size_t)c->r * sizeof *w);
    for (int64_t a = 0; a < size; a++) w[member[a]] = (double)(S[a][size] / S[a][a]);
    return true;
}

/* What g of a code can be off by, since H and d are rounded: much where atoms nearly cancel. */
static double rounding_of(const column *c, const double *w)
{
    double trace = 0;
    for (int64_t k = 0; k < c->r; k++) trace += c->H[k * c->r + k];
    return 4 * DBL_EPSILON * trace * pow(reference_norm(c->r, w), 2);
}

/* The least g over all supports and how far rounding may have lowered it; some support without atoms to spare has it. */
static double brute_force(const column *c, double *slack)
{
    double least = 0, w[MOST_RANK];
    *slack = 0;
    for (unsigned support = 1; support < 1u << c->r; support++) {
        bool feasible = !c->codes->sparse || __builtin_popcount(support) <= c->s;
        if (!feasible || !solve_support(c, support, w)) continue;
        for (int64_t k = 0; k < c->r && c->codes->nonnegative; k++) feasible = feasible && w[k] >= 0;
        if (!feasible || column_value(c, w) >= least) continue;
        least = column_value(c, w);
        *slack = rounding_of(c, w);
    }
    return least;
}

/* Atoms and a sample of few whole numbers: equal atoms, equal gains, zeros. */
static void draw_ties(uint64_t *random, column *c)
{
    enum { ROWS = 3 };
    double U[ROWS * MOST_RANK], x[ROWS];
    for (int64_t i = 0; i < ROWS * c->r; i++) U[i] = (double)(reference_below(random, 3) - 1);
    for (int64_t i = 0; i < ROWS; i++) x[i] = (double)(reference_below(random, 7) - 3);
    reference_left_transposed(ROWS, c->r, c->r, U, U, c->H);
    reference_left_transposed(ROWS, c->r, 1, U, x, c->d);
}

/* H and d of atoms that are `scale` times as long. */
static void lengthen_atoms(double scale, column *c)
{
    for (int64_t k = 0; k < c->r * c->r; k++) c->H[k] *= scale * scale;
    for (int64_t k = 0; k < c->r; k++) c->d[k] *= scale;
}

static void check_solver(const char *codes, uint64_t *random, int64_t r, int64_t s, int draw)
{
    static const double scales[] = {1, 1, 1, 1e-70, 1e70};
    const gram_kind kind = (gram_kind)(draw % GRAM_KINDS);
    double w[MOST_RANK];
    column c;
    column_open(codes, r, s, false, &c);
    if (draw / GRAM_KINDS % 4 == 0) {
        draw_ties(random, &c);
    } else {
        /* d = Hv: where H is singular any d would let g fall without end */
        double v[MOST_RANK];
        column_draw(random, kind, draw % 2, &c);
        reference_fill_normal(random, r, v);
        reference_left_transposed(r, r, 1, c.H, v, c.d);
    }
    lengthen_atoms(scales[reference_below(random, 5)], &c);
    column_scene(&c, kind, draw);
    REFERENCE_OK(armilla_column_problem_set(c.problem, c.algebra, c.H, ARMILLA_SOLVE));
    REFERENCE_HOLDS(armilla_codes_are_global(c.problem->codes, c.r, c.s));
    for (int64_t k = 0; k < r; k++) w[k] = NAN;
    armilla_columns_solve(c.problem, &(armilla_column_batch){1, c.d, 1, w}, c.workspace);
    column_check_signs(&c, w);
    double slack;
    const double least = brute_force(&c, &slack), value = column_value(&c, w);
    REFERENCE_AT_MOST(value, least + 1e-9 * fabs(least) + slack);
    REFERENCE_AT_MOST(least, value + 1e-9 * fabs(least) + rounding_of(&c, w)); /* or the reference is wrong */
    column_close(&c);
}

static void test_nonneg_codes(void **state)
{
    uint64_t random = 301;
    (void)state;
    for (int draw = 0; draw < reference_effort(6000, 60); draw++)
        check_solver("nonneg", &random, 1 + draw / GRAM_KINDS % BRUTE_RANK, 0, draw);
}

static void test_sparse_codes(void **state)
{
    uint64_t random = 302;
    (void)state;
    for (int draw = 0; draw < reference_effort(6000, 60); draw++) {
        const int64_t r = 1 + draw / GRAM_KINDS % BRUTE_RANK;
        check_solver("sparse", &random, r, 1 + reference_below(&random, r), draw);
    }
}

/* g of least squares on the support of w. */
static double value_on_support(const column *c, const double *w)
{
    double best[MOST_RANK];
    unsigned support = 0;
    for (int64_t k = 0; k < c->r; k++)
        if (w[k] != 0) support |= 1u << k;
    REFERENCE_HOLDS(solve_support(c, support, best));
    return column_value(c, best);
}

/* Greedy pursuit as the books have it, each atom the one whose own step lowers g most, refitted by elimination. */
static double pursue_plainly(const column *c)
{
    double w[MOST_RANK] = {0}, value = 0;
    unsigned support = 0;
    for (int64_t size = 0; size < c->s; size++) {
        int64_t best = -1;
        double most = 0;
        for (int64_t k = 0; k < c->r; k++) {
            double gradient = c->d[k];
            for (int64_t a = 0; a < c->r; a++) gradient -= c->H[a * c->r + k] * w[a];
            if (support >> k & 1 || gradient * gradient / c->H[k * c->r + k] <= most) continue;
            most = gradient * gradient / c->H[k * c->r + k];
            best = k;
        }
        if (best < 0) break;
        support |= 1u << best;
        REFERENCE_HOLDS(solve_support(c, support, w));
        value = column_value(c, w);
    }
    return value;
}

/* More supports than are listed: pursuit and exchanges. Least squares on the support found, never above greedy pursuit
 * nor below the best support, which it mostly finds. */
static void test_more_supports_than_listed(void **state)
{
    enum { ROWS = 24, R = 14, S = 4, DRAWS = 300 };
    uint64_t random = 304;
    int best = 0, better = 0;
    (void)state;
    for (int draw = 0; draw < DRAWS; draw++) {
        double U[ROWS * R], x[ROWS], made[R] = {0}, w[R], slack = 0;
        int64_t nonzeros = 0;
        column c;
        column_open("sparse", R, S, false, &c);
        reference_fill_normal(&random, ROWS * R, U);
        for (int64_t i = 0; i < ROWS * R; i++) U[i] += draw % 3 == 2 ? 1.5 : 0; /* atoms that resemble each other */
        for (int64_t k = 0; k < S; k++) made[reference_below(&random, R)] = reference_normal(&random);
        reference_multiply(ROWS, R, 1, U, made, x);
        for (int64_t i = 0; i < ROWS; i++) x[i] += draw % 3 == 0 ? 0 : 2 * reference_normal(&random);
        reference_left_transposed(ROWS, R, R, U, U, c.H);
        reference_left_transposed(ROWS, R, 1, U, x, c.d);
        reference_scene("draw %d", draw);
        REFERENCE_OK(armilla_column_problem_set(c.problem, c.algebra, c.H, ARMILLA_SOLVE));
        REFERENCE_HOLDS(!armilla_codes_are_global(c.problem->codes, c.r, c.s));
        armilla_columns_solve(c.problem, &(armilla_column_batch){1, c.d, 1, w}, c.workspace);
        for (int64_t k = 0; k < R; k++) nonzeros += w[k] != 0;
        REFERENCE_HOLDS(nonzeros <= S);
        const double value = column_value(&c, w), least = brute_force(&c, &slack), greedy = pursue_plainly(&c);
        REFERENCE_NEAR(value, value_on_support(&c, w), 1e-9 * fabs(least));
        REFERENCE_AT_MOST(least, value + 1e-9 * fabs(least));
        REFERENCE_AT_MOST(value, greedy + 1e-9 * fabs(least));
        best += value <= least + 1e-9 * fabs(least);
        better += value < greedy - 1e-9 * fabs(least);
        column_close(&c);
    }
    REFERENCE_HOLDS(best > DRAWS * 2 / 3);
    REFERENCE_HOLDS(better > DRAWS / 20); /* so that exchanges have been seen to gain */
}

static void test_free_codes(void **state)
{
    uint64_t random = 303;
    (void)state;
    for (int draw = 0; draw < reference_effort(3000, 60); draw++)
        check_solver("free", &random, 1 + draw / GRAM_KINDS % BRUTE_RANK, 0, draw);
}

/* One column, one entry after the other. */
static void descend_plainly(int64_t r, const double *H, const double *d, const armilla_cone_descent *descent, double *w)
{
    double enough = 0;
    for (int pass = 0; pass < descent->passes; pass++) {
        double moved = 0, largest = 0;
        for (int64_t a = 0; a < r; a++) {
            double slope = d[a];
            for (int64_t k = 0; k < r; k++) slope -= H[a * r + k] * w[k];
            const double next = H[a * r + a] > 0 ? fmax(w[a] + slope / H[a * r + a], 0) : w[a];
            moved = fmax(moved, fabs(next - w[a]));
            w[a] = next;
            largest = fmax(largest, next);
        }
        if (pass == 0) enough = descent->settled * largest;
        if (moved <= enough) return;
        if (pass == 0) enough = fmax(enough, descent->little * moved);
    }
}

enum { L = ARMILLA_MOST_LANES };

/* Passes of lanes that hold columns, beginning with number `first` and turned around; or, with no passes, their solution. */
static unsigned run_lanes(const armilla_descent_kernels *kernels, const column *c, armilla_cone_descent descent,
                          int first, const double *d, double *w)
{
    const int64_t lanes = kernels->cone_lanes, r = c->r;
    double H[MOST_RANK * MOST_RANK], cone[MOST_RANK * (MOST_RANK + 1)], D[L * MOST_RANK], W[L * MOST_RANK],
        turned_d[L * MOST_RANK], turned_w[L * MOST_RANK];
    unsigned solved = 0, turned = 0;
    for (int64_t i = 0; i < lanes * r; i++) {
        const int64_t at = (i % lanes + first) % lanes;
        turned_d[i] = d[at * r + i / lanes];
        turned_w[i] = w[at * r + i / lanes];
    }
    armilla_store(kernels->type, r * r, c->H, H);
    armilla_store(kernels->type, lanes * r, turned_d, D);
    armilla_store(kernels->type, lanes * r, turned_w, W);
    kernels->set_cone(r, H, cone);
    descent.cone = cone;
    if (descent.passes > 0)
        (void)kernels->descend_cone(&descent, D, W, c->workspace);
    else
        turned = kernels->solve_cone(r, H, D, W, c->workspace);
    for (int64_t i = 0; i < lanes; i++) solved |= (turned >> i & 1) << ((i + first) % lanes);
    for (int64_t i = 0; i < lanes * r; i++)
        w[(i % lanes + first) % lanes * r + i / lanes] =
            kernels->type == ARMILLA_F32 ? (double)((const float *)W)[i] : W[i];
    return solved;
}

/* Codes of one column: those of the formula, but for rounding. In single precision a code that is nearly settled may have
 * one pass more or less. */
static void check_lane(const column *c, const armilla_descent_kernels *kernels, const armilla_cone_descent *descent,
                       const double *d, double *one, const double *w)
{
    const double digits = kernels->type == ARMILLA_F32 ? 2e-3 : 1e-11;
    double largest = 0;
    descend_plainly(c->r, c->H, d, descent, one);
    for (int64_t k = 0; k < c->r; k++) largest = fmax(largest, one[k]);
    for (int64_t k = 0; k < c->r; k++) REFERENCE_NEAR(w[k], one[k], digits * (largest + 1));
}

/* Every table: the formula's codes, and a lane's bits whatever stands beside it. */
static void test_lanes(void **state)
{
    uint64_t random = 304;
    (void)state;
    for (int draw = 0; draw < reference_effort(1200, 24); draw++) {
        const gram_kind kind = (gram_kind)(draw % GRAM_KINDS);
        const int64_t r = 1 + reference_below(&random, MOST_RANK);
        const armilla_cone_descent descent = {r, NULL, 1 + (int)reference_below(&random, 6), 1e-3, draw % 3 ? 0 : 0.1};
        double d[L * MOST_RANK], start[L * MOST_RANK], w[L * MOST_RANK], turned[L * MOST_RANK];
        column c;
        column_open("nonneg", r, 0, false, &c);
        column_draw(&random, kind, true, &c);
        column_scene(&c, kind, draw);
        for (int64_t i = 0; i < L * r; i++) {
            d[i] = c.d[i % r] + (i / r ? reference_normal(&random) : 0);
            start[i] = draw % 2 ? fmax(reference_normal(&random), 0) : 0;
        }
        for (size_t row = 0; armilla_descent_kernels_row(row); row++) {
            const armilla_descent_kernels *kernels = armilla_descent_kernels_row(row);
            if (!armilla_instructions_supported(kernels->name)) continue;
            memcpy(w, start, sizeof w);
            memcpy(turned, start, sizeof turned);
            (void)run_lanes(kernels, &c, descent, 0, d, w);
            (void)run_lanes(kernels, &c, descent, 3, d, turned);
            REFERENCE_HOLDS(memcmp(w, turned, (size_t)(kernels->cone_lanes * r) * sizeof *w) == 0);
            for (int64_t i = 0; i < kernels->cone_lanes; i++) {
                double one[MOST_RANK];
                memcpy(one, start + i * r, (size_t)r * sizeof *one);
                check_lane(&c, kernels, &descent, d + i * r, one, w + i * r);
            }
        }
        column_close(&c);
    }
}

/* No slope of a solution rises from an atom outside, and those of its atoms are 0, but for rounding. */
static void check_slopes(const column *c, const armilla_descent_kernels *kernels, const double *d, const double *w)
{
    const double digits = kernels->type == ARMILLA_F32 ? 2e-4 : 1e-9;
    for (int64_t k = 0; k < c->r; k++) {
        double slope = d[k], size = fabs(d[k]);
        for (int64_t a = 0; a < c->r; a++) {
            slope -= c->H[a * c->r + k] * w[a];
            size += fabs(c->H[a * c->r + k] * w[a]);
        }
        REFERENCE_AT_MOST(0, w[k]);
        REFERENCE_AT_MOST(slope, digits * size);
        if (w[k] > 0) REFERENCE_AT_MOST(-slope, digits * size);
    }
}

/* Exchanges in every table: what they say is solved is, with a lane's bits whatever stands beside it, and the others are as
 * they were. Most are solved where atoms do not depend on each other. */
static void test_exchanges(void **state)
{
    uint64_t random = 305;
    int lanes = 0, all = 0;
    (void)state;
    for (int draw = 0; draw < reference_effort(1200, 24); draw++) {
        const gram_kind kind = (gram_kind)(draw % GRAM_KINDS);
        const int64_t r = 1 + reference_below(&random, MOST_RANK);
        double d[L * MOST_RANK], start[L * MOST_RANK], w[L * MOST_RANK], turned[L * MOST_RANK];
        column c;
        column_open("nonneg", r, 0, false, &c);
        column_draw(&random, kind, true, &c);
        column_scene(&c, kind, draw);
        for (int64_t i = 0; i < L * r; i++) {
            d[i] = c.d[i % r] + (i / r ? reference_normal(&random) : 0);
            start[i] = draw % 2 ? (double)(float)fmax(reference_normal(&random), 0) : 0;
        }
        for (size_t row = 0; armilla_descent_kernels_row(row); row++) {
            const armilla_descent_kernels *kernels = armilla_descent_kernels_row(row);
            if (!armilla_instructions_supported(kernels->name)) continue;
            memcpy(w, start, sizeof w);
            memcpy(turned, start, sizeof turned);
            const unsigned solved = run_lanes(kernels, &c, (armilla_cone_descent){.r = r}, 0, d, w);
            REFERENCE_HOLDS(run_lanes(kernels, &c, (armilla_cone_descent){.r = r}, 3, d, turned) == solved);
            REFERENCE_HOLDS(memcmp(w, turned, (size_t)(kernels->cone_lanes * r) * sizeof *w) == 0);
            for (int64_t i = 0; i < kernels->cone_lanes; i++) {
                if (solved >> i & 1)
                    check_slopes(&c, kernels, d + i * r, w + i * r);
                else
                    REFERENCE_HOLDS(memcmp(w + i * r, start + i * r, (size_t)r * sizeof *w) == 0);
                lanes += kernels->type == ARMILLA_F64;
                all += kernels->type == ARMILLA_F64 && solved >> i & 1;
            }
        }
        column_close(&c);
    }
    REFERENCE_HOLDS(all > lanes / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nonneg_codes),
        cmocka_unit_test(test_sparse_codes),
        cmocka_unit_test(test_more_supports_than_listed),
        cmocka_unit_test(test_free_codes),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_exchanges),
    };
    return cmocka_run_group_tests(tests, column_set_up, column_tear_down);
}
