/* Nonnegative least squares in Gram space by active sets (Lawson and Hanson, 1974): finite, and exact however nearly
 * dependent atoms are, where coordinate descent would need many passes. From w = 0 the atom that gains most comes in,
 * the others are refitted, and what would become negative goes out. */
#include "sets/column.h"

#include <math.h>
#include <string.h>

/* A pivot that is smaller beside its own entry of H says that an atom depends on those that are in. */
#define DEPENDENT 1e-13
/* Slopes below this part of what they are summed from are rounding. */
#define LEVEL 1e-14

typedef struct active_set {
    int64_t r, size;
    const double *H, *d;
    double *w;
    int64_t *member; /* the atoms that are in: size of r */
    double *out;     /* r: 1 where an atom was refused since the code last moved */
    double *L, *z;   /* H on the members = LL', and its solution: size x size of r x r, size of r */
} active_set;

static void set_up(const armilla_column_problem *problem, const double *d, double *w, double *workspace, active_set *s)
{
    const int64_t r = problem->r;
    *s = (active_set){.r = r, .H = problem->H, .d = d, .w = w};
    s->member = (int64_t *)(void *)workspace;
    s->out = workspace + r;
    s->z = workspace + 2 * r;
    s->L = workspace + 3 * r;
    memset(s->out, 0, (size_t)r * sizeof *workspace);
    memset(w, 0, (size_t)r * sizeof *w);
}

static bool is_member(const active_set *s, int64_t k)
{
    for (int64_t i = 0; i < s->size; i++)
        if (s->member[i] == k) return true;
    return false;
}

/* The atom outside that lowers g most, -1 where none lowers it by more than rounding. */
static int64_t find_best(const active_set *s)
{
    int64_t best = -1;
    double most = 0;
    for (int64_t k = 0; k < s->r; k++) {
        const double *row = s->H + k * s->r, own = row[k];
        double slope = s->d[k], sum = fabs(slope);
        if (!(own > 0) || s->out[k] > 0 || is_member(s, k)) continue;
        for (int64_t i = 0; i < s->size; i++) {
            const double term = row[s->member[i]] * s->w[s->member[i]];
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

/* LL' = H on the members; false where the last depends on the others. */
static bool factorise(const active_set *s)
{
    for (int64_t i = 0; i < s->size; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = s->H[s->member[i] * s->r + s->member[j]];
            for (int64_t k = 0; k < j; k++) sum -= s->L[i * s->r + k] * s->L[j * s->r + k];
            if (i == j && !(sum > DEPENDENT * s->H[s->member[i] * s->r + s->member[i]])) return false;
            s->L[i * s->r + j] = i == j ? sqrt(sum) : sum / s->L[j * s->r + j];
        }
    return true;
}

/* LL'z = d on the members */
static void refit(const active_set *s)
{
    for (int64_t i = 0; i < s->size; i++) {
        double sum = s->d[s->member[i]];
        for (int64_t k = 0; k < i; k++) sum -= s->L[i * s->r + k] * s->z[k];
        s->z[i] = sum / s->L[i * s->r + i];
    }
    for (int64_t i = s->size - 1; i >= 0; i--) {
        double sum = s->z[i];
        for (int64_t k = i + 1; k < s->size; k++) sum -= s->L[k * s->r + i] * s->z[k];
        s->z[i] = sum / s->L[i * s->r + i];
    }
}

/* The members move towards z until the first of them is 0, and that one goes out; false where all of z is positive and
 * they are there. */
static bool move_members(active_set *s)
{
    int64_t first = -1;
    double along = 1;
    for (int64_t i = 0; i < s->size; i++) {
        const double w = s->w[s->member[i]];
        if (s->z[i] > 0 || (first >= 0 && w / (w - s->z[i]) >= along)) continue;
        along = w > 0 ? w / (w - s->z[i]) : 0;
        first = i;
    }
    for (int64_t i = 0; i < s->size; i++) {
        double *w = &s->w[s->member[i]];
        *w = first < 0 ? s->z[i] : fmax(*w + along * (s->z[i] - *w), 0);
    }
    if (first < 0) return false;
    s->w[s->member[first]] = 0;
    s->out[s->member[first]] = along > 0 ? 0 : 1; /* it was not worth coming in */
    memmove(s->member + first, s->member + first + 1, (size_t)(s->size - 1 - first) * sizeof *s->member);
    s->size--;
    return true;
}

void armilla_solve_by_active_set(const armilla_column_problem *problem, const double *d, double *w, double *workspace)
{
    active_set s;
    set_up(problem, d, w, workspace, &s);
    /* Each round lowers g or refuses an atom; the bound is for rounding, which could go in circles. */
    for (int64_t round = 0, best; round < 10 * s.r && (best = find_best(&s)) >= 0; round++) {
        s.member[s.size++] = best;
        if (!factorise(&s)) {
            s.out[best] = 1;
            s.size--;
            continue;
        }
        do refit(&s);
        while (move_members(&s) && factorise(&s));
        if (is_member(&s, best)) memset(s.out, 0, (size_t)s.r * sizeof *s.out);
    }
}
