/* The symmetric eigenproblem by a tridiagonal matrix (Householder's reflections) and its QL iteration with implicit shifts
 * (EISPACK's tred2 and imtql2). */
#include "linalg/dense.h"
#include "linalg/small.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ROUNDS = 60 }; /* for one eigenvalue, which takes about two */

/* T = Q'SQ. */
typedef struct tridiagonal {
    int64_t k;
    double d[ARMILLA_SMALL_SQUARE]; /* the diagonal */
    double e[ARMILLA_SMALL_SQUARE]; /* beside it: e_i = T_(i,i+1) */
    double *Q;                      /* NULL: eigenvalues alone */
} tridiagonal;

static void add_times(int64_t count, double factor, const double *x, double *y)
{
    for (int64_t i = 0; i < count; i++) y[i] += factor * x[i];
}

/* v, of `count` numbers, becomes the one with (I - tau vv')x = beta e_1 for the x that it was; returns tau. */
static double reflect(int64_t count, double *v, double *beta)
{
    const double first = v[0], rest = armilla_dot(count - 1, v + 1, v + 1);
    *beta = first;
    if (rest == 0) return 0;
    *beta = (first < 0 ? 1 : -1) * sqrt(first * first + rest);
    for (int64_t i = 1; i < count; i++) v[i] /= first - *beta;
    v[0] = 1;
    return (*beta - first) / *beta;
}

/* S <- (I - tau vv')S(I - tau vv') = S - vw' - wv', columns k apart. */
static void reflect_both(int64_t count, int64_t k, double tau, const double *v, double *S)
{
    double w[ARMILLA_SMALL_SQUARE] = {0};
    for (int64_t j = 0; j < count; j++) add_times(count, tau * v[j], S + j * k, w); /* tau Sv */
    add_times(count, -tau / 2 * armilla_dot(count, v, w), v, w);
    for (int64_t j = 0; j < count; j++) {
        add_times(count, -w[j], v, S + j * k);
        add_times(count, -v[j], w, S + j * k);
    }
}

/* The vectors v stay in the columns of S, from below the diagonal on. */
static void reduce(tridiagonal *t, double *S, double *tau)
{
    const int64_t k = t->k;
    for (int64_t i = 0; i + 1 < k; i++) {
        double *v = S + i * k + i + 1;
        tau[i] = reflect(k - 1 - i, v, &t->e[i]);
        t->d[i] = S[i * k + i];
        if (tau[i] != 0) reflect_both(k - 1 - i, k, tau[i], v, S + (i + 1) * k + i + 1);
    }
    t->d[k - 1] = S[k * k - 1];
    t->e[k - 1] = 0;
}

/* Q = (I - tau_0 v_0v_0')(I - tau_1 v_1v_1')... in the place of the vectors v, each of which first moves to the column that
 * it makes. */
static void multiply_reflections(int64_t k, const double *tau, double *Q)
{
    for (int64_t j = k - 1; j > 0; j--) memcpy(Q + j * k + j, Q + (j - 1) * k + j, (size_t)(k - j) * sizeof *Q);
    for (int64_t i = k - 2; i >= 0; i--) {
        const int64_t count = k - 1 - i;
        double *v = Q + (i + 1) * k + i + 1;
        for (int64_t j = i + 2; j < k; j++) {
            double *q = Q + j * k + i + 1;
            q[0] = 0;
            if (tau[i] != 0) add_times(count, -tau[i] * armilla_dot(count, v, q), v, q);
        }
        for (int64_t a = 1; a < count; a++) v[a] *= -tau[i];
        v[0] = 1 - tau[i];
    }
    memset(Q, 0, (size_t)k * sizeof *Q);
    Q[0] = 1;
    for (int64_t j = 1; j < k; j++) Q[j * k] = 0;
}

/* The end of the block from `first` on that no entry beside the diagonal leaves: others are rounding, of the two beside
 * them or of the largest entry, which is near 1. */
static int64_t block_end(const tridiagonal *t, int64_t first)
{
    int64_t end = first;
    while (end + 1 < t->k) {
        const double beside = fabs(t->e[end]);
        if (beside <= DBL_EPSILON / 64 || beside <= DBL_EPSILON / 2 * (fabs(t->d[end]) + fabs(t->d[end + 1]))) break;
        end++;
    }
    return end;
}

/* Columns i and i+1 of Q. */
static void rotate(const tridiagonal *t, int64_t i, double cosine, double sine)
{
    double *a = t->Q + i * t->k, *b = a + t->k;
    for (int64_t j = 0; j < t->k; j++) {
        const double x = a[j], y = b[j];
        a[j] = cosine * x - sine * y;
        b[j] = sine * x + cosine * y;
    }
}

/* One QL step on the block first ... last. */
static void step(tridiagonal *t, int64_t first, int64_t last)
{
    double *d = t->d, *e = t->e, half = (d[first + 1] - d[first]) / (2 * e[first]);
    double g = d[last] - d[first] + e[first] / (half + (half < 0 ? -1 : 1) * sqrt(half * half + 1));
    double cosine = 1, sine = 1, shift = 0;
    for (int64_t i = last - 1; i >= first; i--) {
        const double f = sine * e[i], b = cosine * e[i], length = sqrt(f * f + g * g);
        e[i + 1] = length;
        if (length == 0) { /* the block falls apart here */
            d[i + 1] -= shift;
            e[last] = 0;
            return;
        }
        sine = f / length;
        cosine = g / length;
        g = d[i + 1] - shift;
        const double r = (d[i] - g) * sine + 2 * cosine * b;
        shift = sine * r;
        d[i + 1] = g + shift;
        g = cosine * r - b;
        if (t->Q) rotate(t, i, cosine, sine);
    }
    d[first] -= shift;
    e[first] = g;
    e[last] = 0;
}

bool armilla_tridiagonal_eigen(int64_t k, bool wanted, double *values, double *vectors)
{
    tridiagonal t = {.k = k, .Q = wanted ? vectors : NULL};
    double tau[ARMILLA_SMALL_SQUARE] = {0};
    reduce(&t, vectors, tau);
    if (wanted) multiply_reflections(k, tau, vectors);
    for (int64_t first = 0; first < k; first++) {
        int rounds = 0;
        for (int64_t last; (last = block_end(&t, first)) > first; step(&t, first, last))
            if (rounds++ == ROUNDS) return false;
    }
    memcpy(values, t.d, (size_t)k * sizeof *values);
    return true;
}
