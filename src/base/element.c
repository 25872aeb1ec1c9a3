/* How elements of each kind are combined. */
#include "base/element.h"

#include <string.h>

static void copy(int64_t count, const void *from, void *to)
{
    memcpy(to, from, (size_t)count * sizeof(uint64_t));
}

/* left[i] becomes the value, for all of them. */
#define EACH(name, from_type, to_type, value)                                                                          \
    static void name(int64_t count, const void *from, void *to)                                                        \
    {                                                                                                                  \
        const from_type *right = from;                                                                                 \
        to_type *left = to;                                                                                            \
        for (int64_t i = 0; i < count; i++) left[i] = (value);                                                         \
    }
EACH(add, double, double, left[i] + right[i])
EACH(widen, float, double, (double)right[i])
EACH(widen_and_add, float, double, left[i] + (double)right[i])
EACH(take_lower, double, double, right[i] < left[i] ? right[i] : left[i])
EACH(take_higher, double, double, right[i] > left[i] ? right[i] : left[i])
EACH(add_wrapping, uint64_t, uint64_t, left[i] + right[i])
EACH(take_first, int64_t, int64_t, right[i] < left[i] ? right[i] : left[i])

/* Infinity and its negative, as bits. */
#define PLUS_INFINITY 0x7ff0000000000000u
#define MINUS_INFINITY 0xfff0000000000000u
#define MINUS_ZERO 0x8000000000000000u

const armilla_element_row armilla_element_rows[] = {
    [ARMILLA_SUM] = {sizeof(double), ARMILLA_SUM, 0, MINUS_ZERO, copy, add},
    [ARMILLA_SUM_F32] = {sizeof(float), ARMILLA_SUM, 0, MINUS_ZERO, widen, widen_and_add},
    [ARMILLA_LEAST] = {sizeof(double), ARMILLA_LEAST, PLUS_INFINITY, PLUS_INFINITY, copy, take_lower},
    [ARMILLA_MOST] = {sizeof(double), ARMILLA_MOST, MINUS_INFINITY, MINUS_INFINITY, copy, take_higher},
    [ARMILLA_WRAP] = {sizeof(uint64_t), ARMILLA_WRAP, 0, 0, copy, add_wrapping},
    [ARMILLA_FIRST] = {sizeof(int64_t), ARMILLA_FIRST, INT64_MAX, INT64_MAX, copy, take_first},
};

size_t armilla_segment_bytes(const armilla_segment *segment)
{
    return segment->make ? 0 : (size_t)segment->count * armilla_element_rows[segment->kind].bytes;
}
