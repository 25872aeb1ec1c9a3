/* CSV, TSV and plain columns of numbers, with or without a header, names of the rows, and labels. */
#include "files/array.h"
#include "files/doubts.h"
#include "files/files.h"

#include "base/size.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RAGGED = ARMILLA_DECIMAL_COUNT, NUMBER_AS_NAME, OTHER_MARK, THOUSANDS };

typedef struct table {
    armilla_text text;
    armilla_table_columns columns;
    int64_t rows, numbers; /* numbers: of a row */
    double *values;
    armilla_field *names, *labels; /* of rows; NULL: none */
} table;

/* What a field is that is not a number: one with another decimal mark, or with a separator of thousands. 1,234 can be
 * either; what else the table has decides. */
static int explain_text(const table *t, const armilla_field *field)
{
    const unsigned char other = t->columns.dialect.mark == ',' ? '.' : ',';
    const bool decimal = armilla_dialect_is_decimal(&t->text, field, other);
    if (armilla_doubt_thousands(field) && !(decimal && armilla_dialect_has_mark(&t->text, &t->columns.dialect, other)))
        return THOUSANDS;
    return decimal ? OTHER_MARK : ARMILLA_DECIMAL_TEXT;
}

/* FILE: line 3, column 2: 'abc' is not a number; what to do */
static armilla_status bad_field(const table *t, int64_t column, const armilla_field *field, int mistake)
{
    static const char *const messages[] = {
        [ARMILLA_DECIMAL_NUMBER] = "",
        [ARMILLA_DECIMAL_EMPTY] = " the field is empty (a missing value); fill it, or remove the line or the column",
        [ARMILLA_DECIMAL_TEXT] =
            " is not a number; correct it, or say what the column is (" ARMILLA_FIELD("name_column") ", " ARMILLA_FIELD(
                "label_column") ", " ARMILLA_FIELD("header") ") or leave it out "
                                                             "(" ARMILLA_FIELD("ignore_columns") ")",
        [ARMILLA_DECIMAL_NOT_FINITE] = " is no finite number; remove the line or the column, or fill the value",
        [ARMILLA_DECIMAL_TOO_LARGE] = " is too large for a number; scale the values",
        [RAGGED] = "",
        [NUMBER_AS_NAME] = " is a number where the first row has a name; correct one of them, or say that the column "
                           "holds names (" ARMILLA_FIELD("name_column 1") ")",
        [OTHER_MARK] = " has another decimal mark than was expected; use one for all numbers, and say which "
                       "(" ARMILLA_FIELD("decimal point or comma") ")",
        [THOUSANDS] = " looks like a number with a thousands separator; write the numbers without it (" ARMILLA_FIELD(
            "decimal") " would take it for the decimal mark)",
    };
    char shown[ARMILLA_SHOWN];
    if (mistake == ARMILLA_DECIMAL_TEXT) mistake = explain_text(t, field);
    const char *quote = mistake == ARMILLA_DECIMAL_EMPTY ? "" : "'";
    return armilla_fail(t->text.context, ARMILLA_BAD_DATA, "%s: line %" PRId64 ", column %" PRId64 ":%s%s%s%s%s",
                        t->text.path, armilla_text_line_number(&t->text, field->start), column, *quote ? " " : "",
                        quote, armilla_text_show((armilla_span){field->start, field->end}, shown), quote,
                        messages[mistake]);
}

/* The record that holds the byte: quotes may have joined lines. */
static armilla_span find_record(const table *t, const armilla_text_part *part)
{
    armilla_span rest = part->text, record = rest;
    while (armilla_fields_next_record(&t->columns.dialect, &rest, &record) && record.end < part->bad) {}
    return record;
}

static armilla_status tell_mistake(const table *t, const armilla_text_part *part)
{
    const armilla_span record = find_record(t, part);
    const unsigned char *at = record.start;
    armilla_field field = {record.start, record.end, 0};
    int64_t column = 0;
    if (part->mistake == RAGGED) return armilla_table_columns_ragged(&t->text, &t->columns, record);
    while (armilla_fields_next(&t->columns.dialect, record, &at, &field)) {
        column++;
        if (field.start >= part->bad) break;
    }
    return bad_field(t, column, &field, part->mistake);
}

/* A plain number and the separator or the end behind it: nearly every field. Else false, and nothing has changed. */
static bool take_number(const table *t, armilla_span record, const unsigned char **at, double *value)
{
    const armilla_dialect *dialect = &t->columns.dialect;
    const unsigned char *start = *at;
    if (dialect->mark == dialect->separator) return false; /* decimals are within quotes */
    while (start < record.end && armilla_fields_blank(dialect, *start)) start++;
    const unsigned char *stop = armilla_decimal_scan(start, record.end, dialect->mark, t->text.plain, value);
    if (!stop) return false;
    if (dialect->separator != ' ')
        while (stop < record.end && armilla_fields_blank(dialect, *stop)) stop++;
    if (stop < record.end && !armilla_fields_separates(dialect, *stop)) return false;
    *at = stop == record.end ? NULL : stop + 1;
    return true;
}

/* A field that is quoted, a name, a label or a mistake. -1: no field is left; else what is wrong with it, or 0. */
static int take_field(const table *t, armilla_span record, int64_t column, int64_t row, const unsigned char **at,
                      double *value)
{
    const armilla_table_columns *c = &t->columns;
    armilla_field field;
    double ignored = 0;
    if (!armilla_fields_next(&c->dialect, record, at, &field)) return -1;
    if (column == c->label) t->labels[row] = field;
    if (column == c->name) t->names[row] = field;
    const bool number = armilla_table_columns_number(c, column);
    if (!number && !(column == c->name && c->names_are_text)) return 0;
    const int kind = (int)armilla_fields_number(&field, c->dialect.mark, t->text.plain, number ? value : &ignored);
    const bool missing = kind == ARMILLA_DECIMAL_EMPTY || kind == ARMILLA_DECIMAL_NOT_FINITE;
    if (number && missing && t->text.options->keep_missing) {
        *value = (double)NAN;
        return 0;
    }
    if (number) return kind;
    return kind == ARMILLA_DECIMAL_NUMBER ? NUMBER_AS_NAME : 0;
}

/* Fields of one record; false where there is a mistake, which the part then tells. */
static bool parse_record(const table *t, armilla_span record, int64_t row, armilla_text_part *part)
{
    const armilla_table_columns *c = &t->columns;
    const unsigned char *at = record.start;
    double *values = t->values + row * t->numbers, *next = values;
    int64_t column = 0;
    int mistake = 0;
    for (; column < c->fields && at; column++) {
        const unsigned char *start = at;
        const bool number = armilla_table_columns_number(c, column);
        if (!number || !take_number(t, record, &at, next)) mistake = take_field(t, record, column, row, &at, next);
        if (mistake < 0) break;
        if (mistake > 0) {
            part->bad = start;
            part->mistake = mistake;
            return false;
        }
        next += number;
    }
    if (column == c->fields && mistake >= 0 && armilla_table_columns_end(c, record, at)) return true;
    part->bad = record.start;
    part->mistake = RAGGED;
    return false;
}

static void forget_rows(const table *t, int64_t first, int64_t last)
{
    armilla_text_forget(&t->text, t->values, sizeof *t->values * (size_t)t->numbers, first, last - first);
    armilla_text_forget(&t->text, t->names, sizeof *t->names, first, last - first);
    armilla_text_forget(&t->text, t->labels, sizeof *t->labels, first, last - first);
}

static void parse_part(void *self, armilla_text_part *part)
{
    enum { AT_ONCE = 1 << 18 }; /* numbers that are parsed before they may leave memory */
    const table *t = self;
    armilla_span rest = part->text, record = rest;
    int64_t row = part->first, kept = row;
    for (; armilla_fields_next_record(&t->columns.dialect, &rest, &record); row++) {
        if (armilla_text_over(&t->text, part, record.start) || !parse_record(t, record, row, part)) return;
        if ((row - kept) * t->numbers < AT_ONCE) continue;
        forget_rows(t, kept, row);
        kept = row;
    }
    forget_rows(t, kept, row);
    part->count = row - part->first;
    part->comments = armilla_doubt_comments(&t->columns, part->text);
}

static void count_records(void *self, armilla_text_part *part)
{
    const table *t = self;
    armilla_span rest = part->text, record = rest;
    int64_t count = 0;
    while (armilla_fields_next_record(&t->columns.dialect, &rest, &record)) {
        if (armilla_text_over(&t->text, part, record.start)) return;
        count++;
    }
    part->lines = count;
}

/* Parts, and the most rows that they can have. A row of c fields takes 2c bytes (the last one perhaps 2c - 1); where
 * lines are more, many of them are empty, and rows are counted before memory is taken. */
static armilla_status cut(table *t)
{
    armilla_text *text = &t->text;
    const unsigned char *start = t->columns.first.start;
    const int64_t most = (text->all.end - start) / (2 * t->columns.fields) + 1;
    armilla_status status = armilla_dialect_cut(text, start, &t->columns.dialect);
    if (status != ARMILLA_OK) return status;
    if (text->lines <= most) return ARMILLA_OK;
    if ((status = armilla_text_look(text, count_records, t)) != ARMILLA_OK) return status;
    armilla_text_place(text);
    return ARMILLA_OK;
}

static armilla_status take_rows(table *t)
{
    armilla_context *context = t->text.context;
    int64_t numbers = 0;
    t->numbers = armilla_table_columns_numbers(&t->columns);
    if (!armilla_size_area(t->text.lines, t->numbers, &numbers)) numbers = INT64_MAX;
    armilla_status status = armilla_text_afford(&t->text, numbers, sizeof *t->values);
    if (status == ARMILLA_OK) status = armilla_grow_large(context, numbers, sizeof *t->values, &t->values);
    if (status == ARMILLA_OK && t->columns.name >= 0)
        status = armilla_grow_large(context, t->text.lines, sizeof *t->names, &t->names);
    if (status == ARMILLA_OK && t->columns.label >= 0)
        status = armilla_grow_large(context, t->text.lines, sizeof *t->labels, &t->labels);
    return status;
}

static void warn_of_comments(const table *t)
{
    int64_t count = armilla_doubt_comments(&t->columns, (armilla_span){t->text.all.start, t->columns.first.start});
    for (int64_t i = 0; i < t->text.parts; i++) count += t->text.part[i].comments;
    armilla_doubt_tell_comments(&t->text, count);
}

static armilla_status read_rows(table *t)
{
    armilla_status status = armilla_table_columns_find(&t->text, &t->columns);
    if (status == ARMILLA_OK) status = armilla_table_columns_check(&t->text, &t->columns);
    if (status == ARMILLA_OK) status = cut(t);
    if (status == ARMILLA_OK) status = take_rows(t);
    const armilla_text_part *bad = NULL;
    if (status == ARMILLA_OK) status = armilla_text_parse(&t->text, parse_part, t, &bad);
    if (status != ARMILLA_OK) return status;
    if (bad) return tell_mistake(t, bad);
    warn_of_comments(t);
    t->rows = armilla_text_close_gaps(&t->text, sizeof *t->values * (size_t)t->numbers, t->values);
    if (t->names) (void)armilla_text_close_gaps(&t->text, sizeof *t->names, t->names);
    if (t->labels) (void)armilla_text_close_gaps(&t->text, sizeof *t->labels, t->labels);
    return armilla_grow(t->text.context, t->rows * t->numbers, sizeof *t->values, &t->values);
}

/* Names of rows, or labels, become the data's. */
static armilla_status adopt(const table *t, const armilla_field *fields, armilla_naming kind, armilla_data *data)
{
    armilla_names names = {0};
    armilla_status status = ARMILLA_OK;
    if (!fields) return ARMILLA_OK;
    for (int64_t i = 0; i < t->rows && status == ARMILLA_OK; i++)
        status = armilla_fields_add_name(t->text.context, fields[i], &names);
    if (status == ARMILLA_OK) status = armilla_data_adopt_names(data, kind, "", &names);
    armilla_names_free(t->text.context, &names);
    return status;
}

static armilla_status adopt_header(const table *t, armilla_naming kind, armilla_data *data)
{
    armilla_names names = {0};
    armilla_status status = armilla_table_columns_names(&t->text, &t->columns, false, &names);
    if (status == ARMILLA_OK && names.count > 0) status = armilla_data_adopt_names(data, kind, "", &names);
    armilla_names_free(t->text.context, &names);
    return status;
}

static armilla_status make_data(table *t, armilla_data **data)
{
    const bool columns = t->text.options->sample_columns;
    armilla_data *made = NULL;
    armilla_status status = armilla_data_own_dense(
        t->text.context, ARMILLA_F64, t->values, columns ? t->rows : t->numbers, columns ? t->numbers : t->rows, &made);
    if (status != ARMILLA_OK) return status;
    t->values = NULL;
    status = adopt_header(t, columns ? ARMILLA_SAMPLE_NAMES : ARMILLA_FEATURE_NAMES, made);
    if (status == ARMILLA_OK) status = adopt(t, t->names, columns ? ARMILLA_FEATURE_NAMES : ARMILLA_SAMPLE_NAMES, made);
    if (status == ARMILLA_OK) status = adopt(t, t->labels, ARMILLA_SAMPLE_LABELS, made);
    return armilla_data_give(status, made, data);
}

static armilla_status read_csv(armilla_context *context, armilla_bytes *bytes, const armilla_read_options *options,
                               armilla_data **data)
{
    table t = {.rows = 0};
    armilla_status status = armilla_text_open(context, bytes, options, &t.text);
    if (status != ARMILLA_OK) return status;
    armilla_dialect_declared(&t.text);
    status = read_rows(&t);
    if (options->found) options->found->columns = t.columns.fields;
    if (status == ARMILLA_OK)
        status = armilla_doubt_ids(&t.text, &t.columns, &(armilla_table_values){t.values, t.rows, t.numbers});
    if (status == ARMILLA_OK && options->sample_columns) /* each sample's numbers are to lie together */
        status = armilla_doubles_transpose(context, t.rows, t.numbers, &t.values);
    if (status == ARMILLA_OK) status = make_data(&t, data);
    if (status == ARMILLA_OK && t.columns.doubtful)
        armilla_log(context, ARMILLA_LOG_WARNING,
                    "%s: the first line counts up and is taken for a sample; say " ARMILLA_FIELD(
                        "header yes") " where it holds the names "
                                      "of columns, else " ARMILLA_FIELD("header no"),
                    bytes->path);
    if (status == ARMILLA_OK && t.columns.dialect.doubtful) armilla_doubt_mark(&t.text, &t.columns.dialect);
    armilla_release(context, t.values);
    armilla_release(context, t.names);
    armilla_release(context, t.labels);
    armilla_table_columns_free(context, &t.columns);
    armilla_text_close(&t.text);
    return status;
}

const armilla_format armilla_format_csv = {
    .name = "csv",
    .endings = ".csv .tsv .txt",
    .uses = "label_column name_column separator header decimal ignore_columns",
    .meaning = "numbers as text, separated by commas, semicolons, tabs or blanks",
    .read = read_csv,
};
