/* Random column problems. */
#include "reference/column.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const gram_words[] = {"tall", "nonnegative", "r > m", "duplicate atoms", "zero atoms", "H = 0"};

double column_value(const column *c, const double *w)
{
    long double sum = 0;
    for (int64_t a = 0; a < c->r; a++) {
        long double row = -2 * (long double)c->d[a];
        for (int64_t b = 0; b < c->r; b++) row += (long double)c->H[a * c->r + b] * w[b];
        sum += row * w[a];
    }
    return (double)sum;
}

double column_scale(const column *c)
{
    double trace = 0;
    for (int64_t k = 0; k < c->r; k++) trace += c->H[k * c->r + k];
    return trace + 2 * reference_norm(c->r, c->d);
}

void column_draw(uint64_t *random, gram_kind kind, bool nonnegative, column *c)
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

void column_open(const char *codes, int64_t r, int64_t s, bool exact, column *c)
{
    *c = (column){
        .codes = armilla_codes_find(codes), .r = r, .s = s, .workspace = reference_new(armilla_column_workspace(r))};
    REFERENCE_OK(armilla_algebra_new(reference_context, r, r, &c->algebra));
    REFERENCE_OK(armilla_column_problem_new(reference_context, c->codes, r, s, exact, &c->problem));
}

void column_close(column *c)
{
    armilla_column_problem_free(c->problem);
    armilla_algebra_free(c->algebra);
    free(c->workspace);
}

void column_check_signs(const column *c, const double *w)
{
    int64_t nonzeros = 0;
    for (int64_t k = 0; k < c->r; k++) {
        REFERENCE_HOLDS(isfinite(w[k]));
        REFERENCE_HOLDS(!(w[k] == 0 && signbit(w[k])));
        if (c->codes->nonnegative) REFERENCE_HOLDS(w[k] >= 0);
        nonzeros += w[k] != 0;
    }
    if (c->codes->sparse) REFERENCE_AT_MOST(nonzeros, c->s);
}

void column_check_feasible(const column *c, const double *w)
{
    column_check_signs(c, w);
    REFERENCE_NEAR(reference_norm(c->r, w), 1, 10 * DBL_EPSILON);
}

double column_solve(column *c, double *w)
{
    const double slack = 1e-13 * column_scale(c);
    double first[MOST_RANK];
    REFERENCE_OK(armilla_column_problem_set(c->problem, c->algebra, c->H, ARMILLA_SOLVE));
    for (int64_t k = 0; k < c->r; k++) w[k] = NAN;
    armilla_column_solve(c->problem, c->d, w, c->workspace);
    column_check_feasible(c, w);
    const double value = column_value(c, w);
    REFERENCE_NEAR(armilla_column_value(c->problem, c->d, w), value, slack);
    reference_project(c->r, c->codes->sparse ? c->s : c->r, c->codes->nonnegative, c->d, first);
    REFERENCE_AT_MOST(value, column_value(c, first) + slack);
    for (int64_t k = 0; k < c->r; k++) {
        memset(first, 0, sizeof first);
        first[k] = 1;
        REFERENCE_AT_MOST(value, column_value(c, first) + slack);
    }
    return value;
}

void column_scene(const column *c, gram_kind kind, int draw)
{
    reference_scene("%s, r = %d, s = %d, %s, draw %d", c->codes->name, (int)c->r, (int)c->s, gram_words[kind], draw);
}

void column_draw_point(uint64_t *random, const column *c, double *w)
{
    double q[MOST_RANK];
    do {
        reference_fill_normal(random, c->r, q);
        for (int64_t k = 0; k < c->r; k++)
            q[k] *= reference_below(random, 3) ? (c->codes->nonnegative && q[k] < 0 ? -1 : 1) : 0;
    } while (!c->codes->project(c->r, c->s, q, w));
}

const column_sort column_sorts[COLUMN_SORTS] = {
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

void column_for_each(uint64_t seed, int draws, void (*check)(uint64_t *random, column *c))
{
    for (size_t i = 0; i < COLUMN_SORTS; i++)
        for (int draw = 0; draw < draws * GRAM_KINDS; draw++) {
            const gram_kind kind = (gram_kind)(draw % GRAM_KINDS);
            column c;
            column_open(column_sorts[i].codes, column_sorts[i].r, column_sorts[i].s, false, &c);
            column_draw(&seed, kind, c.codes->nonnegative || draw % 2, &c);
            column_scene(&c, kind, draw);
            check(&seed, &c);
            column_close(&c);
        }
}

int column_set_up(void **state)
{
    return reference_set_up(state) || armilla_blas_enter(reference_context, 1) != ARMILLA_OK;
}

int column_tear_down(void **state)
{
    armilla_blas_leave();
    return reference_tear_down(state);
}
