/* What the solvers of the column problem share. */
#include "sets/column.h"

#include "sets/supports.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From so many atoms on a factor of H is looked for; and eigenvalues that are 0 beside the largest. */
enum { MANY_ATOMS = 64 };
#define RANK_TOLERANCE 1e-13

/* Lanes of d, w, a trial and what is compared with it, twice as wide over a cone, and a descent's own. */
static int64_t lanes_workspace(int64_t r)
{
    return 8 * r * ARMILLA_LANES + armilla_descent_workspace(r) + armilla_cone_workspace(r);
}

int64_t armilla_column_workspace(int64_t r)
{
    return (14 + ARMILLA_MOST_LANES) * r + r * r + lanes_workspace(r);
}

/* One atom is found by comparing all, and two on a sphere by a closed form; more by comparing supports, if by any. */
static bool by_supports(const armilla_code_set *codes, int64_t s)
{
    return codes->sparse && s > (codes->spherical ? 2 : 1);
}

static bool lists_supports(const armilla_code_set *codes, int64_t r, int64_t s)
{
    return by_supports(codes, s) && armilla_supports_count(r, s, codes->nonnegative) > 0;
}

/* One atom is chosen, not limited; and descent does not find the best nonnegative codes, as comparing all supports does. */
const armilla_code_set *armilla_codes_limited(const armilla_code_set *codes, int64_t r, int64_t s)
{
    const bool compared = codes->nonnegative && (s <= 2 || lists_supports(codes, r, s));
    return codes->sparse && s >= r && r > 1 && !compared ? codes->whole : codes;
}

bool armilla_codes_are_global(const armilla_code_set *codes, int64_t r, int64_t s)
{
    const bool convex = !codes->spherical || !codes->nonnegative; /* of the entries of one support */
    return by_supports(codes, s) ? convex && lists_supports(codes, r, s) : convex || codes->sparse;
}

armilla_status armilla_column_problem_new(armilla_context *context, const armilla_code_set *codes, int64_t r, int64_t s,
                                          bool exact, armilla_column_problem **problem)
{
    armilla_column_problem *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    *made = (armilla_column_problem){
        .codes = codes, .r = r, .s = s, .exact = exact, .context = context, .thin = armilla_thin_kernels_best()};
    made->spectral = !exact && !codes->descends;
    made->spherical = !exact && codes->spherical;
    status = armilla_take(context, r, sizeof(double), &made->values);
    if (status == ARMILLA_OK) status = armilla_take(context, r, sizeof(double), &made->gaps);
    if (status == ARMILLA_OK) status = armilla_take(context, r * r, sizeof(double), &made->vectors);
    if (status == ARMILLA_OK) status = armilla_take(context, r * r, sizeof(double), &made->scaled);
    if (status == ARMILLA_OK && made->spectral && codes->descend_lanes && r >= MANY_ATOMS)
        status = armilla_take(context, r * r, sizeof(double), &made->factor);
    if (status == ARMILLA_OK && !exact && codes->descends)
        status = armilla_take(context, armilla_cone_numbers(r), sizeof(double), &made->cone);
    if (status == ARMILLA_OK && !exact && lists_supports(codes, r, s))
        status = armilla_supports_new(context, r, s, codes->nonnegative, codes->spherical, &made->supports);
    if (status != ARMILLA_OK) {
        armilla_column_problem_free(made);
        return status;
    }
    *problem = made;
    return ARMILLA_OK;
}

void armilla_column_problem_free(armilla_column_problem *problem)
{
    if (!problem) return;
    armilla_supports_free(problem->supports);
    armilla_release(problem->context, problem->values);
    armilla_release(problem->context, problem->gaps);
    armilla_release(problem->context, problem->factor);
    armilla_release(problem->context, problem->vectors);
    armilla_release(problem->context, problem->scaled);
    armilla_release(problem->context, problem->cone);
    armilla_release(problem->context, problem->single);
    armilla_release(problem->context, problem);
}

/* An eigenvector is known up to its sign: a fixed rule for it. */
static void fix_signs(int64_t r, double *vectors)
{
    for (int64_t k = 0; k < r; k++) {
        double *z = vectors + k * r;
        int64_t top = 0;
        for (int64_t i = 1; i < r; i++)
            if (fabs(z[i]) > fabs(z[top])) top = i;
        const double sign = z[top] < 0 ? -1 : 1;
        for (int64_t i = 0; i < r; i++) z[i] *= sign;
    }
}

/* Beyond 2^this the products of H that solvers on a sphere make come near the ends of the range. */
enum { SAFE_EXPONENT = 370 };

static void set_gram(armilla_column_problem *problem, const double *H)
{
    const int64_t r = problem->r;
    double largest = 0;
    for (int64_t k = 0; k < r; k++) largest = fmax(largest, H[k * r + k]);
    (void)frexp(largest, &problem->exponent);
    if (!problem->spherical || abs(problem->exponent) <= SAFE_EXPONENT) problem->exponent = 0;
    for (int64_t i = 0; i < r * r && problem->exponent != 0; i++) problem->scaled[i] = ldexp(H[i], -problem->exponent);
    problem->H = problem->exponent != 0 ? problem->scaled : H;
}

/* With more atoms than features H has few eigenvalues that are not 0: F = diag(values)^(1/2) Q' of these alone. */
static void set_factor(armilla_column_problem *problem)
{
    const int64_t r = problem->r;
    const double least = RANK_TOLERANCE * problem->values[r - 1];
    int64_t rank = 0;
    problem->factor_rank = 0;
    if (!problem->factor) return;
    while (rank < r && problem->values[r - 1 - rank] > least) rank++;
    if (rank == 0 || 2 * rank > r) return;
    double *rows = problem->factor, *columns = rows + rank * r;
    for (int64_t a = 0; a < rank; a++) {
        const double root = sqrt(problem->values[r - 1 - a]), *q = problem->vectors + (r - 1 - a) * r;
        for (int64_t i = 0; i < r; i++) rows[a * r + i] = columns[i * rank + a] = root * q[i];
    }
    problem->factor_rank = rank;
}

armilla_status armilla_column_problem_allow_single(armilla_column_problem *problem)
{
    const int64_t numbers = (problem->factor ? 2 : 1) * problem->r * problem->r;
    if (problem->exact || !problem->codes->descend_lanes || problem->single) return ARMILLA_OK;
    return armilla_take(problem->context, numbers, sizeof(float), &problem->single);
}

/* H and F in single precision, the largest entry of H between 1/2 and 1. */
static void set_single(armilla_column_problem *problem, int exponent)
{
    const int64_t r = problem->r, factors = 2 * problem->factor_rank * r;
    const double scale = ldexp(1, -exponent), root = sqrt(scale);
    float *H = problem->single, *rows = H + r * r;
    for (int64_t i = 0; i < r * r; i++) H[i] = (float)(scale * problem->H[i]);
    for (int64_t i = 0; i < factors; i++) rows[i] = (float)(root * problem->factor[i]);
    problem->typed = (armilla_typed_gram){.kernels = armilla_descent_kernels_for(problem->context, ARMILLA_F32),
                                          .H = H,
                                          .rows = factors > 0 ? rows : NULL,
                                          .columns = rows + factors / 2,
                                          /* no rounding may bring it below the largest eigenvalue */
                                          .alpha = scale * problem->alpha * (1 + 4 * FLT_EPSILON),
                                          .exponent = exponent};
}

static void set_gram_typed(armilla_column_problem *problem)
{
    const int64_t r = problem->r, factors = problem->factor_rank * r;
    double largest = 0;
    int exponent = 0;
    for (int64_t k = 0; k < r; k++) largest = fmax(largest, problem->H[k * r + k]);
    (void)frexp(largest, &exponent);
    if (problem->single && problem->effort != ARMILLA_SOLVE && abs(exponent) <= SAFE_EXPONENT) {
        set_single(problem, exponent);
        return;
    }
    problem->typed = (armilla_typed_gram){.kernels = armilla_descent_kernels_for(problem->context, ARMILLA_F64),
                                          .H = problem->H,
                                          .rows = factors > 0 ? problem->factor : NULL,
                                          .columns = factors > 0 ? problem->factor + factors : NULL,
                                          .alpha = problem->alpha};
}

static void set_typed(armilla_column_problem *problem)
{
    set_gram_typed(problem);
    armilla_typed_gram *typed = &problem->typed;
    typed->lanes = problem->cone ? typed->kernels->cone_lanes : typed->kernels->lanes;
    typed->cone = problem->cone;
    if (problem->cone) typed->kernels->set_cone(problem->r, typed->H, problem->cone);
}

armilla_status armilla_column_problem_set(armilla_column_problem *problem, armilla_algebra *algebra, const double *gram,
                                          armilla_effort effort)
{
    set_gram(problem, gram);
    problem->effort = effort;
    if (!problem->spectral) {
        set_typed(problem);
        return ARMILLA_OK;
    }
    const double *H = problem->H;
    armilla_status status = armilla_eigen(algebra, problem->r, H, problem->values, problem->vectors);
    if (status != ARMILLA_OK) return status;
    fix_signs(problem->r, problem->vectors);
    problem->alpha = problem->values[problem->r - 1];
    armilla_secular_gaps(problem->r, problem->values, problem->gaps);
    set_factor(problem);
    set_typed(problem);
    if (effort != ARMILLA_DESCEND && problem->supports) status = armilla_supports_set(problem->supports, algebra, H);
    return status;
}

void armilla_gram_multiply(const armilla_column_problem *problem, const double *w, double *product)
{
    const int64_t r = problem->r;
    memset(product, 0, (size_t)r * sizeof *product);
    for (int64_t a = 0; a < r; a++) {
        if (w[a] == 0) continue;
        for (int64_t k = 0; k < r; k++) product[k] += problem->H[a * r + k] * w[a];
    }
}

/* g(w) from Hw */
static double value_of(int64_t r, const double *d, const double *w, const double *Hw)
{
    double value = 0;
    for (int64_t k = 0; k < r; k++) value += w[k] * (Hw[k] - 2 * d[k]);
    return value;
}

double armilla_column_value(const armilla_column_problem *problem, const double *d, const double *w)
{
    const int64_t r = problem->r;
    double value = 0;
    for (int64_t a = 0; a < r; a++) {
        if (w[a] == 0) continue;
        double row = 0;
        for (int64_t k = 0; k < r; k++) row += problem->H[a * r + k] * w[k];
        value += w[a] * (row - 2 * d[a]);
    }
    return value;
}

void armilla_column_descend(const armilla_column_problem *problem, const double *d, int steps, double settled,
                            double *w, double *workspace)
{
    const armilla_code_set *codes = problem->codes;
    const int64_t r = problem->r;
    const double alpha = problem->alpha;
    double *q = workspace, *next = q + r, *Hnext = next + r, *Hw = Hnext + r, *back = Hw + r, *Hback = back + r;
    double age = 0, value = 0; /* age: steps since the last fresh start */
    /* Proj does not see the scale of q on a sphere; else the step is q/alpha. */
    const double scale = codes->spherical ? 1 : alpha > 0 ? 1 / alpha : 0;
    armilla_gram_multiply(problem, w, Hw);
    value = value_of(r, d, w, Hw);
    memcpy(back, w, (size_t)r * sizeof *w);
    memcpy(Hback, Hw, (size_t)r * sizeof *w);
    for (int step = 0; step < steps; step++) {
        const double beta = armilla_descent_beta(age);
        double moved = 0, largest = codes->spherical;
        /* q = d + (alpha*I - H)y, y = w + beta*(w - w_back) */
        for (int64_t k = 0; k < r; k++)
            q[k] = scale * (d[k] + alpha * (w[k] + beta * (w[k] - back[k])) - (Hw[k] + beta * (Hw[k] - Hback[k])));
        if (!codes->project(r, problem->s, q, next)) return;
        armilla_gram_multiply(problem, next, Hnext);
        const double found = value_of(r, d, next, Hnext);
        if (found > value) {
            if (age == 0) return; /* a plain step cannot rise but by rounding */
            age = 0;
            memcpy(back, w, (size_t)r * sizeof *w);
            memcpy(Hback, Hw, (size_t)r * sizeof *w);
            continue;
        }
        for (int64_t k = 0; k < r; k++) {
            if (fabs(next[k] - w[k]) > moved) moved = fabs(next[k] - w[k]);
            back[k] = w[k];
            Hback[k] = Hw[k];
            w[k] = next[k];
            if (fabs(w[k]) > largest) largest = fabs(w[k]);
            Hw[k] = Hnext[k];
        }
        value = found;
        age++;
        if (moved <= settled * largest) return;
    }
}

double armilla_column_unit(const armilla_column_problem *problem, double l)
{
    return problem->exact ? 1 : ldexp(l, problem->exponent);
}

void armilla_column_solve(const armilla_column_problem *problem, const double *d, double *w, double *workspace)
{
    const armilla_code_set *codes = problem->codes;
    if (!problem->exact && codes->solve_lanes)
        armilla_columns_solve(problem, &(armilla_column_batch){1, d, 1, w}, workspace);
    else if (!problem->exact)
        codes->solve(problem, d, w, workspace);
    else if (!codes->project(problem->r, problem->s, d, w))
        armilla_axis(problem->r, 0, w);
}

armilla_scaling armilla_column_scaling(const armilla_column_problem *problem)
{
    return problem->exact && problem->codes->scales ? problem->codes->project : NULL;
}
