/* CSV, TSV and plain columns of numbers. The bytes have no end mark: every step looks where they end. The separator
 * is found in the first line; a first line with text in it is a header, and its names are dropped. */
#include "files/array.h"
#include "files/decimal.h"
#include "files/files.h"

#include "base/size.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 40 /* bytes of a bad field in a message */

typedef struct span {
    const unsigned char *start, *end;
} span;

typedef struct reader {
    armilla_context *context;
    const char *path;
    span rest; /* behind the current line */
    span line; /* without its end */
    int64_t number;
    unsigned char separator; /* ' ': runs of blanks */
    locale_t plain;
    int64_t rows, cols;
    double *values;
} reader;

static bool is_blank(const reader *r, unsigned char byte)
{
    return byte == ' ' || (byte == '\t' && r->separator != '\t');
}

static span trim(const reader *r, span text)
{
    while (text.start < text.end && is_blank(r, *text.start)) text.start++;
    while (text.start < text.end && is_blank(r, text.end[-1])) text.end--;
    return text;
}

/* The next line that holds something: neither blank nor a comment. */
static bool next_line(reader *r)
{
    while (r->rest.start < r->rest.end) {
        const unsigned char *start = r->rest.start;
        const unsigned char *end = memchr(start, '\n', (size_t)(r->rest.end - start));
        r->rest.start = end ? end + 1 : r->rest.end;
        if (!end) end = r->rest.end;
        if (end > start && end[-1] == '\r') end--;
        r->line = (span){start, end};
        r->number++;
        while (start < end && (*start == ' ' || *start == '\t')) start++;
        if (start < end && *start != '#') return true;
    }
    return false;
}

/* Behind the closing quote of the text that begins with one, or NULL where it is not closed. Two quotes stand for
 * one inside. */
static const unsigned char *skip_quoted(const unsigned char *at, const unsigned char *end)
{
    const unsigned char quote = *at++;
    while ((at = memchr(at, quote, (size_t)(end - at))) != NULL) {
        if (at + 1 == end || at[1] != quote) return at + 1;
        at += 2;
    }
    return NULL;
}

static bool is_separator(const reader *r, unsigned char byte)
{
    return r->separator == ' ' ? byte == ' ' || byte == '\t' : byte == r->separator;
}

/* The field at *at, without blanks and quotes round it; *at goes to the next, NULL behind the last. */
static bool next_field(const reader *r, const unsigned char **at, span *field)
{
    const unsigned char *end = r->line.end, *start = *at, *stop = NULL;
    while (start && start < end && is_blank(r, *start)) start++;
    if (!start || (r->separator == ' ' && start == end)) return false;
    if (start < end && (*start == '"' || *start == '\'')) stop = skip_quoted(start, end);
    const bool quoted = stop != NULL;
    if (!quoted) stop = start;
    while (stop < end && !is_separator(r, *stop)) stop++;
    *at = stop == end ? NULL : stop + 1;
    *field = trim(r, (span){start, stop});
    if (quoted && field->end[-1] == *field->start) *field = trim(r, (span){field->start + 1, field->end - 1});
    return true;
}

static int64_t count_fields(const reader *r)
{
    int64_t count = 0;
    span field;
    for (const unsigned char *at = r->line.start; next_field(r, &at, &field);) count++;
    return count;
}

/* A semicolon decides (commas may be decimal marks then), else the more frequent of comma and tab; else blanks. */
static unsigned char find_separator(span line)
{
    int64_t commas = 0, tabs = 0;
    for (const unsigned char *at = line.start; at < line.end; at++) {
        const unsigned char *behind = *at == '"' ? skip_quoted(at, line.end) : NULL;
        if (behind) at = behind - 1;
        if (*at == ';') return ';';
        commas += *at == ',';
        tabs += *at == '\t';
    }
    if (commas >= tabs && commas > 0) return ',';
    return tabs > 0 ? '\t' : ' ';
}

/* What the fields of a line are, as far as it matters for a header. */
typedef struct line_kinds {
    int64_t fields, texts, integers;
    bool begins_with_name; /* a text that does not look like a number gone wrong */
} line_kinds;

static line_kinds look_at_line(const reader *r)
{
    line_kinds kinds = {0};
    span field;
    double value = 0;
    for (const unsigned char *at = r->line.start; next_field(r, &at, &field); kinds.fields++) {
        const armilla_decimal kind = armilla_decimal_parse(field.start, field.end, r->plain, &value);
        const bool text = kind == ARMILLA_DECIMAL_TEXT;
        kinds.texts += text;
        kinds.integers += kind == ARMILLA_DECIMAL_NUMBER && value == floor(value);
        if (kinds.fields == 0) kinds.begins_with_name = text && !memchr("+-.0123456789", *field.start, 13);
    }
    return kinds;
}

/* The first line is a header where it is text, at least for the most part, or a name followed by whole numbers (years,
 * column numbers). Else a text in it is a mistake in a row of numbers, which must not cost a sample. */
static bool is_header(const reader *r)
{
    const line_kinds kinds = look_at_line(r);
    if (kinds.texts == 0) return false;
    return 2 * kinds.texts >= kinds.fields ||
           (kinds.begins_with_name && kinds.texts == 1 && kinds.integers == kinds.fields - 1);
}

/* FILE: line 3, column 2: 'abc' is not a number; what to do */
static armilla_status bad_field(const reader *r, int64_t column, span field, armilla_decimal kind)
{
    static const char *const sentences[ARMILLA_DECIMAL_COUNT] = {
        [ARMILLA_DECIMAL_NUMBER] = "",
        [ARMILLA_DECIMAL_EMPTY] = " the field is empty (a missing value); fill it, or remove the line or the column",
        [ARMILLA_DECIMAL_TEXT] = " is not a number; correct it or remove the column (decimals take a point)",
        [ARMILLA_DECIMAL_NOT_FINITE] = " is no finite number; remove the line or the column, or fill the value",
        [ARMILLA_DECIMAL_TOO_LARGE] = " is too large for a number; scale the values",
    };
    const size_t length = (size_t)(field.end - field.start), kept = length < SHOWN ? length : SHOWN;
    char shown[SHOWN + 8] = "";
    memcpy(shown, field.start, kept);
    for (char *at = shown; *at; at++)
        if ((unsigned char)*at < ' ') *at = '?';
    if (kept < length) strcpy(shown + kept, "...");
    const char *quote = kind == ARMILLA_DECIMAL_EMPTY ? "" : "'";
    return armilla_fail(r->context, ARMILLA_BAD_DATA, "%s: line %" PRId64 ", column %" PRId64 ":%s%s%s%s%s", r->path,
                        r->number, column, *quote ? " " : "", quote, shown, quote, sentences[kind]);
}

static armilla_status ragged(const reader *r, const char *before)
{
    return armilla_fail(r->context, ARMILLA_BAD_DATA,
                        "%s: line %" PRId64 " has %" PRId64 " fields, %s %" PRId64 "; give every line the same number",
                        r->path, r->number, count_fields(r), before, r->cols);
}

static armilla_status read_row(reader *r)
{
    double *row = r->values + r->rows * r->cols;
    int64_t column = 0;
    span field;
    for (const unsigned char *at = r->line.start; next_field(r, &at, &field); column++) {
        if (column == r->cols) return ragged(r, "the lines before have");
        const armilla_decimal kind = armilla_decimal_parse(field.start, field.end, r->plain, &row[column]);
        if (kind != ARMILLA_DECIMAL_NUMBER) return bad_field(r, column + 1, field, kind);
    }
    if (column < r->cols) return ragged(r, "the lines before have");
    r->rows++;
    return ARMILLA_OK;
}

/* The most rows that there can be from the current line on: no more than lines, and a row of c fields takes 2c bytes
 * (the last one perhaps 2c - 1). */
static int64_t most_rows(const reader *r)
{
    int64_t lines = 1;
    const unsigned char *end = r->rest.end;
    for (const unsigned char *at = r->rest.start; at < end; lines++) {
        const unsigned char *stop = memchr(at, '\n', (size_t)(end - at));
        at = stop ? stop + 1 : end;
    }
    return armilla_min64(lines, (end - r->line.start) / (2 * armilla_max64(r->cols, 1)) + 1);
}

/* Stands at the first row of numbers afterwards. */
static armilla_status find_first_row(reader *r)
{
    if (!next_line(r))
        return armilla_fail(r->context, ARMILLA_BAD_DATA, "%s: holds no rows of numbers; check how it was made",
                            r->path);
    r->separator = find_separator(r->line);
    const bool header = is_header(r);
    r->cols = count_fields(r);
    if (!header) return ARMILLA_OK;
    if (!next_line(r))
        return armilla_fail(r->context, ARMILLA_BAD_DATA,
                            "%s: holds no rows of numbers, only a header; check how it was made", r->path);
    /* Names may have blanks in them, so that a header says little where blanks separate. */
    if (r->separator != ' ' && count_fields(r) != r->cols) return ragged(r, "the header has");
    r->cols = count_fields(r);
    return ARMILLA_OK;
}

static armilla_status check_text(const armilla_bytes *bytes, reader *r)
{
    const unsigned char *start = bytes->start;
    const size_t count = bytes->count, looked = count < 4096 ? count : 4096;
    if (count >= 2 && (memcmp(start, "\xff\xfe", 2) == 0 || memcmp(start, "\xfe\xff", 2) == 0))
        return armilla_fail(r->context, ARMILLA_BAD_DATA, "%s: is UTF-16 text; save it as UTF-8", r->path);
    if (memchr(start, '\0', looked))
        return armilla_fail(
            r->context, ARMILLA_BAD_DATA,
            "%s: has a zero byte, so it is binary and not text; convert it, or name its true format (--format)",
            r->path);
    const size_t mark = count >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    r->rest = (span){start + mark, start + count};
    return ARMILLA_OK;
}

static armilla_status read_rows(reader *r)
{
    int64_t numbers = 0;
    armilla_status status = find_first_row(r);
    if (status != ARMILLA_OK) return status;
    if (!armilla_size_area(most_rows(r), r->cols, &numbers)) numbers = INT64_MAX;
    if ((status = armilla_grow(r->context, numbers, sizeof *r->values, &r->values)) != ARMILLA_OK) return status;
    do status = read_row(r);
    while (status == ARMILLA_OK && next_line(r));
    if (status == ARMILLA_OK) status = armilla_grow(r->context, r->rows * r->cols, sizeof *r->values, &r->values);
    return status;
}

/* The file has features in rows: makes each sample's numbers lie together. */
static armilla_status transpose(reader *r)
{
    const armilla_array array = {.kind = 'f',
                                 .width = sizeof(double),
                                 .dimensions = 2,
                                 .shape = {r->rows, r->cols},
                                 .values = (const unsigned char *)r->values};
    double *turned = NULL;
    armilla_status status = armilla_grow(r->context, r->rows * r->cols, sizeof *turned, &turned);
    if (status != ARMILLA_OK) return status;
    armilla_array_copy(&array, ARMILLA_F64, true, turned);
    armilla_release(r->context, r->values);
    r->values = turned;
    return ARMILLA_OK;
}

static armilla_status read_csv(armilla_context *context, armilla_bytes *bytes, const armilla_read_options *options,
                               armilla_data **data)
{
    const bool columns = options->sample_columns;
    reader r = {.context = context, .path = bytes->path, .plain = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    armilla_status status = ARMILLA_OK;
    if (!r.plain) return armilla_fail(context, ARMILLA_NO_MEMORY, "%s: out of memory", bytes->path);
    if ((status = check_text(bytes, &r)) != ARMILLA_OK) goto done;
    if ((status = read_rows(&r)) != ARMILLA_OK) goto done;
    if (columns && (status = transpose(&r)) != ARMILLA_OK) goto done;
    status = armilla_data_own_dense(context, ARMILLA_F64, r.values, columns ? r.rows : r.cols,
                                    columns ? r.cols : r.rows, data);
    if (status == ARMILLA_OK) r.values = NULL;
done:
    armilla_release(context, r.values);
    freelocale(r.plain);
    return status;
}

const armilla_format armilla_format_csv = {
    .name = "csv",
    .endings = ".csv .tsv .txt",
    .meaning = "numbers as text, apart by commas, semicolons, tabs or blanks",
    .read = read_csv,
};
