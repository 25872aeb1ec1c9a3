/* Some features and samples of other data. Samples of dense data are a view: a panel of neighbours is the wrapped
 * data's own, one of others is gathered as it is loaded. Everything else is a copy of what was kept. */
#include "data/keep.h"

#include "base/size.h"
#include "data/gathered.h"
#include "data/sparse.h"

#include <string.h>

/* How many columns of inner follow each other from there. */
static int64_t run_from(const int64_t *columns, int64_t count)
{
    int64_t run = 1;
    while (run < count && columns[run] == columns[0] + run) run++;
    return run;
}

/* What the same thread will want next, as columns of inner: a hint, which need not be all of it. */
static void look_ahead(const armilla_gathered *X, const armilla_panel *panel, armilla_panel *part)
{
    part->next_count = 0;
    part->next = part->first;
    part->until = part->then = 0;
    if (panel->next_count <= 0 || panel->next >= X->data.n) return;
    part->next = X->places[panel->next];
    part->next_count = run_from(X->places + panel->next, panel->next_count);
}

static armilla_status load(armilla_panel *panel, void *space)
{
    const armilla_gathered *X = armilla_gathered_of(panel->data);
    const int64_t *columns = X->places + panel->first, m = X->data.m;
    const size_t size = armilla_type_size(panel->kernels->type);
    char *gathered = space,
         *inner_space = gathered + armilla_gathered_bytes(&X->data, panel->kernels->type, panel->count);
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

#define STORAGE(name, type, word, numpy) [name] = ("dense " word),

static const armilla_data_ops selected_ops = {
    .storage = {ARMILLA_TYPE_LIST(STORAGE)},
    .workspace = armilla_gathered_workspace,
    .load = load,
    .products = armilla_panel_products,
    .accumulate = armilla_panel_accumulate,
    .gather = armilla_panel_gather,
    .expand = armilla_panel_expand,
    .free = armilla_gathered_free,
};

static armilla_status make_view(armilla_context *context, const armilla_data *X, const armilla_kept *samples,
                                armilla_data **data)
{
    armilla_gathered *made = NULL;
    const armilla_status status = armilla_gathered_new(context, X, &selected_ops, samples, &made);
    if (status != ARMILLA_OK) return status;
    made->data.n = samples->count;
    *data = &made->data;
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
                                ? make_view(context, X, samples, &made)
                                : armilla_data_copy(context, X, features, samples, &made);
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
