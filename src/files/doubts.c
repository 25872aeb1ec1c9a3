/* Doubts about what was read. A warning where there is nothing to warn of teaches people not to read warnings: each rule
 * asks for what hardly happens by chance. */
#include "files/doubts.h"

#include "base/ascii.h"
#include "base/number.h"
#include "base/size.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOKED_AT = 100000, /* rows */
    FEW = 3,            /* rows that are too few for any rule */
    COUNTED = 8,        /* rows that are 1, 2, 3, ... in some order by chance once in some ten thousand tables */
    RISING = 20,        /* rows in which whole numbers only rise */
    COMPARED = 8,       /* other columns: where half of them are such numbers too, that is what the data are */
    MANY_CLASSES = 100,
    PER_CLASS = 10, /* samples of a class on average, where there are so many classes */
    MEASURED = 20   /* numbers with decimals: labels of so many samples */
};
#define MOST_WHOLE 9007199254740992.0 /* 2^53 */

static int compare(const void *a, const void *b)
{
    const double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

/* How many different ones there are among sorted numbers. */
static int64_t count_distinct(const double *sorted, int64_t count)
{
    int64_t distinct = count > 0;
    for (int64_t i = 1; i < count; i++) distinct += sorted[i] != sorted[i - 1];
    return distinct;
}

/* A column of whole numbers, none of which is there twice. */
typedef struct whole_column {
    bool distinct;
    bool consecutive; /* they are a, a+1, a+2, ... in some order */
    bool rising;      /* as they stand */
} whole_column;

static whole_column look_at(const armilla_table_values *t, int64_t column, double *buffer)
{
    const int64_t count = armilla_min64(t->rows, LOOKED_AT);
    whole_column found = {.rising = true};
    for (int64_t i = 0; i < count; i++) {
        const double value = t->values[i * t->numbers + column];
        if (!(value >= 0 && value <= MOST_WHOLE && value == floor(value))) return (whole_column){.distinct = false};
        if (i > 0 && value <= buffer[i - 1]) found.rising = false;
        buffer[i] = value;
    }
    qsort(buffer, (size_t)count, sizeof *buffer, compare);
    found.distinct = count_distinct(buffer, count) == count;
    found.consecutive = found.distinct && buffer[count - 1] - buffer[0] == (double)(count - 1);
    return found;
}

/* Whether the text, or where `end` its end behind something that is no letter, is the word. */
static bool has_word(armilla_field field, const char *word, bool end)
{
    const int64_t length = (int64_t)strlen(word), all = field.end - field.start;
    if (all < length || (!end && all > length)) return false;
    const unsigned char *at = field.end - length;
    if (!armilla_ascii_begins((const char *)at, word, (size_t)length)) return false;
    if (all == length) return true;
    const unsigned char before = armilla_ascii_lower(at[-1]);
    return before < 'a' || before > 'z' || (*at == 'I' && at[-1] >= 'a');
}

/* id, sample_id, CellID, index, "Unnamed: 0" (pandas). */
static bool names_ids(armilla_field field)
{
    static const char *const words[] = {"index", "idx", "rowid", "uid", "uuid", "guid", "unnamed: 0"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_word(field, words[i], false)) return true;
    return has_word(field, "id", true);
}

/* A feature would hardly have such numbers: a header that says so, or numbers that count the rows. */
static bool is_id(const armilla_table_values *t, armilla_field name, int64_t column, double *buffer)
{
    const whole_column found = t->rows >= FEW ? look_at(t, column, buffer) : (whole_column){.distinct = false};
    if (!found.distinct) return false;
    if (names_ids(name)) return true;
    if (column > 0 || !((found.consecutive && t->rows >= COUNTED) || (found.rising && t->rows >= RISING))) return false;
    int64_t others = 0, alike = 0;
    for (int64_t k = 1; k < t->numbers && others < COMPARED; k++, others++) alike += look_at(t, k, buffer).distinct;
    return others > 0 && 2 * alike < others;
}

armilla_status armilla_doubt_ids(const armilla_text *text, const armilla_table_columns *columns,
                                 const armilla_table_values *table)
{
    double *buffer = NULL;
    char shown[ARMILLA_SHOWN];
    if (text->options->name_column || columns->name >= 0 || table->numbers < 2) return ARMILLA_OK;
    armilla_status status = armilla_grow(text->context, armilla_min64(table->rows, LOOKED_AT), sizeof *buffer, &buffer);
    if (status != ARMILLA_OK) return status;
    for (int64_t field = 0, number = 0; field < columns->fields; field++) {
        if (!armilla_table_columns_number(columns, field)) continue;
        const armilla_field name = armilla_table_columns_name(columns, field);
        const bool first = field == 0;
        if ((first || names_ids(name)) && is_id(table, name, number, buffer)) {
            const bool named = name.end > name.start;
            armilla_log(text->context, ARMILLA_LOG_WARNING,
                        "%s: column %" PRId64
                        "%s%s%s has another whole number in every row, as ids do, and counts as a "
                        "%s; say " ARMILLA_FIELD("name_column %" PRId64) " where it names the rows, " ARMILLA_FIELD(
                            "ignore_columns %" PRId64) " to leave it out, or " ARMILLA_FIELD("name_column none"),
                        text->path, field + 1, named ? " (" : "",
                        named ? armilla_text_show((armilla_span){name.start, name.end}, shown) : "", named ? ")" : "",
                        text->options->sample_columns ? "sample" : "feature", field + 1, field + 1);
            break;
        }
        number++;
    }
    armilla_release(text->context, buffer);
    return ARMILLA_OK;
}

/* The labels as numbers; their count, or 0 where one is none. */
static int64_t read_labels(const armilla_data *data, int64_t count, double *numbers, bool *fractions)
{
    int64_t taken = 0;
    for (; taken < count; taken++) {
        const char *label = armilla_data_name(data, ARMILLA_SAMPLE_LABELS, taken);
        char *end = NULL;
        numbers[taken] = label ? armilla_read_number(label, &end) : 0;
        if (!label || end == label || *end || !isfinite(numbers[taken])) break;
        *fractions |= numbers[taken] != floor(numbers[taken]);
    }
    return taken < count ? 0 : taken;
}

armilla_status armilla_doubt_labels(armilla_context *context, const char *path, const armilla_data *data)
{
    const int64_t count = armilla_min64(armilla_data_samples(data), LOOKED_AT);
    double *numbers = NULL;
    bool fractions = false;
    if (count < MEASURED || !armilla_data_name(data, ARMILLA_SAMPLE_LABELS, 0)) return ARMILLA_OK;
    armilla_status status = armilla_grow(context, count, sizeof *numbers, &numbers);
    if (status != ARMILLA_OK) return status;
    const int64_t taken = read_labels(data, count, numbers, &fractions);
    qsort(numbers, (size_t)taken, sizeof *numbers, compare);
    const int64_t distinct = count_distinct(numbers, taken);
    if ((distinct > MANY_CLASSES && taken < PER_CLASS * distinct) || (fractions && 2 * distinct > taken))
        armilla_log(context, ARMILLA_LOG_WARNING,
                    "%s: the labels of %" PRId64 " samples are %" PRId64 " different numbers: measurements rather than "
                    "classes; name other labels, or none",
                    path, taken, distinct);
    armilla_release(context, numbers);
    return ARMILLA_OK;
}

/* Bytes of a separator of thousands at `at`: comma, point, apostrophe, underline, blank, no-break or thin space; else 0. */
static int64_t separator_length(const unsigned char *at, const unsigned char *end)
{
    static const char *const separators[] = {",", ".", "'", "_", " ", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x99"};
    for (size_t i = 0; i < sizeof separators / sizeof *separators; i++) {
        const size_t length = strlen(separators[i]);
        if ((size_t)(end - at) >= length && memcmp(at, separators[i], length) == 0) return (int64_t)length;
    }
    return 0;
}

static const unsigned char *skip_digits(const unsigned char *at, const unsigned char *end)
{
    while (at < end && *at >= '0' && *at <= '9') at++;
    return at;
}

bool armilla_doubt_thousands(const armilla_field *field)
{
    const unsigned char *at = field->start, *end = field->end;
    if (at < end && (*at == '-' || *at == '+')) at++;
    const unsigned char *behind = skip_digits(at, end);
    const int64_t length = separator_length(behind, end);
    if (behind == at || behind - at > 3 || *at == '0' || length == 0) return false;
    const unsigned char *separator = behind;
    int groups = 0;
    for (at = behind; end - at >= length && memcmp(at, separator, (size_t)length) == 0; groups++) {
        behind = skip_digits(at + length, end);
        if (behind - at != length + 3) return false;
        at = behind;
    }
    const bool decimals = at < end && (*at == '.' || *at == ',') && *at != *separator;
    return groups > 0 && (at == end || (decimals && skip_digits(at + 1, end) == end));
}

void armilla_doubt_mark(const armilla_text *text, const armilla_dialect *dialect)
{
    const bool comma = dialect->mark == ',';
    armilla_log(
        text->context, ARMILLA_LOG_WARNING,
        "%s: numbers such as 1%c234 are read with decimals; say %s where that is right, and write them without the %s "
        "where it separates thousands",
        text->path, dialect->mark, comma ? ARMILLA_FIELD("decimal comma") : ARMILLA_FIELD("decimal point"),
        comma ? "comma" : "point");
}

/* Whether nothing but blanks stands between the byte and the line end before it. */
static bool begins_line(const unsigned char *start, const unsigned char *at)
{
    while (at > start && (at[-1] == ' ' || at[-1] == '\t')) at--;
    return at == start || at[-1] == '\n' || at[-1] == '\r';
}

static const unsigned char *find_byte(const unsigned char *at, const unsigned char *end, int byte)
{
    return at < end ? memchr(at, byte, (size_t)(end - at)) : NULL;
}

int64_t armilla_doubt_comments(const armilla_table_columns *columns, armilla_span text)
{
    const unsigned char *at = text.start;
    int64_t count = 0;
    if (columns->fields < 2) return 0; /* any remark has one field */
    while ((at = find_byte(at, text.end, '#'))) {
        const unsigned char *stop = find_byte(at, text.end, '\n');
        if (!stop) stop = text.end;
        count += begins_line(text.start, at) &&
                 armilla_fields_count(&columns->dialect, (armilla_span){at, stop}) == columns->fields;
        at = stop;
    }
    return count;
}

void armilla_doubt_tell_comments(const armilla_text *text, int64_t count)
{
    if (count > 0)
        armilla_log(text->context, ARMILLA_LOG_WARNING,
                    "%s: %" PRId64
                    " line%s with # and %s as many fields as the table: %s left out as comments; put the "
                    "first field in quotes where they are names of columns or samples",
                    text->path, count, count == 1 ? " begins" : "s begin", count == 1 ? "has" : "have",
                    count == 1 ? "it is" : "they are");
}
