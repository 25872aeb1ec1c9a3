/* How a table is written: what separates its fields and what stands before their decimals, as the options say or else
 * as it looks. A guess that fails must end in a complaint, never in other numbers: a comma is taken for a decimal mark
 * only where semicolons separate, and then for all fields or for none; there points may separate thousands. */
#include "files/doubts.h"

#include "base/ascii.h"

#include <string.h>

#define LOOKED_AT (1 << 20) /* bytes in which a decimal is looked for */

static const struct word {
    const char *word;
    unsigned char byte;
} separators[] = {{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"blank", ' '}, {NULL, 0}},
  marks[] = {{"point", '.'}, {"comma", ','}, {NULL, 0}};

/* What the word stands for; 0: it is none of them. */
static unsigned char find_word(const struct word *words, const char *wanted)
{
    while (words->word && strcmp(words->word, wanted) != 0) words++;
    return words->byte;
}

/* Whatever is no part of a number, a quote, a comment or a line end can separate. */
static bool can_separate(unsigned char byte)
{
    static const char others[] = "+-.\"'#";
    return byte > ' ' && byte < 0x7f && !memchr(others, byte, sizeof others - 1) && (unsigned)(byte - '0') >= 10 &&
           (unsigned)((byte | 32) - 'a') >= 26;
}

static armilla_status given_separator(const armilla_text *text, const char *word, unsigned char *separator)
{
    *separator = find_word(separators, word);
    if (*separator) return ARMILLA_OK;
    *separator = (unsigned char)word[0];
    if (*separator && !word[1] && can_separate(*separator)) return ARMILLA_OK;
    return armilla_fail(
        text->context, ARMILLA_BAD_ARGUMENT,
        "separator '%s' (" ARMILLA_FIELD("separator") ") cannot be used; give comma, semicolon, tab, blank, or one "
                                                      "character such as |",
        word);
}

static armilla_status given_mark(const armilla_text *text, const char *word, unsigned char *mark)
{
    *mark = find_word(marks, word);
    if (*mark) return ARMILLA_OK;
    return armilla_fail(text->context, ARMILLA_BAD_ARGUMENT,
                        "decimal mark '%s' (" ARMILLA_FIELD("decimal") ") is unknown; it can be point or comma", word);
}

bool armilla_dialect_is_decimal(const armilla_text *text, const armilla_field *field, unsigned char mark)
{
    double value = 0;
    return field->start < field->end && memchr(field->start, mark, (size_t)(field->end - field->start)) &&
           armilla_fields_number(field, mark, text->plain, &value) == ARMILLA_DECIMAL_NUMBER;
}

/* The first field with decimals decides that cannot be a number in groups of three digits; where there is none the first that
 * can be either, which is in doubt. */
static void look_for_mark(const armilla_text *text, armilla_dialect *dialect)
{
    armilla_span rest = text->all, record;
    armilla_field field;
    while (rest.start - text->all.start < LOOKED_AT && armilla_fields_next_record(dialect, &rest, &record))
        for (const unsigned char *at = record.start; armilla_fields_next(dialect, record, &at, &field);)
            for (size_t i = 0; marks[i].word; i++) {
                if (!armilla_dialect_is_decimal(text, &field, marks[i].byte)) continue;
                const bool either = armilla_doubt_thousands(&field);
                if (!either || !dialect->doubtful) dialect->mark = marks[i].byte;
                dialect->doubtful = either;
                if (!either) return;
            }
}

bool armilla_dialect_has_mark(const armilla_text *text, const armilla_dialect *dialect, unsigned char mark)
{
    armilla_span rest = text->all, record;
    armilla_field field;
    while (rest.start - text->all.start < LOOKED_AT && armilla_fields_next_record(dialect, &rest, &record))
        for (const unsigned char *at = record.start; armilla_fields_next(dialect, record, &at, &field);)
            if (armilla_dialect_is_decimal(text, &field, mark) && !armilla_doubt_thousands(&field)) return true;
    return false;
}

void armilla_dialect_declared(armilla_text *text)
{
    static const char word[] = "sep=";
    const unsigned char *at = text->all.start, *end = text->all.end;
    const size_t length = sizeof word - 1;
    if ((size_t)(end - at) < length + 2 || !armilla_ascii_begins((const char *)at, word, length)) return;
    const unsigned char *behind = at + length + 1;
    if (*behind == '\r') behind++;
    if (behind >= end || *behind != '\n') return;
    text->declared = at[length];
    text->all.start = behind + 1;
}

armilla_status armilla_dialect_find(const armilla_text *text, armilla_dialect *dialect)
{
    const armilla_read_options *options = text->options;
    armilla_dialect found = {.multiline = true, .mark = '.'};
    armilla_span rest = text->all, record = rest;
    armilla_status status = ARMILLA_OK;
    if (options->decimal) status = given_mark(text, options->decimal, &found.mark);
    const char declared[2] = {(char)text->declared, '\0'};
    if (status == ARMILLA_OK && (options->separator || *declared))
        status = given_separator(text,
                                 options->separator  ? options->separator
                                 : *declared == '\t' ? "tab"
                                                     : declared,
                                 &found.separator);
    else if (armilla_fields_next_record(&found, &rest, &record))
        found.separator = armilla_fields_separator(record, found.mark);
    if (!options->decimal && found.separator == ';') look_for_mark(text, &found);
    if (status == ARMILLA_OK) *dialect = found;
    return status;
}

static void look_for_run_on(void *self, armilla_text_part *part)
{
    bool *run_on = self;
    if (armilla_fields_run_on(part->text)) __atomic_store_n(run_on, true, __ATOMIC_RELAXED);
}

armilla_status armilla_dialect_cut(armilla_text *text, const unsigned char *start, armilla_dialect *dialect)
{
    bool run_on = false;
    dialect->multiline = false;
    armilla_status status = armilla_text_cut(text, start, false);
    if (status == ARMILLA_OK) status = armilla_text_look(text, look_for_run_on, &run_on);
    if (status != ARMILLA_OK || !run_on) return status;
    dialect->multiline = true;
    return armilla_text_cut(text, start, true);
}
