/* Labels of samples from a file of their own: IDX with one size (as MNIST has them) or a vector in an .npy, whose
 * numbers become text, or plain text with one label per line, or with names beside them (files/label_table.c).
 * Compressed by gzip or not. */
#include "files/array.h"
#include "files/files.h"

#include "base/number.h"

#include <string.h>

armilla_status armilla_labels_add_numbers(armilla_context *context, const armilla_array *array, armilla_names *names)
{
    const int64_t count = array->dimensions == 2 ? array->shape[0] * array->shape[1] : array->shape[0];
    const armilla_number *number = armilla_number_find(array->kind, array->width);
    const armilla_type type = armilla_type_precision(number->becomes);
    armilla_status status = ARMILLA_OK;
    for (int64_t i = 0; i < count && status == ARMILLA_OK; i++) {
        char text[ARMILLA_NUMBER_TEXT];
        double value = 0;
        number->fetch(array->values + i * array->width, array->swapped, 1, &value);
        const size_t length = armilla_shortest(type, value, text);
        status = armilla_names_add(context, names, text, length);
    }
    return status;
}

static armilla_status read_idx(armilla_context *context, const armilla_bytes *bytes, armilla_names *names)
{
    armilla_array array;
    armilla_status status = armilla_idx_parse(context, bytes, &array);
    if (status != ARMILLA_OK) return status;
    if (array.dimensions != 1)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: holds images, not labels; give the file that goes with it (labels-idx1-ubyte)",
                            bytes->path);
    return armilla_labels_add_numbers(context, &array, names);
}

static armilla_status read_npy(armilla_context *context, const armilla_bytes *bytes, armilla_names *names)
{
    armilla_array array;
    armilla_status status = armilla_array_parse(context, bytes->path, bytes->start, bytes->count, false, &array);
    if (status != ARMILLA_OK) return status;
    if (array.dimensions != 1)
        return armilla_fail(context, ARMILLA_BAD_DATA, "%s: labels are a vector; save labels.ravel()", bytes->path);
    return armilla_labels_add_numbers(context, &array, names);
}

/* Lines end with LF or CR LF; blanks at the end of a line and empty lines at the end of the file do not count. */
static armilla_status read_lines(armilla_context *context, const armilla_bytes *bytes, armilla_names *names)
{
    const char *at = (const char *)bytes->start, *end = at + bytes->count;
    armilla_status status = ARMILLA_OK;
    if (memchr(at, 0, bytes->count))
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: is no text file; give labels one per line, or as IDX or .npy", bytes->path);
    while (end > at && strchr(" \t\r\n", end[-1])) end--;
    while (at < end && status == ARMILLA_OK) {
        const char *stop = memchr(at, '\n', (size_t)(end - at)), *last = stop ? stop : end;
        while (last > at && strchr(" \t\r", last[-1])) last--;
        if (last == at)
            return armilla_fail(context, ARMILLA_BAD_DATA, "%s: line %lld is empty; give one label or name per line",
                                bytes->path, (long long)names->count + 1);
        status = armilla_names_add(context, names, at, (size_t)(last - at));
        at = stop ? stop + 1 : end;
    }
    return status;
}

static const struct kind {
    bool (*recognize)(const unsigned char *start, size_t count);
    armilla_status (*read)(armilla_context *context, const armilla_bytes *bytes, armilla_names *names);
} kinds[] = {{armilla_idx_recognize, read_idx}, {armilla_array_recognize, read_npy}, {NULL, read_lines}};

static armilla_status read_bytes(armilla_context *context, const armilla_bytes *bytes, armilla_names *names)
{
    for (size_t i = 0;; i++)
        if (!kinds[i].recognize || kinds[i].recognize(bytes->start, bytes->count))
            return kinds[i].read(context, bytes, names);
}

/* Text may have the names of samples beside their labels. */
static armilla_status read_labels(armilla_context *context, const armilla_bytes *bytes, armilla_label_file *read)
{
    bool found = false;
    armilla_status status = ARMILLA_OK;
    if (!memchr(bytes->start, 0, bytes->count)) status = armilla_label_table_read(context, bytes, read, &found);
    return status == ARMILLA_OK && !found ? read_bytes(context, bytes, &read->labels) : status;
}

/* read->samples stay empty unless `named`. */
static armilla_status read_file(armilla_context *context, const char *path, bool named, armilla_label_file *read)
{
    armilla_bytes bytes;
    armilla_label_file made = {.labels = {.count = 0}};
    armilla_status status = armilla_bytes_open(context, path, &bytes);
    if (status != ARMILLA_OK) return status;
    status = armilla_bytes_unpack(context, &bytes);
    if (status == ARMILLA_OK)
        status = named ? read_labels(context, &bytes, &made) : read_bytes(context, &bytes, &made.labels);
    if (armilla_call_stopped(context, NULL)) status = armilla_call_explain(context);
    if (status == ARMILLA_OK)
        *read = made;
    else
        armilla_label_file_free(context, &made);
    armilla_bytes_free(context, &bytes);
    return status;
}

armilla_status armilla_labels_read(armilla_context *context, const char *path, armilla_label_file *read)
{
    return read_file(context, path, true, read);
}

armilla_status armilla_data_read_labels(armilla_context *context, armilla_data *data, const char *path)
{
    armilla_status status = ARMILLA_NOT_NULL(context, data, path);
    if (status == ARMILLA_OK) status = armilla_call_enter(context, 1);
    if (status != ARMILLA_OK) return status;
    armilla_call_stage(context, ARMILLA_STAGE_READING);
    status = armilla_texts_attach(context, path, ARMILLA_SAMPLE_LABELS, data);
    armilla_call_leave(context);
    return status;
}

/* What the texts of a file are, what they belong to, and which field of a line with tabs is the one: of features the
 * second, as 10x writes its tables of identifiers and names. */
static const struct texts_kind {
    const char *texts, *text, *things, *thing;
    int column;
} texts_kinds[ARMILLA_NAMING_COUNT] = {
    [ARMILLA_FEATURE_NAMES] = {"names", "name", "features", "feature", 1},
    [ARMILLA_SAMPLE_NAMES] = {"names", "name", "samples", "sample", 0},
    [ARMILLA_SAMPLE_LABELS] = {"labels", "label", "samples", "sample", -1},
};

/* Fields of lines instead of lines, where the kind has them; the first where that one is empty or missing. */
static armilla_status pick_fields(armilla_context *context, int column, armilla_names *names)
{
    armilla_names picked = {.count = 0};
    armilla_status status = ARMILLA_OK;
    if (column < 0) return ARMILLA_OK;
    for (int64_t i = 0; i < names->count && status == ARMILLA_OK; i++) {
        const char *line = armilla_names_at(names, i), *field = line;
        for (int k = 0; k < column; k++) {
            field += strcspn(field, "\t");
            field += *field == '\t';
        }
        if (*field == '\t' || *field == '\0') field = line;
        status = armilla_names_add(context, &picked, field, strcspn(field, "\t"));
    }
    if (status != ARMILLA_OK) {
        armilla_names_free(context, &picked);
        return status;
    }
    armilla_names_free(context, names);
    *names = picked;
    return ARMILLA_OK;
}

/* The data may be transposed where the count is that of the other side. */
static armilla_status wrong_count(armilla_context *context, const char *path, armilla_naming kind, int64_t count,
                                  const int64_t sizes[2])
{
    const struct texts_kind *row = &texts_kinds[kind];
    const bool features = kind == ARMILLA_FEATURE_NAMES, other = count == sizes[features];
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "%s: has %lld %s, and the data have %lld %s%s%s%s; give one %s per %s", path, (long long)count,
                        row->texts, (long long)sizes[!features], row->things, other ? ", but as many " : "",
                        other ? (features ? "samples" : "features") : "",
                        other ? ": say which way they lie (" ARMILLA_FIELD("sample_columns rows or columns") ")" : "",
                        row->text, row->thing);
}

armilla_status armilla_texts_open(armilla_context *context, const char *path, armilla_naming kind,
                                  const int64_t sizes[2], const armilla_names *samples, armilla_names *names)
{
    const bool named = kind == ARMILLA_SAMPLE_LABELS;
    armilla_label_file read = {.labels = {.count = 0}};
    armilla_status status = read_file(context, path, named, &read);
    if (status == ARMILLA_OK && named) status = armilla_label_file_match(context, path, samples, &read);
    if (status == ARMILLA_OK && read.labels.count != sizes[kind != ARMILLA_FEATURE_NAMES])
        status = wrong_count(context, path, kind, read.labels.count, sizes);
    if (status == ARMILLA_OK) status = pick_fields(context, texts_kinds[kind].column, &read.labels);
    if (status == ARMILLA_OK) {
        *names = read.labels;
        read.labels = (armilla_names){.count = 0};
    }
    armilla_label_file_free(context, &read);
    return status;
}

armilla_status armilla_texts_attach(armilla_context *context, const char *path, armilla_naming kind, armilla_data *data)
{
    const int64_t sizes[2] = {data->m, data->n};
    armilla_names names = {.count = 0};
    armilla_status status =
        armilla_texts_open(context, path, kind, sizes, armilla_data_names(data, ARMILLA_SAMPLE_NAMES), &names);
    if (status == ARMILLA_OK) status = armilla_data_adopt_names(data, kind, "", &names);
    armilla_names_free(context, &names);
    return status;
}
