/* Features in another order: of dense data a view, whose columns are gathered as they are loaded; of sparse data a copy,
 * because each column has to be sorted again. */
#include "data/pick.h"

#include "base/size.h"
#include "data/gathered.h"
#include "data/sparse.h"

#include <string.h>

/* One column: to = the picked numbers of from (zeros where a place is -1), each of `size` bytes. */
static void gather(const armilla_gathered *X, size_t size, const char *from, char *to)
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
    const armilla_gathered *X = armilla_gathered_of(panel->data);
    const size_t size = armilla_type_size(panel->kernels->type), column = (size_t)X->data.m * size;
    char *gathered = space,
         *inner_space = gathered + armilla_gathered_bytes(&X->data, panel->kernels->type, panel->count);
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

static const armilla_data_ops picked_ops = {
    .storage = {ARMILLA_TYPE_LIST(STORAGE)},
    .workspace = armilla_gathered_workspace,
    .load = load,
    .products = armilla_panel_products,
    .accumulate = armilla_panel_accumulate,
    .gather = armilla_panel_gather,
    .expand = armilla_panel_expand,
    .free = armilla_gathered_free,
};

static armilla_status make_view(armilla_context *context, const armilla_data *X, const armilla_kept *features,
                                armilla_data **data)
{
    armilla_gathered *made = NULL;
    const armilla_status status = armilla_gathered_new(context, X, &picked_ops, features, &made);
    if (status != ARMILLA_OK) return status;
    made->data.m = features->count;
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
