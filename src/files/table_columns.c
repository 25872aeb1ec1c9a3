/* Finding the header and the columns that hold no numbers. A wrong guess costs a sample or a feature in silence, so
 * that whatever is doubtful is taken for a row of numbers, and complained of as such. */
#include "files/table_columns.h"

#include "base/size.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What the fields of a record are, as far as it matters for a header. */
typedef struct record_kinds {
    int64_t fields, texts, names, integers; /* names: texts that are no numbers gone wrong */
    bool consecutive;                       /* the numbers are whole and rise by 1 */
    double start;                           /* the first of them */
    int64_t quoted, named;                  /* in quotes without need; such fields and names, and an empty first */
    bool begins_with_text, begins_empty, begins_with_name;
} record_kinds;

/* A number that holds what separates has to stand in quotes. */
static bool is_needlessly_quoted(const armilla_dialect *dialect, const armilla_field *field, armilla_decimal kind)
{
    if (!field->quote || kind != ARMILLA_DECIMAL_NUMBER) return field->quote;
    for (const unsigned char *at = field->start; at < field->end; at++)
        if (armilla_fields_separates(dialect, *at)) return false;
    return true;
}

static record_kinds look_at(const armilla_text *text, const armilla_table_columns *columns, armilla_span record)
{
    record_kinds kinds = {.consecutive = true};
    armilla_field field;
    double value = 0, before = 0;
    for (const unsigned char *at = record.start; armilla_fields_next(&columns->dialect, record, &at, &field);
         kinds.fields++) {
        const armilla_decimal kind = armilla_fields_number(&field, columns->dialect.mark, text->plain, &value);
        const bool is_text = kind == ARMILLA_DECIMAL_TEXT, number = kind == ARMILLA_DECIMAL_NUMBER;
        const bool first_number = number && kinds.integers == 0;
        kinds.texts += is_text;
        kinds.names += is_text && armilla_fields_is_name(field.start, field.end);
        const bool quoted = is_needlessly_quoted(&columns->dialect, &field, kind);
        const bool empty_first = kinds.fields == 0 && kind == ARMILLA_DECIMAL_EMPTY;
        kinds.quoted += quoted;
        kinds.named += quoted || empty_first || (is_text && armilla_fields_is_name(field.start, field.end));
        if (first_number) kinds.start = value;
        if (number && (value != floor(value) || (!first_number && value != before + 1))) kinds.consecutive = false;
        kinds.integers += number && value == floor(value);
        before = value;
        if (kinds.fields > 0) continue;
        kinds.begins_with_text = is_text;
        kinds.begins_empty = kind == ARMILLA_DECIMAL_EMPTY;
        kinds.begins_with_name = kinds.names > 0;
    }
    return kinds;
}

/* Column numbers or years, whatever names the rows below have: so many that a row of data is hardly like them. */
static bool counts_up(const record_kinds *kinds)
{
    const int64_t others = kinds->fields - 1;
    if (!kinds->consecutive || kinds->integers != others) return false;
    return others >= (kinds->start >= 1000 ? 2 : kinds->start <= 1 ? 5 : INT64_MAX);
}

/* The first record is a header where it is text, at least for the most part and more than the second; or a name (or,
 * as pandas writes it, nothing) followed by whole numbers, such as years. */
static bool is_header(const record_kinds *first, const record_kinds *second)
{
    const int64_t others = first->fields - 1;
    const bool rises = first->consecutive && first->integers == others;
    if (first->names > 0 && first->texts == first->fields) return true;
    if (first->begins_empty && first->texts == 0) return second->fields > 0 && !second->begins_empty && rises;
    if (first->begins_empty) return first->texts == others;
    if (first->texts == 0) return false;
    if (first->begins_with_name && first->texts == 1 && first->integers == others) {
        if (!second->begins_with_text) return true;
        return counts_up(first) || (second->fields == first->fields && second->integers < others);
    }
    return first->names > 0 && 2 * first->texts >= first->fields && first->texts > second->texts;
}

/* What names need quotes for, to be no numbers and no missing values. */
static bool is_quoted_number(const armilla_text *text, const armilla_table_columns *c, const armilla_field *field)
{
    double value = 0;
    if (!field->quote || field->start == field->end) return false;
    return armilla_fields_number(field, c->dialect.mark, text->plain, &value) != ARMILLA_DECIMAL_TEXT ||
           !armilla_fields_is_name(field->start, field->end);
}

/* Whether no field of the record under such a name stands in quotes. */
static bool stands_bare(const armilla_text *text, const armilla_table_columns *c, armilla_span header,
                        armilla_span record)
{
    const unsigned char *over = header.start, *at = record.start;
    armilla_field name, field;
    if (armilla_fields_count(&c->dialect, record) == armilla_fields_count(&c->dialect, header) + 1)
        (void)armilla_fields_next(&c->dialect, record, &at, &field); /* names of rows, as R writes them */
    while (armilla_fields_next(&c->dialect, header, &over, &name) &&
           armilla_fields_next(&c->dialect, record, &at, &field))
        if (field.quote && is_quoted_number(text, c, &name)) return false;
    return true;
}

/* A first record that is all names and quotes is a header where numbers stand in no quotes: `rest` is what follows. */
static bool is_quoted_header(const armilla_text *text, const armilla_table_columns *c, armilla_span header,
                             armilla_span rest)
{
    enum { LOOKED_AT = 16 };
    armilla_span record = rest;
    int looked = 0;
    for (; looked < LOOKED_AT && armilla_fields_next_record(&c->dialect, &rest, &record); looked++)
        if (!stands_bare(text, c, header, record)) return false;
    return looked > 0;
}

/* 0, 1, 2, ...: a sample, or what pandas calls columns without names? */
static bool is_doubtful(const record_kinds *first, const record_kinds *second)
{
    enum { MANY = 3 };
    return second->fields > 0 && first->fields >= MANY && first->integers == first->fields && first->consecutive &&
           first->start >= 0 && first->start <= 1 && !(second->consecutive && second->start == first->start);
}

/* *header = what the options say; false where they are silent. */
static armilla_status given_header(const armilla_text *text, bool *header)
{
    const char *given = text->options->header;
    *header = given && strcmp(given, "yes") == 0;
    if (!given || *header || strcmp(given, "no") == 0) return ARMILLA_OK;
    return armilla_fail(text->context, ARMILLA_BAD_ARGUMENT,
                        "header '%s' (" ARMILLA_FIELD("header") ") is unknown; it can be yes or no", given);
}

static armilla_status find_records(const armilla_text *text, armilla_table_columns *c, record_kinds *first)
{
    armilla_span rest = text->all, record = rest, second = rest;
    record_kinds following = {0};
    armilla_status status = armilla_dialect_find(text, &c->dialect);
    if (status == ARMILLA_OK) status = given_header(text, &c->header);
    if (status != ARMILLA_OK) return status;
    if (!armilla_fields_next_record(&c->dialect, &rest, &record))
        return armilla_fail(text->context, ARMILLA_BAD_DATA, "%s: holds no rows of numbers; check how it was made",
                            text->path);
    *first = look_at(text, c, record);
    const armilla_span below = rest;
    const bool more = armilla_fields_next_record(&c->dialect, &rest, &second);
    if (more) following = look_at(text, c, second);
    if (!text->options->header)
        c->header = is_header(first, &following) ||
                    (first->quoted > 0 && first->named == first->fields && is_quoted_header(text, c, record, below));
    c->doubtful = !text->options->header && !c->header && is_doubtful(first, &following);
    c->names = record;
    c->first = c->header ? second : record;
    if (c->header && !more)
        return armilla_fail(text->context, ARMILLA_BAD_DATA,
                            "%s: holds no rows of numbers, only a header; check how it was made", text->path);
    if (c->header) *first = following;
    return ARMILLA_OK;
}

static bool ends_empty(const armilla_table_columns *c, armilla_span record)
{
    armilla_field field = {record.start, record.start, 0};
    for (const unsigned char *at = record.start; armilla_fields_next(&c->dialect, record, &at, &field);) {}
    return field.start == field.end && record.end > record.start &&
           armilla_fields_separates(&c->dialect, record.end[-1]);
}

/* Fields of a record, and what the header has to do with them. */
static armilla_status count_columns(const armilla_text *text, armilla_table_columns *c)
{
    const int64_t header = armilla_fields_count(&c->dialect, c->names);
    c->fields = armilla_fields_count(&c->dialect, c->first);
    const bool ends = c->fields > 1 && c->dialect.separator != ' ' && ends_empty(c, c->first);
    c->trailing = ends && (!c->header || header < c->fields || ends_empty(c, c->names));
    if (c->trailing) c->fields--;
    if (!c->header) return ARMILLA_OK;
    const int64_t named = header - (c->trailing && header > c->fields);
    c->short_header = named + 1 == c->fields;
    /* Names may have blanks in them, so that a header says little where blanks separate. */
    if (named == c->fields || c->short_header || c->dialect.separator == ' ') return ARMILLA_OK;
    return armilla_fail(text->context, ARMILLA_BAD_DATA,
                        "%s: line %" PRId64 " has %" PRId64 " fields, the header has %" PRId64
                        "; give every line the same number",
                        text->path, armilla_text_line_number(text, c->first.start), c->fields, named);
}

/* The header's fields are the names of the columns. */
static bool header_fits(const armilla_table_columns *c)
{
    const int64_t header = c->header ? armilla_fields_count(&c->dialect, c->names) : 0;
    return c->header && (c->short_header || header == c->fields || (c->trailing && header == c->fields + 1));
}

/* The column that the header calls so; -1: none. */
static int64_t find_named(const armilla_table_columns *c, const char *wanted)
{
    const unsigned char *at = c->names.start;
    armilla_field field;
    for (int64_t i = c->short_header; header_fits(c) && armilla_fields_next(&c->dialect, c->names, &at, &field); i++)
        if (armilla_fields_equal(&field, wanted)) return i;
    return -1;
}

/* A column by its name or by its number from 1. One that is recalled from another table need not be there: *column stays
 * as it is. */
static armilla_status find_column(const armilla_text *text, const armilla_table_columns *c, const char *wanted,
                                  const char *option, bool recalled, int64_t *column)
{
    const int64_t named = find_named(c, wanted);
    int64_t number = 0;
    if (named >= 0) {
        *column = named;
        return ARMILLA_OK;
    }
    for (const char *digit = wanted; *digit; digit++)
        number =
            *digit >= '0' && *digit <= '9' && number >= 0 && number < INT32_MAX ? 10 * number + (*digit - '0') : -1;
    const bool counts = !recalled || text->options->recalled->columns == c->fields;
    if (number >= 1 && number <= c->fields && counts) {
        *column = number - 1;
        return ARMILLA_OK;
    }
    if (recalled) return ARMILLA_OK;
    return armilla_fail(text->context, ARMILLA_BAD_ARGUMENT,
                        "%s: has no column '%s' (%s); give a name in its header%s or a number from 1 to %" PRId64,
                        text->path, wanted, option, c->header ? "" : ", of which it has none,", c->fields);
}

static bool header_begins_empty(const armilla_table_columns *c)
{
    const unsigned char *at = c->names.start;
    armilla_field field = {at, at, 0};
    return c->header && c->dialect.separator != ' ' && armilla_fields_next(&c->dialect, c->names, &at, &field) &&
           field.start == field.end;
}

/* Without a word from the caller names are a first column that is text, or that the header does not name. */
static void guess_names(armilla_table_columns *c, const record_kinds *first)
{
    if (c->fields < 2 || c->label == 0) return;
    const bool unnamed = c->short_header || header_begins_empty(c);
    c->names_are_text = first->begins_with_name && !unnamed;
    if (unnamed || c->names_are_text) c->name = 0;
}

/* As the options say, else as it looks. */
static armilla_status find_names(const armilla_text *text, armilla_table_columns *c, const record_kinds *first)
{
    const char *given = text->options->name_column;
    const bool recalled = armilla_option_recalled(text->options, given);
    armilla_status status = ARMILLA_OK;
    if (given && strcmp(given, "none") == 0 && find_named(c, given) < 0) return ARMILLA_OK;
    if (given) status = find_column(text, c, given, ARMILLA_FIELD("name_column"), recalled, &c->name);
    if (!given || (recalled && c->name < 0)) guess_names(c, first);
    return status;
}

int64_t armilla_table_columns_numbers(const armilla_table_columns *columns)
{
    int64_t count = 0;
    for (int64_t i = 0; i < columns->fields; i++) count += armilla_table_columns_number(columns, i);
    return count;
}

void armilla_table_columns_free(armilla_context *context, armilla_table_columns *columns)
{
    armilla_release(context, columns->ignored);
    columns->ignored = NULL;
}

armilla_field armilla_table_columns_name(const armilla_table_columns *c, int64_t column)
{
    const unsigned char *at = c->names.start;
    armilla_field field = {at, at, 0};
    if (!header_fits(c) || column < c->short_header) return field;
    for (int64_t i = c->short_header; i <= column; i++)
        if (!armilla_fields_next(&c->dialect, c->names, &at, &field)) return (armilla_field){at, at, 0};
    return field;
}

/* The column's name, or its number from 1, at the end of a text. */
static void add_shown(const armilla_table_columns *c, int64_t column, char *shown, size_t size)
{
    const size_t used = strlen(shown);
    const armilla_field field = armilla_table_columns_name(c, column);
    const int length = (int)(field.end - field.start);
    if (length > 0)
        snprintf(shown + used, size - used, "%s%.*s", used ? ", " : "", length < 40 ? length : 40, field.start);
    else
        snprintf(shown + used, size - used, "%s%" PRId64, used ? ", " : "", column + 1);
}

/* Columns whose first field is text. */
static void ignore_texts(const armilla_text *text, armilla_table_columns *c)
{
    const unsigned char *at = c->first.start;
    armilla_field field;
    double value = 0;
    for (int64_t i = 0; i < c->fields && armilla_fields_next(&c->dialect, c->first, &at, &field); i++) {
        if (i == c->name || i == c->label) continue;
        c->ignored[i] = armilla_fields_number(&field, c->dialect.mark, text->plain, &value) == ARMILLA_DECIMAL_TEXT;
        c->left_out |= c->ignored[i];
    }
}

/* Those of a list. */
static armilla_status ignore_listed(const armilla_text *text, armilla_table_columns *c, const char *list)
{
    armilla_status status = ARMILLA_OK;
    for (const char *at = list; *at && status == ARMILLA_OK; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        int64_t column = -1;
        char *word = NULL;
        status = armilla_take(text->context, (int64_t)length + 1, 1, &word);
        if (status == ARMILLA_OK) {
            memcpy(word, at, length);
            status = find_column(text, c, word, ARMILLA_FIELD("ignore_columns"),
                                 armilla_option_recalled(text->options, list), &column);
        }
        if (status == ARMILLA_OK && column >= 0) c->ignored[column] = true;
        armilla_release(text->context, word);
        at += length;
    }
    return status;
}

static armilla_status ignore(const armilla_text *text, armilla_table_columns *c)
{
    const char *list = text->options->ignore_columns;
    if (!list) return ARMILLA_OK;
    armilla_status status = armilla_take(text->context, c->fields, sizeof *c->ignored, &c->ignored);
    if (status != ARMILLA_OK) return status;
    if (strcmp(list, "text") == 0)
        ignore_texts(text, c);
    else
        status = ignore_listed(text, c, list);
    return status;
}

armilla_status armilla_table_columns_find(const armilla_text *text, armilla_table_columns *columns)
{
    const armilla_read_options *options = text->options;
    record_kinds first = {0};
    armilla_table_columns c = {.name = -1, .label = -1};
    armilla_status status = find_records(text, &c, &first);
    if (status == ARMILLA_OK) status = count_columns(text, &c);
    if (status == ARMILLA_OK && options->label_column && options->sample_columns)
        status = armilla_fail(
            text->context, ARMILLA_BAD_ARGUMENT,
            "%s: a column of labels (" ARMILLA_FIELD("label_column") ") needs samples in rows; transpose the file",
            text->path);
    if (status == ARMILLA_OK && options->label_column)
        status = find_column(text, &c, options->label_column, ARMILLA_FIELD("label_column"),
                             armilla_option_recalled(options, options->label_column), &c.label);
    if (status == ARMILLA_OK) status = find_names(text, &c, &first);
    if (status == ARMILLA_OK) status = ignore(text, &c);
    if (status == ARMILLA_OK)
        *columns = c;
    else
        armilla_table_columns_free(text->context, &c);
    return status;
}

/* To leave data out in silence is no help. */
static void tell_left_out(const armilla_text *text, const armilla_table_columns *c)
{
    char shown[256] = "";
    int64_t count = 0;
    for (int64_t i = 0; i < c->fields; i++) {
        if (!c->ignored[i]) continue;
        count++;
        add_shown(c, i, shown, sizeof shown);
    }
    armilla_log(text->context, ARMILLA_LOG_WARNING, "%s: %" PRId64 " column%s of text %s left out: %s", text->path,
                count, count == 1 ? "" : "s", count == 1 ? "is" : "are", shown);
}

armilla_status armilla_table_columns_check(const armilla_text *text, const armilla_table_columns *c)
{
    if (c->left_out) tell_left_out(text, c);
    if (armilla_table_columns_numbers(c) > 0) return ARMILLA_OK;
    return armilla_fail(text->context, ARMILLA_BAD_DATA,
                        "%s: no column of numbers is left beside names and labels; check how it was made", text->path);
}

bool armilla_table_columns_end(const armilla_table_columns *c, armilla_span record, const unsigned char *at)
{
    armilla_field field = {record.start, record.start, 0};
    const bool more = at && armilla_fields_next(&c->dialect, record, &at, &field);
    return !more || (c->trailing && !at && field.start == field.end);
}

armilla_status armilla_table_columns_ragged(const armilla_text *text, const armilla_table_columns *c,
                                            armilla_span record)
{
    const int64_t found = armilla_fields_count(&c->dialect, record);
    return armilla_fail(text->context, ARMILLA_BAD_DATA,
                        "%s: line %" PRId64 " has %" PRId64 " field%s, the lines before have %" PRId64
                        "; give every line the same number",
                        text->path, armilla_text_line_number(text, record.start), found, found == 1 ? "" : "s",
                        c->fields);
}

armilla_status armilla_table_columns_names(const armilla_text *text, const armilla_table_columns *c, bool all,
                                           armilla_names *names)
{
    const unsigned char *at = c->names.start;
    armilla_field field = {at, at, 0};
    armilla_status status = ARMILLA_OK;
    if (!header_fits(c)) return ARMILLA_OK;
    for (int64_t i = 0; status == ARMILLA_OK && i < c->fields; i++) {
        if (i >= c->short_header && !armilla_fields_next(&c->dialect, c->names, &at, &field)) break;
        if (all || armilla_table_columns_number(c, i)) status = armilla_fields_add_name(text->context, field, names);
    }
    return status;
}
