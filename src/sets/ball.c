/* Nonnegative codes in the ball, by their dual: min ||Fw - b||^2 over w >= 0, ||w|| <= 1, for H = F'F of a rank below r,
 * is convex, and with z = b - Fw it is (A11)
 *
 *     min phi(z) = ||z||^2/2 - b'z + N(p),    p = (F'z)_+,    w = p/max(||p||, nu),
 *
 * over as few numbers as F has rows, N(p) = ||p||, below nu ||p||^2/(2 nu) + nu/2. Newton's method with a line search
 * solves it for ever smaller nu. A code of length 1 is the best on the sphere too, and 2(b'z - ||z||^2/2 - ||p||) - ||b||^2
 * is a number that g is nowhere below, for any z. */
#include "sets/column.h"

#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 100, MOST_HALVES = 40 };

/* nu beside the largest eigenvalue, from the first to the last; how small the gradient becomes beside b, and before the
 * last nu. */
#define FIRST_NU 1e-2
#define LAST_NU 1e-12
#define NEXT_NU 1e-1
#define SETTLED 1e-10
#define NEARLY_SETTLED 1e-4

#define ENOUGH 1e-4    /* of what the slope promises (Armijo) */
#define ROUNDING 1e-14 /* of phi */

typedef struct dual {
    const armilla_column_problem *problem;
    int64_t r, rank;
    const double *rows, *columns; /* of F */
    double *b, *gradient, *step;  /* rank */
    double *z, *next;             /* rank: where it is, and a trial */
    double *p, *p_next;           /* r */
    double *matrix;               /* rank x rank */
    double limit, nu;             /* nu at least, and max(||p||, limit) */
    double value, length;         /* of phi and b */
} dual;

static double dot(int64_t count, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

static void add(int64_t count, double factor, const double *from, double *to)
{
    for (int64_t i = 0; i < count; i++) to[i] += factor * from[i];
}

/* b with F'b = d, but for what of d no code reaches. */
static void find_target(dual *s, const double *d)
{
    const double *values = s->problem->values;
    for (int64_t a = 0; a < s->rank; a++) s->b[a] = dot(s->r, s->rows + a * s->r, d) / values[s->r - 1 - a];
    s->length = sqrt(dot(s->rank, s->b, s->b));
}

/* phi(z); p = (F'z)_+ and *nu. */
static double visit(const dual *s, const double *z, double *p, double *nu)
{
    double squares = 0;
    memset(p, 0, (size_t)s->r * sizeof *p);
    for (int64_t a = 0; a < s->rank; a++) add(s->r, z[a], s->rows + a * s->r, p);
    for (int64_t k = 0; k < s->r; k++) {
        p[k] = p[k] > 0 ? p[k] : 0;
        squares += p[k] * p[k];
    }
    const double length = sqrt(squares);
    *nu = fmax(length, s->limit);
    const double bent = length >= s->limit ? length : squares / (2 * s->limit) + s->limit / 2;
    return dot(s->rank, z, z) / 2 - dot(s->rank, z, s->b) + bent;
}

/* The gradient z - b + Fw; step = Fw. */
static void find_gradient(dual *s)
{
    memset(s->step, 0, (size_t)s->rank * sizeof *s->step);
    for (int64_t k = 0; k < s->r; k++)
        if (s->p[k] > 0) add(s->rank, s->p[k] / s->nu, s->columns + k * s->rank, s->step);
    for (int64_t a = 0; a < s->rank; a++) s->gradient[a] = s->z[a] - s->b[a] + s->step[a];
}

/* nu times the Hessian, its upper half: nu*I + F_S F_S' over the atoms with p > 0, on the sphere less Fw(Fw)'. */
static void find_matrix(const dual *s)
{
    const int64_t rank = s->rank;
    memset(s->matrix, 0, (size_t)(rank * rank) * sizeof *s->matrix);
    for (int64_t k = 0; k < s->r; k++) {
        const double *f = s->columns + k * rank;
        for (int64_t a = 0; a < rank && s->p[k] > 0; a++) add(rank - a, f[a], f + a, s->matrix + a * rank + a);
    }
    for (int64_t a = 0; a < rank; a++) {
        if (s->nu > s->limit) add(rank - a, -s->step[a], s->step + a, s->matrix + a * rank + a);
        s->matrix[a * rank + a] += s->nu;
    }
}

/* step = the Newton step, by Cholesky's method: false where rounding has left the matrix indefinite. */
static bool find_step(dual *s)
{
    const int64_t rank = s->rank;
    for (int64_t a = 0; a < rank; a++) s->step[a] = -s->nu * s->gradient[a];
    for (int64_t a = 0; a < rank; a++) {
        double *row = s->matrix + a * rank;
        if (!(row[a] > 0)) return false;
        const double root = sqrt(row[a]);
        for (int64_t c = a; c < rank; c++) row[c] /= root;
        for (int64_t c = a + 1; c < rank; c++) add(rank - c, -row[c], row + c, s->matrix + c * rank + c);
        s->step[a] /= root;
        add(rank - a - 1, -s->step[a], row + a + 1, s->step + a + 1);
    }
    for (int64_t a = rank - 1; a >= 0; a--) {
        const double *row = s->matrix + a * rank;
        s->step[a] = (s->step[a] - dot(rank - a - 1, row + a + 1, s->step + a + 1)) / row[a];
    }
    return true;
}

/* Along the step as far as phi falls by enough; false where it falls nowhere. */
static bool search_line(dual *s)
{
    const double slope = dot(s->rank, s->gradient, s->step);
    double along = 1;
    for (int half = 0; half < MOST_HALVES; half++, along /= 2) {
        double nu = 0;
        memcpy(s->next, s->z, (size_t)s->rank * sizeof *s->z);
        add(s->rank, along, s->step, s->next);
        const double value = visit(s, s->next, s->p_next, &nu);
        if (!(value <= s->value + ENOUGH * along * slope + ROUNDING * fabs(s->value))) continue;
        double *z = s->z, *p = s->p;
        s->z = s->next;
        s->p = s->p_next;
        s->next = z;
        s->p_next = p;
        s->value = value;
        s->nu = nu;
        return true;
    }
    return false;
}

/* The minimum for the limit of nu; false where it is not reached. */
static bool minimise(dual *s, double settled)
{
    s->value = visit(s, s->z, s->p, &s->nu);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        find_gradient(s);
        if (sqrt(dot(s->rank, s->gradient, s->gradient)) <= settled * s->length) return true;
        find_matrix(s);
        if (!find_step(s) || !search_line(s)) return false;
    }
    return false;
}

/* A code that is shorter than 1 becomes as long along the atom that this costs least with. */
static void fill(const dual *s, const double *d, double *w, double *products)
{
    const double *H = s->problem->H, left = 1 - dot(s->r, w, w);
    double least = INFINITY, by = 0;
    int64_t best = -1;
    armilla_gram_multiply(s->problem, w, products);
    for (int64_t k = 0; k < s->r && left > 0; k++) {
        const double more = left / (w[k] + sqrt(w[k] * w[k] + left));
        const double cost = more * (more * H[k * s->r + k] + 2 * (products[k] - d[k]));
        if (cost >= least) continue;
        least = cost;
        best = k;
        by = more;
    }
    if (best >= 0) w[best] += by;
    (void)armilla_unit(s->r, w, w);
}

/* The code of z becomes w where it is better than *least. */
static void take_code(const dual *s, const double *d, double *least, double *w)
{
    double *code = s->p_next, *products = s->matrix;
    for (int64_t k = 0; k < s->r; k++) code[k] = s->p[k] / s->nu;
    fill(s, d, code, products);
    const double value = armilla_column_value(s->problem, d, code);
    if (!(value < *least)) return;
    *least = value;
    memcpy(w, code, (size_t)s->r * sizeof *w);
}

static double bound_of(const dual *s)
{
    const double length = sqrt(dot(s->r, s->p, s->p));
    return 2 * (dot(s->rank, s->b, s->z) - length) - dot(s->rank, s->z, s->z) - s->length * s->length;
}

bool armilla_ball_helps(const armilla_column_problem *problem)
{
    enum { MOST_RANK = 64 }; /* a round of a larger one costs more than the steps of descent that it saves */
    return problem->factor_rank > 0 && problem->factor_rank <= MOST_RANK;
}

static dual begin(const armilla_column_problem *problem, const double *d, double *b)
{
    dual s = {.problem = problem,
              .r = problem->r,
              .rank = problem->factor_rank,
              .rows = problem->factor,
              .columns = problem->factor + problem->factor_rank * problem->r,
              .b = b};
    find_target(&s, d);
    return s;
}

armilla_ball_bound armilla_ball_bound_of(const armilla_column_problem *problem, const double *d, double *workspace)
{
    const dual s = begin(problem, d, workspace);
    const double size = s.length * s.length;
    return (armilla_ball_bound){-size, size};
}

armilla_ball_bound armilla_solve_in_ball(const armilla_column_problem *problem, const double *d, double *w,
                                         double *workspace)
{
    const int64_t r = problem->r, rank = problem->factor_rank;
    double *numbers = workspace + 2 * r, least = armilla_column_value(problem, d, w), bound = -INFINITY;
    dual s = begin(problem, d, numbers);
    s.p = workspace;
    s.p_next = workspace + r;
    s.gradient = numbers + rank;
    s.step = numbers + 2 * rank;
    s.z = numbers + 3 * rank;
    s.next = numbers + 4 * rank;
    s.matrix = numbers + 5 * rank;
    memcpy(s.z, s.b, (size_t)rank * sizeof *s.z);
    for (double nu = FIRST_NU; nu > LAST_NU / 2; nu *= NEXT_NU) {
        s.limit = nu * problem->alpha;
        const bool last = nu * NEXT_NU < LAST_NU / 2;
        bool found = minimise(&s, last ? SETTLED : NEARLY_SETTLED);
        const bool touches = found && s.nu > s.limit; /* the sphere: no smaller nu changes the minimum */
        if (touches) found = minimise(&s, SETTLED);
        bound = fmax(bound, bound_of(&s));
        if (touches || last || !found) take_code(&s, d, &least, w);
        if (touches) break;
    }
    return (armilla_ball_bound){bound, s.length * s.length};
}
