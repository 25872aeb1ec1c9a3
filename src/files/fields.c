/* Fields of tables. The bytes have no end mark: every step looks where they end. */
#include "files/fields.h"

#include "base/ascii.h"

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

/* The end of the record, past line ends inside of quotes. Only a quote that begins a field opens a quoted one. */
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

/* Behind the quotes that the field at start stands in, else NULL. An apostrophe is a quote only where the field ends at
 * the next one. */
static const unsigned char *behind_quotes(const armilla_dialect *dialect, const unsigned char *start,
                                          const unsigned char *end)
{
    if (start == end || (*start != '"' && *start != '\'')) return NULL;
    const unsigned char *stop = skip_quoted(start, end), *next = stop;
    while (next && next < end && armilla_fields_blank(dialect, *next)) next++;
    const bool ends = next == end || (next && (next > stop || armilla_fields_separates(dialect, *next)));
    return *start == '"' || ends ? stop : NULL;
}

bool armilla_fields_next(const armilla_dialect *dialect, armilla_span record, const unsigned char **at,
                         armilla_field *field)
{
    const unsigned char *end = record.end, *start = *at;
    while (start && start < end && armilla_fields_blank(dialect, *start)) start++;
    if (!start || (dialect->separator == ' ' && start == end)) return false;
    const unsigned char *behind = behind_quotes(dialect, start, end), *stop = behind ? behind : start;
    while (stop < end && !armilla_fields_separates(dialect, *stop)) stop++;
    *at = stop == end ? NULL : stop + 1;
    const armilla_span text = trim(dialect, (armilla_span){start, stop});
    if (behind && text.end[-1] == *start)
        *field = (armilla_field){text.start + 1, text.end - 1, *start};
    else
        *field = (armilla_field){text.start, text.end, 0};
    return true;
}

int64_t armilla_fields_count(const armilla_dialect *dialect, armilla_span record)
{
    int64_t count = 0;
    armilla_field field;
    for (const unsigned char *at = record.start; armilla_fields_next(dialect, record, &at, &field);) count++;
    return count;
}

armilla_decimal armilla_fields_number(const armilla_field *field, unsigned char mark, locale_t plain, double *value)
{
    static const armilla_dialect blanks = {.separator = ' '};
    const armilla_span text = trim(&blanks, (armilla_span){field->start, field->end});
    return armilla_decimal_parse(text.start, text.end, mark, plain, value);
}

bool armilla_fields_is_name(const unsigned char *start, const unsigned char *end)
{
    if (start < end && !memchr("+-.0123456789", *start, 13)) return true;
    for (const unsigned char *at = start; at < end; at++)
        if (*at >= 0x80 || ((*at | 32) >= 'a' && (*at | 32) <= 'z' && (*at | 32) != 'e')) return true;
    return false;
}

bool armilla_fields_equal(const armilla_field *field, const char *text)
{
    const unsigned char *at = field->start;
    for (; at < field->end && *text && *at == (unsigned char)*text; at++, text++)
        at += field->quote && *at == field->quote && at + 1 < field->end; /* two stand for one */
    return at == field->end && !*text;
}

armilla_status armilla_fields_add_name(armilla_context *context, armilla_field field, armilla_names *names)
{
    const size_t length = (size_t)(field.end - field.start);
    char *copy = NULL;
    size_t used = 0;
    if (!length || !field.quote || !memchr(field.start, field.quote, length))
        return armilla_names_add(context, names, (const char *)field.start, length);
    armilla_status status = armilla_grow(context, (int64_t)length, 1, &copy);
    if (status != ARMILLA_OK) return status;
    for (const unsigned char *at = field.start; at < field.end; at++) {
        copy[used++] = (char)*at;
        if (*at == field.quote && at + 1 < field.end && at[1] == field.quote) at++;
    }
    status = armilla_names_add(context, names, copy, used);
    armilla_release(context, copy);
    return status;
}

/* What a file that is another kind, or a line that is no record, begins with: a comment, a quote, a banner, an element,
 * Excel's declaration, marks of byte order, and bytes that begin no character. */
static bool begins_badly(const unsigned char *text)
{
    static const char *const words[] = {"\xef\xbb\xbf", "sep="};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (armilla_ascii_begins((const char *)text, words[i], strlen(words[i]))) return true;
    return memchr(" #'%{<[\\", *text, 8) || (*text >= 0x80 && *text < 0xc2) || *text > 0xf4;
}

/* Neither a number nor a missing value; what looks like a name is no number, so that no locale is needed. */
static bool is_plain_name(const unsigned char *text, size_t length)
{
    double value = 0;
    return armilla_fields_is_name(text, text + length) &&
           armilla_decimal_parse(text, text + length, '.', (locale_t)0, &value) == ARMILLA_DECIMAL_TEXT;
}

bool armilla_fields_need_quotes(const char *text, armilla_field_place place)
{
    const unsigned char *start = (const unsigned char *)text;
    const size_t length = strlen(text);
    if (length == 0 || begins_badly(start) || text[length - 1] == ' ') return true;
    for (const unsigned char *at = start; *at; at++)
        if (*at < ' ' || *at == 0x7f || memchr("\",;", *at, 3)) return true;
    if (place == ARMILLA_FIELD_ALONE && memchr(text, ' ', length)) return true;
    return place != ARMILLA_FIELD_OF_ROW && !is_plain_name(start, length);
}

armilla_status armilla_fields_put(armilla_output *output, const char *text, armilla_field_place place)
{
    if (!armilla_fields_need_quotes(text, place)) return armilla_output_write(output, text, strlen(text));
    (void)armilla_output_write(output, "\"", 1);
    for (; *text; text++) {
        if (*text == '"') (void)armilla_output_write(output, "\"", 1);
        (void)armilla_output_write(output, text, 1);
    }
    return armilla_output_write(output, "\"", 1); /* the first failure sticks */
}
