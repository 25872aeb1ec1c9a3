/* Squares and lengths of columns; see length.h. */
#include "data/length.h"

#include "linalg/dense.h"

#include <math.h>

static double add_parts(const double parts[ARMILLA_SQUARE_PARTS])
{
    double sum = 0;
    for (int k = 0; k < ARMILLA_SQUARE_PARTS; k++) sum += parts[k];
    return sum;
}

double armilla_square(int64_t m, const double *x)
{
    double parts[ARMILLA_SQUARE_PARTS] = {0};
    int64_t i = 0;
    for (; i + ARMILLA_SQUARE_PARTS <= m; i += ARMILLA_SQUARE_PARTS)
        for (int k = 0; k < ARMILLA_SQUARE_PARTS; k++) parts[k] += x[i + k] * x[i + k];
    for (int k = 0; i < m; i++, k++) parts[k] += x[i] * x[i];
    return add_parts(parts);
}

double armilla_square_of_entries(int64_t count, const int64_t *rows, const double *values)
{
    double parts[ARMILLA_SQUARE_PARTS] = {0};
    for (int64_t i = 0; i < count; i++) parts[rows[i] % ARMILLA_SQUARE_PARTS] += values[i] * values[i];
    return add_parts(parts);
}

/* The same of scale times the column. */
static double scaled_square(int64_t count, const int64_t *rows, const double *values, double scale)
{
    double parts[ARMILLA_SQUARE_PARTS] = {0};
    for (int64_t i = 0; i < count; i++) {
        const double x = scale * values[i];
        parts[(rows ? rows[i] : i) % ARMILLA_SQUARE_PARTS] += x * x;
    }
    return add_parts(parts);
}

armilla_length armilla_length_of(int64_t count, const int64_t *rows, const double *values)
{
    const double square = rows ? armilla_square_of_entries(count, rows, values) : armilla_square(count, values);
    if (armilla_square_holds(square)) return (armilla_length){sqrt(square), 1};
    const double scale = armilla_safe_scale(count, values, NULL);
    if (scale == 0) return (armilla_length){0, 1};
    return (armilla_length){sqrt(scaled_square(count, rows, values, scale)), scale};
}

/* The quotient of the scales may be 0 or infinite: then there is no doubt. */
bool armilla_length_within(armilla_length length, double fraction, armilla_length other)
{
    return length.value == 0 || length.value * (other.scale / length.scale) <= fraction * other.value;
}

armilla_factor armilla_unit_factor(armilla_length length)
{
    if (length.value == 0) return (armilla_factor){0, 1};
    const double factor = length.scale / length.value;
    if (length.scale == 1 || isnormal(factor)) return (armilla_factor){factor, 1};
    return (armilla_factor){1 / length.value, length.scale};
}
