/* Classes of samples as numbers, from the texts that files, data and models hold. */
#include "cluster/cluster.h"

#include "base/sized.h"
#include "files/files.h"
#include "model/model.h"

/* Fills the program's struct, which has `size` bytes. */
static armilla_status number_names(armilla_context *context, const armilla_names *names, armilla_labels *labels,
                                   size_t size)
{
    armilla_labels made = {.count = names->count};
    armilla_names_index index = {.names = NULL};
    armilla_status status = armilla_names_index_new(context, names, &index);
    if (status == ARMILLA_OK) status = armilla_take(context, names->count, sizeof *made.values, &made.values);
    for (int64_t i = 0; i < names->count && status == ARMILLA_OK; i++) {
        const int64_t first = armilla_names_find(&index, armilla_names_at(names, i));
        made.values[i] = first < i ? made.values[first] : made.classes++;
    }
    armilla_names_index_free(context, &index);
    if (status == ARMILLA_OK)
        armilla_sized_write(&made, sizeof made, labels, size);
    else
        armilla_release(context, made.values);
    return status;
}

armilla_status armilla_labels_open_sized(armilla_context *context, const char *path, armilla_labels *labels,
                                         size_t size)
{
    armilla_names names = {.count = 0};
    armilla_status status = ARMILLA_NOT_NULL(context, path, labels);
    if (status == ARMILLA_OK) status = armilla_call_enter(context, 1);
    if (status != ARMILLA_OK) return status;
    armilla_call_stage(context, ARMILLA_STAGE_READING);
    status = armilla_labels_read(context, path, &names);
    if (status == ARMILLA_OK) status = number_names(context, &names, labels, size);
    armilla_names_free(context, &names);
    armilla_call_leave(context);
    return status;
}

armilla_status armilla_labels_of_data_sized(armilla_context *context, const armilla_data *data, armilla_labels *labels,
                                            size_t size)
{
    const armilla_status status = ARMILLA_NOT_NULL(context, data, labels);
    if (status != ARMILLA_OK) return status;
    const armilla_names *names = armilla_data_names(data, ARMILLA_SAMPLE_LABELS);
    return names ? number_names(context, names, labels, size) : ARMILLA_OK;
}

armilla_status armilla_labels_of_model_sized(armilla_context *context, const armilla_model *model,
                                             armilla_labels *labels, size_t size)
{
    const armilla_status status = ARMILLA_NOT_NULL(context, model, labels);
    if (status != ARMILLA_OK) return status;
    const armilla_names *names = &model->names[ARMILLA_SAMPLE_LABELS];
    return names->count > 0 ? number_names(context, names, labels, size) : ARMILLA_OK;
}

void armilla_labels_free(armilla_context *context, armilla_labels *labels)
{
    if (!context || !labels) return;
    armilla_release(context, labels->values);
    labels->values = NULL;
    labels->count = labels->classes = 0;
}
