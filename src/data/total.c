/* Sums of samples, and scaling to a common one. */
#include "data/total.h"

#include "base/order.h"
#include "base/ranks.h"
#include "base/size.h"
#include "data/column.h"
#include "data/slots.h"
#include "data/traverse.h"

#include <math.h>
#include <stdlib.h>

void armilla_total_add(int64_t count, const double *x, double unit, double *sum)
{
    double added = *sum;
    for (int64_t i = 0; i < count; i++)
        if (x[i] > 0 && x[i] <= DBL_MAX) added += unit * x[i];
    *sum = added;
}

armilla_factor armilla_total_factor(double sum, double unit, double total)
{
    enum { LEAST = -1000 }; /* 2 to its negative is a number */
    if (!(sum > 0)) return (armilla_factor){1, 1};
    if (unit == 1 && sum > 1e-250 && sum < 1e250) return (armilla_factor){total / sum, 1};
    const int exponent = ilogb(sum) < LEAST ? LEAST : ilogb(sum);
    const double scale = ldexp(1, -exponent);
    return (armilla_factor){total / (sum * scale), scale * unit};
}

void armilla_total_apply(int64_t count, armilla_factor factor, double *x)
{
    for (int64_t i = 0; i < count; i++) x[i] = x[i] < 0 ? NAN : armilla_unit_entry(factor, x[i]);
}

static armilla_factor factor_of(int64_t count, const double *x, double total)
{
    double sum = 0;
    armilla_total_add(count, x, 1, &sum);
    if (isfinite(sum)) return armilla_total_factor(sum, 1, total);
    sum = 0;
    armilla_total_add(count, x, ARMILLA_TOTAL_UNIT, &sum);
    return armilla_total_factor(sum, ARMILLA_TOTAL_UNIT, total);
}

void armilla_total_scale(int64_t count, double total, double *x)
{
    armilla_total_apply(count, factor_of(count, x, total), x);
}

/* --- the median --- */

typedef struct summing {
    armilla_column_buffers buffers;
    double *sums; /* n */
} summing;

static armilla_status visit(void *self, const armilla_panel *panel, int thread, double *sums)
{
    const summing *s = self;
    const armilla_column_buffer buffer = armilla_column_buffer_of(&s->buffers, thread);
    (void)sums;
    for (int64_t j = 0; j < panel->count; j++) {
        const armilla_column x = armilla_panel_column(panel, j, buffer);
        double *sum = &s->sums[panel->first + j];
        *sum = 0;
        armilla_total_add(x.count, x.values, 1, sum);
    }
    return ARMILLA_OK;
}

double armilla_median(int64_t count, double *numbers)
{
    qsort(numbers, (size_t)count, sizeof *numbers, armilla_by_number);
    const double low = numbers[(count - 1) / 2], high = numbers[count / 2];
    return low < high ? low / 2 + high / 2 : high; /* half of the least number is 0 */
}

/* The median of those that are above 0; the sums change places. */
static double median_of(int64_t n, double *sums)
{
    int64_t count = 0;
    for (int64_t j = 0; j < n; j++)
        if (sums[j] > 0) sums[count++] = sums[j];
    return count > 0 ? armilla_median(count, sums) : 1;
}

armilla_status armilla_total_median(armilla_context *context, const armilla_data *X, double *median)
{
    const armilla_traversal_plan plan = {.X = X, .kernels = armilla_kernels_for(context, ARMILLA_F64), .length = 1};
    const armilla_samples share = armilla_data_share(context, X);
    armilla_traversal *traversal = NULL;
    summing s = {.sums = NULL};
    double none = 0;
    armilla_status status = armilla_traversal_new(context, &plan, &traversal);
    if (status == ARMILLA_OK)
        status = armilla_column_buffers_take(context, X, armilla_traversal_threads(traversal), &s.buffers);
    if (status == ARMILLA_OK) status = armilla_take(context, X->n, sizeof *s.sums, &s.sums);
    if (status == ARMILLA_OK) status = armilla_traverse(traversal, 1, visit, &s, &none);
    const int64_t size = (int64_t)sizeof *s.sums;
    status = armilla_ranks_gather(context, status,
                                  &(armilla_byte_range){.bytes = s.sums,
                                                        .first = share.first * size,
                                                        .last = share.last * size,
                                                        .count = X->n * size,
                                                        .all = true});
    if (status == ARMILLA_OK) *median = median_of(X->n, s.sums);
    armilla_release(context, s.sums);
    armilla_column_buffers_release(context, &s.buffers);
    armilla_traversal_free(traversal);
    return status;
}
