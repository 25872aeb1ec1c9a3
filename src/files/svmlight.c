/* svmlight and libsvm: a sample per line, `label index:value index:value ... # comment`. Indices count from 1, or from
 * 0 where one of them is 0. A qid says which query a sample belongs to, and is left out. */
#include "files/text.h"

#include "base/size.h"
#include "data/triplets.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum mistake { BAD_LABEL, BAD_INDEX, BAD_VALUE };

/* The offset of the entries of each part, and the range of its indices. */
typedef struct piece {
    int64_t first, count;
    int32_t least, most;
} piece;

typedef struct reading {
    armilla_text text;
    piece *pieces;
    int64_t entries; /* that there is space for */
    int32_t *features, *samples;
    double *values;
    armilla_span *labels; /* of samples */
    int32_t base;         /* 0 or 1 */
} reading;

static piece *piece_of(const reading *r, const armilla_text_part *part)
{
    return &r->pieces[part - r->text.part];
}

static void count_colons(void *self, armilla_text_part *part)
{
    const reading *r = self;
    int64_t colons = 0;
    for (const unsigned char *at = part->text.start; at < part->text.end; at++) colons += *at == ':';
    piece_of(r, part)->count = colons;
}

static armilla_status place_entries(reading *r)
{
    armilla_status status = armilla_take(r->text.context, r->text.parts, sizeof *r->pieces, &r->pieces);
    if (status != ARMILLA_OK) return status;
    if ((status = armilla_text_look(&r->text, count_colons, r)) != ARMILLA_OK) return status;
    for (int64_t i = 0; i < r->text.parts; i++) {
        r->pieces[i].first = r->entries;
        r->entries += r->pieces[i].count;
    }
    if ((status = armilla_text_afford(&r->text, r->entries, 2 * sizeof(double))) != ARMILLA_OK) return status;
    if ((status = armilla_grow_large(r->text.context, r->entries, sizeof *r->features, &r->features)) != ARMILLA_OK)
        return status;
    if ((status = armilla_grow_large(r->text.context, r->entries, sizeof *r->samples, &r->samples)) != ARMILLA_OK)
        return status;
    if ((status = armilla_grow_large(r->text.context, r->entries, sizeof *r->values, &r->values)) != ARMILLA_OK)
        return status;
    return armilla_grow_large(r->text.context, r->text.lines, sizeof *r->labels, &r->labels);
}

static const unsigned char *scan_index(const unsigned char *at, const unsigned char *end, int32_t *index)
{
    const unsigned char *start = at;
    uint64_t number = 0;
    for (; at < end && (unsigned)(*at - '0') < 10; at++) number = 10 * number + (uint64_t)(*at - '0');
    if (at == start || at - start > 19 || number >= INT32_MAX || at == end || *at != ':') return NULL;
    *index = (int32_t)number;
    return at + 1;
}

/* One index:value; where it ends, or NULL and the mistake in the part. */
static const unsigned char *take_entry(const reading *r, const unsigned char *at, const unsigned char *end,
                                       int64_t place, armilla_text_part *part)
{
    const unsigned char *value = scan_index(at, end, &r->features[place]);
    const unsigned char *stop = value ? armilla_decimal_scan(value, end, '.', r->text.plain, &r->values[place]) : NULL;
    if (stop && (stop == end || armilla_text_blank(*stop))) return stop;
    part->bad = at;
    part->mistake = value ? BAD_VALUE : BAD_INDEX;
    return NULL;
}

/* A line without its comment, which is not blank. */
static bool take_sample(const reading *r, armilla_span line, int64_t row, armilla_text_part *part)
{
    piece *p = piece_of(r, part);
    const armilla_span label = {line.start, armilla_text_word_end(line.start, line.end)};
    const unsigned char *at = armilla_text_skip_blanks(label.end, line.end);
    if (!armilla_decimal_list(label.start, label.end, r->text.plain)) {
        part->bad = label.start;
        part->mistake = BAD_LABEL;
        return false;
    }
    r->labels[row] = label;
    while (at < line.end) {
        if (line.end - at > 4 && memcmp(at, "qid:", 4) == 0) {
            at = armilla_text_skip_blanks(armilla_text_word_end(at, line.end), line.end);
            continue;
        }
        const int64_t place = p->first + p->count;
        if (!(at = take_entry(r, at, line.end, place, part))) return false;
        r->samples[place] = (int32_t)(row - part->first);
        if (r->features[place] < p->least) p->least = r->features[place];
        if (r->features[place] > p->most) p->most = r->features[place];
        p->count++;
        at = armilla_text_skip_blanks(at, line.end);
    }
    return true;
}

/* The next line that holds a sample, without its comment. */
static bool next_sample(armilla_span *rest, armilla_span *line)
{
    while (armilla_text_next_line(rest, line)) {
        const unsigned char *comment =
            line->start < line->end ? memchr(line->start, '#', (size_t)(line->end - line->start)) : NULL;
        if (comment) line->end = comment;
        line->start = armilla_text_skip_blanks(line->start, line->end);
        if (line->start < line->end) return true;
    }
    return false;
}

static void forget_entries(const reading *r, int64_t first, int64_t count)
{
    armilla_text_forget(&r->text, r->features, sizeof *r->features, first, count);
    armilla_text_forget(&r->text, r->samples, sizeof *r->samples, first, count);
    armilla_text_forget(&r->text, r->values, sizeof *r->values, first, count);
}

static void parse_part(void *self, armilla_text_part *part)
{
    const reading *r = self;
    piece *p = piece_of(r, part);
    armilla_span rest = part->text, line = rest;
    int64_t row = part->first;
    p->count = 0;
    p->least = INT32_MAX;
    p->most = -1;
    for (; next_sample(&rest, &line); row++)
        if (!take_sample(r, line, row, part)) return;
    part->count = row - part->first;
    forget_entries(r, p->first, p->count);
    armilla_text_forget(&r->text, r->labels, sizeof *r->labels, part->first, part->count);
}

static armilla_status tell_mistake(const reading *r, const armilla_text_part *part)
{
    static const char *const messages[] = {
        [BAD_LABEL] = "is no label, which is a number, or several separated by commas",
        [BAD_INDEX] = "is no index:value with an index from 0 to 2147483646",
        [BAD_VALUE] = "has no finite number behind its index",
    };
    const armilla_span line = armilla_text_line(&r->text, part->bad);
    const armilla_span word = {part->bad, armilla_text_word_end(part->bad, line.end)};
    char shown[ARMILLA_SHOWN];
    return armilla_fail(r->text.context, ARMILLA_BAD_DATA,
                        "%s: line %" PRId64
                        ": '%s' %s; check how the file was made, or name its true format (" ARMILLA_FIELD("format") ")",
                        r->text.path, armilla_text_line_number(&r->text, part->bad), armilla_text_show(word, shown),
                        messages[part->mistake]);
}

/* Samples are numbered within their part, and parts have gaps between them: moves everything together. The number of
 * samples. */
static int64_t join_parts(reading *r)
{
    int64_t row = 0, used = 0;
    for (int64_t i = 0; i < r->text.parts; i++) {
        const piece *p = &r->pieces[i];
        for (int64_t k = 0; k < p->count; k++, used++) {
            r->features[used] = r->features[p->first + k] - r->base;
            r->samples[used] = (int32_t)(r->samples[p->first + k] + row);
            r->values[used] = r->values[p->first + k];
        }
        forget_entries(r, used - p->count, p->first + p->count - (used - p->count));
        row += r->text.part[i].count;
    }
    r->entries = used;
    return armilla_text_close_gaps(&r->text, sizeof *r->labels, r->labels);
}

/* The number of features. */
static int64_t find_base(reading *r)
{
    int32_t least = INT32_MAX, most = -1;
    for (int64_t i = 0; i < r->text.parts; i++) {
        if (r->pieces[i].least < least) least = r->pieces[i].least;
        if (r->pieces[i].most > most) most = r->pieces[i].most;
    }
    r->base = least > 0;
    return most < 0 ? 0 : (int64_t)most + 1 - r->base;
}

/* "+1" and "1" are one label. */
static armilla_status adopt_labels(const reading *r, int64_t samples, armilla_data *data)
{
    armilla_names names = {0};
    armilla_status status = ARMILLA_OK;
    for (int64_t i = 0; i < samples && status == ARMILLA_OK; i++) {
        const unsigned char *start = r->labels[i].start + (*r->labels[i].start == '+');
        status = armilla_names_add(r->text.context, &names, (const char *)start, (size_t)(r->labels[i].end - start));
    }
    if (status == ARMILLA_OK) status = armilla_data_adopt_names(data, ARMILLA_SAMPLE_LABELS, "", &names);
    armilla_names_free(r->text.context, &names);
    return status;
}

static armilla_status make_data(reading *r, armilla_data **data)
{
    armilla_context *context = r->text.context;
    const int64_t m = find_base(r), n = join_parts(r);
    const armilla_triplets triplets = {
        .m = m, .n = n, .count = r->entries, .features = &r->features, .samples = r->samples, .values = &r->values};
    armilla_sparse_matrix matrix = {.m = 0};
    armilla_data *made = NULL;
    if (m == 0 || n == 0)
        return armilla_fail(context, ARMILLA_BAD_DATA, "%s: holds no index:value pairs; check how it was made",
                            r->text.path);
    armilla_status status = armilla_triplets_compress(context, &r->text.team, &triplets, &matrix);
    if (status != ARMILLA_OK) return status;
    if ((status = armilla_data_own_sparse(context, &matrix, &made)) != ARMILLA_OK) {
        armilla_sparse_release(context, &matrix);
        return status;
    }
    status = adopt_labels(r, n, made);
    return armilla_data_give(status, made, data);
}

static armilla_status read_svmlight(armilla_context *context, armilla_bytes *bytes, const armilla_read_options *options,
                                    armilla_data **data)
{
    reading r = {.base = 0};
    const armilla_text_part *bad = NULL;
    armilla_status status = armilla_text_open(context, bytes, options, &r.text);
    if (status != ARMILLA_OK) return status;
    if ((status = armilla_text_cut(&r.text, r.text.all.start, false)) != ARMILLA_OK) goto done;
    if (r.text.lines > INT32_MAX) {
        status = armilla_fail(context, ARMILLA_BAD_DATA, "%s: has more than 2147483647 lines; split it", bytes->path);
        goto done;
    }
    if ((status = place_entries(&r)) != ARMILLA_OK) goto done;
    if ((status = armilla_text_parse(&r.text, parse_part, &r, &bad)) != ARMILLA_OK) goto done;
    status = bad ? tell_mistake(&r, bad) : make_data(&r, data);
done:
    armilla_release(context, r.pieces);
    armilla_release(context, r.features);
    armilla_release(context, r.samples);
    armilla_release(context, r.values);
    armilla_release(context, r.labels);
    armilla_text_close(&r.text);
    return status;
}

/* The first line with a sample has a number, and a number with a colon behind it (or qid:) as its second word. */
static bool recognize(const unsigned char *start, size_t count)
{
    enum { LOOKED_AT = 4096 };
    armilla_span rest = {start, start + (count < LOOKED_AT ? count : LOOKED_AT)}, line = rest;
    int32_t index = 0;
    if (!next_sample(&rest, &line) || !memchr("+-.0123456789", *line.start, 13)) return false;
    const unsigned char *second = armilla_text_skip_blanks(armilla_text_word_end(line.start, line.end), line.end);
    if (line.end - second > 4 && memcmp(second, "qid:", 4) == 0) return true;
    return scan_index(second, line.end, &index) != NULL;
}

const armilla_format armilla_format_svmlight = {
    .name = "svmlight",
    .endings = ".svm .svmlight .libsvm",
    .meaning = "label index:value ...: a sample per line, with its label",
    .recognize = recognize,
    .read = read_svmlight,
};
