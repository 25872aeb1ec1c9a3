/* What the writer and the reader of model files share (docs/model-file.md). */
#ifndef ARMILLA_MODEL_RECORD_H
#define ARMILLA_MODEL_RECORD_H

#include "model/model.h"

#include <jansson.h>

enum { ARMILLA_MODEL_FORMAT = 1, ARMILLA_TRACE_COLUMNS = 6 };

/* The columns of the trace, in the file and in CSV. */
typedef struct armilla_trace_column {
    const char *array;
    size_t offset;
} armilla_trace_column;
extern const armilla_trace_column armilla_trace_columns[ARMILLA_TRACE_COLUMNS];
double *armilla_trace_number(armilla_trace_entry *entry, size_t column);

/* What was kept of the data that the fit's were chosen from. */
typedef struct armilla_kept_array {
    const char *array, *size; /* the size stands in the record, under "kept_from" */
} armilla_kept_array;
extern const armilla_kept_array armilla_kept_arrays[ARMILLA_KEPT_COUNT];

/* The text as a JSON string. File names need not be UTF-8, JSON must be: other bytes become '?'. */
json_t *armilla_json_text(const char *text);

/* What the record (the file's `meta`) says goes into the model, once every member is of its kind and in its range:
 * else ARMILLA_BAD_DATA, with the member in the text. */
armilla_status armilla_record_read(armilla_context *context, const char *path, const char *text, armilla_model *model);

/* Whether the text is a JSON object whose members are texts or null. */
bool armilla_record_of_texts(const char *text);

#endif
