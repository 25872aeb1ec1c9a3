/* Lengths of columns and what makes them 1, at any scale. A length is the plain root of the sum of squares where the
 * squares have all their digits, as they nearly always do; otherwise the column is multiplied by a power of two
 * first. */
#ifndef ARMILLA_DATA_LENGTH_H
#define ARMILLA_DATA_LENGTH_H

#include <armilla/base.h>

#include <float.h>

/* Squares are summed in parts that do not wait for each other, feature i in part i % ARMILLA_SQUARE_PARTS, and the
 * parts in order: dense and sparse columns have the same bits. */
enum { ARMILLA_SQUARE_PARTS = 16 };
double armilla_square(int64_t m, const double *x);
double armilla_square_of_entries(int64_t count, const int64_t *rows, const double *values);
/* Whether a sum of squares has all its digits: it did not overflow, and what it lost by underflow does not count. */
static inline bool armilla_square_holds(double square)
{
    return square > 1e-280 && square < 1e300;
}

/* The length is value/scale, which may be beyond the range of numbers. The scale is 1, or a power of two. */
typedef struct armilla_length {
    double value, scale;
} armilla_length;

/* The length of a column with these entries; rows is NULL for all numbers of a dense column. NaN stays NaN. */
armilla_length armilla_length_of(int64_t count, const int64_t *rows, const double *values);
/* length <= fraction * other */
bool armilla_length_within(armilla_length length, double fraction, armilla_length other);

/* Entry x of a column of unit length is factor * (scale * x). The scale is 1 wherever one factor does it. */
typedef struct armilla_factor {
    double factor, scale;
} armilla_factor;

/* 0 for a column without a length. */
armilla_factor armilla_unit_factor(armilla_length length);
static inline double armilla_unit_entry(armilla_factor unit, double x)
{
    return unit.factor * (unit.scale * x);
}

/* The length for data that are scaled and nothing else: 1 for a length that is 1 up to the rounding of the data's own
 * type. Such a sample has unit length already, and keeps its bits. */
static inline armilla_length armilla_own_length(armilla_type type, armilla_length length)
{
    const double rounding = 4 * (armilla_type_precision(type) == ARMILLA_F32 ? FLT_EPSILON : DBL_EPSILON);
    const bool is_one = length.scale == 1 && length.value >= 1 - rounding && length.value <= 1 + rounding;
    return is_one ? (armilla_length){1, 1} : length;
}

#endif
