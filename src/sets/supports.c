/* The sparse column problem by all supports. */
#include "sets/supports.h"

#include <math.h>
#include <string.h>

enum { MOST_SUPPORTS = 600 };

static int64_t choose(int64_t r, int64_t s)
{
    int64_t count = 1;
    for (int64_t i = 0; i < s && count <= MOST_SUPPORTS; i++) count = count * (r - i) / (i + 1);
    return count;
}

int64_t armilla_supports_count(int64_t r, int64_t s, bool smaller)
{
    int64_t count = 0;
    for (int64_t size = smaller && s > 2 ? 2 : s; size <= s && count <= MOST_SUPPORTS; size++) count += choose(r, size);
    return count <= MOST_SUPPORTS ? count : 0;
}

/* Fills in the supports of that size from place on; returns the place behind them. */
static int64_t list_supports(armilla_supports *t, int64_t size, int64_t place)
{
    int64_t *now = t->member + place * t->s;
    for (int64_t i = 0; i < size; i++) now[i] = i;
    for (;;) {
        t->size[place++] = size;
        if (place == t->count) return place;
        int64_t *next = t->member + place * t->s, i = size - 1;
        memcpy(next, now, (size_t)size * sizeof *next);
        while (i >= 0 && next[i] == t->r - size + i) i--;
        if (i < 0) return place;
        next[i]++;
        for (int64_t j = i + 1; j < size; j++) next[j] = next[j - 1] + 1;
        now = next;
    }
}

armilla_status armilla_supports_new(armilla_context *context, int64_t r, int64_t s, bool smaller, bool spherical,
                                    armilla_supports **supports)
{
    armilla_supports *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    const int64_t count = armilla_supports_count(r, s, smaller);
    *made = (armilla_supports){.context = context, .r = r, .s = s, .count = count, .spherical = spherical};
    status = armilla_take(context, count, sizeof *made->size, &made->size);
    if (status == ARMILLA_OK) status = armilla_take(context, count * s, sizeof *made->member, &made->member);
    if (status == ARMILLA_OK) status = armilla_take(context, count * s, sizeof *made->values, &made->values);
    if (status == ARMILLA_OK) status = armilla_take(context, count * s * s, sizeof *made->vectors, &made->vectors);
    if (status != ARMILLA_OK) {
        armilla_supports_free(made);
        return status;
    }
    for (int64_t size = smaller && s > 2 ? 2 : s, place = 0; size <= s; size++)
        place = list_supports(made, size, place);
    *supports = made;
    return ARMILLA_OK;
}

void armilla_supports_free(armilla_supports *supports)
{
    if (!supports) return;
    armilla_release(supports->context, supports->size);
    armilla_release(supports->context, supports->member);
    armilla_release(supports->context, supports->values);
    armilla_release(supports->context, supports->vectors);
    armilla_release(supports->context, supports);
}

armilla_status armilla_supports_set(armilla_supports *supports, armilla_algebra *algebra, const double *H)
{
    const int64_t s = supports->s;
    armilla_status status = ARMILLA_OK;
    for (int64_t i = 0; i < supports->count && status == ARMILLA_OK; i++) {
        const int64_t size = supports->size[i], *member = supports->member + i * s;
        double *Z = supports->vectors + i * s * s;
        for (int64_t a = 0; a < size; a++)
            for (int64_t b = 0; b < size; b++) Z[a * size + b] = H[member[a] * supports->r + member[b]];
        status = armilla_eigen(algebra, size, Z, supports->values + i * s, Z);
    }
    return status;
}

/* y = the least squares solution of least length in the eigenbasis. */
static void divide(int64_t size, const double *values, const double *b, double *y)
{
    const double least = ARMILLA_NO_DIRECTION * values[size - 1];
    for (int64_t k = 0; k < size; k++) y[k] = values[k] > least ? b[k] / values[k] : 0;
}

/* y = the minimiser on support i in its eigenbasis, v the same in its own axes; returns g. */
static double minimise(const armilla_supports *t, int64_t i, const double *b, double *y, double *v)
{
    const int64_t size = t->size[i];
    const double *values = t->values + i * t->s, *Z = t->vectors + i * t->s * t->s;
    double value = 0;
    if (t->spherical)
        armilla_secular(size, values, b, y);
    else
        divide(size, values, b, y);
    memset(v, 0, (size_t)size * sizeof *v);
    for (int64_t k = 0; k < size; k++) {
        value += y[k] * (values[k] * y[k] - 2 * b[k]);
        for (int64_t a = 0; a < size; a++) v[a] += Z[k * size + a] * y[k];
    }
    return value;
}

static bool has_negative(int64_t size, const double *v)
{
    for (int64_t a = 0; a < size; a++)
        if (v[a] < 0) return true;
    return false;
}

void armilla_supports_improve(const armilla_supports *t, bool nonnegative, const double *d, double least, double *w,
                              double *workspace)
{
    double *b = workspace, *y = b + t->s, *v = y + t->s;
    for (int64_t i = 0; i < t->count; i++) {
        const int64_t size = t->size[i], *member = t->member + i * t->s;
        const double *values = t->values + i * t->s, *Z = t->vectors + i * t->s * t->s;
        double squared = 0;
        for (int64_t k = 0; k < size; k++) {
            b[k] = 0;
            for (int64_t a = 0; a < size; a++) b[k] += Z[k * size + a] * d[member[a]];
            squared += b[k] * b[k];
        }
        /* g >= lambda_1 - 2||d_S|| on the sphere */
        if (t->spherical && values[0] - 2 * sqrt(squared) >= least) continue;
        const double value = minimise(t, i, b, y, v);
        if (value >= least || (nonnegative && has_negative(size, v))) continue;
        least = value;
        memset(w, 0, (size_t)t->r * sizeof *w);
        for (int64_t a = 0; a < size; a++) w[member[a]] = v[a];
    }
}
