/* Some features and samples of other data. Samples of dense data are a view: a panel of neighbours is the wrapped
 * data's own, one of others is gathered as it is loaded. Everything else is a copy of what was kept. */
#include "data/select.h"

#include "base/size.h"
#include "data/data.h"

#include <string.h>

typedef struct selected {
    armilla_data data;
    const armilla_data *inner;
    int64_t *columns; /* of inner, one for each of ours, rising */
} selected;

static const selected *as_selected(const armilla_data *X)
{
    return (const selected *)X;
}

static size_t gathered_bytes(const armilla_data *X, armilla_type work, int64_t width)
{
    return ((size_t)(X->m * width) * armilla_type_size(work) + ARMILLA_LINE - 1) / ARMILLA_LINE * ARMILLA_LINE;
}

static size_t workspace(const armilla_data *X, armilla_type work, int64_t width)
{
    const armilla_data *inner = as_selected(X)->inner;
    return gathered_bytes(X, work, width) + inner->ops->workspace(inner, work, width);
}

/* How many columns of inner follow each other from there. */
static int64_t run_from(const int64_t *columns, int64_t count)
{
    int64_t run = 1;
    while (run < count && columns[run] == columns[0] + run) run++;
    return run;
}

/* What the same thread will want next, as columns of inner: a hint, which need not be all of it. */
static void look_ahead(const selected *X, const armilla_panel *panel, armilla_panel *part)
{
    part->next_count = 0;
    part->next = part->first;
    if (panel->next_count <= 0 || panel->next >= X->data.n) return;
    part->next = X->columns[panel->next];
    part->next_count = run_from(X->columns + panel->next, panel->next_count);
}

static armilla_status load(armilla_panel *panel, void *space)
{
    const selected *X = as_selected(panel->data);
    const int64_t *columns = X->columns + panel->first, m = X->data.m;
    const size_t size = armilla_type_size(panel->kernels->type);
    char *gathered = space, *inner_space = gathered + gathered_bytes(&X->data, panel->kernels->type, panel->count);
    for (int64_t j = 0, run = 0; j < panel->count; j += run) {
        armilla_panel part = *panel;
        run = run_from(columns + j, panel->count - j);
        part.data = X->inner;
        part.first = columns[j];
        part.count = run;
        look_ahead(X, panel, &part);
        const armilla_status status = X->inner->ops->load(&part, inner_space);
        if (status != ARMILLA_OK) return status;
        panel->ahead = part.ahead;
        panel->ahead_bytes = part.ahead_bytes;
        panel->columns = run == panel->count ? part.columns : gathered;
        panel->stride = run == panel->count ? part.stride : m;
        for (int64_t c = 0; c < run && run < panel->count; c++)
            memcpy(gathered + (size_t)((j + c) * m) * size,
                   (const char *)part.columns + (size_t)(c * part.stride) * size, (size_t)m * size);
    }
    return ARMILLA_OK;
}

static void free_selected(armilla_data *data)
{
    armilla_release(data->context, ((selected *)data)->columns);
    armilla_release(data->context, data);
}

static const armilla_data_ops selected_ops = {
    .storage = {[ARMILLA_F32] = "dense f32", [ARMILLA_F64] = "dense f64", [ARMILLA_U8] = "dense u8"},
    .workspace = workspace,
    .load = load,
    .products = armilla_panel_products,
    .accumulate = armilla_panel_accumulate,
    .gather = armilla_panel_gather,
    .expand = armilla_panel_expand,
    .free = free_selected,
};

static armilla_status make_view(armilla_context *context, const armilla_data *X, const armilla_kept *samples,
                                armilla_data **data)
{
    armilla_kept copy = {0};
    selected *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status == ARMILLA_OK) status = armilla_kept_copy(context, samples, &copy);
    if (status != ARMILLA_OK) {
        armilla_release(context, made);
        return status;
    }
    armilla_data_view(&made->data, X, &selected_ops, context);
    made->data.n = samples->count;
    made->data.stored = X->m * samples->count; /* what is held is X's, as long as this lives */
    made->inner = X;
    made->columns = copy.at;
    *data = &made->data;
    return ARMILLA_OK;
}

/* One column of X after the other, in its own precision. */
typedef struct reader {
    armilla_context *context;
    const armilla_data *X;
    armilla_panel panel;
    void *space;
    int64_t *rows;  /* m */
    double *values; /* m */
} reader;

static armilla_status reader_new(armilla_context *context, const armilla_data *X, reader *r)
{
    const armilla_type work = armilla_type_precision(X->type);
    *r = (reader){.context = context, .X = X};
    r->panel = (armilla_panel){.data = X, .kernels = armilla_kernels_choose(work), .count = 1};
    armilla_status status = armilla_take(context, (int64_t)X->ops->workspace(X, work, 1), 1, &r->space);
    if (status == ARMILLA_OK) status = armilla_take(context, X->m, sizeof *r->rows, &r->rows);
    if (status == ARMILLA_OK) status = armilla_take(context, X->m, sizeof *r->values, &r->values);
    return status;
}

static void reader_free(reader *r)
{
    armilla_release(r->context, r->values);
    armilla_release(r->context, r->rows);
    armilla_release(r->context, r->space);
}

static int64_t place(const armilla_kept *kept, int64_t i)
{
    return kept->at ? kept->at[i] : i;
}

static armilla_status copy_dense(reader *r, const armilla_kept *features, const armilla_kept *samples,
                                 armilla_data **data)
{
    const int64_t m = features->count, n = samples->count;
    const size_t size = armilla_type_size(r->X->type);
    char *values = NULL;
    int64_t area = 0;
    armilla_status status = armilla_size_area(m, n, &area) ? armilla_take(r->context, area, size, &values)
                                                           : armilla_data_check_shape(r->context, "", m, n);
    for (int64_t j = 0; j < n && status == ARMILLA_OK; j++) {
        r->panel.first = place(samples, j);
        status = r->X->ops->load(&r->panel, r->space);
        if (status != ARMILLA_OK) break;
        r->X->ops->expand(&r->panel, 0, r->values);
        for (int64_t i = 0; i < m; i++) r->values[i] = r->values[place(features, i)]; /* never before i */
        armilla_store(r->X->type, m, r->values, values + (size_t)(j * m) * size);
    }
    if (status == ARMILLA_OK) status = armilla_data_own_dense(r->context, r->X->type, values, m, n, data);
    if (status != ARMILLA_OK) armilla_release(r->context, values);
    return status;
}

/* The entries of a sample that are kept, with the new numbers of their features, at the head of the reader's arrays. */
static armilla_status kept_entries(reader *r, const int64_t *numbers, int64_t sample, int64_t *kept)
{
    double shift = 0;
    r->panel.first = sample;
    const armilla_status status = r->X->ops->load(&r->panel, r->space);
    if (status != ARMILLA_OK) return status;
    const int64_t count = r->X->ops->entries(&r->panel, 0, r->rows, r->values, &shift);
    *kept = 0;
    for (int64_t i = 0; i < count; i++) {
        if (numbers[r->rows[i]] < 0) continue;
        r->rows[*kept] = numbers[r->rows[i]];
        r->values[(*kept)++] = r->values[i];
    }
    return ARMILLA_OK;
}

/* numbers[i] = what feature i becomes, or -1. */
static armilla_status number_features(armilla_context *context, const armilla_kept *features, int64_t **numbers)
{
    const armilla_status status = armilla_take(context, features->of, sizeof **numbers, numbers);
    for (int64_t i = 0; i < features->of && status == ARMILLA_OK; i++) (*numbers)[i] = features->at ? -1 : i;
    for (int64_t i = 0; i < features->count && status == ARMILLA_OK && features->at; i++)
        (*numbers)[features->at[i]] = i;
    return status;
}

static armilla_status fill_sparse(reader *r, const int64_t *numbers, const armilla_kept *samples,
                                  armilla_sparse_matrix *matrix)
{
    const size_t size = armilla_type_size(matrix->type);
    int64_t used = 0, count = 0;
    for (int64_t j = 0; j < samples->count; j++) {
        const armilla_status status = kept_entries(r, numbers, place(samples, j), &count);
        if (status != ARMILLA_OK) return status;
        for (int64_t i = 0; i < count; i++) armilla_index_put(matrix->wide, matrix->rows, used + i, r->rows[i]);
        armilla_store(matrix->type, count, r->values, (char *)matrix->values + (size_t)used * size);
        used += count;
        armilla_index_put(matrix->wide, matrix->starts, j + 1, used);
    }
    return ARMILLA_OK;
}

static armilla_status copy_sparse(reader *r, const armilla_kept *features, const armilla_kept *samples,
                                  armilla_data **data)
{
    armilla_sparse_matrix matrix = {.m = 0};
    int64_t *numbers = NULL, entries = 0, count = 0;
    armilla_status status = number_features(r->context, features, &numbers);
    for (int64_t j = 0; j < samples->count && status == ARMILLA_OK; j++, entries += count)
        status = kept_entries(r, numbers, place(samples, j), &count);
    if (status == ARMILLA_OK)
        status = armilla_sparse_take(r->context, r->X->type, features->count, samples->count, entries, &matrix);
    if (status == ARMILLA_OK) status = fill_sparse(r, numbers, samples, &matrix);
    if (status == ARMILLA_OK) status = armilla_data_own_sparse(r->context, &matrix, data);
    if (status != ARMILLA_OK) armilla_sparse_release(r->context, &matrix);
    armilla_release(r->context, numbers);
    return status;
}

static armilla_status make_copy(armilla_context *context, const armilla_data *X, const armilla_kept *features,
                                const armilla_kept *samples, armilla_data **data)
{
    reader r;
    armilla_status status = reader_new(context, X, &r);
    if (status == ARMILLA_OK)
        status = X->ops->entries ? copy_sparse(&r, features, samples, data) : copy_dense(&r, features, samples, data);
    reader_free(&r);
    return status;
}

/* Names of what was kept. */
static armilla_status keep_names(const armilla_data *X, const armilla_kept *kept, armilla_naming kind,
                                 armilla_data *data)
{
    armilla_names names = {0};
    armilla_status status = ARMILLA_OK;
    if (!armilla_data_names(X, kind)) return ARMILLA_OK;
    for (int64_t i = 0; i < kept->count && status == ARMILLA_OK; i++) {
        const char *name = armilla_data_name(X, kind, place(kept, i));
        status = armilla_names_add(data->context, &names, name, strlen(name));
    }
    if (status == ARMILLA_OK) status = armilla_data_adopt_names(data, kind, "", &names);
    armilla_names_free(data->context, &names);
    return status;
}

/* Of what X was chosen from, where it was. */
static armilla_status note_kept(const armilla_kept *earlier, const armilla_kept *kept, armilla_context *context,
                                armilla_kept *noted)
{
    if (!kept->at) return armilla_kept_copy(context, earlier, noted);
    const armilla_status status = armilla_kept_copy(context, kept, noted);
    if (status != ARMILLA_OK || !earlier->at) return status;
    for (int64_t i = 0; i < noted->count; i++) noted->at[i] = earlier->at[noted->at[i]];
    noted->of = earlier->of;
    return ARMILLA_OK;
}

armilla_status armilla_data_keep(armilla_context *context, const armilla_data *X,
                                 const armilla_kept kept[ARMILLA_KEPT_COUNT], armilla_data **data)
{
    const armilla_kept all[] = {{NULL, X->m, X->m}, {NULL, X->n, X->n}};
    const armilla_kept *features = kept[ARMILLA_KEPT_FEATURES].at ? &kept[ARMILLA_KEPT_FEATURES] : &all[0];
    const armilla_kept *samples = kept[ARMILLA_KEPT_SAMPLES].at ? &kept[ARMILLA_KEPT_SAMPLES] : &all[1];
    const armilla_kept *const both[] = {features, samples};
    armilla_data *made = NULL;
    armilla_status status = !X->ops->entries && !features->at && samples->at
                                ? make_view(context, X, samples, &made)
                                : make_copy(context, X, features, samples, &made);
    if (status == ARMILLA_OK) status = keep_names(X, features, ARMILLA_FEATURE_NAMES, made);
    if (status == ARMILLA_OK) status = keep_names(X, samples, ARMILLA_SAMPLE_NAMES, made);
    if (status == ARMILLA_OK) status = keep_names(X, samples, ARMILLA_SAMPLE_LABELS, made);
    for (int i = 0; i < ARMILLA_KEPT_COUNT && status == ARMILLA_OK; i++)
        status = note_kept(&X->kept[i], both[i], context, &made->kept[i]);
    if (status == ARMILLA_OK)
        *data = made;
    else
        armilla_data_free(made);
    return status;
}

armilla_status armilla_data_flatten(armilla_context *context, const armilla_data *X, armilla_data **copy)
{
    const armilla_kept all[ARMILLA_KEPT_COUNT] = {{NULL, X->m, X->m}, {NULL, X->n, X->n}};
    *copy = NULL;
    return X->ops == &selected_ops ? armilla_data_keep(context, X, all, copy) : ARMILLA_OK;
}

armilla_status armilla_kept_copy(armilla_context *context, const armilla_kept *from, armilla_kept *to)
{
    *to = (armilla_kept){NULL, from->count, from->of};
    if (!from->at) return ARMILLA_OK;
    const armilla_status status = armilla_take(context, from->count, sizeof *to->at, &to->at);
    if (status == ARMILLA_OK) memcpy(to->at, from->at, (size_t)from->count * sizeof *to->at);
    return status;
}

void armilla_kept_free(armilla_context *context, armilla_kept *kept)
{
    armilla_release(context, kept->at);
    *kept = (armilla_kept){0};
}
