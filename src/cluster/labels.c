/* Classes of samples as numbers, from the texts that files, data and models hold. */
#include "cluster/cluster.h"

#include "base/sized.h"
#include "cluster/label_order.h"
#include "files/files.h"
#include "model/model.h"

/* values = the texts that differ in the order of their first occurrence, of which *differ is the number. */
static armilla_status tell_apart(armilla_context *context, const armilla_names *names, int64_t *values, int64_t *differ)
{
    armilla_names_index index = {.names = NULL};
    const armilla_status status = armilla_names_index_new(context, names, &index);
    *differ = 0;
    for (int64_t i = 0; i < names->count && status == ARMILLA_OK; i++) {
        const int64_t first = armilla_names_find(&index, armilla_names_at(names, i));
        values[i] = first < i ? values[first] : (*differ)++;
    }
    armilla_names_index_free(context, &index);
    return status;
}

/* The texts that differ get the numbers of their classes: in the order of labels, and what is missing one in common. */
static armilla_status order(armilla_context *context, const armilla_names *names, int64_t differ, armilla_labels *made)
{
    armilla_label *texts = NULL;
    int64_t *places = NULL, seen = 0;
    armilla_status status = armilla_take(context, differ, sizeof *texts, &texts);
    if (status == ARMILLA_OK) status = armilla_take(context, differ, sizeof *places, &places);
    for (int64_t i = 0; i < names->count && status == ARMILLA_OK; i++)
        if (made->values[i] == seen) texts[seen] = (armilla_label){armilla_names_at(names, i), seen, false, 0}, seen++;
    if (status == ARMILLA_OK) status = armilla_labels_sort(context, differ, texts);
    for (int64_t k = 0; k < differ && status == ARMILLA_OK; k++) {
        const bool new = k == 0 || armilla_label_compare(&texts[k - 1], &texts[k]) != 0;
        made->classes += new;
        places[texts[k].index] = made->classes - 1;
    }
    const bool some = status == ARMILLA_OK && differ > 0 && texts[differ - 1].missing;
    for (int64_t i = 0; i < names->count && status == ARMILLA_OK; i++) {
        made->values[i] = places[made->values[i]];
        made->missing += some && made->values[i] == made->classes - 1;
    }
    armilla_release(context, places);
    armilla_release(context, texts);
    return status;
}

/* Fills the program's struct, which has `size` bytes. */
static armilla_status number_names(armilla_context *context, const armilla_names *names, armilla_labels *labels,
                                   size_t size)
{
    armilla_labels made = {.count = names->count};
    int64_t differ = 0;
    armilla_status status = armilla_take(context, names->count, sizeof *made.values, &made.values);
    if (status == ARMILLA_OK) status = tell_apart(context, names, made.values, &differ);
    if (status == ARMILLA_OK) status = order(context, names, differ, &made);
    if (status == ARMILLA_OK)
        armilla_sized_write(&made, sizeof made, labels, size);
    else
        armilla_release(context, made.values);
    return status;
}

armilla_status armilla_labels_open_sized(armilla_context *context, const char *path, armilla_labels *labels,
                                         size_t size)
{
    armilla_label_file read = {.labels = {.count = 0}};
    armilla_status status = ARMILLA_NOT_NULL(context, path, labels);
    if (status == ARMILLA_OK) status = armilla_call_enter(context, 1);
    if (status != ARMILLA_OK) return status;
    armilla_call_stage(context, ARMILLA_STAGE_READING);
    status = armilla_labels_read(context, path, &read);
    if (status == ARMILLA_OK) status = number_names(context, &read.labels, labels, size);
    armilla_label_file_free(context, &read);
    armilla_call_leave(context);
    return status;
}

/* Reads the labels of two files, those of the second in the order of the first where both name their samples. */
static armilla_status read_pair(armilla_context *context, const char *const paths[2], armilla_label_file read[2])
{
    armilla_status status = armilla_labels_read(context, paths[0], &read[0]);
    if (status == ARMILLA_OK) status = armilla_labels_read(context, paths[1], &read[1]);
    const armilla_names *first = read[0].samples.count ? &read[0].samples : NULL;
    if (status == ARMILLA_OK) status = armilla_label_file_match(context, paths[1], first, &read[1]);
    if (status == ARMILLA_OK && first && !read[1].samples.count)
        status = armilla_label_file_match(context, paths[0], NULL, &read[0]);
    return status;
}

armilla_status armilla_labels_open_pair_sized(armilla_context *context, const char *path, const char *other,
                                              armilla_labels *labels, armilla_labels *others, size_t size)
{
    armilla_label_file read[2] = {{.labels = {.count = 0}}, {.labels = {.count = 0}}};
    armilla_status status = ARMILLA_NOT_NULL(context, path, other, labels, others);
    if (status == ARMILLA_OK) status = armilla_call_enter(context, 1);
    if (status != ARMILLA_OK) return status;
    armilla_call_stage(context, ARMILLA_STAGE_READING);
    status = read_pair(context, (const char *const[]){path, other}, read);
    if (status == ARMILLA_OK) status = number_names(context, &read[0].labels, labels, size);
    if (status == ARMILLA_OK) {
        status = number_names(context, &read[1].labels, others, size);
        if (status != ARMILLA_OK) armilla_labels_free(context, labels);
    }
    for (int k = 0; k < 2; k++) armilla_label_file_free(context, &read[k]);
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
