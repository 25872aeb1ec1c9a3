/* Dense storage: numbers of any type, one sample after another, in borrowed, owned or mapped memory. */
#include "base/size.h"
#include "data/data.h"

#include <inttypes.h>
#include <stdint.h>
#include <sys/mman.h>

typedef struct dense {
    armilla_data data;
    const char *values;
    int64_t stride; /* elements between samples */
    void *owned;    /* released with the object; NULL where borrowed or mapped */
    void *map;      /* unmapped with the object; NULL where not mapped */
    size_t map_bytes;
} dense;

static size_t workspace(const armilla_data *X, armilla_type work, int64_t width)
{
    return X->type == work ? 0 : (size_t)(X->m * width) * armilla_type_size(work);
}

static armilla_status load(armilla_panel *panel, void *space)
{
    const dense *X = (const dense *)panel->data;
    const armilla_type work = panel->kernels->type;
    const int64_t m = X->data.m, column_bytes = X->stride * (int64_t)armilla_type_size(X->data.type);
    const char *start = X->values + panel->first * column_bytes;
    panel->ahead = X->values + panel->next * column_bytes;
    panel->ahead_bytes = panel->next_count * column_bytes;
    if (X->data.type == work) {
        panel->columns = start;
        panel->stride = X->stride;
        panel->ahead_stride = X->stride;
        return ARMILLA_OK;
    }
    for (int64_t j = 0; j < panel->count; j++)
        panel->kernels->convert[X->data.type](m, start + j * column_bytes,
                                              (char *)space + (size_t)(j * m) * armilla_type_size(work));
    panel->columns = space;
    panel->stride = m;
    return ARMILLA_OK;
}

static void free_dense(armilla_data *data)
{
    dense *X = (dense *)data;
    armilla_release(data->context, X->owned);
    if (X->map) munmap(X->map, X->map_bytes);
    armilla_release(data->context, X);
}

#define STORAGE(name, type, word, numpy) [name] = ("dense " word),

static const armilla_data_ops dense_ops = {
    .storage = {ARMILLA_TYPE_LIST(STORAGE)},
    .workspace = workspace,
    .load = load,
    ARMILLA_DENSE_PANELS,
    .free = free_dense,
};

/* The object that `form` describes but for its table and context, as long as the numbers fit what it says of them. */
static armilla_status new_dense(armilla_context *context, const dense *form, armilla_data **data)
{
    const armilla_type type = form->data.type;
    const int64_t m = form->data.m, n = form->data.n, stride = form->stride;
    dense *made = NULL;
    int64_t span = 0;
    size_t bytes = 0;
    armilla_status status = armilla_data_check_shape(context, "", m, n);
    if (status != ARMILLA_OK) return status;
    if ((unsigned)type >= ARMILLA_TYPE_COUNT)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "data: the number type %d is unknown", (int)type);
    if (!form->values) return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "data: the values are NULL");
    if (stride < m || !armilla_size_area(stride, n, &span) ||
        !armilla_size_multiply(span, armilla_type_size(type), &bytes))
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            "data: a stride of %" PRId64 " does not fit %" PRId64 " features and %" PRId64 " samples",
                            stride, m, n);
    if ((uintptr_t)form->values % armilla_type_size(type) != 0)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "data: the values are not aligned to their type");
    status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    *made = *form;
    made->data.ops = &dense_ops;
    made->data.context = context;
    *data = &made->data;
    return ARMILLA_OK;
}

armilla_status armilla_data_wrap_dense(armilla_context *context, armilla_type type, const void *values, int64_t m,
                                       int64_t n, int64_t stride, armilla_data **data)
{
    const dense form = {.data = {.type = type, .m = m, .n = n}, .values = values, .stride = stride};
    armilla_status status = ARMILLA_NOT_NULL(context, values, data);
    if (status == ARMILLA_OK) status = new_dense(context, &form, data);
    if (status == ARMILLA_OK) armilla_memory_add_input(context, m * n * (int64_t)armilla_type_size(type));
    return status;
}

armilla_status armilla_data_borrow_dense(armilla_context *context, armilla_type type, const void *values, int64_t m,
                                         int64_t n, armilla_data **data)
{
    const dense form = {.data = {.type = type, .m = m, .n = n}, .values = values, .stride = m};
    return new_dense(context, &form, data);
}

armilla_status armilla_data_own_dense(armilla_context *context, armilla_type type, void *values, int64_t m, int64_t n,
                                      armilla_data **data)
{
    const dense form = {.data = {.type = type, .m = m, .n = n}, .values = values, .stride = m, .owned = values};
    return new_dense(context, &form, data);
}

armilla_status armilla_data_map_dense(armilla_context *context, armilla_type type, const armilla_mapped *mapped,
                                      int64_t m, int64_t n, armilla_data **data)
{
    const dense form = {.data = {.type = type, .m = m, .n = n},
                        .values = mapped->values,
                        .stride = mapped->stride ? mapped->stride : m,
                        .map = mapped->start,
                        .map_bytes = mapped->bytes};
    return new_dense(context, &form, data);
}

const void *armilla_data_dense(const armilla_data *data, int64_t *stride)
{
    if (data->ops != &dense_ops) return NULL;
    *stride = ((const dense *)data)->stride;
    return ((const dense *)data)->values;
}
