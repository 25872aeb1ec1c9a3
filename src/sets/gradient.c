/* What the basis sets share: the step along the gradient (A5), and how far a basis is from a set, in plain loops. */
#include "sets/sets.h"

#include <math.h>
#include <string.h>

typedef struct stepping {
    const armilla_basis_step *step;
    double floor;
    double *next;
    armilla_product product; /* next = A - lUG */
} stepping;

static void step_rows(void *self, int64_t block, int64_t first, int64_t last)
{
    const stepping *s = self;
    const armilla_basis_step *step = s->step;
    const int64_t m = step->m, r = step->r;
    const double length = 2 * step->l / step->mu, floor = s->floor;
    double *next = s->next;
    (void)block;
    /* (XV' - UVV')/l = A - lUG */
    for (int64_t k = 0; k < r; k++)
        memcpy(next + k * m + first, step->A + k * m + first, (size_t)(last - first) * sizeof *next);
    armilla_multiply_rows(&s->product, first, last);
    /* U+ = max(U + (2/mu)(XV' - UVV'), floor) */
    for (int64_t k = 0; k < r; k++)
        for (int64_t i = k * m + first; i < k * m + last; i++) {
            const double moved = step->U[i] + length * next[i];
            next[i] = moved > floor ? moved : floor; /* fmax is a call */
        }
}

void armilla_gradient_step(armilla_algebra *algebra, const armilla_basis_step *step, double floor, double *next)
{
    stepping s = {step, floor, next, {step->m, step->r, step->r, -step->l, 1, step->U, step->G, next}};
    armilla_by_rows(algebra, step->m, step_rows, &s);
}

double armilla_skewness(int64_t m, int64_t r, const double *U)
{
    double worst = 0;
    for (int64_t a = 0; a < r; a++)
        for (int64_t b = a; b < r; b++) {
            double sum = 0;
            for (int64_t i = 0; i < m; i++) sum += U[a * m + i] * U[b * m + i];
            if (isnan(sum)) return NAN; /* which fmax would lose */
            worst = fmax(worst, fabs(sum - (a == b)));
        }
    return worst;
}

double armilla_most_negative(int64_t count, const double *U)
{
    double worst = 0;
    for (int64_t i = 0; i < count; i++) {
        if (isnan(U[i])) return NAN; /* which fmax would lose */
        worst = fmax(worst, -U[i]);
    }
    return worst;
}

int64_t armilla_fullest_row(int64_t m, int64_t r, const double *U)
{
    int64_t most = 0;
    for (int64_t i = 0; i < m; i++) {
        int64_t nonzeros = 0;
        for (int64_t k = 0; k < r; k++) nonzeros += U[k * m + i] != 0;
        if (nonzeros > most) most = nonzeros;
    }
    return most;
}
