/* Preparation of sparse data, never expanded: logarithm, weights and unit length keep the zeros and are applied to the
 * entries of each panel as it is loaded; centring stays implicit. Column j is y_j/d_j - mean/d_j with y = weights * x
 * (or weights * ln(1+x)) and d_j = ||y_j - mean|| (1 where samples keep their length), so that C = (U'y - U'mean)/d and
 * A = Y D^-1 W' - mean (D^-1 W 1)'. */
#include "data/data.h"

#include "base/size.h"
#include "linalg/dense.h"

#include <float.h>
#include <math.h>

typedef struct prepared {
    armilla_data data;
    const armilla_data *inner;
    armilla_preparation preparation;
    bool rescales;           /* unit length is all that is done */
    armilla_factor *factors; /* 1/d_j (0 for a sample without a direction), or NULL where samples keep their length */
    double *shifts;          /* 1/d_j in units of the mean, or NULL where the data are not centred */
    /* The mean is kept in units of this power of two. It is 1 but for samples of unit length at scales at which the
     * squares of the mean have not all digits; there the mean of the data is a copy. */
    double mean_unit;
    double *scaled_mean;
} prepared;

static const prepared *as_prepared(const armilla_data *X)
{
    return (const prepared *)X;
}

static size_t padded(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static size_t workspace(const armilla_data *X, armilla_type work, int64_t width)
{
    const armilla_data *inner = as_prepared(X)->inner;
    return padded((size_t)armilla_sparse_most(inner, width) * armilla_type_size(work)) + padded(sizeof(armilla_panel)) +
           inner->ops->workspace(inner, inner->type, width);
}

/* values = the prepared entries in the working type; the raw ones are in the data's own. */
static void prepare_panel(const prepared *X, const armilla_panel *raw, armilla_type work, void *values)
{
    const armilla_sparse_panel *s = &raw->sparse;
    const bool single = s->kernels->type == ARMILLA_F32;
    const int64_t origin = armilla_index_at(s->wide, s->columns.starts, 0);
    const bool rescales = !X->preparation.log1p && !X->preparation.weights && s->kernels->type == work;
    const size_t size = armilla_type_size(work);
    for (int64_t j = 0; j < raw->count; j++) {
        const int64_t last = armilla_index_at(s->wide, s->columns.starts, j + 1) - origin;
        const armilla_factor unit = X->factors ? X->factors[raw->first + j] : (armilla_factor){1, 1};
        int64_t i = armilla_index_at(s->wide, s->columns.starts, j) - origin;
        if (rescales && unit.scale == 1 && i < last) {
            const size_t at = (size_t)i * size;
            raw->kernels->rescale(last - i, unit.factor, (const char *)s->columns.values + at, (char *)values + at);
            continue;
        }
        for (; i < last; i++) {
            const int64_t row = armilla_index_at(s->wide, s->columns.rows, i);
            const double x =
                single ? (double)((const float *)s->columns.values)[i] : ((const double *)s->columns.values)[i];
            const double y = armilla_unit_entry(unit, armilla_prepare_entry(&X->preparation, row, x));
            if (work == ARMILLA_F32)
                ((float *)values)[i] = (float)y;
            else
                ((double *)values)[i] = y;
        }
    }
}

static armilla_status load(armilla_panel *panel, void *space)
{
    const prepared *X = as_prepared(panel->data);
    const armilla_type work = panel->kernels->type;
    const int64_t entries =
        X->data.ops->before(&X->data, panel->first + panel->count) - X->data.ops->before(&X->data, panel->first);
    armilla_panel *raw = (armilla_panel *)(void *)((char *)space + padded((size_t)entries * armilla_type_size(work)));
    *raw = *panel;
    raw->data = X->inner;
    raw->kernels = armilla_kernels_choose(X->inner->type); /* rounded to the working type once, at the end */
    const armilla_status status = X->inner->ops->load(raw, (char *)raw + padded(sizeof *raw));
    if (status != ARMILLA_OK) return status;
    prepare_panel(X, raw, work, space);
    panel->sparse = raw->sparse;
    panel->sparse.kernels = armilla_sparse_kernels_like(panel->kernels);
    panel->sparse.columns.values = space;
    panel->sparse.shifts = X->shifts ? X->shifts + panel->first : NULL;
    panel->raw = raw;
    return ARMILLA_OK;
}

static int64_t before(const armilla_data *X, int64_t j)
{
    const armilla_data *inner = as_prepared(X)->inner;
    return inner->ops->before(inner, j);
}

static void free_prepared(armilla_data *data)
{
    prepared *X = (prepared *)data;
    armilla_release(data->context, X->shifts);
    armilla_release(data->context, X->factors);
    armilla_release(data->context, X->scaled_mean);
    armilla_release(data->context, X);
}

static const armilla_data_ops prepared_ops = {
    .storage = {[ARMILLA_F32] = "prepared sparse f32", [ARMILLA_F64] = "prepared sparse f64"},
    .workspace = workspace,
    .load = load,
    .layout = &armilla_layout_by_feature,
    .products = armilla_sparse_products,
    .accumulate = armilla_sparse_accumulate,
    .gather = armilla_sparse_gather,
    .expand = armilla_sparse_expand,
    .entries = armilla_sparse_panel_entries,
    .before = before,
    .free = free_prepared,
};

/* What is left of a square after this much has cancelled has no digits: then every feature is visited. */
#define CANCELLED 1e-6

static double full_square(const armilla_data *X, int64_t count, const int64_t *rows, const double *values, double shift)
{
    double sum = 0;
    for (int64_t i = 0, next = 0; i < X->m; i++) {
        const double value = next < count && rows[next] == i ? values[next++] : 0;
        const double rest = value - shift * X->mean[i];
        sum += rest * rest;
    }
    return sum;
}

double armilla_shifted_square(const armilla_data *X, int64_t count, const int64_t *rows, const double *values,
                              double shift)
{
    double on = 0, covered = 0, own = 0;
    if (!X->mean || shift == 0) return armilla_square_of_entries(count, rows, values);
    for (int64_t i = 0; i < count; i++) {
        const double mean = X->mean[rows[i]], rest = values[i] - shift * mean;
        on += rest * rest;
        own += values[i] * values[i];
        covered += mean * mean;
    }
    /* On the entries (x - mean)^2, elsewhere mean^2: unlike ||x||^2 - 2x'mean + ||mean||^2 only the second cancels. */
    const double all = shift * shift * X->mean_squared, square = on + shift * shift * (X->mean_squared - covered);
    if (square > CANCELLED * (own + all)) return square;
    return full_square(X, count, rows, values, shift);
}

/* ||y - mean||; column: room for m numbers. Squares that have not all digits are made of the expanded column, scaled. */
static armilla_length centred_length(const prepared *X, int64_t count, const int64_t *rows, const double *values,
                                     double *column)
{
    const armilla_data *data = &X->data;
    const double square = armilla_shifted_square(data, count, rows, values, X->mean_unit);
    if (armilla_square_holds(square)) return (armilla_length){sqrt(square), 1};
    for (int64_t i = 0; i < data->m; i++) column[i] = -X->mean_unit * data->mean[i];
    for (int64_t i = 0; i < count; i++) column[rows[i]] += values[i];
    return armilla_length_of(data->m, NULL, column);
}

/* 1/d_j of one column, 0 where it has no direction: what is left of a sample that equals the mean is rounding. */
static armilla_factor factor_of(const prepared *X, int64_t count, const int64_t *rows, double *values, double *column)
{
    for (int64_t i = 0; i < count; i++) values[i] = armilla_prepare_entry(&X->preparation, rows[i], values[i]);
    const armilla_length before = armilla_length_of(count, rows, values);
    if (X->rescales) return armilla_unit_factor(armilla_own_length(X->inner->type, before));
    if (!X->data.mean) return armilla_unit_factor(before);
    const armilla_length length = centred_length(X, count, rows, values, column);
    if (armilla_length_within(length, 8 * DBL_EPSILON, before)) return (armilla_factor){0, 1};
    return armilla_unit_factor(length);
}

static armilla_status measure_lengths(prepared *X)
{
    const armilla_data *inner = X->inner;
    armilla_context *context = X->data.context;
    const int64_t width = armilla_panel_width(inner, inner->type), m = X->data.m;
    double *values = NULL, shift = 0; /* values: of the entries, and of the expanded column */
    int64_t *rows = NULL;
    void *space = NULL;
    armilla_status status = armilla_take(context, 2 * m, sizeof *values, &values);
    if (status == ARMILLA_OK) status = armilla_take(context, m, sizeof *rows, &rows);
    if (status == ARMILLA_OK)
        status = armilla_take(context, (int64_t)inner->ops->workspace(inner, inner->type, width), 1, &space);
    for (int64_t first = 0; first < inner->n && status == ARMILLA_OK; first += width) {
        armilla_panel panel = {.data = inner,
                               .kernels = armilla_kernels_choose(inner->type),
                               .first = first,
                               .count = armilla_min64(width, inner->n - first)};
        status = inner->ops->load(&panel, space);
        for (int64_t j = 0; j < panel.count && status == ARMILLA_OK; j++) {
            const int64_t count = inner->ops->entries(&panel, j, rows, values, &shift);
            X->factors[first + j] = factor_of(X, count, rows, values, values + m);
        }
    }
    armilla_release(context, space);
    armilla_release(context, rows);
    armilla_release(context, values);
    return status;
}

/* The mean, in units in which its squares have all digits where samples are scaled: shifts then undo the unit. */
static armilla_status take_mean(prepared *X)
{
    const int64_t m = X->data.m;
    const double *mean = X->preparation.mean;
    double squared = 0;
    for (int64_t i = 0; i < m; i++) squared += mean[i] * mean[i];
    const double scale = armilla_square_holds(squared) ? 1 : armilla_safe_scale(m, mean, NULL);
    X->data.mean = mean;
    X->data.mean_squared = squared;
    if (!X->preparation.unit_length || scale == 0 || scale == 1 || isnan(scale)) return ARMILLA_OK;
    const armilla_status status = armilla_take(X->data.context, m, sizeof *X->scaled_mean, &X->scaled_mean);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < m; i++) X->scaled_mean[i] = scale * mean[i];
    X->data.mean = X->scaled_mean;
    X->data.mean_squared = armilla_square(m, X->scaled_mean);
    X->mean_unit = 1 / scale;
    return ARMILLA_OK;
}

static armilla_status take_scales(prepared *X)
{
    const int64_t n = X->data.n;
    armilla_status status = X->preparation.mean ? take_mean(X) : ARMILLA_OK;
    if (status == ARMILLA_OK && X->preparation.unit_length) {
        status = armilla_take(X->data.context, n, sizeof *X->factors, &X->factors);
        if (status == ARMILLA_OK) status = measure_lengths(X);
    }
    if (status == ARMILLA_OK && X->data.mean) status = armilla_take(X->data.context, n, sizeof(double), &X->shifts);
    for (int64_t j = 0; j < n && status == ARMILLA_OK && X->shifts; j++)
        X->shifts[j] = X->factors ? X->factors[j].factor * (X->factors[j].scale * X->mean_unit) : 1;
    return status;
}

armilla_status armilla_data_prepare_sparse(armilla_context *context, const armilla_data *inner,
                                           const armilla_preparation *preparation, armilla_data **data)
{
    prepared *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    armilla_data_view(&made->data, inner, &prepared_ops, context);
    made->inner = inner;
    made->preparation = *preparation;
    made->rescales = armilla_preparation_rescales(preparation);
    made->mean_unit = 1;
    status = take_scales(made);
    if (status != ARMILLA_OK) {
        free_prepared(&made->data);
        return status;
    }
    *data = &made->data;
    return ARMILLA_OK;
}
