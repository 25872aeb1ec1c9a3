/* What a file may mean otherwise than it was read: numbers that are names, measurements that are labels, samples that
 * look like comments, and separators of thousands. Doubts become warnings that name the option which decides. */
#ifndef ARMILLA_FILES_DOUBTS_H
#define ARMILLA_FILES_DOUBTS_H

#include "files/table_columns.h"

/* Rows of a table as they were read: `numbers` values each, those of the columns that hold numbers. */
typedef struct armilla_table_values {
    const double *values;
    int64_t rows, numbers;
} armilla_table_values;

/* Warns of a column that looks like the rows' ids and was taken for numbers, unless the options say which column has the
 * names. */
armilla_status armilla_doubt_ids(const armilla_text *text, const armilla_table_columns *columns,
                                 const armilla_table_values *table);

/* How many lines begin with # and have as many fields as the table: comments to the reader, names to whoever wrote them.
 * Then the warning of all that were found. */
int64_t armilla_doubt_comments(const armilla_table_columns *columns, armilla_span text);
void armilla_doubt_tell_comments(const armilla_text *text, int64_t count);

/* Warns where the data's labels are numbers of which hardly two are equal: measurements, in all likelihood. */
armilla_status armilla_doubt_labels(armilla_context *context, const char *path, const armilla_data *data);

/* Warns that every decimal mark of the table may separate thousands. */
void armilla_doubt_mark(const armilla_text *text, const armilla_dialect *dialect);

/* Whether the field is a number whose digits are in groups of three, such as 1,234 or 1'234.5. */
bool armilla_doubt_thousands(const armilla_field *field);

#endif
