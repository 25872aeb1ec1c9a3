/* Labels beside the names of their samples: which of two columns has the names, and labels in the order of the samples. */
#include "files/fields.h"

#include "base/ascii.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Lines that are too few to tell names from labels by what is there twice. */
enum { FEW = 3 };

/* What headers call the samples, and their labels. */
static const char *const name_words[] = {"",      "sample", "samples", "id",      "sample_id", "name",
                                         "names", "cell",   "cells",   "cell_id", "barcode",   "barcodes",
                                         "index", "key",    "file",    NULL};
static const char *const label_words[] = {"cluster", "clusters",  "class",    "classes", "label",
                                          "labels",  "truth",     "target",   "group",   "type",
                                          "kind",    "cell_type", "category", "y",       NULL};

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (armilla_ascii_same(text, *words)) return true;
    return false;
}

/* *distinct = how many texts there are that differ, from the second on where the first is a header. */
static armilla_status count_distinct(armilla_context *context, const armilla_names *names, int64_t first,
                                     int64_t *distinct)
{
    armilla_names_index index = {.names = NULL};
    const armilla_status status = armilla_names_index_new(context, names, &index);
    *distinct = 0;
    for (int64_t i = first; i < names->count && status == ARMILLA_OK; i++) {
        const int64_t before = armilla_names_find(&index, armilla_names_at(names, i));
        *distinct += before == i;
    }
    armilla_names_index_free(context, &index);
    return status;
}

/* columns = the fields, where every record has two; *found is false else. */
static armilla_status split(armilla_context *context, const armilla_bytes *bytes, unsigned char separator,
                            armilla_names columns[2], bool *found)
{
    const armilla_dialect dialect = {.separator = separator, .multiline = true, .mark = '.'};
    armilla_span rest = {bytes->start, bytes->start + bytes->count}, record;
    armilla_status status = ARMILLA_OK;
    *found = true;
    while (*found && status == ARMILLA_OK && armilla_fields_next_record(&dialect, &rest, &record)) {
        const unsigned char *at = record.start;
        armilla_field field;
        *found = armilla_fields_count(&dialect, record) == 2;
        for (int k = 0; k < 2 && *found && status == ARMILLA_OK && armilla_fields_next(&dialect, record, &at, &field);
             k++)
            status = armilla_fields_add_name(context, field, &columns[k]);
    }
    *found = *found && columns[0].count > 0;
    return status;
}

static armilla_status refuse_two(armilla_context *context, const char *path)
{
    return armilla_fail(
        context, ARMILLA_BAD_DATA,
        "%s: has two columns, and both differ in every line: it is not clear which has the labels; write "
        "a first line sample,class, or give the labels alone, one per line",
        path);
}

/* *name = the column that names the samples; -1: none does, and lines are labels with a separator in them. */
static armilla_status choose(armilla_context *context, const char *path, const armilla_names columns[2], bool header,
                             int *name)
{
    const char *const heads[2] = {armilla_names_at(&columns[0], 0), armilla_names_at(&columns[1], 0)};
    const int64_t count = columns[0].count - header;
    int64_t distinct[2] = {0, 0};
    armilla_status status = ARMILLA_OK;
    for (int k = 0; k < 2 && status == ARMILLA_OK; k++)
        status = count_distinct(context, &columns[k], header, &distinct[k]);
    if (status != ARMILLA_OK) return status;
    *name = -1;
    if (header)
        *name = is_one_of(heads[0], label_words) && !is_one_of(heads[1], label_words);
    else if (count >= FEW && distinct[0] == count && distinct[1] == count)
        return refuse_two(context, path);
    else if (count >= FEW && (distinct[0] == count || distinct[1] == count))
        *name = distinct[1] == count;
    else if (distinct[0] > count - count / 10 && 2 * distinct[1] <= count)
        *name = 0; /* names, some of which are there twice */
    return status;
}

/* Both are words that headers have, as in `sample,cluster`. */
static bool is_header(const armilla_names columns[2])
{
    const char *const heads[2] = {armilla_names_at(&columns[0], 0), armilla_names_at(&columns[1], 0)};
    return (is_one_of(heads[0], name_words) && is_one_of(heads[1], label_words)) ||
           (is_one_of(heads[1], name_words) && is_one_of(heads[0], label_words));
}

/* The column without its header. */
static armilla_status take_column(armilla_context *context, const armilla_names *column, bool header, armilla_names *to)
{
    armilla_status status = ARMILLA_OK;
    for (int64_t i = header; i < column->count && status == ARMILLA_OK; i++) {
        const char *text = armilla_names_at(column, i);
        status = armilla_names_add(context, to, text, strlen(text));
    }
    return status;
}

armilla_status armilla_label_table_read(armilla_context *context, const armilla_bytes *bytes, armilla_label_file *read,
                                        bool *found)
{
    static const unsigned char separators[] = {',', ';', '\t'};
    armilla_names columns[2] = {{.count = 0}, {.count = 0}};
    armilla_status status = ARMILLA_OK;
    *found = false;
    for (size_t i = 0; i < sizeof separators && !*found && status == ARMILLA_OK; i++) {
        for (int k = 0; k < 2; k++) armilla_names_free(context, &columns[k]);
        status = split(context, bytes, separators[i], columns, found);
    }
    if (status == ARMILLA_OK && *found) {
        const bool header = is_header(columns);
        int name = -1;
        status = choose(context, bytes->path, columns, header, &name);
        *found = name >= 0;
        if (status == ARMILLA_OK && *found) status = take_column(context, &columns[name], header, &read->samples);
        if (status == ARMILLA_OK && *found) status = take_column(context, &columns[!name], header, &read->labels);
    }
    for (int k = 0; k < 2; k++) armilla_names_free(context, &columns[k]);
    return status;
}

static bool are_same(const armilla_names *a, const armilla_names *b)
{
    if (a->count != b->count) return false;
    for (int64_t i = 0; i < a->count; i++)
        if (strcmp(armilla_names_at(a, i), armilla_names_at(b, i)) != 0) return false;
    return true;
}

/* 1, 2, 3, ...: what the command writes where samples have no names. */
static bool are_counted(const armilla_names *names)
{
    for (int64_t i = 0; i < names->count; i++) {
        char number[24];
        snprintf(number, sizeof number, "%" PRId64, i + 1);
        if (strcmp(armilla_names_at(names, i), number) != 0) return false;
    }
    return true;
}

/* The first text that is there a second time; NULL: none. */
static const char *find_twice(const armilla_names_index *index)
{
    for (int64_t i = 0; i < index->names->count; i++)
        if (armilla_names_find(index, armilla_names_at(index->names, i)) != i) return armilla_names_at(index->names, i);
    return NULL;
}

#define OTHERWISE "or give the labels alone, one per line in the order of the samples"

/* ARMILLA_BAD_DATA where names do not say which label is whose. */
static armilla_status check_names(armilla_context *context, const char *path, const armilla_names_index *file,
                                  const armilla_names_index *data)
{
    const char *twice = find_twice(file), *unknown = NULL;
    int64_t strangers = 0;
    if (twice)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: has more than one label of sample '%s'; give it one, " OTHERWISE, path, twice);
    twice = find_twice(data);
    if (twice)
        return armilla_fail(
            context, ARMILLA_BAD_DATA,
            "%s: labels cannot be matched by name, since more than one sample is called '%s'; give each "
            "its own name, " OTHERWISE,
            path, twice);
    for (int64_t i = file->names->count - 1; i >= 0; i--)
        if (armilla_names_find(data, armilla_names_at(file->names, i)) < 0) {
            unknown = armilla_names_at(file->names, i);
            strangers++;
        }
    if (!unknown) return ARMILLA_OK;
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "%s: has a label of '%s', and no sample is called that (%" PRId64 " of its %" PRId64
                        " names are unknown); check that it belongs to these samples, " OTHERWISE,
                        path, unknown, strangers, file->names->count);
}

/* labels = those of the samples in their order; a sample that the file does not name has none. */
static armilla_status order_labels(armilla_context *context, const armilla_names_index *file,
                                   const armilla_names *samples, armilla_names *labels)
{
    armilla_names ordered = {.count = 0};
    armilla_status status = ARMILLA_OK;
    for (int64_t i = 0; i < samples->count && status == ARMILLA_OK; i++) {
        const int64_t place = armilla_names_find(file, armilla_names_at(samples, i));
        const char *text = place < 0 ? "" : armilla_names_at(labels, place);
        status = armilla_names_add(context, &ordered, text, strlen(text));
    }
    if (status == ARMILLA_OK) armilla_names_free(context, labels);
    if (status == ARMILLA_OK)
        *labels = ordered;
    else
        armilla_names_free(context, &ordered);
    return status;
}

armilla_status armilla_label_file_match(armilla_context *context, const char *path, const armilla_names *samples,
                                        armilla_label_file *read)
{
    armilla_names_index file = {.names = NULL}, data = {.names = NULL};
    if (read->samples.count == 0 || (samples && are_same(samples, &read->samples))) return ARMILLA_OK;
    if (!samples) {
        if (!are_counted(&read->samples))
            armilla_log(context, ARMILLA_LOG_WARNING,
                        "%s: its names are not used, since there are none to compare them with: labels belong to the "
                        "samples in their order",
                        path);
        return ARMILLA_OK;
    }
    armilla_status status = armilla_names_index_new(context, &read->samples, &file);
    if (status == ARMILLA_OK) status = armilla_names_index_new(context, samples, &data);
    if (status == ARMILLA_OK) status = check_names(context, path, &file, &data);
    if (status == ARMILLA_OK) status = order_labels(context, &file, samples, &read->labels);
    armilla_names_index_free(context, &data);
    armilla_names_index_free(context, &file);
    return status;
}

void armilla_label_file_free(armilla_context *context, armilla_label_file *read)
{
    armilla_names_free(context, &read->labels);
    armilla_names_free(context, &read->samples);
}
