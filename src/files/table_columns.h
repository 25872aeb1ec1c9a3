/* What the columns of a table are: numbers, names or labels; and whether its first record is a header. */
#ifndef ARMILLA_FILES_TABLE_COLUMNS_H
#define ARMILLA_FILES_TABLE_COLUMNS_H

#include "files/fields.h"

typedef struct armilla_table_columns {
    armilla_dialect dialect;
    bool header;
    bool doubtful;       /* the first record was taken for data, and may be column numbers */
    armilla_span names;  /* the header record */
    armilla_span first;  /* the first record that is none */
    int64_t fields;      /* of a record, without an empty one behind a trailing separator */
    bool trailing;       /* records may end in a separator */
    bool short_header;   /* the column of names has no field in it, as R writes it */
    int64_t name, label; /* these columns, from 0; -1: none */
    bool *ignored;       /* for each field whether its column is left out; NULL: none is */
    bool left_out;       /* columns were left out for being text, not by their names */
    bool names_are_text; /* the column of names was found by being text: a number in it is a mistake */
} armilla_table_columns;

/* Looks at the first records, and at what the options say. */
armilla_status armilla_table_columns_find(const armilla_text *text, armilla_table_columns *columns);
/* ARMILLA_BAD_DATA where none of the columns holds numbers; a warning names those that are left out for being text. */
armilla_status armilla_table_columns_check(const armilla_text *text, const armilla_table_columns *columns);
void armilla_table_columns_free(armilla_context *context, armilla_table_columns *columns);

/* Whether a column, from 0, holds numbers that are read. */
static inline bool armilla_table_columns_number(const armilla_table_columns *columns, int64_t column)
{
    return column != columns->name && column != columns->label && !(columns->ignored && columns->ignored[column]);
}

/* Whether nothing follows the last of a record's fields, but for a separator where records may end in one. at: where
 * armilla_fields_next would go on. */
bool armilla_table_columns_end(const armilla_table_columns *columns, armilla_span record, const unsigned char *at);
/* ARMILLA_BAD_DATA: the record has more or fewer fields than others. */
armilla_status armilla_table_columns_ragged(const armilla_text *text, const armilla_table_columns *columns,
                                            armilla_span record);

/* Fields of the header that name columns of numbers, or `all` columns, where the first may have an empty name; none where
 * there is no header. */
armilla_status armilla_table_columns_names(const armilla_text *text, const armilla_table_columns *columns, bool all,
                                           armilla_names *names);

/* What the header calls the column, from 0; an empty field where it does not. */
armilla_field armilla_table_columns_name(const armilla_table_columns *columns, int64_t column);

/* How many columns of numbers there are. */
int64_t armilla_table_columns_numbers(const armilla_table_columns *columns);

#endif
