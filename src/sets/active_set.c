/* Nonnegative least squares in Gram space by active sets (Lawson and Hanson, 1974): finite, and exact however nearly
 * dependent atoms are, where coordinate descent would need many passes. The atoms of a code that is near are refitted, and what
 * would become negative goes out; then the atom that gains most comes in, and so on. */
#include "sets/column.h"

#include <math.h>
#include <string.h>

#define DEPENDENT 1e-13 /* armilla_refit */
/* Slopes below this part of what they are summed from are rounding. */
#define LEVEL 1e-14

typedef struct active_set {
    int64_t r, size;
    const double *H;
    double *w;
    double *out;      /* r: 1 where an atom was refused since the code last moved */
    armilla_refit in; /* the atoms that are in: size of r */
} active_set;

static void set_up(const armilla_column_problem *problem, const double *d, double *w, double *workspace, active_set *s)
{
    const int64_t r = problem->r;
    *s = (active_set){.r = r, .H = problem->H, .w = w, .out = workspace + r};
    s->in = (armilla_refit){.problem = problem,
                            .d = d,
                            .dependent = DEPENDENT,
                            .member = (int64_t *)(void *)workspace,
                            .z = workspace + 2 * r,
                            .L = workspace + 3 * r};
    memset(s->out, 0, (size_t)r * sizeof *workspace);
    for (int64_t k = 0; k < r; k++)
        if (w[k] > 0) s->in.member[s->size++] = k;
}

static bool is_member(const active_set *s, int64_t k)
{
    for (int64_t i = 0; i < s->size; i++)
        if (s->in.member[i] == k) return true;
    return false;
}

/* The atom outside that lowers g most, -1 where none lowers it by more than rounding. */
static int64_t find_best(const active_set *s)
{
    int64_t best = -1;
    double most = 0;
    for (int64_t k = 0; k < s->r; k++) {
        const double *row = s->H + k * s->r, own = row[k];
        double slope = s->in.d[k], sum = fabs(slope);
        if (!(own > 0) || s->out[k] > 0 || is_member(s, k)) continue;
        for (int64_t i = 0; i < s->size; i++) {
            const double term = row[s->in.member[i]] * s->w[s->in.member[i]];
            slope -= term;
            sum += fabs(term);
        }
        if (slope <= LEVEL * sum) continue;
        const double gain = slope / sqrt(own);
        if (gain <= most) continue;
        most = gain;
        best = k;
    }
    return best;
}

bool armilla_refit_members(const armilla_refit *p, int64_t size)
{
    const double *H = p->problem->H;
    const int64_t r = p->problem->r;
    for (int64_t i = 0; i < size; i++) {
        double *own = p->L + i * size;
        p->z[i] = p->d[p->member[i]];
        for (int64_t j = 0; j <= i; j++) {
            const double *other = p->L + j * size;
            double sum = H[p->member[i] * r + p->member[j]];
            for (int64_t k = 0; k < j; k++) sum -= own[k] * other[k];
            if (i == j && !(sum > p->dependent * H[p->member[i] * r + p->member[i]])) return false;
            own[j] = i == j ? sqrt(sum) : sum / other[j];
        }
        for (int64_t k = 0; k < i; k++) p->z[i] -= own[k] * p->z[k];
        p->z[i] /= own[i];
    }
    for (int64_t i = size - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < size; k++) p->z[i] -= p->L[k * size + i] * p->z[k];
        p->z[i] /= p->L[i * size + i];
    }
    return true;
}

/* The members move towards z until the first of them is 0, and that one goes out; false where all of z is positive and
 * they are there. */
static bool move_members(active_set *s)
{
    int64_t first = -1;
    double along = 1;
    for (int64_t i = 0; i < s->size; i++) {
        const double w = s->w[s->in.member[i]];
        if (s->in.z[i] > 0 || (first >= 0 && w / (w - s->in.z[i]) >= along)) continue;
        along = w > 0 ? w / (w - s->in.z[i]) : 0;
        first = i;
    }
    for (int64_t i = 0; i < s->size; i++) {
        double *w = &s->w[s->in.member[i]];
        *w = first < 0 ? s->in.z[i] : fmax(*w + along * (s->in.z[i] - *w), 0);
    }
    if (first < 0) return false;
    s->w[s->in.member[first]] = 0;
    s->out[s->in.member[first]] = along > 0 ? 0 : 1; /* it was not worth coming in */
    memmove(s->in.member + first, s->in.member + first + 1, (size_t)(s->size - 1 - first) * sizeof *s->in.member);
    s->size--;
    return true;
}

/* The best code of the members, fewer where some go out. */
static void refit(active_set *s)
{
    while (armilla_refit_members(&s->in, s->size) && move_members(s)) {}
}

/* The search begins from 0, with one atom after the other, where those of the code depend on each other. */
static void begin(active_set *s)
{
    if (armilla_refit_members(&s->in, s->size)) {
        if (move_members(s)) refit(s);
        return;
    }
    s->size = 0;
    memset(s->w, 0, (size_t)s->r * sizeof *s->w);
}

void armilla_solve_by_active_set(const armilla_column_problem *problem, const double *d, double *w, double *workspace)
{
    active_set s;
    set_up(problem, d, w, workspace, &s);
    begin(&s);
    /* Each round lowers g or refuses an atom; the bound is for rounding, which could go in circles. */
    for (int64_t round = 0, best; round < 10 * s.r && (best = find_best(&s)) >= 0; round++) {
        s.in.member[s.size++] = best;
        if (!armilla_refit_members(&s.in, s.size)) {
            s.out[best] = 1;
            s.size--;
            continue;
        }
        if (move_members(&s)) refit(&s);
        if (is_member(&s, best)) memset(s.out, 0, (size_t)s.r * sizeof *s.out);
    }
}
