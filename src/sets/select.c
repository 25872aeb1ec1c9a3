/* What the code sets share: scaling to unit length, and keeping the largest entries. */
#include "sets/column.h"

#include <math.h>
#include <string.h>

static double largest_absolute(int64_t r, const double *q)
{
    double largest = 0;
    for (int64_t k = 0; k < r; k++)
        if (fabs(q[k]) > largest) largest = fabs(q[k]);
    return largest;
}

/* w = q/||q||, where the squares are in range. */
static void scale_to_unit(int64_t r, const double *q, double squared, double *w)
{
    const double norm = sqrt(squared);
    for (int64_t k = 0; k < r; k++) w[k] = q[k] / norm + 0.0; /* + 0.0: no -0 in a code */
}

/* From so many entries on a product with 1/||q|| instead, which is several times as fast and right to one rounding more. */
enum { LONG = 8 };

bool armilla_unit_long(int64_t r, const double *q, double *w)
{
    const double squared = armilla_dot(r, q, q);
    if (r < LONG || !(squared > 1e-270 && squared < 1e300)) return armilla_unit(r, q, w);
    const double inverse = 1 / sqrt(squared);
    for (int64_t k = 0; k < r; k++) w[k] = q[k] * inverse + 0.0; /* no -0 in a code */
    return true;
}

bool armilla_unit(int64_t r, const double *q, double *w)
{
    const double squared = armilla_dot(r, q, q);
    int exponent = 0;
    if (squared > 1e-270 && squared < 1e300) {
        scale_to_unit(r, q, squared, w);
        return true;
    }
    const double largest = largest_absolute(r, q);
    if (largest == 0) return false;
    (void)frexp(largest, &exponent);
    for (int64_t k = 0; k < r; k++) w[k] = ldexp(q[k], -exponent);
    scale_to_unit(r, w, armilla_dot(r, w, w), w);
    return true;
}

void armilla_axis(int64_t r, int64_t k, double *w)
{
    memset(w, 0, (size_t)r * sizeof *w);
    w[k] = 1;
}

bool armilla_solves_at_once(int64_t r, int64_t s)
{
    (void)r;
    (void)s;
    return true;
}

bool armilla_solves_slowly(int64_t r, int64_t s)
{
    return !armilla_solves_at_once(r, s);
}

static void swap(double *a, double *b)
{
    const double t = *a;
    *a = *b;
    *b = t;
}

/* The s-th largest of keys (s from 1), by quickselect with the median of three as pivot; keys are permuted. */
static double select_largest(int64_t count, int64_t s, double *keys)
{
    int64_t low = 0, high = count - 1;
    const int64_t wanted = s - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (keys[middle] > keys[low]) swap(&keys[middle], &keys[low]);
        if (keys[high] > keys[low]) swap(&keys[high], &keys[low]);
        if (keys[high] > keys[middle]) swap(&keys[high], &keys[middle]);
        const double pivot = keys[middle];
        int64_t i = low, j = high;
        while (i <= j) {
            while (keys[i] > pivot) i++;
            while (keys[j] < pivot) j--;
            if (i <= j) swap(&keys[i++], &keys[j--]);
        }
        if (wanted <= j)
            high = j;
        else if (wanted >= i)
            low = i;
        else
            break;
    }
    return keys[wanted];
}

int64_t armilla_sparse_swaps(int64_t s)
{
    return 2 * (s < ARMILLA_FEW_MEMBERS ? s : ARMILLA_FEW_MEMBERS);
}

double armilla_few_least(int64_t r, int64_t count, const double *numbers)
{
    double least[ARMILLA_PROMISING] = {0};
    int64_t held = 0;
    for (int64_t i = 0; i < r; i++) {
        if (held == count && !(numbers[i] < least[held - 1])) continue;
        int64_t place = held == count ? held - 1 : held++;
        for (; place > 0 && least[place - 1] > numbers[i]; place--) least[place] = least[place - 1];
        least[place] = numbers[i];
    }
    return least[held > 0 ? held - 1 : 0];
}

static double key_of(double q, bool positive)
{
    return !positive ? fabs(q) : q > 0 ? q : 0;
}

void armilla_keep_largest(int64_t r, int64_t s, bool positive, const double *q, double *w)
{
    int64_t above = 0;
    for (int64_t k = 0; k < r; k++) w[k] = key_of(q[k], positive);
    const double least = select_largest(r, s < r ? s : r, w);
    for (int64_t k = 0; k < r; k++) above += key_of(q[k], positive) > least;
    int64_t at_least = s - above; /* how many of those equal to the least may stay: the first ones */
    for (int64_t k = 0; k < r; k++) {
        const double key = key_of(q[k], positive);
        const bool kept = key > least || (key == least && at_least-- > 0);
        w[k] = kept && key > 0 ? q[k] : 0;
    }
}
