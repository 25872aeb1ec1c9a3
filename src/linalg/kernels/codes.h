/* The choice of the nearest atom and descent over the rows of a basis, written once and compiled per instruction set by the files beside this one, which define
 * BYTES (of a vector), ISA_NAME and TABLE. */
#include "linalg/code_kernels.h"
#include "linalg/kernels/lanes.h"

#include <math.h>
#include <string.h>

/* Vectors run along the atoms: each lane finds the first least of its own, and the first of these is the answer. */
INLINE int32_t nearest_atom(int64_t r, const double *c, const double *offsets, double factor)
{
    const vector step = spread(WIDTH);
    vector least = spread(INFINITY), place = {0}, at = {0};
    double least_of[WIDTH], place_of[WIDTH], found = INFINITY, name = 0;
    int64_t k = 0;
    for (int i = 0; i < WIDTH; i++) at[i] = i;
    for (; k + WIDTH <= r; k += WIDTH, at += step) {
        const vector value = *(const vector *)(offsets + k) - factor * *(const vector *)(c + k);
        const mask less = (mask)(value < least);
        least = choose(less, value, least);
        place = choose(less, at, place);
    }
    memcpy(least_of, &least, sizeof least);
    memcpy(place_of, &place, sizeof place);
    /* Without branches, which would go either way as often. */
    for (int i = 0; i < WIDTH; i++) {
        const bool better = (least_of[i] < found) | ((least_of[i] == found) & (place_of[i] < name));
        name = better ? place_of[i] : name;
        found = better ? least_of[i] : found;
    }
    for (; k < r; k++) {
        const double value = offsets[k] - factor * c[k];
        name = value < found ? (double)k : name;
        found = value < found ? value : found;
    }
    return (int32_t)name;
}

static void nearest(int64_t r, int64_t count, const double *C, int64_t stride, const double *offsets, double factor,
                    int32_t *assignments)
{
    for (int64_t j = 0; j < count; j++) assignments[j] = nearest_atom(r, C + j * stride, offsets, factor);
}

static void nearest_two(int64_t r, int64_t count, const double *C, int64_t stride, const double *offsets, double factor,
                        armilla_nearest *found)
{
    for (int64_t j = 0; j < count; j++) {
        const double *c = C + j * stride;
        double least = INFINITY, second = INFINITY;
        int64_t atom = 0;
        for (int64_t k = 0; k < r; k++) {
            const double value = offsets[k] - factor * c[k], other = value < least ? least : value;
            second = other < second ? other : second;
            atom = value < least ? k : atom;
            least = value < least ? value : least;
        }
        found[j] = (armilla_nearest){least, second, atom};
    }
}

/* Rows of U that are moved together: sums of one atom are in registers, and the rows of all atoms in a cache. */
enum { PARTS = 4, STRIP = PARTS * LANES };

/* Entries first ... first+STRIP-1 of atom k. */
INLINE void move_strip(const armilla_basis_descent *t, int64_t k, int64_t first)
{
    const double *weights = t->G + k * t->r, own = t->l * weights[k];
    const lanes *a = (const lanes *)(const void *)(t->A + k * t->m + first);
    lanes sum[PARTS], *u = (lanes *)(void *)(t->U + k * t->m + first);
    for (int i = 0; i < PARTS; i++) sum[i] = a[i];
    for (int64_t j = 0; j < t->r; j++) {
        const lanes *other = (const lanes *)(const void *)(t->U + j * t->m + first);
        const double weight = t->l * weights[j];
        for (int i = 0; i < PARTS; i++) EACH_GROUP sum[i].of[g] -= other[i].of[g] * weight;
    }
    for (int i = 0; i < PARTS; i++) EACH_GROUP
    u[i].of[g] = larger(u[i].of[g] + sum[i].of[g] / own, spread(t->floor));
}

/* Entry i of atom k, the same way. */
INLINE void move_entry(const armilla_basis_descent *t, int64_t k, int64_t i)
{
    const double *g = t->G + k * t->r;
    double sum = t->A[k * t->m + i], *u = t->U + k * t->m + i;
    for (int64_t j = 0; j < t->r; j++) sum -= t->U[j * t->m + i] * (t->l * g[j]);
    const double moved = *u + sum / (t->l * g[k]);
    *u = moved > t->floor ? moved : t->floor;
}

static void descend_rows(const armilla_basis_descent *t, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i += STRIP)
        for (int pass = 0; pass < t->passes; pass++)
            for (int64_t k = 0; k < t->r; k++) {
                if (t->G[k * t->r + k] <= t->least) continue;
                if (last - i >= STRIP)
                    move_strip(t, k, i);
                else
                    for (int64_t row = i; row < last; row++) move_entry(t, k, row);
            }
}

const armilla_code_kernels TABLE = {
    .name = ISA_NAME, .nearest = nearest, .nearest_two = nearest_two, .descend_rows = descend_rows};
