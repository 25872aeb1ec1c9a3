/* Sparse data in a file: the features and values of a panel are copied out of the blocks, checked, and sorted where a
 * sample's features do not rise. The offsets of the samples stay in memory: slots and panels follow from them. */
#include "data/stream.h"

#include "base/size.h"
#include "data/sparse.h"

#include <inttypes.h>
#include <string.h>

typedef struct streamed {
    armilla_sparse_data form;
    armilla_blocks *blocks;
    armilla_stored values;
    armilla_stored_indices features;
    int64_t *starts; /* n + 1 */
} streamed;

static int64_t before(const armilla_data *X, int64_t j)
{
    return ((const streamed *)X)->starts[j];
}

/* Whether so many entries need indices of 64 bits in a panel. */
static bool is_wide(const streamed *X, int64_t entries)
{
    const int64_t most = X->form.data.context->most_narrow;
    return X->form.data.m > most || entries > most;
}

/* The offsets of the parts of a panel in the workspace. */
typedef struct parts {
    bool wide;
    size_t starts, rows, stored, values, converted, bytes; /* cursors for the kernels are at 0 */
} parts;

static parts lay_out(const streamed *X, armilla_type work, int64_t columns, int64_t entries)
{
    parts p = {.wide = is_wide(X, entries)};
    const size_t index = p.wide ? sizeof(int64_t) : sizeof(int32_t), count = (size_t)entries;
    const size_t width = (size_t)armilla_max64(X->features.width, X->values.fetch ? X->values.width : 0);
    p.starts = armilla_padded((size_t)columns * sizeof(int64_t));
    p.rows = p.starts + armilla_padded((size_t)(columns + 1) * index);
    p.stored = p.rows + armilla_padded(count * index);
    p.values = p.stored + armilla_padded(count * width);
    p.converted = p.values + armilla_padded(count * armilla_type_size(X->form.data.type));
    p.bytes = p.converted + (X->form.data.type == work ? 0 : armilla_padded(count * armilla_type_size(work)));
    return p;
}

static size_t workspace(const armilla_data *X, armilla_type work, int64_t width)
{
    return lay_out((const streamed *)X, work, width, armilla_sparse_most(X, width)).bytes;
}

static armilla_extent values_of(const streamed *X, int64_t first, int64_t last)
{
    return (armilla_extent){X->values.at + first * X->values.width, (last - first) * X->values.width};
}

static armilla_extent features_of(const streamed *X, int64_t first, int64_t last)
{
    return (armilla_extent){X->features.at + first * X->features.width, (last - first) * X->features.width};
}

static void expect_entries(const streamed *X, armilla_context *context, int64_t first, int64_t last)
{
    if (first >= last) return;
    armilla_blocks_expect(X->blocks, context, features_of(X, X->starts[first], X->starts[last]));
    armilla_blocks_expect(X->blocks, context, values_of(X, X->starts[first], X->starts[last]));
}

/* What the thread will want: the rest of its slot, then the next one. */
static void expect(const streamed *X, const armilla_panel *panel)
{
    const int64_t n = X->form.data.n, next = armilla_min64(panel->next, n);
    expect_entries(X, panel->context, next, armilla_max64(panel->until, armilla_min64(next + panel->next_count, n)));
    if (panel->then > panel->first)
        expect_entries(X, panel->context, panel->then, armilla_min64(panel->then + panel->count, n));
}

static int64_t decode_index(const armilla_stored_indices *stored, const unsigned char *from, int64_t i)
{
    uint32_t narrow = 0;
    uint64_t wide = 0;
    if (stored->width == 4) {
        memcpy(&narrow, from + 4 * i, sizeof narrow);
        return (int32_t)(stored->swapped ? __builtin_bswap32(narrow) : narrow);
    }
    memcpy(&wide, from + 8 * i, sizeof wide);
    return (int64_t)(stored->swapped ? __builtin_bswap64(wide) : wide);
}

static armilla_status bad_feature(const armilla_panel *panel, int64_t entry, int64_t feature)
{
    return armilla_fail(panel->context, ARMILLA_BAD_DATA,
                        "%s: entry %" PRId64 " (counted from 0) of the sparse matrix has the index %" PRId64
                        ", which is not between 0 and %" PRId64,
                        armilla_blocks_path(((const streamed *)panel->data)->blocks), entry, feature,
                        panel->data->m - 1);
}

/* Sorts the samples that need it. In memory entries of one place would be added up; here they would make samples shorter
 * than where they begin says. */
static armilla_status put_in_order(const armilla_panel *panel, bool wide, const void *starts, char *rows, char *values)
{
    const int64_t index = wide ? sizeof(int64_t) : sizeof(int32_t);
    const armilla_type type = panel->data->type;
    for (int64_t j = 0; j < panel->count; j++) {
        const int64_t first = armilla_index_at(wide, starts, j), count = armilla_index_at(wide, starts, j + 1) - first;
        char *own = rows + first * index;
        if (armilla_rows_rise(wide, own, count)) continue;
        armilla_entries_sort(wide, own, type, values + first * (int64_t)armilla_type_size(type), count);
        if (!armilla_rows_rise(wide, own, count))
            return armilla_fail(panel->context, ARMILLA_BAD_DATA,
                                "%s: sample %" PRId64
                                " (counted from 1) has two entries for one feature, which cannot be added up while the "
                                "file is streamed; save it after matrix.sum_duplicates()",
                                armilla_blocks_path(((const streamed *)panel->data)->blocks), panel->first + j + 1);
    }
    return ARMILLA_OK;
}

/* The features of entries first ... last-1, checked. */
static armilla_status load_rows(const armilla_panel *panel, const parts *p, armilla_extent entries, char *space)
{
    const streamed *X = (const streamed *)panel->data;
    const unsigned char *stored = (unsigned char *)space + p->stored;
    const bool alone = panel->next_count <= 0;
    const armilla_status status = armilla_blocks_read(
        X->blocks, panel->context, features_of(X, entries.at, entries.at + entries.count), alone, space + p->stored);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < entries.count; i++) {
        const int64_t feature = decode_index(&X->features, stored, i);
        if (feature < 0 || feature >= panel->data->m) return bad_feature(panel, entries.at + i, feature);
        armilla_index_put(p->wide, space + p->rows, i, feature);
    }
    return ARMILLA_OK;
}

static armilla_status load_values(const armilla_panel *panel, const parts *p, armilla_extent entries, char *space)
{
    const streamed *X = (const streamed *)panel->data;
    char *stored = space + (X->values.fetch ? p->stored : p->values);
    const armilla_status status =
        armilla_blocks_read(X->blocks, panel->context, values_of(X, entries.at, entries.at + entries.count),
                            panel->next_count <= 0, stored);
    if (status == ARMILLA_OK && X->values.fetch)
        armilla_stored_decode(&X->values, (unsigned char *)stored, entries.count, space + p->values);
    return status;
}

static armilla_status load(armilla_panel *panel, void *workspace)
{
    const streamed *X = (const streamed *)panel->data;
    const armilla_type work = panel->kernels->type, type = X->form.data.type;
    const int64_t first = X->starts[panel->first];
    const armilla_extent entries = {first, X->starts[panel->first + panel->count] - first};
    const parts p = lay_out(X, work, panel->count, entries.count);
    char *space = workspace, *values = space + p.values;
    if (panel->next_count > 0) expect(X, panel);
    for (int64_t j = 0; j <= panel->count; j++)
        armilla_index_put(p.wide, space + p.starts, j, X->starts[panel->first + j] - first);
    armilla_status status = load_rows(panel, &p, entries, space);
    if (status == ARMILLA_OK) status = load_values(panel, &p, entries, space);
    if (status == ARMILLA_OK) status = put_in_order(panel, p.wide, space + p.starts, space + p.rows, values);
    if (status != ARMILLA_OK) return status;
    if (type != work) {
        panel->kernels->convert[type](entries.count, values, space + p.converted);
        values = space + p.converted;
    }
    panel->sparse = (armilla_sparse_panel){
        .columns = {panel->count, values, space + p.rows, space + p.starts, panel->data->m, workspace},
        .kernels = armilla_sparse_kernels_like(panel->kernels),
        .index64 = p.wide,
    };
    return ARMILLA_OK;
}

static void free_streamed(armilla_data *data)
{
    streamed *X = (streamed *)data;
    armilla_blocks_free(X->blocks);
    armilla_release(data->context, X->starts);
    armilla_release(data->context, X);
}

static const armilla_data_ops streamed_ops = {
    .storage = {[ARMILLA_F32] = "streamed sparse f32", [ARMILLA_F64] = "streamed sparse f64"},
    .workspace = workspace,
    .load = load,
    ARMILLA_SPARSE_PANELS,
    .sparse = &(const armilla_sparse_ops){before},
    .free = free_streamed,
};

armilla_status armilla_data_stream_sparse(armilla_context *context, armilla_blocks *blocks,
                                          const armilla_stream_sparse *matrix, armilla_data **data)
{
    streamed *made = NULL;
    armilla_status status = armilla_data_check_shape(context, "", matrix->m, matrix->n);
    if (status == ARMILLA_OK) status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    made->form.data = (armilla_data){.ops = &streamed_ops,
                                     .context = context,
                                     .type = matrix->values.type,
                                     .m = matrix->m,
                                     .n = matrix->n,
                                     .blocks = blocks};
    made->blocks = blocks;
    made->values = matrix->values;
    made->features = matrix->features;
    made->starts = matrix->starts;
    *data = &made->form.data;
    return ARMILLA_OK;
}
