/* Lines of a table as text, and their fields: separators, quotes, blanks, decimal marks. */
#ifndef ARMILLA_FILES_FIELDS_H
#define ARMILLA_FILES_FIELDS_H

#include "files/text.h"

typedef struct armilla_dialect {
    unsigned char separator; /* ' ': runs of blanks; 0: not known yet, any of them */
    bool multiline;          /* a quoted field may hold line ends */
    unsigned char mark;      /* before the decimals: a point or a comma */
} armilla_dialect;

/* What the options say, else as the text looks; no separator where it has no record. */
armilla_status armilla_dialect_find(const armilla_text *text, armilla_dialect *dialect);

/* The next record of rest that holds something: neither blank nor a comment (#). */
bool armilla_fields_next_record(const armilla_dialect *dialect, armilla_span *rest, armilla_span *record);

/* A semicolon decides (commas may be decimal marks then), else the more frequent of comma and tab, or a tab where the
 * decimal mark is known to be a comma; else blanks. */
unsigned char armilla_fields_separator(armilla_span line, unsigned char mark);

/* Whether some line of the part opens a quote that it does not close. */
bool armilla_fields_run_on(armilla_span text);

/* The field at *at, without blanks and quotes round it; *at goes to the next, NULL behind the last. */
bool armilla_fields_next(const armilla_dialect *dialect, armilla_span record, const unsigned char **at,
                         armilla_span *field);
int64_t armilla_fields_count(const armilla_dialect *dialect, armilla_span record);

/* Adds the field's text; two double quotes in it stand for one. */
armilla_status armilla_fields_add_name(armilla_context *context, armilla_span field, armilla_names *names);

static inline bool armilla_fields_blank(const armilla_dialect *dialect, unsigned char byte)
{
    return byte == ' ' || (byte == '\t' && dialect->separator != '\t');
}

static inline bool armilla_fields_separates(const armilla_dialect *dialect, unsigned char byte)
{
    if (dialect->separator == 0) return byte == ',' || byte == ';' || byte == '\t' || byte == ' ';
    return dialect->separator == ' ' ? byte == ' ' || byte == '\t' : byte == dialect->separator;
}

#endif
