/* Lines of a table as text, and their fields: separators, quotes, blanks, decimal marks. */
#ifndef ARMILLA_FILES_FIELDS_H
#define ARMILLA_FILES_FIELDS_H

#include "files/output.h"
#include "files/text.h"

typedef struct armilla_dialect {
    unsigned char separator; /* ' ': runs of blanks; 0: not known yet, any of them */
    bool multiline;          /* a quoted field may hold line ends */
    unsigned char mark;      /* before the decimals: a point or a comma */
    bool doubtful;           /* it may separate thousands wherever it stands: 1,234 or 1.234 */
} armilla_dialect;

/* A field without what stands round it: blanks, or quotes with everything in them. */
typedef struct armilla_field {
    const unsigned char *start, *end;
    unsigned char quote; /* that it stands in; 0: none */
} armilla_field;

/* Passes over Excel's first line, which says what separates: it is no record. */
void armilla_dialect_declared(armilla_text *text);

/* What the options say, else as the text looks; no separator where it has no record. */
armilla_status armilla_dialect_find(const armilla_text *text, armilla_dialect *dialect);

/* Cuts what follows `start`, into a single part where a quoted field holds a line end; sets dialect->multiline. */
armilla_status armilla_dialect_cut(armilla_text *text, const unsigned char *start, armilla_dialect *dialect);

/* Whether the field is a number that needs the mark before its decimals; and whether the table has one that cannot be
 * another number in groups of three digits. */
bool armilla_dialect_is_decimal(const armilla_text *text, const armilla_field *field, unsigned char mark);
bool armilla_dialect_has_mark(const armilla_text *text, const armilla_dialect *dialect, unsigned char mark);

/* The next record of rest that holds something: neither blank nor a comment (# outside of quotes). */
bool armilla_fields_next_record(const armilla_dialect *dialect, armilla_span *rest, armilla_span *record);

/* A semicolon decides (commas may be decimal marks then), else the more frequent of comma and tab, or a tab where the
 * decimal mark is known to be a comma; else blanks. */
unsigned char armilla_fields_separator(armilla_span line, unsigned char mark);

/* Whether some line of the part opens a quote that it does not close. */
bool armilla_fields_run_on(armilla_span text);

/* The field at *at; *at goes to the next, NULL behind the last. */
bool armilla_fields_next(const armilla_dialect *dialect, armilla_span record, const unsigned char **at,
                         armilla_field *field);
int64_t armilla_fields_count(const armilla_dialect *dialect, armilla_span record);

/* What the field is as a number; blanks round it do not count, in quotes neither. */
armilla_decimal armilla_fields_number(const armilla_field *field, unsigned char mark, locale_t plain, double *value);

/* Whether the text, which is no number, is none gone wrong either, such as 1,5 or 12.3.4. */
bool armilla_fields_is_name(const unsigned char *start, const unsigned char *end);

/* Adds the field's text; in quotes two quotes stand for one. */
armilla_status armilla_fields_add_name(armilla_context *context, armilla_field field, armilla_names *names);

/* Whether the field's text is this one. */
bool armilla_fields_equal(const armilla_field *field, const char *text);

/* The place of a name that is written as a field. */
typedef enum armilla_field_place {
    ARMILLA_FIELD_OF_ROW,
    ARMILLA_FIELD_OF_HEADER, /* where numbers and missing values have to be seen to be names */
    ARMILLA_FIELD_ALONE      /* the only one of a header, where blanks would separate */
} armilla_field_place;

/* The rule of writers, beside the readers that it is made for: whether the text would be read as something else, or not
 * whole, if it did not stand in quotes. */
bool armilla_fields_need_quotes(const char *text, armilla_field_place place);
/* The text as a field, quoted where it needs to be. */
armilla_status armilla_fields_put(armilla_output *output, const char *text, armilla_field_place place);

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
