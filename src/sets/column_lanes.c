/* Batches of columns: several side by side where the set's solver and descent do that. */
#include "sets/column.h"

#include <math.h>
#include <string.h>

/* On a sphere H does not count beside a d that is so many powers of 2 larger: its squares come near the end of the range, or
 * there are no digits left for H. */
enum { FAR_EXPONENT = 430, FAR_EXPONENT_SINGLE = 40 };

#define MOST_SINGLE 0x1p100 /* what is larger becomes this, and squares and products do not overflow */

static bool is_single(const armilla_column_problem *problem)
{
    return problem->typed.kernels->type == ARMILLA_F32;
}

static inline float to_single(double number)
{
    return (float)(number > MOST_SINGLE ? MOST_SINGLE : number < -MOST_SINGLE ? -MOST_SINGLE : number);
}

void armilla_lane_get(const armilla_column_problem *problem, const void *lanes, int64_t lane, bool is_d, double *column)
{
    const int64_t count = problem->typed.lanes;
    const double scale = is_d ? ldexp(1, problem->typed.exponent) : 1;
    if (is_single(problem))
        for (int64_t k = 0; k < problem->r; k++) column[k] = scale * (double)((const float *)lanes)[k * count + lane];
    else
        for (int64_t k = 0; k < problem->r; k++) column[k] = ((const double *)lanes)[k * count + lane];
}

void armilla_lane_put(const armilla_column_problem *problem, const double *column, int64_t lane, void *lanes)
{
    const int64_t count = problem->typed.lanes;
    if (is_single(problem))
        for (int64_t k = 0; k < problem->r; k++) ((float *)lanes)[k * count + lane] = to_single(column[k]);
    else
        for (int64_t k = 0; k < problem->r; k++) ((double *)lanes)[k * count + lane] = column[k];
}

void armilla_lane_copy(const armilla_column_problem *problem, const void *from, int64_t lane, void *to)
{
    const int64_t count = problem->typed.lanes;
    if (is_single(problem))
        for (int64_t k = 0; k < problem->r; k++)
            ((float *)to)[k * count + lane] = ((const float *)from)[k * count + lane];
    else
        for (int64_t k = 0; k < problem->r; k++)
            ((double *)to)[k * count + lane] = ((const double *)from)[k * count + lane];
}

/* Columns that are side by side; where they are fewer than lanes the last is repeated. */
typedef struct strip {
    const armilla_column_problem *problem;
    const armilla_column_batch *batch;
    int64_t first, count;             /* of the batch */
    double unit;                      /* that of the batch in units of the problem's scale */
    double units[ARMILLA_MOST_LANES]; /* codes that may have any length are divided by these in single precision */
    void *d, *w;
} strip;

static const double *column_of(const strip *s, const double *array, int64_t lane)
{
    return array + (s->first + (lane < s->count ? lane : s->count - 1)) * s->problem->r;
}

/* 2^e for x = f*2^e, f in [1/2, 1), as frexp has it: by the bits of x, without a call for each column. */
static double power_above(double x)
{
    enum { FRACTION = 52, LARGEST = 0x7fd };
    int exponent = 0;
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    const uint64_t field = bits >> FRACTION;
    if (field == 0 || field > LARGEST) { /* 0, subnormal, negative, or as good as infinite */
        (void)frexp(x, &exponent);
        return ldexp(1, exponent);
    }
    bits = (field + 1) << FRACTION;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* In single precision a d of any scale fits where the code is divided by a number near its largest entry, too. */
static double unit_of(const strip *s, int64_t lane)
{
    const armilla_column_problem *problem = s->problem;
    const double *c = column_of(s, s->batch->C, lane);
    double largest = 0;
    if (!is_single(problem) || problem->codes->spherical) return 1;
    for (int64_t k = 0; k < problem->r; k++) largest = fabs(c[k]) > largest ? fabs(c[k]) : largest;
    return power_above(largest / s->unit);
}

/* lane_k = column_k/unit, at steps of L: mostly by 1. */
static void put_column(const double *column, double unit, int64_t r, double *lane, int64_t L)
{
    if (unit == 1)
        for (int64_t k = 0; k < r; k++) lane[k * L] = column[k];
    else
        for (int64_t k = 0; k < r; k++) lane[k * L] = column[k] / unit;
}

static void put_lanes(strip *s, const double *array, bool is_d, void *lanes)
{
    const armilla_column_problem *problem = s->problem;
    const int64_t r = problem->r, L = problem->typed.lanes;
    const double unit = is_d ? s->batch->unit : 1;
    const double common = is_d ? ldexp(1 / unit, -problem->typed.exponent) : 1;
    for (int64_t i = 0; i < L; i++) {
        const double *column = column_of(s, array, i), scale = common / s->units[i];
        if (is_single(problem))
            for (int64_t k = 0; k < r; k++) ((float *)lanes)[k * L + i] = to_single(scale * column[k]);
        else
            put_column(column, unit, r, (double *)lanes + i, L);
    }
}

/* What a code in single precision is multiplied by: one of unit length there is not in double. */
static double factor_of(const strip *s, int64_t lane, const double *w)
{
    double squares = 0;
    if (!s->problem->codes->spherical) return s->units[lane];
    for (int64_t k = 0; k < s->problem->r; k++) squares += w[k] * w[k];
    return squares > 0 ? 1 / sqrt(squares) : 1;
}

static void take_lanes(const strip *s, double *W)
{
    const int64_t r = s->problem->r;
    for (int64_t i = 0; i < s->count; i++) {
        double *w = W + i * r;
        armilla_lane_get(s->problem, s->w, i, false, w);
        if (!is_single(s->problem)) continue;
        const double factor = factor_of(s, i, w);
        for (int64_t k = 0; k < r; k++) w[k] *= factor;
    }
}

static void project_far(const armilla_column_problem *problem, const armilla_column_batch *batch)
{
    const int64_t r = problem->r;
    const int exponent = is_single(problem) ? problem->typed.exponent + FAR_EXPONENT_SINGLE : FAR_EXPONENT;
    const double far = ldexp(batch->unit, exponent);
    for (int64_t j = 0; j < batch->count && problem->spherical; j++) {
        const double *c = batch->C + j * r;
        double largest = 0;
        for (int64_t k = 0; k < r; k++) largest = fabs(c[k]) > largest ? fabs(c[k]) : largest;
        if (largest > far) (void)problem->codes->project(r, problem->s, c, batch->W + j * r);
    }
}

/* The codes W of the batch, as many columns at a time as there are lanes, by steps of descent; NULL: by the set's solver. */
static void solve_in_lanes(const armilla_column_problem *problem, const armilla_column_batch *batch,
                           const armilla_column_steps *steps, double *workspace)
{
    const int64_t r = problem->r, L = problem->typed.lanes;
    const size_t bytes = (size_t)(r * L) * armilla_type_size(problem->typed.kernels->type);
    strip s = {.problem = problem,
               .batch = batch,
               .unit = ldexp(batch->unit, problem->typed.exponent),
               .d = workspace,
               .w = (char *)workspace + bytes};
    double *rest = workspace + 2 * bytes / sizeof *workspace;
    for (s.first = 0; s.first < batch->count; s.first += L) {
        s.count = batch->count - s.first < L ? batch->count - s.first : L;
        for (int64_t i = 0; i < L; i++) s.units[i] = unit_of(&s, i);
        put_lanes(&s, batch->C, true, s.d);
        if (steps) {
            put_lanes(&s, batch->W, false, s.w);
            problem->codes->descend_lanes(problem, steps, s.d, s.w, rest);
        } else
            problem->codes->solve_lanes(problem, s.d, s.w, rest);
        take_lanes(&s, batch->W + s.first * r);
    }
}

void armilla_columns_solve(const armilla_column_problem *problem, const armilla_column_batch *batch, double *workspace)
{
    const int64_t r = problem->r;
    double *d = workspace, *rest = workspace + r;
    if (!problem->exact && problem->codes->solve_lanes)
        solve_in_lanes(problem, batch, NULL, workspace);
    else
        for (int64_t j = 0; j < batch->count; j++) {
            const double *c = batch->C + j * r;
            for (int64_t k = 0; k < r && batch->unit != 1; k++) d[k] = c[k] / batch->unit;
            armilla_column_solve(problem, batch->unit == 1 ? c : d, batch->W + j * r, rest);
        }
    if (!problem->exact) project_far(problem, batch);
}

void armilla_columns_descend(const armilla_column_problem *problem, const armilla_column_batch *batch,
                             const armilla_column_steps *steps, double *workspace)
{
    const int64_t r = problem->r;
    double *d = workspace, *rest = workspace + r;
    if (problem->codes->descend_lanes && steps->most > 0)
        solve_in_lanes(problem, batch, steps, workspace);
    else
        for (int64_t j = 0; j < batch->count; j++) {
            for (int64_t k = 0; k < r; k++) d[k] = batch->C[j * r + k] / batch->unit;
            armilla_column_descend(problem, d, steps->most, steps->settled, batch->W + j * r, rest);
        }
    project_far(problem, batch);
}
