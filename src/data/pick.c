/* Features in another order: of dense data a view, whose columns are gathered as they are loaded; of sparse data a copy,
 * because each column has to be sorted again. */
#include "data/pick.h"

#include "base/size.h"
#include "data/sparse.h"

#include <string.h>

typedef struct picked {
    armilla_data data;
    const armilla_data *inner;
    int64_t *places; /* of inner, one for each of our features; -1: zeros */
} picked;

static const picked *as_picked(const armilla_data *X)
{
    return (const picked *)X;
}

static size_t gathered_bytes(const armilla_data *X, armilla_type work, int64_t width)
{
    return ((size_t)(X->m * width) * armilla_type_size(work) + ARMILLA_LINE - 1) / ARMILLA_LINE * ARMILLA_LINE;
}

static size_t workspace(const armilla_data *X, armilla_type work, int64_t width)
{
    const armilla_data *inner = as_picked(X)->inner;
    return gathered_bytes(X, work, width) + inner->ops->workspace(inner, work, width);
}

/* Column by column: to = the picked numbers of from, each of `size` bytes. */
static void gather(const picked *X, size_t size, const char *from, char *to)
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

static armilla_status load(armilla_panel *panel, void *space)
{
    const picked *X = as_picked(panel->data);
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

static void free_picked(armilla_data *data)
{
    armilla_release(data->context, ((picked *)data)->places);
    armilla_release(data->context, data);
}

#define STORAGE(name, type, word, numpy) [name] = "dense " word,

static const armilla_data_ops picked_ops = {
    .storage = {ARMILLA_TYPE_LIST(STORAGE)},
    .workspace = workspace,
    .load = load,
    .products = armilla_panel_products,
    .accumulate = armilla_panel_accumulate,
    .gather = armilla_panel_gather,
    .expand = armilla_panel_expand,
    .free = free_picked,
};

static armilla_status make_view(armilla_context *context, const armilla_data *X, const armilla_kept *features,
                                armilla_data **data)
{
    armilla_kept copy = {0};
    picked *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status == ARMILLA_OK) status = armilla_kept_copy(context, features, &copy);
    if (status != ARMILLA_OK) {
        armilla_release(context, made);
        return status;
    }
    armilla_data_view(&made->data, X, &picked_ops, context);
    made->data.m = features->count;
    made->inner = X;
    made->places = copy.at;
    *data = &made->data;
    return ARMILLA_OK;
}

armilla_status armilla_data_pick(armilla_context *context, const armilla_data *X, const int64_t *places, int64_t m,
                                 armilla_data **data)
{
    const armilla_kept all = {NULL, X->n, X->n};
    armilla_kept features = {NULL, m, X->m};
    armilla_data *made = NULL;
    armilla_status status = armilla_take(context, m, sizeof *features.at, &features.at);
    if (status != ARMILLA_OK) return status;
    memcpy(features.at, places, (size_t)m * sizeof *places);
    status = armilla_sparse_of(X) ? armilla_data_copy(context, X, &features, &all, &made)
                                  : make_view(context, X, &features, &made);
    for (int kind = ARMILLA_SAMPLE_NAMES; kind < ARMILLA_NAMING_COUNT && status == ARMILLA_OK; kind++)
        status = armilla_names_copy(context, armilla_data_names(X, (armilla_naming)kind), &made->names[kind]);
    if (status == ARMILLA_OK)
        status = armilla_kept_copy(context, &X->kept[ARMILLA_KEPT_SAMPLES], &made->kept[ARMILLA_KEPT_SAMPLES]);
    armilla_kept_free(context, &features);
    if (status == ARMILLA_OK)
        *data = made;
    else
        armilla_data_free(made);
    return status;
}
