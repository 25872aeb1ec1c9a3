/* What all storage forms share: facts about the object, and panels whose columns are dense in the working type. */
#include "data/column.h"

#include "base/blocks.h"
#include "base/size.h"

#include <inttypes.h>
#include <string.h>

void armilla_data_free(armilla_data *data)
{
    if (!data) return;
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT; kind++) armilla_names_free(data->context, &data->names[kind]);
    for (int i = 0; i < ARMILLA_KEPT_COUNT; i++) armilla_kept_free(data->context, &data->kept[i]);
    data->ops->free(data);
}

void armilla_data_view(armilla_data *view, const armilla_data *inner, const armilla_data_ops *ops,
                       armilla_context *context)
{
    *view = *inner;
    view->ops = ops;
    view->context = context;
    memset(view->names, 0, sizeof view->names);
    memset(view->kept, 0, sizeof view->kept);
}

int64_t armilla_data_features(const armilla_data *data)
{
    return data ? data->m : 0;
}

int64_t armilla_data_samples(const armilla_data *data)
{
    return data ? data->n : 0;
}

int64_t armilla_data_stored(const armilla_data *data)
{
    if (!data) return 0;
    return armilla_sparse_of(data) ? armilla_sparse_before(data, data->n) : data->m * data->n;
}

int64_t armilla_data_bytes_read(const armilla_data *data)
{
    return data && data->blocks ? armilla_blocks_traffic(data->blocks) : -1;
}

armilla_type armilla_data_type(const armilla_data *data)
{
    return data ? data->type : ARMILLA_F64;
}

const char *armilla_data_storage(const armilla_data *data)
{
    return data ? data->ops->storage[data->type] : "";
}

armilla_status armilla_data_check_shape(armilla_context *context, const char *where, int64_t m, int64_t n)
{
    int64_t area = 0;
    if (m < 1 || n < 1)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%sthere are %" PRId64 " features and %" PRId64 " samples; at least one of each is needed",
                            where, m, n);
    if (!armilla_size_area(m, n, &area) || !armilla_size_fits_int(m))
        return armilla_fail(context, ARMILLA_BAD_DATA, "%s%" PRId64 " features and %" PRId64 " samples are too many",
                            where, m, n);
    return ARMILLA_OK;
}

static armilla_columns columns_of(const armilla_panel *panel)
{
    return (armilla_columns){.values = panel->columns,
                             .m = panel->data->m,
                             .count = panel->count,
                             .stride = panel->stride,
                             .ahead = panel->ahead,
                             .ahead_bytes = panel->ahead_bytes,
                             .ahead_stride = panel->ahead_stride,
                             .scratch = panel->scratch};
}

armilla_panel armilla_panel_cut(const armilla_panel *panel, int64_t first, int64_t count)
{
    armilla_panel part = *panel;
    armilla_sparse_panel *s = &part.sparse;
    part.first += first;
    part.count = count;
    if (!s->kernels) {
        part.columns =
            (const char *)panel->columns + (size_t)(first * panel->stride) * armilla_type_size(panel->kernels->type);
        return part;
    }
    const int64_t index = s->index64 ? sizeof(int64_t) : sizeof(int32_t);
    const int64_t skipped =
        armilla_index_at(s->index64, s->columns.starts, first) - armilla_index_at(s->index64, s->columns.starts, 0);
    s->columns.count = count;
    if (skipped > 0) { /* arrays without entries may be NULL */
        s->columns.values = (const char *)s->columns.values + (size_t)skipped * armilla_type_size(s->kernels->type);
        s->columns.rows = (const char *)s->columns.rows + skipped * index;
    }
    s->columns.starts = (const char *)s->columns.starts + first * index;
    if (s->shifts) s->shifts += first;
    return part;
}

void armilla_panel_products(const armilla_panel *panel, int64_t r, const void *U, double *C)
{
    const armilla_columns X = columns_of(panel);
    const armilla_atoms atoms = {.values = U, .r = r, .packed = !panel->tiled, .tiled = panel->tiled};
    panel->kernels->products(&X, &atoms, C);
}

void armilla_panel_unit_codes(const armilla_panel *panel, const void *U, const armilla_projecting *to)
{
    const armilla_columns X = columns_of(panel);
    const armilla_atoms atoms = {.values = U, .r = to->codes.r, .tiled = true};
    panel->kernels->unit_codes(&X, &atoms, to);
}

void armilla_panel_accumulate(const armilla_panel *panel, int64_t r, const void *W, void *A)
{
    const armilla_columns X = columns_of(panel);
    panel->kernels->accumulate(&X, r, W, panel->opens, A);
}

void armilla_panel_gram(const armilla_panel *panel, double *G)
{
    const armilla_columns X = columns_of(panel);
    panel->kernels->gram(&X, G);
}

void armilla_panel_gather(const armilla_panel *panel, int64_t r, const armilla_memberships *memberships, void *A)
{
    const armilla_columns X = columns_of(panel);
    if (panel->opens) memset(A, 0, (size_t)(X.m * r) * sizeof(double));
    for (int64_t p = 0; p < memberships->partitions; p++)
        panel->kernels->gather(&X, memberships->atoms + p * memberships->stride, A);
}

void armilla_panel_expand(const armilla_panel *panel, int64_t j, double *column)
{
    const armilla_type type = panel->kernels->type;
    const char *start = (const char *)panel->columns + (size_t)(j * panel->stride) * armilla_type_size(type);
    panel->kernels->fetch(panel->data->m, start, column);
}

const double *armilla_panel_doubles(const armilla_panel *panel, int64_t j)
{
    const bool lie = panel->kernels->type == ARMILLA_F64 && panel->data->ops->expand == armilla_panel_expand;
    return lie ? (const double *)panel->columns + j * panel->stride : NULL;
}

armilla_status armilla_data_column(armilla_context *context, const armilla_data *data, armilla_type work, int64_t j,
                                   double *column)
{
    if (j < 0)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "sample %" PRId64 " does not exist: there are %" PRId64, j,
                            data->n);
    return armilla_data_gather(context, data, work, 1, &j, column);
}

armilla_status armilla_data_sample(armilla_context *context, const armilla_data *data, int64_t j, double *sample)
{
    const armilla_status status = ARMILLA_NOT_NULL(context, data, sample);
    if (status != ARMILLA_OK) return status;
    return armilla_data_column(context, data, armilla_type_precision(data->type), j, sample);
}
