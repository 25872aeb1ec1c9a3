/* Matrix Market: a banner that says what the numbers are, comments, a line of sizes, then one entry per line. Entries
 * of a coordinate file become sparse data, the numbers of an array file (column by column) dense data. */
#include "files/mtx.h"

#include "base/ascii.h"
#include "base/size.h"
#include "data/triplets.h"
#include "files/array.h"
#include "files/digits.h"
#include "files/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 5, LONGEST_WORD = 32 };

typedef struct market {
    armilla_text text;
    bool array, pattern, whole; /* whole: integers, which have one zero */
    double mirror;              /* 0 general, 1 symmetric, -1 skew-symmetric */
    int64_t size[2];            /* rows, columns */
    int64_t entries;            /* that the file declares */
    bool sample_columns;
    int32_t *index[2]; /* from 0: rows, columns */
    double *values;
} market;

static const struct field {
    const char *word;
    bool pattern, whole;
    const char *refusal; /* NULL: it is read */
} fields[] = {
    {"real", false, false, NULL},
    {"double", false, false, NULL},
    {"integer", false, true, NULL},
    {"unsigned-integer", false, true, NULL},
    {"pattern", true, false, NULL},
    {"complex", false, false, "has complex numbers; save their real part or their absolute value as a real matrix"},
};

static const struct symmetry {
    const char *word;
    double mirror;
    const char *refusal;
} symmetries[] = {
    {"general", 0, NULL},
    {"symmetric", 1, NULL},
    {"skew-symmetric", -1, NULL},
    {"hermitian", 0, "is a hermitian matrix of complex numbers; save its real part or its absolute value"},
};

static armilla_status refuse(const market *f, const char *message)
{
    return armilla_fail(f->text.context, ARMILLA_BAD_DATA, "%s: %s", f->text.path, message);
}

/* The next word of the line, in at most size-1 bytes; empty behind the last. */
static void take_word(armilla_span *line, size_t size, char *word)
{
    const unsigned char *start = armilla_text_skip_blanks(line->start, line->end);
    line->start = armilla_text_word_end(start, line->end);
    snprintf(word, size, "%.*s", (int)armilla_min64(line->start - start, LONGEST_WORD), start);
}

static armilla_status unknown_word(const market *f, const char *what, const char *word, const char *choices)
{
    char shown[ARMILLA_SHOWN];
    return armilla_fail(f->text.context, ARMILLA_BAD_DATA,
                        "%s: line 1: the Matrix Market %s '%s' is unknown; it can be %s", f->text.path, what,
                        armilla_text_show_word(word, shown), choices);
}

static armilla_status find_field(market *f, const char *word)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!armilla_ascii_same(fields[i].word, word)) continue;
        f->pattern = fields[i].pattern;
        f->whole = fields[i].whole;
        return fields[i].refusal ? refuse(f, fields[i].refusal) : ARMILLA_OK;
    }
    return unknown_word(f, "field", word, "real, integer or pattern");
}

static armilla_status find_symmetry(market *f, const char *word)
{
    for (size_t i = 0; i < sizeof symmetries / sizeof *symmetries; i++) {
        if (!armilla_ascii_same(symmetries[i].word, word)) continue;
        f->mirror = symmetries[i].mirror;
        return symmetries[i].refusal ? refuse(f, symmetries[i].refusal) : ARMILLA_OK;
    }
    return unknown_word(f, "symmetry", word, "general, symmetric or skew-symmetric");
}

static armilla_status parse_banner(market *f, armilla_span line)
{
    char word[WORDS][LONGEST_WORD];
    for (int i = 0; i < WORDS; i++) take_word(&line, LONGEST_WORD, word[i]);
    if (!armilla_ascii_same(word[0], "%%MatrixMarket"))
        return refuse(f, "is not a Matrix Market file: line 1 does not begin with %%MatrixMarket; name its true format "
                         "(" ARMILLA_FIELD("format") ")");
    if (!armilla_ascii_same(word[1], "matrix")) return unknown_word(f, "object", word[1], "matrix");
    f->array = armilla_ascii_same(word[2], "array");
    if (!f->array && !armilla_ascii_same(word[2], "coordinate"))
        return unknown_word(f, "format", word[2], "coordinate or array");
    const armilla_status status = find_field(f, word[3]);
    if (status != ARMILLA_OK) return status;
    if (f->array && f->pattern)
        return refuse(f, "line 1: an array cannot be of the field pattern; it can be real or integer");
    return find_symmetry(f, word[4]);
}

/* A whole number of at most 18 digits followed by a blank or the end; NULL for anything else. */
static const unsigned char *scan_whole(const unsigned char *at, const unsigned char *end, int64_t *value)
{
    enum { MOST_DIGITS = 18 };
    const unsigned char *start = at = armilla_text_skip_blanks(at, end);
    int64_t number = 0;
    for (; at < end && (unsigned)(*at - '0') < 10 && at - start < MOST_DIGITS; at++) number = 10 * number + (*at - '0');
    *value = number;
    return at == start || (at < end && !armilla_text_blank(*at)) ? NULL : at;
}

static armilla_status parse_sizes(market *f, armilla_span line)
{
    int64_t *const sizes[] = {&f->size[0], &f->size[1], &f->entries};
    const int wanted = f->array ? 2 : 3;
    const unsigned char *at = line.start;
    for (int i = 0; i < wanted && at; i++) at = scan_whole(at, line.end, sizes[i]);
    if (!at || armilla_text_skip_blanks(at, line.end) < line.end)
        return armilla_fail(f->text.context, ARMILLA_BAD_DATA,
                            "%s: line %" PRId64 ": the sizes are not %s; check how the file was made", f->text.path,
                            armilla_text_line_number(&f->text, line.start),
                            f->array ? "two numbers, rows and columns" : "three numbers, rows, columns and entries");
    return ARMILLA_OK;
}

/* Banner, comments and sizes; *body is what follows. */
static armilla_status parse_header(market *f, const unsigned char **body)
{
    armilla_span rest = f->text.all, line = rest;
    if (!armilla_text_next_line(&rest, &line)) return refuse(f, "is empty; check how it was made");
    armilla_status status = parse_banner(f, line);
    if (status != ARMILLA_OK) return status;
    while (armilla_text_next_line(&rest, &line)) {
        const unsigned char *at = armilla_text_skip_blanks(line.start, line.end);
        if (at == line.end || *at == '%') continue;
        *body = rest.start;
        return parse_sizes(f, line);
    }
    return refuse(f, "is cut short: the line of sizes is missing; copy it again");
}

/* How many numbers the file has to have. */
static bool count_wanted(const market *f, int64_t *wanted)
{
    const int64_t n = f->size[0];
    if (!f->array) {
        *wanted = f->entries;
        return true;
    }
    if (!armilla_size_area(n, f->size[1], wanted)) return false;
    if (f->mirror != 0) *wanted = (*wanted - n) / 2 + (f->mirror > 0 ? n : 0);
    return true;
}

/* Everything that the header says is checked before memory is taken for it. */
static armilla_status check_sizes(const market *f)
{
    const int64_t m = f->size[!f->sample_columns], n = f->size[f->sample_columns];
    const double counters = 2 * sizeof(int64_t); /* of each sample */
    int64_t wanted = 0;
    char where[512];
    snprintf(where, sizeof where, "%s: ", f->text.path);
    armilla_status status = armilla_data_check_shape(f->text.context, where, m, n);
    if (status != ARMILLA_OK) return status;
    if (f->mirror != 0 && m != n) return refuse(f, "is declared symmetric but not square; check how it was made");
    if (!count_wanted(f, &wanted) || wanted > f->text.lines)
        return armilla_fail(f->text.context, ARMILLA_BAD_DATA,
                            "%s: declares %" PRId64 " %s, but the lines that follow are only %" PRId64
                            "; it is cut short or its sizes are wrong, so copy it again",
                            f->text.path, wanted, f->array ? "numbers" : "entries", f->text.lines);
    if (!f->array && (m > INT32_MAX || n > INT32_MAX))
        return refuse(f, "declares more than 2147483647 rows or columns, which cannot be read; check its sizes");
    if (!f->array) status = armilla_memory_afford(f->text.context, "counting its samples needs", counters * (double)n);
    if (status != ARMILLA_OK) return status;
    if (!f->array && counters * (double)n > (double)armilla_memory_left(f->text.context))
        return refuse(f, "declares more samples than memory can count; check its sizes");
    return armilla_text_afford(&f->text, f->text.lines, f->array ? sizeof(double) : 2 * sizeof(double));
}

enum mistake { BAD_ROW, BAD_COLUMN, BAD_VALUE, TRAILING, ON_DIAGONAL };

static void mark(armilla_text_part *part, const unsigned char *at, enum mistake mistake)
{
    part->bad = at;
    part->mistake = (int)mistake;
}

/* Skips to the next line that holds something; false behind the last. */
static inline __attribute__((always_inline)) bool find_entry(const unsigned char **at, const unsigned char *end)
{
    for (;;) {
        const unsigned char *start = *at;
        while (start < end && (armilla_text_blank(*start) || *start == '\n')) start++;
        *at = start;
        if (start == end || *start != '%') return start < end;
        *at = memchr(start, '\n', (size_t)(end - start));
        if (!*at) *at = end;
    }
}

/* The number at *at, and that nothing else stands on its line. */
static inline __attribute__((always_inline)) bool take_value(const market *f, armilla_text_part *part,
                                                             const unsigned char **at, double *value)
{
    const unsigned char *start = armilla_text_skip_blanks(*at, part->text.end);
    const unsigned char *stop =
        f->pattern ? start : armilla_decimal_scan(start, part->text.end, '.', f->text.plain, value);
    if (!stop) {
        mark(part, start, BAD_VALUE);
        return false;
    }
    *at = armilla_text_skip_blanks(stop, part->text.end);
    if (*at == part->text.end || **at == '\n') return true;
    mark(part, start, f->pattern || armilla_text_blank((*at)[-1]) ? TRAILING : BAD_VALUE);
    return false;
}

static inline __attribute__((always_inline)) bool take_index(armilla_text_part *part, const unsigned char **at,
                                                             int64_t most, int32_t *index)
{
    const unsigned char *end = part->text.end, *start = armilla_text_skip_blanks(*at, end);
    uint64_t number = 0;
    const unsigned char *stop = armilla_digits_scan(start, end, &number);
    *at = start;
    /* Past 19 digits the number has wrapped; sizes have 10. */
    if (number - 1 >= (uint64_t)most || stop - start > 19 ||
        (stop < end && !armilla_text_blank(*stop) && *stop != '\n'))
        return false;
    *at = stop;
    *index = (int32_t)(number - 1);
    return true;
}

/* What a part has become may leave memory. */
static void end_part(const market *f, armilla_text_part *part, int64_t count)
{
    part->count = count;
    for (int i = 0; i < 2; i++) armilla_text_forget(&f->text, f->index[i], sizeof *f->index[i], part->first, count);
    armilla_text_forget(&f->text, f->values, sizeof *f->values, part->first, count);
}

static void parse_entries(void *self, armilla_text_part *part)
{
    const market *f = self;
    const unsigned char *at = part->text.start;
    int32_t *rows = f->index[0] + part->first, *columns = f->index[1] + part->first;
    double *values = f->values + part->first;
    int64_t k = 0;
    for (; find_entry(&at, part->text.end); k++) {
        values[k] = 1;
        const unsigned char *start = at;
        if (!take_index(part, &at, f->size[0], &rows[k])) {
            mark(part, at, BAD_ROW);
            return;
        }
        if (!take_index(part, &at, f->size[1], &columns[k])) {
            mark(part, at, BAD_COLUMN);
            return;
        }
        if (!take_value(f, part, &at, &values[k])) return;
        if (f->mirror < 0 && rows[k] == columns[k] && values[k] != 0) {
            mark(part, start, ON_DIAGONAL);
            return;
        }
    }
    end_part(f, part, k);
}

static void parse_numbers(void *self, armilla_text_part *part)
{
    const market *f = self;
    const unsigned char *at = part->text.start;
    double *values = f->values + part->first;
    int64_t k = 0;
    for (; find_entry(&at, part->text.end); k++)
        if (!take_value(f, part, &at, &values[k])) return;
    end_part(f, part, k);
}

static const char *value_sentence(const market *f, armilla_span word)
{
    static const char *const messages[ARMILLA_DECIMAL_COUNT] = {
        [ARMILLA_DECIMAL_NUMBER] = "is not a number; check how the file was made",
        [ARMILLA_DECIMAL_EMPTY] = "the value is missing; check how the file was made",
        [ARMILLA_DECIMAL_TEXT] = "is not a number; check how the file was made",
        [ARMILLA_DECIMAL_NOT_FINITE] = "is no finite number; remove the entry or fill it",
        [ARMILLA_DECIMAL_TOO_LARGE] = "is too large for a number; scale the values",
    };
    double value = 0;
    return messages[armilla_decimal_parse(word.start, word.end, '.', f->text.plain, &value)];
}

static armilla_status tell_mistake(const market *f, const armilla_text_part *part)
{
    const armilla_span line = armilla_text_line(&f->text, part->bad);
    armilla_span word = {part->bad, part->bad};
    char shown[ARMILLA_SHOWN], message[160];
    word.end = armilla_text_word_end(word.end, line.end);
    if (part->mistake == TRAILING) word = line;
    if (part->mistake == BAD_VALUE)
        snprintf(message, sizeof message, "%s", value_sentence(f, word));
    else if (part->mistake == TRAILING)
        snprintf(message, sizeof message, "has more on it than an entry; give every entry a line of its own");
    else if (part->mistake == ON_DIAGONAL)
        snprintf(message, sizeof message, "is on the diagonal, which is 0 where a matrix is skew-symmetric; remove it");
    else
        snprintf(message, sizeof message,
                 "is no %s, which is a number from 1 to %" PRId64 "; check how the file was made",
                 part->mistake == BAD_ROW ? "row" : "column", f->size[part->mistake == BAD_COLUMN]);
    const char *quote = word.start < word.end ? "'" : "";
    return armilla_fail(f->text.context, ARMILLA_BAD_DATA, "%s: line %" PRId64 ": %s%s%s%s%s", f->text.path,
                        armilla_text_line_number(&f->text, part->bad), quote, armilla_text_show(word, shown), quote,
                        *quote ? " " : "", message);
}

/* All numbers of the body, without gaps, as many as the header declares. */
static armilla_status parse_body(market *f)
{
    const armilla_text_part *bad = NULL;
    int64_t wanted = 0;
    const armilla_status status = armilla_text_parse(&f->text, f->array ? parse_numbers : parse_entries, f, &bad);
    if (status != ARMILLA_OK) return status;
    if (bad) return tell_mistake(f, bad);
    const int64_t found = armilla_text_close_gaps(&f->text, sizeof *f->values, f->values);
    for (int i = 0; i < 2 && !f->array; i++) (void)armilla_text_close_gaps(&f->text, sizeof *f->index[i], f->index[i]);
    if (count_wanted(f, &wanted) && wanted == found) return ARMILLA_OK;
    return armilla_fail(f->text.context, ARMILLA_BAD_DATA,
                        "%s: declares %" PRId64 " %s, but has %" PRId64 "; it is cut short or its sizes are wrong",
                        f->text.path, wanted, f->array ? "numbers" : "entries", found);
}

static armilla_status read_coordinates(market *f, armilla_data **data)
{
    armilla_sparse_matrix matrix = {.m = 0};
    armilla_status status = armilla_grow_large(f->text.context, f->text.lines, sizeof *f->values, &f->values);
    for (int i = 0; i < 2 && status == ARMILLA_OK; i++)
        status = armilla_grow_large(f->text.context, f->text.lines, sizeof *f->index[i], &f->index[i]);
    if (status == ARMILLA_OK) status = parse_body(f);
    if (status != ARMILLA_OK) return status;
    const armilla_triplets triplets = {.m = f->size[!f->sample_columns],
                                       .n = f->size[f->sample_columns],
                                       .count = f->entries,
                                       .features = &f->index[!f->sample_columns],
                                       .samples = f->index[f->sample_columns],
                                       .values = &f->values,
                                       .mirror = f->mirror};
    status = armilla_triplets_compress(f->text.context, &f->text.team, &triplets, &matrix);
    if (status == ARMILLA_OK) status = armilla_data_own_sparse(f->text.context, &matrix, data);
    if (status != ARMILLA_OK) armilla_sparse_release(f->text.context, &matrix);
    return status;
}

/* Copies the columns of the triangle that the file has to the square. A skew matrix changes its sign where samples are
 * rows. */
static void fill_square(const market *f, double *square)
{
    const int64_t n = f->size[0];
    const double below = f->mirror < 0 && !f->sample_columns ? -1 : 1;
    const double *value = f->values, zero = f->whole ? 0.0 : -0.0; /* adding 0 makes 0 of -0, adding -0 nothing */
    for (int64_t j = 0; j < n; j++) {
        if (f->mirror < 0) square[j * n + j] = 0;
        for (int64_t i = f->mirror < 0 ? j + 1 : j; i < n; i++, value++) {
            square[i * n + j] = below * f->mirror * *value + zero;
            square[j * n + i] = below * *value + zero;
        }
    }
}

/* Values become m x n with samples in columns. */
static armilla_status arrange(market *f)
{
    double *made = NULL;
    if (f->mirror == 0 && f->sample_columns) return ARMILLA_OK;
    if (f->mirror == 0) return armilla_doubles_transpose(f->text.context, f->size[1], f->size[0], &f->values);
    const armilla_status status = armilla_grow_large(f->text.context, f->size[0] * f->size[1], sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    fill_square(f, made);
    armilla_release(f->text.context, f->values);
    f->values = made;
    return ARMILLA_OK;
}

static armilla_status read_array(market *f, armilla_data **data)
{
    armilla_status status = armilla_grow_large(f->text.context, f->text.lines, sizeof *f->values, &f->values);
    if (status == ARMILLA_OK) status = parse_body(f);
    if (status == ARMILLA_OK) status = arrange(f);
    if (status == ARMILLA_OK)
        status = armilla_data_own_dense(f->text.context, ARMILLA_F64, f->values, f->size[!f->sample_columns],
                                        f->size[f->sample_columns], data);
    if (status == ARMILLA_OK) f->values = NULL;
    return status;
}

armilla_status armilla_mtx_read(armilla_context *context, armilla_bytes *bytes, const armilla_read_options *options,
                                armilla_data **data)
{
    market f = {.sample_columns = options->sample_columns};
    const unsigned char *body = NULL;
    armilla_status status = armilla_text_open(context, bytes, options, &f.text);
    if (status != ARMILLA_OK) return status;
    if ((status = parse_header(&f, &body)) != ARMILLA_OK) goto done;
    if ((status = armilla_text_cut(&f.text, body, false)) != ARMILLA_OK) goto done;
    if ((status = check_sizes(&f)) != ARMILLA_OK) goto done;
    status = f.array ? read_array(&f, data) : read_coordinates(&f, data);
done:
    for (int i = 0; i < 2; i++) armilla_release(context, f.index[i]);
    armilla_release(context, f.values);
    armilla_text_close(&f.text);
    return status;
}

static bool recognize(const unsigned char *start, size_t count)
{
    static const char banner[] = "%%MatrixMarket";
    const size_t mark = count >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    return count - mark >= sizeof banner - 1 &&
           armilla_ascii_begins((const char *)start + mark, banner, sizeof banner - 1);
}

const armilla_format armilla_format_mtx = {
    .name = "mtx",
    .endings = ".mtx .mm",
    .meaning = "Matrix Market: coordinate (sparse) or array (dense)",
    .recognize = recognize,
    .read = armilla_mtx_read,
};
