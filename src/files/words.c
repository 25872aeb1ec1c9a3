/* Vectors of words: word2vec, as text or binary, and GloVe. Text has a word and its numbers on each line, separated by
 * blanks; of word2vec (and fastText) behind a line with the number of words and how many numbers each has, which in a
 * binary file stands too: then the word, a blank and its numbers as f32, little-endian. Words become names of samples,
 * numbers f32. */
#include "files/array.h"
#include "files/text.h"

#include "base/size.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    LOOKED_AT = 1 << 14, /* bytes by which a file is recognised */
    LONGEST_HEADER = 64,
    LEAST_DIMENSION = 2, /* of a file that is recognised: one number behind a line of two may be a table */
    LEAST_GLOVE = 25,    /* of one without a header: GloVe's smallest; with fewer it is a table with names */
    MOST_DIGITS = 8,     /* of a number that as f32 is as good as it is printed */
    MOST_WHOLE = 7,      /* of one without a point, which f32 has exactly */
    AT_ONCE = 1 << 12    /* binary vectors between two looks at whether to go on */
};

enum mistake { BAD_NUMBER, FEW_NUMBERS, MANY_NUMBERS };

typedef struct words {
    armilla_text text; /* of binary files only context, path and options */
    int64_t declared;  /* vectors; -1: not said */
    int64_t dimension;
    float *values;
    armilla_span *spans; /* of text: the words */
    armilla_names names;
} words;

static bool is_blank(unsigned char byte)
{
    return byte == ' ' || byte == '\t';
}

static const unsigned char *skip_blanks(const unsigned char *at, const unsigned char *end)
{
    while (at < end && is_blank(*at)) at++;
    return at;
}

static const unsigned char *field_end(const unsigned char *at, const unsigned char *end)
{
    while (at < end && !is_blank(*at)) at++;
    return at;
}

/* The number of fields, and the last of them. */
static int64_t count_fields(armilla_span line, armilla_span *last)
{
    int64_t count = 0;
    for (const unsigned char *at = skip_blanks(line.start, line.end); at < line.end; count++) {
        *last = (armilla_span){at, field_end(at, line.end)};
        at = skip_blanks(last->end, line.end);
    }
    return count;
}

static const unsigned char *take_count(const unsigned char *at, const unsigned char *end, int64_t *count)
{
    enum { MOST = 18 };
    const unsigned char *start = at;
    for (*count = 0; at < end && (unsigned)(*at - '0') < 10 && at - start < MOST; at++)
        *count = 10 * *count + (*at - '0');
    return at > start ? skip_blanks(at, end) : end + 1;
}

/* The line "words dimension"; where the rest begins, or NULL where there is none. */
static const unsigned char *take_header(armilla_span all, int64_t *declared, int64_t *dimension)
{
    const size_t length = (size_t)(all.end - all.start);
    const unsigned char *stop = memchr(all.start, '\n', length < LONGEST_HEADER ? length : LONGEST_HEADER);
    if (!stop) return NULL;
    const unsigned char *end = stop > all.start && stop[-1] == '\r' ? stop - 1 : stop;
    const unsigned char *second = take_count(all.start, end, declared);
    if (second >= end || !is_blank(second[-1])) return NULL;
    return take_count(second, end, dimension) == end ? stop + 1 : NULL;
}

static bool is_number(armilla_span field, locale_t plain)
{
    double value = 0;
    return armilla_decimal_parse(field.start, field.end, '.', plain, &value) == ARMILLA_DECIMAL_NUMBER;
}

static bool has_control(armilla_span text)
{
    for (const unsigned char *at = text.start; at < text.end; at++)
        if (*at < ' ' && !(*at >= '\t' && *at <= '\r')) return true;
    return false;
}

/* Whether what follows the header is a line of text with a word and as many numbers. */
static bool has_line(armilla_span rest, int64_t dimension)
{
    armilla_span line = {rest.start, rest.start}, last = line;
    if (!armilla_text_next_line(&rest, &line)) return false;
    return count_fields(line, &last) > dimension && memchr("+-.0123456789", *last.start, 13) && !has_control(line);
}

static bool recognize_word2vec(const unsigned char *start, size_t count)
{
    const armilla_span head = {start, start + (count < LOOKED_AT ? count : LOOKED_AT)};
    int64_t declared = 0, dimension = 0;
    const unsigned char *rest = take_header(head, &declared, &dimension);
    if (!rest || declared < 1 || dimension < LEAST_DIMENSION) return false;
    return has_line((armilla_span){rest, start + count}, dimension) || has_control((armilla_span){rest, head.end});
}

/* As a float is printed, or a whole number that is one. */
static bool is_short_number(armilla_span field)
{
    int digits = 0; /* that count: from the first that is not 0 */
    bool any = false, exponent = false, point = false;
    for (const unsigned char *at = field.start; at < field.end; at++) {
        const bool digit = (unsigned)(*at - '0') < 10;
        if (!digit && !memchr("+-.eE", *at, 5)) return false;
        any = any || digit;
        point = point || *at == '.';
        exponent = exponent || *at == 'e' || *at == 'E';
        digits += digit && !exponent && (digits > 0 || *at != '0');
    }
    return any && digits <= (point || exponent ? MOST_DIGITS : MOST_WHOLE);
}

/* Single blanks, a word, and at least LEAST_GLOVE numbers; their number, or 0. */
static int64_t glove_line(armilla_span line)
{
    armilla_span field = {line.start, field_end(line.start, line.end)};
    int64_t count = 0;
    if (field.start == field.end) return 0;
    while (field.end < line.end) {
        field.start = field.end + 1;
        field.end = field_end(field.start, line.end);
        if (field.start == field.end || *field.start == '\t' || !is_short_number(field)) return 0;
        count++;
    }
    return count >= LEAST_GLOVE ? count : 0;
}

/* Its first lines, as far as they are looked at. */
static bool recognize_glove(const unsigned char *start, size_t count)
{
    const unsigned char *end = start + (count < LOOKED_AT ? count : LOOKED_AT);
    armilla_span rest = {start, end}, line = {start, start};
    int64_t dimension = 0;
    if (!armilla_text_next_line(&rest, &line) || (dimension = glove_line(line)) == 0) return false;
    if (is_short_number((armilla_span){line.start, field_end(line.start, line.end)})) return false; /* a table */
    while (armilla_text_next_line(&rest, &line) && (line.end < end || count <= LOOKED_AT))
        if (line.start < line.end && glove_line(line) != dimension) return false;
    return true;
}

static bool mark(armilla_text_part *part, const unsigned char *at, enum mistake mistake)
{
    part->bad = at;
    part->mistake = (int)mistake;
    return false;
}

/* The numbers that the text is all of; where it is something else, or NULL. */
static const unsigned char *take_numbers(const words *w, armilla_span text, float *to)
{
    const unsigned char *at = text.start;
    for (int64_t i = 0; i < w->dimension; i++) {
        double value = 0;
        const unsigned char *start = skip_blanks(at, text.end);
        at = armilla_decimal_scan(start, text.end, '.', w->text.plain, &value);
        to[i] = (float)value;
        if (!at || (at < text.end && !is_blank(*at)) || !isfinite(to[i])) return start;
    }
    return at < text.end ? at : NULL;
}

/* The beginning of the last fields of the line, as many as numbers are wanted; NULL where it has fewer. */
static const unsigned char *find_numbers(const words *w, armilla_span line)
{
    const unsigned char *at = line.end;
    for (int64_t i = 0; i < w->dimension; i++) {
        while (at > line.start && is_blank(at[-1])) at--;
        if (at == line.start) return NULL;
        while (at > line.start && !is_blank(at[-1])) at--;
    }
    return at > line.start ? at : NULL;
}

/* One line without blanks at its end. A few words of GloVe have blanks inside, so that the last fields are the numbers. */
static bool take_line(const words *w, armilla_span line, int64_t place, armilla_text_part *part)
{
    float *to = w->values + place * w->dimension;
    armilla_span word = {line.start, field_end(line.start, line.end)};
    if (take_numbers(w, (armilla_span){word.end, line.end}, to)) {
        const unsigned char *numbers = find_numbers(w, line);
        if (!numbers) return mark(part, line.start, FEW_NUMBERS);
        for (word.end = numbers; word.end > word.start && is_blank(word.end[-1]);) word.end--;
        const unsigned char *bad = take_numbers(w, (armilla_span){numbers, line.end}, to), *piece = word.end;
        if (bad) return mark(part, bad, BAD_NUMBER);
        while (piece > word.start && !is_blank(piece[-1])) piece--;
        if (piece > word.start && is_number((armilla_span){piece, word.end}, w->text.plain))
            return mark(part, line.start, MANY_NUMBERS);
    }
    w->spans[place] = word;
    return true;
}

static void parse_part(void *self, armilla_text_part *part)
{
    const words *w = self;
    armilla_span rest = part->text, line = rest;
    int64_t k = 0;
    while (armilla_text_next_line(&rest, &line)) {
        while (line.end > line.start && is_blank(line.end[-1])) line.end--;
        if (line.start == line.end) continue;
        if (!take_line(w, line, part->first + k, part)) return;
        k++;
    }
    part->count = k;
    armilla_text_forget(&w->text, w->values, sizeof *w->values, part->first * w->dimension, k * w->dimension);
    armilla_text_forget(&w->text, w->spans, sizeof *w->spans, part->first, k);
}

static armilla_status tell_mistake(const words *w, const armilla_text_part *part)
{
    static const char *const relations[] = {[FEW_NUMBERS] = "fewer", [MANY_NUMBERS] = "more"};
    const int64_t number = armilla_text_line_number(&w->text, part->bad);
    const armilla_span line = armilla_text_line(&w->text, part->bad);
    char shown[ARMILLA_SHOWN];
    if (part->mistake == BAD_NUMBER)
        return armilla_fail(w->text.context, ARMILLA_BAD_DATA,
                            "%s: line %" PRId64 ": '%s' is no finite number of f32; check how the file was made",
                            w->text.path, number,
                            armilla_text_show((armilla_span){part->bad, field_end(part->bad, line.end)}, shown));
    return armilla_fail(w->text.context, ARMILLA_BAD_DATA,
                        "%s: line %" PRId64 ": has %s than %" PRId64
                        " numbers behind its word, which all words must have; check how the file was made",
                        w->text.path, number, relations[part->mistake], w->dimension);
}

static armilla_status bad_header(const words *w)
{
    return armilla_fail(w->text.context, ARMILLA_BAD_DATA,
                        "%s: is no word2vec file: its first line is not the number of words and how many numbers each "
                        "has; where there is no such line name the format glove (" ARMILLA_FIELD("format") ")",
                        w->text.path);
}

static armilla_status bad_first(const words *w)
{
    return armilla_fail(w->text.context, ARMILLA_BAD_DATA,
                        "%s: its first line has no numbers behind a word; name its true format "
                        "(" ARMILLA_FIELD("format") ")",
                        w->text.path);
}

static armilla_status wrong_count(const words *w, int64_t found)
{
    return armilla_fail(w->text.context, ARMILLA_BAD_DATA,
                        "%s: declares %" PRId64 " words, but has %" PRId64
                        "; it is cut short or its first line is wrong, so copy it again",
                        w->text.path, w->declared, found);
}

/* More than there are bytes for, in text and in binary files. */
static armilla_status check_header(const words *w, int64_t bytes)
{
    int64_t numbers = 0;
    if (w->dimension < 1) return bad_header(w);
    if (w->declared < 0 || (armilla_size_area(w->declared, w->dimension, &numbers) && numbers <= bytes / 2))
        return ARMILLA_OK;
    return armilla_fail(w->text.context, ARMILLA_BAD_DATA,
                        "%s: declares %" PRId64 " words of %" PRId64
                        " numbers, which it is too short for; it is cut short or its first line is wrong, so copy it "
                        "again",
                        w->text.path, w->declared, w->dimension);
}

static armilla_status adopt_names(words *w, armilla_data *data)
{
    const armilla_naming kind = w->text.options->sample_columns ? ARMILLA_FEATURE_NAMES : ARMILLA_SAMPLE_NAMES;
    return armilla_data_adopt_names(data, kind, "", &w->names);
}

/* The values become the data's. */
static armilla_status make_data(words *w, int64_t count, armilla_data **data)
{
    const armilla_array array = {.kind = 'f',
                                 .width = sizeof *w->values,
                                 .dimensions = 2,
                                 .shape = {count, w->dimension},
                                 .values = (const unsigned char *)w->values};
    armilla_bytes bytes = {.path = w->text.path, .start = array.values, .memory = w->values};
    armilla_data *made = NULL;
    armilla_status status = armilla_array_data(w->text.context, &bytes, &array, w->text.options, &made);
    w->values = bytes.memory;
    if (status == ARMILLA_OK) status = adopt_names(w, made);
    return armilla_data_give(status, made, data);
}

static armilla_status parse_lines(words *w, const unsigned char *body)
{
    armilla_context *context = w->text.context;
    const armilla_text_part *bad = NULL;
    int64_t numbers = 0;
    armilla_status status = armilla_text_cut(&w->text, body, false);
    if (status == ARMILLA_OK) status = check_header(w, w->text.all.end - body);
    if (status != ARMILLA_OK) return status;
    if (!armilla_size_area(w->text.lines, w->dimension, &numbers)) numbers = INT64_MAX / 8;
    status = armilla_text_afford(&w->text, numbers, sizeof *w->values);
    if (status == ARMILLA_OK) status = armilla_grow_large(context, numbers, sizeof *w->values, &w->values);
    if (status == ARMILLA_OK) status = armilla_grow_large(context, w->text.lines, sizeof *w->spans, &w->spans);
    if (status == ARMILLA_OK) status = armilla_text_parse(&w->text, parse_part, w, &bad);
    return status == ARMILLA_OK && bad ? tell_mistake(w, bad) : status;
}

static armilla_status read_lines(words *w, const unsigned char *body, armilla_data **data)
{
    armilla_status status = parse_lines(w, body);
    if (status != ARMILLA_OK) return status;
    (void)armilla_text_close_gaps(&w->text, sizeof *w->values * (size_t)w->dimension, w->values);
    const int64_t count = armilla_text_close_gaps(&w->text, sizeof *w->spans, w->spans);
    if (w->declared >= 0 && count != w->declared) return wrong_count(w, count);
    for (int64_t i = 0; i < count && status == ARMILLA_OK; i++)
        status = armilla_names_add(w->text.context, &w->names, (const char *)w->spans[i].start,
                                   (size_t)(w->spans[i].end - w->spans[i].start));
    return status == ARMILLA_OK ? make_data(w, count, data) : status;
}

static armilla_status read_text(armilla_context *context, const armilla_bytes *bytes,
                                const armilla_read_options *options, bool header, armilla_data **data)
{
    words w = {.declared = -1};
    armilla_status status = armilla_text_open(context, bytes, options, &w.text);
    if (status != ARMILLA_OK) return status;
    armilla_span rest = w.text.all, line = rest, last;
    if (header) rest.start = take_header(rest, &w.declared, &w.dimension); /* which is there */
    while (!header && w.dimension < 1 && armilla_text_next_line(&rest, &line))
        w.dimension = count_fields(line, &last) - 1;
    status = w.dimension < 1 ? bad_first(&w) : read_lines(&w, header ? rest.start : w.text.all.start, data);
    armilla_release(context, w.values);
    armilla_release(context, w.spans);
    armilla_names_free(context, &w.names);
    armilla_text_close(&w.text);
    return status;
}

/* One vector; where the next begins, or NULL where the file ends before. word2vec ends each with a line end, gensim
 * does not. */
static const unsigned char *take_vector(words *w, armilla_span rest, int64_t i, armilla_status *status)
{
    const size_t bytes = (size_t)w->dimension * sizeof *w->values;
    while (rest.start < rest.end && *rest.start == '\n') rest.start++;
    const unsigned char *stop = rest.start < rest.end ? memchr(rest.start, ' ', (size_t)(rest.end - rest.start)) : NULL;
    if (!stop || (size_t)(rest.end - stop - 1) < bytes) return NULL;
    memcpy((char *)w->values + (size_t)i * bytes, stop + 1, bytes);
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        for (unsigned char *at = (unsigned char *)w->values + (size_t)i * bytes, *end = at + bytes; at < end; at += 4) {
            const unsigned char number[4] = {at[3], at[2], at[1], at[0]};
            memcpy(at, number, 4);
        }
    *status = armilla_names_add(w->text.context, &w->names, (const char *)rest.start, (size_t)(stop - rest.start));
    return stop + 1 + bytes;
}

static armilla_status take_vectors(words *w, armilla_span rest)
{
    armilla_context *context = w->text.context;
    const unsigned char *start = rest.start;
    const int64_t bytes = w->dimension * (int64_t)sizeof *w->values;
    armilla_status status = ARMILLA_OK;
    for (int64_t i = 0; i < w->declared && status == ARMILLA_OK; i++) {
        if (!(rest.start = take_vector(w, rest, i, &status))) return wrong_count(w, i);
        if (status != ARMILLA_OK || (i + 1) % AT_ONCE != 0) continue;
        armilla_spill_drop(context, w->values + (i + 1 - AT_ONCE) * w->dimension, AT_ONCE * bytes);
        if (armilla_call_reached(context, rest.start - start, rest.end - start)) status = armilla_call_explain(context);
    }
    while (rest.start < rest.end && *rest.start == '\n') rest.start++;
    if (status != ARMILLA_OK || rest.start == rest.end) return status;
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "%s: has %" PRId64 " bytes behind the %" PRId64 " words that it declares; copy it again",
                        w->text.path, (int64_t)(rest.end - rest.start), w->declared);
}

static armilla_status read_binary(words *w, armilla_span rest, armilla_data **data)
{
    armilla_context *context = w->text.context;
    armilla_status status = check_header(w, rest.end - rest.start);
    if (status == ARMILLA_OK)
        status = armilla_grow_large(context, w->declared * w->dimension, sizeof *w->values, &w->values);
    if (status == ARMILLA_OK) status = take_vectors(w, rest);
    if (status == ARMILLA_OK) status = make_data(w, w->declared, data);
    armilla_release(context, w->values);
    armilla_names_free(context, &w->names);
    return status;
}

static armilla_status read_word2vec(armilla_context *context, armilla_bytes *bytes, const armilla_read_options *options,
                                    armilla_data **data)
{
    words w = {.text = {.context = context, .path = bytes->path, .options = options}};
    const armilla_span all = {bytes->start, bytes->start + bytes->count};
    const unsigned char *rest = take_header(all, &w.declared, &w.dimension);
    if (!rest) return bad_header(&w);
    if (has_line((armilla_span){rest, all.end}, w.dimension)) return read_text(context, bytes, options, true, data);
    return read_binary(&w, (armilla_span){rest, all.end}, data);
}

/* Who says how the table is to be read, of a file that was only recognised, wants it read as one. */
static armilla_status read_glove(armilla_context *context, armilla_bytes *bytes, const armilla_read_options *options,
                                 armilla_data **data)
{
    const bool table = options->label_column || options->name_column || options->separator || options->header ||
                       options->decimal || options->ignore_columns;
    if (table && !options->format) return armilla_format_csv.read(context, bytes, options, data);
    return read_text(context, bytes, options, false, data);
}

const armilla_format armilla_format_word2vec = {
    .name = "word2vec",
    .endings = ".w2v .vec .bin",
    .meaning = "vectors of words behind a line with their number, text or binary; fastText's .vec",
    .recognize = recognize_word2vec,
    .read = read_word2vec,
};

const armilla_format armilla_format_glove = {
    .name = "glove",
    .endings = ".glove",
    .uses = "label_column name_column separator header decimal ignore_columns", /* which make it a table */
    .meaning = "vectors of words: a word and its numbers on each line",
    .recognize = recognize_glove,
    .read = read_glove,
};
