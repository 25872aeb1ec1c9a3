/* Orders for qsort and bsearch. */
#ifndef ARMILLA_BASE_ORDER_H
#define ARMILLA_BASE_ORDER_H

#include <stdint.h>

/* A number, and what it belongs to. */
typedef struct armilla_keyed {
    double key;
    int64_t index;
} armilla_keyed;

/* int64_t, rising. */
static inline int armilla_by_integer(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* double, rising. */
static inline int armilla_by_number(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* armilla_keyed by index, by rising and by falling key; of equal keys the lower index comes first. */
static inline int armilla_by_index(const void *a, const void *b)
{
    const armilla_keyed *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

static inline int armilla_by_rising(const void *a, const void *b)
{
    const armilla_keyed *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : armilla_by_index(a, b);
}

static inline int armilla_by_falling(const void *a, const void *b)
{
    const armilla_keyed *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? 1 : -1) : armilla_by_index(a, b);
}

#endif
