/* The columns of a table: their list, and how a table with text among its numbers can be read. */
#include "advice.h"

#include "json.h"
#include "reading.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Text where numbers are read: no fit takes it. */
static bool is_text(const armilla_column_facts *c)
{
    return c->use == ARMILLA_COLUMN_VALUES && c->type == ARMILLA_COLUMN_TEXT;
}

json_t *advice_columns(const cli_session *session, const armilla_table_facts *facts)
{
    static const char *const uses[ARMILLA_COLUMN_USE_COUNT] = {NULL, "names", "labels", "left out"};
    static const char *const types[ARMILLA_COLUMN_TYPE_COUNT] = {"empty", "integer", "number", "text"};
    const bool turned = samples_in_columns(session);
    json_t *columns = json_array();
    armilla_column_facts c;
    for (int64_t i = 0; armilla_table_facts_column(facts, i, &c); i++) {
        const char *plain = is_text(&c) ? (turned ? "no sample" : "no feature") : turned ? "sample" : "feature";
        json_t *row = json_object();
        char number[32];
        snprintf(number, sizeof number, "%" PRId64, i + 1);
        json_put_text(row, "column", c.name ? c.name : number);
        json_put_text(row, "use", uses[c.use] ? uses[c.use] : plain);
        json_put_text(row, "type", types[c.type]);
        json_put_count(row, "missing", c.missing);
        json_put_count(row, "distinct", c.more ? -1 : c.distinct);
        if (c.more) json_put_count(row, "distinct_more_than", c.distinct);
        (void)json_array_append_new(columns, row);
    }
    return columns;
}

/* What a column of text could be. */
typedef enum text_kind { CLASSES, NAMES, SPOILED, OTHER, TEXT_KINDS } text_kind;

static const struct text_row {
    const char *one, *several, *option;
} text_rows[TEXT_KINDS] = {
    [CLASSES] = {"has few different texts, as classes do", "have few different texts, as classes do", "label-column"},
    [NAMES] = {"has another text in every row, as names do", "have another text in every row, as names do",
               "name-column"},
    [SPOILED] = {"has numbers, and text among them: correct it, or leave the column out",
                 "have numbers, and text among them: correct it, or leave the columns out", "ignore-columns"},
    [OTHER] = {"is text", "are text", "ignore-columns"},
};

static text_kind kind_of(const armilla_column_facts *c)
{
    enum { MOST_CLASSES = 50 };
    const int64_t values = c->numbers + c->texts;
    if (2 * c->numbers >= values) return SPOILED;
    if (!c->more && c->distinct > 1 && c->distinct <= MOST_CLASSES && 2 * c->distinct <= values) return CLASSES;
    return c->more || (c->missing == 0 && c->distinct == values && values > 1) ? NAMES : OTHER;
}

/* The column in an option: by its name, where that is plain and no other column has it before; else by its number. */
static void put_column(const armilla_table_facts *facts, int64_t i, FILE *stream)
{
    armilla_column_facts c, other;
    (void)armilla_table_facts_column(facts, i, &c);
    bool plain = c.name && !strchr(c.name, ',') && strcmp(c.name, "text") != 0 && strcmp(c.name, "none") != 0;
    for (const char *at = c.name; plain && *at; at++) plain = *at >= ' ' && *at < 0x7f;
    for (int64_t k = 0; plain && k < i; k++) {
        (void)armilla_table_facts_column(facts, k, &other);
        plain = !other.name || strcmp(other.name, c.name) != 0;
    }
    if (plain)
        fputs(c.name, stream);
    else
        fprintf(stream, "%" PRId64, i + 1);
}

/* The columns of text of a kind, separated by commas: as many as `most`. Their number; *last is the last of them. */
static int64_t put_columns(const armilla_table_facts *facts, text_kind kind, int64_t most, FILE *stream, int64_t *last)
{
    armilla_column_facts c;
    int64_t count = 0;
    for (int64_t i = 0; armilla_table_facts_column(facts, i, &c); i++) {
        if (!is_text(&c) || kind_of(&c) != kind) continue;
        *last = i;
        if (count++ >= most) continue;
        if (count > 1) fputs(", ", stream);
        put_column(facts, i, stream);
        if (kind == SPOILED) fprintf(stream, " ('%s' in row %" PRId64 ")", c.text, c.text_row);
    }
    if (count > most) fprintf(stream, " and %" PRId64 " more", count - most);
    return count;
}

/* The text of a stream becomes *text. */
static armilla_status close_text(cli_session *session, FILE *stream, char **text)
{
    if (stream && fclose(stream) == 0 && *text) return ARMILLA_OK;
    return fail(session, ARMILLA_NO_MEMORY, "out of memory for the report");
}

/* note: column class has few different texts, as classes do (--label-column class) */
static armilla_status add_note(cli_session *session, const armilla_table_facts *facts, text_kind kind, json_t *hints)
{
    enum { SHOWN = 6 };
    const struct text_row *row = &text_rows[kind];
    char *names = NULL, *word = NULL, line[1200];
    size_t size = 0;
    int64_t last = 0, count = 0;
    FILE *stream = open_memstream(&names, &size);
    if (stream) count = put_columns(facts, kind, SHOWN, stream, &last);
    armilla_status status = close_text(session, stream, &names);
    if (status == ARMILLA_OK && count > 0) {
        stream = open_memstream(&word, &size);
        if (stream) put_column(facts, last, stream);
        status = close_text(session, stream, &word);
    }
    if (status == ARMILLA_OK && count > 0) {
        snprintf(line, sizeof line, "note: column%s %.800s %s (%s--%s %.200s)", count == 1 ? "" : "s", names,
                 count == 1 ? row->one : row->several, count == 1 ? "" : "such as ", row->option, word);
        advice_hint(hints, "%s", armilla_plain_text(line));
    }
    free(names);
    free(word);
    return status;
}

/* The last column of text that can be labels, unless there are others; -1: none. */
static int64_t choose_label(const cli_session *session, const armilla_table_facts *facts)
{
    const reading_settings *reading = reading_of(session);
    armilla_column_facts c;
    int64_t label = -1;
    if (reading->file.label_column || reading->file.labels || samples_in_columns(session)) return -1;
    for (int64_t i = 0; armilla_table_facts_column(facts, i, &c); i++)
        if (is_text(&c) && kind_of(&c) == CLASSES) label = i;
    return label;
}

/* "text" where that leaves out what has to be, else a list, of what was left out before too; "" where nothing is. */
static void put_left_out(const armilla_table_facts *facts, int64_t label, FILE *stream)
{
    armilla_column_facts c;
    bool all = true, any = false;
    for (int64_t i = 0; armilla_table_facts_column(facts, i, &c); i++) {
        if (c.use == ARMILLA_COLUMN_LEFT_OUT || (i != label && is_text(&c) && c.text_row > 1)) all = false;
        any |= i != label && is_text(&c);
    }
    if (any && all) fputs("text", stream);
    if (!any || all) return;
    any = false;
    for (int64_t i = 0; armilla_table_facts_column(facts, i, &c); i++) {
        if (i == label || !(is_text(&c) || c.use == ARMILLA_COLUMN_LEFT_OUT)) continue;
        if (any) fputc(',', stream);
        put_column(facts, i, stream);
        any = true;
    }
}

/* Labels, columns that are left out, and names that were guessed and have numbers among them. */
static armilla_status choose(cli_session *session, const armilla_table_facts *facts, cli_texts *chosen)
{
    const int64_t label = choose_label(session, facts);
    armilla_column_facts first;
    size_t size = 0;
    FILE *stream = open_memstream(&chosen->label, &size);
    if (stream && label >= 0) put_column(facts, label, stream);
    armilla_status status = close_text(session, stream, &chosen->label);
    if (status != ARMILLA_OK) return status;
    stream = open_memstream(&chosen->left_out, &size);
    if (stream) put_left_out(facts, label, stream);
    status = close_text(session, stream, &chosen->left_out);
    if (status != ARMILLA_OK) return status;
    if (*chosen->label) reading_give(session, "label-column", chosen->label);
    if (*chosen->left_out) reading_give(session, "ignore-columns", chosen->left_out);
    if (armilla_table_facts_column(facts, 0, &first) && first.guessed && first.numbers > 0)
        reading_give(session, "name-column", "1");
    return ARMILLA_OK;
}

armilla_status advice_texts(cli_session *session, const armilla_table_facts *facts, json_t *hints, cli_texts *chosen)
{
    armilla_column_facts c;
    armilla_status status = ARMILLA_OK;
    for (int64_t i = 0; armilla_table_facts_column(facts, i, &c); i++)
        chosen->numbers += c.use == ARMILLA_COLUMN_VALUES && !is_text(&c);
    for (int kind = 0; kind < TEXT_KINDS && status == ARMILLA_OK; kind++)
        status = add_note(session, facts, (text_kind)kind, hints);
    return status == ARMILLA_OK ? choose(session, facts, chosen) : status;
}

void advice_texts_free(cli_texts *chosen)
{
    free(chosen->label);
    free(chosen->left_out);
}
