/* Dense data whose columns a caller's function fills: rows of a database, slices of an HDF5 array, pictures that are
 * decoded when they are wanted. Nothing is kept of them but what a panel holds. */
#include "data/data.h"

#include "base/size.h"
#include "base/sized.h"

#include <inttypes.h>
#include <pthread.h>

typedef struct sourced {
    armilla_data data;
    armilla_data_source source;
    pthread_mutex_t turn; /* of a source that is called from one thread at a time */
} sourced;

/* The columns in the source's type, then in the working type where that is another. */
static size_t filled_bytes(const armilla_data *X, int64_t width)
{
    return armilla_padded((size_t)(X->m * width) * armilla_type_size(X->type));
}

static size_t workspace(const armilla_data *X, armilla_type work, int64_t width)
{
    return filled_bytes(X, width) + (X->type == work ? 0 : (size_t)(X->m * width) * armilla_type_size(work));
}

/* ARMILLA_BAD_DATA and ARMILLA_STOPPED would be answered as if they were ours. */
static armilla_status explain(const armilla_panel *panel, armilla_status status, const char *message)
{
    return armilla_fail(panel->context, status == ARMILLA_NO_MEMORY ? status : ARMILLA_IO_ERROR,
                        "samples %" PRId64 " to %" PRId64 " (counted from 1) could not be read: %s", panel->first + 1,
                        panel->first + panel->count, message[0] ? message : "their source gives no reason");
}

static armilla_status fill(const armilla_panel *panel, void *columns)
{
    const sourced *X = (const sourced *)panel->data;
    const armilla_data_source *s = &X->source;
    pthread_mutex_t *turn = (pthread_mutex_t *)(uintptr_t)&X->turn;
    char message[ARMILLA_SOURCE_MESSAGE] = "";
    if (s->serial) pthread_mutex_lock(turn);
    const armilla_status status = s->fill(s->self, panel->first, panel->count, columns, s->m, message);
    if (s->serial) pthread_mutex_unlock(turn);
    message[sizeof message - 1] = '\0';
    return status == ARMILLA_OK ? ARMILLA_OK : explain(panel, status, message);
}

static armilla_status load(armilla_panel *panel, void *space)
{
    const armilla_data *X = panel->data;
    const armilla_type work = panel->kernels->type;
    const armilla_status status = fill(panel, space);
    char *converted = (char *)space + filled_bytes(X, panel->count);
    if (status != ARMILLA_OK) return status;
    panel->columns = space;
    panel->stride = X->m;
    panel->ahead = space; /* nothing to be fetched into the cache: a source with read-ahead would look at panel->next */
    panel->ahead_bytes = 0;
    if (X->type == work) return ARMILLA_OK;
    panel->kernels->convert[X->type](X->m * panel->count, space, converted);
    panel->columns = converted;
    return ARMILLA_OK;
}

static void free_sourced(armilla_data *data)
{
    sourced *X = (sourced *)data;
    pthread_mutex_destroy(&X->turn);
    if (X->source.close) X->source.close(X->source.self);
    armilla_release(data->context, X);
}

#define STORAGE(name, type, word, numpy) [name] = ("source of dense " word),

static const armilla_data_ops sourced_ops = {
    .storage = {ARMILLA_TYPE_LIST(STORAGE)},
    .workspace = workspace,
    .load = load,
    ARMILLA_DENSE_PANELS,
    .free = free_sourced,
};

static armilla_status check_source(armilla_context *context, const armilla_data_source *source)
{
    if (!source->fill) return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "data source: fill is NULL");
    if ((unsigned)source->type >= ARMILLA_TYPE_COUNT)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "data source: the number type %d is unknown",
                            (int)source->type);
    return armilla_data_check_shape(context, "", source->m, source->n);
}

void armilla_data_source_default_sized(armilla_data_source *source, size_t size)
{
    const armilla_data_source none = {.type = ARMILLA_F64};
    armilla_sized_begin(&none, sizeof none, source, size);
}

armilla_status armilla_data_from_source(armilla_context *context, const armilla_data_source *source,
                                        armilla_data **data)
{
    armilla_data_source whole;
    sourced *made = NULL;
    armilla_data_source_default(&whole);
    armilla_status status = ARMILLA_NOT_NULL(context, source, data);
    if (status == ARMILLA_OK) status = armilla_sized_read(context, "armilla_data_source", source, &whole, sizeof whole);
    if (status == ARMILLA_OK) status = check_source(context, &whole);
    if (status == ARMILLA_OK) status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    if (pthread_mutex_init(&made->turn, NULL) != 0) {
        armilla_release(context, made);
        return armilla_fail(context, ARMILLA_NO_MEMORY, "out of memory for the lock of a data source");
    }
    made->data =
        (armilla_data){.ops = &sourced_ops, .context = context, .type = whole.type, .m = whole.m, .n = whole.n};
    made->source = whole;
    size_t bytes = 0; /* of all samples, which need not be in memory at once */
    const bool counted = armilla_size_multiply(whole.m * whole.n, armilla_type_size(whole.type), &bytes);
    armilla_memory_add_input(context, counted ? (int64_t)bytes : INT64_MAX);
    *data = &made->data;
    return ARMILLA_OK;
}
