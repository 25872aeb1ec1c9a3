/* Fields of tables. The bytes have no end mark: every step looks where they end. */
#include "files/fields.h"

#include <string.h>

/* Behind the closing quote of the text that begins with one, or NULL where it is not closed. Two quotes stand for
 * one inside. */
static const unsigned char *skip_quoted(const unsigned char *at, const unsigned char *end)
{
    const unsigned char quote = *at++;
    while (at < end && (at = memchr(at, quote, (size_t)(end - at))) != NULL) {
        if (at + 1 == end || at[1] != quote) return at + 1;
        at += 2;
    }
    return NULL;
}

static armilla_span trim(const armilla_dialect *dialect, armilla_span text)
{
    while (text.start < text.end && armilla_fields_blank(dialect, *text.start)) text.start++;
    while (text.start < text.end && armilla_fields_blank(dialect, text.end[-1])) text.end--;
    return text;
}

/* Where the record ends, past line ends inside of quotes. Only a quote that begins a field opens one. */
static const unsigned char *find_end(const armilla_dialect *dialect, const unsigned char *at, const unsigned char *end)
{
    for (bool opens = true; at < end && *at != '\n';) {
        const unsigned char *behind = opens && *at == '"' ? skip_quoted(at, end) : NULL;
        opens = !behind && (armilla_fields_separates(dialect, *at) || (opens && armilla_fields_blank(dialect, *at)));
        at = behind ? behind : at + 1;
    }
    return at;
}

static bool take_record(const armilla_dialect *dialect, armilla_span *rest, armilla_span *record)
{
    if (!dialect->multiline) return armilla_text_next_line(rest, record);
    const unsigned char *start = rest->start;
    if (start >= rest->end) return false;
    const unsigned char *end = find_end(dialect, start, rest->end);
    rest->start = end < rest->end ? end + 1 : end;
    if (end > start && end[-1] == '\r') end--;
    *record = (armilla_span){start, end};
    return true;
}

/* Spreadsheets call what they could not compute #N/A and the like: a field, not a comment. */
static bool is_comment(const armilla_dialect *dialect, armilla_span text)
{
    const unsigned char *stop = text.start;
    double value = 0;
    if (*text.start != '#') return false;
    while (stop < text.end && (*stop == ' ' ? dialect->separator != ' ' : !armilla_fields_separates(dialect, *stop)))
        stop++;
    return armilla_decimal_parse(text.start, stop, '.', (locale_t)0, &value) != ARMILLA_DECIMAL_NOT_FINITE;
}

bool armilla_fields_next_record(const armilla_dialect *dialect, armilla_span *rest, armilla_span *record)
{
    while (take_record(dialect, rest, record)) {
        const armilla_span text = trim(dialect, *record);
        if (text.start < text.end && !is_comment(dialect, text)) return true;
    }
    return false;
}

unsigned char armilla_fields_separator(armilla_span line, unsigned char mark)
{
    int64_t commas = 0, tabs = 0;
    for (const unsigned char *at = line.start; at < line.end; at++) {
        const unsigned char *behind = *at == '"' ? skip_quoted(at, line.end) : NULL;
        if (behind) at = behind - 1;
        if (*at == ';') return ';';
        commas += *at == ',';
        tabs += *at == '\t';
    }
    if (commas >= tabs && commas > 0 && (mark != ',' || tabs == 0)) return ',';
    return tabs > 0 ? '\t' : ' ';
}

bool armilla_fields_run_on(armilla_span text)
{
    const unsigned char *quote = memchr(text.start, '"', (size_t)(text.end - text.start));
    bool odd = false;
    for (const unsigned char *at = quote; at && at < text.end; at++) {
        if (*at == '\n' && odd) return true;
        odd = odd != (*at == '"');
    }
    return false;
}

bool armilla_fields_next(const armilla_dialect *dialect, armilla_span record, const unsigned char **at,
                         armilla_span *field)
{
    const unsigned char *end = record.end, *start = *at, *stop = NULL;
    while (start && start < end && armilla_fields_blank(dialect, *start)) start++;
    if (!start || (dialect->separator == ' ' && start == end)) return false;
    if (start < end && (*start == '"' || *start == '\'')) stop = skip_quoted(start, end);
    const bool quoted = stop != NULL;
    if (!quoted) stop = start;
    while (stop < end && !armilla_fields_separates(dialect, *stop)) stop++;
    *at = stop == end ? NULL : stop + 1;
    *field = trim(dialect, (armilla_span){start, stop});
    if (quoted && field->end[-1] == *field->start)
        *field = trim(dialect, (armilla_span){field->start + 1, field->end - 1});
    return true;
}

int64_t armilla_fields_count(const armilla_dialect *dialect, armilla_span record)
{
    int64_t count = 0;
    armilla_span field;
    for (const unsigned char *at = record.start; armilla_fields_next(dialect, record, &at, &field);) count++;
    return count;
}

armilla_status armilla_fields_add_name(armilla_context *context, armilla_span field, armilla_names *names)
{
    const size_t length = (size_t)(field.end - field.start);
    char *copy = NULL;
    size_t used = 0;
    if (!length || !memchr(field.start, '"', length))
        return armilla_names_add(context, names, (const char *)field.start, length);
    armilla_status status = armilla_grow(context, (int64_t)length, 1, &copy);
    if (status != ARMILLA_OK) return status;
    for (const unsigned char *at = field.start; at < field.end; at++) {
        copy[used++] = (char)*at;
        if (*at == '"' && at + 1 < field.end && at[1] == '"') at++;
    }
    status = armilla_names_add(context, names, copy, used);
    armilla_release(context, copy);
    return status;
}
