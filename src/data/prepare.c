/* Preparation on the fly: total, then logarithm, then weights, then centring, then unit length, of each panel as it is loaded.
 * The wrapped data are not changed and not copied. */
#include "data/sparse.h"

#include "base/size.h"
#include "data/slots.h"
#include "data/total.h"
#include "linalg/dense.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>

typedef struct prepared {
    armilla_data data;
    const armilla_data *inner;
    armilla_column_map map;
    bool rescales; /* unit length is all that is done */
    bool centers;  /* or centring */
    /* n: what scales each sample to unit length, NaN before it has been seen: passes after the first need not measure,
     * unless it is infinite, because the sample's own scale is so extreme that one factor does not do. Each is a function
     * of the data, so that it does not matter which thread writes it. NULL where lengths stay. */
    _Atomic double *factors;
} prepared;

/* The prepared panel, one column in double, the panel before, then what the wrapped data need; each part a multiple of
 * 64 bytes. */
static size_t panel_bytes(const armilla_data *X, armilla_type work, int64_t width)
{
    return armilla_padded((size_t)(X->m * width) * armilla_type_size(work));
}

static size_t workspace(const armilla_data *X, armilla_type work, int64_t width)
{
    const armilla_data *inner = ((const prepared *)X)->inner;
    return panel_bytes(X, work, width) + armilla_padded((size_t)X->m * sizeof(double)) +
           armilla_padded(sizeof(armilla_panel)) +
           inner->ops->workspace(inner, armilla_type_precision(inner->type), width);
}

/* What scales x to unit length, its length before centring having been that. A sample that equals the mean has no
 * direction: what is left of it is rounding. */
static armilla_factor factor_of(const prepared *X, const double *x, armilla_length before)
{
    armilla_length length = armilla_length_of(X->data.m, NULL, x);
    if (X->rescales) length = armilla_own_length(X->inner->type, length);
    const double rounding = armilla_column_map_rounding(&X->map, X->data.m);
    if (X->map.mean && armilla_length_within(length, rounding, before)) return (armilla_factor){0, 1};
    return armilla_unit_factor(length);
}

/* x, in double, prepared: to, in the kernels' type. *known: its factor where that is known, and else its place. */
static void prepare_column(const prepared *X, const armilla_kernels *kernels, double *x, _Atomic double *known,
                           void *to)
{
    const armilla_column_map *p = &X->map;
    const int64_t m = X->data.m;
    double factor = known ? atomic_load_explicit(known, memory_order_relaxed) : 1;
    const bool measure = known && !(factor <= DBL_MAX);
    if (p->total > 0) armilla_total_scale(m, p->total, x);
    if (p->entries) p->entries->apply(m, x);
    if (p->weights)
        for (int64_t i = 0; i < m; i++) x[i] *= p->weights[i];
    const armilla_length before = measure && p->mean ? armilla_length_of(m, NULL, x) : (armilla_length){0, 1};
    if (p->mean)
        for (int64_t i = 0; i < m; i++) x[i] -= p->mean[i];
    if (measure) {
        const armilla_factor unit = factor_of(X, x, before);
        factor = unit.factor;
        atomic_store_explicit(known, unit.scale == 1 ? factor : INFINITY, memory_order_relaxed);
        for (int64_t i = 0; i < m && unit.scale != 1; i++) x[i] *= unit.scale;
    }
    kernels->scale(m, factor, x, to);
}

/* The panel from the one before where centring is all that is done, in the kernels' type. */
static void center_panel(const prepared *X, const armilla_panel *panel, const armilla_panel *raw, char *to)
{
    const int64_t m = X->data.m;
    const size_t size = armilla_type_size(panel->kernels->type);
    const char *from = raw->columns;
    for (int64_t j = 0; j < panel->count; j++)
        panel->kernels->center(m, X->map.mean, from + (size_t)(j * raw->stride) * size, to + (size_t)(j * m) * size);
}

/* Column j of the panel from the one before, to, in the kernels' type. column: space for m numbers. */
static void load_column(const prepared *X, const armilla_panel *panel, const armilla_panel *raw, int64_t j,
                        double *column, void *to)
{
    _Atomic double *known = X->factors ? X->factors + panel->first + j : NULL;
    const armilla_type type = raw->kernels->type;
    const double factor =
        X->rescales && type == panel->kernels->type ? atomic_load_explicit(known, memory_order_relaxed) : NAN;
    if (factor <= DBL_MAX && X->inner->ops->expand == armilla_panel_expand) {
        panel->kernels->rescale(X->data.m, factor,
                                (const char *)raw->columns + (size_t)(j * raw->stride) * armilla_type_size(type), to);
        return;
    }
    X->inner->ops->expand(raw, j, column);
    prepare_column(X, panel->kernels, column, known, to);
}

/* Whether the panel before has the numbers already: all its columns have unit length, and are known to. */
static bool stays(const prepared *X, const armilla_panel *panel, const armilla_panel *raw)
{
    if (!X->rescales || raw->kernels->type != panel->kernels->type || X->inner->ops->expand != armilla_panel_expand)
        return false;
    for (int64_t j = 0; j < panel->count; j++)
        if (atomic_load_explicit(X->factors + panel->first + j, memory_order_relaxed) != 1) return false;
    return true;
}

static armilla_status load(armilla_panel *panel, void *space)
{
    const prepared *X = (const prepared *)panel->data;
    const int64_t m = X->data.m;
    const armilla_type work = panel->kernels->type;
    char *columns = space;
    /* The panel may be narrower than the workspace was made for: parts stay in order all the same. */
    double *column = (double *)(void *)(columns + panel_bytes(&X->data, work, panel->count));
    armilla_panel *raw = (armilla_panel *)(void *)((char *)column + armilla_padded((size_t)m * sizeof *column));
    *raw = *panel;
    raw->data = X->inner;
    raw->kernels = armilla_kernels_choose(
        armilla_type_precision(X->inner->type)); /* rounded to the working type once, at the end */
    const armilla_status status = X->inner->ops->load(raw, (char *)raw + armilla_padded(sizeof *raw));
    if (status != ARMILLA_OK) return status;
    const bool copied = !stays(X, panel, raw);
    const bool centered = X->centers && raw->kernels->type == work && X->inner->ops->expand == armilla_panel_expand;
    if (centered) center_panel(X, panel, raw, columns);
    for (int64_t j = 0; j < panel->count && copied && !centered; j++)
        load_column(X, panel, raw, j, column, columns + (size_t)(j * m) * armilla_type_size(work));
    panel->columns = copied ? columns : raw->columns;
    panel->stride = copied ? m : raw->stride;
    panel->raw = raw;
    panel->ahead = raw->ahead;
    panel->ahead_bytes = raw->ahead_bytes;
    return ARMILLA_OK;
}

static void free_prepared(armilla_data *X)
{
    armilla_release(X->context, (void *)((prepared *)X)->factors);
    armilla_release(X->context, X);
}

#define STORAGE(name, type, word, numpy) [name] = ("prepared dense " word),

static const armilla_data_ops prepared_ops = {
    .storage = {ARMILLA_TYPE_LIST(STORAGE)},
    .workspace = workspace,
    .load = load,
    ARMILLA_DENSE_PANELS,
    .free = free_prepared,
};

static bool leaves_numbers(const armilla_column_map *map)
{
    return !(map->total > 0) && !map->entries && !map->weights;
}

bool armilla_column_map_rescales(const armilla_column_map *map)
{
    return map->unit_length && leaves_numbers(map) && !map->mean;
}

/* A total is divided by a sum of m entries. */
double armilla_column_map_rounding(const armilla_column_map *map, int64_t m)
{
    return (8 + (map->total > 0 ? (double)m : 0)) * DBL_EPSILON;
}

armilla_status armilla_data_prepare(armilla_context *context, const armilla_data *inner, const armilla_column_map *map,
                                    armilla_data **data)
{
    prepared *made = NULL;
    if (armilla_sparse_of(inner)) return armilla_data_prepare_sparse(context, inner, map, data);
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    armilla_data_view(&made->data, inner, &prepared_ops, context);
    made->inner = inner;
    made->map = *map;
    made->rescales = armilla_column_map_rescales(map);
    made->centers = map->mean && leaves_numbers(map) && !map->unit_length;
    const armilla_samples share = armilla_data_share(context, inner);
    if (map->unit_length) status = armilla_samples_take(context, &share, 1, sizeof *made->factors, &made->factors);
    if (status != ARMILLA_OK) {
        free_prepared(&made->data);
        return status;
    }
    for (int64_t j = share.first; j < share.last && made->factors; j++) atomic_init(&made->factors[j], (double)NAN);
    *data = &made->data;
    return ARMILLA_OK;
}
