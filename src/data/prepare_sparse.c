/* Preparation of sparse data, never expanded: total, logarithm, weights and unit length keep the zeros and are applied to the
 * entries of each panel as it is loaded; centring stays implicit. Column j is y_j/d_j - mean/d_j with y = weights * x
 * (or weights * ln(1+x)) and d_j = ||y_j - mean|| (1 where samples keep their length), so that C = (U'y - U'mean)/d and
 * A = Y D^-1 W' - mean (D^-1 W 1)'. */
#include "data/column.h"

#include "base/size.h"
#include "data/slots.h"
#include "data/total.h"
#include "linalg/dense.h"

#include <float.h>
#include <math.h>

typedef struct prepared {
    armilla_sparse_data form;
    const armilla_data *inner;
    armilla_column_map map;
    bool rescales; /* unit length is all that is done */
    /* 1/d_j (0 for a sample without a direction), NaN before the sample has been seen: the first pass measures it. NULL
     * where samples keep their length. In a pass each sample is one thread's. */
    armilla_factor *factors;
    double *shifts; /* 1/d_j in units of the mean, or NULL where the data are not centred */
    /* The mean is kept in units of this power of two. It is 1 but for samples of unit length at scales at which the
     * squares of the mean have not all digits; there the mean of the data is a copy. */
    double mean_unit;
    double *scaled_mean;
} prepared;

/* What a sample is measured in: its features and values, and space for it expanded. */
static size_t measure_bytes(const prepared *X)
{
    const size_t m = X->factors ? (size_t)X->form.data.m : 0;
    return armilla_padded(m * sizeof(int64_t)) + 2 * armilla_padded(m * sizeof(double));
}

/* The prepared values, the panel before, what samples are measured in, then what the wrapped data need. */
static size_t workspace(const armilla_data *X, armilla_type work, int64_t width)
{
    const armilla_data *inner = ((const prepared *)X)->inner;
    return armilla_padded((size_t)armilla_sparse_most(inner, width) * armilla_type_size(work)) +
           armilla_padded(sizeof(armilla_panel)) + measure_bytes((const prepared *)X) +
           inner->ops->workspace(inner, inner->type, width);
}

/* Entries that go through the map together. */
enum { TOGETHER = 128 };

/* The place of a sample's entries in a panel, and their scale factor. */
typedef struct sample {
    int64_t first, last;
    armilla_factor total, unit; /* before the map, and after it */
} sample;

/* The sum of the sample's entries of a raw panel, times the unit. */
static double sum_entries(const armilla_sparse_panel *raw, const sample *own, double unit)
{
    const size_t size = armilla_type_size(raw->kernels->type);
    double x[TOGETHER], sum = 0;
    for (int64_t at = own->first; at < own->last; at += TOGETHER) {
        const int64_t count = armilla_min64(TOGETHER, own->last - at);
        armilla_fetch(raw->kernels->type, count, (const char *)raw->columns.values + (size_t)at * size, x);
        armilla_total_add(count, x, unit, &sum);
    }
    return sum;
}

static armilla_factor total_factor(const armilla_sparse_panel *raw, const sample *own, double total)
{
    const double sum = sum_entries(raw, own, 1);
    if (isfinite(sum)) return armilla_total_factor(sum, 1, total);
    return armilla_total_factor(sum_entries(raw, own, ARMILLA_TOTAL_UNIT), ARMILLA_TOTAL_UNIT, total);
}

/* The sample's entries of a raw panel, in its own type: values = what the map and the unit make of them, in the working
 * type. */
static void map_entries(const prepared *X, const armilla_sparse_panel *raw, const sample *own, armilla_type work,
                        void *values)
{
    const armilla_column_map *map = &X->map;
    const size_t from = armilla_type_size(raw->kernels->type), to = armilla_type_size(work);
    double x[TOGETHER];
    for (int64_t at = own->first; at < own->last; at += TOGETHER) {
        const int64_t count = armilla_min64(TOGETHER, own->last - at);
        armilla_fetch(raw->kernels->type, count, (const char *)raw->columns.values + (size_t)at * from, x);
        if (map->total > 0) armilla_total_apply(count, own->total, x);
        if (map->entries) map->entries->apply(count, x);
        for (int64_t i = 0; i < count && map->weights; i++)
            x[i] *= map->weights[armilla_index_at(raw->index64, raw->columns.rows, at + i)];
        for (int64_t i = 0; i < count; i++) x[i] = armilla_unit_entry(own->unit, x[i]);
        armilla_store(work, count, x, (char *)values + (size_t)at * to);
    }
}

/* values = the prepared entries in the working type; the raw ones are in the data's own. */
static void prepare_panel(const prepared *X, const armilla_panel *raw, armilla_type work, void *values)
{
    const armilla_sparse_panel *s = &raw->sparse;
    const int64_t origin = armilla_index_at(s->index64, s->columns.starts, 0);
    const bool totals = X->map.total > 0;
    const bool rescales = !totals && !X->map.entries && !X->map.weights && s->kernels->type == work;
    const size_t size = armilla_type_size(work);
    for (int64_t j = 0; j < raw->count; j++) {
        sample own = {
            .first = armilla_index_at(s->index64, s->columns.starts, j) - origin,
            .last = armilla_index_at(s->index64, s->columns.starts, j + 1) - origin,
            .unit = X->factors ? X->factors[raw->first + j] : (armilla_factor){1, 1},
        };
        const size_t at = (size_t)own.first * size;
        if (totals) own.total = total_factor(s, &own, X->map.total);
        if (rescales && own.unit.scale == 1 && own.first < own.last)
            raw->kernels->rescale(own.last - own.first, own.unit.factor, (const char *)s->columns.values + at,
                                  (char *)values + at);
        else
            map_entries(X, s, &own, work, values);
    }
}

/* ||y - mean||; column: space for m numbers. Squares that have not all digits are made of the expanded column, scaled. */
static armilla_length centred_length(const prepared *X, armilla_column y, double *column)
{
    y.shift = X->mean_unit;
    y.mean = X->form.mean;
    y.mean_squared = X->form.mean_squared;
    const double square = armilla_column_square(&y);
    if (armilla_square_holds(square)) return (armilla_length){sqrt(square), 1};
    for (int64_t i = 0; i < y.m; i++) column[i] = -y.shift * y.mean[i];
    for (int64_t i = 0; i < y.count; i++) column[y.rows[i]] += y.values[i];
    return armilla_length_of(y.m, NULL, column);
}

/* 1/d_j of one column, 0 where it has no direction: what is left of a sample that equals the mean is rounding. */
static armilla_factor factor_of(const prepared *X, armilla_column y, double *column)
{
    if (X->map.total > 0) armilla_total_scale(y.count, X->map.total, y.values);
    if (X->map.entries) X->map.entries->apply(y.count, y.values);
    for (int64_t i = 0; i < y.count && X->map.weights; i++) y.values[i] *= X->map.weights[y.rows[i]];
    const armilla_length before = armilla_length_of(y.count, y.rows, y.values);
    if (X->rescales) return armilla_unit_factor(armilla_own_length(X->inner->type, before));
    if (!X->form.mean) return armilla_unit_factor(before);
    const armilla_length length = centred_length(X, y, column);
    const double rounding = armilla_column_map_rounding(&X->map, X->form.data.m);
    if (armilla_length_within(length, rounding, before)) return (armilla_factor){0, 1};
    return armilla_unit_factor(length);
}

/* The samples of a raw panel that are seen for the first time. */
static void measure(const prepared *X, const armilla_panel *raw, char *space)
{
    const size_t m = (size_t)X->form.data.m, rows = armilla_padded(m * sizeof(int64_t)),
                 values = armilla_padded(m * sizeof(double));
    const armilla_column_buffer buffer = {(int64_t *)(void *)space, (double *)(void *)(space + rows)};
    double *column = (double *)(void *)(space + rows + values);
    for (int64_t j = 0; j < raw->count; j++) {
        armilla_factor *known = &X->factors[raw->first + j];
        if (!isnan(known->factor)) continue;
        *known = factor_of(X, armilla_panel_column(raw, j, buffer), column);
        if (X->shifts) X->shifts[raw->first + j] = known->factor * (known->scale * X->mean_unit);
    }
}

static armilla_status load(armilla_panel *panel, void *space)
{
    const prepared *X = (const prepared *)panel->data;
    const armilla_type work = panel->kernels->type;
    const int64_t entries =
        armilla_sparse_before(X->inner, panel->first + panel->count) - armilla_sparse_before(X->inner, panel->first);
    armilla_panel *raw =
        (armilla_panel *)(void *)((char *)space + armilla_padded((size_t)entries * armilla_type_size(work)));
    *raw = *panel;
    raw->data = X->inner;
    raw->kernels = armilla_kernels_choose(X->inner->type); /* rounded to the working type once, at the end */
    char *measured = (char *)raw + armilla_padded(sizeof *raw);
    const armilla_status status = X->inner->ops->load(raw, measured + measure_bytes(X));
    if (status != ARMILLA_OK) return status;
    if (X->factors) measure(X, raw, measured);
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
    return armilla_sparse_before(((const prepared *)X)->inner, j);
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
    ARMILLA_SPARSE_PANELS,
    .sparse = &(const armilla_sparse_ops){before},
    .free = free_prepared,
};

/* The mean, in units in which its squares have all digits where samples are scaled: shifts then undo the unit. */
static armilla_status take_mean(prepared *X)
{
    const int64_t m = X->form.data.m;
    const double *mean = X->map.mean;
    double squared = 0;
    for (int64_t i = 0; i < m; i++) squared += mean[i] * mean[i];
    const double scale = armilla_square_holds(squared) ? 1 : armilla_safe_scale(m, mean, NULL);
    X->form.mean = mean;
    X->form.mean_squared = squared;
    if (!X->map.unit_length || scale == 0 || scale == 1 || isnan(scale)) return ARMILLA_OK;
    const armilla_status status = armilla_take(X->form.data.context, m, sizeof *X->scaled_mean, &X->scaled_mean);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < m; i++) X->scaled_mean[i] = scale * mean[i];
    X->form.mean = X->scaled_mean;
    X->form.mean_squared = armilla_square(m, X->scaled_mean);
    X->mean_unit = 1 / scale;
    return ARMILLA_OK;
}

static armilla_status take_scales(prepared *X)
{
    armilla_context *context = X->form.data.context;
    const armilla_samples share = armilla_data_share(context, X->inner);
    armilla_status status = X->map.mean ? take_mean(X) : ARMILLA_OK;
    if (status == ARMILLA_OK && X->map.unit_length)
        status = armilla_samples_take(context, &share, 1, sizeof *X->factors, &X->factors);
    if (status == ARMILLA_OK && X->form.mean)
        status = armilla_samples_take(context, &share, 1, sizeof(double), &X->shifts);
    for (int64_t j = share.first; j < share.last && status == ARMILLA_OK; j++) {
        if (X->factors) X->factors[j] = (armilla_factor){NAN, 1};
        if (X->shifts) X->shifts[j] = 1;
    }
    return status;
}

armilla_status armilla_data_prepare_sparse(armilla_context *context, const armilla_data *inner,
                                           const armilla_column_map *map, armilla_data **data)
{
    prepared *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    armilla_data_view(&made->form.data, inner, &prepared_ops, context);
    made->inner = inner;
    made->map = *map;
    made->rescales = armilla_column_map_rescales(map);
    made->mean_unit = 1;
    status = take_scales(made);
    if (status != ARMILLA_OK) {
        free_prepared(&made->form.data);
        return status;
    }
    *data = &made->form.data;
    return ARMILLA_OK;
}
