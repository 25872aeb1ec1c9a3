/* The column problem with at most s nonzeros: exact for s = 1 and s = 2; else greedy additions and then swaps, each by
 * the minimum on a circle, improved by all supports where they are few and by a truncated descent where not. */
#include "sets/column.h"

#include "sets/supports.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Steps of descent on a support: a few while searching, many for the one that is taken. */
enum { SEARCH_STEPS = 10, FINAL_STEPS = 300 };

/* So many atoms outside a large support, the most promising, have their circles examined. */
enum { CANDIDATES = 8 };

typedef struct sparse_search {
    const armilla_column_problem *problem;
    const armilla_code_set *whole; /* the set without its sparsity: for refits on a support */
    const double *d;
    bool nonnegative;
    double *sub_H, *sub_d, *sub_w; /* of a support */
    double *sub_workspace;         /* 6s */
    double *Hw;                    /* r */
    double *trial;                 /* 2r */
    double *losses;                /* r */
    double *bounds;                /* r */
    int64_t *member;               /* of a support */
    bool few;                      /* a support has so few members that every exchange is tried */
} sparse_search;

/* s = 1: the best axis, w = +-e_k. Returns g. */
static double best_axis(const armilla_column_problem *p, bool nonnegative, const double *d, double *w)
{
    const int64_t r = p->r;
    int64_t best = 0;
    double least = INFINITY;
    for (int64_t k = 0; k < r; k++) {
        const double value = p->H[k * r + k] - 2 * (nonnegative ? d[k] : fabs(d[k]));
        if (value < least) {
            least = value;
            best = k;
        }
    }
    armilla_axis(r, best, w);
    if (!nonnegative && !(d[best] >= 0)) w[best] = -1;
    return least;
}

/* s = 2: every pair on its circle, except those that cannot win: H is positive semidefinite, so a pair's g is at least
 * -2 times the length of its part of d. */
static void best_pair(const armilla_column_problem *p, bool nonnegative, const double *d, double *w)
{
    const int64_t r = p->r;
    int64_t first = 0, second = -1;
    armilla_circle_point best = {best_axis(p, nonnegative, d, w), 1, 0};
    for (int64_t a = 0; a < r; a++)
        for (int64_t b = a + 1; b < r; b++) {
            const double p_part = nonnegative ? fmax(d[a], 0) : d[a], q_part = nonnegative ? fmax(d[b], 0) : d[b];
            if (-2 * sqrt(p_part * p_part + q_part * q_part) > best.value) continue;
            const armilla_circle circle = {p->H[a * r + a], p->H[a * r + b], p->H[b * r + b], d[a], d[b], nonnegative};
            if (armilla_circle_bound(&circle) > best.value) continue;
            const armilla_circle_point found = armilla_circle_minimum(&circle);
            if (found.value < best.value) {
                best = found;
                first = a;
                second = b;
            }
        }
    if (second < 0) return; /* an axis it is */
    memset(w, 0, (size_t)r * sizeof *w);
    w[first] = best.cosine + 0.0;
    w[second] = best.sine + 0.0;
    (void)armilla_unit(r, w, w);
}

/* The members of w's support, rising; returns their number. */
static int64_t list_support(int64_t r, const double *w, int64_t *member)
{
    int64_t size = 0;
    for (int64_t k = 0; k < r; k++)
        if (w[k] != 0) member[size++] = k;
    return size;
}

/* Descends on w's own support; entries that become 0 leave it. */
static void refit(const sparse_search *f, int steps, double *w)
{
    const armilla_column_problem *p = f->problem;
    const int64_t size = list_support(p->r, w, f->member);
    const armilla_column_problem sub = {.codes = f->whole, .H = f->sub_H, .alpha = p->alpha, .r = size};
    for (int64_t i = 0; i < size; i++) {
        const double *row = p->H + f->member[i] * p->r;
        f->sub_d[i] = f->d[f->member[i]];
        f->sub_w[i] = w[f->member[i]];
        for (int64_t j = 0; j < size; j++) f->sub_H[i * size + j] = row[f->member[j]];
    }
    armilla_column_descend(&sub, f->sub_d, steps, ARMILLA_SETTLED, f->sub_w, f->sub_workspace);
    for (int64_t i = 0; i < size; i++) w[f->member[i]] = f->sub_w[i];
}

/* Hw, w'Hw and d'w. */
static void find_products(const sparse_search *f, const double *w, double *quadratic, double *linear)
{
    const armilla_column_problem *p = f->problem;
    const int64_t r = p->r;
    *quadratic = *linear = 0;
    armilla_gram_multiply(p, w, f->Hw);
    for (int64_t k = 0; k < r; k++) {
        *quadratic += w[k] * f->Hw[k];
        *linear += f->d[k] * w[k];
    }
}

/* Minus what a turn towards atom k, which is outside, would gain if g were a parabola of the angle. */
static double expected_gain(const sparse_search *f, int64_t k, double quadratic, double linear)
{
    const double own = f->problem->H[k * f->problem->r + k], slope = f->d[k] - f->Hw[k];
    const double curvature = own - quadratic + linear, least = 1e-3 * (own + quadratic + fabs(linear));
    if (f->nonnegative && slope <= 0) return 0;
    return -slope * slope / fmax(fmax(curvature, least), DBL_MIN);
}

/* The circle from w towards atom k. */
static armilla_circle circle_towards(const sparse_search *f, int64_t k, double quadratic, double linear)
{
    return (armilla_circle){quadratic, f->Hw[k], f->problem->H[k * f->problem->r + k], linear, f->d[k], f->nonnegative};
}

/* What g is at least on each circle that is to be examined, INFINITY for the others; the atom with the least bound. */
static int64_t find_bounds(const sparse_search *f, const double *w, double quadratic, double linear)
{
    const int64_t r = f->problem->r;
    double *gains = f->sub_workspace;
    int64_t first = -1;
    for (int64_t k = 0; k < r; k++) gains[k] = w[k] != 0 || f->few ? 0 : expected_gain(f, k, quadratic, linear);
    const double limit = f->few ? 0 : armilla_few_least(r, CANDIDATES, gains);
    for (int64_t k = 0; k < r; k++) {
        const armilla_circle circle = circle_towards(f, k, quadratic, linear);
        f->bounds[k] = w[k] != 0 || gains[k] > limit ? INFINITY : armilla_circle_bound(&circle);
        if (f->bounds[k] < INFINITY && (first < 0 || f->bounds[k] < f->bounds[first])) first = k;
    }
    return first;
}

/* Turns w towards the atom outside its support that gains most, and refits. False where none gains. The circles whose
 * bound is above what the most promising one reaches are not examined. */
static bool add_best(const sparse_search *f, double *w)
{
    const int64_t r = f->problem->r;
    double quadratic = 0, linear = 0;
    int64_t added = -1;
    find_products(f, w, &quadratic, &linear);
    armilla_circle_point best = {quadratic - 2 * linear, 1, 0};
    best.value -= 1e-14 * (fabs(quadratic) + 2 * fabs(linear)); /* less is rounding */
    const int64_t first = find_bounds(f, w, quadratic, linear);
    if (first < 0 || f->bounds[first] > best.value) return false;
    const armilla_circle promising = circle_towards(f, first, quadratic, linear);
    const armilla_circle_point reached = armilla_circle_minimum(&promising);
    for (int64_t k = 0; k < r; k++) {
        if (f->bounds[k] > fmin(best.value, reached.value)) continue;
        const armilla_circle circle = circle_towards(f, k, quadratic, linear);
        const armilla_circle_point found = k == first ? reached : armilla_circle_minimum(&circle);
        if (found.value < best.value && found.sine != 0) {
            best = found;
            added = k;
        }
    }
    if (added < 0) return false;
    for (int64_t k = 0; k < r; k++) w[k] *= best.cosine;
    w[added] = best.sine;
    (void)armilla_unit(r, w, w);
    refit(f, SEARCH_STEPS, w);
    return true;
}

static int64_t support_size(int64_t r, const double *w)
{
    int64_t size = 0;
    for (int64_t k = 0; k < r; k++) size += w[k] != 0;
    return size;
}

/* What g is where member a of the support is left out, and no more; the limit for those that are worth an exchange. */
static double find_losses(const sparse_search *f, const double *w)
{
    const armilla_column_problem *p = f->problem;
    double quadratic = 0, linear = 0;
    find_products(f, w, &quadratic, &linear);
    for (int64_t a = 0; a < p->r; a++) {
        const double rest = 1 - w[a] * w[a];
        const double square = quadratic - w[a] * (2 * f->Hw[a] - w[a] * p->H[a * p->r + a]);
        const bool leaves = w[a] != 0 && rest > 0;
        f->losses[a] = leaves ? square / rest - 2 * (linear - f->d[a] * w[a]) / sqrt(rest) : INFINITY;
    }
    return armilla_few_least(p->r, ARMILLA_PROMISING, f->losses);
}

/* One member of the support out, the best atom in: the first exchange that gains. */
static bool swap_one(const sparse_search *f, double *w)
{
    const armilla_column_problem *p = f->problem;
    const int64_t r = p->r;
    const double value = armilla_column_value(p, f->d, w), limit = f->few ? 0 : find_losses(f, w);
    for (int64_t a = 0; a < r; a++) {
        if (w[a] == 0 || (!f->few && f->losses[a] > limit)) continue;
        memcpy(f->trial, w, (size_t)r * sizeof *w);
        f->trial[a] = 0;
        if (!armilla_unit(r, f->trial, f->trial)) continue;
        refit(f, SEARCH_STEPS, f->trial);
        if (!add_best(f, f->trial)) continue;
        if (armilla_column_value(p, f->d, f->trial) < value - 1e-12 * fabs(value)) {
            memcpy(w, f->trial, (size_t)r * sizeof *w);
            return true;
        }
    }
    return false;
}

static void greedy(const sparse_search *f, double *w)
{
    const int64_t r = f->problem->r, s = f->problem->s;
    (void)best_axis(f->problem, f->nonnegative, f->d, w);
    while (support_size(r, w) < s && add_best(f, w)) {}
    for (int64_t swaps = 0; swaps < armilla_sparse_swaps(s) && swap_one(f, w); swaps++)
        while (support_size(r, w) < s && add_best(f, w)) {}
}

/* The truncated descent from Proj(d), which the sweeps' own steps resemble. */
static void improve_by_descent(const sparse_search *f, double *w)
{
    const armilla_column_problem *p = f->problem;
    double *other = f->trial + p->r;
    if (!p->codes->project(p->r, p->s, f->d, other)) return;
    armilla_column_descend(p, f->d, SEARCH_STEPS, ARMILLA_SETTLED, other, f->sub_workspace);
    for (int64_t swaps = 0; swaps < armilla_sparse_swaps(p->s) && swap_one(f, other); swaps++) {}
    if (armilla_column_value(p, f->d, other) < armilla_column_value(p, f->d, w))
        memcpy(w, other, (size_t)p->r * sizeof *w);
}

static void improve_by_supports(const sparse_search *f, double *w)
{
    const armilla_column_problem *p = f->problem;
    const double value = armilla_column_value(p, f->d, w);
    armilla_supports_improve(p->supports, f->nonnegative, f->d, value, w, f->sub_workspace);
    for (int64_t k = 0; k < p->r; k++) w[k] += 0.0; /* no -0 in a code */
}

/* The cheap solve: the support of the largest entries of the code without sparsity, which accounts for correlated
 * atoms, as Proj(d) does not. */
static void roughly(const sparse_search *f, double *w)
{
    const armilla_column_problem *p = f->problem;
    armilla_codes_sphere.solve(p, f->d, f->trial, f->sub_workspace);
    if (p->codes->project(p->r, p->s, f->trial, w))
        refit(f, SEARCH_STEPS, w);
    else
        (void)best_axis(p, f->nonnegative, f->d, w);
}

bool armilla_sparse_solves_cheaply(int64_t r, int64_t s)
{
    (void)r;
    return s == 1;
}

void armilla_solve_sparse(const armilla_column_problem *problem, const double *d, double *w, double *workspace)
{
    const int64_t r = problem->r, s = problem->s;
    const bool nonnegative = problem->codes->nonnegative;
    const sparse_search f = {
        .problem = problem,
        .whole = nonnegative ? &armilla_codes_nonneg_sphere : &armilla_codes_sphere,
        .d = d,
        .nonnegative = nonnegative,
        .sub_d = workspace,
        .sub_w = workspace + r,
        .sub_workspace = workspace + 2 * r,
        .Hw = workspace + 8 * r,
        .trial = workspace + 9 * r,
        .losses = workspace + 11 * r,
        .bounds = workspace + 12 * r,
        .member = (int64_t *)(void *)(workspace + 13 * r),
        .sub_H = workspace + 14 * r,
        .few = s <= ARMILLA_FEW_MEMBERS,
    };
    if (s == 1) {
        (void)best_axis(problem, nonnegative, d, w);
    } else if (s == 2) {
        best_pair(problem, nonnegative, d, w);
    } else if (problem->effort == ARMILLA_ROUGHLY) {
        roughly(&f, w);
    } else {
        greedy(&f, w);
        if (problem->supports)
            improve_by_supports(&f, w);
        else
            improve_by_descent(&f, w);
        refit(&f, FINAL_STEPS, w);
    }
}
