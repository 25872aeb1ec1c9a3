/* Samples scaled so that their entries add up to a common total, as counts of cells and texts of different depth are.
 * Entries are not negative. Sums are made entry by entry, in order, so that zeros that are stored change nothing. */
#ifndef ARMILLA_DATA_TOTAL_H
#define ARMILLA_DATA_TOTAL_H

#include "data/data.h"
#include "data/length.h"

/* *sum += unit * x over the entries that are numbers above 0. */
void armilla_total_add(int64_t count, const double *x, double unit, double *sum);
/* A unit in which no sum of numbers leaves the range. */
#define ARMILLA_TOTAL_UNIT 0x1p-64

/* What brings a sample with that sum, in units of 1/unit, to the total; 1 where the sum is 0: such a sample stays. */
armilla_factor armilla_total_factor(double sum, double unit, double total);

/* Entries of a sample, scaled by its factor; NaN where they are negative, so that the survey finds them. */
void armilla_total_apply(int64_t count, armilla_factor factor, double *x);
/* All entries of a sample. */
void armilla_total_scale(int64_t count, double total, double *x);

/* The median of at least one number, of an even number the mean of the middle two; they are sorted. */
double armilla_median(int64_t count, double *numbers);
/* The median of the sums that are above 0; 1 where there are none. By all ranks. */
armilla_status armilla_total_median(armilla_context *context, const armilla_data *X, double *median);

#endif
