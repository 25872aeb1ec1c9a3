/* Some features and samples of other data, and its features in another order. Samples of dense data are a view: a panel of
 * neighbours is the wrapped data's own, one of others is gathered as it is loaded. Dense features in another order are a
 * view too. Everything else is a copy: each sparse column has to be sorted again. */
#include "data/keep.h"

#include "base/size.h"
#include "data/sparse.h"

#include <string.h>

typedef struct selection {
    armilla_data data;
    const armilla_data *inner;
    int64_t *places; /* in inner, one for each of ours */
} selection;

/* The workspace begins with the gathered columns, then follows that of inner. */
static size_t gathered_bytes(const armilla_data *X, armilla_type work, int64_t width)
{
    return armilla_padded((size_t)(X->m * width) * armilla_type_size(work));
}

static size_t workspace(const armilla_data *X, armilla_type work, int64_t width)
{
    const armilla_data *inner = ((const selection *)X)->inner;
    return gathered_bytes(X, work, width) + inner->ops->workspace(inner, work, width);
}

static void free_selection(armilla_data *data)
{
    armilla_release(data->context, ((selection *)data)->places);
    armilla_release(data->context, data);
}

/* How many columns of inner follow each other from there. */
static int64_t run_from(const int64_t *columns, int64_t count)
{
    int64_t run = 1;
    while (run < count && columns[run] == columns[0] + run) run++;
    return run;
}

/* What the same thread will want next, as columns of inner: a hint, which need not be all of it. */
static void look_ahead(const selection *X, const armilla_panel *panel, armilla_panel *part)
{
    part->next_count = 0;
    part->next = part->first;
    part->until = part->then = 0;
    if (panel->next_count <= 0 || panel->next >= X->data.n) return;
    part->next = X->places[panel->next];
    part->next_count = run_from(X->places + panel->next, panel->next_count);
}

static armilla_status load_samples(armilla_panel *panel, void *space)
{
    const selection *X = (const selection *)panel->data;
    const int64_t *columns = X->places + panel->first, m = X->data.m;
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

/* One column: to = the picked numbers of from (zeros where a place is -1), each of `size` bytes. */
static void gather(const selection *X, size_t size, const char *from, char *to)
{
    for (int64_t i = 0; i < X->data.m; i++, to += size) {
        const int64_t place = X->places[i];
        if (place < 0)
            memset(to, 0, size);
        else if (size == sizeof(float))
            memcpy(to, from + (size_t)place * sizeof(float), sizeof(float));
        else
            memcpy(to, from + (size_t)place * size, size);
    }
}

static armilla_status load_features(armilla_panel *panel, void *space)
{
    const selection *X = (const selection *)panel->data;
    const size_t size = armilla_type_size(panel->kernels->type), column = (size_t)X->data.m * size;
    char *gathered = space, *inner_space = gathered + gathered_bytes(&X->data, panel->kernels->type, panel->count);
    armilla_panel part = *panel;
    part.data = X->inner;
    const armilla_status status = X->inner->ops->load(&part, inner_space);
    if (status != ARMILLA_OK) return status;
    for (int64_t j = 0; j < panel->count; j++)
        gather(X, size, (const char *)part.columns + (size_t)(j * part.stride) * size, gathered + (size_t)j * column);
    panel->columns = gathered;
    panel->stride = X->data.m;
    panel->ahead = part.ahead;
    panel->ahead_bytes = part.ahead_bytes;
    return ARMILLA_OK;
}

#define STORAGE(name, type, word, numpy) [name] = ("dense " word),
#define VIEW(how)                                                                                                      \
    {                                                                                                                  \
        .storage = {ARMILLA_TYPE_LIST(STORAGE)}, .workspace = workspace, .load = how, ARMILLA_DENSE_PANELS,            \
        .free = free_selection                                                                                         \
    }
static const armilla_data_ops by_samples = VIEW(load_samples), by_features = VIEW(load_features);

/* A view of what is kept; its shape is still that of X. */
static armilla_status make_view(armilla_context *context, const armilla_data *X, const armilla_data_ops *ops,
                                const armilla_kept *kept, armilla_data **data)
{
    armilla_kept copy = {0};
    selection *view = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *view, &view);
    if (status == ARMILLA_OK) status = armilla_kept_copy(context, kept, &copy);
    if (status != ARMILLA_OK) {
        armilla_release(context, view);
        return status;
    }
    armilla_data_view(&view->data, X, ops, context);
    view->inner = X;
    view->places = copy.at;
    *data = &view->data;
    return ARMILLA_OK;
}

/* Names of what was kept. */
static armilla_status keep_names(const armilla_data *X, const armilla_kept *kept, armilla_naming kind,
                                 armilla_data *data)
{
    armilla_names names = {0};
    armilla_status status = ARMILLA_OK;
    if (!armilla_data_names(X, kind)) return ARMILLA_OK;
    for (int64_t i = 0; i < kept->count && status == ARMILLA_OK; i++) {
        const char *name = armilla_data_name(X, kind, armilla_kept_place(kept, i));
        status = armilla_names_add(data->context, &names, name, strlen(name));
    }
    if (status == ARMILLA_OK) status = armilla_data_adopt_names(data, kind, "", &names);
    armilla_names_free(data->context, &names);
    return status;
}

/* The selection in terms of the data that X was selected from, where X is a selection itself. */
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
    armilla_status status = !armilla_sparse_of(X) && !features->at && samples->at
                                ? make_view(context, X, &by_samples, samples, &made)
                                : armilla_data_copy(context, X, features, samples, &made);
    if (status == ARMILLA_OK) made->n = samples->count;
    if (status == ARMILLA_OK) status = keep_names(X, features, ARMILLA_FEATURE_NAMES, made);
    if (status == ARMILLA_OK) status = keep_names(X, samples, ARMILLA_SAMPLE_NAMES, made);
    if (status == ARMILLA_OK) status = keep_names(X, samples, ARMILLA_SAMPLE_LABELS, made);
    if (status == ARMILLA_OK) memcpy(made->image, X->image, sizeof made->image);
    for (int i = 0; i < ARMILLA_KEPT_COUNT && status == ARMILLA_OK; i++)
        status = note_kept(&X->kept[i], both[i], context, &made->kept[i]);
    if (status == ARMILLA_OK)
        *data = made;
    else
        armilla_data_free(made);
    return status;
}

armilla_status armilla_data_pick(armilla_context *context, const armilla_data *X, const int64_t *places, int64_t m,
                                 armilla_data **data)
{
    const armilla_kept all = {NULL, X->n, X->n}, features = {(int64_t *)(uintptr_t)places, m, X->m}; /* only read */
    armilla_data *made = NULL;
    armilla_status status = armilla_sparse_of(X) ? armilla_data_copy(context, X, &features, &all, &made)
                                                 : make_view(context, X, &by_features, &features, &made);
    if (status == ARMILLA_OK) made->m = m;
    for (int kind = ARMILLA_SAMPLE_NAMES; kind < ARMILLA_NAMING_COUNT && status == ARMILLA_OK; kind++)
        status = armilla_names_copy(context, armilla_data_names(X, (armilla_naming)kind), &made->names[kind]);
    if (status == ARMILLA_OK)
        status = armilla_kept_copy(context, &X->kept[ARMILLA_KEPT_SAMPLES], &made->kept[ARMILLA_KEPT_SAMPLES]);
    if (status == ARMILLA_OK)
        *data = made;
    else
        armilla_data_free(made);
    return status;
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
